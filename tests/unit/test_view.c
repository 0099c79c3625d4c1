/* The views over the demo session: every view draws every line at every width and stays inside its
 * row, in both character sets; a view as of message k shows what a session of the first k messages
 * shows; and a few hostile sessions do no harm. What views look like is for golden screens. */
#include "unit.h"

#include "draw/paint.h"
#include "view/session_stats.h"
#include "view/view_parts.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>

#define MUST(condition) \
	do { \
		if (!(condition)) \
			ck_abort_msg("%s", #condition); \
	} while (0)

static const struct view_ops *const views[] = {
	&view_inbox,  &view_item,    &view_timeline, &view_ledger,    &view_messages,
	&view_agents, &view_summary, &view_message,  &view_decisions, &view_diff,
	&view_loop,
	&view_sessions,
};
enum { VIEWS = sizeof(views) / sizeof(views[0]) };

/* Views of one thing: no filter leaves anything out of them. */
static bool is_of_item(const struct view_ops *v)
{
	return v == &view_item || v == &view_diff;
}

static bool is_of_one(const struct view_ops *v)
{
	return is_of_item(v) || v == &view_message || v == &view_loop;
}

/* ---- a session in memory ---- */

struct session_text {
	struct buf all;
	VEC(struct str) lines;
	struct model model;
	struct decoder decoder, again;
	struct message message, again_message;
	struct buf text;
	struct reader reader;
};

static struct str give_bytes(void *ctx, uint32_t message)
{
	struct session_text *t = ctx;

	return t->lines.v[message];
}

static bool give_detail(void *ctx, const struct item *item, const struct item_state *state,
			struct detail *out)
{
	struct session_text *t = ctx;

	dialect_look(&t->again, give_bytes(t, state->message), DIALECT_UNKNOWN);
	return dialect_detail(&t->again, item->kind, state->index, out);
}

static struct str give_summary(void *ctx, uint32_t message)
{
	struct session_text *t = ctx;

	buf_clear(&t->text);
	dialect_summarize(&t->again, give_bytes(t, message), &t->text);
	return buf_str(&t->text);
}

static struct str give_source(void *ctx, uint32_t message)
{
	(void)ctx;
	(void)message;
	return STR("demo.ndjson");
}

static const struct diags *give_diags(void *ctx, uint32_t message)
{
	struct session_text *t = ctx;
	struct diag_store_walk w;

	dialect_decode(&t->again, give_bytes(t, message), NULL, &t->again_message);
	diag_store_start(&w, &t->model, message);
	while (diag_store_next(&w) && w.message == message) {
		diag_store_read(&w);
		diag_add(&t->again_message.diags, w.severity, w.rule, w.pointer, "%.*s",
			 STR_ARG(w.text));
	}
	return &t->again_message.diags;
}

/* Only the first `most` messages. */
static void session_apply(struct session_text *t, struct str text, uint32_t most)
{
	size_t start = 0;

	*t = (struct session_text){ .reader = { t, give_detail, give_summary, give_bytes,
						give_diags, give_source } };
	buf_add_str(&t->all, text);
	model_init(&t->model);
	while (start < text.n && t->lines.n < most) {
		ptrdiff_t end = str_find(text, STR("\n"), start);
		size_t stop = end < 0 ? text.n : (size_t)end;
		struct str line = str_make(t->all.p + start, stop - start);
		struct place place = { .line = t->lines.n + 1,
				       .length = (uint32_t)line.n,
				       .offset = start,
				       .group = STR("demo.ndjson") };

		dialect_decode(&t->decoder, line, NULL, &t->message);
		model_apply(&t->model, &t->message, &place);
		vec_push(&t->lines, line);
		start = stop + 1;
	}
}

static void session_done(struct session_text *t)
{
	model_release(&t->model);
	decoder_release(&t->decoder);
	decoder_release(&t->again);
	message_release(&t->message);
	message_release(&t->again_message);
	buf_release(&t->all);
	buf_release(&t->text);
	vec_release(&t->lines);
}

static struct buf demo_text(void)
{
	const char *folder = getenv("GAVEL_DATADIR");
	struct buf path = { 0 }, text = { 0 };
	char piece[4096];
	size_t n;
	FILE *f;

	buf_printf(&path, "%s/demo.ndjson", folder ? folder : "data");
	f = fopen(path.p, "rb");
	if (!f)
		ck_abort_msg("cannot open %s; set GAVEL_DATADIR", path.p);
	while ((n = fread(piece, 1, sizeof(piece), f)) > 0)
		buf_add(&text, piece, n);
	fclose(f);
	buf_release(&path);
	return text;
}

static struct scene scene_at(const struct session_text *t, uint32_t k)
{
	return (struct scene){ .model = &t->model,
			       .k = k,
			       .now_ms = model_now(&t->model, k),
			       .reader = &t->reader,
			       .all = true };
}

/* ---- drawing ---- */

/* The whole view as text and roles, at most `most` lines of it. */
static void picture(const struct view_ops *v, const struct scene *s, int cols, uint32_t most,
		    struct buf *out)
{
	struct grid *g = grid_new(1, cols, s->ascii);
	struct lines lines = { .cols = cols };

	v->make(s, cols, &lines);
	if (v->heading) {
		v->heading(s, &lines, g, grid_rect(g));
		grid_save(g, out);
	}
	for (uint32_t i = 0; i < lines.list.n && i < most; i++) {
		grid_clear(g);
		v->draw(s, &lines, i, g, grid_rect(g));
		grid_save(g, out);
	}
	lines_release(&lines);
	grid_free(g);
}

static bool spots_equal(const struct spot *a, const struct spot *b)
{
	return a->role == b->role && a->cell.base == b->cell.base &&
	       a->cell.width == b->cell.width && a->cell.mark[0] == b->cell.mark[0] &&
	       a->cell.class == b->cell.class;
}

static void assert_untouched(const struct grid *g, struct rect inside, const struct spot *want)
{
	for (int row = 0; row < g->rows; row++) {
		for (int col = 0; col < g->cols; col++) {
			if (row == inside.row && col >= inside.col &&
			    col < inside.col + inside.cols)
				continue;
			MUST(spots_equal(grid_at(g, row, col), want));
		}
	}
}

static void assert_target(const struct view_ops *v, const struct scene *s, struct target t)
{
	const struct model *m = s->model;

	switch (t.type) {
	case TARGET_NONE: MUST(v != &view_inbox && v != &view_messages); break;
	case TARGET_ITEM:
		MUST(t.number < m->items.n && m->items.v[t.number].steps[0].message < s->k);
		break;
	case TARGET_MESSAGE:
	case TARGET_LOOP: MUST(t.number < s->k); break;
	case TARGET_TASK: MUST(t.number < m->tasks.n); break;
	case TARGET_AGENT:
		MUST(t.number < m->agents.n && m->agents.v[t.number].first < s->k);
		break;
	case TARGET_SESSION:
		MUST(t.number < m->sessions.n && m->sessions.v[t.number].first < s->k);
		break;
	}
}

/* Draws every line into the middle row of a filled grid and looks at what lies around it, and at
 * what the line leads to. */
static void draw_inside(const struct view_ops *v, const struct scene *s, int cols)
{
	struct grid *g = grid_new(3, cols + 4, s->ascii);
	struct rect row = { 1, 2, 1, cols };
	struct lines lines = { .cols = cols };
	struct spot want;

	v->make(s, cols, &lines);
	grid_fill(g, grid_rect(g), ROLE_MATCH, "#");
	want = *grid_at(g, 0, 0);
	if (v->heading)
		v->heading(s, &lines, g, row);
	assert_untouched(g, row, &want);
	for (uint32_t i = 0; i < lines.list.n; i++) {
		grid_fill(g, grid_rect(g), ROLE_MATCH, "#");
		v->draw(s, &lines, i, g, row);
		assert_untouched(g, row, &want);
		if (v->target)
			assert_target(v, s, v->target(s, &lines, i));
	}
	lines_release(&lines);
	grid_free(g);
}

START_TEST(test_stays_inside)
{
	struct buf text = demo_text();
	struct session_text t;
	struct scene s;
	bool ascii = _i;

	session_apply(&t, buf_str(&text), UINT32_MAX);
	s = scene_at(&t, t.model.records.n);
	s.ascii = ascii;
	for (int cols = 1; cols <= 200; cols += cols < 40 ? 1 : 5) {
		for (unsigned v = 0; v < VIEWS; v++) {
			s.item = (uint32_t)cols % t.model.items.n;
			s.message = (uint32_t)cols * 7 % t.model.records.n;
			s.raw = false;
			draw_inside(views[v], &s, cols);
			s.raw = true;
			if (is_of_one(views[v]))
				draw_inside(views[v], &s, cols);
		}
	}
	session_done(&t);
	buf_release(&text);
}
END_TEST

START_TEST(test_every_item)
{
	struct buf text = demo_text();
	struct session_text t;
	struct scene s;

	session_apply(&t, buf_str(&text), UINT32_MAX);
	s = scene_at(&t, t.model.records.n);
	for (s.item = 0; s.item < t.model.items.n + 2; s.item++) {
		for (int cols = 40; cols <= 200; cols += 40) {
			draw_inside(&view_item, &s, cols);
			draw_inside(&view_diff, &s, cols);
		}
	}
	for (s.message = 0; s.message < s.k + 2; s.message++) {
		s.raw = !s.raw;
		draw_inside(&view_message, &s, 80);
	}
	session_done(&t);
	buf_release(&text);
}
END_TEST

/* Looking at the first k of all messages shows what there is when only these were read. */
START_TEST(test_cursor)
{
	struct buf text = demo_text(), whole = { 0 }, part = { 0 };
	struct session_text all, first;
	uint32_t n;

	session_apply(&all, buf_str(&text), UINT32_MAX);
	n = all.model.records.n;
	for (uint32_t k = (uint32_t)_i; k <= n; k += 4) {
		session_apply(&first, buf_str(&text), k);
		for (unsigned v = 0; v < VIEWS; v++) {
			struct scene a = scene_at(&all, k), b = scene_at(&first, k);
			uint32_t subjects = is_of_item(views[v])        ? first.model.items.n
					    : views[v] == &view_message ? k + 1
									: 1;

			for (uint32_t i = subjects > 5 ? subjects - 5 : 0; i < subjects; i++) {
				a.item = b.item = a.message = b.message = i;
				buf_clear(&whole);
				buf_clear(&part);
				picture(views[v], &a, 120, UINT32_MAX, &whole);
				picture(views[v], &b, 120, UINT32_MAX, &part);
				ck_assert_msg(str_eq(buf_str(&whole), buf_str(&part)),
					      "%s as of %u messages differs:\n%s\nfresh:\n%s",
					      views[v]->name, k, whole.n ? whole.p : "",
					      part.n ? part.p : "");
			}
		}
		session_done(&first);
	}
	session_done(&all);
	buf_release(&text);
	buf_release(&whole);
	buf_release(&part);
}
END_TEST

/* Times at both ends of what a message can say, ids that steer terminals, loops without end. */
#define RESPONSE(time, inner) \
	"{\"type\":\"text\",\"timestamp\":" time ",\"sessionID\":\"s\",\"part\":{\"text\":\"" \
	"{\\\"protocol_version\\\":\\\"1.2\\\"," inner "}\"}}\n"
#define PROGRESS(time, agent, task, progress) \
	"{\"type\":\"event:progress\",\"id\":\"" time "\",\"timestamp\":\"" time "\"," \
	"\"agentId\":\"" agent "\",\"payload\":{\"taskId\":\"" task "\",\"progress\":" progress \
	"}}\n"
#define ASK(time, timeout) \
	"{\"type\":\"request:ask-user\",\"id\":\"q\",\"timestamp\":\"" time \
	"\",\"agentId\":\"p\"," \
	"\"payload\":{\"question\":\"\\uDB40\\uDC41?\",\"timeout\":" timeout "}}\n"

static bool says(const struct buf *out, const char *words)
{
	return str_find(buf_str(out), str_of(words), 0) >= 0;
}

static const char *const hostile[] = {
	"",
	"\n\n\n",
	PROGRESS("9999-12-31T23:59:59Z", "\\u001b[2J", "\\u202ex", "7e300")
		PROGRESS("0001-01-01T00:00:00Z", "b", "\\u6f22\\u5b57/", "-1"),
	RESPONSE("9223372036854775807",
		 "\\\"iteration\\\":65536,\\\"status\\\":\\\"success\\\",\\\"feedback\\\":{"
		 "\\\"areas_for_improvement\\\":[{\\\"id\\\":\\\"\\\"},{\\\"id\\\":\\\"a\\\"},"
		 "{\\\"id\\\":\\\"a\\\"}]}")
		RESPONSE("-9223372036854775807",
			 "\\\"iteration\\\":1,\\\"status\\\":\\\"error\\\""),
	ASK("9999-12-31T23:59:59Z", "9e18"),
};

START_TEST(test_hostile)
{
	struct session_text t;

	session_apply(&t, str_of(hostile[_i]), UINT32_MAX);
	for (uint32_t k = 0; k <= t.model.records.n; k++) {
		struct scene s = scene_at(&t, k);

		for (unsigned v = 0; v < VIEWS; v++)
			for (int cols = 1; cols <= 200; cols += 7)
				draw_inside(views[v], &s, cols);
	}
	session_done(&t);
}
END_TEST

/* A response that raises one item for each letter, described by its iteration: "ab" a-01 and b-01. */
static void add_response(struct buf *out, int iteration, const char *letters)
{
	buf_printf(out,
		   "{\"type\":\"text\",\"timestamp\":%d,\"sessionID\":\"s\",\"part\":{"
		   "\"type\":\"text\",\"text\":\"{\\\"protocol_version\\\":\\\"1.2\\\","
		   "\\\"iteration\\\":%d,\\\"status\\\":\\\"success\\\",\\\"feedback\\\":"
		   "{\\\"areas_for_improvement\\\":[",
		   iteration * 1000, iteration);
	for (const char *c = letters; *c; c++)
		buf_printf(out,
			   "%s{\\\"id\\\":\\\"%c-01\\\",\\\"description\\\":\\\"draft %d\\\"}",
			   c == letters ? "" : ",", *c, iteration);
	buf_adds(out, "]}}\"}}\n");
}

static enum loop_progress progress_as_of(const struct session_text *t, uint32_t k)
{
	struct ledger *all = ledger_new(&t->model, k, k, NULL);
	struct arena arena = { 0 };
	enum loop_progress progress = loop_progress(loop_look(all, 0, k, &arena));

	MUST(loop_diverges(all, 0, k) ==
	     (progress == LOOP_NOT_FALLING || progress == LOOP_RECURRING));
	arena_release(&arena);
	ledger_release(all);
	return progress;
}

/* What counts as converging: the definition, case by case. */
START_TEST(test_progress)
{
	static const struct {
		const char *raised[5]; /* by iteration */
		enum loop_progress want[5];
	} loops[] = {
		/* fewer each time; nothing open in the end */
		{ { "abcd", "efg", "hi", "j", "" },
		  { LOOP_BEGUN, LOOP_CONVERGES, LOOP_CONVERGES, LOOP_CONVERGES, LOOP_ENDED } },
		/* as many as before; then fewer again */
		{ { "abcd", "efg", "hij", "kl" },
		  { LOOP_BEGUN, LOOP_CONVERGES, LOOP_NOT_FALLING, LOOP_CONVERGES } },
		/* fewer each time, but one comes back for the second time; then it is gone */
		{ { "abcde", "afgh", "aij", "ak", "l" },
		  { LOOP_BEGUN, LOOP_CONVERGES, LOOP_RECURRING, LOOP_RECURRING,
		    LOOP_CONVERGES } },
		/* two come back once each: not the same one twice */
		{ { "abcd", "aef", "bg" }, { LOOP_BEGUN, LOOP_CONVERGES, LOOP_CONVERGES } },
		/* more after nothing was open */
		{ { "a", "", "b" }, { LOOP_BEGUN, LOOP_ENDED, LOOP_NOT_FALLING } },
	};

	for (unsigned i = 0; i < sizeof(loops) / sizeof(loops[0]); i++) {
		struct buf text = { 0 };
		struct session_text t;
		int n = 0;

		for (; n < 5 && loops[i].raised[n]; n++)
			add_response(&text, n + 1, loops[i].raised[n]);
		session_apply(&t, buf_str(&text), UINT32_MAX);
		for (int k = 1; k <= n; k++)
			ck_assert_msg(progress_as_of(&t, (uint32_t)k) == loops[i].want[k - 1],
				      "loop %u after iteration %d: %d", i, k,
				      progress_as_of(&t, (uint32_t)k));
		session_done(&t);
		buf_release(&text);
	}
}
END_TEST

/* What is raised again within one iteration is open again, and did not come back. */
START_TEST(test_raised_twice_in_a_turn)
{
	struct buf text = { 0 };
	struct arena arena = { 0 };
	struct session_text t;
	const struct loop_at *l;
	struct ledger *all;

	add_response(&text, 1, "ab");
	add_response(&text, 1, "b");
	add_response(&text, 1, "ab");
	session_apply(&t, buf_str(&text), UINT32_MAX);
	all = ledger_new(&t.model, 3, 3, NULL);
	l = loop_look(all, 0, 3, &arena);
	ck_assert_uint_eq(l->turn_count, 1);
	ck_assert_uint_eq(l->turns[0].open, 2);
	ck_assert_uint_eq(l->turns[0].again, 0);
	arena_release(&arena);
	ledger_release(all);
	session_done(&t);
	buf_release(&text);
}
END_TEST

/* What the sessions say of their loops: no more than the ledger does. */
START_TEST(test_session_loops)
{
	static const struct {
		const char *raised[2];
		bool fails;
		const char *wide, *narrow;
	} cases[] = {
		{ { "ab" }, false, " nothing to compare ", NULL },
		{ { "abc", "d" }, false, " converging ", NULL },
		{ { "ab", "" }, false, " ✓ ended ", "✓" },
		{ { "ab", "cd" }, false, " ⚠ not converging ", "⚠ 1/1" },
		{ { "ab" }, true, " ⚠ error ", "⚠ err" },
	};

	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct buf text = { 0 }, out = { 0 };
		struct session_text t;
		struct scene s;
		uint32_t n = 0;

		for (; n < 2 && cases[i].raised[n]; n++)
			add_response(&text, (int)n + 1, cases[i].raised[n]);
		if (cases[i].fails) {
			size_t from = text.n;
			char *status;

			add_response(&text, (int)++n, "");
			status = strstr(text.p + from, "success");
			memcpy(status, "error\\\"", 7);
			memmove(status + 7, status + 9, text.n - (size_t)(status + 9 - text.p) + 1);
			text.n -= 2;
		}
		session_apply(&t, buf_str(&text), UINT32_MAX);
		s = scene_at(&t, n);
		picture(&view_sessions, &s, 160, UINT32_MAX, &out);
		ck_assert_msg(says(&out, cases[i].wide), "%u: %s", i, out.p);
		buf_clear(&out);
		picture(&view_sessions, &s, 80, UINT32_MAX, &out);
		ck_assert_msg(!says(&out, "converging") &&
				      (cases[i].narrow ? says(&out, cases[i].narrow)
						       : i || !says(&out, "✓")),
			      "%u: %s", i, out.p);
		session_done(&t);
		buf_release(&text);
		buf_release(&out);
	}
}
END_TEST

