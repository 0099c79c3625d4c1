/* gavel replay: the terminal UI on a recording, with the recording's clock; --export writes an
 * asciicast. Journals are read, so that decisions are part of the playback, but never written. */
#include "cmd/cmd.h"
#include "cmd/print.h"
#include "watch/asciicast.h"
#include "watch/watch.h"

#include <stdio.h>
#include <unistd.h>

enum { EXPORT_COLS = 100, EXPORT_ROWS = 30, EXPORT_FRAME_MS = 100 };

struct player {
	struct watch watch;
	struct cast cast; /* f NULL = no export */
};

/* Seeks to --at, or the start, and plays. */
static void loaded(void *ctx, int64_t now_ms)
{
	struct watch *w = &((struct player *)ctx)->watch;
	struct app *a = &w->app;

	replay_open(a, true);
	a->replays = true;
	if (w->options->speed)
		playback_parse_speed(str_of(w->options->speed), &a->playback.speed);
	if (w->options->at && w->options->at[0] == '-')
		playback_seek(&a->playback, a->playback.end); /* so long before its end */
	if (w->options->at)
		replay_seek(a, str_of(w->options->at));
	playback_play(&a->playback, now_ms);
}

static const struct watch_ops replay_ops = { .loaded = loaded };

static void drawn(void *ctx, const struct grid *g, int64_t clock_ms)
{
	struct player *p = ctx;

	if (p->watch.app.playback.model) /* not while loading */
		cast_frame(&p->cast, g, clock_ms);
}

/* Time to the next frame: EXPORT_FRAME_MS, or longer where nothing happens. */
static int pace_ms(void *ctx)
{
	const struct app *a = &((struct player *)ctx)->watch.app;
	int wait = replay_wait_ms(a);

	if (wait < 0 || a->playback.loop == LOOP_ON)
		return 0;
	return wait < EXPORT_FRAME_MS ? EXPORT_FRAME_MS : wait;
}

static const struct watch_ops export_ops = { .loaded = loaded, .drawn = drawn, .pace_ms = pace_ms };

/* Checked before a big log is loaded. */
static bool options_are_fine(const struct options *o)
{
	double speed;

	if (!o->words.n) {
		say_error("replay needs a log: gavel replay LOG");
	} else if (o->speed && !playback_parse_speed(str_of(o->speed), &speed)) {
		say_error("--speed=%s: must be a number from 0.1 to 1000", o->speed);
	} else if (o->at && !replay_is_place(str_of(o->at))) {
		say_error("--at=%s: must be " REPLAY_PLACES, o->at);
	} else if (!o->headless && !o->export_to && !isatty(STDOUT_FILENO)) {
		print_trouble("replay needs a terminal; --export=FILE.cast writes it to a file, "
			      "gavel show VIEW --at=TIME prints one moment");
	} else {
		return true;
	}
	return false;
}

static int begin_export(struct player *p, struct options *o, struct str title)
{
	struct err err;

	if (!o->cols)
		o->cols = EXPORT_COLS;
	if (!o->rows)
		o->rows = EXPORT_ROWS;
	o->headless = p->watch.headless = true;
	p->watch.ops = &export_ops;
	if (cast_open(&p->cast, o->export_to, o->rows, o->cols, title, o->ascii, &err) == 0)
		return 0;
	say_error("%s", err.text);
	return -1;
}

static int end_export(struct player *p, int code)
{
	struct err err;
	char span[32];

	if (!p->cast.f)
		return code;
	if (cast_close(&p->cast, &err) < 0)
		return print_trouble("%s", err.text);
	if (code == EXIT_FINE)
		say("%s: %u frame%s, %s", p->cast.file, p->cast.frames,
		    plural_s(p->cast.frames), timestamp_span(p->cast.last_ms, span));
	return code;
}

int cmd_replay(struct options *o)
{
	struct player p = { 0 };
	struct watch *w = &p.watch;
	struct buf title = { 0 };
	int code = EXIT_TROUBLE;

	if (!options_are_fine(o))
		return EXIT_TROUBLE;
	watch_init(w, o);
	w->load.desk_options.write = false;
	w->ops = &replay_ops;
	w->ops_ctx = &p;
	watch_title(o, &title);
	if (load_open(&w->load, o->words.v, o->words.n, o->max_line_bytes) == 0 &&
	    !(o->export_to && begin_export(&p, o, buf_str(&title)))) {
		watch_begin(w, buf_str(&title));
		watch_begin_with_sessions(w);
		w->app.read_only = replay_refusal;
		code = end_export(&p, watch_go(w, buf_str(&title)));
	}
	watch_release(w);
	buf_release(&title);
	return code;
}
