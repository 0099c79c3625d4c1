/* Who may do what: the table of model/trust.h and the two places where it is asked. */
#include "model/trust.h"

#include "model/rules.h"

#define RULE "gavel/not-its-role"

enum act { ACT_REPORT, ACT_RAISE, ACT_ACKNOWLEDGE, ACT_DIRECT, ACT_DECIDE, ACT_COUNT };
enum permission { NO, OTHERS, YES };

static const enum permission permissions[TRUST_COUNT][ACT_COUNT] = {
	[TRUST_LOG] = { YES, YES, YES, YES, OTHERS },
	[TRUST_AGENT] = { YES, YES, YES, YES, NO },
	[TRUST_REPLY] = { YES, NO, YES, YES, YES },
	[TRUST_JOURNAL] = { YES, NO, YES, YES, YES },
};

static enum act act_of(const struct message *msg, const struct event *e)
{
	switch (e->type) {
	case EV_TURN_ASK:
	case EV_RESPONSE: return ACT_DECIDE;
	case EV_JUDGEMENT: return e->verdict == VERDICT_ESCALATED ? ACT_RAISE : ACT_DECIDE;
	case EV_TASK:
	case EV_TASK_DEPENDS:
	case EV_TASK_SCOPE:
	case EV_ABORT:
	case EV_REVIEW_ASK: return ACT_DIRECT;
	case EV_ACKNOWLEDGE:
	case EV_ACK: return ACT_ACKNOWLEDGE;
	case EV_DECIDE: /* which item it means is known later: trust_allows_step */
	case EV_REVIEW_RESULT:
	case EV_REVIEW_CHECK:
	case EV_ITEM:
	case EV_FIXED:
	case EV_TURN_ANSWER:
	case EV_REQUEST:
	case EV_RESULT:
	case EV_ENVELOPE_IN: /* agents repeat what they work on */
	case EV_ENVELOPE_OUT:
	case EV_WITHDRAWN: return ACT_RAISE;
	case EV_TASK_STATE:
	case EV_TASK_FILE:
	case EV_TASK_NAMED:
	case EV_USAGE:
	case EV_AGENT:
	case EV_TOOL:
	case EV_TURN:
	case EV_MODE:
	case EV_FOLDER:
	case EV_RUN: break;
	}
	return msg->from.known_role == KNOWN_ROLE_ORCHESTRATOR ? ACT_DECIDE : ACT_REPORT;
}

static void attribute_connection(struct message *msg, const struct place *place)
{
	bool told = msg->from.known_role == KNOWN_ROLE_CLIENT;
	struct actor *agent = told ? &msg->to : &msg->from;

	if (agent->known_role || !agent->id.n || str_is(agent->type, "subagent"))
		return;
	agent->id = place->speaker;
	*(told ? &msg->to_key : &msg->from_key) = 0;
}

void trust_attribute(struct message *msg, const struct place *place)
{
	struct str claim = msg->from.id, speaker = place->speaker;
	bool roleless = !msg->from.known_role;

	if (dialect_rules[msg->dialect]->names_nobody) {
		if (speaker.n)
			attribute_connection(msg, place);
		return;
	}
	if (place->trust != TRUST_AGENT)
		return;

	if (!speaker.n || !roleless || str_eq(claim, speaker))
		return;
	if (!str_is(claim, "agent")) /* orchestrator: there is no agentId */
		msg->flags |= RECORD_CLAIMS_AGENT;
	if (msg->dialect != DIALECT_ORCHESTRATOR)
		return;
	msg->from.id = speaker;
	msg->from_key = 0;
}

enum trust message_trust(const struct model *m, uint32_t message)
{
	const struct reply *r = message_reply(m, message);

	if (r && r->relayed)
		return TRUST_REPLY; /* also where this gavel has sent it */
	return r && r->own ? TRUST_JOURNAL : (enum trust)message_route(m, message)->trust;
}

