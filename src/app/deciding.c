/* From verb keys to wishes: what the app wants staged, undone, looked at and sent. */
#include "app/app.h"
#include "view/view_parts.h"

#include <stdio.h>
#include <stdlib.h>

void deciding_release(struct deciding *d)
{
	vec_release(&d->targets);
	vec_release(&d->triage.marked);
	vec_release(&d->triage.is_marked);
	vec_release(&d->triage.snoozed);
	vec_release(&d->read);
	free(d->artifact);
}

static const struct item *item_number(const struct app *a, uint32_t item)
{
	return &a->scene.model->items.v[item];
}

bool decide_state(const struct app *a, uint32_t item, struct item_state *at)
{
	return item_at(a->scene.model, item_number(a, item), a->scene.k, a->scene.now_ms, at);
}

static struct desk *desk_of(const struct app *a, uint32_t item)
{
	return a->scene.desks ? desks_of_item(a->scene.desks, a->scene.model, item_number(a, item))
			      : NULL;
}

/* The newest live draft on an item, NULL = none. */
static const struct draft *draft_on(const struct app *a, uint32_t item)
{
	const struct desk *desk;

	return draft_on_item(&a->scene, item, &desk);
}

/* ---- staging ---- */

static bool can_decide(struct app *a, uint32_t item)
{
	const struct desk *d = desk_of(a, item);

	if (a->read_only) {
		app_say(a, ROLE_WARN, "read-only: %s", a->read_only);
	} else if (!d) {
		app_say(a, ROLE_WARN, "read-only: no journal belongs to this source");
	} else if (d->access != DESK_WRITES) {
		app_say(a, ROLE_WARN, "read-only: %s", d->why.text);
	} else {
		return true;
	}
	return false;
}

/* Whether the item takes the verb; says why not. corrects: as in desk_takes. */
static bool takes_verb(struct app *a, uint32_t item, enum verb verb, uint32_t *corrects)
{
	const struct scene *s = &a->scene;
	struct draft draft = { .verb = verb };
	struct buf why = { 0 };
	bool takes = draft_bind(&draft, s->model, s->reader, item, s->k, &a->effect_strings) &&
		     desk_takes(desk_of(a, item), &draft, s->model, s->k, s->now_ms, corrects,
				&why);

	if (why.n)
		app_say(a, ROLE_WARN, "%s", why.p);
	buf_release(&why);
	return takes;
}

static void wish_draft(struct app *a, enum effect_type type, uint32_t item, struct draft draft)
{
	if (!draft_bind(&draft, a->scene.model, a->scene.reader, item, a->scene.k,
			&a->effect_strings))
		return;
	draft.by = a->deciding.as;
	draft.reason_code = app_keep(a, draft.reason_code);
	draft.explanation = app_keep(a, draft.explanation);
	draft.answer = app_keep(a, draft.answer);
	if (!draft.artifact.n && a->deciding.artifact)
		draft.artifact = app_keep(a, str_of(a->deciding.artifact));
	app_effect(a, (struct effect){ type, desk_of(a, item), .draft = draft });
}

/* Wishes the draft staged on all targets, if it is complete. */
static void stage(struct app *a, struct draft draft)
{
	struct deciding *d = &a->deciding;
	const char *missing;

	draft.verb = d->verb;
	missing = draft_missing(&draft);
	if (missing) {
		app_say(a, ROLE_WARN, "%s: nothing was staged", missing);
		d->on_marked = false;
		return;
	}
	if (d->corrects != NONE) /* then there is one target */
		draft.corrects = app_keep(
			a, str_of(desk_of(a, d->targets.v[0])->drafts.v[d->corrects].id));
	for (uint32_t i = 0; i < d->targets.n; i++)
		wish_draft(a, EFFECT_STAGE, d->targets.v[i], draft);
	if (d->on_marked)
		decide_unmark(d);
	d->on_marked = false;
}

