/* A hash table of message ids: which message had an id first, and whether another message with it
 * has the same content.
 *
 * Memory per message matters, so neither ids nor whole hashes are stored: 12 bytes for each id, 3
 * for the buckets and a fifth of a byte for every message; the table grows in place. Nearly every
 * id is new: a Bloom filter in its bucket mostly shows that without a cache miss for the ids in it.
 * 60 bits of an id's hash are compared (among ten million ids, the chance of a collision is 1 in
 * 20 000), and 16 of the content's, where the caller compares more. */
#ifndef GAVEL_MODEL_IDS_H
#define GAVEL_MODEL_IDS_H

#include "base/heap.h"

struct id_entry {
	uint32_t next;     /* id in the same bucket, or NONE */
	uint32_t hash_low; /* 48 bits of the id's hash; 12 more are implied by the bucket */
	uint16_t hash_high;
	uint16_t content;
};

_Static_assert(sizeof(struct id_entry) == 12, "memory per message matters");

struct __attribute__((packed, aligned(4))) id_bucket {
	uint64_t bloom;  /* a Bloom filter: three bits for each id in it */
	uint32_t newest; /* id, or NONE */
};

_Static_assert(sizeof(struct id_bucket) == 12, "one for every four ids");

struct ids {
	HVEC(struct id_entry) entries; /* one per message that has an id, in order */
	HVEC(uint64_t) has;       /* bitmap of messages that have an id */
	HVEC(uint32_t) before;    /* by word of `has`: number of ids before it */
	HVEC(struct id_bucket) buckets;
	uint32_t half;            /* the largest power of two up to buckets.n */
	uint32_t n;               /* number of ids */
};

/* Prefetches what ids_find will read. */
void ids_prefetch(const struct ids *t, uint64_t hash);
/* The message filed under this hash of an id, or NONE. */
uint32_t ids_find(const struct ids *t, uint64_t hash);
/* message must be greater than all added before, hash not in the table. */
void ids_add(struct heap *h, struct ids *t, uint64_t hash, uint64_t content, uint32_t message);
/* message must be in the table. */
bool ids_same_content(const struct ids *t, uint32_t message, uint64_t content);

#endif
