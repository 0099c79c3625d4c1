/* A dialect in this layer is one file and one table: how to detect it, how to read it, how to show
 * it. Its rules about several messages are a table of the model (model/rules.h), its verbs and the
 * bytes they become an encoder's (encode/plan.h). One line in event/record.h registers all three.
 *
 * Detection adds up scores, it does not match: each dialect has a signature, names of top-level
 * members with weights, and may look closer at the values. A name counts once. The best score wins
 * if it reaches DETECT_MIN, the first of equals; a message that lacks one of the keys is still that
 * message, with an error to report.
 *
 * decode never fails on content: whatever is wrong becomes a diagnostic. */
#ifndef GAVEL_DIALECT_DIALECT_H
#define GAVEL_DIALECT_DIALECT_H

#include "dialect/schema.h"

enum { DETECT_MIN = 50 };

/* Real agents: JSON-RPC replies and Claude's answers do not tell who speaks. */
enum direction {
	DIRECTION_UNKNOWN, /* a log */
	DIRECTION_IN,      /* the agent wrote it */
	DIRECTION_OUT,     /* it was told */
};

/* Metadata of a frame from the wire. */
struct frame_info {
	unsigned flags;       /* RECORD_TRUNCATED, RECORD_OVERSIZE */
	uint64_t full_length; /* of an oversize line */
	struct str file_name; /* without folders, when the file is one message; else empty */
	bool text;            /* treat as text, even if it looks like a message */
	bool reply;           /* from a journal or a file of replies: a person may have said it */
	enum direction direction; /* where that is known */
	bool holder;          /* a record of the agent's holder, no message of anybody */
	enum dialect_id stream; /* what the capture says that its agent speaks; UNKNOWN = nothing */
	/* The bytes are lent to the decoder until decoder_reset: it may write to them (in-place
	 * parsing). They are followed by a line end and JSON_PADDING readable bytes. */
	bool lent;
};

enum { DETECTIONS = 64 };

/* What the names of a message's members say of its dialect (detect.c). */
struct detection {
	uint64_t names;         /* a random number for each that is in a signature, added up */
	enum dialect_id winner; /* where names alone are enough, else DIALECT_UNKNOWN */
	bool twice;             /* one of them stands twice */
	uint16_t n, most;       /* dialects; the highest sum */
	uint16_t sum[DIALECT_MAX]; /* of weights */
	uint16_t has[DIALECT_MAX]; /* keys of the signature, as in decoder.has */
};

/* And what probes add, of a message that has no other probed members than a type and a timestamp. */
struct typed_winner {
	uint64_t key; /* of the names, the type, and what the timestamp is */
	enum dialect_id winner;
};

/* The elements of arrays by number: finding one in the array itself takes as long as the array. The
 * last two arrays are kept, since an ambiguous message has two readings. */
struct array_index {
	struct {
		yyjson_val *array;
		VEC(yyjson_val *) list;
	} last[2];
	unsigned newest;
};

/* Element `index`, or NULL. Call elements_forget before the document is freed. */
yyjson_val *elements_at(struct array_index *e, yyjson_val *array, uint32_t index);
void elements_forget(struct array_index *e);
void elements_release(struct array_index *e);

/* Working memory of decoding, one for each thread. Zero it; release it. */
struct decoder {
	struct json_reader outer, inner; /* the line; the response inside part.text */
	struct json_reader original;     /* the message inside an escalation queue's entry */
	struct json_reader about;        /* the message that the looked one is about */
	struct json_reader last, last_inner; /* as outer and inner, if the last duplicate wins */
	struct checker check;
	struct arena arena; /* diagnostics and generated text of the current message */
	bool quiet; /* diagnostics are only counted */
	bool keeps; /* messages stay valid until decoder_reset, not only until the next one */
	bool lazily; /* decode only: strings keep their escapes until json_str */
	struct frame_info info;
	struct str bytes; /* of the current message */
	bool twice; /* a name that dialects are detected by is there twice */
	bool last_wins; /* reading a message that way */
	unsigned has; /* which keys of its dialect's signature it has: bits, of the first 16 */
	struct detection detections[DETECTIONS]; /* of the names of earlier messages */
	struct typed_winner typed_winners[DETECTIONS];
	const struct dialect_ops *looked_dialect; /* of the message parsed by dialect_look */
	yyjson_val *looked;
	yyjson_val *looked_about; /* NULL = none; set by dialect_look_about */
	yyjson_val *looked_last;  /* NULL = it is not ambiguous; set by dialect_look_last */
	/* the text inside a message that was last searched for a response, and what was found */
	yyjson_val *response_in, *response;
	struct array_index elements[2]; /* of the arrays that its items were last found in */
};

