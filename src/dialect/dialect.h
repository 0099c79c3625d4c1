/* A dialect is one file and one table: how to detect a protocol, decode it and show its messages.
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

/* Metadata of a frame from the wire. */
struct frame_info {
	unsigned flags;       /* RECORD_TRUNCATED, RECORD_OVERSIZE */
	uint64_t full_length; /* of an oversize line */
	struct str file_name; /* without folders, when the file is one message; else empty */
	bool text;            /* treat as text, even if it looks like a message */
	/* The bytes are lent to the decoder until decoder_forget: it may write to them (in-place
	 * parsing). They are followed by a line end and JSON_PADDING readable bytes. */
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
	struct json_reader original;     /* the message inside an escalation queue's entry */
	struct checker check;
	struct arena arena; /* diagnostics and generated text of the current message */
	bool quiet; /* diagnostics are only counted */
	bool keeps; /* messages stay valid until decoder_forget, not only until the next one */
	bool lazily; /* decode only: strings keep their escapes until json_str */
	struct frame_info info;
	struct str bytes; /* of the current message */
	unsigned has; /* which of its dialect's tells it has, as bits */
	struct telling usual[64]; /* what the names of messages told */
	/* the message parsed by dialect_look, and the response found inside it */
	const struct dialect *looked_dialect;
	yyjson_val *looked, *looked_response;
	bool response_sought;
};

/* A labelled field of an item, for display. */
struct detail_field {
	const char *label;
	struct str text;
	bool id_like; /* ids, paths, enum values: non-ASCII characters are shown escaped */
};

enum { DETAIL_FIELDS_MAX = 24 };

/* An item's content, decoded from its message again. Strings live in the decoder. */
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
/* Decodes one frame into m (cleared first). Strings in m are valid until the next call, or with
 * `keeps` set until decoder_forget; m owns its lists (message_release). */
void dialect_decode(struct decoder *d, struct str bytes, const struct frame_info *info,
		    struct message *m);
/* Parses the line at p before its end is known and returns its newline (see newline_fn); NULL =
 * search for it. There is one before `end`. The line must then be passed, lent, to
 * dialect_decode. */
const char *decoder_read_ahead(struct decoder *d, const char *p, const char *end);
/* The dialect of a parsed value; all scores into scores[DIALECT_COUNT] when not NULL. */
enum dialect_id dialect_detect(yyjson_val *root, int *scores);
/* One line about a message; text lines give themselves. */
void dialect_summarize(struct decoder *d, struct str bytes, struct buf *out);
/* Parses a message for any number of calls of dialect_detail. */
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
/* Parses a message inside another with one of the decoder's readers. */
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
