/* Inside decide only: what somebody else has written to the file that replies go to. An item that
 * was passed on is answered there by whoever decides it, and the log need not show that either; who
 * goes on from it here must know. */
#ifndef GAVEL_ENCODE_FOREIGN_REPLIES_H
#define GAVEL_ENCODE_FOREIGN_REPLIES_H

#include "encode/plan.h"

struct foreign_replies {
	struct str *lines; /* in the plan's arena; oldest first */
	uint32_t n;
};

/* Of the file that replies to the item go to: its lines that are no letters of the desk; in an
 * answer to what a queue passed on, all of them. None where it is no plain file, or where it cannot
 * be said whose they are. */
struct foreign_replies foreign_replies_read(struct encoding *e, const struct item *item, enum dialect_id dialect);

#endif
