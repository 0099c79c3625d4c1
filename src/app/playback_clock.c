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
static int64_t set_gap(struct playback *p, uint32_t i, int64_t before, int64_t at)
{
	int64_t gap = at - before;

	p->gaps[i] = gap < PLAYBACK_WIDE ? (uint16_t)gap : PLAYBACK_WIDE;
	if (gap >= PLAYBACK_WIDE)
		vec_push(&p->wide, (struct playback_gap){ i, gap });
	return at;
}

/* Spreads messages [from, to), which have no time, over the gap that ends at message `to`. Returns
 * the time of the last one. */
static int64_t spread(struct playback *p, uint32_t from, uint32_t to, int64_t at, int64_t gap)
{
	int64_t step = gap / (int64_t)(to - from + 1);

	step = step < PLAYBACK_STEP_MS ? step : PLAYBACK_STEP_MS;
	for (uint32_t i = from; i < to; i++)
		at = set_gap(p, i, at, add(at, step));
	return at;
}

/* Sets messages [from, to) a second apart. */
static int64_t set_steps(struct playback *p, uint32_t from, uint32_t to, int64_t at)
{
	for (uint32_t i = from; i < to; i++)
		at = set_gap(p, i, at, add(at, i ? PLAYBACK_STEP_MS : 0));
	return at;
}

void playback_make_gaps(struct playback *p)
{
	const struct record *records = p->model->records.v;
	struct follower follower = { TIME_NONE, 0 };
	uint32_t placed = 0; /* messages whose gap is set */
	int64_t at = 0;

	for (uint32_t i = 0; i < p->end; i++) {
		int64_t gap, end, before = at;
		bool first;

		if (records[i].time_ms == TIME_NONE)
			continue;
		first = follower.latest == TIME_NONE;
		if (first && i) { /* those before it have no time */
			before = set_steps(p, 0, i, 0);
			at = before + PLAYBACK_STEP_MS;
		}
		gap = follow(&follower, records[i].time_ms);
		end = add(at, gap);
		if (!first && placed < i)
			before = spread(p, placed, i, at, gap);
		at = set_gap(p, i, before, end);
		placed = i + 1;
	}
	/* if time never advanced, all messages are set a second apart */
	set_steps(p, at ? placed : 0, p->end, at);
}

int64_t playback_gap_of(const struct playback *p, uint32_t message)
{
	uint32_t next = 1;

	if (p->gaps[message] != PLAYBACK_WIDE)
		return p->gaps[message];
	bisect(next, p->wide.n, i, p->wide.v[i].message <= message)
	return p->wide.v[next - 1].ms;
}

int64_t playback_shortened(const struct playback *p, int64_t gap)
{
	return p->skip && gap > p->idle_ms ? p->idle_ms : gap;
}

int64_t playback_checkpoint_at(const struct playback *p, enum playback_clock clock, uint32_t i)
{
	return clock == CLOCK_SHORTENED ? p->checkpoints[i].play_ms : p->checkpoints[i].clock_ms;
}

int64_t playback_step(const struct playback *p, enum playback_clock clock, uint32_t message)
{
	int64_t gap = playback_gap_of(p, message);

	return clock == CLOCK_SHORTENED ? playback_shortened(p, gap) : gap;
}

int64_t playback_time_at(const struct playback *p, enum playback_clock clock, uint32_t message)
{
	int64_t at = playback_checkpoint_at(p, clock, message / PLAYBACK_CHECKPOINT);

	for (uint32_t i = message / PLAYBACK_CHECKPOINT * PLAYBACK_CHECKPOINT; i <= message; i++)
		at += playback_step(p, clock, i);
	return at;
}

double playback_time_after(const struct playback *p, enum playback_clock clock, uint32_t k)
{
	return k ? (double)playback_time_at(p, clock, k - 1) : 0;
}

void playback_shorten(struct playback *p)
{
	int64_t clock = 0, play = 0;

	p->skipped_ms = 0;
	p->skips = 0;
	for (uint32_t i = 0; i < p->end; i++) {
		int64_t gap = playback_gap_of(p, i), shortened = playback_shortened(p, gap);

		if (i % PLAYBACK_CHECKPOINT == 0) {
			p->checkpoints[i / PLAYBACK_CHECKPOINT].clock_ms = clock;
			p->checkpoints[i / PLAYBACK_CHECKPOINT].play_ms = play;
		}
		if (shortened < gap) {
			p->skipped_ms = add(p->skipped_ms, gap - shortened);
			p->skips++;
		}
		clock += gap;
		play += shortened;
	}
	p->length_ms = play;
	p->bar.cols = 0;
}