/* The heading, the loop's page, and what is known of its items and its session. */
START_TEST(test_loop_page)
{
	struct buf text = { 0 }, out = { 0 };
	struct session_loops *states;
	struct session_text t;
	struct scene s;

	add_response(&text, 1, "abcd");
	add_response(&text, 2, "aef");
	add_response(&text, 99999, "aegh");
	add_response(&text, 100000, "aeij");
	session_apply(&t, buf_str(&text), UINT32_MAX);
	s = scene_at(&t, 4);
	picture(&view_ledger, &s, 100, UINT32_MAX, &out);
	MUST(says(&out, "4 → 3 → 4 → 4 open  ⚠ does not converge  ▲ a-01 ×3, e-01 ×2"));
	MUST(says(&out, "#100000 ") && says(&out, "#99999 "));
	buf_clear(&out);
	s.message = 0;
	picture(&view_loop, &s, 100, UINT32_MAX, &out);
	MUST(says(&out, "why     4 open after iteration 100000, no fewer than the 4 after iteration 99999"));
	MUST(says(&out, "2 open items came back twice or more"));
	MUST(says(&out, "▲ a-01") && says(&out, "came back 3 times") &&
	     says(&out, "  #2    superseded, came back reworded") && says(&out, "draft 99999"));
	MUST(says(&out, "▲ e-01") && says(&out, "came back 2 times"));
	MUST(says(&out, "○ j-01") && !says(&out, "○ g-01") && !says(&out, "○ a-01"));
	states = xcalloc(t.model.sessions.n, sizeof(*states));
	MUST(session_loop_states(&s, states) && states[0].loops == 1 && states[0].diverging == 1);
	MUST(!strcmp(session_loop_word(&states[0]), "not converging"));
	MUST(!item_loop_diverges(&s, 0)); /* no loops were computed for the scene */
	s.loops = ledger_new(&t.model, 4, 4, NULL);
	MUST(item_loop_diverges(&s, 0) && ledger_diverging(s.loops, 4) == 1);
	s.k = 2;
	MUST(!item_loop_diverges(&s, 0) && !ledger_diverging(s.loops, 2));
	ledger_release(s.loops);
	s = scene_at(&t, 2);
	MUST(session_loop_states(&s, states) && !states[0].diverging && !states[0].ended);
	MUST(!strcmp(session_loop_word(&states[0]), "converging"));
	free(states);
	session_done(&t);
	buf_release(&text);
	buf_release(&out);
}
END_TEST

