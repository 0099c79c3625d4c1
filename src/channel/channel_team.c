/* An item of a team's store: the message is a person's draft, and the store settles whether it counts.
 * It is claimed first (channel_prepare), since the store takes drafts of claimed items only; a draft
 * that it has taken, as a vote or as the decision, is sent. The store answers the same to the same
 * draft, so one without an answer may be sent again at any time. */
#include "channel/channel_ops.h"
#include "channel/team_link.h"

#include "base/timestamp.h"

enum {
	ANSWER_MS = 6000, /* a store drops a connection that is silent for 5 s */
	STEP_MS = 20,
};

struct team_link team_link;

/* The number of the item, for the journal's record of the attempt. */
static uint64_t item_of(const char *path)
{
	const char *hash = strrchr(path, '#');
	uint64_t item = 0;

	return hash && str_to_u64(str_of(hash + 1), &item) ? item : 0;
}

static enum channel_result team_open(struct channel *c, struct err *err)
{
	if (!team_link.ask || !item_of(c->path))
		return channel_fail(CHANNEL_FAILED, err,
				    "%.300s is in a team's inbox, which is not open; decide it there",
				    c->path);
	return team_link.is_ready(team_link.ctx, c->path, err) ? CHANNEL_OK : CHANNEL_FAILED;
}

/* Asks, and waits for the answer. false: none came. */
static bool ask(const struct channel *c, enum team_ask what, uint64_t fence, struct str bytes,
		struct team_answer *out)
{
	struct team_question *q = team_link.ask(team_link.ctx, c->path, what, fence, bytes);
	int64_t until = monotonic_ms() + (c->wait_ms > 0 ? c->wait_ms : ANSWER_MS);

	do
		*out = *team_link.wait(q, STEP_MS);
	while (!out->came && monotonic_ms() < until && (!c->idle || c->idle->go_on(c->idle->ctx)));
	team_link.drop(q);
	return out->came;
}

static enum channel_result refuse_claim(const struct team_answer *a, struct err *err)
{
	char left[32];

	if (str_is(str_of(a->outcome), "held"))
		return channel_fail(CHANNEL_FAILED, err,
				    "%s has claimed it, for another %s; resend it then, or ask %s to "
				    "release it", a->who, timestamp_span(a->left_ms, left), a->who);
	if (str_is(str_of(a->outcome), "decided"))
		return channel_fail(CHANNEL_FAILED, err, "%s decided it before you; abandon yours",
				    a->who);
	if (str_is(str_of(a->outcome), "withdrawn"))
		return channel_fail(CHANNEL_FAILED, err,
				    "it was withdrawn: nobody waits for an answer any more; abandon "
				    "yours");
	if (str_is(str_of(a->outcome), "above"))
		return channel_fail(CHANNEL_FAILED, err,
				    "it has risen to a level that you do not decide on; abandon yours");
	return channel_fail(CHANNEL_FAILED, err,
			    "the store does not know it (%s); was the store made anew?", a->outcome);
}

static enum channel_result refuse_draft(const struct team_answer *a, bool voted, struct err *err)
{
	struct str outcome = str_of(a->outcome);

	if (str_is(outcome, "already"))
		return channel_fail(CHANNEL_FAILED, err, "already decided: %s; abandon yours", a->who);
	if (str_is(outcome, "changed"))
		return channel_fail(CHANNEL_FAILED, err,
				    "it has other words than those you decided on; look at it again, "
				    "then decide anew");
	if (str_is(outcome, "differs"))
		return channel_fail(CHANNEL_FAILED, err,
				    "somebody has voted with other words or another verb, and two "
				    "must say the same; look at the vote, then decide the same, or "
				    "reject");
	if (str_is(outcome, "lost") && voted)
		return channel_fail(CHANNEL_FAILED, err,
				    "you have voted on it already; another person has to say the same, "
				    "or to reject");
	if (str_is(outcome, "lost"))
		return channel_fail(CHANNEL_FAILED, err, "your claim was lost%s%s; resend it",
				    a->who[0] ? " to " : "", a->who);
	if (str_is(outcome, "top"))
		return channel_fail(CHANNEL_FAILED, err,
				    "it is on the highest level; nobody is above it");
	return refuse_claim(a, err);
}

static enum channel_result team_prepare(struct channel *c, struct str bytes, bool after_torn,
					struct attempt *out, struct err *err)
{
	struct team_answer a;

	(void)after_torn;
	if (!channel_is_line(bytes, err))
		return CHANNEL_FAILED;
	out->ino = item_of(c->path);
	if (!ask(c, TEAM_CLAIM, 0, STR_NONE, &a))
		return channel_fail(CHANNEL_FAILED, err,
				    "the store did not answer; resend it once it does");
	if (a.refused)
		return channel_fail(CHANNEL_FAILED, err, "%s", a.who);
	out->lead = str_is(str_of(a.outcome), "voted");
	if (!out->lead && !str_is(str_of(a.outcome), "yours"))
		return refuse_claim(&a, err);
	out->offset = a.fence;
	return CHANNEL_OK;
}

static enum channel_result team_send(struct channel *c, struct str bytes, const struct attempt *at,
				     struct err *err)
{
	static const char *const taken[] = { "decided", "yours", "second", "raised" };
	struct team_answer a;

	if (!ask(c, TEAM_DECIDE, at->offset, bytes, &a))
		return channel_fail(CHANNEL_UNCERTAIN, err,
				    "the store did not answer, and may have it; resend it: that is safe");
	if (a.unsettled)
		return channel_fail(CHANNEL_UNCERTAIN, err,
				    "%s; the store may have it: resend it, that is safe", a.who);
	if (a.refused)
		return channel_fail(CHANNEL_FAILED, err, "%s", a.who);
	for (size_t i = 0; i < sizeof(taken) / sizeof(taken[0]); i++)
		if (str_is(str_of(a.outcome), taken[i]))
			return CHANNEL_OK;
	return refuse_draft(&a, at->lead, err);
}

static enum channel_found team_probe(struct channel *c, struct str bytes, const struct attempt *at,
				     struct err *err)
{
	struct team_answer a;

	(void)at;
	if (!ask(c, TEAM_LOOK, 0, bytes, &a)) {
		err_set(err, "the store did not answer");
		return FOUND_TROUBLE;
	}
	if (a.refused) {
		err_set(err, "%s", a.who);
		return FOUND_TROUBLE;
	}
	return str_is(str_of(a.outcome), "mine") ? FOUND_WHOLE : FOUND_NOTHING;
}

const struct channel_ops channel_team = {
	.open = team_open,
	.prepare = team_prepare,
	.send = team_send,
	.probe = team_probe,
};