/* The choices on one line; they are numbered, and a number chooses. */
static void show_options(struct app *a, uint32_t item)
{
	struct item_state at;
	struct detail detail;

	if (!decide_state(a, item, &at) ||
	    !a->scene.reader->detail(a->scene.reader->ctx, item_number(a, item), &at, &detail))
		return;
	for (unsigned i = 0; i < detail.n; i++)
		if (strcmp(detail.field[i].label, "options") == 0) {
			struct str rest = detail.field[i].text;
			struct buf line = { 0 };

			while (rest.n) {
				ptrdiff_t end = str_find(rest, STR("\n"), 0);
				struct str one = end < 0 ? rest : str_make(rest.p, (size_t)end);

				buf_adds(&line, line.n ? "   " : "");
				buf_add_str(&line, one);
				rest = end < 0 ? STR_NONE : str_from(rest, (size_t)end + 1);
			}
			buf_clear(&a->notice);
			buf_add_str(&a->notice, buf_str(&line));
			a->notice_role = ROLE_NORMAL;
			buf_release(&line);
		}
}

/* The reason codes, for the line above what is typed. */
static void offer_reasons(struct app *a, const char *words)
{
	struct buf codes = { 0 };

	for (uint32_t i = 0; i < a->deciding.reason_code_count; i++)
		buf_printf(&codes, "%s%s", i ? "  " : words, a->deciding.reason_codes[i]);
	if (codes.n)
		app_say(a, ROLE_DIM, "%s", codes.p);
	buf_release(&codes);
}

/* "out_of_scope" or "out_of_scope: words": a code that is offered is taken as one. */
static void split_reason(const struct deciding *d, struct draft *draft)
{
	for (uint32_t i = 0; i < d->reason_code_count; i++) {
		struct str code = str_of(d->reason_codes[i]), rest = draft->explanation;

		if (!str_starts(rest, code) || (rest.n > code.n && rest.p[code.n] != ':'))
			continue;
		draft->reason_code = code;
		draft->explanation = str_trim(str_from(rest, code.n + 1));
		return;
	}
}

/* Asks for what the verb needs, or stages at once. */
static void ask_words(struct app *a, struct str words)
{
	struct deciding *d = &a->deciding;

	if (words.n) {
		struct draft draft = { 0 };

		if (d->verb == VERB_ANSWER)
			draft.answer = words;
		else
			draft.explanation = words;
		stage(a, draft);
		return;
	}
	switch (d->verb) {
	case VERB_REJECT:
		prompt_open(&a->prompt, PROMPT_EXPLAIN, STR_NONE);
		offer_reasons(a, "words, or a code (Tab): ");
		break;
	case VERB_PARTIAL:
	case VERB_ESCALATE:
		prompt_open(&a->prompt, PROMPT_EXPLAIN, STR_NONE);
		break;
	case VERB_ANSWER:
		prompt_open(&a->prompt, PROMPT_ANSWER, STR_NONE);
		show_options(a, d->targets.v[0]);
		break;
	case VERB_ACCEPT:
	case VERB_DISMISS:
	case VERB_COUNT:
		stage(a, (struct draft){ 0 });
		break;
	}
}

/* Of several items: which one it was that the message line is about. */
static void name_refused(struct app *a, uint32_t item)
{
	struct buf name = { 0 };

	buf_adds(&name, "nothing was staged; ");
	item_name(a->scene.model, item_number(a, item), &name);
	buf_adds(&name, ": ");
	buf_add_str(&name, buf_str(&a->notice));
	buf_clear(&a->notice);
	buf_add_str(&a->notice, buf_str(&name));
	buf_release(&name);
}

void decide_verb(struct app *a, enum verb verb, struct str words)
{
	struct deciding *d = &a->deciding;
	uint32_t here = app_item_here(a);
	const struct draft *old;

	d->targets.n = 0;
	d->corrects = NONE;
	d->verb = verb;
	if (d->on_marked) {
		/* all or none: half a bulk is no answer to anybody */
		for (uint32_t i = 0; i < d->triage.marked.n; i++) {
			uint32_t item = d->triage.marked.v[i];

			if (!can_decide(a, item) || !takes_verb(a, item, verb, NULL)) {
				name_refused(a, item);
				d->on_marked = false;
				d->targets.n = 0;
				return;
			}
			vec_push(&d->targets, d->triage.marked.v[i]);
		}
	} else if (here == NONE) {
		app_say(a, ROLE_DIM, "no item is selected");
		return;
	} else if (can_decide(a, here) && takes_verb(a, here, verb, &d->corrects)) {
		vec_push(&d->targets, here);
		if (d->corrects != NONE) {
			old = &desk_of(a, here)->drafts.v[d->corrects];
			d->confirm = CONFIRM_CORRECT;
			app_say(a, ROLE_KEY,
				"%s was recorded already (%s), and the agent may have acted on it; y sends "
				"a correction after it",
				verb_name(old->verb),
				delivery_name(draft_delivery(desk_of(a, here), old)));
			return;
		}
	}
	if (d->targets.n)
		ask_words(a, words);
}

