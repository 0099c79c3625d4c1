/* Linear hashing: a few buckets are split at a time, one for every four ids added, so that the
 * table grows by a few bytes; doubling it at once would exceed its memory limit. */
#include "model/ids.h"

#include "event/record.h"

/* With at least BUCKETS_MIN buckets, the low KNOWN_BITS of a hash are implied, not stored. */
enum { KNOWN_BITS = 12, BUCKETS_MIN = 1 << KNOWN_BITS, IDS_PER_BUCKET = 4, SPLIT_AT_ONCE = 16 };

static const struct id_bucket no_ids = { .newest = NONE };

/* Buckets below buckets.n - half are split already: they are addressed by one more bit. */
static uint32_t bucket_of(const struct ids *t, uint64_t hash)
{
	uint32_t bucket = (uint32_t)hash & (2 * t->half - 1);

	/* branch-free: whether it is split cannot be predicted */
	return bucket - (t->half & -(uint32_t)(bucket >= t->buckets.n));
}

/* The index of a message's id; it has one. */
static uint32_t number_of(const struct ids *t, uint32_t message)
{
	uint64_t earlier = t->has.v[message / 64] & ((UINT64_C(1) << message % 64) - 1);

	return t->before.v[message / 64] + (uint32_t)__builtin_popcountll(earlier);
}

/* The inverse. */
static uint32_t message_of(const struct ids *t, uint32_t number)
{
	uint32_t next = 1, word;
	uint64_t bits;

	bisect(next, t->before.n, i, t->before.v[i] <= number)
	word = next - 1;
	bits = t->has.v[word];
	for (uint32_t i = t->before.v[word]; i < number; i++)
		bits &= bits - 1;
	return word * 64 + (uint32_t)__builtin_ctzll(bits);
}

/* The bits of an id in the Bloom filter of its bucket: if all are set, the id may be there. */
static uint64_t bloom_bits(uint16_t hash_high)
{
	return UINT64_C(1) << (hash_high & 63) | UINT64_C(1) << (hash_high >> 5 & 63) |
	       UINT64_C(1) << (hash_high >> 10);
}

static void init_buckets(struct heap *h, struct ids *t)
{
	while (t->buckets.n < BUCKETS_MIN)
		heap_push(h, &t->buckets, no_ids);
	t->half = BUCKETS_MIN;
}

/* Split of a bucket in progress: the next id of its chain, and the tails of both new chains. */
struct split {
	uint32_t number;
	struct id_bucket *parts[2];
	uint32_t *ends[2];
};

static void split_begin(struct ids *t, struct split *s, uint32_t from, uint32_t to)
{
	s->number = t->buckets.v[from].newest;
	s->parts[0] = &t->buckets.v[from];
	s->parts[1] = &t->buckets.v[to];
	for (int i = 0; i < 2; i++) {
		s->parts[i]->bloom = 0;
		s->ends[i] = &s->parts[i]->newest;
	}
}

/* Appends its next id to the list it belongs to; the last one terminates both. */
static void split_step(struct ids *t, struct split *s)
{
	struct id_entry *e = &t->entries.v[s->number];
	bool moves = e->hash_low & t->half >> KNOWN_BITS;

	*s->ends[moves] = s->number;
	s->ends[moves] = &e->next;
	s->parts[moves]->bloom |= bloom_bits(e->hash_high);
	s->number = e->next;
	if (s->number != NONE)
		mem_prefetch(&t->entries.v[s->number]);
	else
		*s->ends[0] = *s->ends[1] = NONE;
}

/* Splits several buckets in turns, each prefetching its next id: those of one bucket are scattered
 * in memory. */
static void split_some(struct heap *h, struct ids *t)
{
	uint32_t from = t->buckets.n - t->half, busy = SPLIT_AT_ONCE;
	struct split splits[SPLIT_AT_ONCE];

	for (int i = 0; i < SPLIT_AT_ONCE; i++)
		heap_push(h, &t->buckets, no_ids);
	for (uint32_t i = 0; i < SPLIT_AT_ONCE; i++) {
		split_begin(t, &splits[i], from + i, t->half + from + i);
		if (splits[i].number != NONE)
			mem_prefetch(&t->entries.v[splits[i].number]);
	}
	while (busy) {
		busy = 0;
		for (int i = 0; i < SPLIT_AT_ONCE; i++)
			if (splits[i].number != NONE) {
				split_step(t, &splits[i]);
				busy++;
			}
	}
	if (t->buckets.n == 2 * t->half)
		t->half *= 2;
}

/* Adds the buckets for the expected number of ids: splitting is cheap while there are few. */
static void split_for(struct heap *h, struct ids *t)
{
	uint64_t expected = heap_expected(h, t->n);
	uint64_t buckets = (expected - expected / 16) / IDS_PER_BUCKET; /* rather too few */

	do
		split_some(h, t);
	while (t->buckets.n < buckets);
}

void ids_prefetch(const struct ids *t, uint64_t hash)
{
	if (t->n)
		mem_prefetch(&t->buckets.v[bucket_of(t, hash)]);
}

uint32_t ids_find(const struct ids *t, uint64_t hash)
{
	uint64_t kept = hash >> KNOWN_BITS;
	uint64_t bits = bloom_bits((uint16_t)(kept >> 32));
	uint32_t number;
	const struct id_bucket *bucket;

	if (!t->n)
		return NONE;
	bucket = &t->buckets.v[bucket_of(t, hash)];
	if ((bucket->bloom & bits) != bits)
		return NONE;
	for (number = bucket->newest; number != NONE; number = t->entries.v[number].next) {
		const struct id_entry *e = &t->entries.v[number];

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
		init_buckets(h, t);
	if (t->n / IDS_PER_BUCKET >= t->buckets.n)
		split_for(h, t);
	while (t->has.n <= message / 64) {
		heap_push(h, &t->has, 0);
		heap_push(h, &t->before, t->entries.n);
	}
	t->has.v[message / 64] |= UINT64_C(1) << message % 64;
	bucket = &t->buckets.v[bucket_of(t, hash)];
	heap_push(h, &t->entries, (struct id_entry){ .next = bucket->newest,
						     .hash_low = (uint32_t)kept,
						     .hash_high = (uint16_t)(kept >> 32),
						     .content = (uint16_t)content });
	bucket->newest = t->n++;
	bucket->bloom |= bloom_bits((uint16_t)(kept >> 32));
}

bool ids_same_content(const struct ids *t, uint32_t message, uint64_t content)
{
	return t->entries.v[number_of(t, message)].content == (uint16_t)content;
}
