/* The program without a terminal: every screen at every size, any keys in any order, and a
 * selection that stays on its item whatever arrives. */
#include "base/utf8.h"
#include "session/load.h"
#include "app/app.h"
#include "unit.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>

static struct load load;
static struct app app;

static void open_demo(void)
{
	static struct buf path;
	const char *source;

	memset(&load, 0, sizeof(load));
	buf_clear(&path);
	buf_printf(&path, "%s/demo.ndjson", getenv("GAVEL_DATADIR"));
	source = path.p;
	ck_assert_int_eq(load_open(&load, &source, 1, 0), 0);
	app_init(&app, &load.model, &load.reader, STR("demo"), false);
}

static void read_all(void)
{
	load_run(&load, NULL, NULL);
	app_arrived(&app, 1, 1, false);
}

static void close_demo(void)
{
	app_release(&app);
	load_release(&load);
}

static void type(const char *keys)
{
	struct str rest = str_of(keys);
	uint32_t code;

	while (rest.n && key_parse(&rest, &code)) {
		app.clock_ms += 1000; /* nothing is typed ahead */
		app_key(&app, &(struct key){ .code = code });
	}
	ck_assert_uint_eq(rest.n, 0);
}

static const char *const places[] = { "1", "2", "3", "4", "5", "6", "1<Enter>", "4<Enter>", "3jjd",
				      "?", "1O", "1O<Tab>", "2++", ":fil", "4/pass", "R,,",
				      "R<Home>i2" };

START_TEST(every_screen_at_every_size)
{
	struct grid *g = grid_new(1, 1, false);
	int row, col;

	open_demo();
	read_all();
	grid_resize(g, 24, 80);
	app_draw(&app, g, &row, &col);
	type(places[_i]);
	/* the six views at all sizes, the other screens at some of them */
	for (int rows = 1; rows <= 60; rows += _i < TAB_COUNT || rows < 20 ? 1 : 7)
		for (int cols = 1; cols <= 200; cols += _i < TAB_COUNT || cols < 8 ? 1 : 3) {
			grid_resize(g, rows, cols);
			app_draw(&app, g, &row, &col);
			ck_assert_int_lt(row, rows);
			ck_assert_int_lt(col, cols);
		}
	grid_free(g);
	close_demo();
}
END_TEST

START_TEST(any_keys_in_any_order)
{
	struct grid *g = grid_new(24, 80, false);
	uint64_t seed = 0x9e3779b97f4a7c15u * (uint64_t)(_i + 1);
	int row, col;

	open_demo();
	read_all();
	for (int n = 0; n < 3000; n++) {
		struct key key = { 0 };

		seed = seed * 6364136223846793005u + 1442695040888963407u;
		key.code = (uint32_t)(seed >> 40) % 150;
		if (key.code >= 128)
			key.code = KEY_UP + (key.code - 128) % (KEY_PASTE - KEY_UP + 1);
		if (key.code == KEY_MOUSE) {
			key.mouse = (enum mouse_what)((seed >> 20) % 5);
			key.row = (int)((seed >> 8) % 30) - 2;
			key.col = (int)((seed >> 13) % 90) - 2;
			key.button = 1;
		} else if (key.code == KEY_PASTE) {
			key.text = STR("pasted Q\x1b[31m\xff");
		}
		app.clock_ms += n % 3 * 300;
		app_key(&app, &key);
		if (n % 64 == 0)
			grid_resize(g, 10 + (int)(seed >> 50) % 30, 50 + (int)(seed >> 30) % 100);
		app_draw(&app, g, &row, &col);
		app_effects_taken(&app);
	}
	grid_free(g);
	close_demo();
}
END_TEST

struct arriving {
	struct grid *g;
	struct target held;
	uint32_t changes;
};

/* After every message the screen is drawn; what was selected at first must stay so. */
static void arrived(void *ctx, struct load *l, const struct message *msg, const struct record *r)
{
	struct arriving *a = ctx;
	struct target now;
	struct item_state at;
	int row, col;

	(void)msg;
	(void)r;
	app_arrived(&app, 0, 1, true);
	app_draw(&app, a->g, &row, &col);
	now = pane_target(app_list(&app), &app.scene);
	if (a->held.type == TARGET_NONE) {
		a->held = now;
		if (now.type != TARGET_NONE)
			type("jk"); /* from now on it is the person's */
		return;
	}
	if (now.number == a->held.number)
		return;
	/* it may only move when its item is not listed any more */
	ck_assert(item_at(&l->model, &l->model.items.v[a->held.number], app.scene.k, app.scene.now_ms,
			  &at));
	ck_assert_msg(!at.open, "the selection left an open item for another");
	a->held = now;
	a->changes++;
}

static void draw_only(void *ctx, struct load *l, const struct message *msg, const struct record *r)
{
	struct arriving *a = ctx;
	int row, col;

	(void)l;
	(void)msg;
	(void)r;
	app_arrived(&app, 0, 1, true);
	app_draw(&app, a->g, &row, &col);
}

START_TEST(selection_stays_while_messages_arrive)
{
	struct arriving a = { .g = grid_new(24, 80, false), .held = { TARGET_NONE, 0 } };

	open_demo();
	load_run(&load, arrived, &a);
	ck_assert_uint_gt(load.model.records.n, 100);
	ck_assert_uint_gt(a.changes, 0);
	grid_free(a.g);
	close_demo();
}
END_TEST

struct closing {
	struct grid *g;
	uint32_t held, times;
};

static bool notice_says(const char *words)
{
	return str_find(buf_str(&app.notice), str_of(words), 0) >= 0;
}

