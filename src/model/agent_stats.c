/* Statistics of agents as of the first k messages: message counts and rates, last seen, current
 * task, tokens and cost, health (stalled, silent, flooding). */
#include "model/block_stats.h"

#include <stdlib.h>

/* Age of a time; 0 for unknown and future ones. */
static int64_t age_ms(int64_t now_ms, int64_t time_ms)
{
	int64_t age;

	if (time_ms == TIME_NONE || now_ms == TIME_NONE || time_ms > now_ms)
		return 0;
	return __builtin_sub_overflow(now_ms, time_ms, &age) ? INT64_MAX : age;
}

static int64_t time_of(const struct model *m, uint32_t message)
{
	return m->arrivals.n ? model_time(m, message) : m->records.v[message].time_ms;
}

/* What statistics are computed from: summaries of blocks (c, may be NULL), then single messages. */
struct stats_ctx {
	const struct model *m;
	const struct block_stats *c;
	uint32_t k;
	uint32_t agents; /* number of them when it began: the model may grow during a yield */
	int64_t now_ms;
	struct agent_stats *stats;
	struct yield *yield;
};

/* Number of blocks that are complete as of k. */
static uint32_t complete_blocks(const struct stats_ctx *a)
{
	return a->c ? (a->k < a->c->n * STATS_BLOCK ? a->k / STATS_BLOCK : a->c->n) : 0;
}

static void add_summaries(const struct stats_ctx *a, uint32_t *timed)
{
	uint32_t blocks = complete_blocks(a);

	for (uint32_t i = 0; i < blocks && yield_on(a->yield); i++)
		for (uint32_t n = a->c->list[i].first_summary; n < a->c->list[i + 1].first_summary;
		     n++) {
			const struct agent_summary *t = &a->c->summaries.v[n];
			struct agent_stats *s = &a->stats[t->agent];

			s->messages += t->messages;
			s->errors += t->errors;
			s->warnings += t->warnings;
			s->last_message = i * STATS_BLOCK + t->last;
			if (t->last_timed)
				timed[t->agent] = i * STATS_BLOCK + t->last_timed;
		}
}

static void add_messages(const struct stats_ctx *a)
{
	const struct model *m = a->m;
	/* by agent: its last message with a time, plus one */
	uint32_t *timed = xcalloc(a->agents, sizeof(*timed));

	add_summaries(a, timed);
	for (uint32_t i = complete_blocks(a) * STATS_BLOCK; i < a->k && yield_on(a->yield); i++) {
		const struct record *r = &m->records.v[i];
		uint32_t from = route_of(m, r)->from;
		struct agent_stats *s;

		if (from == NONE)
			continue;
		s = &a->stats[from];
		s->messages++;
		s->errors += r->errors;
		s->warnings += r->warnings;
		s->last_message = i;
		if (time_of(m, i) != TIME_NONE)
			timed[from] = i + 1;
	}
	for (uint32_t i = 0; i < a->agents && yield_on(a->yield); i++)
		if (timed[i])
			a->stats[i].last_seen_ms = time_of(m, timed[i] - 1);
	free(timed);
}

static void add_usage(const struct stats_ctx *a)
{
	for (uint32_t i = 0; i < a->m->usage.n && yield_on(a->yield); i++) {
		const struct usage *u = &a->m->usage.v[i];

		if (u->message >= a->k)
			break;
		if (u->agent == NONE)
			continue;
		a->stats[u->agent].tokens_in += u->tokens_in;
		a->stats[u->agent].tokens_out += u->tokens_out;
		a->stats[u->agent].tokens_cached += u->tokens_cached;
		a->stats[u->agent].cost += u->cost;
	}
}

static void add_tool_acts(const struct stats_ctx *a)
{
	for (uint32_t i = 0; i < a->m->tool_acts.n && yield_on(a->yield); i++) {
		const struct tool_act *act = &a->m->tool_acts.v[i];

		if (act->message >= a->k)
			break;
		if (act->agent != NONE)
			(*(act->asked ? &a->stats[act->agent].asked
				      : &a->stats[act->agent].unasked))++;
	}
}

/* Bucket of a time in the histogram over the session. */
static int bucket_of(struct time_range whole, int64_t time_ms)
{
	double fraction = ((double)time_ms - (double)whole.from_ms) /
			  ((double)whole.to_ms - (double)whole.from_ms + 1);

	return (int)(fraction * ACTIVITY_BUCKETS);
}

static void add_to_bucket(uint16_t *bucket, unsigned messages)
{
	unsigned n = *bucket + messages;

	*bucket = n < UINT16_MAX ? (uint16_t)n : UINT16_MAX;
}

