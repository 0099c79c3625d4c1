/* Cross-message rules of envelopes: an output belongs to the last input. Iterations are counted per
 * lane (feature and workflow); retries are limited, and the same gaps twice call for escalation. */
#include "model/rules.h"

#define RULE(id) "envelope/" id

enum {
	RETRIES_MAX = 3,
	SEARCH_MAX = 512, /* items searched backwards */
};

#define ENVELOPE_KINDS (1u << ITEM_ESCALATION | 1u << ITEM_RETRY)

/* " (NAME): " at the start of what follows "Review escalated" */
static bool starts_with_name(struct str text, struct str name)
{
	return str_starts(text, STR(" (")) && str_starts(str_from(text, 2), name) &&
	       str_starts(str_from(text, 2 + name.n), STR("): "));
}

/* The newest item of a lane, or NONE. Outputs without an input have no lane (NONE); by_name: of
 * these the item that the escalation's text names. */
static uint32_t newest_item(struct apply_ctx *a, uint32_t lane, bool by_name, struct str text)
{
	const struct model *m = a->m;
	struct buf name = { 0 };
	uint32_t found = NONE;

	for (uint32_t i = m->items.n; i-- > 0 && m->items.n - i < SEARCH_MAX && found == NONE;) {
		const struct item *item = &m->items.v[i];

		if (!(ENVELOPE_KINDS & 1u << item->kind) || item_task(m, item) != lane ||
		    item_session(m, item) != a->session)
			continue;
		buf_clear(&name);
		if (by_name)
			item_name(m, item, &name);
		if (!by_name || starts_with_name(text, buf_str(&name)))
			found = i;
	}
	buf_release(&name);
	return found;
}

/* The lane of a review: an input has it in its context, an escalation in its text as " (LANE): ";
 * otherwise the newest. *known false: it names an unknown lane. */
static uint32_t find_lane(struct apply_ctx *a, const struct event *e, bool *known)
{
	const struct model *m = a->m;

	*known = true;
	if (e->id.n)
		return task_get(a, id_intern(a, e));
	if (!str_starts(e->other, STR(" (")))
		return rules_of(a)->lane;
	for (uint32_t i = m->tasks.n; i-- > 0;) {
		if (m->tasks.v[i].session == a->session &&
		    starts_with_name(e->other, model_str(m, m->tasks.v[i].id)))
			return i;
	}
	*known = false;
	return NONE;
}

static struct gaps *gaps_of(struct apply_ctx *a, uint32_t lane)
{
	struct task *t = &a->m->tasks.v[lane];

	if (!t->gaps)
		t->gaps = heap_zalloc(a->m->heap, sizeof(*t->gaps));
	return t->gaps;
}

/* Applies a review's line. False if it decides nothing: no item is open, or the line only repeats
 * the agent's own notes. */
static bool apply_review(struct apply_ctx *a, const struct event *e, uint32_t *of)
{
	bool known;
	uint32_t lane = *of = find_lane(a, e, &known);
	uint32_t item = newest_item(a, lane, !known, e->other);
	struct gaps *gaps = lane == NONE ? NULL : gaps_of(a, lane);
	const struct item *it;
	bool escalated;

	if (item == NONE || (gaps && e->content_hash == gaps->hash))
		return false;
	it = &a->m->items.v[item];
	escalated = it->steps[it->n - 1].what == STEP_DECIDED &&
		    it->steps[it->n - 1].verdict == VERDICT_ESCALATED;
	if (!it->open && !(escalated && e->verdict != VERDICT_ESCALATED))
		return false;
	report(a, SEVERITY_NOTE, RULE("review"), e->at, e->index, "says that a person decided");
	item_step(a, item, STEP_DECIDED, e->verdict, it->steps[it->n - 1].iteration);
	if (!gaps)
		return true;
	close_items(a, lane, ENVELOPE_KINDS, STEP_DECIDED, e->verdict);
	/* a person decided: restart the counters */
	gaps->line = a->m->tasks.v[lane].failures = 0;
	gaps->in_hash = 0;
	return true;
}

static void apply_input(struct apply_ctx *a, const struct event *e)
{
	uint32_t lane = task_get(a, id_intern(a, e));
	struct gaps *gaps;

	if (lane == NONE)
		return;
	rules_of(a)->lane = lane;
	close_items(a, lane, ENVELOPE_KINDS, STEP_SUPERSEDED, VERDICT_SUPERSEDED);
	gaps = gaps_of(a, lane);
	if (e->content_hash && gaps->in_hash == e->content_hash &&
	    gaps->in_iteration != e->iteration)
		report(a, SEVERITY_WARNING, RULE("retry-same-gaps"), "/task/params/gaps", 0,
		       "the same gaps as in iteration %lld: escalate",
		       (long long)gaps->in_iteration);
	if (e->iteration == 1)
		a->m->tasks.v[lane].failures = 0;
	gaps->in_hash = e->content_hash;
	gaps->in_iteration = e->iteration;
	task_step(a, lane, TASK_RUNNING, -1, true);
}

static void apply_output(struct apply_ctx *a, const struct event *e, uint32_t lane)
{
	struct gaps *gaps;
	struct task *t;

	if (lane == NONE) /* outputs without inputs share one lane */
		lane = task_get(a, model_intern(a->m, STR("envelope")));
	gaps = gaps_of(a, lane);
	t = &a->m->tasks.v[lane];
	if (e->failed && !e->severe && gaps->line && gaps->hash == e->content_hash)
		report(a, SEVERITY_WARNING, RULE("retry-same-gaps"), e->at, 0,
		       "the same gaps as in line %u: escalate", gaps->line);
	gaps->line = e->failed ? message_line(a->m, a->message) : 0;
	gaps->hash = e->content_hash;
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

static void apply_envelope(struct apply_ctx *a)
{
	bool escalated = false;
	uint32_t of = NONE;

	for (uint32_t i = 0; i < a->msg->events.n; i++) {
		const struct event *e = &a->msg->events.v[i];

		if (e->type == EV_ENVELOPE_IN)
			apply_input(a, e);
		else if (e->type == EV_ENVELOPE_OUT)
			apply_output(a, e, escalated ? of : rules_of(a)->lane);
		else if (e->type == EV_DECIDE)
			escalated = apply_review(a, e, &of) && e->verdict == VERDICT_ESCALATED;
		/* an escalation passes the older item on: no new item */
		else if (e->type == EV_ITEM && !escalated)
			item_raise(a, e, rules_of(a)->lane, NONE, 0);
	}
}

const struct rules_ops rules_envelope = {
	.name = "envelope",
	.apply = apply_envelope,
};
