/* Decoder of the codex dialect: codex app-server, JSON-RPC without `jsonrpc`, both directions on
 * one connection. A thread is a conversation, a turn answers a prompt, an item is a step of it:
 * text, a command, a change of files. Asks are requests of the agent that name the item they are
 * about.
 *
 * Codex grows members and messages monthly: what is not known is kept, and only what gavel relies
 * on is checked. */
#include "dialect/codex.h"

#define RULE(id) "codex/" id

static const struct field base_fields[] = {
	{ "id", RULE("base-id"), OPTIONAL, T_STR | T_INT | T_NULL },
	{ "params", RULE("base-params"), OPTIONAL, T_OBJ | T_NULL },
};
static const struct shape base_shape = { SHAPE_FIELDS(base_fields), UNKNOWN_OK };

/* A step of a turn. */
static const struct field item_fields[] = {
	{ "type", RULE("item-type"), REQUIRED, T_STR },
	{ "id", RULE("item-id"), REQUIRED, T_STR },
	{ "status", RULE("item-status"), OPTIONAL, T_STR },
	{ "changes", RULE("item-changes"), OPTIONAL, T_ARR },
};
static const struct shape item_shape = { SHAPE_FIELDS(item_fields), UNKNOWN_OK };

/* ---- times ---- */

int64_t codex_time(yyjson_val *root)
{
	yyjson_val *params = json_get(root, "params");
	int64_t ms;

	if (json_int(json_get(root, "emittedAtMs"), &ms) ||
	    json_int(json_get(params, "completedAtMs"), &ms) ||
	    json_int(json_get(params, "startedAtMs"), &ms))
		return ms;
	return TIME_NONE;
}

int64_t codex_deadline(yyjson_val *root)
{
	int64_t sent_ms = codex_time(root), after_ms;

	if (sent_ms == TIME_NONE ||
	    !json_int(json_get(json_get(root, "params"), "autoResolutionMs"), &after_ms) ||
	    after_ms < 0 || after_ms > COUNT_MAX)
		return TIME_NONE;
	return sent_ms + after_ms;
}

/* ---- what was told ---- */

void codex_add_mode(struct decoder *d, struct message *m, yyjson_val *policy, yyjson_val *reviewer)
{
	yyjson_val *first = yyjson_is_obj(policy) ? unsafe_yyjson_get_first(policy) : NULL;
	struct str name = first && yyjson_obj_size(policy) ? json_str(first) : json_str(policy);
	struct str by = json_str(reviewer);
	struct event *e;

	if (!name.n && !by.n)
		return;
	if (str_is(by, "user"))
		by = STR_NONE;
	e = event_add(m, EV_MODE, STR_NONE, "");
	e->severe = str_is(name, "untrusted") && !by.n;
	e->other = name;
	if (by.n)
		e->other = str_of(arena_printf(&d->arena, "%.*s%sreviewed by %.*s", STR_ARG(name),
					       name.n ? ", " : "", STR_ARG(by)));
}

static void decode_told(struct decoder *d, yyjson_val *root, struct message *m)
{
	yyjson_val *params = json_get(root, "params");
	int64_t number;

	if (json_int(json_get(root, "id"), &number) && number >= 0 && number <= COUNT_MAX)
		m->sequence = number;
	m->correlation = json_get_str(params, "expectedTurnId");
	codex_add_mode(d, m, json_get(params, "approvalPolicy"),
		       json_get(params, "approvalsReviewer"));
}

/* ---- what the agent tells ---- */

struct event *codex_add_turn(struct message *m, struct str id, enum task_state state)
{
	struct event *e = event_add(m, EV_TURN, id, "/params/turn/id");

	e->state = state;
	return e;
}

static void decode_turn(struct message *m, yyjson_val *params, bool over)
{
	yyjson_val *turn = json_get(params, "turn");
	struct str id = json_get_str(turn, "id"), status = json_get_str(turn, "status");
	struct event *e;

	m->correlation = id;
	if (!id.n)
		return;
	if (!over) {
		codex_add_turn(m, id, TASK_RUNNING);
		return;
	}
	/* what it asked in this turn waits no more */
	e = event_add(m, EV_WITHDRAWN, STR_NONE, "/params/turn/id");
	e->task = id;
	codex_add_turn(m, id, str_is(status, "failed")	     ? TASK_FAILED :
			      str_is(status, "interrupted") ? TASK_CANCELLED :
							      TASK_COMPLETED);
}

