/* Slots, toggles, and sets of slots. */
#include "model/asof.h"

#include "model/chapters.h"
#include "model/loops.h"
#include "model/rules.h"

#include <stdlib.h>

enum {
	WEIGHTS = GRADE_NONE + 1,
	KEPT_EVERY = 8192, /* toggles */
	WORD = 64,
};

struct toggle {
	uint32_t message, slot;
};

struct asof {
	const struct model *m;
	uint32_t *items; /* by slot */
	uint32_t slots, dated;
	struct toggle *toggles; /* by message */
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

struct making {
	struct asof *a;
	uint32_t end;
	uint32_t *slot_of; /* by weight and item; NONE = it never has it */
	uint32_t *starts;  /* by message: its first toggle */
	uint32_t item;     /* whose toggles come */
	int weight;
};

static uint32_t *slot_place(struct making *k, uint32_t item, int weight)
{
	return &k->slot_of[(size_t)weight * k->a->m->items.n + item];
}

static void want_slot(void *ctx, uint32_t item, uint32_t message, int weight)
{
	struct making *k = ctx;

	if (k->item != item)
		k->weight = -1;
	k->item = item;
	/* from one slot to another are two toggles */
	k->starts[message + 1] += (k->weight >= 0) + (weight >= 0);
	k->weight = weight;
	if (weight >= 0)
		*slot_place(k, item, weight) = 0;
}

static void add_toggle(struct making *k, uint32_t message, uint32_t item, int weight)
{
	if (weight >= 0)
		k->a->toggles[k->starts[message]++] =
			(struct toggle){ message, *slot_place(k, item, weight) };
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

static void add_slot(struct making *k, uint32_t item, int weight)
{
	*slot_place(k, item, weight) = k->a->slots;
	k->a->items[k->a->slots++] = item;
}

static void order_slots(struct making *k)
{
	const struct model *m = k->a->m;
	VEC(struct dated) dated = { 0 };
	size_t wanted = 0;

	for (size_t i = 0; i < (size_t)WEIGHTS * m->items.n; i++)
		wanted += k->slot_of[i] != NONE;
	k->a->items = xmalloc((wanted + 1) * sizeof(uint32_t));
	for (uint32_t d = 0; d < m->dated.n; d++)
		for (int w = 0; w < WEIGHTS; w++)
			if (*slot_place(k, m->dated.v[d].item, w) != NONE)
				vec_push(&dated, (struct dated){ m->dated.v[d].deadline_ms,
								 (uint32_t)w, m->dated.v[d].item });
	if (dated.n)
		qsort(dated.v, dated.n, sizeof(*dated.v), by_deadline);
	for (uint32_t i = 0; i < dated.n; i++)
		add_slot(k, dated.v[i].item, (int)dated.v[i].weight);
	k->a->dated = k->a->slots;
	for (int w = 0; w < WEIGHTS; w++)
		for (uint32_t i = 0; i < m->items.n; i++)
			if (!m->items.v[i].dated && *slot_place(k, i, w) != NONE)
				add_slot(k, i, w);
	vec_release(&dated);
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
			flip(a->open, a->toggles[i].slot);
	}
	a->at = a->n;
}

struct asof *asof_new(const struct model *m, uint32_t n)
{
	struct asof *a = xcalloc(1, sizeof(*a));
	struct making k = { .a = a, .end = n, .item = NONE };
	size_t places = (size_t)WEIGHTS * m->items.n;

	a->m = m;
	a->end = n;
	k.slot_of = xmalloc((places + 1) * sizeof(uint32_t));
	memset(k.slot_of, 0xff, places * sizeof(uint32_t));
	k.starts = xcalloc((size_t)n + 2, sizeof(uint32_t));
	for (uint32_t i = 0; i < m->items.n; i++)
		fold(m, i, n, want_slot, &k);
	order_slots(&k);
	for (uint32_t i = 0; i <= n; i++)
		k.starts[i + 1] += k.starts[i];
	a->n = k.starts[n + 1];
	a->toggles = xmalloc(((size_t)a->n + 1) * sizeof(*a->toggles));
	k.item = NONE;
	for (uint32_t i = 0; i < m->items.n; i++)
		fold(m, i, n, toggle_slot, &k);
	keep_sets(a);
	free(k.slot_of);
	free(k.starts);
	return a;
}

void asof_free(struct asof *a)
{
	if (!a)
		return;
	free(a->items);
	free(a->toggles);
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
	uint32_t low = 0, high = a->n, near;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (a->toggles[middle].message < k)
			low = middle + 1;
		else
			high = middle;
	}
	near = (low + KEPT_EVERY / 2) / KEPT_EVERY * KEPT_EVERY;
	if (near > a->n)
		near -= KEPT_EVERY;
	if ((low > a->at ? low - a->at : a->at - low) > KEPT_EVERY / 2) {
		memcpy(a->open, a->kept + near / KEPT_EVERY * a->words, a->words * sizeof(uint64_t));
		a->at = near;
	}
	while (a->at < low)
		flip(a->open, a->toggles[a->at++].slot);
	while (a->at > low)
		flip(a->open, a->toggles[--a->at].slot);
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
