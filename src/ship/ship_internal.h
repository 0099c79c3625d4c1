/* The parts of a shipper: lines, items, and the decisions in its outbox. */
#ifndef GAVEL_SHIP_SHIP_INTERNAL_H
#define GAVEL_SHIP_SHIP_INTERNAL_H

#include "ship/shipper.h"

enum {
	SHIP_RETRY_MS = 5000,     /* after the store has refused something */
	SHIP_REFUSED_MS = 60000,  /* likewise, if only its owner can change that */
	SHIP_ROUND_MIN_MS = 50,   /* from one look at all items to the next */
	SHIP_ROUND_MAX_MS = 1000, /* deadlines pass, and what was refused is tried again */
};

/* A SOURCE argument: its items belong to it. */
struct shipped_source {
	struct shipper *s;
	uint32_t desk;
	int64_t id; /* in the store; 0 = not known yet */
	int64_t retry_ms; /* when the store is asked again; 0 = it has not refused it */
	bool refused;     /* only the store's owner can change that */
};

enum shipped_file_state {
	SHIP_FILE_NEW,
	SHIP_FILE_OPENING, /* the store is asked where it ends */
	SHIP_FILE_READY,
	SHIP_FILE_SENDING, /* lines are on their way */
	SHIP_FILE_NEVER,   /* it holds replies, or its bytes are lost */
};

/* A file of the wire. */
struct shipped_file {
	struct shipper *s;
	uint32_t file;
	enum shipped_file_state state;
	int64_t id;
	int64_t number; /* of the log among those of its name */
	uint64_t at;    /* shipped up to here, */
	uint64_t sent;  /* and with the last call up to here */
	bool shared;    /* another gavel ship was noticed */
	int64_t slowed_ms; /* when it was last told that lines wait for the source's rate */
	char head[65];
	int64_t sent_ms, next_ms; /* when the last call left, and when the next may */
	bool behind;              /* there is more than one call takes */
	bool refused;             /* only the store's owner can change that */
};

enum shipped_item_state {
	SHIP_ITEM_GONE, /* the store does not wait for a decision on it */
	SHIP_ITEM_ASKED,
	SHIP_ITEM_OPEN,
	SHIP_ITEM_DECIDED,
};

/* An item of the model, as it was last told to the store. */
struct shipped_item {
	struct shipper *s;
	uint32_t number;
	enum shipped_item_state state;
	int64_t id;
	uint32_t message, anew, hash; /* of the raise: struct item_state */
	int64_t retry_ms;
};

/* A decision to be said. Strings are in the shipper's box_words. */
struct outgoing {
	int64_t item; /* in the store */
	uint32_t source;
	struct str rev, who, words, last;
	struct str tag;  /* of the draft: STORE/ITEM */
	uint32_t draft;  /* on the desk; NONE = there is none */
	struct str why;  /* it was not said */
	bool refused;    /* for good */
};

/* Of a decision that was sent: the agents may acknowledge it. */
struct unacknowledged {
	int64_t item;
	uint32_t desk;
};

struct shipper {
	struct load *load;
	struct shipper_settings settings;
	struct store *store;
	char host[256];
	bool recovered, fresh; /* fresh: there is a new connection */
	bool told_lost; /* the loss of the connection was reported */
	bool live;                     /* messages come as they are written */
	struct err failure;            /* why nothing can be shipped; empty = it can */
	VEC(struct shipped_source *) sources; /* by desk */
	VEC(struct shipped_file *) files;     /* by file of the wire */
	VEC(struct shipped_item *) items;     /* by item of the model; NULL = never told */
	struct map by_id;                     /* of items, by their id in the store */
	uint32_t scanned;  /* items looked at in this round */
	uint32_t messages; /* of the model when the round began */
	int64_t round_ms;  /* when it began */
	bool round_done, compared, comparing;
	bool item_waits;   /* for the answer where its log is; the round goes on behind that */
	int64_t refused_ms; /* when it was last told that items are refused */
	VEC(struct outgoing) box;
	struct arena box_words;
	bool box_asked, box_full, box_done; /* done: the last answer had nothing new */
	bool box_old; /* the answer that is awaited was asked for too early */
	bool reported; /* of the box: something was */
	bool queued;   /* of the box: a letter waits for its agent to read it */
	int64_t box_ms, tick_ms;             /* when they are asked next */
	VEC(struct unacknowledged) unacknowledged;
	struct buf room; /* bytes of the wire */
};

void shipper_say(struct shipper *s, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Asks something, whose answer is nothing but that it was done. */
void shipper_tell(struct shipper *s, const struct store_request *r);
/* Where the lines and items of a source are: HOST:PATH, or --as-source. */
void shipper_source_name(const struct shipper *s, const struct desk *desk, struct buf *out);

/* {1,2}: the ids of all sources, for an int[]. */
void ship_source_list(const struct shipper *s, struct buf *out);

/* ship_lines.c */
void ship_lines_step(struct shipper *s, int64_t now_ms);
int ship_lines_wait_ms(const struct shipper *s, int64_t now_ms);
bool ship_lines_are_done(const struct shipper *s);
void ship_lines_again(struct shipper *s); /* the store may have gone back */
/* Whether the store is being asked where the log of a message is. */
bool ship_is_opening(const struct shipper *s, uint32_t message);
/* Appends {"source":N,"offset":N}, the place of a message in the store's lines; false: it has none. */
bool ship_put_place(const struct shipper *s, uint32_t message, struct buf *out);

/* ship_items.c */
void ship_items_step(struct shipper *s, int64_t now_ms);
struct shipped_item *ship_item_of(const struct shipper *s, int64_t id);
/* Whether the agent that wrote a message has ended, so that nothing can be said to it. */
bool ship_agent_is_gone(const struct desk *desk, uint32_t message);
void ship_items_again(struct shipper *s);

/* ship_outbox.c */
void ship_outbox_step(struct shipper *s, int64_t now_ms);
void ship_note_sent(struct shipper *s, int64_t item, uint32_t desk);

#endif
