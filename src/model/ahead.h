/* Software prefetch for model_apply. Lookups in a big model's maps are cache misses. The loader
 * (session/load_threads.c), which has messages queued before they are applied, calls ahead_of for each in
 * stages: each stage reads what the one before has prefetched and prefetches the next level, so
 * that most of what a message needs is in the cache when it is applied.
 *
 * A hint only: the model does not change, and a message without prefetch is applied the same way,
 * only slower. Its names must have been hashed (message_hash). */
#ifndef GAVEL_MODEL_AHEAD_H
#define GAVEL_MODEL_AHEAD_H

#include "model/model.h"

/* The keys of the names of consecutive messages, contiguous in memory. Each name passes a pipeline:
 * prefetch its hash slot, guess its number, prefetch its text and entities, compare the text. */
struct ahead_names {
	struct name_key *keys; /* followed by AHEAD_PADDING zeroed ones */
	uint32_t known;        /* number of keys that have passed all stages */
};
enum { AHEAD_PADDING = 32 };

enum ahead_step {
	AHEAD_HEAD,   /* the message itself: another core may have decoded it */
	AHEAD_EVENTS, /* its events */
	AHEAD_FILED,  /* its names, and the entities looked up by them */
	AHEAD_STEPS
};

/* Call the stages of a message with at least one model_apply in between, so that the prefetches
 * have completed. */
void ahead_of(const struct model *m, struct ahead_names *names, const struct message *msg,
	      enum ahead_step step);

#endif
