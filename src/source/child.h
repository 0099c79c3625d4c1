/* Agents that gavel runs or is attached to. Each has a holder (src/holder), a process of its own that
 * owns the agent's pipes: it writes what the agent says to its capture, passes lines to its standard
 * input, and ends with it. So an agent goes on when gavel quits, crashes or loses its terminal, and
 * any gavel of this user can attach to it again.
 *
 *   children_open     for agents whose captures are in one folder
 *   child_start       starts a holder and its agent; its incarnation is 1
 *   child_add         registers a program without running it; child_turn starts each incarnation
 *   child_attach      an agent that runs already
 *   children_tick     when children_fd is readable
 *   child_stop        graceful shutdown; child_restart starts the next incarnation
 *   children_close    frees everything; agents go on unless children_kill was called
 *
 * Output. A capture is one file for all incarnations of an agent, NAME.ndjson; what it writes to
 * standard error is in NAME.stderr. Both are read by offset (source_read, source_fetch);
 * children_tick updates `end`. A capture begins with a head, a line that begins with a tab. No line
 * of the agent does: the holder puts a space before one that would. What else begins with a tab is
 * the holder's: what was written to the agent, and records of runs, such as
 *
 *   {"gavel":"run","n":1,"pid":7,"t":…}    {"gavel":"to","id":"ID","t":…} before a line to it
 *   {"gavel":"exit","n":1,"code":0,"t":…}  {"gavel":"clock","t":…}
 *
 * so each line tells its direction, and an agent cannot forge that. When a disk is full, the holder
 * stops reading, so that the agent waits instead of losing output; `full` says so.
 *
 * Life cycle. RUNS until its holder reports that it ended, all its output is in the capture and its
 * other processes are gone; then OVER. If the holder is killed, the agent gets SIGTERM, and nobody
 * knows how it ended; one that ignores that is OVER, too, but its `orphan` still runs.
 *
 * Connection. child_attach and child_add wait for a holder's greeting, HOLDER_WAIT_MS at most;
 * starting an agent waits for its holder's report, children_kill for the ends. Otherwise what
 * holders say is read when children_fd is readable. `holder` is what is known of it, so those who
 * must not wait either look there. What the holder was told while it was not connected is repeated
 * when it is. When another gavel starts the agent again, children_tick follows that incarnation.
 *
 * Input. Messages go through a channel (channel/channel.h). A path names one incarnation
 * (source/holder_link.h), and no other ever gets them.
 *
 * The environment is PATH, HOME, USER, LOGNAME, LANG, LC_*, TZ, TMPDIR, SHELL, XDG_*, TERM=dumb and
 * what the caller names, and CHILD_MARK, the path of the incarnation. *_KEY, *_TOKEN, *SECRET* and
 * *PASSWORD* are passed only if named exactly.
 *
 * Call from one thread only. now_ms is loop_now_ms; functions without it read monotonic_ms. */
#ifndef GAVEL_SOURCE_CHILD_H
#define GAVEL_SOURCE_CHILD_H

#include "base/buf.h"
#include "source/holder_link.h"
#include "source/source.h"

enum {
	CHILD_NAME_MAX = 64,
	CHILD_TERM_MS = 5000, /* between TERM and KILL */
	CHILD_SILENT_MS = 2000,
};

/* Up to CHILD_NAME_MAX letters, digits, . _ and -, not a dot first: it names files. */
bool child_name_is_valid(struct str name);
/* Whether it may have that byte there. */
bool child_name_takes(char c, size_t at);

struct child_spec {
	const char *name;        /* child_name_is_valid */
	const char *const *argv; /* NULL last; a bare name: searched in absolute PATH entries */
	const char *folder;      /* working directory, NULL = ours; argv[0] is not relative to it */
	const char *const *env;  /* further variables to pass, NULL last; NULL = none */
	const char *head;        /* the first line of a new capture, without tab; NULL = none */
};

enum child_life { CHILD_RUNS, CHILD_OVER };
/* How far its shutdown has got. */
enum child_stop { CHILD_GOES_ON, CHILD_ASKED, CHILD_TERMED, CHILD_KILLED };

struct child_capture {
	struct source source; /* SOURCE_STREAM; borrowed: never gather or close it */
	uint64_t began;       /* offset of this incarnation's first byte */
};

struct children;

#define CHILD_MARK "GAVEL_AGENT" /* the environment variable with the path of its incarnation */

