/* Cross-message rules of feedback loops: matching requests with responses, one iteration per turn,
 * and checking decisions against acknowledgments.
 *
 * A bare request has no session id; the tool's wrapper lines have one. The first request of a loop
 * is queued in the file's own session (home) until a response comes; later ones are matched to a
 * session by the items they decide and the iteration they continue. */
#include "model/rules.h"

#include <stdlib.h>

#define RULE(id) "feedback/" id

enum { FEW_IDS = 16 };

/* Set of hashed ids: a list, searched linearly up to FEW_IDS, then through a hash map. */
struct id_set {
	uint64_t *list;
	uint32_t n;
	struct map map;
	uint64_t few[FEW_IDS];
};

/* most: capacity */
static void set_init(struct id_set *s, uint32_t most)
{
	s->list = most > FEW_IDS ? xmalloc(most * sizeof(*s->list)) : s->few;
	s->n = 0;
	s->map = (struct map){ 0 };
}

static void set_release(struct id_set *s)
{
	if (s->list != s->few)
		free(s->list);
	map_release(&s->map);
}

static bool has_id(const struct id_set *s, uint64_t h)
{
	for (uint32_t i = 0; i < s->n && s->n <= FEW_IDS; i++)
		if (s->list[i] == h)
			return true;
	for (uint32_t it = 0, v; map_next(&s->map, h, &it, &v);)
		if (s->list[v] == h)
			return true;
	return false;
}

/* false when it was there already */
static bool add_id(struct id_set *s, uint64_t h)
{
	if (has_id(s, h))
		return false;
	s->list[s->n++] = h;
	while (s->n > FEW_IDS && s->map.n < s->n)
		map_add(&s->map, s->list[s->map.n], s->map.n);
	return true;
}

/* Search for the session of a request; the ids it decides are looked up once for all candidates. */
struct session_search {
	struct apply_ctx *a;
	int64_t iteration;
	uint32_t *ids; /* interned, or NONE */
	uint32_t n;
	int best;      /* highest score */
	uint32_t at;   /* session with that score */
	int place;     /* its index among the recent ones, -1 = the file's own */
};

enum { SCORE_ALL = 5, SCORE_ONE = 4, SCORE_TURN = 2, SCORE_SAME_TURN = 1 };

/* Score: whether the iteration continues the session's last one. */
static int turn_score(const struct session_search *s, uint32_t session)
{
	const struct session_rules *r = s->a->m->sessions.v[session].rules;
	int64_t last = r->asked > r->done ? r->asked : r->done;

	/* the file's own requests were answered in other sessions, and continue there */
	if (r->home == session && !r->answered && !r->waiting.n)
		return 0;
	return last == s->iteration - 1				? SCORE_TURN
	       : r->turn.open && r->asked == s->iteration ? SCORE_SAME_TURN
							  : 0;
}

/* Score: whether the session has raised all, some or none of the decided items. */
static int items_score(const struct session_search *s, uint32_t session)
{
	const struct session_rules *r = s->a->m->sessions.v[session].rules;
	bool one = false, all = true;

	for (uint32_t i = 0; i < s->n && (all || !one); i++)
		if (s->ids[i] != NONE && may_have_raised(r, s->ids[i]) &&
		    item_named(s->a->m, session, ITEM_IMPROVEMENT, s->ids[i], NONE) != NONE)
			one = true;
		else
			all = false;
	return !one ? 0 : all ? SCORE_ALL : SCORE_ONE;
}

/* Picks the newest of the recent sessions with the highest score; skips the item lookups of those
 * that cannot reach it. */
