/* Decoder of Claude Code's stream-json, both directions, and of its transcripts (one JSON object a
 * line, below ~/.claude/projects).
 *
 * Claude asks with a control_request can_use_tool and is answered by a control_response with its
 * request_id. With --replay-user-messages it repeats each answer that it has taken, as it came: so
 * that message proves the answer if Claude wrote it, and gives it if Claude was told. Where nobody
 * knows the direction (a log), it is both.
 *
 * Claude Code changes monthly: unknown types and members are kept and never reported, and there are
 * rules only for what gavel relies on. */
#include "dialect/claude.h"

#define RULE(id) "claude/" id

enum { CONTROL_ID, CONTROL_REQUEST };
static const struct field control_fields[] = {
	[CONTROL_ID] = { "request_id", RULE("request-request_id"), REQUIRED_ID },
	[CONTROL_REQUEST] = { "request", RULE("request-request"), REQUIRED, T_OBJ },
};
static const struct shape control_shape = { SHAPE_FIELDS(control_fields), UNKNOWN_OK };

/* any member; none of them twice, since a person reads one and Claude could run the other */
static const struct field input_member = { "", RULE("ask-input"), OPTIONAL, T_ANY };
static const struct shape input_shape = { SHAPE_INDEX, .each = &input_member };

enum { ASK_TOOL, ASK_INPUT, ASK_CALL, ASK_OFFERS, ASK_AGENT };
static const struct field ask_fields[] = {
	[ASK_TOOL] = { "tool_name", RULE("ask-tool_name"), REQUIRED_ID },
	[ASK_INPUT] = { "input", RULE("ask-input"), REQUIRED, OBJECT(input_shape) },
	[ASK_CALL] = { "tool_use_id", RULE("ask-tool_use_id"), OPTIONAL, T_STR },
	[ASK_OFFERS] = { "permission_suggestions", RULE("ask-permission_suggestions"), OPTIONAL,
			 T_ARR, T_OBJ },
	[ASK_AGENT] = { "agent_id", RULE("ask-agent_id"), OPTIONAL, T_STR },
};
static const struct shape ask_shape = { SHAPE_FIELDS(ask_fields), UNKNOWN_OK };

enum { ANSWER_SUBTYPE, ANSWER_ID, ANSWER_RESPONSE, ANSWER_ERROR };
static const struct field answer_fields[] = {
	[ANSWER_SUBTYPE] = { "subtype", RULE("response-subtype"), REQUIRED, T_STR },
	[ANSWER_ID] = { "request_id", RULE("response-request_id"), REQUIRED_ID },
	[ANSWER_RESPONSE] = { "response", RULE("response-content"), OPTIONAL, T_OBJ },
	[ANSWER_ERROR] = { "error", RULE("response-error"), OPTIONAL, T_STR },
};
static const struct shape answer_shape = { SHAPE_FIELDS(answer_fields), UNKNOWN_OK };

enum { ROWS_ANSWER = 1 };
static const struct field response_fields[] = {
	{ "response", RULE("response-response"), REQUIRED, OBJECT(answer_shape),
	  .rows = ROWS_ANSWER },
};
static const struct shape response_shape = { SHAPE_FIELDS(response_fields), UNKNOWN_OK };

static const struct field cancel_fields[] = {
	{ "request_id", RULE("cancel-request_id"), REQUIRED_ID },
};
static const struct shape cancel_shape = { SHAPE_FIELDS(cancel_fields), UNKNOWN_OK };

static const char *const types[] = { "control_request", "control_response",
				     "control_cancel_request", "assistant", "user", "system",
				     "result", "permission-mode", "cost-state", NULL };
enum line_type {
	LINE_REQUEST, LINE_RESPONSE, LINE_CANCEL, LINE_ASSISTANT, LINE_USER, LINE_SYSTEM,
	LINE_RESULT, LINE_MODE, LINE_COST
};

/* Requests that Claude sends; all others are sent to it. */
static const char *const agents_requests[] = { "can_use_tool", "hook_callback", "mcp_message",
					       "elicitation", NULL };
enum { REQUEST_ASK };

const struct actor claude_actor = { { "claude", 6 }, { "agent", 5 }, false,
				    KNOWN_ROLE_NONE };

static void set_speakers(struct message *m, bool told, struct str subagent)
{
	m->from = claude_actor;
	m->to = known_role_actors[KNOWN_ROLE_CLIENT];
	if (told) {
		m->from = known_role_actors[KNOWN_ROLE_CLIENT];
		m->to = claude_actor;
	} else if (subagent.n) {
		m->from = (struct actor){ subagent, STR("subagent"), false, KNOWN_ROLE_NONE };
	}
}

enum item_kind claude_item_kind(struct str tool)
{
	return str_is(tool, CLAUDE_QUESTION) ? ITEM_QUESTION
	       : str_is(tool, CLAUDE_PLAN)   ? ITEM_PLAN
					     : ITEM_PERMISSION;
}

/* ---- asking ---- */

