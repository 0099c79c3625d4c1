/* Bringing near what is needed soon. A big model's maps lie all over memory, and applying a message
 * would wait for each look at them. Whoever has messages before they are applied (cmd/load_ahead.c)
 * tells of each first, in steps: each looks at what the one before has had brought, and has more
 * brought, so that nobody waits, and most of what a message needs is there when it is applied.
 *
 * These are hints: nothing of the model changes, and a message of which nobody has told is applied
 * the same way, only later. Its names must have been hashed (message_hash). */
#ifndef GAVEL_MODEL_AHEAD_H
#define GAVEL_MODEL_AHEAD_H

#include "model/model.h"

enum ahead_step {
	AHEAD_HEAD,   /* the message itself: another processor may have decoded it */
	AHEAD_EVENTS, /* its events */
	AHEAD_SLOTS,  /* its words, and where the numbers of its names are */
	AHEAD_NAMES,  /* which numbers these are, in all likelihood */
	AHEAD_TEXTS,  /* the names themselves, and what they were last given to */
	AHEAD_KNOWN,  /* whether they are the same, for the message to remember, and what is filed
		       * under them */
	AHEAD_STEPS
};

/* One message is applied between two steps of another: what is asked for is there by then. */
void ahead_of(const struct model *m, struct message *msg, enum ahead_step step);

#endif
