/* Which items a verb is to be for, and which are put off. */
#include "ui/app.h"
#include "ui/view_parts.h"

bool decide_is_marked(const struct deciding *d, uint32_t item)
{
	return item < d->is_marked.n && d->is_marked.v[item];
}

static void mark(struct deciding *d, uint32_t item)
{
	while (d->is_marked.n <= item)
		vec_push(&d->is_marked, false);
	d->is_marked.v[item] = true;
	vec_push(&d->marked, item);
}

static void unmark_one(struct deciding *d, uint32_t item)
{
	d->is_marked.v[item] = false;
	for (uint32_t i = d->marked.n; i-- > 0;)
		if (d->marked.v[i] == item)
			d->marked.v[i] = d->marked.v[--d->marked.n];
}

void decide_unmark(struct deciding *d)
{
	d->marked.n = d->is_marked.n = 0;
}

static void say_marked(struct app *a)
{
	if (a->deciding.marked.n)
		app_say(a, ROLE_DIM, "%u marked; the key {on-marked} and a verb decide them all",
			a->deciding.marked.n);
	else
		app_say(a, ROLE_DIM, "nothing is marked now");
}

void decide_mark(struct app *a)
{
	struct deciding *d = &a->deciding;
	uint32_t item = app_item_here(a);

	if (item == NONE) {
		app_say(a, ROLE_DIM, "no item is selected");
		return;
	}
	if (decide_is_marked(d, item))
		unmark_one(d, item);
	else
		mark(d, item);
	say_marked(a);
	if (!a->screen_count)
		pane_move(app_list(a), 1);
}

void decide_mark_all(struct app *a)
{
	struct deciding *d = &a->deciding;
	struct pane *p = app_list(a);
	uint32_t before = d->marked.n;

	if (a->screen_count) {
		decide_mark(a);
		return;
	}
	for (uint32_t i = 0; i < p->lines.list.n; i++) {
		struct target t = pane_line_target(p, &a->scene, i);
		struct item_state at;

		if (t.type == TARGET_ITEM && decide_state(a, t.number, &at) && at.open &&
		    !decide_is_marked(d, t.number))
			mark(d, t.number);
	}
	if (d->marked.n == before) /* all were: the second time takes them away */
		decide_unmark(d);
	say_marked(a);
}

void decide_on_marked(struct app *a)
{
	if (!a->deciding.marked.n) {
		app_say(a, ROLE_DIM, "nothing is marked; {mark} marks");
		return;
	}
	a->deciding.on_marked = true;
	app_say(a, ROLE_KEY, "%u marked: which verb? any other key leaves them", a->deciding.marked.n);
}

static void bring_back(struct deciding *d, uint32_t item)
{
	for (uint32_t i = d->deferred.n; i-- > 0;)
		if (d->deferred.v[i].item == item)
			d->deferred.v[i] = d->deferred.v[--d->deferred.n];
}

void decide_defer(struct app *a)
{
	uint32_t item = app_item_here(a);
	struct item_state at;

	if (item == NONE || !decide_state(a, item, &at) || !at.open) {
		app_say(a, ROLE_DIM, "no open item is selected");
		return;
	}
	app_stale(a);
	if (item_is_put_off(&a->scene, item, &at)) {
		bring_back(&a->deciding, item);
		app_say(a, ROLE_DIM, "back in the inbox");
		return;
	}
	vec_push(&a->deciding.deferred, (struct deferral){ item, at.message });
	app_say(a, ROLE_DIM, item_is_put_off(&a->scene, item, &at)
				     ? "put off until it is nearly due or changes; {all} lists it, "
				       "{defer} brings it back"
				     : "it is nearly due; it stays here");
}
