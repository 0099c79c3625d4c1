/* The agents: who takes part, what each does now, when it was last heard of, what it has cost and
 * what it got wrong. The sparkline cuts the session into twelve parts of equal time; all agents
 * share one scale. */
#include "ui/view_parts.h"

#include <stdio.h>
#include <stdlib.h>

enum { FLOOD_SHOWN_MS = 60000 };

enum col {
	COL_NAME,
	COL_TYPE,
	COL_STATE,
	COL_TASK,
	COL_SEEN,
	COL_RATE,
	COL_MESSAGES,
	COL_IN,
	COL_OUT,
	COL_COST,
	COL_ERRORS,
	COL_WARNINGS,
	COL_SESSION,
	COL_COUNT
};

static const struct column table[COL_COUNT] = {
	[COL_NAME] = { "agent", 10, 14, 0 },
	[COL_TYPE] = { "type", 9, 12, 9 },
	[COL_STATE] = { "state", 9, 11, 1 },
	[COL_TASK] = { "task", 8, 12, 2 },
	[COL_SEEN] = { "seen", 5, 5, 3, .right = true },
	[COL_RATE] = { "rate", 12, 12, 7 },
	[COL_MESSAGES] = { "msgs", 4, 5, 5, .right = true },
	[COL_IN] = { "in", 4, 5, 8, .right = true },
	[COL_OUT] = { "out", 4, 5, 8, .right = true },
	[COL_COST] = { "cost", 6, 7, 6, .right = true },
	[COL_ERRORS] = { "err", 3, 4, 4, .right = true },
	[COL_WARNINGS] = { "warn", 4, 4, 10, .right = true },
	[COL_SESSION] = { "session", 12, 30, 11, .grows = true },
};

struct own {
	struct columns fit;
	bool *flooding;   /* more messages lately than the protocol allows */
	uint16_t busiest; /* largest twelfth of any agent */
	struct agent_stats stats[];
};

static void layout(const struct scene *s, int cols, struct column c[COL_COUNT], struct columns *fit)
{
	memcpy(c, table, sizeof(table));
	c[COL_NAME].want = agents_width(s, 10, 24);
	columns_fit(c, COL_COUNT, cols, fit);
}

/* Who was told off for its rate within the last while. */
static bool *find_flooding(const struct scene *s, struct arena *arena)
{
	const struct model *m = s->model;
	bool *flooding = arena_zalloc(arena, m->agents.n + 1);

	for (uint32_t i = 0; i < m->findings.n && m->findings.v[i].message < s->k &&
			     breath_on(s->breath); i++) {
		const struct record *r = &m->records.v[m->findings.v[i].message];

		if (r->from != NONE && r->time_ms != WHEN_NONE && s->now_ms != WHEN_NONE &&
		    time_between(s->now_ms, r->time_ms) < FLOOD_SHOWN_MS &&
		    strcmp(m->findings.v[i].rule, "orchestrator/security-rate") == 0)
			flooding[r->from] = true;
	}
	return flooding;
}

static void agents_make(const struct scene *s, int cols, struct lines *out)
{
	uint32_t n = s->model->agents.n;
	struct agent_stats *stats = model_agent_stats(s->model, s->k, s->breath);
	struct own *own = arena_zalloc(&out->arena, sizeof(*own) + n * sizeof(*stats));
	struct column c[COL_COUNT];

	out->own = own;
	out->cols = cols;
	own->flooding = find_flooding(s, &out->arena);
	layout(s, cols, c, &own->fit);
	for (uint32_t i = 0; i < n && breath_on(s->breath); i++) {
		own->stats[i] = stats[i];
		for (unsigned t = 0; t < 12; t++)
			if (stats[i].rate[t] > own->busiest)
				own->busiest = stats[i].rate[t];
		if (s->model->agents.v[i].first < s->k && filter_agent(s->filter, s->model, i))
			line_add(out, 0, i, 0);
	}
	free(stats);
}

static void agents_heading(const struct scene *s, const struct lines *lines, struct grid *g,
			   struct rect row)
{
	const struct own *own = lines->own;

	(void)s;
	columns_heading(table, COL_COUNT, &own->fit, g, row);
}

static void put_told(struct pen *p, struct str state)
{
	if (str_is(state, "busy"))
		pen_put(p, ROLE_OK, "▶ ");
	else if (str_is(state, "idle"))
		pen_put(p, ROLE_DIM, "· ");
	else
		pen_put(p, ROLE_WARN, "○ ");
	pen_id(p, str_is(state, "idle") ? ROLE_DIM : ROLE_NORMAL, state);
}

