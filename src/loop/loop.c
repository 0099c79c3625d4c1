/* Event loop primitives: poll(2), signals through a self-pipe, the monotonic clock. */
#include "loop/loop.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int pipe_fd[2] = { -1, -1 };
static const int caught[] = { SIGWINCH, SIGTERM, SIGHUP, SIGINT, SIGCONT, SIGTSTP };
enum { CAUGHT = sizeof(caught) / sizeof(caught[0]) };
static struct sigaction before[CAUGHT];

static void on_signal(int number)
{
	int saved = errno;
	unsigned char byte = (unsigned char)number;

	/* EAGAIN is fine: a full pipe wakes the loop anyway */
	(void)!write(pipe_fd[1], &byte, 1);
	errno = saved;
}

int loop_open(struct err *err)
{
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_RESTART };

	if (pipe2(pipe_fd, O_CLOEXEC | O_NONBLOCK) < 0)
		return err_set(err, "cannot make a pipe: %s", strerror(errno));
	sigemptyset(&action.sa_mask);
	for (unsigned i = 0; i < CAUGHT; i++)
		sigaction(caught[i], &action, &before[i]);
	return 0;
}

void loop_close(void)
{
	if (pipe_fd[0] < 0)
		return;
	for (unsigned i = 0; i < CAUGHT; i++)
		sigaction(caught[i], &before[i], NULL);
	close(pipe_fd[0]);
	close(pipe_fd[1]);
	pipe_fd[0] = pipe_fd[1] = -1;
}

int loop_wait(int fd, const struct loop_fd *others, unsigned n, int timeout_ms)
{
	struct pollfd fds[2 + LOOP_OTHERS_MAX] = { { pipe_fd[0], POLLIN, 0 }, { fd, POLLIN, 0 } };
	int bits;

	if (n > LOOP_OTHERS_MAX)
		BUG("%u descriptors to wait for", n);
	for (unsigned i = 0; i < n; i++)
		fds[2 + i] = (struct pollfd){
			others[i].fd, (short)(POLLIN | (others[i].output ? POLLOUT : 0)), 0
		};
	if (poll(fds, 2 + n, timeout_ms) <= 0)
		return 0; /* EINTR: the signal is in the pipe, seen by the next call */
	bits = (fds[0].revents ? LOOP_SIGNAL : 0) | (fds[1].revents ? LOOP_INPUT : 0);
	for (unsigned i = 0; i < n; i++)
		bits |= fds[2 + i].revents ? LOOP_SOURCE : 0;
	return bits;
}

int loop_signal(void)
{
	unsigned char byte;

	return read(pipe_fd[0], &byte, 1) == 1 ? byte : 0;
}

/* Dispositions of the terminal's signals while a child program has the terminal. */
static const struct {
	int number;
	void (*handler)(int);
} foreground[] = { { SIGTSTP, SIG_DFL }, { SIGINT, SIG_IGN }, { SIGQUIT, SIG_IGN } };

int loop_run_foreground(const char *file, const char *const argv[])
{
	enum { N = sizeof(foreground) / sizeof(foreground[0]) };
	struct sigaction kept[N];
	int code = -1, status, saved;
	pid_t child, ended = -1;

	for (unsigned i = 0; i < N; i++)
		sigaction(foreground[i].number,
			  &(struct sigaction){ .sa_handler = foreground[i].handler }, &kept[i]);
	child = fork();
	if (child == 0) {
		for (unsigned i = 0; i < N; i++)
			signal(foreground[i].number, SIG_DFL);
		execv(file, (char *const *)(uintptr_t)argv);
		_exit(127);
	}
	while (child > 0 && (ended = waitpid(child, &status, 0)) < 0 && errno == EINTR)
		;
	if (ended > 0)
		code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	saved = errno;
	for (unsigned i = 0; i < N; i++)
		sigaction(foreground[i].number, &kept[i], NULL);
	errno = saved;
	return code;
}

int64_t loop_now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}
