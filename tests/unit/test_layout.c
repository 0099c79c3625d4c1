/* How lists share the screen: words that never shrink on a wider one, the preview's place, groups
 * with headings, and ids shortened to what tells them apart. */
#include "app/app.h"
#include "folder.h"
#include "session/load.h"
#include "unit.h"
#include "model/rules.h"
#include "view/view_parts.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>

enum { NARROWEST = 60, WIDEST = 220, ROWS = 30, BESIDE = 160 };

static struct load load;
static struct app app;
static struct grid *g;

static void open_logs(const char *const *sources, uint32_t n)
{
	memset(&load, 0, sizeof(load));
	ck_assert_int_eq(load_open(&load, sources, n, 0), 0);
	app_init(&app, &load.model, &load.reader, STR("demo"), false);
	load_run(&load, NULL, NULL);
	app_arrived(&app, 1, 1, false);
	g = grid_new(ROWS, 80, false);
}

static void open_demo(void)
{
	static struct buf path;
	const char *source;

	buf_clear(&path);
	buf_printf(&path, "%s/demo.ndjson", getenv("GAVEL_DATADIR"));
	source = path.p;
	open_logs(&source, 1);
}

static void close_logs(void)
{
	grid_free(g);
	app_release(&app);
	load_release(&load);
}

static void draw(int rows, int cols)
{
	int row, col;

	grid_resize(g, rows, cols);
	app_draw(&app, g, &row, &col);
}

static void type(const char *keys)
{
	struct str rest = str_of(keys);
	uint32_t code;

	while (rest.n && key_parse(&rest, &code))
		app_key(&app, &(struct key){ .code = code });
	ck_assert_uint_eq(rest.n, 0);
	draw(g->rows, g->cols);
}

static void says(const char *text)
{
	ck_assert_msg(str_find(buf_str(&app.notice), str_of(text), 0) >= 0, "\"%s\" is not in: %.*s",
		      text, STR_ARG(buf_str(&app.notice)));
}

static struct str screen_row(int row, struct buf *out)
{
	buf_clear(out);
	for (int c = 0; c < g->cols; c++) {
		char bytes[12];
		const struct cell *cell = &grid_at(g, row, c)->cell;

		if (cell->width)
			buf_add(out, bytes, cell_bytes(cell, bytes));
	}
	return buf_str(out);
}

/* The first row of the list that contains the text, or -1. */
static int row_with(const char *text)
{
	struct buf row = { 0 };
	int found = -1;

	for (int r = 0; r < g->rows && found < 0; r++)
		if (str_find(screen_row(r, &row), str_of(text), 0) >= 0)
			found = r;
	buf_release(&row);
	return found;
}

/* ---- words ---- */

static unsigned column_named(const struct table *t, const char *title)
{
	for (unsigned i = 0; i < t->n; i++)
		if (strcmp(t->columns[i].title, title) == 0)
			return i;
	return t->n;
}

static int table_words(const struct table *t)
{
	static const char *const titles[] = { "what", "summary", "session", "task" };

	for (unsigned i = 0; i < sizeof(titles) / sizeof(titles[0]); i++)
		if (column_named(t, titles[i]) < t->n)
			return t->fit.cols[column_named(t, titles[i])];
	ck_abort_msg("no column for words");
	return 0;
}

/* Of a view without columns: the cells from a title's beginning to the end of its row. */
static int drawn_words(const char *title)
{
	struct rect list = app.list_rect;
	int row = row_with(title), from = -1, last = 0;

	if (row < 0)
		return 0;
	for (int c = list.col; c < list.col + list.cols; c++) {
		uint32_t base = grid_at(g, row, c)->cell.base;

		if (from < 0 && base == (uint32_t)title[0] &&
		    grid_at(g, row, c + 1)->cell.base == (uint32_t)title[1])
			from = c;
		if (base && base != ' ')
			last = c;
	}
	return from < 0 ? 0 : last - from + 1;
}

static int words_now(void)
{
	const struct table *t = app_list(&app)->lines.table;

	return t ? table_words(t) : drawn_words("The recovery that");
}

static bool is_beside(void)
{
	return app.preview_rect.rows > 0 && app.preview_rect.col > 0;
}

