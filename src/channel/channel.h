/* A channel carries finished messages to agents: a file that is appended to, a FIFO, a directory of
 * files, or the standard input of an agent that gavel runs. It knows nothing of decisions; the desk
 * writes its journal between the calls:
 *
 *   channel_open      refuses an unsafe path (links, other owners, world-writable)
 *   channel_prepare   locks; determines where the message will begin     → journal ATTEMPT, synced
 *   channel_send      writes, and syncs where that is possible           → journal SENT or HELD
 *   channel_probe     after a crash: how much of the message was written?
 *   channel_close     unlocks
 *
 * File: appended under a lock in one write; a torn prefix of the same message is completed, never
 * cut off, never written a second time; fdatasync before it counts as sent. If the last byte of the
 * file is not a newline and not ours, the message begins with one (attempt.lead).
 * FIFO: opened without blocking; without a reader it is certainly not delivered. One message in
 * flight: it is written only once the pipe is empty and counts as sent once it is empty again. A
 * message over PIPE_BUF needs sole_writer. After a partial message the next connection begins with
 * a newline.
 * Directory: the path names the final file. Temporary name beside it, fsync, link, fsync the
 * folder; a file of that name with the same bytes is the same message, with others it is refused. All
 * of it relative to the folder as it was opened; one that is moved or exchanged for a link meanwhile
 * gets nothing more, and the message is held.
 * Agent: the path names one incarnation (source/child.h), and no other ever gets the message. One
 * in flight, as for a FIFO, of any length. While that incarnation lives, the number of bytes
 * written and read of a message is known: a retry completes it or waits for it and never repeats
 * it. Until a partial message is completed, no other begins. */
#ifndef GAVEL_CHANNEL_CHANNEL_H
#define GAVEL_CHANNEL_CHANNEL_H

#include "base/err.h"
#include "base/str.h"

struct child_input; /* source/child.h */
struct idle;        /* source/source.h */

enum channel_type {
	CHANNEL_NONE, /* recorded only, nothing is sent */
	CHANNEL_FILE,
	CHANNEL_FIFO,
	CHANNEL_DIR,
	CHANNEL_CHILD,
};

/* "none", "file", "fifo", "directory", "agent" */
const char *channel_type_name(enum channel_type t);
bool channel_type_parse(struct str name, enum channel_type *out);

/* Where one attempt began; kept in the journal. */
struct attempt {
	uint64_t offset;   /* file: its length before; the message begins there, or after `lead`.
			      Agent: bytes written before */
	uint64_t dev, ino; /* of the file, FIFO or pipe */
	bool lead;         /* a newline is written before it */
	uint32_t print;    /* file: hash of the bytes before the offset, to detect truncation */
};

struct channel {
	enum channel_type type;
	const char *path; /* lent */
	int fd;
	bool sole_writer;
	bool torn;       /* FIFO, agent: the last message was written in part */
	int wait_ms;     /* FIFO, agent: timeout for the reader; 0 = CHANNEL_WAIT_MS, negative = do
			    not wait: channel_send may be called again to continue */
	const struct idle *idle; /* called every 50 ms of waiting (FIFO, agent); NULL = just wait */
	bool created;
	bool busy;       /* its lock was waited for in vain */
	size_t put;      /* agent: bytes of the message written through this channel */
};

enum { CHANNEL_WAIT_MS = 3000 };

/* Resolves an agent's path to its input: set by the program that runs agents (to children_input).
 * `find` is called again after each wait. NULL: err says why not. */
struct channel_agents {
	struct child_input *(*find)(void *ctx, const char *path, struct err *err);
	void *ctx;
	bool starts; /* find may start the incarnation that a path names */
};
extern struct channel_agents channel_agents;

enum channel_result {
	CHANNEL_OK = 0,
	CHANNEL_FAILED,    /* certainly not delivered; err says why */
	CHANNEL_UNCERTAIN, /* possibly delivered, or in part; err says why */
};

enum channel_found {
	FOUND_WHOLE,
	FOUND_TORN,    /* channel_send with the same attempt completes it */
	FOUND_NOTHING, /* certainly not delivered: may be sent again */
	FOUND_UNKNOWN, /* cannot be determined (FIFO; the file was replaced) */
	FOUND_TROUBLE, /* not now (locked, unreadable): probe again, do not send again */
};

/* Of an existing FIFO or folder; else CHANNEL_FILE. */
enum channel_type channel_type_of(const char *path);
/* Zero the struct first, except sole_writer, wait_ms and idle. CHANNEL_FAILED if the path is unsafe
 * or cannot be opened. */
enum channel_result channel_open(struct channel *c, enum channel_type type, const char *path,
				 struct err *err);
/* after_torn: an earlier attempt may have left a partial message in a FIFO. */
enum channel_result channel_prepare(struct channel *c, struct str bytes, bool after_torn,
				    struct attempt *out, struct err *err);
enum channel_result channel_send(struct channel *c, struct str bytes, const struct attempt *at,
				 struct err *err);
enum channel_found channel_probe(struct channel *c, struct str bytes, const struct attempt *at,
				 struct err *err);
void channel_close(struct channel *c);

#endif
