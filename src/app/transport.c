/* Moving the playback, and with it what every view looks through. */
#include "app/transport.h"

#include "base/parallel.h"
#include "app/app.h"

const char *const replay_refusal = "this is a replay, nothing is sent; :fork decides on a copy";

enum { MINUTE_MS = 60000 };

static const double speeds[] = { 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000 };
enum { SPEEDS = sizeof(speeds) / sizeof(speeds[0]) };

/* What is shown is that of the playback's cursor. */
static void follow_playback(struct app *a)
{
	/* its lines are those of the whole playback */
	bool timeline_is_stale = a->stale[TAB_TIMELINE];

	a->scene.k = a->playback.k;
	a->scene.now_ms = a->playback.now_ms;
	a->jump = true;
	app_moved(a);
	a->stale[TAB_TIMELINE] = timeline_is_stale;
}

/* What a replay needs to know of the session, each by itself. */
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
	struct playback *f = &a->playback;

	/* a page whose y sends something must not stay; nor a question */
	while (a->screen_count)
		app_back(a);
	a->deciding.confirm = CONFIRM_NONE;
	a->deciding.on_marked = false;
	app_drop_asof(a);
	run_parallel(open_playback, a, make_asof, a);
	a->scene.until = f->end;
	a->stale[TAB_TIMELINE] = true;
	if (from_start)
		playback_seek(f, 0);
	follow_playback(a);
}

void replay_close(struct app *a)
{
	playback_close(&a->playback);
	app_drop_asof(a);
	a->scene.until = 0;
	app_to_end(a);
}

bool replay_tick(struct app *a, int64_t clock_ms)
{
	if (!a->playback.model || !playback_tick(&a->playback, clock_ms))
		return false;
	follow_playback(a);
	return true;
}

int replay_wait_ms(const struct app *a)
{
	return a->playback.model ? playback_wait_ms(&a->playback) : -1;
}

/* ---- seeking ---- */

/* "30s", "2m", "1h", "500ms", "45": a span; bare numbers are seconds. */
static bool parse_span(struct str s, int64_t *ms)
{
	static const struct {
		const char *unit;
		int64_t ms;
	} units[] = { { "ms", 1 }, { "s", 1000 }, { "m", 60000 }, { "h", 3600000 },
		      { "d", 86400000 }, { "", 1000 } };
	uint64_t n;

	for (unsigned i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		struct str unit = str_of(units[i].unit);

		if (!str_ends(s, unit) || !str_to_u64(str_make(s.p, s.n - unit.n), &n) || n > 1000000000)
			continue;
		*ms = (int64_t)n * units[i].ms;
		return true;
	}
	return false;
}

static bool seek(struct app *a, struct str s)
{
	struct playback *f = &a->playback;
	uint64_t n;
	int64_t ms;

	if (!s.n)
		return false;
	if (s.p[0] == '#' && str_to_u64(str_from(s, 1), &n)) {
		playback_seek(f, n < f->end ? (uint32_t)n : f->end);
	} else if (str_ends(s, STR("%")) && str_to_u64(str_make(s.p, s.n - 1), &n) && n <= 100) {
		playback_seek_play(f, playback_length_ms(f) * (double)n / 100);
	} else if ((s.p[0] == '+' || s.p[0] == '-') && parse_span(str_from(s, 1), &ms)) {
		playback_seek_by(f, s.p[0] == '-' ? -ms : ms);
	} else if (timestamp_parse_loose(s, playback_now(f, f->end), &ms)) {
		playback_seek_time(f, ms);
	} else {
		return false;
	}
	return true;
}

bool replay_seek(struct app *a, struct str where)
{
	char q[QUOTED_MAX];

	if (!seek(a, where)) {
		app_say(a, ROLE_ERROR,
			"%s: must be a time such as 10:15, #N, a span such as +30s or -2m, or 40%%",
			quoted(where, q));
		return false;
	}
	follow_playback(a);
	return true;
}

static void jump(struct app *a, unsigned marks, int direction, const char *what)
{
	if (playback_jump(&a->playback, marks, direction))
		follow_playback(a);
	else
		app_say(a, ROLE_DIM, "no %s %s", direction > 0 ? "later" : "earlier", what);
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
	follow_playback(a);
	return true;
}

/* ---- speed ---- */

static void say_speed(struct app *a)
{
	app_say(a, ROLE_DIM, "speed %gx", a->playback.speed);
}

static void change_speed(struct app *a, int direction)
{
	int at = direction > 0 ? 0 : SPEEDS - 1;

	while (at >= 0 && at < SPEEDS &&
	       (direction > 0 ? speeds[at] <= a->playback.speed : speeds[at] >= a->playback.speed))
		at += direction;
	if (at >= 0 && at < SPEEDS)
		a->playback.speed = speeds[at];
	say_speed(a);
}

/* ---- commands ---- */

#define RUN(name) void replay_##name(struct app *a, struct str argument)
#define UNUSED (void)argument

