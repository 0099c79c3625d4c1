/* Finds the correlation_id of a chain of collaboration messages: "related messages share a
 * correlation_id", but it is optional, and a review may have it only in its request. */
#include "encode/encode_collaboration.h"

enum { REPLIES_MAX = 64 }; /* messages followed along reply_to */

static bool is_correlated(const struct model *m, uint32_t message)
{
	return message_route(m, message)->dialect == DIALECT_COLLABORATION &&
	       m->records.v[message].chain != 0;
}

static uint32_t correlated_in_review(const struct model *m, uint32_t review)
{
	const struct review *r = &m->reviews.v[review];

	for (uint32_t k = r->steps.n; k-- > 0;)
		if (is_correlated(m, r->steps.v[k].message))
			return r->steps.v[k].message;
	return NONE;
}

static uint32_t correlated_in_task(const struct model *m, uint32_t task)
{
	const struct task *t = &m->tasks.v[task];

	for (uint32_t k = t->steps.n; k-- > 0;)
		if (is_correlated(m, t->steps.v[k].message))
			return t->steps.v[k].message;
	return NONE;
}

/* By the first of a chain of revisions: the message that is found in its newest task, else in the newest
 * review of one. */
static uint32_t *index_revisions(const struct model *m)
{
	uint32_t *found = xmalloc((m->tasks.n + 1) * sizeof(*found)), one;

	for (uint32_t i = 0; i < m->tasks.n; i++)
		found[i] = NONE;
	for (uint32_t i = 0; i < m->reviews.n; i++)
		if (m->reviews.v[i].task != NONE && (one = correlated_in_review(m, i)) != NONE)
			found[m->tasks.v[m->reviews.v[i].task].root] = one;
	for (uint32_t i = 0; i < m->tasks.n; i++)
		if ((one = correlated_in_task(m, i)) != NONE)
			found[m->tasks.v[i].root] = one;
	return found;
}

static uint32_t correlated_in_revisions(struct encoding *e, uint32_t root)
{
	if (!e->correlated)
		e->correlated = index_revisions(e->model);
	return e->correlated[root];
}

/* Along the messages that this one replies to. */
static uint32_t correlated_in_replies(struct encoding *e, uint32_t session, uint32_t message)
{
	for (int i = 0; message != NONE && i < REPLIES_MAX; i++) {
		if (is_correlated(e->model, message))
			return message;
		message = message_with_id(e->model, session,
					  json_get_str(parse_message(e, message), "reply_to"));
	}
	return NONE;
}

struct str find_correlation(struct encoding *e, uint32_t session, uint32_t message, uint32_t task,
			    uint32_t review)
{
	const struct model *m = e->model;
	uint32_t found = message != NONE && is_correlated(m, message) ? message : NONE;

	if (found == NONE && review != NONE)
		found = correlated_in_review(m, review);
	if (found == NONE && task != NONE)
		found = correlated_in_task(m, task);
	if (found == NONE && task != NONE)
		found = correlated_in_revisions(e, m->tasks.v[task].root);
	if (found == NONE)
		found = correlated_in_replies(e, session, message);
	if (found == NONE)
		return STR_NONE;
	return keep_str(e, json_get_str(parse_message(e, found), "correlation_id"));
}
