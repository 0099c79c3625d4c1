/* Decoder of the orchestrator dialect, agent ↔ orchestrator messages over pipes: requests and
 * responses, events, notifications. The type's prefix gives the direction: request: and event: come
 * from agents, response: and notify: from the orchestrator. Ids are specified as UUIDs, but the
 * specification's own examples have a prefix, so other ids only warn. Examples are all it says of
 * most fields; they show types but no ranges, so a progress or priority out of range only warns,
 * too. Rules are named after the specification's headings. */
#include "dialect/dialect.h"

#define RULE(id) "orchestrator/" id
#define OPEN_SHAPE(table) SHAPE_NOTING(table, RULE("base-unlisted-field"))

static const char *const types[] = {
	"request:query-agents", "request:query-tasks", "request:submit-task", "request:get-task",
	"request:ask-user", "event:progress", "event:log", "event:error", "event:question",
	"response:success", "response:error", "notify:task-assigned", "notify:task-cancelled",
	"notify:shutdown", NULL
};
enum message_type {
	OT_QUERY_AGENTS, OT_QUERY_TASKS, OT_SUBMIT_TASK, OT_GET_TASK, OT_ASK_USER, OT_PROGRESS,
	OT_LOG, OT_ERROR, OT_QUESTION, OT_SUCCESS, OT_FAILURE, OT_ASSIGNED, OT_CANCELLED,
	OT_SHUTDOWN
};
static const char *const prefixes[] = { "request:", "event:", "response:", "notify:", NULL };

/* default of a request without a timeout */
enum { REQUEST_TIMEOUT_MS = 30000 };

/* nested objects to decode */
enum { ROWS_ERROR = 1, ROWS_AGENTS, ROWS_TASKS, ROWS_TASK, ROWS_OPTIONS };

enum { B_TYPE, B_ID, B_TIME, B_AGENT, B_CORRELATION, B_PAYLOAD, B_ERROR, B_N };
static const char *const roles[] = { "worker", "planner", "reviewer", NULL };
static const char *const codes[] = { "INVALID_REQUEST", "INVALID_MESSAGE_TYPE", "UNAUTHORIZED",
				     "NOT_FOUND",	"TIMEOUT",		"INTERNAL_ERROR",
				     NULL };
enum { ERR_CODE, ERR_MESSAGE, ERR_DETAILS };
static const struct field error_fields[] = {
	[ERR_CODE] = { "code", RULE("error-code"), REQUIRED_ENUM(codes) },
	[ERR_MESSAGE] = { "message", RULE("error-message"), REQUIRED, T_STR },
	[ERR_DETAILS] = { "details", RULE("error-details"), OPTIONAL, T_OBJ },
};
static const struct shape error_shape = OPEN_SHAPE(error_fields);

static const struct field base_fields[] = {
	[B_TYPE] = { "type", RULE("base-type"), REQUIRED, T_STR, .open_values = types },
	[B_ID] = { "id", RULE("base-id"), REQUIRED, T_STR, .format = FORMAT_UUID_SOFT },
	[B_TIME] = { "timestamp", RULE("base-timestamp"), REQUIRED_TIME },
	[B_AGENT] = { "agentId", RULE("base-agentId"), OPTIONAL, T_STR },
	[B_CORRELATION] = { "correlationId", RULE("correlation-correlationId"), OPTIONAL, T_STR },
	[B_PAYLOAD] = { "payload", RULE("base-payload"), OPTIONAL, T_OBJ },
	[B_ERROR] = { "error", RULE("error-error"), OPTIONAL, OBJECT(error_shape),
		      .rows = ROWS_ERROR },
};
static const struct shape base_shape = OPEN_SHAPE(base_fields);

/* the specification leaves the lists of states open ("idle" | "busy" | ...) */
static const char *const agent_states[] = { "initializing", "idle",    "busy",	   "paused",
					    "stopping",	    "stopped", "crashed", "unhealthy",
					    NULL };
