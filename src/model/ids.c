/* Linear hashing: one bucket is split in two for every two ids added, so that the table grows by a
 * few bytes at a time; doubling it would need half as much again as it may have. */
#include "model/ids.h"

#include "event/record.h"

/* There are never fewer buckets than this, so all in a bucket agree in as many low bits of their
 * hash, which need not be kept. */
enum { KNOWN_BITS = 12, BUCKETS_MIN = 1 << KNOWN_BITS, IDS_PER_BUCKET = 2 };

/* Buckets below buckets.n - half are split already, and so tell one more bit. */
static uint32_t bucket_of(const struct ids *t, uint64_t hash)
{
	uint32_t bucket = (uint32_t)hash & (2 * t->half - 1);

	return bucket < t->buckets.n ? bucket : bucket - t->half;
}

static struct id_entry *entry_of(const struct ids *t, uint32_t message)
{
	uint64_t earlier = t->has.v[message / 64] & ((UINT64_C(1) << message % 64) - 1);

	return &t->of.v[t->before.v[message / 64] + (uint32_t)__builtin_popcountll(earlier)];
}

static void begin(struct heap *h, struct ids *t)
{
	while (t->buckets.n < BUCKETS_MIN)
		heap_push(h, &t->buckets, NONE);
	t->half = BUCKETS_MIN;
}

/* Adds a bucket, and moves there what belongs to it from the one that had it so far. */
static void split_next(struct heap *h, struct ids *t)
{
	uint32_t from = t->buckets.n - t->half, bit = t->half >> KNOWN_BITS;
	uint32_t *stay, *move, message;

	heap_push(h, &t->buckets, NONE);
	stay = &t->buckets.v[from];
	move = vec_last(&t->buckets);
	message = *stay;
	while (message != NONE) {
		struct id_entry *e = entry_of(t, message);
		uint32_t **end = e->hash_low & bit ? &move : &stay;

		**end = message;
		*end = &e->next;
		message = e->next;
	}
	*stay = *move = NONE;
	if (t->buckets.n == 2 * t->half)
		t->half *= 2;
}

void ids_fetch(const struct ids *t, uint64_t hash)
{
	if (t->n)
		__builtin_prefetch(&t->buckets.v[bucket_of(t, hash)]);
}

void ids_fetch_more(const struct ids *t, uint64_t hash)
{
	uint32_t message = t->n ? t->buckets.v[bucket_of(t, hash)] : NONE;

	if (message != NONE)
		__builtin_prefetch(entry_of(t, message));
}

uint32_t ids_find(const struct ids *t, uint64_t hash)
{
	uint64_t kept = hash >> KNOWN_BITS;
	uint32_t message;

	if (!t->n)
		return NONE;
	for (message = t->buckets.v[bucket_of(t, hash)]; message != NONE;) {
		const struct id_entry *e = entry_of(t, message);

		if (e->hash_low == (uint32_t)kept && e->hash_high == (uint16_t)(kept >> 32))
			break;
		message = e->next;
	}
	return message;
}

void ids_add(struct heap *h, struct ids *t, uint64_t hash, uint64_t content, uint32_t message)
{
	uint64_t kept = hash >> KNOWN_BITS;
	uint32_t *bucket;

	if (!t->n)
		begin(h, t);
	if (t->n / IDS_PER_BUCKET >= t->buckets.n)
		split_next(h, t);
	while (t->has.n <= message / 64) {
		heap_push(h, &t->has, 0);
		heap_push(h, &t->before, t->of.n);
	}
	t->has.v[message / 64] |= UINT64_C(1) << message % 64;
	bucket = &t->buckets.v[bucket_of(t, hash)];
	heap_push(h, &t->of, (struct id_entry){ .next = *bucket, .hash_low = (uint32_t)kept,
					    .hash_high = (uint16_t)(kept >> 32),
					    .content = (uint16_t)content });
	*bucket = message;
	t->n++;
}

bool ids_same_content(const struct ids *t, uint32_t message, uint64_t content)
{
	return entry_of(t, message)->content == (uint16_t)content;
}
