/* Requests of real agents: answers, proof that they were used, withdrawal. */
#include "model/asks.h"

struct session_asks *asks_of(struct apply_ctx *a)
{
	struct session_extra *extra = extra_of(a);

	if (!extra->asks) {
		extra->asks = heap_zalloc(a->m->heap, sizeof(*extra->asks));
		extra->asks->turn = extra->asks->mode = extra->asks->allowed_always = NONE;
	}
	return extra->asks;
}

const struct session_asks *session_asks(const struct model *m, uint32_t session)
{
	const struct session_extra *extra = m->sessions.v[session].rules->extra;

	return extra ? extra->asks : NULL;
}

enum { ASKS_TRIED = 512 }; /* for one message: an agent has few asks under way, whatever its ids say */

/* The oldest ask that a message may be about without naming it. */
static uint32_t oldest_tried(const struct session_asks *s)
{
	uint32_t newest = s->list.n > ASKS_TRIED ? s->list.n - ASKS_TRIED : 0;

	return s->first_open > newest ? s->first_open : newest;
}

/* The first request of that id, or NONE. */
static uint32_t first_ask(const struct session_asks *s, uint64_t request)
{
	for (uint32_t it = 0, v; map_next(&s->by_request, request, &it, &v);)
		if (s->list.v[v].request == request)
			return v;
	return NONE;
}

/* The newest one, or NULL. */
static struct ask *find_ask(struct apply_ctx *a, const struct event *e)
{
	struct session_asks *s = asks_of(a);
	uint32_t first = e->id.n ? first_ask(s, id_hash(a, e)) : NONE;

	return first == NONE ? NULL : &s->list.v[s->list.v[first].newest];
}

struct ask *asks_find(struct apply_ctx *a, struct str request)
{
	struct session_asks *s = asks_of(a);
	uint32_t first = request.n ? first_ask(s, str_hash(request)) : NONE;

	return first == NONE ? NULL : &s->list.v[s->list.v[first].newest];
}

static void ask_add(struct apply_ctx *a, struct ask q)
{
	struct session_asks *s = asks_of(a);
	uint32_t first = first_ask(s, q.request), number = s->list.n;

	q.newest = number;
	if (first == NONE)
		map_put(a->m->heap, &s->by_request, q.request, number);
	else
		s->list.v[first].newest = number;
	heap_push(a->m->heap, &s->list, q);
}

static const struct subagent *find_subagent(const struct session_asks *s, struct str id)
{
	uint64_t h = id.n ? str_hash(id) : 0;

	for (uint32_t i = s->subagents.n; h && i-- > 0;)
		if (s->subagents.v[i].id == h)
			return &s->subagents.v[i];
	return NULL;
}

/* ---- asking ---- */

/* The call that the ask of this message is about follows its EV_ITEM. */
static const struct event *asked_call(const struct apply_ctx *a, uint32_t i)
{
	const struct event *next = i + 1 < a->msg->events.n ? &a->msg->events.v[i + 1] : NULL;

	return next && next->type == EV_TOOL && next->tool == TOOL_ASKED ? next : NULL;
}

/* What the call does is part of what is asked. */
static void show_call(const struct model *m, const struct tool_call *call, struct ask *q,
		      struct event *raise)
{
	q->subject = call->told;
	if (call->content)
		raise->content_hash = hash_mix(raise->content_hash, call->content);
	raise->undecidable |= (message_route(m, call->told)->flags & RECORD_AMBIGUOUS) != 0;
}

static void add_offers(struct apply_ctx *a, const struct event *e, struct ask *q)
{
	struct session_asks *s = asks_of(a);

	q->offers = s->offers.n;
	q->offers_n = e->options_n;
	for (uint32_t i = 0; i < e->options_n; i++)
		heap_push(a->m->heap, &s->offers,
			  (struct ask_offer){ e->options[2 * i], (uint32_t)e->options[2 * i + 1] });
}

