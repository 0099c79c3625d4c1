/* Spool for bytes that cannot be read a second time (streams, truncated logs): one unlinked
 * temporary file in $TMPDIR or /tmp, shared by all sources. Each source has a list of pieces
 * (extents) that maps its own offsets to places in the file. The spool owns the file: spool_close
 * closes it; the lists belong to the sources.
 *
 * Consecutive bytes are appended to one piece as long as it is last in the file. A piece that
 * continues another one is given spare room, a hole in the file until it is used, so that sources
 * which take turns do not need a piece per line. */
#ifndef GAVEL_SOURCE_SPOOL_H
#define GAVEL_SOURCE_SPOOL_H

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"

#include <sys/types.h>

enum { SPOOL_ROOM_BYTES = 256 << 10, SPOOL_PIECE_MAX = 1 << 30 };

/* Zero it; the file is created by the first spool_add. */
struct spool {
	int fd_plus_one;
	uint64_t end; /* of the space allocated to pieces */
};

struct piece {
	uint64_t offset; /* in the source */
	uint64_t at;     /* in the spool's file */
	uint32_t n, room; /* bytes used and allocated */
};

struct pieces {
	VEC(struct piece) list; /* sorted by offset, no overlaps */
};

/* Skips bytes that are spooled already. On an error the first of them may have been added. */
int spool_add(struct spool *spool, struct pieces *pieces, uint64_t offset, struct str bytes,
	     struct err *err);
void spool_close(struct spool *spool);

/* Many short pieces of different places that are spooled by one write. The lists of pieces must stay
 * where they are until then. */
struct spool_batch {
	struct buf bytes;
	VEC(struct spool_part {
		struct pieces *pieces;
		uint64_t offset;
		uint32_t n;
	}) parts;
};

/* SPOOL_PIECE_MAX bytes at most. */
void spool_batch_add(struct spool_batch *b, struct pieces *pieces, uint64_t offset,
		     struct str bytes);
/* Empties the batch, also on an error. */
int spool_batch_write(struct spool_batch *b, struct spool *spool, struct err *err);
void spool_batch_release(struct spool_batch *b);

/* Number of contiguous bytes spooled from offset on. */
uint64_t spooled_from(const struct pieces *pieces, uint64_t offset);
/* Number of bytes from offset to the next spooled one; UINT64_MAX if there is none. */
uint64_t spooled_gap(const struct pieces *pieces, uint64_t offset);
/* Like pread: at most n, and not past the end of a piece; 0 where nothing is spooled. */
ssize_t spooled_read(const struct spool *spool, const struct pieces *pieces, uint64_t offset,
		     char *out, size_t n);
/* Drops everything from offset on. */
void spooled_cut(struct pieces *pieces, uint64_t offset);

/* Within this folder: an unlinked temporary file, or -1. */
int spool_open_file(struct err *err);
int spool_fail(struct err *err);

#endif
