/* Effects of a person's messages in a collaboration session: which task and which items a reply
 * refers to, and deciding them. A reply applies to the message it replies to even if agents have
 * gone on meanwhile, since a file of replies is read after its log. */
#include "model/rules.h"

#include <stddef.h>

/* limit of the linear searches over tasks and reviews */
enum { SEARCH_MAX = 16384 };

/* The message that a person's message replies to, NONE. */
static uint32_t answered_by_person(const struct applying *a)
{
	return a->msg->from.human ? message_with_id(a->m, a->session, a->msg->reply_to) : NONE;
}

/* Binary search: whether a step is of that message. Each step begins with its message number. */
static bool has_step(const void *steps, size_t size, uint32_t n, uint32_t message)
{
	uint32_t low = 0, high = n;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2, here;

		memcpy(&here, (const char *)steps + middle * size, sizeof(here));
		if (here == message)
			return true;
		if (here < message)
			low = middle + 1;
		else
			high = middle;
	}
	return false;
}

_Static_assert(offsetof(struct review_step, message) == 0, "has_step reads it there");
_Static_assert(offsetof(struct task_step, message) == 0, "has_step reads it there");

/* The review that the message requests or reports. */
static uint32_t find_review_of(const struct model *m, uint32_t session, uint32_t message)
{
	for (uint32_t i = m->reviews.n; i-- > 0 && m->reviews.n - i < SEARCH_MAX;)
		if (m->reviews.v[i].session == session &&
		    has_step(m->reviews.v[i].steps.v, sizeof(struct review_step),
			     m->reviews.v[i].steps.n, message))
			return i;
	return NONE;
}

/* The task that the message assigns or reports on. */
static uint32_t find_task_of(const struct model *m, uint32_t session, uint32_t message)
{
	for (uint32_t i = m->tasks.n; i-- > 0 && m->tasks.n - i < SEARCH_MAX;)
		if (m->tasks.v[i].session == session &&
		    has_step(m->tasks.v[i].steps.v, sizeof(struct task_step),
			     m->tasks.v[i].steps.n, message))
			return i;
	return NONE;
}

uint32_t task_meant(const struct applying *a)
{
	uint32_t answered = answered_by_person(a), review;

	if (answered == NONE)
		return NONE;
	review = find_review_of(a->m, a->session, answered);
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

bool person_decides(struct applying *a, uint32_t item, enum verdict v)
{
	const struct item *it = item == NONE ? NULL : &a->m->items.v[item];
	uint32_t answered = answered_by_person(a);

	if (!it || answered == NONE || raised_by(it) != answered ||
	    it->steps[it->n - 1].message == a->message)
		return false;
	item_step(a, item, STEP_DECIDED, v, 0);
	return true;
}

bool names_items(const struct applying *a)
{
	for (uint32_t i = 0; i < a->msg->events.n; i++)
		if (a->msg->events.v[i].type == EV_DECIDE)
			return answered_by_person(a) != NONE;
	return false;
}

/* ---- names in replies ---- */

static const enum item_kind kinds[] = { ITEM_FINDING, ITEM_CHANGE, ITEM_VERDICT, ITEM_BLOCKED,
					ITEM_QUESTION };
enum { N_KINDS = sizeof(kinds) / sizeof(kinds[0]) };

/* A message that was replied to: names in a reply refer to items that it raised. */
struct raising {
	const struct model *m;
	uint32_t session, message, review;
};

static struct raising raising_of(const struct model *m, uint32_t session, uint32_t message)
{
	return (struct raising){ m, session, message, find_review_of(m, session, message) };
}

static uint32_t raised_in(const struct raising *r, enum item_kind kind, struct str id)
{
	bool of_review = kind == ITEM_FINDING || kind == ITEM_CHANGE;
	uint32_t item = find_item(r->m, r->session, kind, id, of_review ? r->review : NONE);

	return item != NONE && raised_by(&r->m->items.v[item]) == r->message ? item : NONE;
}

static uint32_t item_called(const struct raising *r, struct str name);

/* Whether its id alone is ambiguous. */
static bool needs_kind(const struct raising *r, uint32_t item)
{
	struct str id = model_str(r->m, r->m->items.v[item].id);
	unsigned found = 0;

	for (unsigned k = 0; k < N_KINDS; k++)
		found += raised_in(r, kinds[k], id) != NONE;
	return found > 1 || item_called(r, id) != item;
}

/* Resolves a name: KIND:ID where the id alone is ambiguous, else the plain id, even if that begins
 * with a kind and a colon. */
static uint32_t item_called(const struct raising *r, struct str name)
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
	struct raising r = raising_of(m, item_session(m, item), raised_by(item));

	if (needs_kind(&r, (uint32_t)(item - m->items.v)))
		buf_printf(out, "%s:", item_kind_name(item->kind));
	buf_add_str(out, model_str(m, item->id));
}

uint32_t item_replied_to(const struct model *m, uint32_t message, struct str name)
{
	struct raising r = raising_of(m, message_route(m, message)->session, message);

	return item_called(&r, name);
}

void apply_named(struct applying *a)
{
	struct raising r = raising_of(a->m, a->session, answered_by_person(a));

	for (uint32_t i = 0; i < a->msg->events.n; i++) {
		const struct event *e = &a->msg->events.v[i];

		if (e->type != EV_DECIDE || e->item == ITEM_QUESTION ||
		    person_decides(a, item_called(&r, e->id), e->verdict))
			continue;
		/* the same id again without a kind: the next item that has it */
		for (unsigned k = 0; k < N_KINDS; k++)
			if (person_decides(a, raised_in(&r, kinds[k], e->id), e->verdict))
				break;
	}
}

uint32_t last_word_round(const struct applying *a, const struct review *r)
{
	uint32_t answered = answered_by_person(a);

	if (!a->msg->from.human)
		return 0;
	for (uint32_t i = answered == NONE ? 0 : r->steps.n; i-- > 0;)
		if (r->steps.v[i].message == answered && r->steps.v[i].verdict != REVIEW_NONE)
			return r->steps.v[i].iteration;
	return r->asked ? 0 : r->round;
}

void apply_last_word(struct applying *a, const struct event *e)
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
	else if (item_is_open(&a->m->items.v[item]))
		item_step(a, item, STEP_DECIDED, verdicts[e->review], 0);
}
