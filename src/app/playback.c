/* What happens in a film, moving in it, and its bar. */
#include "app/playback_internal.h"

#include "model/prefetch.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- what happens in it ---- */

static void mark(struct film *f, uint32_t message, enum film_mark what)
{
	if (message < f->end)
		f->marks[message] |= (uint8_t)(1u << what);
}

static void mark_items(struct film *f)
{
	const struct model *m = f->model;

	for (uint32_t i = 0; i < m->items.n; i++) {
		const struct item *item = &m->items.v[i];

		items_prefetch(m, i);
		for (uint32_t n = 0; n < item->n && item->steps[n].message < f->end; n++)
			if (item->steps[n].what == STEP_RAISED)
				mark(f, item->steps[n].message, FILM_ITEM);
			else if (item->steps[n].what == STEP_DECIDED)
				mark(f, item->steps[n].message, FILM_DECISION);
	}
	/* what a person has decided, after the messages that had come by then */
	for (uint32_t i = 0; i < m->standings.n; i++)
		if (m->standings.v[i].from)
			mark(f, m->standings.v[i].from - 1, FILM_DECISION);
}

static void mark_reviews(struct film *f)
{
	const struct model *m = f->model;

	for (uint32_t i = 0; i < m->reviews.n; i++) {
		uint32_t iteration = UINT32_MAX;

		for (uint32_t n = 0; n < m->reviews.v[i].steps.n; n++) {
			const struct review_step *s = &m->reviews.v[i].steps.v[n];

			if (s->iteration != iteration)
				mark(f, s->message, FILM_ITERATION);
			iteration = s->iteration;
		}
	}
}

static void mark_records(struct film *f)
{
	struct film_stone stone = { .now_ms = WHEN_NONE };

	for (uint32_t i = 0; i < f->end; i++) {
		const struct record *r = &f->model->records.v[i];

		if (i % FILM_STONE == 0)
			f->stones[i / FILM_STONE] = stone;
		f->marks[i] |= 1u << FILM_MESSAGE;
		if (r->errors)
			mark(f, i, FILM_ERROR);
		stone.errors += r->errors > 0;
		if (r->time_ms > stone.now_ms)
			stone.now_ms = r->time_ms;
	}
	if (f->end % FILM_STONE == 0)
		f->stones[f->end / FILM_STONE] = stone;
}

int64_t film_now(const struct film *f, uint32_t k)
{
	int64_t now = f->stones[k / FILM_STONE].now_ms;

	for (uint32_t i = k / FILM_STONE * FILM_STONE; i < k; i++)
		if (f->model->records.v[i].time_ms > now)
			now = f->model->records.v[i].time_ms;
	return now;
}

uint32_t film_errors(const struct film *f, uint32_t k)
{
	uint32_t n = f->stones[k / FILM_STONE].errors;

	for (uint32_t i = k / FILM_STONE * FILM_STONE; i < k; i++)
		n += f->model->records.v[i].errors > 0;
	return n;
}

void film_open(struct film *f, const struct model *m, uint32_t n)
{
	struct film before = *f;

	film_close(f);
	f->model = m;
	f->end = n;
	f->marks = xcalloc(n + 1, sizeof(*f->marks));
	f->gaps = xmalloc((n + 1) * sizeof(*f->gaps));
	f->stones = xmalloc((n / FILM_STONE + 1) * sizeof(*f->stones));
	f->speed = before.speed > 0 ? before.speed : 1;
	f->skip = before.idle_ms ? before.skip : true;
	f->idle_ms = before.idle_ms ? before.idle_ms : FILM_IDLE_MS;
	mark_records(f);
	mark_items(f);
	mark_reviews(f);
	film_tell_clock(f);
	film_shorten(f);
	film_seek(f, n);
}

void film_close(struct film *f)
{
	struct film kept = { .speed = f->speed, .skip = f->skip, .idle_ms = f->idle_ms };

	free(f->marks);
	free(f->gaps);
	vec_release(&f->wide);
	free(f->stones);
	for (int i = 0; i < FILM_MARKS; i++)
		free(f->bar.n[i]);
	free(f->bar.skipped);
	*f = kept;
}

/* ---- moving ---- */

double film_length_ms(const struct film *f)
{
	return (double)f->length_ms;
}

/* How many messages have come by then. */
static uint32_t come_by(const struct film *f, enum film_clock clock, double at_ms)
{
	uint32_t low = 0, high = f->end / FILM_STONE + (f->end % FILM_STONE > 0), k;
	int64_t at;

	while (low + 1 < high) {
		uint32_t middle = low + (high - low) / 2;

		if ((double)film_stone_at(f, clock, middle) <= at_ms)
			low = middle;
		else
			high = middle;
	}
	k = low * FILM_STONE;
	for (at = high ? film_stone_at(f, clock, low) : 0; k < f->end; k++) {
		at += film_step(f, clock, k);
		if ((double)at > at_ms)
			break;
	}
	return k;
}

/* Between two messages now goes on from the one's time to the other's. */
static void tell_now(struct film *f)
{
	double from = film_time_after(f, FILM_PLAY, f->k), gap;
	int64_t next;

	f->now_ms = film_now(f, f->k);
	if (f->k >= f->end || f->now_ms == WHEN_NONE || f->at_ms <= from)
		return;
	gap = (double)film_step(f, FILM_PLAY, f->k);
	next = f->model->records.v[f->k].time_ms;
	if (gap > 0 && next > f->now_ms)
		f->now_ms += (int64_t)(((double)next - (double)f->now_ms) * (f->at_ms - from) / gap);
}

void film_seek(struct film *f, uint32_t k)
{
	f->k = k < f->end ? k : f->end;
	f->at_ms = film_time_after(f, FILM_PLAY, f->k);
	f->now_ms = film_now(f, f->k);
}

