/* Where bytes come from: a regular file, a stream (pipe, FIFO, terminal, device), a directory.
 *
 * Order of calls: source_open; for a directory source_list and no more; else source_gather for a
 * file, stream_spool until it has ended for a stream; then source_read and source_fetch as often as
 * needed; source_close at the end, also when a call in between failed. Offsets count from the
 * beginning of the file or stream and stay valid.
 *
 * A file's bytes stay in the file, read with pread and never mapped. A stream's bytes can be had
 * only once, so stream_spool copies them to a capture: a temporary file without a name, in $TMPDIR
 * or /tmp, gone with the process. Neither opening nor spooling blocks.
 *
 * A regular file may be closed while it is not needed and opened again (source_reopen): a directory
 * has more files than a process has descriptors.
 *
 * A source that is followed is not gathered: source_more and stream_more hand over what has come
 * since, and whoever follows moves `end`. Bytes that may not be there a second time are kept
 * (keep.h); source_read and source_fetch take those first. */
#ifndef GAVEL_SOURCE_SOURCE_H
#define GAVEL_SOURCE_SOURCE_H

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "source/keep.h"

#include <sys/types.h>

enum {
	SOURCE_BLOCK_BYTES = 256 << 10,
	SOURCE_PAGE_BYTES = 4096,
	STREAM_PIPE_BYTES = 1 << 20, /* writers in a hurry lose what does not fit */
};

enum source_kind { SOURCE_FILE, SOURCE_STREAM, SOURCE_DIR };

struct source {
	const char *name; /* lent by the caller; "-" is standard input */
	enum source_kind kind;
	int fd; /* -1 while closed; of a gathered stream, its capture */
	dev_t dev;
	ino_t ino;
	int64_t born_ns;     /* 0 = not told; tells files apart that have had one inode */
	int64_t changed_ns;  /* its own time when source_gather looked at it */
	uint64_t start, end; /* the bytes to be had; of a stream only once it is gathered */
	struct pieces kept;
	const struct keep *keep; /* where; NULL = nothing is kept */
	bool only_kept; /* what is not kept is gone: of a live stream, of a file that was cut */
};

/* What a name leads to at this moment. */
struct source_look {
	dev_t dev;
	ino_t ino;
	int64_t born_ns, changed_ns;
	uint64_t size;
	mode_t mode;
	bool linked; /* it still has a name */
};

/* Room for one read. Zero it; block_release frees it. The bytes are put where their address and
 * their offset are equal modulo the page size: copying from the page cache is several times slower
 * when they differ by a few bytes. */
struct block {
	char *memory;
	const struct source *source; /* whose bytes these are: none is read twice in a row */
	uint64_t offset;
	struct str bytes;
};

/* Called every few milliseconds by whoever waits for a channel; false = wait no more. */
struct idle {
	bool (*go_on)(void *ctx);
	void *ctx;
};

struct source_names {
	VEC(char *) names; /* each from malloc */
};

int source_open(struct source *s, const char *name, struct err *err);
/* Fails if the name now leads to another file. */
int source_reopen(struct source *s, struct err *err);
void source_close(struct source *s);
/* Looks without opening: at a name, or with name NULL at an open file. -1 and errno. */
int source_look(const char *name, int fd, struct source_look *out);
bool source_is(const struct source *s, const struct source_look *look);
/* Makes start and end of a file true. */
int source_gather(struct source *s, struct err *err);
/* Reads a stream into a capture without waiting, a block at most; its bytes are in block->bytes.
 * *capture is -1 at first, and the caller's to close if this is not repeated until `ended`: then
 * all writers have gone and the source is that of the capture. */
int stream_spool(struct source *s, struct block *block, int *capture, bool *ended, struct err *err);
/* At most a block from offset on, into block->bytes; none at the end, if it has moved too. */
int source_read(const struct source *s, uint64_t offset, struct block *block, struct err *err);
/* Like source_read, but from the file itself and past `end`. */
int source_more(const struct source *s, uint64_t offset, struct block *block, struct err *err);
/* What a stream has for us without waiting. ended: all its writers have gone. */
int stream_more(struct source *s, struct block *block, bool *ended, struct err *err);
/* It has bytes for us. */
bool stream_has_more(const struct source *s);
/* A FIFO: after one writer another may come. */
bool stream_comes_back(const struct source *s);
/* Asks for a bigger pipe, if it is one. */
void stream_widen(const struct source *s);
/* Exactly n bytes, or an error. */
int source_fetch(const struct source *s, uint64_t offset, size_t n, char *out, struct err *err);
/* The same from the file itself, as long as it has them: one read, however many pieces are kept. */
int source_fetch_block(const struct source *s, uint64_t offset, size_t n, char *out,
		       struct err *err);
/* The entries of directory s that `wanted` wants, sorted by bytes. Those with a dot first are not
 * even asked about. */
int source_list(const struct source *s, bool (*wanted)(struct str name), struct source_names *out,
		struct err *err);
void source_names_release(struct source_names *list);
void block_release(struct block *block);
/* Where n bytes from that offset go in room, which is made big enough, for the same reason; up to
 * a page behind them is room, too. */
char *source_room(struct buf *room, uint64_t offset, size_t n);

/* Within this folder: */
/* "NAME: what is wrong; what to do" for an errno. */
int source_fail(const char *name, int number, struct err *err);
/* Where the bytes for `offset` go, and how many fit. */
char *block_room(struct block *block, uint64_t offset, size_t *room);

#endif
