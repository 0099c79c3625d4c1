/* Waiting for whatever comes first: bytes on a descriptor, a signal, the end of a time span.
 * Signals arrive through a pipe of the process's own, so that they are handled like input, not in
 * between. One loop a process. */
#ifndef GAVEL_LOOP_LOOP_H
#define GAVEL_LOOP_LOOP_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

enum { LOOP_INPUT = 1 << 0, LOOP_SIGNAL = 1 << 1, LOOP_OTHER = 1 << 2 };
enum { LOOP_OTHERS_MAX = 6 };

/* Catches SIGWINCH, SIGTERM, SIGHUP, SIGINT, SIGCONT and SIGTSTP from now on. */
int loop_open(struct err *err);
void loop_close(void);
/* Waits at most timeout_ms (-1 = for ever) for fd (LOOP_INPUT) and up to LOOP_OTHERS_MAX others
 * (LOOP_OTHER); each may be -1. Returns LOOP_ bits, 0 when time is up. */
int loop_wait(int fd, const int *others, unsigned n, int timeout_ms);
/* The next signal that came, 0 = none. */
int loop_signal(void);
/* Runs a program that has the terminal meanwhile (an editor), and waits for its end: ^Z stops both,
 * ^C is meant for it alone. Returns its exit code, 128 and more where a signal ended it, -1 with
 * errno where it could not be started. */
int loop_run(const char *file, const char *const argv[]);
/* Milliseconds of a clock that does not jump. */
int64_t loop_now_ms(void);

#endif
