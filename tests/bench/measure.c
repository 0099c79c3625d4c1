/*
 * measure - runs a command and prints its cost: `SECONDS PEAK_KIB CPU_SECONDS STATUS`.
 *
 * Wall time, peak resident memory and the time of all processors, from wait4(2). The command reads nothing and writes to
 * /dev/null. Linux counts the memory of a process from before its exec too, which is why this is
 * a small program and not a shell or an interpreter. A signal N gives the status 128 + N.
 *
 * Processes that the command leaves behind are not counted, but waited for, so that they do not
 * meddle with what is measured next.
 */
#ifndef _DEFAULT_SOURCE
#define _DEFAULT_SOURCE
#endif

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void
child_run(char **argv)
{
	int null = open("/dev/null", O_RDWR);

	if (null >= 0 && dup2(null, STDIN_FILENO) >= 0 && dup2(null, STDOUT_FILENO) >= 0 &&
	    dup2(null, STDERR_FILENO) >= 0)
		execvp(argv[0], argv);
	_exit(127);
}

static double
seconds_of(const struct timeval *t)
{
	return (double)t->tv_sec + (double)t->tv_usec / 1e6;
}

static double
seconds_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

int
main(int argc, char **argv)
{
	struct rusage usage;
	double start;
	pid_t child;
	int status;

	if (argc < 2) {
		fputs("usage: measure COMMAND [ARGUMENT...]\n", stderr);
		return 2;
	}
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	start = seconds_now();
	child = fork();
	if (child == 0)
		child_run(argv + 1);
	if (child < 0 || wait4(child, &status, 0, &usage) < 0) {
		fprintf(stderr, "measure: %s: %s\n", argv[1], strerror(errno));
		return 2;
	}
	printf("%.6f %ld %.6f %d\n", seconds_now() - start, usage.ru_maxrss,
	       seconds_of(&usage.ru_utime) + seconds_of(&usage.ru_stime),
	       WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status));
	while (wait(NULL) > 0)
		;
	return 0;
}
