/* The page of a task and its revisions: what it is about, how it stands, its history, reviews,
 * items and messages. */
#include "view/page.h"

enum { NEEDS_MAX = 64 };

static void add_state(struct page *p, const struct task_state_at *at)
{
	const struct scene *s = p->s;
	int64_t first = message_time(s->model, at->first), last = message_time(s->model, at->last);
	char from[32], to[32], span[32];

	if (at->percent >= 0)
		page_fact(p, "done", ROLE_NORMAL, "%d%%", at->percent);
	if (at->attempts > 1)
		page_fact(p, "given out", ROLE_NORMAL, "%u times", at->attempts);
	if (first != TIME_NONE && last != TIME_NONE)
		page_fact(p, "time", ROLE_NORMAL, "%s to %s, %s", timestamp_clock(first, from),
			  timestamp_clock(last, to), short_span(time_between(last, first), span));
}

static void add_needs(struct page *p, const struct task *t)
{
	uint32_t n = task_needs(t, p->s->k);
	char q[QUOTED_MAX];

	for (uint32_t i = 0; i < n && i < NEEDS_MAX; i++) {
		uint32_t id = t->terms->needs.v[i].task_id;
		uint32_t needed = task_named(p->s->model, t->session, id);

		if (needed != NONE && p->s->model->tasks.v[needed].steps.n &&
		    p->s->model->tasks.v[needed].steps.v[0].message < p->s->k)
			page_needs(p, needed, false);
		else
			page_fact(p, "needs", ROLE_WARN, "%s, not seen",
				  quoted(model_str(p->s->model, id), q));
	}
}

static bool needs_task(const struct task *t, uint32_t id, uint32_t k)
{
	for (uint32_t i = task_needs(t, k); i-- > 0;)
		if (t->terms->needs.v[i].task_id == id)
			return true;
	return false;
}

static void add_needed_by(struct page *p, const struct task *t)
{
	const struct model *m = p->s->model;
	uint32_t n = 0;

	for (uint32_t i = 0; i < m->tasks.n && n < NEEDS_MAX && yield_on(p->s->yield); i++)
		if (m->tasks.v[i].terms && m->tasks.v[i].session == t->session &&
		    needs_task(&m->tasks.v[i], t->id, p->s->k)) {
			page_needs(p, i, true);
			n++;
		}
}

static void task_make(const struct scene *s, int cols, struct lines *out)
{
	const struct task *t;
	struct task_state_at at;
	struct page *p;

	if (s->page.number >= s->model->tasks.n)
		return;
	t = &s->model->tasks.v[s->page.number];
	p = page_start(s, cols, out);
	page_name(p);
	if (task_at(s->model, t, s->k, &at)) {
		struct str title = task_title(s, &at);

		if (!title.n && at.given != NONE)
			title = s->reader->summary(s->reader->ctx, at.given);
		prose_add(&p->prose, NULL, 0, ROLE_KEY, title, TEXT_LINES);
		add_state(p, &at);
		page_link(p, TARGET_AGENT, at.agent);
	}
	page_link(p, TARGET_SESSION, t->session);
	add_needs(p, t);
	add_needed_by(p, t);
	page_add_tasks(p);
	page_add_reviews(p);
	page_add_history(p);
	page_add_items(p);
	page_add_messages(p);
	page_end(p);
}

const struct view_ops view_task = {
	.name = "task",
	.make = task_make,
	.draw = page_draw,
	.target = page_target,
	.empty = "This task is not known yet.",
};
