/* From reviews and items to loops, turns and entries, in a few passes over each. Reviews and items
 * are joined through maps, so a session of many small loops costs no more than one large one. */
#include "ui/view_loops.h"

#include <stdlib.h>

enum {
	TURN_LOOKBACK = 256,
	ENTRIES_MANY = 256, /* filled when loops are made, with breaths, not when they are drawn */
};

/* ---- loops and their turns ---- */

static uint32_t root_of(const struct scene *s, uint32_t review)
{
	uint32_t task = s->model->reviews.v[review].task;

	return task == NONE ? NONE : root_at(s->model, task, s->k);
}

static uint32_t steps_before(const struct review *r, uint32_t k)
{
	uint32_t n = 0;

	while (n < r->steps.n && r->steps.v[n].message < k)
		n++;
	return n;
}

static void find_loops(const struct scene *s, struct loops *all)
{
	const struct model *m = s->model;
	struct map known = { 0 };

	for (uint32_t i = 0; i < m->reviews.n && breath_on(s->breath); i++) {
		uint32_t found = NONE, n = steps_before(&m->reviews.v[i], s->k);
		uint32_t root = root_of(s, i);
		uint64_t key = hash_mix(1, root);

		all->of_review[i] = NONE;
		if (!n)
			continue;
		for (uint32_t it = 0, v;
		     root != NONE && found == NONE && map_next(&known, key, &it, &v);)
			if (all->list[v].task == root)
				found = v;
		if (found == NONE) {
			found = all->n++;
			if (root != NONE)
				map_add(&known, key, found);
			all->list[found] = (struct loop){
				.review = i, .task = root, .first_entry = NONE, .last_entry = NONE
			};
		}
		all->of_review[i] = found;
		all->list[found].reviews++;
		all->list[found].moment_count += n;
	}
	map_release(&known);
}

struct told {
	uint32_t message;
	const struct review_step *step;
};

static int by_message(const void *left, const void *right)
{
	const struct told *a = left, *b = right;

	return a->message < b->message ? -1 : a->message > b->message;
}

static uint32_t turn_of_iteration(struct loop *l, uint32_t iteration)
{
	for (uint32_t i = l->turn_count; i-- > 0 && l->turn_count - i < TURN_LOOKBACK;)
		if (l->turns[i].iteration == iteration)
			return i;
	l->turns[l->turn_count] = (struct turn){ .answer = NONE, .iteration = iteration };
	return l->turn_count++;
}

/* The steps of all its reviews in the order of messages; iterations become turns. */
static void number_turns(struct arena *arena, struct loop *l, struct told *told)
{
	uint32_t n = l->moment_count;

	qsort(told, n, sizeof(*told), by_message);
	l->moments = arena_alloc(arena, (n + 1) * sizeof(*l->moments));
	l->turns = arena_alloc(arena, (n + 1) * sizeof(*l->turns));
	for (uint32_t i = 0; i < n; i++) {
		const struct review_step *step = told[i].step;
		uint32_t turn = turn_of_iteration(l, step->iteration);

		l->moments[i] = (struct moment){ told[i].message, turn };
		l->verdict = step->verdict;
		l->failed = step->failed;
		if (step->verdict != REVIEW_NONE) {
			l->turns[turn].answer = told[i].message;
			l->turns[turn].failed = step->failed;
		}
	}
}

static void find_turns(const struct scene *s, struct arena *arena, struct loops *all)
{
	const struct model *m = s->model;
	uint32_t total = 0, *end = xcalloc(all->n + 1, sizeof(*end));
	struct told *told;

	for (uint32_t i = 0; i < all->n; i++) {
		end[i] = total;
		total += all->list[i].moment_count;
	}
	told = xmalloc((total + 1) * sizeof(*told));
	for (uint32_t i = 0; i < m->reviews.n && breath_on(s->breath); i++) {
		const struct review *r = &m->reviews.v[i];

		if (all->of_review[i] == NONE)
			continue;
		for (uint32_t n = 0; n < r->steps.n && r->steps.v[n].message < s->k; n++)
			told[end[all->of_review[i]]++] =
				(struct told){ r->steps.v[n].message, &r->steps.v[n] };
	}
	for (uint32_t i = 0; i < all->n && breath_on(s->breath); i++)
		number_turns(arena, &all->list[i], told + end[i] - all->list[i].moment_count);
	free(told);
	free(end);
}

/* The turn a message belongs to: that of the last moment at or before it. */
static uint32_t turn_at(const struct loop *l, uint32_t message)
{
	uint32_t low = 0, high = l->moment_count;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (l->moments[mid].message <= message)
			low = mid + 1;
		else
			high = mid;
	}
	return low ? l->moments[low - 1].turn : 0;
}

