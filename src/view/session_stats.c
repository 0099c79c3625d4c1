/* Computes the statistics of `gavel show summary` and the report in one pass over the model. */
#include "view/session_stats.h"

#include "base/parallel.h"
#include "model/ledger.h"
#include "model/prefetch.h"
#include "view/view_parts.h"

#include <stdlib.h>

enum {
	LIVE_MS = 600000, /* a decision that long after the newest message is on a recording */
	LOOKBACK = 256,   /* steps of an item searched for its opening */
	MANY_ITEMS = 1000, /* worth a second thread */
};

struct counting {
	const struct scene *s;
	struct session_stats *out;
	VEC(int64_t) took; /* ms from opening to decision */
	struct ledger *loops;
};

/* The element that sorting would put at `place`; all are in [0, most]. Radix select, most
 * significant byte first: at most eight passes for any input. */
static int64_t radix_select(const int64_t *list, uint32_t n, uint32_t place, int64_t most)
{
	uint64_t found = 0;
	unsigned shift = 0;

	while (shift < 64 && most >> shift)
		shift += 8;
	while (shift) {
		uint32_t counts[256] = { 0 }, byte = 0;

		shift -= 8;
		for (uint32_t i = 0; i < n; i++)
			if (((uint64_t)list[i] ^ found) >> shift <= 255)
				counts[(uint64_t)list[i] >> shift & 255]++;
		while (place >= counts[byte])
			place -= counts[byte++];
		found |= (uint64_t)byte << shift;
	}
	return (int64_t)found;
}

static int64_t span(const struct model *m, uint32_t opened, int64_t decided_ms)
{
	int64_t from = opened == NONE ? TIME_NONE : m->records.v[opened].time_ms;

	return from == TIME_NONE || decided_ms == TIME_NONE || decided_ms < from
		       ? TIME_NONE
		       : time_between(decided_ms, from);
}

/* When a step's message was said. What a person says of a recording has the recording's time, which
 * tells nothing of the person. */
static int64_t decided_ms(const struct model *m, const struct item_step *step)
{
	const struct reply *r = step->said ? message_reply(m, step->message) : NULL;
	int64_t time_ms = m->records.v[step->message].time_ms;

	if (!r || r->time_ms == TIME_NONE || time_ms == TIME_NONE)
		return time_ms;
	return time_between(r->time_ms, time_ms) < LIVE_MS &&
			       time_between(time_ms, r->time_ms) < LIVE_MS
		       ? time_ms
		       : TIME_NONE;
}

int64_t step_took(const struct model *m, const struct item *item, uint32_t step)
{
	uint32_t opened = NONE;

	for (uint32_t i = step; i-- > 0 && step - i < LOOKBACK;) {
		enum step_kind what = item->steps[i].what;

		if (what == STEP_DECIDED || what == STEP_FIXED || what == STEP_SUPERSEDED ||
		    what == STEP_EXPIRED || what == STEP_WITHDRAWN)
			break;
		if (what == STEP_RAISED)
			opened = item->steps[i].message;
	}
	return span(m, opened, decided_ms(m, &item->steps[step]));
}

int64_t overlay_took(const struct model *m, const struct overlay *overlay, uint32_t opened)
{
	int64_t last = overlay->from ? message_time(m, overlay->from - 1) : TIME_NONE;

	if (last == TIME_NONE || time_between(overlay->time_ms, last) >= LIVE_MS)
		return TIME_NONE;
	return span(m, opened, overlay->time_ms);
}

/* ---- counts ---- */

/* Distinct for each source in the half of the hash that the map keeps. */
static uint64_t source_hash(uint32_t source)
{
	return (uint64_t)(source + 1) << 32;
}

static void count_problems(struct counts *c, const struct record *r)
{
	c->problem[SEVERITY_ERROR] += r->errors;
	c->problem[SEVERITY_WARNING] += r->warnings;
	c->problem[SEVERITY_NOTE] += r->notes;
	c->flagged += r->errors > 0;
}

static void sum_kinds(struct counts *c)
{
	for (unsigned d = 0; d < dialect_count(); d++) {
		for (int k = 0; k < 256; k++)
			c->dialect[d] += c->kind[d][k];
		c->messages += c->dialect[d];
	}
}

/* The hot loop: there are more messages than anything else. */
static void count_messages(const struct scene *s, struct counts *c)
{
	const struct model *m = s->model;
	struct map sources = { 0 };
	uint32_t last = NONE, k = s->k;
	int64_t before_ms = INT64_MAX, to_ms = TIME_NONE;

	for (uint32_t i = 0; i < k; i++) {
		const struct record *r = &m->records.v[i];
		const struct route *route = route_of(m, r);
		/* TIME_NONE is below all times; minus one it wraps above them */
		int64_t less_ms = (int64_t)((uint64_t)r->time_ms - 1);

		if (s->filter && !message_is_shown(s, i))
			continue;
		c->kind[route->dialect][r->kind]++;
		if (r->errors | r->warnings | r->notes)
			count_problems(c, r);
		if (route->source != last &&
		    map_get(&sources, source_hash(route->source)) == MAP_NONE)
			map_add(&sources, source_hash(route->source), (uint32_t)c->sources++);
		last = route->source;
		before_ms = less_ms < before_ms ? less_ms : before_ms;
		to_ms = r->time_ms > to_ms ? r->time_ms : to_ms;
	}
	c->from_ms = (int64_t)((uint64_t)before_ms + 1);
	c->to_ms = to_ms;
	sum_kinds(c);
	map_release(&sources);
}

