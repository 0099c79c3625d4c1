/* The wrapper of yyjson: reading with limits, and writing.
 *
 * A json_reader owns the memory of one parsed document at a time: what json_read returns, and every
 * value and string inside, lives until the next json_read or json_reader_release. Strings have a
 * length and may hold NUL. Numbers that fit no double or 64-bit integer stay as raw text
 * (json_is_number is true, json_int and json_number return false).
 *
 * Limits: what is nested deeper than JSON_DEPTH_MAX is refused, since callers recurse. A text with
 * invalid UTF-8 or an escape of half a surrogate pair is parsed once more with U+FFFD in their
 * place: JSON_REPAIRED. */
#ifndef GAVEL_JSON_JSON_H
#define GAVEL_JSON_JSON_H

#include "base/buf.h"
#include "base/mem.h"
#include "json/names.h"

#include <yyjson.h>

enum {
	JSON_DEPTH_MAX = 128,
	JSON_PADDING = 64, /* readable bytes after a text */
};

enum json_outcome {
	JSON_OK,
	JSON_REPAIRED, /* read, with U+FFFD where text was invalid */
	JSON_NOT,      /* not JSON; why says what and where */
	JSON_TOO_DEEP,
};

struct json_reader {
	char *text; /* a buffer for texts: those kept, then the current one */
	size_t text_cap, kept, current;
	VEC(char *) full; /* buffers full of texts that are kept */
	char *pool;
	size_t pool_cap;
	yyjson_doc *doc;
	/* for json_read_lazily: */
	struct names *names; /* NULL = none */
	bool in_place;       /* bytes need not be copied: they live as long as what is read, may be
			  written to, and a control and JSON_PADDING bytes are behind them */
	const char *ahead;   /* what json_read_ahead has parsed, if nothing was parsed since */
	bool quiet;      /* nobody will ask for these two: */
	const char *why; /* after JSON_NOT */
	size_t where;    /* byte offset of the error */
};

/* Whether a text could be JSON, by a few of its bytes: log lines such as "2026-01-26 10:00 done",
 * "[worker] done" or "not found" could not. */
bool json_is_possible(struct str bytes);
enum json_outcome json_read(struct json_reader *r, struct str bytes, yyjson_val **root);
/* The same, but strings with escapes may be undecoded until json_str decodes them: for callers that
 * need few of the strings, and get them by json_str only. Members have the reader's names. */
enum json_outcome json_read_lazily(struct json_reader *r, struct str bytes, yyjson_val **root);
/* Parses the line at p, as if in_place, and returns its newline, so that nobody has to search for
 * that before; a json_read_lazily of the same text right after it returns the result. NULL = not
 * plain JSON. There is a newline before `end`. */
const char *json_read_ahead(struct json_reader *r, const char *p, const char *end);
/* For files written by hand: comments and trailing commas are allowed, and nothing is repaired. */
enum json_outcome json_read_relaxed(struct json_reader *r, struct str bytes, yyjson_val **root);
void json_reader_release(struct json_reader *r);
/* Keeps the strings of the current document, not its values, until json_reader_forget. */
void json_reader_keep(struct json_reader *r);
void json_reader_forget(struct json_reader *r);

/* In the tag of a string whose escapes are not decoded yet. */
#define JSON_ESCAPED (UINT64_C(1) << 5)
/* And some of them are not in their usual spelling: \/ and \u. */
#define JSON_NONCANONICAL (UINT64_C(1) << 6)
void json_unescape(yyjson_val *v);

static inline struct str json_str(yyjson_val *v)
{
	if (rarely(!yyjson_is_str(v)))
		return STR_NONE;
	if (rarely(v->tag & JSON_ESCAPED))
		json_unescape(v);
	return str_make(v->uni.str, v->tag >> YYJSON_TAG_BIT);
}

/* The first 16 bytes of a string of a reader's tree, zeros where it has fewer; branch-free, since
 * so many are readable after each. */
struct json_words {
	uint64_t first, second;
};
static inline struct json_words json_words(const char *p, size_t n)
{
	static const unsigned char ones[32] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
						0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff };
	const unsigned char *mask = ones + 16 - (n < 16 ? n : 16);
	struct json_words words, masks;

	memcpy(&words, p, sizeof(words));
	memcpy(&masks, mask, sizeof(masks));
	return (struct json_words){ words.first & masks.first, words.second & masks.second };
}

/* The hash of a value of a reader's tree, 0 for NULL, independent of the order of members and of
 * the spelling of strings. */
uint64_t value_hash(yyjson_val *v);
/* The same of an object as if it had no member of the value `but`; NULL = it has all of them. */
uint64_t value_hash_but(yyjson_val *v, const yyjson_val *but);

/* Some parsers take the first of several members with one name, as json_get does, others the last.
 * This takes the name from all but the last, in the whole tree, so that json_get reads what the others
 * do. False: there are none. */
bool json_last_wins(yyjson_val *v);

/* First member of that name, NULL if none or if obj is no object. */
yyjson_val *json_getn(yyjson_val *obj, const char *key, size_t n);
static inline yyjson_val *json_get(yyjson_val *obj, const char *key)
{
	return json_getn(obj, key, strlen(key));
}

static inline struct str json_get_str(yyjson_val *obj, const char *key)
{
	return json_str(json_get(obj, key));
}

static inline bool json_is_number(yyjson_val *v)
{
	return yyjson_is_num(v) || yyjson_is_raw(v);
}

/* A number without fraction that fits int64_t: 3 and 3.0 are, "3", 3.5 and 2^63 are not. */
bool json_int(yyjson_val *v, int64_t *out);
bool json_number(yyjson_val *v, double *out);
/* "a string", "null", "an array" … for messages */
const char *json_type_name(yyjson_val *v);
/* RFC 6901: ~ and / of a name become ~0 and ~1. */
void json_pointer_add(struct buf *b, struct str name);

/* Writing. json_write is compact, in the document's own order; json_write_str quotes and escapes,
 * and puts U+FFFD for bytes that are not UTF-8, so the output is JSON whatever came in. */
void json_write(struct buf *b, yyjson_val *v);
/* The same of an object without the member of the value `but`; NULL = with all of them. */
void json_write_but(struct buf *b, yyjson_val *v, const yyjson_val *but);
void json_write_str(struct buf *b, struct str s);
/* Two spaces a level, one member a line; after max_lines a line with … ends it. */
void json_write_pretty(struct buf *b, yyjson_val *v, unsigned max_lines);

/* Finds JSON objects inside prose: the next '{' at or after *at whose braces balance. Returns the
 * span and moves *at behind its first brace, so that an object inside an invalid one is found too.
 * Each byte examined is subtracted from *budget; once that is spent nothing more is found. */
bool json_next_object(struct str prose, size_t *at, struct str *span, size_t *budget);

#endif
