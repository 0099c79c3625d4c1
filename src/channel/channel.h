/* A channel carries finished messages to agents: a file that is appended to, a FIFO, a directory of
 * files, or the standard input of an agent that gavel runs. It knows nothing of decisions; the desk
 * writes its journal between the calls:
 *
 *   channel_open      refuses a path that is not safe (links, other owners, world-writable)
 *   channel_prepare   locks; finds out where the message will begin       → journal ATTEMPT, synced
 *   channel_send      writes, and makes it durable where that is possible  → journal SENT or HELD
 *   channel_probe     after a crash: how much of the message is there?
 *   channel_close     unlocks
 *
 * File: appended under a lock in one write; a torn prefix of the same message is completed, never
 * cut off, never written a second time; fdatasync before it counts as sent. If the last byte of the
 * file is not a newline and not ours, the message begins with one (attempt.lead).
 * FIFO: opened without blocking; nobody reads: not delivered, certainly. One message in flight: it
 * is written only once the pipe is empty and counts as sent once it is empty again. A message over
 * PIPE_BUF needs sole_writer. After half a message the next connection begins with a newline.
 * Directory: the path names the final file. Temporary name beside it, fsync, link, fsync the
 * folder; a file of that name with the same bytes is the same message, with others it is refused.
 * Agent: the path names one incarnation (source/child.h), and no other ever gets the message. One
 * in flight, as for a FIFO, of any length. As long as that incarnation lives, it is known how much
 * of a message was written and taken: a second try completes it or waits for it, and never repeats
 * it. Until a half-written message is completed, no other begins. */
#ifndef GAVEL_CHANNEL_CHANNEL_H
#define GAVEL_CHANNEL_CHANNEL_H

#include "base/err.h"
#include "base/str.h"

struct child_input; /* source/child.h */
struct idle;        /* source/source.h */

enum channel_type {
	CHANNEL_NONE, /* nothing is sent: the record is all */
	CHANNEL_FILE,
	CHANNEL_FIFO,
	CHANNEL_DIR,
	CHANNEL_CHILD,
};

/* "none", "file", "fifo", "directory", "agent" */
const char *channel_type_name(enum channel_type t);
bool channel_type_parse(struct str name, enum channel_type *out);

/* Where one try began; the journal keeps it. */
struct attempt {
	uint64_t offset;   /* file: its length before; the message begins there, or behind `lead`.
			      Agent: bytes written before */
	uint64_t dev, ino; /* of the file, FIFO or pipe */
	bool lead;         /* a newline goes before it */
	uint32_t print;    /* file: of the bytes before the offset, to notice an emptied one */
};

struct channel {
	enum channel_type type;
	const char *path; /* lent */
	int fd;
	bool sole_writer;
	bool torn;       /* FIFO, agent: the last message was not written whole */
	int wait_ms;     /* FIFO, agent: how long a reader may take; 0 = CHANNEL_WAIT_MS, below: no time,
			    and channel_send may be called again to go on */
	const struct idle *idle; /* called every 50 ms of waiting (FIFO, agent); NULL = just wait */
	bool created;
	size_t put;      /* agent: bytes of the message that were written through this channel */
};

enum { CHANNEL_WAIT_MS = 3000 };

/* How an agent's path leads to its input: set by the program that runs agents (children_input
 * fits), by tests to their own. `find` is asked anew after each wait. NULL: err says why not. */
struct channel_agents {
	struct child_input *(*find)(void *ctx, const char *path, struct err *err);
	void *ctx;
	bool starts; /* find may begin the incarnation that a path names */
};
extern struct channel_agents channel_agents;

enum channel_result {
	CHANNEL_OK = 0,
	CHANNEL_FAILED,       /* certainly not delivered; err says why */
	CHANNEL_UNCERTAIN, /* perhaps, or in part; err says why */
};

/* What a probe found. */
enum channel_found {
	FOUND_WHOLE,
	FOUND_TORN,    /* channel_send with the same attempt completes it */
	FOUND_NOTHING, /* certainly not there: may be sent anew */
	FOUND_UNKNOWN, /* can never be found out (FIFO; the file was replaced) */
	FOUND_TROUBLE, /* not now (locked, unreadable): to be tried again, not to be sent anew */
};

/* What a path is: an existing FIFO or folder, else a file to be. */
enum channel_type channel_type_of(const char *path);
/* Zero the struct first, except sole_writer, wait_ms and idle. NOT and err when it is unsafe or
 * cannot be. */
enum channel_result channel_open(struct channel *c, enum channel_type type, const char *path,
				 struct err *err);
/* after_torn: a try before this one may have left half a message in a FIFO. */
enum channel_result channel_prepare(struct channel *c, struct str bytes, bool after_torn,
				    struct attempt *out, struct err *err);
enum channel_result channel_send(struct channel *c, struct str bytes, const struct attempt *at,
				 struct err *err);
enum channel_found channel_probe(struct channel *c, struct str bytes, const struct attempt *at,
				 struct err *err);
void channel_close(struct channel *c);

#endif
