/* The time axis of the timeline: from the first step of any task or review to now, or a part of
 * that, with ticks at round times as dense as their labels allow. Times come from senders: nothing
 * may overflow, and no loop may run longer than the axis is wide. */
#include "view/view_parts.h"

#include <stdio.h>
#include <stdlib.h>

enum { LABEL_GAP = 2 };

static const int64_t tick_steps_ms[] = {
	1000,     2000,     5000,     10000,    15000,     30000,     60000,
	120000,   300000,   600000,   900000,   1800000,   3600000,   7200000,
	10800000, 21600000, 43200000, 86400000, 172800000, 604800000,
};

static int label_cols(int64_t tick_ms)
{
	return tick_ms < 60000 ? 8 : 5;
}

static void axis_widen(struct axis *a, int64_t t)
{
	if (t == TIME_NONE)
		return;
	if (a->from_ms == TIME_NONE || t < a->from_ms)
		a->from_ms = t;
	if (t > a->to_ms)
		a->to_ms = t;
}

static void axis_choose_ticks(struct axis *a, int cols)
{
	double span = (double)time_between(a->to_ms, a->from_ms);

	for (unsigned i = 0; i < sizeof(tick_steps_ms) / sizeof(tick_steps_ms[0]); i++) {
		double apart = (double)tick_steps_ms[i] / span * (cols - 1);

		if (apart >= label_cols(tick_steps_ms[i]) + LABEL_GAP) {
			a->tick_ms = tick_steps_ms[i];
			return;
		}
	}
}

static void set_bit(uint64_t *bitmap, uint32_t message, uint32_t k)
{
	if (message < k)
		bitmap[message / 64] |= UINT64_C(1) << message % 64;
}

/* From the first to the last time of any step. Steps refer to messages in random order; a bitmap
 * sorts them, so that records are read in the order of memory. */
static void axis_span(struct axis *a, const struct scene *s)
{
	const struct model *m = s->model;
	uint64_t *bitmap = xcalloc(s->k / 64 + 1, sizeof(*bitmap));

	for (uint32_t i = 0; i < m->tasks.n && yield_on(s->yield); i++)
		for (uint32_t n = 0; n < m->tasks.v[i].steps.n; n++)
			set_bit(bitmap, m->tasks.v[i].steps.v[n].message, s->k);
	for (uint32_t i = 0; i < m->reviews.n && yield_on(s->yield); i++)
		for (uint32_t n = 0; n < m->reviews.v[i].steps.n; n++)
			set_bit(bitmap, m->reviews.v[i].steps.v[n].message, s->k);
	for (uint32_t i = 0; i <= s->k / 64 && yield_on(s->yield); i++)
		for (uint64_t bits = bitmap[i]; bits; bits &= bits - 1)
			axis_widen(a, message_time(m, i * 64 + (uint32_t)__builtin_ctzll(bits)));
	free(bitmap);
}

struct axis axis_make(const struct scene *s, int cols)
{
	struct axis a = { TIME_NONE, TIME_NONE, 0 };

	if (s->to_ms != 0 && s->from_ms != TIME_NONE && s->to_ms > s->from_ms) {
		a.from_ms = s->from_ms;
		a.to_ms = s->to_ms;
	} else {
		axis_span(&a, s);
		if (a.from_ms != TIME_NONE && s->now_ms > a.to_ms)
			a.to_ms = s->now_ms;
	}
	if (a.to_ms > a.from_ms)
		axis_choose_ticks(&a, cols);
	return a;
}

int axis_col(const struct axis *a, int64_t t, int cols)
{
	double span = (double)time_between(a->to_ms, a->from_ms);
	double place;

	if (a->from_ms == TIME_NONE || t <= a->from_ms || span <= 0)
		return 0;
	place = (double)time_between(t, a->from_ms) / span;
	return place >= 1 ? cols - 1 : (int)(place * (cols - 1) + 0.5);
}

int axis_side(const struct axis *a, int64_t t)
{
	if (a->from_ms == TIME_NONE)
		return 0;
	return t < a->from_ms ? -1 : t > a->to_ms;
}

/* The first tick at or after the start of the axis, or TIME_NONE. */
static int64_t tick_first(const struct axis *a)
{
	int64_t past;

	if (!a->tick_ms)
		return TIME_NONE;
	past = a->from_ms % a->tick_ms;
	if (past <= 0)
		return a->from_ms - past;
	return time_between(INT64_MAX, a->from_ms) < a->tick_ms ? TIME_NONE
								: a->from_ms - past + a->tick_ms;
}

static int64_t tick_next(const struct axis *a, int64_t tick)
{
	return time_between(a->to_ms, tick) < a->tick_ms ? TIME_NONE : tick + a->tick_ms;
}

void axis_draw_ticks(const struct axis *a, int64_t now_ms, struct grid *g, struct rect where)
{
	for (int64_t t = tick_first(a); t != TIME_NONE && t <= a->to_ms; t = tick_next(a, t))
		grid_put(g, rect_in(where, 0, axis_col(a, t, where.cols), 1, 1), ROLE_BORDER, "┆");
	if (a->from_ms != TIME_NONE && now_ms != TIME_NONE && !axis_side(a, now_ms))
		grid_put(g, rect_in(where, 0, axis_col(a, now_ms, where.cols), 1, 1), ROLE_CURSOR,
			 "│");
}

void axis_draw_outside(const struct axis *a, int64_t t, struct grid *g, struct rect where)
{
	int side = t == TIME_NONE ? 0 : axis_side(a, t);

	if (side < 0)
		grid_put(g, rect_in(where, 0, 0, 1, 1), ROLE_DIM, g->ascii ? "<" : "‹");
	else if (side > 0)
		grid_put(g, rect_in(where, 0, where.cols - 1, 1, 1), ROLE_DIM,
			 g->ascii ? ">" : "›");
}

void axis_draw_labels(const struct axis *a, struct grid *g, struct rect where)
{
	char iso[32], label[16];

	for (int64_t t = tick_first(a); t != TIME_NONE && t <= a->to_ms; t = tick_next(a, t)) {
		int col = axis_col(a, t, where.cols);

		timestamp_iso(t, iso);
		snprintf(label, sizeof(label), "%.*s", label_cols(a->tick_ms),
			 a->tick_ms >= 86400000 ? iso + 5 : iso + 11);
		if (col + label_cols(a->tick_ms) <= where.cols)
			grid_put(g, rect_in(where, 0, col, 1, where.cols - col), ROLE_HEADER,
				 label);
	}
}
