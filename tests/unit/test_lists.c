/* What one expects of lists: copying, the live filter, completion, counts of matches, sorting,
 * sideways scrolling, bookmarks, the mouse. On the demo, without a terminal. */
#include "session/load.h"
#include "app/app.h"
#include "view/view_parts.h"
#include "folder.h"
#include "unit.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <time.h>

static struct load load;
static struct app app;
static struct grid *grid;

static void draw(void)
{
	int row, col;

	app_draw(&app, grid, &row, &col);
}

static void open_path(const char *source, int rows, int cols)
{
	memset(&load, 0, sizeof(load));
	ck_assert_int_eq(load_open(&load, &source, 1, 0), 0);
	app_init(&app, &load.model, &load.reader, STR("demo"), false);
	load_run(&load, NULL, NULL);
	app_arrived(&app, 1, 1, false);
	grid = grid_new(rows, cols, false);
	draw();
}

static void open_log(const char *variable, const char *name, int rows, int cols)
{
	struct buf path = { 0 };

	buf_printf(&path, "%s/%s", getenv(variable), name);
	open_path(path.p, rows, cols);
	buf_release(&path);
}

static void open_demo(void)
{
	open_log("GAVEL_DATADIR", "demo.ndjson", 36, 120);
}

static void close_demo(void)
{
	grid_free(grid);
	app_release(&app);
	load_release(&load);
}

static void type(const char *keys)
{
	struct str rest = str_of(keys);
	uint32_t code;

	while (rest.n && key_parse(&rest, &code)) {
		app_key(&app, &(struct key){ .code = code });
		while (app_is_searching(&app)) {
			draw();
			app_search_step(&app);
		}
		while (app_is_counting(&app)) {
			draw();
			app_count_step(&app);
		}
	}
	ck_assert_uint_eq(rest.n, 0);
	draw();
}

/* The message line. */
static void says(const char *words)
{
	ck_assert_msg(str_find(buf_str(&app.notice), str_of(words), 0) >= 0, "\"%s\" is not in \"%s\"",
		      words, app.notice.n ? app.notice.p : "");
}

static bool screen_has(const char *words)
{
	struct buf screen = { 0 };
	bool has;

	grid_save(grid, &screen);
	has = str_find(buf_str(&screen), str_of(words), 0) >= 0;
	buf_release(&screen);
	return has;
}

/* What the last effect, which must be a copy, would put on the clipboard. */
static struct str copied(void)
{
	ck_assert_uint_gt(app.effects.n, 0);
	ck_assert_int_eq(app.effects.v[app.effects.n - 1].type, EFFECT_COPY);
	return app.effects.v[app.effects.n - 1].copy;
}

/* y copies what a person would type or look for: the id of an item as gavel decide takes it, a
 * message's own, an agent's name. */
START_TEST(y_copies_an_id)
{
	struct buf id = { 0 };
	struct target t;

	open_demo();
	t = pane_target(app_list(&app), &app.scene);
	ck_assert_int_eq(t.type, TARGET_ITEM);
	item_name(&load.model, &load.model.items.v[t.number], &id);
	type("y");
	ck_assert(str_eq(copied(), buf_str(&id)));
	says("copied ");
	ck_assert(screen_has("copied "));
	says(id.p);
	app_effects_taken(&app);
	type("<Enter>y"); /* on its page, too */
	ck_assert(str_eq(copied(), buf_str(&id)));
	app_effects_taken(&app);
	type("5y");
	t = pane_target(app_list(&app), &app.scene);
	ck_assert(str_eq(copied(), agent_name(&load.model, app_list(&app)->at.a)));
	app_effects_taken(&app);
	type("4gy");
	ck_assert_uint_gt(copied().n, 0);
	app_effects_taken(&app);
	type("?y");
	ck_assert_uint_eq(app.effects.n, 0);
	buf_release(&id);
	close_demo();
}
END_TEST

START_TEST(Y_copies_the_message)
{
	struct target t;

	open_demo();
	type("4gjjY");
	t = pane_target(app_list(&app), &app.scene);
	ck_assert(str_eq(copied(), load.reader.bytes(load.reader.ctx, t.number)));
	ck_assert_int_eq(copied().p[0], '{');
	says("copied message #3, ");
	app_effects_taken(&app);
	type("<Enter>Y"); /* on its page, too */
	ck_assert_int_eq(copied().p[0], '{');
	close_demo();
}
END_TEST

