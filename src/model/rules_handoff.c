/* Cross-message rules of handoff: Results are judged by confidence thresholds; one below
 * approve_from, sensitive, failed twice or escalated raises an item until a Decision comes. */
#include "model/rules.h"

#define RULE(id) "handoff/" id

enum {
	FAILURES_MAX = 2,
	SEARCH_MAX = 256, /* steps searched backwards */
};

#define ESCALATIONS (1u << ITEM_ESCALATION)

/* An item forwarded by an escalation queue needs a person; an escalation made by a person in the
 * log itself does not. */
static bool is_forwarded(const struct event *e)
{
	return e->origin_dialect || e->undecidable;
}

/* Results and Decisions have no id: the same words at another time are asked anew. */
static bool is_asked_anew(const struct apply_ctx *a, const struct event *e)
{
	uint32_t known = item_named(a->m, a->session, ITEM_ESCALATION, id_known(a, e), NONE);
	const struct item *it = known == NONE ? NULL : &a->m->items.v[known];

	for (uint32_t i = it ? it->n : 0; i-- > 0;)
		if (it->steps[i].what == STEP_RAISED)
			return a->m->records.v[it->steps[i].message].time_ms != a->msg->time_ms;
	return false;
}

/* The task's newest Result before that message, or NONE. */
static uint32_t result_before(const struct model *m, const struct task *t, uint32_t message)
{
	uint32_t n = 0;

	bisect(n, t->steps.n, i, t->steps.v[i].message < message)
	for (uint32_t i = n; i-- > 0 && n - i <= SEARCH_MAX;)
		if (str_is(model_kind(m, &m->records.v[t->steps.v[i].message]), "result"))
			return t->steps.v[i].message;
	return NONE;
}

static bool is_result_ambiguous(const struct model *m, const struct task *t, uint32_t message)
{
	uint32_t result = result_before(m, t, message);

	return result != NONE && message_route(m, result)->flags & RECORD_AMBIGUOUS;
}

static void raise_escalation(struct apply_ctx *a, const struct event *e, uint32_t task)
{
	const struct task *t = task == NONE ? NULL : &a->m->tasks.v[task];
	struct event item = *e;

	item.item = ITEM_ESCALATION;
	item.index = 0;
	item.again = is_asked_anew(a, e);
	/* a Decision is shown with its Result (item_subject) */
	if (e->type == EV_JUDGEMENT && !is_forwarded(e) && t && t->has_result) {
		item.content_hash = hash_mix(e->content_hash, t->result_hash);
		item.undecidable = is_result_ambiguous(a->m, t, a->message);
	}
	item_raise(a, &item, task, NONE, task == NONE ? 0 : a->m->tasks.v[task].failures);
}

/* A Decision is about the newest Result of its task; an entry of a queue has all it is about. */
static uint32_t subject(const struct model *m, const struct item *item, uint32_t message)
{
	uint32_t task = item_task(m, item);

	if (task == NONE || item->origin_dialect ||
	    !str_is(model_kind(m, &m->records.v[message]), "decision"))
		return NONE;
	return result_before(m, &m->tasks.v[task], message);
}

/* The Result that a task has already. Without a task_id, nothing tells. */
static uint32_t repeated_result(const struct apply_ctx *a)
{
	const struct event *e = a->msg->events.n ? &a->msg->events.v[0] : NULL;
	uint32_t task = e && e->type == EV_RESULT ? task_named(a->m, a->session, id_known(a, e))
						  : NONE;
	const struct task *t = task == NONE ? NULL : &a->m->tasks.v[task];
	uint32_t newest;

	if (!t || !t->has_result || t->result_hash != (uint32_t)e->content_hash)
		return NONE;
	newest = result_before(a->m, t, a->message);
	return newest != NONE && a->m->records.v[newest].time_ms == a->msg->time_ms ? newest
										     : NONE;
}