/* What others told of it; else what its task tells. */
static void put_state(const struct scene *s, struct pen p, const struct agent_stats *stats,
		      bool flooding)
{
	struct task_state_at at;
	bool has_task = stats->task != NONE &&
			task_at(s->model, &s->model->tasks.v[stats->task], s->k, &at);

	if (flooding)
		pen_put(&p, ROLE_WARN, "⚠ flooding");
	else if (has_task && task_is_stalled(s->model, &at, s->now_ms))
		pen_put(&p, ROLE_STALLED, "⚠ stalled");
	else if (stats->state != NONE)
		put_told(&p, model_str(s->model, stats->state));
	else if (has_task)
		pen_put(&p, ROLE_OK, "▶ working");
	else
		pen_put(&p, ROLE_DIM, "· idle");
}

static void put_rate(struct pen p, const struct own *own, const struct agent_stats *stats)
{
	for (unsigned t = 0; t < 12; t++)
		pen_put(&p, ROLE_INFO, level_glyph(stats->rate[t], own->busiest));
}

static void put_count(struct grid *g, struct rect where, enum role role, uint64_t n)
{
	char text[16];

	put_right(g, where, n ? role : ROLE_DIM, n ? short_number(n, text) : "·");
}

static void agents_draw(const struct scene *s, const struct lines *lines, uint32_t i,
			struct grid *g, struct rect row)
{
	const struct model *m = s->model;
	const struct own *own = lines->own;
	uint32_t number = lines->list.v[i].a;
	const struct agent *agent = &m->agents.v[number];
	const struct agent_stats *stats = &own->stats[number];
	const struct columns *fit = &own->fit;
	struct pen p;
	char text[32];

	p = column_pen(g, row, fit, COL_NAME);
	pen_agent(&p, m, number);
	p = column_pen(g, row, fit, COL_TYPE);
	pen_id(&p, ROLE_DIM, agent->human ? STR("person") : model_str(m, agent->type));
	put_state(s, column_pen(g, row, fit, COL_STATE), stats, own->flooding[number]);
	p = column_pen(g, row, fit, COL_TASK);
	if (stats->task != NONE)
		pen_id(&p, ROLE_ID, model_str(m, m->tasks.v[stats->task].id));
	else
		pen_put(&p, ROLE_DIM, "·");
	put_right(g, column_rect(row, fit, COL_SEEN), ROLE_TIME,
		  short_span(stats->last_seen_ms == WHEN_NONE || s->now_ms == WHEN_NONE
				     ? WHEN_NONE
				     : time_between(s->now_ms, stats->last_seen_ms),
			     text));
	put_rate(column_pen(g, row, fit, COL_RATE), own, stats);
	put_count(g, column_rect(row, fit, COL_MESSAGES), ROLE_NORMAL, stats->messages);
	put_count(g, column_rect(row, fit, COL_IN), ROLE_NORMAL, stats->tokens_in);
	put_count(g, column_rect(row, fit, COL_OUT), ROLE_NORMAL, stats->tokens_out);
	if (stats->cost > 0)
		snprintf(text, sizeof(text), stats->cost < 100 ? "$%.3f" : "$%.0f", stats->cost);
	put_right(g, column_rect(row, fit, COL_COST), stats->cost > 0 ? ROLE_NORMAL : ROLE_DIM,
		  stats->cost > 0 ? text : "·");
	put_count(g, column_rect(row, fit, COL_ERRORS), ROLE_ERROR, stats->errors);
	put_count(g, column_rect(row, fit, COL_WARNINGS), ROLE_WARN, stats->warnings);
	p = column_pen(g, row, fit, COL_SESSION);
	pen_id(&p, ROLE_DIM, session_name(m, agent->session));
}

/* Its last message; the one that first names it when it has sent none. */
static struct target agents_target(const struct scene *s, const struct lines *lines, uint32_t i)
{
	const struct own *own = lines->own;

	(void)s;
	return target_message(own->stats[lines->list.v[i].a].last_message);
}

const struct view_ops view_agents = {
	.name = "agents",
	.make = agents_make,
	.heading = agents_heading,
	.draw = agents_draw,
	.target = agents_target,
	.empty = "No agent has said who it is.",
};
