/* What a person says in a collaboration session. It is about the message that it replies to, also
 * when agents have gone on meanwhile: a file of replies is read after its log. */
#include "model/rules.h"

#include <stddef.h>

/* tasks or reviews that a message is held against */
enum { SEARCH_MAX = 16384 };

/* The message that this one of a person replies to, NONE. */
static uint32_t answered_by_person(const struct applying *a)
{
	return a->msg->from.human ? message_with_id(a->m, a->session, a->msg->reply_to) : NONE;
}

/* Whether one of the steps, oldest first, is of that message, whose number each begins with. */
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

/* The review that the message asks for or gives. */
static uint32_t find_review_of(const struct model *m, uint32_t session, uint32_t message)
{
	for (uint32_t i = m->reviews.n; i-- > 0 && m->reviews.n - i < SEARCH_MAX;)
		if (m->reviews.v[i].session == session &&
		    has_step(m->reviews.v[i].steps.v, sizeof(struct review_step),
			     m->reviews.v[i].steps.n, message))
			return i;
	return NONE;
}

/* The task that the message gives out or reports on. */
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

/* Where the item was raised last. */
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

void apply_named(struct applying *a)
{
	static const enum item_kind kinds[] = { ITEM_FINDING, ITEM_CHANGE, ITEM_VERDICT,
						ITEM_BLOCKED, ITEM_QUESTION };
	uint32_t review = find_review_of(a->m, a->session, answered_by_person(a));

	for (uint32_t i = 0; i < a->msg->events.n; i++) {
		const struct event *e = &a->msg->events.v[i];

		if (e->type != EV_DECIDE || e->item == ITEM_QUESTION)
			continue;
		for (unsigned k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++)
			if (person_decides(a, find_item(a->m, a->session, kinds[k], e->id,
							k < 2 ? review : NONE),
					   e->verdict))
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
