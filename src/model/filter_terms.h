/* Internal to filter.c and filter_parse.c: parsed terms, and the subject they are matched with. */
#ifndef GAVEL_MODEL_FILTER_TERMS_H
#define GAVEL_MODEL_FILTER_TERMS_H

#include "base/mem.h"
#include "model/filter.h"
#include "model/session_of.h"

enum key {
	KEY_KIND,
	KEY_DIALECT,
	KEY_AGENT,
	KEY_TASK,
	KEY_SESSION,
	KEY_SOURCE,
	KEY_ID,
	KEY_SEVERITY,
	KEY_VERDICT,
	KEY_IS,
	KEY_TRUST,
	KEY_AFTER,
	KEY_BEFORE,
	KEY_COUNT,
	KEY_WORD = KEY_COUNT, /* no key: a plain word */
	KEY_SCOPE             /* filter_limit; cannot be typed */
};

/* Properties tested by is: and severity:, as bits. The lowest are enum record_flag. */
enum property {
	PROPERTY_OPEN = 1 << 13,
	PROPERTY_DECIDED = 1 << 14,
	PROPERTY_EXPIRED = 1 << 15,
	PROPERTY_DUE = 1 << 16,
	PROPERTY_ERROR = 1 << 17,
	PROPERTY_WARNING = 1 << 18,
	PROPERTY_NOTE = 1 << 19,
	PROPERTY_TEXT = 1 << 20,
	PROPERTY_UNKNOWN = 1 << 21,
	PROPERTY_SEVERITY = 1 << 22, /* shifted by a severity */
	PROPERTY_SNOOZED = 1 << 30,
};

/* Numbering of two severity scales, each worst first: items' grades, then diagnostics. */
enum { SEVERITY_DIAG = GRADE_NONE, SEVERITY_COUNT = GRADE_NONE + 3 };

enum entity_type { ENTITY_MESSAGE, ENTITY_ITEM, ENTITY_TASK, ENTITY_REVIEW, ENTITY_AGENT };

struct entity {
	enum entity_type type;
	uint32_t number;
};

/* Cached result of task: and id: terms and of a task's scope: the messages with a step of a matching
 * entity. */
struct message_bitmap {
	const struct model *m;
	uint32_t messages_seen, tasks_seen, items_seen, reviews_seen;
	VEC(struct entity) named;
	VEC(uint64_t) bits; /* bitmap of messages */
	VEC(bool) agents;   /* a scope's: who sent or received one of them */
};

/* Cached result of a source: term, by number of the file. */
struct source_matches {
	const struct model *m;
	VEC(uint8_t) known; /* enum source_match */
};

struct term {
	enum key key;
	bool negate, glob;
	struct str value; /* folded when a glob */
	unsigned wanted;  /* bits of enum property; trust: 1 << enum trust */
	int64_t time_ms;
	struct message_bitmap *bitmap;
	struct source_matches *sources;
	enum filter_scope scope; /* KEY_SCOPE: which number */
	uint32_t number;
};

struct filter {
	struct arena arena;
	struct sessions_named *sessions;
	filter_text_fn source_name; /* of a message; may be NULL */
	void *source_ctx;
	struct term scope; /* tested first */
	VEC(struct term) terms;
	VEC(struct term) words;
};

struct subject {
	const struct filter *f;
	const struct model *m;
	struct entity is;
	uint32_t k;
	const struct record *first, *last; /* its first message and its newest */
	const struct item_state *item_state; /* of an item */
	uint32_t session, task;
	uint32_t agents[3];
	struct str kind, state, grade;
	unsigned properties; /* bits of enum property */
	filter_text_fn text;
	void *ctx;
};

struct parser {
	struct str rest, word; /* word: all of it, for errors */
	int64_t day;
	struct arena *arena;
	struct err *err;
};

struct key_row {
	const char *name;
	int (*read)(struct parser *p, struct term *t); /* NULL: any text */
	bool (*match)(const struct term *t, const struct subject *s);
};

struct property_row {
	const char *name;
	unsigned bit;
};

enum { PROPERTY_COUNT = 18 };
extern const struct key_row filter_keys[KEY_COUNT];
extern const struct property_row filter_properties[PROPERTY_COUNT];

/* The i-th name of a list; NULL after the last. */
typedef const char *(*name_fn)(unsigned i);
/* The names that a key takes as values; NULL = it takes any. */
name_fn filter_names(enum key key);

bool value_matches(const struct term *t, struct str s);

/* filter_sources.c: session: and source: */
/* The session that it belongs to: model/session_of.h. */
uint32_t subject_session(const struct subject *s);
bool match_session(const struct term *t, const struct subject *s);
bool match_source(const struct term *t, const struct subject *s);
void filter_sources_release(struct filter *f);

/* Parsers of the values of keys; -1 and the parser's err if invalid. */
int read_name(struct parser *p, struct term *t);
int read_source(struct parser *p, struct term *t);
int read_dialect(struct parser *p, struct term *t);
int read_is(struct parser *p, struct term *t);
int read_severity(struct parser *p, struct term *t);
int read_verdict(struct parser *p, struct term *t);
int read_time(struct parser *p, struct term *t);
int read_trust(struct parser *p, struct term *t);

#endif
