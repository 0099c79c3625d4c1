/* Which session a feedback request belongs to: it names none, so it is searched by the items that it
 * decides and the iteration that it continues. */
#include "model/rules.h"

#include <stdlib.h>

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

void feedback_find_session(struct apply_ctx *a, struct str group)
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