void decide_item(struct app *a, uint32_t item, enum verb verb, struct str why)
{
	struct deciding *d = &a->deciding;

	if (!can_decide(a, item) || !takes_verb(a, item, verb, NULL))
		return;
	d->on_marked = false;
	d->corrects = NONE;
	d->verb = verb;
	d->targets.n = 0;
	vec_push(&d->targets, item);
	stage(a, (struct draft){ .explanation = why });
	app_effect(a, (struct effect){ EFFECT_PLAN });
}

void decide_answered(struct app *a, int kind, struct str text)
{
	struct deciding *d = &a->deciding;
	struct draft draft = { 0 };
	const struct draft *old;

	buf_clear(&a->notice);
	text = str_trim(text);
	switch (kind) {
	case PROMPT_EXPLAIN:
		draft.explanation = text;
		if (d->verb == VERB_REJECT)
			split_reason(d, &draft);
		break;
	case PROMPT_ANSWER: draft.answer = text; break;
	case PROMPT_REASON:
		old = d->targets.n ? draft_on(a, d->targets.v[0]) : NULL;
		if (!old || !text.n)
			return;
		draft = *old;
		draft.reason_code = text;
		d->verb = old->verb;
		break;
	default: return;
	}
	stage(a, draft);
}

/* A staged draft on the item here; says what is lacking. */
static const struct draft *staged_here(struct app *a, uint32_t *item)
{
	const struct draft *old;

	*item = app_item_here(a);
	old = *item == NONE ? NULL : draft_on(a, *item);
	if (old && old->state == DRAFT_STAGED)
		return old;
	app_say(a, ROLE_DIM, "nothing is staged on this; a verb comes first");
	return NULL;
}

void decide_explain(struct app *a)
{
	uint32_t item;
	const struct draft *old = staged_here(a, &item);

	if (old && can_decide(a, item))
		wish_draft(a, EFFECT_EXPLAIN, item, *old);
}

void decide_reason(struct app *a, struct str code)
{
	uint32_t item;
	const struct draft *old = staged_here(a, &item);

	if (!old || !can_decide(a, item))
		return;
	a->deciding.targets.n = 0;
	a->deciding.corrects = NONE; /* the draft knows */
	vec_push(&a->deciding.targets, item);
	if (code.n) {
		decide_answered(a, PROMPT_REASON, code);
		return;
	}
	prompt_open(&a->prompt, PROMPT_REASON, old->reason_code);
	offer_reasons(a, "Tab completes: ");
}

/* ---- undoing ---- */

/* Whether to give up a held message; where it may have arrived, that is said and asked twice. */
static void ask_give_up(struct app *a, struct desk *desk, uint32_t letter)
{
	const struct letter *l = &desk->letters.v[letter];
	bool doubt = l->tried && l->uncertain;

	a->deciding.confirm = doubt ? CONFIRM_DOUBT : CONFIRM_GIVE_UP;
	a->deciding.letter = letter;
	a->deciding.desk = desk;
	a->deciding.sure = doubt;
	if (doubt)
		app_say(a, ROLE_KEY, "%s may have arrived, nobody knows; y gives it up all the same",
			l->id);
	else
		app_say(a, ROLE_KEY, "%s is held; y gives it up, and the item is open again", l->id);
}

static bool on_recovery(struct app *a)
{
	const struct screen *s = app_screen(a);

	return s && s->pane.view == &view_recovery;
}

/* The page has no selection: one after the other, each named in the question. */
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

