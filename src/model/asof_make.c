/* Builds the as-of index (asof.h): slots in the order of the inbox, toggles sorted by message,
 * snapshots. */
#include "model/asof_internal.h"
#include "model/prefetch.h"
#include "model/rules.h"

#include <stdlib.h>

enum { WEIGHTS = GRADE_NONE + 1 };

_Static_assert(WEIGHTS <= 8, "bits of wanted_dated");

/* A bitmap by weight and item says which slots are needed; a slot's number is the rank of its bit
 * (popcount of the bits before). Raises with deadlines are few and are sorted separately. */
struct asof_builder {
	struct asof *a;
	uint64_t *wanted; /* bitmap by weight and item */
	uint32_t *before; /* by word of the bitmap: rank of its first bit */
	size_t words;     /* per weight */
	uint8_t *wanted_dated; /* by dated raise: bits of weights */
	uint32_t *dated;       /* slots, by dated raise and weight */
};

/* What determines an open item's slot. */
struct slot_key {
	int weight;     /* -1 = it is not open */
	uint32_t raise; /* that set its deadline, NONE = it has none */
};

/* An item opens, changes its weight or deadline, or closes. */
typedef void (*slot_change_fn)(struct asof_builder *b, uint32_t item, uint32_t message,
			       struct slot_key from, struct slot_key to);

/* The item's raise as of a step, from the one as of an earlier step on; NONE: it had no
 * deadline. */
static uint32_t raise_at_step(const struct model *m, const struct dated_item *dated, uint32_t raise,
			      const struct item_step *step)
{
	if (!dated || m->dated_raises.v[dated->first].message > step->message)
		return NONE;
	return dated_raise_after(m, raise == NONE ? dated->first : raise, step->message + 1);
}

static void each_slot_change(struct asof_builder *b, slot_change_fn fn)
{
	const struct model *m = b->a->m;

	for (uint32_t number = 0; number < m->items.n; number++) {
		const struct item *item = &m->items.v[number];
		const struct dated_item *dated = item_dated(m, item);
		struct slot_key key = { -1, NONE };
		struct item_state at;
		uint32_t raise = NONE;

		items_prefetch(m, number);
		for (uint32_t i = 0; i < item->n && item->steps[i].message < b->a->end; i++) {
			struct slot_key next = { -1, NONE };

			item_fold(item, i, &at);
			raise = raise_at_step(m, dated, raise, &item->steps[i]);
			if (at.open)
				next.weight = (int)item_weight(item, at.grade);
			if (at.open && raise != NONE &&
			    m->dated_raises.v[raise].deadline_ms != TIME_NONE)
				next.raise = raise;
			if (next.weight != key.weight || next.raise != key.raise)
				fn(b, number, item->steps[i].message, key, next);
			key = next;
		}
	}
}

static size_t word_of(const struct asof_builder *b, uint32_t item, int weight)
{
	return (size_t)weight * b->words + item / WORD;
}

static uint32_t slot_of(const struct asof_builder *b, uint32_t item, struct slot_key key)
{
	size_t word = word_of(b, item, key.weight);
	uint64_t below = (UINT64_C(1) << item % WORD) - 1;

	if (key.raise != NONE)
		return b->dated[(size_t)key.raise * WEIGHTS + (uint32_t)key.weight];
	return b->before[word] + (uint32_t)__builtin_popcountll(b->wanted[word] & below);
}

static void want_slot(struct asof_builder *b, uint32_t item, uint32_t message, struct slot_key from,
		      struct slot_key to)
{
	/* moving from one slot to another takes two toggles */
	b->a->ends[message / PAGE + 1] += (from.weight >= 0) + (to.weight >= 0);
	if (to.raise != NONE)
		b->wanted_dated[to.raise] |= (uint8_t)(1u << to.weight);
	else if (to.weight >= 0)
		b->wanted[word_of(b, item, to.weight)] |= UINT64_C(1) << item % WORD;
}

static void add_toggle(struct asof_builder *b, uint32_t message, uint32_t item, struct slot_key key)
{
	uint32_t at;

	if (key.weight < 0)
		return;
	at = b->a->ends[message / PAGE]++;
	b->a->toggles[at] = slot_of(b, item, key);
	b->a->places[at] = (uint8_t)(message % PAGE);
}

static void toggle_slots(struct asof_builder *b, uint32_t item, uint32_t message,
			 struct slot_key from, struct slot_key to)
{
	add_toggle(b, message, item, from);
	add_toggle(b, message, item, to);
}

struct dated_slot {
	struct inbox_place place; /* first, for inbox_order */
	uint32_t raise;
};

static uint32_t count_dated(const struct asof_builder *b)
{
	uint32_t n = 0;

	for (uint32_t r = 0; r < b->a->m->dated_raises.n; r++)
		n += (uint32_t)__builtin_popcount(b->wanted_dated[r]);
	return n;
}

/* Sorts the slots with deadlines, which come first. */
static void order_dated(struct asof_builder *b)
{
	const struct model *m = b->a->m;
	uint32_t n = count_dated(b);
	struct dated_slot *slots = xmalloc((n + 1) * sizeof(*slots)), *next = slots;

	for (uint32_t r = 0; r < m->dated_raises.n; r++) {
		const struct dated_raise *raise = &m->dated_raises.v[r];
		struct dated_slot slot = { { raise->deadline_ms, 0, raise->item }, r };

		for (uint32_t w = 0; w < WEIGHTS; w++) {
			slot.place.weight = w;
			if (b->wanted_dated[r] >> w & 1)
				*next++ = slot;
		}
	}
	if (n)
		qsort(slots, n, sizeof(*slots), inbox_order);
	b->dated = xmalloc(((size_t)m->dated_raises.n * WEIGHTS + 1) * sizeof(*b->dated));
	b->a->raises = xmalloc((n + 1) * sizeof(*b->a->raises));
	for (uint32_t i = 0; i < n; i++) {
		b->dated[(size_t)slots[i].raise * WEIGHTS + slots[i].place.weight] = i;
		b->a->raises[i] = slots[i].raise;
		b->a->items[i] = slots[i].place.item;
	}
	b->a->dated = b->a->slots = n;
	free(slots);
}

static void order_slots(struct asof_builder *b)
{
	size_t wanted = count_dated(b), words = b->words * WEIGHTS;

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
	b.wanted_dated = xcalloc(m->dated_raises.n + 1, sizeof(*b.wanted_dated));
	each_slot_change(&b, want_slot);
	order_slots(&b);
	for (uint32_t i = 0; i < pages; i++)
		a->ends[i + 1] += a->ends[i];
	a->n = a->ends[pages];
	a->toggles = xmalloc(((size_t)a->n + 1) * sizeof(*a->toggles));
	a->places = xmalloc((size_t)a->n + 1);
	/* adding toggles turns ends[] from the starts of pages into their ends */
	each_slot_change(&b, toggle_slots);
	sort_toggles(a);
	take_snapshots(a);
	free(b.wanted);
	free(b.before);
	free(b.wanted_dated);
	free(b.dated);
	return a;
}
