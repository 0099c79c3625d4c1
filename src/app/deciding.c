/* Decision commands: verbs, reason codes, resend, where replies go. Results are effects: stage, plan,
 * resend. What a verb has to ask first is in prompting.c. */
#include "app/app.h"
#include "app/commands.h"
#include "decide/question.h"
#include "view/view_parts.h"

#include <stdlib.h>

enum {
	SUBJECT_WORDS = 30, /* cells of an item's name in a message */
};

void deciding_release(struct deciding *d)
{
	vec_release(&d->targets);
	vec_release(&d->triage.marked);
	vec_release(&d->triage.is_marked);
	vec_release(&d->triage.snoozed);
	vec_release(&d->read);
	vec_release(&d->unfolded);
	vec_release(&d->seen);
	vec_release(&d->history);
	vec_release(&d->undone);
	buf_release(&d->answers);
	free(d->artifact);
	buf_release(&d->agent);
	buf_release(&d->moved);
}

static const struct item *get_item(const struct app *a, uint32_t item)
{
	return &a->scene.model->items.v[item];
}

bool decide_state(const struct app *a, uint32_t item, struct item_state *at)
{
	return item_at(a->scene.model, get_item(a, item), a->scene.k, scene_clock(&a->scene), at);
}

struct desk *decide_desk(const struct app *a, uint32_t item)
{
	return a->scene.desks ? desks_of_item(a->scene.desks, a->scene.model, get_item(a, item))
			      : NULL;
}

const struct draft *decide_draft(const struct app *a, uint32_t item)
{
	const struct desk *desk;

	return draft_on_item(&a->scene, item, &desk);
}

/* ---- staging ---- */

void decide_refused(struct app *a)
{
	a->deciding.refused = true;
	a->deciding.ignoring = false;
	a->deciding.refused_ms = a->clock_ms;
}

bool decide_can(struct app *a, uint32_t item)
{
	const struct desk *d = decide_desk(a, item);

	if (a->read_only) {
		app_say(a, ROLE_WARN, "read-only: %s", a->read_only);
	} else if (!d) {
		app_say(a, ROLE_WARN, "read-only: this source has no journal");
	} else if (d->access != DESK_WRITES) {
		app_say(a, ROLE_WARN, "read-only: %s", d->why.text);
	} else {
		return decide_is_free(a, item);
	}
	decide_refused(a);
	return false;
}

/* The line that :input gave for the item, else the one in its draft; 0 = none. */
static uint32_t input_line(const struct app *a, uint32_t item)
{
	const struct draft *old = decide_draft(a, item);

	if (a->deciding.input.line && a->deciding.input.item == item)
		return a->deciding.input.line;
	return old ? old->input : 0;
}

bool decide_takes(struct app *a, uint32_t item, enum verb verb, uint32_t *corrects)
{
	const struct scene *s = &a->scene;
	struct draft draft = { .verb = verb, .input = input_line(a, item) };
	struct buf why = { 0 };
	bool takes = draft_bind(&draft, s->model, s->reader, item, s->k, &a->effect_strings) &&
		     desk_allows(decide_desk(a, item), &draft, s->model, s->k, scene_clock(s), corrects,
				&why);

	if (why.n)
		app_say(a, ROLE_WARN, "%s", why.p);
	buf_release(&why);
	if (!takes)
		decide_refused(a);
	return takes;
}

void decide_effect(struct app *a, int type, uint32_t item, struct draft draft)
{
	struct item_state at;

	if (!draft_bind(&draft, a->scene.model, a->scene.reader, item, a->scene.k,
			&a->effect_strings))
		return;
	draft.by = desk_decider(decide_desk(a, item), a->deciding.as);
	draft.input = input_line(a, item);
	draft.reason_code = app_effect_dup(a, draft.reason_code);
	draft.explanation = app_effect_dup(a, draft.explanation);
	draft.answer = app_effect_dup(a, draft.answer);
	if (draft.verb == VERB_ANSWER && !draft.option && decide_state(a, item, &at))
		draft_choose_numbered(&draft, a->scene.reader, get_item(a, item), &at,
				      &a->effect_strings);
	if (!draft.artifact.n && a->deciding.artifact)
		draft.artifact = app_effect_dup(a, str_of(a->deciding.artifact));
	app_effect(a, (struct effect){ (enum effect_type)type, decide_desk(a, item), .draft = draft });
}

void decide_stage(struct app *a, struct draft draft)
{
	struct deciding *d = &a->deciding;
	const char *missing;

	draft.verb = d->verb;
	draft.kind = get_item(a, d->targets.v[0])->kind;
	missing = draft_missing(&draft);
	if (missing) {
		app_say(a, ROLE_WARN, "%s: nothing was staged", missing);
		d->on_marked = false;
		return;
	}
	decide_new_step(a);
	if (d->corrects != NONE) /* then there is one target */
		draft.corrects = app_effect_dup(
			a, corrects_name(decide_desk(a, d->targets.v[0]), d->corrects));
	for (uint32_t i = 0; i < d->targets.n; i++)
		decide_effect(a, EFFECT_STAGE, d->targets.v[i], draft);
	d->moves_on = !d->on_marked;
	if (d->on_marked)
		decide_unmark_all(d);
	d->on_marked = false;
}