/* Each view, the list of all items too. */
static const char *const lists[] = { "0", "1", "2", "3", "4", "5", "6", "1A" };

START_TEST(words_never_shrink_on_a_wider_screen)
{
	int before = 0;
	bool beside = false;

	open_demo();
	draw(ROWS, NARROWEST);
	type(lists[_i]);
	for (int cols = NARROWEST; cols <= WIDEST; cols++) {
		int words;

		draw(ROWS, cols);
		words = words_now();
		ck_assert_msg(words >= before || is_beside() != beside,
			      "%s: %d columns of words at %d, %d at %d", lists[_i], before,
			      cols - 1, words, cols);
		before = words;
		beside = is_beside();
	}
	ck_assert_int_gt(before, 0);
	close_logs();
}
END_TEST

START_TEST(words_of_the_inbox)
{
	open_demo();
	for (int cols = 80; cols <= WIDEST; cols++) {
		const struct table *t;

		draw(ROWS, cols);
		t = app_list(&app)->lines.table;
		ck_assert_int_ge(words_now(), cols < 100 ? 40 : cols < 120 ? 55 : 60);
		ck_assert_int_ge(t->fit.cols[column_named(t, "kind")], (int)strlen("improvement"));
		/* dropped in this order: id, session, agent */
		ck_assert(!t->fit.cols[column_named(t, "id")] ||
			  t->fit.cols[column_named(t, "session")]);
		ck_assert(!t->fit.cols[column_named(t, "session")] ||
			  t->fit.cols[column_named(t, "from")] >= (int)strlen("architect-main"));
	}
	close_logs();
}
END_TEST

START_TEST(messages_tell_from_and_to)
{
	open_demo();
	draw(ROWS, 80);
	type("4");
	for (int cols = 80; cols <= WIDEST; cols++) {
		const struct table *t;

		draw(ROWS, cols);
		t = app_list(&app)->lines.table;
		ck_assert_int_ge(t->fit.cols[column_named(t, "from → to")], 21);
	}
	close_logs();
}
END_TEST

/* ---- the preview ---- */

START_TEST(the_preview_stands_where_words_have_room)
{
	static const char *const with_preview[] = { "1", "3", "4", "6" };

	open_demo();
	for (unsigned i = 0; i < 4; i++) {
		draw(ROWS, NARROWEST);
		type(with_preview[i]);
		for (int cols = NARROWEST; cols <= 240; cols++) {
			draw(ROWS, cols);
			ck_assert_int_gt(app.preview_rect.rows, 0);
			if (!is_beside()) {
				ck_assert(cols < BESIDE || app.tab == TAB_DECISIONS);
				continue;
			}
			ck_assert_int_ge(cols, BESIDE);
			ck_assert_int_le(app.preview_rect.cols * 100, cols * 40);
			if (app.tab != TAB_LEDGER) /* a title may be shorter than its column */
				ck_assert_int_ge(words_now(), 60);
		}
		ck_assert(is_beside());
	}
	close_logs();
}
END_TEST

START_TEST(an_empty_list_has_no_preview)
{
	open_demo();
	for (int cols = 100; cols <= 200; cols += 100) {
		draw(ROWS, cols);
		type("\\nosuchword<Enter>");
		ck_assert_int_eq(app.preview_rect.rows, 0);
		ck_assert_int_eq(app.list_rect.cols, cols);
		ck_assert_int_ge(row_with("No line matches the filter"), 0);
		type("<Esc>");
		ck_assert_int_gt(app.preview_rect.rows, 0);
		ck_assert_int_eq(app.preview_rect.col > 0, cols == 200);
	}
	close_logs();
}
END_TEST

