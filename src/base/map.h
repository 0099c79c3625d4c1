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
/* Steps through the values filed under hash (and, rarely, a stranger's). *it starts at 0. */
bool map_next(const struct map *m, uint64_t hash, uint32_t *it, uint32_t *value);
/* The first value filed under the upper half of hash, or MAP_NONE. */
uint32_t map_get(const struct map *m, uint64_t hash);
void map_release(struct map *m);
/* The same for a map in the heap. */
void map_give(struct heap *h, struct map *m);

#endif
