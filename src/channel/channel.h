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
 * Agent: the path names one incarnation (source/holder_link.h), and no other ever gets the message. One in
 * flight, of any length. Its holder takes a message whole, writes it once and records it in the
 * agent's capture, where it is found after a crash of gavel.
 * Team: the path names an item of a team's store (channel/team_link.h), and the message is what the
 * person decides on it. It is sent once the store has it; asking again is always safe there. */
#ifndef GAVEL_CHANNEL_CHANNEL_H
#define GAVEL_CHANNEL_CHANNEL_H

#include "base/err.h"
#include "base/str.h"

struct agent_delivery; /* channel_agent.c */
struct idle;           /* source/source.h */

enum channel_type {
	CHANNEL_NONE, /* recorded only, nothing is sent */
	CHANNEL_FILE,
	CHANNEL_FIFO,
	CHANNEL_DIR,
	CHANNEL_AGENT,
	CHANNEL_TEAM,
};

/* "none", "file", "fifo", "directory", "agent", "team" */
const char *channel_type_name(enum channel_type t);
bool channel_type_parse(struct str name, enum channel_type *out);

/* Where one attempt began; kept in the journal. */
struct attempt {
	uint64_t offset;   /* file: its length before; the message begins there, or after `lead`.
			      Agent: the length of its capture. Team: the claim's fence */
	uint64_t dev, ino; /* of the file, FIFO or capture */
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
	/* agent: */
	const char *id;  /* of the message, in its records; set by the caller, lent */
	struct agent_delivery *delivery;
};

enum { CHANNEL_WAIT_MS = 3000 };

/* Starts the incarnation that a path names, if it is about to begin: set by a review, whose turns
 * begin with their messages. -1: err says why not. */
struct channel_starter {
	int (*start)(void *ctx, const char *path, struct err *err);
	void *ctx;
};
extern struct channel_starter channel_starter;
/* Why the incarnation that a path names gets no message. runs: the path of the one that runs, or
 * NULL. */
void agent_say_gone(const char *path, const char *runs, struct err *err);
/* Why a message of n bytes is not delivered to an agent that has ended without reading the last of
 * them. */
void agent_say_unread(const char *path, uint64_t unread, size_t n, struct err *err);
/* Whether the incarnation that a path names runs; else err says what became of it. Waits for its
 * holder: never call it from the event loop. */
bool agent_is_running(const char *path, struct err *err);
/* Takes the greeting of the agent's holder: after channel_open with a negative wait_ms, and before
 * anything else. CHANNEL_FAILED with agent_is_connected: it has not come yet; call again. */
enum channel_result agent_greet(struct channel *c, struct err *err);
/* Of an open channel: whether it has a connection to the agent's holder, */
bool agent_is_connected(const struct channel *c);
/* and whether that incarnation can get no message any more. */
bool agent_is_gone(const struct channel *c);

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
/* Zero the struct first, except sole_writer, wait_ms, idle and id. CHANNEL_FAILED if the path is unsafe
 * or cannot be opened. */
enum channel_result channel_open(struct channel *c, enum channel_type type, const char *path,
				 struct err *err);
/* after_torn: an earlier attempt may have left a partial message in a FIFO. */
enum channel_result channel_prepare(struct channel *c, struct str bytes, bool after_torn,
				    struct attempt *out, struct err *err);
enum channel_result channel_send(struct channel *c, struct str bytes, const struct attempt *at,
				 struct err *err);
/* Several messages to a file that stays locked: where each of them will begin, to be recorded by one
 * sync; */
enum channel_result channel_prepare_all(struct channel *c, const struct str *bytes, uint32_t n,
					struct attempt *out, struct err *err);
/* appends the next of them there, as many as one write takes: *done are there, and *doubtful behind them if it
 * is CHANNEL_UNCERTAIN. CHANNEL_FAILED, too, if somebody else has written meanwhile; */
enum channel_result channel_append(struct channel *c, const struct str *bytes, const struct attempt *at,
				   uint32_t n, uint32_t *done, uint32_t *doubtful, struct err *err);
/* and syncs them. */
enum channel_result channel_sync(struct channel *c, struct err *err);
enum channel_found channel_probe(struct channel *c, struct str bytes, const struct attempt *at,
				 struct err *err);
void channel_close(struct channel *c);

#endif
