/* Deadlines and expiry. A deadline belongs to the raise that set it. In a recording no clock
 * expires anything: the first message whose time is past the deadline does, if its sender may say
 * so: who asked, the orchestrator, a person; any agent where who asked has no name. That is a step
 * of the item, so it is the same however the log was read. */
#include "model/rules.h"

/* Index into m->dated of an item that has one. */
static uint32_t dated_index(const struct model *m, uint32_t item)
{
	for (uint32_t it = 0, v; map_next(&m->dated_map, hash_mix(item, 0), &it, &v);)
		if (m->dated.v[v].item == item)
			return v;
	return NONE;
}

const struct dated_item *item_dated(const struct model *m, const struct item *item)
{
	return item->dated ? &m->dated.v[dated_index(m, (uint32_t)(item - m->items.v))] : NULL;
}

uint32_t deadline_add(struct model *m, uint32_t item, uint32_t message, int64_t deadline_ms)
{
	uint32_t raise = m->dated_raises.n;

	heap_push(m->heap, &m->dated_raises,
		  (struct dated_raise){ deadline_ms, item, message, NONE });
	if (m->items.v[item].dated) {
		struct dated_item *dated = &m->dated.v[dated_index(m, item)];

		m->dated_raises.v[dated->newest].next = raise;
		dated->newest = raise;
	} else {
		m->items.v[item].dated = true;
		map_put(m->heap, &m->dated_map, hash_mix(item, 0), m->dated.n);
		heap_push(m->heap, &m->dated, (struct dated_item){ item, raise, raise });
	}
	return raise;
}

uint32_t dated_raise_after(const struct model *m, uint32_t raise, uint32_t k)
{
	const struct dated_raise *list = m->dated_raises.v;

	while (list[raise].next != NONE && list[list[raise].next].message < k)
		raise = list[raise].next;
	return raise;
}

/* The newest one as of k, or NONE. */
static uint32_t raise_at(const struct model *m, const struct item *item, uint32_t k)
{
	const struct dated_item *dated = item_dated(m, item);

	if (!dated || m->dated_raises.v[dated->first].message >= k)
		return NONE;
	if (m->dated_raises.v[dated->newest].message < k)
		return dated->newest;
	return dated_raise_after(m, dated->first, k);
}

int64_t item_deadline(const struct model *m, const struct item *item, uint32_t k)
{
	uint32_t raise = raise_at(m, item, k);

	return raise == NONE ? TIME_NONE : m->dated_raises.v[raise].deadline_ms;
}

/* Without agentId, the orchestrator protocol's agents are all called "agent". */
static bool sender_has_name(const struct apply_ctx *a)
{
	return a->from != NONE && !a->msg->from.known_role && !str_is(a->msg->from.id, "agent");
}

static bool speaks_for_all(const struct apply_ctx *a)
{
	return a->reply || a->msg->from.known_role == KNOWN_ROLE_ORCHESTRATOR;
}

void deadline_set(struct apply_ctx *a, uint32_t item, int64_t deadline_ms)
{
	struct model *m = a->m;
	struct session_extra *extra;
	uint32_t raise;

	if (deadline_ms == TIME_NONE && !m->items.v[item].dated)
		return;
	raise = deadline_add(m, item, a->message, deadline_ms);
	if (deadline_ms == TIME_NONE)
		return;
	extra = extra_of(a);
	due_push(m->heap, &extra->due, deadline_ms, raise);
	due_push(m->heap, sender_has_name(a) ? &m->agents.v[a->from].due : &extra->due_for_anyone,
		 deadline_ms, raise);
}

static void expire(struct apply_ctx *a, uint32_t item)
{
	const struct item *it = &a->m->items.v[item];

	item_step(a, item, STEP_EXPIRED, VERDICT_EXPIRED, it->steps[it->n - 1].iteration);
}

/* Those of an earlier raise are left in the queues, and those of an item that was closed. */
static void expire_due(struct apply_ctx *a, struct due_queue *q)
{
	const struct model *m = a->m;
	uint32_t raise;

	while (due_pop(q, a->msg->time_ms, &raise)) {
		uint32_t item = m->dated_raises.v[raise].item;

		if (m->items.v[item].open && item_dated(m, &m->items.v[item])->newest == raise)
			expire(a, item);
	}
}

void expire_items(struct apply_ctx *a)
{
	struct session_extra *extra = rules_of(a)->extra;

	/* nothing expires by what may not be said, or by a time that is not believed */
	if (!extra || a->msg->time_ms == TIME_NONE || a->msg->time_ms > a->m->limit_ms || a->denied ||
	    is_ambiguous(a))
		return;
	expire_due(a, &extra->due_for_anyone);
	if (speaks_for_all(a))
		expire_due(a, &extra->due);
	else if (a->from != NONE)
		expire_due(a, &a->m->agents.v[a->from].due);
}

void expire_before_raise(struct apply_ctx *a, uint32_t item)
{
	const struct model *m = a->m;
	const struct dated_item *dated = item_dated(m, &m->items.v[item]);
	const struct dated_raise *raise = dated ? &m->dated_raises.v[dated->newest] : NULL;

	if (raise && m->items.v[item].open && raise->deadline_ms != TIME_NONE &&
	    a->msg->time_ms > raise->deadline_ms &&
	    message_route(m, raise->message)->from == a->from)
		expire(a, item);
}

const char *item_default(const struct model *m, const struct item *item)
{
	enum dialect_id dialect = message_route(m, item->steps[0].message)->dialect;

	if (item->origin_runs || (m->runs_agents && dialect == DIALECT_ORCHESTRATOR))
		return "the agent gets TIMEOUT";
	if (dialect_rules[dialect]->names_nobody) /* real agents: they have no deadline */
		return "the agent's process has ended";
	return "the agent continues unanswered";
}

bool item_is_passed_on(const struct item *item, const struct item_state *at)
{
	return item->open && at->overlaid && !at->open && at->verdict == VERDICT_ESCALATED;
}
