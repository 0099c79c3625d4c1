/* The orchestrator's agents: registration, attribution of messages to the agent whose pipe they
 * came from, rate limit. */
#include "agents/orchestrate_internal.h"

#include <stdio.h>

#define CLAIM_RULE "orchestrator/base-agentId"
#define SPEAKER_RULE "run/speaker"

uint32_t orchestrator_add(struct orchestrator *o, struct str name, struct str role,
			  const struct str *capabilities, uint32_t n)
{
	struct orchestrated_agent c = { .name = arena_str(&o->arena, name),
					.role = arena_str(&o->arena, role),
					.refused_since_ms = TIME_NONE };

	for (uint32_t i = 0; i < n; i++)
		vec_push(&c.capabilities, arena_str(&o->arena, capabilities[i]));
	vec_push(&o->agents, c);
	return o->agents.n - 1;
}

void orchestrator_gone(struct orchestrator *o, uint32_t agent)
{
	struct orchestrated_agent *c = &o->agents.v[agent];

	while (c->waiting.n)
		waiting_remove(c, c->waiting.n - 1);
	vec_release(&c->waiting);
	vec_release(&c->ids);
	map_release(&c->id_map);
	c->recent_n = 0;
	c->refused = 0;
	c->claimed = 0;
}

void orchestrator_release(struct orchestrator *o)
{
	for (uint32_t i = 0; i < o->agents.n; i++) {
		orchestrator_gone(o, i);
		vec_release(&o->agents.v[i].capabilities);
		vec_release(&o->agents.v[i].tasks);
	}
	vec_release(&o->agents);
	vec_release(&o->tasks);
	map_release(&o->task_map);
	decoder_release(&o->decoder);
	json_reader_release(&o->reader);
	message_release(&o->message);
	arena_release(&o->arena);
}

uint32_t other_agent_named(const struct orchestrator *o, uint32_t agent, struct str name)
{
	for (uint32_t i = 0; i < o->agents.n; i++)
		if (i != agent && str_eq(o->agents.v[i].name, name))
			return i;
	return NONE;
}

/* ---- attribution ---- */

bool is_from_orchestrator(struct str kind)
{
	return str_starts(kind, STR("response:")) || str_starts(kind, STR("notify:"));
}

/* Adds the diagnostic to the message and to the model's store. */
static void report(struct model *m, struct message *msg, enum severity s, const char *rule,
		   const char *at, const char *text)
{
	diag_add(&msg->diags, s, rule, str_of(at), "%s", text);
	diag_store_add(m, m->records.n, s, rule, "", at, 0, "%s", text);
}

static void report_claim(struct model *m, struct message *msg, struct str claim, struct str real,
			 enum severity s, const char *rule, const char *at)
{
	char q[QUOTED_MAX], name[QUOTED_MAX], text[200];

	snprintf(text, sizeof(text), "says that it is from %s, but it came from %s",
		 quoted(claim, q), quoted(real, name));
	report(m, msg, s, rule, at, text);
}

/* Other protocols name the sender in the message: only another agent's name is an error. */
static bool check_sender(const struct orchestrator *o, struct model *m, struct message *msg,
			 uint32_t agent)
{
	if (!msg->from.id.n || other_agent_named(o, agent, msg->from.id) == NONE ||
	    str_eq(msg->from.id, o->agents.v[agent].name))
		return false;
	report_claim(m, msg, msg->from.id, o->agents.v[agent].name, SEVERITY_ERROR, SPEAKER_RULE,
		     "");
	return true;
}

/* So that a wrong agentId is not reported with every message. */
static bool is_new_claim(struct orchestrated_agent *c, struct str claim)
{
	uint64_t h = str_hash(claim);
	bool is_new = c->claimed != h;

	c->claimed = h;
	return is_new;
}

bool orchestrator_attribute(struct orchestrator *o, struct model *m, struct message *msg,
			    uint32_t agent, bool sent)
{
	const struct actor real = { o->agents.v[agent].name, STR("agent"), false };
	struct str claim = msg->from.id;
	bool other = other_agent_named(o, agent, claim) != NONE;

	if (msg->dialect != DIALECT_ORCHESTRATOR)
		return !sent && check_sender(o, m, msg, agent);
	if (sent) {
		msg->to = real;
		return false;
	}
	if (is_from_orchestrator(msg->kind))
		return true; /* the model refuses it (model/trust.h) */
	if (str_eq(claim, real.id) || str_is(claim, "agent")) /* the latter: no agentId */
		return false;
	if (!is_new_claim(&o->agents.v[agent], claim) && !other)
		return false;
	report_claim(m, msg, claim, real.id, other ? SEVERITY_ERROR : SEVERITY_WARNING, CLAIM_RULE,
		     "/agentId");
	return true;
}

/* ---- rate limit ---- */

bool rate_admits(struct orchestrated_agent *c, int64_t now_ms)
{
	int64_t oldest = c->recent_ms[c->recent_n % ORCHESTRATOR_RATE_MAX];

	/* a clock that was set back restarts the window */
	if (c->recent_n >= ORCHESTRATOR_RATE_MAX && now_ms >= oldest &&
	    now_ms - oldest < ORCHESTRATOR_WINDOW_MS) {
		c->beyond++;
		return false;
	}
	c->recent_ms[c->recent_n++ % ORCHESTRATOR_RATE_MAX] = now_ms;
	if (c->recent_n == 2 * ORCHESTRATOR_RATE_MAX)
		c->recent_n -= ORCHESTRATOR_RATE_MAX;
	return true;
}

bool rate_admits_refusal(struct orchestrated_agent *c, int64_t now_ms)
{
	if (c->refused_since_ms == TIME_NONE || now_ms < c->refused_since_ms ||
	    now_ms - c->refused_since_ms >= ORCHESTRATOR_WINDOW_MS) {
		c->refused_since_ms = now_ms;
		c->refused = 0;
	}
	return c->refused++ < ORCHESTRATOR_REFUSALS_MAX;
}
