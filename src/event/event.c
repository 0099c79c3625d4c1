/* Names of the enums as printed in output, adding events to a message, hashing its names, clear and
 * release. */
#include "event/event.h"

#include <stdlib.h>

static const char *const item_kind_names[] = {
	[ITEM_IMPROVEMENT] = "improvement", [ITEM_FINDING] = "finding",
	[ITEM_CHANGE] = "change",	    [ITEM_VERDICT] = "verdict",
	[ITEM_QUESTION] = "question",	    [ITEM_BLOCKED] = "blocked",
	[ITEM_ESCALATION] = "escalation",   [ITEM_RETRY] = "retry",
	[ITEM_TASK] = "task",		    [ITEM_ERROR] = "error",
	[ITEM_PERMISSION] = "permission",   [ITEM_PLAN] = "plan",
};

static const char *const grade_names[] = {
	[GRADE_CRITICAL] = "critical", [GRADE_MAJOR] = "major", [GRADE_MINOR] = "minor",
	[GRADE_SUGGESTION] = "suggestion", [GRADE_NONE] = NULL,
};

static const char *const verdict_names[] = {
	[VERDICT_NONE] = "none",	   [VERDICT_ACCEPTED] = "accepted",
	[VERDICT_REJECTED] = "rejected",   [VERDICT_PARTIAL] = "partial",
	[VERDICT_ESCALATED] = "escalated", [VERDICT_ANSWERED] = "answered",
	[VERDICT_DISMISSED] = "dismissed", [VERDICT_EXPIRED] = "expired",
	[VERDICT_SUPERSEDED] = "superseded", [VERDICT_WITHDRAWN] = "withdrawn",
};

static const char *const task_state_names[] = {
	[TASK_PENDING] = "pending",     [TASK_QUEUED] = "queued",
	[TASK_ASSIGNED] = "assigned",   [TASK_RUNNING] = "running",
	[TASK_REVIEW] = "review",       [TASK_COMPLETED] = "completed",
	[TASK_PARTIAL] = "partial",     [TASK_FAILED] = "failed",
	[TASK_CANCELLED] = "cancelled", [TASK_RETRYING] = "retrying",
};

static const char *const review_verdict_names[] = {
	[REVIEW_NONE] = "pending",
	[REVIEW_APPROVED] = "approved",
	[REVIEW_CHANGES] = "changes_requested",
	[REVIEW_REJECTED] = "rejected",
};

bool type_has_authority(struct str type, enum authority needed)
{
	bool directs = str_is(type, "architect") || str_is(type, "product_owner");

	switch (needed) {
	case AUTHORITY_NONE: break;
	case AUTHORITY_DIRECT: return directs;
	case AUTHORITY_JUDGE:
		return directs || str_is(type, "reviewer") || str_is(type, "challenger");
	}
	return true;
}

const char *trust_name(enum trust t)
{
	static const char *const names[TRUST_COUNT] = { "log", "agent", "reply", "journal" };

	return names[t];
}

const char *trust_words(enum trust t)
{
	static const char *const words[TRUST_COUNT] = {
		[TRUST_LOG] = " (in the log)",
		[TRUST_AGENT] = " (its own output)",
		[TRUST_REPLY] = " (reply file)",
		[TRUST_JOURNAL] = "",
	};

	return words[t];
}

const char *item_kind_name(enum item_kind k)
{
	return item_kind_names[k];
}

bool item_kind_named(struct str name, enum item_kind *out)
{
	for (int k = 0; k < ITEM_KIND_COUNT; k++)
		if (str_is(name, item_kind_names[k])) {
			*out = (enum item_kind)k;
			return true;
		}
	return false;
}

bool item_kind_split(struct str name, enum item_kind *kind, struct str *id)
{
	const char *colon = name.n ? memchr(name.p, ':', name.n) : NULL;
	size_t n = colon ? (size_t)(colon - name.p) : 0;

	if (!colon || n + 1 == name.n || !item_kind_named(str_make(name.p, n), kind))
		return false;
	*id = str_from(name, n + 1);
	return true;
}

const char *grade_name(enum grade s)
{
	return grade_names[s];
}

const char *verdict_name(enum verdict v)
{
	return verdict_names[v];
}

const char *delivery_name(enum delivery d)
{
	static const char *const names[] = { "none", "staged", "recorded", "sent",
					     "acknowledged", "bounced", "held" };

	return names[d];
}

const char *task_state_name(enum task_state s)
{
	return task_state_names[s];
}

const char *review_verdict_name(enum review_verdict v)
{
	return review_verdict_names[v];
}