/* Nothing that could act on a shell it is pasted into, and nothing that a terminal would drop. */
START_TEST(what_cannot_be_copied_is_said)
{
	bool dropped = false;

	open_log("GAVEL_FIXTURES", "hostile/text.ndjson", 36, 120);
	type("4g");
	for (uint32_t i = 0; i < load.model.records.n; i++) {
		struct str bytes = load.reader.bytes(load.reader.ctx, i);
		bool hostile = memchr(bytes.p, 0x1b, bytes.n);

		app_effects_taken(&app);
		type("Y");
		if (hostile || bytes.n > 74994) {
			ck_assert_uint_eq(app.effects.n, 0);
			says("not copied");
			dropped = true;
		}
		type("j");
	}
	ck_assert(dropped);
	close_demo();
}
END_TEST

/* Returns and newlines may stand between the values of JSON; elsewhere a shell would run what is
 * before them. */
START_TEST(only_json_is_copied_with_its_blanks)
{
	make_folder();
	write_file(path_of("cr.log"), STR("build ok:\r  touch pwned\r done\n"
					  "\"touch pwned\"\r\r\n"
					  "{\"a\":\r1} touch pwned\r\n"
					  "{\"a\":\t1,\r\"b\":2}\n"));
	open_path(path_of("cr.log"), 36, 120);
	type("4g");
	for (uint32_t i = 0; i < 4; i++) {
		app_effects_taken(&app);
		type("Y");
		ck_assert_uint_eq(app.effects.n, i == 3);
		says(i == 3 ? "copied message #4, " : "contains control or hidden characters");
		type("j");
	}
	close_demo();
	remove_folder();
}
END_TEST

#define ASK(id) \
	"{\"type\":\"request:ask-user\",\"id\":\"" id "\",\"timestamp\":\"2026-01-26T10:00:03Z\"," \
	"\"agentId\":\"bob\",\"payload\":{\"question\":\"Q?\",\"options\":[],\"timeout\":300000}}\n"

static const struct {
	const char *log;
	bool copied;
} unseen[] = {
	{ ASK("q\\u009b31m"), false },
	{ ASK("q\\u202ex"), false },
	{ ASK("q\\u200bx"), false },
	{ ASK("q\\ufe0fx"), false },
	{ ASK("q\\u200d\\u2764"), false },
	{ ASK("q\xf3\xa0\x81\x81"), false },
	{ ASK("q\\u00fc"), true },
	{ ASK("\\u2764\\ufe0f\\u200d\\ud83d\\udd25"), true },
};

/* What is pasted looks like what was shown. */
START_TEST(no_id_is_copied_with_characters_unseen)
{
	make_folder();
	write_file(path_of("unseen.log"), str_of(unseen[_i].log));
	open_path(path_of("unseen.log"), 36, 120);
	type("4gy");
	ck_assert_uint_eq(app.effects.n, unseen[_i].copied);
	says(unseen[_i].copied ? "copied " : "contains control or hidden characters");
	close_demo();
	remove_folder();
}
END_TEST

static uint32_t listed(void)
{
	return app_list(&app)->lines.list.n;
}

/* A letter at a time; Esc gives back the filter and the selection of before. */
START_TEST(the_list_narrows_while_a_filter_is_typed)
{
	uint32_t all, one, two;
	struct line at;

	open_demo();
	type("4gjjjjj");
	all = listed();
	at = app_list(&app)->at;
	type("\\kind:");
	ck_assert_uint_eq(listed(), all); /* not a filter yet */
	ck_assert_uint_eq(app.notice.n, 0);
	type("log");
	one = listed();
	ck_assert_uint_gt(one, 0);
	ck_assert_uint_lt(one, all);
	type(" 0.9.4");
	two = listed();
	ck_assert_uint_gt(two, 0);
	ck_assert_uint_lt(two, one);
	type("nosuchword");
	ck_assert_uint_eq(listed(), 0);
	type("<C-w><C-w><C-w>"); /* which takes a word back */
	ck_assert_uint_eq(listed(), all);
	type("nosuchword<Esc>");
	ck_assert_uint_eq(listed(), all);
	ck_assert_ptr_null(app.filter);
	ck_assert_mem_eq(&app_list(&app)->at, &at, sizeof(at));
	ck_assert_uint_eq(app_list(&app)->selected, 5);
	type("\\kind:log<Enter>"); /* Enter keeps it */
	ck_assert_uint_eq(listed(), one);
	type("\\<Esc>");
	ck_assert_uint_eq(listed(), one);
	type("\\ nosuchword<Esc>"); /* back to the one before */
	ck_assert_uint_eq(listed(), one);
	type("\\<C-u>nosuch:word<Enter>");
	says("is not a key");
	ck_assert_int_eq(app.prompt.kind, PROMPT_FILTER);
	close_demo();
}
END_TEST

