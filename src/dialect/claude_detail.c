/* The page of what Claude asks: a tool call that waits, questions, a plan. All that the answer
 * would let happen is on it: members of the input without a field of their own are shown as JSON. */
#include "dialect/claude.h"

#include "json/compose.h"

/* ---- the call ---- */

static void add_lines(struct buf *out, char mark, struct str text)
{
	while (text.n) {
		struct str line = str_cut(&text, STR("\n"));

		if (out->n)
			buf_addc(out, '\n');
		buf_addc(out, mark);
		buf_add_str(out, line);
	}
}

static void add_edit(struct buf *out, yyjson_val *edit)
{
	add_lines(out, '-', json_get_str(edit, "old_string"));
	add_lines(out, '+', json_get_str(edit, "new_string"));
}

/* What an edit removes and adds; the file itself is not at hand. */
static struct str diff_of(struct decoder *d, yyjson_val *input)
{
	yyjson_val *edits = json_get(input, "edits"), *edit;
	struct buf out = { 0 };
	size_t i, n;

	add_edit(&out, input);
	yyjson_arr_foreach(edits, i, n, edit)
		add_edit(&out, edit);
	add_lines(&out, '+', json_get_str(input, "content"));
	add_lines(&out, '+', json_get_str(input, "new_source"));
	return arena_take(&d->arena, &out);
}

static bool is_edit(struct str tool)
{
	static const char *const tools[] = { "Edit", "MultiEdit", "Write", "NotebookEdit", NULL };

	return value_index(tools, tool) >= 0;
}

/* Members of the input that have a field of their own. */
static bool has_field(struct str tool, struct str name, yyjson_val *v)
{
	static const char *const shown[] = { "command", "file_path", "notebook_path", "description",
					     NULL };
	static const char *const edited[] = { "old_string", "new_string", "content", "new_source",
					      NULL };

	if (str_is(name, "edits") && is_edit(tool)) {
		yyjson_val *edit;
		size_t i, n;

		yyjson_arr_foreach(v, i, n, edit)
			if (yyjson_obj_size(edit) != 2 || !json_get_str(edit, "old_string").p ||
			    !json_get_str(edit, "new_string").p)
				return false;
		return yyjson_is_arr(v);
	}
	if (claude_item_kind(tool) == ITEM_QUESTION)
		return str_is(name, "questions") && yyjson_is_arr(v);
	if (!yyjson_is_str(v))
		return false;
	if (claude_item_kind(tool) == ITEM_PLAN)
		return str_is(name, "plan") || str_is(name, "planFilePath");
	return value_index(shown, name) >= 0 || (is_edit(tool) && value_index(edited, name) >= 0);
}

/* The rest of the input, as JSON. */
static struct str rest_of(struct decoder *d, struct str tool, yyjson_val *input)
{
	yyjson_val *key, *v;
	struct buf out = { 0 };
	size_t i, n;

	if (!yyjson_is_obj(input))
		return scalar_text(d, input);
	yyjson_obj_foreach(input, i, n, key, v) {
		bool usual = str_is(json_str(key), "replace_all") && yyjson_is_false(v);

		if (has_field(tool, json_str(key), v) || usual)
			continue;
		if (!out.n)
			buf_addc(&out, '{');
		json_put_member(&out, key, v);
	}
	if (out.n)
		buf_addc(&out, '}');
	return arena_take(&d->arena, &out);
}

static void add_rest(struct decoder *d, yyjson_val *request, struct detail *out)
{
	detail_add(out, "input",
		   rest_of(d, json_get_str(request, "tool_name"), json_get(request, "input")),
		   false);
}

static void add_call(struct decoder *d, yyjson_val *request, struct detail *out)
{
	yyjson_val *input = json_get(request, "input");
	struct str tool = json_get_str(request, "tool_name");
	struct str file = json_get_str(input, "file_path"), words = json_get_str(input, "description");
	struct str said = json_get_str(request, "description");

	if (!file.n)
		file = json_get_str(input, "notebook_path");
	detail_add(out, "tool", tool, true);
	detail_add(out, "command", json_get_str(input, "command"), false);
	detail_add(out, "file", file, true);
	detail_add(out, "folder", json_get_str(input, "cwd"), true);
	if (is_edit(tool))
		detail_add(out, "diff", diff_of(d, input), false);
	add_rest(d, request, out);
	detail_add(out, "description", words, false);
	if (!str_eq(said, words) && !str_ends(file, said)) /* often the file's name */
		detail_add(out, words.n ? "says" : "description", said, false);
}

/* ---- why, who, what from now on ---- */

static struct str why_of(struct decoder *d, yyjson_val *request)
{
	struct str reason = json_get_str(request, "decision_reason");
	struct str type = json_get_str(request, "decision_reason_type");
	struct str event = json_get_str(request, "decision_reason_hook_event");

	if (reason.n)
		return reason;
	if (str_is(type, "hook"))
		return str_of(arena_printf(&d->arena, "a hook wants it asked (%.*s)",
					   STR_ARG(event)));
	if (str_is(type, "subcommandResults"))
		return STR("parts of the command need approval");
	return type;
}

