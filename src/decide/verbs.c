/* Which verbs an item takes, by its encoder's table, and what they need. */
#include "decide/verbs.h"

#include "decide/plan.h"

unsigned verbs_of(enum dialect_id dialect, enum item_kind kind, bool never_expires)
{
	const struct item_verbs *row = encoders[dialect]->verbs;

	while (row && row->verbs && (row->kind != kind || (row->never_expires && !never_expires)))
		row++;
	return row ? row->verbs : 0;
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
	return state->bare ? verbs & ~(unsigned)CAN_PARTIAL : verbs;
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
