/* The words of acp: what its messages are called, and one line about each. */
#include "dialect/acp.h"

enum acp_method acp_method(yyjson_val *root)
{
	static const char *const names[] = {
		[ACP_UPDATE] = "session/update",
		[ACP_PERMISSION] = "session/request_permission",
		[ACP_ELICITATION] = "elicitation/create",
		[ACP_CANCEL_REQUEST] = "$/cancel_request",
		[ACP_READ_FILE] = "fs/read_text_file",
		[ACP_WRITE_FILE] = "fs/write_text_file",
		[ACP_INITIALIZE] = "initialize",
		[ACP_NEW] = "session/new",
		[ACP_LOAD] = "session/load",
		[ACP_PROMPT] = "session/prompt",
		[ACP_CANCEL] = "session/cancel",
		[ACP_SET_MODE] = "session/set_mode",
		[ACP_SET_OPTION] = "session/set_config_option",
	};
	struct str method = json_get_str(root, "method");

	for (unsigned i = 1; method.n && i < sizeof(names) / sizeof(names[0]); i++)
		if (names[i] && str_is(method, names[i]))
			return (enum acp_method)i;
	if (str_starts(method, STR("terminal/")))
		return ACP_TERMINAL;
	return str_starts(method, STR("session/")) || str_is(method, "authenticate") ? ACP_OF_CLIENT
										      : ACP_OTHER;
}

enum acp_update acp_update(yyjson_val *update)
{
	static const char *const names[] = {
		[UPDATE_TEXT] = "agent_message_chunk",
		[UPDATE_THOUGHT] = "agent_thought_chunk",
		[UPDATE_USER] = "user_message_chunk",
		[UPDATE_CALL] = "tool_call",
		[UPDATE_CALL_NEWS] = "tool_call_update",
		[UPDATE_PLAN] = "plan",
		[UPDATE_USAGE] = "usage_update",
		[UPDATE_MODE] = "current_mode_update",
		[UPDATE_OPTIONS] = "config_option_update",
		[UPDATE_COMMANDS] = "available_commands_update",
		[UPDATE_SESSION] = "session_info_update",
	};
	struct str name = json_get_str(update, "sessionUpdate");

	for (unsigned i = 1; name.n && i < sizeof(names) / sizeof(names[0]); i++)
		if (str_is(name, names[i]))
			return (enum acp_update)i;
	return UPDATE_OTHER;
}

struct str acp_mode(yyjson_val *v)
{
	yyjson_val *modes = json_get(v, "modes"), *options = json_get(v, "configOptions"), *option;
	struct str mode = json_get_str(modes ? modes : v, "currentModeId");
	size_t i, n;

	if (mode.n || !yyjson_is_arr(options))
		return mode;
	yyjson_arr_foreach(options, i, n, option)
		if (str_is(json_get_str(option, "category"), "mode") ||
		    str_is(json_get_str(option, "id"), "mode"))
			return json_get_str(option, "currentValue");
	return STR_NONE;
}

struct str acp_tool(yyjson_val *call)
{
	yyjson_val *meta = json_get(json_get(call, "_meta"), "claudeCode");
	struct str name = json_get_str(call, "name");

	if (!name.n)
		name = json_get_str(meta, "toolName");
	return name.n ? name : json_get_str(call, "kind");
}

yyjson_val *acp_call(yyjson_val *root)
{
	yyjson_val *params = json_get(root, "params"), *update = json_get(params, "update");
	enum acp_update what = acp_update(update);

	if (what == UPDATE_CALL || what == UPDATE_CALL_NEWS)
		return update;
	return json_get(params, "toolCall");
}

struct str acp_bare_id(struct str id)
{
	return id.n >= 2 && id.p[0] == '"' ? str_make(id.p + 1, id.n - 2) : id;
}

struct str acp_turn_name(struct decoder *d, struct str request)
{
	struct str id = acp_bare_id(request);

