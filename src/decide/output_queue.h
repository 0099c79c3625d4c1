/* Output queue to the standard input of an agent that gavel supervises: the letters of its desk, and
 * lines that gavel sends on its own (automatic answers, timeouts). One line is in flight at a time;
 * the next starts when the agent has read it; letters go first. Non-blocking: desk_tick does what
 * is possible now.
 *
 * A letter that has to wait for longer than OUTPUT_QUEUE_HELD_MS, since the agent does not read what
 * was written before, is HELD and continues as soon as it reads. It is never sent to another
 * incarnation: if its own exits, it stays HELD, and the record says whether it may have been read.
 *
 * Other lines are journaled by desk_record without sync: what is missing after a crash is asked for
 * in the capture and answered again. They are dropped when their incarnation exits. */
#ifndef GAVEL_DECIDE_OUTPUT_QUEUE_H
#define GAVEL_DECIDE_OUTPUT_QUEUE_H

#include "decide/desk.h"

struct capture_end; /* source/holder_link.h */

enum {
	OUTPUT_QUEUE_HELD_MS = CHANNEL_WAIT_MS,
	OUTPUT_QUEUE_MAX_LINES = 4000, /* without letters, per agent */
	OUTPUT_QUEUE_MAX_BYTES = 4 << 20,
};

/* Queues a line (with its newline) for the incarnation that path names. False: the queue is full,
 * the agent does not read. */
bool desk_queue_line(struct desk *d, struct str path, struct str line);
/* Sends what can be sent now. True = a letter's state changed: call desk_settle. */
bool desk_tick(struct desk *d, int64_t now_ms);
/* Time until the next desk_tick is due; -1 = the queue is empty. */
int desk_queue_wait_ms(const struct desk *d, int64_t now_ms);
/* An agent has ended: if it has not read its last letter to the end, that is held, although it was
 * written. */
void desk_hold_unread(struct desk *d, const struct capture_end *end);
/* Journals a complete record that has no effect on the desk (RUN, ASKED, TOLD). */
int desk_record(struct desk *d, struct str json, struct err *err);
/* Whether the desk's agent is the incarnation that a path names, and runs; else err says what became
 * of that one. */
bool desk_reaches(const struct desk *d, const char *path, struct err *err);
/* Its agent has exited, in this run or an earlier one: it can never be sent. */
bool letter_is_lost(const struct desk *d, const struct letter *l);

void output_queue_free(struct desk *d); /* private to decide */

#endif
