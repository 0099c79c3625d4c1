/* Everything needed to restore the terminal is prepared in advance: the escape sequences, and, on a
 * page shared with the guardian, the armed flag and the terminal modes. Restoring is then a write()
 * and a tcsetattr(), which are async-signal-safe.
 *
 * The guardian is a child process that holds the terminal and the read end of a pipe, nothing else.
 * Nothing is ever written to the pipe: end of file means that the parent has died, by whatever
 * cause, and the armed flag tells whether the terminal must be restored. The guardian is in a
 * session of its own: no signal for the terminal's processes reaches it, and job control does not
 * stop its tcsetattr. guard_close ends it by SIGKILL. */
#include "term/guard.h"

#include "base/err.h"
#include "base/io.h"
#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

struct guard_shared {
	atomic_int armed;
	struct termios before, ours;
};

/* Crashes, which are always handled, then signals handled only where the action is the default. */
static const int fatal_signals[] = {
	SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSYS, SIGTERM, SIGHUP, SIGINT, SIGQUIT,
};
enum { CRASH_SIGNALS = 6, FATAL_SIGNALS = sizeof(fatal_signals) / sizeof(fatal_signals[0]) };

static struct {
	pid_t owner; /* 0 = closed */
	int out;
	struct guard_shared *shared;
	char restore[1024];
	size_t restore_n;
	pid_t guardian; /* 0 = none */
	int pipe;       /* write end: the guardian waits until it is closed */
	struct sigaction previous[FATAL_SIGNALS];
} guard;

/* Alternate signal stack for stack overflows; static, since the heap may be corrupt. */
static char signal_stack[64 * 1024];

static bool modes_eq(const struct termios *a, const struct termios *b)
{
	return a->c_iflag == b->c_iflag && a->c_oflag == b->c_oflag && a->c_lflag == b->c_lflag &&
	       a->c_cc[VMIN] == b->c_cc[VMIN] && a->c_cc[VTIME] == b->c_cc[VTIME];
}

static void restore_terminal(int out)
{
	struct termios now;

	io_write_all(out, str_make(guard.restore, guard.restore_n), NULL);
	if (tcgetattr(out, &now) == 0 && modes_eq(&now, &guard.shared->ours))
		tcsetattr(out, TCSANOW, &guard.shared->before);
}

bool guard_restore(void)
{
	int saved = errno;

	if (!guard_is_armed() || !atomic_exchange(&guard.shared->armed, 0))
		return false;
	restore_terminal(guard.out);
	errno = saved;
	return true;
}

/* Call only once the terminal is restored. Reaps the guardian even in a signal handler, so that it
 * does not stay a zombie where init does not reap (containers). */
static void dismiss_guardian(void)
{
	int status, saved = errno;
	pid_t pid = guard.guardian;

	guard.guardian = 0;
	/* WNOHANG first: if it was reaped, its pid may have been reused */
	if (pid && waitpid(pid, &status, WNOHANG) == 0 && kill(pid, SIGKILL) == 0) {
		while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
			;
	}
	errno = saved;
}

static void restore_on_bug(void)
{
	guard_restore();
}

/* All signals are blocked here, so nothing interrupts; what is raised is delivered on return. */
static void on_fatal_signal(int number, siginfo_t *info, void *context)
{
	(void)context;
	guard_restore();
	if (getpid() == guard.owner)
		dismiss_guardian();
	for (int i = 0; i < FATAL_SIGNALS; i++)
		if (fatal_signals[i] == number)
			sigaction(number, &guard.previous[i], NULL);
	/* a real fault recurs on return and reaches the previous handler with its siginfo */
	if (info->si_code > 0 && (number == SIGSEGV || number == SIGBUS || number == SIGFPE ||
				  number == SIGILL))
		return;
	raise(number);
}

static void install_handlers(void)
{
	struct sigaction ours = { .sa_sigaction = on_fatal_signal,
				  .sa_flags = SA_SIGINFO | SA_ONSTACK };

	sigfillset(&ours.sa_mask);
	for (int i = 0; i < FATAL_SIGNALS; i++) {
		struct sigaction *previous = &guard.previous[i];

		sigaction(fatal_signals[i], NULL, previous);
		if (i < CRASH_SIGNALS ||
		    (!(previous->sa_flags & SA_SIGINFO) && previous->sa_handler == SIG_DFL))
			sigaction(fatal_signals[i], &ours, NULL);
	}
}

/* Leaves signals alone whose handler was replaced meanwhile. */
static void uninstall_handlers(void)
{
	struct sigaction now;

	for (int i = 0; i < FATAL_SIGNALS; i++) {
		if (sigaction(fatal_signals[i], NULL, &now) == 0 && (now.sa_flags & SA_SIGINFO) &&
		    now.sa_sigaction == on_fatal_signal)
			sigaction(fatal_signals[i], &guard.previous[i], NULL);
	}
}

