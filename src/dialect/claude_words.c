/* Claude's messages in one line each. */
#include "dialect/claude.h"

/* ---- tool calls ---- */

struct str claude_call_words(struct decoder *d, yyjson_val *input)
{
	static const char *const telling[] = { "command",  "file_path", "notebook_path", "pattern",
					       "url",	   "query",	"subject",	 "description",
					       "skill",	   "taskId",	"plan",		 NULL };
	yyjson_val *questions = json_get(input, "questions");

	if (yyjson_is_arr(questions))
		return json_get_str(yyjson_arr_get_first(questions), "question");
	for (int i = 0; telling[i]; i++)
		if (json_get_str(input, telling[i]).n)
			return json_get_str(input, telling[i]);
	return yyjson_obj_size(input) ? scalar_text(d, input) : STR_NONE;
}

static void add_call(struct decoder *d, struct buf *out, struct str tool, yyjson_val *input)
{
	struct str words = claude_call_words(d, input);

	buf_add_str(out, tool);
	if (words.n) {
		buf_adds(out, ": ");
		buf_add_str(out, words);
	}
}

/* ---- rules ---- */

static const char *place_of(struct str destination)
{
	static const struct {
		const char *destination, *words;
	} places[] = {
		{ "localSettings", "in .claude/settings.local.json" },
		{ "projectSettings", "in .claude/settings.json, for everyone in this project" },
		{ "userSettings", "in ~/.claude/settings.json, for all your projects" },
		{ "session", "for this session" },
		{ "cliArg", "for this session" },
	};

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		if (str_is(destination, places[i].destination))
			return places[i].words;
	return NULL;
}

static void add_rules(yyjson_val *rules, struct buf *out)
{
	yyjson_val *rule;
	size_t i, n;

	yyjson_arr_foreach(rules, i, n, rule) {
		struct str content = json_get_str(rule, "ruleContent");

		buf_adds(out, i ? ", " : "");
		buf_add_str(out, json_get_str(rule, "toolName"));
		if (content.n) {
			buf_addc(out, '(');
			buf_add_str(out, content);
			buf_addc(out, ')');
		}
	}
}

static void add_strings(yyjson_val *list, struct buf *out)
{
	yyjson_val *v;
	size_t i, n;

	yyjson_arr_foreach(list, i, n, v) {
		buf_adds(out, i ? ", " : "");
		buf_add_str(out, json_str(v));
	}
}

void claude_offer_words(yyjson_val *offer, struct buf *out)
{
	struct str type = json_get_str(offer, "type"), where = json_get_str(offer, "destination");
	struct str behavior = json_get_str(offer, "behavior");
	const char *place = place_of(where);

	if (str_is(type, "addRules")) {
		if (!str_is(behavior, "allow")) {
			buf_add_str(out, behavior);
			buf_addc(out, ' ');
		}
		add_rules(json_get(offer, "rules"), out);
	} else if (str_is(type, "addDirectories")) {
		buf_adds(out, "files below ");
		add_strings(json_get(offer, "directories"), out);
	} else if (str_is(type, "setMode")) {
		buf_adds(out, "mode ");
		buf_add_str(out, json_get_str(offer, "mode"));
	} else {
		json_write(out, offer);
		return;
	}
	buf_adds(out, "  ");
	if (place)
		buf_adds(out, place);
	else
		buf_add_str(out, where);
}

/* ---- control messages ---- */

static void add_request(struct decoder *d, yyjson_val *request, struct buf *out)
{
	struct str subtype = json_get_str(request, "subtype"), tool = json_get_str(request, "tool_name");
	yyjson_val *input = json_get(request, "input");

	if (str_is(subtype, "can_use_tool")) {
		buf_adds(out, "asks");
		switch (claude_item_kind(tool)) {
		case ITEM_QUESTION: buf_adds(out, ": "); break;
		case ITEM_PLAN: buf_adds(out, " to carry out its plan: "); break;
		default:
			buf_adds(out, " for ");
			add_call(d, out, tool, input);
			return;
		}
		buf_add_str(out, claude_call_words(d, input));
	} else if (str_is(subtype, "hook_callback")) {
		summary_add(d, out, input, "hook {hook_event_name} {tool_name}");
	} else if (str_is(subtype, "set_permission_mode")) {
		summary_add(d, out, request, "set mode {mode}");
	} else {
		buf_add_str(out, subtype);
	}
}

