/* The orchestrator role of gavel towards the agents that it runs: answers their requests or leaves
 * them to the user, and composes responses and notifications. No I/O, no clock. The sender of a
 * message is the agent whose pipe it came from, whatever the message claims.
 *
 *   orchestrator_add        registers an agent; numbers are in order of adding
 *   orchestrator_attribute  before model_apply, for messages in both directions
 *   orchestrator_take       after model_apply, for a new message from an agent
 *   orchestrator_note       after model_apply, for a line that was sent, and for messages of either
 *                           direction that are only read again
 *   orchestrator_due        periodically: timeouts of unanswered requests
 *   orchestrator_gone       an agent's process has ended
 *
 * Ownership of tasks. A task that the user accepted (response:success to request:submit-task) or
 * assigned (notify:task-assigned) belongs to its submitter and its assignee. Only the assignee, or
 * the submitter while it is unassigned, changes its state by event:progress. Progress on any other
 * task creates one that belongs to the reporting agent alone.
 *
 * Lines carry no agentId, which would mark them as sent by the agent. They end with a newline, have
 * a new id each, and are added to the caller's buffer. */
#ifndef GAVEL_AGENTS_ORCHESTRATE_H
#define GAVEL_AGENTS_ORCHESTRATE_H

#include "base/map.h"
#include "dialect/dialect.h"
#include "model/model.h"

enum {
	ORCHESTRATOR_RATE_MAX = 100,      /* messages of one agent in ORCHESTRATOR_WINDOW_MS */
	ORCHESTRATOR_WINDOW_MS = 1000,
	ORCHESTRATOR_REFUSALS_MAX = 1000, /* requests over the rate that get an error */
	ORCHESTRATOR_ID_MAX_BYTES = 512,  /* of an id that can be answered */
	ORCHESTRATOR_OWN_MAX = 1000,      /* tasks of its own, for each agent */
};

enum orchestrated_life {
	ORCHESTRATED_RUNS,
	ORCHESTRATED_STOPS,
	ORCHESTRATED_STOPPED,
	ORCHESTRATED_CRASHED,
};

/* The error codes of the protocol. */
enum orchestrator_code {
	CODE_NONE,
	CODE_INVALID_REQUEST,
	CODE_INVALID_MESSAGE_TYPE,
	CODE_UNAUTHORIZED,
	CODE_NOT_FOUND,
	CODE_TIMEOUT,
	CODE_INTERNAL_ERROR,
};
const char *orchestrator_code_name(enum orchestrator_code c);

/* A request that waits for the user. */
struct waiting {
	char *id;
	size_t id_n;
	uint32_t item; /* of the model */
	int64_t deadline_ms;
	bool under_way; /* past its deadline, but an answer is recorded */
};

/* A task that agents may query. */
struct orchestrated_task {
	struct str id;
	struct str name, role; /* role empty = unknown */
	struct str needs;      /* JSON: an array of ids */
	struct str rest;       /* JSON: its other members, each with a comma before it */
	uint32_t owner;        /* agent that created it by progress; NONE = accepted or assigned */
	uint32_t submitter, holder; /* agents, or NONE */
	enum task_state state;
	bool done; /* the last progress was 1 */
};

/* An agent that gavel runs. */
struct orchestrated_agent {
	struct str name, role; /* role: worker, planner, reviewer; empty = unknown */
	VEC(struct str) capabilities;
	enum orchestrated_life life; /* set by the caller */
	uint64_t beyond;     /* messages over the rate so far */
	/* private */
	int64_t recent_ms[ORCHESTRATOR_RATE_MAX];
	uint32_t recent_n;
	int64_t refused_since_ms;
	uint32_t refused;
	VEC(uint64_t) ids; /* hashes of the requests of this incarnation */
	struct map id_map;
	VEC(struct waiting) waiting;
	VEC(uint32_t) tasks;
	uint32_t own; /* number of them that it owns */
	uint64_t claimed; /* hash of the wrong name last seen in its agentId */
};

/* Zero it; release it. */
struct orchestrator {
	VEC(struct orchestrated_agent) agents;
	VEC(struct orchestrated_task) tasks;
	struct map task_map;
	struct arena arena;
	struct decoder decoder;
	struct json_reader reader; /* of the message being answered */
	struct message message;
};

void orchestrator_release(struct orchestrator *o);
/* Strings are copied. Returns its number. */
uint32_t orchestrator_add(struct orchestrator *o, struct str name, struct str role,
			  const struct str *capabilities, uint32_t n);
/* Forgets its requests, which the next incarnation has not made. Its tasks stay. */
void orchestrator_gone(struct orchestrator *o, uint32_t agent);

/* Sets the recipient of outgoing messages to the agent of the pipe, and reports claimed senders: a
 * wrong agentId is a warning, once, or an error if it is another agent's; in other protocols
 * another agent's name is an error. Diagnostics are stored in the model, too. The model itself sets
 * the sender, and refuses what only the orchestrator sends (model/trust.h). true = one of these. */
bool orchestrator_attribute(struct orchestrator *o, struct model *m, struct message *msg,
			    uint32_t agent, bool sent);

/* Updates tasks from the message, and drops the request that a sent response answers. bytes are
 * those of msg. */
void orchestrator_note(struct orchestrator *o, uint32_t agent, bool sent, const struct message *msg,
		       struct str bytes);

struct incoming {
	uint32_t agent;            /* that wrote it */
	const struct message *msg; /* decoded, attributed and applied */
	struct str bytes;
	uint32_t message; /* its number in the model */
	int64_t now_ms;   /* wall clock, also the timestamp of the answer */
};

enum ruling_type {
	RULING_NOTHING, /* no response: none is expected, or (why) none is possible */
	RULING_ANSWER,  /* added to out; code CODE_NONE = success */
	RULING_PERSON,  /* an item of the model waits for the user */
};

struct ruling {
	enum ruling_type type;
	enum orchestrator_code code;
	const char *why; /* why a request gets no response, for the journal; else NULL */
};

/* Answers a new message; includes orchestrator_note. An id gets one response per process at most.
 *
 * Requests over the rate are refused with UNAUTHORIZED: INVALID_REQUEST would mean that it is bad
 * for ever, TIMEOUT and INTERNAL_ERROR would invite an immediate retry. Messages over the rate do
 * not count towards the next window; events over it are counted and noted. */
struct ruling orchestrator_take(struct orchestrator *o, const struct model *m,
				const struct incoming *a, struct buf *out);

/* Adds the TIMEOUT of one overdue request to out and forgets the request. Call until false.
 * Requests whose answer is recorded, sent or held are skipped and checked again by the next
 * call. */
bool orchestrator_due(struct orchestrator *o, const struct model *m, int64_t now_ms,
		      uint32_t *agent, struct buf *out);
/* The next deadline, TIME_NONE = none. */
int64_t orchestrator_next_ms(const struct orchestrator *o);

/* The accepted or assigned task of that id; NULL. */
const struct orchestrated_task *orchestrator_task(const struct orchestrator *o, struct str id);

/* A response:error; details is a JSON object or empty. */
void orchestrator_refuse(struct str request, enum orchestrator_code code, struct str message,
			 struct str details, int64_t now_ms, struct buf *out);
/* Notifications. An empty reason is replaced by a general one. */
void orchestrator_assign(struct str task, int64_t now_ms, struct buf *out);
void orchestrator_cancel(struct str task, struct str reason, int64_t now_ms, struct buf *out);
void orchestrator_shutdown(int64_t grace_ms, struct str reason, int64_t now_ms, struct buf *out);

#endif