static void count_entities(const struct scene *s, struct counts *c)
{
	const struct model *m = s->model;
	struct task_state_at task;
	struct review_state review;

	for (uint32_t i = 0; i < m->sessions.n; i++)
		c->sessions += m->sessions.v[i].first < s->k;
	for (uint32_t i = 0; i < m->agents.n; i++)
		c->agents += m->agents.v[i].first < s->k && filter_agent(s->filter, m, i, s->k);
	for (uint32_t i = 0; i < m->tasks.n; i++) {
		tasks_prefetch(m, i);
		if (!task_at(m, &m->tasks.v[i], s->k, &task) ||
		    (s->filter && !filter_task(s->filter, m, i, s->k)))
			continue;
		c->tasks++;
		c->task[task.state]++;
		c->stalled += task_is_stalled(m, &task, s->now_ms);
	}
	for (uint32_t i = 0; i < m->reviews.n; i++) {
		reviews_prefetch(m, i);
		if (!review_at(m, &m->reviews.v[i], s->k, &review) ||
		    (s->filter && !message_is_shown(s, review.last)))
			continue;
		c->reviews++;
		c->review[review.verdict]++;
	}
	for (uint32_t i = 0; i < m->usage.n && m->usage.v[i].message < s->k; i++) {
		const struct usage *u = &m->usage.v[i];

		if (s->filter && !message_is_shown(s, u->message))
			continue;
		c->tokens_in += u->tokens_in;
		c->tokens_out += u->tokens_out;
		c->tokens_cached += u->tokens_cached;
		c->cost += u->cost;
	}
}

/* ---- decisions ---- */

static void add_took(struct counting *c, int64_t ms)
{
	if (ms != TIME_NONE)
		vec_push(&c->took, ms);
}

static void count_state(struct counts *c, const struct item_state *at)
{
	c->items++;
	c->verdict[at->verdict]++;
	c->due += at->open && at->deadline_ms != TIME_NONE;
	c->undecidable += at->open && at->undecidable;
	c->came_back += at->open && at->came_back;
}

static void count_decisions(struct counting *c, uint32_t number)
{
	const struct item *item = &c->s->model->items.v[number];

	for (uint32_t i = 1; i < item->n && item->steps[i].message < c->s->k; i++) {
		if (item->steps[i].what != STEP_DECIDED)
			continue;
		c->out->decided++;
		(item->steps[i].said ? c->out->by_persons
				     : c->out->by_agents)[item->steps[i].verdict]++;
		add_took(c, step_took(c->s->model, item, i));
	}
}

/* A person's decision, unless it is only staged. */
static void count_overlay(struct counting *c, const struct overlay *overlay)
{
	struct item_state at;

	if (!item_is_shown(c->s, overlay->item, &at) || !at.overlaid ||
	    at.delivery == DELIVERY_STAGED)
		return;
	c->out->decided++;
	c->out->by_persons[overlay->verdict]++;
	add_took(c, overlay_took(c->s->model, overlay, at.message));
}

static void count_loops(void *counting)
{
	struct counting *c = counting;
	const struct scene *s = c->s;
	struct session_stats *out = c->out;
	struct ledger *all = c->loops = ledger_new(s->model, s->k, s->k, NULL);

	for (uint32_t i = 0; i < all->n; i++) {
		if (!loop_has_begun(all, i, s->k) ||
		    (s->filter && !message_is_shown(s, all->list[i].first)))
			continue;
		out->loops++;
		if (!loop_diverges(all, i, s->k))
			continue;
		if (out->diverging < DIVERGED_MAX)
			out->diverged[out->diverging] = all->list[i].first;
		out->diverging++;
	}
}

bool session_loop_states(const struct scene *s, struct session_loops *out)
{
	struct ledger *all = scene_ledger(s);
	struct arena arena = { 0 };
	bool whole;

	memset(out, 0, s->model->sessions.n * sizeof(*out));
	for (uint32_t i = 0; all && i < all->n && yield_on(s->yield); i++) {
		uint32_t review = all->reviews[all->list[i].reviews];
		struct session_loops *l = &out[s->model->reviews.v[review].session];

		if (!loop_has_begun(all, i, s->k))
			continue;
		arena_reset(&arena);
		l->loops++;
		if (loop_diverges(all, i, s->k))
			l->diverging++;
		else
			l->ended += loop_progress(loop_look(all, i, s->k, &arena)) == LOOP_ENDED;
	}
	whole = all && yield_on(s->yield);
	arena_release(&arena);
	ledger_release(all);
	return whole;
}