static const char *const task_states[] = { "pending",	"queued", "assigned",  "running",
					   "completed", "failed", "cancelled", "retrying", NULL };
static const struct field query_agents_fields[] = {
	{ "role", RULE("query-agents-role"), OPTIONAL, T_STR, .values = roles },
	{ "status", RULE("query-agents-status"), OPTIONAL, T_STR, .values = agent_states,
	  .wrong_value = SEVERITY_WARNING },
	{ "capabilities", RULE("query-agents-capabilities"), OPTIONAL, STRINGS },
};
static const struct field query_tasks_fields[] = {
	{ "status", RULE("query-tasks-status"), OPTIONAL, T_STR, .values = task_states },
	{ "requiredRole", RULE("query-tasks-requiredRole"), OPTIONAL, T_STR, .values = roles },
	{ "limit", RULE("query-tasks-limit"), OPTIONAL, T_INT, NOT_NEGATIVE },
};
static const struct field submit_task_fields[] = {
	{ "type", RULE("submit-task-type"), REQUIRED, T_STR },
	{ "name", RULE("submit-task-name"), REQUIRED, T_STR },
	{ "description", RULE("submit-task-description"), REQUIRED, T_STR },
	{ "payload", RULE("submit-task-payload"), REQUIRED, T_OBJ },
	{ "requiredRole", RULE("submit-task-requiredRole"), REQUIRED_ENUM(roles) },
	/* a real orchestrator accepts tasks without these */
	{ "requiredCapabilities", RULE("submit-task-requiredCapabilities"), RECOMMENDED, STRINGS },
	{ "dependencies", RULE("submit-task-dependencies"), RECOMMENDED, STRINGS },
	{ "priority", RULE("submit-task-priority"), RECOMMENDED, T_INT, SOFT_RANGE(1, 5) },
};
enum { GET_TASK };
static const struct field get_task_fields[] = {
	[GET_TASK] = { "taskId", RULE("get-task-taskId"), REQUIRED, T_STR },
};
enum { OPTION_LABEL, OPTION_VALUE };
static const struct field option_fields[] = {
	[OPTION_LABEL] = { "label", RULE("ask-user-label"), REQUIRED, T_STR },
	[OPTION_VALUE] = { "value", RULE("ask-user-value"), REQUIRED, T_STR },
};
static const struct shape option_shape = OPEN_SHAPE(option_fields);
enum { ASK_QUESTION, ASK_OPTIONS, ASK_TIMEOUT };
static const struct field ask_user_fields[] = {
	[ASK_QUESTION] = { "question", RULE("ask-user-question"), REQUIRED, T_STR },
	[ASK_OPTIONS] = { "options", RULE("ask-user-options"), OPTIONAL, OBJECTS(option_shape),
			  .rows = ROWS_OPTIONS },
	[ASK_TIMEOUT] = { "timeout", RULE("ask-user-timeout"), OPTIONAL, T_NUM, NOT_NEGATIVE },
};
enum { PG_TASK, PG_PROGRESS, PG_MESSAGE };
static const struct field progress_fields[] = {
	[PG_TASK] = { "taskId", RULE("progress-taskId"), REQUIRED, T_STR },
	[PG_PROGRESS] = { "progress", RULE("progress-progress"), REQUIRED, T_NUM,
			  SOFT_RANGE(0, 1) },
	[PG_MESSAGE] = { "message", RULE("progress-message"), RECOMMENDED, T_STR },
};
static const char *const levels[] = { "info", "warn", "error", NULL };
static const struct field log_fields[] = {
	{ "level", RULE("log-level"), REQUIRED_ENUM(levels) },
	{ "message", RULE("log-message"), REQUIRED, T_STR },
	{ "context", RULE("log-context"), OPTIONAL, T_OBJ },
};
enum { ERROR_TASK, ERROR_ERROR, ERROR_STACK, ERROR_RECOVERABLE };
static const struct field event_error_fields[] = {
	[ERROR_TASK] = { "taskId", RULE("event-error-taskId"), OPTIONAL, T_STR },
	[ERROR_ERROR] = { "error", RULE("event-error-error"), REQUIRED, T_STR },
	[ERROR_STACK] = { "stack", RULE("event-error-stack"), OPTIONAL, T_STR },
	[ERROR_RECOVERABLE] = { "recoverable", RULE("event-error-recoverable"), REQUIRED, T_BOOL },
};
static const struct field question_fields[] = {
	{ "question", RULE("event-question-question"), REQUIRED, T_STR },
	{ "context", RULE("event-question-context"), OPTIONAL, T_OBJ },
};
enum { NOTIFY_TASK, NOTIFY_TEXT };
static const struct field assigned_fields[] = {
	[NOTIFY_TASK] = { "taskId", RULE("task-assigned-taskId"), REQUIRED, T_STR },
	[NOTIFY_TEXT] = { "message", RULE("task-assigned-message"), RECOMMENDED, T_STR },
};
static const struct field cancelled_fields[] = {
	[NOTIFY_TASK] = { "taskId", RULE("task-cancelled-taskId"), REQUIRED, T_STR },
	[NOTIFY_TEXT] = { "reason", RULE("task-cancelled-reason"), RECOMMENDED, T_STR },
};
static const struct field shutdown_fields[] = {
	{ "gracePeriod", RULE("shutdown-gracePeriod"), REQUIRED, T_NUM, NOT_NEGATIVE },
	{ "reason", RULE("shutdown-reason"), RECOMMENDED, T_STR },
};

