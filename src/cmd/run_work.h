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
/* gavel ship on agents that run, and gavel run --team without a terminal: until they have ended and all
 * is in the store, or a signal. The supervisor has a feed. */
int work_shipping(struct watch *w, struct supervisor *f, const struct err *err);
/* What the UI has left, for some seconds: the store should have it before gavel ends. */
void finish_shipping(struct watch *w, struct supervisor *f);

struct load;
/* Takes the journals of all desks: who ships is the only writer of its sources. Not EXIT_FINE: one cannot
 * be had, and it was said why. */
int claim_desks(struct load *l);
/* A line for people, on standard output at once. */
void print_shipped(void *ctx, struct str line);

#endif