static void add_answers(yyjson_val *answers, struct buf *out)
{
	yyjson_val *key, *v;
	size_t i, n;

	buf_adds(out, "answers: ");
	yyjson_obj_foreach(answers, i, n, key, v) {
		buf_adds(out, i ? "; " : "");
		if (yyjson_is_str(v))
			buf_add_str(out, json_str(v));
		else
			add_strings(v, out);
	}
}

static void add_allowed(yyjson_val *response, struct buf *out)
{
	yyjson_val *offer, *offers = json_get(response, "updatedPermissions");
	yyjson_val *answers = json_get(json_get(response, "updatedInput"), "answers");
	size_t i, n;

	if (yyjson_is_obj(answers)) {
		add_answers(answers, out);
		return;
	}
	buf_adds(out, "allows");
	yyjson_arr_foreach(offers, i, n, offer) {
		buf_adds(out, i ? "; " : " always: ");
		claude_offer_words(offer, out);
	}
}

static void add_response(struct decoder *d, yyjson_val *answer, struct buf *out)
{
	yyjson_val *response = json_get(answer, "response");
	struct str behavior = json_get_str(response, "behavior");

	if (str_is(behavior, "allow"))
		add_allowed(response, out);
	else if (str_is(behavior, "deny"))
		summary_add(d, out, response,
			    yyjson_is_true(json_get(response, "interrupt"))
				    ? "denies and stops the turn: {message}"
				    : "denies: {message}");
	else if (str_is(json_get_str(answer, "subtype"), "error"))
		summary_add(d, out, answer, "error: {error}");
	else if (json_get(response, "mode"))
		summary_add(d, out, response, "mode {mode}");
	else if (json_get(response, "commands"))
		summary_add(d, out, response, "ready: Claude Code {claude_code_version}");
	else
		json_write(out, response);
}

/* ---- talk ---- */

static void add_separator(struct buf *out, size_t start)
{
	if (out->n > start)
		buf_adds(out, " · ");
}

static struct str result_text(yyjson_val *content)
{
	if (yyjson_is_arr(content))
		return str_trim(json_get_str(yyjson_arr_get_first(content), "text"));
	return str_trim(json_str(content));
}

static void add_block(struct decoder *d, yyjson_val *root, yyjson_val *block, struct buf *out)
{
	struct str type = json_get_str(block, "type");
	bool failed = yyjson_is_true(json_get(block, "is_error"));

	if (str_is(type, "text")) {
		buf_add_str(out, json_get_str(block, "text"));
	} else if (str_is(type, "tool_use")) {
		add_call(d, out, json_get_str(block, "name"), json_get(block, "input"));
	} else if (str_is(type, "tool_result")) {
		yyjson_val *meta = yyjson_arr_get_first(json_get(root, "tool_result_meta"));
		bool denied = json_get(meta, "non_execution_kind") ||
			      json_get(root, "toolDenialKind");

		buf_adds(out, denied ? "denied: " : failed ? "failed: " : "done: ");
		buf_add_str(out, result_text(json_get(block, "content")));
	} else if (str_is(type, "thinking")) {
		summary_add(d, out, block, "thinking: {thinking}");
	} else {
		buf_add_str(out, type);
	}
}

static void add_talk(struct decoder *d, yyjson_val *root, struct buf *out)
{
	yyjson_val *content = json_get(json_get(root, "message"), "content"), *block;
	size_t start = out->n, i, n;

	if (yyjson_is_true(json_get(root, "isReplay"))) {
		buf_adds(out, "has read: ");
		start = out->n;
	}
	if (!yyjson_is_arr(content))
		buf_add_str(out, json_str(content));
	yyjson_arr_foreach(content, i, n, block) {
		add_separator(out, start);
		add_block(d, root, block, out);
	}
}