/* payloads of the five kinds of success; only one of them is present */
enum { AG_ID, AG_ROLE, AG_STATUS, AG_CAPABILITIES };
static const struct field agent_fields[] = {
	[AG_ID] = { "id", RULE("query-agents-id"), REQUIRED, T_STR },
	[AG_ROLE] = { "role", RULE("query-agents-role"), OPTIONAL, T_STR },
	[AG_STATUS] = { "status", RULE("query-agents-status"), OPTIONAL, T_STR },
	[AG_CAPABILITIES] = { "capabilities", RULE("query-agents-capabilities"), OPTIONAL,
			      STRINGS },
};
static const struct shape agent_shape = { SHAPE_FIELDS(agent_fields), UNKNOWN_OK };
enum { TK_ID, TK_NAME, TK_STATUS, TK_ROLE, TK_DEPENDENCIES };
static const struct field task_fields[] = {
	[TK_ID] = { "id", RULE("query-tasks-id"), REQUIRED, T_STR },
	[TK_NAME] = { "name", RULE("query-tasks-name"), OPTIONAL, T_STR },
	[TK_STATUS] = { "status", RULE("query-tasks-status"), OPTIONAL, T_STR,
			.open_values = task_states },
	[TK_ROLE] = { "requiredRole", RULE("query-tasks-requiredRole"), OPTIONAL, T_STR },
	[TK_DEPENDENCIES] = { "dependencies", RULE("query-tasks-dependencies"), OPTIONAL, STRINGS },
};
static const struct shape task_shape = { SHAPE_FIELDS(task_fields), UNKNOWN_OK };
enum { SUC_AGENTS, SUC_TASKS, SUC_TASK, SUC_ANSWER, SUC_METADATA };
static const struct field success_fields[] = {
	[SUC_AGENTS] = { "agents", RULE("query-agents-agents"), OPTIONAL, OBJECTS(agent_shape),
			 .rows = ROWS_AGENTS },
	[SUC_TASKS] = { "tasks", RULE("query-tasks-tasks"), OPTIONAL, OBJECTS(task_shape),
			.rows = ROWS_TASKS },
	[SUC_TASK] = { "task", RULE("get-task-task"), OPTIONAL, OBJECT(task_shape),
		       .rows = ROWS_TASK },
	[SUC_ANSWER] = { "answer", RULE("ask-user-answer"), OPTIONAL, T_STR },
	[SUC_METADATA] = { "metadata", RULE("ask-user-metadata"), OPTIONAL, T_OBJ },
};

