/* Drill-down without a terminal: pages of tasks, agents and sessions, the way along a correlation and
 * back, and narrowing all views to one of them. */
#include "app/app.h"
#include "session/load.h"
#include "view/view_parts.h"
#include "unit.h"

#include <locale.h>
#include <stdlib.h>

static struct load load;
static struct app app;
static struct grid *g;

static void setup(void)
{
	struct buf path = { 0 };
	const char *source;
	int row, col;

	memset(&load, 0, sizeof(load));
	buf_printf(&path, "%s/demo.ndjson", getenv("GAVEL_DATADIR"));
	source = path.p;
	ck_assert_int_eq(load_open(&load, &source, 1, 0), 0);
	app_init(&app, &load.model, &load.reader, STR("demo"), false);
	load_run(&load, NULL, NULL);
	app_arrived(&app, 1, 1, false);
	g = grid_new(30, 100, false);
	app_draw(&app, g, &row, &col);
	buf_release(&path);
}

static void teardown(void)
{
	grid_free(g);
	app_release(&app);
	load_release(&load);
}

/* Types keys; the screen is drawn after each. */
static void type(const char *keys)
{
	struct str rest = str_of(keys);
	uint32_t code;
	int row, col;

	while (rest.n && key_parse(&rest, &code)) {
		app_key(&app, &(struct key){ .code = code });
		app_draw(&app, g, &row, &col);
	}
	ck_assert_uint_eq(rest.n, 0);
}

/* The screen without the message line. */
static void look(struct buf *out)
{
	int row, col;

	buf_clear(out);
	buf_clear(&app.notice);
	app_draw(&app, g, &row, &col);
	grid_save(g, out);
}

static bool shows(const char *words)
{
	struct buf screen = { 0 };
	bool found;

	look(&screen);
	found = str_find(buf_str(&screen), str_of(words), 0) >= 0;
	buf_release(&screen);
	return found;
}

#define SHOWS(words) ck_assert_msg(shows(words), "%s is not shown", words)
#define HIDES(words) ck_assert_msg(!shows(words), "%s is shown", words)

static void says(const char *words)
{
	ck_assert_msg(app.notice.n && strstr(app.notice.p, words) != NULL, "%s", app.notice.p);
}

static uint32_t task(const char *name)
{
	for (uint32_t i = 0; i < load.model.tasks.n; i++)
		if (str_is(model_str(&load.model, load.model.tasks.v[i].id), name))
			return i;
	ck_abort_msg("no task %s", name);
}

static uint32_t agent(const char *name)
{
	for (uint32_t i = 0; i < load.model.agents.n; i++)
		if (str_is(agent_name(&load.model, i), name))
			return i;
	ck_abort_msg("no agent %s", name);
}

/* Selects the line of the list that leads there. */
static void select_target(struct target wanted)
{
	struct scene s = app_list_scene(&app);
	struct pane *p = app_list(&app);
	int row, col;

	for (uint32_t i = 0; i < p->lines.list.n; i++) {
		struct target t = pane_line_target(p, &s, i);

		if (t.type != wanted.type || t.number != wanted.number)
			continue;
		pane_select(p, i);
		app_draw(&app, g, &row, &col);
		return;
	}
	ck_abort_msg("no line leads there");
}

static void is_page_of(struct target t)
{
	struct screen *s = app_screen(&app);

	ck_assert(s && s->page.type == t.type && s->page.number == t.number);
	ck_assert_ptr_eq(s->pane.view, app_page_view(t));
}

static struct target of_task(const char *name)
{
	return (struct target){ TARGET_TASK, task(name) };
}

START_TEST(a_task_has_all_of_its_revisions)
{
	type("2");
	select_target(of_task("PK-2")); /* the first that leads there */
	type("j"); /* what it needs leads to it, too */
	type("<Enter>");
	is_page_of(of_task("PK-2"));
	SHOWS("WebAuthn ceremonies");
	SHOWS("needed by  ✗ failed  PK-5 ");
	SHOWS("revisions 2");
	SHOWS("reviews 1");
	SHOWS("as PK-2.r3");
	type("G");
	SHOWS("review-PK-2 approved");
	SHOWS("PK-2.r3 completed");
	SHOWS("PK-2.r2 30%");
	HIDES("PK-3");
	/* every message, and no other */
	type("qq4:filter task:PK-2<Enter>");
	ck_assert_uint_eq(app_list(&app)->lines.list.n, 28);
	/* from a revision's row, the same page */
	type("<Esc>2");
	app_open(&app, target_task(&app.scene, task("PK-2.r3")));
	is_page_of(of_task("PK-2"));
}
END_TEST

