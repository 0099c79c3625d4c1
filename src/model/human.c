/* Effects of a person's messages in a collaboration session: which task and which items a reply
 * refers to, and deciding them. A reply applies to the message it replies to even if agents have
 * gone on meanwhile, since a file of replies is read after its log. */
#include "model/rules.h"

/* limit of the linear search over tasks */
enum { SEARCH_MAX = 16384 };

/* The message that a person's message replies to, NONE. */
static uint32_t answered_by_person(const struct apply_ctx *a)
{
	return a->msg->from.human ? message_with_id(a->m, a->session, a->msg->reply_to) : NONE;
}

/* The review that the message requests or reports. */
static uint32_t find_review_of(const struct model *m, uint32_t message)
{
	uint32_t low = 0;

	bisect(low, m->review_messages.n, i, m->review_messages.v[i].message < message)
	return low < m->review_messages.n && m->review_messages.v[low].message == message
		       ? m->review_messages.v[low].review
		       : NONE;
}

/* The task that the message assigns or reports on. */
static uint32_t find_task_of(const struct model *m, uint32_t session, uint32_t message)
{
	for (uint32_t i = m->tasks.n; i-- > 0 && m->tasks.n - i < SEARCH_MAX;) {
		const struct task *t = &m->tasks.v[i];
		uint32_t low = 0;

		if (t->session != session)
			continue;
		bisect(low, t->steps.n, s, t->steps.v[s].message < message)
		if (low < t->steps.n && t->steps.v[low].message == message)
			return i;
	}
	return NONE;
}

uint32_t replied_task(const struct apply_ctx *a)
{
	uint32_t answered = answered_by_person(a), review;

	if (answered == NONE)
		return NONE;
	review = find_review_of(a->m, answered);
	return review == NONE ? find_task_of(a->m, a->session, answered)
			      : a->m->reviews.v[review].task;
}

/* The message that last raised the item. */
static uint32_t raised_by(const struct item *item)
{
	for (uint32_t i = item->n; i-- > 0;)
		if (item->steps[i].what == STEP_RAISED)
			return item->steps[i].message;
	return NONE;
}

bool person_decides(struct apply_ctx *a, uint32_t item, enum verdict v)
{
	const struct item *it = item == NONE ? NULL : &a->m->items.v[item];
	uint32_t answered = answered_by_person(a);

	if (!it || answered == NONE || raised_by(it) != answered ||
	    it->steps[it->n - 1].message == a->message)
		return false;
	item_step(a, item, STEP_DECIDED, v, 0);
	return true;
}

bool decides_by_name(const struct apply_ctx *a)
{
	for (uint32_t i = 0; i < a->msg->events.n; i++)
		if (a->msg->events.v[i].type == EV_DECIDE)
			return answered_by_person(a) != NONE;
	return false;
}

static const enum item_kind kinds[] = { ITEM_FINDING, ITEM_CHANGE, ITEM_VERDICT, ITEM_BLOCKED,
					ITEM_QUESTION };
enum { N_KINDS = sizeof(kinds) / sizeof(kinds[0]) };

/* A message that was replied to: names in a reply refer to items that it raised. */
struct reply_scope {
	const struct model *m;
	uint32_t session, message, review;
};

static struct reply_scope reply_scope_of(const struct model *m, uint32_t session, uint32_t message)
{
	return (struct reply_scope){ m, session, message, find_review_of(m, message) };
}

static uint32_t raised_in(const struct reply_scope *r, enum item_kind kind, struct str id)
{
	bool of_review = kind == ITEM_FINDING || kind == ITEM_CHANGE;
	uint32_t name = name_known(r->m, id, &null_key);
	uint32_t item = item_raised_by(r->m, r->session, kind, name, of_review ? r->review : NONE,
				       message_route(r->m, r->message)->from);

	return item != NONE && raised_by(&r->m->items.v[item]) == r->message ? item : NONE;
}

static uint32_t resolve_name(const struct reply_scope *r, struct str name);

/* Whether its id alone is ambiguous. */
static bool needs_kind(const struct reply_scope *r, uint32_t item)
{
	struct str id = model_str(r->m, r->m->items.v[item].id);
	unsigned found = 0;

	for (unsigned k = 0; k < N_KINDS; k++)
		found += raised_in(r, kinds[k], id) != NONE;
	return found > 1 || resolve_name(r, id) != item;
}

/* Resolves a name: KIND:ID where the id alone is ambiguous, else the plain id, even if that begins
 * with a kind and a colon. */
static uint32_t resolve_name(const struct reply_scope *r, struct str name)
{
	uint32_t of_kind = NONE, plain = NONE;
	enum item_kind kind;
	struct str id;

	if (item_kind_split(name, &kind, &id))
		of_kind = raised_in(r, kind, id);
	if (of_kind != NONE && needs_kind(r, of_kind))
		return of_kind;
	for (unsigned k = 0; k < N_KINDS && plain == NONE; k++)
		plain = raised_in(r, kinds[k], name);
	return plain != NONE ? plain : of_kind;
}

void item_reply_name(const struct model *m, const struct item *item, struct buf *out)
{
	struct reply_scope r = reply_scope_of(m, item_session(m, item), raised_by(item));

	if (needs_kind(&r, (uint32_t)(item - m->items.v)))
		buf_printf(out, "%s:", item_kind_name(item->kind));
	buf_add_str(out, model_str(m, item->id));
}

uint32_t item_replied_to(const struct model *m, uint32_t message, struct str name)
{
	struct reply_scope r = reply_scope_of(m, message_route(m, message)->session, message);

	return resolve_name(&r, name);
}

void apply_named_decisions(struct apply_ctx *a)
{
	struct reply_scope r = reply_scope_of(a->m, a->session, answered_by_person(a));

	for (uint32_t i = 0; i < a->msg->events.n; i++) {
		const struct event *e = &a->msg->events.v[i];

		if (e->type != EV_DECIDE || e->item == ITEM_QUESTION ||
		    person_decides(a, resolve_name(&r, e->id), e->verdict))
			continue;
		/* the same id again without a kind: the next item that has it */
		for (unsigned k = 0; k < N_KINDS; k++)
			if (person_decides(a, raised_in(&r, kinds[k], e->id), e->verdict))
				break;
	}
}

uint32_t override_round(const struct apply_ctx *a, const struct review *r)
{
	uint32_t answered = answered_by_person(a);

	if (!a->msg->from.human)
		return 0;
	for (uint32_t i = answered == NONE ? 0 : r->steps.n; i-- > 0;)
		if (r->steps.v[i].message == answered && r->steps.v[i].verdict != REVIEW_NONE)
			return r->steps.v[i].iteration;
	return r->asked ? 0 : r->round;
}

void apply_override(struct apply_ctx *a, const struct event *e)
{
	static const enum verdict verdicts[] = { [REVIEW_NONE] = VERDICT_NONE,
						 [REVIEW_APPROVED] = VERDICT_ACCEPTED,
						 [REVIEW_CHANGES] = VERDICT_PARTIAL,
						 [REVIEW_REJECTED] = VERDICT_REJECTED };
	uint32_t item = find_item(a->m, a->session, ITEM_VERDICT, e->id, NONE);

	if (item == NONE || e->review == REVIEW_NONE)
		return;
	if (answered_by_person(a) != NONE)
		person_decides(a, item, verdicts[e->review]);
	else if (a->m->items.v[item].open)
		item_step(a, item, STEP_DECIDED, verdicts[e->review], 0);
}
