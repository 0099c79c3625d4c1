/* The playback: its clock whatever the recording's clocks did, moving in it, and the truth: as of
 * message k the state is the same by playing, by seeking, by asking for it, and by loading only k
 * messages. */
#include "session/load.h"
#include "cmd/show_json.h"
#include "app/app.h"
#include "app/playback_internal.h"
#include "chance.h"
#include "logs.h"

#include <time.h>
#include <unistd.h>

#define NO TIME_NONE
#define YEAR INT64_C(31536000000)

enum { TIMES_MAX = 16 };

/* Times of messages and the clock that the playback makes of them, in ms; -1 ends the list. */
static const struct {
	const char *what;
	int64_t times[TIMES_MAX], clock[TIMES_MAX];
} clocks[] = {
	{ "forward", { 5000, 6000, 8000, -1 }, { 0, 1000, 3000 } },
	{ "one is behind", { 10000, 5000, 11000, -1 }, { 0, 0, 1000 } },
	{ "two clocks an hour apart, in turn",
	  { 3600000, 0, 3601000, 1000, 3602000, 2000, -1 },
	  { 0, 0, 1000, 1000, 2000, 2000 } },
	{ "set back for good: followed again after eight",
	  { 9000000, 1000, 2000, 3000, 4000, 5000, 6000, 7000, 8000, 9000, 11000, -1 },
	  { 0, 0, 0, 0, 0, 0, 0, 0, 0, 1000, 3000 } },
	{ "stands still", { 7, 7, 7, 7, -1 }, { 0, 1000, 2000, 3000 } },
	{ "one jumps by years: one gap",
	  { 0, 1000, 30 * YEAR, 2000, 3000, 4000, 5000, 6000, 7000, 8000, 9000, 10000, 11000, -1 },
	  { 0, 1000, 30 * YEAR, 30 * YEAR, 30 * YEAR, 30 * YEAR, 30 * YEAR, 30 * YEAR, 30 * YEAR,
	    30 * YEAR, 30 * YEAR, 30 * YEAR + 1000, 30 * YEAR + 2000 } },
	{ "none has a time", { NO, NO, NO, -1 }, { 0, 1000, 2000 } },
	{ "spread over their gap", { 0, NO, NO, 900, 2000, -1 }, { 0, 300, 600, 900, 2000 } },
	{ "at most a second apart", { 0, NO, NO, 60000, -1 }, { 0, 1000, 2000, 60000 } },
	{ "before the first time", { NO, NO, 500, 800, -1 }, { 0, 1000, 2000, 2300 } },
	{ "after the last time", { 100, 200, NO, NO, -1 }, { 0, 100, 1100, 2100 } },
	{ "one time only", { NO, 5, NO, -1 }, { 0, 1000, 2000 } },
	{ "as far apart as can be", { INT64_MIN + 1, INT64_MAX, INT64_MAX, -1 },
	  { 0, INT64_C(1) << 42, INT64_C(1) << 42 } },
	{ "one message", { 77, -1 }, { 0 } },
	{ "no message", { -1 }, { 0 } },
};

static struct model model;
static struct playback playback;

static void open_times(const int64_t *times)
{
	model_init(&model);
	for (; *times != -1; times++)
		model_add_record(&model, (struct record){ .time_ms = *times });
	memset(&playback, 0, sizeof(playback));
	playback_open(&playback, &model, model.records.n);
}

static void close_times(void)
{
	playback_close(&playback);
	model_release(&model);
}

START_TEST(the_clock_is_defined_whatever_the_times)
{
	open_times(clocks[_i].times);
	for (uint32_t i = 0; i < playback.end; i++)
		ck_assert_msg(playback_time_at(&playback, CLOCK_RECORDED, i) == clocks[_i].clock[i], "%s: message %u is at %lld, not %lld",
			      clocks[_i].what, i, (long long)playback_time_at(&playback, CLOCK_RECORDED, i),
			      (long long)clocks[_i].clock[i]);
	close_times();
}
END_TEST