/* A loop whose open items do not get fewer says so; one that ends well does not. */
START_TEST(test_convergence)
{
	struct buf text = { 0 }, out = { 0 };
	struct session_text t;
	struct scene s;

	add_response(&text, 1, "ab");
	add_response(&text, 2, "a");
	add_response(&text, 3, "a");
	session_apply(&t, buf_str(&text), UINT32_MAX);
	s = scene_at(&t, 2);
	picture(&view_ledger, &s, 100, UINT32_MAX, &out);
	MUST(str_find(buf_str(&out), STR("does not converge"), 0) < 0);
	buf_clear(&out);
	s = scene_at(&t, 3);
	picture(&view_ledger, &s, 100, UINT32_MAX, &out);
	MUST(says(&out, "2 → 1 → 1 open  ⚠ does not converge  ▲ a-01 ×2"));
	MUST(str_find(buf_str(&out), STR("▲SB"), 0) > 0);
	session_done(&t);
	buf_release(&text);
	buf_release(&out);
}
END_TEST

/* What a filter leaves out is gone, and the rest draws as before. */
START_TEST(test_filter)
{
	static const char *const words[] = { "severity:>=major", "task:PK-2", "nowhere-to-be-found",
					     "dialect:feedback" };
	struct buf text = demo_text();
	struct session_text t;
	struct scene s;
	struct err err;
	struct filter *f;

	session_apply(&t, buf_str(&text), UINT32_MAX);
	s = scene_at(&t, t.model.records.n);
	f = filter_new(str_of(words[_i]), s.now_ms, &err);
	MUST(f);
	s.filter = f;
	for (unsigned v = 0; v < VIEWS; v++) {
		struct lines few = { 0 }, all = { 0 };
		struct scene open = s;

		open.filter = NULL;
		views[v]->make(&open, 100, &all);
		views[v]->make(&s, 100, &few);
		/* every session of the demo has feedback */
		MUST(is_of_one(views[v]) || few.list.n < all.list.n ||
		     (_i == 3 && views[v] == &view_sessions));
		MUST(_i != 2 || is_of_one(views[v]) || few.list.n == 0);
		lines_release(&few);
		lines_release(&all);
		draw_inside(views[v], &s, 100);
	}
	filter_free(f);
	session_done(&t);
	buf_release(&text);
}
END_TEST

