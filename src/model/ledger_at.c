/* One loop of the ledger as of a message: its turns, the events of its entries, the number of open
 * entries after each answer. */
#include "model/ledger_internal.h"
#include "model/rules.h"

#include "model/prefetch.h"

#include <stdlib.h>

enum { TURN_LOOKBACK = 256 };

static uint32_t entry_from(const struct ledger *all, uint32_t loop, uint32_t place, uint32_t limit)
{
	uint32_t end = all->list[loop + 1].items;

	for (; place < end && loop_item(all, place) < limit; place++)
		if (!(all->items[place] & LOOP_SHARES))
			return place;
	return NONE;
}

uint32_t loop_first_place(const struct ledger *all, uint32_t loop, uint32_t limit)
{
	return entry_from(all, loop, all->list[loop].items, limit);
}

uint32_t loop_next_place(const struct ledger *all, uint32_t loop, uint32_t place, uint32_t limit)
{
	return entry_from(all, loop, place + 1, limit);
}

static inline uint32_t next_of(const struct ledger *all, uint32_t place)
{
	return all->next ? all->next[place] : NONE;
}

uint32_t entry_next_place(const struct ledger *all, uint32_t place, uint32_t limit)
{
	uint32_t next = next_of(all, place);

	return next != NONE && loop_item(all, next) < limit ? next : NONE;
}

uint32_t loop_place_of(const struct ledger *all, uint32_t loop, uint32_t item)
{
	uint32_t next = all->list[loop].items + 1;

	bisect(next, all->list[loop + 1].items, i, loop_item(all, i) <= item)
	return next - 1;
}

/* Sort key of a step: by message, and stable. */
struct step_key {
	uint32_t message, order;
	const void *step;
};

static int by_message(const void *left, const void *right)
{
	const struct step_key *a = left, *b = right;

	if (a->message != b->message)
		return a->message < b->message ? -1 : 1;
	return a->order < b->order ? -1 : a->order > b->order;
}

static uint32_t turn_of_iteration(struct loop_at *l, uint32_t iteration)
{
	/* as a rule each iteration is a new one, higher than all before */
	bool known = l->turn_count && iteration <= l->highest_iteration;

	for (uint32_t i = l->turn_count; known && i-- > 0 && l->turn_count - i < TURN_LOOKBACK;)
		if (l->turns[i].iteration == iteration)
			return i;
	if (!known)
		l->highest_iteration = iteration;
	l->turns[l->turn_count] = (struct loop_turn){ .answer = NONE, .iteration = iteration };
	return l->turn_count++;
}

/* The reviews of a loop and how many of their steps are before k. */
struct review_steps {
	const uint32_t *from, *to; /* the reviews' numbers */
	uint32_t n;
	bool in_order; /* they are sorted by message as they are */
};

static struct review_steps find_review_steps(const struct ledger *all, uint32_t loop, uint32_t k)
{
	struct review_steps found = { all->reviews + all->list[loop].reviews,
				      all->reviews + all->list[loop + 1].reviews, 0, true };
	uint32_t last = 0;

	for (const uint32_t *p = found.from; p < found.to; p++) {
		const struct review *r = &all->model->reviews.v[*p];

		reviews_prefetch(all->model, *p);
		for (uint32_t s = 0; s < r->steps.n && r->steps.v[s].message < k; s++, found.n++) {
			found.in_order &= last <= r->steps.v[s].message;
			last = r->steps.v[s].message;
		}
	}
	return found;
}

static void take_step(struct loop_at *l, const struct review_step *step)
{
	uint32_t turn = turn_of_iteration(l, step->iteration);

	l->exchanges[l->exchange_count++] = (struct exchange){ step->message, turn,
							       step->verdict != REVIEW_NONE,
							       step->failed,
							       step->verdict == REVIEW_APPROVED };
	l->verdict = step->verdict;
	l->failed = step->failed;
	if (step->verdict != REVIEW_NONE) {
		l->turns[turn].answer = step->message;
		l->turns[turn].failed = step->failed;
		l->turns[turn].approved = step->verdict == REVIEW_APPROVED;
	}
}

/* Turns without the counts. */
static struct loop_at *find_turns(const struct ledger *all, uint32_t loop, uint32_t k,
				  struct arena *arena)
{
	struct loop_at *l = arena_zalloc(arena, sizeof(*l));
	struct review_steps found = find_review_steps(all, loop, k);
	struct step_key *keys = found.in_order ? NULL : xmalloc(found.n * sizeof(*keys));
	uint32_t n = 0;