static void ask(struct apply_ctx *a, uint32_t i, const struct ask_rules *rules)
{
	struct session_asks *s = asks_of(a);
	const struct event *e = &a->msg->events.v[i], *call = asked_call(a, i);
	uint32_t turn = e->task.n ? task_named(a->m, a->session, task_name_intern(a, e)) : NONE;
	struct event raise = *e;
	uint32_t item, started;
	struct ask q = { .request = str_hash(e->other), .message = a->message,
			 .subject = NONE, .answer = NONE, .open = true,
			 .turn = e->task.n ? str_hash(e->task) : 0,
			 .input_hash = rules->by_option ? 0 : e->artifact_hash,
			 .by_subagent = str_is(a->msg->from.type, "subagent") };

	q.call = call ? id_hash(a, call) : 0;
	started = tool_call_find(a->m, s, q.call);
	q.call_known = started != NONE;
	if (rules->shows_call && started != NONE)
		show_call(a->m, &a->m->tool_calls.v[started], &q, &raise);
	item = q.item = item_raise(a, &raise, turn != NONE ? turn : s->turn, NONE, 0);
	if (item == NONE)
		return;
	for (uint32_t n = s->subagents.n; q.by_subagent && q.subject == NONE && n-- > 0;)
		if (a->from != NONE && s->subagents.v[n].name == a->m->agents.v[a->from].name)
			q.subject = s->subagents.v[n].message;
	if (rules->by_option)
		add_offers(a, e, &q);
	ask_add(a, q);
	if (e->item == ITEM_PERMISSION)
		tool_act_add(a, a->from, true);
}

/* A request that needs no person: whoever runs the agent answers it. */
static void note_request(struct apply_ctx *a, const struct event *e)
{
	if (e->id.n)
		ask_add(a, (struct ask){ .request = id_hash(a, e), .message = a->message,
					 .item = NONE, .subject = NONE, .answer = NONE });
}

/* ---- answering ---- */

/* What follows a message along its correlation finds the request, too. */
static void join_chain(struct apply_ctx *a, const struct ask *q)
{
	if (!a->m->records.v[a->message].chain)
		a->m->records.v[a->message].chain = a->m->records.v[q->message].chain;
}

/* Whether another input was allowed than the one that was asked about. */
static bool is_edited(const struct event *e, const struct ask *q)
{
	return e->verdict == VERDICT_ACCEPTED && e->artifact_hash && q->input_hash &&
	       e->artifact_hash != q->input_hash;
}

/* What the chosen option means. What was not offered is a denial. */
static enum verdict chosen(struct apply_ctx *a, const struct event *e, struct ask *q,
			   const struct ask_rules *rules)
{
	struct session_asks *s = asks_of(a);
	uint64_t id = str_hash(e->other);
	char name[QUOTED_MAX];

	for (uint32_t i = 0; i < q->offers_n; i++) {
		const struct ask_offer *o = &s->offers.v[q->offers + i];

		if (o->id == id) {
			if (o->means & OFFER_ALWAYS)
				s->allowed_always = a->message;
			return (enum verdict)(o->means & (OFFER_ALWAYS - 1));
		}
	}
	q->unusable = true;
	report(a, SEVERITY_WARNING, rules->answer, e->at, 0,
	       "chooses %s, which line %u%s does not offer; the agent takes it for a denial",
	       quoted(e->other, name), message_line(a->m, q->message),
	       reply_words(a->m, q->message));
	return VERDICT_REJECTED;
}

/* What the answer decides; notes whether the agent can use it. */
static enum verdict verdict_of(struct apply_ctx *a, const struct event *e, struct ask *q,
			       const struct ask_rules *rules)
{
	if (rules->by_option && e->other.n)
		return chosen(a, e, q, rules);
	q->unusable = e->failed && (rules->resolved || rules->by_option);
	if (q->unusable)
		report(a, SEVERITY_WARNING, rules->answer, e->at, 0,
		       "no answer to what line %u%s asks; the agent takes it for a denial",
		       message_line(a->m, q->message), reply_words(a->m, q->message));
	if (is_edited(e, q))
		return VERDICT_PARTIAL;
	return e->verdict == VERDICT_NONE ? VERDICT_REJECTED : e->verdict;
}