/* A labelled field of an item, for display. */
struct detail_field {
	const char *label;
	struct str text;
	bool id_like; /* ids, paths, enum values: non-ASCII characters are shown escaped */
};

enum { DETAIL_FIELDS_MAX = 48, DETAIL_PARTS_MAX = 4, DETAIL_QUESTIONS_MAX = 8 };

/* A value that an item consists of. */
struct detail_part {
	yyjson_val *value; /* NULL: it could be here, but is not */
	const yyjson_val *but; /* that of a member which says nothing; NULL = none */
};

/* One of the questions of an item. An option is an object with a label (or title) and perhaps a value
 * (or const) and a description (decide/question.h). */
struct detail_question {
	struct str words;
	yyjson_val *options; /* an array; NULL = none, any text answers it */
	bool several;        /* more than one option may be chosen */
};

/* An item's content, decoded from its message again. Strings live in the decoder.
 *
 * Everything that fields show is in a part, or is the deadline. The revision that a decision is
 * bound to covers these (detail_write), and so must event.content_hash: the model takes a raise with
 * another hash for other words, which nobody has decided on. What only tells one message from the
 * next (ids, sequence numbers, times) is in none. */
struct detail {
	struct str title;
	struct detail_field field[DETAIL_FIELDS_MAX];
	unsigned n;
	struct detail_part part[DETAIL_PARTS_MAX];
	unsigned parts;
	int64_t deadline_ms; /* computed from the message; TIME_NONE = none */
	yyjson_val *options; /* a question's options, an array; NULL = none. Of several: of the
				first */
	/* An item that asks several at once, or one with a choice of several options; a dialect
	 * with plain questions leaves it empty. Page and prompts number them in this order, and
	 * the draft's answer has a line for each. */
	struct detail_question questions[DETAIL_QUESTIONS_MAX];
	unsigned question_n;
	yyjson_val *input; /* of a call that waits, where the answer may change it; NULL = it may not */
};

struct detection_key {
	const char *name;
	unsigned weight;
};

/* Members of a message that probes look at, whatever dialect it is; and the message itself, whose
 * strings they must leave alone (json_str). Of a timestamp they look only at its JSON type; what they find in
 * the message itself must depend on its names and on a probed member besides type and timestamp. */
enum {
	PROBED_TYPE,
	PROBED_ID,
	PROBED_STATUS,
	PROBED_TIMESTAMP,
	PROBED_PAYLOAD,
	PROBED_METHOD,
	PROBED_MESSAGE,
	PROBED_COUNT,
	PROBED_ROOT = PROBED_COUNT,
	PROBED_SIZE
};

/* Whether a second copy of a message may be sent when nobody knows about the first. */
enum redelivery {
	REDELIVERY_NEVER,
	REDELIVERY_ASKED,  /* only if a person says so: it is taken for another message */
	REDELIVERY_ALWAYS, /* its id makes it idempotent */
};

struct dialect_ops {
	const char *name;       /* as people and scripts read it */
	const char *short_name; /* four characters, for lists */
	const struct detection_key *signature; /* ends with a NULL name */
	const struct shape *const *shapes; /* that it checks with, but for those inside; ends with
					      NULL */
	/* Looks at values; returns what to add to the signature's weights, 0 to probe_max. May be
	 * NULL. */
	int (*probe)(yyjson_val *const *probed);
	int probe_max;
	void (*decode)(struct decoder *d, yyjson_val *root, struct message *m);
	/* One line for the list of messages. */
	void (*summarize)(struct decoder *d, yyjson_val *root, struct buf *out);
	/* Fills title, fields and parts; false when the message holds no such item. */
	bool (*detail)(struct decoder *d, yyjson_val *root, enum item_kind kind, uint32_t index,
		       struct detail *out);
	enum redelivery redelivery;
};

/* The registry (dialect_registry.c), NULL behind the last. DIALECT_UNKNOWN and DIALECT_TEXT have
 * rows, too, with a name and nothing else. */
extern const struct dialect_ops *const dialects[DIALECT_MAX];

unsigned dialect_count(void);

static inline const char *dialect_name(enum dialect_id id)
{
	return dialects[id]->name;
}

