/* JSON output of inbox, item, timeline, ledger, messages and agents. */
#include "cmd/show_json.h"

#include "encode/verbs.h"
#include "json/compose.h"
#include "view/view_parts.h"

#include <stdlib.h>

enum { FLUSH_BYTES = 64 * 1024 };

void json_end(struct load *l, struct buf *out)
{
	buf_adds(out, "}\n");
	if (l->json.flush && out->n > FLUSH_BYTES)
		l->json.flush(l->json.ctx, out);
}

/* The number of the log that a file is, or replies to, in the order of their first messages. */
static uint32_t log_number(const struct load *l, struct str group, uint32_t file)
{
	for (uint32_t i = 0; i < l->json.logs_n; i++)
		if (file == NONE || l->wire.files.v[file].joined
			    ? str_eq(l->wire.files.v[l->json.logs[i]].group, group)
			    : l->json.logs[i] == file)
			return i + 1;
	return 0;
}

static void put_file_number(const struct load *l, struct buf *b, const char *name, uint32_t message)
{
	uint32_t file = message == NONE ? NONE : message_route(&l->model, message)->source;
	const struct wire_file *f = file == NONE ? NULL : &l->wire.files.v[file];

	json_key(b, name);
	buf_printf(b, f && f->joined ? "\"replies of #%u\"" : "\"#%u\"",
		   f ? log_number(l, f->group, file) : 0);
}

void json_session(struct load *l, struct buf *out, uint32_t session)
{
	const struct model *m = &l->model;
	const struct session *s = &m->sessions.v[session];

	if (l->json.hide_names && s->name == s->group) {
		json_key(out, "session");
		buf_printf(out, "\"#%u\"", log_number(l, model_str(m, s->group), NONE));
	} else {
		json_put_str(out, "session", session_name(m, session));
	}
}

void json_usage(struct buf *out, uint64_t tokens_in, uint64_t tokens_out, uint64_t tokens_cached,
		double cost)
{
	json_put_number(out, "tokens_in", tokens_in);
	json_put_number(out, "tokens_out", tokens_out);
	json_put_number(out, "tokens_cached", tokens_cached);
	json_key(out, "cost");
	buf_printf(out, "%.6f", cost);
}

void json_source(struct load *l, struct buf *out, uint32_t message)
{
	if (l->json.hide_names)
		put_file_number(l, out, "source", message);
	else
		json_put_str(out, "source", l->reader.source(l->reader.ctx, message));
}

/* What was said does not depend on whether the journal is here, too. */
void json_trust(struct load *l, struct buf *out, enum trust trust, struct str claims)
{
	if (l->json.hide_names && trust == TRUST_JOURNAL)
		trust = TRUST_REPLY;
	json_put_name(out, "trust", trust_name(trust));
	json_put_str(out, "claims", claims.n ? claims : STR_NONE);
}

static void put_message(struct buf *b, const char *name, const struct model *m, uint32_t message)
{
	json_key(b, name);
	if (message == NONE) {
		buf_adds(b, "null");
		return;
	}
	buf_adds(b, "{");
	json_put_number(b, "line", message_line(m, message));
	json_put_time(b, "time", m->records.v[message].time_ms);
	buf_adds(b, "}");
}

static struct str task_id(const struct model *m, uint32_t task)
{
	return task == NONE ? STR_NONE : model_str(m, m->tasks.v[task].id);
}

static void put_verbs(struct buf *b, const struct model *m, const struct item *item,
		      const struct item_state *st)
{
	unsigned verbs = verbs_allowed(m, item, st);

	json_open(b, "verbs", '[');
	for (int v = 0; v < VERB_COUNT; v++)
		if (verbs & 1u << v) {
			json_comma(b);
			buf_printf(b, "\"%s\"", verb_name((enum verb)v));
		}
	buf_addc(b, ']');
}

