/* The agents view: state and health, current task, last seen, message rate, tokens, cost and errors
 * of each agent. One sparkline shows the last minute in steps of five seconds, the other the whole
 * session in twelve; all agents share their scales. Processes that gavel runs and that have sent
 * nothing yet come last. */
#include "view/view_parts.h"

#include <stdio.h>
#include <stdlib.h>

enum { LINE_AGENT, LINE_PROCESS };
enum { UNREAD_SHOWN_MS = 3000, UNVERIFIED_COLS = 18 };

enum col {
	COL_NAME,
	COL_TYPE,
	COL_STATE,
	COL_TASK,
	COL_SEEN,
	COL_RATE,
	COL_MINUTE,
	COL_MESSAGES,
	COL_IN,
	COL_OUT,
	COL_COST,
	COL_ERRORS,
	COL_WARNINGS,
	COL_SESSION,
	COL_ACTIVITY,
	COL_COUNT
};

static const struct column table[COL_COUNT] = {
	[COL_NAME] = { "agent", 10, 14, 0 },
	[COL_TYPE] = { "type", 9, UNVERIFIED_COLS, 9 },
	[COL_STATE] = { "state", 9, 11, 1 },
	[COL_TASK] = { "task", 8, 12, 2 },
	[COL_SEEN] = { "seen", 5, 5, 3, .right = true },
	[COL_RATE] = { "/s", 4, 4, 3, .right = true },
	[COL_MINUTE] = { "minute", 8, 12, 7 },
	[COL_MESSAGES] = { "msgs", 4, 5, 5, .right = true },
	[COL_IN] = { "in", 4, 5, 8, .right = true },
	[COL_OUT] = { "out", 4, 5, 8, .right = true },
	[COL_COST] = { "cost", 6, 7, 6, .right = true },
	[COL_ERRORS] = { "err", 3, 4, 4, .right = true },
	[COL_WARNINGS] = { "warn", 4, 4, 10, .right = true },
	[COL_SESSION] = { "session", 12, 30, 11, .grows = true },
	[COL_ACTIVITY] = { "activity", 12, 12, 12 },
};

struct agents_own {
	uint32_t most_recent, most_active; /* scales: maximum of any agent in any step */
	uint32_t n;
	struct agent_stats *stats; /* n */
};

static void agents_release(void *own_)
{
	struct agents_own *own = own_;

	free(own->stats);
}

static void layout(const struct scene *s, int cols, struct lines *out)
{
	struct column c[COL_COUNT];

	memcpy(c, table, sizeof(table));
	c[COL_NAME].want = agents_width(s, 10, 24);
	table_layout(out, c, COL_COUNT, cols);
}

/* Whether an agent of that process has a line. */
static bool process_has_agent(const struct scene *s, const struct agent_stats *stats, uint32_t life)
{
	for (uint32_t i = 0; i < s->model->agents.n; i++)
		if (life_of_agent(s, i, stats[i].messages > 0) == &s->lives[life])
			return true;
	return false;
}

static uint32_t max_of(const uint16_t parts[ACTIVITY_BUCKETS], uint32_t most)
{
	for (unsigned t = 0; t < ACTIVITY_BUCKETS; t++)
		most = parts[t] > most ? parts[t] : most;
	return most;
}

