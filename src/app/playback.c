/* Playback: marks and checkpoints, seeking, playing, and the histogram for the replay bar. */
#include "app/playback_internal.h"

#include "model/prefetch.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- marks and checkpoints ---- */

static void mark(struct playback *p, uint32_t message, enum playback_mark what)
{
	if (message < p->end)
		p->marks[message] |= (uint8_t)(1u << what);
}

static void mark_items(struct playback *p)
{
	const struct model *m = p->model;

	for (uint32_t i = 0; i < m->items.n; i++) {
		const struct item *item = &m->items.v[i];

		items_prefetch(m, i);
		for (uint32_t n = 0; n < item->n && item->steps[n].message < p->end; n++)
			if (item->steps[n].what == STEP_RAISED)
				mark(p, item->steps[n].message, PLAYBACK_ITEM);
			else if (item->steps[n].what == STEP_DECIDED)
				mark(p, item->steps[n].message, PLAYBACK_DECISION);
	}
	/* the user's decisions, at the message they followed */
	for (uint32_t i = 0; i < m->overlays.n; i++)
		if (m->overlays.v[i].from)
			mark(p, m->overlays.v[i].from - 1, PLAYBACK_DECISION);
}

static void mark_reviews(struct playback *p)
{
	const struct model *m = p->model;

	for (uint32_t i = 0; i < m->reviews.n; i++) {
		uint32_t iteration = UINT32_MAX;

		for (uint32_t n = 0; n < m->reviews.v[i].steps.n; n++) {
			const struct review_step *s = &m->reviews.v[i].steps.v[n];

			if (s->iteration != iteration)
				mark(p, s->message, PLAYBACK_ITERATION);
			iteration = s->iteration;
		}
	}
}

static void mark_records(struct playback *p)
{
	struct playback_checkpoint checkpoint = { .believed = BELIEVED_NONE };

	for (uint32_t i = 0; i < p->end; i++) {
		const struct record *r = &p->model->records.v[i];

		if (i % PLAYBACK_CHECKPOINT == 0)
			p->checkpoints[i / PLAYBACK_CHECKPOINT] = checkpoint;
		p->marks[i] |= 1u << PLAYBACK_MESSAGE;
		if (r->errors)
			mark(p, i, PLAYBACK_ERROR);
		checkpoint.errors += r->errors > 0;
		believe(&checkpoint.believed, r->time_ms, p->model->limit_ms);
	}
	if (p->end % PLAYBACK_CHECKPOINT == 0)
		p->checkpoints[p->end / PLAYBACK_CHECKPOINT] = checkpoint;
}

int64_t playback_now(const struct playback *p, uint32_t k)
{
	struct believed b = p->checkpoints[k / PLAYBACK_CHECKPOINT].believed;

	for (uint32_t i = k / PLAYBACK_CHECKPOINT * PLAYBACK_CHECKPOINT; i < k; i++)
		believe(&b, p->model->records.v[i].time_ms, p->model->limit_ms);
	return b.now_ms;
}

uint32_t playback_errors(const struct playback *p, uint32_t k)
{
	uint32_t n = p->checkpoints[k / PLAYBACK_CHECKPOINT].errors;

	for (uint32_t i = k / PLAYBACK_CHECKPOINT * PLAYBACK_CHECKPOINT; i < k; i++)
		n += p->model->records.v[i].errors > 0;
	return n;
}

void playback_open(struct playback *p, const struct model *m, uint32_t n)
{
	struct playback before = *p;

	playback_close(p);
	p->model = m;
	p->end = n;
	p->marks = xcalloc(n + 1, sizeof(*p->marks));
	p->gaps = xmalloc((n + 1) * sizeof(*p->gaps));
	p->checkpoints = xmalloc((n / PLAYBACK_CHECKPOINT + 1) * sizeof(*p->checkpoints));
	p->speed = before.speed > 0 ? before.speed : 1;
	p->skip = before.idle_ms ? before.skip : true;
	p->idle_ms = before.idle_ms ? before.idle_ms : PLAYBACK_IDLE_MS;
	mark_records(p);
	mark_items(p);
	mark_reviews(p);
	playback_make_gaps(p);
	playback_shorten(p);
	playback_seek(p, n);
}

