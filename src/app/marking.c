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
		app_say(a, ROLE_DIM, "%u marked; press {on-marked} then {accept}, {reject}, "
				     "{escalate}… to decide all",
			a->deciding.triage.marked.n);
	else
		app_say(a, ROLE_DIM, "nothing marked");
}

/* Marks the open items of the list, those that pass the filter unless it is NULL. */
static void mark_shown(struct app *a, const struct filter *filter)
{
	struct pane *p = app_list(a);
	struct scene scene = a->scene;

	scene.filter = filter;
	for (uint32_t i = 0; i < p->lines.list.n; i++) {
		struct target t = pane_line_target(p, &a->scene, i);
		struct item_state at;

		if (t.type == TARGET_ITEM && !item_is_marked(&a->deciding.triage, t.number) &&
		    item_is_shown(&scene, t.number, &at) && at.open)
			mark(&a->deciding, t.number);
	}
}

static void mark_matching(struct app *a, struct str text)
{
	uint32_t before = a->deciding.triage.marked.n;
	struct err err;
	struct filter *f = filter_new(text, a->scene.now_ms, &err);

	if (!f) {
		app_say(a, ROLE_ERROR, "%s", err.text);
		return;
	}
	mark_shown(a, f);
	filter_free(f);
	if (a->deciding.triage.marked.n > before)
		say_marked(a);
	else
		app_say(a, ROLE_WARN, "no other open item of this list matches");
}

COMMAND(mark)
{
	struct deciding *d = &a->deciding;
	uint32_t item;

	if (argument.n) {
		mark_matching(a, argument);
		return;
	}
	item = app_need_item(a);
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
	uint32_t before = d->triage.marked.n;

	if (a->screen_count) {
		run_mark(a, argument, number);
		return;
	}
	mark_shown(a, NULL);
	if (d->triage.marked.n == before) /* all were marked already: unmark */
		decide_unmark_all(d);
	say_marked(a);
}

/* The keys of the verbs that all marked items take. */
static void verbs_of_marked(struct app *a, struct buf *out)
{
	const struct triage *t = &a->deciding.triage;
	const struct model *m = a->scene.model;
	unsigned takes = decide_is_read_only(a) ? 0 : ~0u;

	for (uint32_t i = 0; i < t->marked.n && takes; i++) {
		const struct item *item = &m->items.v[t->marked.v[i]];
		struct item_state at;

		takes &= item_without_overlay(m, item, a->scene.k, scene_clock(&a->scene), &at)
				 ? verbs_allowed(m, item, &at)
				 : 0;
	}
	decide_verb_keys(a, takes, true, out);
}

COMMAND(on_marked)
{
	struct buf verbs = { 0 };

	if (!a->deciding.triage.marked.n) {
		app_say(a, ROLE_DIM, "nothing marked; {mark} marks");
		decide_refused(a); /* the verb behind it is not for the selected item */
		return;
	}
	a->deciding.on_marked = true;
	verbs_of_marked(a, &verbs);
	app_say(a, ROLE_KEY, "%u marked: %s  {defer} snooze; any other key cancels",
		a->deciding.triage.marked.n, verbs.n ? verbs.p : "no verb suits all of them");
	buf_release(&verbs);
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
				     ? "snoozed until nearly due or changed; {all} lists it, "
				       "{defer} wakes it"
				     : "nearly due: not snoozed");
}
