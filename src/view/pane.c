/* Selection, scrolling and search in the lines of a view. */
#include "view/pane.h"

#include "base/utf8.h"
#include "view/view_parts.h"

#include <stdio.h>

static bool same_line(struct line a, struct line b)
{
	return a.what == b.what && a.a == b.a && a.b == b.b;
}

static void remember(struct pane *p)
{
	if (p->selected >= p->lines.list.n)
		return;
	p->at = line_at(&p->lines, p->selected);
	if (!p->text)
		p->made = true; /* keeps a selection made while new lines are not there yet */
}

/* Whether a line is the heading of the one below it: a session's of anything in it, a task's of its
 * loop and items. */
static bool is_heading(struct target t, struct target below)
{
	if (below.type == TARGET_ITEM || below.type == TARGET_LOOP)
		return t.type == TARGET_SESSION || t.type == TARGET_TASK;
	return t.type == TARGET_SESSION && below.type != TARGET_NONE && below.type != t.type;
}

/* The initial selection: a line that can be opened, not a heading. */
static uint32_t first_target(const struct pane *p, const struct scene *s)
{
	for (uint32_t i = 0; p->view->target && i < p->lines.list.n && i < 16; i++) {
		struct target t = p->view->target(s, &p->lines, i);

		if (t.type != TARGET_NONE && t.type != TARGET_LOOP &&
		    !is_heading(t, pane_line_target(p, s, i + 1)))
			return i;
	}
	return 0;
}

enum { FOLLOWERS_MAX = 16, SHOW_LINES_MAX = 2000 };

/* For a Bloom filter of one word. */
static unsigned bit_of(struct line line)
{
	return (line.what * 31 + line.a * 7 + line.b) % 64;
}

/* Selects the first of the wanted lines that still exists, and scrolls so that it stays on its
 * screen row. One pass, since lists may be long. Returns its index in wanted, or n. */
static uint32_t select_any(struct pane *p, const struct line *wanted, uint32_t n)
{
	uint64_t bits = 0;
	uint32_t best = n, place = 0;

	for (uint32_t w = 0; w < n; w++)
		bits |= UINT64_C(1) << bit_of(wanted[w]);
	for (uint32_t i = 0; i < p->lines.list.n && best; i++) {
		struct line line = line_at(&p->lines, i);

		if (!(bits >> bit_of(line) & 1))
			continue;
		for (uint32_t w = 0; w < best; w++)
			if (same_line(line, wanted[w])) {
				best = w;
				place = i;
			}
	}
	if (best < n) {
		/* what comes at the top of a grouped list is the most urgent: it is not scrolled away */
		if (p->top || !p->lines.group_count)
			p->top = p->top + place >= p->selected ? p->top + place - p->selected : 0;
		p->selected = place;
	}
	return best;
}

/* Restores the selection; if its line is gone, selects the next one that still exists. Returns
 * whether it is the same line. */
static bool restore_selection(struct pane *p, const struct lines *old)
{
	struct line wanted[FOLLOWERS_MAX + 1] = { p->at };
	uint32_t n = 1, found;

	for (; n <= FOLLOWERS_MAX && p->selected + n < old->list.n; n++)
		wanted[n] = line_at(old, p->selected + n);
	found = select_any(p, wanted, n);
	if (found && found < n)
		remember(p);
	return found == 0;
}

/* The selected line is not in the lines any more. */
static void note_gone(struct pane *p, struct target was)
{
	p->gone = was;
	p->gone_k = p->k;
}