/* Whether all that the command does is known, and it only looks. */
static bool only_looks(yyjson_val *actions)
{
	static const char *const looks[] = { "read", "listFiles", "search", NULL };
	yyjson_val *v;
	size_t i, n;

	if (!yyjson_arr_size(actions))
		return false;
	yyjson_arr_foreach(actions, i, n, v)
		if (value_index(looks, json_get_str(v, "type")) < 0)
			return false;
	return true;
}

/* The tool of an item; empty for text. */
static struct str tool_of(struct decoder *d, yyjson_val *item)
{
	struct str type = json_get_str(item, "type");

	if (str_is(type, "commandExecution"))
		return STR("command");
	if (str_is(type, "fileChange"))
		return STR("file change");
	if (str_is(type, "mcpToolCall"))
		return str_of(arena_printf(&d->arena, "%.*s.%.*s",
					   STR_ARG(json_get_str(item, "server")),
					   STR_ARG(json_get_str(item, "tool"))));
	if (str_is(type, "dynamicToolCall") || str_is(type, "collabAgentToolCall"))
		return json_get_str(item, "tool");
	return str_is(type, "webSearch") ? STR("web search") : STR_NONE;
}

static enum tool_state tool_state_of(yyjson_val *item)
{
	struct str status = json_get_str(item, "status");

	if (str_is(status, "declined"))
		return TOOL_DENIED;
	if (str_is(status, "failed"))
		return TOOL_FAILED;
	return str_is(status, "inProgress") ? TOOL_GOES_ON : TOOL_COMPLETED;
}

/* A step of the turn begins or is over. */
static void decode_item(struct decoder *d, struct message *m, yyjson_val *params, bool over)
{
	yyjson_val *item = json_get(params, "item");
	struct str turn = json_get_str(params, "turnId"), type, tool, id;
	uint64_t hash = value_hash(json_get(item, "changes"));
	struct event *e;

	if (yyjson_is_obj(item)) {
		path_push(&d->check, "params");
		path_push(&d->check, "item");
		check_object(&d->check, item, &item_shape, NULL);
		path_pop(&d->check);
		path_pop(&d->check);
	}
	type = json_get_str(item, "type");
	id = json_get_str(item, "id");
	tool = tool_of(d, item);
	m->correlation = id.n && tool.n ? id : turn;
	if (str_is(type, "userMessage") && turn.n && !over)
		codex_add_turn(m, turn, TASK_RUNNING)->tests = true;
	if (!tool.n)
		return;
	e = event_add(m, EV_TOOL, id, "/params/item/id");
	e->tool = over ? tool_state_of(item) : TOOL_STARTED;
	e->severe = str_is(type, "fileChange") ||
		    (str_is(type, "commandExecution") &&
		     !only_looks(json_get(item, "commandActions")));
	e->content_hash = hash;
	if (!over)
		e->other = tool;
	else if (str_is(json_get_str(item, "source"), "userShell"))
		e->other = STR("the person who typed it");
}

/* A hook, or a second model, was asked in a person's place whether a call may run. */
static void add_review(struct message *m, struct str call, struct str by, const char *where)
{
	struct event *e;

	if (!call.n)
		return;
	m->correlation = call;
	e = event_add(m, EV_TOOL, call, where);
	e->tool = TOOL_GOES_ON;
	e->acked = true;
	e->other = by;
}

/* run.id is permission-request:N:FILE:CALL */
static void decode_hook(struct decoder *d, struct message *m, yyjson_val *run)
{
	struct str id = json_get_str(run, "id"), path = json_get_str(run, "sourcePath");
	size_t colon = id.n;

	if (!str_is(json_get_str(run, "eventName"), "permissionRequest") ||
	    !str_is(json_get_str(run, "status"), "completed"))
		return;
	while (colon && id.p[colon - 1] != ':')
		colon--;
	add_review(m, str_from(id, colon),
		   str_of(arena_printf(&d->arena, "the hook of %.*s", STR_ARG(path))),
		   "/params/run/id");
}

static void decode_thread(struct message *m, yyjson_val *params)
{
	yyjson_val *thread = json_get(params, "thread");
	struct str name = json_get_str(thread, "agentNickname"), id = json_get_str(thread, "id");
	struct event *e;

	if (!id.n || !json_get_str(thread, "parentThreadId").n)
		return;
	if (!name.n)
		name = json_get_str(thread, "agentRole");
	e = event_add(m, EV_AGENT, id, "/params/thread/id");
	e->agent = (struct actor){ name.n ? name : id, STR("subagent"), false };
}

