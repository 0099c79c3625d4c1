/* Slots, toggles, and sets of slots. */
#include "model/asof.h"

#include "model/chapters.h"
#include "model/loops.h"
#include "model/rules.h"

#include <stdlib.h>

enum {
	WEIGHTS = GRADE_NONE + 1,
	KEPT_EVERY = 65536, /* toggles */
	WORD = 64,
};

struct asof {
	const struct model *m;
	uint32_t *items; /* by slot */
	uint32_t slots, dated;
	uint32_t *toggles; /* slots, by message */
	uint32_t *ends;    /* by message: how many toggles there are up to it */
	uint32_t n;
	uint64_t *kept; /* sets, one every KEPT_EVERY toggles */
	size_t words;   /* of a set */
	uint64_t *open; /* after the first `at` toggles */
	uint32_t at;
	uint32_t end; /* messages */
	/* NULL = nobody has asked */
	struct decided_list *decided;
	struct chapters *chapters;
	struct loops *loops;
};

/* ---- making ---- */

typedef void (*open_fn)(void *ctx, uint32_t item, uint32_t message, int weight);

/* Tells when an item opens with which weight; weight -1 = it closes. As item_at folds its steps. */
static void fold(const struct model *m, uint32_t number, uint32_t end, open_fn tell, void *ctx)
{
	const struct item *item = &m->items.v[number];
	struct item_state at = { 0 };
	uint32_t hash = 0;
	int weight = -1;

	for (uint32_t i = 0; i < item->n && item->steps[i].message < end; i++) {
		const struct item_step *s = &item->steps[i];
		int next = weight;

		switch ((enum step_kind)s->what) {
		case STEP_RAISED:
			if (at.open && s->iteration == at.iteration && s->hash == hash)
				break;
			at.open = true;
			at.iteration = s->iteration;
			at.grade = s->grade;
			hash = s->hash;
			next = (int)item_weight(item, at.grade);
			break;
		case STEP_BOUNCED:
			at.open = true;
			next = (int)item_weight(item, at.grade);
			break;
		case STEP_DECIDED:
		case STEP_FIXED:
		case STEP_SUPERSEDED:
			at.open = false;
			next = -1;
			break;
		case STEP_ACKED: break;
		}
		if (next != weight)
			tell(ctx, number, s->message, next);
		weight = next;
	}
}

/* Slots are wanted for an item and a weight: a bit for each. In their order they are numbered, so
 * that a slot is told by how many bits stand before. Those with deadlines are few, and have an
 * order of their own. */
struct making {
	struct asof *a;
	uint64_t *wanted; /* by weight and item */
	uint32_t *before; /* by word of these: slots before it */
	size_t words;     /* of one weight */
	uint32_t *dated;  /* slots, by place among the dated items and weight */
	uint32_t item;    /* whose toggles come */
	int weight;
};

static size_t word_of(const struct making *k, uint32_t item, int weight)
{
	return (size_t)weight * k->words + item / WORD;
}

static bool is_wanted(const struct making *k, uint32_t item, int weight)
{
	return k->wanted[word_of(k, item, weight)] >> item % WORD & 1;
}

static uint32_t dated_place(const struct model *m, uint32_t item)
{
	uint32_t low = 0, high = m->dated.n;

	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;

		if (m->dated.v[middle].item <= item)
			low = middle;
		else
			high = middle;
	}
	return low;
}

static uint32_t slot_of(const struct making *k, uint32_t item, int weight)
{
	size_t word = word_of(k, item, weight);
	uint64_t below = (UINT64_C(1) << item % WORD) - 1;

	if (k->a->m->items.v[item].dated)
		return k->dated[dated_place(k->a->m, item) * WEIGHTS + (uint32_t)weight];
	return k->before[word] + (uint32_t)__builtin_popcountll(k->wanted[word] & below);
}

static void want_slot(void *ctx, uint32_t item, uint32_t message, int weight)
{
	struct making *k = ctx;

	if (k->item != item)
		k->weight = -1;
	k->item = item;
	/* from one slot to another are two toggles */
	k->a->ends[message + 1] += (k->weight >= 0) + (weight >= 0);
	k->weight = weight;
	if (weight >= 0)
		k->wanted[word_of(k, item, weight)] |= UINT64_C(1) << item % WORD;
}

static void add_toggle(struct making *k, uint32_t message, uint32_t item, int weight)
{
	if (weight >= 0)
		k->a->toggles[k->a->ends[message]++] = slot_of(k, item, weight);
}

static void toggle_slot(void *ctx, uint32_t item, uint32_t message, int weight)
{
	struct making *k = ctx;

	if (k->item != item)
		k->weight = -1;
	k->item = item;
	add_toggle(k, message, item, k->weight);
	add_toggle(k, message, item, weight);
	k->weight = weight;
}

