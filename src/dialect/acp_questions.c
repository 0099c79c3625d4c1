/* The form of an elicitation: a JSON schema whose properties are questions. claude-agent-acp and
 * codex-acp have a second property behind each question for an answer of the person's own, NAME_custom
 * and NAME_note. */
#include "dialect/acp.h"

static yyjson_val *first_array(yyjson_val *v, const char *const *names)
{
	for (; *names; names++)
		if (yyjson_is_arr(json_get(v, *names)))
			return json_get(v, *names);
	return NULL;
}

static yyjson_val *choices(yyjson_val *schema)
{
	static const char *const names[] = { "oneOf", "anyOf", "enum", NULL };

	return first_array(schema, names);
}

/* Whether a property is the free text beside another one; *length: of that one's name. */
static bool is_companion(yyjson_val *properties, struct str name, size_t *length)
{
	static const char *const tails[] = { "_custom", "_note" };

	for (unsigned i = 0; i < sizeof(tails) / sizeof(tails[0]); i++) {
		size_t n = strlen(tails[i]);

		if (name.n > n && str_ends(name, str_of(tails[i])) &&
		    json_getn(properties, name.p, name.n - n)) {
			*length = name.n - n;
			return true;
		}
	}
	return false;
}

static struct acp_question *question_named(struct acp_question *list, unsigned n, struct str name)
{
	for (unsigned i = 0; i < n; i++)
		if (str_eq(list[i].name, name))
			return &list[i];
	return NULL;
}

unsigned acp_questions(yyjson_val *params, struct acp_question *out)
{
	yyjson_val *properties = json_get(json_get(params, "requestedSchema"), "properties");
	yyjson_val *key, *schema;
	unsigned count = 0;
	size_t i, n, length;

	if (!yyjson_is_obj(properties))
		return 0;
	yyjson_obj_foreach(properties, i, n, key, schema) {
		bool several = str_is(json_get_str(schema, "type"), "array");

		if (!is_companion(properties, json_str(key), &length) && count < ACP_QUESTIONS_MAX)
			out[count++] = (struct acp_question){
				.name = json_str(key), .schema = schema, .several = several,
				.options = choices(several ? json_get(schema, "items") : schema)
			};
	}
	yyjson_obj_foreach(properties, i, n, key, schema)
		if (is_companion(properties, json_str(key), &length)) {
			struct acp_question *q = question_named(
				out, count, str_make(json_str(key).p, length));

			if (q)
				q->custom = json_str(key);
		}
	return count;
}

struct str acp_question_words(const struct acp_question *q)
{
	struct str title = json_get_str(q->schema, "title");
	struct str description = json_get_str(q->schema, "description");

	if (!title.n && !description.n)
		return q->name;
	return description.n > title.n ? description : title;
}

struct str acp_option_label(yyjson_val *option)
{
	struct str label = json_get_str(option, "title");

	if (yyjson_is_str(option))
		return json_str(option);
	return label.n ? label : json_get_str(option, "const");
}

struct str acp_form_title(struct decoder *d, yyjson_val *params)
{
	struct acp_question list[ACP_QUESTIONS_MAX];
	unsigned n = acp_questions(params, list);
	struct str words = n ? acp_question_words(&list[0]) : json_get_str(params, "message");

	if (n < 2)
		return words;
	return str_of(arena_printf(&d->arena, "%.*s (and %u more)", STR_ARG(words), n - 1));
}

static void add_options(struct buf *b, yyjson_val *options, const char *indent)
{
	yyjson_val *option;
	size_t i, n;

	yyjson_arr_foreach(options, i, n, option) {
		struct str more = json_get_str(option, "description");

		buf_printf(b, "%s%s%zu  ", b->n ? "\n" : "", indent, i + 1);
		buf_add_str(b, acp_option_label(option));
		if (more.n) {
			buf_adds(b, ": ");
			buf_add_str(b, more);
		}
	}
}

static void add_kind(struct buf *b, const struct acp_question *q)
{
	struct str type = json_get_str(q->schema, "type");

	if (q->several)
		buf_adds(b, "  (several)");
	else if (str_is(type, "boolean"))
		buf_adds(b, "  (yes or no)");
	else if (str_is(type, "number") || str_is(type, "integer"))
		buf_adds(b, "  (a number)");
}

/* The questions, numbered; the options of the first have a field of their own. */
void acp_form_fields(struct decoder *d, yyjson_val *params, struct detail *out)
{
	struct acp_question list[ACP_QUESTIONS_MAX];
	unsigned n = acp_questions(params, list);
	struct buf b = { 0 };

	detail_add(out, "message", json_get_str(params, "message"), false);
	detail_add(out, "url", json_get_str(params, "url"), true);
	for (unsigned i = 0; i < n; i++) {
		buf_printf(&b, "%s%u  ", i ? "\n" : "", i + 1);
		buf_add_str(&b, acp_question_words(&list[i]));
		add_kind(&b, &list[i]);
		detail_ask(out, acp_question_words(&list[i]), list[i].options, list[i].several);
		if (n > 1 && list[i].options)
			add_options(&b, list[i].options, "   ");
	}
	detail_add(out, "questions", arena_take(&d->arena, &b), false);
	if (!n || !list[0].options)
		return;
	b = (struct buf){ 0 };
	add_options(&b, list[0].options, "");
	detail_add(out, "options", arena_take(&d->arena, &b), false);
	out->options = list[0].options;
}
