/* Decodes the conversation in Claude Code's streams and transcripts: prompts, tool calls and their
 * results, turns, subagents, tasks, modes, usage.
 *
 * A stream tells of turns itself: system/init begins one, result ends it, with the usage. In a
 * transcript the prompt begins it, and the model's stop_reason ends it; each reply of the model has
 * its usage in all of its lines, of which only the first counts. */
#include "dialect/claude.h"

#define RULE(id) "claude/" id

static const struct field message_fields[] = {
	{ "content", RULE("talk-content"), REQUIRED, T_STR | T_ARR, .elements = T_OBJ },
};
static const struct shape message_shape = { SHAPE_FIELDS(message_fields), UNKNOWN_OK };

static const struct field talk_fields[] = {
	{ "message", RULE("talk-message"), REQUIRED, OBJECT(message_shape) },
};
const struct shape claude_talk_shape = { SHAPE_FIELDS(talk_fields), UNKNOWN_OK };

bool claude_tool_changes(struct str tool)
{
	static const char *const harmless[] = {
		"Read", "Glob", "Grep", "LS", "NotebookRead", "WebFetch", "WebSearch", "ToolSearch",
		"Task", "Agent", "ListAgents", "SendMessage", "Skill", "TaskCreate", "TaskGet",
		"TaskList", "TaskUpdate", "TaskStop", "TaskOutput", "TodoWrite", "TodoRead",
		"BashOutput", "Monitor", "ReportFindings", "CronList", "ListMcpResourcesTool",
		"ReadMcpResourceTool", "EnterPlanMode", CLAUDE_QUESTION, CLAUDE_PLAN, NULL
	};

	return value_index(harmless, tool) < 0;
}

static void add_folder(struct message *m, yyjson_val *folder)
{
	if (json_str(folder).n)
		event_add(m, EV_FOLDER, STR_NONE, "/cwd")->other = json_str(folder);
}

void claude_add_mode(struct message *m, yyjson_val *mode, const char *at)
{
	struct event *e;

	if (!json_str(mode).n)
		return;
	e = event_add(m, EV_MODE, STR_NONE, at);
	e->other = json_str(mode);
	e->severe = str_is(e->other, "default") || str_is(e->other, "plan");
}

static struct event *add_turn(struct message *m, enum task_state state)
{
	struct event *e = event_add(m, EV_TURN, STR_NONE, "/type");

	e->state = state;
	return e;
}

static struct event *add_task(struct message *m, struct str id, enum task_state state,
			      const char *at)
{
	struct event *e = event_add(m, EV_TASK_STATE, id, at);

	e->state = state;
	e->number = -1;
	e->again = true;
	return e;
}

/* ---- usage ---- */

static uint64_t count(yyjson_val *usage, const char *name)
{
	int64_t n;

	return json_int(json_get(usage, name), &n) && n > 0 ? (uint64_t)n : 0;
}

static void count_reply(struct event *e, yyjson_val *usage)
{
	e->tokens_in += count(usage, "input_tokens") + count(usage, "cache_creation_input_tokens");
	e->tokens_out += count(usage, "output_tokens");
	e->tokens_cached += count(usage, "cache_read_input_tokens");
}

/* Usage by model, subagents included. */
static void count_models(struct event *e, yyjson_val *models)
{
	yyjson_val *key, *usage;
	size_t i, n;

	yyjson_obj_foreach(models, i, n, key, usage) {
		e->tokens_in += count(usage, "inputTokens") +
				count(usage, "cacheCreationInputTokens");
		e->tokens_out += count(usage, "outputTokens");
		e->tokens_cached += count(usage, "cacheReadInputTokens");
	}
}

void claude_decode_cost(yyjson_val *root, struct message *m)
{
	struct event *e = event_add(m, EV_USAGE, STR_NONE, "/totalCostUSD");

	e->again = true;
	json_number(json_get(root, "totalCostUSD"), &e->cost);
}

/* ---- turns ---- */

static enum task_state end_state(yyjson_val *root)
{
	struct str reason = json_get_str(root, "terminal_reason");

	if (str_starts(reason, STR("aborted")))
		return TASK_CANCELLED;
	return yyjson_is_true(json_get(root, "is_error")) ||
			       str_starts(json_get_str(root, "subtype"), STR("error"))
		       ? TASK_FAILED
		       : TASK_COMPLETED;
}

/* total_cost_usd is of the whole process, usage is of the turn. */
void claude_decode_result(yyjson_val *root, struct message *m)
{
	yyjson_val *models = json_get(root, "model_usage_since_last_result");
	struct event *e = event_add(m, EV_WITHDRAWN, STR_NONE, "/type");

	add_turn(m, end_state(root));
	e = event_add(m, EV_USAGE, STR_NONE, "/usage");
	e->again = true;
	if (yyjson_is_obj(models))
		count_models(e, models);
	else
		count_reply(e, json_get(root, "usage"));
	json_number(json_get(root, "total_cost_usd"), &e->cost);
}

/* ---- subagents and what runs in the background ---- */

