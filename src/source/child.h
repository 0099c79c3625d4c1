/* Supervisor of agent processes: each child has a session and process group of its own, no
 * controlling terminal, and pipes for its standard input, output and error.
 *
 *   children_open     starts the thread that drains all pipes
 *   child_start       runs a program; its incarnation is 1
 *   child_add         registers a program without running it; child_turn starts each incarnation
 *   children_tick     when children_fd is readable or children_wait_ms has passed
 *   child_stop        graceful shutdown; child_restart starts the next incarnation
 *   children_close    kills what is left, ends the thread, frees everything
 *
 * Output. The drain thread writes an agent's output to captures without waiting for the rest of the
 * program: a slow reader makes real agents lose output. A capture is one file for all incarnations
 * of an agent and is read by offset (source_read, source_fetch); children_tick updates `end`. If an
 * incarnation ends in the middle of a line, a newline is written before the next one's output. When
 * writing fails (a full disk), the agent's pipe is not read further, so that it waits instead of
 * losing output: `trouble` is the errno and `waiting` counts the bytes taken from the pipe before.
 * Writing is tried again every CHILD_RETRY_MS and goes on behind the last byte written. Until then
 * an agent that has exited is not OVER.
 *
 * A capture may begin with a head, a line that begins with a tab. Then no line of the agent does: a
 * space is put before one that would. What else begins with a tab was written by gavel, such as the
 * prompt of a turn, so each line tells its direction, and an agent cannot forge that.
 *
 * Life cycle. RUNS until it exits, which children_tick detects without SIGCHLD; EXITED while its
 * pipes are drained and the rest of its process group is terminated; then OVER. Pipes that other
 * processes hold open are closed after CHILD_DRAIN_MS. The group gets TERM, then after
 * CHILD_TERM_MS KILL. So does every process of it that left the group (setsid, daemons): the
 * agent's work is over, and nothing of it is to run unsupervised. They are found as its
 * descendants, by session, and by CHILD_MARK in the environment (child_processes.c); `left` names
 * those that could not be ended. When gavel itself is killed, the agent gets TERM.
 *
 * Input. Messages go through a channel (channel/channel.h), which counts its bytes in `input`. A
 * path ("agent:NAME#2-TAG") names one incarnation in one run of gavel and is never valid for
 * another.
 *
 * The environment is PATH, HOME, USER, LOGNAME, LANG, LC_*, TZ, TMPDIR, SHELL, XDG_*, TERM=dumb and
 * what the caller names, and CHILD_MARK, the path of the incarnation. *_KEY, *_TOKEN, *SECRET* and *PASSWORD* are passed only if named exactly.
 *
 * Call from one thread only. Times are loop_now_ms milliseconds, always passed in by the caller. */
#ifndef GAVEL_SOURCE_CHILD_H
#define GAVEL_SOURCE_CHILD_H

#include "base/buf.h"
#include "source/source.h"

enum {
	CHILD_NAME_MAX = 64,
	CHILD_PIPE_BYTES = 1 << 20,
	CHILD_DRAIN_MS = 500,
	CHILD_TERM_MS = 5000,
	CHILD_RETRY_MS = 200,
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
	bool no_input;           /* standard input is at end of file from the start */
	bool whole;              /* what earlier runs left in its capture is read, too */
	const char *head;        /* the first line of a new capture, without tab; NULL = none */
};

enum child_life { CHILD_RUNS, CHILD_EXITED, CHILD_OVER };
/* How far its shutdown has got. */
enum child_stop { CHILD_GOES_ON, CHILD_ASKED, CHILD_TERMED, CHILD_KILLED };

/* The way to one incarnation's standard input. The channel adds to sent and sets due. */
struct child_input {
	int fd;                 /* nonblocking; -1 = closed */
	uint64_t sent;          /* bytes written so far */
	uint64_t read;          /* sent, when the pipe was last seen empty */
	uint64_t due;           /* end of the newest message; > sent: it is partly written */
	int unread;             /* bytes in the pipe (FIONREAD) */
	int64_t waits_since_ms; /* since when the agent has read none of them; 0 = pipe empty */
};