/* On a long list the old one stays until the new one is there; no letter waits for it. */
START_TEST(typing_a_filter_waits_for_nothing)
{
	open_demo();
	type("4g");
	app.list_until_ms = 0; /* no time at all while keys are handled */
	type("\\kind:log");
	ck_assert(!app_is_settled(&app));
	ck_assert_uint_eq(listed(), load.model.records.n);
	while (!app_list_step(&app, 0))
		draw();
	ck_assert_uint_lt(listed(), load.model.records.n);
	close_demo();
}
END_TEST

static const struct {
	const char *keys, *text;
} completed[] = {
	/* filters: keys, values of tables, names of the session */
	{ "\\ki<Tab>", "kind:" },
	{ "\\kind:qu<Tab>", "kind:question " },
	{ "\\KIND:QU<Tab>", "KIND:question " },
	{ "\\-se<Tab>", "-se" },
	{ "\\-sev<Tab>", "-severity:" },
	{ "\\severity:>=ma<Tab>", "severity:>=major " },
	{ "\\is:o<Tab>", "is:o" }, /* open, oversize */
	{ "\\is:op<Tab>", "is:open " },
	{ "\\verdict:acc<Tab>", "verdict:accepted " },
	{ "\\dialect:coll<Tab>", "dialect:collaboration " },
	{ "\\trust:j<Tab>", "trust:journal " },
	{ "\\word agent:planner-<Tab>", "word agent:planner-1 " },
	{ "\\task:PK-2<Tab>", "task:PK-2" }, /* and what revises it */
	{ "\\\"two ki<Tab>", "\"two ki" },
	{ "\\nosuch<Tab>", "nosuch" },
	/* commands and their arguments */
	{ ":fil<Tab>", "filter " },
	{ ":filter ki<Tab>", "filter kind:" },
	{ ":filter kind:qu<Tab>", "filter kind:question " },
	{ ":query planner-<Tab>", "query planner-1 " },
	{ ":assign PK-4<Tab>planner-<Tab>", "assign PK-4 planner-1 " },
	{ ":cancel PK-4 plan<Tab>", "cancel PK-4 plan" },
	{ ":help plan<Tab>", "help plan" },
	{ ":copy<Tab>", "copy-" },
};

START_TEST(tab_completes)
{
	open_demo();
	type(completed[_i].keys);
	ck_assert_msg(str_eq(buf_str(&app.prompt.text), str_of(completed[_i].text)),
		      "%s: %.*s", completed[_i].keys, STR_ARG(buf_str(&app.prompt.text)));
	close_demo();
}
END_TEST

