/* Undo and redo of what was staged, by steps: what one verb has staged on one item or on all marked
 * ones. Also giving up held letters, which the same key does. */
#include "app/app.h"
#include "app/commands.h"
#include "decide/reader.h"
#include "view/view_parts.h"

enum { SUBJECT_WORDS = 30 }; /* cells of an item's name in a message */

/* Asks whether to give up a held letter: twice if it may have arrived. */
static void ask_give_up(struct app *a, struct desk *desk, uint32_t letter)
{
	const struct letter *l = &desk->letters.v[letter];
	bool doubt = l->tried && l->uncertain;
	struct buf what = { 0 };

	a->deciding.confirm = doubt ? CONFIRM_DOUBT : CONFIRM_GIVE_UP;
	a->deciding.letter = letter;
	a->deciding.desk = desk;
	a->deciding.sure = doubt;
	if (l->drafts.n) {
		const struct draft *draft = &desk->drafts.v[l->drafts.v[0]];

		buf_printf(&what, "%s of \"", verb_name(draft->verb));
		add_draft_subject(&a->scene, draft, SUBJECT_WORDS, &what);
		buf_addc(&what, '"');
		if (l->drafts.n > 1)
			buf_printf(&what, " and %u more", l->drafts.n - 1);
	} else {
		buf_adds(&what, l->id);
	}
	app_say(a, ROLE_KEY,
		doubt ? "%s may have arrived; y abandons it anyway"
		      : "%s is held; y abandons it, and the item is open again", what.p);
	buf_release(&what);
}

/* The recovery page has no selection: offers the held letters one after the other. */
static void give_up_first(struct app *a)
{
	for (uint32_t i = 0; a->scene.desks && i < a->scene.desks->list.n; i++) {
		struct desk *d = &a->scene.desks->list.v[i];

		for (uint32_t k = 0; k < d->letters.n; k++)
			if (d->letters.v[k].state == LETTER_HELD && d->access == DESK_WRITES) {
				ask_give_up(a, d, k);
				return;
			}
	}
	app_say(a, ROLE_DIM, "nothing is held; y finishes what is listed");
}

/* The draft staged last, on any desk. */
static const struct draft *last_staged(const struct app *a, struct desk **desk)
{
	const struct draft *last = NULL;

	for (uint32_t i = 0; a->scene.desks && i < a->scene.desks->list.n; i++) {
		struct desk *d = &a->scene.desks->list.v[i];

		for (uint32_t k = d->drafts.n; k-- > 0;)
			if (d->drafts.v[k].state == DRAFT_STAGED &&
			    (!last || d->drafts.v[k].time_ms > last->time_ms)) {
				last = &d->drafts.v[k];
				*desk = d;
			}
	}
	return last;
}

/* ---- steps ---- */

static struct desk *desk_at(const struct app *a, struct staging s)
{
	return &a->scene.desks->list.v[s.desk];
}

static const struct draft *draft_at(const struct app *a, struct staging s)
{
	return &desk_at(a, s)->drafts.v[s.draft];
}

static struct staging staging_of(const struct app *a, const struct desk *desk, uint32_t draft,
				 uint32_t step)
{
	return (struct staging){ (uint32_t)(desk - a->scene.desks->list.v), draft, step };
}

void decide_new_step(struct app *a)
{
	struct deciding *d = &a->deciding;

	d->step++;
	d->step_from = app_item_here(a);
	d->undone.n = 0;
}

void decide_note_staged(struct app *a, const struct desk *desk, uint32_t draft)
{
	vec_push(&a->deciding.history, staging_of(a, desk, draft, a->deciding.step));
}

void decide_note_undone(struct app *a, const struct desk *desk, uint32_t draft)
{
	vec_push(&a->deciding.undone, staging_of(a, desk, draft, a->deciding.step));
}

/* Drops what is no longer staged from the end of the history, so that its last entry is of the last
 * step; returns how many of that step are. */
static uint32_t count_last_step(struct app *a)
{
	struct deciding *d = &a->deciding;
	uint32_t n = 0, step;

	while (d->history.n && draft_at(a, *vec_last(&d->history))->state != DRAFT_STAGED)
		d->history.n--;
	step = d->history.n ? vec_last(&d->history)->step : 0;
	for (uint32_t i = d->history.n; i-- > 0 && d->history.v[i].step == step;)
		n += draft_at(a, d->history.v[i])->state == DRAFT_STAGED;
	return n;
}

