/* Inside this folder: recognizing names of the table (json/names.h) in a text. */
#ifndef GAVEL_JSON_QUICK_NAME_MATCH_H
#define GAVEL_JSON_QUICK_NAME_MATCH_H

#include "json/names.h"
#include "json/quick/simd.h"

/* Whether the name is at this quote, with a closing quote and a colon. Reads NAME_WINDOW bytes. */
static inline bool name_is_at(const struct known_name *name, const char *quote)
{
	const char *there = (const char *)name;
	uint32_t same = 0;

	ALL_STEPS
	for (unsigned i = 0; i < NAME_WINDOW; i += STEP)
		same |= (uint32_t)step_same(step_load(quote + i), step_load(there + i)) << i;
	return !(~same & ((UINT32_C(1) << name->span) - 1));
}

/* The number of the name at this quote, 0 = it is unknown or empty. */
static inline size_t name_find(const struct names *t, const char *quote)
{
	uint32_t quotes = 0;
	size_t number;

	ALL_STEPS
	for (unsigned i = 0; i < NAME_WINDOW; i += STEP)
		quotes |= (uint32_t)step_equal(step_load(quote + i), '"') << i;
	quotes &= quotes - 1;
	number = t->slots[name_slot(quote, quotes & -quotes)];
	while (number && !name_is_at(&t->list[number], quote))
		number = t->next[number];
	return number;
}

#endif
