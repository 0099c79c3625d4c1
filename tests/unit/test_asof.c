/* The session as of any message: what is known at once is what a walk finds. */
#include "model/asof.h"

#include "chance.h"
#include "model/block_stats.h"
#include "model/filter.h"
#include "model/ledger.h"
#include "model/rules.h"
#include "view/view_parts.h"
#include "unit.h"

#define YEAR INT64_C(31536000000)

static struct model model;

/* ---- items ---- */

static void add_random_item(uint32_t message, uint32_t end)
{
	struct item item = { .id = NONE,
			     .kind = (uint8_t)chance(ITEM_KIND_COUNT), .n = 1 + chance(6) };
	uint32_t number = model.items.n;
	bool dated = chance(4) == 0;

	item.steps = heap_alloc(model.heap, item.n * sizeof(*item.steps));
	for (uint32_t i = 0; i < item.n; i++) {
		item.steps[i] = (struct item_step){ .message = message,
						    .hash = chance(2), .iteration = (uint16_t)chance(3),
						    .what = i ? chance(STEP_EXPIRED + 1) & 7
							      : STEP_RAISED,
						    .opens = chance(3) != 0,
						    .grade = chance(5) & 7 };
		message += chance(end / 4);
	}
	heap_push(model.heap, &model.items, item);
	for (uint32_t i = 0; dated && i < item.n; i++)
		if (item.steps[i].what == STEP_RAISED && chance(3))
			deadline_add(&model, number, item.steps[i].message,
				     chance(4) ? (int64_t)chance(end) : TIME_NONE);
}

/* How many items a search finds. */
static uint32_t found(const char *words, uint32_t k, int64_t now)
{
	struct filter *f = filter_new(str_of(words), now, &(struct err){ 0 });
	uint32_t n = 0;

	for (uint32_t i = 0; i < model.items.n; i++) {
		struct item_state at;

		n += item_at(&model, &model.items.v[i], k, now, &at) &&
		     filter_item(f, &model, i, &at, NULL, NULL);
	}
	filter_free(f);
	return n;
}

/* The nearest deadline first, then what has none; the gravest first; the oldest first. */
static bool stands_before(uint32_t left, uint32_t right, uint32_t k, int64_t now)
{
	const struct item *a = &model.items.v[left], *b = &model.items.v[right];
	struct item_state x, y;
	unsigned a_weight, b_weight;
	int64_t a_ms, b_ms;

	ck_assert(item_at(&model, a, k, now, &x) && x.open && item_at(&model, b, k, now, &y) && y.open);
	a_ms = x.deadline_ms == TIME_NONE ? INT64_MAX : x.deadline_ms;
	b_ms = y.deadline_ms == TIME_NONE ? INT64_MAX : y.deadline_ms;
	a_weight = item_weight(a, x.grade);
	b_weight = item_weight(b, y.grade);
	if (a_ms != b_ms)
		return a_ms < b_ms;
	return a_weight != b_weight ? a_weight < b_weight : left < right;
}

START_TEST(what_is_open_is_known_at_once)
{
	uint32_t end = _i ? 90000 : 300;
	struct asof *asof;

	sow(_i);
	model_init(&model);
	heap_push(model.heap, &model.routes, (struct route){ .from = NONE, .to = NONE });
	for (uint32_t i = 0; i < end; i++) {
		model_add_record(&model, (struct record){ .time_ms = i });
		if (chance(3))
			add_random_item(i, end);
	}
	for (uint32_t i = 0; i < 40; i++)
		model_overlay(&model, &(struct overlay){
					    .item = chance(model.items.n), .from = chance(end),
					    .verdict = VERDICT_ACCEPTED,
					    .delivery = (uint8_t)(DELIVERY_STAGED + chance(6)) });
	asof = asof_new(&model, end);
	for (int n = 0; n < 60; n++) {
		uint32_t k = chance(end), due, want_due, count, want_count;
		int64_t now = chance(5) ? (int64_t)chance(end) : TIME_NONE;
		bool all = chance(2);
		uint32_t *list = asof_inbox(asof, k, now, all, &count);
		uint32_t *want = model_inbox(&model, k, now, all, &want_count, NULL);

		ck_assert_msg(count == want_count && !memcmp(list, want, count * sizeof(*list)),
			      "as of %u: %u items, not %u; " TOLD, k, count, want_count, SEED);
		ck_assert_uint_eq(asof_open(asof, k, now, &due),
				  model_open(&model, k, now, &want_due));
		ck_assert_msg(due == want_due, TOLD, SEED);
		if (n < 6) { /* walks all items */
			ck_assert_uint_eq(found("is:open", k, now), model_open(&model, k, now, &due));
			ck_assert_uint_eq(found("is:due", k, now), due);
		}
		for (uint32_t i = 1; n < 6 && !all && i < count; i++)
			ck_assert_msg(stands_before(list[i - 1], list[i], k, now),
				      "as of %u: %u; " TOLD, k, i, SEED);
		free(list);
		free(want);
	}
	asof_free(asof);
	model_release(&model);
}
END_TEST

