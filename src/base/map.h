/* A hash table from a 64-bit hash to a 32-bit value, open addressing, 8 bytes a slot. Keys are not
 * kept: the caller hashes, and compares the candidates itself where a false match would matter:
 *   for (uint32_t it = 0, v; map_next(&m, hash, &it, &v);) if (same(v)) ...
 * Values are record or entity numbers; MAP_NONE is not a value. */
#ifndef GAVEL_BASE_MAP_H
#define GAVEL_BASE_MAP_H

#include "base/heap.h"
#include "base/str.h"

#define MAP_NONE UINT32_MAX

struct map_slot {
	uint32_t high; /* upper half of the hash */
	uint32_t value;
};

struct map {
	struct map_slot *slots;
	uint32_t n, size;
};

void map_add(struct map *m, uint64_t hash, uint32_t value);
/* For a map that lives in the heap, and is not released by itself. */
void map_put(struct heap *h, struct map *m, uint64_t hash, uint32_t value);

/* Where a hash starts probing, its share of the table. It must be known again when the table grows,
 * so it comes from the stored half alone. */
static inline uint32_t map_start(const struct map *m, uint32_t high)
{
	return (uint32_t)((uint64_t)(high * 2654435769u) * m->size >> 32);
}

enum { MAP_NEAR = 4 }; /* slots: most values are found so near to where probing starts */

static inline uint32_t map_near(const struct map *m, uint64_t hash)
{
	uint32_t at = map_start(m, (uint32_t)(hash >> 32));

	return at < m->size - MAP_NEAR ? at : m->size - MAP_NEAR;
}

/* Has the memory brought near where the values under hash are. */
static inline void map_fetch(const struct map *m, uint64_t hash)
{
	if (m->size) {
		uint32_t at = map_near(m, hash);

		mem_fetch(&m->slots[at]);
		mem_fetch(&m->slots[at + MAP_NEAR - 1]);
	}
}

/* What map_get gives in all likelihood, told without a decision that could be foretold wrong;
 * MAP_NONE also if it is not near. */
static inline uint32_t map_guess(const struct map *m, uint64_t hash)
{
	const struct map_slot *near;
	uint32_t value = MAP_NONE;

	if (!m->size)
		return MAP_NONE;
	near = &m->slots[map_near(m, hash)];
	MEM_UNROLL
	for (int i = MAP_NEAR - 1; i >= 0; i--) {
		uint32_t here = -(uint32_t)(near[i].high == (uint32_t)(hash >> 32));

		value = (near[i].value & here) | (value & ~here);
	}
	return value;
}

/* Steps through the values filed under hash (and, rarely, a stranger's). *it starts at 0. */
static inline bool map_next(const struct map *m, uint64_t hash, uint32_t *it, uint32_t *value)
{
	uint32_t high = (uint32_t)(hash >> 32), at;

	if (!m->size)
		return false;
	/* it is the next slot to look at, plus one; there always is a free one, where all ends */
	for (at = *it ? *it - 1 : map_start(m, high); m->slots[at].value != MAP_NONE;) {
		struct map_slot slot = m->slots[at];

		at = at + 1 < m->size ? at + 1 : 0;
		if (slot.high == high) {
			*it = at + 1;
			*value = slot.value;
			return true;
		}
	}
	return false;
}

/* The first value filed under the upper half of hash, or MAP_NONE. */
uint32_t map_get(const struct map *m, uint64_t hash);
void map_release(struct map *m);
/* The same for a map in the heap. */
void map_give(struct heap *h, struct map *m);

#endif
