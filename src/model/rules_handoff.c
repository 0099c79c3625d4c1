/* Cross-message rules of handoff: Results are judged by confidence thresholds; one below
 * approve_from, sensitive, failed twice or escalated raises an item until a Decision comes. */
#include "model/rules.h"

#define RULE(id) "handoff/" id

enum { FAILURES_MAX = 2 };

#define ESCALATIONS (1u << ITEM_ESCALATION)

static void raise_escalation(struct apply_ctx *a, const struct event *e, uint32_t task)
{
	struct event item = *e;

	item.item = ITEM_ESCALATION;
	item.index = 0;
	if (!e->origin_dialect)
		item.content_hash = 0; /* a Result and the Decision on it raise the same item */
	item_raise(a, &item, task, NONE, task == NONE ? 0 : a->m->tasks.v[task].failures);
}

static void apply_result(struct apply_ctx *a, const struct event *e)
{
	uint32_t task = task_get(a, id_intern(a, e));
	struct task *t;

	rules_of(a)->saw_result = true;
	if (task == NONE) {
		if (e->number >= 0 && (e->number < a->m->approve_from || e->severe))
			raise_escalation(a, e, NONE);
		return;
	}
	close_items(a, task, ESCALATIONS, STEP_SUPERSEDED, VERDICT_SUPERSEDED);
	t = &a->m->tasks.v[task];
	t->has_result = true;
	t->confidence = e->number;
	t->sensitive = e->severe;
	t->escalated = false;
	if (e->failed)
		t->failures++;
	else
		t->failures = 0;
	if (t->failures > FAILURES_MAX)
		report(a, SEVERITY_WARNING, RULE("error-handling-retries"), "/status", 0,
		       "failure %u of this task; after 2 it is escalated or blocked", t->failures);
	task_step(a, task, e->failed ? TASK_FAILED : TASK_REVIEW, e->failed ? -1 : 1, false);
	if ((e->number >= 0 && e->number < a->m->approve_from) || e->severe ||
	    t->failures >= FAILURES_MAX)
		raise_escalation(a, e, task);
}

static void check_judgement(struct apply_ctx *a, const struct event *e, const struct task *t)
{
	if (!t->has_result) {
		if (rules_of(a)->saw_result)
			report(a, SEVERITY_WARNING, RULE("handoff-decision"), "/task_id", 0,
			       "decides a task whose Result was not seen");
		return;
	}
	if (t->confidence < 0 || t->escalated)
		return; /* after an escalation the decision is a person's, and final */
	if (e->verdict == VERDICT_ACCEPTED && t->confidence < a->m->human_from)
		report(a, SEVERITY_WARNING, RULE("thresholds-decision"), e->at, 0,
		       "approved with confidence %.2f; below %.2f is rejected or escalated",
		       t->confidence, a->m->human_from);
	else if (e->verdict == VERDICT_ACCEPTED &&
		 (t->confidence < a->m->approve_from || t->sensitive))
		report(a, SEVERITY_WARNING, RULE("thresholds-decision"), e->at, 0,
		       "approved with confidence %.2f%s; this needs a person", t->confidence,
		       t->sensitive ? " and marked sensitive" : "");
	else if (e->verdict == VERDICT_ACCEPTED && t->failures)
		report(a, SEVERITY_WARNING, RULE("thresholds-decision"), e->at, 0,
		       "approved, but the Result tells of a failure");
	else if (e->verdict == VERDICT_REJECTED && t->confidence >= a->m->approve_from &&
		 !t->sensitive && !t->failures)
		report(a, SEVERITY_NOTE, RULE("thresholds-decision"), e->at, 0,
		       "rejected with confidence %.2f; from %.2f on it is approved", t->confidence,
		       a->m->approve_from);
	else if (e->verdict == VERDICT_REJECTED && t->confidence >= a->m->human_from &&
		 t->confidence < a->m->approve_from)
		report(a, SEVERITY_NOTE, RULE("thresholds-decision"), e->at, 0,
		       "rejected with confidence %.2f; from %.2f on a person decides",
		       t->confidence, a->m->human_from);
	else if (e->verdict == VERDICT_ESCALATED && t->confidence < a->m->human_from &&
		 !str_contains_nocase(e->other, STR("low confidence")))
		report(a, SEVERITY_NOTE, RULE("thresholds-decision"), "/rationale", 0,
		       "escalated with confidence %.2f; the rationale is \"low confidence\" then",
		       t->confidence);
}

/* A person's Decision overrides earlier ones. */
static void decide(struct apply_ctx *a, const struct event *e, uint32_t task, enum verdict verdict)
{
	uint32_t item = item_named(a->m, a->session, ITEM_ESCALATION, id_known(a, e), NONE);

	if (e->person && item != NONE && !a->m->items.v[item].open)
		item_step(a, item, STEP_DECIDED, verdict, 0);
	close_items(a, task, ESCALATIONS, STEP_DECIDED, verdict);
}

/* An item forwarded by an escalation queue needs a person; an escalation made by a person in the
 * log itself does not. */
static bool is_forwarded(const struct event *e)
{
	return e->origin_dialect || e->undecidable;
}

static void apply_judgement(struct apply_ctx *a, const struct event *e)
{
	uint32_t task = task_get(a, id_intern(a, e));
	struct task *t;

	if (task == NONE) {
		if (e->verdict == VERDICT_ESCALATED)
			raise_escalation(a, e, NONE);
		return;
	}
	t = &a->m->tasks.v[task];
	if (e->person && !is_forwarded(e))
		report(a, SEVERITY_NOTE, RULE("decision-by"), "/x-gavel/by", 0,
		       "says that a person decided; that is final");
	else if (!e->person)
		check_judgement(a, e, t);
	switch (e->verdict) {
	case VERDICT_ESCALATED:
		t->escalated = true;
		task_step(a, task, TASK_REVIEW, -1, false);
		if (e->person && !is_forwarded(e))
			decide(a, e, task, VERDICT_ESCALATED);
		else
			raise_escalation(a, e, task);
		break;
	case VERDICT_ACCEPTED:
		task_step(a, task, TASK_COMPLETED, 1, false);
		decide(a, e, task, VERDICT_ACCEPTED);
		break;
	case VERDICT_REJECTED:
		task_step(a, task, TASK_RETRYING, -1, false);
		decide(a, e, task, VERDICT_REJECTED);
		break;
	default: /* not a decision the protocol knows */
		break;
	}
}

static void apply_handoff(struct apply_ctx *a)
{
	for (uint32_t i = 0; i < a->msg->events.n; i++) {
		const struct event *e = &a->msg->events.v[i];

		switch (e->type) {
		case EV_TASK:
			task_step(a, task_get(a, id_intern(a, e)), TASK_PENDING, -1, true);
			break;
		case EV_TASK_STATE:
			task_step(a, task_get(a, id_intern(a, e)), e->state, e->number, false);
			break;
		case EV_RESULT:
			apply_result(a, e);
			break;
		case EV_JUDGEMENT:
			apply_judgement(a, e);
			break;
		default: /* events of other dialects */
			break;
		}
	}
}

const struct rules_ops rules_handoff = {
	.name = "handoff",
	.apply = apply_handoff,
};
