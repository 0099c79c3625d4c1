/* The one door to yyjson; nothing else includes it.
 *
 * A json_reader owns the memory of one parsed document at a time: what json_read returns, and every
 * value and string inside, lives until the next json_read or json_reader_release. Strings have a
 * length and may hold NUL. Numbers that fit no double or 64-bit integer stay as raw text and have
 * no JSON type here (json_is_number is true, json_int and json_number are not to be had of them).
 *
 * Limits: what is nested deeper than JSON_DEPTH_MAX is refused, since others walk the tree. Bytes
 * that are not UTF-8 and escapes of half a surrogate pair refuse the line at first; it is then read
 * once more with U+FFFD in their place, and *repaired says so. */
#ifndef GAVEL_JSON_JSON_H
#define GAVEL_JSON_JSON_H

#include "base/buf.h"
#include "base/mem.h"
#include "json/names.h"

#include <yyjson.h>

enum {
	JSON_DEPTH_MAX = 128,
	JSON_PADDING = 64, /* what is looked at behind a text */
};

enum json_outcome {
	JSON_OK,
	JSON_REPAIRED, /* read, with U+FFFD where text was broken */
	JSON_NOT,      /* not JSON; why says what and where */
	JSON_TOO_DEEP,
};

struct json_reader {
	char *text; /* room for texts: what is kept, then the current one */
	size_t text_cap, kept, current;
	VEC(char *) full; /* rooms that are full of what is kept */
	char *pool;
	size_t pool_cap;
	yyjson_doc *doc;
	/* for json_read_lazily: */
	struct names *names; /* NULL = none */
	bool in_place;       /* bytes need not be copied: they live as long as what is read, may be
			  written to, and a control and JSON_PADDING bytes are behind them */
	const char *ahead;   /* where json_read_ahead has read, if that was the last */
	const char *why; /* after JSON_NOT */
	size_t where;    /* byte offset of the trouble */
};

enum json_outcome json_read(struct json_reader *r, struct str bytes, yyjson_val **root);
/* The same for whoever asks for few of the strings, and only by json_str: those with escapes may
 * still have them. Members are told by the reader's names. */
enum json_outcome json_read_lazily(struct json_reader *r, struct str bytes, yyjson_val **root);
/* Reads the line at p, with names as if it were in_place, and returns its newline, so that nobody
 * has to look for that before; json_read_lazily has it then, if it is the next that is read. NULL =
 * it is not plain JSON. There is a newline before `end`. */
const char *json_read_ahead(struct json_reader *r, const char *p, const char *end);
/* For what people write: comments and trailing commas are allowed, and nothing is repaired. */
enum json_outcome json_read_relaxed(struct json_reader *r, struct str bytes, yyjson_val **root);
void json_reader_release(struct json_reader *r);
/* The strings of the current document live on, until json_reader_forget; its values do not. */
void json_reader_keep(struct json_reader *r);
void json_reader_forget(struct json_reader *r);

/* In the tag of a string whose escapes are not yet what they mean. */
#define JSON_ESCAPED (UINT64_C(1) << 5)
/* And some of them could be spelled otherwise: \/ and \u. */
#define JSON_RESPELLED (UINT64_C(1) << 6)
void json_unescape(yyjson_val *v);

static inline struct str json_str(yyjson_val *v)
{
	if (rarely(!yyjson_is_str(v)))
		return STR_NONE;
	if (rarely(v->tag & JSON_ESCAPED))
		json_unescape(v);
	return str_make(v->uni.str, v->tag >> YYJSON_TAG_BIT);
}

/* The first sixteen bytes of a string of a reader's tree, zeros where it has fewer; so many can be
 * read of each. */
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

/* The hash of what a value of a reader's tree says, 0 for NULL, whatever the order of its members
 * and the escapes of its strings; those that have the usual ones keep them. */
uint64_t value_hash(yyjson_val *v);

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
void json_write_str(struct buf *b, struct str s);
/* Two spaces a level, one member a line; after max_lines a line with … ends it. */
void json_write_pretty(struct buf *b, yyjson_val *v, unsigned max_lines);

/* Finds JSON objects inside prose: the next '{' at or after *at whose braces balance. Returns the
 * span and moves *at behind its first brace, so that an object inside a wrong one is found too.
 * Each byte looked at is taken from *budget; once it is spent there are no more. */
bool json_next_object(struct str prose, size_t *at, struct str *span, size_t *budget);

#endif
