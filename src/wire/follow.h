/* Following sources: logs that grow and are rotated, truncated, deleted and created again;
 * directories where files appear; FIFOs and standard input.
 *
 * After the initial load (a wire with `follow` set), follow_new takes over; then follow_read emits
 * new frames whenever follow_fd is readable or follow_wait_ms has passed. Nothing here blocks.
 * Times are milliseconds of a monotonic clock.
 *
 * Names are followed, not files. A file that takes over a name, and what follows a truncation or
 * rewrite, is a new file in the wire's list with the same name and group. A file is recognized by
 * device, inode, birth time and the bytes before the offset read so far; whatever its names, each
 * message is emitted once.
 *
 *   renamed       read to its end and for some time longer, then the new file; also files renamed
 *                 within the folder between two looks
 *   deleted       what was written before is still read
 *   truncated     bytes not read by then are lost; an incomplete line that its writer removes is
 *                 dropped
 *   documents     files that are one message or one list are read again when they change
 *   directories   new files are read as they appear, by modification time
 *   streams       a FIFO waits for the next writer, a pipe ends
 *
 * Changes are reported by inotify and also polled for once a second, every 250 ms without inotify.
 * Files beyond wire.open_max are not held open: what is written to one after the last look and
 * before it loses its name is lost. */
#ifndef GAVEL_WIRE_FOLLOW_H
#define GAVEL_WIRE_FOLLOW_H

#include "wire/tail.h"

enum {
	FOLLOW_TICK_MS = 1000, /* poll interval, and retry interval after errors */
	FOLLOW_POLL_MS = 250, /* poll interval without inotify */
	FOLLOW_OLD_MAX = 8,    /* rotated files still read, per name */
	FOLLOW_OLD_MS = 10000, /* a rotated file's incomplete last line is emitted after that */
	FOLLOW_SHOWN_MS = 2000, /* age at which an incomplete line is shown */
};

struct follow;

struct follow *follow_new(struct wire *w);
void follow_free(struct follow *f);
/* An epoll descriptor, readable when there may be news; -1: use follow_wait_ms only. */
int follow_fd(const struct follow *f);
/* Timeout until the next follow_read; 0: at once, -1: none. */
int follow_wait_ms(const struct follow *f, int64_t now_ms);
/* follow_fd also becomes readable when that file, which the caller reads itself, changes. */
void follow_wake_on(struct follow *f, const char *path);
/* Reads new bytes, about budget_bytes at most, and emits their frames. true: there is more to read
 * now. emit may call wire_fetch, nothing else of wire or follow. */
bool follow_read(struct follow *f, int64_t now_ms, size_t budget_bytes, follow_fn emit, void *ctx);

enum follow_health {
	FOLLOW_LIVE,
	FOLLOW_GONE,       /* no file has this name */
	FOLLOW_UNREADABLE, /* why */
	FOLLOW_ENDED,      /* a pipe whose writers have gone */
};

struct follow_status {
	struct str name;    /* as given, or DIRECTORY/FILE */
	bool listed;        /* found in a directory: its removal is no error */
	uint32_t file;      /* newest in the wire's list, UINT32_MAX: none yet */
	enum follow_health health;
	int64_t since_ms;   /* when that began; not for LIVE */
	const char *why;    /* "NAME: what is wrong; what to do", NULL when LIVE */
	uint64_t behind;    /* bytes in the file that were not read yet */
	uint32_t replaced;  /* number of rotations and truncations */
	uint64_t incomplete; /* bytes of a last line without newline: no frame yet */
	int64_t incomplete_since_ms;
};

/* Number of names, in the order in which they were found; never shrinks. */
uint32_t follow_count(const struct follow *f);
void follow_status(const struct follow *f, uint32_t i, struct follow_status *out);
/* Appends one sentence about the worst problem to out; false: there is none. */
bool follow_banner(const struct follow *f, int64_t now_ms, struct buf *out);
/* The name with the oldest incomplete line, UINT32_MAX: none. follow_wait_ms accounts for its
 * FOLLOW_SHOWN_MS. */
uint32_t follow_incomplete(const struct follow *f);
/* Replaces out by the first `most` bytes of that name's oldest incomplete line. */
void follow_incomplete_text(struct follow *f, uint32_t i, size_t most, struct buf *out);

#endif
