/* The replay bar: a histogram of messages, items, decisions and errors over the whole session, with
 * the position in it; below it clock, speed, loop and skipped idle time. */
#include "app/app.h"
#include "view/view_parts.h"

enum {
	LANE_LABEL_COLS = 11, /* " decisions " */
	ROWS_FOR_LANES = 34,  /* screen height for a lane for each kind of mark */
	ROWS_FOR_MARKS = 20,  /* for a lane of all marks, below the messages */
	LEFT_OUT_COLS = 18, /* for "  ┆ 12:34 left out" */
	GAPS_COLS = 36,     /* for "  ┆ 12:34:56 left out in 12345 gaps" */
};

static const struct {
	const char *label, *glyph;
	enum role role;
} lanes[PLAYBACK_MARKS] = {
	[PLAYBACK_MESSAGE] = { "messages", "", ROLE_BAR },
	[PLAYBACK_ITEM] = { "items", "●", ROLE_ACCENT },
	[PLAYBACK_DECISION] = { "decisions", "✓", ROLE_ACCEPTED },
	[PLAYBACK_ERROR] = { "errors", "✗", ROLE_ERROR },
};

int replay_bar_rows(const struct app *a)
{
	if (!a->playback.model)
		return 0;
	return a->rows >= ROWS_FOR_LANES ? 5 : a->rows >= ROWS_FOR_MARKS ? 3 : 2;
}

/* Logarithmic, so that one message is still visible beside a thousand. */
static unsigned scale(uint32_t n)
{
	unsigned level = 0;

	for (; n; n >>= 1)
		level += 2;
	return level;
}

static void draw_lane(const struct playback_bar *bar, enum playback_mark what, int cursor,
		      struct grid *g, struct rect row)
{
	for (int c = 0; c < row.cols; c++) {
		uint32_t n = bar->n[what][c];
		enum role role = c <= cursor ? lanes[what].role : ROLE_DIM;

		if (n)
			grid_put(g, rect_in(row, 0, c, 1, 1), role,
				 level_glyph(scale(n), scale(bar->most[what])));
		else if (what == PLAYBACK_MESSAGE && bar->skipped[c])
			grid_put(g, rect_in(row, 0, c, 1, 1), ROLE_WARN, "┆");
	}
}

/* All kinds on one lane; the rarest takes precedence. */
static void draw_marks(const struct playback_bar *bar, int cursor, struct grid *g, struct rect row,
		       bool over_messages)
{
	static const enum playback_mark order[] = { PLAYBACK_ERROR, PLAYBACK_DECISION,
						    PLAYBACK_ITEM };

	for (int c = 0; c < row.cols; c++)
		for (unsigned i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
			struct rect spot = rect_in(row, 0, c, 1, 1);

			if (!bar->n[order[i]][c])
				continue;
			if (c > cursor)
				grid_put(g, spot, ROLE_DIM, lanes[order[i]].glyph);
			else if (over_messages)
				grid_role(g, spot, lanes[order[i]].role);
			else
				grid_put(g, spot, lanes[order[i]].role, lanes[order[i]].glyph);
			break;
		}
}

static void draw_loop(const struct playback *p, struct grid *g, struct rect row)
{
	int from = playback_col(p, p->loop_from_ms, row.cols);
	int to = playback_col(p, p->loop_to_ms, row.cols);

	if (p->loop != LOOP_NONE)
		grid_put(g, rect_in(row, 0, from, 1, 1), ROLE_KEY, "[");
	if (p->loop == LOOP_ON)
		grid_put(g, rect_in(row, 0, to, 1, 1), ROLE_KEY, "]");
}

/* The position: a vertical line through all lanes. */
static void draw_cursor(struct grid *g, struct rect bar, int cursor)
{
	for (int r = 0; r < bar.rows; r++) {
		struct rect spot = rect_in(bar, r, cursor, 1, 1);

		if (grid_at(g, spot.row, spot.col)->cell.base == 0x20 ||
		    grid_at(g, spot.row, spot.col)->role == ROLE_NORMAL)
			grid_put(g, spot, ROLE_CURSOR, "│");
		else
			grid_role(g, spot, ROLE_CURSOR);
	}
}

