/* Replay commands: play, step, seek, speed, loop, skip. Each moves the playback and then the scene
 * with it. */
#include "app/replay.h"

#include "base/parallel.h"
#include "app/app.h"
#include "app/commands.h"

#include <stdlib.h>

const char *const replay_refusal = "replay: nothing is sent; :fork decides on a copy";

enum { MINUTE_MS = 60000 };

static const double speeds[] = { 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000 };
enum { SPEEDS = sizeof(speeds) / sizeof(speeds[0]) };

/* Sets the scene to the playback's position. */
static void sync_scene(struct app *a)
{
	/* the timeline is laid out once, for the whole playback */
	bool timeline_is_stale = a->stale[TAB_TIMELINE];

	a->scene.k = a->playback.k;
	a->scene.now_ms = a->playback.now_ms;
	a->scene.live = false;
	a->select_last = true;
	app_scene_changed(a);
	a->stale[TAB_TIMELINE] = timeline_is_stale;
}

/* The two indexes a replay needs, built in parallel by replay_open. */
static void open_playback(void *app)
{
	struct app *a = app;

	playback_open(&a->playback, a->scene.model, a->scene.model->records.n);
}

static void make_asof(void *app)
{
	struct app *a = app;

	a->scene.asof = asof_new(a->scene.model, a->scene.model->records.n);
}

void replay_open(struct app *a, bool from_start)
{
	struct playback *p = &a->playback;

	/* neither a page nor a question may stay open whose y would send something */
	if (a->screen_count)
		trail_push(a);
	while (a->screen_count)
		app_back(a);
	a->deciding.confirm = CONFIRM_NONE;
	a->deciding.on_marked = false;
	app_drop_asof(a);
	run_parallel(open_playback, a, make_asof, a);
	a->scene.until = p->end;
	a->stale[TAB_TIMELINE] = true;
	if (from_start)
		playback_seek(p, 0);
	sync_scene(a);
}

bool replay_tick(struct app *a, int64_t clock_ms)
{
	if (!a->playback.model || !playback_tick(&a->playback, clock_ms))
		return false;
	sync_scene(a);
	return true;
}

int replay_wait_ms(const struct app *a)
{
	return a->playback.model ? playback_wait_ms(&a->playback) : -1;
}

/* ---- seeking ---- */

/* "40%" */
static bool parse_percent(struct str s, uint64_t *n)
{
	return str_ends(s, STR("%")) && str_to_u64(str_make(s.p, s.n - 1), n) && *n <= 100;
}

/* "+30s" and "-2m" */
static bool parse_step(struct str s, int64_t *ms)
{
	if (!s.n || (s.p[0] != '+' && s.p[0] != '-') || !timestamp_parse_span(str_from(s, 1), ms))
		return false;
	*ms = s.p[0] == '-' ? -*ms : *ms;
	return true;
}

bool replay_is_place(struct str where)
{
	struct str rest = str_from(where, 1), number = str_cut(&rest, STR("."));
	uint64_t n;
	int64_t ms;

	if (where.n && where.p[0] == '#')
		return str_to_u64(number, &n) && (!rest.n || str_to_u64(rest, &n));
	return where.n && (parse_percent(where, &n) || parse_step(where, &ms) ||
			   timestamp_parse_loose(where, 0, &ms));
}

bool replay_seek(struct app *a, struct str where)
{
	struct playback *p = &a->playback;
	char q[QUOTED_MAX];
	uint64_t n;
	uint32_t k;
	int64_t ms;

	if (model_cut_named(a->scene.model, where, &k)) {
		playback_seek(p, k < p->end ? k : p->end);
	} else if (parse_percent(where, &n)) {
		playback_seek_play(p, playback_length_ms(p) * (double)n / 100);
	} else if (parse_step(where, &ms)) {
		playback_seek_by(p, ms);
	} else if (where.n && timestamp_parse_loose(where, playback_now(p, p->end), &ms)) {
		playback_seek_time(p, ms);
	} else {
		app_say(a, ROLE_ERROR, "%s: must be " REPLAY_PLACES, quoted(where, q));
		return false;
	}
	sync_scene(a);
	return true;
}

bool replay_mouse(struct app *a, const struct key *key)
{
	struct rect r = a->bar_rect;

	if (!a->playback.model || key->button != 1)
		return false;
	if (key->mouse == MOUSE_PRESS)
		a->dragging = rect_has(r, key->row, key->col);
	if (!a->dragging || (key->mouse != MOUSE_PRESS && key->mouse != MOUSE_DRAG)) {
		a->dragging = a->dragging && key->mouse != MOUSE_RELEASE;
		return false;
	}
	playback_seek_play(&a->playback, playback_at_col(&a->playback, key->col - r.col, r.cols));
	sync_scene(a);
	return true;
}