/* Text in characters that no terminal shows is announced wherever it is met. */
/* Work that is cancelled when it has yielded that often. */
struct countdown {
	struct yield yield; /* first */
	unsigned left;
};

static void count_down(struct yield *y)
{
	struct countdown *c = (struct countdown *)y;

	y->cancelled = !c->left || !--c->left;
}

static bool same_lines(const struct lines *left, const struct lines *right)
{
	bool same = left->list.n == right->list.n;

	for (uint32_t i = 0; same && i < right->list.n; i++) {
		struct line a = line_at(left, i), b = line_at(right, i);

		same = a.what == b.what && a.a == b.a && a.b == b.b;
	}
	return same;
}

/* Wherever making is cancelled, what there is can be released; otherwise it makes what it makes at
 * one go. */
START_TEST(test_yield)
{
	struct buf text = demo_text();
	struct session_text t;
	struct scene s;

	session_apply(&t, buf_str(&text), UINT32_MAX);
	s = scene_at(&t, t.model.records.n);
	for (unsigned v = 0; v < VIEWS; v++) {
		struct lines want = { .cols = 100 };
		bool stopped = true;

		s.yield = NULL;
		views[v]->make(&s, 100, &want);
		for (unsigned takes = 1; stopped; takes++) {
			struct lines lines = { .cols = 100 };
			struct countdown b = { .yield = { .hand_over = count_down }, .left = takes };

			s.yield = &b.yield;
			views[v]->make(&s, 100, &lines);
			stopped = b.yield.cancelled;
			MUST(stopped || same_lines(&lines, &want));
			lines_release(&lines);
		}
		lines_release(&want);
	}
	session_done(&t);
	buf_release(&text);
}
END_TEST

