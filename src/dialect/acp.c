/* Decoder of the dialect acp (acp.h). Replies name no session and no method, so what a result is,
 * is told by its members; which request it answers, only the rules know (model/rules_acp.c). For
 * these, `task` of the events is the ACP session, and a turn is called after the id of its prompt. */
#include "dialect/acp.h"

#define RULE(id) "acp/" id
#define OPEN(table) { SHAPE_FIELDS(table), UNKNOWN_OK }

/* nested objects to decode */
enum { ROWS_CALL = 1, ROWS_OPTIONS };

/* a result may be anything */
enum { B_VERSION, B_ID, B_METHOD, B_PARAMS, B_ERROR, B_RESULT, B_N };
static const char *const versions[] = { "2.0", NULL };
static const struct field base_fields[] = {
	[B_VERSION] = { "jsonrpc", RULE("rpc-jsonrpc"), OPTIONAL, T_STR, .values = versions,
			.wrong_value = SEVERITY_WARNING },
	[B_ID] = { "id", RULE("rpc-id"), OPTIONAL, T_STR | T_INT | T_NULL },
	[B_METHOD] = { "method", RULE("rpc-method"), OPTIONAL, T_STR, .format = FORMAT_NOT_EMPTY },
	[B_PARAMS] = { "params", RULE("rpc-params"), OPTIONAL, T_OBJ | T_ARR | T_NULL },
	[B_ERROR] = { "error", RULE("rpc-error"), OPTIONAL, T_OBJ },
};
static const struct shape base_shape = OPEN(base_fields);

enum { CALL_ID };
static const struct field call_fields[] = {
	[CALL_ID] = { "toolCallId", RULE("permission-toolCallId"), REQUIRED_ID },
};
static const struct shape call_shape = OPEN(call_fields);

enum { OPTION_ID, OPTION_NAME, OPTION_KIND };
static const char *const option_kinds[] = { "allow_once", "allow_always", "reject_once",
					    "reject_always", NULL };
enum option_kind { ALLOW_ONCE, ALLOW_ALWAYS, REJECT_ONCE, REJECT_ALWAYS };
static const struct field option_fields[] = {
	[OPTION_ID] = { "optionId", RULE("permission-optionId"), REQUIRED_ID },
	[OPTION_NAME] = { "name", RULE("permission-name"), RECOMMENDED, T_STR },
	[OPTION_KIND] = { "kind", RULE("permission-kind"), REQUIRED, T_STR,
			  .values = option_kinds, .wrong_value = SEVERITY_WARNING },
};
static const struct shape option_shape = OPEN(option_fields);

enum { ASK_SESSION, ASK_CALL, ASK_OPTIONS, ASK_N };
static const struct field permission_fields[] = {
	[ASK_SESSION] = { "sessionId", RULE("permission-sessionId"), REQUIRED_ID },
	[ASK_CALL] = { "toolCall", RULE("permission-toolCall"), REQUIRED, OBJECT(call_shape),
		       .rows = ROWS_CALL },
	[ASK_OPTIONS] = { "options", RULE("permission-options"), REQUIRED, OBJECTS(option_shape),
			  .rows = ROWS_OPTIONS },
};
static const struct shape permission_shape = OPEN(permission_fields);

/* a request that belongs to no session has none */
enum { FORM_SESSION, FORM_MESSAGE, FORM_SCHEMA, FORM_CALL, FORM_N };
static const struct field form_fields[] = {
	[FORM_SESSION] = { "sessionId", RULE("elicitation-sessionId"), OPTIONAL, T_STR | T_NULL },
	[FORM_MESSAGE] = { "message", RULE("elicitation-message"), REQUIRED, T_STR },
	[FORM_SCHEMA] = { "requestedSchema", RULE("elicitation-requestedSchema"), OPTIONAL, T_OBJ },
	[FORM_CALL] = { "toolCallId", RULE("elicitation-toolCallId"), OPTIONAL, T_STR | T_NULL },
};
static const struct shape form_shape = OPEN(form_fields);

enum { UPDATE_SESSION_ID, UPDATE_UPDATE, UPDATE_N };
static const struct field update_fields[] = {
	[UPDATE_SESSION_ID] = { "sessionId", RULE("update-sessionId"), REQUIRED_ID },
	[UPDATE_UPDATE] = { "update", RULE("update-update"), REQUIRED, T_OBJ },
};
static const struct shape update_shape = OPEN(update_fields);

