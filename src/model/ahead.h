/* Bringing near what is needed soon. A big model's maps lie all over memory, and applying a message
 * would wait for each look at them. Whoever has messages before they are applied (session/load_threads.c)
 * tells of each first, and of its names, in steps: each looks at what the one before has had brought,
 * and has more brought, so that nobody waits, and most of what a message needs is there when it is
 * applied.
 *
 * These are hints: nothing of the model changes, and a message of which nobody has told is applied
 * the same way, only later. Its names must have been hashed (message_hash). */
#ifndef GAVEL_MODEL_AHEAD_H
#define GAVEL_MODEL_AHEAD_H

#include "model/model.h"

/* The names of messages that stand one behind the other, and so do their keys. Each name comes to be
 * known while others are on their way: where its number is, which number that is in all likelihood,
 * its text and what it was last given to, and whether the text is the same. */
struct ahead_names {
	struct name_key *keys; /* AHEAD_PADDING more of them, of nothing, behind the last */
	uint32_t known;        /* how many have come so far */
};
enum { AHEAD_PADDING = 32 };

enum ahead_step {
	AHEAD_HEAD,   /* the message itself: another processor may have decoded it */
	AHEAD_EVENTS, /* its events */
	AHEAD_FILED,  /* its names, and what is filed under them */
	AHEAD_STEPS
};

/* One message is applied between two steps of another: what is asked for is there by then. */
void ahead_of(const struct model *m, struct ahead_names *names, const struct message *msg,
	      enum ahead_step step);

#endif
