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

static uint32_t stretch_end(const struct model *m, uint32_t i)
{
	return i + 1 < m->stretches.n ? m->stretches.v[i + 1].first : m->records.n;
}

uint32_t model_seen(const struct model *m, uint32_t session, uint32_t k)
{
	uint32_t group = m->sessions.v[session].group, seen = 0;

	for (uint32_t i = 0; i < m->stretches.n && m->stretches.v[i].first < k; i++) {
		uint32_t end = stretch_end(m, i);

		if (m->stretches.v[i].group == group)
			seen += (end < k ? end : k) - m->stretches.v[i].first;
	}
	return seen;
}

uint32_t model_when_seen(const struct model *m, uint32_t session, uint32_t seen)
{
	uint32_t group = m->sessions.v[session].group;

	for (uint32_t i = 0; seen && i < m->stretches.n; i++) {
		uint32_t first = m->stretches.v[i].first, n = stretch_end(m, i) - first;

		if (m->stretches.v[i].group != group)
			continue;
		if (seen <= n)
			return first + seen;
		seen -= n;
	}
	return seen ? m->records.n : 0;
}

static void add_rates(const struct model *m, uint32_t k, struct agent_stats *stats,
		      struct breath *breath)
{
	int64_t first = INT64_MAX, last = WHEN_NONE, span;

	for (uint32_t i = 0; i < k && breath_on(breath); i++) {
		int64_t t = m->records.v[i].time_ms;

		if (t == WHEN_NONE)
			continue;
		first = t < first ? t : first;
		last = t > last ? t : last;
	}
	if (last == WHEN_NONE)
		return;
	span = last - first + 1;
	for (uint32_t i = 0; i < k && breath_on(breath); i++) {
		const struct record *r = &m->records.v[i];
		uint16_t *slot;

		if (r->time_ms == WHEN_NONE || r->from == NONE)
			continue;
		slot = &stats[r->from].rate[(int)((double)(r->time_ms - first) / (double)span * 12)];
		*slot += *slot < UINT16_MAX;
	}
}

struct agent_stats *model_agent_stats(const struct model *m, uint32_t k, struct breath *breath)
{
	struct agent_stats *stats = xcalloc(m->agents.n, sizeof(*stats));

	for (uint32_t i = 0; i < m->agents.n && breath_on(breath); i++) {
		const struct agent *g = &m->agents.v[i];

		stats[i].task = stats[i].state = NONE;
		stats[i].last_seen_ms = WHEN_NONE;
		stats[i].last_message = g->first;
		for (uint32_t s = 0; s < g->states.n && g->states.v[s].message < k; s++)
			stats[i].state = g->states.v[s].state;
	}
	for (uint32_t i = 0; i < k && breath_on(breath); i++) {
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
	for (uint32_t i = 0; i < m->usage.n && breath_on(breath); i++) {
		const struct usage *u = &m->usage.v[i];

		if (u->message >= k)
			break;
		if (u->agent == NONE)
			continue;
		stats[u->agent].tokens_in += u->tokens_in;
		stats[u->agent].tokens_out += u->tokens_out;
		stats[u->agent].tokens_cached += u->tokens_cached;
		stats[u->agent].cost += u->cost;
	}
	for (uint32_t i = 0; i < m->tasks.n && breath_on(breath); i++) {
		struct task_state_at t;

		if (task_at(m, &m->tasks.v[i], k, &t) && t.agent != NONE &&
		    (t.state == TASK_ASSIGNED || t.state == TASK_RUNNING ||
		     t.state == TASK_RETRYING))
			stats[t.agent].task = i;
	}
	add_rates(m, k, stats, breath);
	return stats;
}