bool pane_make(struct pane *p, const struct scene *s, int cols)
{
	struct lines fresh = { .cols = cols, .wide = p->text ? 0 : p->left }, old;
	struct target was;
	uint32_t n;
	bool found;

	p->view->make(s, cols, &fresh);
	lines_sort(p->view, s, &fresh, p->sort);
	if (s->yield && s->yield->cancelled) {
		lines_release(&fresh);
		return false;
	}
	was = p->made && !p->text ? pane_target(p, s) : target_none;
	old = p->lines;
	p->lines = fresh;
	n = p->lines.list.n;
	if (p->text) {
		lines_release(&old);
		p->selected = first_target(p, s);
		p->made = true;
		return true;
	}
	found = p->made && p->selected < n && same_line(line_at(&p->lines, p->selected), p->at);
	found = found || (p->made && restore_selection(p, &old));
	lines_release(&old);
	if (!found && was.type != TARGET_NONE)
		note_gone(p, was);
	p->k = s->k;
	if (found)
		return true;
	if (!p->made) {
		p->selected = first_target(p, s);
		p->top = 0;
	}
	if (p->selected >= n)
		p->selected = n ? n - 1 : 0;
	p->made = n > 0;
	remember(p);
	return true;
}

void pane_release(struct pane *p)
{
	lines_release(&p->lines);
	p->made = false;
}

static uint32_t visible_rows(const struct pane *p)
{
	return p->rows > 0 ? (uint32_t)p->rows : 1;
}

/* The heading above a line, or NULL. */
static const struct line_group *group_at(const struct pane *p, uint32_t line)
{
	for (unsigned i = 0; i < p->lines.group_count; i++)
		if (p->lines.groups[i].first == line)
			return &p->lines.groups[i];
	return NULL;
}

/* The group that a line belongs to, or NULL. */
static const struct line_group *group_of(const struct pane *p, uint32_t line)
{
	const struct line_group *found = NULL;

	for (unsigned i = 0; i < p->lines.group_count && p->lines.groups[i].first <= line; i++)
		found = &p->lines.groups[i];
	return found;
}

/* The rows that lines [from, to] take, with the headings above them. */
static uint32_t rows_of(const struct pane *p, uint32_t from, uint32_t to)
{
	uint32_t rows = to - from + 1;

	for (unsigned i = 0; i < p->lines.group_count; i++)
		rows += p->lines.groups[i].first >= from && p->lines.groups[i].first <= to;
	return rows;
}

/* The first line from which on all lines up to this one are visible. */
static uint32_t top_for(const struct pane *p, uint32_t line)
{
	uint32_t rows = visible_rows(p), top = line >= rows ? line - rows + 1 : 0;

	while (top < line && rows_of(p, top, line) > rows)
		top++;
	return top;
}

static uint32_t last_visible(const struct pane *p)
{
	uint32_t rows = visible_rows(p), last = p->top + rows - 1;

	while (last > p->top && rows_of(p, p->top, last) > rows)
		last--;
	return last;
}

static void scroll_to_selected(struct pane *p)
{
	if (p->selected < p->top)
		p->top = p->selected;
	else if (p->selected > last_visible(p))
		p->top = top_for(p, p->selected);
}

/* Leaves no blank rows below the last line. */
static void clamp_top(struct pane *p)
{
	uint32_t n = p->lines.list.n, most = n ? top_for(p, n - 1) : 0;

	if (p->top > most)
		p->top = most;
}

/* The heading of the group whose first lines were scrolled away, where a row is left at the end: they
 * took two rows with it, where one was needed. Else NULL. */
static const struct line_group *spare_heading(const struct pane *p)
{
	uint32_t n = p->lines.list.n;

	if (!p->top || p->top >= n || group_at(p, p->top) ||
	    rows_of(p, p->top, n - 1) >= visible_rows(p))
		return NULL;
	return group_of(p, p->top);
}

uint32_t pane_line_in_row(const struct pane *p, int row)
{
	row -= spare_heading(p) != NULL;
	for (uint32_t line = p->top; row >= 0 && line < p->lines.list.n; line++) {
		row -= group_at(p, line) != NULL;
		if (row-- == 0)
			return line;
	}
	return NONE;
}

void pane_select(struct pane *p, uint32_t line)
{
	uint32_t n = p->lines.list.n;

	p->touched = true;
	p->selected = line < n ? line : n ? n - 1 : 0;
	remember(p);
	scroll_to_selected(p);
}

