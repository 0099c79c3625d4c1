/* The event loop: keys, then a step of pending work, then a frame. A step takes a few milliseconds,
 * so that no key waits. Work by priority: the visible list, if it is out of date; a delivery in
 * progress; loading, then live messages. So the model does not change while a list is made. With
 * --headless the same program runs on a key file and a grid, and work is done in one go. */
#include "watch/watch.h"

#include "watch/bookmark_file.h"
#include "session/agent_set.h"
#include "loop/loop.h"
#include "term/headless.h"
#include "term/term.h"
#include "watch/remembered.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

enum {
	STEP_MS = 10,     /* of work between two checks for keys */
	ARRIVED_MS = 200, /* limit of the growing pause between updates of the views while loading */
	ARRIVED_MAX_MS = 20000, /* the same for large lists, in proportion to their cost */
	PATIENCE_MS = 8,  /* a list that takes longer is made in steps */
	FRAME_MS = 33,
	FEW_SOURCES = 3,  /* all named in the title line; more are counted, too */
	GATHER_MS = 10,   /* batching delay for sources that wake the loop all the time */
	CROWD = 8,        /* consecutive quick wake-ups that begin batching */
	SOON_MS = 5,      /* a wake-up within this time of the last one is quick */
	UNTIL_MS = 20000, /* timeout of <until:TEXT> */
};

/* Whether something happens by itself, even with --headless: agents run, or people decide elsewhere. */
static bool is_live(const struct watch *w)
{
	return w->agents || w->load.teams.list.n;
}

/* Monotonic; with --headless and nothing live, the test clock. */
static int64_t clock_of(const struct watch *w)
{
	return w->headless && !is_live(w) ? w->test_ms : loop_now_ms();
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
	w->app.clock_ms = clock_of(w);
	app_draw(&w->app, w->grid, &row, &col);
	if (!w->headless)
		term_show(w->grid, row, col);
	if (w->ops->drawn)
		w->ops->drawn(w->ops_ctx, w->grid, clock_of(w));
	w->drawn_ms = loop_now_ms();
	w->undrawn = false;
	if (!w->headless)
		w->live.spent_ms += w->drawn_ms - since;
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

/* Polls input and, unless timeout_ms is 0, the sources. */
static int wait_for_any(const struct watch *w, int input, int timeout_ms)
{
	struct loop_fd others[LOOP_OTHERS_MAX] = { { load_fd(&w->load) },
						   { w->agents ? agent_set_fd(w->agents) : -1 } };
	unsigned n = 2;

	if (w->ops->other_fd)
		others[n++] = w->ops->other_fd(w->ops_ctx);
	n += team_fds(&w->load, others + n, LOOP_OTHERS_MAX - n);

	return loop_wait(input, others, timeout_ms ? n : 0, timeout_ms);
}

/* Handles signals and keys. Returns `ready` (LOOP_ bits), with LOOP_INPUT if a key was handled or a
 * search has ended. */
static int handle_input(struct watch *w, int ready)
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
	} else if (app_is_counting(&w->app)) {
		app_count_step(&w->app);
		w->pressed |= !app_is_counting(&w->app);
	}
	return ready | (w->pressed ? LOOP_INPUT : 0);
}

static int wait_ms(struct watch *w)
{
	int64_t now = loop_now_ms();
	int wait = loop_sooner(keys_wait(&w->keys, now), live_wait_ms(&w->live, now));

	wait = loop_sooner(wait, replay_wait_ms(&w->app));
	if (!app_is_settled(&w->app) || app_is_searching(&w->app) || app_is_counting(&w->app) ||
	    w->delivery)
		return 0;
	if (!w->load.complete)
		return loop_sooner(wait, load_wait_ms(&w->load, now));
	return w->ops->wait_ms ? loop_sooner(wait, w->ops->wait_ms(w->ops_ctx, now)) : wait;
}

