/* Sources that go on: logs that grow, are rotated, cut, deleted and made again; directories where
 * files appear; FIFOs and standard input.
 *
 * After every file was read once (a wire with `follow` set), follow_new takes over; from then on
 * follow_read hands over what has come since, whenever follow_fd is readable or follow_wait_ms has
 * passed. Nothing here waits. All times are milliseconds of one clock that does not go back.
 *
 * A name is followed, not a file. When another file takes a name, the old one is read to its end
 * and for some time longer, the new one from its beginning, as a file of its own in the wire's list
 * with the same name and group. When a file is cut or rewritten in place, what comes then is a file
 * of its own too. A file is known again by device, inode, birth and the bytes before the place up
 * to which it was read; whatever its names, each message comes once.
 *
 *   renamed       drained, then the new one; also those that came and went between two looks, as
 *                 long as they are in the same folder
 *   deleted       what was written to it before is still read
 *   truncated     what was not read by then is gone for everyone. A line that its writer takes back
 *                 before it was complete is as if it had never come
 *   documents     files that are one message or one list are read anew when they change
 *   directories   new files are read as they appear, in the order of their times
 *   streams       a FIFO waits for the next writer, a pipe ends
 *
 * Changes are told by the system (inotify) and looked for once a second besides, every 250 ms where
 * it cannot tell. With thousands of names a round of looking takes longer. Files beyond
 * wire.open_max are not held open: what is written to one after the last look and before it loses
 * its name is lost. */
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