static void search_recent(struct session_search *s, const struct session_rules *home)
{
	uint32_t own = s->a->session;

	for (int turn = SCORE_TURN; turn >= 0; turn--)
		for (int i = (int)home->recent_n; i-- > 0;) {
			/* the file's own session loses ties unless it has responses itself */
			bool tie_wins = s->at == own ? !home->answered : i > s->place;
			int least = s->best + !tie_wins, score;

			if (turn + SCORE_ALL < least)
				break; /* older ones cannot score higher */
			if (turn_score(s, home->recent[i]) != turn)
				continue;
			score = turn + items_score(s, home->recent[i]);
			if (score >= least) {
				s->best = score;
				s->at = home->recent[i];
				s->place = i;
			}
		}
}

static uint32_t search_session(struct apply_ctx *a, const struct session_rules *home,
			       int64_t iteration)
{
	uint32_t few[32], count = a->msg->events.n;
	struct session_search s = { .a = a, .iteration = iteration, .at = a->session, .place = -1,
				    .ids = count > 32 ? xmalloc(count * sizeof(*s.ids)) : few };

	for (uint32_t i = 0; i < count; i++) {
		const struct event *e = &a->msg->events.v[i];

		if (e->type == EV_DECIDE)
			s.ids[s.n++] = id_intern(a, e);
	}
	s.best = turn_score(&s, a->session) + items_score(&s, a->session);
	search_recent(&s, home);
	if (s.ids != few)
		free(s.ids);
	return s.at;
}

bool feedback_is_resent(const struct model *m, uint32_t session, const struct event *ask)
{
	const struct session_rules *r = m->sessions.v[session].rules;

	return r->answer_failed && r->request && r->done == ask->iteration &&
	       r->request_hash == ask->content_hash;
}

static void feedback_find_session(struct apply_ctx *a, struct str group)
{
	struct model *m = a->m;
	struct session_rules *home;
	const struct event *ask = a->msg->events.n ? &a->msg->events.v[0] : NULL;

	if (a->msg->session.n) {
		uint32_t number = model_session(m, group, STR_NONE, &null_key, a->message), i;

		m->sessions.v[a->session].rules->home = number;
		home = m->sessions.v[number].rules;
		if (home->recent_n && home->recent[home->recent_n - 1] == a->session)
			return;
		if (!home->recent)
			home->recent = heap_alloc(m->heap, RECENT_MAX * sizeof(uint32_t));
		for (i = home->recent_n; i > 0 && home->recent[i - 1] != a->session;)
			i--;
		if (!i && home->recent_n < RECENT_MAX)
			home->recent_n++;
		else /* remove it from its old index, or the oldest one */
			memmove(home->recent + (i ? i - 1 : 0), home->recent + (i ? i : 1),
				(home->recent_n - (i ? i : 1)) * sizeof(uint32_t));
		home->recent[home->recent_n - 1] = a->session;
		return;
	}
	home = rules_of(a);
	home->home = a->session;
	if (!ask || ask->type != EV_TURN_ASK)
		return;
	for (uint32_t i = home->recent_n; i-- > 0;)
		if (feedback_is_resent(m, home->recent[i], ask)) {
			a->session = home->recent[i];
			return;
		}
	if (ask->iteration < 2)
		return;
	a->session = search_session(a, home, ask->iteration);
}

static void supersede_open(struct apply_ctx *a, bool resend)
{
	struct session_rules *r = rules_of(a);
	uint32_t kept = 0;

	for (uint32_t i = 0; i < r->open_items.n; i++) {
		uint32_t number = r->open_items.v[i];
		const struct item *item = &a->m->items.v[number];

		if (!item->open)
			continue;
		if (item->steps[item->n - 1].message == a->message)
			r->open_items.v[kept++] = number;
		else if (resend && item->kind == ITEM_ERROR)
			item_step(a, number, STEP_DECIDED, VERDICT_ACCEPTED, 0);
		else
			item_step(a, number, STEP_SUPERSEDED, VERDICT_SUPERSEDED,
				  item->steps[item->n - 1].iteration);
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
		       "the same request as in line %u", message_line(a->m, same));
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
	if (e->verdict != VERDICT_NONE)
		item_step(a, item, STEP_DECIDED, e->verdict, clamp16(r->asked));
}

