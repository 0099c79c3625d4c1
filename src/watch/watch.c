/* gavel SOURCE: the terminal UI, one event loop: keys, then a step of the work that is pending, then
 * a frame. A step takes a few milliseconds, so that no key waits. Work comes in this order: the list
 * shown, if it is out of date; a delivery under way; reading, and once everything was read what
 * comes live. So a list is made from a model that stands still. With --headless the same program
 * runs on a key file and a grid, and all work is done at one go. */
#include "watch/watch.h"

#include "session/agent_set.h"
#include "loop/loop.h"
#include "term/headless.h"
#include "term/term.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

enum {
	STEP_MS = 10,     /* a step takes that long before keys are looked at */
	ARRIVED_MS = 200, /* views are made anew at most that often while reading */
	ARRIVED_MAX_MS = 20000,
	PATIENCE_MS = 8,  /* a list that takes longer is made between keys */
	FRAME_MS = 33,
	GATHER_MS = 10,   /* what comes in a crowd is left to gather for that long: */
	SOON_MS = 5,      /* so many times, something came that soon */
	CROWD = 8,
	UNTIL_MS = 20000, /* <until:TEXT> does not wait longer */
};

/* A clock that does not go back; without a terminal only <wait:MS> moves it. */
static int64_t clock_of(const struct watch *w)
{
	return w->headless && !w->agents ? w->test_ms : loop_now_ms();
}

static void draw(struct watch *w)
{
	int64_t since = loop_now_ms();
	int row, col, rows, cols;

	if (!w->headless) {
		w->app.list_until_ms = since + PATIENCE_MS;
		term_size(&rows, &cols);
		if (rows != w->grid->rows || cols != w->grid->cols)
			grid_resize(w->grid, rows, cols);
	}
	app_draw(&w->app, w->grid, &row, &col);
	if (!w->headless)
		term_show(w->grid, row, col);
	if (w->ops && w->ops->drawn)
		w->ops->drawn(w->ops_ctx, w->grid, clock_of(w));
	w->drawn_ms = loop_now_ms();
	w->undrawn = false;
	if (!w->headless)
		live_showed(&w->live, w->drawn_ms - since);
}

static void on_key(void *ctx, const struct key *key)
{
	struct watch *w = ctx;

	if (w->quit)
		return;
	w->pressed = true;
	if (!w->headless)
		w->app.list_until_ms = loop_now_ms() + PATIENCE_MS;
	w->app.clock_ms = clock_of(w);
	app_key(&w->app, key);
	watch_effects(w);
}

static void handle_signals(struct watch *w)
{
	int number;

	while ((number = loop_signal())) {
		if (number == SIGWINCH || number == SIGCONT) {
			if (!w->headless)
				term_redraw();
		} else if (number == SIGTSTP) {
			watch_suspend(w);
		} else {
			w->quit = true;
			w->code = 128 + number;
		}
	}
}

/* Input, and what comes; not that, where there is no time to take it. */
static int wait_for_any(const struct watch *w, int input, int timeout_ms)
{
	const int others[] = { load_fd(&w->load), w->agents ? agent_set_fd(w->agents) : -1 };

	return loop_wait(input, others, timeout_ms ? 2 : 0, timeout_ms);
}

/* Takes what was typed, after waiting (LOOP_ bits). Returns them; LOOP_INPUT also where a search
 * has come to its end. */
static int listen(struct watch *w, int ready)
{
	int n;
	char bytes[4096];

	w->pressed = false;
	if (ready & LOOP_SIGNAL)
		handle_signals(w);
	if (ready & LOOP_INPUT) {
		n = term_read(bytes, sizeof(bytes));
		if (n < 0) {
			w->quit = true;
			return ready;
		}
		keys_feed(&w->keys, str_make(bytes, (size_t)n), loop_now_ms(), on_key, w);
	}
	keys_tick(&w->keys, loop_now_ms(), on_key, w);
	if (app_is_searching(&w->app)) {
		app_search_step(&w->app);
		w->pressed |= !app_is_searching(&w->app);
	}
	return ready | (w->pressed ? LOOP_INPUT : 0);
}

static int sooner(int a, int b)
{
	return a < 0 ? b : b < 0 ? a : a < b ? a : b;
}

static int wait_ms(struct watch *w)
{
	int64_t now = loop_now_ms();
	int wait = sooner(keys_wait(&w->keys, now), live_wait_ms(&w->live, now));

	wait = sooner(wait, replay_wait_ms(&w->app));
	if (!app_is_settled(&w->app) || app_is_searching(&w->app) || w->delivery)
		return 0;
	if (!w->load.complete)
		return sooner(wait, load_wait_ms(&w->load, now));
	return w->ops && w->ops->wait_ms ? sooner(wait, w->ops->wait_ms(w->ops_ctx, now)) : wait;
}

