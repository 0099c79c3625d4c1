/* Discovers running agents of this user by the sockets of their holders (source/holder_link.h), below
 * the folder of captures. An agent whose holder does not respond is running, too. */
#ifndef GAVEL_AGENTS_RUNNING_H
#define GAVEL_AGENTS_RUNNING_H

#include "base/mem.h"
#include "source/holder_link.h"

struct running_agent {
	char *name;
	char *capture; /* its path */
	enum holder_state state; /* not HOLDER_ABSENT */
	struct holder_greeting greeting; /* zero unless it is HOLDER_RUNS */
};

/* Zero it; release it. By their captures' paths. */
struct running_agents {
	VEC(struct running_agent) list;
};
void running_find(struct running_agents *r);
void running_release(struct running_agents *r);
const struct running_agent *running_named(const struct running_agents *r, const char *name);
/* Taken from choosing a free name for an agent until the agent runs, so that no two get one name. A
 * descriptor that the caller closes; -1 if another gavel has not returned it after some seconds. */
int running_lock_names(void);
/* Adds the folder of captures, which need not exist. */
void captures_folder(struct buf *out);
/* Agents whose captures are in one folder; release it. */
struct agent_group {
	char *folder;
	VEC(char *) names;
};
/* All agents of a folder of captures, which is given by its path or by captures in it, if one of those
 * that were given runs. */
bool agent_group_find(struct agent_group *g, const char *const *paths, uint32_t n);
/* Drops the agents whose captures are not among the paths, unless these name the folder. */
void agent_group_keep(struct agent_group *g, const char *const *paths, uint32_t n);
void agent_group_release(struct agent_group *g);

#endif
