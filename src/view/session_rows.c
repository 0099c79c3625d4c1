/* Computes the rows of the sessions view in one pass over messages, agents, usage, open items and
 * loops. */
#include "view/session_rows.h"

#include "model/ledger.h"
#include "model/prefetch.h"
#include "model/session_of.h"
#include "view/view_parts.h"

#include <stdlib.h>

_Static_assert(DIALECT_MAX <= 64, "dialects are bits of a word");

struct row_counting {
	const struct scene *s;
	struct session_rows *out;
	uint32_t *sessions; /* by route */
	int64_t from_ms, to_ms;
};

static struct session_row *row_for(const struct row_counting *c, uint32_t message)
{
	return &c->out->rows[c->sessions[c->s->model->records.v[message].route]];
}

static void find_range(struct row_counting *c)
{
	const struct scene *s = c->s;

	c->from_ms = INT64_MAX;
	c->to_ms = TIME_NONE;
	for (uint32_t i = 0; i < s->k && yield_on(s->yield); i++) {
		int64_t t = s->model->records.v[i].time_ms;

		if (t == TIME_NONE)
			continue;
		c->from_ms = t < c->from_ms ? t : c->from_ms;
		c->to_ms = t > c->to_ms ? t : c->to_ms;
	}
}

static void add_activity(const struct row_counting *c, struct session_row *row, int64_t time_ms)
{
	double part = ((double)time_ms - (double)c->from_ms) /
		      ((double)c->to_ms - (double)c->from_ms + 1);
	uint16_t *bucket = &row->activity[(int)(part * ACTIVITY_BUCKETS)];

	if (*bucket < UINT16_MAX)
		++*bucket;
	if (*bucket > c->out->most_active)
		c->out->most_active = *bucket;
}

static void count_messages(struct row_counting *c)
{
	const struct scene *s = c->s;
	const struct model *m = s->model;

	for (uint32_t i = 0; i < s->k && yield_on(s->yield); i++) {
		const struct record *r = &m->records.v[i];
		struct session_row *row;

		if (s->filter && !message_is_shown(s, i))
			continue;
		row = row_for(c, i);
		if (!row->messages++)
			row->first = i;
		row->last = i;
		row->invalid += r->errors > 0;
		row->dialects |= UINT64_C(1) << route_of(m, r)->dialect;
		if (r->time_ms != TIME_NONE)
			add_activity(c, row, r->time_ms);
		if (m->arrivals.n || r->time_ms != TIME_NONE) {
			int64_t t = model_time(m, i);

			row->last_ms = t != TIME_NONE ? t : row->last_ms;
		}
	}
}

/* An agent of the file may have the name of one in the session that the file is about. */
static void count_agents(struct row_counting *c)
{
	const struct scene *s = c->s;
	const struct model *m = s->model;
	struct map seen = { 0 };

	for (uint32_t i = 0; i < m->agents.n && yield_on(s->yield); i++) {
		const struct agent *a = &m->agents.v[i];
		struct session_row *row;
		uint64_t key;
		bool known = false;

		if (a->first >= s->k || !filter_agent(s->filter, m, i, s->k))
			continue;
		row = row_for(c, a->first);
		key = hash_mix((uint64_t)(row - c->out->rows) + 1, a->name);
		for (uint32_t it = 0, v; !known && map_next(&seen, key, &it, &v);)
			known = m->agents.v[v].name == a->name &&
				row_for(c, m->agents.v[v].first) == row;
		if (known)
			continue;
		map_add(&seen, key, i);
		row->agents++;
	}
	map_release(&seen);
}

static void count_usage(struct row_counting *c)
{
	const struct scene *s = c->s;
	const struct model *m = s->model;

	for (uint32_t i = 0; i < m->usage.n && m->usage.v[i].message < s->k && yield_on(s->yield);
	     i++) {
		const struct usage *u = &m->usage.v[i];
		struct session_row *row = row_for(c, u->message);

		if (s->filter && !message_is_shown(s, u->message))
			continue;
		row->tokens_in += u->tokens_in;
		row->tokens_out += u->tokens_out;
		row->tokens_cached += u->tokens_cached;
		row->cost += u->cost;
	}
}

