/* Hash table from message id to the first message with that id, to detect repeated and duplicate
 * ids.
 *
 * Memory is budgeted per message, so neither ids nor full hashes are stored: 12 bytes per id and 3
 * for the buckets (more where more ids were expected than came), a fifth of a byte per message, at
 * any size, without a second table while growing. Nearly every id is new, which the Bloom filter of
 * its bucket usually tells without a cache miss on the chain. 60 bits of an id's hash are compared
 * (a false match among ten million ids has a probability of 1 in 20 000) and 16 of the content's,
 * which matter only for equal ids; the caller compares what else it knows. */
#ifndef GAVEL_MODEL_IDS_H
#define GAVEL_MODEL_IDS_H

#include "base/heap.h"

struct id_entry {
	uint32_t next;     /* id in the same bucket, or NONE */
	uint32_t hash_low; /* 48 bits of the id's hash; 12 more are implied by the bucket */
	uint16_t hash_high;
	uint16_t content;
};

_Static_assert(sizeof(struct id_entry) == 12, "memory is counted by the message");

struct __attribute__((packed, aligned(4))) id_bucket {
	uint64_t marks;  /* Bloom filter, three bits per id */
	uint32_t newest; /* id, or NONE */
};

_Static_assert(sizeof(struct id_bucket) == 12, "so is this, for every four of them");

struct ids {
	HVEC(struct id_entry) of; /* one per message that has an id, in order */
	HVEC(uint64_t) has;       /* bitmap of messages that have an id */
	HVEC(uint32_t) before;    /* by word of `has`: number of ids before it */
	HVEC(struct id_bucket) buckets;
	uint32_t half;            /* the largest power of two up to buckets.n */
	uint32_t n;               /* number of ids */
};

/* Prefetches the bucket for ids_find. */
void ids_fetch(const struct ids *t, uint64_t hash);
/* The first message with an id of this hash, or NONE. */
uint32_t ids_find(const struct ids *t, uint64_t hash);
/* message must be greater than all added before, hash not in the table. */
void ids_add(struct heap *h, struct ids *t, uint64_t hash, uint64_t content, uint32_t message);
/* message must be in the table. */
bool ids_same_content(const struct ids *t, uint32_t message, uint64_t content);

#endif
