/* Tokens and cost by task, as of the scene. Messages that report usage name no task: it counts for the
 * task that their sender was working on, else for the session that they belong to. Revisions of a
 * task count for the first. */
#ifndef GAVEL_VIEW_TASK_USAGE_H
#define GAVEL_VIEW_TASK_USAGE_H

#include "view/view.h"

struct task_usage {
	uint32_t task;    /* NONE: of none, in this session */
	uint32_t session;
	uint64_t tokens_in, tokens_out, tokens_cached;
	double cost;
};

/* The ones that cost most first, then those with most tokens. Free the result; NULL = there are
 * none. */
struct task_usage *task_usage_list(const struct scene *s, uint32_t *n);

#endif