/* What has come and what was wished. */
static void take_turn(struct watch *w)
{
	live_take(&w->live, loop_now_ms());
	replay_tick(&w->app, clock_of(w));
	if (w->ops && w->ops->turn && !w->quit)
		w->ops->turn(w->ops_ctx, loop_now_ms());
	watch_send(w);
}

/* ---- without a terminal ---- */

static bool is_shown(const struct watch *w, struct str text)
{
	struct buf screen = { 0 };
	bool found;

	grid_save(w->grid, &screen);
	found = str_find(buf_str(&screen), text, 0) >= 0;
	buf_release(&screen);
	return found;
}

/* Goes on until the text (if there is one) is on the screen or the time has come. */
static void go_on(struct watch *w, struct str until, int64_t deadline_ms)
{
	while (!w->quit) {
		int64_t left = deadline_ms - loop_now_ms();

		draw(w);
		if ((until.n && is_shown(w, until)) || left <= 0 || !w->agents)
			return;
		if (wait_for_any(w, -1, sooner(wait_ms(w), (int)left)) & LOOP_SIGNAL)
			handle_signals(w);
		take_turn(w);
	}
}

/* On the test clock, with what is to be seen meanwhile where somebody looks. */
static void pass_time(struct watch *w, int64_t ms)
{
	int pace = w->ops && w->ops->pace_ms ? w->ops->pace_ms(w->ops_ctx) : 0;

	for (; pace && ms > pace; ms -= pace, pace = w->ops->pace_ms(w->ops_ctx)) {
		w->test_ms += pace;
		replay_tick(&w->app, clock_of(w));
		draw(w);
		if (!w->app.playback.playing)
			break;
	}
	w->test_ms += ms;
	replay_tick(&w->app, clock_of(w));
}

static bool on_headless(void *ctx, const struct headless_step *step)
{
	struct watch *w = ctx;
	int64_t now = loop_now_ms();

	pass_time(w, step->until.n ? 0 : step->wait_ms);
	if (step->key) {
		on_key(w, step->key);
		while (app_is_searching(&w->app) && !w->quit) {
			draw(w); /* makes the list, if there is none yet */
			app_search_step(&w->app);
		}
		watch_send(w);
	}
	if (w->quit)
		return false;
	go_on(w, step->until, now + (step->until.n && !step->wait_ms ? UNTIL_MS : step->wait_ms));
	if (!w->quit && step->until.n && !is_shown(w, step->until)) {
		struct buf screen = { 0 };

		grid_save(w->grid, &screen);
		fprintf(stderr, "%sgavel: not on the screen: %.*s\n", screen.p, STR_ARG(step->until));
		buf_release(&screen);
		w->code = EXIT_TROUBLE;
		return false;
	}
	return !w->quit;
}

/* The first of the sentences that were held back, without the name that stderr wants. */
static void say_first(struct watch *w)
{
	struct str line = str_make(w->said.p, strcspn(w->said.p, "\n"));

	if (str_starts(line, STR("gavel: ")))
		line = str_from(line, 7);
	app_say(&w->app, ROLE_WARN, "%.*s", STR_ARG(line));
}

/* Everything was read for the first time. */
static void begin_watching(struct watch *w)
{
	cache_save(&w->load, true);
	app_arrived(&w->app, w->load.wire.bytes_done, w->load.wire.bytes_total, false);
	decider_open(&w->decider);
	watch_effects(w);
	watch_send(w);
	live_begin(&w->live, loop_now_ms());
	if (w->ops && w->ops->loaded && !w->quit)
		w->ops->loaded(w->ops_ctx, clock_of(w));
	if (w->said.n)
		say_first(w);
	draw(w);
}

static int run_headless(struct watch *w, const struct options *o)
{
	struct err err;

	w->grid = grid_new(o->rows ? o->rows : 24, o->cols ? o->cols : 80, w->app.scene.ascii);
	if (w->agents && loop_open(&err) < 0) {
		fprintf(stderr, "gavel: %s\n", err.text);
		return EXIT_TROUBLE;
	}
	load_run(&w->load, NULL, NULL);
	begin_watching(w);
	if (o->keys && headless_run(o->keys, on_headless, w, &err) < 0) {
		fprintf(stderr, "gavel: %s\n", err.text);
		w->code = EXIT_TROUBLE;
	}
	for (int pace; !w->agents && !w->quit && w->ops && w->ops->pace_ms &&
		       (pace = w->ops->pace_ms(w->ops_ctx)) > 0;) {
		pass_time(w, pace);
		draw(w);
	}
	while (w->agents && !w->quit && (w->leaving || (!o->keys && agent_set_running(w->agents))))
		go_on(w, STR_NONE, loop_now_ms() + FRAME_MS);
	if (o->screen && watch_save_screen(w, o->screen, &err) < 0) {
		fprintf(stderr, "gavel: %s\n", err.text);
		w->code = EXIT_TROUBLE;
	}
	loop_close();
	return w->code;
}

