/* fork and exec of the agent: pipes, a session of its own, its folder. No shell: argv is passed as it
 * is. Between fork and exec an error is reported through a close-on-exec pipe. */
#include "holder/holder.h"

#include "base/io.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum start_step { START_PIPES, START_SESSION, START_FOLDER, START_PROGRAM };

static const char *const step_names[] = { [START_PIPES] = "pipes",
					  [START_SESSION] = "session",
					  [START_FOLDER] = "folder",
					  [START_PROGRAM] = "program" };

struct start_report {
	enum start_step step;
	int number;
};

/* Both ends of the three pipes, and the pipe that reports errors before exec. */
struct pipe_ends {
	int agent[3], ours[3];
	int report[2];
};

static _Noreturn void report_failure(int report, enum start_step step)
{
	struct start_report r = { step, errno };

	(void)!write(report, &r, sizeof(r));
	_exit(127);
}

static void reset_signals(void)
{
	struct sigaction action = { .sa_handler = SIG_DFL };
	sigset_t none;

	sigemptyset(&action.sa_mask);
	for (int i = 1; i < NSIG; i++)
		sigaction(i, &action, NULL); /* fails for KILL, STOP and libc's own: fine */
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/* TERM when the holder is killed: no agent is to run unsupervised, and not all exit on a closed pipe. */
static void set_parent_death_signal(pid_t parent)
{
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		_exit(127); /* the parent died before prctl */
}

/* All descriptors of the holder but 0, 1 and 2 are close-on-exec, and those are /dev/null: so none of
 * the pipes' ends is one of them. */
static _Noreturn void exec_agent(const struct holder *h, const struct pipe_ends *e, pid_t parent)
{
	int report = e->report[1];

	for (int i = 0; i < 3; i++)
		if (dup2(e->agent[i], i) < 0)
			report_failure(report, START_PIPES);
	/* a new session has no controlling terminal: no /dev/tty, TIOCSTI or job control signals */
	if (setsid() < 0)
		report_failure(report, START_SESSION);
	if (fchdir(h->work) < 0)
		report_failure(report, START_FOLDER);
	reset_signals();
	set_parent_death_signal(parent);
	execve(h->program, h->argv, environ);
	report_failure(report, START_PROGRAM);
}

/* As large as the user's pipe memory limit allows; smaller ones work, too. */
static void enlarge_pipe(int fd)
{
#ifdef F_SETPIPE_SZ
	for (int bytes = PIPE_BYTES; bytes > 64 << 10; bytes /= 2)
		if (fcntl(fd, F_SETPIPE_SZ, bytes) >= 0)
			return;
#else
	(void)fd;
#endif
}

/* Capacity of a pipe: F_SETPIPE_SZ may have been refused. */
static int pipe_room(int fd)
{
	int bytes = -1;

#ifdef F_GETPIPE_SZ
	bytes = fcntl(fd, F_GETPIPE_SZ);
#endif
	return bytes > 0 ? bytes : PIPE_BUF;
}

static int make_pipes(struct pipe_ends *e)
{
	*e = (struct pipe_ends){ { -1, -1, -1 }, { -1, -1, -1 }, { -1, -1 } };
	for (int i = 0; i < 3; i++) {
		int fds[2], mine;

		if (pipe2(fds, O_CLOEXEC) < 0)
			return -1;
		mine = i == 0; /* the end we write to */
		e->ours[i] = fds[mine];
		e->agent[i] = fds[!mine];
		if (fcntl(e->ours[i], F_SETFL, O_NONBLOCK) < 0)
			return -1;
		if (i > 0)
			enlarge_pipe(e->ours[i]);
	}
	return pipe2(e->report, O_CLOEXEC);
}

static void close_ends(int *fds, int n)
{
	for (int i = 0; i < n; i++)
		fd_close(&fds[i]);
}

/* Waits for exec to succeed (end of file) or for an error report. */
static bool read_report(int fd, struct start_report *r)
{
	ssize_t got;

	IO_RETRY(got, read(fd, r, sizeof(*r)));
	return got == (ssize_t)sizeof(*r);
}

const char *agent_start(struct holder *h)
{
	struct start_report report = { START_PIPES, 0 };
	pid_t parent = getpid(), pid = -1;
	struct pipe_ends e;

	if (make_pipes(&e) == 0) {
		pid = fork();
		if (pid == 0)
			exec_agent(h, &e, parent);
	}
	if (pid < 0)
		report.number = errno;
	close_ends(e.agent, 3);
	close_ends(&e.report[1], 1);
	if (pid >= 0 && read_report(e.report[0], &report))
		while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
			;
	close_ends(e.report, 1);
	if (report.number) {
		close_ends(e.ours, 3);
		errno = report.number;
		return step_names[report.step];
	}
	h->pid = pid;
	h->input.fd = e.ours[0];
	for (int i = 0; i < STREAMS; i++) {
		h->streams[i].fd = e.ours[1 + i];
		h->streams[i].room = pipe_room(e.ours[1 + i]);
	}
	return NULL;
}