/* As for filters: nobody types a name of 101 bytes. */
START_TEST(long_names_are_not_completed)
{
	struct buf log = { 0 };

	make_folder();
	for (int i = 0; i < 2; i++) {
		buf_printf(&log, "{\"message_id\":\"00000000-0000-4000-8000-00000000000%d\","
				 "\"timestamp\":\"2026-02-06T12:00:01Z\",\"sequence_number\":%d,"
				 "\"from_agent\":{\"agent_id\":\"lead\",\"agent_type\":\"architect\"},"
				 "\"message_type\":\"task_assignment\",\"correlation_id\":\"c-1\","
				 "\"to_agent\":{\"agent_type\":\"developer\",\"agent_id\":\"%c",
			   i, i, 'b' + i);
		for (int n = 1; n < 100 + i; n++)
			buf_addc(&log, 'a');
		buf_printf(&log, "\"},\"payload\":{\"task\":{\"task_id\":\"%c", 'b' + i);
		for (int n = 1; n < 100 + i; n++)
			buf_addc(&log, 't');
		buf_adds(&log, "\"}}}\n");
	}
	write_file(path_of("long.log"), buf_str(&log));
	open_path(path_of("long.log"), 36, 120);
	type(":narrow task b<Tab>");
	ck_assert_uint_eq(app.prompt.text.n, strlen("narrow task ") + 100 + 1);
	type("<Esc>:narrow task c<Tab>");
	ck_assert_str_eq(app.prompt.text.p, "narrow task c");
	type("<Esc>:assign b<Tab>");
	ck_assert_uint_eq(app.prompt.text.n, strlen("assign ") + 100 + 1);
	type("c<Tab>"); /* the other agent */
	ck_assert_uint_eq(app.prompt.text.n, strlen("assign ") + 100 + 1 + 1);
	type("<Esc>:assign c<Tab>");
	ck_assert_str_eq(app.prompt.text.p, "assign c");
	close_demo();
	buf_release(&log);
	remove_folder();
}
END_TEST

/* Its end, with the cursor; how much is before it costs nothing. */
START_TEST(a_long_text_is_drawn_at_once)
{
	struct str end = STR("the end");
	int row, col;

	open_demo();
	type(":");
	for (int i = 0; i < 1000000; i++)
		buf_adds(&app.prompt.text, i % 2 ? "x" : "\xcc\x81");
	buf_add_str(&app.prompt.text, end);
	app.prompt.cursor = app.prompt.text.n;
	app_draw(&app, grid, &row, &col);
	ck_assert(screen_has(end.p));
	ck_assert_int_eq(col, 119);
	app.prompt.cursor -= end.n;
	app_draw(&app, grid, &row, &col);
	ck_assert(!screen_has(end.p));
	ck_assert_int_eq(col, 119);
	close_demo();
}
END_TEST

/* Their names end alike: compared in pairs, they would take seconds. */
START_TEST(many_sessions_are_told_apart_at_once)
{
	struct buf log = { 0 };
	clock_t before;

	make_folder();
	for (int i = 0; i < 9990; i++)
		buf_printf(&log, "{\"message_id\":\"m-%d\",\"message_type\":\"feedback\","
				 "\"session_id\":\"%06da1b2c3d4e5f6a7b8c9d0e1f2a3b4c5d6\","
				 "\"from_agent\":{\"agent_id\":\"a\"},\"to_agent\":{},\"payload\":{}}\n",
			   i, i);
	write_file(path_of("many.log"), buf_str(&log));
	open_path(path_of("many.log"), 36, 120);
	ck_assert_uint_ge(load.model.sessions.n, 9990);
	before = clock();
	type("5g4g1g");
	ck_assert_int_lt((clock() - before) * 1000 / CLOCKS_PER_SEC, 1000);
	close_demo();
	buf_release(&log);
	remove_folder();
}
END_TEST

START_TEST(completions_are_listed)
{
	open_demo();
	type("\\is:o");
	ck_assert(screen_has("is:open  is:oversize"));
	type("<Esc>:copy");
	ck_assert(screen_has("copy-id  copy-message"));
	type("<Esc>:query p");
	ck_assert(screen_has("planner-1"));
	close_demo();
}
END_TEST

/* Lines with the word, and which of them is selected; in every kind of pane. */
START_TEST(matches_are_counted)
{
	char want[32];
	uint32_t n = 0;

	open_demo();
	for (uint32_t i = 0; i < load.model.records.n; i++)
		n += str_contains_nocase(load.reader.bytes(load.reader.ctx, i), STR("PK-4"));
	ck_assert_uint_gt(n, 3);
	snprintf(want, sizeof(want), "match 1/%u", n);
	type("4g/PK-4");
	ck_assert(screen_has(want)); /* while it is typed */
	type("<Enter>");
	ck_assert(screen_has(want));
	snprintf(want, sizeof(want), "match 3/%u", n);
	type("nn");
	ck_assert(screen_has(want));
	type("\\kind:task_update<Enter>"); /* other lines */
	ck_assert(!screen_has("match "));
	type("<Esc>1g/question<Enter>");
	ck_assert(screen_has("match 1/"));
	type("G<Enter>"); /* a text: none of its matches is searched for yet */
	ck_assert(!screen_has("match 1/"));
	type("/nosuchword<Enter>");
	ck_assert(!screen_has("match"));
	close_demo();
}
END_TEST

