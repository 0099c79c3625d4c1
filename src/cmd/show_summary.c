/* JSON output of the summary, one line. */
#include "cmd/show_json.h"

#include "json/compose.h"
#include "view/session_stats.h"
#include "view/task_usage.h"
#include "view/view_parts.h"

#include <stdlib.h>

static void put_verdicts(struct buf *b, enum verdict last, const uint32_t *counts)
{
	for (int v = VERDICT_ACCEPTED; v <= (int)last; v++)
		json_put_number(b, verdict_name((enum verdict)v), counts[v]);
}

static void put_item_counts(const struct scene *s, struct buf *b)
{
	uint32_t open = 0, due = 0, verdicts[VERDICT_COUNT] = { 0 };

	for (uint32_t i = 0; i < s->model->items.n; i++) {
		struct item_state st;

		if (!item_is_shown(s, i, &st))
			continue;
		if (!st.open) /* staged is not decided */
			verdicts[st.verdict]++;
		open += st.open;
		due += st.open && st.deadline_ms != TIME_NONE;
	}
	json_open(b, "items", '{');
	json_put_number(b, "open", open);
	json_put_number(b, "due", due);
	put_verdicts(b, VERDICT_WITHDRAWN, verdicts);
	buf_addc(b, '}');
}

/* Decisions of persons, by verdict and by delivery. */
static void put_decision_counts(const struct scene *s, struct buf *b)
{
	const struct model *m = s->model;
	uint32_t verdicts[VERDICT_COUNT] = { 0 }, deliveries[DELIVERY_HELD + 1] = { 0 };

	for (uint32_t i = 0; (m->overlays.n || m->replies.n) && i < m->items.n; i++) {
		const struct overlay *overlay = item_overlay(m, &m->items.v[i]);
		struct item_state st;

		if (!item_is_shown(s, i, &st) || st.delivery == DELIVERY_NONE)
			continue;
		verdicts[st.overlaid ? overlay->verdict : st.verdict]++;
		deliveries[st.delivery]++;
	}
	json_open(b, "decisions", '{');
	put_verdicts(b, VERDICT_DISMISSED, verdicts);
	for (int d = DELIVERY_STAGED; d <= DELIVERY_HELD; d++)
		json_put_number(b, delivery_name((enum delivery)d), deliveries[d]);
	buf_addc(b, '}');
}

static void put_record_counts(const struct scene *s, struct buf *b)
{
	uint64_t by_dialect[DIALECT_MAX] = { 0 }, counts[3] = { 0 }, shown = 0;
	int64_t first = INT64_MAX;

	for (uint32_t i = 0; i < s->k; i++) {
		const struct record *r = &s->model->records.v[i];

		if (!message_is_shown(s, i))
			continue;
		shown++;
		by_dialect[route_of(s->model, r)->dialect]++;
		counts[SEVERITY_NOTE] += r->notes;
		counts[SEVERITY_WARNING] += r->warnings;
		counts[SEVERITY_ERROR] += r->errors;
		if (r->time_ms != TIME_NONE && r->time_ms < first)
			first = r->time_ms;
	}
	json_put_number(b, "messages", shown);
	json_open(b, "dialects", '{');
	for (unsigned i = 0; i < dialect_count(); i++)
		json_put_number(b, dialect_name((enum dialect_id)i), by_dialect[i]);
	buf_addc(b, '}');
	json_open(b, "diagnostics", '{');
	for (int i = 2; i >= 0; i--)
		json_put_number(b, severity_name((enum severity)i), counts[i]);
	buf_addc(b, '}');
	json_put_time(b, "first", first == INT64_MAX ? TIME_NONE : first);
	json_put_time(b, "last", s->now_ms);
}

/* Sessions that have a message: a file of wrapper lines only has none of its own. */
static uint32_t count_sessions(const struct scene *s)
{
	bool *seen = xcalloc(s->model->sessions.n, sizeof(*seen));
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->k; i++) {
		uint32_t session = message_route(s->model, i)->session;

		if (!seen[session] && message_is_shown(s, i)) {
			seen[session] = true;
			n++;
		}
	}
	free(seen);
	return n;
}