static void walk_activity(const struct stats_ctx *a, struct time_range whole, uint32_t from,
			  uint32_t to)
{
	for (uint32_t i = from; i < to && yield_on(a->yield); i++) {
		const struct record *r = &a->m->records.v[i];
		uint32_t agent = route_of(a->m, r)->from;

		if (r->time_ms != TIME_NONE && agent != NONE)
			add_to_bucket(&a->stats[agent].activity[bucket_of(whole, r->time_ms)], 1);
	}
}

/* Activity histograms. A block that lies within one bucket is added from its summary. */
static void add_activity(const struct stats_ctx *a)
{
	struct time_range whole = TIME_RANGE_NONE;
	uint32_t blocks = complete_blocks(a);

	for (uint32_t i = 0; i < blocks; i++) {
		struct time_range sent = a->c->list[i].sent;

		if (sent.to_ms != TIME_NONE)
			time_range_add(&whole, sent.from_ms);
		time_range_add(&whole, sent.to_ms);
	}
	for (uint32_t i = blocks * STATS_BLOCK; i < a->k && yield_on(a->yield); i++)
		time_range_add(&whole, a->m->records.v[i].time_ms);
	if (whole.to_ms == TIME_NONE)
		return;
	for (uint32_t i = 0; i < blocks && yield_on(a->yield); i++) {
		const struct stats_block *c = &a->c->list[i];
		int bucket;

		if (c->sent.to_ms == TIME_NONE)
			continue;
		bucket = bucket_of(whole, c->sent.from_ms);
		if (bucket_of(whole, c->sent.to_ms) != bucket) {
			walk_activity(a, whole, i * STATS_BLOCK, (i + 1) * STATS_BLOCK);
			continue;
		}
		for (uint32_t n = c->first_summary; n < c[1].first_summary; n++)
			add_to_bucket(&a->stats[a->c->summaries.v[n].agent].activity[bucket],
				      a->c->summaries.v[n].dated);
	}
	walk_activity(a, whole, blocks * STATS_BLOCK, a->k);
}

/* Ring buffer of the times of an agent's last FLOOD_MESSAGES messages. */
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
	return full && t >= oldest && age_ms(t, oldest) < 1000;
}

/* The first message from i on that may be younger than span_ms; skips blocks that are not. */
static uint32_t next_recent(const struct stats_ctx *a, uint32_t i, int64_t span_ms)
{
	uint32_t end = complete_blocks(a) * STATS_BLOCK;

	while (i < end && i % STATS_BLOCK == 0) {
		struct time_range b = a->c->list[i / STATS_BLOCK].timed;

		if (b.to_ms != TIME_NONE && b.from_ms <= a->now_ms &&
		    age_ms(a->now_ms, b.to_ms) < span_ms)
			break;
		i += STATS_BLOCK;
	}
	return i;
}

/* Flood detection in the last FLOOD_SHOWN_MS, from message `first` on. late: messages per agent in
 * that span; an agent with few of them needs no ring buffer. */
static void find_floods(const struct stats_ctx *a, uint32_t first, const uint32_t *late)
{
	const struct model *m = a->m;
	struct ring **rings = xcalloc(a->agents, sizeof(*rings));

	for (uint32_t i = first;
	     (i = next_recent(a, i, FLOOD_SHOWN_MS)) < a->k && yield_on(a->yield); i++) {
		uint32_t from = message_route(m, i)->from;
		int64_t t;

		if (from == NONE || late[from] <= FLOOD_MESSAGES ||
		    a->stats[from].health == AGENT_FLOODING)
			continue;
		t = time_of(m, i);
		if (t == TIME_NONE || t > a->now_ms || age_ms(a->now_ms, t) >= FLOOD_SHOWN_MS)
			continue;
		if (!rings[from])
			rings[from] = xcalloc(1, sizeof(*rings[from]));
		if (ring_overflows(rings[from], t))
			a->stats[from].health = AGENT_FLOODING;
	}
	for (uint32_t i = 0; i < a->agents; i++)
		free(rings[i]);
	free(rings);
}

/* Message rates in the last RATE_SPAN_MS. */
static void add_rates(const struct stats_ctx *a)
{
	const struct model *m = a->m;
	uint32_t *late, first = a->k, most = 0;

	if (a->now_ms == TIME_NONE)
		return;
	late = xcalloc(a->agents, sizeof(*late));
	for (uint32_t i = 0; (i = next_recent(a, i, RATE_SPAN_MS)) < a->k && yield_on(a->yield);
	     i++) {
		uint32_t from = message_route(m, i)->from;
		int64_t t = time_of(m, i), old, span = RATE_SPAN_MS / ACTIVITY_BUCKETS;

		if (from == NONE || t == TIME_NONE || t > a->now_ms ||
		    (old = age_ms(a->now_ms, t)) >= RATE_SPAN_MS)
			continue;
		add_to_bucket(agent_recent(a->stats, a->agents, from) +
				      (ACTIVITY_BUCKETS - 1 - old / span), 1);
		a->stats[from].minute++;
		if (old >= FLOOD_SHOWN_MS)
			continue;
		first = i < first ? i : first;
		if (++late[from] > most)
			most = late[from];
	}
	if (most > FLOOD_MESSAGES)
		find_floods(a, first, late);
	free(late);
}