enum { PROMPT_SESSION, PROMPT_BLOCKS, PROMPT_N };
static const struct field prompt_fields[] = {
	[PROMPT_SESSION] = { "sessionId", RULE("prompt-sessionId"), REQUIRED_ID },
	[PROMPT_BLOCKS] = { "prompt", RULE("prompt-prompt"), REQUIRED, T_ARR },
};
static const struct shape prompt_shape = OPEN(prompt_fields);

/* ---- what the agent asks ---- */

/* What each answer means: pairs of the option's hash and its verdict, with OFFER_ALWAYS. */
static void add_offers(struct decoder *d, struct event *e)
{
	uint32_t n = d->check.rows[ROWS_OPTIONS].n, i;
	yyjson_val *const *option;
	uint64_t *pairs;

	e->no_always = true;
	if (!n)
		return;
	pairs = arena_alloc(&d->arena, 2 * (size_t)n * sizeof(*pairs));
	rows_foreach(&d->check, ROWS_OPTIONS, i, option) {
		int kind = value_number(&option_shape, OPTION_KIND, option[OPTION_KIND]);

		pairs[2 * i] = str_hash(json_str(option[OPTION_ID]));
		pairs[2 * i + 1] = kind == ALLOW_ONCE || kind == ALLOW_ALWAYS ? VERDICT_ACCEPTED
									       : VERDICT_REJECTED;
		if (kind == ALLOW_ALWAYS) {
			pairs[2 * i + 1] |= OFFER_ALWAYS;
			e->no_always = false;
		}
	}
	e->options = pairs;
	e->options_n = n;
}

static struct event *add_ask(struct message *m, struct str id, struct str request,
			     struct str session, uint64_t hash)
{
	struct event *e;

	acp_add_proof(m, session, false);
	e = event_add(m, EV_ITEM, id, "/id");
	e->other = request;
	e->task = session;
	e->again = true;
	e->content_hash = hash;
	e->deadline_ms = TIME_NONE;
	e->undecidable = !request.n;
	return e;
}

static void decode_permission(struct decoder *d, struct message *m, yyjson_val *root,
			      yyjson_val *params)
{
	uint64_t hash = value_hash(params); /* before a string is unescaped */
	yyjson_val *got[ASK_N] = { NULL }, *call;
	struct str session, id;
	struct event *e;
	bool plan;

	if (yyjson_is_obj(params)) {
		path_push(&d->check, "params");
		check_object(&d->check, params, &permission_shape, got);
		path_pop(&d->check);
	}
	call = got[ASK_CALL];
	session = json_str(got[ASK_SESSION]);
	id = acp_name_within(d, session, json_get_str(call, "toolCallId"));
	plan = str_is(json_get_str(call, "kind"), "switch_mode");
	m->correlation = id;
	acp_set_subagent(d, m, session, acp_parent_call(acp_parent_call(params).n ? params : call));
	e = add_ask(m, id, rpc_id(d, root), session, hash);
	e->item = plan ? ITEM_PLAN : ITEM_PERMISSION;
	e->undecidable |= !id.n;
	add_offers(d, e);
	if (id.n)
		acp_add_tool(m, call, session, id, TOOL_ASKED);
}

static void decode_elicitation(struct decoder *d, struct message *m, yyjson_val *root,
			       yyjson_val *params)
{
	uint64_t hash = value_hash(params);
	yyjson_val *got[FORM_N] = { NULL };
	struct str request = rpc_id(d, root), session, name, call;
	struct event *e;

	if (yyjson_is_obj(params)) {
		path_push(&d->check, "params");
		check_object(&d->check, params, &form_shape, got);
		path_pop(&d->check);
	}
	session = json_str(got[FORM_SESSION]);
	name = acp_bare_id(request);
	name = str_of(arena_printf(&d->arena, "elicitation-%.*s", STR_ARG(name)));
	call = acp_name_within(d, session, json_str(got[FORM_CALL]));
	m->correlation = call;
	acp_set_subagent(d, m, session, acp_parent_call(params));
	e = add_ask(m, acp_name_within(d, session, name), request, session, hash);
	e->item = ITEM_QUESTION;
	if (call.n) {
		e = event_add(m, EV_TOOL, call, "/params/toolCallId");
		e->tool = TOOL_ASKED;
		e->task = session;
	}
}

/* ---- replies ---- */

static uint64_t count_of(yyjson_val *v, const char *name, const char *other)
{
	yyjson_val *count = json_get(v, name);
	int64_t n;

	return json_int(count ? count : json_get(v, other), &n) && n > 0 ? (uint64_t)n : 0;
}

