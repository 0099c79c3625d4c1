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

/* Where probing for a hash starts: hash / 2^32 * size. Computed from the stored half alone, since
 * growing the table needs it again. */
static inline uint32_t map_start(const struct map *m, uint32_t high)
{
	return (uint32_t)((uint64_t)(high * 2654435769u) * m->size >> 32);
}

enum { MAP_NEAR = 4 }; /* slots: most values are that near to where probing starts */

static inline uint32_t map_near(const struct map *m, uint64_t hash)
{
	uint32_t at = map_start(m, (uint32_t)(hash >> 32));

	return at < m->size - MAP_NEAR ? at : m->size - MAP_NEAR;
}

/* Prefetches the slots where the values under hash are. */
static inline void map_prefetch(const struct map *m, uint64_t hash)
{
	if (m->size) {
		uint32_t at = map_near(m, hash);

		mem_prefetch(&m->slots[at]);
		mem_prefetch(&m->slots[at + MAP_NEAR - 1]);
	}
}

/* What map_get most probably returns, branch-free; MAP_NONE also if it is further from the start of
 * probing than MAP_NEAR. */
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

/* Iterates over the values filed under hash (and, rarely, under another one). *it starts at 0. */
static inline bool map_next(const struct map *m, uint64_t hash, uint32_t *it, uint32_t *value)
{
	uint32_t high = (uint32_t)(hash >> 32), at;

	if (!m->size)
		return false;
	/* *it is the next slot plus one; there always is a free slot, which ends the loop */
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
