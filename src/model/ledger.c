/* Groups reviews and items into loops of the ledger, in a pass or two over each. Joined through
 * tables by number, so many small loops cost no more than one large one. */
#include "model/ledger.h"

#include "model/ledger_internal.h"
#include "model/prefetch.h"

#include <stdlib.h>

struct ledger_builder {
	const struct model *m;
	struct ledger *out;
	uint32_t k, end;
	uint32_t *of_review;     /* by review: its loop, NONE */
	uint32_t *of_item;       /* by item as of the end: its loop, NONE */
	uint32_t *of_root;       /* by root task: its loop plus one, 0 = none */
	VEC(struct ledger_loop) list;   /* first with counts, then with start indexes */
	struct yield *yield;
};

/* ---- finding loops ---- */

/* Root task of a review. A task that was reviewed before it turned out to be a revision changes its
 * loop at that message, which limits the validity of the result (from, to). */
static uint32_t root_of(struct ledger_builder *k, const struct review *r)
{
	const struct task *t;
	uint32_t told;

	if (r->task == NONE)
		return NONE;
	t = &k->m->tasks.v[r->task];
	if (t->root == r->task)
		return t->root;
	told = t->steps.n ? t->steps.v[0].message : NONE;
	if (told <= r->steps.v[0].message)
		return t->root;
	if (told < k->k) {
		k->out->from = told + 1 > k->out->from ? told + 1 : k->out->from;
		return t->root;
	}
	k->out->to = told < k->out->to ? told : k->out->to;
	return r->task;
}

/* The task of a later review; reviews_prefetch has its steps. */
static void task_prefetch(const struct model *m, uint32_t review)
{
	uint32_t later = review + PREFETCH_DISTANCE;

	if (later < m->reviews.n && m->reviews.v[later].task != NONE)
		mem_prefetch(&m->tasks.v[m->reviews.v[later].task]);
}

static uint32_t loop_of_root(struct ledger_builder *k, uint32_t root, uint32_t first)
{
	if (root != NONE && k->of_root[root])
		return k->of_root[root] - 1;
	vec_push(&k->list, (struct ledger_loop){ .task = root, .first = first });
	if (root != NONE)
		k->of_root[root] = k->list.n;
	return k->list.n - 1;
}

static void find_loops(struct ledger_builder *k)
{
	const struct model *m = k->m;

	for (uint32_t i = 0; i < m->reviews.n && yield_on(k->yield); i++) {
		const struct review *r = &m->reviews.v[i];

		reviews_prefetch(m, i);
		task_prefetch(m, i);
		k->of_review[i] = NONE;
		if (!r->steps.n || r->steps.v[0].message >= k->end)
			continue;
		k->of_review[i] = loop_of_root(k, root_of(k, r), r->steps.v[0].message);
		k->list.v[k->of_review[i]].reviews++;
	}
	vec_push(&k->list, (struct ledger_loop){ .task = NONE });
}

static uint32_t loop_of_item(const struct ledger_builder *k, const struct item *item)
{
	uint32_t review;

	if (item->kind != ITEM_IMPROVEMENT && item->kind != ITEM_FINDING &&
	    item->kind != ITEM_CHANGE)
		return NONE;
	review = item_review(k->m, item);
	if (review == NONE)
		review = k->m->sessions.v[item_session(k->m, item)].loop;
	return review == NONE ? NONE : k->of_review[review];
}

/* Prefix sums: turns the counts of each loop into start indexes. */
static void place_loops(struct ledger_builder *k)
{
	uint32_t reviews = 0, items = 0;

	for (uint32_t i = 0; i < k->list.n; i++) {
		struct ledger_loop *l = &k->list.v[i];
		uint32_t own_reviews = l->reviews, own_items = l->items;

		l->reviews = reviews;
		l->items = items;
		reviews += own_reviews;
		items += own_items;
	}
	k->out->reviews = xmalloc((reviews + 1) * sizeof(uint32_t));
	k->out->items = xmalloc((items + 1) * sizeof(uint32_t));
	k->out->next = xmalloc((items + 1) * sizeof(uint32_t));
}

/* ---- their items and reviews ---- */

static void take_items(struct ledger_builder *k, uint32_t count)
{
	uint32_t *at = xmalloc(k->list.n * sizeof(*at)); /* by loop: next free place */

	for (uint32_t i = 0; i < k->list.n; i++)
		at[i] = k->list.v[i].items;
	for (uint32_t i = 0; i < count && yield_on(k->yield); i++) {
		uint32_t loop = k->of_item[i];

		if (loop == NONE)
			continue;
		k->out->items[at[loop]] = i;
		k->out->next[at[loop]++] = NONE;
	}
	free(at);
}