static void use_signal_stack(void)
{
	stack_t stack = { .ss_sp = signal_stack, .ss_size = sizeof(signal_stack) }, now;

	if (sigaltstack(NULL, &now) == 0 && (now.ss_flags & SS_DISABLE))
		sigaltstack(&stack, NULL);
}

static void close_from(int first)
{
	long limit;

#ifdef SYS_close_range
	if (syscall(SYS_close_range, (unsigned)first, ~0u, 0u) == 0)
		return;
#endif
	limit = sysconf(_SC_OPEN_MAX);
	for (int fd = first; fd < (limit > 0 && limit < 65536 ? (int)limit : 65536); fd++)
		close(fd);
}

/* Renames the process, so that `pkill gavel` does not kill the guardian, too. */
static void rename_process(void)
{
	static const char name[] = "tty-guardian";
	char arguments[4096];
	ssize_t n;
	int fd;

	prctl(PR_SET_NAME, name);
	fd = open("/proc/self/cmdline", O_RDONLY);
	n = fd < 0 ? 0 : read(fd, arguments, sizeof(arguments));
	if (n > (ssize_t)sizeof(name) &&
	    memcmp(program_invocation_name, arguments, (size_t)n) == 0) {
		memset(program_invocation_name, 0, (size_t)n);
		memcpy(program_invocation_name, name, sizeof(name));
	}
	if (fd >= 0)
		close(fd);
}

/* The shell learns of the parent's death at the same time, and what it prints before the guardian
 * has run is lost with the alternate screen: real-time priority, where that is allowed. */
static void request_realtime(void)
{
	struct sched_param first = { .sched_priority = 1 };

	sched_setscheduler(0, SCHED_FIFO, &first);
}

/* Runs after fork in a program that may have threads: async-signal-safe calls only. All signals
 * are and stay blocked. */
static _Noreturn void run_guardian(int pipe_end, int out)
{
	char byte;
	ssize_t n;

	setsid();
	/* first move both above 1, since either may be 0 or 1 already */
	pipe_end = fcntl(pipe_end, F_DUPFD, 2);
	out = fcntl(out, F_DUPFD, 2);
	if (pipe_end < 0 || out < 0 || dup2(pipe_end, 0) < 0 || dup2(out, 1) < 0)
		_exit(1);
	close_from(2);
	if (chdir("/") != 0)
		_exit(1);
	rename_process();
	request_realtime();
	do
		n = read(0, &byte, 1);
	while (n < 0 && errno == EINTR);
	if (atomic_exchange(&guard.shared->armed, 0))
		restore_terminal(1);
	_exit(0);
}

static void start_guardian(int out)
{
	sigset_t all, before;
	int ends[2];
	pid_t pid;

	if (pipe(ends) != 0)
		return;
	fcntl(ends[0], F_SETFD, FD_CLOEXEC);
	fcntl(ends[1], F_SETFD, FD_CLOEXEC);
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	pid = fork();
	if (pid == 0)
		run_guardian(ends[0], out);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	close(ends[0]);
	if (pid < 0) {
		close(ends[1]);
		return;
	}
	guard.guardian = pid;
	guard.pipe = ends[1];
}

void guard_open(int out, struct str restore)
{
	if (guard.owner)
		BUG("the terminal is guarded already");
	if (!guard.shared) {
		void *page = mmap(NULL, sizeof(struct guard_shared), PROT_READ | PROT_WRITE,
				  MAP_SHARED | MAP_ANONYMOUS, -1, 0);

		if (page == MAP_FAILED)
			out_of_memory(sizeof(struct guard_shared));
		guard.shared = page;
	}
	atomic_store(&guard.shared->armed, 0);
	guard.owner = getpid();
	guard.out = out;
	guard.restore_n = restore.n < sizeof(guard.restore) ? restore.n : sizeof(guard.restore);
	memcpy(guard.restore, restore.p, guard.restore_n);
	start_guardian(out);
	use_signal_stack();
	install_handlers();
	bug_hook = restore_on_bug;
}

void guard_arm(const struct termios *before, const struct termios *ours)
{
	atomic_store(&guard.shared->armed, 0);
	guard.shared->before = *before;
	guard.shared->ours = *ours;
	atomic_store(&guard.shared->armed, 1);
}

void guard_disarm(void)
{
	if (guard_is_armed())
		atomic_store(&guard.shared->armed, 0);
}

bool guard_is_armed(void)
{
	return guard.shared && getpid() == guard.owner && atomic_load(&guard.shared->armed);
}

void guard_close(void)
{
	if (!guard.owner || getpid() != guard.owner)
		return;
	guard_disarm();
	uninstall_handlers();
	bug_hook = NULL;
	if (guard.guardian)
		close(guard.pipe);
	dismiss_guardian();
	guard.owner = 0;
}
