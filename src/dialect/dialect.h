/* A dialect is one file and one table: how to tell it, how to read it, how to show it.
 *
 * Detection adds up scores, it does not match: each dialect lists names of top-level members with
 * weights, and may look closer at the values. The best score wins if it reaches DETECT_MIN; a
 * message that lacks one of its telling keys is still that message, with an error to report.
 *
 * decode never fails on content: whatever is wrong becomes a diagnostic. To add a dialect: one new
 * file with its table, one line in the registry (tells.c), one fixture folder. */
#ifndef GAVEL_DIALECT_DIALECT_H
#define GAVEL_DIALECT_DIALECT_H

#include "dialect/rules.h"

enum { DETECT_MIN = 50 };

/* What the wire knows of the bytes besides themselves. */
struct frame_info {
	unsigned flags;       /* RECORD_TRUNCATED, RECORD_OVERSIZE */
	uint64_t full_length; /* of an oversize line */
	struct str file_name; /* without folders, when the file is one message; else empty */
	bool text;            /* it is no message, whatever it looks like */
	/* The bytes are the decoder's until decoder_forget, which may write to them; the end of a
	 * line and JSON_PADDING bytes that can be read are behind them. */
	bool lent;
};

/* What the names of a message's members tell of its dialect (tells.c). */
struct telling {
	uint64_t names;    /* that tell something, as bits by their numbers */
	uint64_t sums;     /* the weights of all dialects */
	uint64_t marks[2]; /* which of their tells all dialects have */
	unsigned winner;   /* where names alone tell it */
};

/* Working memory of decoding, one for each thread. Zero it; release it. */
struct decoder {
	struct json_reader outer, inner; /* the line; the response inside part.text */
	struct json_reader original;     /* what an entry of an escalation queue carries */
	struct checker check;
	struct arena arena; /* diagnostics and made-up text of the current message */
	bool quiet; /* diagnostics are only counted */
	bool keeps; /* messages live until decoder_forget, not only until the next one */
	bool lazily; /* nobody asks for strings but by json_str: the message is only decoded */
	struct frame_info info;
	struct str bytes; /* of the current message */
	unsigned has; /* which of its dialect's tells it has, as bits */
	struct telling usual[64]; /* what the names of messages told */
	/* the message that dialect_look has parsed, and the response that was found inside it */
	const struct dialect *looked_dialect;
	yyjson_val *looked, *looked_response;
	bool response_sought;
};

/* A labelled piece of an item, for reading. */
struct detail_field {
	const char *label;
	struct str text;
	bool id_like; /* ids, paths, enum values: shown with every non-ASCII character escaped */
};

enum { DETAIL_FIELDS_MAX = 24 };

/* The whole of an item, taken from its message again. Strings live in the decoder. */
struct detail {
	struct str title;
	struct detail_field field[DETAIL_FIELDS_MAX];
	unsigned n;
	yyjson_val *value; /* the item itself; its compact form is hashed into rev */
};

struct tell {
	const char *name;
	int weight;
};

/* Members of a message that probes look at, whatever dialect it is. */
enum { GLANCE_TYPE, GLANCE_ID, GLANCE_STATUS, GLANCE_TIMESTAMP, GLANCE_PAYLOAD, GLANCES };

struct dialect {
	enum dialect_id id;
	const struct tell *tells; /* ends with a NULL name */
	const struct shape *const *shapes; /* that it checks with, but for those inside; ends with
					      NULL */
	/* Looks at values; returns what to add to the sum of the tells, 0 to probe_max. May be
	 * NULL. */
	int (*probe)(yyjson_val *const *glance);
	int probe_max;
	void (*decode)(struct decoder *d, yyjson_val *root, struct message *m);
	/* One line for the list of messages. */
	void (*summarize)(struct decoder *d, yyjson_val *root, struct buf *out);
	/* Fills title, fields and value; false when the message holds no such item. */
	bool (*detail)(struct decoder *d, yyjson_val *root, enum item_kind kind, uint32_t index,
		       struct detail *out);
};

extern const struct dialect dialect_feedback, dialect_envelope, dialect_collaboration,
	dialect_handoff, dialect_orchestrator;

/* NULL for those that are not in the registry. */
const struct dialect *dialect_of(enum dialect_id id);
/* Reads one frame into m (cleared first). Everything in m lives until the next call, or with
 * `keeps` set until decoder_forget; its lists are m's own. */
void dialect_decode(struct decoder *d, struct str bytes, const struct frame_info *info,
		    struct message *m);
/* Reads the line at p ahead of dialect_decode, to which it then must be lent, and returns its newline;
 * NULL = that has to be looked for. There is one before `end`. */
const char *decoder_read_ahead(struct decoder *d, const char *p, const char *end);
/* The dialect of a parsed value; all scores into scores[DIALECT_COUNT] when not NULL. */
enum dialect_id dialect_detect(yyjson_val *root, int *scores);
/* One line about a message; text lines give themselves. */
void dialect_summarize(struct decoder *d, struct str bytes, struct buf *out);
/* Parses a message to look at it; dialect_detail then asks for its items, as often as one likes. */
void dialect_look(struct decoder *d, struct str bytes);
bool dialect_detail(struct decoder *d, enum item_kind kind, uint32_t index, struct detail *out);
void decoder_forget(struct decoder *d);
void decoder_release(struct decoder *d);

/* The dialect of a message that d has read, NULL if it has none; d->has is set. */
const struct dialect *dialect_tell(struct decoder *d, yyjson_val *root);
/* All names that dialects know, for a decoder; free it. */
struct names *names_of_dialects(void);

/* For the dialects: */
/* Which of the dialect's tells an object has, as bits; names: those it was read with, or NULL. */
unsigned dialect_has(const struct dialect *dialect, yyjson_val *root, const struct names *names);
/* A message inside another, into one of the decoder's readers. */
enum json_outcome decoder_read(struct decoder *d, struct json_reader *r, struct str bytes,
			       yyjson_val **root);
void detail_add(struct detail *out, const char *label, struct str text, bool id_like);
/* The same for a list of strings, joined by newlines; nothing for an empty list. */
void detail_add_list(struct decoder *d, struct detail *out, const char *label, yyjson_val *array);
/* A number or boolean as text in the decoder's arena. */
struct str scalar_text(struct decoder *d, yyjson_val *v);
/* Time of an ISO 8601 string, or WHEN_NONE; checked_time for one that was checked. */
int64_t iso_time(yyjson_val *v);

#endif
