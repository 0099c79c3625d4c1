/* Private to encode: replies that somebody else appended to the reply file. An escalated item is
 * answered there by another person, which the log need not show, and replies from here must take
 * that into account. */
#ifndef GAVEL_ENCODE_FOREIGN_REPLIES_H
#define GAVEL_ENCODE_FOREIGN_REPLIES_H

#include "encode/plan.h"

struct foreign_replies {
	struct str *lines; /* in the plan's arena; oldest first */
	uint32_t n;
};

/* The lines of the item's reply file that are no letters of this desk; for an item from an
 * escalation queue, all lines. Empty if it is not a regular file, or if it cannot be told which
 * session the lines belong to. */
struct foreign_replies foreign_replies_read(struct encoding *e, const struct item *item,
					    enum dialect_id dialect);

#endif
