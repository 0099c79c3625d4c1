/* From reviews and items to loops, in a pass or two over each. Reviews and items are joined through
 * maps, so a session of many small loops costs no more than one large one. */
#include "model/loops.h"

#include "model/loops_parts.h"

#include <stdlib.h>

struct making {
	const struct model *m;
	struct loops *out;
	uint32_t k, end;
	uint32_t *of_review;     /* its loop, NONE */
	uint32_t *of_root;       /* by task: the loop of its chain plus one, 0 */
	VEC(struct loop) list;   /* first with numbers, then with places */
	struct breath *breath;
};

/* ---- which loops there are ---- */

/* The task that a review's loop is of. One that was reviewed before it turned out to be a revision
 * changes its loop at that message: what is made holds on one side of it. */
static uint32_t root_of(struct making *k, const struct review *r)
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

/* The task of a later review, as reviews_fetch has its steps. */
static void task_fetch(const struct model *m, uint32_t review)
{
	if (review + STEPS_AHEAD < m->reviews.n && m->reviews.v[review + STEPS_AHEAD].task != NONE)
		mem_fetch(&m->tasks.v[m->reviews.v[review + STEPS_AHEAD].task]);
}

static uint32_t loop_of_root(struct making *k, uint32_t root, uint32_t first)
{
	if (root != NONE && k->of_root[root])
		return k->of_root[root] - 1;
	vec_push(&k->list, (struct loop){ .task = root, .first = first });
	if (root != NONE)
		k->of_root[root] = k->list.n;
	return k->list.n - 1;
}

static void find_loops(struct making *k)
{
	const struct model *m = k->m;

	for (uint32_t i = 0; i < m->reviews.n && breath_on(k->breath); i++) {
		const struct review *r = &m->reviews.v[i];

		reviews_fetch(m, i);
		task_fetch(m, i);
		k->of_review[i] = NONE;
		if (!r->steps.n || r->steps.v[0].message >= k->end)
			continue;
		k->of_review[i] = loop_of_root(k, root_of(k, r), r->steps.v[0].message);
		k->list.v[k->of_review[i]].reviews++;
	}
	vec_push(&k->list, (struct loop){ .task = NONE });
}

static uint32_t loop_of_item(const struct making *k, const struct item *item)
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

/* Numbers become places: where each loop's own begin. */
static void place_loops(struct making *k)
{
	uint32_t reviews = 0, items = 0;

	for (uint32_t i = 0; i < k->list.n; i++) {
		struct loop *l = &k->list.v[i];
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

/* ---- what belongs to them ---- */

static uint64_t entry_key(uint32_t loop, const struct item *item)
{
	return hash_mix(hash_mix(loop, item->kind), item->id);
}

/* The place of the newest item so far that shares the entry. */
static uint32_t *find_shared(struct making *k, const struct map *known, uint32_t loop,
			     const struct item *item, uint32_t *newest)
{
	for (uint32_t it = 0, v; map_next(known, entry_key(loop, item), &it, &v);) {
		const struct item *other = &k->m->items.v[loop_item(k->out, v)];

		if (v >= k->list.v[loop].items && v < k->list.v[loop + 1].items &&
		    other->kind == item->kind && other->id == item->id)
			return &newest[v];
	}
	return NULL;
}

static void take_items(struct making *k, uint32_t count)
{
	uint32_t *at = xmalloc(k->list.n * sizeof(*at)); /* by loop: the next place */
	uint32_t *newest = xmalloc((k->list.v[k->list.n - 1].items + 1) * sizeof(*newest));
	struct map known = { 0 };

	for (uint32_t i = 0; i < k->list.n; i++)
		at[i] = k->list.v[i].items;
	for (uint32_t i = 0; i < count && breath_on(k->breath); i++) {
		const struct item *item = &k->m->items.v[i];
		uint32_t loop = loop_of_item(k, item), place, *shared;

		if (loop == NONE)
			continue;
		place = at[loop]++;
		k->out->items[place] = i;
		k->out->next[place] = NONE;
		/* within one review an id is one item already */
		if (item->id == NONE || k->list.v[loop + 1].reviews - k->list.v[loop].reviews < 2)
			continue;
		shared = find_shared(k, &known, loop, item, newest);
		if (shared) {
			k->out->items[place] |= LOOP_SHARES;
			k->out->next[*shared] = place;
			*shared = place;
		} else {
			newest[place] = place;
			map_add(&known, entry_key(loop, item), place);
		}
	}
	map_release(&known);
	free(newest);
	free(at);
}

static void take_reviews(struct making *k)
{
	uint32_t *at = xmalloc(k->list.n * sizeof(*at));

	for (uint32_t i = 0; i < k->list.n; i++)
		at[i] = k->list.v[i].reviews;
	for (uint32_t i = 0; i < k->m->reviews.n; i++)
		if (k->of_review[i] != NONE)
			k->out->reviews[at[k->of_review[i]]++] = i;
	free(at);
}

/* ---- all of it ---- */

static bool find_all(struct making *k)
{
	uint32_t count = model_item_count(k->m, k->end);

	find_loops(k);
	for (uint32_t i = 0; i < count && breath_on(k->breath); i++) {
		uint32_t loop = loop_of_item(k, &k->m->items.v[i]);

		if (loop != NONE)
			k->list.v[loop].items++;
	}
	place_loops(k);
	k->out->list = k->list.v;
	k->out->n = k->list.n - 1;
	if (!breath_on(k->breath))
		return false;
	take_reviews(k);
	take_items(k, count);
	return breath_on(k->breath) && loops_count(k->out, k->end, k->breath);
}

struct loops *loops_new(const struct model *m, uint32_t k, uint32_t n, struct breath *breath)
{
	struct loops *all = xcalloc(1, sizeof(*all));
	struct making making = { .m = m, .out = all, .k = k, .end = n, .breath = breath };
	bool whole;

	all->model = m;
	all->users = 1;
	all->to = n;
	making.of_review = xmalloc((m->reviews.n + 1) * sizeof(uint32_t));
	making.of_root = xcalloc(m->tasks.n + 1, sizeof(uint32_t));
	whole = find_all(&making);
	free(making.of_review);
	free(making.of_root);
	if (whole)
		return all;
	loops_release(all);
	return NULL;
}

struct loops *loops_hold(struct loops *all)
{
	if (all)
		all->users++;
	return all;
}

void loops_release(struct loops *all)
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