/* ---- agents ---- */

/* Clocks that mostly go on, sometimes jump, and sometimes are missing. */
static void add_random_message(uint32_t agents, int64_t *clock)
{
	struct record r = { .route = chance(10) ? chance(agents) : agents, .time_ms = *clock,
			    .errors = (uint8_t)chance(3), .warnings = (uint8_t)chance(300) };

	*clock += chance(chance(50) ? 40 : 90000);
	if (chance(9) == 0)
		r.time_ms = TIME_NONE;
	else if (chance(400) == 0)
		r.time_ms -= chance(900000);
	model_add_record(&model, r);
}

static void add_random_work(uint32_t agents, uint32_t end)
{
	struct task task = { .id = NONE };
	struct review review = { .id = NONE, .task = NONE,
				 .reviewer = chance(5) ? chance(agents) : NONE };

	for (uint32_t message = chance(end), n = chance(6); n--; message += chance(end / 8)) {
		struct task_step step = { .message = message, .agent = chance(6) ? chance(agents) : NONE,
					  .state = (uint8_t)chance(TASK_CANCELLED + 1), .percent = 255 };
		struct review_step word = { .message = message, .verdict = (uint8_t)chance(3),
					    .failed = chance(4) == 0 };

		heap_push(model.heap, &task.steps, step);
		heap_push(model.heap, &review.steps, word);
	}
	heap_push(model.heap, &model.tasks, task);
	heap_push(model.heap, &model.reviews, review);
}

START_TEST(what_agents_do_is_known_at_once)
{
	uint32_t end = 3 * STATS_BLOCK + 700, agents = _i ? 300 : 5;
	struct asof *asof;
	int64_t clock = 1000000;

	sow(_i);
	model_init(&model);
	for (uint32_t i = 0; i < agents; i++) {
		heap_push(model.heap, &model.agents, (struct agent){ .name = NONE, .type = NONE });
		heap_push(model.heap, &model.routes, (struct route){ .from = i, .to = NONE });
	}
	heap_push(model.heap, &model.routes, (struct route){ .from = NONE, .to = NONE });
	for (uint32_t i = 0; i < end; i++) {
		add_random_message(agents, &clock);
		if (i == 2 * STATS_BLOCK + 100) /* seen from behind, chapters before lie in one part */
			clock += YEAR;
	}
	for (uint32_t i = 0; i < 1000; i++)
		add_random_work(agents, end);
	asof = asof_new(&model, end);
	for (int n = 0; n < 40; n++) {
		uint32_t k = n ? chance(end + 1) : STATS_BLOCK;
		int64_t now = chance(9) ? model_now(&model, k) - (int64_t)chance(60000) : TIME_NONE;
		struct agent_stats *quick = asof_agent_stats(asof, k, now, NULL);
		struct agent_stats *walked = model_agent_stats(&model, k, now, NULL);

		for (uint32_t i = 0; i < agents; i++)
			ck_assert_msg(memcmp(&quick[i], &walked[i], sizeof(*quick)) == 0 &&
					      memcmp(agent_recent(quick, model.agents.n, i),
						     agent_recent(walked, model.agents.n, i),
						     ACTIVITY_BUCKETS * sizeof(uint16_t)) == 0,
				      "agent %u as of %u; " TOLD, i, k, SEED);
		free(quick);
		free(walked);
	}
	asof_free(asof);
	model_release(&model);
}
END_TEST

/* ---- loops ---- */

/* Names that items of several reviews may have. */
enum { IDS = 6 };

static void add_names(void)
{
	model.strings.n = 0;
	for (uint32_t i = 0; i < IDS; i++)
		heap_push(model.heap, &model.strings,
			  (struct interned){ .p = "", .shared = true, .last = NONE });
}

/* A review of some task and its items: rounds of asking and answering, in which they are raised and
 * decided. Now and then a task is told to be a revision only after it was reviewed. */
static void add_random_review(uint32_t message, uint32_t tasks, uint32_t end)
{
	struct review r = { .id = NONE, .task = chance(4) ? chance(tasks) : NONE, .reviewer = NONE };
	uint32_t number = model.reviews.n;

	for (uint32_t n = 1 + chance(6), at = message; n--; at += chance(end / 10))
		heap_push(model.heap, &r.steps,
			  (struct review_step){ .message = at, .iteration = (uint16_t)(1 + chance(4)),
						.verdict = (uint8_t)chance(3), .failed = chance(8) == 0 });
	heap_push(model.heap, &model.reviews, r);
	for (uint32_t n = chance(4), id = chance(IDS - 3); n--;) {
		struct item *item;

		add_random_item(message, end);
		item = vec_last(&model.items);
		item->kind = ITEM_FINDING;
		item->owned = OWNER_REVIEW;
		item->owner = number;
		item->id = id++; /* within one review an id is one item */
	}
}

