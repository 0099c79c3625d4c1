/* Agents with real holders in a folder of the test's own. Holders outlive whoever started them, so
 * the test is their subreaper, and ends all that it finds below itself; if it fails before that, a
 * process that watches it does. Waits are for a state, with a deadline. */
#ifndef GAVEL_TESTS_HELD_H
#define GAVEL_TESTS_HELD_H

#include "base/buf.h"
#include "base/io.h"
#include "source/child.h"

#include "folder.h"
#include "unit.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

enum { PATIENCE_MS = 30000, CAPTURE_MAX = 64 << 20, KEPT_MAX = 256 };

static struct children *pool;
static struct buf text; /* of the last read */
static int watcher = -1;

/* Gets the pids that run. */
static void watch_test(void)
{
	pid_t pids[KEPT_MAX];
	int n = 0, fds[2];

	ck_assert_int_eq(pipe2(fds, O_CLOEXEC), 0);
	watcher = fds[1];
	if (fork()) {
		close(fds[0]);
		return;
	}
	close(fds[1]);
	setsid();
	while (n < KEPT_MAX && read(fds[0], &pids[n], sizeof(pids[n])) == (ssize_t)sizeof(pids[n]))
		if (pids[n] > 1)
			n++;
	while (n-- > 0)
		kill(pids[n], SIGKILL);
	_exit(0);
}

static inline void keep(pid_t pid)
{
	ck_assert_int_gt(pid, 1);
	ck_assert_int_eq(write(watcher, &pid, sizeof(pid)), (ssize_t)sizeof(pid));
}

static void held_open(void)
{
	struct rlimit limit = { CAPTURE_MAX, CAPTURE_MAX };
	struct err err;

	io_reset();
	make_folder();
	ck_assert_int_eq(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	/* whatever goes wrong, no disk is filled */
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	watch_test();
	pool = children_open(folder, &err);
	ck_assert_msg(pool != NULL, "%s", err.text);
}

/* Holders first: an orphaned agent becomes a child of this process. */
static inline void kill_children(void)
{
	char path[64], list[4096];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%d/children", getpid());
	while (waitpid(-1, NULL, WNOHANG) >= 0) {
		char *at = list;
		size_t n;

		f = fopen(path, "r");
		ck_assert_ptr_nonnull(f);
		n = fread(list, 1, sizeof(list) - 1, f);
		list[n] = '\0';
		fclose(f);
		for (long pid; (pid = strtol(at, &at, 10)) > 1;)
			kill((pid_t)pid, SIGKILL);
		poll(NULL, 0, 1);
	}
}

static void held_close(void)
{
	io_reset();
	children_close(pool);
	kill_children();
	close(watcher);
	buf_release(&text);
	remove_folder();
}

static inline const char *fake_agent(void)
{
	const char *path = getenv("FAKE_AGENT");

	ck_assert_msg(path != NULL, "FAKE_AGENT must name tests/tools/fake_agent");
	return path;
}

static inline pid_t parent_of(pid_t pid)
{
	char path[64], line[512] = "";
	int parent = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	f = fopen(path, "r");
	if (!f)
		return 0;
	if (fgets(line, sizeof(line), f) && strrchr(line, ')'))
		sscanf(strrchr(line, ')') + 1, " %*c %d", &parent);
	fclose(f);
	return parent;
}

/* The holder of an agent that runs, 0 = it has ended meanwhile. */
static inline pid_t keep_both(const struct child *c)
{
	pid_t holder = parent_of(c->pid);

	if (holder <= 1 || holder == getpid())
		return 0;
	keep(holder);
	keep(c->pid);
	return holder;
}

/* The fake agent with these lines of script, NULL last. */
static inline struct child *start(const char *name, ...)
{
	const char *argv[20] = { fake_agent() };
	struct child_spec spec = { .name = name, .argv = argv };
	struct child *c;
	struct err err;
	va_list args;

	va_start(args, name);
	for (int i = 1; (argv[i] = va_arg(args, const char *)); i++)
		ck_assert_int_lt(i, 18);
	va_end(args);
	c = child_start(pool, &spec, &err);
	ck_assert_msg(c != NULL, "%s", err.text);
	keep_both(c);
	return c;
}

/* One turn of a loop: waits for news, at most a little, and looks. */
static inline void turn(int64_t until_ms)
{
	struct pollfd fd = { .fd = children_fd(pool), .events = POLLIN };

	ck_assert_msg(unit_now_ms() < until_ms, "it took too long");
	poll(&fd, 1, 5);
	children_tick(pool, unit_now_ms());
}

#define wait_until(condition) \
	for (int64_t until_ = unit_now_ms() + PATIENCE_MS; !(condition);) \
	turn(until_)

static inline const char *read_whole(const char *name)
{
	int fd = open(path_of(name), O_RDONLY | O_CLOEXEC);

	buf_clear(&text);
	buf_reserve(&text, 1);
	text.p[0] = '\0';
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(io_read_rest(fd, CAPTURE_MAX, &text), 0);
	close(fd);
	buf_addc(&text, '\0');
	text.n--;
	return text.p;
}

static inline bool has(const char *name, const char *part)
{
	return strstr(read_whole(name), part) != NULL;
}

static inline unsigned count_in(const char *name, const char *part)
{
	unsigned n = 0;

	for (const char *at = read_whole(name); (at = strstr(at, part)); at++)
		n++;
	return n;
}

/* What the agent said: the capture without the lines that begin with a tab. */
static inline const char *read_said(const char *name)
{
	char *to, *at;

	read_whole(name);
	to = at = text.p;
	while (*at) {
		size_t n = strcspn(at, "\n");

		n += at[n] == '\n';
		if (*at != '\t') {
			memmove(to, at, n);
			to += n;
		}
		at += n;
	}
	*to = '\0';
	text.n = (size_t)(to - text.p);
	return text.p;
}

/* Stands still when this returns. */
static inline void freeze(pid_t pid)
{
	char path[64], stat[256] = "";

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	kill(pid, SIGSTOP);
	for (int64_t until = unit_now_ms() + PATIENCE_MS; !strstr(stat, ") T ");) {
		int fd = open(path, O_RDONLY);

		ck_assert_int_lt(unit_now_ms(), until);
		(void)!read(fd, stat, sizeof(stat) - 1);
		close(fd);
	}
}

#endif
