/* Internal to asof.c and asof_make.c. */
#ifndef GAVEL_MODEL_ASOF_INTERNAL_H
#define GAVEL_MODEL_ASOF_INTERNAL_H

#include "model/asof.h"
#include "model/block_stats.h"
#include "model/ledger.h"

enum {
	KEPT_EVERY = 65536, /* toggles between two snapshots */
	PAGE = 256,         /* messages per entry of ends */
	WORD = 64,
};

struct asof {
	const struct model *m;
	uint32_t *items; /* by slot */
	uint32_t slots, dated;
	uint32_t *toggles; /* slots, by message */
	uint8_t *places;   /* of each: its message's index in the page */
	uint32_t *ends;    /* by page: number of toggles up to its end */
	uint32_t n;
	uint64_t *kept; /* snapshots of the bitmap, every KEPT_EVERY toggles */
	size_t words;   /* per bitmap */
	uint64_t *open; /* bitmap after the first `at` toggles */
	uint32_t at;
	uint32_t end; /* messages */
	/* built on first use; NULL = not yet */
	struct decided_list *decided;
	struct block_stats *blocks;
	struct ledger *loops;
};

static inline void flip(uint64_t *set, uint32_t slot)
{
	set[slot / WORD] ^= UINT64_C(1) << slot % WORD;
}

#endif
