/* What each agent does, as of the first k messages: how much it says, when it was last heard of,
 * what it works on and costs, and whether anything is wrong with it. */
#include "model/model.h"

#include <stdlib.h>

/* How long ago; a time from the future is none. */
static int64_t ago(int64_t now_ms, int64_t time_ms)
{
	int64_t span;

	if (time_ms == WHEN_NONE || now_ms == WHEN_NONE || time_ms > now_ms)
		return 0;
	return __builtin_sub_overflow(now_ms, time_ms, &span) ? INT64_MAX : span;
}

static int64_t time_of(const struct model *m, uint32_t message)
{
	return m->arrivals.n ? model_time(m, message) : m->records.v[message].time_ms;
}

static void add_messages(const struct model *m, uint32_t k, struct agent_stats *stats,
			 struct breath *breath)
{
	for (uint32_t i = 0; i < k && breath_on(breath); i++) {
		const struct record *r = &m->records.v[i];
		uint32_t from = route_of(m, r)->from;
		struct agent_stats *s;
		int64_t t;

		if (from == NONE)
			continue;
		s = &stats[from];
		s->messages++;
		s->errors += r->errors;
		s->warnings += r->warnings;
		s->last_message = i;
		t = time_of(m, i);
		if (t != WHEN_NONE)
			s->last_seen_ms = t;
	}
}

static void add_usage(const struct model *m, uint32_t k, struct agent_stats *stats,
		      struct breath *breath)
{
	for (uint32_t i = 0; i < m->usage.n && m->usage.v[i].message < k && breath_on(breath); i++) {
		const struct usage *u = &m->usage.v[i];

		if (u->agent == NONE)
			continue;
		stats[u->agent].tokens_in += u->tokens_in;
		stats[u->agent].tokens_out += u->tokens_out;
		stats[u->agent].tokens_cached += u->tokens_cached;
		stats[u->agent].cost += u->cost;
	}
}

/* The parts of the whole session's time in which each agent spoke. */
static void add_activity(const struct model *m, uint32_t k, struct agent_stats *stats,
			 struct breath *breath)
{
	int64_t first = INT64_MAX, last = WHEN_NONE;

	for (uint32_t i = 0; i < k && breath_on(breath); i++) {
		int64_t t = m->records.v[i].time_ms;

		if (t == WHEN_NONE)
			continue;
		first = t < first ? t : first;
		last = t > last ? t : last;
	}
	if (last == WHEN_NONE)
		return;
	for (uint32_t i = 0; i < k && breath_on(breath); i++) {
		const struct record *r = &m->records.v[i];
		uint32_t from = route_of(m, r)->from;
		double part;
		uint16_t *slot;

		if (r->time_ms == WHEN_NONE || from == NONE)
			continue;
		part = ((double)r->time_ms - (double)first) / ((double)last - (double)first + 1);
		slot = &stats[from].activity[(int)(part * AGENT_PARTS)];
		*slot += *slot < UINT16_MAX;
	}
}

/* The times of an agent's last messages, as many as may come in a second. */
struct ring {
	uint32_t n;
	int64_t times[FLOOD_MESSAGES];
};

static bool ring_overflows(struct ring *r, int64_t t)
{
	int64_t oldest = r->times[r->n % FLOOD_MESSAGES];
	bool full = r->n >= FLOOD_MESSAGES;

	r->times[r->n++ % FLOOD_MESSAGES] = t;
	if (r->n >= 2 * FLOOD_MESSAGES)
		r->n -= FLOOD_MESSAGES;
	return full && t >= oldest && ago(t, oldest) < 1000;
}

/* Who has sent more than is allowed within some second of late: from message `first` on. late: how
 * many each has sent in that time. */
static void find_floods(const struct model *m, uint32_t first, uint32_t k, int64_t now_ms,
			const uint32_t *late, struct agent_stats *stats, struct breath *breath)
{
	struct ring **rings = xcalloc(m->agents.n, sizeof(*rings));

	for (uint32_t i = first; i < k && breath_on(breath); i++) {
		uint32_t from = message_route(m, i)->from;
		int64_t t;

		if (from == NONE || late[from] <= FLOOD_MESSAGES ||
		    stats[from].health == AGENT_FLOODING)
			continue;
		t = time_of(m, i);
		if (t == WHEN_NONE || t > now_ms || ago(now_ms, t) >= FLOOD_SHOWN_MS)
			continue;
		if (!rings[from])
			rings[from] = xcalloc(1, sizeof(*rings[from]));
		if (ring_overflows(rings[from], t))
			stats[from].health = AGENT_FLOODING;
	}
	for (uint32_t i = 0; i < m->agents.n; i++)
		free(rings[i]);
	free(rings);
}