/* Whenever the log closes the selected item, that is said, and a verb does nothing at first. */
static void close_selected(void *ctx, struct load *l, const struct message *msg,
			   const struct record *r)
{
	struct closing *c = ctx;
	struct target now;
	int row, col;

	(void)l;
	(void)msg;
	(void)r;
	app_arrived(&app, 0, 1, false);
	app.clock_ms += 10000;
	buf_clear(&app.notice);
	app_draw(&app, c->g, &row, &col);
	now = pane_target(app_list(&app), &app.scene);
	if (now.type == TARGET_ITEM && c->held != NONE && now.number != c->held) {
		c->times++;
		ck_assert_msg(notice_says("meanwhile ("), "%s", app.notice.n ? app.notice.p : "");
		ck_assert(notice_says("; another item is selected now"));
		app.clock_ms += MOVED_DEAF_MS - 1;
		app_key(&app, &(struct key){ .code = 'a' });
		ck_assert(notice_says("nothing was done to it"));
		app_key(&app, &(struct key){ .code = 'Q' }); /* typed for a prompt */
		ck_assert_uint_eq(app.effects.n, 0);
		app.clock_ms += REFUSED_DEAF_MS;
		app_key(&app, &(struct key){ .code = 'a' });
		ck_assert(notice_says("no journal"));
	}
	c->held = now.type == TARGET_ITEM ? now.number : NONE;
}

START_TEST(a_verb_is_not_for_the_item_that_took_the_place)
{
	struct closing c = { .g = grid_new(24, 160, false), .held = NONE };

	open_demo();
	load_run(&load, close_selected, &c);
	ck_assert_uint_gt(c.times, 0);
	grid_free(c.g);
	close_demo();
}
END_TEST

/* Filters and views of all items take rows away, too: then nothing was closed. */
START_TEST(a_row_that_a_filter_hides_was_not_closed)
{
	struct grid *g = grid_new(24, 80, false);
	int row, col;

	open_demo();
	read_all();
	app_draw(&app, g, &row, &col);
	type("jjj\\-kind:escalation<Enter>");
	app_draw(&app, g, &row, &col);
	ck_assert(!notice_says("meanwhile"));
	app_key(&app, &(struct key){ .code = 'a' });
	ck_assert(notice_says("no journal"));
	grid_free(g);
	close_demo();
}
END_TEST

/* The number of the first item that the log closes, and how many messages there are then. */
static uint32_t first_closed(uint32_t *k)
{
	struct item_state at;

	for (*k = 1; *k <= load.model.records.n; ++*k)
		for (uint32_t i = 0; i < load.model.items.n; i++)
			if (item_at(&load.model, &load.model.items.v[i], *k - 1, TIME_NONE, &at) &&
			    at.open &&
			    item_at(&load.model, &load.model.items.v[i], *k, TIME_NONE, &at) &&
			    !at.open && item_by(&load.model, &at).n)
				return i;
	return NONE;
}

/* The demo with a draft on the first item that its log closes; returns the message that does. */
static uint32_t open_demo_with(struct desks *desks, struct draft *draft)
{
	struct desk desk = { 0 };
	uint32_t k;

	open_demo();
	read_all();
	draft->number = first_closed(&k);
	ck_assert_uint_ne(draft->number, NONE);
	vec_push(&desk.drafts, *draft);
	vec_push(&desks->list, desk);
	app.scene.desks = desks;
	return k;
}

static void close_demo_with(struct desks *desks)
{
	app.scene.desks = NULL;
	vec_release(&desks->list.v[0].drafts);
	vec_release(&desks->list);
	close_demo();
}

START_TEST(a_staged_decision_that_the_log_overtakes_is_told)
{
	struct desks desks = { 0 };
	struct draft draft = { .verb = VERB_ACCEPT, .state = DRAFT_STAGED };
	uint32_t k = open_demo_with(&desks, &draft);

	app.scene.k = k - 1;
	decide_note_overtaken(&app, k - 1);
	ck_assert_uint_eq(app.notice.n, 0);
	app.scene.k = k;
	decide_note_overtaken(&app, k - 1);
	ck_assert(notice_says(" was decided by "));
	ck_assert(notice_says("; your accept is not sent; u undoes it"));
	buf_clear(&app.notice);
	decide_note_overtaken(&app, k); /* once */
	ck_assert_uint_eq(app.notice.n, 0);
	close_demo_with(&desks);
}
END_TEST

START_TEST(an_answer_to_what_was_escalated_is_told)
{
	struct desks desks = { 0 };
	struct draft draft = { .verb = VERB_ESCALATE, .state = DRAFT_WRITTEN };
	uint32_t k = open_demo_with(&desks, &draft);

	app.scene.k = k;
	decide_note_answered(&app, k - 1); /* it was open, and not escalated, before */
	ck_assert_uint_eq(app.notice.n, 0);
	model_overlay(&load.model, &(struct overlay){ .item = draft.number, .from = k - 1, .by = NONE,
						      .verdict = VERDICT_ESCALATED,
						      .delivery = DELIVERY_SENT });
	decide_note_answered(&app, k - 1);
	ck_assert(notice_says(" answered what you escalated: "));
	buf_clear(&app.notice);
	decide_note_answered(&app, k); /* once */
	ck_assert_uint_eq(app.notice.n, 0);
	app.scene.k = k - 1;
	decide_note_answered(&app, k - 1);
	ck_assert_uint_eq(app.notice.n, 0);
	close_demo_with(&desks);
}
END_TEST

