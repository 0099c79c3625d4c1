/* Cross-message rules of the orchestrator protocol: each request gets one response before its
 * deadline (priority queue of timeouts), which answers what was asked; agents ask only for their
 * own tasks, and not too often. */
#include "model/rules.h"

#define RULE(id) "orchestrator/" id

enum { RATE_MAX = 100, RATE_WINDOW_MS = 1000 };

static struct requests *requests_of(struct apply_ctx *a)
{
	return &extra_of(a)->requests;
}

/* The newest of that id. */
static struct pending_request *find_request(struct requests *r, uint64_t h)
{
	struct pending_request *found = NULL;

	for (uint32_t it = 0, v; map_next(&r->map, h, &it, &v);)
		if (r->list.v[v].hash == h && (!found || &r->list.v[v] > found))
			found = &r->list.v[v];
	return found;
}

static uint64_t task_hash(const struct apply_ctx *a, const struct event *e)
{
	return hash_known(e->task, message_key(a->msg, e->task_key)->hash);
}

static int64_t due_at(const struct requests *r, uint32_t place)
{
	return r->list.v[r->due.v[place]].deadline_ms;
}

static void swap_due(struct requests *r, uint32_t i, uint32_t k)
{
	uint32_t request = r->due.v[i];

	r->due.v[i] = r->due.v[k];
	r->due.v[k] = request;
}

static void push_due(struct heap *h, struct requests *r, uint32_t request)
{
	heap_push(h, &r->due, request);
	for (uint32_t i = r->due.n - 1; i && due_at(r, i) < due_at(r, (i - 1) / 2); i = (i - 1) / 2)
		swap_due(r, i, (i - 1) / 2);
}

static uint32_t pop_due(struct requests *r)
{
	uint32_t first = r->due.v[0], i = 0;

	r->due.v[0] = r->due.v[--r->due.n];
	for (;;) {
		uint32_t least = i;

		for (uint32_t k = 2 * i + 1; k <= 2 * i + 2 && k < r->due.n; k++)
			if (due_at(r, k) < due_at(r, least))
				least = k;
		if (least == i)
			return first;
		swap_due(r, i, least);
		i = least;
	}
}

static void add_request(struct apply_ctx *a, const struct event *e)
{
	struct requests *r = requests_of(a);
	uint64_t h = id_hash(a, e);
	bool is_event = e->type == EV_ITEM;
	struct pending_request q = { .hash = h, .message = a->message, .from = a->from,
				     .deadline_ms = e->deadline_ms, .is_event = is_event,
				     .replies = e->replies };

	struct pending_request *older = find_request(r, h);

	if (!e->id.n || (older && older->message == a->message))
		return;
	if (older) /* other words under its id: these wait for a response now */
		older->answered = true;
	if (!is_event && e->options_n) {
		size_t n = e->options_n * sizeof(*q.options);

		q.options = memcpy(heap_alloc(a->m->heap, n), e->options, n);
		q.options_n = e->options_n;
	} else if (!is_event && e->task.n) {
		q.task_hash = task_hash(a, e);
	}
	map_put(a->m->heap, &r->map, h, r->list.n);
	heap_push(a->m->heap, &r->list, q);
	if (q.deadline_ms != TIME_NONE)
		push_due(a->m->heap, r, r->list.n - 1);
}

static uint64_t submission_hash(uint32_t task, uint32_t agent)
{
	return hash_mix(task, agent);
}

static bool has_submitted(const struct requests *r, uint32_t agent, uint32_t task)
{
	uint64_t h = submission_hash(task, agent);

	for (uint32_t it = 0, v; map_next(&r->submitted_map, h, &it, &v);)
		if (r->submitted.v[v].task == task && r->submitted.v[v].agent == agent)
			return true;
	return false;
}

/* "Agents can only query their own tasks": those that they submitted or work on. Says nothing where
 * the log does not name the agents, or knows the task's agent from another protocol. */
static void check_own_task(struct apply_ctx *a, const struct event *e)
{
	uint32_t name = name_known(a->m, e->task, message_key(a->msg, e->task_key)), agent;
	uint32_t task = task_named(a->m, a->session, name);
	const struct task_step *last;
	char q[QUOTED_MAX], owner[QUOTED_MAX];

	if (task == NONE || !a->m->tasks.v[task].steps.n)
		return;
	last = vec_last(&a->m->tasks.v[task].steps);
	agent = last->agent;
	if (message_route(a->m, last->message)->dialect != a->msg->dialect || agent == NONE ||
	    a->from == NONE || agent == a->from)
		return;
	if (str_is(agent_name(a->m, agent), "agent") || str_is(a->msg->from.id, "agent") ||
	    has_submitted(requests_of(a), a->from, name))
		return; /* "agent": there is no agentId */
	report(a, SEVERITY_WARNING, RULE("security-authorization"), "/payload/taskId", 0,
	       "%s is a task of %s; agents can only query their own", quoted(e->task, q),
	       quoted(agent_name(a->m, agent), owner));
}

