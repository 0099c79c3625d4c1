/* Cross-message rules of collaboration: assignment, progress and completion of tasks; requests and
 * results of reviews. Rules that change nothing are in rules_collaboration_head.c and _work.c.
 *
 * A revision is a new task that continues an older one; the first of such a chain is its root, and
 * review rounds, findings and blockers are counted there. */
#include "model/rules_collaboration.h"

#include <stdlib.h>


#define KIND(k) (1u << (k))
#define REVIEW_KINDS (KIND(ITEM_FINDING) | KIND(ITEM_CHANGE) | KIND(ITEM_VERDICT))

/* The task that a revision continues: the one a person replies to; the same correlation; else the
 * last finished one of the same agent. */
static uint32_t find_predecessor(struct apply_ctx *a, uint32_t task)
{
	struct model *m = a->m;
	uint32_t chain = m->records.v[a->message].chain, fallback = NONE;
	uint32_t replied = replied_task(a);

	if (replied != NONE)
		return replied;
	for (uint32_t i = m->tasks.n; i-- > 0 && m->tasks.n - i < 512;) {
		const struct task *t = &m->tasks.v[i];

		if (i == task || t->session != a->session || !t->given || !t->steps.n)
			continue;
		if (chain && m->records.v[t->steps.v[0].message].chain == chain)
			return i;
		if (fallback == NONE && !t->active && vec_last(&t->steps)->agent == a->to)
			fallback = i;
	}
	return chain ? NONE : fallback;
}

/* Hash map of a task's open items by id, for messages that name many of them. */
static void index_open_items(struct apply_ctx *a, uint32_t root, struct map *out)
{
	const struct task *t = &a->m->tasks.v[root];

	for (uint32_t i = 0; i < t->open_items.n; i++) {
		const struct item *item = &a->m->items.v[t->open_items.v[i]];

		if (item->id != NONE && item->open)
			map_add(out, str_hash(model_str(a->m, item->id)), t->open_items.v[i]);
	}
}

/* Iterator: the next open item of that id; kinds are bits. *it starts at 0. */
static uint32_t next_open(struct apply_ctx *a, const struct map *open, struct str id,
			  unsigned kinds, uint32_t *it)
{
	for (uint32_t v; map_next(open, str_hash(id), it, &v);) {
		const struct item *item = &a->m->items.v[v];

		if ((kinds & KIND(item->kind)) && item->open &&
		    str_eq(model_str(a->m, item->id), id))
			return v;
	}
	return NONE;
}

static bool decide_open(struct apply_ctx *a, const struct map *open, struct str id, unsigned kinds,
			enum verdict verdict)
{
	bool found = false;

	for (uint32_t it = 0, item; (item = next_open(a, open, id, kinds, &it)) != NONE;) {
		item_step(a, item, STEP_DECIDED, verdict, 0);
		found = true;
	}
	return found;
}

/* A revision accepts the open findings it names, or all of them if it names none. */
static void accept_findings(struct apply_ctx *a, uint32_t root)
{
	struct map open = { 0 };
	bool named = false;
	enum item_kind kind;
	struct str id;

	for (uint32_t i = 0; i < a->msg->events.n; i++) {
		const struct event *e = &a->msg->events.v[i];

		if (e->type != EV_DECIDE)
			continue;
		if (!named)
			index_open_items(a, root, &open);
		named = true;
		if (!decide_open(a, &open, e->id, ~0u, e->verdict) &&
		    item_kind_split(e->id, &kind, &id))
			decide_open(a, &open, id, KIND(kind), e->verdict);
	}
	map_release(&open);
	close_items(a, root, KIND(ITEM_BLOCKED), STEP_DECIDED, VERDICT_ACCEPTED);
	if (!named)
		close_items(a, root, KIND(ITEM_FINDING) | KIND(ITEM_CHANGE), STEP_DECIDED,
			    VERDICT_ACCEPTED);
}

