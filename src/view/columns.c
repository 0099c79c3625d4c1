/* Tables: the widths of their columns, in the order of view_parts.h, and the row of titles. */
#include "view/view_parts.h"

/* A layout being made: the room that is left, and whether a column waits for more of it. */
struct fitting {
	const struct column *table;
	unsigned n;
	struct columns *c;
	int left;
	bool waits;
};

static int gaps(const struct fitting *f)
{
	int shown = 0;

	for (unsigned i = 0; i < f->n; i++)
		shown += f->c->cols[i] > 0;
	return shown > 1 ? shown - 1 : 0;
}

/* Adds the columns of a rank with their least width; the first that does not fit waits, and those
 * after it, too. */
static void add_columns(struct fitting *f, int rank, bool late)
{
	for (unsigned i = 0; i < f->n && !f->waits; i++) {
		const struct column *t = &f->table[i];

		if (t->rank != rank || t->late != late || !t->min || f->c->cols[i])
			continue;
		f->waits = t->min + 1 > f->left;
		if (f->waits)
			return;
		f->c->cols[i] = t->min;
		f->left -= t->min + 1;
	}
}

/* Widens the columns of a rank up to what they want. The column that grows gets nothing of the room
 * that another waits for: it would have to give it back on a wider screen. */
static void widen_columns(struct fitting *f, int rank, bool late)
{
	for (unsigned i = 0; i < f->n; i++) {
		const struct column *t = &f->table[i];
		int more = t->want - f->c->cols[i];

		if ((t->widens ? t->widens : t->rank) != rank || t->late != late ||
		    !f->c->cols[i] || more <= 0 || (f->waits && t->grows))
			continue;
		more = more > f->left ? f->left : more;
		f->c->cols[i] += more > 0 ? more : 0;
		f->left -= more > 0 ? more : 0;
	}
}

/* Widens the column that grows to what it wants before late columns come. */
static void widen_words(struct fitting *f)
{
	for (unsigned i = 0; i < f->n && !f->waits; i++) {
		int more = f->table[i].roomy - f->c->cols[i];

		if (!f->c->cols[i] || more <= 0 || f->left <= 0)
			continue;
		more = more > f->left ? f->left : more;
		f->c->cols[i] += more;
		f->left -= more;
	}
}

/* The gap between columns, one or two blanks, once all have what they want; then the rest. */
static int spend_rest(struct fitting *f)
{
	if (f->waits || f->left < gaps(f))
		return 1;
	f->left -= gaps(f);
	for (unsigned i = 0; i < f->n; i++) {
		if (!f->c->cols[i] || !f->table[i].grows)
			continue;
		f->c->cols[i] += f->left;
		f->left = 0;
	}
	return 2;
}

void columns_fit(const struct column *table, unsigned n, int cols, struct columns *out)
{
	struct fitting f = { table, n, out, cols + 1, false };
	int at = 0, gap;

	*out = (struct columns){ { 0 }, { 0 } };
	for (unsigned i = 0; i < n; i++)
		if (!table[i].rank && !table[i].late && table[i].min) {
			out->cols[i] = table[i].min;
			f.left -= table[i].min + 1;
		}
	for (int rank = 1; rank <= COLUMNS_MAX; rank++)
		add_columns(&f, rank, false);
	for (int rank = 0; rank <= COLUMNS_MAX; rank++)
		widen_columns(&f, rank, false);
	widen_words(&f);
	for (int rank = 0; rank <= COLUMNS_MAX; rank++) {
		add_columns(&f, rank, true);
		widen_columns(&f, rank, true);
	}
	gap = spend_rest(&f);
	for (unsigned i = 0; i < n; i++) {
		out->at[i] = at;
		at += out->cols[i] ? out->cols[i] + gap : 0;
	}
}

struct rect column_rect(struct rect row, const struct columns *c, unsigned i)
{
	return rect_in(row, 0, c->at[i], 1, c->cols[i]);
}

struct pen column_pen(struct grid *g, struct rect row, const struct columns *c, unsigned i)
{
	return (struct pen){ g, column_rect(row, c, i) };
}

/* Sideways: the columns stay as they are, but the one that grows has room for long words. */
static void widen(struct table *t, int by)
{
	for (unsigned i = 0; by && i < t->n; i++) {
		if (!t->columns[i].grows || !t->fit.cols[i])
			continue;
		t->fit.cols[i] += by;
		for (unsigned k = 0; k < t->n; k++)
			t->fit.at[k] += t->fit.at[k] > t->fit.at[i] ? by : 0;
		return;
	}
}

void table_layout(struct lines *lines, const struct column *columns, unsigned n, int cols)
{
	struct table *t = arena_alloc(&lines->arena, sizeof(*t));

	t->columns = arena_alloc(&lines->arena, n * sizeof(*columns));
	memcpy(t->columns, columns, n * sizeof(*columns));
	t->n = n;
	columns_fit(columns, n, cols, &t->fit);
	lines->table = t;
	lines->cols = cols;
	widen(t, lines->wide);
}

/* Behind the title; before one at the right. Where the title fills its column that is in the gap
 * between columns, and at the ends of the row over the title. */
static void put_sort_mark(struct grid *g, struct rect row, struct rect where, const struct column *c,
			  bool down)
{
	int width = (int)cells_width(raw_of(str_of(c->title)), TEXT_LABEL, g->ascii, 512);
	int at = where.col - row.col + (c->right ? where.cols - width - 1 : width);
	int first = where.col - row.col - 1, last = where.col - row.col + where.cols;

	at = at < first ? first : at > last ? last : at;
	at = at < 0 ? 0 : at < row.cols ? at : row.cols - 1;
	grid_put(g, rect_in(row, 0, at, 1, 1), ROLE_HEADER, down ? "▼" : "▲");
}

void table_heading(const struct scene *s, const struct lines *lines, struct grid *g,
		   struct rect row)
{
	const struct table *t = lines->table;

	(void)s;
	grid_fill(g, rect_in(row, 0, 0, 1, row.cols), ROLE_HEADER, " ");
	for (unsigned i = 0; i < t->n; i++) {
		struct rect where = column_rect(row, &t->fit, i);

		if (where.cols < 3)
			; /* no title is that short */
		else if (t->columns[i].right)
			put_right(g, where, ROLE_HEADER, t->columns[i].title);
		else
			grid_put(g, where, ROLE_HEADER, t->columns[i].title);
	}
	for (unsigned i = 0; i < t->n; i++)
		if (lines->sort.column == i + 1 && t->fit.cols[i] > 0)
			put_sort_mark(g, row, column_rect(row, &t->fit, i), &t->columns[i],
				      lines->sort.down);
}

int agents_width(const struct scene *s, int min, int max)
{
	int widest = min;

	for (uint32_t i = 0; i < s->model->agents.n && widest < max; i++) {
		int width;

		if (s->model->agents.v[i].first >= s->k)
			continue;
		width = (int)cells_width(raw_of(agent_name(s->model, i)), TEXT_ID, true,
					 (uint32_t)max);
		widest = width > widest ? width : widest;
	}
	return widest > max ? max : widest;
}