static struct str asker_of(struct decoder *d)
{
	struct buf out = { 0 };

	buf_add_str(&out, json_get_str(d->looked_about, "description"));
	if (json_get_str(d->looked_about, "subagent_type").n)
		summary_add(d, &out, d->looked_about,
			    out.n ? " ({subagent_type})" : "{subagent_type}");
	return arena_take(&d->arena, &out);
}

static struct str offers_of(struct decoder *d, yyjson_val *offers)
{
	struct buf out = { 0 };
	yyjson_val *offer;
	size_t i, n;

	yyjson_arr_foreach(offers, i, n, offer) {
		buf_printf(&out, "%s%zu  ", i ? "\n" : "", i + 1);
		claude_offer_words(offer, &out);
	}
	return arena_take(&d->arena, &out);
}

/* ---- questions ---- */

static void add_options(struct decoder *d, yyjson_val *question, const char *indent,
			struct buf *out)
{
	yyjson_val *options = json_get(question, "options"), *option;
	size_t i, n;

	yyjson_arr_foreach(options, i, n, option) {
		buf_printf(out, "%s%s%zu  ", out->n ? "\n" : "", indent, i + 1);
		summary_add(d, out, option, "{label}");
		if (json_get_str(option, "description").n)
			summary_add(d, out, option, ": {description}");
	}
}

static void add_questions(struct decoder *d, yyjson_val *input, struct detail *out)
{
	yyjson_val *questions = json_get(input, "questions"), *question;
	bool alone = yyjson_arr_size(questions) == 1;
	struct buf text = { 0 }, options = { 0 };
	size_t i, n;

	yyjson_arr_foreach(questions, i, n, question) {
		if (!alone)
			buf_printf(&text, "%s%zu. ", i ? "\n" : "", i + 1);
		buf_add_str(&text, json_get_str(question, "question"));
		if (yyjson_is_true(json_get(question, "multiSelect")))
			buf_adds(&text, " (one or more)");
		add_options(d, question, alone ? "" : "   ", alone ? &options : &text);
		detail_ask(out, json_get_str(question, "question"), json_get(question, "options"),
			   yyjson_is_true(json_get(question, "multiSelect")));
	}
	detail_add(out, alone ? "question" : "questions", arena_take(&d->arena, &text), false);
	detail_add(out, "options", arena_take(&d->arena, &options), false);
	question = yyjson_arr_get_first(questions);
	out->title = json_get_str(question, "question");
	if (yyjson_is_arr(json_get(question, "options")))
		out->options = json_get(question, "options");
}

/* ---- the page ---- */

static struct str first_line(struct str text)
{
	struct str line = STR_NONE;

	while (text.n && !line.n)
		line = str_trim(str_cut(&text, STR("\n")));
	while (line.n && (line.p[0] == '#' || line.p[0] == ' '))
		line = str_from(line, 1);
	return line;
}

static struct str call_title(struct decoder *d, yyjson_val *request)
{
	struct str words = claude_call_words(d, json_get(request, "input"));
	struct buf out = { 0 };

	buf_add_str(&out, json_get_str(request, "tool_name"));
	if (words.n) {
		buf_adds(&out, ": ");
		buf_add_str(&out, words);
	}
	return arena_take(&d->arena, &out);
}

static void add_plan(yyjson_val *input, struct detail *out)
{
	struct str plan = json_get_str(input, "plan");

	out->title = plan.n ? first_line(plan) : STR("a plan without words");
	detail_add(out, "plan", plan, false);
	detail_add(out, "file", json_get_str(input, "planFilePath"), true);
}

bool claude_detail(struct decoder *d, yyjson_val *root, enum item_kind kind, uint32_t index,
		   struct detail *out)
{
	yyjson_val *request = json_get(root, "request");

	(void)index;
	if (!request)
		return false;
	detail_part(out, request, json_get(request, "tool_use_id"));
	if (d->looked_about) {
		detail_part(out, json_get(d->looked_about, "description"), NULL);
		detail_part(out, json_get(d->looked_about, "subagent_type"), NULL);
	}
	switch (kind) {
	case ITEM_QUESTION:
		add_questions(d, json_get(request, "input"), out);
		add_rest(d, request, out);
		break;
	case ITEM_PLAN:
		add_plan(json_get(request, "input"), out);
		add_rest(d, request, out);
		break;
	case ITEM_PERMISSION:
		out->title = call_title(d, request);
		if (yyjson_is_obj(json_get(request, "input")))
			out->input = json_get(request, "input");
		add_call(d, request, out);
		break;
	default: return false;
	}
	detail_add(out, "asks", asker_of(d), false);
	detail_add(out, "why", why_of(d, request), false);
	detail_add(out, "path", json_get_str(request, "blocked_path"), true);
	if (kind == ITEM_PERMISSION)
		detail_add(out, "always",
			   offers_of(d, json_get(request, "permission_suggestions")), false);
	return true;
}