static void put_time_to_decision(struct buf *b, const struct session_stats *f)
{
	json_open(b, "time_to_decision", '{');
	json_put_number(b, "decisions", f->timed);
	json_put_time(b, "median", f->median_ms);
	json_put_time(b, "longest", f->longest_ms);
	buf_addc(b, '}');
}

/* What comes back in a loop, most often first. */
static void put_recurring(const struct ledger *all, const struct loop_at *at, struct buf *b)
{
	const struct model *m = all->model;
	struct recurring back[RECURRING_MAX];
	uint32_t n = loop_recurring(all, at, back);

	json_open(b, "came_back", '[');
	for (uint32_t i = 0; i < n && i < RECURRING_MAX; i++) {
		json_comma(b);
		buf_addc(b, '{');
		json_put_str(b, "id", model_str(m, m->items.v[back[i].item].id));
		json_put_number(b, "times", back[i].times);
		json_put_number(b, "iteration", at->turns[back[i].last].iteration);
		buf_addc(b, '}');
	}
	buf_addc(b, ']');
}

static void put_loop(struct load *l, const struct scene *s, const struct ledger *all, uint32_t loop,
		     struct buf *b)
{
	const struct model *m = s->model;
	uint32_t task = all->list[loop].task, n = 0;
	struct arena arena = { 0 };
	const struct loop_at *at = loop_look(all, loop, s->k, &arena);
	uint32_t from = at->turn_count > LOOP_COUNTS_MAX ? at->turn_count - LOOP_COUNTS_MAX : 0;

	json_comma(b);
	buf_addc(b, '{');
	json_session(l, b, m->reviews.v[at->review].session);
	json_put_str(b, "task", task == NONE ? STR_NONE : model_str(m, m->tasks.v[task].id));
	json_put_number(b, "iterations", at->turn_count);
	json_put_name(b, "reason", loop_progress(at) == LOOP_NOT_FALLING ? "not_falling"
									   : "recurring");
	json_open(b, "open", '[');
	for (uint32_t i = from; i < at->turn_count; i++)
		if (at->turns[i].answer != NONE && !at->turns[i].failed)
			buf_printf(b, "%s%u", n++ ? "," : "", at->turns[i].open);
	buf_addc(b, ']');
	put_recurring(all, at, b);
	buf_addc(b, '}');
	arena_release(&arena);
}

/* The loops that do not converge, at most DIVERGED_MAX. */
static void put_diverging(struct load *l, const struct scene *s, const struct session_stats *f,
			  struct buf *b)
{
	struct ledger *all = f->diverging ? scene_ledger(s) : NULL;
	uint32_t next = 0;

	json_open(b, "diverging", '[');
	for (uint32_t i = 0; all && i < all->n && next < f->diverging && next < DIVERGED_MAX; i++)
		if (all->list[i].first == f->diverged[next]) {
			put_loop(l, s, all, i, b);
			next++;
		}
	buf_addc(b, ']');
	ledger_release(all);
}

/* Statistics about decisions. How long persons took is not in the log alone. */
static void put_decision_stats(struct load *l, const struct scene *s, struct buf *b)
{
	struct session_stats f;
	struct scene with = *s;
	struct ledger *loops;

	session_stats_compute(s, &f, &loops);
	if (loops)
		with.loops = loops;
	json_open(b, "agent_decisions", '{');
	put_verdicts(b, VERDICT_DISMISSED, f.by_agents);
	buf_addc(b, '}');
	if (!l->json.hide_names)
		put_time_to_decision(b, &f);
	json_open(b, "loops", '{');
	json_put_number(b, "count", f.loops);
	json_put_number(b, "not_converging", f.diverging);
	put_diverging(l, &with, &f, b);
	buf_addc(b, '}');
	ledger_release(loops);
}

