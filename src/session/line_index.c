/* Lines of reply files by keys. */
#include "session/line_index.h"

#include "event/event.h"

#include <stdlib.h>

struct line_list *line_index_find(const struct line_index *x, uint64_t key)
{
	for (uint32_t it = 0, v; map_next(&x->map, key, &it, &v);)
		if (x->lists.v[v].key == key)
			return &x->lists.v[v];
	return NULL;
}

struct line_list *line_index_add(struct line_index *x, uint64_t key, uint32_t line)
{
	struct line_list *list = line_index_find(x, key);
	uint32_t node = x->nodes.n;

	if (!list) {
		map_add(&x->map, key, x->lists.n);
		vec_push(&x->lists, (struct line_list){ .key = key, .first = NONE, .last = NONE,
							.since_ms = INT64_MAX });
		list = vec_last(&x->lists);
	}
	vec_push(&x->nodes,
		 (struct line_node){ line, NONE, (uint32_t)(list - x->lists.v) });
	if (list->last != NONE)
		x->nodes.v[list->last].next = node;
	if (list->first == NONE)
		list->first = node;
	list->last = node;
	return list;
}

uint32_t line_index_first(const struct line_index *x, uint64_t key)
{
	const struct line_list *list = line_index_find(x, key);

	return list ? list->first : NONE;
}

void line_index_release(struct line_index *x)
{
	map_release(&x->map);
	vec_release(&x->lists);
	vec_release(&x->nodes);
}
