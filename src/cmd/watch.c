/* gavel SOURCE: the terminal UI. Reading goes on between keys: after each few milliseconds of
 * messages the loop takes a breath, answers what was typed and draws. So it does while it makes a
 * list too long to be made at once; reading waits for that, so the list sees a model that stands
 * still. With --headless the same program runs on a key file and a grid. */
#include "cmd/config.h"
#include "cmd/live.h"
#include "cmd/load.h"
#include "cmd/seat.h"
#include "loop/loop.h"
#include "term/headless.h"
#include "term/keys.h"
#include "term/term.h"
#include "ui/app.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	BREATH_MS = 10,   /* reading goes on for that long before keys are looked at */
	ARRIVED_MS = 200, /* views are made anew at most that often while reading */
	ARRIVED_MAX_MS = 20000,
	PATIENCE_MS = 8,  /* a list that takes longer is made between breaths */
	FRAME_MS = 33,
};

struct watch {
	struct load load;
	struct app app;
	struct keys keys;
	struct grid *grid;
	struct config config;
	struct live live;
	struct seat seat; /* from which the person decides */
	VEC(struct effect) sending; /* wishes that wait until the keys are handed out */
	struct idle idle;
	struct buf said; /* while the screen was ours; printed afterwards */
	bool headless, quit;
	bool painted; /* saved screens have colours in place of role letters */
	int code;
	int64_t test_ms; /* the clock of a headless run: only <wait:MS> moves it */
	bool settling; /* a long list is being made */
	struct breath breath;
	int64_t began_ms; /* answering a key, or drawing */
	int64_t breathed_ms, drawn_ms;
	int64_t arrive_ms; /* when the views are next told what has come */
};

static void draw(struct watch *w)
{
	int row, col, rows, cols;

	w->began_ms = loop_now_ms();
	if (!w->headless) {
		term_size(&rows, &cols);
		if (rows != w->grid->rows || cols != w->grid->cols)
			grid_resize(w->grid, rows, cols);
	}
	app_draw(&w->app, w->grid, &row, &col);
	if (!w->headless)
		term_show(w->grid, row, col);
	w->drawn_ms = loop_now_ms();
}

static int save_screen(struct watch *w, const char *file, struct err *err)
{
	struct buf text = { 0 };
	struct theme theme;
	FILE *f = fopen(file, "w");
	int row, col, rc = 0;

	app_draw(&w->app, w->grid, &row, &col);
	if (w->painted) {
		config_theme(&w->config, 16, &theme);
		paint_grid(w->grid, &theme, w->app.scene.ascii, &text);
	} else {
		grid_save(w->grid, &text);
	}
	if (!f || fwrite(text.p, 1, text.n, f) != text.n)
		rc = err_set(err, "%s: %s", file, strerror(errno));
	if (f && fclose(f) && !rc)
		rc = err_set(err, "%s: %s", file, strerror(errno));
	buf_release(&text);
	return rc;
}

/* The terminal cannot be had any more. */
static void give_up(struct watch *w, const struct err *err)
{
	fprintf(stderr, "gavel: %s\n", err->text);
	w->quit = true;
	w->code = EXIT_TROUBLE;
}

static void suspend(struct watch *w)
{
	struct err err;

	if (!w->headless && term_suspend(&err) < 0)
		give_up(w, &err);
}

