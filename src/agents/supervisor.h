/* Supervisor of running agents, all that gavel run adds to the loop of watch.h: answers their
 * requests as their orchestrator, sends them lines, stops and restarts them, shows their state.
 *
 * The capture determines the sender of a message. Answers, TIMEOUTs and notifications that gavel
 * sends by itself go the same way as decisions, one line in flight, and are journalled; they decide
 * nothing. The capture has both directions, so whoever attaches to an agent later, and gets the lock
 * of its journal, knows which of its requests wait, and answers those. Until then they wait. */
#ifndef GAVEL_AGENTS_SUPERVISOR_H
#define GAVEL_AGENTS_SUPERVISOR_H

#include "session/agent_set.h"
#include "agents/queue_replies.h"
#include "watch/watch.h"
#include "agents/driver.h"
#include "agents/known_agents.h"
#include "agents/orchestrate.h"

enum {
	SUPERVISOR_GRACE_MS = 5000, /* between notify:shutdown and TERM */
	SUPERVISED_WORDS = 24,
	SUPERVISOR_EOF_MS = 1000,   /* between end of input and TERM, in other protocols */
	SUPERVISOR_TURN_MS = 3000,  /* the same if a turn has to be ended first */
};

struct supervisor;
struct team_feed; /* agents/team_feed.h */

/* A request that was made before gavel attached to the agent. */
struct unanswered {
	uint32_t message; /* of the model */
	uint64_t id;      /* hash */
};

/* State of an agent, with the same number as in the agent set. */
struct supervised_agent {
	struct supervisor *s;
	uint32_t number;
	struct desk_agent desk_agent;
	uint32_t desk;      /* number in the load's desks */
	bool caught_up;     /* what was in its capture before was read */
	bool orchestrated;  /* this incarnation has used the orchestrator protocol */
	unsigned incarnation; /* last one announced, */
	enum child_life life; /* and its state */
	char words[SUPERVISED_WORDS]; /* exit status */
	uint32_t lately;    /* messages since rates were last computed */
	uint64_t unheard;   /* lines dropped because it does not read */
	VEC(struct unanswered) unanswered; /* requests in its capture, while that is read */
	/* of a real agent */
	struct driver *driver; /* NULL = it is none */
	const struct known_agent *known; /* its program, NULL = unknown */
	unsigned driven;       /* the incarnation that the driver is told of */
	const char *const *passed; /* variables that it gets, NULL = not known; borrowed */
	struct buf said;       /* what its driver had to say last */
	bool ends_input;       /* as soon as it was told to interrupt its turn */
	uint32_t prompts;      /* that it was started with */
	bool malformed;        /* it was said that it writes lines that are no messages */
	bool finished;         /* its turn has ended, which was not said yet */
};

struct supervisor {
	struct watch *watch;
	struct agent_set agents;
	struct orchestrator orchestrator;
	struct queue_replies queue_replies;
	struct team_feed *feed; /* the team's shipper; NULL if decisions are made here */
	VEC(struct supervised_agent *) supervised;
	struct decoder decoder; /* of requests that are answered later */
	struct message message;
	VEC(struct life) lives; /* for the views */
	bool leaving;   /* agents are being stopped */
	bool stay;      /* agents go on when gavel ends */
	bool only_drives; /* no requests are answered: --detach is no orchestrator */
	int64_t counted_ms; /* when rates were last computed */
	uint32_t looked; /* messages counted in `lives` */
};

extern const struct watch_ops supervisor_ops; /* ctx is the supervisor */

/* Before supervisor_start; after load_init. captures as in agent_set_open. */
int supervisor_open(struct supervisor *s, struct watch *w, const char *captures, struct err *err);
void supervisor_close(struct supervisor *s);

/* role and capabilities are what other agents may query. */
struct supervisor_spec {
	struct child_spec child; /* env must outlive the supervisor */
	struct agent_about about;
	struct str prompt; /* for a real agent, empty = none */
};
/* -1: it does not run, err says why. */
int supervisor_start(struct supervisor *s, const struct supervisor_spec *spec, struct err *err);
/* The agent of NAME.ndjson in the folder of captures, which another gavel started. */
int supervisor_attach(struct supervisor *s, const char *name, struct err *err);

/* What the agent wrote to standard error last. */
void supervisor_complaint(const struct child *c, struct buf *out);
/* The same in a clause: its last line, and what to do. */
void supervisor_add_complaint(const struct supervised_agent *c, struct buf *out);
/* What to do if an agent has failed at its start with these words: a clause. */
void supervisor_advice(const struct supervised_agent *c, struct str words, struct buf *out);

/* Whether nothing is left to read or to send now, nor when a turn is over. */
bool supervisor_is_idle(const struct supervisor *s);

/* Private: */
/* Carries out a command of the user and reports the result. */
void supervisor_command(struct supervisor *s, const struct agent_order *o, int64_t now_ms);
void supervisor_stop(struct supervisor *s, uint32_t agent, int64_t now_ms);
/* Journals a line and queues it for the current incarnation. False: it does not run, or read. */
bool supervisor_send(struct supervisor *s, uint32_t agent, struct str line);
/* Real agents (supervisor_drivers.c). folder: as it was given, NULL = gavel's. */
void supervisor_drive(struct supervised_agent *c, const struct agent_about *about,
		      const char *folder);
void supervisor_drive_end(struct supervised_agent *c);
/* For each message of its capture. */
void supervisor_drive_note(struct supervised_agent *c, const struct message *msg, struct str bytes);
/* Sends what is due. */
void supervisor_drive_tick(struct supervisor *s, uint32_t agent);
/* Ends its turn before it is stopped: at the end of its input alone, Claude would go on with what it
 * was not allowed. False: no turn runs. */
bool supervisor_drive_stop(struct supervisor *s, uint32_t agent);
void supervisor_end_input(struct supervisor *s, uint32_t agent);
void supervisor_drive_order(struct supervisor *s, const struct agent_order *o);
/* Updates `lives` and the banner. */
void supervisor_show(struct supervisor *s, int64_t now_ms);
static inline struct child *supervisor_child(const struct supervisor *s, uint32_t agent)
{
	return s->agents.agents.v[agent]->child;
}
static inline struct desk *supervisor_desk(const struct supervisor *s, uint32_t agent)
{
	return &s->watch->load.desks.list.v[s->supervised.v[agent]->desk];
}
/* Another gavel decides for it: this one neither stops nor restarts it. */
static inline bool supervisor_is_locked_out(const struct supervisor *s, uint32_t agent)
{
	return supervisor_desk(s, agent)->trouble == JOURNAL_LOCKED;
}

#endif