START_TEST(a_jump_ends_following)
{
	struct grid *g = grid_new(24, 120, false);
	int row, col;

	open_demo();
	read_all();
	app_draw(&app, g, &row, &col);
	type("f!"); /* the list of messages has not been made yet */
	app_draw(&app, g, &row, &col);
	ck_assert(!app.follows);
	ck_assert_uint_lt(app_list(&app)->selected + 1, app_list(&app)->lines.list.n);
	type("4f");
	app_draw(&app, g, &row, &col);
	ck_assert(app.follows);
	type("1!");
	app_draw(&app, g, &row, &col);
	ck_assert_int_eq(app.tab, TAB_MESSAGES);
	ck_assert(!app.follows);
	ck_assert_uint_lt(app_list(&app)->selected + 1, app_list(&app)->lines.list.n);
	grid_free(g);
	close_demo();
}
END_TEST

/* Whoever has not moved yet finds the most urgent item selected when all is read. */
START_TEST(a_list_that_nobody_touched_starts_at_its_top)
{
	struct grid *g = grid_new(24, 80, false);
	struct arriving a = { .g = g, .held = { TARGET_ITEM, UINT32_MAX } };
	int row, col;

	open_demo();
	app.scene.reading = true;
	load_run(&load, draw_only, &a);
	app_arrived(&app, 1, 1, false);
	app_draw(&app, g, &row, &col);
	ck_assert_uint_eq(app_list(&app)->selected, 0);
	grid_free(g);
	close_demo();
}
END_TEST

static bool shows(struct grid *g, const char *words)
{
	struct buf screen = { 0 };
	int row, col;
	bool found;

	app_draw(&app, g, &row, &col);
	grid_save(g, &screen);
	found = str_find(buf_str(&screen), str_of(words), 0) >= 0;
	buf_release(&screen);
	return found;
}

/* That nothing waits is told only when all is read. */
START_TEST(an_empty_list_says_that_more_is_to_come)
{
	struct grid *g = grid_new(24, 80, false);

	open_demo();
	app_arrived(&app, 0, 1, true);
	ck_assert(shows(g, "still reading") && !shows(g, "Nothing waits"));
	app_arrived(&app, 1, 1, false);
	ck_assert(!shows(g, "still reading") && shows(g, "Nothing waits"));
	read_all();
	ck_assert(!shows(g, "Nothing waits"));
	grid_free(g);
	close_demo();
}
END_TEST

/* What is typed while a list is being made, and where that stops. */
struct hurry {
	struct grid *g;
	const char *keys;
	unsigned takes;
};

/* Every message passes, but is looked at: without a filter they are listed too fast for a
 * step. */
static void look_at_each(void)
{
	app_run(&app, STR("filter -nosuchword"));
}

/* In steps that are as short as can be. */
static void make_list(struct hurry *h)
{
	int row, col;

	app.list_until_ms = 0;
	while (!app_list_step(&app, 0)) {
		if (h->takes++ == 1)
			type(h->keys);
		app_draw(&app, h->g, &row, &col);
	}
}

static const char *const meanwhile[] = { "", "jj", "1j3", ":filter kind:finding<Enter>",
					 ":filter a<Enter>:filter b<Enter><Esc>", "<Enter>q", "AA", "O<Tab>",
					 "/x<Enter>n", ":20<Enter>!~oq" };

/* Keys go on while a list is being made; in the end the screen is that of one made at once. */
START_TEST(long_lists_are_made_between_keys)
{
	struct hurry h = { .g = grid_new(24, 120, false), .keys = meanwhile[_i] };
	struct buf got = { 0 }, want = { 0 };
	int row, col;

	open_demo();
	read_all();
	look_at_each();
	app.list_until_ms = 0;
	app_draw(&app, h.g, &row, &col);
	type("4j");
	app_draw(&app, h.g, &row, &col);
	ck_assert(!app_is_settled(&app));
	ck_assert_uint_eq(app_list(&app)->lines.list.n, 0);
	make_list(&h);
	ck_assert_uint_gt(h.takes, 1);
	app_draw(&app, h.g, &row, &col);
	grid_save(h.g, &got);
	app.list_until_ms = INT64_MAX;
	app_invalidate(&app);
	app_draw(&app, h.g, &row, &col);
	grid_save(h.g, &want);
	ck_assert_msg(str_eq(buf_str(&got), buf_str(&want)), "%.*s\n%.*s", STR_ARG(buf_str(&got)),
		      STR_ARG(buf_str(&want)));
	buf_release(&got);
	buf_release(&want);
	grid_free(h.g);
	close_demo();
}
END_TEST

START_TEST(a_move_in_the_old_list_is_kept)
{
	struct hurry h = { .g = grid_new(24, 120, false), .keys = "jjj" };
	int row, col;

	open_demo();
	read_all();
	look_at_each();
	app_draw(&app, h.g, &row, &col);
	type("4");
	app_draw(&app, h.g, &row, &col);
	app.lists[TAB_MESSAGES].made = false; /* as when messages arrive where nobody has moved */
	app.stale[TAB_MESSAGES] = true;
	make_list(&h);
	ck_assert(app_is_settled(&app));
	ck_assert_uint_eq(app_list(&app)->selected, 3);
	grid_free(h.g);
	close_demo();
}
END_TEST

