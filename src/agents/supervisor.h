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
#include "agents/queue_replies.h"
#include "watch/watch.h"
#include "agents/orchestrate.h"

enum {
	SUPERVISOR_GRACE_MS = 5000, /* between notify:shutdown and TERM */
	SUPERVISED_WORDS = 24,
	SUPERVISOR_EOF_MS = 1000,   /* between the end of its input and TERM, for who knows no notify */
};

struct supervisor;

/* What the supervisor knows of an agent of the agents, by the same number. */
struct supervised_agent {
	struct supervisor *f;
	uint32_t number;
	struct desk_way way;
	uint32_t desk;      /* number in the load's desks */
	bool orchestrated;  /* this incarnation speaks the protocol with an orchestrator */
	unsigned incarnation; /* told of so far, and how far its life was told */
	enum child_life life;
	char words[SUPERVISED_WORDS]; /* how it ended */
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

struct supervisor {
	struct watch *watch;
	struct agent_set agents;
	struct orchestrator orchestrator;
	struct queue_replies queue_replies;
	VEC(struct supervised_agent *) supervised;
	VEC(struct taken) taken;
	VEC(struct life) lives; /* for the views */
	bool leaving;
	int64_t counted_ms;
	uint32_t looked; /* messages that were looked at for `lives` */
};

extern const struct watch_ops supervisor_ops; /* ctx is the supervisor */

/* Before agents are started; after load_init. captures as in agent_set_open. */
int supervisor_open(struct supervisor *f, struct watch *w, const char *captures, struct err *err);
void supervisor_close(struct supervisor *f);

/* An agent with what others may know of it; role may be empty. */
struct supervisor_spec {
	struct child_spec child;
	struct str role;
	const struct str *capabilities;
	uint32_t capability_count;
};
/* -1: it does not run, err says why. */
int supervisor_start(struct supervisor *f, const struct supervisor_spec *spec, struct err *err);

/* Within the supervisor (supervisor_commands.c): */
/* Carries it out and says how it went. */
void supervisor_command(struct supervisor *f, const struct agent_order *o, int64_t now_ms);
void supervisor_stop(struct supervisor *f, uint32_t agent, int64_t now_ms);
/* Hands a line to the incarnation that runs now and journals it. False: nobody runs, or reads. */
bool supervisor_tell(struct supervisor *f, uint32_t agent, struct str line);
/* How each stands, for the views and the banner. */
void supervisor_show(struct supervisor *f, int64_t now_ms);
struct desk *supervisor_desk(struct supervisor *f, uint32_t agent);

#endif