/* Who decided. Replies do not always say who wrote them, so names of persons are hidden, too. */
static void put_by(struct load *l, struct buf *b, const struct model *m,
		   const struct item_state *st)
{
	struct str by = item_by(m, st);

	json_put_str(b, "by", l->json.hide_names && st->delivery != DELIVERY_NONE && by.p
				      ? STR("person")
				      : by);
}

static void put_overlay(struct buf *b, const struct model *m, const struct overlay *s)
{
	json_comma(b);
	buf_addc(b, '{');
	json_put_name(b, "what", "decided");
	json_key(b, "at");
	buf_adds(b, "{\"line\":null");
	json_put_time(b, "time", s->time_ms);
	buf_addc(b, '}');
	json_put_str(b, "by", model_str(m, s->by));
	json_put_name(b, "verdict", verdict_name(s->verdict));
	json_put_name(b, "delivery", delivery_name(s->delivery));
	buf_addc(b, '}');
}

struct str step_person(const struct load *l, const struct item_step *step)
{
	const struct model *m = &l->model;
	const struct reply *r = step->said ? message_reply(m, step->message) : NULL;

	if (!r)
		return agent_name(m, step_by(m, step));
	return l->json.hide_names ? STR("person") : r->by == NONE ? STR("reply file")
								   : model_str(m, r->by);
}

static void put_step(struct load *l, struct buf *b, const struct item *item, uint32_t number,
		     uint32_t k)
{
	const struct model *m = &l->model;
	const struct item_step *s = &item->steps[number];
	static const char *const names[] = { "raised", "decided", "acknowledged",
					     "unknown_id", "fixed", "superseded",
					     "expired", "withdrawn" };

	json_comma(b);
	buf_addc(b, '{');
	json_put_name(b, "what", names[s->what]);
	put_message(b, "at", m, s->message);
	json_put_str(b, "by", step_person(l, s));
	if (s->what == STEP_DECIDED)
		json_put_name(b, "verdict", verdict_name(s->verdict));
	if (s->what == STEP_DECIDED && s->said)
		json_put_name(b, "delivery", delivery_name(step_delivery(item, number, k)));
	if (s->what == STEP_WITHDRAWN)
		json_put_name(b, "why", withdrawal_reason(m, s->message));
	if (s->iteration)
		json_put_number(b, "iteration", s->iteration);
	buf_addc(b, '}');
}

static void put_history(struct load *l, struct buf *b, const struct item *item, uint32_t k)
{
	const struct model *m = &l->model;
	const struct overlay *overlay = item_overlay(m, item);

	if (overlay && overlay->from > k)
		overlay = NULL;
	json_open(b, "history", '[');
	for (uint32_t i = 0; i < item->n && item->steps[i].message < k; i++) {
		if (overlay && item->steps[i].message >= overlay->from) {
			put_overlay(b, m, overlay);
			overlay = NULL;
		}
		put_step(l, b, item, i, k);
	}
	if (overlay)
		put_overlay(b, m, overlay);
	buf_addc(b, ']');
}

static void put_fields(struct buf *b, const struct detail *d)
{
	json_open(b, "fields", '{');
	for (unsigned i = 0; i < d->n; i++)
		json_put_str(b, d->field[i].label, d->field[i].text);
	buf_addc(b, '}');
}

/* Only of a tool call: where it runs, and the calls that were over before it, newest first. */
static void put_recent(struct buf *b, const struct scene *s, const struct item *item,
		       const struct item_state *st, struct str folder)
{
	uint32_t calls[RECENT_CALLS], n;

	if (item->kind != ITEM_PERMISSION)
		return;
	json_put_str(b, "folder", folder.n ? folder : STR_NONE);
	n = recent_calls(s->model, st->message, calls, RECENT_CALLS);
	json_open(b, "recent", '[');
	for (uint32_t i = 0; i < n; i++) {
		json_comma(b);
		buf_addc(b, '{');
		json_put_number(b, "line", message_line(s->model, calls[i]));
		json_put_str(b, "summary", s->reader->summary(s->reader->ctx, calls[i]));
		buf_addc(b, '}');
	}
	buf_addc(b, ']');
}

