/* Counting decisions and loops. */
#include "ui/figures.h"

#include "ui/view_loops.h"

#include <stdlib.h>

enum { LIVE_MS = 600000 }; /* a person who decides this long after the newest message watches a recording */

struct counting {
	const struct scene *s;
	struct figures *out;
	VEC(int64_t) took;
};

static int by_length(const void *left, const void *right)
{
	const int64_t *a = left, *b = right;

	return *a < *b ? -1 : *a > *b;
}

static void add_span(struct counting *c, uint32_t opened, int64_t decided_ms)
{
	int64_t from = c->s->model->records.v[opened].time_ms;

	if (from != WHEN_NONE && decided_ms != WHEN_NONE && decided_ms >= from)
		vec_push(&c->took, time_between(decided_ms, from));
}

static void count_item(struct counting *c, const struct item *item)
{
	const struct model *m = c->s->model;
	uint32_t opened = NONE;

	for (uint32_t i = 0; i < item->n && item->steps[i].message < c->s->k; i++) {
		const struct item_step *step = &item->steps[i];

		if (step->what == STEP_RAISED && opened == NONE)
			opened = step->message;
		if (step->what == STEP_DECIDED) {
			c->out->decided++;
			c->out->by_agents[step->verdict]++;
			if (opened != NONE)
				add_span(c, opened, m->records.v[step->message].time_ms);
		}
		if (step->what == STEP_DECIDED || step->what == STEP_FIXED ||
		    step->what == STEP_SUPERSEDED)
			opened = NONE;
	}
}

/* What a person has decided here and not only staged. */
static void count_standing(struct counting *c, const struct standing *standing)
{
	const struct model *m = c->s->model;
	struct item_state at;
	int64_t last;

	if (!item_is_shown(c->s, standing->item, &at) || at.delivery == DELIVERY_NONE ||
	    at.delivery == DELIVERY_STAGED)
		return;
	c->out->decided++;
	c->out->by_persons[standing->verdict]++;
	last = standing->from ? message_time(m, standing->from - 1) : WHEN_NONE;
	if (last != WHEN_NONE && time_between(standing->time_ms, last) < LIVE_MS)
		add_span(c, at.message, standing->time_ms);
}

static void count_loops(const struct scene *s, struct figures *out)
{
	struct arena arena = { 0 };
	struct loops *all = loops_make(s, &arena);
	const struct turn *before, *after;

	for (uint32_t i = 0; i < all->n; i++) {
		if (s->filter && !message_is_shown(s, all->list[i].moments[0].message))
			continue;
		out->loops++;
		out->diverging += loop_diverges(all, &all->list[i], &before, &after);
	}
	arena_release(&arena);
}

void figures_make(const struct scene *s, struct figures *out)
{
	struct counting c = { .s = s, .out = out };
	struct item_state at;

	*out = (struct figures){ .median_ms = WHEN_NONE, .longest_ms = WHEN_NONE };
	for (uint32_t i = 0; i < s->model->items.n; i++)
		if (item_is_shown(s, i, &at))
			count_item(&c, &s->model->items.v[i]);
	for (uint32_t i = 0; i < s->model->standings.n; i++)
		count_standing(&c, &s->model->standings.v[i]);
	out->timed = c.took.n;
	if (c.took.n) {
		qsort(c.took.v, c.took.n, sizeof(*c.took.v), by_length);
		out->median_ms = c.took.v[(c.took.n - 1) / 2];
		out->longest_ms = *vec_last(&c.took);
	}
	vec_release(&c.took);
	count_loops(s, out);
}