static enum task_state state_named(struct str name)
{
	static const struct {
		const char *name;
		enum task_state state;
	} states[] = {
		{ "pending", TASK_PENDING },	 { "in_progress", TASK_RUNNING },
		{ "running", TASK_RUNNING },	 { "completed", TASK_COMPLETED },
		{ "failed", TASK_FAILED },	 { "killed", TASK_CANCELLED },
		{ "stopped", TASK_CANCELLED },	 { "deleted", TASK_CANCELLED },
		{ "cancelled", TASK_CANCELLED }, { "paused", TASK_PENDING },
	};

	for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++)
		if (str_is(name, states[i].name))
			return states[i].state;
	return TASK_STATE_COUNT;
}

static void add_background(struct message *m, struct str id, struct str status)
{
	enum task_state state = state_named(status);

	if (!id.n || state == TASK_STATE_COUNT)
		return;
	add_task(m, id, state, "/task_id");
	if (state == TASK_COMPLETED || state == TASK_FAILED || state == TASK_CANCELLED)
		event_add(m, EV_WITHDRAWN, STR_NONE, "/task_id")->task = id;
}

/* A subagent is introduced by what it is for. */
static void add_started(yyjson_val *root, struct message *m, struct str id)
{
	struct str name = json_get_str(root, "description"), type = json_get_str(root, "subagent_type");
	struct event *e;

	if (type.n) {
		e = event_add(m, EV_AGENT, id, "/task_id");
		e->agent.id = name.n ? name : type;
		e->agent.type = STR("subagent");
	}
	add_task(m, id, TASK_RUNNING, "/task_id")->tests = type.n > 0;
}

void claude_decode_system(yyjson_val *root, struct message *m)
{
	static const char *const subtypes[] = { "init", "status", "task_started", "task_progress",
						"task_updated", "task_notification", NULL };
	enum { INIT, STATUS, STARTED, PROGRESS, UPDATED, NOTIFICATION };
	struct str id = json_get_str(root, "task_id");

	m->correlation = json_get_str(root, "tool_use_id");
	switch (value_index(subtypes, json_get_str(root, "subtype"))) {
	case INIT:
		add_folder(m, json_get(root, "cwd"));
		claude_add_mode(m, json_get(root, "permissionMode"), "/permissionMode");
		add_turn(m, TASK_RUNNING);
		break;
	case STATUS:
		claude_add_mode(m, json_get(root, "permissionMode"), "/permissionMode");
		break;
	case STARTED:
		if (id.n)
			add_started(root, m, id);
		break;
	case PROGRESS:
		add_background(m, id, STR("running"));
		break;
	case UPDATED:
		add_background(m, id, json_get_str(json_get(root, "patch"), "status"));
		break;
	case NOTIFICATION:
		add_background(m, id, json_get_str(root, "status"));
		break;
	default: break;
	}
}

/* ---- tool calls ---- */

static void add_calls(yyjson_val *content, struct message *m)
{
	yyjson_val *block;
	size_t i, n;

	yyjson_arr_foreach(content, i, n, block) {
		struct event *e;

		if (!str_is(json_get_str(block, "type"), "tool_use"))
			continue;
		e = event_add(m, EV_TOOL, json_get_str(block, "id"), "/message/content/%u/id");
		e->index = (uint32_t)i;
		e->tool = TOOL_STARTED;
		e->other = json_get_str(block, "name");
		e->severe = claude_tool_changes(e->other);
		if (!m->correlation.n)
			m->correlation = e->id;
	}
}

/* How a call came to run, or not. */
struct permission {
	struct str decision, source, reason;
	struct str denial; /* why it did not run; empty = it did, or nobody says */
};

static struct permission permission_of(yyjson_val *root, struct str call)
{
	yyjson_val *meta = json_get(root, "tool_result_meta"), *v, *decision;
	struct permission p = { .denial = json_get_str(root, "toolDenialKind") };
	size_t i, n;

	decision = json_get(root, "permissionDecision"); /* of a transcript */
	yyjson_arr_foreach(meta, i, n, v)
		if (str_eq(json_get_str(v, "id"), call)) {
			decision = json_get(v, "permission_decision");
			p.denial = json_get_str(v, "non_execution_kind");
			break;
		}
	p.decision = json_get_str(decision, "decision");
	p.source = json_get_str(decision, "source");
	p.reason = json_get_str(decision, "reason_type");
	if (!p.reason.n)
		p.reason = json_get_str(decision, "reasonType");
	return p;
}

static bool is_by_person(const struct permission *p)
{
	return str_starts(p->source, STR("user")) ||
	       (!p->source.n && str_is(p->denial, "user-rejected"));
}

/* What allowed a call, if no person did. */
static struct str allowed_by(const struct permission *p)
{
	if (is_by_person(p))
		return STR_NONE;
	if (!str_is(p->source, "config"))
		return p->source;
	if (str_is(p->reason, "subcommandResults")) /* each part of a command by one of its own */
		return STR("rules");
	return !p->reason.n || str_is(p->reason, "other") ? STR("settings") : p->reason;
}

