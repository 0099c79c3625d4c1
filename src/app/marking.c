/* Which items a verb is to be for, and which are put off. */
#include "app/app.h"
#include "view/view_parts.h"

static void mark(struct deciding *d, uint32_t item)
{
	while (d->triage.is_marked.n <= item)
		vec_push(&d->triage.is_marked, false);
	d->triage.is_marked.v[item] = true;
	vec_push(&d->triage.marked, item);
}

static void unmark_one(struct deciding *d, uint32_t item)
{
	d->triage.is_marked.v[item] = false;
	for (uint32_t i = d->triage.marked.n; i-- > 0;)
		if (d->triage.marked.v[i] == item)
			d->triage.marked.v[i] = d->triage.marked.v[--d->triage.marked.n];
}

void decide_unmark(struct deciding *d)
{
	d->triage.marked.n = d->triage.is_marked.n = 0;
}

static void say_marked(struct app *a)
{
	if (a->deciding.triage.marked.n)
		app_say(a, ROLE_DIM, "%u marked; the key {on-marked} and a verb decide them all",
			a->deciding.triage.marked.n);
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
	if (item_is_marked(&d->triage, item))
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
	uint32_t before = d->triage.marked.n;

	if (a->screen_count) {
		decide_mark(a);
		return;
	}
	for (uint32_t i = 0; i < p->lines.list.n; i++) {
		struct target t = pane_line_target(p, &a->scene, i);
		struct item_state at;

		if (t.type == TARGET_ITEM && decide_state(a, t.number, &at) && at.open &&
		    !item_is_marked(&d->triage, t.number))
			mark(d, t.number);
	}
	if (d->triage.marked.n == before) /* all were: the second time takes them away */
		decide_unmark(d);
	say_marked(a);
}

void decide_on_marked(struct app *a)
{
	if (!a->deciding.triage.marked.n) {
		app_say(a, ROLE_DIM, "nothing is marked; {mark} marks");
		return;
	}
	a->deciding.on_marked = true;
	app_say(a, ROLE_KEY, "%u marked: which verb? any other key leaves them", a->deciding.triage.marked.n);
}

static void bring_back(struct deciding *d, uint32_t item)
{
	for (uint32_t i = d->triage.snoozed.n; i-- > 0;)
		if (d->triage.snoozed.v[i].item == item)
			d->triage.snoozed.v[i] = d->triage.snoozed.v[--d->triage.snoozed.n];
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
	if (item_is_snoozed(&a->scene, item, &at)) {
		bring_back(&a->deciding, item);
		app_say(a, ROLE_DIM, "back in the inbox");
		return;
	}
	vec_push(&a->deciding.triage.snoozed, (struct snoozed){ item, at.message });
	app_say(a, ROLE_DIM, item_is_snoozed(&a->scene, item, &at)
				     ? "put off until it is nearly due or changes; {all} lists it, "
				       "{defer} brings it back"
				     : "it is nearly due; it stays here");
}
