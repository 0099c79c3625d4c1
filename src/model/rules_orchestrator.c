/* Cross-message rules of the orchestrator protocol: each request gets one response before its
 * deadline (priority queue of timeouts); message types and rate limit of agents. */
#include "model/rules.h"

#define RULE(id) "orchestrator/" id

enum { RATE_MAX = 100, RATE_WINDOW_MS = 1000 };

static struct requests *requests_of(struct apply_ctx *a)
{
	struct session_rules *r = rules_of(a);

	if (!r->requests)
		r->requests = heap_zalloc(a->m->heap, sizeof(*r->requests));
	return r->requests;
}

static struct pending_request *find_request(struct requests *r, uint64_t h)
{
	for (uint32_t it = 0, v; map_next(&r->map, h, &it, &v);)
		if (r->list.v[v].hash == h)
			return &r->list.v[v];
	return NULL;
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

static void add_request(struct apply_ctx *a, const struct event *e, int64_t deadline_ms,
			bool is_event)
{
	struct requests *r = requests_of(a);
	uint64_t h = id_hash(a, e);

	if (!e->id.n || find_request(r, h))
		return;
	map_put(a->m->heap, &r->map, h, r->list.n);
	heap_push(a->m->heap, &r->list,
		  (struct pending_request){ .hash = h, .message = a->message,
				    .deadline_ms = deadline_ms, .is_event = is_event });
	if (deadline_ms != TIME_NONE)
		push_due(a->m->heap, r, r->list.n - 1);
}

static void apply_response(struct apply_ctx *a, const struct event *e)
{
	struct requests *r = requests_of(a);
	struct pending_request *q = e->id.n ? find_request(r, id_hash(a, e)) : NULL;
	uint32_t item = item_named(a->m, a->session, ITEM_QUESTION, id_known(a, e), NONE);
	enum verdict yes = VERDICT_ANSWERED;
	char text[QUOTED_MAX];

	if (!e->id.n)
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
		       "answers the event of line %u; events expect no response",
		       message_line(a->m, q->message));
	else if (q->answered)
		report(a, SEVERITY_ERROR, RULE("correlation-correlationId"), e->at, 0,
		       "a second response to the request of line %u",
		       message_line(a->m, q->message));
	else if (q->deadline_ms != TIME_NONE && a->msg->time_ms != TIME_NONE &&
		 a->msg->time_ms > q->deadline_ms && !q->timeout_reported &&
		 !(e->failed && str_is(e->other, "TIMEOUT"))) /* is itself the timeout report */
		report(a, SEVERITY_WARNING, RULE("timeouts-response"), "/timestamp", 0,
		       "%.1f s after the request of line %u had timed out",
		       (double)(a->msg->time_ms - q->deadline_ms) / 1000,
		       message_line(a->m, q->message));
	q->timeout_reported = true;
	if (item != NONE && a->m->items.v[item].open && !q->answered)
		item_step(a, item, STEP_DECIDED,
			  !e->failed				? yes
			  : str_is(e->other, "TIMEOUT")	? VERDICT_EXPIRED
							: VERDICT_REJECTED,
			  0);
	q->answered = true;
}

/* Reports passed deadlines on the first message after them. */
static void check_timeouts(struct apply_ctx *a)
{
	struct requests *r = requests_of(a);

	while (r->due.n && a->msg->time_ms != TIME_NONE && due_at(r, 0) < a->msg->time_ms) {
		struct pending_request *q = &r->list.v[pop_due(r)];

		if (!q->answered)
			report(a, SEVERITY_WARNING, RULE("timeouts-response"), "/timestamp", 0,
			       "the request of line %u has had no response in time",
			       message_line(a->m, q->message));
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
	uint32_t agent;
	char q[QUOTED_MAX];

	if (e->again) { /* sender name on a message that only the orchestrator may send */
		agent = find_agent(a->m, a->session, e->id);
		if (agent != NONE && a->m->agents.v[agent].sent)
			report(a, SEVERITY_ERROR, RULE("base-direction"), "/type", 0,
			       "only the orchestrator sends this; %s is an agent",
			       quoted(e->id, q));
		return;
	}
	agent = model_agent(a->m, a->session, &e->agent, &null_key, a->message);
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
			add_request(a, e, e->deadline_ms, false);
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
				add_request(a, e, TIME_NONE, true);
			break;
		default: /* events of other dialects */
			break;
		}
	}
	check_timeouts(a);
}

/* Without a correlationId, a message is its own. */
static struct str replied_to(const struct message *msg)
{
	return str_eq(msg->correlation, msg->id) ? STR_NONE : msg->correlation;
}

const struct rules_ops rules_orchestrator = {
	.name = "orchestrator",
	.apply = apply_orchestrator,
	.replied_to = replied_to,
	.id = { "/id", "orchestrator/correlation-id", "orchestrator/correlation-id" },
};
