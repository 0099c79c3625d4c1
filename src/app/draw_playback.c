/* The transport's bar: the whole session from left to right, how dense messages, items, decisions
 * and errors are in it, where one is; below it the clock, the speed, and what is left out. */
#include "app/app.h"
#include "view/view_parts.h"

enum {
	LANE_LABEL_COLS = 11, /* " decisions " */
	ROWS_FOR_LANES = 34,  /* of the screen, for a lane each */
	ROWS_FOR_MARKS = 20,
	LEFT_OUT_COLS = 18, /* for "  ┆ 12:34 left out" */
	GAPS_COLS = 36,     /* for "  ┆ 12:34:56 left out in 12345 gaps" */
};

static const struct {
	const char *label, *glyph;
	enum role role;
} lanes[FILM_MARKS] = {
	[FILM_MESSAGE] = { "messages", "", ROLE_BAR },
	[FILM_ITEM] = { "items", "●", ROLE_ACCENT },
	[FILM_DECISION] = { "decisions", "✓", ROLE_ACCEPTED },
	[FILM_ERROR] = { "errors", "✗", ROLE_ERROR },
};

int replay_bar_rows(const struct app *a)
{
	if (!a->film.model)
		return 0;
	return a->rows >= ROWS_FOR_LANES ? 5 : a->rows >= ROWS_FOR_MARKS ? 3 : 2;
}

/* One message among a thousand must still be seen: levels go by powers of two. */
static unsigned scale(uint32_t n)
{
	unsigned level = 0;

	for (; n; n >>= 1)
		level += 2;
	return level;
}

static void draw_lane(const struct film_bar *bar, enum film_mark what, int cursor, struct grid *g,
		      struct rect row)
{
	for (int c = 0; c < row.cols; c++) {
		uint32_t n = bar->n[what][c];
		enum role role = c <= cursor ? lanes[what].role : ROLE_DIM;

		if (n)
			grid_put(g, rect_in(row, 0, c, 1, 1), role,
				 level_glyph(scale(n), scale(bar->most[what])));
		else if (what == FILM_MESSAGE && bar->skipped[c])
			grid_put(g, rect_in(row, 0, c, 1, 1), ROLE_WARN, "┆");
	}
}

/* All kinds on one lane; the rarest is what one looks for. */
static void draw_marks(const struct film_bar *bar, int cursor, struct grid *g, struct rect row,
		       bool over_messages)
{
	static const enum film_mark order[] = { FILM_ERROR, FILM_DECISION, FILM_ITEM };

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

static void draw_loop(const struct film *f, struct grid *g, struct rect row)
{
	if (f->loop == LOOP_NONE)
		return;
	grid_put(g, rect_in(row, 0, film_col(f, f->loop_from_ms, row.cols), 1, 1), ROLE_KEY, "[");
	if (f->loop == LOOP_ON)
		grid_put(g, rect_in(row, 0, film_col(f, f->loop_to_ms, row.cols), 1, 1), ROLE_KEY, "]");
}

/* Where one is: a line through all lanes. */
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

static void draw_words(const struct app *a, struct grid *g, struct rect row)
{
	const struct film *f = &a->film;
	struct pen p = { g, rect_in(row, 0, 1, 1, row.cols - 2) };
	int64_t left_out = film_left_out(f, f->k);
	uint32_t more = a->scene.model->records.n - f->end;
	char now[32], whole[32];

	pen_put(&p, f->playing ? ROLE_ACCENT : ROLE_KEY, f->playing ? "▶ " : "paused ");
	pen_printf(&p, ROLE_NORMAL, "%gx  ", f->speed);
	pen_printf(&p, ROLE_TIME, "%s", when_span((int64_t)f->at_ms, now));
	pen_printf(&p, ROLE_DIM, "/%s  ", when_span((int64_t)film_length_ms(f), whole));
	if (f->now_ms != WHEN_NONE) {
		when_iso(f->now_ms, whole);
		pen_printf(&p, ROLE_TIME, "%.10s %s  ", whole, when_clock(f->now_ms, now));
	}
	pen_printf(&p, ROLE_NORMAL, "#%u", f->k);
	pen_printf(&p, ROLE_DIM, "/%u", f->end);
	if (more)
		pen_printf(&p, ROLE_INFO, "  %u more have come", more);
	if (f->loop != LOOP_NONE)
		pen_put(&p, ROLE_KEY, f->loop == LOOP_ON ? "  [loop]" : "  [loop…");
	if (p.rest.cols < LEFT_OUT_COLS)
		return;
	if (left_out)
		pen_printf(&p, ROLE_WARN, "  ┆ %s left out", when_span(left_out, now));
	else if (f->skips && p.rest.cols < GAPS_COLS)
		pen_printf(&p, ROLE_DIM, "  ┆ %s left out", when_span(f->skipped_ms, now));
	else if (f->skips)
		pen_printf(&p, ROLE_DIM, "  ┆ %s left out in %u gap%s", when_span(f->skipped_ms, now),
			   f->skips, f->skips > 1 ? "s" : "");
}

void replay_draw(struct app *a, struct grid *g, struct rect where)
{
	bool labels = where.rows > 3;
	int left = labels ? LANE_LABEL_COLS : 1, cols = where.cols - left - 1, cursor;
	struct rect bar = rect_in(where, 0, left, where.rows - 1, cols);
	const struct film_bar *density;

	a->bar_rect = bar;
	if (bar.rows < 1 || cols < 1)
		return;
	density = film_bar(&a->film, cols);
	cursor = film_col(&a->film, a->film.at_ms, cols);
	draw_lane(density, FILM_MESSAGE, cursor, g, rect_in(bar, 0, 0, 1, cols));
	for (int i = FILM_MESSAGE; labels && i <= FILM_ERROR; i++) {
		grid_put(g, rect_in(where, i, 1, 1, left - 1), ROLE_DIM, lanes[i].label);
		if (i)
			draw_lane(density, (enum film_mark)i, cursor, g, rect_in(bar, i, 0, 1, cols));
	}
	if (!labels)
		draw_marks(density, cursor, g, rect_in(bar, bar.rows - 1, 0, 1, cols), bar.rows == 1);
	draw_loop(&a->film, g, rect_in(bar, bar.rows - 1, 0, 1, cols));
	draw_cursor(g, bar, cursor);
	draw_words(a, g, rect_in(where, where.rows - 1, 0, 1, where.cols));
}