/* Whether a response answers what was asked; a second one, too. */
static void check_reply(struct apply_ctx *a, const struct event *e, const struct pending_request *q)
{
	static const char *const names[] = { [REPLY_AGENTS] = "agents", [REPLY_TASKS] = "tasks",
					     [REPLY_TASK] = "task", [REPLY_ANSWER] = "answer" };
	uint32_t line = message_line(a->m, q->message);
	bool offered = !q->options_n;

	if (!(e->replies & q->replies)) {
		report(a, SEVERITY_WARNING, RULE("request-response"), "/payload", 0,
		       "has no \"%s\", which the request of line %u asks for", names[q->replies],
		       line);
		return;
	}
	if (q->replies == REPLY_TASK && q->task_hash && e->task.n &&
	    q->task_hash != task_hash(a, e))
		report(a, SEVERITY_WARNING, RULE("request-response"), "/payload/task/id", 0,
		       "not the task that the request of line %u asks for", line);
	for (uint32_t i = 0; !offered && i < q->options_n; i++)
		offered = q->options[i] == e->content_hash;
	if (!offered && e->content_hash) /* no text forbids it, and a person may type an answer */
		report(a, SEVERITY_NOTE, RULE("request-response"), "/payload/answer", 0,
		       "none of the options in line %u", line);
}

/* Notes whose task a response to request:submit-task names. */
static void note_submitted(struct apply_ctx *a, const struct event *e,
			   const struct pending_request *q)
{
	struct requests *r = requests_of(a);
	uint32_t task = task_name_intern(a, e);

	if (q->replies != REPLY_TASK || q->task_hash || task == NONE || q->from == NONE ||
	    has_submitted(r, q->from, task))
		return;
	map_put(a->m->heap, &r->submitted_map, submission_hash(task, q->from), r->submitted.n);
	heap_push(a->m->heap, &r->submitted, (struct submitted_task){ task, q->from });
}

static void apply_response(struct apply_ctx *a, const struct event *e)
{
	struct requests *r = requests_of(a);
	struct pending_request *q = e->id.n ? find_request(r, id_hash(a, e)) : NULL;
	uint32_t item = item_named(a->m, a->session, ITEM_QUESTION, id_known(a, e), NONE);
	enum verdict yes = VERDICT_ANSWERED;
	char text[QUOTED_MAX];

	if (!e->id.n || is_ambiguous(a))
		return;
	if (item == NONE) {
		item = item_named(a->m, a->session, ITEM_TASK, id_known(a, e), NONE);
		yes = VERDICT_ACCEPTED;
	}
	if (!q) {
		report(a, r->list.n ? SEVERITY_ERROR : SEVERITY_WARNING,
		       RULE("correlation-correlationId"), e->at, 0, "no request %s was seen",
		       quoted(e->id, text));
		return;
	}
	if (q->is_event)
		report(a, SEVERITY_NOTE, RULE("event-pattern"), e->at, 0,
		       "answers the event of line %u%s; events expect no response",
		       message_line(a->m, q->message), reply_words(a->m, q->message));
	else if (q->answered)
		report(a, SEVERITY_ERROR, RULE("correlation-correlationId"), e->at, 0,
		       "a second response to the request of line %u%s",
		       message_line(a->m, q->message), reply_words(a->m, q->message));
	else if (q->deadline_ms != TIME_NONE && a->msg->time_ms != TIME_NONE &&
		 a->msg->time_ms > q->deadline_ms && !q->timeout_reported &&
		 !(e->failed && str_is(e->other, "TIMEOUT"))) /* is itself the timeout report */
		report(a, SEVERITY_WARNING, RULE("timeouts-response"), "/timestamp", 0,
		       "%.1f s after the request of line %u%s had timed out",
		       (double)(a->msg->time_ms - q->deadline_ms) / 1000,
		       message_line(a->m, q->message), reply_words(a->m, q->message));
	q->timeout_reported = true;
	if (!e->failed && q->replies) {
		check_reply(a, e, q);
		note_submitted(a, e, q);
	}
	if (item != NONE && a->m->items.v[item].open && !q->answered)
		item_step(a, item, STEP_DECIDED,
			  !e->failed				? yes
			  : str_is(e->other, "TIMEOUT")	? VERDICT_EXPIRED
							: VERDICT_REJECTED,
			  0);
	q->answered = true;
	heap_give(a->m->heap, q->options_n ? q->options : NULL, q->options_n * sizeof(*q->options));
	q->options_n = 0;
}