static void draw_clock_line(const struct app *a, struct grid *g, struct rect row)
{
	const struct playback *p = &a->playback;
	struct pen pen = { g, rect_in(row, 0, 1, 1, row.cols - 2) };
	int64_t left_out = playback_left_out(p, p->k);
	uint32_t more = a->scene.model->records.n - p->end;
	char now[32], whole[32];

	pen_put(&pen, p->playing ? ROLE_ACCENT : ROLE_KEY, p->playing ? "▶ " : "paused ");
	pen_printf(&pen, ROLE_NORMAL, "%gx  ", p->speed);
	pen_printf(&pen, ROLE_TIME, "%s", timestamp_span((int64_t)p->at_ms, now));
	pen_printf(&pen, ROLE_DIM, "/%s  ", timestamp_span((int64_t)playback_length_ms(p), whole));
	if (p->now_ms != TIME_NONE) {
		timestamp_iso(p->now_ms, whole);
		pen_printf(&pen, ROLE_TIME, "%.10s %s  ", whole, timestamp_clock(p->now_ms, now));
	}
	model_cut_name(a->scene.model, p->k, now);
	pen_put(&pen, ROLE_NORMAL, now);
	model_cut_name(a->scene.model, p->end, now);
	pen_printf(&pen, ROLE_DIM, "/%s", now + 1);
	if (more)
		pen_printf(&pen, ROLE_INFO, "  %u newer", more);
	if (p->loop != LOOP_NONE)
		pen_put(&pen, ROLE_KEY, p->loop == LOOP_ON ? "  [loop]" : "  [loop…");
	if (pen.rest.cols < LEFT_OUT_COLS)
		return;
	if (left_out)
		pen_printf(&pen, ROLE_WARN, "  ┆ %s left out", timestamp_span(left_out, now));
	else if (p->skips && pen.rest.cols < GAPS_COLS)
		pen_printf(&pen, ROLE_DIM, "  ┆ %s left out", timestamp_span(p->skipped_ms, now));
	else if (p->skips)
		pen_printf(&pen, ROLE_DIM, "  ┆ %s left out in %u gap%s",
			   timestamp_span(p->skipped_ms, now), p->skips, plural_s(p->skips));
}

void replay_draw(struct app *a, struct grid *g, struct rect where)
{
	bool labels = where.rows > 3;
	int left = labels ? LANE_LABEL_COLS : 1, cols = where.cols - left - 1, cursor;
	struct rect bar = rect_in(where, 0, left, where.rows - 1, cols);
	struct rect last = rect_in(bar, bar.rows - 1, 0, 1, cols);
	const struct playback_bar *density;

	a->bar_rect = bar;
	if (bar.rows < 1 || cols < 1)
		return;
	density = playback_bar(&a->playback, cols);
	cursor = playback_col(&a->playback, a->playback.at_ms, cols);
	for (int i = PLAYBACK_MESSAGE; i <= (labels ? PLAYBACK_ERROR : PLAYBACK_MESSAGE); i++)
		draw_lane(density, (enum playback_mark)i, cursor, g, rect_in(bar, i, 0, 1, cols));
	for (int i = PLAYBACK_MESSAGE; labels && i <= PLAYBACK_ERROR; i++)
		grid_put(g, rect_in(where, i, 1, 1, left - 1), ROLE_DIM, lanes[i].label);
	if (!labels)
		draw_marks(density, cursor, g, last, bar.rows == 1);
	draw_loop(&a->playback, g, last);
	draw_cursor(g, bar, cursor);
	draw_clock_line(a, g, rect_in(where, where.rows - 1, 0, 1, where.cols));
}
