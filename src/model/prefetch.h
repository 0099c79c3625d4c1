/* Software prefetch for model_apply, and for loops over a whole model.
 *
 * Applying a message to a big model would wait for several cache misses. So the loader
 * (session/load_threads.c), which has messages before they are applied, calls prefetch_message for
 * each in steps: each step reads what the previous one prefetched and prefetches what that leads
 * to. The names of messages go through a pipeline of their own.
 *
 * All this is a hint: it does not change the model, and a message that was not prefetched is
 * applied with the same result. Its names must have been hashed (message_hash). */
#ifndef GAVEL_MODEL_PREFETCH_H
#define GAVEL_MODEL_PREFETCH_H

#include "model/model.h"

/* The names of consecutive messages, whose keys are consecutive as well. Each passes four stages
 * while others are in flight: its slot in the map, the number that this most probably is, its text
 * and the entity it was last given to, and the comparison of the text. */
struct prefetch_names {
	struct name_key *keys; /* followed by PREFETCH_PADDING empty ones */
	uint32_t known;        /* how many have passed all stages */
};
enum { PREFETCH_PADDING = 32 };

enum prefetch_step {
	PREFETCH_HEAD,     /* the message itself: another processor may have decoded it */
	PREFETCH_EVENTS,   /* its events */
	PREFETCH_ENTITIES, /* its names, and the entities of these names */
	PREFETCH_STEPS
};

/* One message is applied between two steps of another: by then the memory has arrived. */
void prefetch_message(const struct model *m, struct prefetch_names *names,
		      const struct message *msg, enum prefetch_step step);

/* For loops over all items, tasks or reviews that look at their steps, which are anywhere in the
 * heap: called with the number of each, these prefetch the first and last step of a later one. */
enum { PREFETCH_DISTANCE = 16 };

static inline void steps_prefetch(const void *steps, uint32_t n, size_t size)
{
	mem_prefetch(steps);
	mem_prefetch((const void *)((uintptr_t)steps + (n ? n - 1 : 0) * size));
}

static inline void items_prefetch(const struct model *m, uint32_t number)
{
	if (number + PREFETCH_DISTANCE < m->items.n) {
		const struct item *later = &m->items.v[number + PREFETCH_DISTANCE];

		steps_prefetch(later->steps, later->n, sizeof(*later->steps));
	}
}

static inline void tasks_prefetch(const struct model *m, uint32_t number)
{
	if (number + PREFETCH_DISTANCE < m->tasks.n) {
		const struct task *later = &m->tasks.v[number + PREFETCH_DISTANCE];

		steps_prefetch(later->steps.v, later->steps.n, sizeof(*later->steps.v));
	}
}

static inline void reviews_prefetch(const struct model *m, uint32_t number)
{
	if (number + PREFETCH_DISTANCE < m->reviews.n) {
		const struct review *later = &m->reviews.v[number + PREFETCH_DISTANCE];

		steps_prefetch(later->steps.v, later->steps.n, sizeof(*later->steps.v));
	}
}

#endif