void decide_undo(struct app *a)
{
	uint32_t here = app_item_here(a);
	const struct draft *old = here == NONE ? NULL : draft_on(a, here);
	struct desk *desk = old ? desk_of(a, here) : NULL;

	if (on_recovery(a)) {
		give_up_first(a);
		return;
	}
	if (old && old->state == DRAFT_WRITTEN && desk->letters.v[old->letter].state == LETTER_HELD) {
		ask_give_up(a, desk, old->letter);
		return;
	}
	if (!old || old->state != DRAFT_STAGED) {
		old = NULL; /* the last one staged, wherever it is */
		for (uint32_t i = 0; a->scene.desks && i < a->scene.desks->list.n; i++) {
			struct desk *d = &a->scene.desks->list.v[i];

			for (uint32_t k = d->drafts.n; k-- > 0;)
				if (d->drafts.v[k].state == DRAFT_STAGED &&
				    (!old || d->drafts.v[k].time_ms > old->time_ms)) {
					old = &d->drafts.v[k];
					desk = d;
				}
		}
	}
	if (!old) {
		app_say(a, ROLE_DIM, "nothing is staged");
		return;
	}
	app_effect(a, (struct effect){ EFFECT_UNDO, desk,
				       .undo = (uint32_t)(old - desk->drafts.v) });
}

/* ---- looking and sending ---- */

void decide_attach(struct app *a, struct str file)
{
	free(a->deciding.artifact);
	a->deciding.artifact = NULL;
	if (!file.n) {
		app_say(a, ROLE_DIM, "no artifact is attached; attach FILE does");
		return;
	}
	a->deciding.artifact = str_dup(file);
	app_say(a, ROLE_DIM, "%s goes with the next feedback request", a->deciding.artifact);
}

bool decide_is_read_only(const struct app *a)
{
	uint32_t n = a->scene.desks ? a->scene.desks->list.n : 0;

	for (uint32_t i = 0; i < n && !a->read_only && !a->playback.model; i++)
		if (a->scene.desks->list.v[i].access == DESK_WRITES)
			return false;
	return true;
}

void decide_preflight(struct app *a)
{
	if (!decide_is_read_only(a))
		app_effect(a, (struct effect){ EFFECT_PLAN });
	else if (a->read_only || !a->scene.desks || !a->scene.desks->list.n)
		app_say(a, ROLE_WARN, "read-only: %s",
			a->read_only ? a->read_only : "there is no journal here");
	else
		app_say(a, ROLE_WARN, "read-only: %s", a->scene.desks->list.v[0].why.text);
}

bool decide_keys(struct app *a, bool words, struct buf *out)
{
	static const struct {
		enum verb verb;
		const char *key;
	} verbs[] = { { VERB_ACCEPT, "{accept}" }, { VERB_REJECT, "{reject}" },
		      { VERB_PARTIAL, "{partial}" }, { VERB_ANSWER, "{answer}" },
		      { VERB_ESCALATE, "{escalate}" }, { VERB_DISMISS, "{dismiss}" } };
	const struct model *m = a->scene.model;
	uint32_t item = app_item_here(a);
	struct item_state at;
	unsigned takes;
	bool some = false;

	/* with those that would correct what was decided here */
	if (item == NONE || decide_is_read_only(a) ||
	    !item_without_overlay(m, item_number(a, item), a->scene.k, a->scene.now_ms, &at))
		return false;
	takes = verbs_taken(m, item_number(a, item), &at);
	for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++) {
		if (!(takes & 1u << verbs[i].verb))
			continue;
		buf_adds(out, !some ? "" : words ? "  " : " ");
		keymap_text(&a->keymap, verbs[i].key, out);
		if (words)
			buf_printf(out, " %s", verb_name(verbs[i].verb));
		some = true;
	}
	return some;
}

void decide_resend(struct app *a)
{
	uint32_t here = app_item_here(a);
	const struct draft *old = here == NONE ? NULL : draft_on(a, here);

	if (!old || old->state != DRAFT_WRITTEN) {
		app_say(a, ROLE_DIM, "nothing was written about this");
		return;
	}
	app_effect(a, (struct effect){ EFFECT_RESEND, desk_of(a, here),
				       .letter = { old->letter } });
}

