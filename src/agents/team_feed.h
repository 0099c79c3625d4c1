/* Running agents as the edge of a team: a shipper (ship/shipper.h) works on the load of a supervisor, so
 * that the team decides what its agents ask. Answers go the way of a person's own: desk, journal, the
 * agent's output queue.
 *
 * The shipper begins when all that the captures had is in the model: before that, what waits for a person
 * is not known. Open it before agents are started, so that a wrong address starts none. */
#ifndef GAVEL_AGENTS_TEAM_FEED_H
#define GAVEL_AGENTS_TEAM_FEED_H

#include "agents/supervisor.h"
#include "ship/shipper.h"

struct team_feed {
	struct supervisor *s;
	struct shipper *shipper;
	struct team_url url;
	struct filter *items;
	struct buf refusal; /* error message for decisions made locally */
	bool began;
	int64_t lost_ms; /* since when there is no connection; 0 = there is one */
	bool ended; /* no agent runs, and the shipper was told so */
	void (*said)(void *ctx, struct str line); /* NULL = on the message line */
	void *ctx;
};

/* The supervisor is open, and keeps a pointer. The options belong to the watch. */
int team_feed_open(struct team_feed *f, struct supervisor *s, const char *address, struct err *err);
void team_feed_close(struct team_feed *f);
/* In each tick of the supervisor. True = a desk has changed. */
bool team_feed_step(struct team_feed *f, int64_t now_ms);
int team_feed_wait_ms(const struct team_feed *f, int64_t now_ms);
/* Appends what the person should know as long as it lasts: that there is no connection. */
void team_feed_banner(const struct team_feed *f, int64_t now_ms, struct buf *out);
/* Whether everything is said, shipped and reported. */
bool team_feed_is_done(const struct team_feed *f);
/* Says that the team decides if the effect is a decision. */
bool team_feed_refuses(const struct team_feed *f, const struct effect *e);

#endif