START_TEST(a_list_nobody_waits_for_is_made_later)
{
	struct hurry h = { .g = grid_new(24, 120, false), .keys = "1" };
	int row, col;

	open_demo();
	read_all();
	look_at_each();
	app_draw(&app, h.g, &row, &col);
	type("4");
	app_draw(&app, h.g, &row, &col);
	app.stale[TAB_MESSAGES] = true;
	make_list(&h);
	ck_assert(app_is_settled(&app)); /* the inbox is as it was */
	ck_assert_uint_gt(app.lists[TAB_MESSAGES].lines.list.n, 0);
	type("4");
	ck_assert(!app_is_settled(&app));
	grid_free(h.g);
	close_demo();
}
END_TEST

/* There is no journal here. */
START_TEST(decision_keys_change_nothing)
{
	struct grid *g = grid_new(24, 80, false);
	struct buf before = { 0 }, after = { 0 };
	const char *keys = "axpe=D$cC;u";
	int row, col;

	open_demo();
	read_all();
	app_draw(&app, g, &row, &col);
	grid_save(g, &before);
	for (const char *k = keys; *k; k++) {
		app.clock_ms += 1000;
		app_key(&app, &(struct key){ .code = (uint32_t)*k });
		ck_assert_uint_gt(app.notice.n, 0);
		ck_assert_msg(str_starts(buf_str(&app.notice), STR("read-only")) == (k - keys < 7),
			      "%c says %.*s", *k, STR_ARG(buf_str(&app.notice)));
	}
	ck_assert_uint_eq(app.effects.n, 0);
	buf_clear(&app.notice);
	app_draw(&app, g, &row, &col);
	grid_save(g, &after);
	ck_assert(str_eq(buf_str(&before), buf_str(&after)));
	buf_release(&before);
	buf_release(&after);
	grid_free(g);
	close_demo();
}
END_TEST

/* Every verb is refused here, for there is no journal; ; is, for nothing is marked. The words that
 * follow are printable, Enter and a paste, however long they are typed; other keys work, and all do
 * after a pause or Esc. */
START_TEST(words_typed_behind_a_refused_verb_do_nothing)
{
	struct grid *g = grid_new(24, 80, false);
	const char *keys = "axpe=DC;c";
	const char *words = "wait, Q2jM";
	struct buf refusal = { 0 };
	int row, col;

	open_demo();
	read_all();
	app_draw(&app, g, &row, &col);
	for (const char *k = keys; *k; k++) {
		app.clock_ms += REFUSED_DEAF_MS;
		app_key(&app, &(struct key){ .code = (uint32_t)*k });
		buf_clear(&refusal);
		buf_add_str(&refusal, buf_str(&app.notice));
		ck_assert_uint_gt(refusal.n, 0);
		for (const char *w = words; *w; w++) {
			app.clock_ms += REFUSED_DEAF_MS - 1;
			app_key(&app, &(struct key){ .code = (uint32_t)*w });
		}
		app_key(&app, &(struct key){ .code = 0x1f600 });
		app_key(&app, &(struct key){ .code = KEY_PASTE, .text = STR("words") });
		app_key(&app, &(struct key){ .code = KEY_ENTER });
		ck_assert_uint_eq(app.effects.n, 0);
		ck_assert_int_eq(app.prompt.kind, PROMPT_NONE);
		ck_assert_uint_eq(app.screen_count, 0);
		ck_assert_int_eq(app.tab, TAB_INBOX);
		ck_assert_uint_eq(app.deciding.triage.marked.n, 0);
		ck_assert_msg(notice_says("typing ignored (Esc): ") && notice_says(refusal.p), "%c",
			      *k);
		app_key(&app, &(struct key){ .code = KEY_DOWN });
		ck_assert_uint_eq(app_list(&app)->selected, 1);
		if ((k - keys) % 2)
			app_key(&app, &(struct key){ .code = KEY_ESCAPE });
		else
			app.clock_ms += REFUSED_DEAF_MS;
		app_key(&app, &(struct key){ .code = 'k' });
		ck_assert_uint_eq(app_list(&app)->selected, 0);
	}
	buf_release(&refusal);
	grid_free(g);
	close_demo();
}
END_TEST

START_TEST(the_next_line_takes_the_place_of_one_that_goes)
{
	struct grid *g = grid_new(24, 80, false);
	struct buf name = { 0 };
	struct target t;
	int row, col;

	open_demo();
	read_all();
	app_draw(&app, g, &row, &col);
	type("jjj"); /* the second of two escalations, before a question */
	type("\\-kind:escalation<Enter>");
	app_draw(&app, g, &row, &col);
	t = pane_target(app_list(&app), &app.scene);
	ck_assert_int_eq(t.type, TARGET_ITEM);
	item_name(app.scene.model, &app.scene.model->items.v[t.number], &name);
	ck_assert_msg(str_is(buf_str(&name), "a145cf9a-9184-404f-a100-4bdc1f32f250"), "%.*s", STR_ARG(buf_str(&name)));
	buf_release(&name);
	grid_free(g);
	close_demo();
}
END_TEST

START_TEST(pastes_and_unknown_keys_are_no_commands)
{
	struct grid *g = grid_new(24, 80, false);
	int row, col;

	open_demo();
	read_all();
	app_draw(&app, g, &row, &col);
	app_key(&app, &(struct key){ .code = KEY_PASTE, .text = STR("2Q:quit\r") });
	app_key(&app, &(struct key){ .code = KEY_F1 + 5 });
	ck_assert_int_eq(app.tab, TAB_INBOX);
	ck_assert_uint_eq(app.effects.n, 0);
	/* in a prompt a paste is text */
	type(":");
	app_key(&app, &(struct key){ .code = KEY_PASTE, .text = STR("caf\xe9") });
	ck_assert_uint_eq(app.prompt.text.n, 0);
	ck_assert(strstr(app.notice.p, "the pasted text is not UTF-8: byte 4 is 0xe9") != NULL);
	type("<Esc>/");
	app_key(&app, &(struct key){ .code = KEY_PASTE, .text = STR("pass\nkey") });
	ck_assert(str_is(buf_str(&app.prompt.text), "passkey"));
	grid_free(g);
	close_demo();
}
END_TEST