static void agents_make(const struct scene *s, int cols, struct lines *out)
{
	uint32_t n = s->model->agents.n;
	bool has_lives = s->life_n && !s->filter && s->k >= s->model->records.n;
	struct agent_stats *stats =
		s->asof ? asof_agent_stats(s->asof, s->k, s->now_ms, s->yield)
			: model_agent_stats(s->model, s->k, s->now_ms, s->yield);
	struct agents_own *own = arena_zalloc(&out->arena, sizeof(*own));

	out->own = own;
	out->release = agents_release;
	own->stats = stats;
	own->n = n;
	layout(s, cols, out);
	for (uint32_t i = 0; i < n && yield_on(s->yield); i++) {
		if (stats[i].minute)
			own->most_recent = max_of(agent_recent(stats, n, i), own->most_recent);
		own->most_active = max_of(stats[i].activity, own->most_active);
		if (s->model->agents.v[i].first >= s->k ||
		    !filter_agent(s->filter, s->model, i, s->k))
			continue;
		if (has_lives)
			line_add(out, LINE_AGENT, i, 0);
		else
			line_number(out, i);
	}
	for (uint32_t i = 0; has_lives && i < s->life_n && yield_on(s->yield); i++)
		if (!process_has_agent(s, stats, i))
			line_add(out, LINE_PROCESS, i, 0);
}

/* The state that an agent reports itself. */
static void put_reported(struct pen *p, struct str state)
{
	if (str_is(state, "busy"))
		pen_put(p, ROLE_OK, "▶ ");
	else if (str_is(state, "idle"))
		pen_put(p, ROLE_DIM, "· ");
	else
		pen_put(p, ROLE_WARN, "○ ");
	pen_id(p, str_is(state, "idle") ? ROLE_DIM : ROLE_NORMAL, state);
}

/* Whether the process has ended, is ending or does not read its input; then says so. */
static bool put_process_trouble(struct pen *p, const struct life *life)
{
	if (life->ended)
		pen_printf(p, life->fine ? ROLE_DIM : ROLE_ERROR, "%s %s", life->fine ? "○" : "✗",
			   life->words ? life->words : "dead");
	else if (life->ending)
		pen_put(p, ROLE_WARN, "○ ending");
	else if (life->unread_ms >= UNREAD_SHOWN_MS)
		pen_printf(p, ROLE_HELD, "⚠ unread %lld:%02d", (long long)(life->unread_ms / 60000),
			   (int)(life->unread_ms / 1000 % 60));
	else
		return false;
	return true;
}

/* Trouble of its process or health; else the reported state; else derived from its work. */
static void put_state(const struct scene *s, struct pen p, const struct agent_stats *stats,
		      const struct life *life)
{
	bool waits = life && !life->ended && stats->state == NONE && stats->health == AGENT_IDLE;

	if (life && put_process_trouble(&p, life))
		return;
	if (stats->health == AGENT_FLOODING || (life && life->flooding))
		pen_put(&p, ROLE_WARN, "⚠ flooding");
	else if (stats->health == AGENT_STALLED)
		pen_put(&p, ROLE_STALLED, "⚠ stalled");
	else if (stats->health == AGENT_SILENT)
		pen_put(&p, ROLE_STALLED, "⚠ silent");
	else if (stats->state != NONE)
		put_reported(&p, model_str(s->model, stats->state));
	else if (stats->health == AGENT_WORKING)
		pen_put(&p, ROLE_OK, "▶ working");
	else
		pen_put(&p, ROLE_DIM, waits ? "· waits" : "· idle");
}

static void put_sparkline(struct pen p, const uint16_t parts[ACTIVITY_BUCKETS], uint32_t most)
{
	/* the newest steps, if there is little room */
	int first = p.rest.cols < ACTIVITY_BUCKETS ? ACTIVITY_BUCKETS - p.rest.cols : 0;

	for (int t = first; t < ACTIVITY_BUCKETS; t++)
		pen_put(&p, ROLE_INFO, level_glyph(parts[t], most));
}

static void put_count(struct grid *g, struct rect where, enum role role, uint64_t n)
{
	char text[16];

	put_right(g, where, n ? role : ROLE_DIM, n ? short_number(n, text) : "·");
}

/* Name and type. A person has spoken in a reply file or journal; who only claims to be one is marked
 * at the name, too, where there is no room for the type. */