void trust_note_claim(struct apply_ctx *a, const struct actor *claimed, struct str speaker)
{
	unsigned flags = a->msg->flags;
	bool role = flags & RECORD_NOT_ITS_ROLE && claimed->known_role &&
		    !str_eq(claimed->id, speaker);

	if (flags & RECORD_CLAIMS_AGENT || role)
		heap_push(a->m->heap, &a->m->claims,
			  (struct claim){ a->message, model_intern(a->m, claimed->id) });
}

/* Several may speak under the name of a role: what one of them claims is not about the others. */
static bool is_role(const struct model *m, const struct agent *a)
{
	for (unsigned i = 0; i < KNOWN_ROLE_COUNT; i++)
		if (m->known_role_names[i] == a->name + 1)
			return true;
	return false;
}

void trust_note_sender(struct model *m, const struct route *route, uint32_t message)
{
	struct agent *from = route->from == NONE ? NULL : &m->agents.v[route->from];

	if (from && from->spoke[route->trust] > message)
		from->spoke[route->trust] = message;
	if (from && route->flags & RECORD_CLAIMS_HUMAN && from->claimed_human > message &&
	    !is_role(m, from))
		from->claimed_human = message;
}

struct str message_claims(const struct model *m, uint32_t message)
{
	uint32_t low = 0;

	if (message_route(m, message)->flags & RECORD_CLAIMS_HUMAN)
		return STR("human");
	bisect(low, m->claims.n, i, m->claims.v[i].message < message)
	return low < m->claims.n && m->claims.v[low].message == message
		       ? model_str(m, m->claims.v[low].name)
		       : STR_NONE;
}

enum trust agent_trust(const struct model *m, uint32_t agent, uint32_t k)
{
	const struct agent *a = &m->agents.v[agent];
	bool replied = a->spoke[TRUST_REPLY] < k || a->spoke[TRUST_JOURNAL] < k;

	if (a->spoke[TRUST_AGENT] < k && !(a->human && replied))
		return TRUST_AGENT;
	if (!replied || (a->spoke[TRUST_LOG] < k && !a->human))
		return TRUST_LOG;
	return a->spoke[TRUST_JOURNAL] < k ? TRUST_JOURNAL : TRUST_REPLY;
}

bool agent_claims_human(const struct model *m, uint32_t agent, uint32_t k)
{
	return m->agents.v[agent].claimed_human < k;
}

enum trust item_trust(const struct model *m, const struct item_state *at)
{
	if (at->overlaid)
		return TRUST_JOURNAL;
	return message_trust(m, at->decided == NONE ? at->message : at->decided);
}

const char *item_by_origin(const struct model *m, const struct item_state *at)
{
	bool unnamed = at->delivery != DELIVERY_NONE && at->person == NONE;

	return unnamed || !item_by(m, at).n ? "" : trust_words(item_trust(m, at));
}

struct str item_claims(const struct model *m, const struct item_state *at)
{
	if (at->overlaid)
		return STR_NONE;
	return message_claims(m, at->decided == NONE ? at->message : at->decided);
}

static void unmask_orchestrator(struct message *msg, struct str speaker)
{
	msg->from = (struct actor){ speaker, STR("agent"), false };
	msg->to = known_role_actors[KNOWN_ROLE_ORCHESTRATOR];
	msg->from_key = msg->to_key = 0;
	msg->correlation = msg->id;
	msg->correlation_hash = msg->id_hash;
}

bool trust_screen(struct message *msg, const struct place *place, struct str *refused)
{
	bool orchestrates = msg->from.known_role == KNOWN_ROLE_ORCHESTRATOR;
	uint32_t kept = 0, n = msg->events.n;

	if (usually(place->trust != TRUST_AGENT))
		return true; /* the permissions of others depend on the item */
	for (uint32_t i = 0; i < n; i++) {
		const struct event *e = &msg->events.v[i];

		if (permissions[place->trust][act_of(msg, e)] == YES)
			msg->events.v[kept++] = *e;
		else if (e->type == EV_RESPONSE || e->type == EV_JUDGEMENT)
			*refused = e->id;
	}
	msg->events.n = kept;
	if (kept == n && !orchestrates)
		return true;
	if (orchestrates && place->speaker.n)
		unmask_orchestrator(msg, place->speaker);
	msg->flags |= RECORD_NOT_ITS_ROLE;
	return false;
}

