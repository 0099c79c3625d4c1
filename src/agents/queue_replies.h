/* Replies to escalated questions: reads QUEUE.replies.ndjson and shows the replies on a pre-flight
 * page of their own, for the user to confirm. Only the gavel that runs an agent can deliver to it.
 *
 * The file is read only while it is safe (base/file_fault.h). The agent is found by the question that a
 * line answers; lines that answer nothing asked in this run are ignored, those that answer what was
 * not escalated, or has other words now, are reported and ignored. A line is sent unchanged, to the
 * incarnation that asked. */
#ifndef GAVEL_AGENTS_QUEUE_REPLIES_H
#define GAVEL_AGENTS_QUEUE_REPLIES_H

#include "base/file_fault.h"
#include "session/agent_set.h"
#include "encode/plan.h"
#include "app/app.h"

struct queue_reply {
	uint32_t agent;   /* number in the agent set */
	uint32_t message; /* the question */
	uint32_t item;    /* that it decides, NONE = unknown */
	enum dialect_id dialect;
	struct buf line; /* with its newline */
	struct buf by, said; /* who says so, and the answer or the reason; empty = it does not tell */
};

struct queue_replies {
	struct agent_set *agents;
	struct app *app;
	struct trusted reviewers;
	char *path; /* NULL = no queue */
	int fd;
	dev_t dev; /* of the file that `at` is an offset of */
	ino_t ino;
	const char *refused; /* why the file is not read now; NULL = it is, or does not exist */
	uint64_t at;
	int64_t looked_ms;
	struct framer framer;
	struct decoder decoder;
	struct message message;
	VEC(struct queue_reply) list;
	uint32_t ignored; /* lines that answer what was not escalated */
	VEC(uint32_t) returned; /* items of the undelivered ones; NONE = unknown */
	uint32_t waiting; /* undelivered ones at the last poll */
};

/* queue may be NULL. reviewers: lent, besides this user. */
void queue_replies_open(struct queue_replies *r, struct agent_set *agents, struct app *app,
			const char *queue, struct trusted reviewers);
void queue_replies_close(struct queue_replies *r);
/* Once a second: reads new replies and counts the undelivered ones. */
void queue_replies_poll(struct queue_replies *r, int64_t now_ms);
/* Adds what the person should know: a file that is not read, replies that wait, ignored ones. */
void queue_replies_banner(const struct queue_replies *r, struct buf *out);
/* Fills a plan with the undelivered replies: the `more` of struct decider. */
void queue_replies_plan(void *queue_replies, struct plan *plan);

#endif