static void begin_terms(struct apply_ctx *a, const struct event *e, struct task_terms *t)
{
	t->assigned_ms = t->reported_ms = a->msg->time_ms;
	t->scope.n = 0;
	t->scoped = t->started = false;
	t->tests = e->tests;
	t->chain = a->m->records.v[a->message].chain;
}

static void apply_task(struct apply_ctx *a, const struct event *e)
{
	struct model *m = a->m;
	uint32_t number = task_get(a, id_intern(a, e)), before;
	struct task *t;
	char q[QUOTED_MAX];

	check_aborted(a);
	rules_of(a)->aborted = false;
	if (number == NONE)
		return;
	rules_of(a)->saw_assignment = true;
	t = &m->tasks.v[number];
	if (t->given)
		report(a, SEVERITY_ERROR, RULE("6.3-task_id"), e->at, 0,
		       "%s was already given out in line %u%s; task ids are unique", quoted(e->id, q),
		       message_line(m, t->steps.v[0].message),
		       reply_words(m, t->steps.v[0].message));
	else if (e->again && !t->steps.n && (before = find_predecessor(a, number)) != NONE)
		t->root = m->tasks.v[before].root;
	task_step(a, number, TASK_ASSIGNED, -1, true);
	t->given = t->active = true;
	begin_terms(a, e, task_terms(m, number));
	if (m->tasks.v[t->root].terms)
		m->tasks.v[t->root].terms->changes = 0;
	if (e->limit && !is_ambiguous(a))
		t->limit = clamp32(e->limit);
	if (t->root != number && e->limit && !is_ambiguous(a))
		m->tasks.v[t->root].limit = clamp32(e->limit);
	if ((e->again || t->root != number) && !decides_by_name(a))
		accept_findings(a, t->root);
}

/* A task that is aborted is still to be completed, if as failed (3.2), but is not active (6.3): the
 * text contradicts itself, so that warns. */
static void report_inactive(struct apply_ctx *a, const struct event *e,
			    const struct task_step *last)
{
	bool final = task_state_is_final(e->state);
	char q[QUOTED_MAX];

	report(a, final && last->state != TASK_CANCELLED ? SEVERITY_ERROR : SEVERITY_WARNING,
	       final ? RULE("6.3-task_id") : RULE("3.1-assignment"), e->at, 0,
	       "%s is not active any more (line %u%s)", quoted(e->id, q),
	       message_line(a->m, last->message), reply_words(a->m, last->message));
}

static void apply_task_state(struct apply_ctx *a, const struct event *e)
{
	struct model *m = a->m;
	uint32_t number = task_named(m, a->session, id_known(a, e));
	bool final = task_state_is_final(e->state);
	bool strict = rules_of(a)->saw_assignment;
	char q[QUOTED_MAX];

	if (!e->id.n)
		return;
	if (number == NONE || !m->tasks.v[number].given) {
		if (final)
			report(a, strict ? SEVERITY_ERROR : SEVERITY_WARNING, RULE("6.3-task_id"),
			       e->at, 0, "%s was never assigned", quoted(e->id, q));
		else
			report(a, SEVERITY_WARNING, RULE("3.1-assignment"), e->at, 0,
			       "%s was never assigned", quoted(e->id, q));
		number = task_get(a, id_intern(a, e));
	} else if (!m->tasks.v[number].active) {
		report_inactive(a, e, vec_last(&m->tasks.v[number].steps));
	} else {
		check_aborted(a);
	}
	if (m->tasks.v[number].given)
		check_work(a, e, &m->tasks.v[number]);
	task_step(a, number, e->state, e->number, false);
	if (final) {
		m->tasks.v[number].active = false;
		close_items(a, number, KIND(ITEM_BLOCKED), STEP_SUPERSEDED, VERDICT_SUPERSEDED);
	} else {
		m->tasks.v[number].active = true;
	}
}