/* Only of an output envelope that may answer several inputs: their lines. */
static void put_inputs(struct buf *b, const struct model *m, const struct item_state *st)
{
	uint32_t n;
	const uint32_t *inputs = output_inputs(m, st->message, &n);

	if (!inputs)
		return;
	json_open(b, "inputs", '[');
	for (uint32_t i = 0; i < n; i++) {
		json_comma(b);
		buf_printf(b, "%u", message_line(m, inputs[i]));
	}
	buf_addc(b, ']');
}

/* Whether another agent uses the id may be known only later: the state as of k must not tell. */
static void put_item_name(const struct load *l, const struct model *m, const struct item *item,
			  struct buf *name)
{
	(l->json.hide_names ? item_plain_name : item_name)(m, item, name);
}

/* What a team's store says of it now. */
static void put_team(struct buf *b, const struct scene *s, uint32_t item)
{
	const struct team_mark *mark = team_mark_of(s->team, item);

	if (!mark)
		return;
	json_open(b, "team", '{');
	json_put_int(b, "item", mark->id);
	json_put_str(b, "source", mark->source);
	json_put_str(b, "holder", mark->holder.n ? mark->holder : STR_NONE);
	json_put_time(b, "until", mark->holder.n ? mark->until_ms : TIME_NONE);
	json_put_number(b, "votes", mark->votes);
	json_put_number(b, "need", mark->need);
	json_put_int(b, "level", mark->level);
	json_put_str(b, "outcome", mark->outcome.n ? mark->outcome : STR_NONE);
	json_put_str(b, "note", mark->note.n ? mark->note : STR_NONE);
	json_put_str(b, "said", mark->said.n ? mark->said : STR_NONE);
	if (team_mark_is_untrue(mark) || mark->proof == TEAM_PROVEN)
		json_put_bool(b, "in_log", mark->proof == TEAM_PROVEN);
	else
		json_put_str(b, "in_log", STR_NONE);
	json_put_str(b, "doubt", mark->doubt.n ? mark->doubt : STR_NONE);
	buf_addc(b, '}');
}

static void put_item(struct load *l, const struct scene *s, uint32_t number,
		     const struct item_state *st, bool whole, struct buf *b)
{
	const struct model *m = s->model;
	const struct item *item = &m->items.v[number];
	const struct route *route = message_route(m, st->message);
	struct detail d = { 0 };
	struct buf name = { 0 }, rev = { 0 };
	bool has_detail;

	put_item_name(l, m, item, &name);
	item_rev(&l->reader, item, st, &rev);
	has_detail = s->reader->detail(s->reader->ctx, item, st, &d);
	buf_addc(b, '{');
	json_put_str(b, "id", buf_str(&name));
	json_put_name(b, "dialect", dialect_name((enum dialect_id)route->dialect));
	json_put_name(b, "kind", item_kind_name(item->kind));
	json_session(l, b, item_session(m, item));
	json_put_str(b, "task", task_id(m, item_task(m, item)));
	json_put_str(b, "agent", agent_name(m, route->from));
	json_put_int_if(b, "iteration", st->iteration, st->iteration);
	json_put_str(b, "title", has_detail && d.title.p ? d.title : STR(""));
	json_put_name(b, "severity", grade_name(st->grade));
	put_message(b, "opened", m, st->opened);
	json_put_time(b, "deadline", st->deadline_ms);
	json_put_name(b, "verdict", verdict_name(st->verdict));
	put_by(l, b, m, st);
	json_put_name(b, "delivery", delivery_name(st->delivery));
	put_verbs(b, m, item, st);
	json_put_str(b, "rev", rev.n ? buf_str(&rev) : STR_NONE);
	json_source(l, b, st->message);
	json_put_number(b, "times", st->times);
	json_put_number(b, "revision", st->revision + 1u);
	json_put_bool(b, "came_back", st->came_back);
	json_put_bool(b, "bounced", st->bounced);
	json_put_bool(b, "acknowledged", st->acked);
	if (item_over_reason(m, st))
		json_put_name(b, "why", item_over_reason(m, st));
	put_inputs(b, m, st);
	if (whole) {
		if (has_detail)
			put_fields(b, &d);
		put_recent(b, s, item, st, call_folder(s, st, &d));
		put_history(l, b, item, s->k);
	}
	json_trust(l, b, item_trust(m, st), item_claims(m, st));
	put_team(b, s, number);
	json_end(l, b);
	buf_release(&name);
	buf_release(&rev);
}

