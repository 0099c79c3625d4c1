/* Cross-message rules of feedback loops: matching requests with responses, one iteration per turn,
 * and checking decisions against acknowledgments.
 *
 * A bare request has no session id; the tool's wrapper lines have one. The first request of a loop
 * is queued in the file's own session (home) until a response comes; later ones are matched to a
 * session by the items they decide and the iteration they continue. */
#include "model/id_set.h"
#include "model/rules.h"

#include <stdlib.h>

#define RULE(id) "feedback/" id

enum {
	WAITING_MAX = 256, /* first requests of loops */
	OLDER_MAX = 16,    /* requests of a session that others followed before their response */
};

static void supersede_open(struct apply_ctx *a, bool resend)
{
	struct session_rules *r = rules_of(a);
	uint32_t kept = 0;

	if (is_ambiguous(a))
		return;
	for (uint32_t i = 0; i < r->open_items.n; i++) {
		uint32_t number = r->open_items.v[i];
		const struct item *item = &a->m->items.v[number];

		if (!item->open)
			continue;
		if (item->steps[item->n - 1].message == a->message ||
		    !(resend && item->kind == ITEM_ERROR
			      ? item_step(a, number, STEP_DECIDED, VERDICT_ACCEPTED, 0)
			      : item_step(a, number, STEP_SUPERSEDED, VERDICT_SUPERSEDED,
					  item->steps[item->n - 1].iteration)))
			r->open_items.v[kept++] = number;
	}
	r->open_items.n = kept;
}

static void check_ask_iteration(struct apply_ctx *a, const struct event *e)
{
	struct session_rules *r = rules_of(a);
	int64_t last = r->asked ? r->asked : r->done;
	uint32_t same = NONE; /* message of an equal request */

	if (!e->iteration)
		return;
	if (!last) {
		if (e->iteration > 1)
			report(a, SEVERITY_WARNING, RULE("3-iteration"), e->at, 0,
			       "the first request seen here has iteration %lld; they start at 1",
			       (long long)e->iteration);
		return;
	}
	if (e->iteration == last + 1)
		return;
	if (!r->answer_matched && r->done > last && e->iteration == r->done + 1)
		return; /* continues after requests that are not in this log */
	if (e->iteration == last && r->answer_failed && r->done == last)
		return; /* retry after an error */
	if (e->iteration == last && r->turn.content_hash == e->content_hash)
		same = r->turn.message;
	for (uint32_t i = 0; same == NONE && i < r->waiting.n; i++)
		if (r->waiting.v[i].content_hash == e->content_hash)
			same = r->waiting.v[i].message;
	if (same != NONE) {
		report(a, SEVERITY_NOTE, RULE("3-iteration"), e->at, 0,
		       "the same request as in line %u%s", message_line(a->m, same),
		       reply_words(a->m, same));
		return;
	}
	if (e->iteration == 1 && r->home == a->session) {
		if (!r->recent_n)
			report(a, SEVERITY_WARNING, RULE("3-iteration"), e->at, 0,
			       "iterations start again at 1 after %lld: another session?",
			       (long long)last);
		return;
	}
	report(a, SEVERITY_ERROR, RULE("3-iteration"), e->at, 0,
	       "iteration %lld after %lld; each request counts one up", (long long)e->iteration,
	       (long long)last);
}

static bool stands(const struct item *item, enum verdict verdict)
{
	uint32_t i = item->n;

	while (i > 1 && item->steps[i - 1].what == STEP_ACKED)
		i--;
	return item->steps[i - 1].what == STEP_DECIDED && item->steps[i - 1].verdict == verdict;
}

