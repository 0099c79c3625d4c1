/* The page of an item of acp: what would run, where, what it changes, and which rules are offered.
 *
 * An ask may leave out what an earlier message has told of its call; that message is the item's
 * subject (d->looked_about). */
#include "dialect/acp.h"

enum { CONTEXT_LINES = 3 };

static struct str either(struct str first, struct str other)
{
	return first.n ? first : other;
}

/* A member of the call's input, under the first of its names that is there. */
static struct str input_text(yyjson_val *call, const char *const *names)
{
	yyjson_val *input = json_get(call, "rawInput");

	for (; *names; names++)
		if (json_get_str(input, *names).n)
			return json_get_str(input, *names);
	return STR_NONE;
}

/* ---- the diff ---- */

struct text_lines {
	struct str *v;
	size_t n;
};

static struct text_lines lines_of(struct decoder *d, struct str text)
{
	struct text_lines out = { NULL, 0 };
	size_t most = 1;

	for (size_t i = 0; i < text.n; i++)
		most += text.p[i] == '\n';
	out.v = arena_alloc(&d->arena, most * sizeof(*out.v));
	for (struct str rest = text; rest.n;)
		out.v[out.n++] = str_cut(&rest, STR("\n"));
	return out;
}

static void add_lines(struct buf *b, char mark, struct text_lines l, size_t from, size_t to)
{
	for (; from < to; from++) {
		if (b->n)
			buf_addc(b, '\n');
		buf_addc(b, mark);
		buf_add_str(b, l.v[from]);
	}
}

/* What differs between the texts, and a few lines around it. */
static void add_change(struct decoder *d, struct buf *b, struct str before, struct str after)
{
	struct text_lines old = lines_of(d, before), new = lines_of(d, after);
	size_t same = 0, tail = 0, shown;

	while (same < old.n && same < new.n && str_eq(old.v[same], new.v[same]))
		same++;
	while (tail < old.n - same && tail < new.n - same &&
	       str_eq(old.v[old.n - 1 - tail], new.v[new.n - 1 - tail]))
		tail++;
	add_lines(b, ' ', old, same > CONTEXT_LINES ? same - CONTEXT_LINES : 0, same);
	add_lines(b, '-', old, same, old.n - tail);
	add_lines(b, '+', new, same, new.n - tail);
	shown = tail < CONTEXT_LINES ? tail : CONTEXT_LINES;
	add_lines(b, ' ', old, old.n - tail, old.n - tail + shown);
}

static bool is_diff(yyjson_val *block)
{
	return str_is(json_get_str(block, "type"), "diff");
}

/* All files that the call changes. */
static struct str diff_of(struct decoder *d, yyjson_val *call)
{
	yyjson_val *content = json_get(call, "content"), *block;
	struct buf b = { 0 };
	size_t i, n;

	if (!yyjson_is_arr(content))
		return STR_NONE;
	yyjson_arr_foreach(content, i, n, block) {
		struct str path = json_get_str(block, "path");

		if (!is_diff(block))
			continue;
		if (b.n)
			buf_addc(&b, '\n');
		buf_printf(&b, "%s ", json_get_str(block, "oldText").p ? "---" : "new file");
		buf_add_str(&b, path);
		add_change(d, &b, json_get_str(block, "oldText"), json_get_str(block, "newText"));
	}
	return arena_take(&d->arena, &b);
}

/* ---- fields of a call ---- */

static struct str locations_of(struct decoder *d, yyjson_val *call)
{
	yyjson_val *locations = json_get(call, "locations"), *place;
	struct buf b = { 0 };
	size_t i, n;

	if (!yyjson_is_arr(locations))
		return STR_NONE;
	yyjson_arr_foreach(locations, i, n, place) {
		if (b.n)
			buf_addc(&b, '\n');
		buf_add_str(&b, json_get_str(place, "path"));
	}
	return arena_take(&d->arena, &b);
}

static struct str file_of(struct decoder *d, yyjson_val *call)
{
	static const char *const names[] = { "file_path", "filePath", "filepath", "path", NULL };
	struct str file = input_text(call, names);

	return file.n ? file : locations_of(d, call);
}

static struct str folder_of(yyjson_val *call)
{
	static const char *const names[] = { "cwd", "workdir", "directory", NULL };

	return input_text(call, names);
}

/* The text of its content: Claude and Gemini describe there what a command is for. */
static struct str description_of(struct decoder *d, yyjson_val *call)
{
	static const char *const names[] = { "description", NULL };
	struct str text = input_text(call, names);

	return text.n ? text : acp_text(d, json_get(call, "content"));
}

static struct str reason_of(yyjson_val *call)
{
	static const char *const names[] = { "reason", "justification", NULL };

	return input_text(call, names);
}

/* The whole input, of a call that is neither a command nor an edit that the page shows. */
static struct str rest_of(struct decoder *d, yyjson_val *call)
{
	yyjson_val *input = json_get(call, "rawInput");

	return yyjson_obj_size(input) || yyjson_is_arr(input) ? scalar_text(d, input) : STR_NONE;
}

/* The option that allows such calls from now on; its name is all that an agent says of the rule. */
static struct str offers_of(struct decoder *d, yyjson_val *options)
{
	struct buf b = { 0 };
	unsigned count = 0;
	yyjson_val *option;
	size_t i, n;

	if (!yyjson_is_arr(options))
		return STR_NONE;
	yyjson_arr_foreach(options, i, n, option) {
		if (!str_is(json_get_str(option, "kind"), "allow_always"))
			continue;
		buf_printf(&b, "%s%u  ", count ? "\n" : "", count + 1);
		buf_add_str(&b, json_get_str(option, "name"));
		count++;
	}
	return arena_take(&d->arena, &b);
}