/* Records how many bytes are in the pipe. True = the number has changed. */
static inline bool child_input_note(struct child_input *in, int unread, int64_t now_ms)
{
	bool changed = unread != in->unread;

	if (!unread) {
		in->waits_since_ms = 0;
		in->read = in->sent;
	} else if (changed || !in->waits_since_ms) {
		in->waits_since_ms = now_ms;
	}
	in->unread = unread;
	return changed;
}

struct child_capture {
	struct source source; /* SOURCE_STREAM; borrowed: never gather or close it */
	uint64_t began;       /* offset of this incarnation's first byte */
	uint64_t waiting;     /* bytes that could not be written to it yet */
	int trouble;          /* errno of the last failed write; 0 = it is written to */
};

/* A process of an agent other than the one that was started. */
struct child_process {
	pid_t pid, group;
	unsigned long long started; /* with the pid: its identity */
};

struct child_run;
struct children;

#define CHILD_MARK "GAVEL_AGENT"

/* Read-only for callers; changed by the functions below. */
struct child {
	char *name;
	unsigned incarnation;
	enum child_life life;
	enum child_stop stop;
	pid_t pid; /* also its process group */
	int64_t started_ms, exited_ms;
	bool by_signal; /* once exited: number is a signal, else the exit code */
	int number;     /* -1 = unknown: another waiter reaped it */
	bool dumped;
	struct child_input input;
	struct child_capture out, err;
	char *withheld; /* environment variables not passed to it: "A, B and 3 more" */
	struct err trouble; /* why the last restart failed; empty = it did not */
	struct buf left;    /* pids of its processes that could not be ended: "7, 9" */

	/* private */
	struct children *pool;
	struct child_run *run; /* NULL once it is over */
	char *program, *folder;
	char **argv, **env;
	bool no_input, whole;
	bool again;          /* restart when it is over */
	int64_t deadline_ms; /* of the stop, or of the pipes of one that exited */
	bool swept;          /* the rest of its processes were sent TERM */
	int64_t sweep_ms;    /* time of the next look at them */
	VEC(struct child_process) known; /* of the last look */
};

/* captures: folder for NAME.ndjson and NAME.stderr, appended to if they exist; NULL = unlinked
 * files in $TMPDIR or /tmp. Returns NULL on failure, with the reason in err. */
struct children *children_open(const char *captures, struct err *err);
/* Kills everything at once; for a graceful end, child_stop each and tick until all are OVER. What
 * was lost, then or before, and what is left running is added to `left` (may be NULL), a sentence a
 * line. NULL is allowed. */
void children_close(struct children *pool, struct buf *left);
/* The folder that captures are in: what to name when it is full. */
const char *children_folder(const struct children *pool);
/* Readable when there is output or a process has exited. */
int children_fd(const struct children *pool);
/* Updates all children and advances their shutdowns; true = something has changed. */
bool children_tick(struct children *pool, int64_t now_ms);
/* Timeout until the next children_tick; -1 = none, poll children_fd only. */
int children_wait_ms(const struct children *pool, int64_t now_ms);
struct child *children_find(const struct children *pool, const char *name);

/* Copies the spec. NULL: it does not run; err says why and which variables were withheld. */
struct child *child_start(struct children *pool, const struct child_spec *spec, int64_t now_ms,
			  struct err *err);
/* For an agent that runs one process per turn: finds the program and opens the captures, but starts
 * nothing; incarnation is 0, life is OVER. */
struct child *child_add(struct children *pool, const struct child_spec *spec, struct err *err);
/* Starts the next incarnation of one that is OVER, with a new argv. `lead` (whole lines: the prompt
 * of this turn) is written to the capture before any of its output. -1: nothing was started or
 * written. */
int child_turn(struct child *c, const char *const *argv, struct str lead, int64_t now_ms,
	       struct err *err);
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
/* "runs", "exit code 3", "signal 11 (Segmentation fault), core dumped". */
void child_status_text(const struct child *c, struct buf *out);
/* The channel's path to this incarnation, and to the one that will be next. */
void child_path(const struct child *c, struct buf *out);
void child_next_path(const struct child *c, struct buf *out);
/* Resolves a path to its input; NULL: err says why not (restarted, exited, unknown). Checks whether
 * the agent has exited. pool is a struct children; void * for struct channel_agents. */
struct child_input *children_input(void *pool, const char *path, struct err *err);

#endif