static uint64_t token_count(yyjson_val *usage, const char *name)
{
	int64_t n;

	return json_int(json_get(usage, name), &n) && n > 0 ? (uint64_t)n : 0;
}

void codex_add_usage(struct message *m, yyjson_val *usage, bool snake_case)
{
	uint64_t in = token_count(usage, snake_case ? "input_tokens" : "inputTokens");
	uint64_t cached = token_count(usage, snake_case ? "cached_input_tokens" :
							  "cachedInputTokens");
	struct event *e;

	if (!usage)
		return;
	e = event_add(m, EV_USAGE, STR_NONE, "");
	e->tokens_in = in > cached ? in - cached : 0; /* it counts those, too */
	e->tokens_out = token_count(usage, snake_case ? "output_tokens" : "outputTokens");
	e->tokens_cached = cached;
}

/* Without an id it would be about all asks. */
static void decode_resolved(struct decoder *d, struct message *m, yyjson_val *request)
{
	struct str id = rpc_id_text(d, request);

	if (id.n)
		event_add(m, EV_ACK, id, "/params/requestId");
}

static void decode_notification(struct decoder *d, yyjson_val *root, struct message *m)
{
	yyjson_val *params = json_get(root, "params");
	yyjson_val *settings = json_get(params, "threadSettings");

	m->correlation = json_get_str(params, "itemId");
	if (!m->correlation.n)
		m->correlation = json_get_str(params, "turnId");
	if (str_is(m->kind, "item/started") || str_is(m->kind, "item/completed"))
		decode_item(d, m, params, str_is(m->kind, "item/completed"));
	else if (str_is(m->kind, "turn/started") || str_is(m->kind, "turn/completed"))
		decode_turn(m, params, str_is(m->kind, "turn/completed"));
	else if (str_is(m->kind, "serverRequest/resolved"))
		decode_resolved(d, m, json_get(params, "requestId"));
	else if (str_is(m->kind, "thread/tokenUsage/updated"))
		codex_add_usage(m, json_get(json_get(params, "tokenUsage"), "last"), false);
	else if (str_is(m->kind, "thread/started"))
		decode_thread(m, params);
	else if (str_is(m->kind, "hook/completed"))
		decode_hook(d, m, json_get(params, "run"));
	else if (str_is(m->kind, "item/autoApprovalReview/completed"))
		add_review(m, json_get_str(params, "targetItemId"), STR("an automatic review"),
			   "/params/targetItemId");
	else if (str_is(m->kind, "thread/settings/updated"))
		codex_add_mode(d, m, json_get(settings, "approvalPolicy"),
			       json_get(settings, "approvalsReviewer"));
}

/* ---- the whole ---- */

/* Who says it where nothing else tells: clients send requests, but not those below, and one
 * notification. */
static bool looks_told(yyjson_val *root, enum rpc_type type, struct str method)
{
	static const char *const requests[] = { "account/chatgptAuthTokens/refresh",
						"attestation/generate", "currentTime/read", NULL };

	switch (type) {
	case RPC_REQUEST:
		return codex_ask_of(method) == CODEX_NONE && !str_starts(method, STR("item/")) &&
		       value_index(requests, method) < 0;
	case RPC_NOTIFICATION: return str_is(method, "initialized");
	case RPC_RESULT: return codex_looks_like_answer(json_get(root, "result"));
	case RPC_ERROR:
	case RPC_OTHER: break;
	}
	return false;
}

