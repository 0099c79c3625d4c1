/* Logs of codex: the lines of `codex exec --json`, {"type":"item.completed","item":{…}}, and the
 * rollouts in $CODEX_HOME/sessions, {"timestamp","ordinal","type","payload"}. They tell of turns,
 * calls and tokens. Nobody is asked in `codex exec`, and a rollout does not say who was: they raise
 * no items, and a call in a rollout is none that nobody was asked about. */
#include "dialect/codex.h"

bool codex_is_log(yyjson_val *root)
{
	return yyjson_is_str(json_get(root, "type")) && !json_get(root, "method") &&
	       (json_get(root, "payload") || !json_get(root, "id"));
}

/* ---- rollouts ---- */

static bool is_rollout(yyjson_val *root)
{
	return json_get(root, "payload") != NULL;
}

/* The turn that a line of a conversation belongs to. */
static struct str turn_of(yyjson_val *payload)
{
	yyjson_val *more = json_get(payload, "internal_chat_message_metadata_passthrough");
	struct str id = json_get_str(payload, "turn_id");

	return id.n ? id : json_get_str(more, "turn_id");
}

static void add_call(struct message *m, struct str id, enum tool_state state, struct str tool)
{
	struct event *e;

	m->correlation = id;
	if (!id.n)
		return;
	e = event_add(m, EV_TOOL, id, "/payload/call_id");
	e->tool = state;
	e->other = tool;
}

static void decode_response_item(struct message *m, yyjson_val *payload)
{
	struct str type = json_get_str(payload, "type"), id = json_get_str(payload, "call_id");

	if (str_is(type, "message") && str_is(json_get_str(payload, "role"), "user")) {
		m->to = m->from;
		m->from = known_role_actors[KNOWN_ROLE_CLIENT];
	} else if (str_is(type, "function_call") || str_is(type, "custom_tool_call") ||
		   str_is(type, "local_shell_call")) {
		add_call(m, id, TOOL_STARTED, json_get_str(payload, "name"));
	} else if (str_is(type, "function_call_output") ||
		   str_is(type, "custom_tool_call_output")) {
		add_call(m, id, TOOL_COMPLETED, STR_NONE);
	}
}

static void decode_event_msg(struct message *m, yyjson_val *payload)
{
	struct str type = json_get_str(payload, "type"), turn = json_get_str(payload, "turn_id");
	yyjson_val *item = json_get(payload, "item");

	if (str_is(type, "task_started") && turn.n)
		codex_add_turn(m, turn, TASK_RUNNING);
	else if (str_is(type, "task_complete") && turn.n)
		codex_add_turn(m, turn, TASK_COMPLETED);
	else if (str_is(type, "turn_aborted") && turn.n)
		codex_add_turn(m, turn, TASK_CANCELLED);
	else if (str_is(type, "item_completed") && turn.n &&
		 str_is(json_get_str(item, "type"), "UserMessage"))
		codex_add_turn(m, turn, TASK_RUNNING)->tests = true;
	else if (str_is(type, "item_completed") &&
		 (json_get(item, "command") || json_get(item, "changes")))
		m->correlation = json_get_str(item, "id");
}

static void decode_rollout(struct decoder *d, yyjson_val *root, struct message *m)
{
	yyjson_val *payload = json_get(root, "payload");

	m->time_ms = iso_time(json_get(root, "timestamp"));
	m->correlation = turn_of(payload);
	if (str_is(m->kind, "response_item"))
		decode_response_item(m, payload);
	else if (str_is(m->kind, "event_msg"))
		decode_event_msg(m, payload);
	else if (str_is(m->kind, "token_usage_record"))
		codex_add_usage(m, json_get(payload, "usage"), true);
	else if (str_is(m->kind, "turn_context"))
		codex_add_mode(d, m, json_get(payload, "approval_policy"),
			       json_get(payload, "approvals_reviewer"));
}

/* ---- exec ---- */

static struct str exec_tool(yyjson_val *item)
{
	struct str type = json_get_str(item, "type");

	if (str_is(type, "command_execution"))
		return STR("command");
	if (str_is(type, "file_change"))
		return STR("file change");
	if (str_is(type, "web_search"))
		return STR("web search");
	return str_is(type, "mcp_tool_call") ? json_get_str(item, "tool") : STR_NONE;
}

static void decode_exec_item(struct message *m, yyjson_val *item)
{
	struct str tool = exec_tool(item), status = json_get_str(item, "status");
	struct str id = json_get_str(item, "id");
	bool over = str_is(m->kind, "item.completed");
	struct event *e;

	m->correlation = id;
	if (!tool.n || !id.n)
		return;
	/* changes of files are told only when they are over */
	e = event_add(m, EV_TOOL, id, "/item/id");
	e->tool = TOOL_STARTED;
	e->other = tool;
	e->severe = str_is(tool, "command") || str_is(tool, "file change");
	if (!over)
		return;
	e = event_add(m, EV_TOOL, id, "/item/id");
	e->tool = str_is(status, "failed")   ? TOOL_FAILED :
		  str_is(status, "declined") ? TOOL_DENIED :
					       TOOL_COMPLETED;
	e->other = STR("codex exec, which asks nobody");
}