/* ---- on a terminal ---- */

static void step_list(struct watch *w)
{
	int64_t since = loop_now_ms();
	bool made = app_list_step(&w->app, since + STEP_MS);

	live_showed(&w->live, loop_now_ms() - since);
	if (made)
		draw(w);
}

/* Often in the beginning; the more there is to list, the less often it is listed anew. */
static void plan_arrival(struct watch *w, int64_t now_ms)
{
	int64_t pause;

	w->arrive_gap_ms = w->arrive_gap_ms ? 2 * w->arrive_gap_ms : STEP_MS;
	if (w->arrive_gap_ms > ARRIVED_MS)
		w->arrive_gap_ms = ARRIVED_MS;
	pause = w->arrive_gap_ms + 8 * (now_ms - w->arrived_ms);
	w->arrive_ms = now_ms + (pause < ARRIVED_MAX_MS ? pause : ARRIVED_MAX_MS);
	w->arrived_ms = 0;
}

static void step_reading(struct watch *w)
{
	struct load *l = &w->load;
	int64_t now = loop_now_ms();

	if (w->arrived_ms)
		plan_arrival(w, now);
	load_step(l, now + STEP_MS, NULL, NULL);
	w->app.bytes_done = l->wire.bytes_done;
	now = loop_now_ms();
	if (l->complete) {
		begin_watching(w);
	} else if (now >= w->arrive_ms) {
		app_arrived(&w->app, l->wire.bytes_done, l->wire.bytes_total, true);
		w->arrived_ms = now;
	}
}

static void step(struct watch *w)
{
	if (!app_is_settled(&w->app))
		step_list(w);
	else if (w->delivery)
		watch_step_delivery(w);
	else if (!w->load.complete)
		step_reading(w);
	else
		take_turn(w);
}

/* Waits for what comes first. Sources that talk all the time are heard together, a few milliseconds
 * later, not line by line; keys are not kept waiting. */
static int wait_for_some(struct watch *w, int timeout_ms)
{
	int64_t since = loop_now_ms();
	int ready = wait_for_any(w, term_fd(), timeout_ms);

	w->crowd = w->load.complete && ready & LOOP_SOURCE && loop_now_ms() - since < SOON_MS
			   ? w->crowd + 1
			   : 0;
	if (w->crowd >= CROWD && ready == LOOP_SOURCE)
		ready |= loop_wait(term_fd(), NULL, 0, GATHER_MS);
	return ready;
}

/* How long until the next frame; -1 = nothing has changed. A list that is out of date is begun with
 * a frame. */
static int frame_ms(const struct watch *w)
{
	int64_t left = w->drawn_ms + FRAME_MS - loop_now_ms();

	if (!w->undrawn)
		return -1;
	if (left < 0 || (!w->app.listing.job && !app_is_settled(&w->app)))
		return 0;
	return (int)left;
}

/* What was typed is answered at once. What comes is shown at once, too, if nothing was just before:
 * frames have their distance, and many turns may go by between two of them. */
static void go_round(struct watch *w)
{
	int wait = wait_ms(w), frame = frame_ms(w), ready;

	if (frame == 0) {
		draw(w);
		return;
	}
	ready = listen(w, wait_for_some(w, sooner(wait, frame)));
	if (w->quit || (!ready && frame > 0 && frame == sooner(wait, frame)))
		return;
	if (ready & (LOOP_INPUT | LOOP_SIGNAL))
		draw(w);
	w->undrawn = true;
	step(w);
}

