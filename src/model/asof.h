/* Index for random access to the session as of any message k, for a replay that asks thirty times a
 * second. The index of open items is built by asof_new, the others on first use.
 *
 * An item has a slot for each deadline and weight that it ever has while open (usually one). Slots
 * are sorted in the order of the inbox, which never changes: by deadline first, so that the expired
 * ones are a prefix. The open slots as of k are a bitmap; each message toggles bits. Toggling is
 * reversible: the bitmap for k is derived from the last one used, or from a snapshot every 65536
 * toggles. */
#ifndef GAVEL_MODEL_ASOF_H
#define GAVEL_MODEL_ASOF_H

#include "model/model.h"

struct asof;
struct ledger;

/* Indexes the first n messages; the model may grow meanwhile, and must outlive the index. */
struct asof *asof_new(const struct model *m, uint32_t n);
void asof_free(struct asof *a);

/* As model_open and model_inbox; k is at most n. */
uint32_t asof_open(struct asof *a, uint32_t k, int64_t wall_ms, uint32_t *due);
uint32_t *asof_inbox(struct asof *a, uint32_t k, int64_t wall_ms, bool all, uint32_t *n);

/* Step `step` of an item. */
struct decided {
	uint32_t message, item, step;
};
/* The log's decisions of the first k messages, newest first; within one message by item, within one
 * item later steps first. Owned by a. NULL: cancelled by the yield. */
const struct decided *asof_decided(struct asof *a, uint32_t k, uint32_t *n, struct yield *yield);
/* As model_agent_stats. */
struct agent_stats *asof_agent_stats(struct asof *a, uint32_t k, int64_t now_ms,
				     struct yield *yield);
/* The ledger as of k; the caller calls ledger_release. NULL: cancelled by the yield. */
struct ledger *asof_ledger(struct asof *a, uint32_t k, struct yield *yield);

#endif
