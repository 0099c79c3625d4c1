/* The agents that gavel runs: who speaks, and how often. */
#include "agents/orchestrate_internal.h"

#include <stdio.h>

#define DIRECTION_RULE "orchestrator/base-direction"
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

	for (uint32_t i = 0; i < c->waiting.n; i++)
		free(c->waiting.v[i].id);
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
	message_release(&o->message);
	arena_release(&o->arena);
}

uint32_t agent_set_other(const struct orchestrator *o, uint32_t agent, struct str name)
{
	for (uint32_t i = 0; i < o->agents.n; i++)
		if (i != agent && str_eq(o->agents.v[i].name, name))
			return i;
	return NONE;
}

/* ---- who speaks ---- */

bool is_from_orchestrator(struct str kind)
{
	return str_starts(kind, STR("response:")) || str_starts(kind, STR("notify:"));
}

/* On the message, and kept for those who read it again. */
static void report(struct model *m, struct message *msg, enum severity s, const char *rule,
		   const char *at, const char *text)
{
	diag_add(&msg->diags, s, rule, str_of(at), "%s", text);
	diag_store_add(m, m->records.n, s, rule, "", at, 0, "%s", text);
}

/* In protocols whose messages say themselves who sends them, that stands; but not that one of ours
 * speaks for another. */
static bool check_speaker(const struct orchestrator *o, struct model *m, struct message *msg,
			  uint32_t agent)
{
	char q[QUOTED_MAX], name[QUOTED_MAX], text[200];

	if (!msg->from.id.n || agent_set_other(o, agent, msg->from.id) == NONE ||
	    str_eq(msg->from.id, o->agents.v[agent].name))
		return false;
	snprintf(text, sizeof(text), "says that it is from %s, but it came from %s",
		 quoted(msg->from.id, q), quoted(o->agents.v[agent].name, name));
	report(m, msg, SEVERITY_ERROR, SPEAKER_RULE, "", text);
	return true;
}

/* Who calls itself otherwise than gavel does need not be told so with every message. */
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
	char q[QUOTED_MAX], name[QUOTED_MAX], text[200];

	if (msg->dialect != DIALECT_ORCHESTRATOR)
		return !sent && check_speaker(o, m, msg, agent);
	if (sent) {
		msg->to = real;
		return false;
	}
	msg->from = real;
	if (is_from_orchestrator(msg->kind)) {
		msg->to = known_role_actors[KNOWN_ROLE_ORCHESTRATOR];
		msg->events.n = 0;
		msg->correlation = msg->id;
		snprintf(text, sizeof(text), "only the orchestrator sends this; it came from %s",
			 quoted(real.id, name));
		report(m, msg, SEVERITY_ERROR, DIRECTION_RULE, "/type", text);
		return true;
	}
	if (str_eq(claim, real.id) || str_is(claim, "agent")) /* the latter: it names none */
		return false;
	if (!is_new_claim(&o->agents.v[agent], claim) && agent_set_other(o, agent, claim) == NONE)
		return false;
	snprintf(text, sizeof(text), "says that it is from %s, but it came from %s",
		 quoted(claim, q), quoted(real.id, name));
	report(m, msg, agent_set_other(o, agent, claim) == NONE ? SEVERITY_WARNING : SEVERITY_ERROR,
	       CLAIM_RULE, "/agentId", text);
	return true;
}

/* ---- the rate ---- */

bool agent_set_admit(struct orchestrated_agent *c, int64_t now_ms)
{
	int64_t oldest = c->recent_ms[c->recent_n % ORCHESTRATOR_RATE_MAX];

	/* a clock that was put back begins anew */
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

bool agent_set_may_refuse(struct orchestrated_agent *c, int64_t now_ms)
{
	if (c->refused_since_ms == TIME_NONE || now_ms < c->refused_since_ms ||
	    now_ms - c->refused_since_ms >= ORCHESTRATOR_WINDOW_MS) {
		c->refused_since_ms = now_ms;
		c->refused = 0;
	}
	return c->refused++ < ORCHESTRATOR_REFUSALS_MAX;
}
