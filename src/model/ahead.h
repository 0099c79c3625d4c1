/* Bringing near what is needed soon. A big model's maps lie all over memory, and applying a message
 * would wait for each look at them. Whoever has messages before they are applied (cmd/load_ahead.c)
 * tells of each first, AHEAD_FAR messages before its turn and again AHEAD_NEAR before it, and most
 * of what it needs is there when it is applied.
 *
 * These are hints: nothing of the model changes, and a message of which nobody has told is applied
 * the same way, only later. Its names must have been hashed (message_hash). */
#ifndef GAVEL_MODEL_AHEAD_H
#define GAVEL_MODEL_AHEAD_H

#include "model/model.h"

enum { AHEAD_FAR = 8, AHEAD_NEAR = 4 };

/* Its names will be looked up. */
void ahead_far(const struct model *m, const struct message *msg);
/* Looks them up, for the message to remember, and has come what is filed under them. */
void ahead_near(const struct model *m, struct message *msg);

#endif