/* A common word is counted up to a limit. */
START_TEST(counting_is_cut)
{
	struct buf text = { 0 };

	make_folder();
	for (int i = 0; i < 1100; i++)
		buf_printf(&text, "line %d with a word\n", i);
	write_file(path_of("many.log"), buf_str(&text));
	buf_release(&text);
	open_path(path_of("many.log"), 36, 120);
	type("4g/word<Enter>n");
	ck_assert(screen_has("match 2/1000+"));
	type("G");
	ck_assert(screen_has("1000+ matches"));
	close_demo();
	remove_folder();
}
END_TEST

/* The lines as they are, for a comparison. */
static struct line *copy_lines(void)
{
	const struct pane *p = app_list(&app);
	struct line *copy = xcalloc(p->lines.list.n + 1, sizeof(*copy));

	for (uint32_t i = 0; i < p->lines.list.n; i++)
		copy[i] = line_at(&p->lines, i);
	return copy;
}

static bool has_line(const struct line *list, uint32_t n, struct line line)
{
	for (uint32_t i = 0; i < n; i++)
		if (memcmp(&list[i], &line, sizeof(line)) == 0)
			return true;
	return false;
}

/* Keys go one way; lines without one come last. */
static void is_sorted(void)
{
	struct pane *p = app_list(&app);
	struct sort_key before = { 0 }, key;
	bool last = false;

	for (uint32_t i = 0; i < p->lines.list.n; i++) {
		int order;

		key = (struct sort_key){ 0 };
		if (p->view->sort_key(&app.scene, &p->lines, i, p->sort.column - 1, &key) ==
		    SORT_LAST) {
			last = true;
			continue;
		}
		ck_assert(!last);
		order = i ? strncasecmp(before.text.n ? before.text.p : "",
					key.text.n ? key.text.p : "", 200) : 0;
		if (i && !order)
			order = before.number < key.number ? -1 : before.number > key.number;
		ck_assert_int_le(p->sort.down ? -order : order, 0);
		before = key;
	}
}

/* Every column of every list, both ways; the selection stays on its line, and in the end the order is
 * the one of before. */
START_TEST(s_sorts_by_each_column)
{
	static const char tabs[] = "1456";
	struct line *usual, at;
	uint32_t n, columns = 0;
	char tab[] = { tabs[_i], 0 };

	open_demo();
	grid_resize(grid, 36, 240); /* all columns */
	type(tab);
	type("gjj");
	at = app_list(&app)->at;
	usual = copy_lines();
	n = listed();
	ck_assert_uint_gt(n, 3);
	for (type("s"); app_list(&app)->sort.column; type("s"), columns++) {
		bool down = app_list(&app)->sort.down;

		ck_assert_uint_eq(app_list(&app)->lines.sort.column, app_list(&app)->sort.column);
		ck_assert_uint_eq(listed(), n);
		is_sorted();
		ck_assert(screen_has(down ? "▼" : "▲"));
		ck_assert_mem_eq(&app_list(&app)->at, &at, sizeof(at));
		for (uint32_t i = 0; i < n; i++)
			ck_assert(has_line(usual, n, line_at(&app_list(&app)->lines, i)));
		type("S");
		ck_assert_int_eq(app_list(&app)->sort.down, !down);
		is_sorted();
		says("sorted by ");
	}
	ck_assert_uint_gt(columns, 4);
	for (uint32_t i = 0; i < n; i++)
		ck_assert(has_line(&usual[i], 1, line_at(&app_list(&app)->lines, i)));
	type("S");
	says("not sorted");
	free(usual);
	close_demo();
}
END_TEST

/* Searches, numbers and problems find their message in any order. */
START_TEST(a_sorted_list_of_messages_is_searched)
{
	struct target t;

	open_demo();
	type("4gs"); /* newest first */
	ck_assert_uint_eq(app_list(&app)->lines.sort.column, 1);
	type("g/passkey<Enter>");
	t = pane_target(app_list(&app), &app.scene);
	ck_assert(str_contains_nocase(load.reader.bytes(load.reader.ctx, t.number), STR("passkey")));
	type(":40<Enter>");
	t = pane_target(app_list(&app), &app.scene);
	ck_assert_uint_eq(message_line(&load.model, t.number), 40);
	type("g!");
	t = pane_target(app_list(&app), &app.scene);
	ck_assert(load.model.records.v[t.number].errors + load.model.records.v[t.number].warnings);
	close_demo();
}
END_TEST