static const struct shape payload_shapes[] = {
	[OT_QUERY_AGENTS] = OPEN_SHAPE(query_agents_fields),
	[OT_QUERY_TASKS] = OPEN_SHAPE(query_tasks_fields),
	[OT_SUBMIT_TASK] = OPEN_SHAPE(submit_task_fields),
	[OT_GET_TASK] = OPEN_SHAPE(get_task_fields),
	[OT_ASK_USER] = OPEN_SHAPE(ask_user_fields),
	[OT_PROGRESS] = OPEN_SHAPE(progress_fields),
	[OT_LOG] = OPEN_SHAPE(log_fields),
	[OT_ERROR] = OPEN_SHAPE(event_error_fields),
	[OT_QUESTION] = OPEN_SHAPE(question_fields),
	[OT_SUCCESS] = { SHAPE_FIELDS(success_fields), UNKNOWN_OK },
	[OT_ASSIGNED] = OPEN_SHAPE(assigned_fields),
	[OT_CANCELLED] = OPEN_SHAPE(cancelled_fields),
	[OT_SHUTDOWN] = OPEN_SHAPE(shutdown_fields),
};

static bool from_orchestrator(struct str type)
{
	return str_starts(type, STR("response:")) || str_starts(type, STR("notify:"));
}

/* A task listed in a response. */
static void add_task(struct message *m, yyjson_val *const *task, const char *at, uint32_t index)
{
	static const enum task_state states[] = { TASK_PENDING,	  TASK_QUEUED,	  TASK_ASSIGNED,
						  TASK_RUNNING,	  TASK_COMPLETED, TASK_FAILED,
						  TASK_CANCELLED, TASK_RETRYING };
	struct str id = json_str(task[TK_ID]);
	int state = value_number(&task_shape, TK_STATUS, task[TK_STATUS]);
	yyjson_val *needs = task[TK_DEPENDENCIES], *v;
	struct event *e;
	size_t i, n;

	if (!id.n || state < 0)
		return;
	e = event_add(m, EV_TASK_STATE, id, at);
	e->index = index;
	e->state = states[state];
	e->again = true; /* a report, not an action: needs no assignment before it */
	if (yyjson_is_arr(needs))
		yyjson_arr_foreach(needs, i, n, v)
			if (json_str(v).n) {
				e = event_add(m, EV_TASK_DEPENDS, id, at);
				e->index = index;
				e->other = json_str(v);
			}
}

/* The response's own event is the message's first. */
static void decode_success(struct checker *c, struct message *m, yyjson_val *const *payload)
{
	yyjson_val *const *row;
	struct event *e = &m->events.v[0];
	uint32_t i;

	e->replies = (uint8_t)(REPLY_AGENTS * !!payload[SUC_AGENTS] |
			       REPLY_TASKS * !!payload[SUC_TASKS] |
			       REPLY_TASK * !!payload[SUC_TASK] |
			       REPLY_ANSWER * !!payload[SUC_ANSWER]);
	e->task = json_str(row_of(c, ROWS_TASK)[TK_ID]);
	if (yyjson_is_str(payload[SUC_ANSWER]))
		e->content_hash = str_hash(json_str(payload[SUC_ANSWER]));
	rows_foreach(c, ROWS_AGENTS, i, row) {
		e = event_add(m, EV_AGENT, json_str(row[AG_ID]), "/payload/agents/%u/id");
		e->index = i;
		e->agent = (struct actor){ json_str(row[AG_ID]), json_str(row[AG_ROLE]), false };
		e->other = json_str(row[AG_STATUS]);
	}
	rows_foreach(c, ROWS_TASKS, i, row)
		add_task(m, row, "/payload/tasks/%u/id", i);
	add_task(m, row_of(c, ROWS_TASK), "/payload/task/id", 0);
}