	l->number = loop;
	l->k = k;
	l->review = all->reviews[all->list[loop].reviews];
	l->exchanges = arena_alloc(arena, (found.n + 1) * sizeof(*l->exchanges));
	l->turns = arena_alloc(arena, (found.n + 1) * sizeof(*l->turns));
	for (const uint32_t *p = found.from; p < found.to; p++) {
		const struct review *r = &all->model->reviews.v[*p];

		for (uint32_t s = 0; s < r->steps.n && r->steps.v[s].message < k; s++, n++) {
			if (keys)
				keys[n] = (struct step_key){ r->steps.v[s].message, n,
							     &r->steps.v[s] };
			else
				take_step(l, &r->steps.v[s]);
		}
	}
	if (keys)
		qsort(keys, n, sizeof(*keys), by_message);
	for (uint32_t i = 0; keys && i < n; i++)
		take_step(l, keys[i].step);
	free(keys);
	return l;
}

/* Binary search: the turn of the last exchange at or before the message. */
static uint32_t turn_at(const struct loop_at *l, uint32_t message)
{
	uint32_t low = 0;

	bisect(low, l->exchange_count, i, l->exchanges[i].message <= message)
	return low ? l->exchanges[low - 1].turn : 0;
}

bool loop_last_two(const struct loop_at *l, const struct loop_turn **before,
		   const struct loop_turn **after)
{
	*before = *after = NULL;
	for (uint32_t i = l->turn_count; i-- > 0 && l->turn_count - i <= TURN_LOOKBACK && !*before;)
		if (l->turns[i].answer != NONE && !l->turns[i].failed)
			*(*after ? before : after) = &l->turns[i];
	return *before != NULL;
}

static enum entry_event_kind kind_of(const struct item_step *step)
{
	static const uint8_t by_verdict[] = {
		[VERDICT_NONE] = ENTRY_OTHER,          [VERDICT_ACCEPTED] = ENTRY_ACCEPTED,
		[VERDICT_REJECTED] = ENTRY_REJECTED,   [VERDICT_PARTIAL] = ENTRY_PARTIAL,
		[VERDICT_ESCALATED] = ENTRY_ESCALATED, [VERDICT_ANSWERED] = ENTRY_OTHER,
		[VERDICT_DISMISSED] = ENTRY_OTHER,     [VERDICT_EXPIRED] = ENTRY_OTHER,
		[VERDICT_SUPERSEDED] = ENTRY_SUPERSEDED, [VERDICT_WITHDRAWN] = ENTRY_OTHER,
	};

	switch ((enum step_kind)step->what) {
	case STEP_RAISED: return ENTRY_RAISED;
	case STEP_DECIDED: return by_verdict[step->verdict];
	case STEP_ACKED: return ENTRY_ACKED;
	case STEP_BOUNCED: return ENTRY_BOUNCED;
	case STEP_FIXED: return ENTRY_FIXED;
	case STEP_SUPERSEDED: return ENTRY_SUPERSEDED;
	case STEP_EXPIRED:
	case STEP_WITHDRAWN: break;
	}
	return ENTRY_OTHER;
}

/* The steps of an entry with several items. */
static const struct item_step *sort_item_steps(const struct ledger *all, uint32_t place,
					       uint32_t limit, struct arena *arena, uint32_t *n)
{
	const struct model *m = all->model;
	struct item_step *steps;
	struct step_key *keys;
	uint32_t total = 0;

	*n = 0;
	for (uint32_t p = place; p != NONE; p = entry_next_place(all, p, limit))
		total += m->items.v[loop_item(all, p)].n;
	keys = arena_alloc(arena, total * sizeof(*keys));
	steps = arena_alloc(arena, total * sizeof(*steps));
	for (uint32_t p = place; p != NONE; p = entry_next_place(all, p, limit)) {
		const struct item *item = &m->items.v[loop_item(all, p)];

		for (uint32_t i = 0; i < item->n; i++, (*n)++)
			keys[*n] = (struct step_key){ item->steps[i].message, *n, &item->steps[i] };
	}
	qsort(keys, *n, sizeof(*keys), by_message);
	for (uint32_t i = 0; i < *n; i++)
		steps[i] = *(const struct item_step *)keys[i].step;
	return steps;
}

/* The steps of the entry whose first item is at that place, sorted by message; may include steps
 * from k on. */