/* A long list is sorted in steps, and another order begins anew. */
START_TEST(sorting_waits_for_nothing)
{
	open_demo();
	type("4g");
	app.list_until_ms = 0;
	type("s");
	ck_assert(!app_is_settled(&app));
	type("sss");
	while (!app_list_step(&app, 0))
		draw();
	ck_assert_uint_eq(app_list(&app)->lines.sort.column, app_list(&app)->sort.column);
	is_sorted();
	close_demo();
}
END_TEST

static void click(int row, int col)
{
	app_key(&app, &(struct key){ .code = KEY_MOUSE, .mouse = MOUSE_PRESS, .button = 1, .row = row,
				     .col = col });
	draw();
}

START_TEST(a_click_on_a_head_sorts)
{
	const struct pane *p;

	open_demo();
	type("5");
	p = app_list(&app);
	click(app.list_rect.row, app.list_rect.col + GUTTER_COLS + p->lines.table->fit.at[0]);
	ck_assert_uint_eq(p->sort.column, 1);
	ck_assert(!p->sort.down);
	is_sorted();
	click(app.list_rect.row, app.list_rect.col + GUTTER_COLS + p->lines.table->fit.at[0]);
	ck_assert(p->sort.down);
	type("2s");
	says("one order only");
	close_demo();
}
END_TEST

/* The end of a long line comes into sight, and the columns do not change meanwhile. */
START_TEST(lists_scroll_sideways)
{
	struct line at;

	open_demo();
	grid_resize(grid, 15, 80);
	draw();
	type("4gjjjj<Enter>q");
	at = app_list(&app)->at;
	ck_assert(!screen_has("4 user stories, 11 requirements"));
	type("<Left>");
	says("lines begin here");
	type("<Right><Right><Right>");
	ck_assert_int_eq(app_list(&app)->left, 48);
	ck_assert(screen_has("4 user stories, 11 requirements"));
	ck_assert(screen_has("‹48"));
	ck_assert_mem_eq(&app_list(&app)->at, &at, sizeof(at));
	type("<Left><Left><Left>");
	ck_assert_int_eq(app_list(&app)->left, 0);
	ck_assert_int_eq(app_list(&app)->lines.wide, 0);
	for (int i = 0; i < 200; i++) /* it ends somewhere */
		type("<Right>");
	says("no line goes on");
	ck_assert_int_lt(app_list(&app)->left, 2048);
	type("2<Right>"); /* pans, and says that there is nothing to pan */
	ck_assert_int_eq(app_list(&app)->left, 0);
	says("already showing all");
	close_demo();
}
END_TEST

static uint32_t message_selected(void)
{
	return pane_target(&app.lists[TAB_MESSAGES], &app.scene).number;
}

/* Errors alone, either way and round; problems are more. */
START_TEST(errors_are_jumped_to)
{
	const struct record *v;
	uint32_t errors = 0, seen = 0, first;

	open_demo();
	v = load.model.records.v;
	for (uint32_t i = 0; i < load.model.records.n; i++)
		errors += v[i].errors > 0;
	ck_assert_uint_gt(errors, 1);
	type("4g:next-error<Enter>");
	first = message_selected();
	do {
		ck_assert_uint_gt(v[message_selected()].errors, 0);
		type(":next-error<Enter>");
		seen++;
	} while (message_selected() != first);
	ck_assert_uint_eq(seen, errors);
	says("wrapped to the first error");
	type(":previous-error<Enter>");
	says("wrapped to the last error");
	type("g~");
	says("wrapped to the last problem");
	type("!");
	says("wrapped to the first problem");
	type("~:previous-error<Enter>");
	ck_assert_uint_gt(v[message_selected()].errors, 0);
	type("R<Home>:next-error<Enter>"); /* in a replay, to where it comes */
	ck_assert_uint_eq(app.scene.k, first + 1);
	close_demo();
}
END_TEST