	return str_of(arena_printf(&d->arena, "prompt-%.*s", STR_ARG(id)));
}

struct str acp_name_within(struct decoder *d, struct str session, struct str name)
{
	struct buf b = { 0 };

	if (!name.n)
		return STR_NONE;
	if (session.n) {
		buf_add_str(&b, session);
		buf_addc(&b, '/');
	}
	buf_add_str(&b, name);
	return arena_take(&d->arena, &b);
}


/* ---- texts ---- */

/* A content block, or what a tool call holds as one. */
static struct str block_text(yyjson_val *block)
{
	yyjson_val *inner = json_get(block, "content");
	struct str text = json_get_str(block, "text");

	if (!text.n)
		text = json_get_str(inner, "text");
	if (!text.n)
		text = json_get_str(json_get(block, "resource"), "text");
	return text.n ? text : json_get_str(block, "uri");
}

struct str acp_text(struct decoder *d, yyjson_val *content)
{
	struct buf b = { 0 };
	yyjson_val *block;
	size_t i, n;

	if (yyjson_is_obj(content))
		return block_text(content);
	if (!yyjson_is_arr(content))
		return STR_NONE;
	yyjson_arr_foreach(content, i, n, block) {
		struct str text = str_trim(block_text(block));

		if (b.n && text.n)
			buf_addc(&b, '\n');
		buf_add_str(&b, text);
	}
	return arena_take(&d->arena, &b);
}

/* A command is a text, or a list of words. */
struct str acp_command(struct decoder *d, yyjson_val *call)
{
	yyjson_val *command = json_get(json_get(call, "rawInput"), "command"), *word;
	struct buf b = { 0 };
	size_t i, n;

	if (!yyjson_is_arr(command))
		return json_str(command);
	yyjson_arr_foreach(command, i, n, word) {
		if (i)
			buf_addc(&b, ' ');
		buf_add_str(&b, scalar_text(d, word));
	}
	return arena_take(&d->arena, &b);
}

/* The call is told of in pieces: what one lacks, the one before it has. */
static struct str either(struct str first, struct str other)
{
	return first.n ? first : other;
}

/* The title that an agent gives, unless that is only the tool's name: then the file it is for. */
static struct str subject_of(yyjson_val *call, struct str tool)
{
	yyjson_val *place = yyjson_arr_get_first(json_get(call, "locations"));
	struct str title = json_get_str(call, "title"), file = json_get_str(place, "path");

	if (title.n && !str_eq(title, tool) && !str_eq(title, json_get_str(call, "kind")))
		return title;
	return file;
}

struct str acp_call_title(struct decoder *d, yyjson_val *call, yyjson_val *about)
{
	struct str tool = either(acp_tool(call), acp_tool(about));
	struct str words = either(acp_command(d, call), acp_command(d, about));
	struct buf b = { 0 };

	if (!words.n)
		words = either(subject_of(call, tool), subject_of(about, tool));
	buf_add_str(&b, tool);
	if (tool.n && words.n)
		buf_adds(&b, ": ");
	buf_add_str(&b, words);
	return arena_take(&d->arena, &b);
}

/* ---- one line about a message ---- */

/* "execute: touch a.txt, completed: (no output)" */
static void add_call(struct decoder *d, struct buf *out, yyjson_val *call)
{
	struct str status = json_get_str(call, "status"), said = STR_NONE;

	if (json_get(call, "title") || json_get(call, "rawInput"))
		buf_add_str(out, acp_call_title(d, call, NULL));
	else
		summary_add(d, out, call, "{toolCallId}");
	if (!status.n)
		return;
	buf_adds(out, ", ");
	buf_add_str(out, status);
	if (str_is(status, "completed") || str_is(status, "failed"))
		said = acp_text(d, json_get(call, "content"));
	if (!said.n)
		said = json_get_str(call, "rawOutput");
	if (said.n) {
		buf_adds(out, ": ");
		buf_add_str(out, said);
	}
}