START_TEST(keys_can_be_bound_anew)
{
	open_demo();
	ck_assert(app_bind(&app, 'X', "filter kind:question"));
	ck_assert(!app_bind(&app, 'X', "nonsense"));
	app.list_rect = (struct rect){ 0, 0, 20, 80 };
	read_all();
	type("X");
	ck_assert(str_is(buf_str(&app.filter_text), "kind:question"));
	ck_assert(app_bind(&app, 'Q', NULL));
	type("Q");
	ck_assert_uint_eq(app.effects.n, 0);
	close_demo();
}
END_TEST

static void says(const char *want)
{
	ck_assert_msg(str_find(buf_str(&app.notice), str_of(want), 0) >= 0, "%s: %.*s", want,
		      STR_ARG(buf_str(&app.notice)));
}

/* The beginning of a name is enough where only one begins so; which one is never guessed. */
START_TEST(commands_by_their_beginning)
{
	struct grid *g = grid_new(24, 80, false);
	int row, col;

	open_demo();
	read_all();
	app_draw(&app, g, &row, &col);
	app_run(&app, STR("timel"));
	ck_assert_int_eq(app.tab, TAB_TIMELINE);
	app_run(&app, STR("mark"));
	ck_assert_int_eq(app.tab, TAB_TIMELINE);
	for (char c = 'a'; c <= 'z'; c++) {
		unsigned n = 0;

		for (unsigned i = 0; i < app_command_count; i++)
			n += app_commands[i].name[0] == c;
		if (n < 2 || c == 'q')
			continue;
		buf_clear(&app.notice);
		app_run(&app, str_make(&c, 1));
		says("commands begin with");
		ck_assert_uint_eq(app.effects.n, 0);
	}
	app_run(&app, STR("xyzzy"));
	says("no command \"xyzzy\"");
	app_run(&app, STR("99999999999"));
	ck_assert_uint_eq(app_list(&app)->selected, app_list(&app)->lines.list.n - 1);
	app_run(&app, STR("q"));
	ck_assert_uint_eq(app.effects.n, 1);
	ck_assert_int_eq(app.effects.v[0].type, EFFECT_QUIT);
	grid_free(g);
	close_demo();
}
END_TEST

/* Runs a line that wishes one thing, from memory that is gone before it is looked at. */
static const struct effect *effect_of(const char *line)
{
	char *copy = str_dup(str_of(line));

	app_effects_taken(&app);
	app_run(&app, str_make(copy, strlen(copy)));
	memset(copy, 'X', strlen(copy));
	free(copy);
	ck_assert_msg(app.effects.n == 1, "%s: %u effects", line, app.effects.n);
	return &app.effects.v[0];
}

static void orders(const char *line, unsigned type, const char *agent, const char *task,
		   const char *reason)
{
	const struct effect *e = effect_of(line);

	ck_assert_int_eq(e->type, EFFECT_AGENT);
	ck_assert_uint_eq(e->order.type, type);
	ck_assert_msg(str_is(e->order.agent, agent), "%s: %.*s", line, STR_ARG(e->order.agent));
	ck_assert_msg(str_is(e->order.task, task), "%s: %.*s", line, STR_ARG(e->order.task));
	ck_assert_msg(str_is(e->order.reason, reason), "%s: %.*s", line, STR_ARG(e->order.reason));
}

static void tells(const char *line, enum session_command_type type, const char *target, const char *reason)
{
	const struct effect *e = effect_of(line);

	ck_assert_int_eq(e->type, EFFECT_TELL);
	ck_assert_int_eq(e->tell.type, type);
	ck_assert_msg(str_is(e->tell.target, target), "%s: %.*s", line, STR_ARG(e->tell.target));
	ck_assert_msg(str_is(e->tell.reason, reason), "%s: %.*s", line, STR_ARG(e->tell.reason));
}

START_TEST(arguments_are_parsed_once)
{
	struct grid *g = grid_new(24, 80, false);
	struct desk desk = { .access = DESK_WRITES };
	struct desks desks = { 0 };
	const struct effect *e;
	int row, col;

	open_demo();
	read_all();
	app_draw(&app, g, &row, &col);
	orders("stop", ORDER_STOP, "", "", "");
	orders("stop  my agent ", ORDER_STOP, "my agent", "", "");
	orders("restart coder", ORDER_RESTART, "coder", "", "");
	orders("cancel", ORDER_CANCEL, "", "", "");
	orders("cancel T-1", ORDER_CANCEL, "", "T-1", "");
	orders("cancel  T-1   too  late ", ORDER_CANCEL, "", "T-1", "too  late");
	orders("assign T-1", ORDER_ASSIGN, "", "T-1", "");
	orders("assign T-1 my agent", ORDER_ASSIGN, "my agent", "T-1", "");
	ck_assert_int_eq(effect_of("retry")->turn, TURN_RETRY);
	ck_assert_int_eq(effect_of("give-up")->turn, TURN_GIVE_UP);
	ck_assert_int_eq(effect_of("edit")->turn, TURN_EDIT);
	ck_assert_str_eq(effect_of("save-screen a file")->file, "a file");

	app_effects_taken(&app);
	app_run(&app, STR("abort T-1 late"));
	says("read-only: nothing can be sent");
	ck_assert_uint_eq(app.effects.n, 0);
	vec_push(&desks.list, desk);
	app.scene.desks = &desks;
	tells("abort T-1  too late", SESSION_ABORT_TASK, "T-1", "too late");
	tells("abort", SESSION_ABORT_TASK, "", "");
	tells("query an agent", SESSION_STATUS, "an agent", "");
	app_show_tab(&app, TAB_MESSAGES);
	app_draw(&app, g, &row, &col);
	e = effect_of("acknowledge");
	ck_assert_int_eq(e->tell.type, SESSION_ACKNOWLEDGE);
	ck_assert_uint_eq(e->tell.message, pane_target(app_list(&app), &app.scene).number);
	vec_release(&desks.list);
	app.scene.desks = NULL;
	grid_free(g);
	close_demo();
}
END_TEST