const char *session_loop_word(const struct session_loops *l)
{
	if (l->diverging)
		return "not converging";
	return !l->loops ? "" : l->ended == l->loops ? "ended" : "converging";
}

/* ---- agents by tokens ---- */

static bool spent_more(const struct model *m, const struct session_stats *f, uint32_t place,
		       uint32_t agent, uint64_t tokens)
{
	if (tokens != f->spender[place].tokens)
		return tokens > f->spender[place].tokens;
	return str_cmp(agent_name(m, agent), agent_name(m, f->spender[place].agent)) < 0;
}

/* Insertion sort into the top list. */
static void rank_spender(const struct model *m, struct session_stats *f, uint32_t agent,
			 uint64_t tokens)
{
	uint32_t place = f->spenders < SPENDERS_MAX ? f->spenders : SPENDERS_MAX;

	f->spenders++;
	for (; place && spent_more(m, f, place - 1, agent, tokens); place--)
		if (place < SPENDERS_MAX)
			f->spender[place] = f->spender[place - 1];
	if (place < SPENDERS_MAX) {
		f->spender[place].agent = agent;
		f->spender[place].tokens = tokens;
	}
}

static void find_spenders(const struct scene *s, struct session_stats *out)
{
	const struct model *m = s->model;
	uint64_t *tokens = xcalloc(m->agents.n + 1u, sizeof(*tokens));

	for (uint32_t i = 0; i < m->usage.n && m->usage.v[i].message < s->k; i++) {
		const struct usage *u = &m->usage.v[i];

		if (u->agent != NONE)
			tokens[u->agent] += u->tokens_in + u->tokens_out;
	}
	for (uint32_t i = 0; i < m->agents.n; i++)
		if (tokens[i] && filter_agent(s->filter, m, i, s->k))
			rank_spender(m, out, i, tokens[i]);
	free(tokens);
}

/* Prefetches the record of a later item's second step, mostly a decision, for its time. */
static void prefetch_decision(const struct model *m, uint32_t number)
{
	if (number + PREFETCH_DISTANCE / 2 < m->items.n) {
		const struct item *item = &m->items.v[number + PREFETCH_DISTANCE / 2];

		mem_prefetch(&m->records.v[item->steps[item->n > 1].message]);
	}
}

static void count_items(struct counting *c)
{
	const struct model *m = c->s->model;
	struct item_state at;

	for (uint32_t i = 0; i < m->items.n; i++) {
		items_prefetch(m, i);
		prefetch_decision(m, i);
		if (!item_is_shown(c->s, i, &at))
			continue;
		count_state(&c->out->counts, &at);
		count_decisions(c, i);
	}
	for (uint32_t i = 0; i < m->overlays.n; i++)
		count_overlay(c, &m->overlays.v[i]);
	c->out->timed = c->took.n;
	for (uint32_t i = 0; i < c->took.n; i++)
		if (c->took.v[i] > c->out->longest_ms)
			c->out->longest_ms = c->took.v[i];
	if (c->took.n)
		c->out->median_ms = radix_select(c->took.v, c->took.n, (c->took.n - 1) / 2,
						 c->out->longest_ms);
	vec_release(&c->took);
}

/* All but loops; run in parallel with count_loops. */
static void count_others(void *counting)
{
	struct counting *c = counting;

	count_messages(c->s, &c->out->counts);
	count_entities(c->s, &c->out->counts);
	count_items(c);
	find_spenders(c->s, c->out);
}

/* Returns the loops, with a reference. */
static struct ledger *count_all(const struct scene *s, struct session_stats *out)
{
	struct counting c = { .s = s, .out = out };

	memset(out, 0, sizeof(*out));
	out->k = s->k;
	out->now_ms = s->now_ms;
	out->median_ms = out->longest_ms = TIME_NONE;
	/* filters read messages, which is not thread-safe */
	if (s->model->items.n >= MANY_ITEMS && !s->filter) {
		run_parallel(count_others, &c, count_loops, &c);
	} else {
		count_others(&c);
		count_loops(&c);
	}
	return c.loops;
}

/* Whether the statistics depend on nothing but the whole log. */
static bool is_whole_log(const struct scene *s)
{
	for (uint32_t i = 0; s->desks && i < s->desks->list.n; i++)
		if (s->desks->list.v[i].drafts.n)
			return false;
	return s->k && s->k == s->model->records.n && !s->filter && !s->model->overlays.n;
}

void session_stats_compute(const struct scene *s, struct session_stats *out, struct ledger **loops)
{
	bool keeps = s->kept && is_whole_log(s);
	struct ledger *all;

	if (loops)
		*loops = NULL;
	if (keeps && s->kept->k == s->k && s->kept->now_ms == s->now_ms) {
		*out = *s->kept;
		return;
	}
	all = count_all(s, out);
	if (keeps)
		*s->kept = *out;
	if (loops)
		*loops = all;
	else
		ledger_release(all);
}