static void undo_one(struct app *a, struct desk *desk, const struct draft *draft)
{
	app_effect(a, (struct effect){ EFFECT_UNDO, desk,
				       .undo = (uint32_t)(draft - desk->drafts.v) });
}

static void undo_last_step(struct app *a)
{
	struct deciding *d = &a->deciding;
	uint32_t step = vec_last(&d->history)->step;

	for (uint32_t i = d->history.n; i-- > 0 && d->history.v[i].step == step;)
		if (draft_at(a, d->history.v[i])->state == DRAFT_STAGED)
			undo_one(a, desk_at(a, d->history.v[i]), draft_at(a, d->history.v[i]));
}

/* Undoes a draft with those that were staged with it: by a run of gavel whose steps nobody knows now. */
static void undo_batch(struct app *a, struct desk *desk, const struct draft *draft)
{
	for (uint32_t i = desk->drafts.n; i-- > draft->batch;)
		if (desk->drafts.v[i].batch == draft->batch &&
		    desk->drafts.v[i].state == DRAFT_STAGED)
			undo_one(a, desk, &desk->drafts.v[i]);
}

/* Undoes what is staged on the selected item, else the last step; the last step, too, if that was one
 * on marked items and the selection has not moved since. */
COMMAND(undo)
{
	struct deciding *d = &a->deciding;
	uint32_t here = app_item_here(a), n;
	const struct draft *old = here == NONE ? NULL : decide_draft(a, here);
	struct desk *desk = old ? decide_desk(a, here) : NULL;

	if (app_shows(a, &view_recovery)) {
		give_up_first(a);
		return;
	}
	if (old && old->state == DRAFT_WRITTEN &&
	    desk->letters.v[old->letter].state == LETTER_HELD) {
		ask_give_up(a, desk, old->letter);
		return;
	}
	n = count_last_step(a);
	if (old && old->state != DRAFT_STAGED)
		old = NULL;
	if (n && (!old || (n > 1 && here == d->step_from))) {
		undo_last_step(a);
	} else if (old) {
		undo_one(a, desk, old);
	} else {
		old = last_staged(a, &desk);
		if (old)
			undo_batch(a, desk, old);
		else
			app_say(a, ROLE_DIM, "nothing is staged");
	}
	d->step++; /* what is undone now is redone together */
}

/* Whether the item of an undone draft is as it was and takes the verb still; says why not. */
static bool can_redo(struct app *a, const struct draft *old)
{
	struct draft now = { 0 };
	uint32_t corrects;

	if (old->number == NONE || !decide_can(a, old->number) ||
	    !decide_takes(a, old->number, old->verb, &corrects))
		return false;
	if (draft_bind(&now, a->scene.model, a->scene.reader, old->number, a->scene.k,
		       &a->effect_strings) &&
	    str_eq(now.rev, old->rev) && now.raise == old->raise)
		return true;
	app_say(a, ROLE_WARN, "it has changed since then; decide anew");
	return false;
}

COMMAND(redo)
{
	struct deciding *d = &a->deciding;
	uint32_t step, first = d->undone.n;

	if (!d->undone.n) {
		app_say(a, ROLE_DIM, "nothing to redo");
		return;
	}
	step = vec_last(&d->undone)->step;
	while (first && d->undone.v[first - 1].step == step) {
		const struct draft *old = draft_at(a, d->undone.v[--first]);

		if (can_redo(a, old))
			continue;
		if (old->number != NONE)
			decide_name_refused(a, old->number);
		return;
	}
	d->step++;
	d->step_from = app_item_here(a);
	d->moves_on = false;
	for (uint32_t i = d->undone.n; i-- > first;) {
		struct draft draft = *draft_at(a, d->undone.v[i]);

		draft.by = d->as;
		app_effect(a, (struct effect){ EFFECT_STAGE, desk_at(a, d->undone.v[i]),
					       .draft = draft });
	}
	d->undone.n = first;
}