START_TEST(test_hidden_text)
{
	static const struct view_ops *const where[] = { &view_inbox, &view_item, &view_messages,
							&view_message };
	struct buf out = { 0 };
	struct session_text t;
	struct scene s;

	session_apply(&t, str_of(ASK("2026-01-01T00:00:00Z", "60000")), UINT32_MAX);
	s = scene_at(&t, 1);
	for (unsigned v = 0; v < 4; v++) {
		buf_clear(&out);
		picture(where[v], &s, 80, UINT32_MAX, &out);
		MUST(str_find(buf_str(&out), STR("HIDDEN TEXT"), 0) > 0);
	}
	session_done(&t);
	buf_release(&out);
}
END_TEST

/* ---- pages of tasks, agents and sessions ---- */

static const struct {
	const struct view_ops *view;
	enum target_type type;
} pages[] = {
	{ &view_task, TARGET_TASK },
	{ &view_agent, TARGET_AGENT },
	{ &view_session, TARGET_SESSION },
};
enum { PAGES = sizeof(pages) / sizeof(pages[0]) };

static uint32_t page_count(const struct model *m, enum target_type type)
{
	return type == TARGET_TASK ? m->tasks.n : type == TARGET_AGENT ? m->agents.n : m->sessions.n;
}

START_TEST(test_pages_stay_inside)
{
	struct buf text = demo_text();
	struct session_text t;
	struct scene s;

	session_apply(&t, buf_str(&text), UINT32_MAX);
	s = scene_at(&t, t.model.records.n);
	for (unsigned v = 0; v < PAGES; v++) {
		uint32_t n = page_count(&t.model, pages[v].type);

		for (uint32_t i = 0; i <= n; i++) { /* one more than there are */
			s.page = (struct target){ pages[v].type, i };
			draw_inside(pages[v].view, &s, 20 + (int)(i * 37 % 180));
		}
		for (int cols = 1; cols <= 200; cols += 7) {
			s.page = (struct target){ pages[v].type, (uint32_t)cols % n };
			draw_inside(pages[v].view, &s, cols);
		}
	}
	session_done(&t);
	buf_release(&text);
}
END_TEST

/* As of the first k of all messages, a page is what it is when only these were read. */
START_TEST(test_pages_cursor)
{
	struct buf text = demo_text(), whole = { 0 }, part = { 0 };
	struct session_text all, first;

	session_apply(&all, buf_str(&text), UINT32_MAX);
	for (uint32_t k = (uint32_t)_i; k <= all.model.records.n; k += 12) {
		session_apply(&first, buf_str(&text), k);
		for (unsigned v = 0; v < PAGES; v++) {
			struct scene a = scene_at(&all, k), b = scene_at(&first, k);

			if (pages[v].type == TARGET_SESSION)
				continue; /* what belongs to it may turn out later (session_of.h) */
			for (uint32_t i = 0; i < page_count(&first.model, pages[v].type); i++) {
				a.page = b.page = (struct target){ pages[v].type, i };
				buf_clear(&whole);
				buf_clear(&part);
				picture(pages[v].view, &a, 120, UINT32_MAX, &whole);
				picture(pages[v].view, &b, 120, UINT32_MAX, &part);
				ck_assert_msg(str_eq(buf_str(&whole), buf_str(&part)),
					      "%s %u as of %u messages differs:\n%s\nfresh:\n%s",
					      pages[v].view->name, i, k, whole.n ? whole.p : "",
					      part.n ? part.p : "");
			}
		}
		session_done(&first);
	}
	session_done(&all);
	buf_release(&text);
	buf_release(&whole);
	buf_release(&part);
}
END_TEST