START_TEST(the_split_is_what_the_person_wants)
{
	int cols;

	open_demo();
	draw(ROWS, 120);
	ck_assert(!is_beside());
	type("|");
	ck_assert(is_beside());
	says("preview beside, 40%");
	ck_assert_uint_eq(app.effects.n, 1);
	ck_assert_int_eq(app.effects.v[0].type, EFFECT_REMEMBER);
	cols = app.preview_rect.cols;
	type(">");
	says("preview beside, 45%");
	ck_assert_int_gt(app.preview_rect.cols, cols);
	type("<lt>");
	ck_assert_int_eq(app.preview_rect.cols, cols);
	type(":split 25%<Enter>");
	ck_assert_int_eq(app.preview_rect.cols, 30);
	type("|");
	ck_assert(!is_beside());
	type(":split 20<Enter>");
	ck_assert_int_eq(app.preview_rect.rows, 4); /* of 26, with the border */
	for (int i = 0; i < 30; i++)
		type(">");
	ck_assert_int_eq(app.list_rect.rows, 4);
	app_effects_taken(&app);
	type(":split sideways<Enter>");
	says("split takes below, beside, auto");
	type(":split 5<Enter>");
	says("10% to 90%");
	ck_assert_uint_eq(app.effects.n, 0);
	type(":split auto<Enter>");
	ck_assert_int_eq(app.preview_rect.rows, 12);
	type("O>");
	says("no preview is shown here");
	close_logs();
}
END_TEST

/* Sizes that leave nothing of the list are not to be had. */
START_TEST(a_list_is_left_at_any_size)
{
	open_demo();
	draw(ROWS, 60);
	type(":split beside<Enter>:split 90<Enter>");
	for (int cols = NARROWEST; cols <= WIDEST; cols++) {
		draw(ROWS, cols);
		ck_assert_int_ge(app.list_rect.cols, 39);
		ck_assert_int_ge(app.preview_rect.cols, 19);
	}
	type(":split below<Enter>:split 90<Enter>");
	for (int rows = 15; rows <= 60; rows++) {
		draw(rows, 80);
		ck_assert_int_ge(app.list_rect.rows, 4);
	}
	close_logs();
}
END_TEST

/* What stands above is not repeated as JSON; raw shows the message. */
START_TEST(an_item_does_not_repeat_its_message)
{
	open_demo();
	draw(60, 100);
	type("<Enter>");
	ck_assert_int_ge(row_with("Terminate its session?"), 0);
	ck_assert_int_ge(row_with("r shows it as it came"), 0);
	ck_assert_int_lt(row_with("\"payload\""), 0);
	type("r");
	ck_assert_int_ge(row_with("\"payload\""), 0);
	close_logs();
}
END_TEST

/* ---- groups ---- */

static int group_of_line(uint32_t line)
{
	const struct lines *lines = &app_list(&app)->lines;

	for (unsigned i = 0; i < lines->group_count; i++)
		if (line >= lines->groups[i].first &&
		    line < lines->groups[i].first + lines->groups[i].n)
			return (int)i;
	ck_abort_msg("line %u is in no group", line);
	return -1;
}

START_TEST(the_inbox_is_grouped_by_what_silence_does)
{
	static const char *const names[] = { "due", "blocked on you", "review", "advice", "closed" };
	const struct lines *lines;
	struct item_state at;
	int64_t deadline = 0;
	unsigned weight = 0;
	int group = -1;

	open_demo();
	draw(60, 100);
	for (int all = 0; all < 2; all++) {
		lines = &app_list(&app)->lines;
		ck_assert_uint_eq(lines->group_count, all ? 5 : 4);
		for (uint32_t i = 0; i < lines->list.n; i++) {
			const struct item *item =
				&load.model.items.v[pane_line_target(app_list(&app), &app.scene,
								     i).number];
			int now = group_of_line(i);

			ck_assert_int_ge(now, group);
			if (now != group)
				weight = 0;
			group = now;
			ck_assert_str_eq(lines->groups[group].name, names[group]);
			ck_assert(item_at(&load.model, item, app.scene.k, TIME_NONE, &at));
			ck_assert_int_eq(at.open, group < 4);
			ck_assert_int_eq(at.open && at.deadline_ms != TIME_NONE, group == 0);
			if (group == 0) {
				ck_assert(at.deadline_ms >= deadline);
				deadline = at.deadline_ms;
			} else if (group < 4) {
				ck_assert_uint_ge(item_weight(item, at.grade), weight);
				weight = item_weight(item, at.grade);
			}
		}
		group = -1;
		deadline = 0;
		type("A");
	}
	close_logs();
}
END_TEST

/* The selected line is on the screen whatever headings stand between; a heading cannot be
 * selected. */