START_TEST(an_agent_and_a_session_have_pages)
{
	struct target dev = { TARGET_AGENT, agent("dev-02") };
	struct target session = { TARGET_SESSION, load.model.agents.v[dev.number].session };

	type("5");
	select_target(dev);
	type("<Enter>");
	is_page_of(dev);
	SHOWS("agent dev-02");
	SHOWS("PK-2.r2");
	SHOWS("26 messages");
	select_target(session);
	type("<Enter>");
	is_page_of(session);
	SHOWS("protocols  text");
	SHOWS("architect-main");
	type("/PK-2<Enter>");
	SHOWS("loops 4");
	SHOWS("PK-2  3 iterations  open 6 → 4 → 0");
	/* the heading of a loop in the ledger leads to its task, that of the timeline to the session */
	type("qq3/PK-2<Enter><Enter>");
	is_page_of(of_task("PK-2"));
	type("q2gg<Enter>");
	is_page_of(session);
}
END_TEST

/* The first line that can be opened, not a heading: decisions begin there. */
START_TEST(lists_begin_below_their_headings)
{
	if (_i) /* a loop whose heading leads to its task, not to a session */
		type(":narrow task PK-2<Enter>");
	type("2");
	ck_assert_int_eq(pane_target(app_list(&app), &app.scene).type, TARGET_TASK);
	type("3");
	ck_assert_int_eq(pane_target(app_list(&app), &app.scene).type, TARGET_ITEM);
}
END_TEST

START_TEST(pages_nest_and_each_leads_back_to_its_row)
{
	struct target around[] = { { TARGET_AGENT, agent("dev-02") },
				   { TARGET_SESSION, load.model.agents.v[agent("dev-02")].session },
				   of_task("PK-2") };
	struct buf seen[SCREENS_MAX + 1] = { { 0 } }, now = { 0 };

	type("2");
	select_target(around[2]);
	for (unsigned i = 0; i < SCREENS_MAX; i++) {
		look(&seen[i]);
		type("<Enter>");
		is_page_of(around[(i + 2) % 3]);
		select_target(around[i % 3]);
	}
	look(&seen[SCREENS_MAX]);
	type("<Enter>");
	says("too many screens");
	for (unsigned i = SCREENS_MAX + 1; i-- > 0; type("q")) {
		look(&now);
		ck_assert_msg(str_eq(buf_str(&now), buf_str(&seen[i])), "%u: %s\n%s", i, now.p,
			      seen[i].p);
		buf_release(&seen[i]);
	}
	buf_release(&now);
}
END_TEST

/* o from each of them, and ^O to exactly the same screen. */
static const char *const places[] = {
	"1/pending<Enter>", "2/PK-2<Enter>", "2/PK-2<Enter><Enter>Gkk", "2/PK-2<Enter><Enter>Gkk<Enter>jj",
	"2/PK-2<Enter>ll", "3/F-1<Enter><Enter>j", "4:50<Enter>", "4:50<Enter><Enter>jj",
	"5/dev-02<Enter>", "5/dev-02<Enter><Enter><C-d><C-d>", "6/F-3<Enter>", "3/F-3<Enter><Enter>[j",
	"2/PK-2<Enter>gg<Enter>/PK-2<Enter><Enter>G<Enter>",
};

START_TEST(back_to_exactly_where_one_was)
{
	static const char *const ways[] = { "o", "ooo", "1", "6", "RR" };
	struct buf before = { 0 }, after = { 0 };

	for (unsigned w = 0; w < sizeof(ways) / sizeof(ways[0]); w++) {
		unsigned n;

		type("1");
		while (trail_back(&app))
			;
		type(places[_i]);
		look(&before);
		n = app.trail.n;
		type(ways[w]);
		if (ways[w][0] == 'o')
			ck_assert_msg(app.trail.n > n, "%s: %s", places[_i], app.notice.p);
		if (app.trail.n == n) /* a view that closes no screen is left by its number */
			continue;
		for (unsigned i = app.trail.n; i > n; i--)
			type("<C-o>");
		look(&after);
		ck_assert_msg(str_eq(buf_str(&before), buf_str(&after)), "%s%s:\n%s\n%s",
			      places[_i], ways[w], before.p, after.p);
	}
	buf_release(&before);
	buf_release(&after);
}
END_TEST

