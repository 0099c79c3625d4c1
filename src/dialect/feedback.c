/* Decoder of the feedback dialect (Agent Feedback Protocol 1.2): a requester sends an artifact, a
 * provider responds with points to improve, the requester reports its decision on each, and so on,
 * one iteration per turn.
 *
 * Three forms on the wire: the bare Request, the bare Response, and the tool's wrapper lines, of
 * which a text line may contain the Response as a string, within prose or a code fence. */
#include "dialect/feedback.h"

#define RULE(id) "feedback/" id

static bool is_session_field(struct str name)
{
	char flat[16];
	size_t n = 0;

	for (size_t i = 0; i < name.n && n < sizeof(flat) - 1; i++) {
		char c = name.p[i];

		if (c == '_' || c == '-' || c == ' ')
			continue;
		flat[n++] = ascii_lower(c);
	}
	flat[n] = '\0';
	return str_starts(str_make(flat, n), STR("session"));
}

/* 6 binds Providers: a Request may have fields of its own by any name. */
#define PAYLOAD_SHAPE(table, unknown_members, rule) \
	{ SHAPE_FIELDS(table), .unknown = unknown_members, .unknown_rule = rule, \
	  .forbidden = is_session_field, .forbidden_rule = RULE("2.1-session-field") }
#define REQUEST_SHAPE(table) PAYLOAD_SHAPE(table, UNKNOWN_NOTE, RULE("3-unlisted-field"))
#define RESPONSE_SHAPE(table) PAYLOAD_SHAPE(table, UNKNOWN_ERROR, RULE("6-x-prefix"))

static const char *const version_values[] = { "1.2", NULL };

/* nested objects whose fields the decoder needs */
enum { ROWS_ARTIFACT = 1, ROWS_APPLIED, ROWS_ITEMS, ROWS_ERROR, ROWS_FEEDBACK, ROWS_AREAS,
       ROWS_TOKENS, ROWS_CACHE };

/* 3: the Request */
static const char *const applied_status_values[] = { "accepted", "rejected", "partial", NULL };
enum { APPLIED_ID, APPLIED_STATUS, APPLIED_REASON, APPLIED_EXPLANATION };
static const struct field applied_item_fields[] = {
	/* refers to an item's id, so it has the same format */
	[APPLIED_ID] = { "id", RULE("3.2.1-id"), REQUIRED, T_STR, .format = FORMAT_ITEM_ID },
	[APPLIED_STATUS] = { "status", RULE("3.2.1-status"), REQUIRED_ENUM(applied_status_values) },
	[APPLIED_REASON] = { "reason_code", RULE("3.2.1-reason_code"), OPTIONAL, T_STR },
	[APPLIED_EXPLANATION] = { "explanation", RULE("3.2.1-explanation"), OPTIONAL, T_STR },
};
static const struct shape applied_item_shape = REQUEST_SHAPE(applied_item_fields);

enum { APPLIED_ITEMS };
static const struct field applied_fields[] = {
	{ "items", RULE("3.2-items"), REQUIRED, OBJECTS(applied_item_shape), .rows = ROWS_ITEMS },
};
static const struct shape applied_shape = REQUEST_SHAPE(applied_fields);

enum { ART_TYPE, ART_CONTENT, ART_REF };
static const struct field artifact_fields[] = {
	[ART_TYPE] = { "media_type", RULE("3.1-media_type"), REQUIRED, T_STR,
		       .format = FORMAT_MIME },
	[ART_CONTENT] = { "content", RULE("3.1-content"), REQUIRED, T_ANY },
	[ART_REF] = { "artifact_ref", RULE("3.1-artifact_ref"), OPTIONAL, T_STR },
};
static const struct shape artifact_shape = REQUEST_SHAPE(artifact_fields);

enum { REQ_VERSION, REQ_ITERATION, REQ_ARTIFACT, REQ_APPLIED, REQ_N };
static const struct field request_fields[] = {
	/* the specification's first example omits it */
	[REQ_VERSION] = { "protocol_version", RULE("3-protocol_version"), RECOMMENDED, T_STR,
			  .values = version_values },
	[REQ_ITERATION] = { "iteration", RULE("3-iteration"), REQUIRED, T_INT, POSITIVE },
	[REQ_ARTIFACT] = { "artifact", RULE("3-artifact"), REQUIRED, OBJECT(artifact_shape),
			   .rows = ROWS_ARTIFACT },
	[REQ_APPLIED] = { "applied_feedback", RULE("3-applied_feedback"), OPTIONAL,
			  OBJECT(applied_shape), .rows = ROWS_APPLIED },
};
static const struct shape request_shape = REQUEST_SHAPE(request_fields);