struct dated {
	int64_t deadline_ms;
	uint32_t weight, item;
};

/* Items are numbered in the order they opened first. */
static int by_deadline(const void *left, const void *right)
{
	const struct dated *a = left, *b = right;

	if (a->deadline_ms != b->deadline_ms)
		return a->deadline_ms < b->deadline_ms ? -1 : 1;
	if (a->weight != b->weight)
		return a->weight < b->weight ? -1 : 1;
	return a->item < b->item ? -1 : a->item > b->item;
}

/* Their bits go, so that those of the others are numbered by themselves. */
static void order_dated(struct making *k)
{
	const struct model *m = k->a->m;
	VEC(struct dated) dated = { 0 };

	for (uint32_t d = 0; d < m->dated.n; d++)
		for (int w = 0; w < WEIGHTS; w++) {
			uint32_t item = m->dated.v[d].item;

			if (!is_wanted(k, item, w))
				continue;
			vec_push(&dated,
				 (struct dated){ m->dated.v[d].deadline_ms, (uint32_t)w, item });
			k->wanted[word_of(k, item, w)] &= ~(UINT64_C(1) << item % WORD);
		}
	if (dated.n)
		qsort(dated.v, dated.n, sizeof(*dated.v), by_deadline);
	k->dated = xmalloc((m->dated.n * WEIGHTS + 1) * sizeof(*k->dated));
	for (uint32_t i = 0; i < dated.n; i++) {
		k->dated[dated_place(m, dated.v[i].item) * WEIGHTS + dated.v[i].weight] = i;
		k->a->items[i] = dated.v[i].item;
	}
	k->a->dated = k->a->slots = dated.n;
	vec_release(&dated);
}

static void order_slots(struct making *k)
{
	size_t wanted = 0, words = k->words * WEIGHTS;

	for (size_t i = 0; i < words; i++)
		wanted += (size_t)__builtin_popcountll(k->wanted[i]);
	k->a->items = xmalloc((wanted + 1) * sizeof(uint32_t));
	k->before = xmalloc(words * sizeof(*k->before));
	order_dated(k);
	for (size_t i = 0; i < words; i++) {
		k->before[i] = k->a->slots;
		for (uint64_t bits = k->wanted[i]; bits; bits &= bits - 1)
			k->a->items[k->a->slots++] = (uint32_t)(i % k->words * WORD) +
						     (uint32_t)__builtin_ctzll(bits);
	}
}

static void flip(uint64_t *set, uint32_t slot)
{
	set[slot / WORD] ^= UINT64_C(1) << slot % WORD;
}

static void keep_sets(struct asof *a)
{
	a->words = a->slots / WORD + 1;
	a->open = xcalloc(a->words, sizeof(uint64_t));
	a->kept = xmalloc((a->n / KEPT_EVERY + 1) * a->words * sizeof(uint64_t));
	for (uint32_t i = 0; i <= a->n; i++) {
		if (i % KEPT_EVERY == 0)
			memcpy(a->kept + i / KEPT_EVERY * a->words, a->open,
			       a->words * sizeof(uint64_t));
		if (i < a->n)
			flip(a->open, a->toggles[i]);
	}
	a->at = a->n;
}

struct asof *asof_new(const struct model *m, uint32_t n)
{
	struct asof *a = xcalloc(1, sizeof(*a));
	struct making k = { .a = a, .item = NONE, .words = m->items.n / WORD + 1 };

	a->m = m;
	a->end = n;
	a->ends = xcalloc((size_t)n + 2, sizeof(uint32_t));
	k.wanted = xcalloc(k.words * WEIGHTS, sizeof(*k.wanted));
	for (uint32_t i = 0; i < m->items.n; i++) {
		items_fetch(m, i);
		fold(m, i, n, want_slot, &k);
	}
	order_slots(&k);
	for (uint32_t i = 0; i <= n; i++)
		a->ends[i + 1] += a->ends[i];
	a->n = a->ends[n + 1];
	a->toggles = xmalloc(((size_t)a->n + 1) * sizeof(*a->toggles));
	k.item = NONE;
	/* where a message's begin becomes where they end */
	for (uint32_t i = 0; i < m->items.n; i++) {
		items_fetch(m, i);
		fold(m, i, n, toggle_slot, &k);
	}
	keep_sets(a);
	free(k.wanted);
	free(k.before);
	free(k.dated);
	return a;
}

void asof_free(struct asof *a)
{
	if (!a)
		return;
	free(a->items);
	free(a->toggles);
	free(a->ends);
	free(a->kept);
	free(a->open);
	decided_free(a->decided);
	chapters_free(a->chapters);
	loops_release(a->loops);
	free(a);
}

