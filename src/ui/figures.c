/* Counting decisions and loops. */
#include "ui/figures.h"

#include "ui/echoes.h"
#include "ui/view_loops.h"

#include <stdlib.h>

enum {
	LIVE_MS = 600000, /* who decides that long after the newest message watches a recording */
	LOOKBACK = 256,   /* steps of an item that are looked through for its opening */
};

struct counting {
	const struct scene *s;
	struct figures *out;
	struct echoes own; /* counted as the person's */
	VEC(int64_t) took;
};

static int by_length(const void *left, const void *right)
{
	const int64_t *a = left, *b = right;

	return *a < *b ? -1 : *a > *b;
}

static int64_t span(const struct model *m, uint32_t opened, int64_t decided_ms)
{
	int64_t from = opened == NONE ? WHEN_NONE : m->records.v[opened].time_ms;

	return from == WHEN_NONE || decided_ms == WHEN_NONE || decided_ms < from
		       ? WHEN_NONE
		       : time_between(decided_ms, from);
}

int64_t step_took(const struct model *m, const struct item *item, uint32_t step)
{
	uint32_t opened = NONE;

	for (uint32_t i = step; i-- > 0 && step - i < LOOKBACK;) {
		enum step_kind what = item->steps[i].what;

		if (what == STEP_DECIDED || what == STEP_FIXED || what == STEP_SUPERSEDED)
			break;
		if (what == STEP_RAISED)
			opened = item->steps[i].message;
	}
	return span(m, opened, m->records.v[item->steps[step].message].time_ms);
}

int64_t standing_took(const struct model *m, const struct standing *standing, uint32_t opened)
{
	int64_t last = standing->from ? message_time(m, standing->from - 1) : WHEN_NONE;

	if (last == WHEN_NONE || time_between(standing->time_ms, last) >= LIVE_MS)
		return WHEN_NONE;
	return span(m, opened, standing->time_ms);
}

static void add_took(struct counting *c, int64_t ms)
{
	if (ms != WHEN_NONE)
		vec_push(&c->took, ms);
}

static void count_item(struct counting *c, uint32_t number)
{
	const struct item *item = &c->s->model->items.v[number];

	for (uint32_t i = 0; i < item->n && item->steps[i].message < c->s->k; i++) {
		if (item->steps[i].what != STEP_DECIDED || echoes_have(&c->own, number, i))
			continue;
		c->out->decided++;
		c->out->by_agents[item->steps[i].verdict]++;
		add_took(c, step_took(c->s->model, item, i));
	}
}

/* What a person has decided here and not only staged. */
static void count_standing(struct counting *c, const struct standing *standing)
{
	struct item_state at;

	if (!item_is_shown(c->s, standing->item, &at) || at.delivery == DELIVERY_NONE ||
	    at.delivery == DELIVERY_STAGED)
		return;
	c->out->decided++;
	c->out->by_persons[standing->verdict]++;
	add_took(c, standing_took(c->s->model, standing, at.message));
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
	echoes_find(s, &c.own);
	for (uint32_t i = 0; i < s->model->items.n; i++)
		if (item_is_shown(s, i, &at))
			count_item(&c, i);
	for (uint32_t i = 0; i < s->model->standings.n; i++)
		count_standing(&c, &s->model->standings.v[i]);
	out->timed = c.took.n;
	if (c.took.n) {
		qsort(c.took.v, c.took.n, sizeof(*c.took.v), by_length);
		out->median_ms = c.took.v[(c.took.n - 1) / 2];
		out->longest_ms = *vec_last(&c.took);
	}
	vec_release(&c.took);
	echoes_release(&c.own);
	count_loops(s, out);
}
