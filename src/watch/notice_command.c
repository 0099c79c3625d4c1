/* Starts, times and reaps the program of notices.command. */
#include "watch/notice_command.h"

#include "base/io.h"
#include "loop/loop.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	REAP_MS = 100, /* between two looks whether it has ended */
	END_MS = 300,  /* that quitting waits for it */
	END_POLL_MS = 5,
};

/* A pipe that holds the whole input and has no writer. It is written before anyone reads, so it must
 * fit the smallest pipe. */
static int make_input(struct str input, struct err *err)
{
	int fds[2];

	if (input.n > PIPE_BUF)
		BUG("a notice of %zu bytes", input.n);
	if (pipe2(fds, O_CLOEXEC) < 0)
		return err_set(err, "cannot make a pipe: %s", strerror(errno));
	if (write(fds[1], input.p, input.n) != (ssize_t)input.n) {
		err_set(err, "cannot write to its pipe: %s", strerror(errno));
		fd_close(&fds[0]);
	}
	close(fds[1]);
	return fds[0];
}

/* 0 or the number of the error. */
static int start(pid_t *pid, char *const *argv, int input)
{
	posix_spawn_file_actions_t files;
	posix_spawnattr_t how;
	sigset_t none, all;
	int number;

	sigemptyset(&none);
	sigfillset(&all);
	posix_spawn_file_actions_init(&files);
	posix_spawnattr_init(&how);
	posix_spawnattr_setsigmask(&how, &none);
	posix_spawnattr_setsigdefault(&how, &all);
	posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK |
					       POSIX_SPAWN_SETSIGDEF);
	number = posix_spawn_file_actions_adddup2(&files, input, STDIN_FILENO);
	if (!number)
		number = posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null",
							  O_WRONLY, 0);
	if (!number)
		number = posix_spawn_file_actions_adddup2(&files, STDOUT_FILENO, STDERR_FILENO);
	if (!number)
		number = posix_spawnp(pid, argv[0], &files, &how, argv, environ);
	posix_spawnattr_destroy(&how);
	posix_spawn_file_actions_destroy(&files);
	return number;
}

int notice_command_start(struct notice_command *c, char *const *argv, struct str input,
			 int64_t now_ms, struct err *err)
{
	int fd = make_input(input, err), number;

	if (fd < 0)
		return -1;
	number = start(&c->pid, argv, fd);
	close(fd);
	if (number) {
		c->pid = 0;
		return err_set(err, "%s", strerror(number));
	}
	c->until_ms = now_ms + NOTICE_COMMAND_MS;
	return 0;
}

/* With flags of waitpid. True if it has ended, or was reaped by somebody else. */
static bool reap(struct notice_command *c, int flags, int *status)
{
	pid_t got;

	*status = 0;
	IO_RETRY(got, waitpid(c->pid, status, flags));
	if (got == 0)
		return false;
	c->pid = 0;
	return true;
}

static void kill_group(struct notice_command *c)
{
	int status;

	kill(-c->pid, SIGKILL);
	reap(c, 0, &status);
}

int notice_command_tick(struct notice_command *c, int64_t now_ms, struct err *err)
{
	int status;

	if (!c->pid)
		return 0;
	if (!reap(c, WNOHANG, &status)) {
		if (now_ms < c->until_ms)
			return 0;
		kill_group(c);
		return err_set(err, "it ran for more than %d s and was killed",
			       NOTICE_COMMAND_MS / 1000);
	}
	if (WIFSIGNALED(status))
		return err_set(err, "it was killed by signal %d", WTERMSIG(status));
	if (WEXITSTATUS(status))
		return err_set(err, "it ended with exit code %d", WEXITSTATUS(status));
	return 0;
}

int notice_command_wait_ms(const struct notice_command *c, int64_t now_ms)
{
	if (!c->pid)
		return -1;
	return c->until_ms - now_ms < REAP_MS ? (c->until_ms > now_ms ? 1 : 0) : REAP_MS;
}

void notice_command_end(struct notice_command *c)
{
	int64_t until = loop_now_ms() + END_MS;
	int status;

	while (c->pid && !reap(c, WNOHANG, &status) && loop_now_ms() < until)
		poll(NULL, 0, END_POLL_MS);
	if (c->pid)
		kill_group(c);
}
