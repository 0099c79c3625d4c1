/* Sorting the list by a column: a key cycles through the columns, a click on a column's head chooses
 * it, and again turns the order round. The list is made anew, in steps where it is long. */
#include "app/app.h"
#include "app/commands.h"

#include "view/view_parts.h"

static void set_order(struct app *a, struct sort_order order)
{
	struct pane *p = app_list(a);

	p->sort = order;
	if (!p->touched)
		p->made = false; /* from its top */
	app_cancel_list(a); /* it would have the old order */
	a->stale[a->tab] = true;
	if (order.column)
		app_say(a, ROLE_DIM, "sorted by \"%s\"%s; {sort-reverse} turns it round",
			p->lines.table->columns[order.column - 1].title,
			order.down ? ", descending" : "");
	else
		app_say(a, ROLE_DIM, "in its usual order");
}

static struct sort_order order_by(const struct pane *p, unsigned column)
{
	return (struct sort_order){ column + 1, p->view->sort_down >> column & 1 };
}

/* The title of a column that the list can be sorted by; empty = it cannot. */
static struct str sort_title(const struct pane *p, unsigned column)
{
	return table_sorts(p->view, &p->lines, column)
		       ? str_of(p->lines.table->columns[column].title)
		       : STR_NONE;
}

void app_sort_complete(const struct app *a, struct completions *out)
{
	const struct pane *p = &a->lists[a->tab];

	for (unsigned c = 0; p->lines.table && c < p->lines.table->n; c++)
		if (sort_title(p, c).n)
			completions_add(out, sort_title(p, c));
}

static void sort_by(struct app *a, struct str name)
{
	struct pane *p = app_list(a);
	struct buf titles = { 0 };
	char q[QUOTED_MAX];

	for (unsigned c = 0; c < p->lines.table->n; c++) {
		struct str title = sort_title(p, c);

		if (title.n && str_eq_nocase(title, name)) {
			set_order(a, order_by(p, c));
			buf_release(&titles);
			return;
		}
		if (title.n)
			buf_printf(&titles, "%s%.*s", titles.n ? ", " : "", STR_ARG(title));
	}
	app_say(a, ROLE_ERROR, "no column %s to sort by; there are %s", quoted(name, q),
		titles.n ? titles.p : "none");
	buf_release(&titles);
}

COMMAND(sort)
{
	struct pane *p = app_list(a);

	if (!p->view->sort_key || !p->lines.table) {
		app_say(a, ROLE_DIM, "this list has one order only");
		return;
	}
	if (argument.n) {
		sort_by(a, str_trim(argument));
		return;
	}
	for (unsigned c = p->sort.column; c < p->lines.table->n; c++) {
		if (!table_sorts(p->view, &p->lines, c))
			continue;
		set_order(a, order_by(p, c));
		return;
	}
	set_order(a, (struct sort_order){ 0 });
}

COMMAND(sort_reverse)
{
	struct sort_order order = app_list(a)->sort;

	order.down = !order.down;
	if (!order.column || !app_list(a)->lines.table)
		app_say(a, ROLE_DIM, "not sorted by a column; {sort} does that");
	else
		set_order(a, order);
}

void app_sort_click(struct app *a, int col)
{
	const struct pane *p = app_list(a);

	for (unsigned c = 0; p->lines.table && c < p->lines.table->n; c++) {
		int at = p->lines.table->fit.at[c];

		if (col < at || col >= at + p->lines.table->fit.cols[c] ||
		    !table_sorts(p->view, &p->lines, c))
			continue;
		if (p->sort.column == c + 1)
			run_sort_reverse(a, STR_NONE, 0);
		else
			set_order(a, order_by(p, c));
	}
}
