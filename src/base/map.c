/* Linear probing over two parallel arrays; never more than 3/4 full; nothing is ever removed.
 *
 * A hash starts probing at its share of the table (hash / 2^32 * size), so a table may have any
 * size and the order of the slots is that of the hashes, whatever the size: a bigger table is
 * filled from front to back. Big ones grow by a quarter only: memory counts for more than the
 * copying. */
#include "base/map.h"

#include "base/err.h"

#include <stdlib.h>

enum { SIZE_MIN = 64, DOUBLED_UP_TO = 4096 };

/* Where a hash starts probing must be known again when the table grows, so it comes from the
 * stored half alone. */
static uint32_t start_of(uint32_t high, uint32_t size)
{
	return (uint32_t)((uint64_t)(high * 2654435769u) * size >> 32);
}

static uint32_t *slots_new(struct heap *h, uint32_t size)
{
	return h ? heap_alloc(h, size * sizeof(uint32_t)) : xmalloc(size * sizeof(uint32_t));
}

static void slots_free(struct heap *h, uint32_t *slots, uint32_t size)
{
	if (h)
		heap_give(h, slots, size * sizeof(uint32_t));
	else
		free(slots);
}

static uint32_t after(uint32_t at, uint32_t size)
{
	return at + 1 < size ? at + 1 : 0;
}

static void grow(struct heap *h, struct map *m)
{
	struct map old = *m;
	uint32_t gap = 0;

	m->size = !old.size		     ? SIZE_MIN
		  : old.size < DOUBLED_UP_TO ? old.size * 2
					     : old.size + old.size / 4;
	if (m->size <= old.size)
		BUG("map over %u slots", old.size);
	m->value = slots_new(h, m->size);
	m->hash_high = slots_new(h, m->size);
	memset(m->value, 0xff, m->size * sizeof(*m->value));
	/* starting behind a gap, values under one hash keep their order also where a run of them
	 * goes round the end of the table */
	while (old.value && old.value[gap] != MAP_NONE)
		gap++;
	for (uint32_t n = 1, i = gap; n < old.size; n++) {
		uint32_t at;

		i = after(i, old.size);
		if (old.value[i] == MAP_NONE)
			continue;
		for (at = start_of(old.hash_high[i], m->size); m->value[at] != MAP_NONE;)
			at = after(at, m->size);
		m->value[at] = old.value[i];
		m->hash_high[at] = old.hash_high[i];
	}
	slots_free(h, old.value, old.size);
	slots_free(h, old.hash_high, old.size);
}

void map_put(struct heap *h, struct map *m, uint64_t hash, uint32_t value)
{
	uint32_t high = (uint32_t)(hash >> 32), at;

	if (m->n >= m->size / 4 * 3)
		grow(h, m);
	for (at = start_of(high, m->size); m->value[at] != MAP_NONE;)
		at = after(at, m->size);
	m->value[at] = value;
	m->hash_high[at] = high;
	m->n++;
}

void map_add(struct map *m, uint64_t hash, uint32_t value)
{
	map_put(NULL, m, hash, value);
}

bool map_next(const struct map *m, uint64_t hash, uint32_t *it, uint32_t *value)
{
	uint32_t high = (uint32_t)(hash >> 32), at;

	if (*it >= m->size)
		return false;
	/* it counts the slots looked at so far */
	at = (uint32_t)(((uint64_t)start_of(high, m->size) + *it) % m->size);
	for (; *it < m->size; at = after(at, m->size)) {
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