/* The values that a question offers, as hashes; none if one of them is no string. */
static void add_options(struct decoder *d, struct event *e)
{
	uint32_t n = d->check.rows[ROWS_OPTIONS].n, i;
	yyjson_val *const *option;
	uint64_t *hashes;

	if (!n)
		return;
	hashes = arena_alloc(&d->arena, n * sizeof(*hashes));
	rows_foreach(&d->check, ROWS_OPTIONS, i, option) {
		if (!yyjson_is_str(option[OPTION_VALUE]))
			return;
		hashes[i] = str_hash(json_str(option[OPTION_VALUE]));
	}
	e->options = hashes;
	e->options_n = n;
}

/* The deadline of a request: its time and the timeout it asks for. */
static int64_t deadline_of(int64_t time_ms, yyjson_val *wanted)
{
	double timeout;

	if (!json_number(wanted, &timeout) || timeout < 0 || timeout > 1e15)
		timeout = REQUEST_TIMEOUT_MS;
	return time_ms == TIME_NONE ? TIME_NONE : time_ms + (int64_t)timeout;
}

/* What a person reads of a request, and until when; said: its payload, or all of it. */
static uint64_t request_hash(yyjson_val *said, int64_t deadline_ms)
{
	return hash_mix(value_hash(said), (uint64_t)deadline_ms);
}

/* payload: NULL if absent or invalid; said: the payload whatever it is, or the message. */
static void add_request(struct decoder *d, struct message *m, yyjson_val *const *payload,
			yyjson_val *said, int type)
{
	static const uint8_t replies[] = { [OT_QUERY_AGENTS] = REPLY_AGENTS,
					   [OT_QUERY_TASKS] = REPLY_TASKS,
					   [OT_SUBMIT_TASK] = REPLY_TASK,
					   [OT_GET_TASK] = REPLY_TASK,
					   [OT_ASK_USER] = REPLY_ANSWER };
	struct event *e = event_add(m, EV_REQUEST, m->id, "/id");
	yyjson_val *wanted = payload && type == OT_ASK_USER ? payload[ASK_TIMEOUT] : NULL;

	e->other = m->kind;
	e->deadline_ms = deadline_of(m->time_ms, wanted);
	e->replies = type < 0 ? 0 : replies[type];
	if (type == OT_SUBMIT_TASK || type == OT_ASK_USER) /* before a string is unescaped */
		e->content_hash = request_hash(said, e->deadline_ms);
	if (type == OT_GET_TASK && payload)
		e->task = json_str(payload[GET_TASK]);
	if (type != OT_ASK_USER)
		return;
	if (payload)
		add_options(d, e);
	e = event_add(m, EV_ITEM, m->id, "/id");
	e->item = ITEM_QUESTION;
	e->deadline_ms = m->events.v[0].deadline_ms;
	e->undecidable = !m->id.n;
	e->content_hash = m->events.v[0].content_hash;
}

/* Unknown types that get an INVALID_MESSAGE_TYPE response; only a request: has a deadline. */
static void add_unknown(struct decoder *d, struct message *m, struct str type)
{
	if (!type.n || str_starts(type, STR("event:")) || from_orchestrator(type))
		return;
	add_request(d, m, NULL, NULL, -1);
	if (!str_starts(type, STR("request:")))
		vec_last(&m->events)->deadline_ms = TIME_NONE;
}

static struct event *add_task_state(struct message *m, yyjson_val *task, enum task_state state)
{
	struct event *e = event_add(m, EV_TASK_STATE, json_str(task), "/payload/taskId");

	e->state = state;
	e->again = true;
	return e;
}