static inline const struct item_step *entry_steps(const struct ledger *all, uint32_t place,
						  uint32_t limit, struct arena *arena, uint32_t *n)
{
	const struct item *item = &all->model->items.v[loop_item(all, place)];

	if (next_of(all, place) != NONE)
		return sort_item_steps(all, place, limit, arena, n);
	*n = item->n;
	return item->steps;
}

/* False if it was already raised in the same turn. *raised: the message that raised it last, NONE
 * at first. */
static bool is_raised_anew(const struct loop_at *l, uint32_t message, uint32_t *raised)
{
	if (*raised != NONE && turn_at(l, *raised) == turn_at(l, message))
		return false;
	*raised = message;
	return true;
}

void loop_entry(const struct ledger *all, const struct loop_at *l, uint32_t item,
		struct arena *arena, struct entry *out)
{
	uint32_t limit = model_item_count(all->model, l->k), raised = NONE, n, hash = 0;
	uint32_t place = loop_place_of(all, l->number, item);
	const struct item_step *steps = entry_steps(all, place, limit, arena, &n);

	*out = (struct entry){ .list = arena_alloc(arena, (n + 1) * sizeof(*out->list)) };
	for (uint32_t p = place; p != NONE; p = entry_next_place(all, p, limit))
		out->item = loop_item(all, p);
	for (uint32_t i = 0; i < n && steps[i].message < l->k; i++) {
		enum entry_event_kind kind = kind_of(&steps[i]);

		if (kind == ENTRY_RAISED && raised != NONE)
			kind = ENTRY_BACK;
		if (steps[i].what == STEP_RAISED && !is_raised_anew(l, steps[i].message, &raised))
			continue;
		out->list[out->n++] = (struct entry_event){ .message = steps[i].message,
							    .turn = turn_at(l, steps[i].message),
							    .kind = (uint8_t)kind,
							    .reworded = kind == ENTRY_BACK &&
									steps[i].hash != hash };
		hash = steps[i].what == STEP_RAISED ? steps[i].hash : hash;
	}
}

/* Binary search: the first answer at or after a message, from index `low` on, or n. */
static uint32_t answer_from(const struct answer *list, uint32_t low, uint32_t n, uint32_t message)
{
	bisect(low, n, i, list[i].message < message)
	return low;
}

/* The same, but tries the first two linearly: usually it is one of them. */
static inline uint32_t answer_near(const struct answer *list, uint32_t low, uint32_t n,
				   uint32_t message)
{
	for (unsigned i = 0; i < 2; i++, low++)
		if (low == n || list[low].message >= message)
			return low;
	return answer_from(list, low, n, message);
}

/* Accumulates one entry. Until count_answers sums up, `open` and `recurring` are the differences to
 * the answer before and may wrap below zero. The first step is RAISED; at: the first answer at or
 * after it. shared: the message from which on the entry has several items. */
static void count_steps(const struct loop_at *l, const struct item_step *steps, uint32_t step_count,
			uint32_t shared, struct answer *list, uint32_t at, uint32_t n)
{
	uint32_t raised = steps[0].message, back = 0;
	bool open = true, recurs = false;

	if (at == n)
		return;
	list[at].open++;
	list[at].fresh += list[at].message == raised;
	for (uint32_t i = 1; i < step_count && steps[i].message < l->k; i++) {
		bool again = steps[i].what == STEP_RAISED &&
			     is_raised_anew(l, steps[i].message, &raised);
		bool opens = is_open_after(open, &steps[i]), keeps;

		if (!again && opens == open)
			continue;
		at = answer_near(list, at, n, steps[i].message);
		if (at == n)
			return;
		if (opens != open)
			list[at].open += opens ? 1 : UINT32_MAX;
		open = opens;
		back += again;
		keeps = open && back >= LOOP_RECURS && steps[i].message < shared;
		if (keeps != recurs)
			list[at].recurring += keeps ? 1 : UINT32_MAX;
		recurs = keeps;
		list[at].again += again && list[at].message == steps[i].message;
	}
}

/* The message that raises the second item of an entry, NONE. */
static uint32_t shared_from(const struct ledger *all, uint32_t place)
{
	uint32_t next = next_of(all, place);

	return next == NONE ? NONE : all->model->items.v[loop_item(all, next)].steps[0].message;
}