static void open_random(void)
{
	int64_t t = chance(1000000);

	model_init(&model);
	for (uint32_t i = 0, n = 1 + chance(3000); i < n; i++) {
		switch (chance(12)) {
		case 0: t -= chance(100000); break;
		case 1: t += (int64_t)chance(1000) * YEAR / 10; break;
		case 2: break;
		default: t += chance(3000); break;
		}
		model_add_record(&model, (struct record){ .time_ms = chance(6) ? t : TIME_NONE,
							  .errors = chance(50) == 0 });
	}
	memset(&playback, 0, sizeof(playback));
	playback_open(&playback, &model, model.records.n);
}

START_TEST(any_times_make_a_film)
{
	sow(_i);
	open_random();
	for (int skip = 0; skip < 2; skip++) {
		playback_set_skip(&playback, skip, 1 + chance(20000));
		for (uint32_t i = 1; i < playback.end; i++) {
			int64_t gap;

			ck_assert_msg(playback_time_at(&playback, CLOCK_RECORDED, i) >= playback_time_at(&playback, CLOCK_RECORDED, i - 1), TOLD, SEED);
			gap = playback_time_at(&playback, CLOCK_SHORTENED, i) - playback_time_at(&playback, CLOCK_SHORTENED, i - 1);
			ck_assert_msg(gap >= 0 && (!skip || gap <= playback.idle_ms), TOLD, SEED);
		}
	}
	for (int n = 0; n < 200; n++) {
		uint32_t k = chance(playback.end + 1), errors = 0;

		playback_seek(&playback, k);
		for (uint32_t i = 0; i < k; i++)
			errors += model.records.v[i].errors > 0;
		ck_assert_uint_eq(playback_errors(&playback, k), errors);
		ck_assert_msg(playback.now_ms == model_now(&model, k), TOLD, SEED);
	}
	close_times();
}
END_TEST

/* However often one looks, playing is where seeking is; time never goes back, and it ends. */
START_TEST(playing_is_seeking)
{
	static const double speeds[] = { 0.1, 1, 7, 1000 };
	int64_t clock = 0;
	uint32_t k = 0;

	sow(_i);
	open_random();
	playback_seek(&playback, 0);
	playback.speed = speeds[_i % 4];
	playback_play(&playback, clock);
	for (int n = 0; n < 5000 && playback.playing; n++) {
		int64_t now = playback.now_ms;
		struct playback there = playback;

		clock += n < 4990 ? 1 + chance(500) : INT32_MAX;
		ck_assert(playback_tick(&playback, clock));
		ck_assert_msg(playback.k >= k && playback.now_ms >= now, TOLD, SEED);
		playback_seek_play(&there, playback.at_ms);
		ck_assert_msg(there.k == playback.k && there.now_ms == playback.now_ms, TOLD, SEED);
		k = playback.k;
		if (k < playback.end)
			ck_assert_msg((double)playback_time_at(&playback, CLOCK_SHORTENED, k) > playback.at_ms, TOLD, SEED);
	}
	close_times();
}
END_TEST

START_TEST(between_two_messages_time_goes_on)
{
	static const int64_t times[] = { 1000, 2000, 12000, -1 };

	open_times(times);
	playback_set_skip(&playback, true, 4000);
	ck_assert_int_eq(playback.skips, 1);
	ck_assert_int_eq(playback.skipped_ms, 6000);
	ck_assert_int_eq(playback_left_out(&playback, 2), 6000);
	ck_assert_int_eq(playback_left_out(&playback, 1), 0);
	playback_seek_play(&playback, 3000); /* half of the shortened gap */
	ck_assert_uint_eq(playback.k, 2);
	ck_assert_int_eq(playback.now_ms, 7000);
	playback_set_skip(&playback, false, 4000); /* one stays where one is */
	ck_assert_int_eq((int)playback.at_ms, 6000);
	playback_seek_time(&playback, 3000);
	ck_assert_uint_eq(playback.k, 2);
	ck_assert_int_eq(playback.now_ms, 3000);
	playback_seek_by(&playback, 60000);
	ck_assert_uint_eq(playback.k, 3);
	playback_seek_by(&playback, -60000);
	ck_assert_uint_eq(playback.k, 0);
	close_times();
}
END_TEST