/* What a line leads to is there at every cursor, and is what the line is about. */
START_TEST(test_targets)
{
	struct buf text = demo_text();
	struct session_text t;

	session_apply(&t, buf_str(&text), UINT32_MAX);
	for (uint32_t k = 0; k <= t.model.records.n; k++) {
		struct scene s = scene_at(&t, k);

		s.message = k ? k - 1 : 0;
		for (unsigned v = 0; v < VIEWS; v++) {
			struct lines lines = { 0 };
			uint32_t leads = 0;

			s.item = k % t.model.items.n;
			views[v]->make(&s, 80, &lines);
			for (uint32_t i = 0; views[v]->target && i < lines.list.n; i++) {
				struct target to = views[v]->target(&s, &lines, i);

				assert_target(views[v], &s, to);
				leads += to.type != TARGET_NONE;
			}
			MUST(leads || !lines.list.n || !views[v]->target ||
			     views[v] == &view_diff || views[v] == &view_ledger);
			lines_release(&lines);
		}
	}
	session_done(&t);
	buf_release(&text);
}
END_TEST

/* Decisions stand in the order they were taken, the newest first. */
START_TEST(test_decisions)
{
	struct buf text = demo_text();
	struct session_text t;
	struct lines lines = { 0 };
	struct scene s;
	uint32_t decided = 0;

	session_apply(&t, buf_str(&text), UINT32_MAX);
	s = scene_at(&t, t.model.records.n);
	view_decisions.make(&s, 100, &lines);
	for (uint32_t i = 0; i < t.model.items.n; i++)
		for (uint32_t n = 0; n < t.model.items.v[i].n; n++)
			decided += t.model.items.v[i].steps[n].what == STEP_DECIDED;
	MUST(decided > 0 && lines.list.n == decided);
	for (uint32_t i = 1; i < decided; i++)
		MUST(lines.list.v[i - 1].what >= lines.list.v[i].what);
	lines_release(&lines);
	session_done(&t);
	buf_release(&text);
}
END_TEST

/* A title is the first sentence, without its stop; abbreviations do not end one. */
START_TEST(test_first_sentence)
{
	static const char *const texts[][2] = {
		{ "Run it. Then stop.", "Run it" },
		{ "Run it", "Run it" },
		{ "Run it.", "Run it" },
		{ "Why not? Because.", "Why not?" },
		{ "\n  Two\nlines", "Two" },
		{ "Version 1.2 of it. More", "Version 1.2 of it" },
		{ "Databases, e.g. ours. More", "Databases, e.g. ours" },
		{ "...", "..." },
		{ "", "" },
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct str got = first_sentence(str_of(texts[i][0]));

		ck_assert_msg(str_is(got, texts[i][1]), "%s: %.*s", texts[i][0], STR_ARG(got));
	}
}
END_TEST

/* Only ids that programs made up are shortened. */
START_TEST(test_id_shortened)
{
	ck_assert(str_is(id_shortened(STR("d7c0df31-ad91-457f-92cf-c4fc845e3ea4")), "d7c0df31"));
	ck_assert(str_is(id_shortened(STR("3fd27d273fd27d27")), "3fd27d27"));
	ck_assert(str_is(id_shortened(STR("PK-2")), "PK-2"));
	ck_assert(str_is(id_shortened(STR("recovery-flow-missing-02")), "recovery-flow-missing-02"));
}
END_TEST

/* A message is shown as it came or one member a line, with what its text holds. */
START_TEST(test_message)
{
	struct buf out = { 0 };
	struct session_text t;
	struct scene s;

	session_apply(
		&t,
		STR(RESPONSE("1700000000000",
			     "\\\"iteration\\\":1,\\\"status\\\":\\\"success\\\"") "a  b\n\nc\n"),
		UINT32_MAX);
	s = scene_at(&t, t.model.records.n);
	picture(&view_message, &s, 200, UINT32_MAX, &out);
	MUST(says(&out, "line 1 of demo.ndjson") && says(&out, "2023-11-14T22:13:20Z"));
	MUST(says(&out, "Inside the text of line 1") && says(&out, "\n  \"iteration\": 1,\n"));
	MUST(says(&out, "\n  \"type\": \"text\",\n") && says(&out, "Problems line 1"));
	MUST(says(&out, "error    /part/text/feedback: ") && says(&out, "[feedback/"));
	buf_clear(&out);
	s.raw = true;
	picture(&view_message, &s, 200, UINT32_MAX, &out);
	MUST(says(&out, "Message as it came, line 1") && !says(&out, "Inside the text"));
	MUST(says(&out, "{\"type\":\"text\",\"timestamp\":1700000000000,"));
	buf_clear(&out);
	s.message = 1;
	picture(&view_message, &s, 200, UINT32_MAX, &out);
	MUST(says(&out, "\na  b\n") && says(&out, "text · log · 4 bytes"));
	session_done(&t);
	buf_release(&out);
}
END_TEST

/* What is too long to be shown whole says so. */
START_TEST(test_long_message)
{
	struct buf text = { 0 }, out = { 0 };
	struct session_text t;
	struct scene s;

	buf_adds(&text, "[0");
	for (int i = 1; i < 60000; i++)
		buf_printf(&text, ",%d", i);
	buf_adds(&text, "]\n");
	session_apply(&t, buf_str(&text), UINT32_MAX);
	s = scene_at(&t, 1);
	picture(&view_message, &s, 40, UINT32_MAX, &out);
	MUST(says(&out, "the raw message has the rest"));
	buf_clear(&out);
	s.raw = true;
	picture(&view_message, &s, 40, UINT32_MAX, &out);
	MUST(says(&out, "59999]") && !says(&out, "cut here"));
	buf_clear(&out);
	picture(&view_message, &s, 2, UINT32_MAX, &out);
	MUST(!says(&out, "]"));
	session_done(&t);
	buf_release(&text);
	buf_release(&out);
}
END_TEST

