/* What the log closes while a person is about to decide it: the selected item, whose row vanishes so
 * that the selection moves to another one, and items with a staged decision. */
#include "app/app.h"
#include "draw/say.h"
#include "view/view_parts.h"

enum { WORDS_CELLS = 40 }; /* of an item's name in a message */

/* Whether the log, not the person, has closed the item since the first `before` messages. */
static bool is_closed_since(const struct app *a, const struct item *item, uint32_t before,
			    struct item_state *at)
{
	const struct model *m = a->scene.model;
	struct item_state then;

	return before <= a->scene.k && item_without_overlay(m, item, before, TIME_NONE, &then) &&
	       then.open &&
	       item_without_overlay(m, item, a->scene.k, scene_clock(&a->scene), at) &&
	       !at->open && at->delivery == DELIVERY_NONE;
}

/* "WORDS" was decided by X meanwhile (rejected) */
static void add_closed(const struct app *a, const struct item *item, const struct item_state *at,
		       struct buf *out)
{
	struct str by = item_by(a->scene.model, at);

	buf_addc(out, '"');
	add_item_words(&a->scene, item, at, WORDS_CELLS, out);
	if (at->verdict == VERDICT_SUPERSEDED || at->verdict == VERDICT_EXPIRED ||
	    at->verdict == VERDICT_WITHDRAWN || !by.n) {
		buf_printf(out, "\" was closed meanwhile (%s", verdict_name(at->verdict));
		if (item_over_reason(a->scene.model, at))
			buf_printf(out, ": %s", item_over_reason(a->scene.model, at));
		buf_addc(out, ')');
		return;
	}
	buf_adds(out, "\" was decided by ");
	add_clean(out, by, TEXT_ID);
	buf_printf(out, "%s meanwhile (%s)", item_by_origin(a->scene.model, at),
		   verdict_name(at->verdict));
}

/* The message line is not taken from a prompt or a question. */
static bool is_asking(const struct app *a)
{
	return a->prompt.kind != PROMPT_NONE || a->deciding.confirm != CONFIRM_NONE ||
	       a->confirm_edit;
}

static const struct draft *staged_on(const struct app *a, uint32_t item)
{
	const struct draft *draft = decide_draft(a, item);

	return draft && draft->state == DRAFT_STAGED && !draft->corrects.n ? draft : NULL;
}

static void say_overtaken(struct app *a, const struct draft *draft, const struct buf *closed)
{
	app_say(a, ROLE_WARN, "%s; your %s is not sent; {undo} undoes it", closed->p,
		verb_name(draft->verb));
}

void decide_note_gone(struct app *a, struct pane *p)
{
	struct deciding *d = &a->deciding;
	struct target gone = p->gone;
	const struct item *item;
	struct item_state at;
	const struct draft *draft;

	p->gone = target_none;
	if (gone.type != TARGET_ITEM || a->playback.model || gone.number >= a->scene.model->items.n ||
	    (d->sent && a->clock_ms - d->sent_ms < SENT_DEAF_MS))
		return;
	item = &a->scene.model->items.v[gone.number];
	if (!is_closed_since(a, item, p->gone_k, &at))
		return;
	buf_clear(&d->moved);
	add_closed(a, item, &at, &d->moved);
	d->moved_ms = a->clock_ms;
	if (is_asking(a) || at.verdict == VERDICT_EXPIRED) /* of which another notice tells */
		return;
	draft = staged_on(a, gone.number);
	if (d->overtaken_k == a->scene.k && a->notice.n) /* which is said first */
		buf_adds(&a->notice, "; another item is selected now");
	else if (draft)
		say_overtaken(a, draft, &d->moved);
	else
		app_say(a, ROLE_WARN, "%s; another item is selected now", d->moved.p);
}

bool decide_has_moved(struct app *a)
{
	struct deciding *d = &a->deciding;
	const struct screen *s = app_screen(a);

	if (!d->moved.n)
		return false;
	if (a->clock_ms - d->moved_ms >= MOVED_DEAF_MS) {
		buf_clear(&d->moved);
		return false;
	}
	if (s && s->pane.text) /* it shows the same item as before */
		return false;
	app_say(a, ROLE_WARN, "%s; another item is selected now, and nothing was done to it",
		d->moved.p);
	decide_refused(a);
	return true;
}

/* Whether the draft escalated an item that somebody has decided since the first `before` messages. */
static bool is_answered_since(const struct app *a, const struct draft *draft, uint32_t before,
			      struct item_state *at)
{
	const struct model *m = a->scene.model;
	const struct item *item;
	struct item_state then;

	if (draft->verb != VERB_ESCALATE || draft->state != DRAFT_WRITTEN || draft->number == NONE)
		return false;
	item = &m->items.v[draft->number];
	return item_at(m, item, before, TIME_NONE, &then) && !then.open &&
	       then.verdict == VERDICT_ESCALATED &&
	       item_at(m, item, a->scene.k, scene_clock(&a->scene), at) && !at->open &&
	       at->verdict != VERDICT_ESCALATED && item_by(m, at).n;
}

void decide_note_answered(struct app *a, uint32_t before)
{
	const struct desks *desks = a->scene.desks;
	struct buf words = { 0 };
	struct item_state at;

	for (uint32_t i = 0; desks && before <= a->scene.k && i < desks->list.n; i++)
		for (uint32_t k = 0; k < desks->list.v[i].drafts.n; k++) {
			const struct draft *draft = &desks->list.v[i].drafts.v[k];

			if (!is_answered_since(a, draft, before, &at))
				continue;
			buf_clear(&words);
			add_clean(&words, item_by(a->scene.model, &at), TEXT_ID);
			buf_printf(&words, "%s answered what you escalated: %s, \"",
				   item_by_origin(a->scene.model, &at), verdict_name(at.verdict));
			add_item_words(&a->scene, &a->scene.model->items.v[draft->number], &at,
				       WORDS_CELLS, &words);
			buf_addc(&words, '"');
		}
	if (words.n && !is_asking(a))
		app_say(a, ROLE_ACCENT, "%s", words.p);
	buf_release(&words);
}

void decide_note_overtaken(struct app *a, uint32_t before)
{
	const struct desks *desks = a->scene.desks;
	const struct draft *last = NULL;
	struct buf closed = { 0 };
	struct item_state at;
	uint32_t n = 0;

	for (uint32_t i = 0; desks && i < desks->list.n; i++) {
		const struct desk *desk = &desks->list.v[i];

		for (uint32_t k = 0; k < desk->drafts.n; k++) {
			const struct draft *draft = &desk->drafts.v[k];
			const struct item *item;

			if (draft->state != DRAFT_STAGED || draft->number == NONE ||
			    draft->corrects.n)
				continue;
			item = &a->scene.model->items.v[draft->number];
			if (!is_closed_since(a, item, before, &at))
				continue;
			last = draft;
			buf_clear(&closed);
			add_closed(a, item, &at, &closed);
			n++;
		}
	}
	if (n > 1)
		buf_printf(&closed, ", and %u more", n - 1);
	if (last && !is_asking(a)) {
		say_overtaken(a, last, &closed);
		a->deciding.overtaken_k = a->scene.k;
	}
	buf_release(&closed);
}