static void check_rounds(struct apply_ctx *a, uint32_t root, const char *at)
{
	const struct task *t = &a->m->tasks.v[root];

	if (t->rounds > task_review_limit(t))
		report(a, SEVERITY_WARNING, RULE("4.3-max_iterations"), at, 0,
		       "review %u of a task that allows %u: escalate", t->rounds, task_review_limit(t));
}

static void report_never_assigned(struct apply_ctx *a, const char *rule, const char *at,
				  struct str id)
{
	char q[QUOTED_MAX];

	if (rules_of(a)->saw_assignment && !a->msg->from.human)
		report(a, SEVERITY_WARNING, rule, at, 0, "%s was never assigned", quoted(id, q));
}

/* Whether no task was assigned since that message, in any session: a revision need not say what it
 * revises. */
static bool is_newest_task_before(const struct model *m, uint32_t message)
{
	const struct task *newest = vec_last(&m->tasks);

	return newest->steps.n && newest->steps.v[0].message < message;
}

/* task: what the review is of */
static void check_review_of(struct apply_ctx *a, const struct event *e, uint32_t task)
{
	struct model *m = a->m;
	const struct task *t = &m->tasks.v[task];
	uint32_t changes = m->tasks.v[t->root].given ? m->tasks.v[t->root].terms->changes : 0;

	if (!t->given)
		report_never_assigned(a, RULE("2.2.4-task_id"), "/payload/task_id", e->task);
	else if (t->active)
		report(a, SEVERITY_WARNING, RULE("4.1-review"), "/payload/task_id", 0,
		       "review of a task that is not completed");
	else if (vec_last(&t->steps)->state == TASK_CANCELLED)
		report(a, SEVERITY_WARNING, RULE("4.1-review"), "/payload/task_id", 0,
		       "review of a task that was aborted");
	else if (changes && is_newest_task_before(m, changes))
		report(a, SEVERITY_NOTE, RULE("4.2-revision"), "/payload/task_id", 0,
		       "changes were requested in line %u%s, but no revision was assigned since",
		       message_line(m, changes - 1), reply_words(m, changes - 1));
}

/* The verifications that a request wants. */
static void begin_checks(struct apply_ctx *a, struct review *r)
{
	struct model *m = a->m;

	if (r->checks) {
		r->checks->names.n = 0;
		r->checks->lint = false;
	}
	for (uint32_t i = 0; i < a->msg->events.n; i++) {
		const struct event *e = &a->msg->events.v[i];

		if (e->type != EV_REVIEW_CHECK)
			continue;
		if (!r->checks)
			r->checks = heap_zalloc(m->heap, sizeof(*r->checks));
		if (e->other.n) {
			uint32_t name = model_intern(m, e->other);

			heap_push(m->heap, &r->checks->names, name);
		} else {
			r->checks->lint = true;
		}
	}
}

static void begin_round(struct apply_ctx *a, const struct event *e, struct review *r)
{
	char q[QUOTED_MAX];

	if (r->asked && !a->msg->from.human)
		report(a, SEVERITY_WARNING, RULE("6.3-review_id"), e->at, 0,
		       "the request for review %s in line %u%s is still open", quoted(e->id, q),
		       message_line(a->m, vec_last(&r->steps)->message),
		       reply_words(a->m, vec_last(&r->steps)->message));
	if (!r->steps.n)
		r->reviewer = a->to;
	r->asked = true;
	r->asked_of = a->to;
	r->chain = a->m->records.v[a->message].chain;
	begin_checks(a, r);
}

static void apply_review_ask(struct apply_ctx *a, const struct event *e)
{
	struct model *m = a->m;
	uint32_t task = task_get(a, task_name_intern(a, e)), number, root;
	struct review *r;

	check_aborted(a);
	rules_of(a)->saw_review_request = true;
	number = review_get(a, id_intern(a, e), task);
	if (number == NONE)
		return;
	if (a->denied)
		return;
	root = task == NONE ? NONE : m->tasks.v[task].root;
	r = &m->reviews.v[number];
	begin_round(a, e, r);
	r->round = root == NONE ? r->round + 1 : ++m->tasks.v[root].rounds;
	review_step(a, number, r->round, REVIEW_NONE, 0, false);
	if (root == NONE)
		return;
	check_review_of(a, e, task);
	if (m->tasks.v[task].given)
		task_step(a, task, TASK_REVIEW, -1, false);
	check_rounds(a, root, e->at);
}

