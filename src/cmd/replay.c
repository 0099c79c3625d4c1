/* gavel replay: the terminal UI on a recording, with the recording's clock. The journals are read, so
 * what was decided is part of the film, and never written. */
#include "cmd/watch.h"

#include <stdio.h>
#include <unistd.h>

/* Where it begins: --at, or the start; then it plays. */
static void loaded(void *ctx, int64_t now_ms)
{
	struct watch *w = ctx;
	struct app *a = &w->app;

	replay_open(a, true);
	a->replays = true;
	if (w->options->speed)
		film_parse_speed(str_of(w->options->speed), &a->film.speed);
	if (w->options->at)
		replay_seek(a, str_of(w->options->at));
	film_play(&a->film, now_ms);
}

static const struct watch_ops replay_ops = { .loaded = loaded };

/* What is wrong with the options is told before a gigabyte is read. */
static bool options_are_fine(const struct options *o)
{
	double speed;

	if (!o->words.n) {
		fprintf(stderr, "gavel: replay needs a log: gavel replay LOG\n");
	} else if (o->speed && !film_parse_speed(str_of(o->speed), &speed)) {
		fprintf(stderr, "gavel: --speed=%s: must be a number from 0.1 to 1000\n", o->speed);
	} else if (!o->headless && !isatty(STDOUT_FILENO)) {
		fprintf(stderr, "gavel: replay needs a terminal; gavel show VIEW --at=TIME prints one "
				"moment\n");
	} else {
		return true;
	}
	return false;
}

int cmd_replay(struct options *o)
{
	struct watch w = { 0 };
	struct buf title = { 0 };
	int code = EXIT_TROUBLE;

	if (!options_are_fine(o))
		return EXIT_TROUBLE;
	watch_init(&w, o);
	w.load.threads = o->threads;
	w.load.desk.write = false;
	w.ops = &replay_ops;
	w.ops_ctx = &w;
	for (uint32_t i = 0; i < o->words.n; i++)
		buf_printf(&title, "%s%s", i ? " " : "", o->words.v[i]);
	if (load_open(&w.load, o->words.v, o->words.n,
		      o->max_line_bytes ? o->max_line_bytes : w.config.max_line_bytes) == 0) {
		watch_begin(&w, buf_str(&title));
		w.app.read_only = replay_refusal;
		code = watch_go(&w, buf_str(&title));
	}
	watch_release(&w);
	buf_release(&title);
	return code;
}