/* Which agent a prompt is for, and the line that it is typed into. */
START_TEST(agents_are_prompted)
{
	struct life lives[] = { { .group = STR("one") }, { .group = STR("two") } };
	struct grid *g = grid_new(24, 80, false);
	const struct effect *e;
	int row, col;

	open_demo();
	read_all();
	app_draw(&app, g, &row, &col);
	type("i");
	says("gavel runs no agent here");
	app.scene.lives = lives;
	app.scene.life_n = 2;
	app_run(&app, STR("prompt do it"));
	says("which agent?");
	e = effect_of("prompt two  do \"it\" all");
	ck_assert_int_eq(e->type, EFFECT_AGENT);
	ck_assert_int_eq(e->order.type, ORDER_PROMPT);
	assert_str(e->order.agent, "two");
	assert_str(e->order.text, "do \"it\" all");
	e = effect_of("mode one plan");
	ck_assert_int_eq(e->order.type, ORDER_MODE);
	assert_str(e->order.agent, "one");
	assert_str(e->order.text, "plan");
	ck_assert_int_eq(effect_of("interrupt two")->order.type, ORDER_INTERRUPT);
	app.scene.life_n = 1; /* it need not be named */
	e = effect_of("prompt two words");
	assert_str(e->order.agent, "one");
	assert_str(e->order.text, "two words");
	app_effects_taken(&app);
	type("i");
	ck_assert_int_eq(app.prompt.kind, PROMPT_AGENT);
	app_draw(&app, g, &row, &col);
	type("go on<Enter>");
	ck_assert_uint_eq(app.effects.n, 1);
	assert_str(app.effects.v[0].order.agent, "one");
	assert_str(app.effects.v[0].order.text, "go on");
	app_effects_taken(&app);
	type("i<Enter>");
	ck_assert_uint_eq(app.effects.n, 0);
	app.scene.lives = NULL;
	app.scene.life_n = 0;
	grid_free(g);
	close_demo();
}
END_TEST

/* n goes round and says so; in a text it also goes on among matches that are all on its last
 * page. */
START_TEST(searches_go_round)
{
	struct grid *g = grid_new(24, 80, false);
	uint32_t first;
	int row, col;

	open_demo();
	read_all();
	app_draw(&app, g, &row, &col);
	type("/pk-4<Enter>");
	ck_assert_uint_eq(app.notice.n, 0);
	type("n");
	says("only match");
	type("/question<Enter>G");
	app_draw(&app, g, &row, &col);
	type("n");
	says("wrapped to the top");
	type("N");
	says("wrapped to the end");
	type("4:204<Enter><Enter>");
	app_draw(&app, g, &row, &col);
	type("/\"label<Enter>");
	app_draw(&app, g, &row, &col);
	first = app_screen(&app)->pane.found;
	ck_assert_uint_gt(first, 0);
	type("n");
	app_draw(&app, g, &row, &col);
	ck_assert_uint_gt(app_screen(&app)->pane.found, first);
	type("n");
	says("wrapped to the top");
	ck_assert_uint_eq(app_screen(&app)->pane.found, first);
	grid_free(g);
	close_demo();
}
END_TEST

/* What was found in the message is seen, too. */
START_TEST(the_preview_shows_what_was_found)
{
	struct grid *g = grid_new(24, 80, false);
	struct buf screen = { 0 };
	int row, col;

	open_demo();
	read_all();
	app_draw(&app, g, &row, &col);
	type("1gj/try again at noon<Enter>");
	app_draw(&app, g, &row, &col);
	ck_assert_uint_eq(app_list(&app)->selected, 0);
	grid_save(g, &screen);
	ck_assert_int_ge(str_find(buf_str(&screen), STR("try again at noon"), 0), 0);
	buf_release(&screen);
	grid_free(g);
	close_demo();
}
END_TEST

START_TEST(what_is_open_is_not_opened_again)
{
	struct grid *g = grid_new(24, 80, false);
	int row, col;

	open_demo();
	read_all();
	app_draw(&app, g, &row, &col);
	type("<Enter>dd??");
	ck_assert_uint_eq(app.screen_count, 3);
	type("qqqj2++--");
	ck_assert_int_eq(app.scene.to_ms, 0); /* all of the time axis again */
	grid_free(g);
	close_demo();
}
END_TEST