/* 4: the Response */
static const char *const level_values[] = { "high", "medium", "low", NULL };
static const struct field confidence_fields[] = {
	{ "level", RULE("4.1.1-level"), REQUIRED_ENUM(level_values) },
	{ "justification", RULE("4.1.1-justification"), REQUIRED, T_STR },
};
static const struct shape confidence_shape = RESPONSE_SHAPE(confidence_fields);

static const struct field positive_fields[] = {
	{ "aspect", RULE("4.1.2-aspect"), REQUIRED, T_STR },
	{ "justification", RULE("4.1.2-justification"), REQUIRED, T_STR },
};
static const struct shape positive_shape = RESPONSE_SHAPE(positive_fields);

enum { AREA_ID, AREA_ASPECT, AREA_DESCRIPTION, AREA_RECOMMENDATION };
static const struct field area_fields[] = {
	[AREA_ID] = { "id", RULE("4.1.3-id"), REQUIRED, T_STR, .format = FORMAT_ITEM_ID },
	[AREA_ASPECT] = { "aspect", RULE("4.1.3-aspect"), REQUIRED, T_STR },
	[AREA_DESCRIPTION] = { "description", RULE("4.1.3-description"), REQUIRED, T_STR },
	[AREA_RECOMMENDATION] = { "recommendation", RULE("4.1.3-recommendation"), REQUIRED, T_STR },
};
static const struct shape area_shape = RESPONSE_SHAPE(area_fields);

enum { FB_CONFIDENCE, FB_POSITIVE, FB_AREAS, FB_SUMMARY };
static const struct field feedback_fields[] = {
	{ "confidence", RULE("4.1-confidence"), REQUIRED, OBJECT(confidence_shape) },
	{ "positive_points", RULE("4.1-positive_points"), REQUIRED, OBJECTS(positive_shape) },
	{ "areas_for_improvement", RULE("4.1-areas_for_improvement"), REQUIRED, OBJECTS(area_shape),
	  .rows = ROWS_AREAS },
	{ "general_summary", RULE("4.1-general_summary"), REQUIRED, T_STR },
};
static const struct shape feedback_shape = RESPONSE_SHAPE(feedback_fields);

/* further codes are allowed */
static const char *const code_values[] = { "INVALID_REQUEST", "UNSUPPORTED_MEDIA_TYPE",
					   "INTERNAL_ERROR", NULL };
enum { ERR_CODE, ERR_MESSAGE };
static const struct field error_fields[] = {
	[ERR_CODE] = { "code", RULE("4.2-code"), REQUIRED, T_STR },
	[ERR_MESSAGE] = { "message", RULE("4.2-message"), REQUIRED, T_STR },
};
static const struct shape error_shape = RESPONSE_SHAPE(error_fields);

static const char *const processing_values[] = { "acknowledged", "unknown_id", NULL };
enum { ACK_ID, ACK_STATUS };
static const struct field ack_item_fields[] = {
	[ACK_ID] = { "id", RULE("4.3.1-id"), REQUIRED, T_STR, .format = FORMAT_ITEM_ID },
	[ACK_STATUS] = { "processing_status", RULE("4.3.1-processing_status"),
			 REQUIRED_ENUM(processing_values) },
};
static const struct shape ack_item_shape = RESPONSE_SHAPE(ack_item_fields);
static const struct field ack_fields[] = {
	{ "items", RULE("4.3-items"), REQUIRED, OBJECTS(ack_item_shape), .rows = ROWS_ITEMS },
};
static const struct shape ack_shape = RESPONSE_SHAPE(ack_fields);

