/* The process of notices.command: a program of the user's, told of one notice on its standard input.
 *
 * Nothing of it reaches gavel or waits for it: no shell, a session of its own without the terminal,
 * output to /dev/null, its input complete and closed before it starts, killed with its process group
 * after NOTICE_COMMAND_MS. One at a time. Zero-initialised it runs nothing; notice_command_end in any
 * case. Times are loop_now_ms. */
#ifndef GAVEL_WATCH_NOTICE_COMMAND_H
#define GAVEL_WATCH_NOTICE_COMMAND_H

#include "base/err.h"
#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { NOTICE_COMMAND_MS = 10000 };

struct notice_command {
	pid_t pid; /* 0 = none runs */
	int64_t until_ms;
};

/* argv ends with NULL; input at most PIPE_BUF bytes. -1: it cannot be started, for the reason in
 * err. */
int notice_command_start(struct notice_command *c, char *const *argv, struct str input,
			 int64_t now_ms, struct err *err);
/* Reaps it, or kills it when its time is up. -1: it has failed, for the reason in err. */
int notice_command_tick(struct notice_command *c, int64_t now_ms, struct err *err);
/* Timeout until the next tick; -1 = none. */
int notice_command_wait_ms(const struct notice_command *c, int64_t now_ms);
/* Leaves it a moment to end, then kills it. */
void notice_command_end(struct notice_command *c);

#endif