void playback_close(struct playback *p)
{
	struct playback kept = { .speed = p->speed, .skip = p->skip, .idle_ms = p->idle_ms };

	free(p->marks);
	free(p->gaps);
	vec_release(&p->wide);
	free(p->checkpoints);
	for (int i = 0; i < PLAYBACK_MARKS; i++)
		free(p->bar.n[i]);
	free(p->bar.skipped);
	*p = kept;
}

/* ---- seeking ---- */

double playback_length_ms(const struct playback *p)
{
	return (double)p->length_ms;
}

/* The number of messages up to a time: binary search over checkpoints, then linear. */
static uint32_t messages_until(const struct playback *p, enum playback_clock clock, double at_ms)
{
	uint32_t low = 0, k;
	uint32_t high = p->end / PLAYBACK_CHECKPOINT + (p->end % PLAYBACK_CHECKPOINT > 0);
	int64_t at;

	while (low + 1 < high) {
		uint32_t middle = low + (high - low) / 2;

		if ((double)playback_checkpoint_at(p, clock, middle) <= at_ms)
			low = middle;
		else
			high = middle;
	}
	k = low * PLAYBACK_CHECKPOINT;
	for (at = high ? playback_checkpoint_at(p, clock, low) : 0; k < p->end; k++) {
		at += playback_step(p, clock, k);
		if ((double)at > at_ms)
			break;
	}
	return k;
}

/* Between two messages now_ms is interpolated. */
static void update_now(struct playback *p)
{
	double from = playback_time_after(p, CLOCK_SHORTENED, p->k), gap;
	int64_t next;

	p->now_ms = playback_now(p, p->k);
	if (p->k >= p->end || p->now_ms == TIME_NONE || p->at_ms <= from)
		return;
	gap = (double)playback_step(p, CLOCK_SHORTENED, p->k);
	next = playback_now(p, p->k + 1);
	if (gap > 0 && next > p->now_ms)
		p->now_ms += (int64_t)(((double)next - (double)p->now_ms) * (p->at_ms - from) /
				       gap);
}

void playback_seek(struct playback *p, uint32_t k)
{
	p->k = k < p->end ? k : p->end;
	p->at_ms = playback_time_after(p, CLOCK_SHORTENED, p->k);
	p->now_ms = playback_now(p, p->k);
}

void playback_seek_play(struct playback *p, double at_ms)
{
	double length = playback_length_ms(p);

	p->at_ms = at_ms < 0 ? 0 : at_ms > length ? length : at_ms;
	p->k = messages_until(p, CLOCK_SHORTENED, p->at_ms);
	update_now(p);
}

/* Converts a position from one clock to the other, interpolating inside a gap. */
static double other_clock(const struct playback *p, enum playback_clock from, double at_ms)
{
	enum playback_clock to = from == CLOCK_RECORDED ? CLOCK_SHORTENED : CLOCK_RECORDED;
	uint32_t k = messages_until(p, from, at_ms);
	double start = playback_time_after(p, to, k), gap;

	if (k >= p->end)
		return start;
	gap = (double)playback_step(p, from, k);
	if (gap <= 0)
		return start;
	return start + (double)playback_step(p, to, k) *
			       (at_ms - playback_time_after(p, from, k)) / gap;
}

void playback_seek_by(struct playback *p, int64_t ms)
{
	double at = other_clock(p, CLOCK_SHORTENED, p->at_ms) + (double)ms;

	if (at < 0)
		playback_seek(p, 0);
	else
		playback_seek_play(p, other_clock(p, CLOCK_RECORDED, at));
}

void playback_seek_time(struct playback *p, int64_t time_ms)
{
	uint32_t k = model_cut_at(p->model, time_ms);

	playback_seek(p, k);
	if (k && k <= p->end)
		p->now_ms = time_ms;
}

