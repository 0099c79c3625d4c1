/* Questions about the session as of the first k messages. */
#include "model/model.h"

#include <stdlib.h>

int64_t model_now(const struct model *m, uint32_t k)
{
	int64_t now = WHEN_NONE;

	for (uint32_t i = 0; i < k; i++)
		if (m->records.v[i].time_ms > now)
			now = m->records.v[i].time_ms;
	return now;
}

uint32_t model_cut_at(const struct model *m, int64_t time_ms)
{
	uint32_t k = 0;

	while (k < m->records.n && m->records.v[k].time_ms <= time_ms)
		k++;
	return k;
}

static void add_rates(const struct model *m, uint32_t k, struct agent_stats *stats)
{
	int64_t first = INT64_MAX, last = WHEN_NONE, span;

	for (uint32_t i = 0; i < k; i++) {
		int64_t t = m->records.v[i].time_ms;

		if (t == WHEN_NONE)
			continue;
		first = t < first ? t : first;
		last = t > last ? t : last;
	}
	if (last == WHEN_NONE)
		return;
	span = last - first + 1;
	for (uint32_t i = 0; i < k; i++) {
		const struct record *r = &m->records.v[i];
		uint16_t *slot;

		if (r->time_ms == WHEN_NONE || r->from == NONE)
			continue;
		slot = &stats[r->from].rate[(int)((double)(r->time_ms - first) / (double)span * 12)];
		*slot += *slot < UINT16_MAX;
	}
}

struct agent_stats *model_agent_stats(const struct model *m, uint32_t k)
{
	struct agent_stats *stats = xcalloc(m->agents.n, sizeof(*stats));

	for (uint32_t i = 0; i < m->agents.n; i++) {
		const struct agent *g = &m->agents.v[i];

		stats[i].task = stats[i].state = NONE;
		stats[i].last_seen_ms = WHEN_NONE;
		stats[i].last_message = g->first;
		for (uint32_t s = 0; s < g->states.n && g->states.v[s].message < k; s++)
			stats[i].state = g->states.v[s].state;
	}
	for (uint32_t i = 0; i < k; i++) {
		const struct record *r = &m->records.v[i];
		struct agent_stats *s;

		if (r->from == NONE)
			continue;
		s = &stats[r->from];
		s->messages++;
		s->errors += r->errors;
		s->warnings += r->warnings;
		s->last_message = i;
		if (r->time_ms != WHEN_NONE)
			s->last_seen_ms = r->time_ms;
	}
	for (uint32_t i = 0; i < m->usage.n && m->usage.v[i].message < k; i++) {
		const struct usage *u = &m->usage.v[i];

		if (u->agent == NONE)
			continue;
		stats[u->agent].tokens_in += u->tokens_in;
		stats[u->agent].tokens_out += u->tokens_out;
		stats[u->agent].tokens_cached += u->tokens_cached;
		stats[u->agent].cost += u->cost;
	}
	for (uint32_t i = 0; i < m->tasks.n; i++) {
		struct task_state_at t;

		if (task_at(m, &m->tasks.v[i], k, &t) && t.agent != NONE &&
		    (t.state == TASK_ASSIGNED || t.state == TASK_RUNNING ||
		     t.state == TASK_RETRYING))
			stats[t.agent].task = i;
	}
	add_rates(m, k, stats);
	return stats;
}