/* resent: its faults were reported when it was first sent */
static void check_decided(struct apply_ctx *a, const struct event *e, bool resent)
{
	struct session_rules *r = rules_of(a);
	uint32_t item = item_here(a, ITEM_IMPROVEMENT, id_known(a, e));
	const struct item *it;
	int64_t raised = 0; /* iteration */
	char q[QUOTED_MAX];

	if (!e->id.n)
		return;
	if (item == NONE) {
		report(a, r->answered && !resent ? SEVERITY_WARNING : SEVERITY_NOTE,
		       RULE("3.2.1-id"), e->at, e->index, "%s was never raised", quoted(e->id, q));
		return;
	}
	it = &a->m->items.v[item];
	for (uint32_t i = it->n; !raised && i-- > 0;)
		if (it->steps[i].what == STEP_RAISED)
			raised = it->steps[i].iteration;
	if (raised && raised < r->done)
		report(a, SEVERITY_NOTE, RULE("3.2.1-id"), e->at, e->index,
		       "%s is of iteration %lld, not of the previous turn", quoted(e->id, q),
		       (long long)raised);
	/* a Request that is sent again says nothing new */
	if (e->verdict != VERDICT_NONE && !(resent && stands(it, e->verdict)))
		item_step(a, item, STEP_DECIDED, e->verdict, clamp32(r->asked));
}

/* "Accepted: the artifact now reflects the suggested change", so it is not the one before. */
static void check_artifact(struct apply_ctx *a, const struct event *ask)
{
	const struct session_rules *r = rules_of(a);

	if (!r->request || !ask->artifact_hash || ask->iteration <= r->turn.iteration ||
	    r->turn.artifact_hash != (uint32_t)ask->artifact_hash)
		return;
	for (uint32_t i = 0; i < a->msg->events.n; i++) {
		const struct event *e = &a->msg->events.v[i];

		if (e->type != EV_DECIDE || e->verdict != VERDICT_ACCEPTED)
			continue;
		report(a, SEVERITY_NOTE, RULE("3.2.1-status"),
		       "/applied_feedback/items/%u/status", e->index,
		       "accepted, but the artifact is still that of line %u%s",
		       message_line(a->m, r->request - 1), reply_words(a->m, r->request - 1));
		return;
	}
}

static void note_request(struct session_rules *r, const struct turn_request *turn, bool unsure)
{
	if (!r->turn.open) { /* its own is over: only what the next one is compared with */
		r->turn.iteration = turn->iteration;
		r->turn.artifact_hash = turn->artifact_hash;
	}
	r->request = turn->message + 1;
	r->request_hash = turn->content_hash;
	r->request_unsure = unsure;
}

static void turn_release(struct model *m, struct turn_request *turn)
{
	heap_give(m->heap, turn->decided, turn->decided_n * sizeof(uint64_t));
	turn->decided = NULL;
	turn->decided_n = 0;
}

/* Queues a request that waits for its response; the oldest is dropped: it was never answered. */
static void queue_request(struct model *m, struct turn_queue *queue, uint32_t max,
			  struct turn_request turn)
{
	if (queue->n == max) {
		turn_release(m, &queue->v[0]);
		memmove(queue->v, queue->v + 1, (max - 1) * sizeof(turn));
		queue->n--;
	}
	heap_push(m->heap, queue, turn);
}

static void set_newest(struct apply_ctx *a, const struct turn_request *turn)
{
	struct session_rules *r = rules_of(a);
	bool resent = r->turn.iteration == turn->iteration &&
		      r->turn.content_hash == turn->content_hash;

	if (r->turn.open && !resent)
		queue_request(a->m, &extra_of(a)->older, OLDER_MAX, r->turn);
	else
		turn_release(a->m, &r->turn);
	r->turn = *turn;
	note_request(r, turn, false);
}

