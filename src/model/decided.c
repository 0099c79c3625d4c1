/* Counting sort of decisions by message: one pass counts, the second places. */
#include "model/decided.h"

#include "model/prefetch.h"

#include <stdlib.h>

struct decided_list {
	uint32_t n;
	struct decided list[];
};

typedef void (*decided_fn)(void *ctx, const struct decided *d);

/* Steps in reverse, the order of the list. */
static void each_decided(const struct model *m, uint32_t end, struct yield *yield, decided_fn tell,
			 void *ctx)
{
	for (uint32_t i = 0; i < m->items.n && yield_on(yield); i++) {
		const struct item *item = &m->items.v[i];

		items_prefetch(m, i);
		for (uint32_t n = item->n; n-- > 0;)
			if (item->steps[n].what == STEP_DECIDED && item->steps[n].message < end)
				tell(ctx, &(struct decided){ item->steps[n].message, i, n });
	}
}

static void count(void *ctx, const struct decided *d)
{
	uint32_t *by_message = ctx;

	by_message[d->message]++;
}

struct placing {
	struct decided_list *out;
	uint32_t *place; /* by message: index of its next decision in the list */
};

static void put(void *ctx, const struct decided *d)
{
	struct placing *p = ctx;

	p->out->list[p->place[d->message]++] = *d;
}

struct decided_list *decided_new(const struct model *m, uint32_t n, struct yield *yield)
{
	struct placing p = { .place = xcalloc((size_t)n + 1, sizeof(uint32_t)) };
	uint32_t total = 0;

	each_decided(m, n, yield, count, p.place);
	for (uint32_t i = n; i-- > 0;) {
		uint32_t here = p.place[i];

		p.place[i] = total;
		total += here;
	}
	p.out = xmalloc(sizeof(*p.out) + total * sizeof(struct decided));
	p.out->n = total;
	if (yield_on(yield))
		each_decided(m, n, yield, put, &p);
	free(p.place);
	if (yield_on(yield))
		return p.out;
	free(p.out);
	return NULL;
}

void decided_free(struct decided_list *d)
{
	free(d);
}

const struct decided *decided_before(const struct decided_list *d, uint32_t k, uint32_t *n)
{
	uint32_t low = 0;

	bisect(low, d->n, i, d->list[i].message >= k)
	*n = d->n - low;
	return d->list + low;
}
