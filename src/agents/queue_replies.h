/* Answers that come back from the escalation queue. What an agent asked and a person passed on is
 * answered in QUEUE.replies.ndjson, in the agent's own dialect; only the gavel that runs the agent
 * can hand it over, and its person confirms that: what came back is on the next pre-flight page.
 *
 * Whom a line answers is found out by what it answers; lines that answer nothing that was asked in
 * this run are left alone. The line goes to the incarnation that asked, as it is. */
#ifndef GAVEL_AGENTS_QUEUE_REPLIES_H
#define GAVEL_AGENTS_QUEUE_REPLIES_H

#include "session/agent_set.h"
#include "encode/plan.h"
#include "app/app.h"

struct returned {
	uint32_t agent;   /* of the agents */
	uint32_t message; /* that asked */
	uint32_t item;    /* that it decides, NONE = not known */
	enum dialect_id dialect;
	struct buf line; /* with its newline */
};

struct queue_replies {
	struct agent_set *agents;
	struct app *app;
	char *path; /* NULL = there is no queue */
	int fd;
	uint64_t at;
	int64_t looked_ms;
	struct framer framer;
	struct decoder decoder;
	struct message message;
	VEC(struct returned) list;
	uint32_t waiting; /* of them, as of the last look */
};

/* queue may be NULL. */
void queue_replies_open(struct queue_replies *r, struct agent_set *agents, struct app *app, const char *queue);
void queue_replies_close(struct queue_replies *r);
/* Once a second: what has come, and what still waits for the person. */
void queue_replies_look(struct queue_replies *r, int64_t now_ms);
/* Adds what waits to a plan. */
void queue_replies_plan(void *returns, struct plan *plan);

#endif