enum { RES_VERSION, RES_ITERATION, RES_STATUS, RES_FEEDBACK, RES_ACK, RES_ERROR, RES_N };
static const char *const status_values[] = { "success", "error", NULL };
static const struct field response_fields[] = {
	[RES_VERSION] = { "protocol_version", RULE("4-protocol_version"),
			  REQUIRED_ENUM(version_values) },
	[RES_ITERATION] = { "iteration", RULE("4-iteration"), REQUIRED, T_INT, POSITIVE },
	[RES_STATUS] = { "status", RULE("4-status"), REQUIRED_ENUM(status_values) },
	[RES_FEEDBACK] = { "feedback", RULE("4-feedback"), OPTIONAL, OBJECT(feedback_shape),
			   .rows = ROWS_FEEDBACK },
	[RES_ACK] = { "applied_feedback_ack", RULE("4-applied_feedback_ack"), OPTIONAL,
		      OBJECT(ack_shape) },
	[RES_ERROR] = { "error", RULE("4-error"), OPTIONAL, OBJECT(error_shape),
			.rows = ROWS_ERROR },
};
static const struct shape response_shape = RESPONSE_SHAPE(response_fields);

/* 2.2.1: the wrapper, and the fields that real tools write */
#define TOKEN_COUNT RULE("2.2.1-tokens"), OPTIONAL, T_NUM, .ranged = true, .max = 1e18
enum { CACHE_READ, CACHE_WRITE };
static const struct field cache_fields[] = {
	[CACHE_READ] = { "read", TOKEN_COUNT },
	[CACHE_WRITE] = { "write", TOKEN_COUNT },
};
static const struct shape cache_shape = { SHAPE_FIELDS(cache_fields), UNKNOWN_OK };
enum { TOKENS_IN, TOKENS_OUT, TOKENS_REASONING, TOKENS_TOTAL, TOKENS_CACHE };
static const struct field token_fields[] = {
	[TOKENS_IN] = { "input", TOKEN_COUNT },
	[TOKENS_OUT] = { "output", TOKEN_COUNT },
	[TOKENS_REASONING] = { "reasoning", TOKEN_COUNT },
	[TOKENS_TOTAL] = { "total", TOKEN_COUNT },
	[TOKENS_CACHE] = { "cache", RULE("2.2.1-tokens"), OPTIONAL, OBJECT(cache_shape),
			   .rows = ROWS_CACHE },
};
static const struct shape token_shape = { SHAPE_FIELDS(token_fields), UNKNOWN_OK };

/* common to the parts of all tools seen */
static const struct field time_fields[] = {
	{ "start", RULE("2.2.1-part.time"), OPTIONAL, T_NUM },
	{ "end", RULE("2.2.1-part.time"), OPTIONAL, T_NUM },
};
static const struct shape time_shape = { SHAPE_FIELDS(time_fields), UNKNOWN_OK };
enum { PART_SESSION = 1, PART_N = 6 };
#define PART_FIELDS \
	{ "id", RULE("2.2.1-part.id"), OPTIONAL, T_STR }, \
	{ "sessionID", RULE("2.2.1-part.sessionID"), OPTIONAL, T_STR }, \
	{ "messageID", RULE("2.2.1-part.messageID"), OPTIONAL, T_STR }, \
	{ "type", RULE("2.2.1-part.type"), OPTIONAL, T_STR }, \
	{ "snapshot", RULE("2.2.1-part.snapshot"), OPTIONAL, T_STR }, \
	{ "time", RULE("2.2.1-part.time"), OPTIONAL, OBJECT(time_shape) }

static const struct field start_fields[] = { PART_FIELDS };
static const struct shape start_shape = { SHAPE_FIELDS(start_fields), UNKNOWN_OK };

enum { FINISH_COST = PART_N, FINISH_TOKENS, FINISH_REASON };
static const struct field finish_fields[] = {
	PART_FIELDS,
	{ "cost", RULE("2.2.1-cost"), RECOMMENDED, T_NUM },
	{ "tokens", RULE("2.2.1-tokens"), RECOMMENDED, OBJECT(token_shape), .rows = ROWS_TOKENS },
	{ "reason", RULE("2.2.1-reason"), OPTIONAL, T_STR },
};
static const struct shape finish_shape = { SHAPE_FIELDS(finish_fields), UNKNOWN_OK };

enum { TEXT_TEXT = PART_N };
static const struct field text_fields[] = {
	PART_FIELDS,
	{ "text", RULE("2.2.1-part.text"), REQUIRED, T_STR },
};
static const struct shape text_shape = { SHAPE_FIELDS(text_fields), UNKNOWN_OK };