START_TEST(problems_lead_back_too)
{
	struct buf before = { 0 }, after = { 0 };

	type("2/PK-2<Enter><Enter>Gkk");
	look(&before);
	type("!!!"); /* only the first leaves the page */
	ck_assert_int_eq(app.tab, TAB_MESSAGES);
	type("<C-o>");
	look(&after);
	ck_assert(str_eq(buf_str(&before), buf_str(&after)));
	type("<C-o>");
	says("nowhere to go back to");
	for (unsigned i = 0; i < 1000; i++) /* the trail ends somewhere */
		trail_push(&app);
	ck_assert_uint_le(app.trail.n, 200);
	buf_release(&before);
	buf_release(&after);
}
END_TEST

START_TEST(a_click_selects_a_row_of_a_page)
{
	struct key click = { .code = KEY_MOUSE, .mouse = MOUSE_PRESS, .button = 1, .row = 6 };
	uint32_t trail;

	type("2/PK-2<Enter><Enter>");
	app_key(&app, &click);
	ck_assert_uint_eq(app_list(&app)->selected, 4); /* below title and tabs */
	click.row = 29; /* the message line */
	app_key(&app, &click);
	ck_assert_uint_eq(app_list(&app)->selected, 4);
	trail = app.trail.n;
	click.row = 1;
	click.col = 4; /* a view's tab closes the page, which can be returned to */
	app_key(&app, &click);
	ck_assert_uint_eq(app.screen_count, 0);
	ck_assert_uint_eq(app.trail.n, trail + 1);
	type("<C-o>");
	is_page_of(of_task("PK-2"));
}
END_TEST

/* An item of a page is decided there as in a list, and J and K go through the page's items. */
START_TEST(items_of_a_page)
{
	struct target t;

	type("5gg<Enter>J");
	t = app_target_here(&app);
	ck_assert_int_eq(t.type, TARGET_ITEM);
	ck_assert_uint_eq(app_item_here(&app), t.number);
	type("<Enter>");
	ck_assert(app_shows(&app, &view_item));
	type("J");
	ck_assert(app_shows(&app, &view_item));
	ck_assert_uint_ne(app_item_here(&app), t.number);
	ck_assert_uint_eq(app.screen_count, 2);
	type("qgg"); /* a fact is no item */
	ck_assert_uint_eq(app_item_here(&app), NONE);
}
END_TEST

START_TEST(a_page_is_made_between_keys)
{
	struct buf want = { 0 }, got = { 0 };
	struct target session = { TARGET_SESSION, 0 };
	unsigned steps = 0;

	app_open(&app, session);
	look(&want);
	type("q");
	app.list_until_ms = 0;
	app_open(&app, session);
	look(&got);
	ck_assert(!app_is_settled(&app));
	SHOWS("Loading…");
	type("jq"); /* closed while it is made */
	ck_assert_ptr_null(app.listing.job);
	app_open(&app, session);
	while (!app_list_step(&app, 0))
		look(&got), steps++;
	ck_assert_uint_gt(steps, 1);
	look(&got);
	ck_assert_msg(str_eq(buf_str(&want), buf_str(&got)), "%s\n%s", want.p, got.p);
	buf_release(&want);
	buf_release(&got);
}
END_TEST

START_TEST(a_filter_counts_on_pages)
{
	type("5gg<Enter>");
	SHOWS("messages 21");
	type("\\is:error<Enter>");
	SHOWS("messages 1 of 21 match the filter");
	SHOWS("items 0 of 7 match the filter");
	type("qq");
	ck_assert_uint_eq(app.filter_text.n, 0);
}
END_TEST

/* ---- narrowing ---- */

