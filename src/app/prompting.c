/* Prompts for the words of a decision: reasons, answers, one question after the other, rules; and the
 * input of a tool call, which is edited. */
#include "app/app.h"
#include "decide/question.h"
#include "draw/say.h"
#include "view/view_parts.h"

enum {
	OPTION_LEAST = 6, /* cells of the label of an option */
	OPTIONS_GAP = 3,
	INPUT_LINES_MAX = 5000,
};

static const struct item *get_item(const struct app *a, uint32_t item)
{
	return &a->scene.model->items.v[item];
}

/* What the item says; valid until the reader is asked again. */
static bool get_detail(const struct app *a, uint32_t item, struct detail *out)
{
	struct item_state at;

	return decide_state(a, item, &at) &&
	       a->scene.reader->detail(a->scene.reader->ctx, get_item(a, item), &at, out);
}

static struct str field_of(const struct detail *d, const char *label)
{
	for (unsigned i = 0; i < d->n; i++)
		if (strcmp(d->field[i].label, label) == 0)
			return d->field[i].text;
	return STR_NONE;
}

/* ---- options ---- */

static int option_cols(struct str option, bool ascii)
{
	return (int)cells_width(raw_of(option), TEXT_LINE, ascii, 512);
}

/* The width to which each label must be cut for all of them to fit. */
static int fit_options(struct str options, bool ascii, int room)
{
	int most = room;

	for (;; most--) {
		struct str rest = options;
		int cols = -OPTIONS_GAP;

		while (rest.n) {
			int one = option_cols(str_cut(&rest, STR("\n")), ascii);

			cols += (one < most ? one : most) + OPTIONS_GAP;
		}
		if (cols <= room || most <= OPTION_LEAST)
			return most;
	}
}

/* "1 Terminate it   2 Leave it…": the options in one row, all of them, with how to choose one where
 * there is room. */
static void add_options(struct str options, const char *how, bool ascii, int room, struct buf *out)
{
	bool whole = true;
	int most = fit_options(options, ascii, room - (int)strlen(how));

	for (struct str rest = options; rest.n;)
		whole &= option_cols(str_cut(&rest, STR("\n")), ascii) <= most;
	if (whole)
		buf_adds(out, how);
	else
		most = fit_options(options, ascii, room);
	for (struct str rest = options; rest.n;) {
		add_clean_cut(out, str_cut(&rest, STR("\n")), TEXT_LINE, ascii, most);
		buf_adds(out, rest.n ? "   " : "");
	}
}

/* Shows numbered options, a line each, on the message line. */
static void show_options(struct app *a, struct str options, const char *how)
{
	buf_clear(&a->notice);
	a->notice_role = ROLE_NORMAL;
	if (options.n)
		add_options(options, how, a->scene.ascii, a->cols - 2, &a->notice);
}

static void add_labels(const struct detail_question *q, struct buf *out)
{
	yyjson_val *v;
	size_t i, n;

	yyjson_arr_foreach(q->options, i, n, v) {
		struct str label = option_label(v);

		buf_printf(out, "%s%zu ", i ? "\n" : "", i + 1);
		for (size_t k = 0; k < label.n; k++)
			buf_addc(out, label.p[k] == '\n' ? ' ' : label.p[k]);
	}
}

/* ---- reasons ---- */

/* Lists the reason codes above the prompt. */
static void offer_reasons(struct app *a, const char *label)
{
	struct buf codes = { 0 };

	for (uint32_t i = 0; i < a->deciding.reason_code_count; i++)
		buf_printf(&codes, "%s%s", i ? "  " : label, a->deciding.reason_codes[i]);
	if (codes.n)
		app_say(a, ROLE_DIM, "%s", codes.p);
	buf_release(&codes);
}

/* Splits "CODE" or "CODE: explanation" when CODE is one of the reason codes on offer. */
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

/* A prompt for words on the targets, which names them. */
static void open_prompt(struct app *a, enum prompt_kind kind, enum verb verb, struct str text)
{
	const struct deciding *d = &a->deciding;
	struct item_state at;
	struct buf words = { 0 };

	prompt_open(&a->prompt, kind, text);
	if (decide_state(a, d->targets.v[0], &at))
		add_item_words(&a->scene, get_item(a, d->targets.v[0]), &at, a->cols, &words);
	prompt_name(&a->prompt, verb_name(verb), buf_str(&words), d->targets.n);
	buf_release(&words);
}

void decide_prompt_reason(struct app *a, const struct draft *old)
{
	open_prompt(a, PROMPT_REASON, old->verb, old->reason_code);
	offer_reasons(a, "Tab completes: ");
}

/* ---- answers ---- */

/* Whether the only target has several questions, or a choice of several options. */
static bool asks_one_by_one(const struct app *a, struct detail *detail)
{
	return a->deciding.targets.n == 1 && get_detail(a, a->deciding.targets.v[0], detail) &&
	       asks_by_line(detail);
}

/* Prompts for question number `deciding.question`, by its words. */
static void ask_question(struct app *a, const struct detail *detail)
{
	const struct detail_question *q = &detail->questions[a->deciding.question];
	struct buf words = { 0 }, labels = { 0 };

	prompt_open(&a->prompt, PROMPT_ANSWER, STR_NONE);
	if (detail->question_n > 1)
		buf_printf(&words, "%u/%u ", a->deciding.question + 1, detail->question_n);
	add_clean_cut(&words, q->words, TEXT_LINE, a->scene.ascii, a->cols);
	prompt_name(&a->prompt, verb_name(VERB_ANSWER), buf_str(&words), 1);
	add_labels(q, &labels);
	show_options(a, buf_str(&labels),
		     q->several ? "numbers or labels, with commas:   "
				: "a number, value or label:   ");
	buf_release(&words);
	buf_release(&labels);
}

