/* Linear hashing: one bucket is split in two for every four ids added, so that the table grows by a
 * few bytes at a time; doubling it would need half as much again as it may have. */
#include "model/ids.h"

#include "event/record.h"

/* There are never fewer buckets than this, so all in a bucket agree in as many low bits of their
 * hash, which need not be kept. */
enum { KNOWN_BITS = 12, BUCKETS_MIN = 1 << KNOWN_BITS, IDS_PER_BUCKET = 4 };

static const struct id_bucket no_ids = { .newest = NONE };

/* Buckets below buckets.n - half are split already, and so tell one more bit. */
static uint32_t bucket_of(const struct ids *t, uint64_t hash)
{
	uint32_t bucket = (uint32_t)hash & (2 * t->half - 1);

	return bucket < t->buckets.n ? bucket : bucket - t->half;
}

/* Which of the ids a message's is; it has one. */
static uint32_t number_of(const struct ids *t, uint32_t message)
{
	uint64_t earlier = t->has.v[message / 64] & ((UINT64_C(1) << message % 64) - 1);

	return t->before.v[message / 64] + (uint32_t)__builtin_popcountll(earlier);
}

/* The other way round. */
static uint32_t message_of(const struct ids *t, uint32_t number)
{
	uint32_t low = 0, high = t->before.n;
	uint64_t bits;

	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;

		if (t->before.v[middle] <= number)
			low = middle;
		else
			high = middle;
	}
	bits = t->has.v[low];
	for (uint32_t i = t->before.v[low]; i < number; i++)
		bits &= bits - 1;
	return low * 64 + (uint32_t)__builtin_ctzll(bits);
}

/* What an id leaves in the marks of its bucket; all of it there: the bucket may have the id. */
static uint64_t mark_of(uint16_t hash_high)
{
	return UINT64_C(1) << (hash_high & 63) | UINT64_C(1) << (hash_high >> 5 & 63) |
	       UINT64_C(1) << (hash_high >> 10);
}

static void begin(struct heap *h, struct ids *t)
{
	while (t->buckets.n < BUCKETS_MIN)
		heap_push(h, &t->buckets, no_ids);
	t->half = BUCKETS_MIN;
	t->ahead[0] = t->ahead[1] = NONE;
}

/* The ids of a bucket are far apart in memory. So that nobody waits for them when it is split, each
 * id that is added before has one of them brought near, and one of those that are split then. */
static void look_ahead(struct ids *t)
{
	for (int i = 0; i < 2; i++) {
		if (t->ahead[i] == NONE)
			continue;
		t->ahead[i] = t->of.v[t->ahead[i]].next;
		if (t->ahead[i] != NONE)
			mem_fetch(&t->of.v[t->ahead[i]]);
	}
}

/* What the split after next will need is looked for from here on. */
static void look_farther(struct ids *t)
{
	uint32_t next = t->buckets.n - t->half + 1;

	t->ahead[0] = t->ahead[1];
	t->ahead[1] = next < t->half ? t->buckets.v[next].newest : NONE;
	if (t->ahead[1] != NONE)
		mem_fetch(&t->of.v[t->ahead[1]]);
}

/* Adds a bucket, and moves there what belongs to it from the one that had it so far. */
static void split_next(struct heap *h, struct ids *t)
{
	uint32_t from = t->buckets.n - t->half, bit = t->half >> KNOWN_BITS, number;
	struct id_bucket *parts[2];
	uint32_t *ends[2];

	heap_push(h, &t->buckets, no_ids);
	parts[0] = &t->buckets.v[from];
	parts[1] = vec_last(&t->buckets);
	number = parts[0]->newest;
	for (int i = 0; i < 2; i++) {
		ends[i] = &parts[i]->newest;
		parts[i]->marks = 0;
	}
	while (number != NONE) {
		struct id_entry *e = &t->of.v[number];
		bool moves = (e->hash_low & bit) != 0;

		*ends[moves] = number;
		ends[moves] = &e->next;
		parts[moves]->marks |= mark_of(e->hash_high);
		number = e->next;
	}
	*ends[0] = *ends[1] = NONE;
	if (t->buckets.n == 2 * t->half)
		t->half *= 2;
	look_farther(t);
}

void ids_fetch(const struct ids *t, uint64_t hash)
{
	if (t->n)
		mem_fetch(&t->buckets.v[bucket_of(t, hash)]);
}

uint32_t ids_find(const struct ids *t, uint64_t hash)
{
	uint64_t kept = hash >> KNOWN_BITS;
	uint64_t mark = mark_of((uint16_t)(kept >> 32));
	uint32_t number;
	const struct id_bucket *bucket;

	if (!t->n)
		return NONE;
	bucket = &t->buckets.v[bucket_of(t, hash)];
	if ((bucket->marks & mark) != mark)
		return NONE;
	for (number = bucket->newest; number != NONE; number = t->of.v[number].next) {
		const struct id_entry *e = &t->of.v[number];

		if (e->hash_low == (uint32_t)kept && e->hash_high == (uint16_t)(kept >> 32))
			return message_of(t, number);
	}
	return NONE;
}

void ids_add(struct heap *h, struct ids *t, uint64_t hash, uint64_t content, uint32_t message)
{
	uint64_t kept = hash >> KNOWN_BITS;
	struct id_bucket *bucket;

	if (!t->n)
		begin(h, t);
	if (t->n / IDS_PER_BUCKET >= t->buckets.n)
		split_next(h, t);
	else
		look_ahead(t);
	while (t->has.n <= message / 64) {
		heap_push(h, &t->has, 0);
		heap_push(h, &t->before, t->of.n);
	}
	t->has.v[message / 64] |= UINT64_C(1) << message % 64;
	bucket = &t->buckets.v[bucket_of(t, hash)];
	heap_push(h, &t->of, (struct id_entry){ .next = bucket->newest, .hash_low = (uint32_t)kept,
					    .hash_high = (uint16_t)(kept >> 32),
					    .content = (uint16_t)content });
	bucket->newest = t->n++;
	bucket->marks |= mark_of((uint16_t)(kept >> 32));
}

bool ids_same_content(const struct ids *t, uint32_t message, uint64_t content)
{
	return t->of.v[number_of(t, message)].content == (uint16_t)content;
}
