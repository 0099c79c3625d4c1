/* A priority queue (binary heap) of numbers by time, the earliest first; in a model's heap. Zero is
 * an empty one. Nothing is removed but the first: who pops an entry knows whether it still counts. */
#ifndef GAVEL_MODEL_DUE_QUEUE_H
#define GAVEL_MODEL_DUE_QUEUE_H

#include "base/heap.h"

struct due {
	int64_t time_ms;
	uint32_t number;
};

struct due_queue {
	HVEC(struct due) list;
};

void due_push(struct heap *h, struct due_queue *q, int64_t time_ms, uint32_t number);
/* Pops the earliest entry if its time is before time_ms; false: none is due. */
bool due_pop(struct due_queue *q, int64_t time_ms, uint32_t *number);

#endif