static const char *const state_values[] = { "completed", "error", "running", "pending", NULL };
static const struct field state_fields[] = {
	{ "status", RULE("2.2.1-tool-status"), RECOMMENDED, T_STR, .values = state_values,
	  .wrong_value = SEVERITY_WARNING },
};
static const struct shape state_shape = { SHAPE_FIELDS(state_fields), UNKNOWN_OK };
static const struct field tool_fields[] = {
	PART_FIELDS,
	{ "tool", RULE("2.2.1-tool"), RECOMMENDED, T_STR },
	{ "callID", RULE("2.2.1-callID"), RECOMMENDED, T_STR },
	{ "state", RULE("2.2.1-state"), RECOMMENDED, OBJECT(state_shape) },
};
static const struct shape tool_shape = { SHAPE_FIELDS(tool_fields), UNKNOWN_OK };

static const struct field error_data_fields[] = {
	{ "message", RULE("2.2.1-error.data"), OPTIONAL, T_STR },
	{ "statusCode", RULE("2.2.1-error.data"), OPTIONAL, T_NUM },
	{ "isRetryable", RULE("2.2.1-error.data"), OPTIONAL, T_BOOL },
};
static const struct shape error_data_shape = { SHAPE_FIELDS(error_data_fields), UNKNOWN_OK };
static const struct field tool_error_fields[] = {
	{ "name", RULE("2.2.1-error.name"), OPTIONAL, T_STR },
	{ "data", RULE("2.2.1-error.data"), OPTIONAL, OBJECT(error_data_shape) },
};
static const struct shape tool_error_shape = { SHAPE_FIELDS(tool_error_fields), UNKNOWN_OK };

static const char *const wrapper_types[] = { "step_start", "text",	"step_finish", "tool_use",
					     "reasoning",  "error", "done",	NULL };
enum wrapper_type { WT_START, WT_TEXT, WT_FINISH, WT_TOOL, WT_REASONING, WT_ERROR, WT_DONE };
enum { WRAP_TYPE, WRAP_TIMESTAMP, WRAP_SESSION, WRAP_PART, WRAP_ERROR, WRAP_N };
static const struct field wrapper_fields[] = {
	[WRAP_TYPE] = { "type", RULE("2.2.1-type"), REQUIRED_ID, .open_values = wrapper_types },
	[WRAP_TIMESTAMP] = { "timestamp", RULE("2.2.1-timestamp"), REQUIRED, T_NUM },
	[WRAP_SESSION] = { "sessionID", RULE("2.2.1-sessionID"), REQUIRED_ID },
	[WRAP_PART] = { "part", RULE("2.2.1-part"), OPTIONAL, T_OBJ },
	[WRAP_ERROR] = { "error", RULE("2.2.1-error"), OPTIONAL, OBJECT(tool_error_shape) },
};
static const struct shape wrapper_shape = { SHAPE_FIELDS(wrapper_fields), UNKNOWN_OK };

static const struct shape *const part_shapes[] = {
	[WT_START] = &start_shape,
	[WT_TEXT] = &text_shape,
	[WT_FINISH] = &finish_shape,
	[WT_TOOL] = &tool_shape,
	[WT_REASONING] = &text_shape,
	[WT_DONE] = NULL,
};

static const struct detection_key signature[] = {
	[HAS_SESSION] = { "sessionID", 40 },
	[HAS_PART] = { "part", 30 },
	[HAS_TYPE] = { "type", 5 },
	[HAS_TIMESTAMP] = { "timestamp", 5 },
	[HAS_ITERATION] = { "iteration", 25 },
	[HAS_ARTIFACT] = { "artifact", 50 },
	[HAS_APPLIED] = { "applied_feedback", 35 },
	[HAS_VERSION] = { "protocol_version", 25 },
	[HAS_STATUS] = { "status", 15 },
	[HAS_FEEDBACK] = { "feedback", 35 },
	[HAS_ACK] = { "applied_feedback_ack", 35 },
	[HAS_ERROR] = { "error", 10 },
	{ NULL, 0 },
};

enum form { FORM_WRAPPER, FORM_REQUEST, FORM_RESPONSE };

static enum form form_of(yyjson_val *root, unsigned has)
{
	if (HAS(SESSION) || HAS(PART))
		return HAS(ARTIFACT) ? FORM_REQUEST : HAS(VERSION) ? FORM_RESPONSE : FORM_WRAPPER;
	if (HAS(ARTIFACT) || HAS(APPLIED))
		return FORM_REQUEST;
	if (HAS(TYPE) && !HAS(ITERATION) &&
	    value_index(wrapper_types, json_get_str(root, "type")) >= 0)
		return FORM_WRAPPER;
	return HAS(FEEDBACK) || HAS(STATUS) || HAS(ERROR) || HAS(ACK) ? FORM_RESPONSE
								      : FORM_REQUEST;
}