static void decode_exec(yyjson_val *root, struct message *m)
{
	if (str_starts(m->kind, STR("item."))) {
		decode_exec_item(m, json_get(root, "item"));
	} else if (str_is(m->kind, "turn.started")) {
		codex_add_turn(m, STR_NONE, TASK_RUNNING);
	} else if (str_is(m->kind, "turn.completed")) {
		codex_add_turn(m, STR_NONE, TASK_COMPLETED);
		codex_add_usage(m, json_get(root, "usage"), true);
	} else if (str_is(m->kind, "turn.failed")) {
		codex_add_turn(m, STR_NONE, TASK_FAILED);
	}
}

void codex_decode_log(struct decoder *d, yyjson_val *root, struct message *m)
{
	m->kind = json_get_str(root, "type");
	m->from = (struct actor){ STR("codex"), STR("agent"), false };
	m->to = known_role_actors[KNOWN_ROLE_CLIENT];
	if (is_rollout(root))
		decode_rollout(d, root, m);
	else
		decode_exec(root, m);
}

/* ---- one line for people ---- */

/* All texts of a message's content. */
static void add_content(struct buf *out, yyjson_val *content)
{
	yyjson_val *v;
	size_t i, n;

	yyjson_arr_foreach(content, i, n, v) {
		if (i)
			buf_addc(out, ' ');
		buf_add_str(out, json_get_str(v, "text"));
	}
}

/* A command is a text or a list of words; of the list the last is what the shell runs. */
static void add_command(struct buf *out, yyjson_val *command)
{
	if (yyjson_is_arr(command))
		command = yyjson_arr_get_last(command);
	buf_add_str(out, codex_command(json_str(command)));
}

static void summarize_item(struct decoder *d, yyjson_val *item, struct buf *out)
{
	if (json_get(item, "command")) {
		add_command(out, json_get(item, "command"));
		summary_add(d, out, item, ": {status}");
	} else if (json_get(item, "content")) {
		add_content(out, json_get(item, "content"));
	} else if (json_get(item, "text")) {
		summary_add(d, out, item, "{text}");
	} else if (json_get(item, "message") || json_get(item, "query")) {
		summary_add(d, out, item, "{message}{query}");
	} else {
		summary_add(d, out, item, "{type} {tool} {status}");
	}
}

static void summarize_payload(struct decoder *d, yyjson_val *payload, struct str kind,
			      struct buf *out)
{
	struct str type = json_get_str(payload, "type");

	if (str_is(type, "message"))
		add_content(out, json_get(payload, "content"));
	else if (str_is(type, "function_call") || str_is(type, "custom_tool_call"))
		summary_add(d, out, payload, "{name} {arguments}{input}");
	else if (json_get(payload, "output"))
		summary_add(d, out, payload, "{#output}");
	else if (str_is(type, "item_completed"))
		summarize_item(d, json_get(payload, "item"), out);
	else if (str_is(type, "task_complete"))
		summary_add(d, out, payload, "turn completed: {last_agent_message}");
	else if (str_is(kind, "token_usage_record"))
		summary_add(d, out, json_get(payload, "usage"),
			    "{#input_tokens} tokens in ({#cached_input_tokens} cached), "
			    "{#output_tokens} out");
	else if (str_is(kind, "turn_context"))
		summary_add(d, out, payload, "in {cwd}, approval {#approval_policy}");
	else if (str_is(kind, "session_meta"))
		summary_add(d, out, payload, "thread {id} in {cwd}, Codex {cli_version}");
	else if (type.n)
		buf_add_str(out, type);
	else
		json_write(out, payload);
}

void codex_summarize_log(struct decoder *d, yyjson_val *root, struct buf *out)
{
	struct str kind = json_get_str(root, "type");

	if (is_rollout(root))
		summarize_payload(d, json_get(root, "payload"), kind, out);
	else if (json_get(root, "item"))
		summarize_item(d, json_get(root, "item"), out);
	else if (json_get(root, "usage"))
		summary_add(d, out, json_get(root, "usage"),
			    "turn completed: {#input_tokens} tokens in "
			    "({#cached_input_tokens} cached), {#output_tokens} out");
	else if (json_get(root, "error"))
		summary_add(d, out, json_get(root, "error"), "{message}");
	else
		summary_add(d, out, root, "{thread_id}{message}");
}