static void assert_same_loop(const struct ledger *whole, uint32_t i, const struct ledger *fresh, uint32_t n,
			     uint32_t k)
{
	uint32_t limit = model_item_count(&model, k);
	uint32_t a = loop_first_place(whole, i, limit), b = loop_first_place(fresh, n, limit);
	struct arena arena = { 0 };
	const struct loop_at *x = loop_look(whole, i, k, &arena), *y = loop_look(fresh, n, k, &arena);
	enum loop_progress progress = loop_progress(y);

	ck_assert_uint_eq(whole->list[i].task, fresh->list[n].task);
	ck_assert_uint_eq(x->turn_count, y->turn_count);
	for (uint32_t t = 0; t < x->turn_count; t++)
		ck_assert(x->turns[t].answer == y->turns[t].answer &&
			  x->turns[t].iteration == y->turns[t].iteration &&
			  x->turns[t].open == y->turns[t].open &&
			  x->turns[t].fresh == y->turns[t].fresh &&
			  x->turns[t].again == y->turns[t].again &&
			  x->turns[t].recurring == y->turns[t].recurring &&
			  x->turns[t].approved == y->turns[t].approved &&
			  x->turns[t].failed == y->turns[t].failed);
	ck_assert_int_eq(loop_progress(x), progress);
	ck_assert_msg(loop_diverges(whole, i, k) ==
			      (progress == LOOP_NOT_FALLING || progress == LOOP_RECURRING),
		      "loop %u as of %u; " TOLD, i, k, SEED);
	for (; a != NONE && b != NONE; a = loop_next_place(whole, i, a, limit),
				       b = loop_next_place(fresh, n, b, limit)) {
		struct entry e, f;

		ck_assert_uint_eq(loop_item(whole, a), loop_item(fresh, b));
		loop_entry(whole, x, loop_item(whole, a), &arena, &e);
		loop_entry(fresh, y, loop_item(fresh, b), &arena, &f);
		ck_assert_msg(e.item == f.item && e.n == f.n, "as of %u; " TOLD, k, SEED);
		for (uint32_t h = 0; h < e.n; h++)
			ck_assert(e.list[h].message == f.list[h].message &&
				  e.list[h].turn == f.list[h].turn && e.list[h].kind == f.list[h].kind);
	}
	ck_assert_uint_eq(a, b);
	arena_release(&arena);
}

START_TEST(what_loops_there_are_is_known_at_once)
{
	uint32_t end = 400, tasks = 20;
	struct asof *asof;

	sow(_i);
	model_init(&model);
	add_names();
	for (uint32_t i = 0; i < tasks; i++) {
		struct task task = { .id = NONE, .root = chance(3) ? i : chance(i + 1) };

		if (task.root != i)
			task.root = model.tasks.v[task.root].root;
		heap_push(model.heap, &task.steps, (struct task_step){ .message = chance(end / 2) });
		heap_push(model.heap, &model.tasks, task);
	}
	for (uint32_t i = 0; i < end; i++) {
		model_add_record(&model, (struct record){ .time_ms = i });
		if (chance(4) == 0)
			add_random_review(i, tasks, end);
	}
	asof = asof_new(&model, end);
	for (uint32_t k = 0; k <= end; k += 1 + chance(3)) {
		struct ledger *whole = asof_ledger(asof, k, NULL), *fresh = ledger_new(&model, k, k, NULL);
		uint32_t n = 0;

		for (uint32_t i = 0; i < whole->n; i++) {
			for (uint32_t r = whole->list[i].reviews; r < whole->list[i + 1].reviews; r++) {
				uint32_t task = model.reviews.v[whole->reviews[r]].task;

				if (model.reviews.v[whole->reviews[r]].steps.v[0].message < k && task != NONE)
					ck_assert_uint_eq(whole->list[i].task, root_at(&model, task, k));
			}
			if (loop_has_begun(whole, i, k))
				assert_same_loop(whole, i, fresh, n++, k);
		}
		ck_assert_uint_eq(n, fresh->n);
		ledger_release(whole);
		ledger_release(fresh);
	}
	asof_free(asof);
	model_release(&model);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("asof");
	TCase *t = tcase_create("asof");

	tcase_add_loop_test(t, what_is_open_is_known_at_once, 0, 4);
	tcase_add_loop_test(t, what_agents_do_is_known_at_once, 0, 4);
	tcase_add_loop_test(t, what_loops_there_are_is_known_at_once, 0, 4);
	suite_add_tcase(suite, t);
	return unit_run(suite);
}
