/* gavel-holder NAME RUN PROGRAM ARG0 [ARG...]: see holder.h. Started by gavel, not by people. */
#include "holder/holder.h"

#include "base/io.h"
#include "base/timestamp.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CAPTURE_FD = 3, STDERR_FD, FOLDER_FD, REPORT_FD, ABOVE_FD };

static void close_from(int from)
{
	struct rlimit limit;

#ifdef SYS_close_range
	if (syscall(SYS_close_range, (unsigned)from, ~0U, 0U) == 0)
		return;
#endif
	if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur > 1 << 16)
		limit.rlim_cur = 1 << 16;
	for (int fd = from; fd < (int)limit.rlim_cur; fd++)
		close(fd);
}

static int usage(void)
{
	dprintf(STDERR_FILENO, "gavel-holder keeps an agent running; gavel run starts it\n");
	return 2;
}

/* The descriptors that gavel passes are not for the agent. */
static bool take_descriptors(void)
{
	for (int fd = CAPTURE_FD; fd <= REPORT_FD; fd++)
		if (fcntl(fd, F_SETFD, FD_CLOEXEC) < 0)
			return false;
	close_from(ABOVE_FD);
	return true;
}

/* Standard input, output and error are /dev/null, so that no pipe gets one of their numbers. */
static int close_standard(void)
{
	int fd = open("/dev/null", O_RDWR | O_NOCTTY);

	if (fd < 0)
		return -1;
	for (int i = 0; i < 3; i++)
		if (fd != i && dup2(fd, i) < 0)
			return -1;
	if (fd > STDERR_FILENO)
		close(fd);
	return 0;
}

/* TERM and CHLD are read from a descriptor; what a terminal or a limit sends does not matter. */
static int arrange_signals(struct holder *h)
{
	static const int ignored[] = { SIGHUP,  SIGINT,  SIGQUIT, SIGPIPE, SIGTSTP,
				       SIGTTOU, SIGTTIN, SIGUSR1, SIGUSR2, SIGXFSZ };
	sigset_t read_here;

	for (size_t i = 0; i < sizeof(ignored) / sizeof(ignored[0]); i++)
		signal(ignored[i], SIG_IGN);
	signal(SIGCHLD, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	sigemptyset(&read_here);
	sigaddset(&read_here, SIGCHLD);
	sigaddset(&read_here, SIGTERM);
	sigprocmask(SIG_SETMASK, &read_here, NULL);
	h->signals = signalfd(-1, &read_here, SFD_CLOEXEC | SFD_NONBLOCK);
	return h->signals < 0 ? -1 : 0;
}

/* Enough for the first line, so that a full disk is told before anything runs. */
static int open_captures(struct holder *h)
{
	int number;

	if (capture_init(&h->streams[STREAM_OUT].capture, CAPTURE_FD, true) < 0)
		return -1;
	if (capture_init(&h->streams[STREAM_ERR].capture, STDERR_FD, false) < 0)
		return -1;
	number = capture_reserve(&h->streams[STREAM_OUT].capture, RECORD_HEAD);
	if (number)
		errno = number;
	return number ? -1 : 0;
}

/* NULL, or the step that failed and errno. */
static const char *start(struct holder *h)
{
	if (setsid() < 0 || arrange_signals(h) < 0)
		return "session";
	if (close_standard() < 0)
		return "pipes";
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	h->work = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (h->work < 0)
		return "folder";
	if (open_captures(h) < 0)
		return "capture";
	if (serve_open(h) < 0)
		return "socket";
	return agent_start(h);
}

static void record_run(struct holder *h)
{
	char line[128];
	int n = snprintf(line, sizeof(line), "{\"gavel\":\"run\",\"n\":%lu,\"pid\":%ld,\"t\":%lld}",
			 h->run, (long)h->pid, (long long)timestamp_now_ms());

	h->start = h->streams[STREAM_OUT].capture.end;
	capture_control(&h->streams[STREAM_OUT].capture, str_make(line, (size_t)n), monotonic_ms());
}

static int hold(struct holder *h)
{
	const char *failed = start(h);
	int number = errno;

	if (failed) {
		serve_close(h);
		dprintf(REPORT_FD, "failed %s %d\n", failed, number);
		return 1;
	}
	fd_close(&h->work);
	record_run(h);
	dprintf(REPORT_FD, "started %ld\n", (long)h->pid);
	close(REPORT_FD);
	holder_run(h);
	return 0;
}

int main(int argc, char **argv)
{
	static struct holder h = { .folder = FOLDER_FD,
				   .work = -1,
				   .signals = -1,
				   .listener = -1,
				   .streams = { { .capture.fd = CAPTURE_FD },
						{ .capture.fd = STDERR_FD } },
				   .input = { .fd = -1, .asked = -1 } };
	uint64_t run;
	pid_t pid;

	if (argc < 5 || !str_to_u64(str_of(argv[2]), &run) || !take_descriptors())
		return usage();
	h.name = argv[1];
	h.run = (unsigned long)run;
	h.program = argv[3];
	h.argv = argv + 4;
	for (int i = 0; i < CLIENTS_MAX; i++)
		h.clients[i].fd = -1;
	pid = fork();
	if (pid < 0) {
		dprintf(REPORT_FD, "failed session %d\n", errno);
		return 1;
	}
	return pid ? 0 : hold(&h);
}
