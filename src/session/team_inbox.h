/* A team's inbox as a source of a load: gavel postgresql://…. Items that wait for a person on machines
 * with agents are in the team's store (team/store.h); here they become lines of a capture of this run's
 * own, which is read and followed like any log:
 *
 *   an item      its entry of an escalation queue, made to tell its number and its source; trusted like
 *                a log
 *   a decision   a line to the agents, as in a capture (session/load.h): a person's hand-off Decision
 *                that names the logins; or that the item was withdrawn
 *
 * What is settled elsewhere and changes all the time (claims, votes, levels) is no line but a mark
 * beside the item (view/team_mark.h).
 *
 * load_open calls team_add for each address and then team_wait, which waits for what the store has. In
 * the loop: team_fds and team_wait_ms say what to wait for, team_step asks and takes answers; the lines
 * are then read by load_step. Nothing blocks, and whatever becomes of the server, what was read stays.
 *
 * Decisions go to the store through CHANNEL_TEAM, which finds its connection here. Events are read in
 * their order, and their chain of hashes is checked (team/chain.h); the newest is kept in the journal.
 * If the store does not know it any more, or an event does not fit, deciding stops until team_accept. */
#ifndef GAVEL_SESSION_TEAM_INBOX_H
#define GAVEL_SESSION_TEAM_INBOX_H

#include "base/buf.h"
#include "loop/loop.h"
#include "view/team_mark.h"

struct load;
struct desk;
struct team_inbox;

struct team_inboxes {
	VEC(struct team_inbox *) list;
	struct team_marks marks;
	uint32_t items_seen; /* of the model */
	struct buf news;     /* a sentence for the message line, see team_news */
};

/* Whether a SOURCE argument is a store's address. */
bool team_is_address(const char *word);
/* Begins to connect and adds the capture to the load's wire. -1: err. */
int team_add(struct load *l, const char *url, struct err *err);
/* After the desks were opened: joins them with their stores. */
void team_open_desks(struct load *l);
/* Waits until what the stores have is in the captures; when following only for a moment, since the rest
 * comes later. -1: err says which one does not answer. */
int team_wait(struct load *l, struct err *err);
void team_step(struct load *l, int64_t now_ms);
/* After messages were applied: brings the marks up to date. */
void team_settle(struct load *l);
/* How many descriptors were put into out, at most `most`. */
unsigned team_fds(const struct load *l, struct loop_fd *out, unsigned most);
int team_wait_ms(const struct load *l, int64_t now_ms);
/* Appends a sentence about the worst problem with a store. false: there is none. */
bool team_banner(const struct load *l, int64_t now_ms, struct buf *out);
/* Takes what is to be said on the message line. false: nothing. */
bool team_news(struct load *l, struct buf *out);
void team_release(struct load *l);

/* Claims an item of the model for this login, or releases it, also while the claim is being asked for;
 * the answer is told by team_news. quiet: only if it is refused. An item that is in no team's inbox is
 * left alone. */
void team_claim(struct load *l, uint32_t item, bool quiet);
void team_unclaim(struct load *l, uint32_t item, bool quiet);
/* A person's word on a decision that the edge holds: it is sent again, or given up. */
void team_settle_held(struct load *l, uint32_t item, bool resend);
/* The person has seen that stores went back, and goes on. false: none did. */
bool team_accept(struct load *l);

#endif
