/* Which verbs an item takes and what a decision must carry. The only place that knows: the UI,
 * gavel decide, the JSON output and the plan ask here, for a first decision as for a correction. */
#ifndef GAVEL_ENCODE_VERBS_H
#define GAVEL_ENCODE_VERBS_H

#include "decide/desk.h"

/* The verbs that an item's dialect has for it (CAN_…), open or not; none for one that cannot be
 * decided. What an escalation queue passes on takes the verbs of its own dialect. */
unsigned verbs_of_item(const struct model *m, const struct item *item,
		       const struct item_state *state);

/* Those that it takes now: none once it is closed. A first decision passes the state of item_at. A
 * correction passes that of item_without_overlay: what was decided here does not close the item for it, what
 * the log says does. */
unsigned verbs_taken(const struct model *m, const struct item *item,
		     const struct item_state *state);
/* Whether the verb is one of them; if not, a sentence that says why is appended to `why`. */
bool verb_is_taken(enum verb v, const struct model *m, const struct item *item,
		   const struct item_state *state, struct buf *why);

/* Whether the item that a draft is bound to takes its verb as of the first k messages, at that time;
 * if not, a sentence that says why is appended. corrects: NULL for a first decision; otherwise it
 * may follow one on the same revision that was written, whose number is put there, or NONE. */
bool desk_takes(const struct desk *d, const struct draft *draft, const struct model *m, uint32_t k,
		int64_t now_ms, uint32_t *corrects, struct buf *why);

#endif
