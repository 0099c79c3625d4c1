/* Who may do what. The origin of a message (enum trust) decides, not what the message says of itself:
 *
 *              report  raise  acknowledge  direct  decide
 *   log        yes     yes    yes          yes     what others raised
 *   agent      yes     yes    yes          yes     no
 *   reply      yes     no     yes          yes     yes
 *   journal    yes     no     yes          yes     yes
 *
 * "Direct" is giving out tasks and reviews, and aborting them; items that this would close are
 * decided by it. Requests of feedback and whatever the orchestrator says decide, too: they speak for
 * whoever runs the agents.
 *
 * It is asked at two places: before a message is applied (trust_screen), and where alone items change
 * (trust_allows_step). What is refused is kept and marked RECORD_NOT_ITS_ROLE.
 *
 * Rules deny a message (trust_deny) that is invalid in its identity or authority: it still raises
 * items and supersedes those of its own sender, but touches no others. */
#ifndef GAVEL_MODEL_TRUST_H
#define GAVEL_MODEL_TRUST_H

#include "model/model.h"

struct apply_ctx;

/* Sets the sender of an agent's own message to that agent, where the protocol has agents' names from
 * their orchestrator, or none; others say who they are themselves. Notes what it claimed to be. */
void trust_attribute(struct message *msg, const struct place *place);
/* Removes the events that its origin may not cause; what only the orchestrator says is then the
 * speaker's. false: there were some. */
bool trust_screen(struct message *msg, const struct place *place, struct str *refused);
/* Reports on the message what trust_screen has removed; refused: the id that it would have decided. */
void trust_report(struct apply_ctx *a, struct str refused);
/* Notes who an agent's own message claimed to be from, after it was applied. */
void trust_note_claim(struct apply_ctx *a, const struct actor *claimed, struct str speaker);
/* Notes from which origins an agent has spoken; called when that is new. */
void trust_note_sender(struct model *m, const struct route *route, uint32_t message);
void trust_deny(struct apply_ctx *a);
/* Whether the message being applied may add that step to an item. */
bool trust_allows_step(struct apply_ctx *a, const struct item *item, enum step_kind what);
/* Whether it may raise an item again that exists already. */
bool trust_allows_raise(const struct apply_ctx *a, const struct item *item);

#endif