START_TEST(a_loop_goes_round)
{
	static const int64_t times[] = { 0, 1000, 2000, 3000, 4000, -1 };
	bool back = false;

	open_times(times);
	playback_seek(&playback, 4);
	playback_loop_here(&playback);
	playback_seek(&playback, 2);
	playback_loop_here(&playback);
	ck_assert_int_eq(playback.loop, LOOP_ON);
	playback_play(&playback, 0);
	for (int t = 100; t < 10000; t += 100) {
		uint32_t k = playback.k;

		playback_tick(&playback, t);
		back |= playback.k < k;
		ck_assert(playback.k >= 2 && playback.k <= 4 && playback.playing);
	}
	ck_assert(back);
	playback_loop_here(&playback);
	ck_assert_int_eq(playback.loop, LOOP_NONE);
	for (int t = 10000; t < 20000; t += 100)
		playback_tick(&playback, t);
	ck_assert(!playback.playing);
	ck_assert_uint_eq(playback.k, 5);
	close_times();
}
END_TEST

START_TEST(the_bar_leads_where_it_shows)
{
	sow(_i);
	open_random();
	for (int cols = 1; cols < 200; cols += 13) {
		const struct playback_bar *bar = playback_bar(&playback, cols);
		uint32_t n = 0, errors = 0;

		for (int c = 0; c < cols; c++) {
			n += bar->n[PLAYBACK_MESSAGE][c];
			errors += bar->n[PLAYBACK_ERROR][c];
			if (playback_length_ms(&playback) > 0)
				ck_assert_int_eq(playback_col(&playback, playback_at_col(&playback, c, cols), cols),
						 cols > 1 ? c : 0);
		}
		ck_assert_uint_eq(n, playback.end);
		ck_assert_uint_eq(errors, playback_errors(&playback, playback.end));
	}
	close_times();
}
END_TEST

/* ---- with the app ---- */

static struct load load;
static struct app app;

static void open_log(const char *path)
{
	memset(&load, 0, sizeof(load));
	ck_assert_int_eq(load_open(&load, &path, 1, 0), 0);
	load_run(&load, NULL, NULL);
	app_init(&app, &load.model, &load.reader, STR("log"), false);
	app_arrived(&app, 1, 1, false);
}

static void close_log(void)
{
	app_release(&app);
	load_release(&load);
}

static void type(const char *keys)
{
	struct str rest = str_of(keys);
	uint32_t code;

	while (rest.n && key_parse(&rest, &code))
		app_key(&app, &(struct key){ .code = code });
	ck_assert_uint_eq(rest.n, 0);
}

START_TEST(keys_move_the_cursor)
{
	struct grid *g = grid_new(24, 80, false);
	uint32_t n, open;
	int row, col;

	open_log(logs[0]);
	n = app.scene.k;
	open = app.open;
	app_draw(&app, g, &row, &col);
	type("R");
	ck_assert_uint_eq(app.scene.k, n);
	type(",");
	ck_assert_uint_eq(app.scene.k, n - 1);
	type("<Home>");
	ck_assert_uint_eq(app.scene.k, 0);
	ck_assert_uint_eq(app.open + app.errors, 0);
	type("..");
	ck_assert_uint_eq(app.scene.k, 2);
	type("i");
	ck_assert(app.playback.marks[app.scene.k - 1] & 1 << PLAYBACK_ITEM);
	ck_assert_uint_gt(app.open, 0);
	type("w");
	ck_assert(app.playback.marks[app.scene.k - 1] & 1 << PLAYBACK_ERROR);
	ck_assert_uint_eq(app.errors, 1);
	type("tbT");
	ck_assert(app.playback.marks[app.scene.k - 1] & 1 << PLAYBACK_ITERATION);
	type(":seek #50<Enter>");
	ck_assert_uint_eq(app.scene.k, 50);
	type(":seek 09:20<Enter>");
	ck_assert_uint_eq(app.scene.k, model_cut_at(&load.model, app.scene.now_ms));
	type(":seek soon<Enter>");
	ck_assert_int_eq(app.notice_role, ROLE_ERROR);
	app.clock_ms = 1000;
	type("<Home> ");
	ck_assert(replay_tick(&app, 61000));
	ck_assert_uint_gt(app.scene.k, 0);
	type(" ");
	ck_assert(!replay_tick(&app, 90000));
	ck_assert_int_eq(replay_wait_ms(&app), -1);
	type("R");
	ck_assert_uint_eq(app.scene.k, n);
	ck_assert_uint_eq(app.open, open);
	ck_assert_int_eq(app.scene.now_ms, model_now(&load.model, n));
	grid_free(g);
	close_log();
}
END_TEST

