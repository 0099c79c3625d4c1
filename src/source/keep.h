/* Bytes that cannot be had twice, kept: one temporary file without a name, in $TMPDIR or /tmp, gone
 * with the process, for all sources that need it. What is kept of one source is a list of pieces,
 * so that the bytes are found again under the offsets that they had.
 *
 * Bytes that come one after the other go into one piece as long as nobody else comes in between;
 * after that a piece is given some room of its own, which costs nothing until it is used. So there
 * is not a piece for every line. */
#ifndef GAVEL_SOURCE_KEEP_H
#define GAVEL_SOURCE_KEEP_H

#include "base/err.h"
#include "base/mem.h"

#include <sys/types.h>

enum { KEEP_ROOM_BYTES = 256 << 10, KEEP_PIECE_MAX = 1 << 30 };

/* Zero it; opened when the first byte comes. */
struct keep {
	int fd_plus_one;
	uint64_t end; /* of what is given out */
};

struct piece {
	uint64_t offset; /* in the source */
	uint64_t at;     /* in the keep */
	uint32_t n, room; /* KEEP_PIECE_MAX and a little at most */
};

struct pieces {
	VEC(struct piece) list; /* by offset; none overlaps another */
};

/* Bytes that are kept already are not kept again; on an error the first of them may be. */
int keep_add(struct keep *k, struct pieces *kept, uint64_t offset, struct str bytes,
	     struct err *err);
void keep_close(struct keep *k);

/* How many bytes from offset on are kept without a gap. */
uint64_t kept_from(const struct pieces *kept, uint64_t offset);
/* How many bytes from offset on are not kept, UINT64_MAX if none after it are. */
uint64_t kept_gap(const struct pieces *kept, uint64_t offset);
/* Like pread: at most n, and not past the end of a piece; 0 where nothing is kept. */
ssize_t kept_read(const struct keep *k, const struct pieces *kept, uint64_t offset, char *out,
		  size_t n);
/* Forgets what is kept from offset on. */
void kept_cut(struct pieces *kept, uint64_t offset);
void kept_release(struct pieces *kept);

/* Within this folder: a temporary file without a name, or -1. */
int keep_open_file(struct err *err);
int keep_fail(struct err *err);

#endif