START_TEST(headings_are_no_lines)
{
	struct pane *p;
	char position[24];

	open_demo();
	for (int rows = 15; rows <= 40; rows++) {
		draw(rows, 80);
		p = app_list(&app);
		ck_assert_uint_eq(p->lines.list.n, 22);
		for (const char *keys = "jjjjjjjjjjjjjjjjjjjjjjjjkkkkkkkkkkkkkkkkkkkkkkkkGgG"; *keys; keys++) {
			int marker = -1;

			type((char[]){ *keys, 0 });
			for (int r = 0; r < rows; r++)
				if (grid_at(g, r, 0)->cell.base == 0x25b8)
					marker = r;
			ck_assert_int_ge(marker, app.list_rect.row);
			ck_assert_int_lt(marker, app.list_rect.row + app.list_rect.rows);
			ck_assert_uint_eq(pane_line_in_row(p, marker - app.list_rect.row - 1),
					  p->selected);
		}
		ck_assert_str_eq(pane_position(p, position), "22/22");
		type("g");
	}
	draw(40, 80);
	ck_assert_uint_eq(pane_line_in_row(app_list(&app), 0), NONE);
	ck_assert_uint_eq(pane_line_in_row(app_list(&app), 3), NONE);
	ck_assert_uint_eq(pane_line_in_row(app_list(&app), 4), 2);
	app_key(&app, &(struct key){ .code = KEY_MOUSE, .mouse = MOUSE_PRESS, .button = 1,
				     .row = app.list_rect.row + 5, .col = 10 });
	ck_assert_uint_eq(app_list(&app)->selected, 2);
	app_key(&app, &(struct key){ .code = KEY_MOUSE, .mouse = MOUSE_PRESS, .button = 1,
				     .row = app.list_rect.row + 4, .col = 10 });
	ck_assert_uint_eq(app_list(&app)->selected, 2);
	close_logs();
}
END_TEST

static const char *write_log(const char *name, const char *time)
{
	const char *path = path_of(name);
	FILE *f = fopen(path, "w");

	ck_assert_ptr_nonnull(f);
	fprintf(f,
		"{\"type\":\"event:question\",\"id\":\"%s\",\"timestamp\":\"2026-01-26T%s.000Z\","
		"\"agentId\":\"dev\",\"payload\":{\"question\":\"Asked at %s?\"}}\n",
		name, time, time);
	fclose(f);
	return path;
}

/* Sources are read one after the other; what waits longest still comes first. */
START_TEST(several_sources_are_one_list)
{
	const char *sources[2];

	sources[0] = write_log("late.ndjson", "10:00:00");
	sources[1] = write_log("early.ndjson", "09:00:00");
	open_logs(sources, 2);
	draw(ROWS, 100);
	ck_assert_uint_eq(app_list(&app)->lines.list.n, 2);
	ck_assert_str_eq(app_list(&app)->lines.groups[0].name, "blocked on you");
	ck_assert_int_ge(row_with("Asked at 09:00:00?"), 0);
	ck_assert_int_lt(row_with("Asked at 09:00:00?"), row_with("Asked at 10:00:00?"));
	close_logs();
}
END_TEST

/* ---- marks ---- */

/* One column of one glyph has them all, so each must differ, without colours too. */
START_TEST(states_differ_without_colours)
{
	const struct mark *all[DELIVERY_HELD + ITEM_MARK_COUNT];
	unsigned n = 0;

	for (int i = DELIVERY_NONE + 1; i <= DELIVERY_HELD; i++)
		all[n++] = &delivery_marks[i];
	for (int i = ITEM_IS_PLAIN + 1; i < ITEM_MARK_COUNT; i++)
		all[n++] = &item_marks[i];
	ck_assert_uint_eq(n, 14);
	for (unsigned i = 0; i < n; i++)
		for (unsigned k = 0; k < i; k++) {
			ck_assert_str_ne(all[i]->glyph, all[k]->glyph);
			ck_assert_str_ne(all[i]->letter, all[k]->letter);
			ck_assert_str_ne(all[i]->word, all[k]->word);
		}
}
END_TEST