/* A question that a resize took away is no more to be read. */
START_TEST(a_resize_takes_a_question_with_its_words)
{
	struct grid *g = grid_new(24, 80, false);
	int row, col;

	open_demo();
	read_all();
	app_draw(&app, g, &row, &col);
	type(":14<Enter>v");
	says("open \"web/src/signin/SignInForm.tsx\" in $EDITOR?");
	app_resize(&app, 30, 100);
	ck_assert_uint_eq(app.notice.n, 0);
	type("y");
	ck_assert_uint_eq(app.effects.n, 1); /* not an edit */
	ck_assert_int_eq(app.effects.v[0].type, EFFECT_COPY);
	says("copied review-PK-3/F-1");
	grid_free(g);
	close_demo();
}
END_TEST

START_TEST(what_is_put_off_can_be_had_back)
{
	struct grid *g = grid_new(24, 80, false);
	struct line at;
	int row, col;

	open_demo();
	read_all();
	app_draw(&app, g, &row, &col);
	type(":8<Enter>");
	at = app_list(&app)->at;
	type("z");
	says("snoozed");
	app_draw(&app, g, &row, &col);
	ck_assert_uint_eq(app_list(&app)->lines.list.n, 21);
	type("AK"); /* the one before is the one that was snoozed */
	app_draw(&app, g, &row, &col);
	ck_assert_uint_eq(app_list(&app)->at.a, at.a);
	type("zA");
	app_draw(&app, g, &row, &col);
	ck_assert_uint_eq(app_list(&app)->lines.list.n, 22);
	grid_free(g);
	close_demo();
}
END_TEST

START_TEST(every_command_has_its_own_keys)
{
	for (unsigned i = 0; i < app_command_count; i++) {
		struct str a = str_of(app_commands[i].keys);
		uint32_t key, other;

		while (a.n && key_parse(&a, &key))
			for (unsigned k = i + 1; k < app_command_count; k++) {
				struct str b = str_of(app_commands[k].keys);

				/* a playback's keys come before the others, while it is open */
				if ((app_commands[i].where == IN_REPLAY) !=
				    (app_commands[k].where == IN_REPLAY))
					continue;
				while (b.n && key_parse(&b, &other))
					ck_assert_msg(key != other, "%s and %s share a key",
						      app_commands[i].name, app_commands[k].name);
			}
	}
}
END_TEST

/* A key that no command has by itself: a letter of the Cyrillic alphabet for each. */
static uint32_t own_key(unsigned command)
{
	return 0x410 + command;
}

static struct buf old_keys; /* their names, a line each */

/* No built-in key is left; each command has one that is its own. */
static void bind_all_anew(void)
{
	ck_assert_uint_lt(app_command_count, 0x100);
	buf_clear(&old_keys);
	while (app.keymap.list.n) {
		buf_addc(&old_keys, '\n');
		key_label(app.keymap.list.v[0].key, &old_keys);
		ck_assert(app_bind(&app, app.keymap.list.v[0].key, NULL));
	}
	buf_addc(&old_keys, '\n');
	for (unsigned i = 0; i < app_command_count; i++)
		ck_assert(app_bind(&app, own_key(i), app_commands[i].name));
}

static void add_row(struct grid *g, int row, struct buf *out)
{
	char bytes[4];

	for (int c = 0; c < g->cols; c++)
		buf_add(out, bytes, utf8_encode(grid_at(g, row, c)->cell.base, bytes));
}

/* Whether a word of a text is the name of a built-in key. Prompts have keys of their own, y answers
 * questions, a is also a word, / stands between two words, [ and ] are drawn, and a number need not
 * be a view. */
static bool is_old_key(struct str word, bool numbers)
{
	static const char *const others[] = { "a", "y", "/", "[", "]", "Enter", "Esc", "Tab", "↑" };
	struct buf line = { 0 };
	bool old;

	while (word.n > 1 && word.p[0] == '(')
		word = str_from(word, 1);
	while (word.n > 1 && strchr(".,;:)", word.p[word.n - 1]))
		word.n--;
	if (!word.n || (!numbers && word.p[0] >= '0' && word.p[0] <= '9'))
		return false;
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (str_is(word, others[i]))
			return false;
	buf_printf(&line, "\n%.*s\n", STR_ARG(word));
	old = str_find(buf_str(&old_keys), buf_str(&line), 0) >= 0;
	buf_release(&line);
	return old;
}

static void names_no_old_key(struct str text, bool numbers, const char *where)
{
	struct str rest = text;

	while (rest.n) {
		ptrdiff_t blank = str_find(rest, STR(" "), 0);
		struct str word = blank < 0 ? rest : str_make(rest.p, (size_t)blank);

		ck_assert_msg(!is_old_key(word, numbers), "%s: %.*s is bound no more: %.*s", where,
			      STR_ARG(word), STR_ARG(text));
		rest = blank < 0 ? STR_NONE : str_from(rest, (size_t)blank + 1);
	}
}

/* The tabs, the keys that matter here, and the message line. */
static void check_screen(struct grid *g, const char *where)
{
	struct buf text = { 0 };
	int row, col;

	app_draw(&app, g, &row, &col);
	add_row(g, 1, &text);
	names_no_old_key(buf_str(&text), true, where);
	buf_clear(&text);
	add_row(g, g->rows - 2, &text);
	names_no_old_key(buf_str(&text), false, where);
	names_no_old_key(buf_str(&app.notice), false, where);
	buf_release(&text);
}

static const char *const ways[] = { "inbox", "timeline", "ledger", "messages", "agents", "decisions",
				    "inbox|open", "messages|open", "inbox|diff", "help", "recover",
				    "filter nosuchword", "inbox|mark", "replay", "replay|timeline",
				    "replay|inbox|open", "messages|search a" };