static void decode_payload(struct decoder *d, struct message *m, int type,
			   yyjson_val *const *payload)
{
	struct event *e;
	double progress;

	switch ((enum message_type)type) {
	case OT_QUERY_AGENTS:
	case OT_QUERY_TASKS:
	case OT_SUBMIT_TASK:
	case OT_GET_TASK:
	case OT_ASK_USER:
		add_request(d, m, payload, payload[SELF], type);
		break;
	case OT_PROGRESS:
		e = add_task_state(m, payload[PG_TASK], TASK_RUNNING);
		if (json_number(payload[PG_PROGRESS], &progress) && progress >= 0 && progress <= 1)
			e->number = progress;
		break;
	case OT_ERROR:
		if (yyjson_is_false(payload[ERROR_RECOVERABLE])) {
			e = event_add(m, EV_ITEM, m->id, "/id");
			e->item = ITEM_ERROR;
			e->task = json_str(payload[ERROR_TASK]);
			e->content_hash = value_hash(payload[SELF]);
		}
		break;
	case OT_QUESTION:
		e = event_add(m, EV_ITEM, m->id, "/id");
		e->item = ITEM_QUESTION;
		e->undecidable = !m->id.n;
		e->content_hash = value_hash(payload[SELF]);
		break;
	case OT_SUCCESS:
		decode_success(&d->check, m, payload);
		break;
	case OT_ASSIGNED:
		add_task_state(m, payload[NOTIFY_TASK], TASK_ASSIGNED);
		break;
	case OT_CANCELLED:
		add_task_state(m, payload[NOTIFY_TASK], TASK_CANCELLED);
		break;
	case OT_LOG:
	case OT_FAILURE:
	case OT_SHUTDOWN:
		break;
	}
}

/* An unknown event is a warning (real orchestrators ignore it); other unknown types are answered
 * with INVALID_MESSAGE_TYPE, and so an error. */
static void check_type(struct checker *c, struct str type, int index)
{
	char q[QUOTED_MAX];
	bool is_event;

	if (index >= 0 || !type.p)
		return;
	is_event = str_starts(type, STR("event:"));
	add_diag(c, is_event ? SEVERITY_WARNING : SEVERITY_ERROR, RULE("base-type"), "type",
		 "%s is not %s of the protocol", quoted(type, q),
		 is_event ? "an event" : "a message type");
}

static void check_response(struct checker *c, int type, yyjson_val **got)
{
	if (!got[B_CORRELATION])
		add_diag(c, SEVERITY_ERROR, RULE("correlation-correlationId"), "correlationId",
			 "missing; a response names the request it answers");
	if (type == OT_FAILURE && !got[B_ERROR])
		add_diag(c, SEVERITY_ERROR, RULE("error-error"), "error",
			 "missing; it is required");
}

/* Who gave a reply, as gavel writes it in an answer from an escalation queue. Only a reply file is
 * believed to name a person. */
static struct str person_of(const struct decoder *d, yyjson_val *const *got)
{
	yyjson_val *open = json_get(got[B_ERROR], "details");

	if (!d->info.reply)
		return STR_NONE;
	if (!open)
		open = json_get(got[B_PAYLOAD], "metadata");
	return json_get_str(json_get(open, "x-gavel"), "by");
}

