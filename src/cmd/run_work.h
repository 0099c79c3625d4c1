/* What gavel run and its relatives do with agents once they were started or attached to. */
#ifndef GAVEL_CMD_RUN_WORK_H
#define GAVEL_CMD_RUN_WORK_H

#include "agents/supervisor.h"

/* Returns the exit code. err: why some agents were not started. */
typedef int (*work_fn)(struct watch *w, struct supervisor *f, const struct err *err);

/* --detach: until they are started and prompted. */
int work_detached(struct watch *w, struct supervisor *f, const struct err *err);
/* gavel agents prompt: words are "prompt", the agent's name; options.prompt is the text. */
int work_prompt(struct watch *w, struct supervisor *f, const struct err *err);

#endif
