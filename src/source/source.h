/* Input sources: a regular file, a stream (pipe, FIFO, terminal, device), a directory.
 *
 * Order of calls: source_open; for a directory source_list and no more; source_update_end for a
 * file, stream_spool until it has ended for a stream; then source_read and source_fetch at will;
 * source_close, also after errors. Offsets count from the beginning and stay valid.
 *
 * A file's bytes stay in the file, read with pread and never mapped. A stream's bytes can be had
 * only once, so stream_spool copies them to a capture: a temporary file without a name, in $TMPDIR
 * or /tmp, gone with the process. Neither opening nor spooling blocks.
 *
 * A regular file may be closed while it is not needed and reopened (source_reopen), since a
 * directory may have more files than a process can have descriptors. A small one may be held in
 * memory from its opening on (source_hold), so that it need not be opened again to be read.
 *
 * A source that is followed is not gathered: source_more and stream_more return the new bytes, and
 * the follower advances `end`. Bytes that may vanish from the file are spooled (spool.h);
 * source_read and source_fetch prefer the spooled copy. */
#ifndef GAVEL_SOURCE_SOURCE_H
#define GAVEL_SOURCE_SOURCE_H

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "source/spool.h"

#include <sys/types.h>

enum {
	SOURCE_BLOCK_BYTES = 256 << 10,
	SOURCE_PAGE_BYTES = 4096,
	SOURCE_HELD_BYTES = 16 << 10, /* the biggest file that is held */
	STREAM_PIPE_BYTES = 1 << 20, /* nonblocking writers lose what does not fit */
};

enum source_kind { SOURCE_FILE, SOURCE_STREAM, SOURCE_DIR };

struct source {
	const char *name; /* borrowed from the caller; "-" is standard input */
	enum source_kind kind;
	int fd; /* -1 while closed; the capture once a stream is gathered */
	dev_t dev;
	ino_t ino;
	int64_t born_ns;     /* birth time, 0 = unknown; distinguishes reuses of an inode */
	int64_t changed_ns;  /* mtime at source_open or source_update_end */
	int64_t ctime_ns;    /* at source_open */
	uint64_t start, end; /* readable range; of a stream only once it is gathered */
	char *held; /* a small file's bytes from start to end; NULL = they are read from the file */
	struct pieces spooled;
	const struct spool *spool; /* spool that `spooled` refers to; NULL = nothing is spooled */
	bool spool_only; /* read the spool only: a live stream, or a file that was truncated */
};

/* Result of stat: identity, size and times. */
struct source_stat {
	dev_t dev;
	ino_t ino;
	int64_t born_ns, changed_ns, ctime_ns; /* birth, mtime and ctime */
	uint64_t size;
	mode_t mode;
	bool linked; /* link count > 0 */
};

/* Read buffer. Zero it; block_release frees it. Bytes are placed so that address and file offset
 * are equal modulo the page size: copying from the page cache is several times slower otherwise. */
struct block {
	char *memory;
	const struct source *source; /* of these bytes; lets source_read skip a repeated read */
	uint64_t offset;
	struct str bytes;
};

/* Called every few milliseconds while waiting for a channel; false = stop waiting. */
struct idle {
	bool (*go_on)(void *ctx);
	void *ctx;
};

struct source_names {
	VEC(char *) names; /* each from malloc */
};

int source_open(struct source *s, const char *name, struct err *err);
/* Fails if the name now refers to another file. */
int source_reopen(struct source *s, struct err *err);
void source_close(struct source *s); /* what is held stays */
/* stat of a name, or with name NULL of an open descriptor. -1 and errno. */
int source_stat(const char *name, int fd, struct source_stat *out);
bool source_is(const struct source *s, const struct source_stat *look);
/* Reads all of a small file that was just opened into memory, where it is read from until source_drop.
 * Not if it has changed so lately that its ctime would not show another change. false: not held. */
bool source_hold(struct source *s);
void source_drop(struct source *s);
/* Sets `end` and changed_ns of a file by fstat; of a held one they stay. */
int source_update_end(struct source *s, struct err *err);
/* Reads a stream into a capture without waiting, a block at most; its bytes are in block->bytes.
 * *capture is -1 at first, and the caller's to close if this is not repeated until `ended`: then
 * all writers have gone and the source is that of the capture. */
int stream_spool(struct source *s, struct block *block, int *capture, bool *ended, struct err *err);
/* At most a block from offset on, into block->bytes; none at the end, if it has moved too. */
int source_read(const struct source *s, uint64_t offset, struct block *block, struct err *err);
/* The same, but not more than `most` bytes. */
int source_read_most(const struct source *s, uint64_t offset, size_t most, struct block *block,
		     struct err *err);
/* Like source_read, but bypasses the spool and reads past `end`. */
int source_more(const struct source *s, uint64_t offset, struct block *block, struct err *err);
/* Nonblocking read of a stream. ended: all writers have closed it. */
int stream_more(struct source *s, struct block *block, bool *ended, struct err *err);
bool stream_has_more(const struct source *s);
/* True for a FIFO: another writer may open it after this one. */
bool stream_is_fifo(const struct source *s);
/* Enlarges the pipe buffer, if it is a pipe. */
void stream_enlarge_pipe(const struct source *s);
/* Exactly n bytes, or an error. */
int source_fetch(const struct source *s, uint64_t offset, size_t n, char *out, struct err *err);
/* Of an open file; false: an error, or the file is shorter. */
bool pread_all(int fd, char *out, size_t n, uint64_t offset);
/* The same as source_fetch, but prefers the file: one read instead of one per spooled piece. */
int source_fetch_block(const struct source *s, uint64_t offset, size_t n, char *out,
		       struct err *err);
/* Entries of directory s that `wanted` accepts, sorted bytewise; hidden files are skipped. The
 * caller frees the list with source_names_release. */
int source_list(const struct source *s, bool (*wanted)(struct str name), struct source_names *out,
		struct err *err);
void source_names_release(struct source_names *list);
void block_release(struct block *block);
/* Grows room for n bytes and returns where to read them, page-aligned like a struct block; at least
 * a page of slack follows them. */
char *source_buffer(struct buf *room, uint64_t offset, size_t n);

/* Within this folder: */
/* Sets err to "NAME: what is wrong; what to do" for an errno; returns -1. */
int source_fail(const char *name, int number, struct err *err);
/* Where in the block to read the bytes at `offset`, and how many fit. */
char *block_room(struct block *block, uint64_t offset, size_t *room);

#endif
