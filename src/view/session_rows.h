/* What the sessions view and its JSON form say of each session, as of the scene. With a filter, what
 * passes it is counted. Messages that name no session count for the one that they belong to
 * (model/session_of.h). */
#ifndef GAVEL_VIEW_SESSION_ROWS_H
#define GAVEL_VIEW_SESSION_ROWS_H

#include "view/view.h"

struct session_row {
	uint32_t messages; /* 0: the session has no row */
	uint32_t invalid;  /* messages with errors */
	uint32_t first, last;
	int64_t last_ms; /* of its last message with a time, TIME_NONE */
	uint32_t agents, open, due;
	uint32_t loops, diverging;
	uint32_t begun, ended, failed; /* loops; failed: by its newest step, not counted elsewhere */
	uint64_t tokens_in, tokens_out, tokens_cached;
	double cost;
	uint64_t dialects; /* bits of enum dialect_id */
	uint16_t activity[ACTIVITY_BUCKETS]; /* over the time of all sessions */
};

struct session_rows {
	uint32_t n; /* rows, by number of the session */
	struct session_row *rows;
	uint32_t most_active; /* the maximum of all activities */
};

/* Check the scene's yield afterwards: if it was cancelled, the rows are incomplete. */
void session_rows_compute(const struct scene *s, struct session_rows *out);
void session_rows_release(struct session_rows *r);

/* The sessions that have a row: those with items that are due first, then those with open items, then
 * the others, each in the order in which they began. Free the result. */
uint32_t *session_rows_sorted(const struct session_rows *r, uint32_t *n);

/* Convergence of the session's feedback loops. LOOPS_NONE: it has no loop. LOOPS_BEGUN: each loop
 * that is still active has had one iteration. */
enum loop_state {
	LOOPS_NONE,
	LOOPS_BEGUN,
	LOOPS_ENDED,
	LOOPS_CONVERGE,
	LOOPS_FAILED,
	LOOPS_DIVERGE
};
enum loop_state session_loop_state(const struct session_row *row);

#endif
