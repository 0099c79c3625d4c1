/* What an agent of acp reports by session/update: its tool calls, text, plan, mode and costs. */
#include "dialect/acp.h"

/* ---- tool calls ---- */

/* Tools of these kinds change something. */
static bool changes_something(struct str kind)
{
	static const char *const kinds[] = { "execute", "edit", "delete", "move" };

	for (unsigned i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (str_is(kind, kinds[i]))
			return true;
	return false;
}

/* Whether a failed call is known not to have run: claude-agent-acp says why, and a command of
 * codex-acp has neither exit code nor signal. */
static bool did_not_run(yyjson_val *call)
{
	yyjson_val *meta = json_get(call, "_meta"), *end = json_get(meta, "terminal_exit");

	return json_get(json_get(meta, "claudeCode"), "nonExecutionKind") ||
	       (end && yyjson_is_null(json_get(end, "exit_code")) &&
		yyjson_is_null(json_get(end, "signal")));
}

static enum tool_state state_of_call(yyjson_val *call, bool begins)
{
	struct str status = json_get_str(call, "status");

	if (str_is(status, "completed"))
		return TOOL_COMPLETED;
	if (str_is(status, "failed"))
		return did_not_run(call) ? TOOL_DENIED : TOOL_FAILED;
	return begins ? TOOL_STARTED : TOOL_GOES_ON;
}

/* The call of a subagent's tool that this one belongs to. */
struct str acp_parent_call(yyjson_val *v)
{
	return json_get_str(json_get(json_get(v, "_meta"), "claudeCode"), "parentToolUseId");
}

void acp_set_subagent(struct decoder *d, struct message *m, struct str session, struct str parent)
{
	if (parent.n)
		m->from = (struct actor){ acp_name_within(d, session, parent), STR("subagent") };
}

static bool starts_subagent(yyjson_val *call)
{
	struct str tool = acp_tool(call);

	return str_is(tool, "Agent") || str_is(tool, "Task");
}

/* A call that starts a subagent introduces it, once its input is known. */
static void introduce_subagent(struct message *m, yyjson_val *call, struct str id)
{
	yyjson_val *input = json_get(call, "rawInput");
	struct str name = json_get_str(input, "description");
	struct event *e;

	if (!starts_subagent(call))
		return;
	if (!name.n)
		name = json_get_str(input, "subagent_type");
	if (!name.n)
		return;
	e = event_add(m, EV_AGENT, id, "/params/update/toolCallId");
	e->agent = (struct actor){ name, STR("subagent") };
}

static bool tells_input(yyjson_val *call)
{
	return yyjson_obj_size(json_get(call, "rawInput")) ||
	       yyjson_arr_size(json_get(call, "content")) ||
	       yyjson_arr_size(json_get(call, "locations"));
}

struct event *acp_add_tool(struct message *m, yyjson_val *call, struct str session,
			      struct str id, enum tool_state state)
{
	struct event *e = event_add(m, EV_TOOL, id, "/params/update/toolCallId");

	e->tool = state;
	e->task = session;
	e->severe = changes_something(json_get_str(call, "kind"));
	e->again = tells_input(call);
	if (state == TOOL_STARTED || state == TOOL_ASKED || state == TOOL_GOES_ON)
		e->other = acp_tool(call);
	return e;
}

static void decode_call(struct decoder *d, struct message *m, yyjson_val *call, struct str session,
			bool begins)
{
	struct str id = acp_name_within(d, session, json_get_str(call, "toolCallId"));
	enum tool_state state = state_of_call(call, begins);

	if (!id.n)
		return;
	m->correlation = id;
	acp_set_subagent(d, m, session, acp_parent_call(call));
	if (begins && state != TOOL_STARTED) /* told of when it was over */
		acp_add_tool(m, call, session, id, TOOL_STARTED);
	acp_add_tool(m, call, session, id, state);
	introduce_subagent(m, call, id);
}

/* ---- what the agent reports ---- */

/* It goes on, so it has what it was answered; calls: also those that it told of before it asked, whose
 * own updates are awaited otherwise. */
void acp_add_proof(struct message *m, struct str session, bool calls)
{
	struct event *e = event_add(m, EV_ACK, STR_NONE, "");

	e->task = session;
	e->again = !calls;
}

/* Modes in which the agent asks before each change. codex-acp's "read-only" and "workspace-write" let
 * commands run in a sandbox unasked; opencode's "build" asks as its configuration says. */
void acp_add_mode(struct message *m, struct str mode, struct str session, const char *at)
{
	struct event *e;

	if (!mode.n)
		return;
	e = event_add(m, EV_MODE, STR_NONE, at);
	e->other = mode;
	e->task = session;
	e->severe = str_is(mode, "default") || str_is(mode, "plan") || str_is(mode, "ask");
}

static void add_cost(struct message *m, yyjson_val *update, struct str session)
{
	struct event *e;
	double amount;

	if (!json_number(json_get(json_get(update, "cost"), "amount"), &amount) || amount < 0)
		return;
	e = event_add(m, EV_USAGE, STR_NONE, "/params/update/cost/amount");
	e->task = session;
	e->cost = amount;
	e->again = true;
}

/* An entry of a plan has no id: it is called by its words. */
static void add_plan(struct decoder *d, struct message *m, yyjson_val *entries)
{
	enum { WORDS_MAX = 80 };
	yyjson_val *entry;
	size_t i, n;

	if (!yyjson_is_arr(entries))
		return;
	yyjson_arr_foreach(entries, i, n, entry) {
		struct str words = json_get_str(entry, "content");
		struct str status = json_get_str(entry, "status");
		struct event *e;

		if (words.n > WORDS_MAX)
			for (words.n = WORDS_MAX; words.n && (words.p[words.n] & 0xc0) == 0x80;)
				words.n--;
		if (!words.n)
			continue;
		e = event_add(m, EV_TASK_STATE, arena_str(&d->arena, words),
			      "/params/update/entries/%u");
		e->index = (uint32_t)i;
		e->number = -1;
		e->state = str_is(status, "completed")	   ? TASK_COMPLETED
			   : str_is(status, "in_progress") ? TASK_RUNNING
							   : TASK_PENDING;
	}
}

/* session/load tells again what was said in a session; nothing of that happens now. */
void acp_add_replay(struct message *m, struct str session, struct str request)
{
	struct event *e = event_add(m, EV_TURN, request, "/params/sessionId");

	e->task = session;
	e->again = true;
}

void acp_decode_update(struct decoder *d, struct message *m, yyjson_val *update,
			  struct str session)
{
	enum acp_update what = acp_update(update);

	switch (what) {
	case UPDATE_TEXT:
	case UPDATE_THOUGHT:
		acp_add_proof(m, session, false);
		break;
	case UPDATE_USER: acp_add_replay(m, session, STR_NONE); break;
	case UPDATE_CALL:
		acp_add_proof(m, session, false);
		decode_call(d, m, update, session, true);
		break;
	case UPDATE_CALL_NEWS: decode_call(d, m, update, session, false); break;
	case UPDATE_PLAN: add_plan(d, m, json_get(update, "entries")); break;
	case UPDATE_USAGE: add_cost(m, update, session); break;
	case UPDATE_MODE:
	case UPDATE_OPTIONS: acp_add_mode(m, acp_mode(update), session, "/params/update"); break;
	case UPDATE_SESSION: m->time_ms = iso_time(json_get(update, "updatedAt")); break;
	case UPDATE_COMMANDS:
	case UPDATE_OTHER: break;
	}
}