/* The state stands in its column; the words begin as the title does. */
START_TEST(a_state_does_not_eat_the_words)
{
	struct buf row = { 0 };

	open_demo();
	draw(ROWS, 100);
	ck_assert_msg(str_starts(screen_row(row_with("Second attempt:"), &row), STR(" ▲ ")), "%.*s",
		      STR_ARG(buf_str(&row)));
	ck_assert_int_lt(str_find(buf_str(&row), STR("came back"), 0), 0);
	type(":5<Enter>z");
	ck_assert_int_lt(row_with("After the roll-out"), 0);
	type("A:5<Enter>");
	ck_assert_msg(str_starts(screen_row(row_with("After the roll-out"), &row), STR("▸z ")), "%.*s",
		      STR_ARG(buf_str(&row)));
	type("<Enter>");
	ck_assert_int_ge(row_with("· snoozed"), 0);
	buf_release(&row);
	close_logs();
}
END_TEST

/* ---- ids ---- */

static void check_short(const char *id, int cols, const char *want)
{
	struct grid *row = grid_new(1, 60, false);
	struct pen p = { row, { 0, 0, 1, cols } };
	struct buf text = { 0 };
	struct str got;

	pen_short(&p, ROLE_ID, str_of(id));
	for (int c = 0; c < cols; c++) {
		char bytes[12];

		if (grid_at(row, 0, c)->cell.width)
			buf_add(&text, bytes, cell_bytes(&grid_at(row, 0, c)->cell, bytes));
	}
	got = str_trim(buf_str(&text));
	ck_assert_msg(str_is(got, want), "%s: %.*s, not %s", id, STR_ARG(got), want);
	buf_release(&text);
	grid_free(row);
}

START_TEST(ids_are_shortened_to_what_tells_them_apart)
{
	check_short("PK-2", 20, "PK-2");
	check_short("scope-definition-lacks-detail-01", 40, "scope-definition-lacks-detail-01");
	check_short("d7c0df31-ad91-457f-92cf-c4fc845e3ea4", 40, "d7c0df31");
	/* the first digits of a version 7 are its time */
	check_short("01936f0a-1b2c-7d3e-8f40-5a6b7c8d9e0f", 40, "7c8d9e0f");
	check_short("d7c0df31-ad91-457f-92cf-c4fc845e3ea4/F-1", 40, "d7c0df31/F-1");
	check_short("dev-2:d7c0df31-ad91-457f-92cf-c4fc845e3ea4", 40, "dev-2:d7c0df31");
	check_short("/home/ann/logs/d7c0df31-ad91-457f-92cf-c4fc845e3ea4.jsonl", 20,
		    "…logs/d7c0df31.jsonl");
	check_short("/srv/agents/session.ndjson", 16, "…/session.ndjson");
	/* nearly one */
	check_short("d7c0df31-ad91-457f-92cf-c4fc845e3ea45", 40, "d7c0df31-ad91-457f-92cf-c4fc845e3ea45");
	check_short("d7c0df31-ad91-457f-92cf-c4fc845e3eag", 40, "d7c0df31-ad91-457f-92cf-c4fc845e3eag");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("layout");
	TCase *c = tcase_create("layout"), *files = tcase_create("files");

	setlocale(LC_ALL, "C.UTF-8");
	tcase_add_loop_test(c, words_never_shrink_on_a_wider_screen, 0,
			    sizeof(lists) / sizeof(lists[0]));
	tcase_add_test(c, words_of_the_inbox);
	tcase_add_test(c, messages_tell_from_and_to);
	tcase_add_test(c, the_preview_stands_where_words_have_room);
	tcase_add_test(c, an_empty_list_has_no_preview);
	tcase_add_test(c, the_split_is_what_the_person_wants);
	tcase_add_test(c, a_list_is_left_at_any_size);
	tcase_add_test(c, an_item_does_not_repeat_its_message);
	tcase_add_test(c, the_inbox_is_grouped_by_what_silence_does);
	tcase_add_test(c, headings_are_no_lines);
	tcase_add_checked_fixture(files, make_folder, remove_folder);
	tcase_add_test(files, several_sources_are_one_list);
	tcase_add_test(c, states_differ_without_colours);
	tcase_add_test(c, a_state_does_not_eat_the_words);
	tcase_add_test(c, ids_are_shortened_to_what_tells_them_apart);
	suite_add_tcase(suite, c);
	suite_add_tcase(suite, files);
	return unit_run(suite);
}
