/* Tasks and reviews: lookup by name, adding steps, folding the steps to a state as of k. */
#include "model/rules.h"

static bool is_task(const struct model *m, uint32_t task, uint32_t session, uint32_t id)
{
	return task < m->tasks.n && m->tasks.v[task].id == id &&
	       m->tasks.v[task].session == session;
}

uint32_t task_named(const struct model *m, uint32_t session, uint32_t id)
{
	const struct interned *name;
	uint64_t h = hash_mix(session, id);

	if (id == NONE)
		return NONE;
	name = &m->strings.v[id];
	if (is_task(m, name->last, session, id))
		return name->last;
	for (uint32_t it = 0, v; name->shared && map_next(&m->task_map, h, &it, &v);)
		if (is_task(m, v, session, id))
			return v;
	return NONE;
}

uint32_t task_get(struct apply_ctx *a, uint32_t name)
{
	struct model *m = a->m;
	uint32_t found;

	if (name == NONE)
		return NONE;
	found = task_named(m, a->session, name);
	if (found == NONE) {
		found = m->tasks.n;
		heap_push(m->heap, &m->tasks, (struct task){ .id = name, .session = a->session,
							     .root = found, .confidence = -1 });
		name_index_add(m, name, NAMED_TASK, found);
	}
	m->strings.v[name].last = found;
	return found;
}

struct task_terms *task_terms(struct model *m, uint32_t task)
{
	struct task *t = &m->tasks.v[task];

	if (!t->terms) {
		t->terms = heap_zalloc(m->heap, sizeof(*t->terms));
		t->terms->assigned_ms = t->terms->reported_ms = TIME_NONE;
	}
	return t->terms;
}

void apply_task_depends(struct apply_ctx *a, const struct event *e)
{
	uint32_t task = task_get(a, id_intern(a, e)), needed = model_intern(a->m, e->other);

	if (task != NONE)
		heap_push(a->m->heap, &task_terms(a->m, task)->needs,
			  (struct task_need){ a->message, needed, e->severe });
}

uint32_t task_needs(const struct task *task, uint32_t k)
{
	uint32_t n = 0;

	while (task->terms && n < task->terms->needs.n && task->terms->needs.v[n].message < k)
		n++;
	return n;
}

void task_step(struct apply_ctx *a, uint32_t task, enum task_state state, double progress,
	       bool assigned)
{
	uint32_t agent = assigned ? a->to : a->from;
	struct task *t;

	if (task == NONE)
		return;
	t = &a->m->tasks.v[task];
	/* the assignee keeps the task; without one, the agent that reports on it */
	if (!assigned && t->steps.n && vec_last(&t->steps)->agent != NONE)
		agent = vec_last(&t->steps)->agent;
	else if (!assigned && str_is(a->msg->from.type, "orchestrator"))
		agent = NONE;
	/* work on a task acknowledges that it was given out */
	if (!assigned && a->m->replies.n && t->given_by != NONE &&
	    dialect_rules[a->msg->dialect]->replied_to)
		reply_acknowledge(a, t->given_by);
	if (assigned)
		t->given_by = a->reply ? a->message : NONE;
	heap_push(a->m->heap, &t->steps, (struct task_step){
				    .message = a->message, .agent = agent, .state = state,
				    .percent = progress < 0 ? 255 : (uint8_t)(progress * 100 + 0.5),
				    .assigned = assigned });
}

static bool is_review(const struct model *m, uint32_t review, uint32_t session, uint32_t id)
{
	return review < m->reviews.n && m->reviews.v[review].id == id &&
	       m->reviews.v[review].session == session;
}

static uint32_t review_lookup(const struct model *m, uint32_t session, uint32_t id)
{
	const struct interned *name = &m->strings.v[id];
	uint64_t h = hash_mix(session, id);

	if (is_review(m, name->last, session, id))
		return name->last;
	for (uint32_t it = 0, v; name->shared && map_next(&m->review_map, h, &it, &v);)
		if (is_review(m, v, session, id))
			return v;
	return NONE;
}

uint32_t review_get(struct apply_ctx *a, uint32_t name, uint32_t task)
{
	struct model *m = a->m;
	uint32_t found;

	if (name == NONE)
		return NONE;
	found = review_lookup(m, a->session, name);
	if (found == NONE) {
		found = m->reviews.n;
		heap_push(m->heap, &m->reviews, (struct review){ .id = name, .session = a->session,
								 .task = task, .reviewer = NONE });
		name_index_add(m, name, NAMED_REVIEW, found);
	}
	m->strings.v[name].last = found;
	return found;
}

void review_step(struct apply_ctx *a, uint32_t review, uint32_t iteration, enum review_verdict v,
		 uint32_t findings, bool failed)
{
	heap_push(a->m->heap, &a->m->reviews.v[review].steps,
		 (struct review_step){ .message = a->message, .iteration = iteration,
				       .verdict = v, .failed = failed,
				       .findings = findings });
	heap_push(a->m->heap, &a->m->review_messages,
		  (struct review_message){ a->message, review });
	a->m->review_answers += v != REVIEW_NONE;
}

bool task_state_is_final(enum task_state s)
{
	return s == TASK_COMPLETED || s == TASK_PARTIAL || s == TASK_FAILED || s == TASK_CANCELLED;
}

bool task_state_is_work(enum task_state s)
{
	return s == TASK_ASSIGNED || s == TASK_RUNNING || s == TASK_RETRYING;
}

bool task_at(const struct model *m, const struct task *task, uint32_t k, struct task_state_at *out)
{
	(void)m;
	if (task->steps.n == 0 || task->steps.v[0].message >= k)
		return false;
	*out = (struct task_state_at){ .percent = -1, .agent = NONE, .given = NONE,
				       .first = task->steps.v[0].message };
	for (uint32_t i = 0; i < task->steps.n && task->steps.v[i].message < k; i++) {
		const struct task_step *s = &task->steps.v[i];

		out->state = s->state;
		out->agent = s->agent;
		out->last = s->message;
		if (s->assigned) {
			out->given = s->message;
			out->attempts++;
			out->percent = -1;
		}
		if (s->percent != 255)
			out->percent = s->percent;
	}
	return true;
}

bool task_is_stalled(const struct model *m, const struct task_state_at *t, int64_t now_ms)
{
	int64_t last;

	if ((t->state != TASK_RUNNING && t->state != TASK_ASSIGNED) || t->percent == 100 ||
	    now_ms == TIME_NONE)
		return false;
	last = model_time(m, t->last);
	return last != TIME_NONE && now_ms - last > STALL_MS;
}

bool review_at(const struct model *m, const struct review *r, uint32_t k, struct review_state *out)
{
	(void)m;
	if (r->steps.n == 0 || r->steps.v[0].message >= k)
		return false;
	*out = (struct review_state){ .first = r->steps.v[0].message };
	for (uint32_t i = 0; i < r->steps.n && r->steps.v[i].message < k; i++) {
		const struct review_step *s = &r->steps.v[i];

		out->verdict = s->verdict;
		out->iteration = s->iteration;
		out->findings = s->findings;
		out->failed = s->failed;
		out->last = s->message;
	}
	return true;
}