/* Agents with usage. */
static void put_agents(struct load *l, const struct scene *s, struct buf *b)
{
	const struct model *m = s->model;
	struct agent_stats *stats = model_agent_stats(m, s->k, s->now_ms, NULL);

	json_open(b, "by_agent", '[');
	for (uint32_t i = 0; i < m->agents.n; i++) {
		const struct agent_stats *st = &stats[i];

		if (m->agents.v[i].first >= s->k || !filter_agent(s->filter, m, i, s->k) ||
		    !(st->tokens_in || st->tokens_out || st->tokens_cached || st->cost > 0))
			continue;
		json_comma(b);
		buf_addc(b, '{');
		json_put_str(b, "agent", model_str(m, m->agents.v[i].name));
		json_session(l, b, m->agents.v[i].session);
		json_usage(b, st->tokens_in, st->tokens_out, st->tokens_cached, st->cost);
		buf_addc(b, '}');
	}
	buf_addc(b, ']');
	free(stats);
}

/* Tasks with usage; task is null for what was used in a session and for no task. */
static void put_tasks(struct load *l, const struct scene *s, struct buf *b)
{
	const struct model *m = s->model;
	uint32_t n;
	struct task_usage *list = task_usage_list(s, &n);

	json_open(b, "by_task", '[');
	for (uint32_t i = 0; i < n; i++) {
		const struct task_usage *u = &list[i];

		json_comma(b);
		buf_addc(b, '{');
		json_put_str(b, "task", u->task != NONE ? model_str(m, m->tasks.v[u->task].id)
							: STR_NONE);
		json_session(l, b, u->session);
		json_usage(b, u->tokens_in, u->tokens_out, u->tokens_cached, u->cost);
		buf_addc(b, '}');
	}
	buf_addc(b, ']');
	free(list);
}

void json_summary(struct load *l, const struct scene *s, struct buf *out)
{
	const struct model *m = s->model;
	uint32_t agents = 0, states[TASK_STATE_COUNT] = { 0 };
	uint64_t in = 0, tokens_out = 0, cached = 0, asked = 0, acts = 0;
	double cost = 0;

	for (uint32_t i = 0; i < m->agents.n; i++)
		agents += m->agents.v[i].first < s->k && filter_agent(s->filter, m, i, s->k);
	for (uint32_t i = 0; i < m->tasks.n; i++) {
		struct task_state_at st;

		if (task_at(m, &m->tasks.v[i], s->k, &st) && filter_task(s->filter, m, i, s->k))
			states[st.state]++;
	}
	for (uint32_t i = 0; i < m->usage.n && m->usage.v[i].message < s->k; i++) {
		in += m->usage.v[i].tokens_in;
		tokens_out += m->usage.v[i].tokens_out;
		cached += m->usage.v[i].tokens_cached;
		cost += m->usage.v[i].cost;
	}
	for (; acts < m->tool_acts.n && m->tool_acts.v[acts].message < s->k; acts++)
		asked += m->tool_acts.v[acts].asked;
	buf_addc(out, '{');
	put_record_counts(s, out);
	json_put_number(out, "sessions", count_sessions(s));
	json_put_number(out, "agents", agents);
	json_open(out, "tasks", '{');
	for (int i = 0; i < TASK_STATE_COUNT; i++)
		json_put_number(out, task_state_name((enum task_state)i), states[i]);
	buf_addc(out, '}');
	put_item_counts(s, out);
	put_decision_counts(s, out);
	put_decision_stats(l, s, out);
	json_usage(out, in, tokens_out, cached, cost);
	if (!l->json.hide_names || acts) {
		json_put_number(out, "asked", asked);
		json_put_number(out, "unasked", acts - asked);
	}
	put_agents(l, s, out);
	/* all of it is in other views: the hash of a session stays what it was */
	if (!l->json.hide_names)
		put_tasks(l, s, out);
	json_end(l, out);
}