/* ---- entries ---- */

static uint32_t loop_of_item(const struct scene *s, const struct loops *all,
			     const struct item *item)
{
	uint32_t review = item->review;

	if (item->kind != ITEM_IMPROVEMENT && item->kind != ITEM_FINDING &&
	    item->kind != ITEM_CHANGE)
		return NONE;
	if (review == NONE)
		review = s->model->sessions.v[item->session].loop;
	return review == NONE ? NONE : all->of_review[review];
}

static uint32_t entry_add(struct loops *all, uint32_t loop)
{
	struct loop *l = &all->list[loop];
	uint32_t number = all->entry_count++;

	all->entries[number] = (struct entry){ .loop = loop, .first_item = NONE, .next = NONE };
	if (l->first_entry == NONE)
		l->first_entry = number;
	else
		all->entries[l->last_entry].next = number;
	l->last_entry = number;
	l->entry_count++;
	return number;
}

/* Items of an entry are chained in the order they were raised first. */
static void entry_take(struct loops *all, uint32_t entry, uint32_t item)
{
	struct entry *e = &all->entries[entry];

	all->next_item[item] = NONE;
	if (e->first_item == NONE)
		e->first_item = item;
	else
		all->next_item[e->item] = item;
	e->item = item;
	all->pool_used += all->model->items.v[item].n;
}

static bool is_entry_of(const struct loops *all, uint32_t entry, uint32_t loop, const struct item *item)
{
	const struct item *other = &all->model->items.v[all->entries[entry].item];

	return all->entries[entry].loop == loop && other->kind == item->kind && other->id == item->id;
}

static uint64_t entry_key(uint32_t loop, const struct item *item)
{
	return hash_mix(hash_mix(loop, item->kind), item->id);
}

static uint32_t find_entry(const struct loops *all, struct map *known, uint32_t loop,
			   const struct item *item)
{
	for (uint32_t it = 0, v; map_next(known, entry_key(loop, item), &it, &v);)
		if (is_entry_of(all, v, loop, item))
			return v;
	return NONE;
}

static void find_entries(const struct scene *s, struct loops *all)
{
	const struct model *m = s->model;
	struct map known = { 0 };

	for (uint32_t i = 0; i < m->items.n && breath_on(s->breath); i++) {
		const struct item *item = &m->items.v[i];
		uint32_t loop, found = NONE;
		bool shares;

		if (!item->n || item->steps[0].message >= s->k)
			continue;
		loop = loop_of_item(s, all, item);
		if (loop == NONE)
			continue;
		/* within one review an id is one item already */
		shares = item->id != NONE && all->list[loop].reviews > 1;
		if (shares)
			found = find_entry(all, &known, loop, item);
		if (found == NONE) {
			found = entry_add(all, loop);
			if (shares)
				map_add(&known, entry_key(loop, item), found);
		}
		entry_take(all, found, i);
	}
	map_release(&known);
}

/* ---- what happened ---- */

static enum happening_kind kind_of_verdict(enum verdict v)
{
	switch (v) {
	case VERDICT_ACCEPTED: return HAPPENED_ACCEPTED;
	case VERDICT_REJECTED: return HAPPENED_REJECTED;
	case VERDICT_PARTIAL: return HAPPENED_PARTIAL;
	case VERDICT_ESCALATED: return HAPPENED_ESCALATED;
	case VERDICT_SUPERSEDED: return HAPPENED_SUPERSEDED;
	case VERDICT_NONE:
	case VERDICT_ANSWERED:
	case VERDICT_DISMISSED:
	case VERDICT_EXPIRED: break;
	}
	return HAPPENED_OTHER;
}

static enum happening_kind kind_of(const struct item_step *step)
{
	switch ((enum step_kind)step->what) {
	case STEP_RAISED: return HAPPENED_RAISED;
	case STEP_DECIDED: return kind_of_verdict(step->verdict);
	case STEP_ACKED: return HAPPENED_ACKED;
	case STEP_BOUNCED: return HAPPENED_BOUNCED;
	case STEP_FIXED: return HAPPENED_FIXED;
	case STEP_SUPERSEDED: return HAPPENED_SUPERSEDED;
	}
	return HAPPENED_OTHER;
}

static int by_time(const void *left, const void *right)
{
	const struct happening *a = left, *b = right;

	if (a->message != b->message)
		return a->message < b->message ? -1 : 1;
	return a->order < b->order ? -1 : a->order > b->order;
}

