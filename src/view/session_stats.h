/* Summary statistics of a session as of the scene: counts of messages, items, tasks and reviews,
 * how long decisions took, diverging loops, agents by tokens.
 *
 * Computed in one pass over the model. Those of a whole log are cached with it (scene.kept), in its
 * image too. */
#ifndef GAVEL_VIEW_SESSION_STATS_H
#define GAVEL_VIEW_SESSION_STATS_H

#include "view/view.h"

struct counts {
	uint64_t dialect[DIALECT_MAX], kind[DIALECT_MAX][256];
	uint64_t problem[3], flagged; /* messages with errors */
	uint64_t sources, sessions, messages, agents;
	uint64_t task[TASK_STATE_COUNT], tasks, stalled;
	uint64_t review[4], reviews;
	uint64_t verdict[VERDICT_COUNT], items, due, undecidable, came_back;
	uint64_t tokens_in, tokens_out, tokens_cached;
	double cost;
	int64_t from_ms, to_ms;
};

enum { SPENDERS_MAX = 12, DIVERGED_MAX = 12 };

struct session_stats {
	uint32_t k; /* of the scene, as now_ms is */
	int64_t now_ms;
	struct counts counts;
	/* decisions, by agents in the log and by persons here */
	uint32_t by_agents[VERDICT_COUNT], by_persons[VERDICT_COUNT];
	uint32_t decided;
	/* from the opening of an item to its decision, where both have a time; a person's only if
	 * made while the session was live */
	uint32_t timed;
	int64_t median_ms, longest_ms; /* TIME_NONE where timed is 0 */
	uint32_t loops, diverging; /* diverging: they do not converge; */
	uint32_t diverged[DIVERGED_MAX]; /* the first messages of the first ones */
	/* agents that used tokens, and the ones that used most */
	uint32_t spenders;
	struct { uint32_t agent; uint64_t tokens; } spender[SPENDERS_MAX];
};

/* Time from the opening of an item to the decision in `step`, or to a person's; TIME_NONE if
 * unknown. */
int64_t step_took(const struct model *m, const struct item *item, uint32_t step);
int64_t overlay_took(const struct model *m, const struct overlay *overlay, uint32_t opened);

/* The loops of one session, for views that list sessions. */
struct session_loops {
	uint32_t loops, ended, diverging; /* ended: nothing open, or approved */
};
/* Fills out[] by session, model->sessions.n of them, in one pass over the loops. The scene's loops are
 * used, else computed. False: cancelled by the scene's yield. */
bool session_loop_states(const struct scene *s, struct session_loops *out);
/* "not converging", "converging", "ended" where all have, "" without a loop. */
const char *session_loop_word(const struct session_loops *l);

/* *loops, if asked for: the loops, if it had to compute them, else NULL; for ledger_release. */
void session_stats_compute(const struct scene *s, struct session_stats *out, struct ledger **loops);

#endif
