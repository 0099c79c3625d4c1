/* Linear probing over two parallel arrays; never more than 3/4 full; nothing is ever removed. */
#include "base/map.h"

#include "base/mem.h"

#include <stdlib.h>

/* Where a hash starts probing must be known again when the table grows, so it comes from the
 * stored half alone. */
static uint32_t start_of(uint32_t high, uint32_t mask)
{
	return (high * 2654435769u) >> 7 & mask;
}

static void grow(struct map *m)
{
	struct map old = *m;
	uint32_t size = old.value ? (old.mask + 1) * 2 : 64, gap = 0;

	m->mask = size - 1;
	m->value = xmalloc(size * sizeof(*m->value));
	m->hash_high = xmalloc(size * sizeof(*m->hash_high));
	memset(m->value, 0xff, size * sizeof(*m->value));
	/* starting behind a gap, values under one hash keep their order also where a run of them
	 * goes round the end of the table */
	while (old.value && old.value[gap] != MAP_NONE)
		gap++;
	for (uint32_t n = 1; old.value && n <= old.mask; n++) {
		uint32_t i = (gap + n) & old.mask, at;

		if (old.value[i] == MAP_NONE)
			continue;
		for (at = start_of(old.hash_high[i], m->mask); m->value[at] != MAP_NONE;)
			at = (at + 1) & m->mask;
		m->value[at] = old.value[i];
		m->hash_high[at] = old.hash_high[i];
	}
	free(old.value);
	free(old.hash_high);
}

void map_add(struct map *m, uint64_t hash, uint32_t value)
{
	uint32_t high = (uint32_t)(hash >> 32), at;

	if (!m->value || m->n >= (m->mask + 1) / 4 * 3)
		grow(m);
	for (at = start_of(high, m->mask); m->value[at] != MAP_NONE;)
		at = (at + 1) & m->mask;
	m->value[at] = value;
	m->hash_high[at] = high;
	m->n++;
}

bool map_next(const struct map *m, uint64_t hash, uint32_t *it, uint32_t *value)
{
	uint32_t high = (uint32_t)(hash >> 32);

	if (!m->value)
		return false;
	/* it counts the slots looked at so far */
	for (uint32_t at = (start_of(high, m->mask) + *it) & m->mask; *it <= m->mask;
	     at = (at + 1) & m->mask) {
		++*it;
		if (m->value[at] == MAP_NONE)
			return false;
		if (m->hash_high[at] == high) {
			*value = m->value[at];
			return true;
		}
	}
	return false;
}

uint32_t map_get(const struct map *m, uint64_t hash)
{
	uint32_t it = 0, value;

	return map_next(m, hash, &it, &value) ? value : MAP_NONE;
}

void map_release(struct map *m)
{
	free(m->value);
	free(m->hash_high);
	*m = (struct map){ 0 };
}