START_TEST(narrow_to_a_task)
{
	static const uint32_t lines[TAB_COUNT] = {
		[TAB_SESSIONS] = 1, [TAB_INBOX] = 0, [TAB_TIMELINE] = 8, [TAB_LEDGER] = 13, [TAB_MESSAGES] = 28,
		[TAB_AGENTS] = 4 /* with the total */, [TAB_DECISIONS] = 6,
	};

	type(":narrow task PK-2<Enter>");
	says("only \"task PK-2\"");
	for (unsigned tab = 0; tab < TAB_COUNT; tab++) {
		app_show_tab(&app, tab);
		SHOWS("demo › task PK-2");
		ck_assert_msg(app_list(&app)->lines.list.n == lines[tab], "tab %u: %u lines", tab,
			      app_list(&app)->lines.list.n);
	}
	type("1");
	SHOWS("Nothing open belongs to what the views are");
	type("<Esc>");
	says("everything is shown again");
	HIDES("› task");
	ck_assert_uint_eq(app_list(&app)->lines.list.n, 22);
	ck_assert_ptr_null(app.scene.filter);
}
END_TEST

/* The title has no room for everything: the counts stand. */
START_TEST(narrowed_where_there_is_little_room)
{
	app_narrow(&app, (struct target){ TARGET_SESSION, load.model.agents.v[0].session });
	for (int cols = SMALLEST_COLS; cols <= 100; cols++) {
		grid_resize(g, 30, cols);
		SHOWS(cols < 80 ? " 22 open  !2 due  read-only  ⚠1  ✗3"
				: " 22 open  !2 due  read-only  ⚠1 loop  ✗3 invalid");
		SHOWS(" › session demo.ndjson ");
	}
}
END_TEST

START_TEST(narrow_and_filter)
{
	type("4:narrow task PK-2<Enter>:filter kind:task_progress<Enter>");
	ck_assert_uint_eq(app_list(&app)->lines.list.n, 11);
	type("<Esc>"); /* the filter came last */
	ck_assert_uint_eq(app_list(&app)->lines.list.n, 28);
	SHOWS("› task PK-2");
	type("<Esc>");
	HIDES("› task PK-2");
	type(":filter kind:task_progress<Enter>:narrow task PK-2<Enter>");
	ck_assert_uint_eq(app_list(&app)->lines.list.n, 11);
	type("<Esc>");
	HIDES("› task PK-2");
	SHOWS("\\kind:task_progress");
	type(":narrow agent dev-02<Enter>:narrow session demo<Tab>");
	type("<Esc>:widen<Enter>");
	says("everything is shown again");
	SHOWS("\\kind:task_progress");
	type(":widen<Enter>");
	says("not narrowed");
	/* an invalid filter leaves it as it is */
	type(":narrow task PK-2<Enter>\\nosuch:key<Enter><Esc>");
	SHOWS("› task PK-2");
}
END_TEST

static void is_narrowed_to(struct target t)
{
	ck_assert_int_eq(app.scene.narrowed.type, t.type);
	ck_assert_uint_eq(app.scene.narrowed.number, t.number);
}

START_TEST(narrow_to_what_is_selected)
{
	struct target dev = { TARGET_AGENT, agent("dev-02") };
	struct target session = { TARGET_SESSION, load.model.agents.v[dev.number].session };

	type("5");
	select_target(dev);
	type("&");
	is_narrowed_to(dev);
	ck_assert_uint_eq(app_list(&app)->lines.list.n, 1);
	type("<Esc>2");
	select_target(of_task("PK-2"));
	type("&");
	is_narrowed_to(of_task("PK-2"));
	/* a message's and an item's task, else their session; a page */
	type("<Esc>4:78<Enter>&");
	is_narrowed_to(of_task("PK-2"));
	type("<Esc>:2<Enter>&");
	is_narrowed_to(session);
	type("<Esc>3/F-1<Enter>&");
	is_narrowed_to(of_task("PK-2"));
	type("<Esc>3<Enter>&");
	is_narrowed_to(of_task("PK-2"));
	ck_assert_uint_eq(app.screen_count, 1);
	type("q<Esc>5");
	select_target(dev);
	type("<Enter>G&"); /* a message of the agent's page */
	is_narrowed_to(dev);
	select_target(of_task("PK-2"));
	type("&"); /* a task of it: still the agent, Enter opens the task's own page */
	is_narrowed_to(dev);
	type("<Enter>&");
	is_narrowed_to(of_task("PK-2"));
	type("qq<Esc>1&");
	is_narrowed_to(session); /* of a question that belongs to no task */
	type("<Esc>?&");
	ck_assert_int_eq(app.screen_count, 1);
}
END_TEST

