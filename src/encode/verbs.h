/* Which verbs an item takes (accept, reject, answer …), for a first decision and for a correction.
 * The only authority: the UI, gavel decide, the JSON output and the plan all ask here. What each
 * verb requires besides: draft_missing. */
#ifndef GAVEL_ENCODE_VERBS_H
#define GAVEL_ENCODE_VERBS_H

#include "decide/desk.h"

/* The verbs (CAN_…) that the item's dialect has for it, open or not; none if it is undecidable. An
 * item from an escalation queue takes those of its original dialect. */
unsigned verbs_of_item(const struct model *m, const struct item *item,
		       const struct item_state *state);

/* Whether who asks waits for the answer, so that the verb is sent at once and not staged for later: all
 * of real agents, and the answer to a question with a deadline. */
bool verb_is_at_once(const struct model *m, const struct draft *draft);

/* The verbs it takes now: none once it is closed. */
unsigned verbs_allowed(const struct model *m, const struct item *item,
		     const struct item_state *state);
/* Whether it takes this verb now; if not, appends a sentence that says why. */
bool verb_is_allowed(enum verb v, const struct model *m, const struct item *item,
		   const struct item_state *state, struct buf *why);

/* The input that the item's output answers by the person's word, its line (0 = none given); NONE if
 * it is none of those that output_inputs lists. */
uint32_t chosen_input(const struct model *m, const struct item_state *state, uint32_t line);
/* Whether it is known which input the item's output answers, as far as the verb needs it; if not,
 * appends a sentence that says why. True for all other items, unless a line is given. */
bool input_is_chosen(const struct model *m, const struct item *item, const struct item_state *state,
		     enum verb verb, uint32_t line, struct buf *why);

/* The same for a draft that is bound to its item; one that corrects a decision of the same raise may
 * be said although the item is not open. */
bool draft_is_allowed(const struct draft *draft, const struct model *m, const struct item *item,
		      struct item_state at, struct buf *why);

enum { CORRECTS_OTHERS = UINT32_MAX - 1 };

/* Whether a draft may be staged, as of the first k messages; if not, appends why: who decided what,
 * and what can still be said. corrects: NULL for a first decision; otherwise a correction is
 * allowed where the protocol has a message for it, and *corrects is set to the draft that it
 * corrects, CORRECTS_OTHERS for a decision that was not made here, or NONE if it is a first one. */
bool desk_allows(const struct desk *d, const struct draft *draft, const struct model *m, uint32_t k,
		int64_t wall_ms, uint32_t *corrects, struct buf *why);
/* The draft's `corrects` for that. */
static inline struct str corrects_name(const struct desk *d, uint32_t corrects)
{
	return corrects == NONE		     ? STR_NONE
	       : corrects == CORRECTS_OTHERS ? STR("others")
					     : str_of(d->drafts.v[corrects].id);
}

/* "it was decided already: accepted by root at 12:30:01, sent" */
void add_decided(const struct model *m, const struct item_state *at, struct buf *out);
/* The same of the item that a draft is bound to, with the words of the decision if it was made here. */
void add_standing(const struct desk *d, const struct draft *draft, const struct model *m, uint32_t k,
		  struct buf *out);

#endif
