/* Rules of collaboration about the head of a message: known agents and their types, sequence
 * numbers, the message replied to, correlation. */
#include "model/rules_collaboration.h"

enum { SEQUENCE_REPORTS_MAX = 50 };

static void report_type(struct apply_ctx *a, const struct agent *agent, const char *at)
{
	char q[QUOTED_MAX];

	report(a, SEVERITY_WARNING, RULE("2.1-agent_type"), at, 0,
	       "the agent was of type %s in line %u%s", quoted(model_str(a->m, agent->type), q),
	       message_line(a->m, agent->first), reply_words(a->m, agent->first));
}

/* An agent has one type. A person is architect or reviewer as the decision requires, and addresses
 * agents of other types by what they do. */
static inline void check_type(struct apply_ctx *a, const struct agent *agent,
			      const struct actor *actor, const char *at)
{
	struct str type = model_str(a->m, agent->type);

	if (usually(str_eq(actor->type, type)) || !actor->type.n || !type.n)
		return;
	if (!a->msg->from.human && !actor->human && !agent->human)
		report_type(a, agent, at);
}

/* What an agent may do follows the type by which it was known first, whatever a later line claims. */
static void check_authority(struct apply_ctx *a, const struct agent *from)
{
	struct str type = model_str(a->m, from->type);

	if (!a->msg->from.human && !type_has_authority(type, (enum authority)a->msg->authority))
		trust_deny(a);
}

/* Some introduce agents without a type; the first one that is stated stays. */
static void note_type(struct model *m, struct agent *agent, const struct actor *actor)
{
	if (rarely(!model_str(m, agent->type).n) && actor->type.n)
		agent->type = model_intern(m, actor->type);
}

/* Whether the sender gives out work: as a person, or as the architect it was known as first. */
static bool is_leading(const struct apply_ctx *a, const struct agent *from)
{
	return a->msg->from.human ||
	       (str_is(a->msg->from.type, "architect") &&
		(!from || str_is(model_str(a->m, from->type), "architect")));
}

static void report_unknown(struct apply_ctx *a, const char *rule, const char *at, struct str id)
{
	char q[QUOTED_MAX];

	report(a, rules_of(a)->saw_architect ? SEVERITY_ERROR : SEVERITY_WARNING, rule, at, 0,
	       "%s is not known in this session: no architect has spoken to it", quoted(id, q));
}

/* An agent is known once an architect has sent it a message, or if it speaks as an architect; sender
 * and receiver of the first message are known, too. */
static void check_agents(struct apply_ctx *a)
{
	struct model *m = a->m;
	struct session_rules *r = rules_of(a);
	struct agent *from = a->from == NONE ? NULL : &m->agents.v[a->from];
	struct agent *to = a->to == NONE ? NULL : &m->agents.v[a->to];
	bool leads;

	if (from)
		note_type(m, from, &a->msg->from);
	if (to)
		note_type(m, to, &a->msg->to);
	leads = is_leading(a, from);
	if (from) {
		if (r->saw_agents && !from->known && !leads) {
			report_unknown(a, RULE("6.2-from_agent"), "/from_agent/agent_id",
				       a->msg->from.id);
			from->unknown = r->saw_architect;
		}
		if (from->unknown)
			trust_deny(a);
		check_authority(a, from);
		check_type(a, from, &a->msg->from, "/from_agent/agent_type");
		from->known = true;
	}
	if (to) {
		if (r->saw_agents && !to->known && !leads && !to->human)
			report_unknown(a, RULE("6.2-to_agent"), "/to_agent/agent_id",
				       a->msg->to.id);
		check_type(a, to, &a->msg->to, "/to_agent/agent_type");
		to->known = true;
		to->unknown = to->unknown && !leads;
	}
	r->saw_agents |= from || to;
	r->saw_architect |= from && leads;
}

/* A gap breaks no order, but messages may be missing: a note.
 * A person's numbers are not checked: the person cannot know the agents' count at the time, and
 * agents may or may not have counted the person's messages. */
static void check_sequence(struct apply_ctx *a)
{
	struct session_rules *r = rules_of(a);
	int64_t now = a->msg->sequence, last = r->sequence;
	enum severity severity = now > last ? SEVERITY_NOTE : SEVERITY_WARNING;
	bool expected = last < 0 || now - 1 == last || (now > last && now <= r->person_next);

	if (now < 0)
		return;
	if (a->msg->from.human) {
		if (now >= r->person_next)
			r->person_next = now == INT64_MAX ? now : now + 1;
		return;
	}
	if (!expected && r->sequence_reports <= SEQUENCE_REPORTS_MAX) {
		if (r->sequence_reports++ == SEQUENCE_REPORTS_MAX)
			report(a, severity, RULE("2.1-sequence_number"), "/sequence_number", 0,
			       "this session is not numbered in one order; not reported again");
		else if (now > last)
			report(a, severity, RULE("2.1-sequence_number"), "/sequence_number", 0,
			       "a gap: %lld after %lld", (long long)now, (long long)last);
		else
			report(a, severity, RULE("2.1-sequence_number"), "/sequence_number", 0,
			       "%s: %lld after %lld", now == last ? "a repeat" : "out of order",
			       (long long)now, (long long)last);
	}
	if (now > last)
		r->sequence = now;
}

int64_t model_sequence(const struct model *m, uint32_t session)
{
	const struct session_rules *r = m->sessions.v[session].rules;

	return r->sequence >= r->person_next ? r->sequence : r->person_next - 1;
}

void check_chain(struct apply_ctx *a, uint32_t chain, const char *what)
{
	uint32_t own = a->m->records.v[a->message].chain;

	if (!own || !chain || own == chain || a->chain_reported || a->msg->from.human)
		return;
	a->chain_reported = true;
	report(a, SEVERITY_WARNING, RULE("7.2-correlation_id"), "/correlation_id", 0,
	       "%s has another one; related messages share it", what);
}

/* A log may be read without the file that has a person's messages, to which agents reply. */
static bool is_with_person(const struct apply_ctx *a)
{
	return a->msg->from.human || (a->to != NONE && a->m->agents.v[a->to].human);
}

/* A task and a review may each have a correlation of their own, whatever led to them. */
static bool begins_chain(const struct message *msg)
{
	return msg->events.n &&
	       (msg->events.v[0].type == EV_TASK || msg->events.v[0].type == EV_REVIEW_ASK);
}

static uint32_t check_reply(struct apply_ctx *a)
{
	uint32_t replied = message_with_hash(a->m, a->session,
					     hash_known(a->msg->reply_to, a->msg->reply_hash));

	if (replied != NONE && replied != a->message) {
		if (!begins_chain(a->msg))
			check_chain(a, a->m->records.v[replied].chain, "the message it replies to");
		return replied;
	}
	if (replied == a->message)
		report(a, SEVERITY_WARNING, RULE("2.1-reply_to"), "/reply_to", 0,
		       "the message replies to itself");
	else if (!is_with_person(a))
		report(a, SEVERITY_WARNING, RULE("2.1-reply_to"), "/reply_to", 0,
		       "no earlier message of this session has this id");
	return NONE;
}

uint32_t check_head(struct apply_ctx *a)
{
	check_agents(a);
	check_sequence(a);
	return a->msg->reply_to.n ? check_reply(a) : NONE;
}
