/* Ids of messages: which message had one first, and whether another with that id says the same.
 *
 * Memory is counted by the message, so neither ids nor whole hashes are kept: 12 bytes an id and 3
 * for the buckets (more where more ids were expected than came), a fifth of a byte for every message,
 * whatever the size, with no old table beside a new one. Nearly every id is new: its bucket alone mostly tells so, and the ids in it are not
 * looked at, which would be far away in memory. Of an id's hash 60 bits tell (among ten million
 * ids, two are taken for one with a chance of 1 in 20 000), of the content's 16: it is asked for
 * only where ids are equal, and the caller compares what else it knows. */
#ifndef GAVEL_MODEL_IDS_H
#define GAVEL_MODEL_IDS_H

#include "base/heap.h"

struct id_entry {
	uint32_t next;     /* id in the same bucket, or NONE */
	uint32_t hash_low; /* 48 bits of the id's hash; 12 more are the bucket's */
	uint16_t hash_high;
	uint16_t content;
};

_Static_assert(sizeof(struct id_entry) == 12, "memory is counted by the message");

struct __attribute__((packed, aligned(4))) id_bucket {
	uint64_t marks;  /* three bits for each id in it */
	uint32_t newest; /* id, or NONE */
};

_Static_assert(sizeof(struct id_bucket) == 12, "so is this, for every four of them");

struct ids {
	HVEC(struct id_entry) of; /* the messages that have an id, in their order */
	HVEC(uint64_t) has;       /* a bit a message: it has one */
	HVEC(uint32_t) before;    /* ids before every 64 messages */
	HVEC(struct id_bucket) buckets;
	uint32_t half;            /* the largest power of two up to buckets.n */
	uint32_t n;               /* ids filed */
};

/* Prefetches what ids_find will read. */
void ids_prefetch(const struct ids *t, uint64_t hash);
/* The message filed under this hash of an id, or NONE. */
uint32_t ids_find(const struct ids *t, uint64_t hash);
/* message is greater than all before it, hash not filed yet. */
void ids_add(struct heap *h, struct ids *t, uint64_t hash, uint64_t content, uint32_t message);
/* message is filed. */
bool ids_same_content(const struct ids *t, uint32_t message, uint64_t content);

#endif
