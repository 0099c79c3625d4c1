/* What one expects of lists: copying, the live filter, completion, counts of matches, sorting,
 * sideways scrolling, bookmarks, the mouse. On the demo, without a terminal. */
#include "session/load.h"
#include "app/app.h"
#include "unit.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>

static struct load load;
static struct app app;
static struct grid *grid;

static void draw(void)
{
	int row, col;

	app_draw(&app, grid, &row, &col);
}

static void open_log(const char *folder, const char *name, int rows, int cols)
{
	struct buf path = { 0 };
	const char *source;

	memset(&load, 0, sizeof(load));
	buf_printf(&path, "%s/%s", getenv(folder), name);
	source = path.p;
	ck_assert_int_eq(load_open(&load, &source, 1, 0), 0);
	app_init(&app, &load.model, &load.reader, STR("demo"), false);
	load_run(&load, NULL, NULL);
	app_arrived(&app, 1, 1, false);
	grid = grid_new(rows, cols, false);
	draw();
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

int main(void)
{
	Suite *suite = suite_create("lists");
	TCase *lists = tcase_create("lists");

	setlocale(LC_ALL, "C.UTF-8");
	tcase_add_test(lists, y_copies_an_id);
	tcase_add_test(lists, Y_copies_the_message);
	tcase_add_test(lists, what_cannot_be_copied_is_said);
	suite_add_tcase(suite, lists);
	return unit_run(suite);
}
