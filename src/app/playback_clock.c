/* The clocks of a playback: gaps between messages from their timestamps (the rules are in
 * playback.h), and the clock with idle gaps shortened. */
#include "app/playback_internal.h"

/* clamps gaps, so that sums cannot overflow whatever the timestamps */
#define GAP_MAX_MS (INT64_C(1) << 31 << 11) /* 139 years */

/* Turns untrusted timestamps into a monotonic clock. */
struct follower {
	int64_t latest; /* TIME_NONE before the first */
	unsigned behind;
};

/* Returns by how much the clock advances. */
static int64_t follow(struct follower *f, int64_t t)
{
	int64_t gap;

	if (f->latest == TIME_NONE) {
		f->latest = t;
		return 0;
	}
	if (t < f->latest) {
		if (++f->behind >= PLAYBACK_BACK_MESSAGES) {
			f->latest = t;
			f->behind = 0;
		}
		return 0;
	}
	f->behind = 0;
	/* the subtraction may overflow */
	gap = f->latest < 0 && t > INT64_MAX + f->latest ? GAP_MAX_MS : t - f->latest;
	f->latest = t;
	return gap < GAP_MAX_MS ? gap : GAP_MAX_MS;
}

static int64_t add(int64_t a, int64_t b)
{
	return a > INT64_MAX / 4 - b ? INT64_MAX / 4 : a + b;
}

/* Stores the gap of message i, from `before` to `at`. Returns at. */
static int64_t set_gap(struct playback *f, uint32_t i, int64_t before, int64_t at)
{
	int64_t gap = at - before;

	f->gaps[i] = gap < PLAYBACK_WIDE ? (uint16_t)gap : PLAYBACK_WIDE;
	if (gap >= PLAYBACK_WIDE)
		vec_push(&f->wide, (struct playback_gap){ i, gap });
	return at;
}

/* Spreads messages [from, to), which have no time, over the gap that ends at message `to`. Returns
 * the time of the last one. */
static int64_t spread(struct playback *f, uint32_t from, uint32_t to, int64_t at, int64_t gap)
{
	int64_t step = gap / (int64_t)(to - from + 1);

	step = step < PLAYBACK_STEP_MS ? step : PLAYBACK_STEP_MS;
	for (uint32_t i = from; i < to; i++)
		at = set_gap(f, i, at, add(at, step));
	return at;
}

/* Sets messages [from, to) a second apart. */
static int64_t set_steps(struct playback *f, uint32_t from, uint32_t to, int64_t at)
{
	for (uint32_t i = from; i < to; i++)
		at = set_gap(f, i, at, add(at, i ? PLAYBACK_STEP_MS : 0));
	return at;
}

void playback_make_gaps(struct playback *f)
{
	const struct record *records = f->model->records.v;
	struct follower follower = { TIME_NONE, 0 };
	uint32_t placed = 0; /* messages whose gap is set */
	int64_t at = 0;

	for (uint32_t i = 0; i < f->end; i++) {
		int64_t gap, end, before = at;
		bool first;

		if (records[i].time_ms == TIME_NONE)
			continue;
		first = follower.latest == TIME_NONE;
		if (first && i) { /* those before it have no time */
			before = set_steps(f, 0, i, 0);
			at = before + PLAYBACK_STEP_MS;
		}
		gap = follow(&follower, records[i].time_ms);
		end = add(at, gap);
		if (!first && placed < i)
			before = spread(f, placed, i, at, gap);
		at = set_gap(f, i, before, end);
		placed = i + 1;
	}
	/* if time never advanced, all messages are set a second apart */
	set_steps(f, at ? placed : 0, f->end, at);
}

int64_t playback_gap_of(const struct playback *f, uint32_t message)
{
	uint32_t next = 1;

	if (f->gaps[message] != PLAYBACK_WIDE)
		return f->gaps[message];
	bisect(next, f->wide.n, i, f->wide.v[i].message <= message)
	return f->wide.v[next - 1].ms;
}

int64_t playback_shortened(const struct playback *f, int64_t gap)
{
	return f->skip && gap > f->idle_ms ? f->idle_ms : gap;
}

int64_t playback_checkpoint_at(const struct playback *f, enum playback_clock clock, uint32_t i)
{
	return clock == PLAYBACK_PLAY ? f->checkpoints[i].play_ms : f->checkpoints[i].clock_ms;
}

int64_t playback_step(const struct playback *f, enum playback_clock clock, uint32_t message)
{
	int64_t gap = playback_gap_of(f, message);

	return clock == PLAYBACK_PLAY ? playback_shortened(f, gap) : gap;
}

int64_t playback_time_at(const struct playback *f, enum playback_clock clock, uint32_t message)
{
	int64_t at = playback_checkpoint_at(f, clock, message / PLAYBACK_CHECKPOINT);

	for (uint32_t i = message / PLAYBACK_CHECKPOINT * PLAYBACK_CHECKPOINT; i <= message; i++)
		at += playback_step(f, clock, i);
	return at;
}

double playback_time_after(const struct playback *f, enum playback_clock clock, uint32_t k)
{
	return k ? (double)playback_time_at(f, clock, k - 1) : 0;
}

void playback_shorten(struct playback *f)
{
	int64_t clock = 0, play = 0;

	f->skipped_ms = 0;
	f->skips = 0;
	for (uint32_t i = 0; i < f->end; i++) {
		int64_t gap = playback_gap_of(f, i), shortened = playback_shortened(f, gap);

		if (i % PLAYBACK_CHECKPOINT == 0) {
			f->checkpoints[i / PLAYBACK_CHECKPOINT].clock_ms = clock;
			f->checkpoints[i / PLAYBACK_CHECKPOINT].play_ms = play;
		}
		if (shortened < gap) {
			f->skipped_ms = add(f->skipped_ms, gap - shortened);
			f->skips++;
		}
		clock += gap;
		play += shortened;
	}
	f->length_ms = play;
	f->bar.cols = 0;
}
