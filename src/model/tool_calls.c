/* Tool calls and turns of real agents: which calls changed something, and whether a person was asked
 * before. */
#include "model/asks.h"

uint32_t tool_call_find(const struct model *m, const struct session_asks *s, uint64_t id)
{
	for (uint32_t it = 0, v; id && map_next(&s->calls, id, &it, &v);)
		if (m->tool_calls.v[v].id == id)
			return v;
	return NONE;
}

void tool_act_add(struct apply_ctx *a, uint32_t agent, bool asked)
{
	heap_push(a->m->heap, &a->m->tool_acts, (struct tool_act){ a->message, agent, asked });
}

static struct tool_call *call_begin(struct apply_ctx *a, const struct event *e)
{
	struct session_asks *s = asks_of(a);
	struct model *m = a->m;

	map_put(m->heap, &s->calls, id_hash(a, e), m->tool_calls.n);
	heap_push(m->heap, &m->tool_calls,
		  (struct tool_call){ .id = id_hash(a, e), .message = a->message,
				      .told = a->message, .agent = a->from, .end = NONE,
				      .severe = e->severe, .ask = NONE,
				      .content = (uint32_t)e->content_hash,
				      .tool = e->other.n ? model_intern(m, e->other) : NONE });
	return vec_last(&m->tool_calls);
}

/* A call that changes something was completed, and no person was asked. */
static void report_unasked(struct apply_ctx *a, const struct tool_call *call, const struct event *e,
			   const struct ask_rules *rules)
{
	const struct session_asks *s = asks_of(a);
	struct str tool = model_str(a->m, call->tool), by = e->other;
	char name[QUOTED_MAX], why[QUOTED_MAX];

	tool_act_add(a, call->agent, false);
	if (!by.n && s->reviewed == call->id)
		by = model_str(a->m, s->reviewer);
	if (by.n)
		report(a, SEVERITY_NOTE, rules->unasked, e->at, e->index,
		       "%s was run without asking: allowed by %s", quoted(tool, name),
		       quoted(by, why));
	else if (s->allowed_always != NONE)
		report(a, SEVERITY_NOTE, rules->unasked, e->at, e->index,
		       "%s was run without asking; line %u%s allows some calls for good",
		       quoted(tool, name), message_line(a->m, s->allowed_always),
		       reply_words(a->m, s->allowed_always));
	else if (s->mode != NONE && !s->mode_asks)
		report(a, SEVERITY_NOTE, rules->unasked, e->at, e->index,
		       "%s was run without asking: the mode is %s", quoted(tool, name),
		       quoted(model_str(a->m, s->mode), why));
	else
		report(a, s->mode_asks ? SEVERITY_WARNING : SEVERITY_NOTE, rules->unasked, e->at,
		       e->index, "%s was run without asking%s", quoted(tool, name),
		       s->mode_asks ? ", although its mode asks before changes" : "");
}

static void call_end(struct apply_ctx *a, const struct event *e, const struct ask_rules *rules)
{
	uint32_t found = tool_call_find(a->m, asks_of(a), id_hash(a, e));
	struct tool_call *call = found == NONE ? NULL : &a->m->tool_calls.v[found];
	char id[QUOTED_MAX];

	if (!call) {
		report(a, a->m->tool_calls.n ? SEVERITY_WARNING : SEVERITY_NOTE, rules->result,
		       e->at, e->index, "the result of %s, a call that was not seen",
		       quoted(e->id, id));
		return;
	}
	call->severe |= e->severe;
	if (call->end == NONE && call->severe && !call->asked && e->tool == TOOL_COMPLETED)
		report_unasked(a, call, e, rules);
	if (call->end == NONE)
		call->end = a->message;
	if (call->ask != NONE && rules->outcome)
		ask_check_outcome(a, call->ask, e, rules);
}

void tool_apply(struct apply_ctx *a, const struct event *e, const struct ask_rules *rules)
{
	uint32_t found = e->id.n ? tool_call_find(a->m, asks_of(a), id_hash(a, e)) : NONE;
	struct tool_call *call;

	if (!e->id.n)
		return;
	switch (e->tool) {
	case TOOL_STARTED:
		if (found == NONE)
			call_begin(a, e);
		break;
	case TOOL_ASKED:
		/* some ask before they tell of the call */
		call = found == NONE ? call_begin(a, e) : &a->m->tool_calls.v[found];
		call->asked = true;
		call->ask = ask_of_call(asks_of(a), a->message, id_hash(a, e));
		break;
	case TOOL_GOES_ON:
		if (e->acked) { /* often before anything else tells of the call */
			asks_of(a)->reviewed = id_hash(a, e);
			asks_of(a)->reviewer = model_intern(a->m, e->other);
		}
		if (found != NONE)
			a->m->tool_calls.v[found].severe |= e->severe;
		if (found != NONE && e->again)
			a->m->tool_calls.v[found].told = a->message;
		else if (e->again) /* a log that begins in the middle */
			call_begin(a, e);
		break;
	case TOOL_COMPLETED:
	case TOOL_FAILED:
	case TOOL_DENIED:
		call_end(a, e, rules);
		break;
	}
}

static uint32_t next_turn(struct apply_ctx *a)
{
	struct session_asks *s = asks_of(a);
	struct buf name = { 0 };
	uint32_t id;

	buf_printf(&name, "turn %u", ++s->turns);
	id = model_intern(a->m, buf_str(&name));
	buf_release(&name);
	return task_get(a, id);
}

/* Whether a message with the prompt's words has been seen. */
static bool has_prompt(const struct model *m, uint32_t turn)
{
	const struct task *t = &m->tasks.v[turn];

	for (uint32_t i = 0; i < t->steps.n; i++)
		if (t->steps.v[i].assigned)
			return true;
	return false;
}

void turn_apply(struct apply_ctx *a, const struct event *e)
{
	struct session_asks *s = asks_of(a);
	bool begins = !task_state_is_final(e->state), assigns = begins && e->tests;
	uint32_t turn = e->id.n ? task_get(a, id_intern(a, e)) : s->turn, to = a->to;

	if (begins && turn == NONE)
		turn = next_turn(a);
	if (turn == NONE)
		return;
	if (begins && turn == s->turn && (!assigns || has_prompt(a->m, turn)))
		return; /* a prompt while a turn runs joins that turn */
	if (!a->msg->from.known_role) /* the agent repeats its prompt */
		a->to = a->from;
	task_step(a, turn, e->state, -1, assigns && a->to != NONE);
	a->to = to;
	if (begins)
		s->turn = turn;
	else if (s->turn == turn)
		s->turn = NONE;
}

uint32_t recent_calls(const struct model *m, uint32_t message, uint32_t *out, uint32_t n)
{
	uint32_t session = message_route(m, message)->session, found = 0, behind = 0;

	bisect(behind, m->tool_calls.n, i, m->tool_calls.v[i].message < message)
	while (behind-- > 0 && found < n) {
		const struct tool_call *call = &m->tool_calls.v[behind];

		if (call->end < message && message_route(m, call->message)->session == session)
			out[found++] = call->message;
	}
	return found;
}
