/* Building the index: slots in the order of the inbox, toggles sorted by message, snapshots. */
#include "model/asof_internal.h"
#include "model/prefetch.h"
#include "model/rules.h"

#include <stdlib.h>

enum { WEIGHTS = GRADE_NONE + 1 };

typedef void (*open_fn)(void *ctx, uint32_t item, uint32_t message, int weight);

/* Calls tell whenever an item opens, changes its weight or closes (-1). */
static void fold(const struct model *m, uint32_t number, uint32_t end, open_fn tell, void *ctx)
{
	const struct item *item = &m->items.v[number];
	struct item_state at;
	int weight = -1;

	for (uint32_t i = 0; i < item->n && item->steps[i].message < end; i++) {
		int next;

		item_fold(item, i, &at);
		next = at.open ? (int)item_weight(item, at.grade) : -1;
		if (next != weight)
			tell(ctx, number, item->steps[i].message, next);
		weight = next;
	}
}

/* A bitmap by weight and item says which slots are needed; a slot's number is the rank of its bit
 * (popcount of the bits before). Items with deadlines are few and are sorted separately. */
struct asof_builder {
	struct asof *a;
	uint64_t *wanted; /* bitmap by weight and item */
	uint32_t *before; /* by word of the bitmap: rank of its first bit */
	size_t words;     /* per weight */
	uint32_t *dated;  /* slots, by index into the dated items and weight */
	uint32_t item;    /* whose toggles are being added */
	int weight;
};

static size_t word_of(const struct asof_builder *k, uint32_t item, int weight)
{
	return (size_t)weight * k->words + item / WORD;
}

static bool is_wanted(const struct asof_builder *k, uint32_t item, int weight)
{
	return k->wanted[word_of(k, item, weight)] >> item % WORD & 1;
}

static uint32_t slot_of(const struct asof_builder *k, uint32_t item, int weight)
{
	size_t word = word_of(k, item, weight);
	uint64_t below = (UINT64_C(1) << item % WORD) - 1;

	if (k->a->m->items.v[item].dated)
		return k->dated[deadline_index(k->a->m, item) * WEIGHTS + (uint32_t)weight];
	return k->before[word] + (uint32_t)__builtin_popcountll(k->wanted[word] & below);
}

static void want_slot(void *ctx, uint32_t item, uint32_t message, int weight)
{
	struct asof_builder *k = ctx;

	if (k->item != item)
		k->weight = -1;
	k->item = item;
	/* moving from one slot to another takes two toggles */
	k->a->ends[message / PAGE + 1] += (k->weight >= 0) + (weight >= 0);
	k->weight = weight;
	if (weight >= 0)
		k->wanted[word_of(k, item, weight)] |= UINT64_C(1) << item % WORD;
}

static void add_toggle(struct asof_builder *k, uint32_t message, uint32_t item, int weight)
{
	uint32_t at;

	if (weight < 0)
		return;
	at = k->a->ends[message / PAGE]++;
	k->a->toggles[at] = slot_of(k, item, weight);
	k->a->places[at] = (uint8_t)(message % PAGE);
}

static void toggle_slot(void *ctx, uint32_t item, uint32_t message, int weight)
{
	struct asof_builder *k = ctx;

	if (k->item != item)
		k->weight = -1;
	k->item = item;
	add_toggle(k, message, item, k->weight);
	add_toggle(k, message, item, weight);
	k->weight = weight;
}

/* Sorts items with deadlines to the front and clears their bits, so that ranks skip them. */
static void order_dated(struct asof_builder *k)
{
	const struct model *m = k->a->m;
	VEC(struct inbox_place) dated = { 0 };

	for (uint32_t d = 0; d < m->dated.n; d++)
		for (int w = 0; w < WEIGHTS; w++) {
			uint32_t item = m->dated.v[d].item;

			if (!is_wanted(k, item, w))
				continue;
			vec_push(&dated,
				 (struct inbox_place){ m->dated.v[d].deadline_ms, (uint32_t)w, item });
			k->wanted[word_of(k, item, w)] &= ~(UINT64_C(1) << item % WORD);
		}
	if (dated.n)
		qsort(dated.v, dated.n, sizeof(*dated.v), inbox_order);
	k->dated = xmalloc((m->dated.n * WEIGHTS + 1) * sizeof(*k->dated));
	for (uint32_t i = 0; i < dated.n; i++) {
		k->dated[deadline_index(m, dated.v[i].item) * WEIGHTS + dated.v[i].weight] = i;
		k->a->items[i] = dated.v[i].item;
	}
	k->a->dated = k->a->slots = dated.n;
	vec_release(&dated);
}

static void order_slots(struct asof_builder *k)
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

struct page {
	uint32_t *toggles;
	uint8_t *places;
	uint32_t room;
};

/* Counting sort of a page's toggles by message. */
static void order_page(struct asof *a, uint32_t from, uint32_t to, struct page *spare)
{
	uint32_t starts[PAGE + 1] = { 0 };

	if (to - from > spare->room) {
		spare->room = to - from;
		spare->toggles = xrealloc(spare->toggles, spare->room * sizeof(*spare->toggles));
		spare->places = xrealloc(spare->places, spare->room);
	}
	for (uint32_t i = from; i < to; i++)
		starts[a->places[i] + 1]++;
	for (uint32_t p = 0; p < PAGE; p++)
		starts[p + 1] += starts[p];
	for (uint32_t i = from; i < to; i++) {
		uint32_t at = starts[a->places[i]]++;

		spare->toggles[at] = a->toggles[i];
		spare->places[at] = a->places[i];
	}
	if (to > from) {
		memcpy(a->toggles + from, spare->toggles, (to - from) * sizeof(*a->toggles));
		memcpy(a->places + from, spare->places, to - from);
	}
}

static void order_toggles(struct asof *a)
{
	struct page spare = { 0 };
	uint32_t from = 0;

	for (uint32_t c = 0; c * PAGE < a->end; c++) {
		order_page(a, from, a->ends[c], &spare);
		from = a->ends[c];
	}
	free(spare.toggles);
	free(spare.places);
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
	struct asof_builder k = { .a = a, .item = NONE, .words = m->items.n / WORD + 1 };
	uint32_t pages = n / PAGE + 1;

	a->m = m;
	a->end = n;
	a->ends = xcalloc(pages + 1, sizeof(*a->ends));
	k.wanted = xcalloc(k.words * WEIGHTS, sizeof(*k.wanted));
	for (uint32_t i = 0; i < m->items.n; i++) {
		items_prefetch(m, i);
		fold(m, i, n, want_slot, &k);
	}
	order_slots(&k);
	for (uint32_t i = 0; i < pages; i++)
		a->ends[i + 1] += a->ends[i];
	a->n = a->ends[pages];
	a->toggles = xmalloc(((size_t)a->n + 1) * sizeof(*a->toggles));
	a->places = xmalloc((size_t)a->n + 1);
	k.item = NONE;
	/* adding toggles turns ends[] from the starts of pages into their ends */
	for (uint32_t i = 0; i < m->items.n; i++) {
		items_prefetch(m, i);
		fold(m, i, n, toggle_slot, &k);
	}
	order_toggles(a);
	keep_sets(a);
	free(k.wanted);
	free(k.before);
	free(k.dated);
	return a;
}