/* Sets the agent's current task and health. */
static void set_task(const struct stats_ctx *a, uint32_t task, const struct task_state_at *t)
{
	struct agent_stats *s = &a->stats[t->agent];

	s->task = task;
	if (s->health < AGENT_FLOODING)
		s->health = task_is_stalled(a->m, t, a->now_ms) ? AGENT_STALLED : AGENT_WORKING;
}

static void set_reviewing(const struct stats_ctx *a, uint32_t agent)
{
	if (a->stats[agent].health == AGENT_IDLE)
		a->stats[agent].health = AGENT_WORKING;
}

static void walk_work(const struct stats_ctx *a)
{
	const struct model *m = a->m;

	for (uint32_t i = 0; i < m->tasks.n && yield_on(a->yield); i++) {
		struct task_state_at t;

		if (task_at(m, &m->tasks.v[i], a->k, &t) && t.agent != NONE &&
		    task_state_is_work(t.state))
			set_task(a, i, &t);
	}
	for (uint32_t i = 0; i < m->reviews.n && yield_on(a->yield); i++) {
		uint32_t agent = m->reviews.v[i].reviewer;
		struct review_state r;

		if (agent != NONE && review_at(m, &m->reviews.v[i], a->k, &r) &&
		    r.verdict == REVIEW_NONE && !r.failed)
			set_reviewing(a, agent);
	}
}

static bool work_covers(const struct work *w, uint32_t k)
{
	return w->from < k && k <= w->to;
}

/* The same from the blocks' intervals; of several tasks of an agent the last one counts. */
static void add_work(const struct stats_ctx *a)
{
	const struct block_stats *c = a->c;

	for (uint32_t i = 0; i < c->tasks.n; i++)
		if (work_covers(&c->tasks.v[i], a->k))
			a->stats[c->tasks.v[i].agent].task = c->tasks.v[i].number;
	for (uint32_t i = 0; i < a->agents && yield_on(a->yield); i++) {
		uint32_t task = a->stats[i].task;
		struct task_state_at t;

		if (task != NONE && task_at(a->m, &a->m->tasks.v[task], a->k, &t))
			set_task(a, task, &t);
	}
	for (uint32_t i = 0; i < c->reviews.n; i++)
		if (work_covers(&c->reviews.v[i], a->k))
			set_reviewing(a, c->reviews.v[i].agent);
}

/* Agents that work but have not been heard of for STALL_MS. */
static void find_silent(const struct stats_ctx *a)
{
	for (uint32_t i = 0; i < a->agents; i++) {
		const struct agent *g = &a->m->agents.v[i];
		struct agent_stats *s = &a->stats[i];
		int64_t heard = s->last_seen_ms;

		for (uint32_t n = 0; n < g->states.n && g->states.v[n].message < a->k; n++) {
			s->state = g->states.v[n].state;
			if (heard == TIME_NONE) /* known only from others' reports */
				heard = model_time(a->m, g->states.v[n].message);
		}
		if (s->health == AGENT_IDLE && str_is(model_str(a->m, s->state), "busy"))
			s->health = AGENT_WORKING;
		if (s->health == AGENT_WORKING && age_ms(a->now_ms, heard) > STALL_MS)
			s->health = AGENT_SILENT;
	}
}

struct agent_stats *block_stats_agent_stats(const struct block_stats *c, const struct model *m,
					    uint32_t k, int64_t now_ms, struct yield *yield)
{
	struct agent_stats *stats =
		xcalloc(m->agents.n, sizeof(*stats) + ACTIVITY_BUCKETS * sizeof(uint16_t));
	struct stats_ctx a = { m, c, k, m->agents.n, now_ms, stats, yield };

	for (uint32_t i = 0; i < a.agents && yield_on(yield); i++) {
		stats[i].task = stats[i].state = NONE;
		stats[i].last_seen_ms = TIME_NONE;
		stats[i].last_message = m->agents.v[i].first;
	}
	add_messages(&a);
	add_usage(&a);
	add_tool_acts(&a);
	add_activity(&a);
	add_rates(&a);
	if (c)
		add_work(&a);
	else
		walk_work(&a);
	find_silent(&a);
	return stats;
}

struct agent_stats *model_agent_stats(const struct model *m, uint32_t k, int64_t now_ms,
				      struct yield *yield)
{
	return block_stats_agent_stats(NULL, m, k, now_ms, yield);
}