/* ---- speed ---- */

static void say_speed(struct app *a)
{
	app_say(a, ROLE_DIM, "speed %gx", a->playback.speed);
}

COMMAND(speed_step)
{
	int at = number > 0 ? 0 : SPEEDS - 1;

	while (at >= 0 && at < SPEEDS &&
	       (number > 0 ? speeds[at] <= a->playback.speed : speeds[at] >= a->playback.speed))
		at += number;
	if (at >= 0 && at < SPEEDS)
		a->playback.speed = speeds[at];
	say_speed(a);
}

COMMAND(speed)
{
	if (playback_parse_speed(argument, &a->playback.speed))
		say_speed(a);
	else
		app_say(a, ROLE_ERROR, "speed takes a number from 0.1 to 1000");
}

/* ---- other commands ---- */

COMMAND(replay)
{
	if (!a->playback.model) {
		replay_open(a, false);
		app_say(a, ROLE_DIM,
			"replay: {play} plays, {start} goes to the start, {replay} leaves");
	} else if (a->replays) {
		app_say(a, ROLE_DIM, "replay; {quit} quits");
	} else {
		playback_close(&a->playback);
		app_drop_asof(a);
		a->scene.until = 0;
		app_to_end(a);
	}
}

COMMAND(play)
{
	if (a->playback.playing)
		a->playback.playing = false;
	else
		playback_play(&a->playback, a->clock_ms);
	sync_scene(a);
}

COMMAND(step)
{
	a->playback.playing = false;
	if (number < 0 && !a->playback.k)
		return;
	playback_seek(&a->playback, a->playback.k + (uint32_t)number);
	sync_scene(a);
}

COMMAND(minute)
{
	playback_seek_by(&a->playback, number * MINUTE_MS);
	sync_scene(a);
}

static void jump(struct app *a, unsigned marks, int direction, const char *what)
{
	if (playback_jump(&a->playback, marks, direction))
		sync_scene(a);
	else
		app_say(a, ROLE_DIM, "no %s %s", direction > 0 ? "later" : "earlier", what);
}

COMMAND(event_step)
{
	jump(a, 1 << PLAYBACK_ITEM | 1 << PLAYBACK_DECISION | 1 << PLAYBACK_ERROR, number,
	     "item, decision or error");
}

COMMAND(mark_jump)
{
	static const char *const names[PLAYBACK_MARKS] = {
		[PLAYBACK_ITEM] = "item",
		[PLAYBACK_DECISION] = "decision",
		[PLAYBACK_ERROR] = "error",
		[PLAYBACK_ITERATION] = "iteration",
	};

	jump(a, 1u << abs(number), number > 0 ? 1 : -1, names[abs(number)]);
}

COMMAND(replay_start)
{
	playback_seek(&a->playback, 0);
	sync_scene(a);
}

/* At the end already, extends the playback by the messages that arrived since it was opened. */
COMMAND(replay_end)
{
	if (a->playback.k == a->playback.end && a->scene.model->records.n > a->playback.end)
		replay_open(a, false);
	playback_seek(&a->playback, a->playback.end);
	sync_scene(a);
}

COMMAND(loop)
{
	playback_loop_here(&a->playback);
	switch (a->playback.loop) {
	case LOOP_NONE: app_say(a, ROLE_DIM, "no loop"); break;
	case LOOP_HALF:
		app_say(a, ROLE_DIM, "the loop begins here; {loop} again at its end");
		break;
	case LOOP_ON:
		app_say(a, ROLE_DIM, "looping from [ to ]; {loop} stops");
		break;
	}
}

COMMAND(skip)
{
	struct playback *p = &a->playback;
	int64_t ms = 0;
	char span[32];

	if (str_is(argument, "off")) {
		playback_set_skip(p, false, p->idle_ms);
	} else if (!argument.n) {
		playback_set_skip(p, !p->skip, p->idle_ms);
	} else if (timestamp_parse_span(argument, &ms) && ms > 0) {
		playback_set_skip(p, true, ms);
	} else {
		app_say(a, ROLE_ERROR, "skip takes a span such as 5s or 2m, or off");
		return;
	}
	if (p->skip)
		app_say(a, ROLE_DIM, "idle time over %s is skipped, in %u place%s",
			timestamp_span(p->idle_ms, span), p->skips, plural_s(p->skips));
	else
		app_say(a, ROLE_DIM, "idle time is played in full");
	sync_scene(a);
}

COMMAND(seek)
{
	if (argument.n)
		replay_seek(a, argument);
	else
		prompt_open(&a->prompt, PROMPT_COMMAND, STR("seek "));
}

COMMAND(fork)
{
	a->playback.playing = false;
	app_effect(a, (struct effect){ EFFECT_FORK,
				       .fork = { app_effect_dup(a, argument).p, a->playback.k } });
}
