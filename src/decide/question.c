/* Finds the option that an answer names, by value, label or number. */
#include "decide/question.h"

static yyjson_val *option_value(yyjson_val *option)
{
	yyjson_val *value = json_get(option, "value");

	return value ? value : json_get(option, "const");
}

struct str option_label(yyjson_val *option)
{
	struct str label = json_get_str(option, "label");

	return label.n ? label : json_get_str(option, "title");
}

uint32_t option_named(yyjson_val *options, struct str answer, bool *several)
{
	uint32_t labelled = 0;
	yyjson_val *v;
	size_t i, n;

	*several = false;
	yyjson_arr_foreach(options, i, n, v)
		if (yyjson_is_str(option_value(v)) && str_eq(json_str(option_value(v)), answer))
			return (uint32_t)i + 1;
	yyjson_arr_foreach(options, i, n, v)
		if (option_label(v).p && str_eq(option_label(v), answer)) {
			*several = labelled != 0;
			labelled = (uint32_t)i + 1;
		}
	return labelled;
}

yyjson_val *option_numbered(yyjson_val *options, uint64_t number)
{
	yyjson_val *v = NULL;

	if (number >= 1 && number <= yyjson_arr_size(options))
		v = yyjson_arr_get(options, (size_t)number - 1);
	return yyjson_is_obj(v) ? v : NULL;
}

bool option_answer(yyjson_val *option, struct buf *out)
{
	yyjson_val *value = option_value(option);

	if (value && !yyjson_is_str(value)) {
		json_write(out, value);
		return false;
	}
	buf_add_str(out, value ? json_str(value) : option_label(option));
	return true;
}

/* The options of an item with one question, valid until the reader is asked again; NULL = none. */
static yyjson_val *options_of(const struct reader *r, const struct item *item,
			      const struct item_state *state)
{
	struct detail detail;

	return r->detail(r->ctx, item, state, &detail) && !asks_by_line(&detail) ? detail.options
										  : NULL;
}

static void choose(struct draft *d, yyjson_val *option, uint64_t number, struct arena *words)
{
	struct buf answer = { 0 };

	option_answer(option, &answer);
	d->answer = arena_str(words, buf_str(&answer));
	d->option = (uint32_t)number;
	buf_release(&answer);
}

int draft_choose(struct draft *d, const struct reader *r, const struct item *item,
		 const struct item_state *state, uint64_t number, struct arena *words,
		 struct err *err)
{
	yyjson_val *options = options_of(r, item, state);
	yyjson_val *option = option_numbered(options, number);
	size_t n = yyjson_arr_size(options);

	if (!n)
		return err_set(err, "it offers no options to choose from; give the answer's text "
				    "with --answer");
	if (number < 1 || number > n)
		return err_set(err, "there is no option %llu; its options are 1 to %zu",
			       (unsigned long long)number, n);
	if (!option)
		return err_set(err, "option %llu is damaged and cannot be chosen; give the "
				    "answer's text with --answer", (unsigned long long)number);
	choose(d, option, number, words);
	return 0;
}

void draft_choose_numbered(struct draft *d, const struct reader *r, const struct item *item,
			   const struct item_state *state, struct arena *words)
{
	yyjson_val *options = options_of(r, item, state), *option;
	struct str text = str_trim(d->answer);
	uint64_t number;
	bool several;

	if (option_named(options, text, &several) || !str_to_u64(text, &number))
		return;
	option = option_numbered(options, number);
	if (option)
		choose(d, option, number, words);
}

/* ---- several questions ---- */

/* One choice, as typed. A line ends an answer. */
static void add_choice(yyjson_val *options, struct str typed, struct buf *out)
{
	yyjson_val *option = NULL;
	uint64_t number;
	bool several;

	if (!option_named(options, typed, &several) && str_to_u64(typed, &number))
		option = option_numbered(options, number);
	if (option) {
		option_answer(option, out);
		return;
	}
	for (size_t i = 0; i < typed.n; i++)
		buf_addc(out, typed.p[i] == '\n' ? ' ' : typed.p[i]);
}

void question_answer(const struct detail_question *q, struct str typed, struct buf *out)
{
	bool several, first = true;

	typed = str_trim(typed);
	if (!q->several || option_named(q->options, typed, &several)) {
		add_choice(q->options, typed, out);
		return;
	}
	while (typed.n) {
		struct str one = str_trim(str_cut(&typed, STR(",")));

		if (!one.n)
			continue;
		buf_adds(out, first ? "" : ", ");
		add_choice(q->options, one, out);
		first = false;
	}
}

/* ---- a tool call ---- */

int draft_set_input(struct draft *d, struct str text, struct arena *words, struct err *err)
{
	struct json_reader reader = { 0 };
	struct buf compact = { 0 };
	yyjson_val *root = NULL;
	int rc = 0;

	if (json_read(&reader, text, &root) != JSON_OK || !yyjson_is_obj(root)) {
		rc = err_set(err, "the edited input is no JSON object");
	} else {
		json_write(&compact, root);
		d->answer = arena_str(words, buf_str(&compact));
	}
	buf_release(&compact);
	json_reader_release(&reader);
	return rc;
}
