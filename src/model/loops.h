/* Loops: what the ledger is made of. A loop is a feedback session, or all reviews of one task and
 * its revisions. Its iterations are turns; its items are entries, findings that share their own id
 * being one; what happened to an entry is a list in the order of messages.
 *
 * What happened belongs to the turn that was running or was answered by the message that did it: a
 * review's findings and the revision that takes them up belong to one turn, an applied feedback to
 * the turn of the request that carries it.
 *
 * Which loops there are and what belongs to them is worked out once for a session. As of a message
 * k there are those that have begun by then, with the items raised by then, in the same order; of a
 * loop that is looked at, turns and happenings are worked out as of k. So a session may have tens
 * of thousands, and a screen that shows a few costs a few. */
#ifndef GAVEL_MODEL_LOOPS_H
#define GAVEL_MODEL_LOOPS_H

#include "model/model.h"

struct loop {
	uint32_t task;    /* the root, NONE for a feedback loop */
	uint32_t first;   /* message that begins it */
	uint32_t reviews; /* its first among all loops' reviews; the next loop's is the end */
	uint32_t items, flips, answers; /* the same */
};

/* An item that shares its id with an earlier one of the loop, and so its entry, has this bit. */
#define LOOP_SHARES (UINT32_C(1) << 31)

/* How many entries are open right after an answer, and which of these it raised, or raised
 * again. */
struct answer {
	uint32_t message, open, fresh, again;
};

struct loops {
	const struct model *model;
	uint32_t users; /* whose lines show it */
	uint32_t from, to; /* it holds as of any k from..to */
	uint32_t n;
	struct loop *list; /* n, and one behind them */
	uint32_t *reviews, *items; /* in the order of their numbers */
	uint32_t *next; /* by place among the items: the next one's of its entry, NONE */
	VEC(uint32_t) flips; /* messages after which a loop diverges, then does not, and so on */
	VEC(struct answer) answers; /* of loops that have two */
};

/* As of k, at most n; what it says holds as of any other k up to n, too, but for logs in which a
 * task that was reviewed already turns out to be a revision. NULL: it was cancelled. */
struct loops *loops_new(const struct model *m, uint32_t k, uint32_t n, struct yield *yield);
/* Whoever keeps it holds it; the last one that lets it go frees it. NULL is allowed. */
struct loops *loops_hold(struct loops *all);
void loops_release(struct loops *all);

/* ---- as of k ---- */

static inline bool loop_has_begun(const struct loops *all, uint32_t loop, uint32_t k)
{
	return all->list[loop].first < k;
}

/* Whether its last two answers left something open, and the later one not less than the one
 * before. */
bool loop_diverges(const struct loops *all, uint32_t loop, uint32_t k);

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
	uint8_t kind;
};

/* One item, or several that share their own id. */
struct entry {
	uint32_t item; /* the newest of them */
	struct happening *list;
	uint32_t n;
};

struct loop_turn {
	uint32_t answer; /* message, NONE = still waited for */
	uint32_t iteration, open, fresh, again; /* right after the answer */
	bool failed;
};

/* When a loop was asked or answered. */
struct moment {
	uint32_t message, turn;
	bool answers, failed;
};

/* A loop as of k. */
struct loop_at {
	uint32_t number, k;
	uint32_t review; /* the first of them */
	struct moment *moments;
	struct loop_turn *turns;
	uint32_t moment_count, turn_count;
	enum review_verdict verdict; /* the newest word */
	bool failed;
};

/* One that has begun. What it points to is in the arena. */
struct loop_at *loop_look(const struct loops *all, uint32_t loop, uint32_t k, struct arena *arena);
/* Its entry whose first item is `item`, with what happened to it. */
void loop_entry(const struct loops *all, const struct loop_at *l, uint32_t item, struct arena *arena,
		struct entry *out);
/* The last two turns with an answer that is no error; false: there are not two. */
bool loop_last_two(const struct loop_at *l, const struct loop_turn **before, const struct loop_turn **after);

/* Walks the first items of a loop's entries, and an entry's items: places, and the next ones; NONE
 * ends both. limit: model_item_count(m, k). */
uint32_t loop_first_place(const struct loops *all, uint32_t loop, uint32_t limit);
uint32_t loop_next_place(const struct loops *all, uint32_t loop, uint32_t place, uint32_t limit);
uint32_t entry_next_place(const struct loops *all, uint32_t place, uint32_t limit);
static inline uint32_t loop_item(const struct loops *all, uint32_t place)
{
	return all->items[place] & ~LOOP_SHARES;
}
/* Where an item of a loop is. */
uint32_t loop_place_of(const struct loops *all, uint32_t loop, uint32_t item);

#endif