static void check_verdict(struct apply_ctx *a, const struct event *e)
{
	if (e->review == REVIEW_APPROVED && e->severe)
		report(a, SEVERITY_ERROR, RULE("4.2-verdict"), "/payload/verdict", 0,
		       "approved, but there are critical or major findings");
	if (e->review == REVIEW_APPROVED && e->failed)
		report(a, SEVERITY_ERROR, RULE("4.2-verdict"), "/payload/verdict", 0,
		       "approved, but a verification did not pass");
	if (e->review == REVIEW_CHANGES && e->limit == e->index)
		report(a, e->index ? SEVERITY_NOTE : SEVERITY_WARNING, RULE("4.2-verdict"),
		       "/payload/verdict", 0, "changes are requested, but there is no finding%s",
		       e->index ? " that is not fixed" : "");
}

/* An approval needs a result of everything that the request wants verified. */
static void check_verified(struct apply_ctx *a, const struct review_checks *wanted)
{
	struct map done = { 0 };
	bool lint = false;
	char q[QUOTED_MAX];

	for (uint32_t i = 0; i < a->msg->events.n; i++) {
		const struct event *e = &a->msg->events.v[i];

		if (e->type != EV_REVIEW_CHECK)
			continue;
		lint |= !e->other.n;
		map_add(&done, str_hash(e->other), i);
	}
	if (wanted->lint && !lint)
		report(a, SEVERITY_WARNING, RULE("2.2.4-must_pass_lint"), "/payload/verification",
		       0, "approved, but lint, which must pass, was not verified");
	for (uint32_t i = 0; i < wanted->names.n; i++) {
		struct str name = model_str(a->m, wanted->names.v[i]);
		uint32_t it = 0, found;

		if (map_next(&done, str_hash(name), &it, &found))
			continue;
		report(a, SEVERITY_WARNING, RULE("2.2.4-custom_checks"), "/payload/verification", 0,
		       "approved, but the check %s was not verified", quoted(name, q));
		break;
	}
	map_release(&done);
}

/* Rules about a result and the request that it answers. */
static void check_answer(struct apply_ctx *a, const struct event *e, const struct review *r,
			 uint32_t root)
{
	char q[QUOTED_MAX];

	if (root != NONE && r->task != NONE && a->m->tasks.v[r->task].root != root)
		report(a, SEVERITY_WARNING, RULE("6.3-review_id"), "/payload/task_id", 0,
		       "the request for this review names another task");
	check_chain(a, r->chain, "the request for this review");
	if (a->msg->from.human)
		return;
	if (r->asked_of != NONE && a->from != NONE && r->asked_of != a->from) {
		trust_deny(a);
		report(a, SEVERITY_WARNING, RULE("4.1-reviewer"), "/from_agent/agent_id", 0,
		       "this review was requested from %s",
		       quoted(agent_name(a->m, r->asked_of), q));
	}
	if (r->checks && e->review == REVIEW_APPROVED)
		check_verified(a, r->checks);
}

/* Number of the review's round; reports a result without a request. */
static uint32_t open_round(struct apply_ctx *a, const struct event *e, uint32_t review,
			   uint32_t root)
{
	struct model *m = a->m;
	struct review *r = &m->reviews.v[review];
	char q[QUOTED_MAX];

	if (r->asked) {
		check_answer(a, e, r, root);
		r->asked = false;
		return r->round;
	}
	if (rules_of(a)->saw_review_request)
		trust_deny(a);
	if (!a->msg->from.human)
		report(a, rules_of(a)->saw_review_request ? SEVERITY_ERROR : SEVERITY_WARNING,
		       RULE("6.3-review_id"), e->at, 0, "no request is open for review %s",
		       quoted(e->id, q));
	if (root == NONE)
		return ++r->round;
	if (!m->tasks.v[root].given)
		report_never_assigned(a, RULE("2.2.5-task_id"), "/payload/task_id", e->task);
	r->round = ++m->tasks.v[root].rounds;
	check_rounds(a, root, e->at);
	return r->round;
}

