/* Lines on their way to the standard input of an agent that gavel runs: the letters of its desk,
 * and what gavel tells it by itself. One is in flight at a time, and the next begins only once the
 * agent has taken it; decisions go first. Nothing here waits: desk_tick does what can be done now.
 *
 * A letter that the agent does not take within OUTPUT_QUEUE_HELD_MS is HELD, "not reading for 0:03", and
 * goes on as soon as it reads. It is never sent to another incarnation: when its own has ended, it
 * is HELD for good, and the record says whether it may have been read.
 *
 * What gavel tells by itself is journalled by desk_record, which does not sync: after a crash the
 * agent is gone, too, and nothing is done about it. It is forgotten with the incarnation it was
 * for. */
#ifndef GAVEL_DECIDE_OUTPUT_QUEUE_H
#define GAVEL_DECIDE_OUTPUT_QUEUE_H

#include "decide/desk.h"

enum {
	OUTPUT_QUEUE_HELD_MS = CHANNEL_WAIT_MS,
	OUTPUT_QUEUE_TOLD_MAX = 4000,           /* lines that wait to be told to one agent */
	OUTPUT_QUEUE_TOLD_MAX_BYTES = 4 << 20,
};

/* Takes the line (with its newline) to the incarnation that path names. False: too many wait
 * already; the agent does not read. */
bool desk_queue_line(struct desk *d, struct str path, struct str line);
/* Moves everything on. True = something has changed: the desk is to be settled. */
bool desk_tick(struct desk *d, int64_t now_ms);
/* How long desk_tick may be put off; -1 = nothing is on its way. */
int desk_queue_wait_ms(const struct desk *d, int64_t now_ms);
/* Adds a record that changes nothing on the desk; json is whole. */
int desk_record(struct desk *d, struct str json, struct err *err);
/* Its agent has ended, in this run or an earlier one: it can never be sent. */
bool letter_is_lost(const struct letter *l);

/* Within decide: */
void output_queue_free(struct desk *d);

#endif
