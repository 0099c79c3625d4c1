/* What the files of the orchestrator share; orchestrate.h is for everyone else.
 *
 *   orchestrate.c         a message that has come: is it answered, and how
 *   orchestrate_agents.c  the agents: who speaks, and how often
 *   orchestrate_timeouts.c  what is overdue
 *   orchestrate_tasks.c   tasks: whose they are and how they stand
 *   orchestrate_write.c   the lines */
#ifndef GAVEL_AGENTS_ORCHESTRATE_INTERNAL_H
#define GAVEL_AGENTS_ORCHESTRATE_INTERNAL_H

#include "agents/orchestrate.h"
#include "json/compose.h"

/* The agent of that name, other than this one, or NONE. */
uint32_t agent_set_other(const struct orchestrator *o, uint32_t agent, struct str name);
/* Only an orchestrator says this. */
bool is_from_orchestrator(struct str kind);
/* One of the hundred of the last second? */
bool agent_set_admit(struct orchestrated_agent *c, int64_t now_ms);
/* Even errors are not written without end. */
bool agent_set_may_refuse(struct orchestrated_agent *c, int64_t now_ms);

/* {"type":…,"id":…[,"correlationId":…],"timestamp":… ; request empty = it answers none. */
void write_head(const char *type, struct str request, int64_t now_ms, struct buf *out);
/* The newline too. */
void write_end(struct buf *out);

/* The duty that this name stands for when the agent says it, or NULL. *another: somebody else's. */
const struct orchestrated_task *orchestrated_task_for(const struct orchestrator *o, uint32_t agent, struct str id,
			    bool *another);
bool orchestrated_task_is_of(const struct orchestrated_task *d, uint32_t agent);
/* What the agent is busy with, NULL = it is idle. */
const struct orchestrated_task *orchestrated_task_now(const struct orchestrator *o, uint32_t agent);
/* As a list shows it, or whole. */
void orchestrated_task_write(const struct orchestrated_task *d, bool whole, struct buf *out);

#endif