static void decode_decisions(struct checker *c, struct message *m)
{
	static const enum verdict verdicts[] = { VERDICT_ACCEPTED, VERDICT_REJECTED,
						 VERDICT_PARTIAL };
	yyjson_val *const *item;
	uint32_t i;

	path_push(c, "applied_feedback");
	path_push(c, "items");
	rows_foreach(c, ROWS_ITEMS, i, item) {
		int status = value_number(&applied_item_shape, APPLIED_STATUS,
					  item[APPLIED_STATUS]);
		enum verdict verdict = status < 0 ? VERDICT_NONE : verdicts[status];
		struct event *e = event_add(m, EV_DECIDE, json_str(item[APPLIED_ID]),
					    "/applied_feedback/items/%u/id");

		e->index = i;
		e->item = ITEM_IMPROVEMENT;
		e->verdict = verdict;
		path_push_index(c, i);
		if (verdict == VERDICT_REJECTED && !item[APPLIED_REASON])
			add_diag(c, SEVERITY_WARNING, RULE("3.2.1-reason_code"), "reason_code",
				 "missing; recommended for rejected items");
		if ((verdict == VERDICT_REJECTED || verdict == VERDICT_PARTIAL) &&
		    !item[APPLIED_EXPLANATION])
			add_diag(c, SEVERITY_WARNING, RULE("3.2.1-explanation"), "explanation",
				 "missing; recommended for rejected and partial items");
		path_pop(c);
	}
	path_pop(c);
	path_pop(c);
}

/* Identity of a request: iteration, content and decisions, independent of formatting. */
static uint64_t request_hash(uint64_t content, yyjson_val *items, int64_t iteration)
{
	uint64_t h = hash_mix((uint64_t)iteration, content);

	return yyjson_arr_size(items) ? hash_mix(h, value_hash(items)) : h;
}

static void decode_request(struct decoder *d, yyjson_val *root, struct message *m)
{
	yyjson_val *got[REQ_N];
	struct event *e;
	int64_t iteration = 0;

	m->kind = STR("request");
	m->from = known_role_actors[KNOWN_ROLE_REQUESTER];
	m->to = known_role_actors[KNOWN_ROLE_PROVIDER];
	check_object(&d->check, root, &request_shape, got);
	if (!json_int(got[REQ_ITERATION], &iteration) || iteration < 1)
		iteration = 0;
	if (iteration > 1 && !got[REQ_APPLIED])
		add_diag(&d->check, SEVERITY_WARNING, RULE("3-applied_feedback"),
			 "applied_feedback",
			 "missing; it should be here from the second iteration on");
	if (iteration == 1 && yyjson_is_obj(got[REQ_APPLIED]))
		add_diag(&d->check, SEVERITY_NOTE, RULE("3-applied_feedback"), "applied_feedback",
			 "the first iteration has no previous turn");
	e = event_add(m, EV_TURN_ASK, STR_NONE, "/iteration");
	e->iteration = iteration;
	e->acked = yyjson_is_obj(got[REQ_APPLIED]);
	e->artifact_hash = value_hash(row_of(&d->check, ROWS_ARTIFACT)[ART_CONTENT]);
	e->content_hash = request_hash(e->artifact_hash,
				       row_of(&d->check, ROWS_APPLIED)[APPLIED_ITEMS], iteration);
	decode_decisions(&d->check, m);
}

static void decode_items(struct checker *c, struct message *m, int64_t iteration)
{
	yyjson_val *const *feedback = row_of(c, ROWS_FEEDBACK), *const *area;
	uint64_t around = 0; /* the hash of what the page of each of them shows, too */
	uint32_t i;

	if (c->rows[ROWS_AREAS].n)
		around = hash_mix(value_hash(feedback[FB_CONFIDENCE]),
				  value_hash(feedback[FB_SUMMARY]));
	rows_foreach(c, ROWS_AREAS, i, area) {
		struct str id = json_str(area[AREA_ID]);
		struct event *e;

		if (!yyjson_is_obj(area[SELF]))
			continue;
		e = event_add(m, EV_ITEM, id, "/feedback/areas_for_improvement/%u/id");
		e->index = i;
		e->item = ITEM_IMPROVEMENT;
		e->iteration = iteration;
		/* a reply needs both */
		e->undecidable = !is_item_id(id) || !iteration;
		e->content_hash = hash_mix(value_hash(area[SELF]), around);
	}
}

