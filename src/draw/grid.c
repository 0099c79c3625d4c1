/* The grid. All writes go through set_spot, which keeps the invariant: a wide cell is followed by
 * its right half (width 0) on the same row, and a right half never occurs alone. */
#include "draw/grid.h"

#include "base/err.h"
#include "base/mem.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static const struct spot blank = { .cell = { .base = ' ', .width = 1 }, .role = ROLE_NORMAL };

/* Clips [a, a + n) to [0, limit), without overflow. */
static void clip_span(int *a, int *n, int limit)
{
	int64_t low = *a, high = low + (*n > 0 ? *n : 0);

	if (low < 0)
		low = 0;
	if (high > limit)
		high = limit;
	*n = high > low ? (int)(high - low) : 0;
	*a = *n ? (int)low : 0;
}

static int add_clamped(int a, int b)
{
	int64_t sum = (int64_t)a + b;

	return sum > INT_MAX ? INT_MAX : sum < INT_MIN ? INT_MIN : (int)sum;
}

struct rect rect_in(struct rect outer, int row, int col, int rows, int cols)
{
	struct rect r = { row, col, rows, cols };

	clip_span(&r.row, &r.rows, outer.rows);
	clip_span(&r.col, &r.cols, outer.cols);
	r.row = add_clamped(r.row, outer.row);
	r.col = add_clamped(r.col, outer.col);
	return r;
}

static struct rect clip_rect(const struct grid *g, struct rect r)
{
	return rect_in(grid_rect(g), r.row, r.col, r.rows, r.cols);
}

struct grid *grid_new(int rows, int cols, bool ascii)
{
	struct grid *g = xcalloc(1, sizeof(*g));

	g->ascii = ascii;
	grid_resize(g, rows, cols);
	return g;
}

void grid_free(struct grid *g)
{
	if (!g)
		return;
	free(g->spots);
	free(g->line);
	free(g);
}

void grid_resize(struct grid *g, int rows, int cols)
{
	g->cols = cols < 1 ? 1 : cols > GRID_MAX_COLS ? GRID_MAX_COLS : cols;
	g->rows = rows < 1 ? 1 : rows > GRID_MAX_SPOTS / g->cols ? GRID_MAX_SPOTS / g->cols : rows;
	free(g->spots);
	free(g->line);
	g->spots = xcalloc((size_t)g->rows * (size_t)g->cols, sizeof(*g->spots));
	g->line = xcalloc((size_t)g->cols, sizeof(*g->line));
	grid_clear(g);
}

void grid_clear(struct grid *g)
{
	size_t n = (size_t)g->rows * (size_t)g->cols;

	for (size_t i = 0; i < n; i++)
		g->spots[i] = blank;
}

struct rect grid_rect(const struct grid *g)
{
	return (struct rect){ 0, 0, g->rows, g->cols };
}

const struct spot *grid_at(const struct grid *g, int row, int col)
{
	if (row < 0 || row >= g->rows || col < 0 || col >= g->cols)
		BUG("spot %d,%d is not on a grid of %dx%d", row, col, g->rows, g->cols);
	return &g->spots[(size_t)row * (size_t)g->cols + (size_t)col];
}

static struct spot *row_of(struct grid *g, int row)
{
	return g->spots + (size_t)row * (size_t)g->cols;
}

/* Before line[col] is overwritten: if it is half of a wide cell, blanks the other half. */
static void blank_other_half(const struct grid *g, struct spot *line, int col)
{
	if (line[col].cell.width == 1)
		return;
	if (line[col].cell.width == 0 && col > 0)
		line[col - 1].cell = blank.cell;
	if (line[col].cell.width == 2 && col + 1 < g->cols)
		line[col + 1].cell = blank.cell;
}

