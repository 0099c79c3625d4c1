/* Who looks after running agents: answers their requests where the protocol has an orchestrator,
 * carries lines to them, ends and restarts them, and says how they stand. Everything that gavel run
 * adds to the loop of watch.h.
 *
 * Who spoke is told by the channel. Answers, TIMEOUTs and notifications that gavel gives by itself
 * go the same way as decisions, one line in flight at a time, and are journalled; none of them
 * decides anything. What an agent has taken is kept in NAME.ndjson.replies.ndjson beside its
 * capture and read like any other message, so that the model knows both sides. */
#ifndef GAVEL_AGENTS_SUPERVISOR_H
#define GAVEL_AGENTS_SUPERVISOR_H

#include "session/agent_set.h"
#include "agents/escalation_replies.h"
#include "watch/watch.h"
#include "agents/orchestrate.h"

enum {
	FOREMAN_GRACE_MS = 5000, /* between notify:shutdown and TERM */
	CHARGE_WORDS = 24,
	FOREMAN_EOF_MS = 1000,   /* between the end of its input and TERM, for who knows no notify */
};

struct foreman;

/* What the foreman knows of an agent of the crew, by the same number. */
struct charge {
	struct foreman *f;
	uint32_t number;
	struct desk_way way;
	uint32_t desk;      /* number in the load's desks */
	bool orchestrated;  /* this incarnation speaks the protocol with an orchestrator */
	unsigned incarnation; /* told of so far, and how far its life was told */
	enum child_life life;
	char words[CHARGE_WORDS]; /* how it ended */
	uint32_t lately;    /* messages since rates were last counted */
	uint64_t unheard;   /* requests that got no answer because it does not read */
	/* what it has taken: a file of the wire */
	struct load_reading replies;
	int replies_fd;
	uint64_t replies_at;
	uint32_t replies_line;
};

/* A line that was taken and is still to be told to the model. */
struct taken {
	uint32_t agent;
	struct buf line;
};

struct foreman {
	struct watch *watch;
	struct crew crew;
	struct orchestrator orchestrator;
	struct returns returns;
	VEC(struct charge *) charges;
	VEC(struct taken) taken;
	VEC(struct life) lives; /* for the views */
	bool leaving;
	int64_t counted_ms;
	uint32_t looked; /* messages that were looked at for `lives` */
};

extern const struct watch_ops foreman_ops; /* ctx is the foreman */

/* Before agents are started; after load_init. captures as in crew_open. */
int foreman_open(struct foreman *f, struct watch *w, const char *captures, struct err *err);
void foreman_close(struct foreman *f);

/* An agent with what others may know of it; role may be empty. */
struct foreman_spec {
	struct child_spec child;
	struct str role;
	const struct str *capabilities;
	uint32_t capability_count;
};
/* -1: it does not run, err says why. */
int foreman_start(struct foreman *f, const struct foreman_spec *spec, struct err *err);

/* Within the foreman (foreman_orders.c): */
/* Carries it out and says how it went. */
void foreman_order(struct foreman *f, const struct agent_order *o, int64_t now_ms);
void foreman_stop(struct foreman *f, uint32_t agent, int64_t now_ms);
/* Hands a line to the incarnation that runs now and journals it. False: nobody runs, or reads. */
bool foreman_tell(struct foreman *f, uint32_t agent, struct str line);
/* How each stands, for the views and the banner. */
void foreman_show(struct foreman *f, int64_t now_ms);
struct desk *foreman_desk(struct foreman *f, uint32_t agent);

#endif