/* The last minute before now. */
static void add_rates(const struct model *m, uint32_t k, int64_t now_ms, struct agent_stats *stats,
		      struct breath *breath)
{
	uint32_t *late = xcalloc(m->agents.n, sizeof(*late)), first = k, most = 0;

	for (uint32_t i = 0; i < k && now_ms != WHEN_NONE && breath_on(breath); i++) {
		uint32_t from = message_route(m, i)->from;
		int64_t t = time_of(m, i), old;

		if (from == NONE || t == WHEN_NONE || t > now_ms ||
		    (old = ago(now_ms, t)) >= RATE_SPAN_MS)
			continue;
		stats[from].recent[AGENT_PARTS - 1 - old / (RATE_SPAN_MS / AGENT_PARTS)]++;
		stats[from].minute++;
		if (old >= FLOOD_SHOWN_MS)
			continue;
		first = i < first ? i : first;
		if (++late[from] > most)
			most = late[from];
	}
	if (most > FLOOD_MESSAGES)
		find_floods(m, first, k, now_ms, late, stats, breath);
	free(late);
}

/* What it works on, and whether that gets on. */
static void add_work(const struct model *m, uint32_t k, int64_t now_ms, struct agent_stats *stats,
		     struct breath *breath)
{
	for (uint32_t i = 0; i < m->tasks.n && breath_on(breath); i++) {
		struct task_state_at t;

		if (!task_at(m, &m->tasks.v[i], k, &t) || t.agent == NONE ||
		    (t.state != TASK_ASSIGNED && t.state != TASK_RUNNING &&
		     t.state != TASK_RETRYING))
			continue;
		stats[t.agent].task = i;
		if (stats[t.agent].health < AGENT_FLOODING)
			stats[t.agent].health =
				task_is_stalled(m, &t, now_ms) ? AGENT_STALLED : AGENT_WORKING;
	}
	for (uint32_t i = 0; i < m->reviews.n && breath_on(breath); i++) {
		uint32_t agent = m->reviews.v[i].reviewer;
		struct review_state r;

		if (agent != NONE && review_at(m, &m->reviews.v[i], k, &r) &&
		    r.verdict == REVIEW_NONE && !r.failed && stats[agent].health == AGENT_IDLE)
			stats[agent].health = AGENT_WORKING;
	}
}

/* Whoever is at work ought to be heard of. */
static void find_silent(const struct model *m, uint32_t k, int64_t now_ms, struct agent_stats *stats)
{
	for (uint32_t i = 0; i < m->agents.n; i++) {
		const struct agent *g = &m->agents.v[i];
		int64_t heard = stats[i].last_seen_ms;

		for (uint32_t n = 0; n < g->states.n && g->states.v[n].message < k; n++) {
			stats[i].state = g->states.v[n].state;
			if (heard == WHEN_NONE) /* it has only been heard of */
				heard = model_time(m, g->states.v[n].message);
		}
		if (stats[i].state != NONE && stats[i].health == AGENT_IDLE &&
		    str_is(model_str(m, stats[i].state), "busy"))
			stats[i].health = AGENT_WORKING;
		if (stats[i].health == AGENT_WORKING && heard != WHEN_NONE &&
		    ago(now_ms, heard) > STALL_MS)
			stats[i].health = AGENT_SILENT;
	}
}

struct agent_stats *model_agent_stats(const struct model *m, uint32_t k, int64_t now_ms,
				      struct breath *breath)
{
	struct agent_stats *stats = xcalloc(m->agents.n, sizeof(*stats));

	for (uint32_t i = 0; i < m->agents.n && breath_on(breath); i++) {
		stats[i].task = stats[i].state = NONE;
		stats[i].last_seen_ms = WHEN_NONE;
		stats[i].last_message = m->agents.v[i].first;
	}
	add_messages(m, k, stats, breath);
	add_usage(m, k, stats, breath);
	add_activity(m, k, stats, breath);
	add_rates(m, k, now_ms, stats, breath);
	add_work(m, k, now_ms, stats, breath);
	find_silent(m, k, now_ms, stats);
	return stats;
}