/* Reports passed deadlines on the first message after them. */
static void check_timeouts(struct apply_ctx *a)
{
	struct requests *r = requests_of(a);

	while (r->due.n && a->msg->time_ms != TIME_NONE && due_at(r, 0) < a->msg->time_ms) {
		struct pending_request *q = &r->list.v[pop_due(r)];

		if (!q->answered)
			report(a, SEVERITY_WARNING, RULE("timeouts-response"), "/timestamp", 0,
			       "the request of line %u%s has had no response in time",
			       message_line(a->m, q->message), reply_words(a->m, q->message));
		q->timeout_reported = true;
	}
}

static void check_rate(struct apply_ctx *a)
{
	struct agent *g;
	int64_t now = a->msg->time_ms, oldest;

	if (a->from == NONE || now == TIME_NONE || str_is(a->msg->from.type, "orchestrator"))
		return;
	g = &a->m->agents.v[a->from];
	if (!g->recent_ms)
		g->recent_ms = heap_zalloc(a->m->heap, RATE_MAX * sizeof(*g->recent_ms));
	oldest = g->recent_ms[g->recent_n % RATE_MAX];
	if (g->recent_n >= RATE_MAX && now - oldest < RATE_WINDOW_MS && now >= oldest) {
		if (!g->flooding)
			report(a, SEVERITY_WARNING, RULE("security-rate"), "/timestamp", 0,
			       "more than %d messages a second from one agent", RATE_MAX);
		g->flooding = true;
	} else {
		g->flooding = false;
	}
	g->recent_ms[g->recent_n++ % RATE_MAX] = now;
	if (g->recent_n >= 2 * RATE_MAX)
		g->recent_n -= RATE_MAX;
}

static void apply_agent(struct apply_ctx *a, const struct event *e)
{
	uint32_t agent = model_agent(a->m, a->session, &e->agent, &null_key, a->message);

	if (agent != NONE && e->other.n) {
		uint32_t state = model_intern(a->m, e->other);

		heap_push(a->m->heap, &a->m->agents.v[agent].states,
			  (struct agent_step){ a->message, state });
	}
}

/* Raises an item for a submitted task that needs a person's approval. */
static void raise_task(struct apply_ctx *a, const struct event *request)
{
	struct event e = *request;

	e.type = EV_ITEM;
	e.item = ITEM_TASK;
	e.other = STR_NONE;
	e.grade = GRADE_NONE;
	e.undecidable = !e.id.n;
	item_raise(a, &e, NONE, NONE, 0);
}

static void apply_orchestrator(struct apply_ctx *a)
{
	check_rate(a);
	for (uint32_t i = 0; i < a->msg->events.n; i++) {
		const struct event *e = &a->msg->events.v[i];

		switch (e->type) {
		case EV_REQUEST:
			add_request(a, e);
			if (e->task.n)
				check_own_task(a, e);
			if (a->m->runs_agents && str_is(e->other, "request:submit-task"))
				raise_task(a, e);
			break;
		case EV_RESPONSE:
			apply_response(a, e);
			break;
		case EV_AGENT:
			apply_agent(a, e);
			break;
		case EV_TASK_STATE:
			task_step(a, task_get(a, id_intern(a, e)), e->state, e->number,
				  e->state == TASK_ASSIGNED);
			break;
		case EV_TASK_DEPENDS:
			apply_task_depends(a, e);
			break;
		case EV_ITEM:
			item_raise(a, e, task_get(a, task_name_intern(a, e)), NONE, 0);
			if (e->item == ITEM_QUESTION && e->deadline_ms == TIME_NONE)
				add_request(a, e);
			break;
		default: /* events of other dialects */
			break;
		}
	}
	check_timeouts(a);
}

/* A response names its request; commands answer nothing. */
static void reply_keys(const struct message *msg, struct reply_keys *out)
{
	for (uint32_t i = 0; i < msg->events.n; i++)
		if (msg->events.v[i].type == EV_RESPONSE && msg->events.v[i].id.n)
			reply_key_add(out, reply_key(ANSWERS_MESSAGE, 0, msg->events.v[i].id), false,
				      true);
	out->answers_nothing = !out->list.n;
}

static void offer_keys(const struct model *m, uint32_t session, const struct message *msg,
		       struct reply_keys *out)
{
	(void)m;
	(void)session;
	if (msg->id.n)
		reply_key_add(out, reply_key(ANSWERS_MESSAGE, 0, msg->id), false, true);
}

const struct rules_ops rules_orchestrator = {
	.name = "orchestrator",
	.apply = apply_orchestrator,
	.reply_keys = reply_keys,
	.offer_keys = offer_keys,
	.id = { "/id", "orchestrator/correlation-id", "orchestrator/correlation-id" },
};
