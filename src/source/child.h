/* Agents that gavel runs: child processes, each in a session and process group of its own, without
 * a terminal, with pipes for its standard input, output and error.
 *
 *   children_open     begins the thread that empties all pipes
 *   child_start       runs a program; its incarnation is 1
 *   child_add         the same, but nothing runs yet: child_turn begins each incarnation
 *   children_tick     when children_fd is readable or children_wait_ms has passed
 *   child_stop        ends it, in order; child_restart begins the next incarnation
 *   children_close    kills what is left, ends the thread, frees everything
 *
 * Output. What an agent writes goes to captures as fast as it comes, whatever the rest of the
 * program does: a slow reader makes real agents lose output. A capture is one file for all
 * incarnations of an agent and is read by offset (source_read, source_fetch); children_tick makes
 * `end` true. Where an incarnation ends in the middle of a line, the next one begins with a
 * newline. When the capture cannot be written to, draining goes on: `lost` counts what is gone,
 * `trouble` says why, and what follows a loss begins with a whole line.
 *
 * Life. RUNS until it exits, which children_tick notices without SIGCHLD; EXITED while its pipes
 * are emptied and what it left in its group is ended; then OVER. Pipes that others keep open are
 * closed after CHILD_DRAIN_MS, and processes of its group do not outlive it: TERM, CHILD_TERM_MS,
 * KILL. Who leaves the group (setsid) is not followed. When gavel itself is killed, the agent gets
 * TERM.
 *
 * Input. Messages go through a channel (decide/channel.h), which counts its bytes in `input`. A
 * path ("agent:NAME#2-TAG") names one incarnation in one run of gavel; it never leads to another
 * one.
 *
 * The environment is PATH, HOME, USER, LOGNAME, LANG, LC_*, TZ, TMPDIR, SHELL, XDG_*, TERM=dumb and
 * what the caller names. *_KEY, *_TOKEN, *SECRET* and *PASSWORD* are let through only by their
 * name.
 *
 * All calls are for one thread. Times are milliseconds as loop_now_ms counts them; only the caller
 * asks for them. */
#ifndef GAVEL_SOURCE_CHILD_H
#define GAVEL_SOURCE_CHILD_H

#include "base/buf.h"
#include "source/source.h"

enum {
	CHILD_NAME_MAX = 64,
	CHILD_PIPE_BYTES = 1 << 20,
	CHILD_DRAIN_MS = 500,
	CHILD_TERM_MS = 5000,
};

struct child_spec {
	const char *name;        /* letters, digits, . _ -, not a dot first */
	const char *const *argv; /* NULL last; a bare name is looked for in PATH, absolute parts */
	const char *folder;      /* it works there; NULL = here. argv[0] is not looked for there */
	const char *const *env;  /* further names to let through, NULL last; NULL = none */
	bool no_input;           /* its standard input is at its end from the beginning */
	bool whole;              /* what its capture has of earlier runs belongs to it */
};

enum child_life { CHILD_RUNS, CHILD_EXITED, CHILD_OVER };
/* How far ending it has gone. */
enum child_stop { CHILD_GOES_ON, CHILD_ASKED, CHILD_TERMED, CHILD_KILLED };

/* The way to one incarnation's standard input. The channel adds to sent and sets due. */
struct child_input {
	int fd;                 /* does not block; -1 = closed */
	uint64_t sent;          /* bytes written so far */
	uint64_t read;          /* sent, when the pipe was last seen empty */
	uint64_t due;           /* where the newest message ends; beyond sent: it is half written */
	int unread;             /* bytes that wait in the pipe */
	int64_t waits_since_ms; /* since when none was taken; 0 = none waits */
};

/* So many bytes wait in its pipe. True = another number than before. */
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
	struct source source; /* SOURCE_STREAM; lent: never gathered or closed */
	uint64_t began;       /* where the bytes of this incarnation begin */
	uint64_t lost;        /* bytes that could not be kept */
	int trouble;          /* errno of the last failure to keep some; 0 = none */
};