static void decode_response(struct decoder *d, yyjson_val *root, struct message *m)
{
	yyjson_val *got[RES_N], *code, *const *ack;
	struct checker *c = &d->check;
	struct event *e;
	bool success, failed;
	int64_t iteration = 0;
	uint32_t i;

	m->kind = STR("response");
	m->from = known_role_actors[KNOWN_ROLE_PROVIDER];
	m->to = known_role_actors[KNOWN_ROLE_REQUESTER];
	check_object(c, root, &response_shape, got);
	if (!json_int(got[RES_ITERATION], &iteration) || iteration < 1)
		iteration = 0;
	success = str_is(json_str(got[RES_STATUS]), "success");
	failed = str_is(json_str(got[RES_STATUS]), "error");
	if (success && !got[RES_FEEDBACK])
		add_diag(c, SEVERITY_ERROR, RULE("4-feedback"), "feedback",
			 "missing; present if status is success");
	if ((success && got[RES_ERROR]) || (failed && !got[RES_ERROR]))
		add_diag(c, SEVERITY_ERROR, RULE("4-error"), "error",
			 "%s present if status is error", success ? "only" : "missing;");
	if (failed && got[RES_FEEDBACK])
		add_diag(c, SEVERITY_ERROR, RULE("4-feedback"), "feedback",
			 "only present if status is success");
	code = row_of(c, ROWS_ERROR)[ERR_CODE];
	if (yyjson_is_str(code) && value_index(code_values, json_str(code)) < 0) {
		path_push(c, "error");
		add_diag(c, SEVERITY_NOTE, RULE("4.2-code"), "code",
			 "not one of the baseline codes");
		path_pop(c);
	}
	e = event_add(m, EV_TURN_ANSWER, STR_NONE, "/iteration");
	e->iteration = iteration;
	e->failed = failed;
	e->acked = yyjson_is_obj(got[RES_ACK]);
	/* gavel's own note on a turn without response (agents/turn.h) acknowledges nothing */
	e->again = failed && json_get(json_get(root, "x-gavel"), "turn");
	rows_foreach(c, ROWS_ITEMS, i, ack) {
		e = event_add(m, EV_ACK, json_str(ack[ACK_ID]),
			      "/applied_feedback_ack/items/%u/id");
		e->index = i;
		e->acked = !str_is(json_str(ack[ACK_STATUS]), "unknown_id");
	}
	decode_items(c, m, iteration);
	if (failed) {
		e = event_add(m, EV_ITEM, STR_NONE, "/error");
		e->item = ITEM_ERROR;
		e->iteration = iteration;
		e->content_hash = value_hash(got[RES_ERROR] ? got[RES_ERROR] : root);
	}
}

static uint64_t token_count(yyjson_val *v)
{
	double n;

	return json_number(v, &n) && n > 0 && n < 1e18 ? (uint64_t)n : 0;
}

static void decode_usage(struct checker *c, struct message *m, yyjson_val *cost)
{
	yyjson_val *const *tokens = row_of(c, ROWS_TOKENS);
	struct event *e = event_add(m, EV_USAGE, STR_NONE, "/part");
	double n;

	e->tokens_in = token_count(tokens[TOKENS_IN]);
	e->tokens_out = token_count(tokens[TOKENS_OUT]) + token_count(tokens[TOKENS_REASONING]);
	e->tokens_cached = token_count(row_of(c, ROWS_CACHE)[CACHE_READ]);
	e->cost = json_number(cost, &n) && n > 0 && n < 1e12 ? n : 0;
}

/* A text line: prose, or a Response, perhaps within prose. */
static void decode_text_part(struct decoder *d, yyjson_val *text, struct message *m)
{
	bool repaired, broken;
	yyjson_val *response = find_response(d, text, &repaired, &broken);
	struct checker *c = &d->check;

	path_push(c, "part");
	if (repaired) {
		m->flags |= RECORD_REPAIRED;
		add_diag(c, SEVERITY_WARNING, "json/repaired", "text",
			 "holds broken Unicode; read with U+FFFD in its place");
	}
	if (broken)
		add_diag(c, SEVERITY_ERROR, RULE("2.2.1-part.text"), "text",
			 "meant to be a Response, but is not JSON: %s", d->inner.why);
	path_pop(c);
	if (response) {
		m->inside = "/part/text";
		decode_response(d, response, m);
	}
}

