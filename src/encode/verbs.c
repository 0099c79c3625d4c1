/* Which verbs an item takes: the encoders' tables (struct item_verbs), and the item's state. */
#include "encode/verbs.h"

#include "encode/plan.h"

/* never_expires: the item has no deadline, like a question that is an event and no request. */
static unsigned verbs_of(enum dialect_id dialect, enum item_kind kind, bool never_expires)
{
	const struct item_verbs *row = encoders[dialect]->verbs;

	while (row && row->verbs && (row->kind != kind || (row->never_expires && !never_expires)))
		row++;
	return row ? row->verbs : 0;
}

unsigned verbs_of_item(const struct model *m, const struct item *item,
		       const struct item_state *state)
{
	bool never_expires = !item->dated; /* a queue entry carries the deadline, too */
	unsigned verbs;

	if (state->undecidable)
		return 0;
	if (item->origin_dialect)
		verbs = verbs_of((enum dialect_id)item->origin_dialect,
				 (enum item_kind)item->origin_kind, never_expires);
	else
		verbs = verbs_of((enum dialect_id)message_route(m, state->message)->dialect,
				 (enum item_kind)item->kind, never_expires);
	return state->no_findings ? verbs & ~(unsigned)CAN_PARTIAL : verbs;
}

unsigned verbs_allowed(const struct model *m, const struct item *item,
		     const struct item_state *state)
{
	return state->open ? verbs_of_item(m, item, state) : 0;
}

bool verb_is_allowed(enum verb v, const struct model *m, const struct item *item,
		   const struct item_state *state, struct buf *why)
{
	unsigned verbs = verbs_allowed(m, item, state);

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
	if (state->no_findings && v == VERB_PARTIAL)
		buf_adds(why, "changes are requested by findings, and this review has none");
	else
		buf_printf(why, "its protocol cannot say %s here", verb_name(v));
	buf_adds(why, "; it can say");
	for (int i = 0; i < VERB_COUNT; i++)
		if (verbs & 1u << i)
			buf_printf(why, " %s", verb_name((enum verb)i));
	return false;
}

bool desk_allows(const struct desk *d, const struct draft *draft, const struct model *m, uint32_t k,
		int64_t now_ms, uint32_t *corrects, struct buf *why)
{
	const struct item *item = &m->items.v[draft->number];
	struct item_state at;

	if (corrects)
		*corrects = desk_find_written(d, draft);
	if (corrects && *corrects != NONE)
		item_without_overlay(m, item, k, now_ms, &at);
	else
		item_at(m, item, k, now_ms, &at);
	return verb_is_allowed(draft->verb, m, item, &at, why);
}
