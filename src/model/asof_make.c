/* Builds the as-of index (asof.h): slots in the order of the inbox, toggles sorted by message,
 * snapshots. */
#include "model/asof_internal.h"
#include "model/prefetch.h"
#include "model/rules.h"

#include <stdlib.h>

enum { WEIGHTS = GRADE_NONE + 1 };

/* A bitmap by weight and item says which slots are needed; a slot's number is the rank of its bit
 * (popcount of the bits before). Items with deadlines are few and are sorted separately. */
struct asof_builder {
	struct asof *a;
	uint64_t *wanted; /* bitmap by weight and item */
	uint32_t *before; /* by word of the bitmap: rank of its first bit */
	size_t words;     /* per weight */
	uint32_t *dated;  /* slots, by index into the dated items and weight */
};

/* An item opens, changes its weight or closes; -1 = closed. */
typedef void (*weight_change_fn)(struct asof_builder *b, uint32_t item, uint32_t message, int from,
				 int to);

static void each_weight_change(struct asof_builder *b, weight_change_fn fn)
{
	const struct model *m = b->a->m;

	for (uint32_t number = 0; number < m->items.n; number++) {
		const struct item *item = &m->items.v[number];
		struct item_state at;
		int weight = -1;

		items_prefetch(m, number);
		for (uint32_t i = 0; i < item->n && item->steps[i].message < b->a->end; i++) {
			int next;

			item_fold(item, i, &at);
			next = at.open ? (int)item_weight(item, at.grade) : -1;
			if (next != weight)
				fn(b, number, item->steps[i].message, weight, next);
			weight = next;
		}
	}
}

static size_t word_of(const struct asof_builder *b, uint32_t item, int weight)
{
	return (size_t)weight * b->words + item / WORD;
}

static bool is_wanted(const struct asof_builder *b, uint32_t item, int weight)
{
	return b->wanted[word_of(b, item, weight)] >> item % WORD & 1;
}

static uint32_t slot_of(const struct asof_builder *b, uint32_t item, int weight)
{
	size_t word = word_of(b, item, weight);
	uint64_t below = (UINT64_C(1) << item % WORD) - 1;

	if (b->a->m->items.v[item].dated)
		return b->dated[deadline_index(b->a->m, item) * WEIGHTS + (uint32_t)weight];
	return b->before[word] + (uint32_t)__builtin_popcountll(b->wanted[word] & below);
}

static void want_slot(struct asof_builder *b, uint32_t item, uint32_t message, int from, int to)
{
	/* moving from one slot to another takes two toggles */
	b->a->ends[message / PAGE + 1] += (from >= 0) + (to >= 0);
	if (to >= 0)
		b->wanted[word_of(b, item, to)] |= UINT64_C(1) << item % WORD;
}

static void add_toggle(struct asof_builder *b, uint32_t message, uint32_t item, int weight)
{
	uint32_t at;

	if (weight < 0)
		return;
	at = b->a->ends[message / PAGE]++;
	b->a->toggles[at] = slot_of(b, item, weight);
	b->a->places[at] = (uint8_t)(message % PAGE);
}

static void toggle_slots(struct asof_builder *b, uint32_t item, uint32_t message, int from, int to)
{
	add_toggle(b, message, item, from);
	add_toggle(b, message, item, to);
}

/* Sorts items with deadlines to the front and clears their bits, so that ranks skip them. */
static void order_dated(struct asof_builder *b)
{
	const struct model *m = b->a->m;
	VEC(struct inbox_place) dated = { 0 };

	for (uint32_t d = 0; d < m->dated.n; d++)
		for (int w = 0; w < WEIGHTS; w++) {
			uint32_t item = m->dated.v[d].item;

			if (!is_wanted(b, item, w))
				continue;
			vec_push(&dated, (struct inbox_place){ m->dated.v[d].deadline_ms,
							       (uint32_t)w, item });
			b->wanted[word_of(b, item, w)] &= ~(UINT64_C(1) << item % WORD);
		}
	if (dated.n)
		qsort(dated.v, dated.n, sizeof(*dated.v), inbox_order);
	b->dated = xmalloc((m->dated.n * WEIGHTS + 1) * sizeof(*b->dated));
	for (uint32_t i = 0; i < dated.n; i++) {
		b->dated[deadline_index(m, dated.v[i].item) * WEIGHTS + dated.v[i].weight] = i;
		b->a->items[i] = dated.v[i].item;
	}
	b->a->dated = b->a->slots = dated.n;
	vec_release(&dated);
}