static void apply_ask(struct apply_ctx *a, const struct event *ask)
{
	struct session_rules *r = rules_of(a);
	struct turn_request turn = { .open = true, .has_applied = ask->acked,
				     .message = a->message, .iteration = ask->iteration,
				     .content_hash = ask->content_hash,
				     .artifact_hash = (uint32_t)ask->artifact_hash };
	uint32_t count = a->msg->events.n;
	bool resent = feedback_is_resent(a->m, a->session, ask);
	struct id_set decided;

	id_set_init(&decided, count);
	check_ask_iteration(a, ask);
	check_artifact(a, ask);
	r->asked = ask->iteration;
	for (uint32_t i = 0; i < count; i++) {
		const struct event *e = &a->msg->events.v[i];

		if (e->type != EV_DECIDE)
			continue;
		if (id_set_add(&decided, id_hash(a, e)))
			check_decided(a, e, resent);
		else if (e->id.n)
			report(a, SEVERITY_WARNING, RULE("3.2.1-id"), e->at, e->index,
			       "decided twice in one request; the first counts");
	}
	turn.decided_n = decided.n;
	if (decided.n) {
		turn.decided = heap_alloc(a->m->heap, decided.n * sizeof(uint64_t));
		memcpy(turn.decided, decided.list, decided.n * sizeof(uint64_t));
	}
	id_set_release(&decided);
	supersede_open(a, ask->iteration && ask->iteration == r->done);
	if (a->m->sessions.v[a->session].loop != NONE)
		review_step(a, a->m->sessions.v[a->session].loop, clamp32(ask->iteration),
			    REVIEW_NONE, turn.decided_n, false);
	/* if the log begins in the middle, the first request may have a later iteration */
	if (r->home == a->session && (ask->iteration <= 1 || !r->answered)) {
		queue_request(a->m, &r->waiting, WAITING_MAX, turn);
		return;
	}
	set_newest(a, &turn);
}

static bool take_newest(struct session_rules *r, struct turn_request *out)
{
	*out = r->turn;
	r->turn.open = false;
	r->turn.decided = NULL;
	r->turn.decided_n = 0;
	return true;
}

static void take_queued(struct turn_queue *queue, uint32_t pick, struct turn_request *out)
{
	*out = queue->v[pick];
	memmove(queue->v + pick, queue->v + pick + 1, (queue->n - pick - 1) * sizeof(*out));
	queue->n--;
}

/* The newest or oldest request of that iteration, or NONE. */
static uint32_t find_echoed(const struct turn_queue *queue, int64_t iteration, bool newest)
{
	for (uint32_t i = 0; i < queue->n; i++) {
		uint32_t at = newest ? queue->n - 1 - i : i;

		if (queue->v[at].iteration == iteration)
			return at;
	}
	return NONE;
}

/* The newest of the session's own requests whose iteration the response echoes. */
static bool take_echoed(struct session_rules *r, int64_t iteration, struct turn_request *out)
{
	struct turn_queue *older = r->extra ? &r->extra->older : NULL;
	uint32_t at = older ? find_echoed(older, iteration, true) : NONE;

	if (r->turn.open && r->turn.iteration == iteration)
		return take_newest(r, out);
	if (at != NONE)
		take_queued(older, at, out);
	return at != NONE;
}

/* Matches a response to a request: the session's own whose iteration it echoes, else its newest, or
 * one queued in its home. *unsure: another queued one would match as well. */
static bool take_request(struct apply_ctx *a, int64_t iteration, struct turn_request *out,
			 bool *unsure)
{
	struct session_rules *r = rules_of(a), *home = a->m->sessions.v[r->home].rules;
	uint32_t pick;

	*unsure = false;
	if (take_echoed(r, iteration, out))
		return true;
	/* a session with earlier responses has its own requests */
	if (r != home && r->answered)
		return r->turn.open && take_newest(r, out);
	/* of several loops the one that began first is answered first */
	pick = find_echoed(&home->waiting, iteration, r == home);
	if (pick == NONE) {
		if (r->turn.open)
			return take_newest(r, out);
		/* a loop of bare messages whose responses are wrapped from now on */
		if (home->turn.open && home->turn.iteration == iteration)
			return take_newest(home, out);
		if (home->waiting.n != 1 || (r != home && home->waiting.v[0].iteration > 1))
			return false;
		pick = 0;
	}
	take_queued(&home->waiting, pick, out);
	*unsure = home->turn.open && home->turn.iteration == out->iteration &&
		  home->turn.content_hash != out->content_hash;
	*unsure |= out->unsure;
	for (uint32_t i = 0; i < home->waiting.n; i++)
		if (home->waiting.v[i].iteration == out->iteration &&
		    home->waiting.v[i].content_hash != out->content_hash)
			*unsure = home->waiting.v[i].unsure = true;
	return true;
}