/* Whatever is typed in a replay, nothing is wished that writes. */
START_TEST(nothing_is_decided_in_a_replay)
{
	struct grid *g = grid_new(30, 100, false);
	int row, col;

	open_log(logs[0]);
	app_draw(&app, g, &row, &col);
	type("R1");
	for (unsigned i = 0; i < app_command_count; i++) {
		const struct app_command *c = &app_commands[i];

		if (strcmp(c->section, "decide") != 0 && strcmp(c->section, "live") != 0)
			continue;
		app_run(&app, str_of(c->name));
		ck_assert_msg(app.effects.n == 0, ":%s", c->name);
		assert_str(buf_str(&app.notice),
			   "replay: nothing is sent; :fork decides on a copy");
		ck_assert_int_eq(app.prompt.kind, PROMPT_NONE);
	}
	grid_free(g);
	close_log();
}
END_TEST

START_TEST(the_mouse_drags_on_the_bar)
{
	struct grid *g = grid_new(24, 80, false);
	struct key key = { .code = KEY_MOUSE, .mouse = MOUSE_PRESS, .button = 1 };
	int row, col;

	open_log(logs[0]);
	type("R");
	app_draw(&app, g, &row, &col);
	key.row = app.bar_rect.row;
	key.col = app.bar_rect.col;
	app_key(&app, &key);
	ck_assert_uint_le(app.scene.k, 3);
	key.mouse = MOUSE_DRAG;
	key.row = 0; /* a hand is not that steady */
	key.col = 500;
	app_key(&app, &key);
	ck_assert_uint_eq(app.scene.k, app.playback.end);
	key.mouse = MOUSE_RELEASE;
	app_key(&app, &key);
	key.mouse = MOUSE_DRAG;
	key.col = 1;
	app_key(&app, &key);
	ck_assert_uint_eq(app.scene.k, app.playback.end);
	grid_free(g);
	close_log();
}
END_TEST

/* ---- the truth ---- */

static char folder[] = "/tmp/gavel-film-XXXXXX";

static void hash_of(struct load *l, uint32_t k, int64_t now_ms, char hex[65])
{
	struct scene s = { .model = &l->model, .k = k, .now_ms = now_ms, .reader = &l->reader };

	state_hash(l, &s, hex);
}

/* The app's scene is what a log that ends there says. */
static void assert_true(const char *path, const char *how)
{
	uint32_t k = app.scene.k;
	const char *prefix = "prefix.ndjson";
	struct load part = { 0 };
	uint32_t due;
	char seen[65], fresh[65];

	write_prefix(path, prefix, bytes_up_to(&load.model, k),
		     k && !(message_route(&load.model, k - 1)->flags & RECORD_TRUNCATED));
	ck_assert_int_eq(load_open(&part, &prefix, 1, 0), 0);
	load_run(&part, NULL, NULL);
	ck_assert_uint_eq(part.model.records.n, app.scene.k);
	ck_assert_uint_eq(app.open, model_open(&part.model, app.scene.k, app.scene.now_ms, &due));
	ck_assert_uint_eq(app.due, due);
	hash_of(&load, app.scene.k, app.scene.now_ms, seen);
	hash_of(&part, app.scene.k, app.scene.now_ms, fresh);
	ck_assert_msg(strcmp(seen, fresh) == 0, "%s: as of #%u of %s %s is %s, loaded %s; " TOLD, how,
		      app.scene.k, path, how, seen, fresh, SEED);
	load_release(&part);
	unlink(prefix);
}

START_TEST(the_state_is_the_same_by_any_way)
{
	int64_t clock = 0;
	char by_seek[65], by_at[65];

	ck_assert_int_eq(chdir(folder), 0);
	sow(_i);
	open_log(logs[_i]);
	replay_open(&app, true);
	for (int n = 0; n < 3; n++) {
		uint32_t k = chance(app.playback.end + 1);
		char where[16];

		snprintf(where, sizeof(where), "#%u", k);
		ck_assert(replay_seek(&app, str_of(where)));
		hash_of(&load, app.scene.k, app.scene.now_ms, by_seek);
		hash_of(&load, k, model_now(&load.model, k), by_at);
		ck_assert_msg(strcmp(by_seek, by_at) == 0, "#%u of %s; " TOLD, k, logs[_i], SEED);
		assert_true(logs[_i], "sought");
	}
	/* from wherever that was, forward and back */
	playback_play(&app.playback, clock);
	for (int n = 0; n < 3; n++) {
		app.playback.speed = 0.1 + chance(1000);
		replay_tick(&app, clock += 1 + chance(3000));
		assert_true(logs[_i], "played");
	}
	close_log();
}
END_TEST