static void add_system(struct decoder *d, yyjson_val *root, struct buf *out)
{
	static const struct {
		const char *subtype, *words;
	} templates[] = {
		{ "init", "turn begins: {model}, mode {permissionMode}, in {cwd}" },
		{ "task_started", "started {subagent_type}: {description}" },
		{ "task_progress", "{description}" },
		{ "task_notification", "{status}: {summary}" },
		{ "hook_started", "hook {hook_name} runs" },
		{ "hook_response", "hook {hook_name}: {outcome}" },
		{ "permission_denied", "{tool_name} denied: {message}" },
		{ "turn_duration", "turn took {#durationMs} ms" },
	};
	struct str subtype = json_get_str(root, "subtype");

	for (size_t i = 0; i < sizeof(templates) / sizeof(templates[0]); i++)
		if (str_is(subtype, templates[i].subtype)) {
			summary_add(d, out, root, templates[i].words);
			return;
		}
	buf_add_str(out, subtype);
	if (str_is(subtype, "status") && json_get_str(root, "permissionMode").n)
		summary_add(d, out, root, ": mode {permissionMode}");
	else if (str_is(subtype, "task_updated"))
		summary_add(d, out, json_get(root, "patch"), ": {status}");
	else if (json_get_str(root, "content").n)
		summary_add(d, out, root, ": {content}");
}

static void add_result(struct decoder *d, yyjson_val *root, struct buf *out)
{
	double cost;

	buf_adds(out, "turn over");
	if (json_get_str(root, "result").n)
		summary_add(d, out, root, ": {result}");
	else if (json_get_str(root, "terminal_reason").n)
		summary_add(d, out, root, ": {terminal_reason}");
	if (json_number(json_get(root, "total_cost_usd"), &cost))
		buf_printf(out, " ($%.4f so far)", cost);
}

static void add_cost(yyjson_val *root, struct buf *out)
{
	double cost;

	if (json_number(json_get(root, "totalCostUSD"), &cost))
		buf_printf(out, "$%.4f so far", cost);
}

static void add_run(struct decoder *d, yyjson_val *root, struct buf *out)
{
	if (json_get(root, "pid"))
		summary_add(d, out, root, "started, process {#pid}");
	else if (json_get(root, "signal"))
		summary_add(d, out, root, "ended by signal {#signal}");
	else
		summary_add(d, out, root, "ended, exit code {#code}");
}

void claude_summarize(struct decoder *d, yyjson_val *root, struct buf *out)
{
	struct str type = json_get_str(root, "type");
	size_t start = out->n;

	if (!type.n && json_get(root, "gavel"))
		add_run(d, root, out);
	else if (str_is(type, "control_request"))
		add_request(d, json_get(root, "request"), out);
	else if (str_is(type, "control_response"))
		add_response(d, json_get(root, "response"), out);
	else if (str_is(type, "control_cancel_request"))
		buf_adds(out, "takes its question back");
	else if (str_is(type, "assistant") || str_is(type, "user"))
		add_talk(d, root, out);
	else if (str_is(type, "system"))
		add_system(d, root, out);
	else if (str_is(type, "result"))
		add_result(d, root, out);
	else if (str_is(type, "permission-mode"))
		summary_add(d, out, root, "mode {permissionMode}");
	else if (str_is(type, "cost-state"))
		add_cost(root, out);
	else if (str_is(type, "mode"))
		summary_add(d, out, root, "mode {mode}");
	else if (str_is(type, "tools-used"))
		add_strings(json_get(root, "tools"), out);
	else if (str_is(type, "last-prompt"))
		summary_add(d, out, root, "{lastPrompt}");
	else if (str_is(type, "attachment"))
		summary_add(d, out, json_get(root, "attachment"), "{type}");
	if (out->n == start)
		json_write(out, root);
}