static void decode_wrapper(struct decoder *d, yyjson_val *root, struct message *m)
{
	yyjson_val *got[WRAP_N], *part[FIELDS_MAX];
	struct checker *c = &d->check;
	struct str type;
	double ms;
	int wt;

	check_object(c, root, &wrapper_shape, got);
	type = json_str(got[WRAP_TYPE]);
	wt = value_number(&wrapper_shape, WRAP_TYPE, got[WRAP_TYPE]);
	m->kind = type.n ? type : STR("unknown");
	m->session = json_str(got[WRAP_SESSION]);
	m->from = known_role_actors[KNOWN_ROLE_PROVIDER];
	if (json_number(got[WRAP_TIMESTAMP], &ms) && ms > -1e15 && ms < 1e15)
		m->time_ms = (int64_t)ms;
	if (wt < 0) {
		if (type.n)
			add_diag(c, SEVERITY_NOTE, RULE("2.2.1-type"), "type",
				 "not a known message type; such messages should be ignored");
		if (!got[WRAP_PART] && !got[WRAP_ERROR])
			add_diag(c, SEVERITY_ERROR, RULE("2.2.1-part"), "part",
				 "missing; it is required");
		return;
	}
	if (wt == WT_ERROR && !got[WRAP_ERROR] && !got[WRAP_PART])
		add_diag(c, SEVERITY_ERROR, RULE("2.2.1-error"), "error",
			 "missing; an error message carries it");
	if (wt != WT_ERROR && wt != WT_DONE && !got[WRAP_PART])
		add_diag(c, SEVERITY_ERROR, RULE("2.2.1-part"), "part", "missing; it is required");
	if (!yyjson_is_obj(got[WRAP_PART]) || !part_shapes[wt])
		return;
	path_push(c, "part");
	check_object(c, got[WRAP_PART], part_shapes[wt], part);
	if (part[PART_SESSION] && m->session.n &&
	    !str_eq(json_str(part[PART_SESSION]), m->session) && yyjson_is_str(part[PART_SESSION]))
		add_diag(c, SEVERITY_WARNING, RULE("2.2.1-part.sessionID"), "sessionID",
			 "not the sessionID of the message");
	path_pop(c);
	if (wt == WT_TEXT && yyjson_is_str(part[TEXT_TEXT]))
		decode_text_part(d, part[TEXT_TEXT], m);
	else if (wt == WT_FINISH)
		decode_usage(c, m, part[FINISH_COST]);
}

static void feedback_decode(struct decoder *d, yyjson_val *root, struct message *m)
{
	switch (form_of(root, d->has)) {
	case FORM_WRAPPER: decode_wrapper(d, root, m); break;
	case FORM_REQUEST: decode_request(d, root, m); break;
	case FORM_RESPONSE: decode_response(d, root, m); break;
	}
}

static int feedback_probe(yyjson_val *const *probed)
{
	struct str type = json_str(probed[PROBED_TYPE]), status = json_str(probed[PROBED_STATUS]);
	int more = 0;

	if (type.p && value_index(wrapper_types, type) >= 0)
		more += 20;
	if (json_is_number(probed[PROBED_TIMESTAMP]))
		more += 10;
	if (status.p && value_index(status_values, status) >= 0)
		more += 10;
	return more;
}

static enum form looked_form(yyjson_val *root)
{
	return form_of(root, dialect_has(&dialect_feedback, root, NULL));
}

/* The Response of a message: itself, or the one inside its text. */
static yyjson_val *response_of(struct decoder *d, yyjson_val *root)
{
	bool repaired, broken;

	switch (looked_form(root)) {
	case FORM_RESPONSE: return root;
	case FORM_REQUEST: return NULL;
	case FORM_WRAPPER: break;
	}
	return find_response(d, json_get(json_get(root, "part"), "text"), &repaired, &broken);
}