/* The part of the axis that is asked for, with signs where something lies outside. */
START_TEST(test_zoom)
{
	struct buf text = demo_text(), out = { 0 };
	struct session_text t;
	struct scene s;
	struct axis whole, part;
	static const int64_t odd[][2] = {
		{ INT64_MIN, INT64_MAX }, { INT64_MIN + 1, INT64_MAX }, { -5, -5 }, { 7, 3 },
		{ INT64_MIN + 1, -1 },    { INT64_MAX - 1, INT64_MAX }
	};

	session_apply(&t, buf_str(&text), UINT32_MAX);
	s = scene_at(&t, t.model.records.n);
	whole = axis_make(&s, 100);
	s.from_ms = whole.from_ms + 600000;
	s.to_ms = whole.from_ms + 1200000;
	part = axis_make(&s, 100);
	MUST(part.from_ms == s.from_ms && part.to_ms == s.to_ms);
	MUST(part.tick_ms && part.tick_ms < whole.tick_ms);
	MUST(axis_side(&part, s.from_ms - 1) < 0 && axis_side(&part, s.to_ms + 1) > 0);
	MUST(!axis_side(&part, s.from_ms) && !axis_side(&part, s.to_ms));
	MUST(axis_col(&part, s.from_ms, 100) == 0 && axis_col(&part, s.to_ms, 100) == 99);
	picture(&view_timeline, &s, 120, UINT32_MAX, &out);
	MUST(says(&out, "‹") && says(&out, "›") && !says(&out, "│"));
	for (int cols = 1; cols <= 200; cols += 3)
		draw_inside(&view_timeline, &s, cols);
	buf_clear(&out);
	s.to_ms = 0;
	picture(&view_timeline, &s, 120, UINT32_MAX, &out);
	MUST(!says(&out, "‹") && !says(&out, "›") && says(&out, "│"));
	for (unsigned i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
		s.from_ms = odd[i][0];
		s.to_ms = odd[i][1];
		s.ascii = i & 1;
		draw_inside(&view_timeline, &s, 120);
	}
	session_done(&t);
	buf_release(&text);
	buf_release(&out);
}
END_TEST

/* Each response of the demo judges the draft of the request before it. */
START_TEST(test_diff_of_demo)
{
	struct buf text = demo_text(), out = { 0 };
	struct session_text t;
	unsigned first = 0, second = 0, none = 0;
	struct scene s;

	session_apply(&t, buf_str(&text), UINT32_MAX);
	s = scene_at(&t, t.model.records.n);
	for (s.item = 0; s.item < t.model.items.n; s.item++) {
		struct item_state at;
		enum dialect_id dialect;

		MUST(item_at(&t.model, &t.model.items.v[s.item], s.k, s.now_ms, &at));
		dialect = message_route(&t.model, at.message)->dialect;
		buf_clear(&out);
		picture(&view_diff, &s, 100, UINT32_MAX, &out);
		MUST(dialect == DIALECT_FEEDBACK || dialect == DIALECT_ENVELOPE ||
		     says(&out, "carry no artifact"));
		none += dialect != DIALECT_FEEDBACK;
		if (dialect != DIALECT_FEEDBACK)
			continue;
		first += at.iteration == 1;
		second += at.iteration == 2;
		MUST(at.iteration != 1 || says(&out, "The first version"));
		MUST(at.iteration != 3 || says(&out, "iteration 2 → 3 · text/markdown"));
		if (at.iteration != 2)
			continue;
		MUST(says(&out, "artifact · iteration 1 → 2 · text/markdown"));
		MUST(says(&out, "21 → 30 lines · message in line 9 → 68 of demo.ndjson") ||
		     says(&out, "14 → 16 lines · message in line 153 → 170 of demo.ndjson"));
		MUST(says(&out, "\n  3     - Status: draft 1") &&
		     says(&out, "\n      3 + Status: draft 2"));
		/* the shorter document has changes everywhere */
		MUST(says(&out, "unchanged ···") == says(&out, "21 → 30 lines"));
	}
	MUST(first && second && none);
	session_done(&t);
	buf_release(&text);
	buf_release(&out);
}
END_TEST

#define REQUEST(iteration, media, content) \
	"{\"protocol_version\":\"1.2\",\"iteration\":" iteration \
	",\"artifact\":{\"media_type\":\"" media "\",\"content\":" content "}}\n"
#define TURN(time, iteration) \
	RESPONSE(time, \
		 "\\\"iteration\\\":" iteration ",\\\"status\\\":\\\"success\\\"," \
		 "\\\"feedback\\\":{\\\"areas_for_improvement\\\":[{\\\"id\\\":\\\"a-01\\\"}]}")

static void diff_of(struct str session, struct buf *out)
{
	struct session_text t;
	struct scene s;

	session_apply(&t, session, UINT32_MAX);
	s = scene_at(&t, t.model.records.n);
	s.item = t.model.items.n - 1;
	buf_clear(out);
	picture(&view_diff, &s, 100, UINT32_MAX, out);
	for (int cols = 1; cols < 120; cols++)
		draw_inside(&view_diff, &s, cols);
	session_done(&t);
}

START_TEST(test_diff)
{
	struct buf out = { 0 };

	/* not a string: compared as it would be read */
	diff_of(STR(REQUEST("1", "application/json", "{\"a\":1,\"b\":[2]}") TURN("1", "1")
			    REQUEST("2", "application/yaml", "{\"a\":3,\"b\":[2]}") TURN("2", "2")),
		&out);
	MUST(says(&out, "application/json → application/yaml"));
	MUST(says(&out, "-   \"a\": 1,") && says(&out, "+   \"a\": 3,") &&
	     says(&out, "  \"b\": ["));
	/* a request sent again is no iteration */
	diff_of(STR(REQUEST("1", "t", "\"x\\n\"") TURN("1", "1") REQUEST("2", "t", "\"y\\n\"")
			    REQUEST("2", "t", "\"y\"") TURN("2", "2")),
		&out);
	MUST(says(&out, "- x") && says(&out, "+ y\n") && says(&out, "(no newline at the end)"));
	MUST(says(&out, "line 1 → 4 of"));
	diff_of(STR(REQUEST("1", "t", "\"x\"") TURN("1", "1") REQUEST("2", "t", "\"x\"")
			    TURN("2", "2")),
		&out);
	MUST(says(&out, "did not change"));
	diff_of(STR(TURN("1", "1") REQUEST("2", "t", "\"x\"") TURN("2", "2")), &out);
	MUST(says(&out, "iteration before is not in the log"));
	diff_of(STR(TURN("1", "3")), &out);
	MUST(says(&out, "carries the artifact is not in the log"));
	/* hostile words stay inside their row and are announced */
	diff_of(STR(REQUEST("1", "\\u001b[2J", "\"a b c d e f\\u001b[2J\\n\"") TURN("1", "1")
			    REQUEST("2", "t", "\"a b \\uDB40\\uDC41 d e f\\u001b[3J\\n\"")
				    TURN("2", "2")),
		&out);
	MUST(says(&out, "HIDDEN TEXT") && !says(&out, "\033"));
	buf_release(&out);
}
END_TEST

