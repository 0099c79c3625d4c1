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

static uint32_t asker_of(const struct model *m, const struct pending_request *q)
{
	return message_route(m, q->message)->from;
}

/* The first request of that id, of any agent; NONE. */
static uint32_t first_request(const struct requests *r, uint64_t h)
{
	for (uint32_t it = 0, v; map_next(&r->map, h, &it, &v);)
		if (r->list.v[v].hash == h)
			return v;
	return NONE;
}

/* Agents may use the same ids: the request of that agent, or NONE. The first of an id is filed under
 * the id, the others with their agent. */
static uint32_t find_request(const struct model *m, const struct requests *r, uint64_t h,
			     uint32_t from)
{
	uint32_t first = first_request(r, h);

	if (first == NONE || asker_of(m, &r->list.v[first]) == from)
		return first;
	for (uint32_t it = 0, v; map_next(&r->map, hash_mix(h, from), &it, &v);)
		if (r->list.v[v].hash == h && asker_of(m, &r->list.v[v]) == from)
			return v;
	return NONE;
}

/* The request that a response answers: that of its addressee. If it names none, *several tells
 * whether more than one agent asked with this id. */
static struct pending_request *find_answered(struct apply_ctx *a, const struct event *e,
					     bool *several)
{
	struct requests *r = requests_of(a);
	uint32_t first = e->id.n ? first_request(r, id_hash(a, e)) : NONE, own = NONE;

	*several = false;
	if (first == NONE)
		return NULL;
	if (a->to != NONE)
		own = find_request(a->m, r, id_hash(a, e), a->to);
	*several = a->to == NONE && r->list.v[first].shared;
	return &r->list.v[own == NONE ? r->list.v[first].newest : own];
}

static uint64_t task_hash(const struct apply_ctx *a, const struct event *e)
{
	return hash_known(e->task, message_key(a->msg, e->task_key)->hash);
}

static uint32_t file_request(struct apply_ctx *a, struct requests *r,
			     const struct pending_request *q)
{
	uint32_t first = first_request(r, q->hash), number = r->list.n;

	heap_push(a->m->heap, &r->list, *q);
	map_put(a->m->heap, &r->map, first == NONE ? q->hash : hash_mix(q->hash, a->from), number);
	r->list.v[first == NONE ? number : first].newest = number;
	if (first != NONE)
		r->list.v[first].shared = true;
	return number;
}

static void forget_options(struct model *m, struct pending_request *q)
{
	heap_give(m->heap, q->options_n ? q->options : NULL, q->options_n * sizeof(*q->options));
	q->options_n = 0;
}

/* Other words under the id of an earlier request: these wait for a response now. */
static void ask_again(struct apply_ctx *a, struct requests *r, uint32_t number,
		      const struct pending_request *q)
{
	struct pending_request *own = &r->list.v[number];
	struct pending_request before = *own;

	forget_options(a->m, own);
	*own = *q;
	own->newest = before.newest;
	own->shared = before.shared;
	r->list.v[first_request(r, q->hash)].newest = number;
}

static void add_request(struct apply_ctx *a, const struct event *e)
{
	struct requests *r = requests_of(a);
	uint64_t h = id_hash(a, e);
	bool is_event = e->type == EV_ITEM;
	struct pending_request q = { .hash = h, .message = a->message,
				     .deadline_ms = e->deadline_ms, .is_event = is_event,
				     .replies = e->replies };
	uint32_t own = find_request(a->m, r, h, a->from);

	if (!e->id.n || (own != NONE && r->list.v[own].message == a->message))
		return;
	if (!is_event && e->options_n) {
		size_t n = e->options_n * sizeof(*q.options);

		q.options = memcpy(heap_alloc(a->m->heap, n), e->options, n);
		q.options_n = e->options_n;
	} else if (!is_event && e->task.n) {
		q.task_hash = task_hash(a, e);
	}
	if (own == NONE)
		own = file_request(a, r, &q);
	else
		ask_again(a, r, own, &q);
	if (q.deadline_ms != TIME_NONE)
		due_push(a->m->heap, &r->due, q.deadline_ms, own);
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
	uint32_t task = task_name_intern(a, e), from = asker_of(a->m, q);

	if (q->replies != REPLY_TASK || q->task_hash || task == NONE || from == NONE ||
	    has_submitted(r, from, task))
		return;
	map_put(a->m->heap, &r->submitted_map, submission_hash(task, from), r->submitted.n);
	heap_push(a->m->heap, &r->submitted, (struct submitted_task){ task, from });
}

/* What expired is not answered any more; except that a person's message, which has the time of the
 * recording that it was written for, does not make the next one late. */
static bool can_be_answered(const struct apply_ctx *a, const struct item *item)
{
	const struct item_step *last = &item->steps[item->n - 1];

	return item->open || (a->reply && last->what == STEP_EXPIRED && last->said);
}

/* The open item of a request, with what a success says of it; NONE. */
static uint32_t item_of_request(const struct apply_ctx *a, const struct event *e,
				const struct pending_request *q, enum verdict *yes)
{
	uint32_t id = id_known(a, e), asker = asker_of(a->m, q);
	uint32_t item = item_raised_by(a->m, a->session, ITEM_QUESTION, id, NONE, asker);

	*yes = VERDICT_ANSWERED;
	if (item == NONE) {
		item = item_raised_by(a->m, a->session, ITEM_TASK, id, NONE, asker);
		*yes = VERDICT_ACCEPTED;
	}
	return item != NONE && can_be_answered(a, &a->m->items.v[item]) ? item : NONE;
}