/* G stays at the end of what is followed, moving up ends that, f is either. */
START_TEST(G_stays_at_the_end)
{
	open_demo();
	type("4G");
	ck_assert(!app.follows); /* nothing comes */
	app.live = LIVE_ON;
	type("gG");
	ck_assert(app.follows);
	ck_assert(screen_has("following"));
	app.scene.k -= 20; /* as if these had not come yet */
	app_invalidate(&app);
	draw();
	app_arrived(&app, 1, 1, false);
	draw();
	ck_assert_uint_eq(app_list(&app)->selected, listed() - 1);
	type("k");
	ck_assert(!app.follows);
	says("not following");
	ck_assert(!screen_has("following  "));
	type("f");
	ck_assert(app.follows);
	ck_assert_uint_eq(app_list(&app)->selected, listed() - 1);
	type("j"); /* at the end already */
	ck_assert(app.follows);
	type("1k4"); /* elsewhere */
	ck_assert(app.follows);
	type("f");
	ck_assert(!app.follows);
	app.follows = app.follows_unasked = true; /* as when a live log is opened */
	type("f");
	ck_assert(app.follows);
	type("f");
	ck_assert(!app.follows);
	close_demo();
}
END_TEST

/* Where a text stands in the status line. */
static int column_of(const char *words)
{
	struct buf screen = { 0 };
	struct str rest, line = STR_NONE;
	ptrdiff_t at;
	int col;

	grid_save(grid, &screen);
	rest = buf_str(&screen);
	for (int row = 0; row < grid->rows - 1; row++)
		line = str_cut(&rest, STR("\n"));
	at = str_find(line, str_of(words), 0);
	ck_assert_msg(at >= 0, "%s is not in: %.*s", words, STR_ARG(line));
	col = (int)cells_width(raw_of(str_make(line.p, (size_t)at)), TEXT_LABEL, false, 512);
	buf_release(&screen);
	return col;
}

/* A hint works as its key, or keys, wherever it is clicked; nothing that decides does. */
START_TEST(a_click_on_a_hint_is_its_key)
{
	uint32_t at;

	open_demo();
	type("4g");
	click(grid->rows - 2, column_of("! ~ problem"));
	at = app_list(&app)->selected;
	ck_assert_uint_gt(at, 0);
	click(grid->rows - 2, column_of("! ~ problem") + 2);
	ck_assert_uint_ne(app_list(&app)->selected, at);
	type(":40<Enter>!");
	at = app_list(&app)->selected;
	type(":40<Enter>");
	click(grid->rows - 2, column_of("problem"));
	ck_assert_uint_eq(app_list(&app)->selected, at);
	click(grid->rows - 2, column_of("Enter open"));
	ck_assert(app_shows(&app, &view_message));
	click(grid->rows - 2, column_of("q back"));
	ck_assert_uint_eq(app.screen_count, 0);
	click(grid->rows - 2, 0);
	type(":filt");
	click(grid->rows - 2, 3); /* while something is typed there are no hints */
	ck_assert_int_eq(app.prompt.kind, PROMPT_COMMAND);
	close_demo();
}
END_TEST

START_TEST(the_mouse_never_decides)
{
	static const char *const places[] = { "1", "1<Enter>", "6", "3", "1R" };

	open_demo();
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		type(places[i]);
		for (int col = 0; col < grid->cols; col++) {
			const struct binding *b = app_hint_at(&app, grid->rows - 2, col);

			ck_assert(!b || (strcmp(b->command->section, "decide") != 0 &&
					 strcmp(b->command->name, "stop") != 0));
		}
	}
	type("R1g");
	app_hints_set(&app, app.hints_rect, STR("a accept  $ deliver  x reject  A every item"));
	click(grid->rows - 2, 2);
	click(grid->rows - 2, 12);
	click(grid->rows - 2, 24);
	ck_assert_int_eq(app.prompt.kind, PROMPT_NONE);
	ck_assert_uint_eq(app.notice.n, 0);
	ck_assert_uint_eq(app.effects.n, 0);
	close_demo();
}
END_TEST

