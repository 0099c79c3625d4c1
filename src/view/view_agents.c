/* The agents view: state and health, current task, last seen, message rate, tokens, cost and errors
 * of each agent. One sparkline shows the last minute in steps of five seconds, the other the whole
 * session in twelve; all agents share their scales. Processes that gavel runs and that have sent
 * nothing yet come after the agents, and the total of all that are listed comes last. */
#include "view/session_label.h"

#include <stdio.h>
#include <stdlib.h>

enum { LINE_AGENT, LINE_PROCESS, LINE_TOTAL };
enum { UNREAD_SHOWN_MS = 3000, UNVERIFIED_COLS = 18, NAME_LEAST = 14 };

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
	COL_ASKED,
	COL_UNASKED,
	COL_ERRORS,
	COL_WARNINGS,
	COL_SESSION,
	COL_ACTIVITY,
	COL_COUNT
};

_Static_assert((int)COL_COUNT <= (int)COLUMNS_MAX, "struct columns has a place for each");

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
	[COL_ASKED] = { "asked", 5, 5, 4, .right = true },
	[COL_UNASKED] = { "unasked", 7, 7, 4, .right = true },
	[COL_ERRORS] = { "err", 3, 4, 4, .right = true },
	[COL_WARNINGS] = { "warn", 4, 4, 10, .right = true },
	[COL_SESSION] = { "session", 12, 30, 11, .grows = true },
	[COL_ACTIVITY] = { "activity", 12, 12, 12 },
};

/* The title of an agent's task, which is read from the log; first, given: the messages it is from. */
struct kept_title {
	bool is_read;
	uint32_t first, given;
	struct str title;
};

struct agents_own {
	uint32_t most_recent, most_active; /* scales: maximum of any agent in any step */
	uint32_t n;
	struct agent_stats *stats; /* n */
	struct agent_stats total;  /* of the listed ones: counts, tokens and cost */
	uint32_t listed;
	struct kept_title *titles; /* n; filled as lines are drawn */
	struct arena arena;
};

/* When it was last heard of: its own last message, else the last report of its state. */
static int64_t heard_ms(const struct scene *s, uint32_t agent, const struct agent_stats *stats)
{
	const struct agent *a = &s->model->agents.v[agent];

	if (stats->last_seen_ms != TIME_NONE || !a->states.n || a->states.v[0].message >= s->k)
		return stats->last_seen_ms;
	return model_time(s->model, a->states.v[0].message);
}

/* Whether it works, is silent or stalled by the clock of its own recording. */
static enum agent_health health_in(const struct scene *here, uint32_t agent,
				   const struct agent_stats *stats)
{
	const struct model *m = here->model;
	int64_t heard = heard_ms(here, agent, stats);
	struct task_state_at task;

	if (stats->task != NONE && task_at(m, &m->tasks.v[stats->task], here->k, &task) &&
	    task_is_stalled(m, &task, here->now_ms))
		return AGENT_STALLED;
	return heard != TIME_NONE && time_between(here->now_ms, heard) > STALL_MS ? AGENT_SILENT
										    : AGENT_WORKING;
}

struct agent_stats *scene_agent_stats(const struct scene *s)
{
	const struct model *m = s->model;
	struct agent_stats *stats =
		s->asof ? asof_agent_stats(s->asof, s->k, s->now_ms, s->yield)
			: model_agent_stats(m, s->k, s->now_ms, s->yield);

	for (uint32_t i = 0; i < m->agents.n && yield_on(s->yield); i++) {
		struct scene here;

		if (stats[i].health != AGENT_SILENT && stats[i].health != AGENT_STALLED)
			continue;
		here = scene_in(s, m->agents.v[i].session);
		if (here.now_ms != s->now_ms)
			stats[i].health = (uint8_t)health_in(&here, i, &stats[i]);
	}
	return stats;
}

static void agents_release(void *own_)
{
	struct agents_own *own = own_;

	free(own->stats);
	arena_release(&own->arena);
}