static void order_slots(struct asof_builder *b)
{
	size_t wanted = 0, words = b->words * WEIGHTS;

	for (size_t i = 0; i < words; i++)
		wanted += (size_t)__builtin_popcountll(b->wanted[i]);
	b->a->items = xmalloc((wanted + 1) * sizeof(uint32_t));
	b->before = xmalloc(words * sizeof(*b->before));
	order_dated(b);
	for (size_t i = 0; i < words; i++) {
		b->before[i] = b->a->slots;
		for (uint64_t bits = b->wanted[i]; bits; bits &= bits - 1)
			b->a->items[b->a->slots++] = (uint32_t)(i % b->words * WORD) +
						     (uint32_t)__builtin_ctzll(bits);
	}
}

/* Counting sort of the toggles [from, to) of a page by message. */
static void sort_page(struct asof *a, uint32_t from, uint32_t to)
{
	uint32_t starts[PAGE + 1] = { 0 }, *toggles = xmalloc((to - from) * sizeof(*toggles));

	for (uint32_t i = from; i < to; i++)
		starts[a->places[i] + 1]++;
	for (uint32_t p = 0; p < PAGE; p++)
		starts[p + 1] += starts[p];
	for (uint32_t i = from; i < to; i++)
		toggles[starts[a->places[i]]++] = a->toggles[i];
	memcpy(a->toggles + from, toggles, (to - from) * sizeof(*toggles));
	/* starts[p] is now where p + 1 begins */
	for (uint32_t p = 0, i = from; p < PAGE; p++)
		for (; i < from + starts[p]; i++)
			a->places[i] = (uint8_t)p;
	free(toggles);
}

static void sort_toggles(struct asof *a)
{
	uint32_t from = 0;

	for (uint32_t c = 0; c * PAGE < a->end; from = a->ends[c++])
		if (a->ends[c] > from)
			sort_page(a, from, a->ends[c]);
}

static void take_snapshots(struct asof *a)
{
	a->words = a->slots / WORD + 1;
	a->open = xcalloc(a->words, sizeof(uint64_t));
	a->snapshots = xmalloc((a->n / SNAPSHOT_EVERY + 1) * a->words * sizeof(uint64_t));
	for (uint32_t i = 0; i <= a->n; i++) {
		if (i % SNAPSHOT_EVERY == 0)
			memcpy(a->snapshots + i / SNAPSHOT_EVERY * a->words, a->open,
			       a->words * sizeof(uint64_t));
		if (i < a->n)
			toggle_bit(a->open, a->toggles[i]);
	}
	a->at = a->n;
}

struct asof *asof_new(const struct model *m, uint32_t n)
{
	struct asof *a = xcalloc(1, sizeof(*a));
	struct asof_builder b = { .a = a, .words = m->items.n / WORD + 1 };
	uint32_t pages = n / PAGE + 1;

	a->m = m;
	a->end = n;
	a->ends = xcalloc(pages + 1, sizeof(*a->ends));
	b.wanted = xcalloc(b.words * WEIGHTS, sizeof(*b.wanted));
	each_weight_change(&b, want_slot);
	order_slots(&b);
	for (uint32_t i = 0; i < pages; i++)
		a->ends[i + 1] += a->ends[i];
	a->n = a->ends[pages];
	a->toggles = xmalloc(((size_t)a->n + 1) * sizeof(*a->toggles));
	a->places = xmalloc((size_t)a->n + 1);
	/* adding toggles turns ends[] from the starts of pages into their ends */
	each_weight_change(&b, toggle_slots);
	sort_toggles(a);
	take_snapshots(a);
	free(b.wanted);
	free(b.before);
	free(b.dated);
	return a;
}