/* An acknowledgment that proves nothing is not applied. */
static void void_ack(struct apply_ctx *a, uint32_t event)
{
	a->msg->events.v[event].undecidable = true;
}

/* Each acknowledgment once, and of a decision of the request; turn NULL: not seen. */
static void check_each_ack(struct apply_ctx *a, const struct turn_request *turn,
			   struct id_set *acked)
{
	struct id_set decided;
	char q[QUOTED_MAX];

	id_set_init(&decided, turn ? turn->decided_n : 0);
	for (uint32_t i = 0; turn && i < turn->decided_n; i++)
		id_set_add(&decided, turn->decided[i]);
	for (uint32_t i = 0; i < a->msg->events.n; i++) {
		const struct event *e = &a->msg->events.v[i];
		bool twice = e->type == EV_ACK && !id_set_add(acked, id_hash(a, e));

		if (e->type != EV_ACK || !e->id.n)
			continue;
		if (twice) {
			report(a, SEVERITY_ERROR, RULE("4.3-items"), e->at, e->index,
			       "%s appears twice; there is one entry for each decision",
			       quoted(e->id, q));
			void_ack(a, i);
		} else if (turn && !id_set_has(&decided, id_hash(a, e))) {
			if (turn->has_applied)
				report(a, SEVERITY_ERROR, RULE("4.3-items"), e->at, e->index,
				       "%s was not decided in the request of line %u%s",
				       quoted(e->id, q), message_line(a->m, turn->message),
				       reply_words(a->m, turn->message));
			void_ack(a, i);
		}
	}
	id_set_release(&decided);
}

/* Whether there is an acknowledgment for each decision of the request, where there are any. */
static void check_missing_acks(struct apply_ctx *a, const struct event *answer,
			       const struct turn_request *turn, const struct id_set *acked)
{
	const char *what = reply_words(a->m, turn->message);
	uint32_t line = message_line(a->m, turn->message);

	if (turn->has_applied && !answer->acked && !answer->again)
		report(a, answer->failed ? SEVERITY_WARNING : SEVERITY_ERROR,
		       RULE("4-applied_feedback_ack"), "/applied_feedback_ack", 0,
		       "missing; the request in line %u%s has applied_feedback", line, what);
	else if (!turn->has_applied && answer->acked)
		report(a, SEVERITY_ERROR, RULE("4-applied_feedback_ack"), "/applied_feedback_ack",
		       0, "the request in line %u%s has no applied_feedback", line, what);
	for (uint32_t i = 0; turn->has_applied && answer->acked && i < turn->decided_n; i++)
		if (!id_set_has(acked, turn->decided[i]))
			report(a, SEVERITY_ERROR, RULE("4.3-items"), "/applied_feedback_ack/items",
			       0, "no entry for decision %u of the request in line %u%s", i + 1,
			       line, what);
}

static void check_acks(struct apply_ctx *a, const struct event *answer,
		       const struct turn_request *turn)
{
	struct id_set acked;

	id_set_init(&acked, a->msg->events.n);
	check_each_ack(a, turn, &acked);
	if (turn)
		check_missing_acks(a, answer, turn, &acked);
	id_set_release(&acked);
}

/* Whether the log has a decision on the item, since it was last raised and before this message. */
static bool was_decided(const struct item *item, uint32_t message)
{
	for (uint32_t i = item->n; i-- > 0;)
		if (item->steps[i].message < message && item->steps[i].what != STEP_ACKED)
			return item->steps[i].what != STEP_RAISED;
	return false;
}