static int run_terminal(struct watch *w, const struct options *o)
{
	struct theme theme;
	struct term_look look = { .theme = &theme, .ascii = w->app.scene.ascii,
				  .mouse = w->config.mouse };
	const char *no_color = getenv("NO_COLOR");
	struct err err;
	int rows, cols;

	config_theme(&w->config, term_colours(), &theme);
	if (o->color == COLOR_NEVER || (o->color == COLOR_AUTO && no_color && *no_color))
		look.theme = NULL;
	if (loop_open(&err) < 0 || term_open(&look, &err) < 0) {
		fprintf(stderr, "gavel: %s\n", err.text);
		loop_close();
		return EXIT_TROUBLE;
	}
	term_size(&rows, &cols);
	w->grid = grid_new(rows, cols, look.ascii);
	w->app.scene.reading = true;
	w->load.hold = &w->said;
	w->idle = (struct idle){ watch_wait, w };
	for (uint32_t i = 0; i < w->load.desks.list.n; i++)
		w->load.desks.list.v[i].idle = &w->idle;
	draw(w);
	if (w->load.complete)
		begin_watching(w);
	while (!w->quit)
		go_round(w);
	watch_end_delivery(w);
	term_close();
	loop_close();
	if (w->said.n)
		fwrite(w->said.p, 1, w->said.n, stderr);
	return w->code;
}

/* The person's keys, and what is wrong with the configuration: all of it on stderr, where it is
 * found afterwards, and the first on the message line. */
static void configure(struct watch *w)
{
	struct config *c = &w->config;
	struct buf help = { 0 };

	for (uint32_t i = 0; i < c->keys.n; i++)
		app_bind(&w->app, c->keys.v[i].code, c->keys.v[i].command);
	/* which key lists the commands is known once all are bound */
	keymap_text(&w->app.keymap, "{help}", &help);
	for (uint32_t i = 0; i < c->keys.n; i++) {
		const struct config_key *k = &c->keys.v[i];

		if (!app_bind(&w->app, k->code, k->command))
			config_problem(c, k->line, k->column, "no command \"%s\"; %s lists them",
				       k->command, help.p);
	}
	buf_release(&help);
	for (uint32_t i = 0; i < c->problems.n; i++)
		load_say(&w->load, str_of(c->problems.v[i]));
	if (c->problems.n)
		app_say(&w->app, ROLE_ERROR, "%s%s", c->problems.v[0],
			c->problems.n > 1 ? " (and more)" : "");
}

/* ---- from the beginning to the end ---- */

void watch_init(struct watch *w, struct options *o)
{
	w->options = o;
	w->headless = o->headless;
	w->painted = o->color == COLOR_ALWAYS;
	config_load(&w->config, o->config);
	load_configure(&w->load, o, &w->config);
	w->load.desk = (struct load_desks){ .open = true, .write = !o->read_only && !o->at,
					    .journal = o->journal, .sole_writer = o->sole_writer };
}

void watch_begin(struct watch *w, struct str title)
{
	const struct options *o = w->options;

	if (w->began)
		return;
	w->began = true;
	app_init(&w->app, &w->load.model, &w->load.reader, title, o->ascii || w->config.ascii);
	configure(w);
	w->live = (struct live){ .load = &w->load, .app = &w->app, .config = &w->config,
				 .agents = w->agents, .each = w->each, .ctx = w->each_ctx,
				 .notice = o->headless ? NULL : term_notice };
	w->decider = (struct decider){ .options = o, .config = &w->config, .load = &w->load,
				 .app = &w->app };
	decider_take(&w->decider);
	w->app.scene.all = o->all;
}

int watch_go(struct watch *w, struct str title)
{
	const struct options *o = w->options;

	watch_begin(w, title);
	if (o->filter && !app_set_filter(&w->app, str_of(o->filter))) {
		fprintf(stderr, "gavel: %.*s\n", STR_ARG(buf_str(&w->app.notice)));
		return EXIT_TROUBLE;
	}
	return o->headless ? run_headless(w, o) : run_terminal(w, o);
}

void watch_release(struct watch *w)
{
	grid_free(w->grid);
	if (w->began) {
		decider_leave(&w->decider);
		live_end(&w->live);
		app_release(&w->app);
	}
	keys_release(&w->keys);
	vec_release(&w->sending);
	config_release(&w->config);
	buf_release(&w->said);
	load_release(&w->load);
}

int watch_run(struct options *o)
{
	struct watch w = { 0 };
	struct buf title = { 0 };
	int code = EXIT_TROUBLE;

	watch_init(&w, o);
	w.load.follow = !o->headless && !o->no_follow;
	for (uint32_t i = 0; i < o->words.n; i++)
		buf_printf(&title, "%s%s", i ? " " : "", o->words.v[i]);
	if (load_open(&w.load, o->words.v, o->words.n, o->max_line_bytes) == 0)
		code = watch_go(&w, o->words.n ? buf_str(&title) : STR("stdin"));
	watch_release(&w);
	buf_release(&title);
	return code;
}