static uint32_t add_clamped(uint32_t from, int64_t by, uint32_t n)
{
	int64_t to = (int64_t)from + by;

	if (to < 0 || n == 0)
		return 0;
	return to >= (int64_t)n ? n - 1 : (uint32_t)to;
}

void pane_move(struct pane *p, int64_t n)
{
	pane_select(p, add_clamped(p->selected, n, p->lines.list.n));
}

void pane_scroll(struct pane *p, int64_t n)
{
	p->touched = true;
	p->top = add_clamped(p->top, n, p->lines.list.n);
	clamp_top(p);
	if (p->selected < p->top)
		p->selected = p->top;
	else if (p->selected > last_visible(p))
		p->selected = last_visible(p);
	remember(p);
}

struct target pane_line_target(const struct pane *p, const struct scene *s, uint32_t line)
{
	if (!p->view || !p->view->target || line >= p->lines.list.n)
		return target_none;
	return p->view->target(s, &p->lines, line);
}

struct target pane_target(const struct pane *p, const struct scene *s)
{
	return pane_line_target(p, s, p->selected);
}

struct target pane_preview(const struct pane *p, const struct scene *s)
{
	if (!p->view->preview || p->selected >= p->lines.list.n)
		return pane_target(p, s);
	return p->view->preview(s, &p->lines, p->selected);
}

const char *pane_position(const struct pane *p, char out[24])
{
	uint32_t n = p->lines.list.n, rows = visible_rows(p);

	if (!p->text)
		snprintf(out, 24, "%u/%u", n ? p->selected + 1 : 0, n);
	else if (n <= rows)
		snprintf(out, 24, "all");
	else if (p->top == 0)
		snprintf(out, 24, "top");
	else if (p->top + rows >= n)
		snprintf(out, 24, "end");
	else
		snprintf(out, 24, "%u%%", (unsigned)((uint64_t)p->top * 100 / (n - rows)));
	return out;
}

/* The text of one grid row. */
static struct str row_text(const struct grid *g, struct rect row, struct buf *text)
{
	buf_clear(text);
	for (int c = 0; c < row.cols; c++) {
		const struct spot *spot = grid_at(g, row.row, row.col + c);
		char bytes[12];

		if (spot->cell.width)
			buf_add(text, bytes, cell_bytes(&spot->cell, bytes));
	}
	return buf_str(text);
}

/* Highlights matches in the drawn cells, so that what is highlighted is what is seen. */
static void mark_matches(struct grid *g, struct rect row, struct str word)
{
	struct buf buf = { 0 };
	struct str text = row_text(g, row, &buf);
	size_t at = 0, end = 0; /* offset of the column, end of the last match */

	for (int col = 0; word.n && col < row.cols; col++) {
		const struct cell *cell = &grid_at(g, row.row, row.col + col)->cell;
		char bytes[12];

		if (cell->width && at >= end && str_from(text, at).n >= word.n &&
		    str_eq_nocase(str_make(text.p + at, word.n), word))
			end = at + word.n;
		if (at < end)
			grid_role(g, rect_in(row, 0, col, 1, 1), ROLE_MATCH);
		if (cell->width)
			at += cell_bytes(cell, bytes);
	}
	buf_release(&buf);
}

/* The first line of [from, to) that is drawn with the word in it, else `to`. */
static uint32_t find_drawn(const struct pane *p, const struct scene *s, uint32_t from, uint32_t to,
			   struct str word)
{
	struct grid *g = grid_new(1, p->lines.cols + p->lines.wide, s->ascii);
	struct buf text = { 0 };

	for (; from < to; from++) {
		grid_clear(g);
		p->view->draw(s, &p->lines, from, g, grid_rect(g));
		if (str_contains_nocase(row_text(g, grid_rect(g), &text), word))
			break;
	}
	buf_release(&text);
	grid_free(g);
	return from;
}