/* What a view shows, made at one go. */
static void picture(const struct view_ops *view, const struct scene *s, struct buf *out)
{
	struct lines lines = { .cols = 100 };
	struct grid *g = grid_new(1, 100, false);

	view->make(s, 100, &lines);
	for (uint32_t i = 0; i < lines.list.n; i++) {
		struct target to = view->target ? view->target(s, &lines, i)
						: (struct target){ TARGET_NONE, 0 };

		grid_clear(g);
		view->draw(s, &lines, i, g, grid_rect(g));
		grid_save(g, out);
		buf_printf(out, "%u: %u %u %u\n", i, line_at(&lines, i).what, to.type, to.number);
	}
	lines_release(&lines);
	grid_free(g);
}

/* What a playback knows of the session changes nothing but the time that takes. */
START_TEST(views_are_those_of_a_walk)
{
	static const struct view_ops *const views[] = { &view_inbox, &view_ledger, &view_agents,
							&view_decisions };
	struct buf quick = { 0 }, walked = { 0 };

	sow(_i);
	open_log(logs[_i]);
	replay_open(&app, true);
	for (int n = 0; n < 12; n++) {
		struct scene s = app.scene;
		unsigned v = chance(sizeof(views) / sizeof(views[0]));

		s.k = chance(app.playback.end + 1);
		s.now_ms = model_now(&load.model, s.k);
		s.all = chance(2);
		buf_clear(&quick);
		buf_clear(&walked);
		picture(views[v], &s, &quick);
		s.asof = NULL;
		picture(views[v], &s, &walked);
		ck_assert_msg(str_eq(buf_str(&quick), buf_str(&walked)),
			      "%s as of #%u of %s:\n%.*s\nby walking:\n%.*s\n" TOLD, views[v]->name, s.k,
			      logs[_i], STR_ARG(buf_str(&quick)), STR_ARG(buf_str(&walked)), SEED);
	}
	buf_release(&quick);
	buf_release(&walked);
	close_log();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("film");
	TCase *t = tcase_create("film"), *truth = tcase_create("truth");
	const char *fixtures = getenv("GAVEL_FIXTURES"), *data = getenv("GAVEL_DATADIR");
	int failed;

	if (!mkdtemp(folder) || !fixtures || !data) {
		puts("Bail out! needs /tmp, GAVEL_FIXTURES and GAVEL_DATADIR");
		return 1;
	}
	add_log(data, "demo.ndjson");
	add_folder(fixtures, "examples");
	add_folder(fixtures, "streams");
	tcase_add_loop_test(t, the_clock_is_defined_whatever_the_times, 0,
			    sizeof(clocks) / sizeof(clocks[0]));
	tcase_add_loop_test(t, any_times_make_a_film, 0, 10);
	tcase_add_loop_test(t, playing_is_seeking, 0, 12);
	tcase_add_test(t, between_two_messages_time_goes_on);
	tcase_add_test(t, a_loop_goes_round);
	tcase_add_loop_test(t, the_bar_leads_where_it_shows, 0, 3);
	tcase_add_test(t, keys_move_the_cursor);
	tcase_add_test(t, nothing_is_decided_in_a_replay);
	tcase_add_test(t, the_mouse_drags_on_the_bar);
	tcase_add_loop_test(truth, the_state_is_the_same_by_any_way, 0, log_count);
	tcase_add_loop_test(truth, views_are_those_of_a_walk, 0, log_count);
	suite_add_tcase(suite, t);
	suite_add_tcase(suite, truth);
	failed = unit_run(suite);
	rmdir(folder);
	for (int i = 0; i < log_count; i++)
		free(logs[i]);
	free(logs);
	return failed;
}
