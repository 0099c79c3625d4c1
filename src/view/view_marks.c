/* How states and origins look: the tables of marks that give each the same look everywhere, and the
 * words for who decided, from where, and what a message claims to be. */
#include "view/view_parts.h"

enum role agent_role(const struct model *m, uint32_t agent)
{
	static const struct {
		const char *type;
		enum role role;
	} known[] = {
		{ "architect", ROLE_ARCHITECT },    { "planner", ROLE_ARCHITECT },
		{ "orchestrator", ROLE_ARCHITECT }, { "developer", ROLE_DEVELOPER },
		{ "worker", ROLE_DEVELOPER },       { "reviewer", ROLE_REVIEWER },
		{ "judge", ROLE_REVIEWER },         { "provider", ROLE_REVIEWER },
		{ "human", ROLE_PERSON },           { "user", ROLE_PERSON },
	};
	const struct agent *a = &m->agents.v[agent];

	if (a->human)
		return ROLE_PERSON;
	for (unsigned i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (str_is(model_str(m, a->type), known[i].type))
			return known[i].role;
	return ROLE_AGENT;
}

const struct mark verdict_marks[] = {
	[VERDICT_NONE] = { "○", "O", "open", ROLE_ACCENT },
	[VERDICT_ACCEPTED] = { "✓", "A", "accepted", ROLE_ACCEPTED },
	[VERDICT_REJECTED] = { "✗", "X", "rejected", ROLE_REJECTED },
	[VERDICT_PARTIAL] = { "◆", "P", "partial", ROLE_PARTIAL },
	[VERDICT_ESCALATED] = { "▲", "E", "escalated", ROLE_ESCALATED },
	[VERDICT_ANSWERED] = { "✓", "=", "answered", ROLE_ACCEPTED },
	[VERDICT_DISMISSED] = { "–", "D", "dismissed", ROLE_DEFERRED },
	[VERDICT_EXPIRED] = { "⚠", "T", "expired", ROLE_WARN },
	[VERDICT_SUPERSEDED] = { "·", "S", "superseded", ROLE_DIM },
	[VERDICT_WITHDRAWN] = { "↩", "W", "withdrawn", ROLE_DIM },
};

/* Words short enough for a narrow column. */
const struct mark grade_marks[] = {
	[GRADE_CRITICAL] = { "●", "C", "crit", ROLE_CRITICAL },
	[GRADE_MAJOR] = { "◆", "M", "major", ROLE_ERROR },
	[GRADE_MINOR] = { "◇", "m", "minor", ROLE_WARN },
	[GRADE_SUGGESTION] = { "·", "s", "sugg", ROLE_INFO },
	[GRADE_NONE] = { " ", " ", "", ROLE_DIM },
};

const struct mark task_marks[] = {
	[TASK_PENDING] = { "○", "Q", "pending", ROLE_DIM },
	[TASK_QUEUED] = { "○", "Q", "queued", ROLE_DIM },
	[TASK_ASSIGNED] = { "▸", "A", "assigned", ROLE_INFO },
	[TASK_RUNNING] = { "▶", "r", "running", ROLE_ACCENT },
	[TASK_REVIEW] = { "◇", "R", "review", ROLE_PARTIAL },
	[TASK_COMPLETED] = { "✓", "C", "completed", ROLE_OK },
	[TASK_PARTIAL] = { "◆", "P", "partial", ROLE_WARN },
	[TASK_FAILED] = { "✗", "F", "failed", ROLE_ERROR },
	[TASK_CANCELLED] = { "×", "X", "cancelled", ROLE_DIM },
	[TASK_RETRYING] = { "↑", "V", "retrying", ROLE_WARN },
};

const struct mark review_marks[] = {
	[REVIEW_NONE] = { "○", "R", "asked", ROLE_REVIEWER },
	[REVIEW_APPROVED] = { "✓", "A", "approved", ROLE_ACCEPTED },
	[REVIEW_CHANGES] = { "◆", "C", "changes", ROLE_PARTIAL },
	[REVIEW_REJECTED] = { "✗", "X", "rejected", ROLE_REJECTED },
};

const struct mark problem_marks[] = {
	[SEVERITY_NOTE] = { "·", "N", "note", ROLE_INFO },
	[SEVERITY_WARNING] = { "⚠", "W", "warning", ROLE_WARN },
	[SEVERITY_ERROR] = { "✗", "E", "error", ROLE_ERROR },
};

const struct mark delivery_marks[] = {
	[DELIVERY_NONE] = { " ", " ", "", ROLE_DIM },
	[DELIVERY_STAGED] = { "◆", "S", "staged", ROLE_STAGED },
	[DELIVERY_RECORDED] = { "●", "R", "recorded", ROLE_STAGED },
	[DELIVERY_SENT] = { "→", ">", "sent", ROLE_OK },
	[DELIVERY_ACKNOWLEDGED] = { "✓", "K", "acknowledged", ROLE_OK },
	[DELIVERY_BOUNCED] = { "◀", "U", "bounced", ROLE_WARN },
	[DELIVERY_HELD] = { "■", "H", "held", ROLE_HELD },
};

/* In one column of the inbox with delivery_marks, so no glyph and no letter is in both. */
const struct mark item_marks[ITEM_MARK_COUNT] = {
	[ITEM_IS_PLAIN] = { " ", " ", "", ROLE_DIM },
	[ITEM_IS_BROKEN] = { "✗", "X", "broken: cannot be decided", ROLE_ERROR },
	[ITEM_IS_EXPIRED] = { "⚠", "T", "expired", ROLE_WARN },
	[ITEM_IS_SNOOZED] = { "z", "z", "snoozed", ROLE_DEFERRED },
	[ITEM_CAME_BACK] = { "▲", "B", "came back", ROLE_WARN },
	[ITEM_IS_REWORDED] = { "~", "~", "reworded", ROLE_WARN },
	[ITEM_IS_REPEATED] = { "×", "x", "raised again", ROLE_DIM },
	[ITEM_IS_ESCALATED] = { "↑", "E", "escalated: somebody else answers", ROLE_ESCALATED },
	[ITEM_IS_ANSWERED] = { "←", "<", "answered in the queue, not sent", ROLE_STAGED },
};

const struct mark claim_marks[] = {
	[CLAIM_ROLE] = { "✗", "X", "not its role", ROLE_ERROR },
	[CLAIM_HUMAN] = { "⚠", "H", "unverified human", ROLE_ERROR },
	[CLAIM_AGENT] = { "⚠", "C", "claims to be", ROLE_WARN },
};

const struct mark trust_marks[] = {
	[TRUST_LOG] = { "□", "L", "log", ROLE_DIM },
	[TRUST_AGENT] = { "◂", "A", "agent", ROLE_AGENT },
	[TRUST_REPLY] = { "▸", "R", "reply", ROLE_PERSON },
	[TRUST_JOURNAL] = { "■", "J", "journal", ROLE_PERSON },
};

/* What stands on the lanes of the timeline. */
const struct mark timeline_marks[TIMELINE_MARKS] = {
	{ "A", "A", "assigned", ROLE_INFO },     { "V", "V", "assigned again", ROLE_INFO },
	{ "•", "•", "progress", ROLE_BAR },      { "╱", "╱", "stall", ROLE_STALLED },
	{ "✓", "✓", "done", ROLE_OK },           { "R", "R", "review asked", ROLE_REVIEWER },
	{ "◆", "◆", "changes", ROLE_PARTIAL },   { "✗", "✗", "failed, rejected", ROLE_ERROR },
	{ "×", "×", "cancelled", ROLE_DIM },     { "↑", "↑", "retry", ROLE_WARN },
	{ "○", "○", "queued", ROLE_DIM },        { "─", "─", "working", ROLE_BAR },
	{ "╌", "╌", "waiting", ROLE_DIM },       { "│", "│", "now", ROLE_CURSOR },
	{ "‹", "›", "more on that side", ROLE_DIM },
};

void pen_decider(struct pen *p, const struct model *m, const struct item_step *step)
{
	const struct reply *r = step->said ? message_reply(m, step->message) : NULL;

	if (!r)
		pen_agent(p, m, step_by(m, step));
	else
		pen_id(p, ROLE_PERSON, r->by == NONE ? STR("reply file") : model_str(m, r->by));
}

void pen_origin(struct pen *p, const struct model *m, uint32_t message, bool decision)
{
	const struct reply *r = message_reply(m, message);
	enum trust trust = message_trust(m, message);

	if ((trust == TRUST_LOG && !decision) || (r && r->by == NONE))
		return;
	pen_put(p, ROLE_DIM, trust_words(trust));
}

static void put_claim(struct pen *p, unsigned claim, struct str name)
{
	const struct mark *mark = &claim_marks[claim];

	pen_printf(p, mark->role, "%s %s%s", mark->glyph, mark->word, name.n ? " " : "");
	pen_id(p, mark->role, name);
	pen_put(p, mark->role, " · ");
}

void pen_claims(struct pen *p, const struct model *m, uint32_t message)
{
	unsigned flags = message_route(m, message)->flags;
	struct str claims = message_claims(m, message);

	if (flags & RECORD_NOT_ITS_ROLE)
		put_claim(p, CLAIM_ROLE, STR_NONE);
	if (flags & RECORD_CLAIMS_HUMAN)
		put_claim(p, CLAIM_HUMAN, STR_NONE);
	else if (claims.n)
		put_claim(p, CLAIM_AGENT, claims);
}
