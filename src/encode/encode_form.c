/* The content of a filled-in form (elicitation/create of acp): each line of the draft's answer is the
 * answer to one question, as its schema wants it. A choice is named by its value, its title or its
 * number; what is no choice goes into the property beside the question that is for free text. */
#include "dialect/acp_questions.h"
#include "encode/encode_acp.h"
#include "json/compose.h"

/* One question, what was typed, and what is written. */
struct blank {
	const struct acp_question *q;
	unsigned number; /* from 1 */
	struct str typed;
	bool required;
};

static struct str option_value(yyjson_val *option)
{
	return yyjson_is_str(option) ? json_str(option) : json_get_str(option, "const");
}

/* The option that a text names, or NULL. */
static yyjson_val *option_named_by(yyjson_val *options, struct str text)
{
	yyjson_val *option;
	uint64_t number;
	size_t i, n;

	yyjson_arr_foreach(options, i, n, option)
		if (str_eq(option_value(option), text))
			return option;
	yyjson_arr_foreach(options, i, n, option)
		if (str_eq_nocase(acp_option_label(option), text))
			return option;
	if (str_to_u64(text, &number) && number >= 1 && number <= yyjson_arr_size(options))
		return yyjson_arr_get(options, (size_t)number - 1);
	return NULL;
}

/* The member's name as it is in the form, which may be any text. */
static void put_key(struct buf *b, struct str name)
{
	json_comma(b);
	json_write_str(b, name);
	buf_addc(b, ':');
}

static void put_text(struct buf *b, struct str name, struct str text)
{
	put_key(b, name);
	json_write_str(b, text);
}

static void propose_no_choice(struct encoding *e, struct proposal *p, const struct blank *f,
			      struct str text)
{
	char typed[QUOTED_MAX];

	propose_missing(e, p, "question %u: %s is none of its choices", f->number,
			quoted(text, typed));
}

/* codex-acp has a choice for "something else", and the text beside it. */
static yyjson_val *other_choice(const struct acp_question *q)
{
	yyjson_val *meta = json_get(json_get(q->schema, "_meta"), "codex");

	return yyjson_is_true(json_get(meta, "isOther")) ? yyjson_arr_get_last(q->options) : NULL;
}

static void put_choice(struct encoding *e, struct proposal *p, const struct blank *f, struct buf *b)
{
	yyjson_val *option = option_named_by(f->q->options, f->typed);
	yyjson_val *other = option ? NULL : other_choice(f->q);

	if (option) {
		put_text(b, f->q->name, option_value(option));
	} else if (f->q->custom.n && (other || !f->required)) {
		if (other)
			put_text(b, f->q->name, option_value(other));
		put_text(b, f->q->custom, f->typed);
	} else {
		propose_no_choice(e, p, f, f->typed);
	}
}

/* "A, B"; a choice may have a comma itself. */
static void put_choices(struct encoding *e, struct proposal *p, const struct blank *f, struct buf *b)
{
	yyjson_val *whole = option_named_by(f->q->options, f->typed), *option;
	struct buf own = { 0 };
	bool any = false;

	for (struct str rest = f->typed; rest.n;) {
		struct str one = whole ? rest : str_trim(str_cut(&rest, STR(",")));

		option = whole ? whole : option_named_by(f->q->options, one);
		if (whole)
			rest.n = 0;
		if (!option) {
			buf_adds(&own, own.n ? ", " : "");
			buf_add_str(&own, one);
			continue;
		}
		if (!any) {
			put_key(b, f->q->name);
			buf_addc(b, '[');
		}
		any = true;
		json_comma(b);
		json_write_str(b, option_value(option));
	}
	if (any)
		buf_addc(b, ']');
	if (own.n && f->q->custom.n)
		put_text(b, f->q->custom, buf_str(&own));
	else if (own.n)
		propose_no_choice(e, p, f, buf_str(&own));
	buf_release(&own);
}

static void put_boolean(struct encoding *e, struct proposal *p, const struct blank *f, struct buf *b)
{
	static const char *const words[] = { "yes", "true", "y", "no", "false", "n" };

	for (unsigned i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (str_eq_nocase(f->typed, str_of(words[i]))) {
			put_key(b, f->q->name);
			buf_adds(b, i < 3 ? "true" : "false");
			return;
		}
	propose_missing(e, p, "question %u wants yes or no", f->number);
}

static void put_number(struct encoding *e, struct proposal *p, const struct blank *f, bool whole,
		       struct buf *b)
{
	struct json_reader reader = { 0 };
	yyjson_val *v = NULL;
	int64_t n;

	if (json_read(&reader, f->typed, &v) == JSON_OK && json_is_number(v) &&
	    (!whole || json_int(v, &n))) {
		put_key(b, f->q->name);
		buf_add_str(b, f->typed);
	} else {
		propose_missing(e, p, "question %u wants a %s", f->number,
				whole ? "whole number" : "number");
	}
	json_reader_release(&reader);
}

static void put_blank(struct encoding *e, struct proposal *p, const struct blank *f, struct buf *b)
{
	struct str type = json_get_str(f->q->schema, "type");

	if (!f->typed.n) {
		if (f->required)
			propose_missing(e, p, "question %u needs an answer", f->number);
	} else if (f->q->several && f->q->options) {
		put_choices(e, p, f, b);
	} else if (f->q->options) {
		put_choice(e, p, f, b);
	} else if (str_is(type, "boolean")) {
		put_boolean(e, p, f, b);
	} else if (str_is(type, "number") || str_is(type, "integer")) {
		put_number(e, p, f, str_is(type, "integer"), b);
	} else if (f->q->several) {
		put_key(b, f->q->name);
		buf_addc(b, '[');
		json_write_str(b, f->typed);
		buf_addc(b, ']');
	} else {
		put_text(b, f->q->name, f->typed);
	}
}

static bool is_required(yyjson_val *schema, struct str name)
{
	yyjson_val *required = json_get(schema, "required"), *v;
	size_t i, n;

	if (yyjson_is_arr(required))
		yyjson_arr_foreach(required, i, n, v)
			if (str_eq(json_str(v), name))
				return true;
	return false;
}

void put_form_content(struct encoding *e, struct proposal *p, yyjson_val *params, struct buf *b)
{
	struct acp_question list[ACP_QUESTIONS_MAX];
	unsigned n = acp_questions(params, list);
	struct str rest = draft_of(e, 0)->answer;
	size_t start = b->n;

	for (unsigned i = 0; i < n; i++) {
		/* the only question may be answered in several lines */
		struct str line = n == 1 ? rest : str_cut(&rest, STR("\n"));
		struct blank f = { &list[i], i + 1, str_trim(line),
				   is_required(json_get(params, "requestedSchema"), list[i].name) };

		put_blank(e, p, &f, b);
	}
	if (n > 1 && str_trim(rest).n)
		propose_missing(e, p, "there are only %u questions; give one line for each", n);
	else if (n && b->n == start && !p->missing.n)
		propose_missing(e, p, "no question is answered; reject it to decline them all");
}