/* Live messages, playback, the command's own work, deliveries. */
static void tick(struct watch *w)
{
	live_take(&w->live, loop_now_ms());
	replay_tick(&w->app, clock_of(w));
	if (w->ops->tick && !w->quit)
		w->ops->tick(w->ops_ctx, loop_now_ms());
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

/* Runs the loop until the text (if any) is on the screen or the deadline has passed. */
static void run_until(struct watch *w, struct str until, int64_t deadline_ms)
{
	while (!w->quit) {
		int64_t left = deadline_ms - loop_now_ms();

		draw(w);
		if ((until.n && is_shown(w, until)) || left <= 0 || !is_live(w))
			return;
		if (wait_for_any(w, -1, loop_sooner(wait_ms(w), (int)left)) & LOOP_SIGNAL)
			handle_signals(w);
		tick(w);
	}
}

static int pace_ms(const struct watch *w)
{
	return w->ops->pace_ms ? w->ops->pace_ms(w->ops_ctx) : 0;
}

/* Advances the test clock, drawing the frames of a playback in between. */
static void pass_time(struct watch *w, int64_t ms)
{
	int pace = pace_ms(w);

	for (; pace && ms > pace; ms -= pace, pace = pace_ms(w)) {
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
		while (app_is_counting(&w->app)) {
			draw(w);
			app_count_step(&w->app);
		}
		watch_send(w);
	}
	if (w->quit)
		return false;
	run_until(w, step->until,
		  now + (step->until.n && !step->wait_ms ? UNTIL_MS : step->wait_ms));
	if (!w->quit && step->until.n && !is_shown(w, step->until)) {
		struct buf screen = { 0 };

		grid_save(w->grid, &screen);
		say_error_text(buf_str(&screen));
		say_error("not on the screen: %.*s", STR_ARG(step->until));
		buf_release(&screen);
		w->code = EXIT_TROUBLE;
		return false;
	}
	return !w->quit;
}

/* Shows the first line held back from stderr, without its "gavel: ". */
static void say_first(struct watch *w)
{
	struct str line = str_make(w->said.p, strcspn(w->said.p, "\n"));

	if (str_starts(line, STR("gavel: ")))
		line = str_from(line, 7);
	app_say(&w->app, ROLE_WARN, "%.*s", STR_ARG(line));
}

/* The first load is complete. */
static void finish_loading(struct watch *w)
{
	cache_save(&w->load, true);
	app_arrived(&w->app, w->load.wire.bytes_done, w->load.wire.bytes_total, false);
	bookmarks_load(&w->app, &w->load);
	decider_begin(&w->decider);
	watch_effects(w);
	watch_send(w);
	live_begin(&w->live, loop_now_ms());
	if (w->ops->loaded && !w->quit)
		w->ops->loaded(w->ops_ctx, clock_of(w));
	if (w->said.n)
		say_first(w);
	draw(w);
}

static int run_headless(struct watch *w, const struct options *o)
{
	struct err err;

	w->grid = grid_new(o->rows ? o->rows : 24, o->cols ? o->cols : 80, w->app.scene.ascii);
	if (is_live(w) && loop_open(&err) < 0)
		return watch_fail(w, &err);
	load_run(&w->load, NULL, NULL);
	finish_loading(w);
	if (o->keys && headless_run(o->keys, on_headless, w, &err) < 0)
		watch_fail(w, &err);
	for (int pace; !w->agents && !w->quit && (pace = pace_ms(w)) > 0;) {
		pass_time(w, pace);
		draw(w);
	}
	while (w->agents && !w->quit && (w->leaving || (!o->keys && agent_set_running(w->agents))))
		run_until(w, STR_NONE, loop_now_ms() + FRAME_MS);
	if (o->screen && watch_save_screen(w, o->screen, &err) < 0)
		watch_fail(w, &err);
	loop_close();
	return w->code;
}

/* ---- on a terminal ---- */

static void step_list(struct watch *w)
{
	int64_t since = loop_now_ms();
	bool made;

	w->app.clock_ms = clock_of(w);
	made = app_list_step(&w->app, since + STEP_MS);

	w->live.spent_ms += loop_now_ms() - since;
	if (made)
		draw(w);
}

/* Schedules the next update of the views: often at first, less often as lists grow. */
static void schedule_arrival(struct watch *w, int64_t now_ms)
{
	int64_t pause;

	w->arrive_gap_ms = w->arrive_gap_ms ? 2 * w->arrive_gap_ms : STEP_MS;
	if (w->arrive_gap_ms > ARRIVED_MS)
		w->arrive_gap_ms = ARRIVED_MS;
	pause = w->arrive_gap_ms + 8 * (now_ms - w->arrived_ms);
	w->arrive_ms = now_ms + (pause < ARRIVED_MAX_MS ? pause : ARRIVED_MAX_MS);
	w->arrived_ms = 0;
}

static void step_loading(struct watch *w)
{
	struct load *l = &w->load;
	int64_t now = loop_now_ms();

	if (w->arrived_ms)
		schedule_arrival(w, now);
	load_step(l, now + STEP_MS, NULL, NULL);
	w->app.bytes_done = l->wire.bytes_done;
	now = loop_now_ms();
	if (l->complete) {
		finish_loading(w);
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
		step_loading(w);
	else
		tick(w);
}

/* Waits for the first event. Sources with continuous output are batched for some milliseconds; keys
 * are not delayed. */
static int wait_batched(struct watch *w, int timeout_ms)
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

/* Timeout until the next frame; -1 = nothing has changed. A frame starts the list that is out of
 * date. */
static int frame_ms(const struct watch *w)
{
	int64_t left = w->drawn_ms + FRAME_MS - loop_now_ms();

	if (!w->undrawn)
		return -1;
	if (left < 0 || (!w->app.listing.job && !app_is_settled(&w->app)))
		return 0;
	return (int)left;
}

/* One iteration. Keys are answered by a frame at once, messages by one FRAME_MS after the last. */
static void iterate(struct watch *w)
{
	int wait = wait_ms(w), frame = frame_ms(w), ready;

	if (frame == 0) {
		draw(w);
		return;
	}
	ready = handle_input(w, wait_batched(w, loop_sooner(wait, frame)));
	if (w->quit || (!ready && frame > 0 && frame == loop_sooner(wait, frame)))
		return;
	if (ready & (LOOP_INPUT | LOOP_SIGNAL))
		draw(w);
	w->undrawn = true;
	step(w);
}

static int run_terminal(struct watch *w, const struct options *o)
{
	struct term_look look = { .theme = &w->theme, .ascii = w->app.scene.ascii,
				  .mouse = w->config.mouse };
	const char *no_color = getenv("NO_COLOR");
	struct err err;
	int rows, cols;

	w->colours = term_colours();
	config_theme(&w->config, w->colours, &w->theme);
	if (o->color == COLOR_NEVER || (o->color == COLOR_AUTO && no_color && *no_color))
		look.theme = NULL;
	if (loop_open(&err) < 0 || term_open(&look, &err) < 0) {
		loop_close();
		return watch_fail(w, &err);
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
		finish_loading(w);
	while (!w->quit)
		iterate(w);
	/* neither job may outlive what the caller frees next */
	watch_end_delivery(w);
	app_cancel_list(&w->app);
	term_close();
	loop_close();
	say_error_text(buf_str(&w->said));
	return w->code;
}

void watch_configure(struct watch *w)
{
	struct config *c = &w->config;
	struct buf help = { 0 };

	for (uint32_t i = 0; i < c->keys.n; i++)
		app_bind(&w->app, c->keys.v[i].code, c->keys.v[i].command);
	/* the key of help is known only now that all are bound */
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

/* ---- life cycle ---- */

void watch_init(struct watch *w, struct options *o)
{
	w->options = o;
	w->headless = o->headless;
	w->painted = o->color == COLOR_ALWAYS;
	config_load(&w->config, o->config);
	load_configure(&w->load, o, &w->config);
	w->load.desk_options = (struct desk_options){ .open = true,
						      .write = !o->read_only && !o->at,
						      .journal = o->journal,
						      .sole_writer = o->sole_writer };
}

void watch_begin(struct watch *w, struct str title)
{
	static const struct watch_ops no_ops;
	const struct options *o = w->options;

	if (w->began)
		return;
	w->began = true;
	if (!w->ops)
		w->ops = &no_ops;
	app_init(&w->app, &w->load.model, &w->load.reader, title, o->ascii || w->config.ascii);
	watch_configure(w);
	remembered_load(&w->app, o->journal);
	w->live = (struct live){ .load = &w->load, .app = &w->app, .page = NONE,
				 .agents = w->agents, .each = w->each, .ctx = w->each_ctx,
				 .notices = { .config = &w->config, .app = &w->app,
					      .terminal = o->headless ? NULL : term_notice } };
	w->decider = (struct decider){ .options = o, .config = &w->config, .load = &w->load,
				 .app = &w->app };
	decider_attach(&w->decider);
	w->app.scene.all = o->all;
}

void watch_begin_with_sessions(struct watch *w)
{
	const struct wire *wire = &w->load.wire;
	uint32_t sources = w->options->words.n;

	/* a reply file belongs to its log */
	for (uint32_t i = 0; i < wire->files.n; i++)
		sources -= wire->files.v[i].joined && !wire->files.v[i].listed &&
			   !wire->files.v[i].found;
	if (sources > 1)
		w->app.tab = TAB_SESSIONS;
}

int watch_go(struct watch *w, struct str title)
{
	const struct options *o = w->options;

	watch_begin(w, title);
	if (o->filter && !app_set_filter(&w->app, str_of(o->filter))) {
		say_error("%.*s", STR_ARG(buf_str(&w->app.notice)));
		return EXIT_TROUBLE;
	}
	return o->headless ? run_headless(w, o) : run_terminal(w, o);
}

void watch_release(struct watch *w)
{
	grid_free(w->grid);
	if (w->began) {
		decider_release(&w->decider);
		buf_release(&w->live.incomplete);
		notices_release(&w->live.notices);
		app_release(&w->app);
	}
	keys_release(&w->keys);
	vec_release(&w->sending);
	config_release(&w->config);
	buf_release(&w->said);
	load_release(&w->load);
}

/* One is named as it was given; several without their folders, and many are counted. */
void watch_title(const struct options *o, struct buf *out)
{
	if (o->words.n < 2) {
		buf_adds(out, o->words.n ? o->words.v[0] : "stdin");
		return;
	}
	if (o->words.n > FEW_SOURCES)
		buf_printf(out, "%u sources: ", o->words.n);
	for (uint32_t i = 0; i < o->words.n; i++) {
		struct str name = wire_trim_slashes(str_of(o->words.v[i])), base = name;

		while (base.n && base.p[base.n - 1] != '/')
			base.n--;
		base = str_from(name, base.n < name.n ? base.n : 0);
		buf_printf(out, "%s%.*s", i ? " " : "", STR_ARG(base));
	}
}

static bool has_team(const struct options *o)
{
	for (uint32_t i = 0; i < o->words.n; i++)
		if (team_is_address(o->words.v[i]))
			return true;
	return false;
}

int watch_run(struct options *o)
{
	struct watch w = { 0 };
	struct buf title = { 0 };
	int code = EXIT_TROUBLE;

	watch_init(&w, o);
	w.load.follow = !o->no_follow && (!o->headless || has_team(o));
	watch_title(o, &title);
	if (load_open(&w.load, o->words.v, o->words.n, o->max_line_bytes) == 0) {
		watch_begin(&w, buf_str(&title));
		watch_begin_with_sessions(&w);
		code = watch_go(&w, buf_str(&title));
	}
	watch_release(&w);
	buf_release(&title);
	return code;
}
