/* Playback: marks and checkpoints, seeking, playing, and the histogram for the replay bar. */
#include "app/playback_internal.h"

#include "model/prefetch.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- marks and checkpoints ---- */

static void mark(struct playback *f, uint32_t message, enum playback_mark what)
{
	if (message < f->end)
		f->marks[message] |= (uint8_t)(1u << what);
}

static void mark_items(struct playback *f)
{
	const struct model *m = f->model;

	for (uint32_t i = 0; i < m->items.n; i++) {
		const struct item *item = &m->items.v[i];

		items_prefetch(m, i);
		for (uint32_t n = 0; n < item->n && item->steps[n].message < f->end; n++)
			if (item->steps[n].what == STEP_RAISED)
				mark(f, item->steps[n].message, PLAYBACK_ITEM);
			else if (item->steps[n].what == STEP_DECIDED)
				mark(f, item->steps[n].message, PLAYBACK_DECISION);
	}
	/* the user's decisions, at the message they followed */
	for (uint32_t i = 0; i < m->overlays.n; i++)
		if (m->overlays.v[i].from)
			mark(f, m->overlays.v[i].from - 1, PLAYBACK_DECISION);
}

static void mark_reviews(struct playback *f)
{
	const struct model *m = f->model;

	for (uint32_t i = 0; i < m->reviews.n; i++) {
		uint32_t iteration = UINT32_MAX;

		for (uint32_t n = 0; n < m->reviews.v[i].steps.n; n++) {
			const struct review_step *s = &m->reviews.v[i].steps.v[n];

			if (s->iteration != iteration)
				mark(f, s->message, PLAYBACK_ITERATION);
			iteration = s->iteration;
		}
	}
}

static void mark_records(struct playback *f)
{
	struct playback_checkpoint checkpoint = { .now_ms = TIME_NONE };

	for (uint32_t i = 0; i < f->end; i++) {
		const struct record *r = &f->model->records.v[i];

		if (i % PLAYBACK_CHECKPOINT == 0)
			f->checkpoints[i / PLAYBACK_CHECKPOINT] = checkpoint;
		f->marks[i] |= 1u << PLAYBACK_MESSAGE;
		if (r->errors)
			mark(f, i, PLAYBACK_ERROR);
		checkpoint.errors += r->errors > 0;
		if (r->time_ms > checkpoint.now_ms)
			checkpoint.now_ms = r->time_ms;
	}
	if (f->end % PLAYBACK_CHECKPOINT == 0)
		f->checkpoints[f->end / PLAYBACK_CHECKPOINT] = checkpoint;
}

int64_t playback_now(const struct playback *f, uint32_t k)
{
	int64_t now = f->checkpoints[k / PLAYBACK_CHECKPOINT].now_ms;

	for (uint32_t i = k / PLAYBACK_CHECKPOINT * PLAYBACK_CHECKPOINT; i < k; i++)
		if (f->model->records.v[i].time_ms > now)
			now = f->model->records.v[i].time_ms;
	return now;
}

uint32_t playback_errors(const struct playback *f, uint32_t k)
{
	uint32_t n = f->checkpoints[k / PLAYBACK_CHECKPOINT].errors;

	for (uint32_t i = k / PLAYBACK_CHECKPOINT * PLAYBACK_CHECKPOINT; i < k; i++)
		n += f->model->records.v[i].errors > 0;
	return n;
}

void playback_open(struct playback *f, const struct model *m, uint32_t n)
{
	struct playback before = *f;

	playback_close(f);
	f->model = m;
	f->end = n;
	f->marks = xcalloc(n + 1, sizeof(*f->marks));
	f->gaps = xmalloc((n + 1) * sizeof(*f->gaps));
	f->checkpoints = xmalloc((n / PLAYBACK_CHECKPOINT + 1) * sizeof(*f->checkpoints));
	f->speed = before.speed > 0 ? before.speed : 1;
	f->skip = before.idle_ms ? before.skip : true;
	f->idle_ms = before.idle_ms ? before.idle_ms : PLAYBACK_IDLE_MS;
	mark_records(f);
	mark_items(f);
	mark_reviews(f);
	playback_make_gaps(f);
	playback_shorten(f);
	playback_seek(f, n);
}

void playback_close(struct playback *f)
{
	struct playback kept = { .speed = f->speed, .skip = f->skip, .idle_ms = f->idle_ms };

	free(f->marks);
	free(f->gaps);
	vec_release(&f->wide);
	free(f->checkpoints);
	for (int i = 0; i < PLAYBACK_MARKS; i++)
		free(f->bar.n[i]);
	free(f->bar.skipped);
	*f = kept;
}