/* ---- asking ---- */

static void seek(struct asof *a, uint32_t k)
{
	uint32_t wanted = k ? a->ends[(k < a->end ? k : a->end) - 1] : 0;
	uint32_t near = (wanted + KEPT_EVERY / 2) / KEPT_EVERY * KEPT_EVERY;

	if (near > a->n)
		near -= KEPT_EVERY;
	if ((wanted > a->at ? wanted - a->at : a->at - wanted) > KEPT_EVERY / 2) {
		memcpy(a->open, a->kept + near / KEPT_EVERY * a->words, a->words * sizeof(uint64_t));
		a->at = near;
	}
	while (a->at < wanted)
		flip(a->open, a->toggles[a->at++]);
	while (a->at > wanted)
		flip(a->open, a->toggles[--a->at]);
}

/* The first slot that has not expired. */
static uint32_t first_slot(const struct asof *a, int64_t now_ms)
{
	uint32_t low = 0, high = now_ms == WHEN_NONE ? 0 : a->dated;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (item_deadline(a->m, &a->m->items.v[a->items[middle]]) < now_ms)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Slots of [from, to) that are open. */
static uint32_t count(const struct asof *a, uint32_t from, uint32_t to)
{
	uint32_t n = 0;

	for (; from < to && from % WORD; from++)
		n += a->open[from / WORD] >> from % WORD & 1;
	for (; from + WORD <= to; from += WORD)
		n += (uint32_t)__builtin_popcountll(a->open[from / WORD]);
	for (; from < to; from++)
		n += a->open[from / WORD] >> from % WORD & 1;
	return n;
}

/* Open for the log, but a person has decided. */
static bool is_decided_here(const struct model *m, const struct item *item, uint32_t k, int64_t now_ms)
{
	struct item_state at;

	return item->stood && item_in_log(m, item, k, now_ms, &at) && at.open &&
	       item_at(m, item, k, now_ms, &at) && !at.open;
}

uint32_t asof_open(struct asof *a, uint32_t k, int64_t now_ms, uint32_t *due)
{
	uint32_t from = first_slot(a, now_ms), open;

	seek(a, k);
	open = count(a, from, a->slots);
	*due = count(a, from, a->dated);
	for (uint32_t i = 0; i < a->m->standings.n; i++) {
		const struct item *item = &a->m->items.v[a->m->standings.v[i].item];

		if (!is_decided_here(a->m, item, k, now_ms))
			continue;
		open--;
		*due -= item->dated;
	}
	return open;
}

uint32_t *asof_inbox(struct asof *a, uint32_t k, int64_t now_ms, bool all, uint32_t *n)
{
	const struct model *m = a->m;
	uint32_t whole = model_item_count(m, k), from = first_slot(a, now_ms);
	uint32_t *list = xmalloc(((size_t)whole + 1) * sizeof(*list));
	uint64_t *listed = all ? xcalloc(whole / WORD + 1, sizeof(*listed)) : NULL;

	seek(a, k);
	*n = 0;
	for (size_t w = from / WORD; w < a->words; w++) {
		uint64_t bits = a->open[w];

		if (w == from / WORD)
			bits &= ~UINT64_C(0) << from % WORD;
		for (; bits; bits &= bits - 1) {
			uint32_t item = a->items[w * WORD + (uint32_t)__builtin_ctzll(bits)];

			if (m->standings.n && is_decided_here(m, &m->items.v[item], k, now_ms))
				continue;
			list[(*n)++] = item;
			if (all)
				flip(listed, item);
		}
	}
	for (uint32_t i = 0; all && i < whole; i++)
		if (!(listed[i / WORD] >> i % WORD & 1))
			list[(*n)++] = i;
	free(listed);
	return list;
}

const struct decided *asof_decided(struct asof *a, uint32_t k, uint32_t *n, struct breath *breath)
{
	if (!a->decided)
		a->decided = decided_new(a->m, a->end, breath);
	return a->decided ? decided_before(a->decided, k, n) : NULL;
}

struct agent_stats *asof_agent_stats(struct asof *a, uint32_t k, int64_t now_ms, struct breath *breath)
{
	if (!a->chapters)
		a->chapters = chapters_new(a->m, a->end, breath);
	return chapters_agent_stats(a->chapters, a->m, k, now_ms, breath);
}

struct loops *asof_loops(struct asof *a, uint32_t k, struct breath *breath)
{
	if (!a->loops || k < a->loops->from || k > a->loops->to) {
		loops_release(a->loops);
		a->loops = loops_new(a->m, k, a->end, breath);
	}
	return loops_hold(a->loops);
}