static void layout(const struct scene *s, int cols, struct lines *out)
{
	struct column c[COL_COUNT];

	memcpy(c, table, sizeof(table));
	c[COL_NAME].want = agents_width(s, 10, 24);
	c[COL_NAME].min = agents_width(s, 10, NAME_LEAST); /* "reviewer-…" may be any of them */
	if (!s->model->tool_acts.n) /* no real agents */
		c[COL_ASKED].min = c[COL_ASKED].want = c[COL_UNASKED].min = c[COL_UNASKED].want = 0;
	if (out->labels) { /* agents of several sessions may have one name */
		c[COL_SESSION].want = session_labels_width(out, 30);
		c[COL_SESSION].min = session_labels_width(out, 9);
		c[COL_SESSION].rank = 1;
	}
	table_layout(out, c, COL_COUNT, cols);
}

/* Lists the processes none of whose agents has spoken. */
static void list_processes(const struct scene *s, const struct agent_stats *stats, uint32_t n,
			   struct lines *out)
{
	bool *spoke = xcalloc(s->life_n, sizeof(*spoke));

	for (uint32_t i = 0; i < n && yield_on(s->yield); i++) {
		const struct life *life = life_of_agent(s, i, stats[i].messages > 0);

		if (life)
			spoke[life - s->lives] = true;
	}
	for (uint32_t i = 0; i < s->life_n; i++)
		if (!spoke[i])
			line_add(out, LINE_PROCESS, i, 0);
	free(spoke);
}