/* repeats: a person's override, which only repeats the review's items. */
static void apply_review_items(struct apply_ctx *a, uint32_t task, uint32_t review, uint32_t round,
			       bool repeats)
{
	for (uint32_t i = 0; i < a->msg->events.n; i++) {
		struct event *e = &a->msg->events.v[i];
		uint32_t item;

		if (e->type == EV_ITEM) {
			if (!repeats ||
			    item_named(a->m, a->session, e->item, id_known(a, e), review) == NONE)
				item_raise(a, e, task, review, round);
		} else if (e->type == EV_FIXED) {
			item = item_raised_by(a->m, a->session, ITEM_FINDING, id_known(a, e), review,
					      a->from);
			if (item == NONE)
				item = item_named(a->m, a->session, ITEM_FINDING, id_known(a, e),
						  review);
			if (item == NONE)
				item = item_raise(a, e, task, review, round);
			else if (repeats && !a->m->items.v[item].open)
				continue;
			if (item == NONE)
				continue;
			item_step(a, item, STEP_FIXED, VERDICT_ACCEPTED, clamp32(e->iteration));
		}
	}
}

/* Findings of an older review of the same task that this one lists as fixed. */
static void fix_older(struct apply_ctx *a, uint32_t root)
{
	struct map open = { 0 };
	bool fixes = false;

	for (uint32_t i = 0; i < a->msg->events.n; i++) {
		const struct event *e = &a->msg->events.v[i];

		if (e->type != EV_FIXED)
			continue;
		if (!fixes)
			index_open_items(a, root, &open);
		fixes = true;
		for (uint32_t it = 0, item;
		     (item = next_open(a, &open, e->id, KIND(ITEM_FINDING), &it)) != NONE;)
			item_step(a, item, STEP_FIXED, VERDICT_ACCEPTED, clamp32(e->iteration));
	}
	map_release(&open);
}

/* Whether a person is to decide what comes of the review. */
static bool needs_person(const struct model *m, const struct event *e, uint32_t root, uint32_t round)
{
	return e->review == REVIEW_REJECTED ||
	       (e->review == REVIEW_CHANGES && root != NONE &&
		round >= task_review_limit(&m->tasks.v[root]));
}

static void apply_review_result(struct apply_ctx *a, const struct event *e)
{
	struct model *m = a->m;
	uint32_t task = task_get(a, task_name_intern(a, e));
	uint32_t root = task == NONE ? NONE : m->tasks.v[task].root;
	uint32_t review = review_get(a, id_intern(a, e), task), round;
	struct event verdict = *e;
	bool overrides;

	check_aborted(a);
	check_verdict(a, e);
	if (review == NONE)
		return;
	round = override_round(a, &m->reviews.v[review]);
	overrides = round > 0;
	if (overrides && round < m->reviews.v[review].round) { /* a newer round has begun since */
		apply_override(a, e);
		return;
	}
	if (!m->reviews.v[review].steps.n)
		m->reviews.v[review].reviewer = a->from;
	if (!overrides)
		round = open_round(a, e, review, root);
	if (needs_person(m, e, root, round))
		name_index_prefetch(m, m->reviews.v[review].id, ITEM_VERDICT, a->session);
	if (root != NONE && !overrides) {
		if (m->tasks.v[root].given)
			m->tasks.v[root].terms->changes =
				e->review == REVIEW_CHANGES ? a->message + 1 : 0;
		fix_older(a, root);
		close_items(a, root, REVIEW_KINDS, STEP_SUPERSEDED, VERDICT_SUPERSEDED);
	}
	review_step(a, review, round, e->review, e->index, false);
	if (task != NONE && m->tasks.v[task].given && e->review == REVIEW_APPROVED &&
	    !a->denied && !is_ambiguous(a))
		task_step(a, task, TASK_COMPLETED, 1, false);
	apply_review_items(a, task, review, round, overrides);
	if (overrides) {
		apply_override(a, e);
	} else if (needs_person(m, e, root, round)) {
		verdict.item = ITEM_VERDICT;
		verdict.grade = GRADE_NONE;
		verdict.no_findings = !e->index;
		verdict.index = 0;
		item_raise(a, &verdict, task, NONE, round);
	}
}

