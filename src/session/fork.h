/* Forking a session: copies it as of message k, to try other decisions. The first k messages are
 * written, byte by byte, to files of the same names in a new folder; line numbers are preserved, so
 * that items keep their ids. Journal, replies and escalations of the fork stay in that folder:
 * nothing reaches an agent. */
#ifndef GAVEL_SESSION_FORK_H
#define GAVEL_SESSION_FORK_H

#include "session/load.h"

struct fork_copy {
	struct buf dir;
	VEC(char *) sources; /* paths of the copies */
};

/* dir NULL: a new one in $TMPDIR. -1 and err; what was written stays. */
int fork_write(struct fork_copy *f, struct load *l, uint32_t k, const char *dir, struct err *err);
/* Runs another gavel on the copies, on this terminal, and waits for it. */
int fork_run(const struct fork_copy *f, const char *as, struct err *err);
void fork_release(struct fork_copy *f);

#endif