/* NULL for those that decode nothing. */
static inline const struct dialect_ops *dialect_of(enum dialect_id id)
{
	return id > DIALECT_TEXT ? dialects[id] : NULL;
}

bool dialect_named(struct str name, enum dialect_id *out); /* false: there is none */

/* Decodes one frame into m (cleared first). Strings in m are valid until the next call, or with
 * `keeps` set until decoder_reset; m owns its lists (message_release). */
void dialect_decode(struct decoder *d, struct str bytes, const struct frame_info *info,
		    struct message *m);
/* Whether that would make no more of a frame than a log line, without anything to report; if so, with
 * these flags. */
bool dialect_is_log_line(struct str bytes, const struct frame_info *info, uint16_t *flags);
/* Clears m and makes it one. */
void dialect_log_line(struct message *m, uint16_t flags);
/* Parses the line at p before its end is known and returns its newline (see newline_fn); NULL =
 * search for it. There is one before `end`. The line must then be passed, lent, to
 * dialect_decode. */
const char *decoder_read_ahead(struct decoder *d, const char *p, const char *end);
/* The dialect of a parsed value; all scores into scores[DIALECT_MAX] when not NULL. */
enum dialect_id dialect_detect(yyjson_val *root, int *scores);
/* One line about a message; text lines give themselves. */
void dialect_summarize(struct decoder *d, struct str bytes, struct buf *out);
/* Parses a message for any number of calls of dialect_detail and dialect_summary. known: its dialect, as
 * decoded before; DIALECT_UNKNOWN = detect it. */
void dialect_look(struct decoder *d, struct str bytes, enum dialect_id known);
/* After that: the message that it is about (item_subject), whose content is part of the detail. */
void dialect_look_about(struct decoder *d, struct str bytes);
/* After dialect_look, of a message that is RECORD_AMBIGUOUS: details have the fields of both
 * readings. */
void dialect_look_last(struct decoder *d, struct str bytes);
/* False: it is of no dialect, and its bytes are its summary. */
bool dialect_summary(struct decoder *d, struct buf *out);
bool dialect_detail(struct decoder *d, enum item_kind kind, uint32_t index, struct detail *out);
/* The words by which a parsed message names the task that it brings up or gives out, and those by
 * which it explains its decision on an item; empty = none. They live as long as the tree. */
struct str dialect_task_title(enum dialect_id dialect, yyjson_val *root);
struct str dialect_decision_reason(enum dialect_id dialect, yyjson_val *root, struct str item);
/* What the item says, as bytes: the compact forms of its parts, a line each, and the deadline. */
void detail_write(const struct detail *d, struct buf *out);
void decoder_reset(struct decoder *d);
void decoder_release(struct decoder *d);

/* The dialect of a message that d has read; d->has is set. */
enum dialect_id decoder_detect(struct decoder *d, yyjson_val *root);
/* All names that dialects know, for a decoder; free it. */
struct names *names_of_dialects(void);

/* For the dialects: */
/* Whether a set `has` of keys (decoder.has) contains the signature's key HAS_name. */
#define HAS(name) (has >> HAS_##name & 1)
/* Which keys of the dialect's signature an object has, as in decoder.has; names: those it was read
 * with, or NULL. */
unsigned dialect_has(const struct dialect_ops *dialect, yyjson_val *root,
		     const struct names *names);
/* Parses a message inside another with one of the decoder's readers. */
enum json_outcome decoder_read(struct decoder *d, struct json_reader *r, struct str bytes,
			       yyjson_val **root);
void detail_part(struct detail *out, yyjson_val *value, const yyjson_val *but);
void detail_add(struct detail *out, const char *label, struct str text, bool id_like);
/* One of the item's questions, in order; those beyond DETAIL_QUESTIONS_MAX are left out. options: NULL
 * or no array = any text answers it. */
void detail_ask(struct detail *out, struct str words, yyjson_val *options, bool several);
/* The same for a list of strings, joined by newlines; nothing for an empty list. */
void detail_add_list(struct decoder *d, struct detail *out, const char *label, yyjson_val *array);
/* A number or boolean as text in the decoder's arena. */
struct str scalar_text(struct decoder *d, yyjson_val *v);
/* Appends the template with each {name} replaced by that member of obj if it is a string, and each
 * {#name} whatever it is. */
void summary_add(struct decoder *d, struct buf *out, yyjson_val *obj, const char *template);

#endif
