/* The binary heap of due_queue.h. */
#include "model/due_queue.h"

static bool is_before(const struct due_queue *q, uint32_t a, uint32_t b)
{
	return q->list.v[a].time_ms < q->list.v[b].time_ms;
}

static void swap(struct due_queue *q, uint32_t a, uint32_t b)
{
	struct due due = q->list.v[a];

	q->list.v[a] = q->list.v[b];
	q->list.v[b] = due;
}

void due_push(struct heap *h, struct due_queue *q, int64_t time_ms, uint32_t number)
{
	heap_push(h, &q->list, (struct due){ time_ms, number });
	for (uint32_t i = q->list.n - 1; i && is_before(q, i, (i - 1) / 2); i = (i - 1) / 2)
		swap(q, i, (i - 1) / 2);
}

/* Moves the entry at the root down to its place. */
static void sink(struct due_queue *q)
{
	for (uint32_t i = 0;;) {
		uint32_t least = i;

		for (uint32_t k = 2 * i + 1; k <= 2 * i + 2 && k < q->list.n; k++)
			if (is_before(q, k, least))
				least = k;
		if (least == i)
			return;
		swap(q, i, least);
		i = least;
	}
}

bool due_pop(struct due_queue *q, int64_t time_ms, uint32_t *number)
{
	if (!q->list.n || q->list.v[0].time_ms >= time_ms)
		return false;
	*number = q->list.v[0].number;
	q->list.v[0] = q->list.v[--q->list.n];
	sink(q);
	return true;
}
