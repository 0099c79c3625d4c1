/* Envelopes: an output answers the input before it. Iterations are counted by feature and workflow;
 * retries end, and the same gaps twice mean that a person must look. */
#include "model/rules.h"

#define RULE(id) "envelope/" id

enum { RETRIES_MAX = 3 };

#define ENVELOPE_KINDS (1u << ITEM_ESCALATION | 1u << ITEM_RETRY)

static void apply_input(struct applying *a, const struct event *e)
{
	uint32_t lane = task_get(a, e->id);
	struct task *t;

	if (lane == NONE)
		return;
	rules_of(a)->lane = lane;
	close_items(a, lane, ENVELOPE_KINDS, STEP_SUPERSEDED, VERDICT_SUPERSEDED);
	t = &a->m->tasks.v[lane];
	if (e->content_hash && t->gaps_in_hash == e->content_hash &&
	    t->gaps_in_iteration != e->iteration)
		report(a, SEVERITY_WARNING, RULE("retry-same-gaps"), "/task/params/gaps", 0,
		       "the same gaps as in iteration %lld: escalate",
		       (long long)t->gaps_in_iteration);
	if (e->iteration == 1)
		t->failures = 0;
	t->gaps_in_hash = e->content_hash;
	t->gaps_in_iteration = e->iteration;
	task_step(a, lane, TASK_RUNNING, -1, true);
}

static void apply_output(struct applying *a, const struct event *e)
{
	uint32_t lane = rules_of(a)->lane;
	struct task *t;

	if (lane == NONE) /* outputs without their inputs are one lane */
		lane = task_get(a, STR("envelope"));
	t = &a->m->tasks.v[lane];
	if (e->failed && !e->severe && t->gaps_line && t->gaps_hash == e->content_hash)
		report(a, SEVERITY_WARNING, RULE("retry-same-gaps"), e->at, 0,
		       "the same gaps as in line %u: escalate", t->gaps_line);
	t->gaps_line = e->failed ? line_of(a->m, a->message) : 0;
	t->gaps_hash = e->content_hash;
	if (e->again)
		t->failures++;
	else if (!e->failed)
		t->failures = 0;
	if (e->again && t->failures > RETRIES_MAX)
		report(a, SEVERITY_WARNING, RULE("retry-limit"), e->at, 0,
		       "retry %u; after %d it is time to escalate", t->failures, RETRIES_MAX);
	task_step(a, lane,
		  e->severe   ? TASK_REVIEW
		  : e->again  ? TASK_RETRYING
		  : e->failed ? TASK_FAILED
			      : TASK_COMPLETED,
		  e->failed || e->severe ? -1 : 1, false);
}

void apply_envelope(struct applying *a)
{
	for (uint32_t i = 0; i < a->msg->events.n; i++) {
		const struct event *e = &a->msg->events.v[i];

		if (e->type == EV_ENVELOPE_IN)
			apply_input(a, e);
		else if (e->type == EV_ENVELOPE_OUT)
			apply_output(a, e);
		else if (e->type == EV_ITEM)
			item_raise(a, e, rules_of(a)->lane, NONE, 0);
	}
}
