/* Supervisor of running agents, all that gavel run adds to the loop of watch.h: answers their
 * requests as their orchestrator, sends them lines, stops and restarts them, shows their state.
 *
 * The pipe determines the sender of a message. Answers, TIMEOUTs and notifications that gavel sends
 * by itself go the same way as decisions, one line in flight, and are journalled; they decide
 * nothing. Lines that an agent has read are kept in NAME.ndjson.replies.ndjson beside its capture
 * and applied to the model like any message, so that it has both directions. */
#ifndef GAVEL_AGENTS_SUPERVISOR_H
#define GAVEL_AGENTS_SUPERVISOR_H

#include "session/agent_set.h"
#include "agents/queue_replies.h"
#include "watch/watch.h"
#include "agents/orchestrate.h"

enum {
	SUPERVISOR_GRACE_MS = 5000, /* between notify:shutdown and TERM */
	SUPERVISED_WORDS = 24,
	SUPERVISOR_EOF_MS = 1000,   /* between end of input and TERM, in other protocols */
};

struct supervisor;

/* State of an agent, with the same number as in the agent set. */
struct supervised_agent {
	struct supervisor *s;
	uint32_t number;
	struct desk_agent desk_agent;
	uint32_t desk;      /* number in the load's desks */
	bool orchestrated;  /* this incarnation has used the orchestrator protocol */
	unsigned incarnation; /* last one announced, */
	enum child_life life; /* and its state */
	char words[SUPERVISED_WORDS]; /* exit status */
	uint32_t lately;    /* messages since rates were last computed */
	uint64_t unheard;   /* lines dropped because it does not read */
	/* lines that it has read: a file of the wire */
	struct load_reading replies;
	int replies_fd;
	uint64_t replies_at;
	uint32_t replies_line;
};

/* A line that an agent has read and that is still to be applied to the model. */
struct sent_line {
	uint32_t agent;
	struct buf line;
};

struct supervisor {
	struct watch *watch;
	struct agent_set agents;
	struct orchestrator orchestrator;
	struct queue_replies queue_replies;
	VEC(struct supervised_agent *) supervised;
	VEC(struct sent_line) sent;
	VEC(struct life) lives; /* for the views */
	bool leaving;
	int64_t counted_ms; /* when rates were last computed */
	uint32_t looked; /* messages counted in `lives` */
};

extern const struct watch_ops supervisor_ops; /* ctx is the supervisor */

/* Before supervisor_start; after load_init. captures as in agent_set_open. */
int supervisor_open(struct supervisor *s, struct watch *w, const char *captures, struct err *err);
void supervisor_close(struct supervisor *s);

/* role and capabilities are what other agents may query; role may be empty. */
struct supervisor_spec {
	struct child_spec child;
	struct str role;
	const struct str *capabilities;
	uint32_t capability_count;
	bool session; /* it writes the lines of several agents */
};
/* -1: it does not run, err says why. */
int supervisor_start(struct supervisor *s, const struct supervisor_spec *spec, struct err *err);

/* Private: */
/* Carries out a command of the user and reports the result. */
void supervisor_command(struct supervisor *s, const struct agent_order *o, int64_t now_ms);
void supervisor_stop(struct supervisor *s, uint32_t agent, int64_t now_ms);
/* Journals a line and queues it for the current incarnation. False: it does not run, or read. */
bool supervisor_send(struct supervisor *s, uint32_t agent, struct str line);
/* Updates `lives` and the banner. */
void supervisor_show(struct supervisor *s, int64_t now_ms);
static inline struct child *supervisor_child(const struct supervisor *s, uint32_t agent)
{
	return s->agents.agents.v[agent]->child;
}

#endif