static void decode_ask(struct decoder *d, struct message *m, yyjson_val *id, yyjson_val *request)
{
	yyjson_val *got[sizeof(ask_fields) / sizeof(ask_fields[0])];
	struct str tool, call;
	struct event *e;

	path_push(&d->check, "request");
	check_object(&d->check, request, &ask_shape, got);
	path_pop(&d->check);
	e = event_add(m, EV_ITEM, json_str(id), "/request_id");
	e->content_hash = value_hash_but(request, got[ASK_CALL]);
	e->artifact_hash = value_hash(got[ASK_INPUT]);
	tool = json_str(got[ASK_TOOL]);
	call = json_str(got[ASK_CALL]);
	e->item = claude_item_kind(tool);
	e->other = e->id;
	e->task = json_str(got[ASK_AGENT]);
	e->again = true;
	e->deadline_ms = TIME_NONE;
	e->undecidable = !e->id.n;
	m->correlation = call;
	if (!call.n)
		return;
	e = event_add(m, EV_TOOL, call, "/request/tool_use_id");
	e->tool = TOOL_ASKED;
	e->other = tool;
	e->severe = claude_tool_changes(tool);
}

static void decode_request(struct decoder *d, yyjson_val *root, struct message *m)
{
	yyjson_val *got[sizeof(control_fields) / sizeof(control_fields[0])], *request;
	struct event *e;
	int subtype;

	check_object(&d->check, root, &control_shape, got);
	request = got[CONTROL_REQUEST];
	subtype = value_index(agents_requests, json_get_str(request, "subtype"));
	set_speakers(m, subtype < 0 && claude_direction(d) != DIRECTION_IN,
		     json_get_str(request, "agent_id"));
	if (subtype == REQUEST_ASK) {
		decode_ask(d, m, got[CONTROL_ID], request);
		return;
	}
	m->correlation = json_get_str(request, "tool_use_id");
	if (subtype < 0)
		return;
	e = event_add(m, EV_REQUEST, json_str(got[CONTROL_ID]), "/request_id");
	e->other = json_get_str(request, "subtype");
	e->deadline_ms = TIME_NONE;
}

/* ---- answering ---- */

/* What an answer decides. Claude takes one that it cannot use for a denial. */
static enum verdict verdict_of(yyjson_val *response)
{
	yyjson_val *input = json_get(response, "updatedInput");

	if (!str_is(json_get_str(response, "behavior"), "allow"))
		return VERDICT_REJECTED;
	return json_get(input, "answers") ? VERDICT_ANSWERED : VERDICT_ACCEPTED;
}

static void check_answer(struct decoder *d, yyjson_val *const *answer)
{
	yyjson_val *response = answer[ANSWER_RESPONSE], *behavior = json_get(response, "behavior");
	char q[QUOTED_MAX];

	path_push(&d->check, "response");
	if (answer[ANSWER_ERROR] && !response)
		add_diag(&d->check, SEVERITY_WARNING, RULE("answer-behavior"), "error",
			 "an error instead of an answer; Claude takes it for a denial");
	path_push(&d->check, "response");
	if (behavior && !str_is(json_str(behavior), "allow") &&
	    !str_is(json_str(behavior), "deny"))
		add_diag(&d->check, SEVERITY_WARNING, RULE("answer-behavior"), "behavior",
			 "%s is neither allow nor deny; Claude takes it for a denial",
			 quoted(json_str(behavior), q));
	else if (str_is(json_str(behavior), "deny") &&
		 !yyjson_is_str(json_get(response, "message")))
		add_diag(&d->check, SEVERITY_WARNING, RULE("answer-behavior"), "message",
			 "missing; the model is told of an invalid answer instead of the reason");
	path_pop(&d->check);
	path_pop(&d->check);
}

static void decode_response(struct decoder *d, yyjson_val *root, struct message *m)
{
	yyjson_val *got[sizeof(response_fields) / sizeof(response_fields[0])], *const *answer;
	bool told = claude_direction(d) == DIRECTION_OUT, decides;
	struct event *e;

	check_object(&d->check, root, &response_shape, got);
	answer = row_of(&d->check, ROWS_ANSWER);
	decides = json_get(answer[ANSWER_RESPONSE], "behavior") != NULL;
	set_speakers(m, told || (decides && claude_direction(d) == DIRECTION_UNKNOWN), STR_NONE);
	if (!json_str(answer[ANSWER_ID]).n)
		return; /* an event without an id would be about all asks */
	e = event_add(m, told ? EV_RESPONSE : EV_ACK, json_str(answer[ANSWER_ID]),
		      "/response/request_id");
	e->content_hash = value_hash(answer[SELF]);
	e->acked = true;
	if (!told && !decides)
		return; /* to a request of the client, or the echo of what is none */
	e->artifact_hash = value_hash(json_get(answer[ANSWER_RESPONSE], "updatedInput"));
	e->verdict = verdict_of(answer[ANSWER_RESPONSE]);
	e->again = e->verdict == VERDICT_ACCEPTED &&
		   yyjson_arr_size(json_get(answer[ANSWER_RESPONSE], "updatedPermissions"));
	if (told || claude_direction(d) == DIRECTION_UNKNOWN)
		check_answer(d, answer);
}