static void add_to_total(struct agents_own *own, const struct agent_stats *a)
{
	struct agent_stats *t = &own->total;

	own->listed++;
	t->messages += a->messages;
	t->minute += a->minute;
	t->errors += a->errors;
	t->warnings += a->warnings;
	t->tokens_in += a->tokens_in;
	t->tokens_out += a->tokens_out;
	t->cost += a->cost;
	t->asked += a->asked;
	t->unasked += a->unasked;
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
	struct agent_stats *stats = scene_agent_stats(s);
	struct agents_own *own = arena_zalloc(&out->arena, sizeof(*own));

	out->own = own;
	out->release = agents_release;
	own->stats = stats;
	own->n = n;
	own->titles = arena_zalloc(&own->arena, n * sizeof(*own->titles));
	session_labels_make(s, out);
	layout(s, cols, out);
	for (uint32_t i = 0; i < n && yield_on(s->yield); i++) {
		if (stats[i].minute)
			own->most_recent = max_of(agent_recent(stats, n, i), own->most_recent);
		own->most_active = max_of(stats[i].activity, own->most_active);
		if (s->model->agents.v[i].first >= s->k ||
		    !filter_agent(s->filter, s->model, i, s->k))
			continue;
		add_to_total(own, &stats[i]);
		line_add(out, LINE_AGENT, i, 0);
	}
	if (has_lives)
		list_processes(s, stats, n, out);
	if (own->listed > 1)
		line_add(out, LINE_TOTAL, 0, 0);
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

void pen_agent_state(struct pen *p, const struct scene *s, const struct agent_stats *stats,
		     const struct life *life)
{
	bool waits = life && !life->ended && stats->state == NONE && stats->health == AGENT_IDLE;

	if (life && put_process_trouble(p, life))
		return;
	if (stats->health == AGENT_FLOODING || (life && life->flooding))
		pen_put(p, ROLE_WARN, "⚠ flooding");
	else if (stats->health == AGENT_STALLED)
		pen_put(p, ROLE_STALLED, "⚠ stalled");
	else if (stats->health == AGENT_SILENT)
		pen_put(p, ROLE_STALLED, "⚠ silent");
	else if (stats->state != NONE)
		put_reported(p, model_str(s->model, stats->state));
	else if (stats->health == AGENT_WORKING)
		pen_put(p, ROLE_OK, "▶ working");
	else
		pen_put(p, ROLE_DIM, waits ? "· waits" : "· idle");
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

/* Messages, tokens, cost and problems, of an agent or of all. */
static void put_counts(const struct agent_stats *stats, const struct columns *fit, struct grid *g,
		       struct rect row)
{
	char text[32];

	put_right(g, column_rect(row, fit, COL_RATE), stats->minute ? ROLE_NORMAL : ROLE_DIM,
		  short_rate(stats->minute / (RATE_SPAN_MS / 1000.0), text));
	put_count(g, column_rect(row, fit, COL_MESSAGES), ROLE_NORMAL, stats->messages);
	put_count(g, column_rect(row, fit, COL_IN), ROLE_NORMAL, stats->tokens_in);
	put_count(g, column_rect(row, fit, COL_OUT), ROLE_NORMAL, stats->tokens_out);
	if (stats->cost > 0)
		snprintf(text, sizeof(text), stats->cost < 100 ? "$%.3f" : "$%.0f", stats->cost);
	put_right(g, column_rect(row, fit, COL_COST), stats->cost > 0 ? ROLE_NORMAL : ROLE_DIM,
		  stats->cost > 0 ? text : "·");
	put_count(g, column_rect(row, fit, COL_ASKED), ROLE_NORMAL, stats->asked);
	put_count(g, column_rect(row, fit, COL_UNASKED), ROLE_WARN, stats->unasked);
	put_count(g, column_rect(row, fit, COL_ERRORS), ROLE_ERROR, stats->errors);
	put_count(g, column_rect(row, fit, COL_WARNINGS), ROLE_WARN, stats->warnings);
}

static void draw_total(const struct agents_own *own, const struct columns *fit, struct grid *g,
		       struct rect row)
{
	struct pen p = column_pen(g, row, fit, COL_NAME);

	pen_printf(&p, ROLE_KEY, "total of %u", own->listed);
	put_counts(&own->total, fit, g, row);
}

/* Read once for a list and not for each frame: every key would read and parse a message for each
 * agent on the screen. */
static struct str title_of(const struct scene *s, struct agents_own *own, uint32_t agent,
			   const struct task_state_at *at)
{
	struct kept_title *t = &own->titles[agent];

	if (!t->is_read || t->first != at->first || t->given != at->given)
		*t = (struct kept_title){ true, at->first, at->given,
					  arena_str(&own->arena, task_title(s, at)) };
	return t->title;
}

static void put_task(struct pen *p, const struct scene *s, struct agents_own *own, uint32_t agent)
{
	uint32_t number = own->stats[agent].task;
	const struct task *t = number == NONE ? NULL : &s->model->tasks.v[number];
	struct task_state_at at;

	if (!t || !task_at(s->model, t, s->k, &at))
		pen_put(p, ROLE_DIM, "·");
	else if (!pen_task_workflow(p, ROLE_ID, s, t, &at))
		pen_task_titled(p, ROLE_ID, s, t, title_of(s, own, agent, &at));
}

static void agents_draw(const struct scene *s, const struct lines *lines, uint32_t i,
			struct grid *g, struct rect row)
{
	const struct model *m = s->model;
	struct agents_own *own = lines->own;
	struct line line = line_at(lines, i);
	uint32_t number = line.a;
	const struct columns *fit = &lines->table->fit;
	const struct agent *agent;
	const struct agent_stats *stats;
	struct scene here;
	struct pen p;
	char text[32];

	if (line.what == LINE_PROCESS) {
		draw_process(&s->lives[number], fit, g, row);
		return;
	}
	if (line.what == LINE_TOTAL) {
		draw_total(own, fit, g, row);
		return;
	}
	agent = &m->agents.v[number];
	here = scene_in(s, agent->session);
	stats = &own->stats[number];
	put_name(s, number, fit, g, row);
	p = column_pen(g, row, fit, COL_STATE);
	pen_agent_state(&p, s, stats, life_of_agent(s, number, stats->messages > 0));
	p = column_pen(g, row, fit, COL_TASK);
	put_task(&p, s, own, number);
	put_right(g, column_rect(row, fit, COL_SEEN), ROLE_TIME,
		  short_age(&here, stats->last_seen_ms, text));
	put_sparkline(column_pen(g, row, fit, COL_MINUTE),
		      agent_recent(own->stats, own->n, number), own->most_recent);
	put_sparkline(column_pen(g, row, fit, COL_ACTIVITY), stats->activity, own->most_active);
	put_counts(stats, fit, g, row);
	p = column_pen(g, row, fit, COL_SESSION);
	if (lines->labels)
		pen_session(&p, ROLE_DIM, s, lines, message_session(s, lines, agent->first));
	else
		pen_short(&p, ROLE_DIM, session_name(m, agent->session));
}

/* A process none of whose agents has a line leads to its last message. */
static struct target agents_target(const struct scene *s, const struct lines *lines, uint32_t i)
{
	struct line line = line_at(lines, i);

	if (line.what == LINE_PROCESS) {
		uint32_t last = s->lives[line.a].last;

		return last ? target_message(last - 1) : target_none;
	}
	return line.what == LINE_TOTAL ? target_none : target_agent(line.a);
}

const struct life *agents_life(const struct scene *s, const struct lines *lines, uint32_t i)
{
	const struct agents_own *own = lines->own;
	struct line line = line_at(lines, i);

	if (line.what == LINE_PROCESS)
		return &s->lives[line.a];
	return line.what == LINE_AGENT
		       ? life_of_agent(s, line.a, own->stats[line.a].messages > 0)
		       : NULL;
}

static enum sort_place agents_sort_key(const struct scene *s, struct lines *lines, uint32_t i,
				       unsigned column, struct sort_key *out)
{
	const struct agents_own *own = lines->own;
	const struct model *m = s->model;
	struct line line = line_at(lines, i);
	const struct agent_stats *stats;

	if (line.what != LINE_AGENT)
		return SORT_LAST;
	stats = &own->stats[line.a];
	switch ((enum col)column) {
	case COL_NAME: out->text = agent_name(m, line.a); break;
	case COL_TYPE: out->text = model_str(m, m->agents.v[line.a].type); break;
	case COL_STATE: out->number = stats->health; break;
	case COL_TASK:
		if (stats->task == NONE)
			return SORT_LAST;
		out->text = model_str(m, m->tasks.v[stats->task].id);
		break;
	case COL_SEEN: out->number = stats->last_seen_ms; break;
	case COL_RATE:
	case COL_MINUTE: out->number = stats->minute; break;
	case COL_MESSAGES: out->number = stats->messages; break;
	case COL_IN: out->number = (int64_t)stats->tokens_in; break;
	case COL_OUT: out->number = (int64_t)stats->tokens_out; break;
	case COL_COST: out->number = (int64_t)(stats->cost * 1e6); break;
	case COL_ASKED: out->number = stats->asked; break;
	case COL_UNASKED: out->number = stats->unasked; break;
	case COL_ERRORS: out->number = stats->errors; break;
	case COL_WARNINGS: out->number = stats->warnings; break;
	case COL_SESSION: out->text = session_name(m, m->agents.v[line.a].session); break;
	case COL_ACTIVITY:
	case COL_COUNT: return SORT_LAST;
	}
	return SORT_BY_KEY;
}

const struct view_ops view_agents = {
	.name = "agents",
	.make = agents_make,
	.heading = table_heading,
	.draw = agents_draw,
	.target = agents_target,
	.sort_key = agents_sort_key,
	.sort_columns = (1 << COL_ACTIVITY) - 1,
	.sort_down = ((1 << COL_SESSION) - 1) & ~((1 << COL_SEEN) - 1), /* numbers */
	.empty = "No agents yet.",
	.then = "{messages} shows every message.",
};