/* Read-only for callers; changed by the functions below. */
struct child {
	char *name;
	char *capture; /* path of NAME.ndjson */
	unsigned incarnation; /* 0 = it never ran */
	enum child_life life;
	enum child_stop stop;
	pid_t pid; /* also its process group */
	/* RUNS: connected. ABSENT: its run is over. SILENT: no greeting yet. BUSY, REFUSED: why says
	 * what is wrong; it is tried again. */
	enum holder_state holder;
	bool silent;     /* not connected for CHILD_SILENT_MS or more: worth showing */
	struct err why;  /* the reason why gavel is not connected to the holder */
	struct capture_end end; /* once it is over */
	pid_t orphan;    /* its holder was killed, but it runs; 0 = it does not */
	int64_t unread_since_ms; /* since when it has not read what was written to it; 0 = it has */
	bool input_ended;
	struct child_capture out, err;
	struct buf full;    /* why its output cannot be kept now; empty = it is */
	char *withheld;     /* environment variables not passed to it: "A, B and 3 more" */
	struct err trouble; /* why the last restart failed; empty = it did not */
	char **argv;        /* NULL: not known, so it cannot be started again */
	char *missing;      /* variable that it had, but gavel has not: the same. NULL = none */

	/* private */
	struct children *pool;
	struct holder_link link;
	char *program, *folder;
	char **env;
	bool again;          /* restart when it is over */
	bool asked, killed;  /* it is to be stopped, or killed at once */
	int64_t deadline_ms; /* of the stop */
	int64_t silent_ms;   /* since when it is not connected */
	int64_t meet_ms;     /* when that, or the orphan, is looked at again */
	uint64_t over_at;    /* OVER: no later run begins before this offset of the capture */
};

/* captures: folder for NAME.ndjson and NAME.stderr. Returns NULL on failure, with the reason in
 * err. */
struct children *children_open(const char *captures, struct err *err);
/* Agents that run go on. NULL is allowed. */
void children_close(struct children *pool);
/* Kills all that run and waits for their ends, not for ever. What is left running is added to
 * `left`, a sentence a line. */
void children_kill(struct children *pool, struct buf *left);
/* The folder that captures are in. */
const char *children_folder(const struct children *pool);
/* Readable when there is output, or a holder has something to say. */
int children_fd(const struct children *pool);
/* Updates all children; true = something has changed. */
bool children_tick(struct children *pool, int64_t now_ms);
/* Timeout until the next children_tick; -1 = none, poll children_fd only. */
int children_wait_ms(const struct children *pool, int64_t now_ms);
struct child *children_find(const struct children *pool, const char *name);

/* Copies the spec. NULL: it does not run; err says why and which variables were withheld. */
struct child *child_start(struct children *pool, const struct child_spec *spec, struct err *err);
/* For an agent that runs one process per turn: finds the program and opens the captures, but starts
 * nothing unless its last turn still runs; else incarnation is that of the last one, life is
 * OVER. */
struct child *child_add(struct children *pool, const struct child_spec *spec, struct err *err);
/* The agent of NAME.ndjson in the pool's folder, which was started by another gavel: it runs, or is
 * over. child_learn tells with what it can be started again. */
struct child *child_attach(struct children *pool, const char *name, struct err *err);
void child_learn(struct child *c, const struct child_spec *spec);
/* Starts the next incarnation of one that is OVER, with a new argv. */
int child_turn(struct child *c, const char *const *argv, struct err *err);
/* Appends whole lines of gavel's own to the capture of one that is OVER. */
int child_capture_append(struct child *c, struct str lines, struct err *err);
/* Graceful shutdown: TERM after grace_ms, KILL CHILD_TERM_MS later, to the whole group. The caller
 * has already sent the protocol's own shutdown request; 0 = TERM at once. A second call can only
 * shorten the grace. Cancels a pending restart. */
void child_stop(struct child *c, int64_t now_ms, int64_t grace_ms);
/* Starts the next incarnation now if the last one is OVER; else stops that one first and
 * children_tick starts the next: `trouble` says why if that fails. */
int child_restart(struct child *c, int64_t now_ms, int64_t grace_ms, struct err *err);
/* Closes its standard input: some agents start working only then, others exit. */
void child_end_input(struct child *c);
/* "runs", "does not respond", "exit code 3", "signal 11 (Segmentation fault), core dumped". */
void child_status_text(const struct child *c, struct buf *out);
/* The channel's path to this incarnation, and to the one that will be next. */
void child_path(const struct child *c, struct buf *out);
void child_next_path(const struct child *c, struct buf *out);

#endif