/* For a loop over places, as items_prefetch is for one over items. */
static void places_prefetch(const struct ledger *all, uint32_t place)
{
	const struct item *items = all->model->items.v, *later;

	if (place + 2 * PREFETCH_DISTANCE >= all->list[all->n].items)
		return;
	mem_prefetch(&items[loop_item(all, place + 2 * PREFETCH_DISTANCE)]);
	later = &items[loop_item(all, place + PREFETCH_DISTANCE)];
	mem_prefetch(later->steps);
	mem_prefetch(later->steps + later->n - 1);
}

/* Appends all answers of a loop, in order; they begin at the returned place. */
static uint32_t count_answers(const struct ledger *all, const struct loop_at *l, uint32_t limit,
			      struct yield *yield, answer_list *out)
{
	struct arena scratch = { 0 }; /* reset for each entry */
	uint32_t from = out->n, n;
	uint32_t at = 0; /* only advances: entries are sorted by when they were raised */
	struct answer *list;

	for (uint32_t i = 0; i < l->exchange_count; i++) {
		const struct exchange *x = &l->exchanges[i];

		if (x->answers && (out->n == from || vec_last(out)->message != x->message))
			vec_push(out, (struct answer){ .message = x->message });
	}
	n = out->n - from;
	list = n ? out->v + from : NULL;
	for (uint32_t p = loop_first_place(all, l->number, limit); p != NONE && yield_on(yield);
	     p = loop_next_place(all, l->number, p, limit)) {
		const struct item_step *steps;
		uint32_t step_count;

		places_prefetch(all, p);
		if (scratch.head)
			arena_reset(&scratch);
		steps = entry_steps(all, p, limit, &scratch, &step_count);
		at = answer_near(list, at, n, steps[0].message);
		count_steps(l, steps, step_count, shared_from(all, p), list, at, n);
	}
	arena_release(&scratch);
	for (uint32_t i = 1; i < n; i++) {
		list[i].open += list[i - 1].open;
		list[i].recurring += list[i - 1].recurring;
	}
	return from;
}

/* before: what this returned for another turn, mostly the one before it. */
static uint32_t note_answer(struct loop_turn *turn, const struct answer *list, uint32_t n,
			    uint32_t before)
{
	uint32_t at;

	if (turn->answer == NONE)
		return before;
	if (before == n || list[before].message > turn->answer)
		before = 0;
	at = answer_near(list, before, n, turn->answer);
	if (at == n)
		return n;
	turn->open = list[at].open;
	turn->fresh = list[at].fresh;
	turn->again = list[at].again;
	turn->recurring = list[at].recurring;
	return at;
}

struct loop_at *loop_look(const struct ledger *all, uint32_t loop, uint32_t k, struct arena *arena)
{
	struct loop_at *l = find_turns(all, loop, k, arena);
	uint32_t from = all->list[loop].answers, n = all->list[loop + 1].answers - from;
	answer_list own = { 0 };
	const struct answer *answers = n ? all->answers.v + from : NULL;

	if (!n) {
		count_answers(all, l, model_item_count(all->model, k), NULL, &own);
		answers = own.v;
		n = own.n;
	}
	for (uint32_t i = 0, at = 0; i < l->turn_count; i++)
		at = note_answer(&l->turns[i], answers, n, at);
	vec_release(&own);
	return l;
}

bool loop_has_two_answers(const struct ledger *all, uint32_t loop, uint32_t k)
{
	unsigned n = 0;
	uint32_t later = all->list[loop].reviews + PREFETCH_DISTANCE;

	if (later < all->list[all->n].reviews)
		mem_prefetch(all->model->reviews.v[all->reviews[later]].steps.v);
	for (uint32_t i = all->list[loop].reviews; i < all->list[loop + 1].reviews && n < 2; i++) {
		const struct review *r = &all->model->reviews.v[all->reviews[i]];

		for (uint32_t s = 0; s < r->steps.n && r->steps.v[s].message < k && n < 2; s++)
			n += r->steps.v[s].verdict != REVIEW_NONE && !r->steps.v[s].failed;
	}
	return n > 1;
}

enum loop_progress loop_progress(const struct loop_at *l)
{
	const struct loop_turn *before, *after;

	loop_last_two(l, &before, &after);
	if (!after)
		return LOOP_BEGUN;
	if (after->approved || !after->open)
		return LOOP_ENDED;
	if (!before)
		return LOOP_BEGUN;
	if (after->open >= before->open)
		return LOOP_NOT_FALLING;
	return after->recurring ? LOOP_RECURRING : LOOP_CONVERGES;
}

