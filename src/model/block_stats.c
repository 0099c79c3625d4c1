/* Builds the per-block summaries in one pass over messages, one over tasks, one over reviews. */
#include "model/block_stats.h"

#include <stdlib.h>

/* place: of the agent's newest summary */
static void add_to_summary(struct block_stats *c, const struct record *r, uint32_t from, uint32_t i,
			   int64_t time_ms, uint32_t *place)
{
	struct agent_summary *t;

	if (*place == NONE || *place < c->list[i / STATS_BLOCK].first_summary) {
		*place = c->summaries.n;
		vec_push(&c->summaries, (struct agent_summary){ .agent = from });
	}
	t = &c->summaries.v[*place];
	t->messages++;
	t->errors += r->errors;
	t->warnings += r->warnings;
	t->dated += r->time_ms != TIME_NONE;
	t->last = (uint16_t)(i % STATS_BLOCK);
	if (time_ms != TIME_NONE)
		t->last_timed = (uint16_t)(i % STATS_BLOCK + 1);
}

static void summarise_messages(struct block_stats *c, const struct model *m, struct yield *yield)
{
	uint32_t *place = xmalloc((m->agents.n + 1) * sizeof(*place));

	memset(place, 0xff, m->agents.n * sizeof(*place));
	for (uint32_t i = 0; i < c->n * STATS_BLOCK && yield_on(yield); i++) {
		const struct record *r = &m->records.v[i];
		uint32_t from = route_of(m, r)->from;
		struct stats_block *block = &c->list[i / STATS_BLOCK];
		int64_t time_ms = m->arrivals.n ? model_time(m, i) : r->time_ms;

		if (i % STATS_BLOCK == 0)
			*block = (struct stats_block){ TIME_RANGE_NONE, TIME_RANGE_NONE,
						       c->summaries.n };
		time_range_add(&block->sent, r->time_ms);
		time_range_add(&block->timed, time_ms);
		if (from != NONE)
			add_to_summary(c, r, from, i, time_ms, &place[from]);
	}
	c->list[c->n].first_summary = c->summaries.n;
	free(place);
}

static void find_task_work(struct block_stats *c, const struct model *m, uint32_t end,
			   struct yield *yield)
{
	for (uint32_t i = 0; i < m->tasks.n && yield_on(yield); i++) {
		const struct task *task = &m->tasks.v[i];
		struct work now = { .agent = NONE };

		for (uint32_t n = 0; n < task->steps.n && task->steps.v[n].message < end; n++) {
			const struct task_step *step = &task->steps.v[n];
			uint32_t agent = task_state_is_work(step->state) ? step->agent : NONE;

			if (agent == now.agent)
				continue;
			now.to = step->message;
			if (now.agent != NONE)
				vec_push(&c->tasks, now);
			now = (struct work){ .agent = agent, .number = i, .from = step->message,
					     .to = end };
		}
		if (now.agent != NONE)
			vec_push(&c->tasks, now);
	}
}

static void find_review_work(struct block_stats *c, const struct model *m, uint32_t end,
			     struct yield *yield)
{
	for (uint32_t i = 0; i < m->reviews.n && yield_on(yield); i++) {
		const struct review *r = &m->reviews.v[i];
		struct work now = { .agent = r->reviewer, .number = i };
		bool asked = false;

		if (r->reviewer == NONE)
			continue;
		for (uint32_t n = 0; n < r->steps.n && r->steps.v[n].message < end; n++) {
			bool waits = r->steps.v[n].verdict == REVIEW_NONE && !r->steps.v[n].failed;

			now.to = r->steps.v[n].message;
			if (asked && !waits)
				vec_push(&c->reviews, now);
			if (waits && !asked)
				now.from = r->steps.v[n].message;
			asked = waits;
		}
		now.to = end;
		if (asked)
			vec_push(&c->reviews, now);
	}
}

struct block_stats *block_stats_new(const struct model *m, uint32_t n, struct yield *yield)
{
	struct block_stats *c = xcalloc(1, sizeof(*c));

	c->n = n / STATS_BLOCK;
	c->list = xcalloc(c->n + 1, sizeof(*c->list));
	summarise_messages(c, m, yield);
	find_task_work(c, m, n, yield);
	find_review_work(c, m, n, yield);
	if (yield_on(yield))
		return c;
	block_stats_free(c);
	return NULL;
}

void block_stats_free(struct block_stats *c)
{
	if (!c)
		return;
	free(c->list);
	vec_release(&c->summaries);
	vec_release(&c->tasks);
	vec_release(&c->reviews);
	free(c);
}
