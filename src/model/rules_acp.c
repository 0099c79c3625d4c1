/* Cross-message rules of acp: those of all real agents (model/asks.h), and what only the
 * connection knows. One connection may have several ACP sessions, each with turns of its own;
 * replies name none of them. So the decoder leaves the ACP session in `task` of its events, and
 * here
 * - a reply is that of the prompt with its id, which ends a turn of that prompt's session;
 * - what session/load tells again has happened before, and is no news;
 * - costs are running totals of an ACP session;
 * - an item belongs to the turn of its ACP session. */
#include "model/asks.h"

/* A conversation of the connection. */
struct acp_session {
	uint64_t id;      /* hash */
	uint32_t name;    /* interned */
	uint32_t turn;    /* newest task, NONE */
	uint32_t prompts; /* that have no reply yet */
	double cost;
	bool replays;     /* session/load */
};

/* A request of the client that a reply belongs to. */
struct acp_request {
	uint64_t id; /* hash of the turn's name */
	uint32_t session;
	bool prompt; /* else session/load */
};

struct acp_connection {
	HVEC(struct acp_session) sessions;
	struct map by_id; /* indexes into sessions */
	HVEC(struct acp_request) requests; /* without a reply */
	uint32_t first; /* session of this run of the agent */
	bool prompted;  /* the client's lines are there, too */
};

enum { REQUESTS_TRIED = 64 }; /* for a reply: a client has few under way */

static const struct ask_rules rules = {
	.answer = "acp/answer-request",
	.result = "acp/tool-result",
	.unasked = "acp/tool-unasked",
	.call_proves = true,
	.shows_call = true,
	.by_option = true,
};

static struct acp_connection *connection_of(struct apply_ctx *a)
{
	struct session_extra *extra = extra_of(a);

	if (!extra->acp)
		extra->acp = heap_zalloc(a->m->heap, sizeof(*extra->acp));
	return extra->acp;
}

/* Finds or adds; NULL without a name. */
static struct acp_session *session_named(struct apply_ctx *a, struct str name)
{
	struct acp_connection *c = connection_of(a);
	uint64_t id = str_hash(name);

	if (!name.n)
		return NULL;
	for (uint32_t it = 0, v; map_next(&c->by_id, id, &it, &v);)
		if (v >= c->first && c->sessions.v[v].id == id)
			return &c->sessions.v[v];
	map_put(a->m->heap, &c->by_id, id, c->sessions.n);
	heap_push(a->m->heap, &c->sessions,
		  (struct acp_session){ .id = id, .name = model_intern(a->m, name), .turn = NONE });
	return vec_last(&c->sessions);
}

static void request_add(struct apply_ctx *a, const struct event *e, const struct acp_session *s,
			bool prompt)
{
	struct acp_connection *c = connection_of(a);

	if (e->id.n)
		heap_push(a->m->heap, &c->requests,
			  (struct acp_request){ id_hash(a, e), (uint32_t)(s - c->sessions.v),
						prompt });
}

/* Removes the newest request of that id. false: there is none. */
static bool request_take(struct apply_ctx *a, const struct event *e, struct acp_request *out)
{
	struct acp_connection *c = connection_of(a);
	uint64_t id = id_hash(a, e);
	uint32_t n = c->requests.n, last = n > REQUESTS_TRIED ? n - REQUESTS_TRIED : 0;

	for (uint32_t i = n; i-- > last;)
		if (c->requests.v[i].id == id) {
			*out = c->requests.v[i];
			c->requests.v[i] = c->requests.v[--c->requests.n];
			return true;
		}
	return false;
}

/* The event means nothing to asks_apply. */
static void void_event(struct event *e)
{
	e->type = EV_TASK_NAMED;
}

static void set_task(struct event *e, struct str name)
{
	e->task = name;
	e->task_key = 0;
}

/* What ends with a turn ends in its ACP session only; nothing does while another prompt is under
 * way there. s: NULL = which one is not known. */
