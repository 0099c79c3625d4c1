/* The table of verbs by dialect and kind. Escalation is always possible: what a protocol cannot say
 * goes to the escalation queue. */
#include "decide/verbs.h"

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

unsigned verbs_of(enum dialect_id dialect, enum item_kind kind, bool never_expires)
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

void verb_refusal(enum verb v, unsigned verbs, const struct item_state *state, struct buf *out)
{
	if (state->bare && v == VERB_PARTIAL)
		buf_adds(out, "changes are requested by findings, and this review has none");
	else
		buf_printf(out, "its protocol cannot say %s here", verb_name(v));
	buf_adds(out, "; it can say");
	for (int i = 0; i < VERB_COUNT; i++)
		if (verbs & 1u << i)
			buf_printf(out, " %s", verb_name((enum verb)i));
}

const char *verb_lacks(enum verb v, struct str reason_code, struct str explanation, struct str answer)
{
	switch (v) {
	case VERB_REJECT:
		if (!str_trim(reason_code).n && !str_trim(explanation).n)
			return "a rejection needs a reason code or an explanation";
		break;
	case VERB_PARTIAL:
		if (!str_trim(explanation).n)
			return "accepting in part needs an explanation of what is taken and what not";
		break;
	case VERB_ANSWER:
		if (!str_trim(answer).n)
			return "an answer needs its text";
		break;
	case VERB_ACCEPT:
	case VERB_DISMISS:
	case VERB_ESCALATE:
	case VERB_COUNT: break;
	}
	return NULL;
}