static void apply_abort(struct apply_ctx *a, const struct event *e)
{
	struct model *m = a->m;
	uint32_t one = e->again ? NONE : task_named(m, a->session, id_known(a, e));
	char q[QUOTED_MAX];

	if (e->again) {
		rules_of(a)->aborted = true;
		if (e->id.n && a->msg->session.n && !str_eq(e->id, a->msg->session))
			report(a, SEVERITY_WARNING, RULE("2.2.7-target_id"), e->at, 0,
			       "this is session %s", quoted(a->msg->session, q));
	}
	if (!e->again)
		person_decides(a, item_named(m, a->session, ITEM_BLOCKED, id_known(a, e), NONE),
			       VERDICT_REJECTED);
	if (!e->again && one == NONE) {
		if (e->id.n && rules_of(a)->saw_assignment)
			report(a, SEVERITY_WARNING, RULE("2.2.7-target_id"), e->at, 0,
			       "aborts a task that was never assigned");
		return;
	}
	for (uint32_t i = e->again ? 0 : one; i < (e->again ? m->tasks.n : one + 1); i++) {
		struct task *t = &m->tasks.v[i];

		if (t->session != a->session || !t->given)
			continue;
		if (t->active || !e->again)
			task_step(a, i, TASK_CANCELLED, -1, false);
		t->active = false;
		close_items(a, i, KIND(ITEM_BLOCKED), STEP_DECIDED, VERDICT_REJECTED);
		close_items(a, i, REVIEW_KINDS, STEP_SUPERSEDED, VERDICT_SUPERSEDED);
	}
}

/* The task that a message assigned. */
static uint32_t find_assigned(const struct model *m, uint32_t message)
{
	for (uint32_t i = m->tasks.n; message != NONE && i-- > 0 && m->tasks.n - i < 512;)
		for (uint32_t s = m->tasks.v[i].steps.n; s-- > 0;)
			if (m->tasks.v[i].steps.v[s].message == message &&
			    m->tasks.v[i].steps.v[s].assigned)
				return i;
	return NONE;
}

/* The existing task that an event is about, or NONE. */
static uint32_t named_task(const struct apply_ctx *a, const struct event *e)
{
	return task_named(a->m, a->session,
			  name_known(a->m, e->task, message_key(a->msg, e->task_key)));
}

/* Only the addressee of a message can acknowledge it. */
static bool is_addressee(struct apply_ctx *a, const struct event *e, uint32_t message)
{
	uint32_t to = message == NONE ? NONE : message_route(a->m, message)->to;
	char q[QUOTED_MAX];

	if (to == NONE || a->from == NONE || to == a->from)
		return true;
	report(a, SEVERITY_NOTE, RULE("2.1-reply_to"), e->at, 0,
	       "the message of line %u%s went to %s; this acknowledges nothing",
	       message_line(a->m, message),
	       reply_words(a->m, message), quoted(agent_name(a->m, to), q));
	return false;
}

/* The item that a reply is about: the one that its addressee raised, if several agents use the id. */
static uint32_t asked_item(const struct apply_ctx *a, const struct event *e)
{
	uint32_t id = id_known(a, e);
	uint32_t item = item_raised_by(a->m, a->session, e->item, id, NONE, a->to);

	return item != NONE ? item : item_named(a->m, a->session, e->item, id, NONE);
}

