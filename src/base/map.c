/* Linear probing; at most 3/4 full; nothing is ever removed.
 *
 * Probing starts at hash / 2^32 * size, so a table may have any size, and the order of slots is
 * that of the hashes, whatever the size. Therefore a table can grow in place: a second one would
 * cost new pages each time. Big ones grow by half, or to what is expected in their heap. */
#include "base/map.h"

#include "base/err.h"

#include <stdlib.h>

enum { SIZE_MIN = 64, DOUBLED_UP_TO = 4096 };

static const struct map_slot no_slot = { UINT32_MAX, MAP_NONE };

static uint32_t next_slot(uint32_t at, uint32_t size)
{
	return at + 1 < size ? at + 1 : 0;
}

static void insert_slot(struct map *m, struct map_slot slot)
{
	uint32_t at = map_start(m, slot.high);

	while (m->slots[at].value != MAP_NONE)
		at = next_slot(at, m->size);
	m->slots[at] = slot;
}

typedef VEC(struct map_slot) slot_list;

/* Takes out the slots at the front that have wrapped round the end of the table. */
static slot_list take_wrapped(struct map *m)
{
	slot_list list = { 0 };

	for (uint32_t i = 0; i < m->size && m->slots[i].value != MAP_NONE; i++)
		if (map_start(m, m->slots[i].high) > i) {
			vec_push(&list, m->slots[i]);
			m->slots[i] = no_slot;
		}
	return list;
}

/* Moves all used slots to the end of a table of that size. Returns where they begin. */
static uint32_t pack_at_end(struct map *m, uint32_t size)
{
	uint32_t first = size;

	for (uint32_t i = m->size; i-- > 0;)
		if (m->slots[i].value != MAP_NONE)
			m->slots[--first] = m->slots[i];
	memset(m->slots, 0xff, first * sizeof(*m->slots));
	m->size = size;
	return first;
}

static uint32_t grown_size(const struct heap *h, const struct map *m)
{
	uint32_t size = m->size, more;
	uint64_t expected = h && size >= DOUBLED_UP_TO ? heap_expected(h, m->n) / 3 * 4 : 0;

	more = !size ? SIZE_MIN : size < DOUBLED_UP_TO ? size * 2 : size + size / 2;
	if (more <= size)
		BUG("map over %u slots", size);
	expected += expected / 16; /* or it would grow again for the last few */
	return expected > more && expected < UINT32_MAX ? (uint32_t)expected : more;
}

/* The slots at the end are filed in order. None belongs behind where it is: it was moved by at
 * least as many slots as the table has grown, and its start of probing by fewer. Values under one
 * hash keep their order. */
static void grow(struct heap *h, struct map *m)
{
	uint32_t size = grown_size(h, m);
	size_t n = m->size * sizeof(*m->slots), more = size * sizeof(*m->slots);
	slot_list wrapped;

	m->slots = h ? heap_resize(h, m->slots, n, more) : xrealloc(m->slots, more);
	wrapped = take_wrapped(m);
	for (uint32_t i = pack_at_end(m, size); i < size; i++) {
		struct map_slot slot = m->slots[i];

		m->slots[i] = no_slot;
		insert_slot(m, slot);
	}
	for (uint32_t i = 0; i < wrapped.n; i++)
		insert_slot(m, wrapped.v[i]);
	vec_release(&wrapped);
}

void map_put(struct heap *h, struct map *m, uint64_t hash, uint32_t value)
{
	if (m->n >= m->size / 4 * 3)
		grow(h, m);
	insert_slot(m, (struct map_slot){ (uint32_t)(hash >> 32), value });
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
	heap_give(h, m->slots, m->size * sizeof(*m->slots));
	*m = (struct map){ 0 };
}

void map_release(struct map *m)
{
	free(m->slots);
	*m = (struct map){ 0 };
}
