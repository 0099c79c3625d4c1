/* Which verbs an item takes and what a decision must carry. The only place that knows: the UI,
 * gavel decide, the JSON output and the plan ask here, for a first decision as for a correction. */
#ifndef GAVEL_DECIDE_VERBS_H
#define GAVEL_DECIDE_VERBS_H

#include "model/model.h"

struct draft;

enum verb {
	VERB_ACCEPT,
	VERB_PARTIAL,
	VERB_REJECT,
	VERB_ANSWER,
	VERB_DISMISS,
	VERB_ESCALATE,
	VERB_COUNT
};

const char *verb_name(enum verb v);
bool verb_named(struct str name, enum verb *out);

/* The verbs that an item's dialect has for it, bits 1 << VERB_…, open or not; none for one that
 * cannot be decided. What an escalation queue passes on takes the verbs of its own dialect. */
unsigned verbs_of_item(const struct model *m, const struct item *item,
		       const struct item_state *state);

/* Those that it takes now: none once it is closed. A first decision passes the state of item_at. A
 * correction passes that of item_in_log: what was decided here does not close the item for it, what
 * the log says does. */
unsigned verbs_taken(const struct model *m, const struct item *item,
		     const struct item_state *state);
/* Whether the verb is one of them; if not, a sentence that says why is appended to `why`. */
bool verb_is_taken(enum verb v, const struct model *m, const struct item *item,
		   const struct item_state *state, struct buf *why);

/* What a decision needs besides its verb and does not have: reject a reason code or an explanation,
 * partial an explanation, answer an answer. A sentence; NULL when it is complete. */
const char *draft_missing(const struct draft *d);

#endif