RUN(toggle)
{
	UNUSED;
	if (!a->playback.model) {
		replay_open(a, false);
		app_say(a, ROLE_DIM, "replay: {play} plays, {start} goes to the start, {replay} leaves");
	} else if (a->replays) {
		app_say(a, ROLE_DIM, "this is a replay; {quit} quits");
	} else {
		replay_close(a);
	}
}

RUN(run_play)
{
	UNUSED;
	if (a->playback.playing)
		a->playback.playing = false;
	else
		playback_play(&a->playback, a->clock_ms);
	follow_playback(a);
}

static void step(struct app *a, int by)
{
	a->playback.playing = false;
	if (by < 0 && !a->playback.k)
		return;
	playback_seek(&a->playback, a->playback.k + (uint32_t)by);
	follow_playback(a);
}

RUN(run_step) { UNUSED; step(a, 1); }
RUN(run_step_back) { UNUSED; step(a, -1); }
RUN(run_faster) { UNUSED; change_speed(a, 1); }
RUN(run_slower) { UNUSED; change_speed(a, -1); }

RUN(run_speed)
{
	if (playback_parse_speed(argument, &a->playback.speed))
		say_speed(a);
	else
		app_say(a, ROLE_ERROR, "speed takes a number from 0.1 to 1000");
}

static void minute(struct app *a, int direction)
{
	playback_seek_by(&a->playback, direction * MINUTE_MS);
	follow_playback(a);
}

RUN(run_minute) { UNUSED; minute(a, 1); }
RUN(run_minute_back) { UNUSED; minute(a, -1); }

enum { EVENTS = 1 << PLAYBACK_ITEM | 1 << PLAYBACK_DECISION | 1 << PLAYBACK_ERROR };

RUN(run_next) { UNUSED; jump(a, EVENTS, 1, "item, decision or error"); }
RUN(run_previous) { UNUSED; jump(a, EVENTS, -1, "item, decision or error"); }
RUN(run_next_item) { UNUSED; jump(a, 1 << PLAYBACK_ITEM, 1, "item"); }
RUN(run_previous_item) { UNUSED; jump(a, 1 << PLAYBACK_ITEM, -1, "item"); }
RUN(run_next_decision) { UNUSED; jump(a, 1 << PLAYBACK_DECISION, 1, "decision"); }
RUN(run_previous_decision) { UNUSED; jump(a, 1 << PLAYBACK_DECISION, -1, "decision"); }
RUN(run_next_error) { UNUSED; jump(a, 1 << PLAYBACK_ERROR, 1, "error"); }
RUN(run_previous_error) { UNUSED; jump(a, 1 << PLAYBACK_ERROR, -1, "error"); }
RUN(run_next_iteration) { UNUSED; jump(a, 1 << PLAYBACK_ITERATION, 1, "iteration"); }
RUN(run_previous_iteration) { UNUSED; jump(a, 1 << PLAYBACK_ITERATION, -1, "iteration"); }

RUN(run_start)
{
	UNUSED;
	playback_seek(&a->playback, 0);
	follow_playback(a);
}

/* At the end already, the playback grows by what has come since it was opened. */
RUN(run_end)
{
	UNUSED;
	if (a->playback.k == a->playback.end && a->scene.model->records.n > a->playback.end)
		replay_open(a, false);
	playback_seek(&a->playback, a->playback.end);
	follow_playback(a);
}

RUN(run_loop)
{
	UNUSED;
	playback_loop_here(&a->playback);
	switch (a->playback.loop) {
	case LOOP_NONE: app_say(a, ROLE_DIM, "no loop"); break;
	case LOOP_HALF: app_say(a, ROLE_DIM, "the loop begins here; {loop} again at its end"); break;
	case LOOP_ON: app_say(a, ROLE_DIM, "plays from [ to ] again and again; {loop} ends that"); break;
	}
}

RUN(run_skip)
{
	struct playback *f = &a->playback;
	int64_t ms = 0;
	char span[32];

	if (str_is(argument, "off")) {
		playback_set_skip(f, false, f->idle_ms);
	} else if (!argument.n) {
		playback_set_skip(f, !f->skip, f->idle_ms);
	} else if (parse_span(argument, &ms) && ms > 0) {
		playback_set_skip(f, true, ms);
	} else {
		app_say(a, ROLE_ERROR, "skip takes a span such as 5s or 2m, or off");
		return;
	}
	if (f->skip)
		app_say(a, ROLE_DIM, "idle time over %s is shortened, in %u places",
			timestamp_span(f->idle_ms, span), f->skips);
	else
		app_say(a, ROLE_DIM, "idle time is played as long as it was");
	follow_playback(a);
}

RUN(run_seek)
{
	if (argument.n)
		replay_seek(a, argument);
	else
		prompt_open(&a->prompt, PROMPT_COMMAND, STR("seek "));
}

RUN(run_fork)
{
	a->playback.playing = false;
	app_effect(a, (struct effect){ EFFECT_FORK,
				       .fork = { app_keep(a, argument).p, a->playback.k } });
}