static void limit_to_session(struct apply_ctx *a, const struct acp_session *s)
{
	for (uint32_t i = 0; i < a->msg->events.n; i++) {
		struct event *e = &a->msg->events.v[i];

		if ((e->type != EV_ACK && e->type != EV_WITHDRAWN) || e->id.n || e->task.n)
			continue;
		if (!s || s->prompts)
			void_event(e);
		else
			set_task(e, model_str(a->m, s->name));
	}
}

/* In a log of the agent's lines alone the prompts are not seen; with one ACP session it is clear. */
static const struct acp_session *only_session(const struct acp_connection *c)
{
	return c->sessions.n == c->first + 1 && !c->prompted ? vec_last(&c->sessions) : NULL;
}

static void apply_reply(struct apply_ctx *a, struct event *e)
{
	struct acp_connection *c = connection_of(a);
	struct acp_request r = { 0 };
	struct acp_session *s = request_take(a, e, &r) ? &c->sessions.v[r.session] : NULL;

	if (s && !r.prompt)
		s->replays = false;
	else if (s && s->prompts)
		s->prompts--;
	if (e->failed && (!r.prompt || e->again)) {
		void_event(e);
		limit_to_session(a, NULL);
	} else {
		limit_to_session(a, r.prompt ? s : only_session(c));
	}
}

static void apply_turn(struct apply_ctx *a, struct event *e)
{
	struct acp_session *s = session_named(a, e->task);

	if (!s) {
		apply_reply(a, e);
	} else if (e->again) { /* what the user said during a turn is an echo */
		s->replays |= !s->prompts;
		request_add(a, e, s, false);
		void_event(e);
	} else {
		s->replays = false;
		s->prompts++;
		connection_of(a)->prompted = true;
		request_add(a, e, s, true);
	}
}

/* The part of a running total that is new. */
static void apply_cost(struct acp_session *s, struct event *e)
{
	double total = e->cost;

	e->cost = total >= s->cost ? total - s->cost : total;
	e->again = false;
	s->cost = total;
}

/* A result that answers nothing is one to a request for a file or a terminal. */
static bool answers_ask(struct apply_ctx *a, const struct event *e)
{
	return !e->failed || asks_find(a, e->id);
}

static void prepare(struct apply_ctx *a, struct event *e)
{
	struct acp_session *s;

	switch (e->type) {
	case EV_TURN: apply_turn(a, e); return;
	case EV_RESPONSE:
		if (!answers_ask(a, e))
			void_event(e);
		return;
	case EV_RUN:
		connection_of(a)->first = connection_of(a)->sessions.n;
		connection_of(a)->requests.n = 0;
		return;
	case EV_ITEM:
	case EV_TOOL:
	case EV_MODE:
	case EV_USAGE: break;
	default: /* names no ACP session */
		return;
	}
	s = session_named(a, e->task);
	if (!s)
		return;
	if (e->type == EV_ITEM) {
		s->replays = false;
		if (s->turn != NONE)
			asks_of(a)->turn = s->turn;
	} else if (e->type == EV_TOOL && s->replays) {
		void_event(e);
	} else if (e->type == EV_USAGE && e->again) {
		apply_cost(s, e);
	}
}

/* Which task the turn that has begun became. */
static void note_turn(struct apply_ctx *a)
{
	for (uint32_t i = 0; i < a->msg->events.n; i++) {
		const struct event *e = &a->msg->events.v[i];

		if (e->type == EV_TURN && e->task.n)
			session_named(a, e->task)->turn = asks_of(a)->turn;
	}
}

static void apply(struct apply_ctx *a)
{
	for (uint32_t i = 0; i < a->msg->events.n; i++)
		prepare(a, &a->msg->events.v[i]);
	asks_apply(a, &rules);
	note_turn(a);
}

const struct rules_ops rules_acp = {
	.name = "acp",
	.apply = apply,
	.find_session = asks_name_sender,
	.reply_keys = asks_reply_keys,
	.offer_keys = asks_offer_keys,
	.subject = asks_subject,
	.names_nobody = true,
};