static void summarize_response(struct decoder *d, yyjson_val *response, struct buf *out)
{
	yyjson_val *feedback = json_get(response, "feedback");

	if (str_is(json_get_str(response, "status"), "error")) {
		summary_add(d, out, json_get(response, "error"), "{code}: {message}");
		return;
	}
	buf_printf(out, "%zu to improve, %zu good: ",
		   yyjson_arr_size(json_get(feedback, "areas_for_improvement")),
		   yyjson_arr_size(json_get(feedback, "positive_points")));
	buf_add_str(out, json_get_str(feedback, "general_summary"));
}

static void feedback_summarize(struct decoder *d, yyjson_val *root, struct buf *out)
{
	yyjson_val *part = json_get(root, "part"), *response = response_of(d, root);
	struct str type = json_get_str(root, "type");
	int64_t iteration = 0;

	if (response) {
		if (json_int(json_get(response, "iteration"), &iteration))
			buf_printf(out, "iteration %lld, ", (long long)iteration);
		summarize_response(d, response, out);
		return;
	}
	if (looked_form(root) == FORM_REQUEST) {
		if (json_int(json_get(root, "iteration"), &iteration))
			buf_printf(out, "iteration %lld, ", (long long)iteration);
		buf_printf(out, "%zu decisions, ",
			   yyjson_arr_size(json_get(json_get(root, "applied_feedback"), "items")));
		summary_add(d, out, json_get(root, "artifact"), "{media_type}: {#content}");
		return;
	}
	if (str_is(type, "step_finish")) {
		yyjson_val *tokens = json_get(part, "tokens");

		buf_add_str(out, json_get_str(part, "reason"));
		buf_printf(out, " %llu in, %llu out",
			   (unsigned long long)token_count(json_get(tokens, "input")),
			   (unsigned long long)token_count(json_get(tokens, "output")));
	} else if (str_is(type, "tool_use")) {
		yyjson_val *state = json_get(part, "state");

		summary_add(d, out, part, "{tool} ");
		summary_add(d, out, state,
			    json_get(state, "error") ? "{status}: {error}" : "{status}: {title}");
	} else if (str_is(type, "error")) {
		yyjson_val *error = json_get(root, "error");

		summary_add(d, out, error, "{name}: ");
		summary_add(d, out, json_get(error, "data"), "{message}");
	} else {
		buf_add_str(out, json_get_str(part, "text"));
	}
}

static bool feedback_detail(struct decoder *d, yyjson_val *root, enum item_kind kind,
			    uint32_t index, struct detail *out)
{
	yyjson_val *response = response_of(d, root);
	yyjson_val *feedback = json_get(response, "feedback"), *v;

	if (!response)
		return false;
	if (kind == ITEM_ERROR) {
		v = json_get(response, "error");
		detail_part(out, v ? v : response, NULL);
		if (v && !yyjson_is_obj(v))
			detail_add(out, "error", scalar_text(d, v), false);
		out->title = json_get_str(v, "message");
		detail_add(out, "code", json_get_str(v, "code"), true);
		detail_add(out, "message", json_get_str(v, "message"), false);
		return true;
	}
	v = elements_at(&d->elements[0], json_get(feedback, "areas_for_improvement"), index);
	if (kind != ITEM_IMPROVEMENT || !v)
		return false;
	detail_part(out, v, NULL);
	detail_part(out, json_get(feedback, "confidence"), NULL);
	detail_part(out, json_get(feedback, "general_summary"), NULL);
	out->title = json_get_str(v, "description");
	detail_add(out, "aspect", json_get_str(v, "aspect"), false);
	detail_add(out, "description", json_get_str(v, "description"), false);
	detail_add(out, "recommendation", json_get_str(v, "recommendation"), false);
	detail_add(out, "confidence", json_get_str(json_get(feedback, "confidence"), "level"),
		   true);
	detail_add(out, "why", json_get_str(json_get(feedback, "confidence"), "justification"),
		   false);
	detail_add(out, "overall", json_get_str(feedback, "general_summary"), false);
	return true;
}

static const struct shape *const shapes[] = {
	&request_shape, &response_shape, &wrapper_shape, &start_shape,
	&text_shape,	&finish_shape,	 &tool_shape,	 NULL
};

const struct dialect_ops dialect_feedback = {
	.name = "feedback",
	.short_name = "feed",
	.signature = signature,
	.shapes = shapes,
	.probe = feedback_probe,
	.probe_max = 40,
	.decode = feedback_decode,
	.summarize = feedback_summarize,
	.detail = feedback_detail,
	.redelivery = REDELIVERY_ASKED,
};
