/* Which verbs an item takes: the encoders' tables (struct item_verbs), and the item's state. */
#include "encode/verbs.h"

#include "decide/records.h"
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
	/* a queue entry carries the deadline, too */
	bool never_expires = state->deadline_ms == TIME_NONE;
	unsigned verbs;

	if (state->undecidable)
		return 0;
	if (item->origin_dialect)
		verbs = verbs_of((enum dialect_id)item->origin_dialect,
				 (enum item_kind)item->origin_kind, never_expires);
	else
		verbs = verbs_of((enum dialect_id)message_route(m, state->message)->dialect,
				 (enum item_kind)item->kind, never_expires);
	verbs &= state->no_findings ? ~(unsigned)CAN_PARTIAL : ~0u;
	return state->no_always ? verbs & ~(unsigned)CAN_ALWAYS : verbs;
}

bool verb_is_at_once(const struct model *m, const struct draft *draft)
{
	const struct item *item = &m->items.v[draft->number];

	if (draft->verb == VERB_DISMISS)
		return false;
	if (encoders[draft->dialect]->at_once)
		return true;
	return draft->verb == VERB_ANSWER && item_deadline(m, item, m->records.n) != TIME_NONE;
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
	const char *between = "; available: ";

	if (verbs & 1u << v)
		return true;
	if (state->undecidable) {
		if (state->iteration == UINT32_MAX) /* clamped by the model */
			buf_printf(why,
				   "its iteration is above %u, where iterations cannot be told apart; "
				   "it cannot be decided",
				   UINT32_MAX);
		else
			buf_adds(why, "its message is ambiguous or damaged; it cannot be decided");
		return false;
	}
	if (!state->open) {
		const struct encoder_ops *encoder =
			encoders[message_route(m, state->message)->dialect];

		if (item_over_reason(m, state))
			buf_printf(why, "too late: %s", item_over_reason(m, state));
		else if (state->verdict != VERDICT_SUPERSEDED || !encoder->is_final)
			buf_printf(why, "no longer open (%s)",
				   verdict_name(state->verdict));
		else
			encoder->is_final(m, item, state, why);
		return false;
	}
	if (state->no_findings && v == VERB_PARTIAL)
		buf_adds(why, "changes are requested by findings, and this review has none");
	else
		buf_adds(why, verb_refusal(v));
	for (int i = 0; i < VERB_COUNT; i++)
		if (verbs & 1u << i) {
			buf_printf(why, "%s%s", between, verb_name((enum verb)i));
			between = ", ";
		}
	return false;
}

void add_decided(const struct model *m, const struct item_state *at, struct buf *out)
{
	struct str by = item_by(m, at);
	char clock[32];

	if (item_over_reason(m, at)) {
		buf_printf(out, "too late: %s", item_over_reason(m, at));
		return;
	}
	if (at->verdict == VERDICT_SUPERSEDED) {
		buf_adds(out, "superseded: the session went on without a decision");
		return;
	}
	buf_printf(out, "already decided: %s", verdict_name(at->verdict));
	if (by.n)
		buf_printf(out, " by %.*s%s", STR_ARG(by), item_by_origin(m, at));
	if (at->person_ms != TIME_NONE)
		buf_printf(out, " at %s", timestamp_clock(at->person_ms, clock));
	if (at->delivery != DELIVERY_NONE)
		buf_printf(out, ", %s", delivery_name(at->delivery));
}

/* The words of a decision that was made here. */
static void add_words(const struct draft *draft, struct buf *out)
{
	struct str words = draft->answer.n	  ? draft->answer
			   : draft->explanation.n ? draft->explanation
						  : draft->reason_code;
	char q[QUOTED_MAX];

	if (words.n)
		buf_printf(out, ": %s", quoted(words, q));
}

void add_standing(const struct desk *d, const struct draft *draft, const struct model *m, uint32_t k,
		  struct buf *out)
{
	uint32_t written = desk_find_written(d, draft);
	struct item_state at;

	item_at(m, &m->items.v[draft->number], k, TIME_NONE, &at);
	add_decided(m, &at, out);
	if (written != NONE)
		add_words(&d->drafts.v[written], out);
}

