/* The ledger: review and feedback loops as tables of items × iterations. A loop is a feedback
 * session, or all reviews of one task and its revisions. Its columns are turns, one per iteration;
 * its rows are entries, one per item, or one for findings that share their id; a cell lists the
 * events of the entry in that turn (struct entry_event).
 *
 * An event belongs to the turn that was running, or that its message answered: a review's findings
 * and the revision that accepts them to one turn, applied feedback to the turn of its request.
 *
 * The loops and their members are computed once per session (ledger_new). As of message k those
 * exist that have begun before k, with the items raised before k, in the same order. Turns and
 * events are computed per loop on demand (loop_look): there may be tens of thousands of loops. */
#ifndef GAVEL_MODEL_LEDGER_H
#define GAVEL_MODEL_LEDGER_H

#include "model/model.h"

struct ledger_loop {
	uint32_t task;    /* root task, NONE for a feedback loop */
	uint32_t first;   /* its first message */
	uint32_t reviews; /* start of its range in loops.reviews; ends at the next loop's */
	uint32_t items, transitions, answers; /* likewise */
};

/* Flag of an item that shares the entry of an earlier item of the loop with the same id. */
#define LOOP_SHARES (UINT32_C(1) << 31)

/* Number of entries that are open after an answer, and of those it raised for the first time or
 * again. */
struct answer {
	uint32_t message, open, fresh, again;
};

struct ledger {
	const struct model *model;
	uint32_t users; /* reference count */
	uint32_t from, to; /* valid as of any k in from..to */
	uint32_t n;
	struct ledger_loop *list; /* n, and a sentinel */
	uint32_t *reviews, *items; /* grouped by loop, sorted by number */
	uint32_t *next; /* by place in items: place of the next item of its entry, NONE */
	VEC(uint32_t) transitions; /* messages where a loop in turn starts and stops diverging */
	VEC(struct answer) answers; /* of loops with two answers or more */
};

/* Computes the loops as of k, at most n; valid for any other k up to n (from, to), unless a task
 * that was already reviewed turns out to be a revision. NULL: cancelled by the yield. */
struct ledger *ledger_new(const struct model *m, uint32_t k, uint32_t n, struct yield *yield);
/* Reference counting: ledger_new and ledger_ref add a reference, the last release frees. NULL is
 * allowed. */
struct ledger *ledger_ref(struct ledger *all);
void ledger_release(struct ledger *all);

/* ---- as of k ---- */

static inline bool loop_has_begun(const struct ledger *all, uint32_t loop, uint32_t k)
{
	return all->list[loop].first < k;
}

/* Whether the last answer left entries open, and no fewer than the one before. */
bool loop_diverges(const struct ledger *all, uint32_t loop, uint32_t k);

enum entry_event_kind {
	ENTRY_RAISED,
	ENTRY_BACK, /* raised again in a later turn */
	ENTRY_ACCEPTED,
	ENTRY_PARTIAL,
	ENTRY_REJECTED,
	ENTRY_ESCALATED,
	ENTRY_OTHER, /* answered, dismissed */
	ENTRY_ACKED,
	ENTRY_BOUNCED,
	ENTRY_FIXED,
	ENTRY_SUPERSEDED,
	ENTRY_COUNT
};

struct entry_event {
	uint32_t message, turn; /* turn: index into loop_at.turns */
	uint8_t kind;
};

/* One item, or several that share their own id. */
struct entry {
	uint32_t item; /* the newest of them */
	struct entry_event *list;
	uint32_t n;
};

struct loop_turn {
	uint32_t answer; /* message, NONE = pending */
	uint32_t iteration, open, fresh, again; /* counts as in struct answer */
	bool failed;
};

/* A request or answer of a loop. */
struct exchange {
	uint32_t message, turn;
	bool answers, failed;
};

/* A loop as of k. */
struct loop_at {
	uint32_t number, k;
	uint32_t review; /* the first of them */
	struct exchange *exchanges;
	struct loop_turn *turns;
	uint32_t exchange_count, turn_count;
	enum review_verdict verdict; /* of its newest step */
	bool failed;
};

/* Computes a loop that has begun before k; allocated in the arena. */
struct loop_at *loop_look(const struct ledger *all, uint32_t loop, uint32_t k, struct arena *arena);
/* Its entry whose first item is `item`, with what happened to it. */
void loop_entry(const struct ledger *all, const struct loop_at *l, uint32_t item,
		struct arena *arena, struct entry *out);
/* The last two turns with a successful answer; false: there are not two. */
bool loop_last_two(const struct loop_at *l, const struct loop_turn **before,
		   const struct loop_turn **after);

/* Iterate over the entries of a loop (by the place of their first item), and over the items of an
 * entry; NONE ends both. limit: model_item_count(m, k). */
uint32_t loop_first_place(const struct ledger *all, uint32_t loop, uint32_t limit);
uint32_t loop_next_place(const struct ledger *all, uint32_t loop, uint32_t place, uint32_t limit);
uint32_t entry_next_place(const struct ledger *all, uint32_t place, uint32_t limit);
static inline uint32_t loop_item(const struct ledger *all, uint32_t place)
{
	return all->items[place] & ~LOOP_SHARES;
}
/* Place of an item of a loop, by binary search. */
uint32_t loop_place_of(const struct ledger *all, uint32_t loop, uint32_t item);

#endif