void json_inbox(struct load *l, const struct scene *s, struct buf *out)
{
	uint32_t n, *list = model_inbox(s->model, s->k, scene_clock(s), s->all, &n, NULL);

	for (uint32_t i = 0; i < n; i++) {
		struct item_state st;

		if (item_is_shown(s, list[i], &st))
			put_item(l, s, list[i], &st, false, out);
	}
	free(list);
}

void json_item(struct load *l, const struct scene *s, uint32_t item, bool whole, struct buf *out)
{
	struct item_state st;

	if (item_at(s->model, &s->model->items.v[item], s->k, scene_clock(s), &st))
		put_item(l, s, item, &st, whole, out);
}

/* Linked lists of reviews by task. */
struct review_lists {
	uint32_t *first; /* of task i; of index tasks.n: feedback loops and unassigned tasks */
	uint32_t *next;
};

static struct review_lists list_reviews(const struct scene *s)
{
	const struct model *m = s->model;
	struct review_lists lists = { xmalloc((m->tasks.n + 1) * sizeof(uint32_t)),
				      xmalloc((m->reviews.n + 1) * sizeof(uint32_t)) };

	for (uint32_t i = 0; i <= m->tasks.n; i++)
		lists.first[i] = NONE;
	for (uint32_t i = m->reviews.n; i-- > 0;) {
		uint32_t task = m->reviews.v[i].task;
		struct task_state_at at;

		if (task == NONE || !task_at(m, &m->tasks.v[task], s->k, &at))
			task = m->tasks.n;
		lists.next[i] = lists.first[task];
		lists.first[task] = i;
	}
	return lists;
}

static void put_review(struct load *l, const struct scene *s, uint32_t review,
		       const struct review_state *st, struct buf *b)
{
	const struct model *m = s->model;
	const struct review *r = &m->reviews.v[review];

	buf_addc(b, '{');
	/* a feedback loop is named after its session, that after the file */
	if (l->json.hide_names && r->id == m->sessions.v[r->session].group)
		json_put_name(b, "id", NULL);
	else
		json_put_str(b, "id", model_str(m, r->id));
	json_put_str(b, "reviewer", agent_name(m, r->reviewer));
	json_put_number(b, "iteration", st->iteration);
	json_put_name(b, "verdict", st->failed ? "error" : review_verdict_name(st->verdict));
	json_put_number(b, "findings", st->findings);
	put_message(b, "first", m, st->first);
	put_message(b, "last", m, st->last);
	buf_addc(b, '}');
}

static void put_reviews(struct load *l, const struct scene *s, const struct review_lists *lists,
			uint32_t task, struct buf *b)
{
	json_open(b, "reviews", '[');
	for (uint32_t i = lists->first[task]; i != NONE; i = lists->next[i]) {
		struct review_state st;

		if (!review_at(s->model, &s->model->reviews.v[i], s->k, &st))
			continue;
		json_comma(b);
		put_review(l, s, i, &st, b);
	}
	buf_addc(b, ']');
}