static void note_request(struct session_rules *r, const struct turn_request *turn, bool unsure)
{
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

static void apply_ask(struct apply_ctx *a, const struct event *ask)
{
	struct session_rules *r = rules_of(a);
	struct turn_request turn = { .open = true, .has_applied = ask->acked,
				     .message = a->message, .iteration = ask->iteration,
				     .content_hash = ask->content_hash };
	uint32_t count = a->msg->events.n;
	bool resent = feedback_is_resent(a->m, a->session, ask);
	struct id_set decided;

	set_init(&decided, count);
	check_ask_iteration(a, ask);
	r->asked = ask->iteration;
	for (uint32_t i = 0; i < count; i++) {
		const struct event *e = &a->msg->events.v[i];

		if (e->type != EV_DECIDE)
			continue;
		if (add_id(&decided, id_hash(a, e)))
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
	set_release(&decided);
	supersede_open(a, ask->iteration && ask->iteration == r->done);
	if (a->m->sessions.v[a->session].loop != NONE)
		review_step(a, a->m->sessions.v[a->session].loop, clamp16(ask->iteration),
			    REVIEW_NONE, turn.decided_n, false);
	/* if the log begins in the middle, the first request may have a later iteration */
	if (r->home == a->session && (ask->iteration <= 1 || !r->answered)) {
		if (r->waiting.n == 256) { /* never answered: drop the oldest */
			turn_release(a->m, &r->waiting.v[0]);
			memmove(r->waiting.v, r->waiting.v + 1, 255 * sizeof(turn));
			r->waiting.n--;
		}
		heap_push(a->m->heap, &r->waiting, turn);
		return;
	}
	turn_release(a->m, &r->turn);
	r->turn = turn;
	note_request(r, &turn, false);
}

static bool take_newest(struct session_rules *r, struct turn_request *out)
{
	*out = r->turn;
	r->turn.open = false;
	r->turn.decided = NULL;
	r->turn.decided_n = 0;
	return true;
}

/* Matches a response to a request: the session's own, or one queued in its home. *unsure: another
 * queued one would match as well. */
static bool take_request(struct apply_ctx *a, int64_t iteration, struct turn_request *out,
			 bool *unsure)
{
	struct session_rules *r = rules_of(a), *home = a->m->sessions.v[r->home].rules;
	uint32_t pick = 0;

	*unsure = false;
	if (r->turn.open)
		return take_newest(r, out);
	/* a session with earlier responses has its own requests */
	if (r != home && r->answered)
		return false;
	while (pick < home->waiting.n && home->waiting.v[pick].iteration != iteration)
		pick++;
	if (pick == home->waiting.n) {
		/* a loop of bare messages whose responses are wrapped from now on */
		if (home->turn.open && home->turn.iteration == iteration)
			return take_newest(home, out);
		if (home->waiting.n != 1 || (r != home && home->waiting.v[0].iteration > 1))
			return false;
		pick = 0;
	}
	*out = home->waiting.v[pick];
	*unsure = home->turn.open && home->turn.iteration == out->iteration &&
		  home->turn.content_hash != out->content_hash;
	*unsure |= out->unsure;
	for (uint32_t i = 0; i < home->waiting.n; i++)
		if (home->waiting.v[i].iteration == out->iteration &&
		    home->waiting.v[i].content_hash != out->content_hash)
			*unsure = home->waiting.v[i].unsure = true;
	memmove(home->waiting.v + pick, home->waiting.v + pick + 1,
		(home->waiting.n - pick - 1) * sizeof(*out));
	home->waiting.n--;
	return true;
}

static void check_acks(struct apply_ctx *a, const struct event *answer,
		       const struct turn_request *turn)
{
	struct id_set acked, decided;
	uint32_t line = message_line(a->m, turn->message);
	char q[QUOTED_MAX];

	set_init(&acked, a->msg->events.n);
	set_init(&decided, turn->decided_n);
	for (uint32_t i = 0; i < turn->decided_n; i++)
		add_id(&decided, turn->decided[i]);
	for (uint32_t i = 0; i < a->msg->events.n; i++) {
		const struct event *e = &a->msg->events.v[i];

		if (e->type != EV_ACK)
			continue;
		add_id(&acked, id_hash(a, e));
		if (turn->has_applied && e->id.n && !has_id(&decided, id_hash(a, e)))
			report(a, SEVERITY_ERROR, RULE("4.3-items"), e->at, e->index,
			       "%s was not decided in the request of line %u", quoted(e->id, q),
			       line);
	}
	if (turn->has_applied && !answer->acked && !answer->again)
		report(a, answer->failed ? SEVERITY_WARNING : SEVERITY_ERROR,
		       RULE("4-applied_feedback_ack"), "/applied_feedback_ack", 0,
		       "missing; the request in line %u has applied_feedback", line);
	else if (!turn->has_applied && answer->acked)
		report(a, SEVERITY_ERROR, RULE("4-applied_feedback_ack"), "/applied_feedback_ack",
		       0, "the request in line %u has no applied_feedback", line);
	for (uint32_t i = 0; turn->has_applied && answer->acked && i < turn->decided_n; i++)
		if (!has_id(&acked, turn->decided[i]))
			report(a, SEVERITY_ERROR, RULE("4.3-items"), "/applied_feedback_ack/items",
			       0, "no entry for decision %u of the request in line %u", i + 1,
			       line);
	set_release(&acked);
	set_release(&decided);
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
			       "iteration %lld does not echo the request's %lld (line %u)",
			       (long long)e->iteration, (long long)turn->iteration,
			       message_line(a->m, turn->message));
	} else if (r->answered && e->iteration != r->answered && e->iteration != r->answered + 1) {
		report(a, SEVERITY_WARNING, RULE("4-iteration"), e->at, 0,
		       "iteration %lld after %lld", (long long)e->iteration,
		       (long long)r->answered);
	}
}