/* Takes the answer to the current question and asks the next one, or stages all of them. */
static void take_answer(struct app *a, const struct detail *detail, struct str typed)
{
	struct deciding *d = &a->deciding;

	question_answer(&detail->questions[d->question], typed, &d->answers);
	if (++d->question < detail->question_n) {
		buf_addc(&d->answers, '\n');
		ask_question(a, detail);
		return;
	}
	decide_stage(a, (struct draft){ .answer = buf_str(&d->answers) });
}

static void start_answer(struct app *a, struct str words)
{
	struct detail detail;

	a->deciding.question = 0;
	buf_clear(&a->deciding.answers);
	if (asks_one_by_one(a, &detail)) {
		if (words.n)
			take_answer(a, &detail, words);
		else
			ask_question(a, &detail);
	} else if (words.n) {
		decide_stage(a, (struct draft){ .answer = words });
	} else {
		open_prompt(a, PROMPT_ANSWER, VERB_ANSWER, STR_NONE);
		if (get_detail(a, a->deciding.targets.v[0], &detail))
			show_options(a, field_of(&detail, "options"), "a number, value or label:   ");
	}
}

/* ---- rules ---- */

/* The number of an offered rule, or a rule of the person's own; nothing: the first offer. */
static void stage_rule(struct app *a, struct str words)
{
	struct draft draft = { 0 };
	uint64_t number;

	words = str_trim(words);
	if (str_to_u64(words, &number) && number >= 1 && number <= UINT32_MAX)
		draft.option = (uint32_t)number;
	else
		draft.answer = words;
	decide_stage(a, draft);
}

/* Where several rules are offered the person says which; on several items the first of each. */
static void start_rule(struct app *a, struct str words)
{
	struct detail detail;
	struct str offers = STR_NONE;

	if (!words.n && a->deciding.targets.n == 1 &&
	    get_detail(a, a->deciding.targets.v[0], &detail))
		offers = field_of(&detail, "always");
	if (str_find(offers, STR("\n"), 0) < 0) {
		stage_rule(a, words);
		return;
	}
	open_prompt(a, PROMPT_RULE, VERB_ALWAYS, STR_NONE);
	if (get_detail(a, a->deciding.targets.v[0], &detail))
		show_options(a, field_of(&detail, "always"), "");
}

/* ---- the input of a tool call ---- */

/* Edited in $EDITOR, unless the person has typed it. */
static void start_partial(struct app *a, struct str words)
{
	struct deciding *d = &a->deciding;
	struct draft draft = { .verb = d->verb };
	struct buf pretty = { 0 };
	struct detail detail;
	struct err err;

	if (d->targets.n > 1) {
		app_say(a, ROLE_WARN, "each call has an input of its own; edit one at a time");
		decide_refused(a);
	} else if (words.n && draft_set_input(&draft, words, &a->effect_strings, &err)) {
		app_say(a, ROLE_WARN, "%s: nothing was staged", err.text);
	} else if (words.n) {
		decide_stage(a, draft);
	} else if (!get_detail(a, d->targets.v[0], &detail) || !detail.input) {
		app_say(a, ROLE_WARN, "%s", verb_refusal(VERB_PARTIAL));
		decide_refused(a);
	} else {
		json_write_pretty(&pretty, detail.input, INPUT_LINES_MAX);
		draft.answer = buf_str(&pretty);
		decide_new_step(a);
		decide_effect(a, EFFECT_EDIT_INPUT, d->targets.v[0], draft);
		buf_release(&pretty);
	}
	d->on_marked = false;
}

/* ---- all of them ---- */

void decide_prompt_or_stage(struct app *a, struct str words)
{
	struct deciding *d = &a->deciding;

	if (d->verb == VERB_ANSWER) {
		start_answer(a, words);
	} else if (d->verb == VERB_ALWAYS) {
		start_rule(a, words);
	} else if (d->verb == VERB_PARTIAL &&
		   get_item(a, d->targets.v[0])->kind == ITEM_PERMISSION) {
		start_partial(a, words);
	} else if (words.n || d->verb == VERB_ACCEPT || d->verb == VERB_DISMISS) {
		decide_stage(a, (struct draft){ .explanation = words });
	} else {
		open_prompt(a, PROMPT_EXPLAIN, d->verb, STR_NONE);
		if (d->verb == VERB_REJECT)
			offer_reasons(a, "words, or a code (Tab): ");
	}
}

void decide_answered(struct app *a, int kind, struct str text)
{
	struct deciding *d = &a->deciding;
	struct draft draft = { 0 };
	const struct draft *old;
	struct detail detail;

	buf_clear(&a->notice);
	text = str_trim(text);
	switch (kind) {
	case PROMPT_EXPLAIN:
		draft.explanation = text;
		if (d->verb == VERB_REJECT)
			split_reason(d, &draft);
		break;
	case PROMPT_ANSWER:
		if (asks_one_by_one(a, &detail) && d->question < detail.question_n) {
			take_answer(a, &detail, text);
			return;
		}
		draft.answer = text;
		break;
	case PROMPT_RULE: stage_rule(a, text); return;
	case PROMPT_REASON:
		old = d->targets.n ? decide_draft(a, d->targets.v[0]) : NULL;
		if (!old || !text.n)
			return;
		draft = *old;
		draft.reason_code = text;
		d->verb = old->verb;
		break;
	default: return;
	}
	decide_stage(a, draft);
}
