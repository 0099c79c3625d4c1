/* Linear probing; never more than 3/4 full; nothing is ever removed.
 *
 * A hash starts probing at its share of the table (hash / 2^32 * size), so a table may have any
 * size and the order of the slots is that of the hashes, whatever the size: a bigger table is
 * filled from front to back. Big ones grow by a quarter only: memory counts for more than the
 * copying. */
#include "base/map.h"

#include "base/err.h"

#include <stdlib.h>

enum {
	SIZE_MIN = 64,
	DOUBLED_UP_TO = 4096,
	DROPPED_AT_ONCE = 32 << 10, /* slots of an old table, once they are in the new one */
};

static struct map_slot *slots_new(struct heap *h, uint32_t size)
{
	size_t bytes = size * sizeof(struct map_slot);

	return memset(h ? heap_alloc(h, bytes) : xmalloc(bytes), 0xff, bytes);
}

static void slots_free(struct heap *h, struct map_slot *slots, uint32_t size)
{
	if (h)
		heap_give(h, slots, size * sizeof(*slots));
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
	m->slots = slots_new(h, m->size);
	/* starting behind a gap, values under one hash keep their order also where a run of them
	 * goes round the end of the table */
	while (old.size && old.slots[gap].value != MAP_NONE)
		gap++;
	for (uint32_t n = 1, i = gap; n < old.size; n++) {
		uint32_t at;

		i = after(i, old.size);
		/* slots up to the gap come last */
		if (h && i % DROPPED_AT_ONCE == 0 && i > DROPPED_AT_ONCE + gap)
			heap_drop(h, &old.slots[i - DROPPED_AT_ONCE],
				  DROPPED_AT_ONCE * sizeof(*old.slots));
		if (old.slots[i].value == MAP_NONE)
			continue;
		for (at = map_start(m, old.slots[i].high); m->slots[at].value != MAP_NONE;)
			at = after(at, m->size);
		m->slots[at] = old.slots[i];
	}
	slots_free(h, old.slots, old.size);
}

void map_put(struct heap *h, struct map *m, uint64_t hash, uint32_t value)
{
	uint32_t high = (uint32_t)(hash >> 32), at;

	if (m->n >= m->size / 4 * 3)
		grow(h, m);
	for (at = map_start(m, high); m->slots[at].value != MAP_NONE;)
		at = after(at, m->size);
	m->slots[at] = (struct map_slot){ high, value };
	m->n++;
}

void map_add(struct map *m, uint64_t hash, uint32_t value)
{
	map_put(NULL, m, hash, value);
}

uint32_t map_get(const struct map *m, uint64_t hash)
{
	uint32_t it = 0, value;

	return map_next(m, hash, &it, &value) ? value : MAP_NONE;
}

void map_give(struct heap *h, struct map *m)
{
	slots_free(h, m->slots, m->size);
	*m = (struct map){ 0 };
}

void map_release(struct map *m)
{
	free(m->slots);
	*m = (struct map){ 0 };
}