START_TEST(themes_have_names)
{
	open_demo();
	type(":theme li<Tab><Enter>");
	ck_assert_uint_eq(app.effects.n, 1);
	ck_assert_int_eq(app.effects.v[0].type, EFFECT_THEME);
	ck_assert_str_eq(app.effects.v[0].file, "light");
	app_effects_taken(&app);
	type(":theme nosuch<Enter>");
	says("one of dark, light, mono");
	ck_assert_uint_eq(app.effects.n, 0);
	close_demo();
}
END_TEST

/* b sets with a note and removes; the page lists them in order, Enter goes there. */
START_TEST(bookmarks_are_set_listed_and_removed)
{
	open_demo();
	type("4g:40<Enter>bsecond one<Enter>");
	says("bookmark at #40: second one");
	ck_assert_int_eq(app.effects.v[0].type, EFFECT_BOOKMARK);
	ck_assert(str_is(app.effects.v[0].bookmark.note, "second one"));
	type(":10<Enter>b<Enter>"); /* without a note */
	type(":60<Enter>bx<Esc>"); /* not set */
	type(":50<Enter>:bookmark third one<Enter>");
	ck_assert_uint_eq(app.bookmarks.n, 3);
	type(":bookmarks<Enter>");
	ck_assert(screen_has("second one"));
	ck_assert_uint_eq(app_screen(&app)->pane.lines.list.n, 3);
	click(4, 10); /* below title, tabs and heading: the second row */
	ck_assert_uint_eq(app_screen(&app)->pane.selected, 1);
	click(2, 10); /* the heading is no row */
	ck_assert_uint_eq(app_screen(&app)->pane.selected, 1);
	type("j<Enter>");
	ck_assert_uint_eq(app.screen_count, 0);
	ck_assert_uint_eq(message_line(&load.model, message_selected()), 50);
	type("b"); /* removes */
	says("bookmark removed");
	ck_assert_uint_eq(app.bookmarks.n, 2);
	type(":bookmarks<Enter>b"); /* on the page, too */
	ck_assert_uint_eq(app.bookmarks.n, 1);
	ck_assert_uint_eq(app_screen(&app)->pane.lines.list.n, 1);
	type("b");
	ck_assert(screen_has("There are no bookmarks here."));
	type("b<Enter>q1g<Enter>b<Enter>"); /* of an item, the message that raised it */
	ck_assert_uint_eq(app.bookmarks.n, 1);
	close_demo();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("lists");
	TCase *lists = tcase_create("lists");

	setlocale(LC_ALL, "C.UTF-8");
	tcase_add_test(lists, y_copies_an_id);
	tcase_add_test(lists, Y_copies_the_message);
	tcase_add_test(lists, what_cannot_be_copied_is_said);
	tcase_add_test(lists, only_json_is_copied_with_its_blanks);
	tcase_add_loop_test(lists, no_id_is_copied_with_characters_unseen, 0,
			    sizeof(unseen) / sizeof(unseen[0]));
	tcase_add_test(lists, the_list_narrows_while_a_filter_is_typed);
	tcase_add_test(lists, typing_a_filter_waits_for_nothing);
	tcase_add_loop_test(lists, tab_completes, 0, sizeof(completed) / sizeof(completed[0]));
	tcase_add_test(lists, long_names_are_not_completed);
	tcase_add_test(lists, a_long_text_is_drawn_at_once);
	tcase_add_test(lists, many_sessions_are_told_apart_at_once);
	tcase_add_test(lists, completions_are_listed);
	tcase_add_test(lists, matches_are_counted);
	tcase_add_test(lists, counting_is_cut);
	tcase_add_loop_test(lists, s_sorts_by_each_column, 0, 4);
	tcase_add_test(lists, a_sorted_list_of_messages_is_searched);
	tcase_add_test(lists, sorting_waits_for_nothing);
	tcase_add_test(lists, a_click_on_a_head_sorts);
	tcase_add_test(lists, lists_scroll_sideways);
	tcase_add_test(lists, errors_are_jumped_to);
	tcase_add_test(lists, G_stays_at_the_end);
	tcase_add_test(lists, a_click_on_a_hint_is_its_key);
	tcase_add_test(lists, the_mouse_never_decides);
	tcase_add_test(lists, themes_have_names);
	tcase_add_test(lists, bookmarks_are_set_listed_and_removed);
	suite_add_tcase(suite, lists);
	return unit_run(suite);
}
