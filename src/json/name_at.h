/* Inside this folder: finding names of the table where they stand in a text. */
#ifndef GAVEL_JSON_NAME_AT_H
#define GAVEL_JSON_NAME_AT_H

#include "json/names.h"
#include "json/step.h"

/* Whether the name stands there, between quotes and with a colon behind it. NAME_WINDOW bytes
 * are looked at. */
static inline bool name_stands_at(const struct name *name, const char *quote)
{
	const char *there = (const char *)name;
	uint32_t same = 0;

	ALL_STEPS
	for (unsigned i = 0; i < NAME_WINDOW; i += STEP)
		same |= (uint32_t)step_same(step_load(quote + i), step_load(there + i)) << i;
	return !(~same & ((UINT32_C(1) << name->span) - 1));
}

/* By the first four bytes from the quote on and where the next quote is; a short name has that among
 * the four. */
static inline unsigned name_slot(const char *quote)
{
	uint32_t first, quotes = 0;

	ALL_STEPS
	for (unsigned i = 0; i < NAME_WINDOW; i += STEP)
		quotes |= (uint32_t)step_equal(step_load(quote + i), '"') << i;
	memcpy(&first, quote, sizeof(first));
	quotes &= quotes - 1;
	return (first * 0x9e3779b1u + (quotes & -quotes) * 0x85ebca6bu) >> 23;
}

/* The number of the name that stands there, 0 = none that is known, or the empty one. */
static inline size_t name_find(const struct names *t, const char *quote)
{
	size_t number = t->slots[name_slot(quote)];

	while (number && !name_stands_at(&t->list[number], quote))
		number = t->next[number];
	return number;
}

#endif