static bool diverges_now(const struct loop_at *l)
{
	enum loop_progress progress = loop_progress(l);

	return progress == LOOP_NOT_FALLING || progress == LOOP_RECURRING;
}

/* Replays the loop and records the messages where it starts and stops diverging. */
static void find_transitions(struct ledger *all, struct loop_at *l, const struct answer *answers,
			     uint32_t n)
{
	bool diverges = false;
	uint32_t at = 0;

	for (uint32_t i = 0; i < l->turn_count; i++)
		l->turns[i].answer = NONE;
	l->turn_count = 0;
	for (uint32_t i = 0; i < l->exchange_count; i++) {
		const struct exchange *x = &l->exchanges[i];
		struct loop_turn *turn = &l->turns[x->turn];

		if (x->turn >= l->turn_count)
			l->turn_count = x->turn + 1;
		if (!x->answers)
			continue;
		turn->answer = x->message;
		turn->failed = x->failed;
		turn->approved = x->approved;
		at = note_answer(turn, answers, n, at);
		if (diverges_now(l) == diverges)
			continue;
		diverges = !diverges;
		vec_push(&all->transitions, x->message);
	}
}

bool ledger_count(struct ledger *all, uint32_t end, struct yield *yield)
{
	uint32_t limit = model_item_count(all->model, end);
	struct arena arena = { 0 };

	for (uint32_t i = 0; i < all->n && yield_on(yield); i++) {
		struct loop_at *l;
		uint32_t from;

		all->list[i].transitions = all->transitions.n;
		all->list[i].answers = all->answers.n;
		if (!loop_has_two_answers(all, i, end))
			continue;
		arena_reset(&arena);
		l = find_turns(all, i, end, &arena);
		from = count_answers(all, l, limit, yield, &all->answers);
		find_transitions(all, l, all->answers.v + from, all->answers.n - from);
	}
	all->list[all->n].transitions = all->transitions.n;
	all->list[all->n].answers = all->answers.n;
	arena_release(&arena);
	return yield_on(yield);
}

bool loop_diverges(const struct ledger *all, uint32_t loop, uint32_t k)
{
	uint32_t from = all->list[loop].transitions, low = from;

	bisect(low, all->list[loop + 1].transitions, i, all->transitions.v[i] < k)
	return (low - from) % 2;
}

uint32_t ledger_diverging(const struct ledger *all, uint32_t k)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < all->n; i++)
		n += loop_has_begun(all, i, k) && loop_diverges(all, i, k);
	return n;
}

/* Insertion sort, by number of recurrences, descending. */
static void rank_recurring(struct recurring out[RECURRING_MAX], uint32_t n, struct recurring one)
{
	uint32_t place = n < RECURRING_MAX ? n : RECURRING_MAX;

	for (; place && out[place - 1].times < one.times; place--)
		if (place < RECURRING_MAX)
			out[place] = out[place - 1];
	if (place < RECURRING_MAX)
		out[place] = one;
}

/* Whether the entry is open after a message, and how often it came back until then. */
static bool entry_recurs(const struct loop_at *l, const struct item_step *steps, uint32_t n,
			 uint32_t until, struct recurring *out)
{
	uint32_t raised = steps[0].message;
	bool open = true;

	for (uint32_t i = 1; i < n && steps[i].message <= until; i++) {
		open = is_open_after(open, &steps[i]);
		if (steps[i].what != STEP_RAISED || !is_raised_anew(l, steps[i].message, &raised))
			continue;
		out->times++;
		out->last = turn_at(l, raised);
	}
	return open && out->times;
}

uint32_t loop_recurring(const struct ledger *all, const struct loop_at *l,
			struct recurring out[RECURRING_MAX])
{
	uint32_t limit = model_item_count(all->model, l->k), n = 0;
	const struct loop_turn *before, *after;
	struct arena scratch = { 0 };

	loop_last_two(l, &before, &after);
	if (!before)
		return 0;
	for (uint32_t p = loop_first_place(all, l->number, limit); p != NONE;
	     p = loop_next_place(all, l->number, p, limit)) {
		struct recurring one = { .item = loop_item(all, p) };
		const struct item_step *steps;
		uint32_t count;

		places_prefetch(all, p);
		if (scratch.head)
			arena_reset(&scratch);
		steps = entry_steps(all, p, limit, &scratch, &count);
		if (entry_recurs(l, steps, count, after->answer, &one))
			rank_recurring(out, n++, one);
	}
	arena_release(&scratch);
	return n;
}