static void orchestrator_decode(struct decoder *d, yyjson_val *root, struct message *m)
{
	yyjson_val *got[B_N], *row[1 + FIELDS_MAX], **payload = row + 1;
	struct checker *c = &d->check;
	int type;

	m->content_hash = str_hash(d->bytes); /* before any of them is unescaped */
	check_object(c, root, &base_shape, got);
	m->kind = json_str(got[B_TYPE]);
	type = value_number(&base_shape, B_TYPE, got[B_TYPE]);
	check_type(c, m->kind, type);
	if (!m->kind.n)
		m->kind = STR("unknown");
	m->id = json_str(got[B_ID]);
	m->time_ms = checked_time(c, got[B_TIME]);
	m->correlation = json_str(got[B_CORRELATION]);
	if (!m->correlation.n)
		m->correlation = m->id;
	m->from.id = json_str(got[B_AGENT]);
	if (from_orchestrator(m->kind)) {
		m->to = (struct actor){ m->from.id, STR("agent"), false };
		m->from = known_role_actors[KNOWN_ROLE_ORCHESTRATOR];
	} else {
		m->from.type = STR("agent");
		if (!m->from.id.n)
			m->from.id = STR("agent");
		m->to = known_role_actors[KNOWN_ROLE_ORCHESTRATOR];
	}
	if (str_starts(m->kind, STR("response:"))) {
		struct event *e = event_add(m, EV_RESPONSE, json_str(got[B_CORRELATION]),
					    "/correlationId");

		e->failed = type == OT_FAILURE;
		e->other = json_str(row_of(c, ROWS_ERROR)[ERR_CODE]);
		e->agent.id = person_of(d, got);
		check_response(c, type, got);
	}
	if (type < 0)
		add_unknown(d, m, json_str(got[B_TYPE]));
	if (type < 0 || type == OT_FAILURE)
		return;
	if (!yyjson_is_obj(got[B_PAYLOAD])) {
		if (!got[B_PAYLOAD])
			add_diag(c, SEVERITY_ERROR, RULE("base-payload"), "payload",
				 "missing; it is required");
		if (type <= OT_ASK_USER)
			add_request(d, m, NULL, got[B_PAYLOAD] ? got[B_PAYLOAD] : root, type);
		return;
	}
	path_push(c, "payload");
	payload[SELF] = got[B_PAYLOAD];
	check_object(c, payload[SELF], &payload_shapes[type], payload);
	path_pop(c);
	decode_payload(d, m, type, payload);
}

enum { TYPE_WEIGHT = 100 };

/* A type with a known prefix decides alone; otherwise other hints add up. */
static int orchestrator_probe(yyjson_val *const *probed)
{
	static const char *const known[] = { "taskId",	"question",    "role",	    "requiredRole",
					     "level",	"gracePeriod", "recoverable", "progress",
					     "limit",	"status",      "capabilities", NULL };
	struct str type = json_str(probed[PROBED_TYPE]), id = json_str(probed[PROBED_ID]);
	yyjson_val *payload = probed[PROBED_PAYLOAD];
	int more = 0;

	if (type.n && type.p[0] != ':' && memchr(type.p + 1, ':', type.n - 1)) {
		for (int i = 0; prefixes[i]; i++)
			if (str_starts(type, str_of(prefixes[i])))
				return TYPE_WEIGHT;
		more += 30;
	}
	if (is_uuid(id, false) || (id.n > 37 && is_uuid(str_from(id, id.n - 36), false)))
		more += 10;
	for (int i = 0; payload && known[i]; i++)
		if (json_get(payload, known[i])) {
			more += 15;
			break;
		}
	return more;
}

/* The first 8 digits of a UUID; other ids in full. */
static struct str short_id(struct str id)
{
	return id.n > 20 && is_uuid(id, false) ? str_make(id.p, 8) : id;
}

static void orchestrator_summarize(struct decoder *d, yyjson_val *root, struct buf *out)
{
	yyjson_val *p = json_get(root, "payload");
	int type = value_index(types, json_get_str(root, "type"));

	switch (type) {
	case OT_SUBMIT_TASK:
		summary_add(d, out, p, "{name}");
		break;
	case OT_ASK_USER:
	case OT_QUESTION:
		summary_add(d, out, p, "{question}");
		break;
	case OT_PROGRESS:
		buf_add_str(out, short_id(json_get_str(p, "taskId")));
		summary_add(d, out, p, " {#progress}: {message}");
		break;
	case OT_LOG:
		summary_add(d, out, p, "{level}: {message}");
		break;
	case OT_ERROR:
		summary_add(d, out, p, "{error}");
		break;
	case OT_FAILURE:
		summary_add(d, out, json_get(root, "error"), "{code}: {message}");
		break;
	case OT_ASSIGNED:
	case OT_CANCELLED:
		buf_add_str(out, short_id(json_get_str(p, "taskId")));
		summary_add(d, out, p, type == OT_ASSIGNED ? ": {message}" : ": {reason}");
		break;
	default:
		if (json_get(p, "answer"))
			summary_add(d, out, p, "answer: {answer}");
		else
			json_write(out, p ? p : root);
	}
}