bool playback_jump(struct playback *p, unsigned marks, int direction)
{
	/* the position is just after message k - 1 */
	int64_t i = (int64_t)p->k - (direction < 0 ? 2 : 0);

	for (; i >= 0 && i < p->end; i += direction)
		if (p->marks[i] & marks) {
			playback_seek(p, (uint32_t)i + 1);
			return true;
		}
	return false;
}

void playback_set_skip(struct playback *p, bool skip, int64_t idle_ms)
{
	/* these stay the same on the recording's clock */
	double *const positions[] = { &p->at_ms, &p->loop_from_ms, &p->loop_to_ms };

	for (int i = 0; p->model && i < 3; i++)
		*positions[i] = other_clock(p, CLOCK_SHORTENED, *positions[i]);
	p->skip = skip;
	p->idle_ms = idle_ms > 0 ? idle_ms : PLAYBACK_IDLE_MS;
	if (p->model)
		playback_shorten(p);
	for (int i = 0; p->model && i < 3; i++)
		*positions[i] = other_clock(p, CLOCK_RECORDED, *positions[i]);
}

void playback_loop_here(struct playback *p)
{
	if (p->loop == LOOP_NONE) {
		p->loop_from_ms = p->at_ms;
		p->loop = LOOP_HALF;
	} else if (p->loop == LOOP_HALF && p->at_ms != p->loop_from_ms) {
		p->loop_to_ms = p->at_ms > p->loop_from_ms ? p->at_ms : p->loop_from_ms;
		p->loop_from_ms = p->at_ms > p->loop_from_ms ? p->loop_from_ms : p->at_ms;
		p->loop = LOOP_ON;
	} else {
		p->loop = LOOP_NONE;
	}
}

/* ---- playing ---- */

void playback_play(struct playback *p, int64_t clock_ms)
{
	p->playing = true;
	p->ticked_ms = clock_ms;
	if (p->k >= p->end && p->loop != LOOP_ON)
		playback_seek(p, 0); /* play at the end starts over */
}

bool playback_tick(struct playback *p, int64_t clock_ms)
{
	double at = p->at_ms;

	if (!p->playing || clock_ms <= p->ticked_ms)
		return false;
	at += (double)(clock_ms - p->ticked_ms) * p->speed;
	p->ticked_ms = clock_ms;
	if (p->loop == LOOP_ON && at >= p->loop_to_ms)
		at = p->loop_from_ms;
	playback_seek_play(p, at);
	if (p->k >= p->end && p->loop != LOOP_ON)
		p->playing = false;
	return true;
}

int playback_wait_ms(const struct playback *p)
{
	double next, wait;

	if (!p->playing)
		return -1;
	if (p->k >= p->end)
		return PLAYBACK_FRAME_MS;
	/* the clock is displayed in seconds */
	next = (double)playback_time_at(p, CLOCK_SHORTENED, p->k) - p->at_ms;
	wait = (next < 1000 ? next : 1000) / p->speed;
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

int playback_col(const struct playback *p, double at_ms, int cols)
{
	double length = playback_length_ms(p);

	return length > 0 ? (int)(at_ms / length * (cols - 1) + 0.5) : 0;
}

double playback_at_col(const struct playback *p, int col, int cols)
{
	if (col <= 0 || cols < 2)
		return 0;
	return playback_length_ms(p) * (col < cols ? col : cols - 1) / (cols - 1);
}

int64_t playback_left_out(const struct playback *p, uint32_t k)
{
	if (!k || k >= p->end)
		return 0;
	return playback_gap_of(p, k) - playback_shortened(p, playback_gap_of(p, k));
}

const struct playback_bar *playback_bar(struct playback *p, int cols)
{
	struct playback_bar *b = &p->bar;
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
	for (uint32_t i = 0; i < p->end; i++) {
		int64_t gap = playback_gap_of(p, i);
		int col = playback_col(p, (double)(at += playback_shortened(p, gap)), cols);

		for (int m = 0; m < PLAYBACK_MARKS; m++)
			if (p->marks[i] & 1u << m && ++b->n[m][col] > b->most[m])
				b->most[m] = b->n[m][col];
		b->skipped[col] |= i && gap > playback_shortened(p, gap);
	}
	return b;
}
