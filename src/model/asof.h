/* Index for random access to the session as of any message k: a replay asks thirty times a second,
 * anywhere in a long session. The index of open items is built by asof_new, the others on first
 * use.
 *
 * An item has a slot for each weight that it ever has while open (usually one). Slots are sorted in
 * the order of the inbox, which never changes: by deadline first, so that the expired ones are a
 * prefix. The open slots as of k are a bitmap; each message toggles bits. Toggling is reversible,
 * so the bitmap for k is derived from the last one used, or from a snapshot kept every 65536
 * toggles. */
#ifndef GAVEL_MODEL_ASOF_H
#define GAVEL_MODEL_ASOF_H

#include "model/decided.h"

struct asof;
struct ledger;

/* Indexes the first n messages; the model may grow meanwhile, and must outlive the index. */
struct asof *asof_new(const struct model *m, uint32_t n);
void asof_free(struct asof *a);

/* As model_open and model_inbox; k is at most n. */
uint32_t asof_open(struct asof *a, uint32_t k, int64_t now_ms, uint32_t *due);
uint32_t *asof_inbox(struct asof *a, uint32_t k, int64_t now_ms, bool all, uint32_t *n);

/* The log's decisions of the first k messages, newest first; owned by a. NULL: cancelled by the
 * yield. */
const struct decided *asof_decided(struct asof *a, uint32_t k, uint32_t *n, struct yield *yield);
/* As model_agent_stats. */
struct agent_stats *asof_agent_stats(struct asof *a, uint32_t k, int64_t now_ms, struct yield *yield);
/* The ledger as of k; the caller calls ledger_release. NULL: cancelled by the yield. */
struct ledger *asof_ledger(struct asof *a, uint32_t k, struct yield *yield);

#endif