/* Outputs are compared by the paths of their artifacts. */
#define OUTPUT(recommendation, path, content) \
	"{\"success\":false,\"summary\":\"s\",\"notes\":[\"Gap: " \
	"x\"],\"recommendation\":\"" recommendation "\",\"artifacts\":[{\"path\":\"" path \
	"\",\"operation\":\"update\"," \
	"\"content\":\"" content "\"}]}\n"

START_TEST(test_diff_of_outputs)
{
	struct buf out = { 0 };

	diff_of(STR(OUTPUT("proceed", "a.md", "1\\n2\\n") OUTPUT("proceed", "b.md", "9\\n")
			    OUTPUT("retry", "a.md", "1\\n3\\n")),
		&out);
	MUST(says(&out, "a.md ") && says(&out, "- 2\n") && says(&out, "+ 3\n"));
	MUST(says(&out, "line 1 → 3 of"));
	diff_of(STR(OUTPUT("retry", "a.md", "1\\n3\\n")), &out);
	MUST(says(&out, "nothing to compare"));
	buf_release(&out);
}
END_TEST

/* Room goes to what matters: a title is never pushed out by its neighbours. */
START_TEST(test_columns)
{
	static const struct column table[] = {
		{ "a", 4, 8, 0 },
		{ "b", 10, 10, 2 },
		{ "c", 10, 20, 1 },
		{ "d", 10, 10, 0, .grows = true },
		{ "e", 6, 12, 1, .late = true },
	};
	int words = 0;

	for (int cols = 1; cols <= 200; cols++) {
		struct columns fit;
		int end = 0;

		columns_fit(table, 5, cols, &fit);
		for (int i = 0; i < 5; i++) {
			MUST(!fit.cols[i] || fit.cols[i] >= table[i].min);
			MUST(!fit.cols[i] || fit.at[i] >= end);
			end = fit.cols[i] ? fit.at[i] + fit.cols[i] : end;
		}
		MUST(fit.cols[0] && fit.cols[3]);
		MUST(!fit.cols[1] || fit.cols[2]);
		MUST(cols < 15 || end <= cols);
		MUST(cols < 100 || end == cols);
		/* late: the others have what they want, and nobody gives it back later */
		MUST(!fit.cols[4] || (fit.cols[0] == 8 && fit.cols[1] == 10 && fit.cols[2] == 20));
		MUST(fit.cols[3] >= words);
		words = fit.cols[3];
	}
	MUST(words > 100);
}
END_TEST

START_TEST(test_short_numbers)
{
	char text[32];

	ck_assert_str_eq(short_number(0, text), "0");
	ck_assert_str_eq(short_number(999, text), "999");
	ck_assert_str_eq(short_number(1000, text), "1.0k");
	ck_assert_str_eq(short_number(9949, text), "9.9k");
	ck_assert_str_eq(short_number(10400, text), "10k");
	ck_assert_str_eq(short_number(999999, text), "1.0M");
	ck_assert_str_eq(short_number(UINT64_MAX, text), "18E");
	ck_assert_str_eq(short_span(TIME_NONE, text), "-");
	ck_assert_str_eq(short_span(59999, text), "59s");
	ck_assert_str_eq(short_span(60000, text), "1m00");
	ck_assert_str_eq(short_span(3600000, text), "1h00");
	ck_assert_str_eq(short_span(INT64_MAX, text), ">99d");
	ck_assert_str_eq(level_glyph(0, 9), " ");
	ck_assert_str_eq(level_glyph(9, 9), "█");
	ck_assert_str_eq(level_glyph(1, 1000), "▁");
	ck_assert(time_between(INT64_MAX, -1) == INT64_MAX);
	ck_assert(time_between(TIME_NONE, 1) == -INT64_MAX);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("view");
	TCase *c = tcase_create("view");

	setlocale(LC_ALL, "C.UTF-8");
	tcase_set_timeout(c, 300);
	tcase_add_loop_test(c, test_stays_inside, 0, 2);
	tcase_add_test(c, test_every_item);
	tcase_add_loop_test(c, test_cursor, 0, 4);
	tcase_add_loop_test(c, test_hostile, 0, sizeof(hostile) / sizeof(hostile[0]));
	tcase_add_test(c, test_convergence);
	tcase_add_test(c, test_progress);
	tcase_add_test(c, test_loop_page);
	tcase_add_test(c, test_session_loops);
	tcase_add_test(c, test_raised_twice_in_a_turn);
	tcase_add_loop_test(c, test_filter, 0, 4);
	tcase_add_test(c, test_yield);
	tcase_add_test(c, test_hidden_text);
	tcase_add_test(c, test_targets);
	tcase_add_test(c, test_pages_stay_inside);
	tcase_add_loop_test(c, test_pages_cursor, 0, 12);
	tcase_add_test(c, test_decisions);
	tcase_add_test(c, test_first_sentence);
	tcase_add_test(c, test_id_shortened);
	tcase_add_test(c, test_message);
	tcase_add_test(c, test_long_message);
	tcase_add_test(c, test_zoom);
	tcase_add_test(c, test_diff_of_demo);
	tcase_add_test(c, test_diff);
	tcase_add_test(c, test_diff_of_outputs);
	tcase_add_test(c, test_columns);
	tcase_add_test(c, test_short_numbers);
	suite_add_tcase(suite, c);
	return unit_run(suite);
}
