/* Set of hashed ids while a message is applied: a list, searched linearly while it is short, then
 * through a hash map. Lives outside the model's heap. */
#ifndef GAVEL_MODEL_ID_SET_H
#define GAVEL_MODEL_ID_SET_H

#include "base/map.h"

enum { ID_SET_FEW = 16 };

struct id_set {
	uint64_t *list; /* in the order they were added */
	uint32_t n;
	struct map map;
	uint64_t few[ID_SET_FEW];
};

void id_set_init(struct id_set *s, uint32_t most); /* most: capacity */
void id_set_release(struct id_set *s);
bool id_set_has(const struct id_set *s, uint64_t h);
bool id_set_add(struct id_set *s, uint64_t h); /* false: it was there already */

#endif