/* When and to whom a response comes. false: it goes to another agent than the one that asked. */
static bool check_response(struct apply_ctx *a, const struct event *e,
			   const struct pending_request *q)
{
	uint32_t line = message_line(a->m, q->message), asker = asker_of(a->m, q);
	const char *where = reply_words(a->m, q->message);
	char name[QUOTED_MAX];

	if (a->to != NONE && asker != NONE && a->to != asker) {
		trust_deny(a);
		report(a, SEVERITY_ERROR, RULE("correlation-agentId"), "/agentId", 0,
		       "the request of line %u%s is from %s; this answers nothing", line, where,
		       quoted(agent_name(a->m, asker), name));
		return false;
	}
	if (q->is_event)
		report(a, SEVERITY_NOTE, RULE("event-pattern"), e->at, 0,
		       "answers the event of line %u%s; events expect no response", line, where);
	else if (q->answered)
		report(a, SEVERITY_ERROR, RULE("correlation-correlationId"), e->at, 0,
		       "a second response to the request of line %u%s", line, where);
	else if (q->deadline_ms != TIME_NONE && a->msg->time_ms != TIME_NONE &&
		 a->msg->time_ms > q->deadline_ms && !q->timeout_reported &&
		 !(e->failed && str_is(e->other, "TIMEOUT"))) /* is itself the timeout report */
		report(a, SEVERITY_WARNING, RULE("timeouts-response"), "/timestamp", 0,
		       "%.1f s after the request of line %u%s had timed out",
		       (double)(a->msg->time_ms - q->deadline_ms) / 1000, line, where);
	return true;
}

static void apply_response(struct apply_ctx *a, const struct event *e)
{
	struct requests *r = requests_of(a);
	bool several;
	struct pending_request *q = find_answered(a, e, &several);
	char text[QUOTED_MAX];
	enum verdict yes;
	uint32_t item;

	if (!e->id.n || is_ambiguous(a))
		return;
	if (!q) {
		report(a, r->list.n ? SEVERITY_ERROR : SEVERITY_WARNING,
		       RULE("correlation-correlationId"), e->at, 0, "no request %s was seen",
		       quoted(e->id, text));
		return;
	}
	if (several) {
		trust_deny(a);
		report(a, SEVERITY_ERROR, RULE("correlation-agentId"), "/agentId", 0,
		       "missing; several agents have asked as %s, so this answers nothing",
		       quoted(e->id, text));
		return;
	}
	if (!check_response(a, e, q))
		return;
	q->timeout_reported = true;
	if (!e->failed && q->replies) {
		check_reply(a, e, q);
		note_submitted(a, e, q);
	}
	reply_name_person(a, e->agent.id);
	item = q->answered ? NONE : item_of_request(a, e, q, &yes);
	if (item != NONE)
		item_step(a, item, STEP_DECIDED,
			  !e->failed				? yes
			  : str_is(e->other, "TIMEOUT")	? VERDICT_EXPIRED
							: VERDICT_REJECTED,
			  0);
	q->answered = true;
	forget_options(a->m, q);
}

/* Reports passed deadlines on the first message after them. */
static void check_timeouts(struct apply_ctx *a)
{
	struct requests *r = requests_of(a);
	uint32_t request;

	while (a->msg->time_ms != TIME_NONE && due_pop(&r->due, a->msg->time_ms, &request)) {
		struct pending_request *q = &r->list.v[request];

		if (q->deadline_ms == TIME_NONE || q->deadline_ms >= a->msg->time_ms)
			continue; /* asked again since */
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

/* Agents may use the same ids; 0 = whichever agent. */
static int64_t agent_key(const struct actor *agent)
{
	return agent->known_role || !agent->id.n ? 0 : (int64_t)(str_hash(agent->id) | 1);
}

/* A response names its request, perhaps with the agent; commands answer nothing. Without the agent,
 * a later request of another one may have the same id: the time tells whether the response knew it. */
static void reply_keys(const struct message *msg, struct reply_keys *out)
{
	int64_t agent = agent_key(&msg->to);

	for (uint32_t i = 0; i < msg->events.n; i++)
		if (msg->events.v[i].type == EV_RESPONSE && msg->events.v[i].id.n)
			reply_key_add(out, reply_key(ANSWERS_MESSAGE, agent, msg->events.v[i].id),
				      false, agent != 0);
	out->answers_nothing = !out->list.n;
}

static void offer_keys(const struct model *m, uint32_t session, const struct message *msg,
		       struct reply_keys *out)
{
	(void)m;
	(void)session;
	if (!msg->id.n)
		return;
	reply_key_add(out, reply_key(ANSWERS_MESSAGE, 0, msg->id), false, false);
	if (agent_key(&msg->from))
		reply_key_add(out, reply_key(ANSWERS_MESSAGE, agent_key(&msg->from), msg->id), false,
			      true);
}

const struct rules_ops rules_orchestrator = {
	.name = "orchestrator",
	.apply = apply_orchestrator,
	.reply_keys = reply_keys,
	.offer_keys = offer_keys,
	.id = { "/id", "orchestrator/correlation-id", "orchestrator/correlation-id" },
};
