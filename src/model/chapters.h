/* What agents have said and worked on, by chapters of some thousand messages: so that as of any
 * message the whole chapters before it are added up, and only the rest is walked. A chapter lists
 * the agents that speak in it and knows between which times it lies; where clocks go mad that does
 * not help, and its messages are walked. */
#ifndef GAVEL_MODEL_CHAPTERS_H
#define GAVEL_MODEL_CHAPTERS_H

#include "model/model.h"

enum { CHAPTER = 4096 }; /* messages */

/* What one agent says in one chapter. */
struct told {
	uint32_t agent, errors, warnings;
	uint16_t messages, dated; /* dated: those that tell a time */
	uint16_t last;            /* the last of them, from the chapter's first on */
	uint16_t last_timed;      /* plus one, the last one with a time; 0 = none has one */
};

/* From the earliest to the latest time; none: from > to. */
struct between {
	int64_t from_ms, to_ms;
};

struct chapter {
	struct between sent, timed; /* as messages tell; or, where they do not, as they came */
	uint32_t told;              /* the first of its own; the next chapter's is the end */
};

/* An agent has a task, or is asked for a review, after message `from` and up to message `to`. */
struct work {
	uint32_t agent, number, from, to;
};

struct chapters {
	uint32_t n;
	struct chapter *list; /* one more than n */
	VEC(struct told) told;
	VEC(struct work) tasks, reviews; /* by number */
};

/* Of the first n messages. NULL: it was cancelled. */
struct chapters *chapters_new(const struct model *m, uint32_t n, struct yield *yield);
void chapters_free(struct chapters *c);

/* As model_agent_stats; k is at most n. Without chapters (NULL) everything is walked. */
struct agent_stats *chapters_agent_stats(const struct chapters *c, const struct model *m, uint32_t k,
					 int64_t now_ms, struct yield *yield);

static inline void between_add(struct between *b, int64_t time_ms)
{
	if (time_ms == WHEN_NONE)
		return;
	b->from_ms = time_ms < b->from_ms ? time_ms : b->from_ms;
	b->to_ms = time_ms > b->to_ms ? time_ms : b->to_ms;
}

#define BETWEEN_NONE ((struct between){ INT64_MAX, WHEN_NONE })

#endif