static void note_refusal(struct apply_ctx *a, uint32_t item)
{
	struct model *m = a->m;
	const struct refusal *last = m->refusals.n ? vec_last(&m->refusals) : NULL;

	if (!last || last->message != a->message || last->item != item)
		heap_push(m->heap, &m->refusals, (struct refusal){ a->message, item });
}

static void report_agent(struct apply_ctx *a)
{
	report(a, SEVERITY_ERROR, RULE, "", 0,
	       "not its role: one agent's own output decides nothing, nor does it speak for others; "
	       "--speaks=session is for a process that writes the lines of several agents");
}

void trust_report(struct apply_ctx *a, struct str refused)
{
	report_agent(a);
	for (int kind = 0; refused.n && kind < ITEM_KIND_COUNT; kind++) {
		uint32_t item = find_item(a->m, a->session, (enum item_kind)kind, refused, NONE);

		if (item != NONE)
			note_refusal(a, item);
	}
}

void trust_deny(struct apply_ctx *a)
{
	if (a->reply)
		return;
	a->denied = true;
	a->msg->flags |= RECORD_NOT_ITS_ROLE;
}

/* The message that raised the item last. Most items have few steps; of the one looked at last it is
 * remembered how far they were searched. */
static uint32_t last_raise(struct model *m, const struct item *item)
{
	uint32_t number = (uint32_t)(item - m->items.v), i = item->n;
	uint32_t searched = m->raised.item == number && m->raised.n <= item->n ? m->raised.n : 0;

	while (i > searched && item->steps[i - 1].what != STEP_RAISED)
		i--;
	if (i > searched)
		m->raised.step = i - 1;
	m->raised.item = number;
	m->raised.n = item->n;
	return item->steps[m->raised.step].message;
}

static bool is_its_own(const struct apply_ctx *a, const struct item *item)
{
	return a->from != NONE &&
	       message_route(a->m, last_raise(a->m, item))->from == a->from;
}

static void refuse_decision(struct apply_ctx *a, const struct item *item)
{
	struct buf name = { 0 };
	char q[QUOTED_MAX];

	note_refusal(a, (uint32_t)(item - a->m->items.v));
	if (a->msg->flags & RECORD_NOT_ITS_ROLE)
		return; /* once is enough */
	trust_deny(a);
	if (a->trust == TRUST_AGENT) {
		report_agent(a);
		return;
	}
	item_name(a->m, item, &name);
	report(a, SEVERITY_WARNING, RULE, "", 0,
	       "not its role: %s was raised by the same agent, and is for others to decide",
	       quoted(buf_str(&name), q));
	buf_release(&name);
}

/* A protocol's messages decide what was raised in that protocol: ids mean nothing elsewhere. */
static bool is_of_dialect(const struct apply_ctx *a, const struct item *item)
{
	return message_route(a->m, item->steps[0].message)->dialect == a->msg->dialect;
}

bool trust_allows_step(struct apply_ctx *a, const struct item *item, enum step_kind what)
{
	enum permission decide = permissions[a->trust][ACT_DECIDE];

	if (is_ambiguous(a) || (what == STEP_DECIDED && !is_of_dialect(a, item)))
		return false;
	if (what == STEP_DECIDED && (decide == NO || (decide == OTHERS && is_its_own(a, item)))) {
		refuse_decision(a, item);
		return false;
	}
	if (!a->denied || a->reply)
		return true;
	if (what == STEP_DECIDED)
		note_refusal(a, (uint32_t)(item - a->m->items.v));
	return (what == STEP_SUPERSEDED || what == STEP_FIXED || what == STEP_WITHDRAWN) &&
	       is_its_own(a, item);
}

bool trust_allows_raise(const struct apply_ctx *a, const struct item *item)
{
	return !a->denied || is_its_own(a, item);
}