static void apply_ack(struct apply_ctx *a, const struct event *e)
{
	const char *at = "/applied_feedback_ack/items/%u/processing_status";
	uint32_t item = item_here(a, ITEM_IMPROVEMENT, id_known(a, e));
	char q[QUOTED_MAX];

	if (e->undecidable)
		return;
	if (e->acked) {
		if (item != NONE && !was_decided(&a->m->items.v[item], a->message))
			report(a, SEVERITY_NOTE, RULE("4.3.1-processing_status"), at, e->index,
			       "acknowledges a decision on %s that is not in this log",
			       quoted(e->id, q));
		if (item != NONE)
			item_step(a, item, STEP_ACKED, VERDICT_NONE, 0);
		return;
	}
	if (!e->id.n)
		return;
	if (item == NONE) {
		report(a, SEVERITY_NOTE, RULE("4.3.1-processing_status"), at, e->index,
		       "%s is unknown to the provider, as it never was raised", quoted(e->id, q));
		return;
	}
	report(a, SEVERITY_WARNING, RULE("4.3.1-processing_status"), at, e->index,
	       "the provider does not know %s, which it raised itself", quoted(e->id, q));
	if (!a->m->items.v[item].open)
		heap_push(a->m->heap, &rules_of(a)->open_items, item);
	item_step(a, item, STEP_BOUNCED, VERDICT_NONE, 0);
}

static void check_answer_iteration(struct apply_ctx *a, const struct event *e,
				   const struct turn_request *turn)
{
	struct session_rules *r = rules_of(a);

	if (!e->iteration)
		return;
	if (turn) {
		if (turn->iteration && turn->iteration != e->iteration)
			report(a, SEVERITY_ERROR, RULE("4-iteration"), e->at, 0,
			       "iteration %lld does not echo the request's %lld (line %u%s)",
			       (long long)e->iteration, (long long)turn->iteration,
			       message_line(a->m, turn->message), reply_words(a->m, turn->message));
	} else if (r->answered && e->iteration != r->answered && e->iteration != r->answered + 1) {
		report(a, SEVERITY_WARNING, RULE("4-iteration"), e->at, 0,
		       "iteration %lld after %lld", (long long)e->iteration,
		       (long long)r->answered);
	}
}

/* Acknowledgments count only in a response that echoes the iteration of its request; where that is
 * not in this log, in one that can have been the next. */
static void check_echo(struct apply_ctx *a, const struct event *e, const struct turn_request *turn)
{
	const struct session_rules *r = rules_of(a);
	bool next = !r->done || e->iteration == r->done + 1 ||
		    (e->iteration == r->done && r->answer_failed);

	if (!e->acked || (turn && !turn->iteration) ||
	    (e->iteration && (turn ? e->iteration == turn->iteration : next)))
		return;
	report(a, SEVERITY_NOTE, RULE("4-applied_feedback_ack"), "/applied_feedback_ack", 0,
	       "proves nothing: the response does not echo the iteration of a request");
	for (uint32_t i = 0; i < a->msg->events.n; i++)
		if (a->msg->events.v[i].type == EV_ACK)
			void_ack(a, i);
}

/* Whether a response without open request is a second one to the newest. After an error it is not:
 * the request may have been sent again elsewhere. */
static bool is_second_answer(const struct session_rules *r, const struct event *e)
{
	return r->request_answered && !r->answer_failed && e->iteration && e->iteration == r->done;
}

static bool is_raised_here(const struct apply_ctx *a, const struct item *item)
{
	for (uint32_t i = item->n; i-- > 0 && item->steps[i].message == a->message;)
		if (item->steps[i].what == STEP_RAISED)
			return true;
	return false;
}