/* Returns the columns used; `end` is the first column that may not be written. */
static int set_spot(struct grid *g, int row, int col, int end, enum role role, struct cell cell)
{
	struct spot *line = row_of(g, row);

	if (col + cell.width > end)
		cell = cell_ascii('>', CELL_CUT);
	if (role == ROLE_ESCAPED)
		BUG("ROLE_ESCAPED is reserved for escaped cells");
	if (cell.class == CELL_ESCAPED)
		role = ROLE_ESCAPED;
	blank_other_half(g, line, col);
	line[col] = (struct spot){ cell, role };
	if (cell.width == 2) {
		blank_other_half(g, line, col + 1);
		line[col + 1] = (struct spot){ { .base = ' ', .class = cell.class }, role };
	}
	return cell.width;
}

/* Draws the first n cells of g->line. */
static int put_cells(struct grid *g, int row, int col, int end, enum role role, uint32_t n)
{
	int start = col;

	for (uint32_t i = 0; i < n && col < end; i++)
		col += set_spot(g, row, col, end, role, g->line[i]);
	return col - start;
}

int grid_text(struct grid *g, struct rect where, enum role role, struct raw text,
	      enum text_mode mode)
{
	struct rect r = clip_rect(g, where);
	struct cells it = cells_start(text, mode, g->ascii);

	if (r.rows == 0 || r.cols == 0)
		return 0;
	return put_cells(g, r.row, r.col, r.col + r.cols, role,
			 cells_clip(&it, (uint32_t)r.cols, g->line));
}

int grid_put(struct grid *g, struct rect where, enum role role, const char *label)
{
	return grid_text(g, where, role, raw_of(str_of(label)), TEXT_LABEL);
}

int grid_printf(struct grid *g, struct rect where, enum role role, const char *format, ...)
{
	char text[512];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	return grid_put(g, where, role, text);
}

int grid_wrap(struct grid *g, struct rect where, enum role role, struct wrap *w)
{
	struct rect r = clip_rect(g, where);
	uint32_t n;
	int row = 0;

	if (r.cols == 0)
		return 0;
	if (w->cols > (uint32_t)r.cols)
		w->cols = (uint32_t)r.cols;
	for (; row < r.rows && wrap_next(w, g->line, &n); row++)
		put_cells(g, r.row + row, r.col, r.col + r.cols, role, n);
	return row;
}

int grid_prose(struct grid *g, struct rect where, enum role role, struct raw text,
	       enum text_mode mode, int skip)
{
	struct rect r = clip_rect(g, where);
	struct wrap w = wrap_start(text, mode, g->ascii, (uint32_t)r.cols);
	uint32_t n;

	while (skip-- > 0) {
		if (!wrap_next(&w, g->line, &n))
			return 0;
	}
	return grid_wrap(g, r, role, &w);
}

int grid_prose_rows(struct grid *g, int cols, struct raw text, enum text_mode mode, int limit)
{
	struct wrap w = wrap_start(text, mode, g->ascii,
				   (uint32_t)(cols < 1 ? 1 : cols > g->cols ? g->cols : cols));
	uint32_t n;
	int rows = 0;

	while (rows < limit && wrap_next(&w, g->line, &n))
		rows++;
	return rows;
}

void grid_fill(struct grid *g, struct rect where, enum role role, const char *label)
{
	struct rect r = clip_rect(g, where);
	struct cells it = cells_start(raw_of(str_of(label)), TEXT_LABEL, g->ascii);
	struct cell cell = blank.cell;
	int end = r.col + r.cols;

	cells_next(&it, &cell);
	for (int row = r.row; row < r.row + r.rows; row++) {
		for (int col = r.col; col < end;)
			col += set_spot(g, row, col, end, role, cell);
	}
}

void grid_copy_row(struct grid *g, struct rect where, const struct grid *from, int row, int col)
{
	struct rect r = clip_rect(g, where);

	for (int c = 0; r.rows > 0 && c < r.cols; c++) {
		bool inside = col + c < from->cols;
		const struct spot *spot = inside ? grid_at(from, row, col + c) : &blank;
		bool half = spot->cell.width == 0 ? c == 0 : c + spot->cell.width > r.cols;

		row_of(g, r.row)[r.col + c] = half ? blank : *spot;
	}
}

