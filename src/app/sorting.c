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

COMMAND(sort)
{
	struct pane *p = app_list(a);

	if (!p->view->sort_key || !p->lines.table) {
		app_say(a, ROLE_DIM, "this list has one order only");
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