static void apply_collaboration(struct apply_ctx *a)
{
	uint32_t replied = check_head(a);

	for (uint32_t i = 0; i < a->msg->events.n; i++) {
		const struct event *e = &a->msg->events.v[i];
		uint32_t task, item;

		switch (e->type) {
		case EV_TASK:
			apply_task(a, e);
			break;
		case EV_TASK_DEPENDS:
			apply_task_depends(a, e);
			break;
		case EV_TASK_SCOPE:
			apply_scope(a, e);
			break;
		case EV_TASK_STATE:
			apply_task_state(a, e);
			break;
		case EV_TASK_FILE:
			check_scope(a, e);
			break;
		case EV_TASK_NAMED:
			if (named_task(a, e) == NONE)
				report_never_assigned(a, RULE("2.2.6-related_task_id"), e->at,
						      e->task);
			break;
		case EV_ABORT:
			apply_abort(a, e);
			break;
		case EV_ACKNOWLEDGE:
			if (!is_addressee(a, e, replied))
				break;
			task = e->task.n ? named_task(a, e) : find_assigned(a->m, replied);
			if (task != NONE && a->m->tasks.v[task].active)
				task_step(a, task, TASK_RUNNING, -1, false);
			break;
		case EV_REVIEW_ASK:
			apply_review_ask(a, e);
			break;
		case EV_REVIEW_RESULT:
			apply_review_result(a, e);
			return; /* with its items */
		case EV_ITEM:
			item_raise(a, e, named_task(a, e), NONE, 0);
			break;
		case EV_DECIDE:
			item = asked_item(a, e);
			/* a follow-up by the sender of the question is no answer */
			if (item != NONE && e->item == ITEM_QUESTION &&
			    (a->msg->from.human || a->m->items.v[item].open) &&
			    step_by(a->m, &a->m->items.v[item].steps[0]) != a->from)
				item_step(a, item, STEP_DECIDED, e->verdict, 0);
			break;
		default: /* events of other dialects */
			break;
		}
	}
	if (decides_by_name(a))
		apply_named_decisions(a);
}

static struct str replied_to(const struct message *msg)
{
	return msg->reply_to;
}

static void reply_keys(const struct message *msg, struct reply_keys *out)
{
	if (msg->reply_to.n)
		reply_key_add(out, reply_key(ANSWERS_MESSAGE, 0, msg->reply_to), false, true);
	else
		out->answers_nothing = true;
	if (msg->id.n)
		reply_key_add(out, reply_key(ANSWERS_MESSAGE, 1, msg->id), true, true);
	for (uint32_t i = 0; i < msg->events.n; i++)
		if (msg->events.v[i].type == EV_TASK)
			reply_key_add(out, reply_key(ANSWERS_GIVEN, 0, msg->events.v[i].id), true,
				      true);
}

static void offer_keys(const struct model *m, uint32_t session, const struct message *msg,
		       struct reply_keys *out)
{
	(void)m;
	(void)session;
	if (msg->id.n)
		reply_key_add(out, reply_key(ANSWERS_MESSAGE, 0, msg->id), false, true);
}

static void effect_keys(const struct message *msg, struct reply_keys *out)
{
	if (msg->reply_to.n)
		reply_key_add(out, reply_key(ANSWERS_MESSAGE, 1, msg->reply_to), true, true);
	for (uint32_t i = 0; i < msg->events.n; i++)
		if (msg->events.v[i].type == EV_TASK_STATE)
			reply_key_add(out, reply_key(ANSWERS_GIVEN, 0, msg->events.v[i].id), true,
				      true);
}

const struct rules_ops rules_collaboration = {
	.name = "collaboration",
	.apply = apply_collaboration,
	.reply_keys = reply_keys,
	.effect_keys = effect_keys,
	.offer_keys = offer_keys,
	.replied_to = replied_to,
	.id = { "/message_id", "collaboration/1.1-idempotent", "collaboration/2.1-message_id" },
};
