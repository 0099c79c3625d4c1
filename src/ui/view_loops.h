/* Loops: what the ledger is made of. A loop is a feedback session, or all reviews of one task and
 * its revisions. Its iterations are turns; its items are entries, findings that share their own id
 * being one; what happened to an entry is a list in the order of messages.
 *
 * What happened belongs to the turn that was running or was answered by the message that did it: a
 * review's findings and the revision that takes them up belong to one turn, an applied feedback to
 * the turn of the request that carries it. */
#ifndef GAVEL_UI_VIEW_LOOPS_H
#define GAVEL_UI_VIEW_LOOPS_H

#include "ui/view_parts.h"

enum happening_kind {
	HAPPENED_RAISED,
	HAPPENED_BACK, /* raised again in a later turn */
	HAPPENED_ACCEPTED,
	HAPPENED_PARTIAL,
	HAPPENED_REJECTED,
	HAPPENED_ESCALATED,
	HAPPENED_OTHER, /* answered, dismissed */
	HAPPENED_ACKED,
	HAPPENED_BOUNCED,
	HAPPENED_FIXED,
	HAPPENED_SUPERSEDED,
	HAPPENED_COUNT
};

struct happening {
	uint32_t message, turn; /* turn: place in the loop's list */
	uint32_t order;         /* among those of one message */
	uint8_t kind;
};

/* One item, or several that share their own id. */
struct entry {
	uint32_t loop, item; /* the newest of them */
	uint32_t first_item; /* the others follow by next_item */
	struct happening *list;
	uint32_t n;
	uint32_t next; /* entry of the same loop, NONE */
};

/* Counts are those right after the answer; of the last TURNS_COUNTED turns only. */
struct turn {
	uint32_t answer; /* message, NONE = still waited for */
	uint32_t iteration, open, fresh, again;
	bool failed;
};

enum { TURNS_COUNTED = 64 };

/* When a loop was asked or answered. */
struct moment {
	uint32_t message, turn;
};

struct loop {
	uint32_t review, reviews; /* the first of them, and how many */
	uint32_t task;   /* the root, NONE for a feedback loop */
	struct moment *moments;
	struct turn *turns;
	uint32_t moment_count, turn_count;
	uint32_t first_entry, last_entry, entry_count;
	bool filled; /* what happened to its entries is known, and its turns are counted */
	enum review_verdict verdict; /* the newest word */
	bool failed;
};

struct loops {
	struct loop *list;
	struct entry *entries;
	uint32_t n, entry_count;
	uint32_t *of_review, *next_item;
	const struct model *model;
	uint32_t k;
	struct happening *pool; /* of all entries' lists */
	size_t pool_used;
};

/* Everything lives in the arena. What happened is left open for most loops: a
 * session may have tens of thousands, and a screen shows a few. */
struct loops *loops_make(const struct scene *s, struct arena *arena);
/* Before looking at entries' lists and turns' counts. */
void loop_fill(struct loops *all, struct loop *l);
/* The last two answers left something open, and the later one not less than the one before. */
bool loop_diverges(struct loops *all, struct loop *l, const struct turn **before,
		   const struct turn **after);

#endif
