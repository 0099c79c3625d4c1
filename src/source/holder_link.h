/* Connection to the holder of an agent (src/holder): a process beside gavel that owns the agent's
 * pipes, writes its capture and takes lines for its standard input. Holders listen on a socket
 * beside the capture, NAME.sock for NAME.ndjson, and are of this user.
 *
 * An incarnation of an agent is named by its capture and its number, "/…/dev.ndjson#2". */
#ifndef GAVEL_SOURCE_HOLDER_LINK_H
#define GAVEL_SOURCE_HOLDER_LINK_H

#include "base/buf.h"
#include "base/err.h"

#include <sys/types.h>

enum {
	HOLDER_ID_MAX = 64,
	HOLDER_WAIT_MS = 200,
	HOLDER_UNREAD_MS = 1000, /* then holders say that a line is unread */
};

/* What a holder says when it is connected to. */
struct holder_greeting {
	unsigned run;
	pid_t pid;         /* of the agent */
	bool ending;       /* it is being stopped, or has ended */
	uint64_t unread;   /* bytes in its standard input */
	uint64_t start;    /* where its run begins in the capture */
	char last[HOLDER_ID_MAX + 1]; /* the line last written to it in this run, "-" = none */
};

enum holder_state {
	HOLDER_RUNS,
	HOLDER_ABSENT,  /* nobody holds the agent: it does not run */
	HOLDER_SILENT,  /* it does not respond in time: stopped, or starved; its agent exists */
	HOLDER_BUSY,    /* it has too many clients; its agent exists */
	HOLDER_REFUSED, /* there is a socket, but it or its folder cannot be used or trusted, or this
			 * process belongs to the agent */
};

struct holder_link {
	int fd;        /* nonblocking; -1 = closed */
	struct buf in; /* received */
	size_t taken;  /* bytes of `in` that holder_next has returned already */
};

/* The capture in an incarnation's name, NUL-terminated, and its number; 0: none is named. */
unsigned holder_split(const char *path, struct buf *capture);
/* Connects to the holder of that capture, if it has one; never waits. HOLDER_RUNS: somebody listens
 * there, and holder_greet will tell more; the caller must close k. Otherwise err says why not. */
enum holder_state holder_connect(struct holder_link *k, const char *capture, struct err *err);
/* Takes the greeting, the first thing that a holder says. HOLDER_SILENT: it has not come yet.
 * Otherwise, unless it is HOLDER_RUNS, k is closed and err says why. */
enum holder_state holder_greet(struct holder_link *k, const char *capture,
			       struct holder_greeting *out, struct err *err);
/* Both, waiting for the greeting, HOLDER_WAIT_MS at most: never call it from the event loop. k is
 * open only if the result is HOLDER_RUNS; NULL: the connection is not needed. */
enum holder_state holder_ask(const char *capture, struct holder_link *k,
			     struct holder_greeting *out, struct err *err);
void holder_close(struct holder_link *k);
/* Also of the answer to "?". */
bool holder_parse_greeting(struct str line, struct holder_greeting *out);
/* The next line, without its newline; valid until the next call. False: none yet. *over: the holder
 * has closed the connection. */
bool holder_next(struct holder_link *k, struct str *line, bool *over);
/* Sends a command of less than 512 bytes. False: it is longer, or the connection is gone. */
bool holder_say(struct holder_link *k, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* What a capture tells of its last run. */
struct capture_end {
	unsigned run;        /* 0: none */
	uint64_t start;      /* offset of the run's first byte */
	pid_t pid;           /* of the agent; 0: it has ended, or is not known */
	bool ended;          /* its holder recorded how, */
	uint64_t at;         /* at this offset */
	bool by_signal, core;
	bool cut;            /* its last line had no end */
	int number;          /* exit code, or signal; -1 = unknown */
	char unread[HOLDER_ID_MAX + 1]; /* the line that it has not read to its end, or empty, */
	uint64_t unread_n;              /* and how many bytes */
	char left[128];      /* pids of its processes that could not be ended: "7,9" */
};
/* Searches back from the end of the capture, as far as `from`: a place in that run, 0 = not known.
 * If the run has ended, that takes a few reads, unless `start` has to be found. */
void capture_read_end(int fd, uint64_t from, struct capture_end *out);
/* The same of the run with that number; 0 = of the last. */
void capture_read_run(int fd, uint64_t from, unsigned run, struct capture_end *out);

/* What a capture tells of a line that was to be written to the agent. */
enum capture_letter {
	CAPTURE_HAS_LETTER, /* it was written */
	CAPTURE_NOT_YET,    /* no record of it; the run goes on, or its holder was killed */
	CAPTURE_NEVER,      /* the run has ended without it */
	CAPTURE_UNREADABLE,
};
/* Of the records behind that offset, in that run. */
enum capture_letter capture_find_letter(int fd, uint64_t from, unsigned run, const char *id);

#endif
