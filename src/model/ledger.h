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

/* Number of entries that are open after an answer, of those it raised for the first time or again,
 * and of open items that keep coming back (LOOP_RECURS). */
struct answer {
	uint32_t message, open, fresh, again, recurring;
};
typedef VEC(struct answer) answer_list;

/* An item that was raised again in so many later iterations keeps coming back. Ids that several
 * reviews share do not count: reviewers number the findings of each review from one. */
enum { LOOP_RECURS = 2 };

struct ledger {
	const struct model *model;
	uint32_t users; /* reference count */
	uint32_t from, to; /* valid as of any k in from..to */
	uint32_t n;
	struct ledger_loop *list; /* n, and a sentinel */
	uint32_t *reviews, *items; /* grouped by loop, sorted by number */
	uint32_t *next; /* by place in items: place of the next item of its entry, NONE; or NULL */
	uint32_t *of_review; /* by review: its loop, NONE */
	uint32_t review_count;
	VEC(uint32_t) transitions; /* messages where a loop in turn starts and stops diverging */
	answer_list answers; /* of loops with two answers or more */
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

/* Whether a loop converges, judged by its newest answer and the one before it; iterations that failed
 * do not count. Everything that says so to people asks loop_progress or, without looking at the
 * loop's turns, loop_diverges. */
enum loop_progress {
	LOOP_BEGUN,       /* fewer than two answers: nothing to compare */
	LOOP_ENDED,       /* the newest answer approves, or leaves nothing open */
	LOOP_CONVERGES,   /* fewer entries are open than after the answer before */
	LOOP_NOT_FALLING, /* as many or more: does not converge */
	LOOP_RECURRING,   /* fewer, but an open item keeps coming back: does not converge */
};

/* Whether it had two successful answers: enough to compare. */
bool loop_has_two_answers(const struct ledger *all, uint32_t loop, uint32_t k);
/* Whether the loop does not converge: LOOP_NOT_FALLING or LOOP_RECURRING. By binary search. */
bool loop_diverges(const struct ledger *all, uint32_t loop, uint32_t k);
/* The number of such loops as of k. */
uint32_t ledger_diverging(const struct ledger *all, uint32_t k);
/* The loop of an item; NONE: it is in none, or in one that began after the ledger was computed. */
uint32_t ledger_loop_of(const struct ledger *all, uint32_t item);

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
	bool reworded; /* BACK: in other words than before */
};

/* One item, or several that share their own id. */
struct entry {
	uint32_t item; /* the newest of them */
	struct entry_event *list;
	uint32_t n;
};

struct loop_turn {
	uint32_t answer; /* message, NONE = pending */
	uint32_t iteration, open, fresh, again, recurring; /* counts as in struct answer */
	bool failed, approved;
};

/* A request or answer of a loop. */
struct exchange {
	uint32_t message, turn;
	bool answers, failed, approved;
};

/* A loop as of k. */
struct loop_at {
	uint32_t number, k;
	uint32_t review; /* the first of them */
	struct exchange *exchanges;
	struct loop_turn *turns;
	uint32_t exchange_count, turn_count;
	uint32_t highest_iteration; /* of its turns */
	enum review_verdict verdict; /* of its newest step */
	bool failed;
};

/* Computes a loop that has begun before k; allocated in the arena. */
struct loop_at *loop_look(const struct ledger *all, uint32_t loop, uint32_t k, struct arena *arena);
/* Its entry whose first item is `item`, with what happened to it. */
void loop_entry(const struct ledger *all, const struct loop_at *l, uint32_t item,
		struct arena *arena, struct entry *out);
enum loop_progress loop_progress(const struct loop_at *l);
/* The last two turns with a successful answer; false: there are not two, *before is NULL then. */
bool loop_last_two(const struct loop_at *l, const struct loop_turn **before,
		   const struct loop_turn **after);

/* An entry that is open after the newest answer and was raised in more than one turn. */
struct recurring {
	uint32_t item;  /* the first of the entry, as loop_entry takes it */
	uint32_t times; /* how often it came back */
	uint32_t last;  /* turn in which it did so last */
};
enum { RECURRING_MAX = 8 };
/* The entries that came back most often, earlier ones first among equals; returns how many there are
 * in all. Walks the loop's entries. */
uint32_t loop_recurring(const struct ledger *all, const struct loop_at *l,
			struct recurring out[RECURRING_MAX]);

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
