/* Internal to asof.c, asof_make.c and decided.c. */
#ifndef GAVEL_MODEL_ASOF_INTERNAL_H
#define GAVEL_MODEL_ASOF_INTERNAL_H

#include "model/asof.h"
#include "model/block_stats.h"
#include "model/ledger.h"

enum {
	SNAPSHOT_EVERY = 65536, /* toggles between two snapshots */
	PAGE = 256,         /* messages per entry of ends */
	WORD = 64,
};

struct asof {
	const struct model *m;
	uint32_t *items; /* by slot */
	uint32_t *raises; /* of the first `dated` slots: indexes into dated_raises */
	uint32_t slots, dated;
	uint32_t *toggles; /* slots, by message */
	uint8_t *places;   /* of each: its message's index in the page */
	uint32_t *ends;    /* by page: number of toggles up to its end */
	uint32_t n;
	uint64_t *snapshots; /* snapshots of the bitmap, every SNAPSHOT_EVERY toggles */
	size_t words;   /* per bitmap */
	uint64_t *open; /* bitmap after the first `at` toggles */
	uint32_t at;
	uint32_t end; /* messages */
	/* built on first use; NULL = not yet */
	struct decided_list *decided;
	struct block_stats *blocks;
	struct ledger *ledger;
};

/* Indexes the first n messages; free the result. NULL: cancelled by the yield. */
struct decided_list *decided_new(const struct model *m, uint32_t n, struct yield *yield);
/* The decisions of the first k messages, n of them; owned by d. */
const struct decided *decided_before(const struct decided_list *d, uint32_t k, uint32_t *n);

static inline void toggle_bit(uint64_t *set, uint32_t slot)
{
	set[slot / WORD] ^= UINT64_C(1) << slot % WORD;
}

#endif
