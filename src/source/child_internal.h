/* Inside the running of agents only: starting a process, captures, the thread that empties pipes,
 * and the steps of one agent's life. */
#ifndef GAVEL_SOURCE_CHILD_INTERNAL_H
#define GAVEL_SOURCE_CHILD_INTERNAL_H

#include "source/child.h"

#include <stdatomic.h>

/* ---- starting (child_spawn.c) ---- */

struct spawned {
	pid_t pid;
	int in, out, err; /* gavel's ends: do not block, closed by exec */
};

/* Where argv[0] is, from malloc; NULL: err says what is wrong. */
char *spawn_find(const char *name, const char *program, const char *withheld, struct err *err);
/* The environment as execve takes it, and the names left out. Both from malloc, NULL last. */
char **spawn_environment(const char *const *named, char **withheld);
/* Runs c->program; -1: err says why, and nothing is left behind. */
int spawn(const struct child *c, struct spawned *out, struct err *err);
/* True if a process other than the leader itself is in its group. */
bool spawn_group_has_others(pid_t leader);

/* ---- captures (child_capture.c) ---- */

enum { DRAIN_OUT, DRAIN_ERR, DRAIN_STREAMS };

/* Where the bytes of one stream go. The counts are written by the thread. */
struct drain_capture {
	int fd;
	_Atomic uint64_t kept, lost;
	atomic_int trouble;
	/* the thread's, and the main thread's while nothing runs */
	bool skips;    /* something was lost: the rest of that line is, too */
	bool cut;      /* what comes next does not belong to the last line kept */
	bool mid_line; /* the last byte kept is not a newline */
};

/* A child with what the thread writes to. */
struct kept {
	struct child c; /* first: see kept_of */
	struct drain_capture captures[DRAIN_STREAMS];
};

static inline struct kept *kept_of(struct child *c)
{
	return (struct kept *)c;
}

int capture_open(struct child *c, int stream, struct err *err);
/* Of an agent that could not be started: removes it if nothing is in it. */
void capture_discard(struct child *c, int stream);
/* Keeps bytes, or counts them as lost. */
void capture_keep(struct drain_capture *c, const char *p, size_t n);
/* True: there is more than before. */
bool capture_look(struct child_capture *to, struct drain_capture *from);

/* ---- emptying (child_drain.c) ---- */

/* One incarnation, for as long as the thread knows it. */
struct child_run {
	int fds[DRAIN_STREAMS]; /* the thread's; -1 = at its end */
	struct drain_capture *captures[DRAIN_STREAMS];
	int pidfd;               /* the main thread's; -1 = the kernel has none */
	int room[DRAIN_STREAMS]; /* what the pipes hold, bytes */
	atomic_bool exit_seen;   /* the thread has seen its process end */
	atomic_bool pipes_ended; /* all has come */
	atomic_bool drop;        /* the main thread's wish: take what is there and close */
	atomic_bool dropped;     /* the thread has forgotten it */
};

struct drain;

struct drain *drain_open(struct err *err);
void drain_close(struct drain *d);
int drain_fd(const struct drain *d);
/* The thread takes over the run's descriptors. */
void drain_add(struct drain *d, struct child_run *run);
/* Looks at drop flags. */
void drain_wake(struct drain *d);
/* Before the main thread looks at counts and flags: the next change will be told again. */
void drain_heard(struct drain *d);

/* ---- one agent (child.c) ---- */

enum { SWEEP_EVERY_MS = 50 };

struct children {
	char *folder; /* NULL = captures without a name */
	struct drain *drain;
	char tag[9]; /* of this run of gavel */
	VEC(struct kept *) list;
};

/* Looks at it; true = something has changed. */
bool child_tick(struct child *c, int64_t now_ms);
/* Looks whether it has exited, and no more. */
bool child_notice_exit(struct child *c);
void child_signal(const struct child *c, int number); /* to its group */
void child_reap(struct child *c);
void child_free(struct child *c);

#endif