/* Of the turn; Gemini counts in _meta. */
static void add_tokens(struct message *m, yyjson_val *result)
{
	yyjson_val *usage = json_get(result, "usage");
	yyjson_val *quota = json_get(json_get(result, "_meta"), "quota");
	struct event *e;

	if (!yyjson_is_obj(usage))
		usage = json_get(quota, "token_count");
	if (!yyjson_is_obj(usage))
		return;
	e = event_add(m, EV_USAGE, STR_NONE, "/result/usage");
	e->tokens_in = count_of(usage, "inputTokens", "input_tokens");
	e->tokens_out = count_of(usage, "outputTokens", "output_tokens");
	e->tokens_cached = count_of(usage, "cachedReadTokens", "cached_tokens");
}

static enum task_state state_after(struct str reason)
{
	if (str_is(reason, "end_turn"))
		return TASK_COMPLETED;
	return str_is(reason, "cancelled") ? TASK_CANCELLED : TASK_FAILED;
}

/* A prompt's result ends its turn: what was answered was used, unless the turn was cancelled, and
 * what was not waits no more. Another reply may be that of a prompt that failed: `failed`. */
static void decode_reply(struct decoder *d, struct message *m, yyjson_val *root, yyjson_val *result)
{
	struct str turn = acp_turn_name(d, rpc_id(d, root));
	struct str reason = json_get_str(result, "stopReason");
	struct str session = json_get_str(result, "sessionId");
	struct event *e;

	if (yyjson_is_null(json_get(root, "id")) || !json_get(root, "id"))
		return;
	if (reason.n) {
		m->correlation = turn;
		add_tokens(m, result);
		if (!str_is(reason, "cancelled"))
			acp_add_proof(m, STR_NONE, true);
	}
	e = event_add(m, EV_TURN, turn, "/id");
	e->state = reason.n ? state_after(reason) : TASK_FAILED;
	e->failed = !reason.n;
	e->again = !reason.n && result;
	if (reason.n || !result)
		event_add(m, EV_WITHDRAWN, STR_NONE, "/result/stopReason");
	acp_add_mode(m, acp_mode(result), session, "/result");
}

/* An option is chosen by its id; what that means, the ask tells. Of other results only the rules
 * know whether they answer an ask (`failed`), or one of the agent's requests for files and
 * terminals. */
static void decode_answer(struct decoder *d, struct message *m, yyjson_val *root,
			  yyjson_val *result)
{
	uint64_t hash = value_hash(result);
	yyjson_val *outcome = json_get(result, "outcome");
	struct str word = json_get_str(outcome, "outcome"), action = json_get_str(result, "action");
	struct event *e = event_add(m, EV_RESPONSE, rpc_id(d, root), "/id");

	e->content_hash = hash;
	if (str_is(word, "selected")) {
		e->other = json_get_str(outcome, "optionId");
		e->failed = !e->other.n;
	} else if (str_is(word, "cancelled")) {
		e->severe = true;
	} else if (str_is(action, "accept")) {
		e->verdict = VERDICT_ANSWERED;
	} else {
		e->severe = str_is(action, "cancel");
		e->failed = !e->severe && !str_is(action, "decline");
	}
	if (!e->other.n && e->verdict == VERDICT_NONE)
		e->verdict = VERDICT_REJECTED;
}

static void decode_refusal(struct decoder *d, struct message *m, yyjson_val *root,
			   yyjson_val *error)
{
	struct event *e = event_add(m, EV_RESPONSE, rpc_id(d, root), "/id");

	e->content_hash = value_hash(error);
	e->verdict = VERDICT_REJECTED;
	e->failed = true;
}

/* ---- messages ---- */

/* Results that only a client gives: to an ask, fs/read_text_file, terminal/create and the others. */
static bool is_clients_result(yyjson_val *result)
{
	static const char *const names[] = { "outcome", "action",     "content",
					     "terminalId", "exitStatus", "truncated" };

	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (json_get(result, names[i]))
			return true;
	return false;
}

/* A method tells who says it, where the direction is not known. */
static bool is_told(const struct decoder *d, enum acp_method method, enum rpc_type type,
		    yyjson_val *result)
{
	if (d->info.direction == DIRECTION_UNKNOWN && method != ACP_OTHER)
		return method >= ACP_INITIALIZE;
	return rpc_is_told(d, type, is_clients_result(result));
}

static void decode_told(struct decoder *d, struct message *m, yyjson_val *root,
			enum acp_method method, yyjson_val *const *got)
{
	yyjson_val *params = got[B_PARAMS], *prompt[PROMPT_N] = { NULL };
	struct str session = json_get_str(params, "sessionId");
	struct event *e;