/* Selects the next item that nothing was decided on, and shows it if an item is shown. */
void decide_advance(struct app *a)
{
	struct deciding *d = &a->deciding;
	bool on_item = app_shows(a, &view_item);
	struct pane *p = app_list(a);
	struct item_state at;

	if (!d->advance || !d->moves_on || (a->screen_count && !on_item))
		return;
	d->moves_on = false;
	for (uint32_t i = p->selected + 1; i < p->lines.list.n; i++) {
		struct target t = pane_line_target(p, &a->scene, i);

		if (t.type != TARGET_ITEM || !decide_state(a, t.number, &at) || !at.open ||
		    at.delivery != DELIVERY_NONE)
			continue;
		pane_select(p, i);
		if (on_item) {
			app_back(a);
			app_open(a, t);
		}
		return;
	}
}

void decide_name_refused(struct app *a, uint32_t item)
{
	struct buf refusal = a->notice;
	struct item_state at;

	a->notice = (struct buf){ 0 };
	buf_adds(&a->notice, "nothing was staged; \"");
	if (decide_state(a, item, &at))
		add_item_words(&a->scene, get_item(a, item), &at, SUBJECT_WORDS, &a->notice);
	buf_adds(&a->notice, "\": ");
	buf_add_str(&a->notice, buf_str(&refusal));
	buf_release(&refusal);
}

/* All marked items become targets, or none. */
static void target_marked(struct app *a)
{
	struct deciding *d = &a->deciding;

	for (uint32_t i = 0; i < d->triage.marked.n; i++) {
		uint32_t item = d->triage.marked.v[i];

		if (!decide_can(a, item) || !decide_takes(a, item, d->verb, NULL)) {
			decide_name_refused(a, item);
			d->on_marked = false;
			d->targets.n = 0;
			return;
		}
		vec_push(&d->targets, item);
	}
}

static void ask_correction(struct app *a, uint32_t item)
{
	struct buf words = { 0 };
	struct item_state at;

	decide_state(a, item, &at);
	add_decided(a->scene.model, &at, &words);
	a->deciding.confirm = CONFIRM_CORRECT;
	app_say(a, ROLE_KEY, "%s, and agents may have acted on it; y sends a correction",
		words.p);
	buf_release(&words);
}

COMMAND(verb)
{
	struct deciding *d = &a->deciding;
	uint32_t here;

	if (app_shows(a, &view_preflight) && number == VERB_REJECT) {
		run_drop(a, STR_NONE, 0);
		return;
	}
	d->targets.n = 0;
	d->corrects = NONE;
	d->verb = (enum verb)number;
	if (!d->on_marked && decide_has_moved(a))
		return;
	if (d->on_marked) {
		target_marked(a);
	} else {
		here = app_need_item(a);
		if (here == NONE)
			decide_refused(a);
		if (here == NONE || !decide_can(a, here) ||
		    !decide_takes(a, here, d->verb, &d->corrects))
			return;
		vec_push(&d->targets, here);
		if (d->corrects != NONE) {
			ask_correction(a, here);
			return;
		}
	}
	if (d->targets.n)
		decide_prompt_or_stage(a, argument);
}

void decide_item(struct app *a, uint32_t item, enum verb verb, struct str explanation)
{
	struct deciding *d = &a->deciding;

	if (!decide_can(a, item) || !decide_takes(a, item, verb, NULL))
		return;
	d->on_marked = false;
	d->targets.n = 0;
	d->corrects = NONE;
	d->verb = verb;
	vec_push(&d->targets, item);
	decide_stage(a, (struct draft){ .explanation = explanation });
	app_effect(a, (struct effect){ EFFECT_PLAN });
}

/* The staged draft on the current item; says so if there is none. */
static const struct draft *staged_here(struct app *a, uint32_t *item)
{
	const struct draft *old;

	if (decide_has_moved(a))
		return NULL;
	*item = app_item_here(a);
	old = *item == NONE ? NULL : decide_draft(a, *item);
	if (old && old->state == DRAFT_STAGED)
		return old;
	app_say(a, ROLE_DIM, "nothing staged on this item; press a verb first");
	decide_refused(a);
	return NULL;
}

COMMAND(explain)
{
	uint32_t item;
	const struct draft *old = staged_here(a, &item);

	if (!old || !decide_can(a, item))
		return;
	decide_new_step(a);
	decide_effect(a, EFFECT_EXPLAIN, item, *old);
}