/* "plan, 2 of 5 done: Change the code" */
static void add_plan(struct buf *out, yyjson_val *entries)
{
	unsigned done = 0;
	struct str now = STR_NONE;
	yyjson_val *entry;
	size_t i, n = 0;

	if (yyjson_is_arr(entries))
		yyjson_arr_foreach(entries, i, n, entry) {
			struct str status = json_get_str(entry, "status");

			done += str_is(status, "completed");
			if (str_is(status, "in_progress") && !now.n)
				now = json_get_str(entry, "content");
		}
	buf_printf(out, "plan, %u of %zu done%s", done, n, now.n ? ": " : "");
	buf_add_str(out, now);
}

static void add_usage(struct decoder *d, struct buf *out, yyjson_val *update)
{
	double amount;

	summary_add(d, out, update, "context {#used} of {#size} tokens");
	if (json_number(json_get(json_get(update, "cost"), "amount"), &amount)) {
		buf_printf(out, ", %.4g", amount);
		summary_add(d, out, json_get(update, "cost"), " {currency} so far");
	}
}

static void add_session(struct decoder *d, struct buf *out, yyjson_val *update)
{
	yyjson_val *status = json_get(json_get(json_get(update, "_meta"), "codex"), "threadStatus");
	yyjson_val *flags = json_get(status, "activeFlags");

	if (json_get_str(update, "title").n)
		summary_add(d, out, update, "title: {title}");
	else if (status)
		summary_add(d, out, status, "the agent is {type}");
	else
		json_write(out, update);
	if (yyjson_arr_size(flags)) {
		buf_adds(out, ", ");
		buf_add_str(out, json_str(yyjson_arr_get_first(flags)));
	}
}

static void add_update(struct decoder *d, struct buf *out, yyjson_val *update)
{
	switch (acp_update(update)) {
	case UPDATE_TEXT: buf_add_str(out, acp_text(d, json_get(update, "content"))); break;
	case UPDATE_THOUGHT:
		buf_adds(out, "thinks: ");
		buf_add_str(out, acp_text(d, json_get(update, "content")));
		break;
	case UPDATE_USER:
		buf_adds(out, "the user said: ");
		buf_add_str(out, acp_text(d, json_get(update, "content")));
		break;
	case UPDATE_CALL:
	case UPDATE_CALL_NEWS: add_call(d, out, update); break;
	case UPDATE_PLAN: add_plan(out, json_get(update, "entries")); break;
	case UPDATE_USAGE: add_usage(d, out, update); break;
	case UPDATE_MODE:
	case UPDATE_OPTIONS:
		buf_adds(out, "mode ");
		buf_add_str(out, acp_mode(update));
		break;
	case UPDATE_COMMANDS:
		buf_printf(out, "%zu commands",
			   yyjson_arr_size(json_get(update, "availableCommands")));
		break;
	case UPDATE_SESSION: add_session(d, out, update); break;
	case UPDATE_OTHER:
		summary_add(d, out, update, "{sessionUpdate} ");
		json_write(out, update);
		break;
	}
}

/* "question_0: JWT, question_1: Linux" */
static void add_answers(struct decoder *d, struct buf *out, yyjson_val *content)
{
	yyjson_val *key, *value;
	size_t i, n;

	buf_adds(out, "answers");
	if (!yyjson_is_obj(content))
		return;
	yyjson_obj_foreach(content, i, n, key, value) {
		buf_adds(out, i ? ", " : ": ");
		buf_add_str(out, json_str(key));
		buf_adds(out, " = ");
		buf_add_str(out, scalar_text(d, value));
	}
}

static void add_end(struct decoder *d, struct buf *out, yyjson_val *result)
{
	yyjson_val *usage = json_get(result, "usage");

	summary_add(d, out, result, "turn over: {stopReason}");
	if (yyjson_is_obj(usage))
		summary_add(d, out, usage, ", {#inputTokens} tokens in, {#outputTokens} out");
}