static void count_item(struct row_counting *c, uint32_t item)
{
	struct item_state at;

	if (!item_is_shown(c->s, item, &at) || !at.open)
		return;
	row_for(c, at.message)->open++;
	row_for(c, at.message)->due += at.deadline_ms != TIME_NONE;
}

static void count_items(struct row_counting *c)
{
	const struct scene *s = c->s;
	const struct model *m = s->model;
	bool whole = s->k >= m->records.n;
	uint32_t n, *list;

	for (uint32_t i = 0; !s->asof && i < m->items.n && yield_on(s->yield); i++) {
		items_prefetch(m, i);
		if (!whole || m->items.v[i].open)
			count_item(c, i);
	}
	if (!s->asof)
		return;
	list = asof_inbox(s->asof, s->k, scene_clock(s), false, &n);
	for (uint32_t i = 0; i < n && yield_on(s->yield); i++)
		count_item(c, list[i]);
	free(list);
}

static void count_loop(struct session_row *row, const struct ledger *all, uint32_t loop, uint32_t k,
		       struct arena *arena)
{
	const struct loop_at *l;
	enum loop_progress progress;

	row->loops++;
	if (loop_diverges(all, loop, k)) {
		row->diverging++;
		return;
	}
	arena_reset(arena);
	l = loop_look(all, loop, k, arena);
	progress = loop_progress(l);
	row->failed += l->failed;
	row->begun += !l->failed && progress == LOOP_BEGUN;
	row->ended += !l->failed && progress == LOOP_ENDED;
}

static void count_loops(struct row_counting *c)
{
	struct arena arena = { 0 };
	const struct scene *s = c->s;
	struct ledger *all = scene_ledger(s);

	for (uint32_t i = 0; all && i < all->n && yield_on(s->yield); i++) {
		uint32_t first = all->list[i].first;

		if (!loop_has_begun(all, i, s->k) || (s->filter && !message_is_shown(s, first)))
			continue;
		count_loop(row_for(c, first), all, i, s->k, &arena);
	}
	arena_release(&arena);
	ledger_release(all);
}

void session_rows_compute(const struct scene *s, struct session_rows *out)
{
	const struct model *m = s->model;
	struct row_counting c = { .s = s, .out = out };
	struct sessions_named named = { .k = s->k };

	*out = (struct session_rows){ .n = m->sessions.n };
	out->rows = xcalloc(out->n + 1u, sizeof(*out->rows));
	for (uint32_t i = 0; i < out->n; i++)
		out->rows[i].last_ms = TIME_NONE;
	if (!s->k)
		return;
	c.sessions = xmalloc(m->routes.n * sizeof(*c.sessions));
	for (uint32_t i = 0; i < m->routes.n; i++)
		c.sessions[i] = session_of(&named, m, i);
	find_range(&c);
	count_messages(&c);
	count_agents(&c);
	count_usage(&c);
	count_items(&c);
	count_loops(&c);
	free(c.sessions);
	sessions_named_release(&named);
}

void session_rows_release(struct session_rows *r)
{
	free(r->rows);
	r->rows = NULL;
}

static int urgency(const struct session_row *row)
{
	return row->due ? 0 : row->open ? 1 : 2;
}

uint32_t *session_rows_sorted(const struct session_rows *r, uint32_t *n)
{
	uint32_t *list = xmalloc((r->n + 1u) * sizeof(*list));

	*n = 0;
	for (int group = 0; group < 3; group++)
		for (uint32_t i = 0; i < r->n; i++)
			if (r->rows[i].messages && urgency(&r->rows[i]) == group)
				list[(*n)++] = i;
	return list;
}

enum loop_state session_loop_state(const struct session_row *row)
{
	if (!row->loops)
		return LOOPS_NONE;
	if (row->diverging)
		return LOOPS_DIVERGE;
	if (row->failed)
		return LOOPS_FAILED;
	if (row->ended == row->loops)
		return LOOPS_ENDED;
	return row->begun + row->ended == row->loops ? LOOPS_BEGUN : LOOPS_CONVERGE;
}
