/* Marking items for a bulk decision, and snoozing them (the command defer). */
#include "app/app.h"
#include "app/commands.h"
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

void decide_unmark_all(struct deciding *d)
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

COMMAND(mark)
{
	struct deciding *d = &a->deciding;
	uint32_t item = app_need_item(a);

	if (item == NONE)
		return;
	if (item_is_marked(&d->triage, item))
		unmark_one(d, item);
	else
		mark(d, item);
	say_marked(a);
	if (!a->screen_count || app_page(a) == app_screen(a))
		pane_move(app_list(a), 1);
}

COMMAND(mark_all)
{
	struct deciding *d = &a->deciding;
	struct pane *p = app_list(a);
	uint32_t before = d->triage.marked.n;

	if (a->screen_count) {
		run_mark(a, argument, number);
		return;
	}
	for (uint32_t i = 0; i < p->lines.list.n; i++) {
		struct target t = pane_line_target(p, &a->scene, i);
		struct item_state at;

		if (t.type == TARGET_ITEM && decide_state(a, t.number, &at) && at.open &&
		    !item_is_marked(&d->triage, t.number))
			mark(d, t.number);
	}
	if (d->triage.marked.n == before) /* all were marked already: unmark */
		decide_unmark_all(d);
	say_marked(a);
}

COMMAND(on_marked)
{
	if (!a->deciding.triage.marked.n) {
		app_say(a, ROLE_DIM, "nothing is marked; {mark} marks");
		return;
	}
	a->deciding.on_marked = true;
	app_say(a, ROLE_KEY, "%u marked: which verb? any other key leaves them",
		a->deciding.triage.marked.n);
}

static void unsnooze(struct deciding *d, uint32_t item)
{
	for (uint32_t i = d->triage.snoozed.n; i-- > 0;)
		if (d->triage.snoozed.v[i].item == item)
			d->triage.snoozed.v[i] = d->triage.snoozed.v[--d->triage.snoozed.n];
}

COMMAND(defer)
{
	uint32_t item = app_item_here(a);
	struct item_state at;

	if (item == NONE || !decide_state(a, item, &at) || !at.open) {
		app_say(a, ROLE_DIM, "no open item is selected");
		return;
	}
	app_invalidate(a);
	if (item_is_snoozed(&a->scene, item, &at)) {
		unsnooze(&a->deciding, item);
		app_say(a, ROLE_DIM, "back in the inbox");
		return;
	}
	vec_push(&a->deciding.triage.snoozed, (struct snoozed){ item, at.message });
	app_say(a, ROLE_DIM, item_is_snoozed(&a->scene, item, &at)
				     ? "put off until it is nearly due or changes; {all} lists it, "
				       "{defer} brings it back"
				     : "it is nearly due; it stays here");
}