static void withdraw(struct apply_ctx *a, struct ask *q);

static void answer(struct apply_ctx *a, const struct event *e, const struct ask_rules *rules)
{
	struct ask *q = find_ask(a, e);
	enum verdict verdict;
	char id[QUOTED_MAX];

	if (is_ambiguous(a))
		return;
	if (!q) {
		if (e->failed && rules->resolved)
			return; /* of a request that asks no person */
		/* where nothing was asked, the log has only what was told */
		report(a, asks_of(a)->list.n ? SEVERITY_WARNING : SEVERITY_NOTE, rules->answer,
		       e->at, 0, "answers %s, which was not asked", quoted(e->id, id));
		return;
	}
	join_chain(a, q);
	if (q->item == NONE || (e->severe && !q->open && q->answer == NONE))
		return; /* not for a person; or it gives up what was withdrawn */
	if (q->cancelled && !e->severe)
		withdraw(a, q); /* too late for anything else */
	if (q->answer != NONE || !q->open) {
		report(a, SEVERITY_WARNING, rules->answer, e->at, 0,
		       q->answer != NONE ? "a second answer to line %u%s; agents use the first"
					 : "line %u%s asks no more; the agent ignores this",
		       message_line(a->m, q->message), reply_words(a->m, q->message));
		return;
	}
	verdict = verdict_of(a, e, q, rules);
	if (!item_step(a, q->item, STEP_DECIDED, verdict, 0))
		return;
	if (e->again)
		asks_of(a)->allowed_always = a->message;
	q->answer = a->message;
	q->answer_hash = e->content_hash;
	q->verdict = (uint8_t)verdict;
	q->given_up = e->severe;
}

/* ---- proof ---- */

/* Whoever of the connection tells it (a subagent, or the agent for one), it is the agent's
 * proof. */
static void acknowledge_reply(struct apply_ctx *a, uint32_t reply)
{
	uint32_t from = a->from;

	a->from = message_route(a->m, reply)->to;
	reply_acknowledge(a, reply);
	a->from = from;
}

static void prove(struct apply_ctx *a, struct ask *q)
{
	if (q->answer == NONE || !q->open || is_ambiguous(a))
		return;
	q->open = false;
	if (q->unusable)
		return; /* the agent goes on without it */
	if (message_reply(a->m, q->answer))
		acknowledge_reply(a, q->answer);
	else
		item_step(a, q->item, STEP_ACKED, VERDICT_NONE, 0);
}

static void withdraw(struct apply_ctx *a, struct ask *q)
{
	const struct item *item = &a->m->items.v[q->item];

	if (!q->open)
		return;
	if (q->given_up) {
		prove(a, q);
		return;
	}
	q->open = false;
	if (item->open || item->steps[item->n - 1].message == q->answer)
		item_step(a, q->item, STEP_WITHDRAWN, VERDICT_WITHDRAWN, 0);
}

/* The agent takes it back. A turn that the client cancels is answered by the client, too: that may
 * come behind the withdrawal, and decides; at the latest, the end of the turn does. */
static void take_back(struct apply_ctx *a, struct ask *q)
{
	if (!q->cancelled || q->answer != NONE)
		withdraw(a, q);
}

static void advance_open(struct session_asks *s)
{
	while (s->first_open < s->list.n && !s->list.v[s->first_open].open)
		s->first_open++;
}

/* An agent that repeats the answer it uses, in a log where the answer itself is not: that tells what
 * was decided. */
static bool is_told_by_echo(const struct apply_ctx *a, const struct event *e, const struct ask *q)
{
	return q->answer == NONE && q->open && e->verdict != VERDICT_NONE && a->trust == TRUST_LOG;
}

static bool is_of_turn(const struct ask *q, const struct event *e)
{
	return !e->task.n || q->turn == str_hash(e->task);
}

