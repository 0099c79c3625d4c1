/* Inside asof.c and asof_make.c only. */
#ifndef GAVEL_MODEL_ASOF_INTERNAL_H
#define GAVEL_MODEL_ASOF_INTERNAL_H

#include "model/asof.h"
#include "model/chapters.h"
#include "model/ledger.h"

enum {
	KEPT_EVERY = 65536, /* toggles */
	PAGE = 256,         /* messages whose toggles are found together */
	WORD = 64,
};

struct asof {
	const struct model *m;
	uint32_t *items; /* by slot */
	uint32_t slots, dated;
	uint32_t *toggles; /* slots, by message */
	uint8_t *places;   /* of each: its message's in the page */
	uint32_t *ends;    /* by page: how many toggles there are up to it */
	uint32_t n;
	uint64_t *kept; /* sets, one every KEPT_EVERY toggles */
	size_t words;   /* of a set */
	uint64_t *open; /* after the first `at` toggles */
	uint32_t at;
	uint32_t end; /* messages */
	/* NULL = nobody has asked */
	struct decided_list *decided;
	struct chapters *chapters;
	struct loops *loops;
};

static inline void flip(uint64_t *set, uint32_t slot)
{
	set[slot / WORD] ^= UINT64_C(1) << slot % WORD;
}

#endif
