/* What a CHANNEL_TEAM asks a team's store. Who holds the connections (session/team_inbox.h) sets
 * team_link; the path STORE#ITEM names one of them and an item of it. Nothing here is certain until it
 * is answered, and whatever was asked may be asked again. */
#ifndef GAVEL_CHANNEL_TEAM_LINK_H
#define GAVEL_CHANNEL_TEAM_LINK_H

#include "base/err.h"
#include "base/str.h"

enum team_ask {
	TEAM_CLAIM,
	TEAM_DECIDE, /* with the bytes, under the claim that `fence` counts */
	TEAM_LOOK,   /* whether these bytes are this login's vote or decision: "mine" or "none" */
};

enum { TEAM_ANSWER_SIZE = 200 };

struct team_answer {
	bool came;      /* else all else is empty */
	bool refused;   /* by the server; who: its sentence */
	bool unsettled; /* refused for now (a lock, a timeout): an earlier try of the same may count */
	char outcome[24]; /* as the functions claim and decide of the schema have it */
	char who[TEAM_ANSWER_SIZE];
	uint64_t fence; /* of a claim */
	int64_t left_ms; /* of the claim that somebody else has; 0 = not known */
};

struct team_question; /* one that was asked */

struct team_link {
	/* Else err says since when there is no connection, or why nothing can be decided. */
	bool (*is_ready)(void *ctx, const char *path, struct err *err);
	/* Never NULL after is_ready; to be dropped. */
	struct team_question *(*ask)(void *ctx, const char *path, enum team_ask what, uint64_t fence,
				     struct str bytes);
	/* Goes on for at most timeout_ms; what was answered so far. */
	const struct team_answer *(*wait)(struct team_question *q, int timeout_ms);
	/* It is answered, or nobody waits for it any more. */
	void (*drop)(struct team_question *q);
	void *ctx;
};
extern struct team_link team_link;

#endif
