/* The session as of any message, without walking it: what a replay asks thirty times a second, at
 * any place of a long session. Which items are open is known from the start; what else there is to
 * know is worked out when it is asked for first.
 *
 * An item has a slot for each weight that it ever has while it is open (one, as a rule); slots
 * stand in the order of the inbox, which never changes: those with a deadline first, the nearest
 * one before the others, so that what has expired is a head of them. A message toggles slots.
 * Toggling goes forward and back alike, so the set as of k comes from the last one asked for, or
 * from one of those kept every 65536 toggles. */
#ifndef GAVEL_MODEL_ASOF_H
#define GAVEL_MODEL_ASOF_H

#include "model/decided.h"

struct asof;
struct loops;

/* Of the first n messages, 0 to all of them; the model may grow meanwhile. */
struct asof *asof_new(const struct model *m, uint32_t n);
void asof_free(struct asof *a);

/* As model_open and model_inbox; k is at most n. */
uint32_t asof_open(struct asof *a, uint32_t k, int64_t now_ms, uint32_t *due);
uint32_t *asof_inbox(struct asof *a, uint32_t k, int64_t now_ms, bool all, uint32_t *n);

/* The log's decisions of the first k messages, the newest first. NULL: it was
 * cancelled. */
const struct decided *asof_decided(struct asof *a, uint32_t k, uint32_t *n, struct yield *yield);
/* As model_agent_stats. */
struct agent_stats *asof_agent_stats(struct asof *a, uint32_t k, int64_t now_ms, struct yield *yield);
/* To be released. NULL: it was cancelled. */
struct loops *asof_loops(struct asof *a, uint32_t k, struct yield *yield);

#endif