static void put_name(const struct scene *s, uint32_t agent, const struct columns *fit,
		     struct grid *g, struct rect row)
{
	const struct model *m = s->model;
	enum trust trust = agent_trust(m, agent, s->k);
	struct pen name = column_pen(g, row, fit, COL_NAME);
	struct pen type = column_pen(g, row, fit, COL_TYPE);
	const struct mark *mark = &claim_marks[CLAIM_HUMAN];
	bool person = trust >= TRUST_REPLY && m->agents.v[agent].human;
	bool unverified = agent_claims_human(m, agent, s->k) && !person;

	if (unverified)
		pen_printf(type.rest.cols < UNVERIFIED_COLS ? &name : &type, mark->role, "%s ",
			   mark->glyph);
	pen_agent(&name, m, agent);
	if (unverified) {
		pen_put(&type, mark->role, mark->word);
		return;
	}
	if (trust != TRUST_LOG) {
		pen_put(&type, trust_marks[trust].role, trust_marks[trust].glyph);
		pen_put(&type, ROLE_DIM, " ");
	}
	pen_id(&type, ROLE_DIM, person ? STR("person") : model_str(m, m->agents.v[agent].type));
}

static void draw_process(const struct life *life, const struct columns *fit, struct grid *g,
			 struct rect row)
{
	struct pen p = column_pen(g, row, fit, COL_NAME);

	pen_path(&p, ROLE_AGENT, life->group);
	p = column_pen(g, row, fit, COL_STATE);
	if (!put_process_trouble(&p, life))
		pen_put(&p, ROLE_DIM, "· started");
	put_right(g, column_rect(row, fit, COL_MESSAGES), ROLE_DIM, "·");
}

static void agents_draw(const struct scene *s, const struct lines *lines, uint32_t i,
			struct grid *g, struct rect row)
{
	const struct model *m = s->model;
	const struct agents_own *own = lines->own;
	struct line line = line_at(lines, i);
	uint32_t number = line.a;
	const struct columns *fit = &lines->table->fit;
	const struct agent *agent;
	const struct agent_stats *stats;
	struct task_state_at task;
	struct pen p;
	char text[32];

	if (line.what == LINE_PROCESS) {
		draw_process(&s->lives[number], fit, g, row);
		return;
	}
	agent = &m->agents.v[number];
	stats = &own->stats[number];
	put_name(s, number, fit, g, row);
	put_state(s, column_pen(g, row, fit, COL_STATE), stats,
		  life_of_agent(s, number, stats->messages > 0));
	p = column_pen(g, row, fit, COL_TASK);
	if (stats->task != NONE && task_at(m, &m->tasks.v[stats->task], s->k, &task))
		pen_task_words(&p, ROLE_ID, s, &m->tasks.v[stats->task], &task);
	else
		pen_put(&p, ROLE_DIM, "·");
	put_right(g, column_rect(row, fit, COL_SEEN), ROLE_TIME,
		  short_age(s, stats->last_seen_ms, text));
	put_right(g, column_rect(row, fit, COL_RATE), stats->minute ? ROLE_NORMAL : ROLE_DIM,
		  short_rate(stats->minute / (RATE_SPAN_MS / 1000.0), text));
	put_sparkline(column_pen(g, row, fit, COL_MINUTE),
		      agent_recent(own->stats, own->n, number), own->most_recent);
	put_sparkline(column_pen(g, row, fit, COL_ACTIVITY), stats->activity, own->most_active);
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

/* Its last message, else the one that first names it. */
static struct target agents_target(const struct scene *s, const struct lines *lines, uint32_t i)
{
	const struct agents_own *own = lines->own;
	struct line line = line_at(lines, i);

	if (line.what == LINE_PROCESS) {
		uint32_t last = s->lives[line.a].last;

		return last ? target_message(last - 1) : target_none;
	}
	return target_message(own->stats[line.a].last_message);
}

const struct view_ops view_agents = {
	.name = "agents",
	.make = agents_make,
	.heading = table_heading,
	.draw = agents_draw,
	.target = agents_target,
	.empty = "No agents yet.",
	.then = "{messages} shows every message.",
};
