/* Index of the log's decisions, newest first: those before any message are a suffix of the list,
 * found by binary search. Built by a counting sort: one pass counts, the second places. */
#include "model/asof_internal.h"
#include "model/prefetch.h"

#include <stdlib.h>

struct decided_list {
	uint32_t n;
	struct decided list[];
};

/* Stores each decision before message `end` at next[its message], and advances that; without a
 * list, only counts. Steps are walked backwards: within an item later ones come first. */
static void walk_decided(const struct model *m, uint32_t end, struct yield *yield, uint32_t *next,
			 struct decided *list)
{
	for (uint32_t i = 0; i < m->items.n && yield_on(yield); i++) {
		const struct item *item = &m->items.v[i];

		items_prefetch(m, i);
		for (uint32_t n = item->n; n-- > 0;) {
			uint32_t message = item->steps[n].message;

			if (item->steps[n].what != STEP_DECIDED || message >= end)
				continue;
			if (list)
				list[next[message]] = (struct decided){ message, i, n };
			next[message]++;
		}
	}
}

struct decided_list *decided_new(const struct model *m, uint32_t n, struct yield *yield)
{
	uint32_t *next = xcalloc((size_t)n + 1, sizeof(*next)), total = 0;
	struct decided_list *out;

	walk_decided(m, n, yield, next, NULL);
	for (uint32_t i = n; i-- > 0;) {
		uint32_t count = next[i];

		next[i] = total;
		total += count;
	}
	out = xmalloc(sizeof(*out) + total * sizeof(struct decided));
	out->n = total;
	if (yield_on(yield))
		walk_decided(m, n, yield, next, out->list);
	free(next);
	if (yield_on(yield))
		return out;
	free(out);
	return NULL;
}

const struct decided *decided_before(const struct decided_list *d, uint32_t k, uint32_t *n)
{
	uint32_t low = 0;

	bisect(low, d->n, i, d->list[i].message >= k)
	*n = d->n - low;
	return d->list + low;
}
