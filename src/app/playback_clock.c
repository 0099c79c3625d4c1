/* The playback's clocks: the recording's, made of what messages tell, and the one that is watched. Only
 * the gaps between messages are kept. */
#include "app/playback_internal.h"

/* no gap is longer, so that sums cannot overflow whatever senders say */
#define GAP_MAX_MS (INT64_C(1) << 31 << 11) /* 139 years */

/* Follows the times of messages; see the header. */
struct follower {
	int64_t latest; /* TIME_NONE before the first */
	unsigned behind;
};

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
	/* the difference may not fit */
	gap = f->latest < 0 && t > INT64_MAX + f->latest ? GAP_MAX_MS : t - f->latest;
	f->latest = t;
	return gap < GAP_MAX_MS ? gap : GAP_MAX_MS;
}

static int64_t add(int64_t a, int64_t b)
{
	return a > INT64_MAX / 4 - b ? INT64_MAX / 4 : a + b;
}

/* Message i is at `at`, the one before it at `before`. Returns at. */
static int64_t tell(struct playback *f, uint32_t i, int64_t before, int64_t at)
{
	int64_t gap = at - before;

	f->gaps[i] = gap < PLAYBACK_WIDE ? (uint16_t)gap : PLAYBACK_WIDE;
	if (gap >= PLAYBACK_WIDE)
		vec_push(&f->wide, (struct playback_gap){ i, gap });
	return at;
}

/* Messages [from, to) have no time; the gap they lie in ends at message `to`. Returns where the
 * last one is. */
static int64_t spread(struct playback *f, uint32_t from, uint32_t to, int64_t at, int64_t gap)
{
	int64_t step = gap / (int64_t)(to - from + 1);

	step = step < PLAYBACK_STEP_MS ? step : PLAYBACK_STEP_MS;
	for (uint32_t i = from; i < to; i++)
		at = tell(f, i, at, add(at, step));
	return at;
}

/* Messages [from, to), a second apart. */
static int64_t tell_steps(struct playback *f, uint32_t from, uint32_t to, int64_t at)
{
	for (uint32_t i = from; i < to; i++)
		at = tell(f, i, at, add(at, i ? PLAYBACK_STEP_MS : 0));
	return at;
}

void playback_tell_clock(struct playback *f)
{
	const struct record *records = f->model->records.v;
	struct follower follower = { TIME_NONE, 0 };
	uint32_t told = 0; /* messages whose place is known */
	int64_t at = 0;

	for (uint32_t i = 0; i < f->end; i++) {
		int64_t gap, end, before = at;
		bool first;

		if (records[i].time_ms == TIME_NONE)
			continue;
		first = follower.latest == TIME_NONE;
		if (first && i) { /* nothing tells what came before apart */
			before = tell_steps(f, 0, i, 0);
			at = before + PLAYBACK_STEP_MS;
		}
		gap = follow(&follower, records[i].time_ms);
		end = add(at, gap);
		if (!first && told < i)
			before = spread(f, told, i, at, gap);
		at = tell(f, i, before, end);
		told = i + 1;
	}
	/* where time does not move at all, all of them are told anew */
	tell_steps(f, at ? told : 0, f->end, at);
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

int64_t playback_stone_at(const struct playback *f, enum playback_clock clock, uint32_t checkpoint)
{
	return clock == PLAYBACK_PLAY ? f->checkpoints[checkpoint].play_ms : f->checkpoints[checkpoint].clock_ms;
}

int64_t playback_step(const struct playback *f, enum playback_clock clock, uint32_t message)
{
	int64_t gap = playback_gap_of(f, message);

	return clock == PLAYBACK_PLAY ? playback_shortened(f, gap) : gap;
}

int64_t playback_time_at(const struct playback *f, enum playback_clock clock, uint32_t message)
{
	int64_t at = playback_stone_at(f, clock, message / PLAYBACK_CHECKPOINT);

	for (uint32_t i = message / PLAYBACK_CHECKPOINT * PLAYBACK_CHECKPOINT; i <= message; i++)
		at += playback_step(f, clock, i);
	return at;
}

/* Where one is after the first k messages. */
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
		int64_t gap = playback_gap_of(f, i), left = playback_shortened(f, gap);

		if (i % PLAYBACK_CHECKPOINT == 0) {
			f->checkpoints[i / PLAYBACK_CHECKPOINT].clock_ms = clock;
			f->checkpoints[i / PLAYBACK_CHECKPOINT].play_ms = play;
		}
		if (left < gap) {
			f->skipped_ms = add(f->skipped_ms, gap - left);
			f->skips++;
		}
		clock += gap;
		play += left;
	}
	f->length_ms = play;
	f->bar.cols = 0;
}
