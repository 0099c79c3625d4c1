/* Rules of collaboration about the work on an assigned task: who reports it and how often, what it
 * waits for, which files it touches, tests; and work after the session was aborted. */
#include "model/rules_collaboration.h"

#include "base/glob.h"

enum {
	PROGRESS_EVERY_MS = 30000,
	PROGRESS_AFTER_MS = 120000,
};

void check_aborted(struct apply_ctx *a)
{
	if (rules_of(a)->aborted && !a->msg->from.human)
		report(a, SEVERITY_WARNING, RULE("2.2.7-session"), "/message_type", 0,
		       "this session was aborted, and work goes on");
}

static void check_progress_rate(struct apply_ctx *a, struct task_terms *t)
{
	int64_t now = a->msg->time_ms;
	char gap[32];

	if (now == TIME_NONE)
		return;
	if (t->reported_ms != TIME_NONE && t->assigned_ms != TIME_NONE &&
	    now - t->assigned_ms > PROGRESS_AFTER_MS && now - t->reported_ms > PROGRESS_EVERY_MS)
		report(a, SEVERITY_WARNING, RULE("3.2-progress"), "/timestamp", 0,
		       "no progress was reported for %s; tasks over 2 minutes report every 30 s",
		       timestamp_span(now - t->reported_ms, gap));
	t->reported_ms = now;
}

static void check_assignee(struct apply_ctx *a, const struct task *t)
{
	uint32_t assignee = vec_last(&t->steps)->agent;
	char q[QUOTED_MAX];

	if (assignee == NONE || a->from == NONE || assignee == a->from || a->msg->from.human)
		return;
	trust_deny(a);
	report(a, SEVERITY_WARNING, RULE("3.1-assignee"), "/from_agent/agent_id", 0,
	       "the task was assigned to %s", quoted(agent_name(a->m, assignee), q));
}

/* When work on a task is reported for the first time, all that it depends on must be completed. The
 * first dependency that is not is enough. */
static void check_dependencies(struct apply_ctx *a, const struct task_terms *t)
{
	const struct model *m = a->m;
	char q[QUOTED_MAX];

	for (uint32_t i = 0; i < t->needs.n; i++) {
		struct str id = model_str(m, t->needs.v[i].task_id);
		uint32_t needed = task_named(m, a->session, t->needs.v[i].task_id);

		if (!t->needs.v[i].hard)
			continue;
		if (needed == NONE || !m->tasks.v[needed].given) {
			report(a, SEVERITY_WARNING, RULE("3.4-dependency"), "/payload/task_id", 0,
			       "it depends on %s, which was never assigned", quoted(id, q));
			return;
		}
		if (m->tasks.v[needed].active) {
			report(a, SEVERITY_ERROR, RULE("3.4-dependency"), "/payload/task_id", 0,
			       "it depends on %s, which is not completed", quoted(id, q));
			return;
		}
	}
}

/* The first report of work on a task. */
static void check_start(struct apply_ctx *a, const struct task *t)
{
	if (vec_last(&t->steps)->state == TASK_ASSIGNED)
		report(a, SEVERITY_NOTE, RULE("3.1-acknowledgment"), "/payload/task_id", 0,
		       "the assignment in line %u%s was not acknowledged",
		       message_line(a->m, vec_last(&t->steps)->message),
		       reply_words(a->m, vec_last(&t->steps)->message));
	check_dependencies(a, t->terms);
}

void check_work(struct apply_ctx *a, const struct event *e, const struct task *t)
{
	struct task_terms *terms = t->terms;

	check_progress_rate(a, terms);
	check_assignee(a, t);
	check_chain(a, terms->chain, "the assignment of its task");
	if (!terms->started)
		check_start(a, t);
	terms->started = true;
	if (terms->tests && e->state == TASK_COMPLETED && !e->tests)
		report(a, SEVERITY_WARNING, RULE("2.2.1-testing_required"),
		       "/payload/self_review/tests_run", 0,
		       "the task requires testing, but no tests were run");
}

void apply_scope(struct apply_ctx *a, const struct event *e)
{
	uint32_t task = task_named(a->m, a->session, id_known(a, e)), glob;
	char room[PATH_CLEAN_MAX];
	struct task_terms *t;

	if (task == NONE)
		return;
	t = task_terms(a->m, task);
	t->scoped = true;
	if (!e->other.n)
		return;
	glob = model_intern(a->m, glob_clean(e->other, room));
	heap_push(a->m->heap, &t->scope, glob);
}

void check_scope(struct apply_ctx *a, const struct event *e)
{
	uint32_t number = task_named(a->m, a->session, id_known(a, e));
	const struct task_terms *t = number == NONE ? NULL : a->m->tasks.v[number].terms;
	char q[QUOTED_MAX], room[PATH_CLEAN_MAX];
	struct str path;

	if (!t || !t->scoped)
		return;
	path = path_clean(e->other, room);
	for (uint32_t i = 0; i < t->scope.n; i++)
		if (glob_match_clean(model_str(a->m, t->scope.v[i]), path, &a->glob_budget))
			return;
	if (!a->glob_budget)
		return; /* budget exhausted: no diagnostic in doubt */
	if (t->scope.n)
		report(a, SEVERITY_ERROR, RULE("3.2-scope"), e->at, e->index,
		       "%s is outside the scope of its task", quoted(e->other, q));
	else /* architects may mean that everything is allowed */
		report(a, SEVERITY_WARNING, RULE("3.2-scope"), e->at, e->index,
		       "%s was changed, but the scope of its task is empty", quoted(e->other, q));
}