static void acknowledge(struct apply_ctx *a, const struct event *e, const struct ask_rules *rules)
{
	struct session_asks *s = asks_of(a);
	struct ask *q = find_ask(a, e);

	if (!e->id.n) { /* of all that was answered */
		for (uint32_t i = oldest_tried(s); i < s->list.n; i++)
			if (is_of_turn(&s->list.v[i], e) && !(e->again && s->list.v[i].call_known))
				prove(a, &s->list.v[i]);
		return;
	}
	if (!q)
		return; /* of a request of our own */
	join_chain(a, q);
	if (is_told_by_echo(a, e, q))
		answer(a, e, rules);
	if (q->answer == NONE && q->open && e->verdict != VERDICT_NONE)
		report(a, SEVERITY_WARNING, rules->answer, e->at, 0,
		       "repeats an answer to line %u%s that nobody is known to have given",
		       message_line(a->m, q->message), reply_words(a->m, q->message));
	if (q->answer == NONE && rules->resolved)
		withdraw(a, q);
	else if (!e->content_hash || !q->answer_hash || e->content_hash == q->answer_hash)
		prove(a, q);
}

uint32_t ask_of_call(const struct session_asks *s, uint32_t message, uint64_t call)
{
	const struct ask *last = s->list.n ? vec_last(&s->list) : NULL;

	return last && last->message == message && last->call == call ? s->list.n - 1 : NONE;
}

void ask_check_outcome(struct apply_ctx *a, uint32_t ask, const struct event *e,
		       const struct ask_rules *rules)
{
	struct ask *q = &asks_of(a)->list.v[ask];
	bool denied = q->verdict == VERDICT_ACCEPTED && e->tool == TOOL_DENIED;
	bool run = q->verdict == VERDICT_REJECTED && e->tool == TOOL_COMPLETED;

	if (q->answer == NONE || (!denied && !run) || is_ambiguous(a))
		return;
	report(a, SEVERITY_WARNING, rules->outcome, e->at, e->index,
	       denied ? "was denied, although line %u%s accepts it"
		      : "was run, although line %u%s rejects it",
	       message_line(a->m, q->answer), reply_words(a->m, q->answer));
	/* what was said did not count, and nothing is asked any more */
	item_step(a, q->item, STEP_BOUNCED, VERDICT_NONE, 0);
	item_step(a, q->item, STEP_WITHDRAWN, VERDICT_WITHDRAWN, 0);
	q->open = false;
}

static bool is_of_call(const struct ask *q, const struct event *e, uint64_t call)
{
	return q->call && q->call == call && e->tool != TOOL_ASKED && e->tool != TOOL_STARTED;
}

static bool is_over(const struct event *e)
{
	return e->tool == TOOL_COMPLETED || e->tool == TOOL_FAILED || e->tool == TOOL_DENIED;
}

/* What became of a call tells that the answer to its ask was used, or that it waits no more. */
static void prove_by_call(struct apply_ctx *a, const struct event *e)
{
	struct session_asks *s = asks_of(a);
	uint64_t call = id_hash(a, e);

	for (uint32_t i = oldest_tried(s); i < s->list.n; i++) {
		struct ask *q = &s->list.v[i];

		if (!is_of_call(q, e, call))
			continue;
		if (!e->undecidable)
			prove(a, q);
		if (is_over(e) && q->answer == NONE)
			take_back(a, q);
		else if (is_over(e))
			q->open = false;
	}
}

static void withdraw_asked(struct apply_ctx *a, const struct event *e)
{
	struct session_asks *s = asks_of(a);
	struct ask *q = find_ask(a, e);

	if (q)
		take_back(a, q);
	for (uint32_t i = s->first_open; !e->id.n && i < s->list.n; i++) {
		if (!is_of_turn(&s->list.v[i], e) || (!e->task.n && s->list.v[i].by_subagent))
			continue;
		if (e->again)
			s->list.v[i].cancelled |= s->list.v[i].answer == NONE && !is_ambiguous(a);
		else
			withdraw(a, &s->list.v[i]);
	}
}