bool pane_line_has(const struct pane *p, const struct scene *s, uint32_t i, struct str word)
{
	return (!p->text && target_contains(s, pane_line_target(p, s, i), word)) ||
	       find_drawn(p, s, i, i + 1, word) == i;
}

void pane_show_word(struct pane *p, const struct scene *s, int rows, struct str word)
{
	uint32_t n = p->lines.list.n < SHOW_LINES_MAX ? p->lines.list.n : SHOW_LINES_MAX;
	uint32_t at = word.n ? find_drawn(p, s, 0, n, word) : n;

	if (at == n || rows < 1)
		return;
	if (at < p->top || at >= p->top + (uint32_t)rows)
		p->top = at > (uint32_t)rows / 3 ? at - (uint32_t)rows / 3 : 0;
}

/* Keeps the view's own cursor visible. */
static void mark_selected(struct grid *g, struct rect row)
{
	for (int c = 0; c < row.cols; c++)
		if (grid_at(g, row.row, row.col + c)->role != ROLE_CURSOR)
			grid_role(g, rect_in(row, 0, c, 1, 1), ROLE_SELECTED);
}

static bool line_is_marked(const struct pane *p, const struct scene *s, uint32_t line)
{
	struct target t;

	if (!s->triage || !s->triage->marked.n)
		return false;
	t = pane_line_target(p, s, line);
	return t.type == TARGET_ITEM && item_is_marked(s->triage, t.number);
}

/* Says why there are no lines, and what to do. */
static void draw_empty(const struct pane *p, const struct scene *s, struct grid *g,
		       struct rect where)
{
	struct buf text = { 0 };

	if (!p->lines.cols)
		buf_adds(&text, "Loading…");
	else if (!p->text && s->reading)
		buf_adds(&text, "Nothing yet: still reading the log.");
	else if (!p->text && s->filter && s->narrowed.type != TARGET_NONE) {
		buf_adds(&text, p->lines.closed ? "Nothing open" : "Nothing here");
		keymap_text(s->keymap,
			    " belongs to what the views are narrowed to. {back <Esc>} shows all "
			    "again.",
			    &text);
		if (p->lines.closed) {
			buf_addc(&text, '\n');
			keymap_text(s->keymap, "{all} shows its ", &text);
			buf_printf(&text, "%u closed item%s.", p->lines.closed,
				   plural_s(p->lines.closed));
		}
	} else if (!p->text && s->filter)
		keymap_text(s->keymap,
			    "No line matches the filter. {back <Esc>} clears it.",
			    &text);
	else if (p->view->empty) {
		keymap_text(s->keymap, p->view->empty, &text);
		if (p->view->needs_protocol && s->foreign > s->k / 2)
			buf_printf(&text, "\n%u of %u messages %s of no known protocol.", s->foreign,
				   s->k, s->foreign == 1 ? "is" : "are");
		if (p->view->then) {
			buf_addc(&text, '\n');
			keymap_text(s->keymap, p->view->then, &text);
		}
	}
	grid_prose(g, where, ROLE_DIM, raw_of(buf_str(&text)), TEXT_LINES, 0);
	buf_release(&text);
}

/* The gutter shows the selection and the items marked for a common decision. */
static void draw_gutter(const struct pane *p, const struct scene *s, uint32_t line, struct grid *g,
			struct rect row, bool focused)
{
	struct rect gutter = { row.row, row.col - GUTTER_COLS, 1, 1 };
	bool marked = line_is_marked(p, s, line);

	if (line == p->selected) {
		mark_selected(g, row);
		grid_put(g, gutter, focused ? ROLE_CURSOR : ROLE_DIM, marked ? "*" : "▸");
	} else if (marked) {
		grid_put(g, gutter, ROLE_MARKED, "*");
	}
}

/* A row of the pane, of a width that includes what was scrolled away. */
struct wide_row {
	struct grid *g;
	int left;
};