static void apply_answer(struct apply_ctx *a, const struct event *answer)
{
	struct session_rules *r = rules_of(a);
	struct session *session = &a->m->sessions.v[a->session];
	struct turn_request turn = { 0 };
	bool unsure, asked = take_request(a, answer->iteration, &turn, &unsure);
	bool second = !asked && is_second_answer(r, answer);
	int64_t done = asked && turn.iteration && answer->iteration ? turn.iteration
								      : answer->iteration;
	uint32_t items = 0;

	check_answer_iteration(a, answer, asked ? &turn : NULL);
	check_echo(a, answer, asked ? &turn : NULL);
	check_acks(a, answer, asked ? &turn : NULL);
	if (second)
		report(a, SEVERITY_ERROR, RULE("4-single-response"), answer->at, 0,
		       "a second response to the request of line %u%s",
		       message_line(a->m, r->request - 1), reply_words(a->m, r->request - 1));
	if (asked && !r->turn.open) { /* else a newer one is still waiting */
		r->asked = turn.iteration;
		note_request(r, &turn, unsure);
	}
	turn_release(a->m, &turn);
	supersede_open(a, false);
	if (session->loop == NONE)
		session->loop = review_get(a, session->name, NONE);
	for (uint32_t i = 0; i < a->msg->events.n; i++) {
		const struct event *e = &a->msg->events.v[i];
		uint32_t item;
		char q[QUOTED_MAX];
		bool was_open;

		if (e->type == EV_ACK) {
			apply_ack(a, e);
			continue;
		}
		if (e->type != EV_ITEM)
			continue;
		item = item_here(a, e->item, id_intern(a, e));
		if (item != NONE && is_raised_here(a, &a->m->items.v[item])) {
			report(a, SEVERITY_ERROR, RULE("4.1.3-id"), e->at, e->index,
			       "%s appears twice in one response", quoted(e->id, q));
			a->msg->events.v[i].undecidable = true;
		}
		if (done > UINT32_MAX) /* iterations beyond cannot be told apart */
			a->msg->events.v[i].undecidable = true;
		was_open = item != NONE && a->m->items.v[item].open;
		item = item_raise_found(a, e, item, NONE, NONE, clamp32(done));
		if (!was_open && item != NONE && a->m->items.v[item].open)
			heap_push(a->m->heap, &r->open_items, item);
		items++;
	}
	review_step(a, session->loop, clamp32(done),
		    items && !answer->failed ? REVIEW_CHANGES : REVIEW_APPROVED, items,
		    answer->failed);
	r->answered = answer->iteration;
	r->done = done;
	r->answer = a->message;
	r->answer_matched = asked;
	r->request_answered = asked || second;
	r->answer_failed = answer->failed;
}

void feedback_turn(const struct model *m, uint32_t session, struct turn_state *out)
{
	const struct session_rules *r = m->sessions.v[session].rules;

	*out = (struct turn_state){ .request = r->request ? r->request - 1 : NONE,
				    .unsure = r->request_unsure, .asked = r->asked,
				    .answered = r->answered, .done = r->done,
				    .failed = r->answer_failed, .matched = r->answer_matched,
				    .response = r->answer };
	out->waits = r->turn.open || (r->waiting.n && r->asked > r->answered);
}

static void apply_feedback(struct apply_ctx *a)
{
	for (uint32_t i = 0; i < a->msg->events.n; i++) {
		const struct event *e = &a->msg->events.v[i];

		if (e->type == EV_TURN_ASK)
			apply_ask(a, e);
		else if (e->type == EV_TURN_ANSWER)
			apply_answer(a, e);
		else if (e->type == EV_USAGE)
			heap_push(a->m->heap, &a->m->usage,
				  (struct usage){ a->message, a->from, e->tokens_in, e->tokens_out,
						  e->tokens_cached, e->cost });
	}
}

static const struct event *find_answer(const struct message *msg)
{
	for (uint32_t i = 0; i < msg->events.n; i++)
		if (msg->events.v[i].type == EV_TURN_ANSWER)
			return &msg->events.v[i];
	return NULL;
}

/* Whether an item was last raised by the newest response, in these words. */
static bool is_raised_by_newest(const struct apply_ctx *a, const struct event *e)
{
	const struct session_rules *r = a->m->sessions.v[a->session].rules;
	uint32_t number = item_here(a, e->item, id_known(a, e));
	const struct item *item = number == NONE ? NULL : &a->m->items.v[number];

	for (uint32_t i = item ? item->n : 0; i-- > 0;)
		if (item->steps[i].what == STEP_RAISED)
			return item->steps[i].message == r->answer &&
			       item->steps[i].hash == (uint32_t)e->content_hash;
	return false;
}