/* The process that asked is gone: what it asked can no longer be answered. Whether an answer that was
 * sent and not proven was used, nobody knows. */
static void end_run(struct apply_ctx *a)
{
	struct session_asks *s = asks_of(a);

	for (uint32_t i = s->first_open; i < s->list.n; i++) {
		struct ask *q = &s->list.v[i];

		if (q->open && q->answer == NONE && a->m->items.v[q->item].open)
			item_step(a, q->item, STEP_EXPIRED, VERDICT_EXPIRED, 0);
		q->open = false;
	}
	if (s->turn != NONE)
		task_step(a, s->turn, TASK_CANCELLED, -1, false);
	s->turn = NONE;
	s->cost = 0;
}

/* ---- agents, modes, usage ---- */

static bool name_is_taken(const struct session_asks *s, uint32_t name)
{
	for (uint32_t i = 0; i < s->subagents.n; i++)
		if (s->subagents.v[i].name == name)
			return true;
	return false;
}

/* Several subagents may have the same task: "Count files", "Count files 2". */
static uint32_t free_name(struct apply_ctx *a, struct str wanted)
{
	struct session_asks *s = asks_of(a);
	uint32_t name = model_intern(a->m, wanted);
	struct buf b = { 0 };

	for (unsigned n = 2; name_is_taken(s, name); n++) {
		buf_clear(&b);
		buf_printf(&b, "%.*s %u", STR_ARG(wanted), n);
		name = model_intern(a->m, buf_str(&b));
	}
	buf_release(&b);
	return name;
}

static void introduce_subagent(struct apply_ctx *a, const struct event *e)
{
	struct session_asks *s = asks_of(a);
	struct actor actor = e->agent;

	if (!e->id.n || find_subagent(s, e->id))
		return;
	heap_push(a->m->heap, &s->subagents,
		  (struct subagent){ id_hash(a, e), free_name(a, e->agent.id), a->message });
	actor.id = model_str(a->m, vec_last(&s->subagents)->name);
	/* what the message gives out is for the subagent */
	a->to = model_agent(a->m, a->session, &actor, &null_key, a->message);
}

static void use_name(const struct apply_ctx *a, struct actor *actor, uint32_t *key)
{
	const struct session_asks *s = session_asks(a->m, a->session);
	const struct subagent *known =
		s && str_is(actor->type, "subagent") ? find_subagent(s, actor->id) : NULL;

	if (!known)
		return;
	actor->id = model_str(a->m, known->name);
	*key = 0;
}

void asks_name_sender(struct apply_ctx *a, struct str group)
{
	(void)group;
	use_name(a, &a->msg->from, &a->msg->from_key);
	use_name(a, &a->msg->to, &a->msg->to_key);
}

static void set_mode(struct apply_ctx *a, const struct event *e)
{
	struct session_asks *s = asks_of(a);

	s->mode = e->other.n ? model_intern(a->m, e->other) : NONE;
	s->mode_asks = e->severe;
}

static void set_folder(struct apply_ctx *a, const struct event *e)
{
	struct session_asks *s = asks_of(a);
	uint32_t path = e->other.n ? model_intern(a->m, e->other) : NONE;

	if (path != NONE && (!s->folders.n || vec_last(&s->folders)->path != path))
		heap_push(a->m->heap, &s->folders, (struct work_folder){ a->message, path });
}

/* again: the cost is a running total. */
static void add_usage(struct apply_ctx *a, const struct event *e)
{
	struct session_asks *s = asks_of(a);
	double cost = e->cost;

	if (e->again) {
		cost = e->cost >= s->cost ? e->cost - s->cost : e->cost;
		s->cost = e->cost;
	}
	heap_push(a->m->heap, &a->m->usage,
		  (struct usage){ a->message, a->from, e->tokens_in, e->tokens_out,
				  e->tokens_cached, cost });
}