static struct str options_text(struct decoder *d, yyjson_val *options)
{
	struct buf b = { 0 };
	size_t i, n;
	yyjson_val *v;

	yyjson_arr_foreach(options, i, n, v) {
		buf_printf(&b, "%s%zu  ", i ? "\n" : "", i + 1);
		summary_add(d, &b, v, "{label} = {#value}");
	}
	return arena_take(&d->arena, &b);
}

static bool orchestrator_detail(struct decoder *d, yyjson_val *root, enum item_kind kind,
				uint32_t index, struct detail *out)
{
	yyjson_val *p = json_get(root, "payload"), *context = json_get(p, "context");
	int64_t sent_ms = iso_time(json_get(root, "timestamp"));

	(void)index;
	detail_part(out, p ? p : root, NULL);
	if (p && !yyjson_is_obj(p))
		detail_add(out, "payload", scalar_text(d, p), false);
	switch (kind) {
	case ITEM_QUESTION:
		if (!str_is(json_get_str(root, "type"), types[OT_QUESTION]))
			out->deadline_ms = deadline_of(sent_ms, json_get(p, "timeout"));
		out->title = json_get_str(p, "question");
		detail_add(out, "question", json_get_str(p, "question"), false);
		if (yyjson_is_arr(json_get(p, "options"))) {
			out->options = json_get(p, "options");
			detail_add(out, "options", options_text(d, out->options), false);
		}
		detail_add(out, "timeout ms", scalar_text(d, json_get(p, "timeout")), true);
		detail_add(out, "context", scalar_text(d, context), false);
		return true;
	case ITEM_ERROR:
		out->title = json_get_str(p, "error");
		detail_add(out, "task", json_get_str(p, "taskId"), true);
		detail_add(out, "error", json_get_str(p, "error"), false);
		detail_add(out, "stack", json_get_str(p, "stack"), false);
		return true;
	case ITEM_TASK:
		out->deadline_ms = deadline_of(sent_ms, NULL);
		out->title = json_get_str(p, "name");
		detail_add(out, "type", json_get_str(p, "type"), true);
		detail_add(out, "description", json_get_str(p, "description"), false);
		return true;
	default:
		return false;
	}
}

static const struct detection_key signature[] = {
	{ "type", 5 },	   { "id", 15 },      { "timestamp", 5 }, { "payload", 15 },
	{ "agentId", 15 }, { "correlationId", 40 }, { NULL, 0 },
};

#define TYPE(type) &payload_shapes[OT_##type]
static const struct shape *const shapes[] = {
	&base_shape,	TYPE(QUERY_AGENTS), TYPE(QUERY_TASKS), TYPE(SUBMIT_TASK), TYPE(GET_TASK),
	TYPE(ASK_USER), TYPE(PROGRESS),	    TYPE(LOG),	       TYPE(ERROR),	  TYPE(QUESTION),
	TYPE(SUCCESS),	TYPE(ASSIGNED),	    TYPE(CANCELLED),   TYPE(SHUTDOWN),	  NULL
};

const struct dialect_ops dialect_orchestrator = {
	.name = "orchestrator",
	.short_name = "orch",
	.signature = signature,
	.shapes = shapes,
	.probe = orchestrator_probe,
	.probe_max = TYPE_WEIGHT,
	.decode = orchestrator_decode,
	.summarize = orchestrator_summarize,
	.detail = orchestrator_detail,
	.redelivery = REDELIVERY_ASKED,
};
