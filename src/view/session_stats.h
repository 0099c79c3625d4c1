/* The session in figures: how much there is of everything, how long items waited and what became of
 * them, which loops do not come to an end, who used most. As of the scene.
 *
 * They are counted in a walk through all of the model. Those of a whole log are plain numbers and
 * kept with it, in its image too (scene.kept). */
#ifndef GAVEL_VIEW_SESSION_STATS_H
#define GAVEL_VIEW_SESSION_STATS_H

#include "view/view.h"

struct counts {
	uint64_t dialect[DIALECT_MAX], kind[DIALECT_MAX][256];
	uint64_t problem[3], flagged; /* messages with errors */
	uint64_t sources, sessions, messages, agents;
	uint64_t task[TASK_STATE_COUNT], tasks, stalled;
	uint64_t review[4], reviews;
	uint64_t verdict[VERDICT_SUPERSEDED + 1], items, due, undecidable, came_back;
	uint64_t tokens_in, tokens_out, tokens_cached;
	double cost;
	int64_t from_ms, to_ms;
};

enum { SPENDERS_MAX = 12 };

struct session_stats {
	uint32_t k; /* as of */
	int64_t now_ms;
	struct counts counts;
	/* decisions, by agents in the log and by persons here */
	uint32_t by_agents[VERDICT_SUPERSEDED + 1], by_persons[VERDICT_SUPERSEDED + 1];
	uint32_t decided;
	/* from an item's opening to the decision, where both have a time; a person's counts where
	 * it was made while the session went on */
	uint32_t timed;
	int64_t median_ms, longest_ms; /* TIME_NONE where timed is 0 */
	uint32_t loops, diverging;
	/* agents that used tokens, and those that used most of them */
	uint32_t spenders;
	struct { uint32_t agent; uint64_t tokens; } spender[SPENDERS_MAX];
};

/* From the item's opening to the decision that is its step number `step`, and to a person's;
 * TIME_NONE where that is not known. */
int64_t step_took(const struct model *m, const struct item *item, uint32_t step);
int64_t overlay_took(const struct model *m, const struct overlay *overlay, uint32_t opened);

void session_stats_compute(const struct scene *s, struct session_stats *out);

#endif
