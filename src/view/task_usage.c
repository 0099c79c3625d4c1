/* Attributes usage to tasks: one sweep over the steps of tasks and the reports of usage, both in the
 * order of messages, keeps the current task of each agent that reports usage. */
#include "view/task_usage.h"

#include "view/view_parts.h"

#include <stdlib.h>

/* An agent begins or ends to work on a task. */
struct change {
	uint32_t message, agent, task;
	bool works;
};

struct changes {
	struct change *v;
	uint32_t n, cap;
};

static int by_message(const void *left, const void *right)
{
	const struct change *a = left, *b = right;

	if (a->message != b->message)
		return a->message < b->message ? -1 : 1;
	/* who hands one task in and takes another in one message works on the other */
	return a->works - b->works;
}

/* Only steps of agents that report usage, in their sessions: there are few of them, and may be many
 * tasks, whose steps are all over the memory. */
static void add_changes(const struct scene *s, const bool *reports, const bool *in_session,
			struct changes *out)
{
	const struct model *m = s->model;

	for (uint32_t t = 0; t < m->tasks.n; t++) {
		uint32_t before = NONE;

		if (!in_session[m->tasks.v[t].session])
			continue;
		for (uint32_t i = 0; i < m->tasks.v[t].steps.n; i++) {
			const struct task_step *step = &m->tasks.v[t].steps.v[i];
			uint32_t now = step->agent != NONE && reports[step->agent] &&
						       task_state_is_work(step->state)
					       ? step->agent
					       : NONE;

			if (step->message >= s->k)
				break;
			if (now == before)
				continue;
			if (before != NONE)
				vec_push(out, ((struct change){ step->message, before, t, false }));
			if (now != NONE)
				vec_push(out, ((struct change){ step->message, now, t, true }));
			before = now;
		}
	}
	if (out->n)
		qsort(out->v, out->n, sizeof(*out->v), by_message);
}

static int by_cost(const void *left, const void *right)
{
	const struct task_usage *a = left, *b = right;
	uint64_t tokens = a->tokens_in + a->tokens_out, others = b->tokens_in + b->tokens_out;

	if (a->cost > b->cost || a->cost < b->cost)
		return a->cost > b->cost ? -1 : 1;
	if (tokens != others)
		return tokens > others ? -1 : 1;
	if (a->task != b->task)
		return a->task < b->task ? -1 : 1;
	return a->session < b->session ? -1 : 1;
}

/* Sums, and where they are: by task, then by session. */
struct sums {
	struct task_usage *v;
	uint32_t n, cap;
	uint32_t *place; /* plus one; 0 = none yet */
};

static void add_usage(struct sums *sums, const struct model *m, const struct usage *u, uint32_t task)
{
	uint32_t session = task != NONE	     ? m->tasks.v[task].session
			   : u->agent != NONE ? m->agents.v[u->agent].session
					      : message_route(m, u->message)->session;
	uint32_t *place = &sums->place[task != NONE ? task : m->tasks.n + session];
	struct task_usage *sum;

	if (!*place) {
		vec_push(sums, ((struct task_usage){ .task = task, .session = session }));
		*place = sums->n;
	}
	sum = &sums->v[*place - 1];
	sum->tokens_in += u->tokens_in;
	sum->tokens_out += u->tokens_out;
	sum->tokens_cached += u->tokens_cached;
	sum->cost += u->cost;
}

struct task_usage *task_usage_list(const struct scene *s, uint32_t *n)
{
	const struct model *m = s->model;
	bool *reports = xcalloc(m->agents.n + 1u, sizeof(*reports));
	bool *in_session = xcalloc(m->sessions.n + 1u, sizeof(*in_session));
	uint32_t *current = xmalloc((m->agents.n + 1u) * sizeof(*current)), next = 0;
	struct changes changes = { 0 };
	struct sums sums = { .place = xcalloc(m->tasks.n + m->sessions.n + 1u, sizeof(*sums.place)) };

	for (uint32_t i = 0; i < m->usage.n; i++)
		if (m->usage.v[i].agent != NONE) {
			reports[m->usage.v[i].agent] = true;
			in_session[m->agents.v[m->usage.v[i].agent].session] = true;
		}
	for (uint32_t i = 0; i < m->agents.n; i++)
		current[i] = NONE;
	if (m->usage.n)
		add_changes(s, reports, in_session, &changes);
	for (uint32_t i = 0; i < m->usage.n && m->usage.v[i].message < s->k; i++) {
		const struct usage *u = &m->usage.v[i];
		uint32_t task;

		for (; next < changes.n && changes.v[next].message <= u->message; next++) {
			const struct change *c = &changes.v[next];

			if (c->works)
				current[c->agent] = c->task;
			else if (current[c->agent] == c->task)
				current[c->agent] = NONE;
		}
		if (s->filter && !message_is_shown(s, u->message))
			continue;
		task = u->agent == NONE ? NONE : current[u->agent];
		add_usage(&sums, m, u, task == NONE ? NONE : m->tasks.v[task].root);
	}
	if (sums.n)
		qsort(sums.v, sums.n, sizeof(*sums.v), by_cost);
	vec_release(&changes);
	free(reports);
	free(in_session);
	free(current);
	free(sums.place);
	*n = sums.n;
	return sums.v;
}