/* Whether a decision on an item that is decided can be said at all, after the one that stands. */
static bool can_be_corrected(const struct desk *d, uint32_t written, const struct model *m,
			     const struct item *item, const struct item_state *at, struct buf *why)
{
	const struct encoder_ops *encoder = encoders[message_route(m, at->message)->dialect];
	const struct letter *l =
		written == NONE ? NULL : draft_letter(d, &d->drafts.v[written]);
	struct item_state said;

	if (l && letter_is_unfinished(l)) {
		buf_adds(why, "its message is not sent yet; send or abandon it first");
		return false;
	}
	if (d->team) {
		buf_adds(why, "what a team has decided stands");
		return false;
	}
	item_without_overlay(m, item, m->records.n, TIME_NONE, &said);
	if (said.open)
		return true; /* nothing was said to an agent */
	if (said.delivery == DELIVERY_NONE && said.verdict != VERDICT_SUPERSEDED) {
		buf_adds(why, "only a person's decision can be corrected");
		return false;
	}
	return !encoder->is_final || !encoder->is_final(m, item, at, why);
}

bool draft_is_allowed(const struct draft *draft, const struct model *m, const struct item *item,
		      struct item_state at, struct buf *why)
{
	if (draft->corrects.n && at.anew == draft->raise)
		at.open = true;
	return verb_is_allowed(draft->verb, m, item, &at, why);
}

/* An input has one output: false, and why, if the person said of another one that it answers it. */
static bool input_is_free(const struct desk *d, const struct draft *draft, const struct model *m,
			  uint32_t input, struct buf *why)
{
	for (uint32_t i = 0; input != NONE && i < d->drafts.n; i++) {
		const struct draft *other = &d->drafts.v[i];
		struct item_state at;

		if (other->state == DRAFT_VOID || other->input != draft->input ||
		    other->number == NONE || other->number == draft->number ||
		    !item_at(m, &m->items.v[other->number], m->records.n, TIME_NONE, &at) ||
		    chosen_input(m, &at, other->input) != input)
			continue;
		buf_printf(why, "the input in line %u is already answered by ", draft->input);
		buf_add_str(why, other->item);
		buf_adds(why, "; choose another input, or undo that");
		return false;
	}
	return true;
}

static bool takes_draft(const struct desk *d, const struct draft *draft, const struct model *m,
			const struct item *item, const struct item_state *at, struct buf *why)
{
	return verb_is_allowed(draft->verb, m, item, at, why) &&
	       input_is_chosen(m, item, at, draft->verb, draft->input, why) &&
	       input_is_free(d, draft, m, chosen_input(m, at, draft->input), why);
}

bool desk_allows(const struct desk *d, const struct draft *draft, const struct model *m, uint32_t k,
		int64_t wall_ms, uint32_t *corrects, struct buf *why)
{
	const struct item *item = &m->items.v[draft->number];
	uint32_t written = desk_find_written(d, draft);
	struct buf final = { 0 };
	struct item_state at;
	bool correctable;

	if (corrects)
		*corrects = NONE;
	if (d->team && d->team->refuses && d->team->refuses(d->team->ctx, draft->number, why))
		return false;
	item_at(m, item, k, wall_ms, &at);
	if (at.open || at.verdict == VERDICT_NONE || at.verdict == VERDICT_EXPIRED ||
	    at.verdict == VERDICT_WITHDRAWN || at.undecidable)
		return takes_draft(d, draft, m, item, &at, why);
	correctable = can_be_corrected(d, written, m, item, &at, &final);
	if (corrects && correctable) {
		*corrects = written == NONE ? CORRECTS_OTHERS : written;
		at.open = true;
		buf_release(&final);
		return takes_draft(d, draft, m, item, &at, why);
	}
	add_standing(d, draft, m, k, why);
	if (final.n)
		buf_printf(why, "; %s", final.p);
	else if (correctable)
		buf_adds(why, "; a correction must be marked as one");
	buf_release(&final);
	return false;
}
