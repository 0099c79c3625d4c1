/* Replies: messages of the session that a person said to the agents. Which items each decided, what
 * acknowledges it, and how messages are numbered for people. */
#include "model/rules.h"

#include <stdio.h>

/* The index of a reply in m->replies, or NONE. */
static uint32_t reply_index(const struct model *m, uint32_t message)
{
	uint32_t low = 0;

	bisect(low, m->replies.n, i, m->replies.v[i].message < message)
	return low < m->replies.n && m->replies.v[low].message == message ? low : NONE;
}

const struct reply *message_reply(const struct model *m, uint32_t message)
{
	uint32_t at = message == NONE ? NONE : reply_index(m, message);

	return at == NONE ? NULL : &m->replies.v[at];
}

void model_reply_own(struct model *m, uint32_t message, struct str by, int64_t time_ms)
{
	uint32_t at = reply_index(m, message), name = by.n ? model_intern(m, by) : NONE;

	if (at == NONE)
		return;
	m->replies.v[at].own = true;
	trust_note_sender(m, &(struct route){ .from = message_route(m, message)->from,
					      .trust = TRUST_JOURNAL }, message);
	if (name != NONE) {
		m->replies.v[at].by = name;
		m->replies.v[at].relayed = false;
	}
	m->replies.v[at].time_ms = time_ms;
}

const char *reply_words(const struct model *m, uint32_t message)
{
	return message_route(m, message)->flags & RECORD_REPLY ? " of the replies" : "";
}

bool step_is_own(const struct model *m, const struct item_step *step)
{
	const struct reply *r = step->said ? message_reply(m, step->message) : NULL;

	return r && r->own;
}

/* A verdict is a reviewer's: the person speaks as NAME-reviewer there. */
static struct str person_of(const struct actor *from)
{
	struct str name = from->id, tail = STR("-reviewer");

	if (str_is(from->type, "reviewer") && name.n > tail.n && str_ends(name, tail))
		name.n -= tail.n;
	return name;
}

void reply_add(struct apply_ctx *a, const struct place *place)
{
	struct reply r = { .message = a->message, .by = NONE, .proof = NONE, .stray = NONE,
			   .own = place->trust == TRUST_JOURNAL,
			   .time_ms = place->said_ms ? place->said_ms : TIME_NONE };

	if (place->by.n)
		r.by = model_intern(a->m, place->by);
	else if (a->msg->from.human && a->msg->from.id.n)
		r.by = model_intern(a->m, person_of(&a->msg->from));
	heap_push(a->m->heap, &a->m->replies, r);
}

void reply_name_person(struct apply_ctx *a, struct str by)
{
	struct reply *r = a->reply ? vec_last(&a->m->replies) : NULL;

	if (!r || r->by != NONE || !by.n)
		return;
	r->by = model_intern(a->m, by);
	r->relayed = true;
}

void reply_decides(struct apply_ctx *a, uint32_t item)
{
	const struct item *it = &a->m->items.v[item];

	/* not twice: the last step is this decision, those of the same message stand before it */
	for (uint32_t i = it->n - 1; i-- > 0 && it->steps[i].message == a->message;)
		if (it->steps[i].what == STEP_DECIDED)
			return;
	heap_push(a->m->heap, &vec_last(&a->m->replies)->items, item);
}

/* The message of the decision on an item that nothing but acknowledgments has followed, or NONE. */
static uint32_t standing_decision(const struct item *item)
{
	for (uint32_t i = item->n; i-- > 0;)
		if (item->steps[i].what != STEP_ACKED)
			return item->steps[i].what == STEP_DECIDED ? item->steps[i].message : NONE;
	return NONE;
}

void reply_acknowledge(struct apply_ctx *a, uint32_t message)
{
	uint32_t at = message == NONE || a->reply ? NONE : reply_index(a->m, message);
	struct reply *r = at == NONE ? NULL : &a->m->replies.v[at];
	uint32_t to;

	if (!r || r->proof != NONE || is_ambiguous(a))
		return;
	to = message_route(a->m, message)->to;
	if (to != NONE && to != a->from) {
		r->stray = a->message;
		return;
	}
	r->proof = a->message;
	for (uint32_t i = 0; i < r->items.n; i++)
		if (standing_decision(&a->m->items.v[r->items.v[i]]) == message)
			item_step(a, r->items.v[i], STEP_ACKED, VERDICT_NONE, 0);
}

