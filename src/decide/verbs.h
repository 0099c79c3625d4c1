/* Which verbs an item's dialect can say. Deciding and writing come on top of this. */
#ifndef GAVEL_DECIDE_VERBS_H
#define GAVEL_DECIDE_VERBS_H

#include "decide/decision.h"
#include "model/model.h"

/* CAN_…. never_expires tells a question that is an event from one that is a request. */
unsigned verbs_of(enum dialect_id dialect, enum item_kind kind, bool never_expires);
/* Those of an item as it stands, open or not; none for one that cannot be decided. What an
 * escalation queue passes on takes the verbs of its own dialect. */
unsigned verbs_of_item(const struct model *m, const struct item *item,
		       const struct item_state *state);

/* Why the item does not take a verb that is not among `verbs`, and which it takes: a sentence. */
void verb_refusal(enum verb v, unsigned verbs, const struct item_state *state, struct buf *out);

/* What else a verb needs: reject a reason code or an explanation, partial an explanation, answer an
 * answer. A sentence, or NULL when nothing is lacking. */
const char *verb_lacks(enum verb v, struct str reason_code, struct str explanation, struct str answer);

#endif
