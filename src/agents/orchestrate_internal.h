/* Private to the orchestrator; orchestrate.h is its interface.
 *
 *   orchestrate.c           answers to requests
 *   orchestrate_agents.c    attribution of messages, rate limit
 *   orchestrate_timeouts.c  deadlines of requests
 *   orchestrate_tasks.c     tasks: ownership and state
 *   orchestrate_write.c     composes lines */
#ifndef GAVEL_AGENTS_ORCHESTRATE_INTERNAL_H
#define GAVEL_AGENTS_ORCHESTRATE_INTERNAL_H

#include "agents/orchestrate.h"
#include "json/compose.h"

/* The agent of that name other than `agent`, or NONE. */
uint32_t other_agent_named(const struct orchestrator *o, uint32_t agent, struct str name);
/* Whether only an orchestrator sends this message type. */
bool is_from_orchestrator(struct str kind);
/* Rate limit: counts the message unless it is over the rate. */
bool rate_admits(struct orchestrated_agent *c, int64_t now_ms);
/* Rate limit of the errors that answer requests over the rate. */
bool rate_admits_refusal(struct orchestrated_agent *c, int64_t now_ms);
/* Releases an entry and puts the last one in its place. */
void waiting_remove(struct orchestrated_agent *c, uint32_t i);

/* {"type":…,"id":…[,"correlationId":…],"timestamp":… ; request empty = it answers none. */
void write_head(const char *type, struct str request, int64_t now_ms, struct buf *out);
/* The same and ,"payload":{ */
void begin_payload(const char *type, struct str request, int64_t now_ms, struct buf *out);
void end_payload(struct buf *out);

/* The task that an agent means by this id, or NULL. *another: it belongs to other agents. */
const struct orchestrated_task *task_named_by(const struct orchestrator *o, uint32_t agent,
					      struct str id, bool *another);
bool task_belongs_to(const struct orchestrated_task *d, uint32_t agent);
/* What the agent is busy with, NULL = it is idle. */
const struct orchestrated_task *current_task(const struct orchestrator *o, uint32_t agent);
/* As an element of a list, or whole. */
void write_task(const struct orchestrated_task *d, bool whole, struct buf *out);

#endif