struct child_run;
struct children;

/* To look at; changed by the functions below only. */
struct child {
	char *name;
	unsigned incarnation;
	enum child_life life;
	enum child_stop stop;
	pid_t pid; /* its group has the same number */
	int64_t started_ms, exited_ms;
	bool by_signal; /* once it does not run: number is a signal, else the exit code */
	int number;     /* -1 = nobody knows */
	bool dumped;
	struct child_input input;
	struct child_capture out, err;
	char *withheld; /* names of environment variables that it does not see: "A, B and 3 more" */
	struct err trouble; /* why the last restart failed; empty = it did not */

	/* the rest is its own */
	struct children *pool;
	struct child_run *run; /* NULL once it is over */
	char *program, *folder;
	char **argv, **env;
	bool no_input, whole;
	bool again;          /* restart when it is over */
	int64_t deadline_ms; /* of the stop, or of the pipes of one that exited */
	bool swept;          /* what is left of the group was told to end */
	int64_t sweep_ms;    /* not looked at again before */
};

/* captures: a folder where NAME.ndjson and NAME.stderr are kept, appended to if they are there;
 * NULL = files without a name in $TMPDIR or /tmp. NULL: err says why. */
struct children *children_open(const char *captures, struct err *err);
/* Kills at once. Whoever wants order stops each and ticks until all are over. NULL is allowed. */
void children_close(struct children *pool);
/* Readable when something came or ended. */
int children_fd(const struct children *pool);
/* Looks at everything; true = something has changed. */
bool children_tick(struct children *pool, int64_t now_ms);
/* How long children_tick may be put off; -1 = until children_fd is readable. */
int children_wait_ms(const struct children *pool, int64_t now_ms);
struct child *children_find(const struct children *pool, const char *name);

/* The spec is copied. NULL: it does not run, and err says why and what it would not have seen. */
struct child *child_start(struct children *pool, const struct child_spec *spec, int64_t now_ms,
			  struct err *err);
/* An agent of which each incarnation is one turn: its program is found and its captures are open,
 * but nothing runs, its incarnation is 0 and its life OVER. */
struct child *child_add(struct children *pool, const struct child_spec *spec, struct err *err);
/* The next incarnation of one that is over, with other words after argv[0]. The capture gets `lead`
 * before the first byte that it writes: whole lines, what it is told. -1: nothing was started and
 * nothing written. */
int child_turn(struct child *c, const char *const *argv, struct str lead, int64_t now_ms,
	       struct err *err);
/* Puts whole lines of ours into the capture of one that is over. -1: err says why it has not got
 * them. */
int child_note(struct child *c, struct str lines, struct err *err);
/* Ends it: grace_ms from now TERM, CHILD_TERM_MS later KILL, to the whole group. The caller has
 * asked it before, in the words of its protocol; 0 = TERM at once. A second call can only shorten
 * the grace. A restart that waits for its end is called off. */
void child_stop(struct child *c, int64_t now_ms, int64_t grace_ms);
/* The next incarnation, now if the last one is over; else that one is stopped first and
 * children_tick starts the next: `trouble` says if it cannot. */
int child_restart(struct child *c, int64_t now_ms, int64_t grace_ms, struct err *err);
/* Ends its standard input: some agents begin only then, others end. */
void child_end_input(struct child *c);
/* "runs", "exit code 3", "signal 11 (Segmentation fault), core dumped". */
void child_words(const struct child *c, struct buf *out);
/* The channel's path to this incarnation, and to the one that will be next. */
void child_path(const struct child *c, struct buf *out);
void child_next_path(const struct child *c, struct buf *out);
/* The input that a path leads to; NULL: err says why not (restarted, ended, unknown). Looks whether
 * the agent still lives. pool is a struct children: the form is that of struct channel_agents. */
struct child_input *children_input(void *pool, const char *path, struct err *err);

#endif
