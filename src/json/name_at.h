/* Inside this folder: finding names of the table where they stand in a text. */
#ifndef GAVEL_JSON_NAME_AT_H
#define GAVEL_JSON_NAME_AT_H

#include "json/names.h"
#include "json/step.h"

/* Whether the name stands there, between quotes and with a colon behind it. NAME_WINDOW bytes
 * are looked at. */
static inline bool name_stands_at(const struct names *t, unsigned number, const char *quote)
{
	const struct name *name = &t->list[number];
	const char *there = (const char *)name, *mask = t->mask[name->length];
	step_bytes differ = { 0 };

	ALL_STEPS
	for (unsigned i = 0; i < NAME_WINDOW; i += STEP)
		differ |= (step_load(quote + i) ^ step_load(there + i)) & step_load(mask + i);
	return step_is_zero(differ);
}

/* By the first four bytes from the quote on; a shorter name has its own quote among them. */
static inline unsigned name_slot(const char *quote)
{
	uint32_t first;

	memcpy(&first, quote, sizeof(first));
	return first * 0x9e3779b1u >> 23;
}

/* The number of the name that stands there, 0 = none that is known, or the empty one. */
static inline unsigned name_find(const struct names *t, const char *quote)
{
	unsigned number = t->slots[name_slot(quote)];

	while (number && !name_stands_at(t, number, quote))
		number = t->list[number].other;
	return number;
}

#endif