static void take_reviews(struct ledger_builder *k)
{
	uint32_t *at = xmalloc(k->list.n * sizeof(*at));

	for (uint32_t i = 0; i < k->list.n; i++)
		at[i] = k->list.v[i].reviews;
	for (uint32_t i = 0; i < k->m->reviews.n; i++)
		if (k->of_review[i] != NONE)
			k->out->reviews[at[k->of_review[i]]++] = i;
	free(at);
}

/* ---- items that share an entry ---- */

/* Open-addressing hash table from kind and id to the place of the newest item plus one; 0 is free.
 * Cleared for each loop, so that it stays small and in the cache. */
struct shared_ids {
	uint32_t *slots;
	size_t size, room; /* size: slots in use, a power of two */
};

static void shared_clear(struct shared_ids *known, uint32_t items)
{
	known->size = 16;
	while (known->size / 2 < items)
		known->size *= 2;
	if (known->size > known->room) {
		free(known->slots);
		known->slots = xmalloc(known->size * sizeof(*known->slots));
		known->room = known->size;
	}
	memset(known->slots, 0, known->size * sizeof(*known->slots));
}

/* Linear probing: the slot of the item's entry, or a free one. */
static uint32_t *shared_find(const struct ledger_builder *k, const struct shared_ids *known,
			     const struct item *item)
{
	uint64_t at = hash_mix(hash_mix(hash_seed, item->kind), item->id);

	for (;; at++) {
		uint32_t *slot = &known->slots[at & (known->size - 1)];
		const struct item *other;

		if (!*slot)
			return slot;
		other = &k->m->items.v[loop_item(k->out, *slot - 1)];
		if (other->kind == item->kind && other->id == item->id)
			return slot;
	}
}

static void share_entries(struct ledger_builder *k, struct shared_ids *known, const struct ledger_loop *l)
{
	uint32_t end = l[1].items;

	shared_clear(known, end - l->items);
	for (uint32_t place = l->items; place < end && yield_on(k->yield); place++) {
		const struct item *item = &k->m->items.v[loop_item(k->out, place)];
		uint32_t *slot;

		if (place + PREFETCH_DISTANCE < k->list.v[k->out->n].items)
			mem_prefetch(&k->m->items.v[loop_item(k->out, place + PREFETCH_DISTANCE)]);
		if (item->id == NONE)
			continue;
		slot = shared_find(k, known, item);
		if (*slot) {
			k->out->items[place] |= LOOP_SHARES;
			k->out->next[*slot - 1] = place;
		}
		*slot = place + 1;
	}
}

static void share_all(struct ledger_builder *k)
{
	struct shared_ids known = { 0 };

	/* within one review ids are unique */
	for (uint32_t i = 0; i < k->out->n && yield_on(k->yield); i++)
		if (k->list.v[i + 1].reviews - k->list.v[i].reviews > 1)
			share_entries(k, &known, &k->list.v[i]);
	free(known.slots);
}

/* ---- entry points ---- */

static bool find_all(struct ledger_builder *k)
{
	uint32_t count = model_item_count(k->m, k->end);

	find_loops(k);
	k->of_item = xmalloc(count * sizeof(*k->of_item));
	for (uint32_t i = 0; i < count && yield_on(k->yield); i++) {
		k->of_item[i] = loop_of_item(k, &k->m->items.v[i]);
		if (k->of_item[i] != NONE)
			k->list.v[k->of_item[i]].items++;
	}
	place_loops(k);
	k->out->list = k->list.v;
	k->out->n = k->list.n - 1;
	if (!yield_on(k->yield))
		return false;
	take_reviews(k);
	take_items(k, count);
	share_all(k);
	return yield_on(k->yield) && ledger_count(k->out, k->end, k->yield);
}

struct ledger *ledger_new(const struct model *m, uint32_t k, uint32_t n, struct yield *yield)
{
	struct ledger *all = xcalloc(1, sizeof(*all));
	struct ledger_builder making = { .m = m, .out = all, .k = k, .end = n, .yield = yield };
	bool whole;

	all->model = m;
	all->users = 1;
	all->to = n;
	making.of_review = xmalloc((m->reviews.n + 1) * sizeof(uint32_t));
	making.of_root = xcalloc(m->tasks.n + 1, sizeof(uint32_t));
	whole = find_all(&making);
	free(making.of_review);
	free(making.of_root);
	free(making.of_item);
	if (whole)
		return all;
	ledger_release(all);
	return NULL;
}

struct ledger *ledger_ref(struct ledger *all)
{
	if (all)
		all->users++;
	return all;
}

void ledger_release(struct ledger *all)
{
	if (!all || --all->users)
		return;
	free(all->list);
	free(all->reviews);
	free(all->items);
	free(all->next);
	vec_release(&all->flips);
	vec_release(&all->answers);
	free(all);
}
