/* The table of verbs by dialect and kind, and the rules on top of it. Escalation is always
 * possible: what a protocol cannot say goes to the escalation queue. */
#include "decide/decision.h"

#define ACCEPT (1u << VERB_ACCEPT)
#define PARTIAL (1u << VERB_PARTIAL)
#define REJECT (1u << VERB_REJECT)
#define ANSWER (1u << VERB_ANSWER)
#define DISMISS (1u << VERB_DISMISS)
#define ESCALATE (1u << VERB_ESCALATE)

static const struct {
	enum dialect_id dialect;
	enum item_kind kind;
	unsigned verbs;
} table[] = {
	{ DIALECT_FEEDBACK, ITEM_IMPROVEMENT, ACCEPT | PARTIAL | REJECT | ESCALATE },
	/* accept sends the same request again */
	{ DIALECT_FEEDBACK, ITEM_ERROR, ACCEPT | DISMISS | ESCALATE },
	{ DIALECT_COLLABORATION, ITEM_FINDING, ACCEPT | PARTIAL | REJECT | ESCALATE },
	{ DIALECT_COLLABORATION, ITEM_CHANGE, ACCEPT | PARTIAL | REJECT | ESCALATE },
	{ DIALECT_COLLABORATION, ITEM_VERDICT, ACCEPT | PARTIAL | REJECT | ESCALATE },
	{ DIALECT_COLLABORATION, ITEM_QUESTION, ANSWER | ESCALATE },
	{ DIALECT_COLLABORATION, ITEM_BLOCKED, ACCEPT | REJECT | ESCALATE },
	{ DIALECT_HANDOFF, ITEM_ESCALATION, ACCEPT | REJECT | ESCALATE },
	{ DIALECT_ENVELOPE, ITEM_ESCALATION, ACCEPT | REJECT | ESCALATE },
	{ DIALECT_ENVELOPE, ITEM_RETRY, ACCEPT | REJECT | ESCALATE },
	{ DIALECT_ORCHESTRATOR, ITEM_QUESTION, ANSWER | REJECT | ESCALATE },
	{ DIALECT_ORCHESTRATOR, ITEM_TASK, ACCEPT | REJECT | ESCALATE },
	{ DIALECT_ORCHESTRATOR, ITEM_ERROR, DISMISS | ESCALATE },
};

const char *verb_name(enum verb v)
{
	static const char *const names[] = { "accept", "partial", "reject",
					     "answer", "dismiss", "escalate" };

	return names[v];
}

bool verb_named(struct str name, enum verb *out)
{
	for (int v = 0; v < VERB_COUNT; v++)
		if (str_is(name, verb_name((enum verb)v))) {
			*out = (enum verb)v;
			return true;
		}
	return false;
}

/* never_expires tells a question that is an event from one that is a request. */
static unsigned verbs_of(enum dialect_id dialect, enum item_kind kind, bool never_expires)
{
	if (dialect == DIALECT_ORCHESTRATOR && kind == ITEM_QUESTION && never_expires)
		return ANSWER | DISMISS | ESCALATE;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		if (table[i].dialect == dialect && table[i].kind == kind)
			return table[i].verbs;
	return 0;
}

unsigned verbs_of_item(const struct model *m, const struct item *item,
		       const struct item_state *state)
{
	/* a queue's entry carries the deadline of a question that has one */
	bool never_expires = !item->dated;
	unsigned verbs;

	if (state->undecidable)
		return 0;
	if (item->origin_dialect)
		verbs = verbs_of((enum dialect_id)item->origin_dialect,
				 (enum item_kind)item->origin_kind, never_expires);
	else
		verbs = verbs_of((enum dialect_id)message_route(m, state->message)->dialect,
				 (enum item_kind)item->kind, never_expires);
	return state->bare ? verbs & ~PARTIAL : verbs;
}

unsigned verbs_taken(const struct model *m, const struct item *item,
		     const struct item_state *state)
{
	return state->open ? verbs_of_item(m, item, state) : 0;
}

bool verb_is_taken(enum verb v, const struct model *m, const struct item *item,
		   const struct item_state *state, struct buf *why)
{
	unsigned verbs = verbs_taken(m, item, state);

	if (verbs & 1u << v)
		return true;
	if (state->undecidable) {
		buf_adds(why, "its message is ambiguous or damaged; it cannot be decided");
		return false;
	}
	if (!state->open) {
		buf_printf(why, "it is not open any more (%s)", verdict_name(state->verdict));
		return false;
	}
	if (state->bare && v == VERB_PARTIAL)
		buf_adds(why, "changes are requested by findings, and this review has none");
	else
		buf_printf(why, "its protocol cannot say %s here", verb_name(v));
	buf_adds(why, "; it can say");
	for (int i = 0; i < VERB_COUNT; i++)
		if (verbs & 1u << i)
			buf_printf(why, " %s", verb_name((enum verb)i));
	return false;
}

const char *draft_missing(const struct draft *d)
{
	switch (d->verb) {
	case VERB_REJECT:
		if (!str_trim(d->reason_code).n && !str_trim(d->explanation).n)
			return "a rejection needs a reason code or an explanation";
		break;
	case VERB_PARTIAL:
		if (!str_trim(d->explanation).n)
			return "accepting in part needs an explanation of what is taken and what not";
		break;
	case VERB_ANSWER:
		if (!str_trim(d->answer).n)
			return "an answer needs its text";
		break;
	case VERB_ACCEPT:
	case VERB_DISMISS:
	case VERB_ESCALATE:
	case VERB_COUNT: break;
	}
	return NULL;
}