/* ---- seeking ---- */

double playback_length_ms(const struct playback *f)
{
	return (double)f->length_ms;
}

/* The number of messages up to a time: binary search over checkpoints, then linear. */
static uint32_t messages_until(const struct playback *f, enum playback_clock clock, double at_ms)
{
	uint32_t low = 0, k;
	uint32_t high = f->end / PLAYBACK_CHECKPOINT + (f->end % PLAYBACK_CHECKPOINT > 0);
	int64_t at;

	while (low + 1 < high) {
		uint32_t middle = low + (high - low) / 2;

		if ((double)playback_checkpoint_at(f, clock, middle) <= at_ms)
			low = middle;
		else
			high = middle;
	}
	k = low * PLAYBACK_CHECKPOINT;
	for (at = high ? playback_checkpoint_at(f, clock, low) : 0; k < f->end; k++) {
		at += playback_step(f, clock, k);
		if ((double)at > at_ms)
			break;
	}
	return k;
}

/* Between two messages now_ms is interpolated. */
static void update_now(struct playback *f)
{
	double from = playback_time_after(f, PLAYBACK_PLAY, f->k), gap;
	int64_t next;

	f->now_ms = playback_now(f, f->k);
	if (f->k >= f->end || f->now_ms == TIME_NONE || f->at_ms <= from)
		return;
	gap = (double)playback_step(f, PLAYBACK_PLAY, f->k);
	next = f->model->records.v[f->k].time_ms;
	if (gap > 0 && next > f->now_ms)
		f->now_ms += (int64_t)(((double)next - (double)f->now_ms) * (f->at_ms - from) /
				       gap);
}

void playback_seek(struct playback *f, uint32_t k)
{
	f->k = k < f->end ? k : f->end;
	f->at_ms = playback_time_after(f, PLAYBACK_PLAY, f->k);
	f->now_ms = playback_now(f, f->k);
}

void playback_seek_play(struct playback *f, double at_ms)
{
	double length = playback_length_ms(f);

	f->at_ms = at_ms < 0 ? 0 : at_ms > length ? length : at_ms;
	f->k = messages_until(f, PLAYBACK_PLAY, f->at_ms);
	update_now(f);
}

/* Converts a position from one clock to the other, interpolating inside a gap. */
static double other_clock(const struct playback *f, enum playback_clock from, double at_ms)
{
	enum playback_clock to = from == PLAYBACK_CLOCK ? PLAYBACK_PLAY : PLAYBACK_CLOCK;
	uint32_t k = messages_until(f, from, at_ms);
	double start = playback_time_after(f, to, k), gap;

	if (k >= f->end)
		return start;
	gap = (double)playback_step(f, from, k);
	if (gap <= 0)
		return start;
	return start + (double)playback_step(f, to, k) *
			       (at_ms - playback_time_after(f, from, k)) / gap;
}

void playback_seek_by(struct playback *f, int64_t ms)
{
	double at = other_clock(f, PLAYBACK_PLAY, f->at_ms) + (double)ms;

	if (at < 0)
		playback_seek(f, 0);
	else
		playback_seek_play(f, other_clock(f, PLAYBACK_CLOCK, at));
}

void playback_seek_time(struct playback *f, int64_t time_ms)
{
	uint32_t k = model_cut_at(f->model, time_ms);

	playback_seek(f, k);
	if (k && k <= f->end)
		f->now_ms = time_ms;
}

bool playback_jump(struct playback *f, unsigned marks, int direction)
{
	/* the position is just after message k - 1 */
	int64_t i = (int64_t)f->k - (direction < 0 ? 2 : 0);

	for (; i >= 0 && i < f->end; i += direction)
		if (f->marks[i] & marks) {
			playback_seek(f, (uint32_t)i + 1);
			return true;
		}
	return false;
}

void playback_set_skip(struct playback *f, bool skip, int64_t idle_ms)
{
	double at = 0, from = 0, to = 0;

	if (f->model) {
		at = other_clock(f, PLAYBACK_PLAY, f->at_ms);
		from = other_clock(f, PLAYBACK_PLAY, f->loop_from_ms);
		to = other_clock(f, PLAYBACK_PLAY, f->loop_to_ms);
	}
	f->skip = skip;
	f->idle_ms = idle_ms > 0 ? idle_ms : PLAYBACK_IDLE_MS;
	if (!f->model)
		return;
	playback_shorten(f);
	/* the position stays the same on the recording's clock */
	f->at_ms = other_clock(f, PLAYBACK_CLOCK, at);
	f->loop_from_ms = other_clock(f, PLAYBACK_CLOCK, from);
	f->loop_to_ms = other_clock(f, PLAYBACK_CLOCK, to);
}

