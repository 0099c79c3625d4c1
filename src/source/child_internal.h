/* Internal to child*.c: spawning a process, capture files, the drain thread, the life cycle of one
 * agent. */
#ifndef GAVEL_SOURCE_CHILD_INTERNAL_H
#define GAVEL_SOURCE_CHILD_INTERNAL_H

#include "source/child.h"

#include <stdatomic.h>

/* ---- starting (child_spawn.c) ---- */

struct spawned {
	pid_t pid;
	int in, out, err; /* gavel's ends: nonblocking, close-on-exec */
};

/* Path of argv[0], malloced; NULL: err says what is wrong. */
char *spawn_find(const char *name, const char *program, const char *withheld, struct err *err);
/* The environment for execve, CHILD_MARK and NULL last, and the names left out as text. Both
 * malloced. */
char **spawn_environment(const char *const *named, char **withheld);
/* Runs c->program; -1: err says why, and nothing is left behind. */
int spawn(const struct child *c, struct spawned *out, struct err *err);

/* ---- its processes (child_processes.c) ---- */

/* Looks for them anew, fills `known`, returns how many are left besides the leader. Only while the
 * leader is not reaped. */
uint32_t processes_find(struct child *c);
/* Sends a signal to its group and to all others. */
void processes_signal(struct child *c, int number);
/* Gives up: `left` names those that are known. */
void processes_leave(struct child *c);

/* ---- captures (child_capture.c) ---- */

enum { DRAIN_OUT, DRAIN_ERR, DRAIN_STREAMS };

/* Capture file of one stream. The counts are written by the drain thread. */
struct drain_capture {
	int fd;
	_Atomic uint64_t written, waiting;
	atomic_int trouble; /* errno while bytes are waiting */
	/* owned by the drain thread, by the main thread while nothing runs */
	struct buf rest;  /* bytes behind `written` that are waiting */
	int64_t retry_ms; /* when writing them is tried again */
	uint64_t lost;    /* bytes given up by drain_close */
	bool fresh;       /* the next byte does not continue the last line written */
	bool mid_line;    /* the last byte written is not a newline */
	uint64_t head_bytes; /* of a head that was written now */
	bool headed;      /* lines that begin with a tab are gavel's; set before anything runs */
	struct buf escaped; /* of the agent's bytes, with spaces before tabs */
};

/* A child with its capture files. */
struct child_private {
	struct child c; /* first: see private_of */
	struct drain_capture captures[DRAIN_STREAMS];
};

static inline struct child_private *private_of(struct child *c)
{
	return (struct child_private *)c;
}

/* head: as in struct child_spec */
int capture_open(struct child *c, int stream, const char *head, struct err *err);
/* For an agent that could not be started: unlinks the capture if it is empty. */
void capture_discard(struct child *c, int stream);
/* Appends what the agent wrote; see capture_write. */
bool capture_take(struct drain_capture *c, struct str bytes, int64_t now_ms);
/* Appends bytes; what cannot be written is kept in `rest`. Nothing may be waiting before. False:
 * something is waiting now. */
bool capture_write(struct drain_capture *c, struct str bytes, int64_t now_ms);
/* Writes what is waiting, unless that failed less than CHILD_RETRY_MS ago. False: it still waits. */
bool capture_flush(struct drain_capture *c, int64_t now_ms);
/* Appends whole lines, or nothing: -1 and errno. Main thread, while nothing runs. */
int capture_append(struct drain_capture *c, struct str lines);
/* Takes back what was appended behind that offset. */
void capture_cut(struct drain_capture *c, uint64_t written, bool mid_line);
/* Copies the counters for the main thread. True: they have changed. */
bool capture_update(struct child_capture *to, struct drain_capture *from);

/* ---- draining (child_drain.c) ---- */

/* One incarnation, shared with the drain thread from drain_add until `dropped`. */
struct child_run {
	int fds[DRAIN_STREAMS]; /* owned by the thread; -1 = closed */
	struct drain_capture *captures[DRAIN_STREAMS];
	int pidfd;               /* owned by the main thread; -1 = not supported */
	int room[DRAIN_STREAMS]; /* capacity of the pipes, bytes */
	atomic_bool exit_seen;   /* by the thread: the process has exited */
	atomic_bool pipes_ended; /* by the thread: both streams are at end of file */
	atomic_bool drop;        /* by the main thread: read what is left, then detach */
	atomic_bool dropped;     /* by the thread: detached, the main thread may free it */
};

struct drain;

struct drain *drain_open(struct err *err);
void drain_close(struct drain *d);
int drain_fd(const struct drain *d);
/* Hands the run to the thread, which then owns and closes run->fds. */
void drain_add(struct drain *d, struct child_run *run);
/* Makes the thread look at the drop flags. */
void drain_wake(struct drain *d);
/* Rearms the notification; call before reading counters and flags. */
void drain_rearm(struct drain *d);

/* ---- one agent (child.c) ---- */

enum { SWEEP_EVERY_MS = 50 };

struct children {
	char *folder; /* NULL = captures are unlinked files */
	struct drain *drain;
	char tag[9]; /* random, identifies this run of gavel in paths */
	VEC(struct child_private *) list;
};

/* children_tick for one child; true = something has changed. */
bool child_tick(struct child *c, int64_t now_ms);
/* Checks for its exit only; does not reap. */
bool child_notice_exit(struct child *c);
void child_reap(struct child *c);
void child_free(struct child *c);

#endif