static void apply_answer(struct apply_ctx *a, const struct event *answer)
{
	struct session_rules *r = rules_of(a);
	struct session *session = &a->m->sessions.v[a->session];
	struct turn_request turn = { 0 };
	bool unsure, asked = take_request(a, answer->iteration, &turn, &unsure);
	int64_t done = asked && turn.iteration && answer->iteration ? turn.iteration
								      : answer->iteration;
	uint32_t items = 0;

	check_answer_iteration(a, answer, asked ? &turn : NULL);
	if (asked) {
		check_acks(a, answer, &turn);
		r->asked = turn.iteration;
		note_request(r, &turn, unsure);
		turn_release(a->m, &turn);
	}
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
		if (item != NONE) {
			const struct item *it = &a->m->items.v[item];
			bool twice = false;

			for (uint32_t k = it->n;
			     !twice && k-- > 0 && it->steps[k].message == a->message;)
				twice = it->steps[k].what == STEP_RAISED;
			if (twice) {
				report(a, SEVERITY_ERROR, RULE("4.1.3-id"), e->at, e->index,
				       "%s stands twice in one response", quoted(e->id, q));
				a->msg->events.v[i].undecidable = true;
			}
		}
		was_open = item != NONE && a->m->items.v[item].open;
		item = item_raise_found(a, e, item, NONE, NONE, clamp16(done));
		if (!was_open)
			heap_push(a->m->heap, &r->open_items, item);
		items++;
	}
	review_step(a, session->loop, clamp16(done),
		    items && !answer->failed ? REVIEW_CHANGES : REVIEW_APPROVED, items,
		    answer->failed);
	r->answered = answer->iteration;
	r->done = done;
	r->answer = a->message;
	r->answer_matched = asked;
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

const struct rules_ops rules_feedback = {
	.name = "feedback",
	.apply = apply_feedback,
	.find_session = feedback_find_session,
};
