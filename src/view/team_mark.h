/* What a team's store says of the items in its inbox beside their history: who is looking at one, how
 * many have countersigned, how far it has risen. None of it is a verdict, and all of it is as of now. */
#ifndef GAVEL_VIEW_TEAM_MARK_H
#define GAVEL_VIEW_TEAM_MARK_H

#include "base/mem.h"
#include "base/str.h"
#include "base/timestamp.h"

/* Whether the message that an item shows is in the store's lines. */
enum team_proof {
	TEAM_NO_PLACE,    /* unknown: its machine did not say where, as it copies no lines */
	TEAM_NOT_YET,     /* unknown: the line has not come */
	TEAM_TRIMMED,     /* unknown: the line was removed with its day */
	TEAM_PROVEN,
	TEAM_OTHER_LINE,  /* the line at its place says something else, */
	TEAM_NO_LINE,     /* or is missing between others; */
	TEAM_OTHER_LOG,   /* its place is in a log of another machine; */
	TEAM_OTHER_WORDS, /* its title or revision is not that of its message */
};

struct team_mark {
	int64_t id;         /* in the store */
	struct str source;  /* of the store: the log that it is of */
	struct str holder;  /* who has claimed it; empty = nobody */
	bool voted;         /* this login has voted on it */
	bool mine;          /* its claim is this login's */
	int64_t until_ms;   /* end of the claim by this machine's clock */
	uint32_t votes, need;
	struct str voters;  /* who has countersigned, "ann, bob" */
	int64_t level;      /* on the ladder; 0 = the lowest */
	struct str outcome; /* of a decision: sent, acked, held, refused … */
	struct str note;    /* on that, and */
	struct str said;    /* the message as the agents got it */
	enum team_proof proof;
	struct str doubt;   /* why it is not proven, as a part of a sentence; empty if it is */
};

/* Of all teams' inboxes that are open. */
struct team_marks {
	VEC(const struct team_mark *) by_item; /* of the model; NULL = none */
};

static inline const struct team_mark *team_mark_of(const struct team_marks *m, uint32_t item)
{
	return m && item < m->by_item.n ? m->by_item.v[item] : NULL;
}

/* Whether somebody else has claimed it. now_ms TIME_NONE: the clock is not known. */
static inline bool team_mark_is_taken(const struct team_mark *mark, int64_t now_ms)
{
	return mark && mark->holder.n && !mark->mine &&
	       (now_ms == TIME_NONE || mark->until_ms > now_ms);
}

/* It is not what agents said, and is not decided. */
static inline bool team_mark_is_untrue(const struct team_mark *mark)
{
	return mark->proof >= TEAM_OTHER_LINE;
}

#endif