/* Slow path, not inlined, so that the fast path of event_add needs no stack frame. */
static __attribute__((noinline)) struct event *
event_add_growing(struct message *m, enum event_type type, struct str id, const char *at)
{
	const struct event *borrowed = m->events_borrowed ? m->events.v : NULL;

	if (borrowed)
		m->events.v = NULL;
	m->events_borrowed = false;
	m->events.v = vec_grow_(m->events.v, &m->events.cap, sizeof(*m->events.v));
	if (borrowed && m->events.n)
		memcpy(m->events.v, borrowed, m->events.n * sizeof(*borrowed));
	return event_add(m, type, id, at);
}

struct event *event_add(struct message *m, enum event_type type, struct str id, const char *at)
{
	struct event *e;

	if (m->events.n == m->events.cap)
		return event_add_growing(m, type, id, at);
	e = &m->events.v[m->events.n++];
	mem_zero(e, sizeof(*e));
	e->type = type;
	e->id = id;
	e->at = at;
	e->grade = GRADE_NONE;
	e->deadline_ms = TIME_NONE;
	e->number = -1;
	return e;
}

#define ROLE_ACTOR(ROLE, name)                                                         \
	[KNOWN_ROLE_##ROLE] = { { name, sizeof(name) - 1 }, { name, sizeof(name) - 1 }, \
				.known_role = KNOWN_ROLE_##ROLE }

const struct actor known_role_actors[KNOWN_ROLE_COUNT] = {
	ROLE_ACTOR(REQUESTER, "requester"), ROLE_ACTOR(PROVIDER, "provider"),
	ROLE_ACTOR(PLANNER, "planner"),     ROLE_ACTOR(WORKER, "worker"),
	ROLE_ACTOR(JUDGE, "judge"),         ROLE_ACTOR(ORCHESTRATOR, "orchestrator"),
	ROLE_ACTOR(WORKFLOW, "workflow"),   ROLE_ACTOR(AGENT, "agent"),
	ROLE_ACTOR(CLIENT, "client"),
};

const struct name_key null_key = { 0 };

static bool is_same_slice(struct str a, struct str b)
{
	return a.p == b.p && a.n == b.n;
}

static uint32_t add_key(struct message *m, struct str name, uint64_t hash, bool of_task)
{
	if (!name.n)
		return 0;
	m->keys[m->keys_n++] = (struct name_key){ .p = name.p, .n = (uint32_t)name.n,
						  .of_task = of_task, .hash = hash };
	return m->keys_n;
}

static uint64_t hash_of(struct str name)
{
	return name.n ? str_hash(name) : 0;
}

static uint32_t add_actor_key(struct message *m, const struct actor *actor)
{
	return actor->known_role ? 0 : add_key(m, actor->id, hash_of(actor->id), false);
}

/* Events of a message often name the same task: reuse the key of the event before. */
static void add_event_keys(struct message *m, struct event *e, const struct event *before)
{
	bool of_task = m->dialect != DIALECT_FEEDBACK;

	if (before && is_same_slice(e->id, before->id))
		e->id_key = before->id_key;
	else
		e->id_key = add_key(m, e->id,
				    is_same_slice(e->id, m->correlation) ? m->correlation_hash :
				    is_same_slice(e->id, m->reply_to)    ? m->reply_hash :
									   hash_of(e->id),
				    of_task);
	if (before && is_same_slice(e->task, before->task))
		e->task_key = before->task_key;
	else
		e->task_key = add_key(m, e->task, hash_of(e->task), of_task);
}

void message_hash(struct message *m, struct name_key *room)
{
	m->keys = room;
	m->keys_n = 0;
	m->session_key = add_key(m, m->session, hash_of(m->session), false);
	m->from_key = add_actor_key(m, &m->from);
	m->to_key = add_actor_key(m, &m->to);
	m->id_hash = hash_of(m->id);
	m->correlation_hash = is_same_slice(m->correlation, m->id) ? m->id_hash :
								     hash_of(m->correlation);
	m->reply_hash = hash_of(m->reply_to);
	for (uint32_t i = 0; i < m->events.n; i++)
		add_event_keys(m, &m->events.v[i], i ? &m->events.v[i - 1] : NULL);
}

void message_clear(struct message *m)
{
	/* zero what precedes the lists; these keep their memory */
	mem_zero(m, offsetof(struct message, events));
	m->time_ms = TIME_NONE;
	m->sequence = -1;
	m->inside = "";
	m->events.n = 0;
	diags_clear(&m->diags);
}

void message_release(struct message *m)
{
	if (!m->events_borrowed)
		vec_release(&m->events);
	vec_release(&m->diags.list);
}