/* Raised again in a later turn: it came back. Raised twice in one: once is enough. */
static void tell_came_back(struct entry *e)
{
	uint32_t kept = 0, raised = NONE;

	for (uint32_t i = 0; i < e->n; i++) {
		struct happening h = e->list[i];

		if (h.kind == HAPPENED_RAISED) {
			if (raised == h.turn)
				continue;
			h.kind = raised == NONE ? HAPPENED_RAISED : HAPPENED_BACK;
			raised = h.turn;
		}
		e->list[kept++] = h;
	}
	e->n = kept;
}

static void find_happenings(struct loops *all, struct entry *e)
{
	const struct model *m = all->model;
	const struct loop *loop = &all->list[e->loop];
	uint32_t total = 0;

	for (uint32_t i = e->first_item; i != NONE; i = all->next_item[i])
		total += m->items.v[i].n;
	e->list = all->pool + all->pool_used;
	all->pool_used += total;
	for (uint32_t i = e->first_item; i != NONE; i = all->next_item[i]) {
		const struct item *item = &m->items.v[i];

		for (uint32_t n = 0; n < item->n && item->steps[n].message < all->k; n++, e->n++)
			e->list[e->n] = (struct happening){
				.message = item->steps[n].message,
				.turn = turn_at(loop, item->steps[n].message),
				.order = e->n,
				.kind = (uint8_t)kind_of(&item->steps[n]),
			};
	}
	if (e->first_item != e->item)
		qsort(e->list, e->n, sizeof(*e->list), by_time);
	tell_came_back(e);
}

/* ---- convergence ---- */

static bool opens(enum happening_kind kind)
{
	return kind == HAPPENED_RAISED || kind == HAPPENED_BACK || kind == HAPPENED_BOUNCED;
}

static void count_entry(struct loop *l, const struct entry *e)
{
	uint32_t from = l->turn_count > TURNS_COUNTED ? l->turn_count - TURNS_COUNTED : 0;

	for (uint32_t t = from; t < l->turn_count; t++) {
		struct turn *turn = &l->turns[t];
		bool open = false;

		if (turn->answer == NONE)
			continue;
		for (uint32_t i = 0; i < e->n && e->list[i].message <= turn->answer; i++) {
			if (e->list[i].kind != HAPPENED_ACKED)
				open = opens(e->list[i].kind);
			if (e->list[i].message != turn->answer)
				continue;
			turn->fresh += e->list[i].kind == HAPPENED_RAISED;
			turn->again += e->list[i].kind == HAPPENED_BACK;
		}
		turn->open += open;
	}
}

void loop_fill(struct loops *all, struct loop *l)
{
	for (uint32_t i = l->first_entry; i != NONE && !l->filled; i = all->entries[i].next) {
		find_happenings(all, &all->entries[i]);
		count_entry(l, &all->entries[i]);
	}
	l->filled = true;
}

bool loop_diverges(struct loops *all, struct loop *l, const struct turn **before,
		   const struct turn **after)
{
	*before = *after = NULL;
	for (uint32_t i = 0; i < l->turn_count; i++) {
		if (l->turns[i].answer == NONE || l->turns[i].failed)
			continue;
		*before = *after;
		*after = &l->turns[i];
	}
	if (!*before)
		return false;
	loop_fill(all, l);
	return (*after)->open && (*after)->open >= (*before)->open;
}

/* As loop_fill, with breaths; a loop that was not finished is not looked at. */
static void fill_large(const struct scene *s, struct loops *all, struct loop *l)
{
	for (uint32_t i = l->first_entry; i != NONE && breath_on(s->breath); i = all->entries[i].next) {
		find_happenings(all, &all->entries[i]);
		count_entry(l, &all->entries[i]);
	}
	l->filled = true;
}

struct loops *loops_make(const struct scene *s, struct arena *arena)
{
	const struct model *m = s->model;
	struct loops *all = arena_zalloc(arena, sizeof(*all));

	all->model = m;
	all->k = s->k;
	all->list = arena_alloc(arena, (m->reviews.n + 1) * sizeof(*all->list));
	all->entries = arena_alloc(arena, (m->items.n + 1) * sizeof(*all->entries));
	all->of_review = arena_alloc(arena, (m->reviews.n + 1) * sizeof(uint32_t));
	all->next_item = arena_alloc(arena, (m->items.n + 1) * sizeof(uint32_t));
	find_loops(s, all);
	find_turns(s, arena, all);
	find_entries(s, all);
	all->pool = arena_alloc(arena, (all->pool_used + 1) * sizeof(*all->pool));
	all->pool_used = 0;
	for (uint32_t i = 0; i < all->n; i++)
		if (all->list[i].entry_count > ENTRIES_MANY)
			fill_large(s, all, &all->list[i]);
	return all;
}