START_TEST(names_are_completed)
{
	type(":narrow ta<Tab>PK-2.<Tab>2");
	ck_assert_str_eq(app.prompt.text.p, "narrow task PK-2.r2");
	type("<Enter>");
	is_narrowed_to(of_task("PK-2"));
	type(":narrow agent rev<Tab>");
	ck_assert_str_eq(app.prompt.text.p, "narrow agent reviewer-0");
	SHOWS(" reviewer-02  reviewer-01");
	type("1<Enter>");
	is_narrowed_to((struct target){ TARGET_AGENT, agent("reviewer-01") });
	type(":narrow agent nobody<Enter>");
	says("no agent is called \"nobody\"");
	type(":narrow agent<Enter>");
	says("narrow task NAME");
	type(":narrow room 3<Enter>");
	says("narrow task NAME");
	/* with its session, as gavel decide takes it */
	app_run(&app, STR("narrow task data/demo.ndjson/PK-3"));
	says("no task");
	is_narrowed_to((struct target){ TARGET_AGENT, agent("reviewer-01") });
}
END_TEST

START_TEST(a_name_that_several_have_needs_its_session)
{
	struct buf line = { 0 };
	uint32_t dev = agent("dev-02"), twin;

	/* another session with an agent of that name */
	heap_push(load.model.heap, &load.model.sessions,
		  ((struct session){ .name = model_intern(&load.model, STR("other")), .group = NONE,
				     .first = 5, .loop = NONE }));
	twin = load.model.agents.n;
	heap_push(load.model.heap, &load.model.agents, load.model.agents.v[dev]);
	load.model.agents.v[twin].session = load.model.sessions.n - 1;
	type(":narrow agent dev-02<Enter>");
	says("2 agents are called \"dev-02\"");
	is_narrowed_to(target_none);
	type(":narrow agent other/dev-02<Enter>");
	is_narrowed_to((struct target){ TARGET_AGENT, twin });
	buf_adds(&line, "narrow agent ");
	buf_add_str(&line, session_name(&load.model, load.model.agents.v[dev].session));
	buf_adds(&line, "/dev-02");
	app_run(&app, buf_str(&line));
	is_narrowed_to((struct target){ TARGET_AGENT, dev });
	buf_release(&line);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("pages");
	TCase *pages = tcase_create("pages"), *narrowing = tcase_create("narrowing");

	setlocale(LC_ALL, "C.UTF-8");
	tcase_add_checked_fixture(pages, setup, teardown);
	tcase_add_checked_fixture(narrowing, setup, teardown);
	tcase_add_test(pages, a_task_has_all_of_its_revisions);
	tcase_add_test(pages, an_agent_and_a_session_have_pages);
	tcase_add_loop_test(pages, lists_begin_below_their_headings, 0, 2);
	tcase_add_test(pages, pages_nest_and_each_leads_back_to_its_row);
	tcase_add_loop_test(pages, back_to_exactly_where_one_was, 0,
			    sizeof(places) / sizeof(places[0]));
	tcase_add_test(pages, problems_lead_back_too);
	tcase_add_test(pages, a_click_selects_a_row_of_a_page);
	tcase_add_test(pages, items_of_a_page);
	tcase_add_test(pages, a_page_is_made_between_keys);
	tcase_add_test(pages, a_filter_counts_on_pages);
	tcase_add_test(narrowing, narrow_to_a_task);
	tcase_add_test(narrowing, narrowed_where_there_is_little_room);
	tcase_add_test(narrowing, narrow_and_filter);
	tcase_add_test(narrowing, narrow_to_what_is_selected);
	tcase_add_test(narrowing, names_are_completed);
	tcase_add_test(narrowing, a_name_that_several_have_needs_its_session);
	suite_add_tcase(suite, pages);
	suite_add_tcase(suite, narrowing);
	return unit_run(suite);
}