uint32_t decide_staged(const struct app *a)
{
	uint32_t n = 0;

	for (uint32_t i = 0; a->scene.desks && i < a->scene.desks->list.n; i++)
		n += desk_staged(&a->scene.desks->list.v[i]);
	return n;
}

void decide_quit(struct app *a)
{
	uint32_t n = decide_staged(a);

	if (!n) {
		app_effect(a, (struct effect){ EFFECT_QUIT });
		return;
	}
	a->deciding.confirm = CONFIRM_QUIT;
	app_say(a, ROLE_KEY, "%u staged, not sent; they are kept. y quits, {deliver} looks at them", n);
}

static void confirmed(struct app *a, enum confirm what)
{
	struct deciding *d = &a->deciding;

	switch (what) {
	case CONFIRM_CORRECT: ask_words(a, STR_NONE); break;
	case CONFIRM_SURE: app_effect(a, (struct effect){ EFFECT_DELIVER, .sure = true }); break;
	case CONFIRM_QUIT: app_effect(a, (struct effect){ EFFECT_QUIT }); break;
	case CONFIRM_DOUBT:
		d->confirm = CONFIRM_GIVE_UP;
		app_say(a, ROLE_KEY, "if it did arrive, somebody may act on it and on what you decide "
				     "anew; y once more");
		break;
	case CONFIRM_GIVE_UP:
		app_effect(a, (struct effect){ EFFECT_GIVE_UP, d->desk,
					       .letter = { d->letter, d->sure } });
		break;
	case CONFIRM_NONE: break;
	}
}

/* y on the pre-flight page. */
static void confirm_plan(struct app *a)
{
	const struct plan *plan = a->scene.plan;

	for (uint32_t i = 0; i < plan->list.n; i++)
		if (plan->list.v[i].needs_sure && !plan->list.v[i].missing.n) {
			a->deciding.confirm = CONFIRM_SURE;
			app_say(a, ROLE_KEY, "the artifact is the same as in the last turn; y once more "
					     "sends it anyway");
			return;
		}
	app_effect(a, (struct effect){ EFFECT_DELIVER, .sure = false });
}

static bool runs_deliver(const struct app *a, uint32_t key)
{
	const struct binding *b = keymap_find(&a->keymap, key, ANYWHERE);

	return b && strcmp(b->command->name, "deliver") == 0;
}

bool decide_key(struct app *a, const struct key *key)
{
	struct deciding *d = &a->deciding;
	struct screen *s = app_screen(a);
	bool preflight = s && s->pane.view == &view_preflight;

	/* what was typed ahead or pasted was not meant for a page that was not there yet */
	if (preflight && (key->code == KEY_PASTE || a->clock_ms - d->opened_ms < PREFLIGHT_DEAF_MS))
		return true;
	if (d->confirm != CONFIRM_NONE) {
		enum confirm what = d->confirm;

		d->confirm = CONFIRM_NONE;
		buf_clear(&a->notice);
		if (key->code == 'y')
			confirmed(a, what);
		else if (what == CONFIRM_QUIT && runs_deliver(a, key->code))
			decide_preflight(a);
		return true;
	}
	if (preflight && key->code == 'y' && a->scene.plan) {
		confirm_plan(a);
		return true;
	}
	if (s && s->pane.view == &view_recovery && key->code == 'y') {
		app_effect(a, (struct effect){ EFFECT_RECOVER });
		return true;
	}
	return false;
}

void decide_saw(struct app *a, uint32_t item, const struct pane *p)
{
	struct deciding *d = &a->deciding;
	uint32_t shown = p->top + (uint32_t)(p->rows > 0 ? p->rows : 0), end = 0;

	/* what it says ends where its history begins */
	while (end < p->lines.list.n && line_at(&p->lines, end).what != LINE_SECTION)
		end++;
	if (shown < end)
		return;
	while (d->read.n <= item)
		vec_push(&d->read, 0);
	d->read.v[item] = 1;
	a->scene.read = d->read.v;
	a->scene.read_n = d->read.n;
}
