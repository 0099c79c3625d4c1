/* Marking items for a bulk decision, and snoozing them (the command defer). What is snoozed is kept in
 * the journal, so that it stays hidden after a restart. */
#include "app/app.h"
#include "app/commands.h"
#include "base/map.h"
#include "decide/reader.h"
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
				     "{escalate}%s to decide all",
			a->deciding.triage.marked.n, a->scene.ascii ? "..." : "…");
	else
		app_say(a, ROLE_DIM, "nothing marked");
}

/* Marks the listed open items that match the filter; NULL matches all. */
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

/* ---- snoozing ---- */

static void set_snoozed(struct deciding *d, uint32_t item, uint32_t message)
{
	while (d->triage.snoozed.n <= item)
		vec_push(&d->triage.snoozed, 0);
	d->triage.snoozed.v[item] = message;
}

static void snooze(struct app *a, uint32_t item, const struct item_state *at, bool on)
{
	set_snoozed(&a->deciding, item, on ? at->message + 1 : 0);
	app_effect(a, (struct effect){ EFFECT_SNOOZE, decide_desk(a, item),
				       .snooze = { item, on } });
}

/* Out of sight it would still be sent with the others. */
static bool is_staged(const struct app *a, uint32_t item)
{
	const struct draft *draft = decide_draft(a, item);

	return draft && draft->state == DRAFT_STAGED;
}

/* Snoozes all marked items that are open and not staged, and unmarks them. */
static void snooze_marked(struct app *a)
{
	struct triage *t = &a->deciding.triage;
	struct item_state at;
	uint32_t n = 0, staged = 0;

	for (uint32_t i = 0; i < t->marked.n; i++) {
		if (!decide_state(a, t->marked.v[i], &at) || !at.open)
			continue;
		if (is_staged(a, t->marked.v[i])) {
			staged++;
			continue;
		}
		snooze(a, t->marked.v[i], &at, true);
		n += item_is_snoozed(&a->scene, t->marked.v[i], &at);
	}
	decide_unmark_all(&a->deciding);
	app_invalidate(a);
	if (staged)
		app_say(a, ROLE_WARN, "%u snoozed; %u with a staged decision %s not", n, staged,
			staged == 1 ? "is" : "are");
	else
		app_say(a, ROLE_DIM, "%u snoozed until nearly due or changed; is:snoozed filters "
				     "them, {defer} wakes one", n);
}

COMMAND(defer)
{
	uint32_t item = app_item_here(a);
	struct item_state at;

	if (a->deciding.on_marked) {
		snooze_marked(a);
		return;
	}
	if (decide_has_moved(a))
		return;
	if (item == NONE || !decide_state(a, item, &at) || !at.open) {
		app_say(a, ROLE_DIM, "no open item is selected");
		return;
	}
	app_invalidate(a);
	if (item_is_snoozed(&a->scene, item, &at)) {
		snooze(a, item, &at, false);
		app_say(a, ROLE_DIM, "back in the inbox");
		return;
	}
	if (is_staged(a, item)) {
		app_say(a, ROLE_WARN, "not snoozed: its decision is staged; {undo} undoes it first");
		return;
	}
	snooze(a, item, &at, true);
	app_say(a, ROLE_DIM, item_is_snoozed(&a->scene, item, &at)
				     ? "snoozed until nearly due or changed; {all} lists it, "
				       "{defer} wakes it"
				     : "nearly due: not snoozed");
}

/* Whether the item is still as it was when it was snoozed. */
static bool is_unchanged(const struct app *a, const struct item *item, const struct item_state *at,
			 const struct snooze *s)
{
	struct buf rev = { 0 };
	bool same;

	if (item->n != s->steps)
		return false;
	item_rev(a->scene.reader, item, at, &rev);
	same = str_eq(buf_str(&rev), s->rev);
	buf_release(&rev);
	return same;
}

static const struct snooze *find_snooze(const struct desk *d, const struct map *by_name,
					const struct model *m, const struct item *item,
					struct buf *name)
{
	buf_clear(name);
	item_name(m, item, name);
	for (uint32_t it = 0, i; map_next(by_name, str_hash(buf_str(name)), &it, &i);)
		if (d->snoozes.v[i].kind == item->kind &&
		    str_eq(d->snoozes.v[i].item, buf_str(name)) &&
		    str_eq(d->snoozes.v[i].session, session_name(m, item_session(m, item))))
			return &d->snoozes.v[i];
	return NULL;
}

uint32_t decide_restore_snoozed(struct app *a, const struct desk *d)
{
	const struct model *m = a->scene.model;
	struct map by_name = { 0 };
	struct buf name = { 0 };
	struct item_state at;
	uint32_t n = 0;

	for (uint32_t i = 0; i < d->snoozes.n; i++)
		map_add(&by_name, str_hash(d->snoozes.v[i].item), i);
	for (uint32_t i = 0; by_name.n && i < m->items.n; i++) {
		const struct item *item = &m->items.v[i];
		const struct snooze *s;

		if (!item->open || decide_desk(a, i) != d || !decide_state(a, i, &at) || !at.open)
			continue;
		s = find_snooze(d, &by_name, m, item, &name);
		if (!s || !is_unchanged(a, item, &at, s))
			continue;
		set_snoozed(&a->deciding, i, at.message + 1);
		n += item_is_snoozed(&a->scene, i, &at);
	}
	map_release(&by_name);
	buf_release(&name);
	return n;
}