/* Responses have no id: one that raises the same again, in the same words and iteration, is the same
 * response, unless its Request was sent again. */
static uint32_t repeated_answer(const struct apply_ctx *a)
{
	const struct session_rules *r = a->m->sessions.v[a->session].rules;
	const struct session *session = &a->m->sessions.v[a->session];
	const struct event *answer = find_answer(a->msg);
	uint32_t items = 0;

	if (!answer || !answer->iteration || answer->iteration != r->answered ||
	    session->loop == NONE || (r->turn.open && r->turn.iteration == answer->iteration))
		return NONE;
	for (uint32_t i = 0; i < a->msg->events.n; i++) {
		if (a->msg->events.v[i].type != EV_ITEM)
			continue;
		if (!is_raised_by_newest(a, &a->msg->events.v[i]))
			return NONE;
		items++;
	}
	for (uint32_t i = a->m->reviews.v[session->loop].steps.n; items && i-- > 0;) {
		const struct review_step *s = &a->m->reviews.v[session->loop].steps.v[i];

		if (s->message == r->answer)
			return s->findings == items ? r->answer : NONE;
	}
	return NONE;
}

/* A Request continues the turn before it, or repeats one that failed. */
static void reply_keys(const struct message *msg, struct reply_keys *out)
{
	const struct event *ask = msg->events.n ? &msg->events.v[0] : NULL;
	bool decides = false;

	if (!ask || ask->type != EV_TURN_ASK)
		return;
	for (uint32_t i = 1; i < msg->events.n; i++) {
		const struct event *e = &msg->events.v[i];

		if (e->type != EV_DECIDE || !e->id.n)
			continue;
		decides = true;
		reply_key_add(out, reply_key(ANSWERS_ITEM, ask->iteration - 1, e->id), false, false);
	}
	if (!decides)
		reply_key_add(out, reply_key(ANSWERS_TURN, ask->iteration - 1, STR_NONE), false, false);
	reply_key_add(out, reply_key(ANSWERS_FAILED, ask->iteration, STR_NONE), false, false);
	reply_key_add(out, reply_key(ANSWERS_TURN, ask->iteration, STR_NONE), true, false);
}

static void effect_keys(const struct message *msg, struct reply_keys *out)
{
	const struct event *answer = find_answer(msg);

	if (answer)
		reply_key_add(out, reply_key(ANSWERS_TURN, answer->iteration, STR_NONE), true, false);
}

static void offer_keys(const struct model *m, uint32_t session, const struct message *msg,
		       struct reply_keys *out)
{
	const struct event *answer = find_answer(msg);

	(void)m;
	(void)session;
	if (!answer)
		return;
	for (uint32_t i = 0; i < msg->events.n; i++)
		if ((msg->events.v[i].type == EV_ITEM ||
		     (msg->events.v[i].type == EV_ACK && !msg->events.v[i].acked)) &&
		    msg->events.v[i].id.n)
			reply_key_add(out, reply_key(ANSWERS_ITEM, answer->iteration,
						     msg->events.v[i].id), false, false);
	reply_key_add(out, reply_key(ANSWERS_TURN, answer->iteration, STR_NONE), false, false);
	if (answer->failed)
		reply_key_add(out, reply_key(ANSWERS_FAILED, answer->iteration, STR_NONE), false,
			      false);
}

const struct rules_ops rules_feedback = {
	.name = "feedback",
	.apply = apply_feedback,
	.reply_keys = reply_keys,
	.effect_keys = effect_keys,
	.offer_keys = offer_keys,
	.find_session = feedback_find_session,
	.repeated = repeated_answer,
	.id = { "", RULE("4-repeated"), NULL },
};
