/* Builds the ledger: groups reviews and items into loops in linear time, through tables indexed by
 * their numbers. */
#include "model/ledger.h"

#include "model/ledger_internal.h"
#include "model/prefetch.h"

#include <stdlib.h>

struct ledger_builder {
	const struct model *m;
	struct ledger *out;
	uint32_t k, end;
	uint32_t *of_root;       /* by root task: its loop plus one, 0 = none */
	VEC(struct ledger_loop) list;   /* first with counts, then with start indexes */
	struct yield *yield;
};

/* Root task of a review. A task that was reviewed before it turned out to be a revision changes its
 * loop at that message, which limits the validity of the result (from, to). */
static uint32_t root_of(struct ledger_builder *b, const struct review *r)
{
	const struct task *t;
	uint32_t assigned;

	if (r->task == NONE)
		return NONE;
	t = &b->m->tasks.v[r->task];
	if (t->root == r->task)
		return t->root;
	assigned = t->steps.n ? t->steps.v[0].message : NONE;
	if (assigned <= r->steps.v[0].message)
		return t->root;
	if (assigned < b->k) {
		b->out->from = assigned + 1 > b->out->from ? assigned + 1 : b->out->from;
		return t->root;
	}
	b->out->to = assigned < b->out->to ? assigned : b->out->to;
	return r->task;
}

/* The task of a later review; reviews_prefetch has its steps. */
static void task_prefetch(const struct model *m, uint32_t review)
{
	uint32_t later = review + PREFETCH_DISTANCE;

	if (later < m->reviews.n && m->reviews.v[later].task != NONE)
		mem_prefetch(&m->tasks.v[m->reviews.v[later].task]);
}

static uint32_t loop_of_root(struct ledger_builder *b, uint32_t root, uint32_t first)
{
	if (root != NONE && b->of_root[root])
		return b->of_root[root] - 1;
	vec_push(&b->list, (struct ledger_loop){ .task = root, .first = first });
	if (root != NONE)
		b->of_root[root] = b->list.n;
	return b->list.n - 1;
}

static void find_loops(struct ledger_builder *b)
{
	const struct model *m = b->m;

	for (uint32_t i = 0; i < m->reviews.n && yield_on(b->yield); i++) {
		const struct review *r = &m->reviews.v[i];

		reviews_prefetch(m, i);
		task_prefetch(m, i);
		b->out->of_review[i] = NONE;
		if (!r->steps.n || r->steps.v[0].message >= b->end)
			continue;
		b->out->of_review[i] = loop_of_root(b, root_of(b, r), r->steps.v[0].message);
		b->list.v[b->out->of_review[i]].reviews++;
	}
	vec_push(&b->list, (struct ledger_loop){ .task = NONE });
}

static uint32_t loop_of_item(const struct ledger *all, const struct item *item)
{
	const struct model *m = all->model;
	uint32_t review;

	if (item->kind != ITEM_IMPROVEMENT && item->kind != ITEM_FINDING &&
	    item->kind != ITEM_CHANGE)
		return NONE;
	review = item_review(m, item);
	if (review == NONE)
		review = m->sessions.v[item_session(m, item)].loop;
	return review == NONE || review >= all->review_count ? NONE : all->of_review[review];
}

uint32_t ledger_loop_of(const struct ledger *all, uint32_t item)
{
	return loop_of_item(all, &all->model->items.v[item]);
}

/* Turns the counts of each loop into the ends of its ranges. */
static void sum_counts(struct ledger_builder *b)
{
	uint32_t reviews = 0, items = 0;

	for (uint32_t i = 0; i < b->list.n; i++) {
		reviews += b->list.v[i].reviews;
		items += b->list.v[i].items;
		b->list.v[i].reviews = reviews;
		b->list.v[i].items = items;
	}
}