/* The file's name is an argument, never part of the shell's text. false: no editor ran. */
static bool edit(struct watch *w, const char *file, uint32_t line)
{
	struct err err;
	char at[24];
	pid_t child;
	int status;

	if (w->headless)
		return false;
	snprintf(at, sizeof(at), "+%u", line ? line : 1);
	term_leave();
	child = fork();
	if (child == 0) {
		execl("/bin/sh", "sh", "-c", "exec ${VISUAL:-${EDITOR:-vi}} \"$@\"", "gavel", at, file,
		      (char *)NULL);
		_exit(127);
	}
	while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	if (term_enter(&err) < 0)
		give_up(w, &err);
	if (child < 0)
		app_say(&w->app, ROLE_ERROR, "no editor could be started: %s", strerror(errno));
	return child > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* The explanation as a file of the person's own, gone when the editor is. */
static void explain(struct watch *w, struct effect *e)
{
	struct buf text = { 0 };
	char *file = seat_text_file(e->draft.explanation);

	if (!file) {
		app_say(&w->app, ROLE_ERROR, "no file for the editor: %s", strerror(errno));
		return;
	}
	if (!edit(w, file, 1))
		app_say(&w->app, ROLE_WARN, "the editor ended without saving; nothing was changed");
	else if (seat_read_text(file, &text) < 0)
		app_say(&w->app, ROLE_ERROR, "the text cannot be read: %s", strerror(errno));
	else {
		e->draft.explanation = str_trim(buf_str(&text));
		seat_stage(&w->seat, e);
	}
	unlink(file);
	free(file);
	buf_release(&text);
}

static void carry_out(struct watch *w)
{
	struct err err;

	for (uint32_t i = 0; i < w->app.effects.n; i++) {
		struct effect e = w->app.effects.v[i];

		switch (e.type) {
		case EFFECT_QUIT: w->quit = true; break;
		case EFFECT_SUSPEND: suspend(w); break;
		case EFFECT_REDRAW:
			if (!w->headless)
				term_redraw();
			break;
		case EFFECT_SAVE_SCREEN:
			if (save_screen(w, e.text, &err) < 0)
				app_say(&w->app, ROLE_ERROR, "%s", err.text);
			else
				app_say(&w->app, ROLE_DIM, "saved %s", e.text);
			break;
		case EFFECT_EDIT: edit(w, e.text, e.number); break;
		case EFFECT_EXPLAIN: explain(w, &e); break;
		case EFFECT_STAGE: seat_stage(&w->seat, &e); break;
		case EFFECT_UNDO: seat_undo(&w->seat, &e); break;
		case EFFECT_PLAN: seat_plan(&w->seat, NULL, NONE); break;
		case EFFECT_DELIVER:
			seat_confirm(&w->seat);
			vec_push(&w->sending, e);
			break;
		case EFFECT_RECOVER:
		case EFFECT_RESEND: vec_push(&w->sending, e); break;
		case EFFECT_TELL: seat_tell(&w->seat, &e); break;
		case EFFECT_GIVE_UP: seat_give_up(&w->seat, &e); break;
		}
		free(e.text);
	}
	w->app.effects.n = 0;
	arena_reset(&w->app.deciding.words);
	w->load.wire.stop = w->quit;
}

/* Sending may have to wait for a reader. Not while keys are handed out: meanwhile others are. */
static void send_wishes(struct watch *w)
{
	for (uint32_t i = 0; i < w->sending.n && !w->quit; i++) {
		struct effect e = w->sending.v[i];

		if (e.type == EFFECT_DELIVER)
			seat_deliver(&w->seat, e.number);
		else if (e.type == EFFECT_RECOVER)
			seat_recover(&w->seat);
		else
			seat_resend(&w->seat, &e);
	}
	w->sending.n = 0;
}

static void on_key(void *ctx, const struct key *key)
{
	struct watch *w = ctx;

	if (w->quit)
		return;
	w->began_ms = loop_now_ms();
	w->app.clock_ms = w->headless ? w->test_ms : w->began_ms;
	app_key(&w->app, key);
	carry_out(w);
}

static void handle_signals(struct watch *w)
{
	int number;

	while ((number = loop_signal())) {
		if (number == SIGWINCH || number == SIGCONT) {
			term_redraw();
		} else if (number == SIGTSTP) {
			suspend(w);
		} else {
			w->quit = true;
			w->code = 128 + number;
		}
	}
	w->load.wire.stop = w->quit;
}

/* Takes what was typed and draws; waits for at most timeout_ms. */
static void pump(struct watch *w, int timeout_ms)
{
	int ready = loop_wait(term_fd(), timeout_ms ? load_fd(&w->load) : -1, timeout_ms), n;
	char bytes[4096];

	if (ready & LOOP_SIGNAL)
		handle_signals(w);
	if (ready & LOOP_INPUT) {
		n = term_read(bytes, sizeof(bytes));
		if (n < 0) {
			w->quit = true;
			w->load.wire.stop = true;
			return;
		}
		keys_feed(&w->keys, str_make(bytes, (size_t)n), loop_now_ms(), on_key, w);
	}
	keys_tick(&w->keys, loop_now_ms(), on_key, w);
	if (!w->quit && (ready || loop_now_ms() - w->drawn_ms >= FRAME_MS))
		draw(w);
	w->breathed_ms = loop_now_ms();
}

static bool take_breath(void *ctx)
{
	struct watch *w = ctx;
	int64_t now = loop_now_ms();

	if (!w->settling)
		return now - w->began_ms < PATIENCE_MS;
	if (now - w->breathed_ms >= BREATH_MS)
		pump(w, 0);
	return !w->quit && app_wants_list(&w->app);
}

/* Makes the list that drawing had no time for, unless another one is asked for meanwhile. Not while
 * keys are handed out: they would overtake each other. */
static void settle(struct watch *w)
{
	if (w->quit || app_is_settled(&w->app))
		return;
	w->settling = true;
	app_settle(&w->app);
	w->settling = false;
	if (!w->quit)
		draw(w);
}

static void breathe(void *ctx, struct load *l, const struct message *msg, const struct record *r)
{
	struct watch *w = ctx;
	int64_t now, cost;

	(void)msg;
	(void)r;
	if (l->model.records.n % 32 || w->headless)
		return;
	now = loop_now_ms();
	if (now - w->breathed_ms < BREATH_MS)
		return;
	if (now >= w->arrive_ms) {
		app_arrived(&w->app, l->wire.bytes_done, l->wire.bytes_total, true);
		settle(w);
		/* the more there is to list, the less often it is listed anew */
		cost = ARRIVED_MS + 8 * (loop_now_ms() - now);
		w->arrive_ms = loop_now_ms() + (cost < ARRIVED_MAX_MS ? cost : ARRIVED_MAX_MS);
	}
	w->app.bytes_done = l->wire.bytes_done;
	pump(w, 0);
	settle(w);
}

/* A pipe that says nothing must not keep keys waiting. */
static bool idle(void *ctx)
{
	struct watch *w = ctx;

	pump(w, 0);
	settle(w);
	return !w->quit;
}

static bool on_headless(void *ctx, const struct key *key, int64_t wait_ms)
{
	struct watch *w = ctx;

	w->test_ms += wait_ms;
	if (key)
		on_key(w, key);
	send_wishes(w);
	if (!w->quit)
		draw(w);
	return !w->quit;
}

static int run_headless(struct watch *w, const struct options *o)
{
	struct err err;

	w->grid = grid_new(o->rows ? o->rows : 24, o->cols ? o->cols : 80, w->app.scene.ascii);
	load_run(&w->load, breathe, w);
	app_arrived(&w->app, w->load.wire.bytes_done, w->load.wire.bytes_total, false);
	seat_open(&w->seat);
	draw(w);
	if ((o->keys && headless_run(o->keys, on_headless, w, &err) < 0) ||
	    (o->screen && save_screen(w, o->screen, &err) < 0)) {
		fprintf(stderr, "gavel: %s\n", err.text);
		return EXIT_TROUBLE;
	}
	return w->code;
}

static int wait_ms(struct watch *w)
{
	int64_t now = loop_now_ms();
	int keys = keys_wait(&w->keys, now), live = live_wait_ms(&w->live, now);

	if (!app_is_settled(&w->app))
		return 0;
	return keys < 0 ? live : live < 0 ? keys : keys < live ? keys : live;
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
	w->app.loading = true;
	w->breath = (struct breath){ .take = take_breath, .ctx = w };
	w->app.breath = &w->breath;
	w->load.hold = &w->said;
	w->load.wire.idle = w->idle = (struct idle){ idle, w };
	for (uint32_t i = 0; i < w->load.desks.list.n; i++)
		w->load.desks.list.v[i].idle = &w->idle;
	draw(w);
	load_run(&w->load, breathe, w);
	app_arrived(&w->app, w->load.wire.bytes_done, w->load.wire.bytes_total, false);
	seat_open(&w->seat);
	live_begin(&w->live, loop_now_ms());
	if (w->said.n)
		app_say(&w->app, ROLE_WARN, "%.*s", (int)strcspn(w->said.p, "\n"), w->said.p);
	while (!w->quit) {
		draw(w);
		settle(w);
		pump(w, wait_ms(w));
		live_take(&w->live, loop_now_ms());
		send_wishes(w);
	}
	term_close();
	loop_close();
	if (w->said.n)
		fwrite(w->said.p, 1, w->said.n, stderr);
	return w->code;
}

/* The person's keys, and what is wrong with the configuration: all of it on stderr, where it is found
 * afterwards, and the first on the message line. */
static void configure(struct watch *w)
{
	struct config *c = &w->config;

	for (uint32_t i = 0; i < c->keys.n; i++) {
		const struct config_key *k = &c->keys.v[i];

		if (!app_bind(&w->app, k->code, k->command))
			config_problem(c, k->line, k->column, "no command \"%s\"; ? lists them",
				       k->command);
	}
	for (uint32_t i = 0; i < c->problems.n; i++)
		load_say(&w->load, str_of(c->problems.v[i]));
	if (c->problems.n)
		app_say(&w->app, ROLE_ERROR, "%s%s", c->problems.v[0],
			c->problems.n > 1 ? " (and more)" : "");
}

int watch_run(struct options *o)
{
	struct watch w = { 0 };
	struct buf title = { 0 };
	int code = EXIT_TROUBLE;

	config_load(&w.config, o->config);
	w.load.desk = (struct load_desks){ .open = true, .write = !o->read_only && !o->at,
					   .journal = o->journal, .sole_writer = o->sole_writer };
	w.load.follow = !o->headless && !o->no_follow;
	if (load_open(&w.load, o->words.v, o->words.n,
		      o->max_line_bytes ? o->max_line_bytes : w.config.max_line_bytes))
		goto out;
	w.load.model.approve_from = w.config.approve;
	w.load.model.human_from = w.config.human;
	for (uint32_t i = 0; i < o->words.n; i++)
		buf_printf(&title, "%s%s", i ? " " : "", o->words.v[i]);
	app_init(&w.app, &w.load.model, &w.load.reader,
		 o->words.n ? buf_str(&title) : STR("stdin"), o->ascii || w.config.ascii);
	configure(&w);
	w.live = (struct live){ .load = &w.load, .app = &w.app, .config = &w.config,
				.notice = term_notice };
	w.seat = (struct seat){ .options = o, .config = &w.config, .load = &w.load, .app = &w.app };
	seat_take(&w.seat);
	w.headless = o->headless;
	w.painted = o->color == COLOR_ALWAYS;
	w.app.scene.all = o->all;
	if (o->filter && !app_set_filter(&w.app, str_of(o->filter))) {
		fprintf(stderr, "gavel: %.*s\n", STR_ARG(buf_str(&w.app.notice)));
	} else {
		code = o->headless ? run_headless(&w, o) : run_terminal(&w, o);
	}
	grid_free(w.grid);
	seat_leave(&w.seat);
	app_release(&w.app);
	keys_release(&w.keys);
	vec_release(&w.sending);
out:
	config_release(&w.config);
	buf_release(&w.said);
	buf_release(&title);
	load_release(&w.load);
	return code;
}
