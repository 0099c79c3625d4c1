/* Finds the option that an answer names, by value, label or number. */
#include "decide/question.h"

/* Questions of acp are JSON schemas, whose options are called const and title. */
static yyjson_val *value_of(yyjson_val *option)
{
	yyjson_val *value = json_get(option, "value");

	return value ? value : json_get(option, "const");
}

static yyjson_val *label_of(yyjson_val *option)
{
	yyjson_val *label = json_get(option, "label");

	return label ? label : json_get(option, "title");
}

uint32_t option_named(yyjson_val *options, struct str answer, bool *several)
{
	uint32_t labelled = 0;
	yyjson_val *v;
	size_t i, n;

	*several = false;
	yyjson_arr_foreach(options, i, n, v)
		if (yyjson_is_str(value_of(v)) && str_eq(json_str(value_of(v)), answer))
			return (uint32_t)i + 1;
	yyjson_arr_foreach(options, i, n, v)
		if (yyjson_is_str(label_of(v)) && str_eq(json_str(label_of(v)), answer)) {
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
	yyjson_val *value = value_of(option);

	if (value && !yyjson_is_str(value)) {
		json_write(out, value);
		return false;
	}
	buf_add_str(out, json_str(value ? value : label_of(option)));
	return true;
}

/* The options of the item, valid until the reader is asked again; NULL = none. */
static yyjson_val *options_of(const struct reader *r, const struct item *item,
			      const struct item_state *state)
{
	struct detail detail;

	return r->detail(r->ctx, item, state, &detail) ? detail.options : NULL;
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