/* Fills the ranges backwards: then their ends have become their starts. */
static void place_members(struct ledger_builder *b, uint32_t item_count)
{
	struct ledger *out = b->out;
	uint32_t items = vec_last(&b->list)->items;

	out->reviews = xmalloc((vec_last(&b->list)->reviews + (size_t)1) * sizeof(uint32_t));
	out->items = xmalloc((items + (size_t)1) * sizeof(uint32_t));
	for (uint32_t i = b->m->reviews.n; i-- > 0 && yield_on(b->yield);)
		if (out->of_review[i] != NONE)
			out->reviews[--b->list.v[out->of_review[i]].reviews] = i;
	for (uint32_t i = item_count; i-- > 0 && yield_on(b->yield);) {
		uint32_t loop = loop_of_item(out, &b->m->items.v[i]);

		if (loop != NONE)
			out->items[--b->list.v[loop].items] = i;
	}
}

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
static uint32_t *shared_find(const struct ledger_builder *b, const struct shared_ids *known,
			     const struct item *item)
{
	uint64_t at = hash_mix(hash_mix(hash_seed, item->kind), item->id);

	for (;; at++) {
		uint32_t *slot = &known->slots[at & (known->size - 1)];
		const struct item *other;

		if (!*slot)
			return slot;
		other = &b->m->items.v[loop_item(b->out, *slot - 1)];
		if (other->kind == item->kind && other->id == item->id)
			return slot;
	}
}

/* Few logs have entries with several items, so few need the list. */
static void link_items(struct ledger_builder *b, uint32_t place, uint32_t next)
{
	size_t bytes = vec_last(&b->list)->items * sizeof(uint32_t);

	if (!b->out->next)
		b->out->next = memset(xmalloc(bytes), 0xff, bytes); /* NONE */
	b->out->next[place] = next;
}

static void share_entries(struct ledger_builder *b, struct shared_ids *known,
			  const struct ledger_loop *l)
{
	uint32_t end = l[1].items;

	shared_clear(known, end - l->items);
	for (uint32_t place = l->items; place < end && yield_on(b->yield); place++) {
		const struct item *item = &b->m->items.v[loop_item(b->out, place)];
		uint32_t *slot;

		if (place + PREFETCH_DISTANCE < b->list.v[b->out->n].items)
			mem_prefetch(&b->m->items.v[loop_item(b->out, place + PREFETCH_DISTANCE)]);
		/* most names belong to one item alone */
		if (item->id == NONE || !b->m->strings.v[item->id].shared)
			continue;
		slot = shared_find(b, known, item);
		if (*slot) {
			b->out->items[place] |= LOOP_SHARES;
			link_items(b, *slot - 1, place);
		}
		*slot = place + 1;
	}
}

static void share_all(struct ledger_builder *b)
{
	struct shared_ids known = { 0 };

	/* within one review ids are unique */
	for (uint32_t i = 0; i < b->out->n && yield_on(b->yield); i++)
		if (b->list.v[i + 1].reviews - b->list.v[i].reviews > 1)
			share_entries(b, &known, &b->list.v[i]);
	free(known.slots);
}

static bool build(struct ledger_builder *b)
{
	uint32_t count = model_item_count(b->m, b->end);

	find_loops(b);
	b->out->list = b->list.v;
	b->out->n = b->list.n - 1;
	for (uint32_t i = 0; i < count && yield_on(b->yield); i++) {
		uint32_t loop = loop_of_item(b->out, &b->m->items.v[i]);

		if (loop != NONE)
			b->list.v[loop].items++;
	}
	if (!yield_on(b->yield))
		return false;
	sum_counts(b);
	place_members(b, count);
	if (!yield_on(b->yield))
		return false;
	share_all(b);
	return yield_on(b->yield) && ledger_count(b->out, b->end, b->yield);
}

struct ledger *ledger_new(const struct model *m, uint32_t k, uint32_t n, struct yield *yield)
{
	struct ledger *all = xcalloc(1, sizeof(*all));
	struct ledger_builder b = { .m = m, .out = all, .k = k, .end = n, .yield = yield };
	bool whole;

	all->model = m;
	all->users = 1;
	all->to = n;
	all->review_count = m->reviews.n;
	all->of_review = xmalloc((m->reviews.n + 1) * sizeof(uint32_t));
	/* not xcalloc: reading the pages that it gets of the system before they are written costs
	 * two faults for each */
	b.of_root = xmalloc((m->tasks.n + 1) * sizeof(uint32_t));
	memset(b.of_root, 0, (m->tasks.n + 1) * sizeof(uint32_t));
	whole = build(&b);
	free(b.of_root);
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
	free(all->of_review);
	vec_release(&all->transitions);
	vec_release(&all->answers);
	free(all);
}
