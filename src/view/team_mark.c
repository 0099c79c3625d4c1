/* Marks of a team's items: in a few cells "@bob 1:40", "1/2", "^2", and in words. */
#include "view/view_parts.h"

static bool is_trouble(struct str outcome)
{
	return str_is(outcome, "held") || str_is(outcome, "refused");
}

void pen_team(struct pen *p, const struct team_mark *mark, int64_t now_ms)
{
	bool taken = team_mark_is_taken(mark, now_ms);
	char span[32];

	if (team_mark_is_untrue(mark)) {
		pen_put(p, ROLE_ERROR, "not in log");
		return; /* nothing else matters */
	}
	if (mark->level > 0)
		pen_printf(p, ROLE_KEY, "^%lld ", (long long)mark->level);
	if (mark->need > 1)
		pen_printf(p, ROLE_KEY, "%u/%u ", mark->votes, mark->need);
	if (mark->mine || taken) {
		pen_put(p, taken ? ROLE_WARN : ROLE_OK, "@");
		pen_id(p, taken ? ROLE_WARN : ROLE_OK, mark->holder);
		if (taken && now_ms != TIME_NONE)
			pen_printf(p, ROLE_WARN, " %s",
				   timestamp_span(time_between(mark->until_ms, now_ms), span));
	} else if (mark->outcome.n) {
		pen_id(p, is_trouble(mark->outcome) ? ROLE_HELD : ROLE_DIM, mark->outcome);
	}
}

void pen_team_words(struct pen *p, const struct team_mark *mark, int64_t now_ms)
{
	bool taken = team_mark_is_taken(mark, now_ms);
	char span[32];

	pen_put(p, ROLE_DIM, "team ");
	pen_id(p, ROLE_NORMAL, mark->source);
	if (mark->mine)
		pen_put(p, ROLE_OK, ", claimed by you");
	if (taken) {
		pen_put(p, ROLE_WARN, ", claimed by ");
		pen_id(p, ROLE_WARN, mark->holder);
		if (now_ms != TIME_NONE)
			pen_printf(p, ROLE_WARN, " for another %s",
				   timestamp_span(time_between(mark->until_ms, now_ms), span));
	}
	if (mark->need > 1)
		pen_printf(p, ROLE_KEY, ", %u of %u agree", mark->votes, mark->need);
	if (mark->voters.n) {
		pen_put(p, ROLE_DIM, ": ");
		pen_id(p, ROLE_NORMAL, mark->voters);
	}
	if (mark->level > 0)
		pen_printf(p, ROLE_KEY, ", risen to level %lld", (long long)mark->level);
	if (mark->outcome.n) {
		pen_put(p, ROLE_DIM, ", ");
		pen_id(p, is_trouble(mark->outcome) ? ROLE_HELD : ROLE_OK, mark->outcome);
	}
	if (is_trouble(mark->outcome) && mark->note.n) {
		pen_put(p, ROLE_DIM, ": ");
		pen_id(p, ROLE_HELD, mark->note);
	}
}
