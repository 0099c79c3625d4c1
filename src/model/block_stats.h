/* Summaries of agents' activity per block of 4096 messages: statistics as of any message add up the
 * complete blocks before it and walk only the rest. A block whose timestamps jump has a useless
 * time range; its messages are walked. */
#ifndef GAVEL_MODEL_BLOCK_STATS_H
#define GAVEL_MODEL_BLOCK_STATS_H

#include "model/model.h"

enum { STATS_BLOCK = 4096 }; /* messages */

/* Summary of one agent's messages in one block. */
struct agent_summary {
	uint32_t agent, errors, warnings;
	uint16_t messages, dated; /* dated: those with a timestamp */
	uint16_t last;            /* index of the last of them in the block */
	uint16_t last_timed;      /* index of the last one with a time, plus one; 0 = none */
};

/* Range of times; empty: from > to. */
struct time_range {
	int64_t from_ms, to_ms;
};

struct stats_block {
	struct time_range sent, timed; /* of timestamps; of timestamps or else arrivals */
	uint32_t first_summary;        /* its range in summaries ends at the next block's */
};

/* Interval (from, to] of messages in which an agent has a task or a requested review. */
struct work {
	uint32_t agent, number, from, to;
};

struct block_stats {
	uint32_t n;
	struct stats_block *list; /* one more than n */
	VEC(struct agent_summary) summaries;
	VEC(struct work) tasks, reviews; /* sorted by number */
};

/* Summarises the first n messages. NULL: cancelled by the yield. */
struct block_stats *block_stats_new(const struct model *m, uint32_t n, struct yield *yield);
void block_stats_free(struct block_stats *c);

/* As model_agent_stats; k is at most n. Without summaries (NULL) all messages are walked. */
struct agent_stats *block_stats_agent_stats(const struct block_stats *c, const struct model *m,
					    uint32_t k, int64_t now_ms, struct yield *yield);

static inline void time_range_add(struct time_range *b, int64_t time_ms)
{
	if (time_ms == TIME_NONE)
		return;
	b->from_ms = time_ms < b->from_ms ? time_ms : b->from_ms;
	b->to_ms = time_ms > b->to_ms ? time_ms : b->to_ms;
}

#define TIME_RANGE_NONE ((struct time_range){ INT64_MAX, TIME_NONE })

#endif
