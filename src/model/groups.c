/* Finds the log (group) that a file of replies belongs to, by scoring every session. Replies are
 * written to a file of their own and can be interpreted only together with the log they reply to.
 *
 * Ids such as task-1 occur in many logs, so a match needs more: the reply names a message, or comes
 * from a person, or continues an iteration. */
#include "model/rules.h"

enum { EVENTS_MAX = 64 }; /* events of the message that are tried against each session */

struct group_search {
	struct model *m;
	const struct message *msg;
	uint32_t events;
	int best; /* highest score so far, 0 = no match */
	uint32_t group;
	bool several;
};

static void add_candidate(struct group_search *s, uint32_t session, int score)
{
	uint32_t group = s->m->sessions.v[session].group;

	if (score > s->best) {
		s->best = score;
		s->group = group;
		s->several = false;
	} else if (score && score == s->best && group != s->group) {
		s->several = true;
	}
}

static bool knows_task(const struct group_search *s, uint32_t session, struct str id)
{
	return task_named(s->m, session, name_known(s->m, id, &null_key)) != NONE;
}

static int collaboration_score(const struct group_search *s, uint32_t session)
{
	if (message_with_id(s->m, session, s->msg->reply_to) != NONE)
		return 2;
	for (uint32_t i = 0; s->msg->from.human && i < s->events; i++) {
		const struct event *e = &s->msg->events.v[i];

		if (knows_task(s, session, e->task) ||
		    ((e->type == EV_ABORT || e->type == EV_TASK_STATE) &&
		     knows_task(s, session, e->id)))
			return 1;
	}
	return 0;
}

/* A reassigned task has a new id, but the correlation of the task it continues. */
static void add_chain_candidates(struct group_search *s)
{
	const struct model *m = s->m;
	uint32_t chain = chain_of(s->msg);

	for (uint32_t i = 0; chain && i < m->tasks.n; i++) {
		const struct task *t = &m->tasks.v[i];

		if (t->steps.n && m->records.v[t->steps.v[0].message].chain == chain)
			add_candidate(s, t->session, 1);
	}
}

static int feedback_score(const struct group_search *s, uint32_t session, const struct event *ask)
{
	const struct session_rules *r = s->m->sessions.v[session].rules;
	bool goes_on = ask->iteration > 1 && r->done == ask->iteration - 1, decides = false;

	if (feedback_is_resent(s->m, session, ask))
		return 3;
	for (uint32_t i = 0; i < s->events; i++) {
		const struct event *e = &s->msg->events.v[i];

		if (e->type != EV_DECIDE)
			continue;
		decides = true;
		if (find_item(s->m, session, ITEM_IMPROVEMENT, e->id, NONE) != NONE)
			return goes_on ? 3 : 2;
	}
	return goes_on && !decides;
}

static int event_score(const struct group_search *s, uint32_t session, const struct event *e)
{
	ptrdiff_t end;

	switch (e->type) {
	case EV_TURN_ASK:
		return feedback_score(s, session, e);
	case EV_RESPONSE:
		return message_with_id(s->m, session, e->id) != NONE;
	case EV_TASK_STATE:
		return s->msg->dialect == DIALECT_ORCHESTRATOR && e->state == TASK_CANCELLED &&
		       knows_task(s, session, e->id);
	case EV_JUDGEMENT: /* an escalation queue is a log of its own */
		return !e->origin_dialect && knows_task(s, session, e->id);
	case EV_ENVELOPE_IN:
		return e->iteration > 1 && knows_task(s, session, e->id);
	case EV_DECIDE: /* an escalation names its lane, " (LANE): " */
		end = s->msg->dialect == DIALECT_ENVELOPE ? str_find(e->other, STR("): "), 0) : -1;
		return end > 2 &&
		       knows_task(s, session, str_make(e->other.p + 2, (size_t)end - 2));
	default: /* starts something new, or replies to nothing */
		return 0;
	}
}

struct str model_group_of(struct model *m, const struct message *msg)
{
	bool collaboration = msg->dialect == DIALECT_COLLABORATION;
	struct group_search s = { .m = m, .msg = msg };

	s.events = msg->events.n < EVENTS_MAX ? msg->events.n : EVENTS_MAX;
	for (uint32_t session = 0; session < m->sessions.n; session++) {
		if (collaboration)
			add_candidate(&s, session, collaboration_score(&s, session));
		for (uint32_t i = 0; !collaboration && i < s.events; i++)
			add_candidate(&s, session, event_score(&s, session, &msg->events.v[i]));
	}
	if (collaboration && !s.best && msg->from.human && s.events &&
	    msg->events.v[0].type == EV_TASK && msg->events.v[0].again)
		add_chain_candidates(&s);
	return s.best && !s.several ? model_str(m, s.group) : STR_NONE;
}