/* Tasks need not be stored: a missing one warns only where the session has shown others. */
static void check_task(struct apply_ctx *a, const struct event *e, const struct task *t)
{
	char q[QUOTED_MAX];

	if (rules_of(a)->saw_task && !t->steps.n)
		report(a, SEVERITY_WARNING, RULE("handoff-task"), e->at, 0, "no Task %s was seen",
		       quoted(e->id, q));
}

/* How many Results of the task have failed, one after the other. An ambiguous one is counted if it
 * may have, and does not end the count. */
static void count_failure(const struct apply_ctx *a, const struct event *e, struct task *t)
{
	if (e->failed)
		t->failures++;
	else if (!is_ambiguous(a))
		t->failures = 0;
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
	check_task(a, e, &a->m->tasks.v[task]);
	close_items(a, task, ESCALATIONS, STEP_SUPERSEDED, VERDICT_SUPERSEDED);
	t = &a->m->tasks.v[task];
	t->has_result = true;
	t->result_hash = (uint32_t)e->content_hash;
	t->confidence = (float)e->number;
	t->sensitive = e->severe;
	t->escalated = t->final = false;
	count_failure(a, e, t);
	if (t->failures > FAILURES_MAX)
		report(a, SEVERITY_WARNING, RULE("error-handling-retries"), "/status", 0,
		       "failure %u of this task; after 2 it is escalated or blocked", t->failures);
	task_step(a, task, e->failed ? TASK_FAILED : TASK_REVIEW, e->failed ? -1 : 1, false);
	if ((e->number >= 0 && e->number < a->m->approve_from) || e->severe ||
	    t->failures >= FAILURES_MAX)
		raise_escalation(a, e, task);
}

/* Where the judge stands by the thresholds of a Result. */
static void check_approval(struct apply_ctx *a, const struct event *e, const struct task *t)
{
	if (t->confidence < (float)a->m->human_from)
		report(a, SEVERITY_WARNING, RULE("thresholds-decision"), e->at, 0,
		       "approved with confidence %.2f; below %.2f is rejected or escalated",
		       t->confidence, a->m->human_from);
	else if (t->confidence < (float)a->m->approve_from || t->sensitive)
		report(a, SEVERITY_WARNING, RULE("thresholds-decision"), e->at, 0,
		       "approved with confidence %.2f%s; this needs a person", t->confidence,
		       t->sensitive ? " and marked sensitive" : "");
	else if (t->failures)
		report(a, SEVERITY_WARNING, RULE("thresholds-decision"), e->at, 0,
		       "approved, but the Result tells of a failure");
}

static void check_rejection(struct apply_ctx *a, const struct event *e, const struct task *t)
{
	if (t->failures || t->confidence < (float)a->m->human_from)
		return;
	if (t->confidence < (float)a->m->approve_from || t->sensitive)
		report(a, SEVERITY_WARNING, RULE("thresholds-decision"), e->at, 0,
		       "rejected with confidence %.2f%s; this needs a person", t->confidence,
		       t->sensitive ? " and marked sensitive" : "");
	else
		report(a, SEVERITY_WARNING, RULE("thresholds-decision"), e->at, 0,
		       "rejected with confidence %.2f; from %.2f on it is approved", t->confidence,
		       a->m->approve_from);
}

/* A judge's Decision. After an escalation it is a person's. */
static void check_judgement(struct apply_ctx *a, const struct event *e, const struct task *t)
{
	if (t->final)
		report(a, SEVERITY_WARNING, RULE("decision-final"), e->at, 0,
		       "a person has decided on this Result, and that is final");
	if (!t->has_result) {
		bool begun = rules_of(a)->saw_result || t->steps.n;

		if (is_forwarded(e))
			return; /* its Result is in the log that it came from */
		report(a, begun ? SEVERITY_WARNING : SEVERITY_NOTE, RULE("handoff-decision"),
		       "/task_id", 0, "decides a task whose Result was not seen");
		return;
	}
	if (t->escalated || t->final)
		return;
	if (e->verdict == VERDICT_REJECTED && t->failures >= FAILURES_MAX)
		report(a, SEVERITY_WARNING, RULE("error-handling-escalation"), e->at, 0,
		       "rejected after failure %u of this task; now it is escalated or blocked",
		       t->failures);
	if (t->confidence < 0)
		return;
	if (e->verdict == VERDICT_ACCEPTED)
		check_approval(a, e, t);
	else if (e->verdict == VERDICT_REJECTED)
		check_rejection(a, e, t);
	else if (e->verdict == VERDICT_ESCALATED && t->confidence < (float)a->m->human_from &&
		 !str_contains_nocase(e->other, STR("low confidence")))
		report(a, SEVERITY_NOTE, RULE("thresholds-decision"), "/rationale", 0,
		       "escalated with confidence %.2f; the rationale is \"low confidence\" then",
		       t->confidence);
}