void film_seek_play(struct film *f, double at_ms)
{
	double length = film_length_ms(f);

	f->at_ms = at_ms < 0 ? 0 : at_ms > length ? length : at_ms;
	f->k = come_by(f, FILM_PLAY, f->at_ms);
	tell_now(f);
}

/* From one clock to the other, within the gap too. */
static double other_clock(const struct film *f, enum film_clock from, double at_ms)
{
	enum film_clock to = from == FILM_CLOCK ? FILM_PLAY : FILM_CLOCK;
	uint32_t k = come_by(f, from, at_ms);
	double gap;

	if (k >= f->end)
		return film_time_after(f, to, f->end);
	gap = (double)film_step(f, from, k);
	return film_time_after(f, to, k) +
	       (gap > 0 ? (double)film_step(f, to, k) * (at_ms - film_time_after(f, from, k)) / gap : 0);
}

void film_seek_by(struct film *f, int64_t ms)
{
	double at = other_clock(f, FILM_PLAY, f->at_ms) + (double)ms;

	if (at < 0)
		film_seek(f, 0);
	else
		film_seek_play(f, other_clock(f, FILM_CLOCK, at));
}

void film_seek_time(struct film *f, int64_t time_ms)
{
	uint32_t k = model_cut_at(f->model, time_ms);

	film_seek(f, k);
	if (k && k <= f->end)
		f->now_ms = time_ms;
}

bool film_jump(struct film *f, unsigned marks, int direction)
{
	/* message k - 1 is the one that has just come */
	for (int64_t i = (int64_t)f->k - (direction < 0 ? 2 : 0); i >= 0 && i < f->end; i += direction)
		if (f->marks[i] & marks) {
			film_seek(f, (uint32_t)i + 1);
			return true;
		}
	return false;
}

void film_set_skip(struct film *f, bool skip, int64_t idle_ms)
{
	double at = 0, from = 0, to = 0;

	if (f->model) {
		at = other_clock(f, FILM_PLAY, f->at_ms);
		from = other_clock(f, FILM_PLAY, f->loop_from_ms);
		to = other_clock(f, FILM_PLAY, f->loop_to_ms);
	}
	f->skip = skip;
	f->idle_ms = idle_ms > 0 ? idle_ms : FILM_IDLE_MS;
	if (!f->model)
		return;
	film_shorten(f);
	/* where one is stays what it is, only its place on the bar moves */
	f->at_ms = other_clock(f, FILM_CLOCK, at);
	f->loop_from_ms = other_clock(f, FILM_CLOCK, from);
	f->loop_to_ms = other_clock(f, FILM_CLOCK, to);
}

void film_loop_here(struct film *f)
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

void film_play(struct film *f, int64_t clock_ms)
{
	f->playing = true;
	f->ticked_ms = clock_ms;
	if (f->k >= f->end && f->loop != LOOP_ON)
		film_seek(f, 0); /* as everywhere, play at the end begins again */
}

bool film_tick(struct film *f, int64_t clock_ms)
{
	double at = f->at_ms;

	if (!f->playing || clock_ms <= f->ticked_ms)
		return false;
	at += (double)(clock_ms - f->ticked_ms) * f->speed;
	f->ticked_ms = clock_ms;
	if (f->loop == LOOP_ON && at >= f->loop_to_ms)
		at = f->loop_from_ms;
	film_seek_play(f, at);
	if (f->k >= f->end && f->loop != LOOP_ON)
		f->playing = false;
	return true;
}

int film_wait_ms(const struct film *f)
{
	double next, wait;

	if (!f->playing)
		return -1;
	if (f->k >= f->end)
		return FILM_FRAME_MS;
	/* clocks are shown in seconds */
	next = (double)film_time_at(f, FILM_PLAY, f->k) - f->at_ms;
	wait = (next < 1000 ? next : 1000) / f->speed;
	return wait < FILM_FRAME_MS ? FILM_FRAME_MS : wait > 1000 ? 1000 : (int)wait;
}

bool film_parse_speed(struct str s, double *speed)
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

int film_col(const struct film *f, double at_ms, int cols)
{
	double length = film_length_ms(f);

	return length > 0 ? (int)(at_ms / length * (cols - 1) + 0.5) : 0;
}

double film_at_col(const struct film *f, int col, int cols)
{
	if (col <= 0 || cols < 2)
		return 0;
	return film_length_ms(f) * (col < cols ? col : cols - 1) / (cols - 1);
}

int64_t film_left_out(const struct film *f, uint32_t k)
{
	if (!k || k >= f->end)
		return 0;
	return film_gap_of(f, k) - film_shortened(f, film_gap_of(f, k));
}

const struct film_bar *film_bar(struct film *f, int cols)
{
	struct film_bar *b = &f->bar;
	int64_t at = 0;

	if (b->cols == cols || cols < 1)
		return b;
	for (int i = 0; i < FILM_MARKS; i++) {
		free(b->n[i]);
		b->n[i] = xcalloc((size_t)cols, sizeof(**b->n));
		b->most[i] = 0;
	}
	free(b->skipped);
	b->skipped = xcalloc((size_t)cols, sizeof(*b->skipped));
	b->cols = cols;
	for (uint32_t i = 0; i < f->end; i++) {
		int64_t gap = film_gap_of(f, i);
		int col = film_col(f, (double)(at += film_shortened(f, gap)), cols);

		for (int m = 0; m < FILM_MARKS; m++)
			if (f->marks[i] & 1u << m && ++b->n[m][col] > b->most[m])
				b->most[m] = b->n[m][col];
		b->skipped[col] |= i && gap > film_shortened(f, gap);
	}
	return b;
}