static void add_result(yyjson_val *root, struct message *m, yyjson_val *block, uint32_t index)
{
	static const char at[] = "/message/content/%u/tool_use_id";
	struct str call = json_get_str(block, "tool_use_id");
	struct permission p = permission_of(root, call);
	bool failed = yyjson_is_true(json_get(block, "is_error"));
	struct event *e;

	if (is_by_person(&p)) { /* in another window, if not by an ask that is here */
		e = event_add(m, EV_TOOL, call, at);
		e->index = index;
		e->tool = TOOL_ASKED;
	}
	e = event_add(m, EV_TOOL, call, at);
	e->index = index;
	e->tool = str_is(p.decision, "reject") || p.denial.n ? TOOL_DENIED
		  : failed				     ? TOOL_FAILED
							     : TOOL_COMPLETED;
	e->other = allowed_by(&p);
	/* what a rule, a hook or an error decided is no proof that an answer was used */
	e->undecidable = p.source.n && !is_by_person(&p);
	if (!m->correlation.n)
		m->correlation = call;
}

/* Claude numbers its tasks when they are created. */
static struct str task_id(struct decoder *d, struct str number)
{
	return number.n ? str_of(arena_printf(&d->arena, "task %.*s", STR_ARG(number))) : STR_NONE;
}

static void add_kept_task(struct decoder *d, yyjson_val *result, struct message *m)
{
	struct str created = task_id(d, json_get_str(json_get(result, "task"), "id"));
	struct str changed = task_id(d, json_get_str(result, "taskId"));
	enum task_state state =
		state_named(json_get_str(json_get(result, "statusChange"), "to"));

	if (created.n && json_get(json_get(result, "task"), "subject"))
		add_task(m, created, TASK_PENDING, "/type");
	else if (changed.n && state != TASK_STATE_COUNT)
		add_task(m, changed, state, "/type");
}

static bool add_results(struct decoder *d, yyjson_val *root, yyjson_val *content,
			struct message *m)
{
	yyjson_val *block, *result = json_get(root, "tool_use_result");
	bool any = false;
	size_t i, n;

	yyjson_arr_foreach(content, i, n, block)
		if (str_is(json_get_str(block, "type"), "tool_result")) {
			add_result(root, m, block, (uint32_t)i);
			any = true;
		}
	if (any)
		add_kept_task(d, result ? result : json_get(root, "toolUseResult"), m);
	return any;
}

/* ---- what people and the model say ---- */

/* A line of the transcript that a person or a program typed, and not one that Claude Code added. What
 * an agent writes itself is no transcript: nobody but the agent has said it. */
static bool is_typed(const struct decoder *d, yyjson_val *root)
{
	return claude_direction(d) != DIRECTION_IN && json_get(root, "sessionId") &&
	       !yyjson_is_true(json_get(root, "isMeta")) &&
	       !yyjson_is_true(json_get(root, "isSidechain")) &&
	       !yyjson_is_true(json_get(root, "isCompactSummary")) &&
	       yyjson_is_str(json_get(json_get(root, "message"), "content"));
}

static struct str first_text(yyjson_val *content)
{
	return json_get_str(yyjson_arr_get_first(content), "text");
}

static void decode_user(struct decoder *d, yyjson_val *root, struct message *m, bool told)
{
	yyjson_val *content = json_get(json_get(root, "message"), "content");
	bool prompt = told || is_typed(d, root) ||
		      (claude_direction(d) == DIRECTION_UNKNOWN && !json_get(root, "session_id") &&
		       !json_get(root, "sessionId"));

	if (add_results(d, root, content, m))
		return;
	if (prompt && !told) {
		m->to = m->from;
		m->from = known_role_actors[KNOWN_ROLE_CLIENT];
	} else if (str_is(m->from.type, "subagent")) {
		m->to = m->from; /* its prompt */
		m->from = claude_actor;
	}
	if (json_get(root, "sessionId") && !prompt &&
	    str_starts(first_text(content), STR("[Request interrupted")))
		add_turn(m, TASK_CANCELLED);
	claude_add_mode(m, json_get(root, "permissionMode"), "/permissionMode");
	if (prompt || yyjson_is_true(json_get(root, "isReplay")))
		add_turn(m, TASK_RUNNING)->tests = true;
}

static void decode_assistant(yyjson_val *root, struct message *m)
{
	yyjson_val *message = json_get(root, "message"), *index = json_get(root, "apiBlockIndex");
	struct str stop = json_get_str(message, "stop_reason");
	int64_t block = 0;

	add_calls(json_get(message, "content"), m);
	if (!json_get(root, "sessionId"))
		return;
	json_int(index, &block);
	if (!block)
		count_reply(event_add(m, EV_USAGE, STR_NONE, "/message/usage"),
			    json_get(message, "usage"));
	if (str_is(stop, "end_turn") && !yyjson_is_true(json_get(root, "isSidechain")))
		add_turn(m, TASK_COMPLETED);
}

void claude_decode_talk(struct decoder *d, yyjson_val *root, struct message *m, bool told)
{
	yyjson_val *got[1];

	check_object(&d->check, root, &claude_talk_shape, got);
	if (str_is(m->kind, "assistant"))
		decode_assistant(root, m);
	else
		decode_user(d, root, m, told);
}