/* A person's Decision overrides earlier ones. */
static void decide(struct apply_ctx *a, const struct event *e, uint32_t task, enum verdict verdict)
{
	uint32_t item = item_named(a->m, a->session, ITEM_ESCALATION, id_known(a, e), NONE);

	if (a->reply && item != NONE && !a->m->items.v[item].open)
		item_step(a, item, STEP_DECIDED, verdict, 0);
	close_items(a, task, ESCALATIONS, STEP_DECIDED, verdict);
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
	if (a->msg->flags & RECORD_CLAIMS_HUMAN && !is_forwarded(e))
		report(a, SEVERITY_NOTE, RULE("decision-by"), "/x-gavel/by", 0,
		       "says that a person decided; only a file of replies or a journal can tell");
	if (!a->reply)
		check_judgement(a, e, t);
	if (is_ambiguous(a)) {
		if (e->verdict == VERDICT_ESCALATED)
			raise_escalation(a, e, task);
		return;
	}
	if (a->reply && e->verdict != VERDICT_ESCALATED)
		t->final = true;
	switch (e->verdict) {
	case VERDICT_ESCALATED:
		t->escalated = true;
		task_step(a, task, TASK_REVIEW, -1, false);
		if (a->reply)
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
	case VERDICT_WITHDRAWN: /* said in a team's inbox */
		if (a->reply)
			close_items(a, task, ESCALATIONS, STEP_WITHDRAWN, VERDICT_WITHDRAWN);
		break;
	default: /* of the protocol's decisions there are no others; a team's inbox has them */
		if (a->reply && e->verdict != VERDICT_NONE)
			decide(a, e, task, e->verdict);
		break;
	}
}

static void apply_handoff(struct apply_ctx *a)
{
	for (uint32_t i = 0; i < a->msg->events.n; i++) {
		const struct event *e = &a->msg->events.v[i];

		switch (e->type) {
		case EV_TASK:
			rules_of(a)->saw_task = true;
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

static void reply_keys(const struct message *msg, struct reply_keys *out)
{
	for (uint32_t i = 0; i < msg->events.n; i++)
		if (msg->events.v[i].type == EV_JUDGEMENT)
			reply_key_add(out, reply_key(ANSWERS_TASK, 0, msg->events.v[i].id), false,
				      false);
}

/* Only what raises an item waits for a Decision. */
static void offer_keys(const struct model *m, uint32_t session, const struct message *msg,
		       struct reply_keys *out)
{
	uint32_t message = m->records.n - 1;

	for (uint32_t i = 0; i < msg->events.n; i++) {
		const struct event *e = &msg->events.v[i];
		uint32_t item = e->type != EV_RESULT && e->type != EV_JUDGEMENT
					? NONE
					: find_item(m, session, ITEM_ESCALATION, e->id, NONE);

		if (item != NONE && m->items.v[item].open &&
		    m->items.v[item].steps[m->items.v[item].n - 1].message == message)
			reply_key_add(out, reply_key(ANSWERS_TASK, 0, e->id), false, false);
	}
}

const struct rules_ops rules_handoff = {
	.name = "handoff",
	.apply = apply_handoff,
	.reply_keys = reply_keys,
	.offer_keys = offer_keys,
	.repeated = repeated_result,
	.subject = subject,
	.id = { "", RULE("result-repeated"), NULL },
};