void asks_apply(struct apply_ctx *a, const struct ask_rules *rules)
{
	for (uint32_t i = 0; i < a->msg->events.n; i++) {
		const struct event *e = &a->msg->events.v[i];

		switch (e->type) {
		case EV_ITEM: ask(a, i, rules); break;
		case EV_REQUEST: note_request(a, e); break;
		case EV_RESPONSE: answer(a, e, rules); break;
		case EV_ACK: acknowledge(a, e, rules); break;
		case EV_WITHDRAWN: withdraw_asked(a, e); break;
		case EV_TOOL:
			if (rules->call_proves)
				prove_by_call(a, e);
			tool_apply(a, e, rules);
			break;
		case EV_TURN: turn_apply(a, e); break;
		case EV_TASK_STATE:
			task_step(a, task_get(a, id_intern(a, e)), e->state, e->number, e->tests);
			break;
		case EV_AGENT: introduce_subagent(a, e); break;
		case EV_MODE: set_mode(a, e); break;
		case EV_FOLDER: set_folder(a, e); break;
		case EV_USAGE: add_usage(a, e); break;
		case EV_RUN: end_run(a); break;
		default: /* events of other dialects */
			break;
		}
	}
	advance_open(asks_of(a));
}

/* ---- queries ---- */

/* The newest ask of an item in that message or before. */
static const struct ask *ask_of(const struct session_asks *s, uint32_t item, uint32_t message)
{
	uint32_t behind = 0;

	bisect(behind, s->list.n, i, s->list.v[i].message <= message)
	while (behind-- > 0)
		if (s->list.v[behind].item == item)
			return &s->list.v[behind];
	return NULL;
}

uint32_t asks_subject(const struct model *m, const struct item *item, uint32_t message)
{
	const struct session_asks *s = session_asks(m, item_session(m, item));
	const struct ask *q = s ? ask_of(s, (uint32_t)(item - m->items.v), message) : NULL;

	return q ? q->subject : NONE;
}

struct str ask_folder(const struct model *m, uint32_t message)
{
	const struct session_asks *s = session_asks(m, message_route(m, message)->session);
	uint32_t n = s ? s->folders.n : 0;

	while (n > 0 && s->folders.v[n - 1].message > message)
		n--;
	return n ? model_str(m, s->folders.v[n - 1].path) : STR_NONE;
}

const char *withdrawal_reason(const struct model *m, uint32_t message)
{
	struct str kind = message == NONE ? STR_NONE : model_kind(m, &m->records.v[message]);

	if (str_is(kind, "serverRequest/resolved") || str_is(kind, "user"))
		return "answered elsewhere";
	if (str_is(kind, "item/completed"))
		return "the agent acted against the answer";
	if (str_is(kind, "control_cancel_request") || str_is(kind, "$/cancel_request"))
		return "the agent took it back, or somebody else answered";
	if (str_is(kind, "session/update"))
		return "its call is over, without an answer from here";
	return "the agent's turn is over";
}

const char *item_over_reason(const struct model *m, const struct item_state *at)
{
	if (at->open)
		return NULL;
	if (at->verdict == VERDICT_WITHDRAWN)
		return withdrawal_reason(m, at->withdrawn);
	return at->verdict == VERDICT_EXPIRED && at->deadline_ms == TIME_NONE ? "the agent ended"
									      : NULL;
}

/* ---- places of replies ---- */

void asks_reply_keys(const struct message *msg, struct reply_keys *out)
{
	for (uint32_t i = 0; i < msg->events.n; i++)
		if (msg->events.v[i].type == EV_RESPONSE && msg->events.v[i].id.n)
			reply_key_add(out, reply_key(ANSWERS_MESSAGE, 0, msg->events.v[i].id), false,
				      false);
	out->answers_nothing = !out->list.n;
}

void asks_offer_keys(const struct model *m, uint32_t session, const struct message *msg,
		     struct reply_keys *out)
{
	(void)m;
	(void)session;
	for (uint32_t i = 0; i < msg->events.n; i++)
		if (msg->events.v[i].type == EV_ITEM && msg->events.v[i].other.n)
			reply_key_add(out, reply_key(ANSWERS_MESSAGE, 0, msg->events.v[i].other),
				      false, false);
}