static void decode_cancel(struct decoder *d, yyjson_val *root, struct message *m)
{
	yyjson_val *got[sizeof(cancel_fields) / sizeof(cancel_fields[0])];
	bool told = claude_direction(d) == DIRECTION_OUT;

	check_object(&d->check, root, &cancel_shape, got);
	set_speakers(m, told, STR_NONE);
	if (!told && json_str(got[0]).n) /* Claude ignores what it is told */
		event_add(m, EV_WITHDRAWN, json_str(got[0]), "/request_id");
}

/* ---- all lines ---- */

/* The subagent whose line it is. */
static struct str subagent_of(yyjson_val *root)
{
	struct str id = json_get_str(root, "agent_id");

	return id.n ? id : json_get_str(root, "agentId");
}

/* The holder's records of when the process was started, and how it ended. */
static void decode_run(yyjson_val *root, struct message *m)
{
	m->kind = json_get_str(root, "gavel");
	set_speakers(m, false, STR_NONE);
	json_int(json_get(root, "t"), &m->time_ms);
	event_add(m, EV_RUN, STR_NONE, "");
}

static void claude_decode(struct decoder *d, yyjson_val *root, struct message *m)
{
	bool told = claude_direction(d) == DIRECTION_OUT;
	struct str type;

	if (d->info.holder) {
		decode_run(root, m);
		return;
	}
	type = json_get_str(root, "type");
	m->kind = type.n ? type : STR("json");
	m->time_ms = iso_time(json_get(root, "timestamp"));
	set_speakers(m, told, subagent_of(root));
	switch (value_index(types, type)) {
	case LINE_REQUEST: decode_request(d, root, m); break;
	case LINE_RESPONSE: decode_response(d, root, m); break;
	case LINE_CANCEL: decode_cancel(d, root, m); break;
	case LINE_ASSISTANT:
	case LINE_USER: claude_decode_talk(d, root, m, told); break;
	case LINE_SYSTEM: claude_decode_system(root, m); break;
	case LINE_RESULT: claude_decode_result(root, m); break;
	case LINE_MODE:
		claude_add_mode(m, json_get(root, "permissionMode"), "/permissionMode");
		break;
	case LINE_COST: claude_decode_cost(root, m); break;
	default: break;
	}
}

/* ---- detection ---- */

enum { CONTROL_WEIGHT = 100, TALK_WEIGHT = 60, TYPE_WEIGHT = 30 };

static bool is_talk(yyjson_val *message)
{
	yyjson_val *content = json_get(message, "content");

	return yyjson_is_str(content) || yyjson_is_arr(content);
}

/* Types that only Claude Code has decide alone, others with a session's id beside them. */
static int claude_probe(yyjson_val *const *probed)
{
	static const char *const others[] = {
		"system", "result", "stream_event", "keep_alive", "tool_progress", "auth_status",
		"rate_limit_event", "tool_use_summary", "prompt_suggestion",
		/* transcripts */
		"attachment", "summary", "mode", "permission-mode", "cost-state", "last-prompt",
		"queue-operation", "tools-used", "atis-latch", "api-request", "api-request-blob",
		"api-request-shape", "file-history-snapshot", "file-history-delta", "ai-title",
		"custom-title", "agent-name", "pr-link", NULL
	};
	struct str type = json_str(probed[PROBED_TYPE]);

	if (str_is(type, "control_request") || str_is(type, "control_response") ||
	    str_is(type, "control_cancel_request"))
		return CONTROL_WEIGHT;
	if (str_is(type, "user") || str_is(type, "assistant"))
		return is_talk(probed[PROBED_MESSAGE]) ? TALK_WEIGHT : 0;
	return value_index(others, type) >= 0 ? TYPE_WEIGHT : 0;
}

static const struct detection_key signature[] = {
	{ "type", 5 },	       { "session_id", 20 }, { "sessionId", 20 },
	{ "uuid", 10 },	       { "parentUuid", 30 }, { "isSidechain", 20 },
	{ "parent_tool_use_id", 30 }, { "request_id", 20 }, { "total_cost_usd", 30 },
	{ "leafUuid", 20 },    { "snapshot", 10 },   { "messageId", 10 },
	{ "snapshotMessageId", 10 }, { "tool_use_result", 20 }, { NULL, 0 },
};

static const struct shape *const shapes[] = { &control_shape, &ask_shape, &response_shape,
					      &cancel_shape, &claude_talk_shape, NULL };

const struct dialect_ops dialect_claude = {
	.name = "claude",
	.short_name = "clau",
	.signature = signature,
	.shapes = shapes,
	.probe = claude_probe,
	.probe_max = CONTROL_WEIGHT,
	.decode = claude_decode,
	.summarize = claude_summarize,
	.detail = claude_detail,
	.redelivery = REDELIVERY_ALWAYS,
};