void grid_role(struct grid *g, struct rect where, enum role role)
{
	struct rect r = clip_rect(g, where);

	for (int row = r.row; row < r.row + r.rows; row++) {
		for (int col = r.col; col < r.col + r.cols; col++) {
			struct spot *spot = &row_of(g, row)[col];

			if (spot->cell.class != CELL_ESCAPED)
				spot->role = role;
		}
	}
}

void grid_save(const struct grid *g, struct buf *out)
{
	char bytes[12];

	for (int row = 0; row < g->rows; row++) {
		size_t keep = out->n;

		for (int col = 0; col < g->cols; col++) {
			const struct cell *cell = &grid_at(g, row, col)->cell;

			if (cell->width == 0)
				continue;
			buf_add(out, bytes, cell_bytes(cell, bytes));
			if (cell->base != ' ' || cell->mark[0])
				keep = out->n;
		}
		out->n = keep;
		buf_addc(out, '\n');
	}
	buf_adds(out, "---\n");
	for (int row = 0; row < g->rows; row++) {
		for (int col = 0; col < g->cols; col++)
			buf_addc(out, role_letter(grid_at(g, row, col)->role));
		buf_addc(out, '\n');
	}
}

static const struct {
	char letter;
	const char *name;
} roles[ROLE_COUNT] = {
	[ROLE_NORMAL] = { '.', "normal" },
	[ROLE_DIM] = { 'd', "dim" },
	[ROLE_TITLE] = { 'T', "title" },
	[ROLE_HEADER] = { 'H', "header" },
	[ROLE_KEY] = { 'k', "key" },
	[ROLE_ID] = { 'i', "id" },
	[ROLE_TIME] = { 't', "time" },
	[ROLE_DIALECT] = { 'D', "dialect" },
	[ROLE_ACCENT] = { 'a', "accent" },
	[ROLE_MATCH] = { 'm', "match" },
	[ROLE_SELECTED] = { 's', "selected" },
	[ROLE_MARKED] = { '*', "marked" },
	[ROLE_BORDER] = { 'b', "border" },
	[ROLE_CURSOR] = { '|', "cursor" },
	[ROLE_BADGE] = { 'B', "badge" },
	[ROLE_BAR] = { 'p', "bar" },
	[ROLE_BAR_REST] = { 'q', "bar-rest" },
	[ROLE_OK] = { 'o', "ok" },
	[ROLE_INFO] = { 'I', "info" },
	[ROLE_WARN] = { 'W', "warn" },
	[ROLE_ERROR] = { 'E', "error" },
	[ROLE_CRITICAL] = { 'C', "critical" },
	[ROLE_ACCEPTED] = { '+', "accepted" },
	[ROLE_PARTIAL] = { '%', "partial" },
	[ROLE_REJECTED] = { '-', "rejected" },
	[ROLE_ESCALATED] = { '^', "escalated" },
	[ROLE_DEFERRED] = { 'z', "deferred" },
	[ROLE_STAGED] = { '$', "staged" },
	[ROLE_HELD] = { 'h', "held" },
	[ROLE_DUE] = { '!', "due" },
	[ROLE_STALLED] = { '/', "stalled" },
	[ROLE_ADDED] = { '>', "added" },
	[ROLE_REMOVED] = { '<', "removed" },
	[ROLE_ARCHITECT] = { 'A', "architect" },
	[ROLE_DEVELOPER] = { 'V', "developer" },
	[ROLE_REVIEWER] = { 'R', "reviewer" },
	[ROLE_AGENT] = { 'G', "agent" },
	[ROLE_PERSON] = { 'P', "person" },
	[ROLE_ESCAPED] = { '#', "escaped" },
};

char role_letter(enum role role)
{
	return roles[role].letter;
}

const char *role_name(enum role role)
{
	return roles[role].name;
}

enum role role_find(struct str name)
{
	int role = 0;

	while (role < ROLE_COUNT && !str_is(name, roles[role].name))
		role++;
	return (enum role)role;
}
