/* The page of a session: protocols, time and use, its agents, loops, tasks, items and messages. */
#include "view/page.h"

struct session_tally {
	uint64_t dialect[DIALECT_MAX];
	uint64_t messages, errors;
	uint64_t tokens_in, tokens_out;
	double cost;
	uint32_t last; /* message */
	int64_t from_ms, to_ms;
};

static void tally_messages(const struct scene *s, struct session_tally *t)
{
	const struct model *m = s->model;

	for (uint32_t i = m->sessions.v[s->page.number].first; i < s->k && yield_on(s->yield);
	     i++) {
		const struct record *r = &m->records.v[i];
		const struct route *route = route_of(m, r);

		if (route->session != s->page.number)
			continue;
		t->messages++;
		t->errors += r->errors > 0;
		t->dialect[route->dialect]++;
		t->last = i;
		if (r->time_ms == TIME_NONE)
			continue;
		t->from_ms = t->from_ms == TIME_NONE ? r->time_ms : t->from_ms;
		t->to_ms = r->time_ms;
	}
}

static void tally_usage(const struct scene *s, struct session_tally *t)
{
	const struct model *m = s->model;

	for (uint32_t i = 0; i < m->usage.n && m->usage.v[i].message < s->k && yield_on(s->yield);
	     i++) {
		const struct usage *u = &m->usage.v[i];

		if (message_route(m, u->message)->session != s->page.number)
			continue;
		t->tokens_in += u->tokens_in;
		t->tokens_out += u->tokens_out;
		t->cost += u->cost;
	}
}

/* "collaboration 120, feedback 14" */
static void add_protocols(struct page *p, const struct session_tally *t)
{
	struct buf text = { 0 };

	for (unsigned i = 0; i < DIALECT_LISTED; i++)
		if (t->dialect[i])
			buf_printf(&text, "%s%s %llu", text.n ? ", " : "", dialect_name(i),
				   (unsigned long long)t->dialect[i]);
	if (text.n)
		page_fact(p, "protocols", ROLE_NORMAL, "%s", text.p);
	buf_release(&text);
}

static void add_facts(struct page *p, const struct session_tally *t)
{
	const struct scene *s = p->s;
	char from[32], to[32], span[32], in[16], out[16];

	prose_add(&p->prose, "source", 11, ROLE_NORMAL,
		  s->reader->source(s->reader->ctx, s->model->sessions.v[s->page.number].first),
		  TEXT_ID);
	add_protocols(p, t);
	if (t->errors)
		page_fact(p, "invalid", ROLE_ERROR, "%llu of %llu messages",
			  (unsigned long long)t->errors, (unsigned long long)t->messages);
	if (t->from_ms != TIME_NONE)
		page_fact(p, "time", ROLE_NORMAL, "%s to %s, %s", timestamp_clock(t->from_ms, from),
			  timestamp_clock(t->to_ms, to),
			  short_span(time_between(t->to_ms, t->from_ms), span));
	if (t->tokens_in || t->tokens_out)
		page_fact(p, "tokens", ROLE_NORMAL, "%s in, %s out", short_number(t->tokens_in, in),
			  short_number(t->tokens_out, out));
	if (t->cost > 0)
		page_fact(p, "cost", ROLE_NORMAL, "$%.3f", t->cost);
}

static void session_make(const struct scene *s, int cols, struct lines *out)
{
	struct session_tally t = { .from_ms = TIME_NONE, .to_ms = TIME_NONE, .last = NONE };
	struct page *p;

	if (s->page.number >= s->model->sessions.n ||
	    s->model->sessions.v[s->page.number].first >= s->k)
		return;
	p = page_start(s, cols, out);
	tally_messages(s, &t);
	tally_usage(s, &t);
	page_name(p);
	add_facts(p, &t);
	page_last(p, t.last);
	page_add_agents(p);
	page_add_loops(p);
	page_add_tasks(p);
	page_add_items(p);
	page_add_messages(p);
	page_end(p);
}

const struct view_ops view_session = {
	.name = "session",
	.make = session_make,
	.draw = page_draw,
	.target = page_target,
	.empty = "This session has not begun yet.",
};
