/* gavel SOURCE: the terminal UI. Reading goes on between keys: after each few milliseconds of
 * messages the loop takes a breath, answers what was typed and draws. With --headless the same
 * program runs on a key file and a grid. */
#include "cmd/config.h"
#include "cmd/load.h"
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
	BREATH_MS = 15,   /* reading goes on for that long before keys are looked at */
	ARRIVED_MS = 200, /* views are made anew at most that often while reading */
	COSTLY_MS = 25,
	FRAME_MS = 33,
};

struct watch {
	struct load load;
	struct app app;
	struct keys keys;
	struct grid *grid;
	struct config config;
	struct buf said; /* while the screen was ours; printed afterwards */
	bool headless, quit;
	bool painted; /* saved screens have colours in place of role letters */
	int code;
	int64_t breathed_ms, drawn_ms;
	int64_t arrive_ms; /* when the views are next told what has come */
};

static void draw(struct watch *w)
{
	int row, col, rows, cols;

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

/* The file's name is an argument, never part of the shell's text. */
static void edit(struct watch *w, const char *file, uint32_t line)
{
	struct err err;
	char at[24];
	pid_t child;
	int status;

	if (w->headless)
		return;
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
		}
		free(e.text);
	}
	w->app.effects.n = 0;
	w->load.wire.stop = w->quit;
}

static void on_key(void *ctx, const struct key *key)
{
	struct watch *w = ctx;

	if (w->quit)
		return;
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
	int ready = loop_wait(term_fd(), timeout_ms), n;
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
		draw(w);
		/* the more there is to list, the less often it is listed anew; once that takes longer
		 * than a key may wait, not before all is read */
		cost = loop_now_ms() - now;
		w->arrive_ms = cost > COSTLY_MS ? INT64_MAX : now + ARRIVED_MS + 8 * cost;
	}
	w->app.bytes_done = l->wire.bytes_done;
	pump(w, 0);
	w->breathed_ms = loop_now_ms();
}

/* A pipe that says nothing must not keep keys waiting. */
static bool idle(void *ctx)
{
	struct watch *w = ctx;

	pump(w, 0);
	return !w->quit;
}

static bool on_headless(void *ctx, const struct key *key, int64_t wait_ms)
{
	struct watch *w = ctx;

	(void)wait_ms; /* nothing here depends on the clock yet */
	if (key)
		on_key(w, key);
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
	draw(w);
	if ((o->keys && headless_run(o->keys, on_headless, w, &err) < 0) ||
	    (o->screen && save_screen(w, o->screen, &err) < 0)) {
		fprintf(stderr, "gavel: %s\n", err.text);
		return EXIT_TROUBLE;
	}
	return w->code;
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
	w->load.hold = &w->said;
	w->load.wire.idle = (struct idle){ idle, w };
	draw(w);
	load_run(&w->load, breathe, w);
	app_arrived(&w->app, w->load.wire.bytes_done, w->load.wire.bytes_total, false);
	if (w->said.n)
		app_say(&w->app, ROLE_WARN, "%.*s", (int)strcspn(w->said.p, "\n"), w->said.p);
	while (!w->quit) {
		draw(w);
		pump(w, keys_wait(&w->keys, loop_now_ms()));
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
	w.headless = o->headless;
	w.painted = o->color == COLOR_ALWAYS;
	w.app.scene.all = o->all;
	if (o->filter && !app_set_filter(&w.app, str_of(o->filter))) {
		fprintf(stderr, "gavel: %.*s\n", STR_ARG(buf_str(&w.app.notice)));
	} else {
		code = o->headless ? run_headless(&w, o) : run_terminal(&w, o);
	}
	grid_free(w.grid);
	app_release(&w.app);
	keys_release(&w.keys);
out:
	config_release(&w.config);
	buf_release(&w.said);
	buf_release(&title);
	load_release(&w.load);
	return code;
}