/* Feedback loops and reviews of unassigned tasks have lanes of their own. */
static void put_lone_reviews(struct load *l, const struct scene *s,
			     const struct review_lists *lists, struct buf *b)
{
	const struct model *m = s->model;

	for (uint32_t i = lists->first[m->tasks.n]; i != NONE; i = lists->next[i]) {
		const struct review *r = &m->reviews.v[i];
		struct review_state st;

		if (s->filter || !review_at(m, r, s->k, &st))
			continue;
		buf_addc(b, '{');
		json_put_str(b, "task", task_id(m, r->task));
		json_session(l, b, r->session);
		json_put_name(b, "dialect",
			      dialect_name((enum dialect_id)message_route(m, st.first)->dialect));
		json_open(b, "reviews", '[');
		put_review(l, s, i, &st, b);
		buf_addc(b, ']');
		json_end(l, b);
	}
}

static void put_spans(const struct scene *s, const struct task *task, struct buf *b)
{
	const struct model *m = s->model;

	json_open(b, "spans", '[');
	for (uint32_t i = 0; i < task->steps.n && task->steps.v[i].message < s->k; i++) {
		const struct task_step *step = &task->steps.v[i];

		buf_adds(b, i ? ",{" : "{");
		json_put_name(b, "state", task_state_name(step->state));
		put_message(b, "at", m, step->message);
		if (step->percent != 255)
			json_put_number(b, "percent", step->percent);
		buf_addc(b, '}');
	}
	buf_addc(b, ']');
}

void json_timeline(struct load *l, const struct scene *s, struct buf *out)
{
	const struct model *m = s->model;
	struct review_lists lists = list_reviews(s);

	for (uint32_t i = 0; i < m->tasks.n; i++) {
		const struct task *task = &m->tasks.v[i];
		struct task_state_at st;
		uint32_t root, needs;

		if (!task_at(m, task, s->k, &st) || !filter_task(s->filter, m, i, s->k))
			continue;
		buf_addc(out, '{');
		json_put_str(out, "task", model_str(m, task->id));
		json_session(l, out, task->session);
		json_put_name(out, "dialect",
			 dialect_name((enum dialect_id)message_route(m, st.first)->dialect));
		json_put_str(out, "agent", agent_name(m, st.agent));
		json_put_name(out, "state", task_state_name(st.state));
		json_put_int_if(out, "percent", st.percent >= 0, st.percent);
		json_put_number(out, "attempts", st.attempts);
		root = root_at(m, i, s->k);
		json_put_str(out, "continues", root == i ? STR_NONE : task_id(m, root));
		put_message(out, "first", m, st.first);
		put_message(out, "last", m, st.last);
		json_put_bool(out, "stalled", task_is_stalled(m, &st, s->now_ms));
		json_open(out, "needs", '[');
		needs = task_needs(task, s->k);
		for (uint32_t n = 0; n < needs; n++) {
			json_comma(out);
			json_write_str(out, model_str(m, task->terms->needs.v[n].task_id));
		}
		buf_addc(out, ']');
		put_spans(s, task, out);
		put_reviews(l, s, &lists, i, out);
		json_end(l, out);
	}
	put_lone_reviews(l, s, &lists, out);
	free(lists.first);
	free(lists.next);
}

void json_ledger(struct load *l, const struct scene *s, struct buf *out)
{
	const struct model *m = s->model;

	for (uint32_t i = 0; i < m->items.n; i++) {
		const struct item *item = &m->items.v[i];
		struct item_state st;
		struct buf name = { 0 };

		if (item->kind != ITEM_IMPROVEMENT && item->kind != ITEM_FINDING &&
		    item->kind != ITEM_CHANGE)
			continue;
		if (!item_is_shown(s, i, &st))
			continue;
		put_item_name(l, m, item, &name);
		buf_addc(out, '{');
		json_put_str(out, "id", buf_str(&name));
		json_put_name(out, "kind", item_kind_name(item->kind));
		json_session(l, out, item_session(m, item));
		json_put_str(out, "task", item_task(m, item) == NONE
					     ? STR_NONE
					     : task_id(m, root_at(m, item_task(m, item), s->k)));
		json_put_name(out, "severity", grade_name(st.grade));
		json_put_name(out, "verdict", verdict_name(st.verdict));
		put_by(l, out, m, &st);
		json_put_name(out, "delivery", delivery_name(st.delivery));
		json_put_int_if(out, "fixed_in", st.fixed_in, st.fixed_in);
		put_history(l, out, item, s->k);
		json_end(l, out);
		buf_release(&name);
	}
}

