/* Sorts the lines of a table by a column. Each line's key is asked once; equal ones keep the order
 * they were made in, in both directions. */
#include "view/view_parts.h"

#include <stdlib.h>

struct sort_row {
	struct sort_key key;
	enum sort_place place;
	bool down;
	struct line line;
	uint32_t index;
};

static int by_text(struct str a, struct str b)
{
	size_t n = a.n < b.n ? a.n : b.n;

	for (size_t i = 0; i < n; i++) {
		unsigned char x = (unsigned char)ascii_lower(a.p[i]);
		unsigned char y = (unsigned char)ascii_lower(b.p[i]);

		if (x != y)
			return x < y ? -1 : 1;
	}
	return a.n < b.n ? -1 : a.n > b.n;
}

static int by_key(const void *left, const void *right)
{
	const struct sort_row *a = left, *b = right;
	int order;

	if (a->place != b->place)
		return a->place < b->place ? -1 : 1;
	order = a->place == SORT_LAST ? 0 : by_text(a->key.text, b->key.text);
	if (!order && a->place != SORT_LAST)
		order = a->key.number < b->key.number ? -1 : a->key.number > b->key.number;
	if (order)
		return a->down ? -order : order;
	return a->index < b->index ? -1 : 1;
}

/* Puts the lines back; a list of numbers stays one. */
static void put_sorted(struct lines *lines, const struct sort_row *rows, uint32_t n)
{
	bool numbers = lines->counted || lines->numbers.n;

	lines->counted = false;
	lines->list.n = lines->numbers.n = 0;
	for (uint32_t i = 0; i < n; i++) {
		if (numbers)
			line_number(lines, rows[i].line.a);
		else
			line_add(lines, rows[i].line.what, rows[i].line.a, rows[i].line.b);
	}
}

void lines_sort(const struct view_ops *view, const struct scene *s, struct lines *lines,
		struct sort_order order)
{
	struct sort_row *rows;
	uint32_t n = 0;

	if (!order.column || !view->sort_key)
		return;
	rows = xmalloc((lines->list.n + (size_t)1) * sizeof(*rows));
	for (uint32_t i = 0; i < lines->list.n && yield_on(s->yield); i++) {
		struct sort_row row = { .line = line_at(lines, i), .index = i, .down = order.down };

		row.place = view->sort_key(s, lines, i, order.column - 1, &row.key);
		if (row.place != SORT_NOT_LISTED)
			rows[n++] = row;
	}
	yield_sort(rows, n, sizeof(*rows), by_key, s->yield);
	if (!s->yield || !s->yield->cancelled) {
		put_sorted(lines, rows, n);
		lines->sort = order;
		lines->group_count = 0; /* those of the view's own order */
	}
	free(rows);
}

struct str item_sort_name(const struct model *m, const struct item *item, struct lines *lines)
{
	struct buf name = { 0 };
	struct str kept;

	item_name(m, item, &name);
	kept = arena_str(&lines->arena, buf_str(&name));
	buf_release(&name);
	return kept;
}

bool table_sorts(const struct view_ops *view, const struct lines *lines, unsigned column)
{
	return view->sort_key && lines->table && column < lines->table->n &&
	       view->sort_columns >> column & 1 && lines->table->fit.cols[column] > 0;
}
