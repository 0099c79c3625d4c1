/* Set of hashed ids. */
#include "model/id_set.h"

#include "base/mem.h"

#include <stdlib.h>

void id_set_init(struct id_set *s, uint32_t most)
{
	s->list = most > ID_SET_FEW ? xmalloc(most * sizeof(*s->list)) : s->few;
	s->n = 0;
	s->map = (struct map){ 0 };
}

void id_set_release(struct id_set *s)
{
	if (s->list != s->few)
		free(s->list);
	map_release(&s->map);
}

bool id_set_has(const struct id_set *s, uint64_t h)
{
	for (uint32_t i = 0; i < s->n && s->n <= ID_SET_FEW; i++)
		if (s->list[i] == h)
			return true;
	for (uint32_t it = 0, v; map_next(&s->map, h, &it, &v);)
		if (s->list[v] == h)
			return true;
	return false;
}

bool id_set_add(struct id_set *s, uint64_t h)
{
	if (id_set_has(s, h))
		return false;
	s->list[s->n++] = h;
	while (s->n > ID_SET_FEW && s->map.n < s->n)
		map_add(&s->map, s->list[s->map.n], s->map.n);
	return true;
}
