/* Private to encode: the lines of the reply file of another gavel, which an answer to an escalated
 * item must take into account: the session was not opened here. */
#ifndef GAVEL_ENCODE_FOREIGN_REPLIES_H
#define GAVEL_ENCODE_FOREIGN_REPLIES_H

#include "encode/plan.h"

struct foreign_replies {
	struct str *lines; /* in the plan's arena; oldest first */
	uint32_t n;
	uint64_t bytes; /* length of the file as far as it was read */
};

/* The whole lines of a file; none if it is not a regular file. */
struct foreign_replies foreign_replies_read(struct encoding *e, const char *path);

#endif