static void decode_rpc(struct decoder *d, yyjson_val *root, struct message *m)
{
	enum rpc_type type = rpc_type(root);
	struct actor codex = { STR("codex"), STR("agent"), false };
	yyjson_val *result = json_get(root, "result");
	struct str method = json_get_str(root, "method");
	bool told = rpc_is_told(d, type, looks_told(root, type, method));

	check_object(&d->check, root, &base_shape, NULL);
	m->from = told ? known_role_actors[KNOWN_ROLE_CLIENT] : codex;
	m->to = told ? codex : known_role_actors[KNOWN_ROLE_CLIENT];
	m->time_ms = codex_time(root);
	switch (type) {
	case RPC_REQUEST:
	case RPC_NOTIFICATION:
		m->kind = method;
		if (told)
			decode_told(d, root, m);
		else if (codex_ask_of(method) != CODEX_NONE)
			codex_decode_ask(d, root, m, codex_ask_of(method));
		else
			decode_notification(d, root, m);
		break;
	case RPC_RESULT:
	case RPC_ERROR:
		m->kind = type == RPC_RESULT ? STR("result") : STR("error");
		if (told)
			codex_decode_answer(d, root, m);
		else if (json_get(result, "thread"))
			codex_add_mode(d, m, json_get(result, "approvalPolicy"),
				       json_get(result, "approvalsReviewer"));
		else
			m->correlation = json_get_str(json_get(result, "turn"), "id");
		break;
	case RPC_OTHER: break;
	}
}

static void codex_decode(struct decoder *d, yyjson_val *root, struct message *m)
{
	if (d->info.holder)
		decode_holder_record(root, m, "codex");
	else if (codex_is_log(root))
		codex_decode_log(d, root, m);
	else
		decode_rpc(d, root, m);
}

/* ---- detection ---- */

enum { PROBE_WEIGHT = 60 };

/* Extensions (x-…) may be there, too. */
static bool has_only(yyjson_val *root, const char *const *known)
{
	yyjson_val *key, *v;
	size_t i, n;

	yyjson_obj_foreach(root, i, n, key, v) {
		struct str name = str_make(unsafe_yyjson_get_str(key),
					   unsafe_yyjson_get_len(key));

		if (value_index(known, name) < 0 && !str_starts(name, STR("x-")))
			return false;
	}
	return true;
}

/* A method of the protocol, or one that could be: other logs with methods (HTTP) have other
 * members, or methods without a slash. */
static bool is_call(yyjson_val *root, struct str method)
{
	static const char *const members[] = { "id", "method", "params", "emittedAtMs", NULL };
	static const char *const methods[] = { "initialize", "initialized", NULL };
	const char *slash = memchr(method.p, '/', method.n);
	bool has_params = yyjson_is_obj(json_get(root, "params"));

	if (codex_ask_of(method) != CODEX_NONE || value_index(methods, method) >= 0)
		return true;
	return has_params && ((slash && slash != method.p) || has_only(root, members));
}

static bool is_reply(yyjson_val *root, yyjson_val *id)
{
	static const char *const members[] = { "id", "result", "error", NULL };

	return (yyjson_is_str(id) || json_is_number(id)) && has_only(root, members) &&
	       !json_get(root, "result") != !json_get(root, "error");
}

static int codex_probe(yyjson_val *const *probed)
{
	static const char *const exec[] = { "thread.started", "turn.started", "turn.completed",
					    "turn.failed", "item.started", "item.updated",
					    "item.completed", NULL };
	static const char *const rollout[] = { "session_meta", "response_item", "event_msg",
					       "turn_context", "compacted", NULL };
	yyjson_val *root = probed[PROBED_ROOT];
	struct str type = json_str(probed[PROBED_TYPE]), method = json_str(probed[PROBED_METHOD]);
	bool is_it;

	if (type.n)
		is_it = value_index(exec, type) >= 0 || (yyjson_is_obj(probed[PROBED_PAYLOAD]) &&
							 value_index(rollout, type) >= 0);
	else if (json_get(root, "jsonrpc"))
		is_it = false;
	else
		is_it = method.n ? is_call(root, method) : is_reply(root, probed[PROBED_ID]);
	return is_it ? PROBE_WEIGHT : 0;
}

static const struct detection_key signature[] = {
	{ "method", 5 }, { "params", 5 }, { "emittedAtMs", 20 }, { "result", 5 },
	{ "error", 5 },	 { "type", 1 },	  { "ordinal", 60 },	 { NULL, 0 },
};

static const struct shape *const shapes[] = { &base_shape,	&codex_approval_shape,
					      &codex_input_shape, &codex_result_shape,
					      &item_shape,	NULL };

const struct dialect_ops dialect_codex = {
	.name = "codex",
	.short_name = "codx",
	.signature = signature,
	.shapes = shapes,
	.probe = codex_probe,
	.probe_max = PROBE_WEIGHT,
	.decode = codex_decode,
	.summarize = codex_summarize,
	.detail = codex_detail,
	.redelivery = REDELIVERY_ALWAYS,
};