COMMAND(reason)
{
	uint32_t item;
	const struct draft *old = staged_here(a, &item);

	if (!old || !decide_can(a, item))
		return;
	a->deciding.targets.n = 0;
	a->deciding.corrects = NONE; /* the staged draft has it */
	vec_push(&a->deciding.targets, item);
	if (argument.n) {
		decide_answered(a, PROMPT_REASON, argument);
		return;
	}
	decide_prompt_reason(a, old);
}

/* ---- pre-flight and delivery ---- */

COMMAND(input)
{
	struct deciding *d = &a->deciding;
	uint32_t item = app_need_item(a);
	struct item_state at;
	struct buf why = { 0 };
	uint64_t line;

	if (item == NONE || !decide_state(a, item, &at))
		return;
	if (!str_to_u64(argument, &line) || line < 1 || line > UINT32_MAX)
		line = 0;
	if (!input_is_chosen(a->scene.model, get_item(a, item), &at, VERB_ACCEPT, (uint32_t)line,
			     &why)) {
		app_say(a, ROLE_WARN, "%s", why.p);
	} else if (!line) {
		app_say(a, ROLE_WARN, "only one input to answer; nothing to choose");
	} else {
		d->input.item = item;
		d->input.line = (uint32_t)line;
		app_say(a, ROLE_DIM, "set to answer the input in line %u; press a verb to stage it",
			d->input.line);
	}
	buf_release(&why);
}

/* The source of the item shown or selected, else the only one. */
COMMAND(reply)
{
	uint32_t item = app_item_here(a);
	struct desks *desks = a->scene.desks;
	struct desk *desk = item != NONE		      ? decide_desk(a, item)
			    : desks && desks->list.n == 1 ? &desks->list.v[0]
							  : NULL;

	if (!argument.n)
		app_say(a, ROLE_ERROR, "reply needs a path: a file, a FIFO or a folder");
	else if (decide_is_read_only(a))
		app_say(a, ROLE_WARN, "read-only: nothing can be sent");
	else if (!desk)
		app_say(a, ROLE_WARN, "select an item of the source that it is for");
	else
		app_effect(a, (struct effect){ EFFECT_REPLY, desk,
					       .file = app_effect_dup(a, argument).p });
}

bool decide_is_unanswerable(struct app *a)
{
	uint32_t item = a->scene.desks && !decide_is_read_only(a) ? app_item_here(a) : NONE;
	const struct desk *desk = item == NONE ? NULL : decide_desk(a, item);
	struct item_state at;

	return desk && desk->unanswerable && decide_state(a, item, &at) && at.open;
}

bool decide_is_read_only(const struct app *a)
{
	uint32_t n = a->scene.desks ? a->scene.desks->list.n : 0;

	for (uint32_t i = 0; i < n && !a->read_only && !a->playback.model; i++)
		if (a->scene.desks->list.v[i].access == DESK_WRITES)
			return false;
	return true;
}

bool decide_verb_keys(struct app *a, unsigned takes, bool words, struct buf *out)
{
	static const struct {
		enum verb verb;
		const char *key;
	} verbs[] = { { VERB_ACCEPT, "{accept}" },   { VERB_ALWAYS, "{always}" },
		      { VERB_REJECT, "{reject}" },   { VERB_STOP, "{stop-turn}" },
		      { VERB_PARTIAL, "{partial}" }, { VERB_ANSWER, "{answer}" },
		      { VERB_ESCALATE, "{escalate}" }, { VERB_DISMISS, "{dismiss}" } };
	bool some = false;

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

bool decide_keys(struct app *a, bool words, struct buf *out)
{
	const struct model *m = a->scene.model;
	uint32_t item = app_item_here(a);
	struct item_state at;

	/* also the verbs that would correct a decision */
	if (item == NONE || decide_is_read_only(a) ||
	    !item_without_overlay(m, get_item(a, item), a->scene.k, scene_clock(&a->scene), &at))
		return false;
	return decide_verb_keys(a, verbs_allowed(m, get_item(a, item), &at), words, out);
}

COMMAND(resend)
{
	uint32_t here = app_item_here(a);
	const struct draft *old = here == NONE ? NULL : decide_draft(a, here);

	if (!old || old->state != DRAFT_WRITTEN) {
		app_say(a, ROLE_DIM, "no message was written for this item");
		return;
	}
	app_effect(a, (struct effect){ EFFECT_RESEND, decide_desk(a, here),
				       .letter = { old->letter } });
}

uint32_t decide_staged(const struct app *a)
{
	uint32_t n = 0;

	for (uint32_t i = 0; a->scene.desks && i < a->scene.desks->list.n; i++)
		n += desk_staged(&a->scene.desks->list.v[i]);
	return n;
}

void decide_note_read(struct app *a, uint32_t item, const struct pane *p)
{
	struct deciding *d = &a->deciding;
	uint32_t shown = p->top + (uint32_t)(p->rows > 0 ? p->rows : 0), end = 0;

	/* its text ends where its history begins */
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
