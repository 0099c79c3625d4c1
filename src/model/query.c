/* Queries as of the first k messages: times, positions within a group, number of items. */
#include "model/model.h"

enum { JUMP_MS = 3600000 };

static bool is_near(int64_t a, int64_t b)
{
	return (a < b ? (uint64_t)b - (uint64_t)a : (uint64_t)a - (uint64_t)b) <= JUMP_MS;
}

void believe(struct believed *b, int64_t time_ms, int64_t limit_ms)
{
	if (time_ms <= b->now_ms || time_ms > limit_ms)
		return;
	if (b->now_ms == TIME_NONE || is_near(time_ms, b->now_ms)) {
		b->now_ms = time_ms;
	} else if (b->jump_ms != TIME_NONE && is_near(time_ms, b->jump_ms)) {
		b->now_ms = time_ms > b->jump_ms ? time_ms : b->jump_ms;
		b->jump_ms = TIME_NONE;
	} else {
		b->jump_ms = time_ms;
	}
}

void model_set_limit(struct model *m, int64_t limit_ms)
{
	if (m->records.n && limit_ms <= m->limit_ms)
		return; /* what was believed stays so when a clock is set back */
	m->limit_ms = limit_ms;
	if (m->beyond_ms > limit_ms)
		return;
	m->believed = BELIEVED_NONE;
	m->beyond_ms = INT64_MAX;
	for (uint32_t i = 0; i < m->records.n; i++) {
		int64_t time_ms = m->records.v[i].time_ms;

		believe(&m->believed, time_ms, limit_ms);
		if (time_ms > limit_ms && time_ms < m->beyond_ms)
			m->beyond_ms = time_ms;
	}
}

int64_t model_now(const struct model *m, uint32_t k)
{
	struct believed b = BELIEVED_NONE;

	if (k == m->records.n)
		return m->believed.now_ms;
	for (uint32_t i = 0; i < k; i++)
		believe(&b, m->records.v[i].time_ms, m->limit_ms);
	return b.now_ms;
}

uint32_t model_cut_at(const struct model *m, int64_t time_ms)
{
	uint32_t k = 0;

	while (k < m->records.n && m->records.v[k].time_ms <= time_ms)
		k++;
	return k;
}

void model_arrived(struct model *m, uint32_t first, int64_t time_ms)
{
	if (first < m->records.n)
		heap_push(m->heap, &m->arrivals, (struct arrival){ first, time_ms });
}

int64_t model_time(const struct model *m, uint32_t message)
{
	uint32_t low = 0;

	if (m->records.v[message].time_ms != TIME_NONE)
		return m->records.v[message].time_ms;
	bisect(low, m->arrivals.n, i, m->arrivals.v[i].first <= message)
	return low ? m->arrivals.v[low - 1].time_ms : TIME_NONE;
}

static uint32_t group_run_end(const struct model *m, uint32_t i)
{
	return i + 1 < m->group_runs.n ? m->group_runs.v[i + 1].first : m->records.n;
}

/* The last run of a group that begins before message k, or NONE. */
static uint32_t last_run(const struct model *m, uint32_t group, uint32_t k)
{
	uint32_t low = 0;

	bisect(low, m->group_runs.n, i, m->group_runs.v[i].first < k)
	while (low > 0)
		if (m->group_runs.v[--low].group == group)
			return low;
	return NONE;
}

uint32_t model_group_seen(const struct model *m, uint32_t group, uint32_t k)
{
	uint32_t run = last_run(m, group, k), end;

	if (run == NONE)
		return 0;
	end = group_run_end(m, run);
	return m->group_runs.v[run].before + (end < k ? end : k) - m->group_runs.v[run].first;
}

int64_t model_group_end(const struct model *m, uint32_t group, uint32_t k)
{
	enum { RUNS_MAX = 1000, MESSAGES_MAX = 64 };
	uint32_t run = 0, end, n = 0;
	int64_t newest = TIME_NONE;

	bisect(run, m->group_runs.n, i, m->group_runs.v[i].first < k)
	while (run-- > 0 && m->group_runs.v[run].group != group)
		if (++n == RUNS_MAX)
			return TIME_NONE;
	if (run == NONE)
		return TIME_NONE;
	end = group_run_end(m, run) < k ? group_run_end(m, run) : k;
	for (n = 0; end-- > m->group_runs.v[run].first && n < MESSAGES_MAX; n++)
		if (m->records.v[end].time_ms > newest)
			newest = m->records.v[end].time_ms;
	return newest;
}

uint32_t model_seen(const struct model *m, uint32_t session, uint32_t k)
{
	return model_group_seen(m, m->sessions.v[session].group, k);
}

uint32_t model_when_seen(const struct model *m, uint32_t session, uint32_t seen)
{
	uint32_t group = m->sessions.v[session].group;

	for (uint32_t i = 0; seen && i < m->group_runs.n; i++) {
		uint32_t first = m->group_runs.v[i].first, n = group_run_end(m, i) - first;

		if (m->group_runs.v[i].group != group)
			continue;
		if (seen <= n)
			return first + seen;
		seen -= n;
	}
	return seen ? m->records.n : 0;
}

uint32_t model_item_count(const struct model *m, uint32_t k)
{
	uint32_t low = 0;

	if (k >= m->records.n)
		return m->items.n;
	bisect(low, m->items.n, i, m->items.v[i].steps[0].message < k)
	return low;
}