static void add_result(struct decoder *d, struct buf *out, yyjson_val *result)
{
	yyjson_val *outcome = json_get(result, "outcome"), *agent = json_get(result, "agentInfo");
	struct str action = json_get_str(result, "action"), mode;

	if (str_is(json_get_str(outcome, "outcome"), "selected"))
		summary_add(d, out, outcome, "chooses {optionId}");
	else if (outcome)
		summary_add(d, out, outcome, "{outcome}");
	else if (str_is(action, "accept"))
		add_answers(d, out, json_get(result, "content"));
	else if (action.n)
		summary_add(d, out, result, "{action}s the question");
	else if (json_get(result, "stopReason"))
		add_end(d, out, result);
	else if (agent)
		summary_add(d, out, agent, "{name} {version}");
	else if (json_get(result, "sessionId")) {
		mode = acp_mode(result);
		summary_add(d, out, result, "session {sessionId}");
		if (mode.n)
			buf_printf(out, ", mode %.*s", STR_ARG(mode));
	} else if (json_get(result, "configOptions")) {
		mode = acp_mode(result);
		buf_printf(out, "mode %.*s", STR_ARG(mode));
	} else
		json_write(out, result);
}

static void add_file(struct decoder *d, struct buf *out, yyjson_val *params, bool writes)
{
	summary_add(d, out, params, writes ? "writes {path}" : "reads {path}");
	if (writes)
		buf_printf(out, ", %zu bytes", json_get_str(params, "content").n);
}

static void add_request(struct decoder *d, struct buf *out, yyjson_val *root)
{
	yyjson_val *params = json_get(root, "params"), *call = json_get(params, "toolCall");

	switch (acp_method(root)) {
	case ACP_UPDATE: add_update(d, out, json_get(params, "update")); break;
	case ACP_PERMISSION:
		buf_adds(out, "asks: ");
		buf_add_str(out, str_is(json_get_str(call, "kind"), "switch_mode")
					 ? json_get_str(call, "title")
					 : acp_call_title(d, call, NULL));
		break;
	case ACP_ELICITATION: buf_add_str(out, acp_form_title(d, params)); break;
	case ACP_CANCEL_REQUEST:
		summary_add(d, out, params, "request {#requestId} waits no more");
		break;
	case ACP_READ_FILE: add_file(d, out, params, false); break;
	case ACP_WRITE_FILE: add_file(d, out, params, true); break;
	case ACP_INITIALIZE:
		summary_add(d, out, json_get(params, "clientInfo"), "{name} {version}");
		break;
	case ACP_NEW: summary_add(d, out, params, "a new session in {cwd}"); break;
	case ACP_LOAD: summary_add(d, out, params, "loads session {sessionId}"); break;
	case ACP_PROMPT: buf_add_str(out, acp_text(d, json_get(params, "prompt"))); break;
	case ACP_CANCEL: summary_add(d, out, params, "stop the turn of session {sessionId}"); break;
	case ACP_SET_MODE: summary_add(d, out, params, "mode {modeId}"); break;
	case ACP_SET_OPTION: summary_add(d, out, params, "{configId} = {#value}"); break;
	case ACP_TERMINAL:
	case ACP_OF_CLIENT:
	case ACP_OTHER: json_write(out, params ? params : root); break;
	}
}

void acp_summarize(struct decoder *d, yyjson_val *root, struct buf *out)
{
	yyjson_val *result = json_get(root, "result"), *error = json_get(root, "error");

	if (json_get(root, "method"))
		add_request(d, out, root);
	else if (str_is(json_get_str(root, "gavel"), "run"))
		summary_add(d, out, root, "started, pid {#pid}");
	else if (json_get(root, "gavel"))
		summary_add(d, out, root,
			    json_get(root, "signal") ? "ended by signal {#signal}"
						     : "ended, exit code {#code}");
	else if (result)
		add_result(d, out, result);
	else if (error)
		summary_add(d, out, error, "error {#code}: {message}");
	else
		json_write(out, root);
}