/* Every command, wherever one may be. */
START_TEST(hints_name_the_keys_in_force)
{
	struct grid *g = grid_new(24, 200, false);

	open_demo();
	read_all();
	for (unsigned i = 0; i < app_command_count; i++) {
		struct str rest = str_of(ways[_i]);

		app_release(&app);
		app_init(&app, &load.model, &load.reader, STR("demo"), false);
		app_arrived(&app, 1, 1, false);
		bind_all_anew();
		while (rest.n) {
			ptrdiff_t bar = str_find(rest, STR("|"), 0);

			check_screen(g, ways[_i]);
			app_run(&app, bar < 0 ? rest : str_make(rest.p, (size_t)bar));
			rest = bar < 0 ? STR_NONE : str_from(rest, (size_t)bar + 1);
		}
		check_screen(g, ways[_i]);
		app_key(&app, &(struct key){ .code = own_key(i) });
		check_screen(g, app_commands[i].name);
	}
	close_demo();
	grid_free(g);
}
END_TEST

static void status_says(struct grid *g, const char *want)
{
	struct buf text = { 0 };
	int row, col;

	app_draw(&app, g, &row, &col);
	add_row(g, g->rows - 2, &text);
	ck_assert_msg(str_find(buf_str(&text), str_of(want), 0) >= 0, "%s: %.*s", want,
		      STR_ARG(buf_str(&text)));
	buf_release(&text);
}

START_TEST(hints_prefer_built_in_keys)
{
	struct grid *g = grid_new(24, 160, false);

	open_demo();
	read_all();
	/* a second key changes nothing, and neither does one with an argument */
	app_bind(&app, 'X', "open");
	app_bind(&app, 'Y', "all now");
	status_says(g, " Enter open  J K open item  A every item ");
	/* without the first of two, the second; without both, the person's; without any, the command */
	type("?");
	status_says(g, " q back  j k scroll");
	app_bind(&app, 'q', NULL);
	app_bind(&app, 'j', "quit");
	app_bind(&app, 'k', "quit");
	status_says(g, " Esc back  ↓ ↑ scroll");
	app_bind(&app, KEY_ESCAPE, NULL);
	app_bind(&app, KEY_F1, "back");
	status_says(g, " F1 back  ↓ ↑ scroll");
	app_bind(&app, KEY_F1, NULL);
	status_says(g, " :back back  ↓ ↑ scroll");
	/* names of keys are no formats */
	app_bind(&app, 'Q', NULL);
	app_bind(&app, 'j', NULL);
	app_bind(&app, 'k', NULL);
	app_bind(&app, '%', "quit");
	app_bind(&app, '?', NULL);
	app_bind(&app, '{', "help");
	type("<C-c>");
	says("% quits");
	type("<C-x>");
	says("key not bound here; { lists keys");
	/* what is quoted is not read for commands */
	app_run(&app, STR("{accept}"));
	says("no command \"{accept}\"; Tab completes, { lists them");
	grid_free(g);
	close_demo();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("app");
	TCase *screens = tcase_create("screens"), *keys = tcase_create("keys");

	setlocale(LC_ALL, "C.UTF-8");
	tcase_add_loop_test(screens, every_screen_at_every_size, 0,
			    sizeof(places) / sizeof(places[0]));
	tcase_add_test(screens, selection_stays_while_messages_arrive);
	tcase_add_test(keys, a_verb_is_not_for_the_item_that_took_the_place);
	tcase_add_test(keys, a_row_that_a_filter_hides_was_not_closed);
	tcase_add_test(keys, a_staged_decision_that_the_log_overtakes_is_told);
	tcase_add_test(keys, an_answer_to_what_was_escalated_is_told);
	tcase_add_test(keys, a_jump_ends_following);
	tcase_add_test(screens, a_list_that_nobody_touched_starts_at_its_top);
	tcase_add_test(screens, an_empty_list_says_that_more_is_to_come);
	tcase_add_test(screens, the_next_line_takes_the_place_of_one_that_goes);
	tcase_add_loop_test(screens, long_lists_are_made_between_keys, 0,
			    sizeof(meanwhile) / sizeof(meanwhile[0]));
	tcase_add_test(screens, a_move_in_the_old_list_is_kept);
	tcase_add_test(screens, a_list_nobody_waits_for_is_made_later);
	tcase_add_loop_test(keys, any_keys_in_any_order, 0, 6);
	tcase_add_test(keys, decision_keys_change_nothing);
	tcase_add_test(keys, words_typed_behind_a_refused_verb_do_nothing);
	tcase_add_test(keys, pastes_and_unknown_keys_are_no_commands);
	tcase_add_test(keys, keys_can_be_bound_anew);
	tcase_add_test(keys, every_command_has_its_own_keys);
	tcase_add_loop_test(keys, hints_name_the_keys_in_force, 0, sizeof(ways) / sizeof(ways[0]));
	tcase_add_test(keys, hints_prefer_built_in_keys);
	tcase_add_test(keys, commands_by_their_beginning);
	tcase_add_test(keys, arguments_are_parsed_once);
	tcase_add_test(keys, agents_are_prompted);
	tcase_add_test(keys, searches_go_round);
	tcase_add_test(keys, the_preview_shows_what_was_found);
	tcase_add_test(keys, what_is_open_is_not_opened_again);
	tcase_add_test(keys, a_resize_takes_a_question_with_its_words);
	tcase_add_test(keys, what_is_put_off_can_be_had_back);
	suite_add_tcase(suite, screens);
	suite_add_tcase(suite, keys);
	return unit_run(suite);
}