static void begin_wide(struct wide_row *w, const struct pane *p, const struct grid *g, int cols)
{
	w->left = p->left;
	w->g = p->left ? grid_new(1, cols + p->left, g->ascii) : NULL;
	if (w->g)
		w->left = w->g->cols - cols > 0 ? w->g->cols - cols : 0;
}

/* Where to draw a row; then show_wide. */
static struct grid *wide_grid(const struct wide_row *w, struct grid *g, struct rect *row)
{
	if (!w->g)
		return g;
	grid_clear(w->g);
	*row = grid_rect(w->g);
	return w->g;
}

/* Returns whether the row goes on beyond its right edge, as far as can be seen. */
static bool show_wide(const struct wide_row *w, struct grid *g, struct rect row)
{
	const struct spot *last;

	if (w->g)
		grid_copy_row(g, row, w->g, 0, w->left);
	last = grid_at(g, row.row, row.col + row.cols - 1);
	return last->cell.base != ' ' && last->cell.base != 0 &&
	       (last->cell.base < 0x2500 || last->cell.base > 0x257f); /* a border */
}

static void draw_group(const struct line_group *group, struct grid *g, struct rect row)
{
	struct pen p = { g, row };

	pen_printf(&p, ROLE_ACCENT, "%s ", group->name);
	pen_printf(&p, ROLE_DIM, "%u · %s ", group->n, group->words);
	grid_fill(g, p.rest, ROLE_BORDER, "─");
}

/* Draws the line and, above it, the heading of its group. Returns how many rows that took. */
static int draw_line(struct pane *p, const struct scene *s, uint32_t line, struct grid *g,
		     const struct wide_row *wide, struct rect body, int at, bool focused,
		     struct str word)
{
	const struct line_group *group = group_at(p, line);
	struct rect row = rect_in(body, at, 0, 1, body.cols), whole;
	struct grid *to;

	if (group) {
		draw_group(group, g, row);
		if (at + 1 == body.rows)
			return 1;
		row = rect_in(body, at + 1, 0, 1, body.cols);
	}
	whole = row;
	to = wide_grid(wide, g, &whole);
	p->view->draw(s, &p->lines, line, to, whole);
	p->more |= show_wide(wide, g, row);
	if (word.n)
		mark_matches(g, row, word);
	if (!p->text)
		draw_gutter(p, s, line, g, row, focused);
	return group ? 2 : 1;
}

void pane_draw(struct pane *p, const struct scene *s, struct grid *g, struct rect where,
	       bool focused, struct str word)
{
	struct rect body;
	struct wide_row wide;
	int at = 0;

	if (!p->text)
		where = rect_in(where, 0, GUTTER_COLS, where.rows, where.cols - GUTTER_COLS);
	body = where;
	if (where.rows < 1 || where.cols < 1)
		return;
	begin_wide(&wide, p, g, where.cols);
	if (p->view->heading && p->lines.list.n && where.rows > 2) {
		struct rect row = rect_in(where, 0, 0, 1, where.cols), whole = row;
		struct grid *to = wide_grid(&wide, g, &whole);

		p->view->heading(s, &p->lines, to, whole);
		show_wide(&wide, g, row);
		body = rect_in(where, 1, 0, where.rows - 1, where.cols);
	}
	p->rows = body.rows;
	p->more = false;
	if (p->lines.cols) /* else the lines that it is the top of are still being made */
		clamp_top(p);
	if (!p->text)
		scroll_to_selected(p);
	if (!p->lines.list.n)
		draw_empty(p, s, g, rect_in(body, 0, 1, body.rows, body.cols - 2));
	if (spare_heading(p)) {
		draw_group(spare_heading(p), g, rect_in(body, 0, 0, 1, body.cols));
		at = 1;
	}
	for (uint32_t line = p->top; at < body.rows && line < p->lines.list.n; line++)
		at += draw_line(p, s, line, g, &wide, body, at, focused, word);
	grid_free(wide.g);
}