void json_messages(struct load *l, const struct scene *s, struct buf *out)
{
	const struct model *m = s->model;

	for (uint32_t i = s->first; i < s->k; i++) {
		const struct record *r = &m->records.v[i];
		const struct route *route = route_of(m, r);
		struct message_number at;

		if (!message_is_shown(s, i))
			continue;
		buf_addc(out, '{');
		at = message_number(m, i);
		json_put_number(out, "number", at.n);
		json_put_number(out, "line", message_line(m, i));
		json_source(l, out, i);
		json_put_time(out, "time", r->time_ms);
		json_put_name(out, "dialect", dialect_name((enum dialect_id)route->dialect));
		json_put_str(out, "kind", model_kind(m, r));
		json_session(l, out, route->session);
		json_put_str(out, "from", agent_name(m, route->from));
		json_put_str(out, "to", agent_name(m, route->to));
		json_put_number(out, "errors", r->errors);
		json_put_number(out, "warnings", r->warnings);
		json_put_number(out, "notes", r->notes);
		json_put_number(out, "bytes", r->length);
		json_put_str(out, "summary", s->reader->summary(s->reader->ctx, i));
		json_put_name(out, "direction", at.r ? "out" : "in");
		if (at.r)
			json_put_number(out, "reply", at.r);
		json_trust(l, out, message_trust(m, i), message_claims(m, i));
		json_put_bool(out, "not_its_role", route->flags & RECORD_NOT_ITS_ROLE);
		json_end(l, out);
	}
}

void json_agents(struct load *l, const struct scene *s, struct buf *out)
{
	const struct model *m = s->model;
	struct agent_stats *stats = model_agent_stats(m, s->k, s->now_ms, NULL);

	for (uint32_t i = 0; i < m->agents.n; i++) {
		const struct agent *a = &m->agents.v[i];
		const struct agent_stats *st = &stats[i];

		if (a->first >= s->k || !filter_agent(s->filter, m, i, s->k))
			continue;
		buf_addc(out, '{');
		json_put_str(out, "agent", model_str(m, a->name));
		json_put_str(out, "type", model_str(m, a->type));
		json_session(l, out, a->session);
		json_put_str(out, "state", model_str(m, st->state));
		json_put_str(out, "task", task_id(m, st->task));
		json_put_number(out, "messages", st->messages);
		json_put_time(out, "last_seen", st->last_seen_ms);
		json_put_number(out, "errors", st->errors);
		json_put_number(out, "warnings", st->warnings);
		/* the hash of a session without tool calls stays what it was */
		if (!l->json.hide_names || st->asked || st->unasked) {
			json_put_number(out, "asked", st->asked);
			json_put_number(out, "unasked", st->unasked);
		}
		json_usage(out, st->tokens_in, st->tokens_out, st->tokens_cached, st->cost);
		json_put_name(out, "health",
			      agent_health_word(st, life_of_agent(s, i, st->messages > 0)));
		json_key(out, "rate");
		buf_printf(out, "%.3f", st->minute / (RATE_SPAN_MS / 1000.0));
		json_trust(l, out, agent_trust(m, i, s->k),
			   agent_claims_human(m, i, s->k) ? STR("human") : STR_NONE);
		json_end(l, out);
	}
	free(stats);
}
