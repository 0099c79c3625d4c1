/* Event loop: waits for input on a descriptor, a signal or a timeout. Signals are queued through a
 * self-pipe, so that they are handled synchronously, like input. One loop per process: loop_open,
 * then loop_wait and loop_signal in turn, loop_close restores the signal handlers. */
#ifndef GAVEL_LOOP_LOOP_H
#define GAVEL_LOOP_LOOP_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

enum { LOOP_INPUT = 1 << 0, LOOP_SIGNAL = 1 << 1, LOOP_SOURCE = 1 << 2 };
enum { LOOP_OTHERS_MAX = 6 };

/* A descriptor to wait for besides the terminal. */
struct loop_fd {
	int fd;      /* -1 = none */
	bool output; /* until it can be written, too */
};

/* Installs handlers for SIGWINCH, SIGTERM, SIGHUP, SIGINT, SIGCONT and SIGTSTP. */
int loop_open(struct err *err);
void loop_close(void);
/* Waits at most timeout_ms (-1 = for ever) for fd (LOOP_INPUT), which may be -1, and up to
 * LOOP_OTHERS_MAX others (LOOP_SOURCE). Returns LOOP_ bits, 0 on timeout or EINTR. */
int loop_wait(int fd, const struct loop_fd *others, unsigned n, int timeout_ms);
/* Takes the next signal off the queue, 0 = none. */
int loop_signal(void);
/* Runs a program in the foreground (an editor) and waits for it: ^Z stops both, ^C goes to it
 * alone. Returns its exit code, 128 + signal if it was killed, -1 and errno if fork failed. */
int loop_run_foreground(const char *file, const char *const argv[]);
/* CLOCK_MONOTONIC in milliseconds. */
int64_t loop_now_ms(void);
/* The shorter of two timeouts; negative = none. */
static inline int loop_sooner(int a, int b)
{
	return a < 0 ? b : b < 0 ? a : a < b ? a : b;
}

#endif