void reply_item_acked(struct apply_ctx *a, uint32_t item)
{
	const struct item *it = &a->m->items.v[item];
	uint32_t decision = standing_decision(it), at;
	struct reply *r;

	if (decision == NONE || it->steps[it->n - 1].what == STEP_ACKED)
		return;
	at = reply_index(a->m, decision);
	r = at == NONE ? NULL : &a->m->replies.v[at];
	if (r && r->proof == NONE && ++r->acked == r->items.n)
		r->proof = a->message;
}

enum delivery step_delivery(const struct item *item, uint32_t step, uint32_t k)
{
	for (uint32_t i = step + 1; i < item->n && item->steps[i].message < k; i++) {
		if (item->steps[i].what == STEP_ACKED)
			return DELIVERY_ACKNOWLEDGED;
		if (item->steps[i].what == STEP_BOUNCED || item->steps[i].what == STEP_WITHDRAWN)
			return DELIVERY_BOUNCED;
		if (item->steps[i].what == STEP_DECIDED || item->steps[i].anew)
			break;
	}
	return DELIVERY_SENT;
}

/* ---- numbers ---- */

/* How many replies are before message k. */
static uint32_t replies_before(const struct model *m, uint32_t k)
{
	uint32_t low = 0;

	bisect(low, m->replies.n, i, m->replies.v[i].message < k)
	return low;
}

struct message_number message_number(const struct model *m, uint32_t message)
{
	uint32_t before = replies_before(m, message), first = 0;
	struct message_number out = { .n = message - before + 1 };

	if (before == m->replies.n || m->replies.v[before].message != message)
		return out;
	/* replies in a row have the same number of agents' messages before them */
	bisect(first, before, i, m->replies.v[i].message - i < message - before)
	out.n--;
	out.r = before - first + 1;
	return out;
}

/* Where the n-th message of agents is, from 1; or where it would be. */
static uint32_t index_of_number(const struct model *m, uint32_t n)
{
	uint32_t low = 0;

	bisect(low, m->replies.n, i, m->replies.v[i].message - i < n)
	return n - 1 + low;
}

uint32_t model_cut_number(const struct model *m, uint64_t n, uint32_t r)
{
	uint32_t agents = m->records.n - m->replies.n, from, next;

	if (n >= agents && r == UINT32_MAX)
		return m->records.n;
	n = n < agents ? n : agents;
	from = n ? index_of_number(m, (uint32_t)n) + 1 : 0;
	next = n < agents ? index_of_number(m, (uint32_t)n + 1) : m->records.n;
	return next - from > r ? from + r : next;
}

bool model_cut_named(const struct model *m, struct str number, uint32_t *k)
{
	ptrdiff_t dot = str_find(number, STR("."), 0);
	uint64_t n, r = UINT32_MAX;

	if (!number.n || number.p[0] != '#' ||
	    !str_to_u64(str_make(number.p + 1, dot < 0 ? number.n - 1 : (size_t)dot - 1), &n) ||
	    (dot >= 0 && !str_to_u64(str_from(number, (size_t)dot + 1), &r)))
		return false;
	*k = model_cut_number(m, n, r > UINT32_MAX ? UINT32_MAX : (uint32_t)r);
	return true;
}

void model_cut_name(const struct model *m, uint32_t k, char out[32])
{
	struct message_number at = k ? message_number(m, k - 1) : (struct message_number){ 0 };

	snprintf(out, 32, at.r ? "#%u.%u" : "#%u", at.n, at.r);
}

/* ---- keys ---- */

void message_reply_keys(const struct message *msg, struct reply_keys *out)
{
	const struct rules_ops *ops = dialect_rules[msg->dialect];

	out->list.n = 0;
	out->answers_nothing = false;
	if (ops->reply_keys)
		ops->reply_keys(msg, out);
}

void message_effect_keys(const struct message *msg, struct reply_keys *out)
{
	const struct rules_ops *ops = dialect_rules[msg->dialect];

	out->list.n = 0;
	if (ops->effect_keys)
		ops->effect_keys(msg, out);
}

void message_offer_keys(const struct model *m, const struct message *msg, struct reply_keys *out)
{
	const struct rules_ops *ops = dialect_rules[msg->dialect];

	out->list.n = 0;
	if (ops->offer_keys)
		ops->offer_keys(m, message_route(m, m->records.n - 1)->session, msg, out);
}
