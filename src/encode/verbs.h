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

/* The verbs it takes now: none once it is closed. For a first decision pass the state of item_at;
 * for a correction that of item_without_overlay, which only the log closes, not a decision made
 * here. */
unsigned verbs_allowed(const struct model *m, const struct item *item,
		     const struct item_state *state);
/* Whether it takes this verb now; if not, appends a sentence that says why. */
bool verb_is_allowed(enum verb v, const struct model *m, const struct item *item,
		   const struct item_state *state, struct buf *why);

/* The same for a draft that is bound to its item, as of the first k messages. corrects: NULL for a
 * first decision; otherwise a correction is allowed, and *corrects is set to the written draft on
 * the same revision, or NONE. */
bool desk_allows(const struct desk *d, const struct draft *draft, const struct model *m, uint32_t k,
		int64_t now_ms, uint32_t *corrects, struct buf *why);

#endif
