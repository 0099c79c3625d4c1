/* What if: a copy of the session as it was, to decide otherwise on. The first k messages of each
 * source are written, byte by byte, to files in a folder of their own, with the names they have;
 * lines keep their numbers, so that items keep their names. Journal, replies and escalations of
 * whoever works on the copy go into that folder too: nothing of it reaches anybody. */
#ifndef GAVEL_SESSION_FORK_H
#define GAVEL_SESSION_FORK_H

#include "session/load.h"

struct fork_copy {
	struct buf dir;
	VEC(char *) sources; /* the copies, to be opened */
};

/* dir NULL: a new one in $TMPDIR. -1: err says what is wrong; what was written stays. */
int fork_write(struct fork_copy *f, struct load *l, uint32_t k, const char *dir, struct err *err);
/* Opens them in a gavel of their own, on this terminal, and waits for its end. */
int fork_run(const struct fork_copy *f, const char *as, struct err *err);
void fork_release(struct fork_copy *f);

#endif
