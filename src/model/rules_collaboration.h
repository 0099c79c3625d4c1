/* Internal to the rules of collaboration: what rules_collaboration.c (events become steps of tasks
 * and reviews) needs from rules_collaboration_head.c and rules_collaboration_work.c. */
#ifndef GAVEL_MODEL_RULES_COLLABORATION_H
#define GAVEL_MODEL_RULES_COLLABORATION_H

#include "model/rules.h"

#define RULE(id) "collaboration/" id

/* Checks agents, sequence number and reply. Returns the message that this one replies to, or
 * NONE. */
uint32_t check_head(struct apply_ctx *a);
/* Related messages share a correlation. chain: that of an earlier message's record, 0 = it has
 * none; what: names that message in the diagnostic. */
void check_chain(struct apply_ctx *a, uint32_t chain, const char *what);

/* For messages that are work on a task or a review. */
void check_aborted(struct apply_ctx *a);
/* e: progress or completion of t, which was assigned. */
void check_work(struct apply_ctx *a, const struct event *e, const struct task *t);
/* EV_TASK_SCOPE and EV_TASK_FILE */
void apply_scope(struct apply_ctx *a, const struct event *e);
void check_scope(struct apply_ctx *a, const struct event *e);

#endif