/* A subject is an earlier message on the call, or the call that started the subagent which asks. */
static yyjson_val *same_call(yyjson_val *call, yyjson_val *about)
{
	bool same = str_eq(json_get_str(call, "toolCallId"), json_get_str(about, "toolCallId"));

	return same ? about : NULL;
}

static struct str asker_of(struct decoder *d, yyjson_val *starter)
{
	yyjson_val *input = json_get(starter, "rawInput");
	struct buf b = { 0 };

	if (!starter)
		return STR_NONE;
	summary_add(d, &b, input, "{description}");
	if (json_get_str(input, "subagent_type").n)
		summary_add(d, &b, input, " ({subagent_type})");
	if (json_get_str(input, "prompt").n)
		summary_add(d, &b, input, "\n{prompt}");
	return arena_take(&d->arena, &b);
}

static void add_permission(struct decoder *d, yyjson_val *params, struct detail *out)
{
	static const char *const patches[] = { "diff", "patch", NULL };
	yyjson_val *call = json_get(params, "toolCall"), *subject = acp_call(d->looked_about);
	yyjson_val *about = same_call(call, subject);
	struct str command = either(acp_command(d, call), acp_command(d, about));
	struct str diff = either(diff_of(d, call), diff_of(d, about));
	struct str folder = either(folder_of(call), folder_of(about));
	struct str file = either(file_of(d, call), file_of(d, about));

	if (!command.n && str_is(json_get_str(call, "kind"), "execute"))
		command = json_get_str(call, "title");
	if (!diff.n)
		diff = input_text(call, patches);
	out->title = acp_call_title(d, call, about);
	detail_add(out, "tool", either(acp_tool(call), acp_tool(about)), true);
	detail_add(out, "command", command, false);
	if (!str_eq(file, folder))
		detail_add(out, "file", file, true);
	detail_add(out, "folder", folder, true);
	detail_add(out, "diff", diff, false);
	if (!command.n && !diff.n)
		detail_add(out, "input", either(rest_of(d, call), rest_of(d, about)), false);
	detail_add(out, "description", either(description_of(d, call), description_of(d, about)),
		   false);
	if (!about)
		detail_add(out, "asks", asker_of(d, subject), false);
	detail_add(out, "why", either(reason_of(call), reason_of(about)), false);
	detail_add(out, "always", offers_of(d, json_get(params, "options")), false);
}

/* ---- plans ---- */

/* Takes the first line that says something off a text, without the marks of a heading. */
static struct str next_line(struct str *text)
{
	while (text->n) {
		struct str line = str_trim(str_cut(text, STR("\n")));

		while (line.n && line.p[0] == '#')
			line = str_trim(str_from(line, 1));
		if (line.n)
			return line;
	}
	return STR_NONE;
}

/* The plan's first line; a heading "Plan" says nothing, so the next one follows it. */
static struct str plan_title(struct decoder *d, struct str plan)
{
	struct str line = next_line(&plan);
	struct buf b = { 0 };

	if (!str_eq_nocase(line, STR("plan")))
		return line;
	buf_adds(&b, "Plan: ");
	buf_add_str(&b, next_line(&plan));
	return arena_take(&d->arena, &b);
}

static struct str plan_of(struct decoder *d, yyjson_val *call)
{
	static const char *const names[] = { "plan", NULL };
	struct str plan = input_text(call, names);

	return plan.n ? plan : acp_text(d, json_get(call, "content"));
}

static struct str choices_of(struct decoder *d, yyjson_val *options)
{
	struct buf b = { 0 };
	yyjson_val *option;
	size_t i, n;

	if (!yyjson_is_arr(options))
		return STR_NONE;
	yyjson_arr_foreach(options, i, n, option) {
		if (i)
			buf_addc(&b, '\n');
		buf_adds(&b, str_is(json_get_str(option, "kind"), "allow_once")	    ? "accept: "
			     : str_is(json_get_str(option, "kind"), "allow_always") ? "always: "
										     : "reject: ");
		buf_add_str(&b, json_get_str(option, "name"));
	}
	return arena_take(&d->arena, &b);
}

static void add_plan(struct decoder *d, yyjson_val *params, struct detail *out)
{
	yyjson_val *call = json_get(params, "toolCall");
	yyjson_val *about = same_call(call, acp_call(d->looked_about));
	struct str plan = either(plan_of(d, call), plan_of(d, about));

	out->title = either(plan_title(d, plan), json_get_str(call, "title"));
	detail_add(out, "question", json_get_str(call, "title"), false);
	detail_add(out, "plan", plan, false);
	detail_add(out, "always", offers_of(d, json_get(params, "options")), false);
	detail_add(out, "choices", choices_of(d, json_get(params, "options")), false);
}

bool acp_detail(struct decoder *d, yyjson_val *root, enum item_kind kind, uint32_t index,
		struct detail *out)
{
	yyjson_val *params = json_get(root, "params");
	enum acp_method method = acp_method(root);

	(void)index;
	if (method != ACP_PERMISSION && method != ACP_ELICITATION)
		return false;
	detail_part(out, params, NULL);
	if (d->looked_about)
		detail_part(out, acp_call(d->looked_about), NULL);
	if (kind == ITEM_PERMISSION)
		add_permission(d, params, out);
	else if (kind == ITEM_PLAN)
		add_plan(d, params, out);
	else if (kind == ITEM_QUESTION) {
		out->title = acp_form_title(d, params);
		acp_form_fields(d, params, out);
	} else
		return false;
	return true;
}
