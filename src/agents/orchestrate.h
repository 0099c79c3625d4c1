/* gavel as the orchestrator of the agents that it runs: which requests it answers by itself, which
 * a person answers, and the lines that it writes. No I/O, no clock, and nothing that an agent says
 * of itself counts: who spoke is told by the channel.
 *
 *   orchestrator_add        an agent, once; its number is the order of adding
 *   orchestrator_attribute  before model_apply, for what came and for what was sent
 *   orchestrator_take       after model_apply, for a message that has just come
 *   orchestrator_note       after model_apply, for a line that was sent, and for messages of either
 *                           way that are only read again
 *   orchestrator_due        now and then: requests that nobody has answered in time
 *   orchestrator_gone       its process has ended; the next one begins with a clean slate
 *
 * Whose task a task is. One that a person let in (response:success to request:submit-task) or gave
 * out (notify:task-assigned) belongs to the agent that submitted it and to the one that has it.
 * Only the one that has it, or who submitted it as long as nobody has, changes its state by
 * event:progress. What an agent reports on without having been given it is its own, under that
 * name, and nobody else's.
 *
 * No line names an agent: a message from the orchestrator with an agentId looks as if the agent had
 * sent it. Lines end with a newline and are added to the caller's buffer; every id is new. */
#ifndef GAVEL_AGENTS_ORCHESTRATE_H
#define GAVEL_AGENTS_ORCHESTRATE_H

#include "base/map.h"
#include "dialect/dialect.h"
#include "model/model.h"

enum {
	ORCHESTRATOR_RATE_MAX = 100,      /* messages of one agent in ORCHESTRATOR_WINDOW_MS */
	ORCHESTRATOR_WINDOW_MS = 1000,
	ORCHESTRATOR_REFUSALS_MAX = 1000, /* requests beyond it that get an error in that time */
	ORCHESTRATOR_ID_MAX_BYTES = 512,  /* of an id that is repeated in an answer */
	ORCHESTRATOR_OWN_MAX = 1000,      /* tasks that an agent made up, remembered for each */
};

enum orchestrated_life { ORCHESTRATED_RUNS, ORCHESTRATED_STOPS, ORCHESTRATED_STOPPED, ORCHESTRATED_CRASHED };

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

/* A request that waits for a person. */
struct waiting {
	char *id;
	size_t id_n;
	uint32_t item; /* of the model */
	int64_t deadline_ms;
	bool under_way; /* past its deadline, but an answer is recorded */
};

/* A task as far as agents may ask for it. */
struct orchestrated_task {
	struct str id;
	struct str name, role; /* role empty = not told */
	struct str needs;      /* JSON: an array of ids */
	struct str rest;       /* JSON: its other members, each with a comma before it */
	uint32_t owner;        /* who made it up; NONE = a person has let it in or given it out */
	uint32_t submitter, holder; /* agents, or NONE */
	enum task_state state;
	bool done; /* the last progress was 1 */
};

/* An agent that gavel runs. */
struct orchestrated_agent {
	struct str name, role; /* role: worker, planner, reviewer; empty = not told */
	VEC(struct str) capabilities;
	enum orchestrated_life life; /* for the caller to set */
	uint64_t beyond;     /* messages over the rate so far */
	/* the rest is its own */
	int64_t recent_ms[ORCHESTRATOR_RATE_MAX];
	uint32_t recent_n;
	int64_t refused_since_ms;
	uint32_t refused;
	VEC(uint64_t) ids; /* hashes of the requests of this incarnation */
	struct map id_map;
	VEC(struct waiting) waiting;
	VEC(uint32_t) tasks;
	uint32_t own; /* how many of them it made up */
	uint64_t claimed; /* hash of the name that it last gave itself, if that is another one */
};

/* Zero it; release it. */
struct orchestrator {
	VEC(struct orchestrated_agent) agents;
	VEC(struct orchestrated_task) tasks;
	struct map task_map;
	struct arena arena;
	struct decoder decoder;
	struct message message;
};

void orchestrator_release(struct orchestrator *o);
/* Strings are copied. Returns its number. */
uint32_t orchestrator_add(struct orchestrator *o, struct str name, struct str role,
			  const struct str *capabilities, uint32_t n);
/* Forgets its requests: whoever reads its standard input now has not asked them. Its tasks stay. */
void orchestrator_gone(struct orchestrator *o, uint32_t agent);

/* Puts the channel's agent in the place of what the message says. What only an orchestrator says
 * (response:…, notify:…) and an agent has printed loses its events, so that it decides nothing, and
 * becomes an error; a claim to be somebody else becomes a warning, once, or an error where that is
 * another agent of the agents. Messages of other protocols keep their sender; that it is another
 * agent of the agents is an error. These findings are kept in the model. true = there was one. */
bool orchestrator_attribute(struct orchestrator *o, struct model *m, struct message *msg,
			    uint32_t agent, bool sent);

/* Learns what the message says of tasks and, of a response that was sent, which request it answers.
 * bytes are those of msg. */
void orchestrator_note(struct orchestrator *o, uint32_t agent, bool sent, const struct message *msg,
		       struct str bytes);

struct heard {
	uint32_t agent;            /* whose channel it came through */
	const struct message *msg; /* decoded, attributed and applied */
	struct str bytes;
	uint32_t message; /* its number in the model */
	int64_t now_ms;   /* when it came, by the wall clock; the answer carries it too */
};

enum ruling_type {
	RULING_NOTHING, /* no response: none is expected, or none can be given; why says so then */
	RULING_ANSWER,  /* out has it; code tells a success from the errors */
	RULING_PERSON,  /* an item of the model waits for a person */
};

struct ruling {
	enum ruling_type type;
	enum orchestrator_code code;
	const char *why; /* a request stays without a response, which is recorded; NULL otherwise */
};

/* Answers a message that has just come; also notes it. An id gets one response in the life of a
 * process, however often it comes.
 *
 * Requests over the rate are refused with UNAUTHORIZED: they are well formed, nothing has gone
 * wrong here, and the agent may not do this now. The other codes would say that the request is bad
 * for ever (INVALID_REQUEST) or call for another try at once (TIMEOUT, INTERNAL_ERROR). What is
 * over the rate is not one of the next hundred; events over it are counted and noted. */
struct ruling orchestrator_take(struct orchestrator *o, const struct model *m,
				 const struct heard *a, struct buf *out);

/* One request whose deadline has passed without an answer: its TIMEOUT goes to out and it is
 * forgotten. Call until false. Where a person's answer is recorded, sent or held there is none: it
 * is on its way, and looked at again by the next call. */
bool orchestrator_due(struct orchestrator *o, const struct model *m, int64_t now_ms,
		      uint32_t *agent, struct buf *out);
/* When the next deadline passes, TIME_NONE = none will. */
int64_t orchestrator_next_ms(const struct orchestrator *o);

/* The task of that name which a person let in or gave out; NULL. */
const struct orchestrated_task *orchestrator_task(const struct orchestrator *o, struct str id);

/* A response:error; details is a JSON object or empty. Of what the caller cannot do he says
 * INTERNAL_ERROR. */
void orchestrator_refuse(struct str request, enum orchestrator_code code, struct str message,
			 struct str details, int64_t now_ms, struct buf *out);
/* The notifications. A reason is always given: an empty one becomes a general one. */
void orchestrator_assign(struct str task, int64_t now_ms, struct buf *out);
void orchestrator_cancel(struct str task, struct str reason, int64_t now_ms, struct buf *out);
void orchestrator_shutdown(int64_t grace_ms, struct str reason, int64_t now_ms, struct buf *out);

#endif