void playback_loop_here(struct playback *f)
{
	if (f->loop == LOOP_NONE) {
		f->loop_from_ms = f->at_ms;
		f->loop = LOOP_HALF;
	} else if (f->loop == LOOP_HALF && f->at_ms != f->loop_from_ms) {
		f->loop_to_ms = f->at_ms > f->loop_from_ms ? f->at_ms : f->loop_from_ms;
		f->loop_from_ms = f->at_ms > f->loop_from_ms ? f->loop_from_ms : f->at_ms;
		f->loop = LOOP_ON;
	} else {
		f->loop = LOOP_NONE;
	}
}

/* ---- playing ---- */

void playback_play(struct playback *f, int64_t clock_ms)
{
	f->playing = true;
	f->ticked_ms = clock_ms;
	if (f->k >= f->end && f->loop != LOOP_ON)
		playback_seek(f, 0); /* play at the end starts over */
}

bool playback_tick(struct playback *f, int64_t clock_ms)
{
	double at = f->at_ms;

	if (!f->playing || clock_ms <= f->ticked_ms)
		return false;
	at += (double)(clock_ms - f->ticked_ms) * f->speed;
	f->ticked_ms = clock_ms;
	if (f->loop == LOOP_ON && at >= f->loop_to_ms)
		at = f->loop_from_ms;
	playback_seek_play(f, at);
	if (f->k >= f->end && f->loop != LOOP_ON)
		f->playing = false;
	return true;
}

int playback_wait_ms(const struct playback *f)
{
	double next, wait;

	if (!f->playing)
		return -1;
	if (f->k >= f->end)
		return PLAYBACK_FRAME_MS;
	/* the clock is displayed in seconds */
	next = (double)playback_time_at(f, PLAYBACK_PLAY, f->k) - f->at_ms;
	wait = (next < 1000 ? next : 1000) / f->speed;
	return wait < PLAYBACK_FRAME_MS ? PLAYBACK_FRAME_MS : wait > 1000 ? 1000 : (int)wait;
}

bool playback_parse_speed(struct str s, double *speed)
{
	char text[16], *end;
	double n;

	if (str_ends(s, STR("x")))
		s.n--;
	snprintf(text, sizeof(text), "%.*s", STR_ARG(s));
	n = strtod(text, &end);
	if (!s.n || s.n >= sizeof(text) || *end || !(n >= 0.1 && n <= 1000))
		return false;
	*speed = n;
	return true;
}

/* ---- the bar ---- */

int playback_col(const struct playback *f, double at_ms, int cols)
{
	double length = playback_length_ms(f);

	return length > 0 ? (int)(at_ms / length * (cols - 1) + 0.5) : 0;
}

double playback_at_col(const struct playback *f, int col, int cols)
{
	if (col <= 0 || cols < 2)
		return 0;
	return playback_length_ms(f) * (col < cols ? col : cols - 1) / (cols - 1);
}

int64_t playback_left_out(const struct playback *f, uint32_t k)
{
	if (!k || k >= f->end)
		return 0;
	return playback_gap_of(f, k) - playback_shortened(f, playback_gap_of(f, k));
}

const struct playback_bar *playback_bar(struct playback *f, int cols)
{
	struct playback_bar *b = &f->bar;
	int64_t at = 0;

	if (b->cols == cols || cols < 1)
		return b;
	for (int i = 0; i < PLAYBACK_MARKS; i++) {
		free(b->n[i]);
		b->n[i] = xcalloc((size_t)cols, sizeof(**b->n));
		b->most[i] = 0;
	}
	free(b->skipped);
	b->skipped = xcalloc((size_t)cols, sizeof(*b->skipped));
	b->cols = cols;
	for (uint32_t i = 0; i < f->end; i++) {
		int64_t gap = playback_gap_of(f, i);
		int col = playback_col(f, (double)(at += playback_shortened(f, gap)), cols);

		for (int m = 0; m < PLAYBACK_MARKS; m++)
			if (f->marks[i] & 1u << m && ++b->n[m][col] > b->most[m])
				b->most[m] = b->n[m][col];
		b->skipped[col] |= i && gap > playback_shortened(f, gap);
	}
	return b;
}