	switch (method) {
	case ACP_PROMPT:
		if (yyjson_is_obj(params)) {
			path_push(&d->check, "params");
			check_object(&d->check, params, &prompt_shape, prompt);
			path_pop(&d->check);
		}
		m->correlation = acp_turn_name(d, rpc_id(d, root));
		e = event_add(m, EV_TURN, m->correlation, "/id");
		e->state = TASK_RUNNING;
		e->task = session;
		e->tests = acp_text(d, prompt[PROMPT_BLOCKS]).n > 0;
		break;
	case ACP_LOAD: acp_add_replay(m, session, acp_turn_name(d, rpc_id(d, root))); break;
	case ACP_SET_MODE:
		acp_add_mode(m, json_get_str(params, "modeId"), session, "/params/modeId");
		break;
	case ACP_SET_OPTION:
		if (str_is(json_get_str(params, "configId"), "mode"))
			acp_add_mode(m, json_get_str(params, "value"), session, "/params/value");
		break;
	case ACP_CANCEL: /* the client has to answer what is open, with "cancelled" */
		e = event_add(m, EV_WITHDRAWN, STR_NONE, "/method");
		e->task = session;
		e->again = true;
		break;
	case ACP_OTHER:
		if (got[B_RESULT] && !got[B_METHOD])
			decode_answer(d, m, root, got[B_RESULT]);
		else if (got[B_ERROR] && !got[B_METHOD])
			decode_refusal(d, m, root, got[B_ERROR]);
		break;
	default: /* what asks for nothing that gavel keeps */
		break;
	}
}

static void decode_said(struct decoder *d, struct message *m, yyjson_val *root,
			enum acp_method method, yyjson_val *const *got)
{
	yyjson_val *params = got[B_PARAMS], *update[UPDATE_N] = { NULL };
	struct str request;

	switch (method) {
	case ACP_UPDATE:
		if (yyjson_is_obj(params)) {
			path_push(&d->check, "params");
			check_object(&d->check, params, &update_shape, update);
			path_pop(&d->check);
		}
		acp_decode_update(d, m, update[UPDATE_UPDATE], json_str(update[UPDATE_SESSION_ID]));
		break;
	case ACP_PERMISSION: decode_permission(d, m, root, params); break;
	case ACP_ELICITATION: decode_elicitation(d, m, root, params); break;
	case ACP_CANCEL_REQUEST:
		request = rpc_id_text(d, json_get(params, "requestId"));
		if (request.n) /* else it would be about all asks of a turn */
			event_add(m, EV_WITHDRAWN, request, "/params/requestId");
		break;
	case ACP_OTHER:
		if (!got[B_METHOD])
			decode_reply(d, m, root, got[B_RESULT]);
		break;
	default: /* requests to the client: files and terminals */
		break;
	}
}

static void acp_decode(struct decoder *d, yyjson_val *root, struct message *m)
{
	yyjson_val *got[B_N];
	enum acp_method method;
	bool told;

	m->from = (struct actor){ STR("acp"), STR("agent"), false };
	m->to = known_role_actors[KNOWN_ROLE_CLIENT];
	if (d->info.holder) {
		decode_holder_record(root, m, "acp");
		return;
	}
	check_object(&d->check, root, &base_shape, got);
	got[B_RESULT] = json_get(root, "result");
	method = acp_method(root);
	told = is_told(d, method, rpc_type(root), got[B_RESULT]);
	m->kind = json_str(got[B_METHOD]);
	if (!m->kind.n)
		m->kind = got[B_RESULT] ? STR("result") : got[B_ERROR] ? STR("error") : STR("json");
	if (told) {
		m->to = m->from;
		m->from = known_role_actors[KNOWN_ROLE_CLIENT];
		decode_told(d, m, root, method, got);
	} else {
		decode_said(d, m, root, method, got);
	}
}

static const struct detection_key signature[] = {
	{ "jsonrpc", 120 }, { "method", 5 }, { "params", 5 }, { "result", 5 }, { "error", 5 },
	{ NULL, 0 },
};

static const struct shape *const shapes[] = { &base_shape,   &permission_shape, &form_shape,
					      &update_shape, &prompt_shape,     NULL };

const struct dialect_ops dialect_acp = {
	.name = "acp",
	.short_name = "acp",
	.signature = signature,
	.shapes = shapes,
	.decode = acp_decode,
	.summarize = acp_summarize,
	.detail = acp_detail,
	.redelivery = REDELIVERY_ALWAYS,
};
