/* Running agents: a scripted one (tests/tools/fake_agent.c) is started, flooded from, stopped,
 * killed. Nothing sleeps: each test waits for a state, and the steps of a stop are driven by a
 * clock of the test's own. */
#include "base/io.h"
#include "base/mem.h"
#include "source/child_internal.h"

#include "folder.h"
#include "unit.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static struct children *pool;
static int fds_before;

static int count_fds(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int n = 0;

	ck_assert_ptr_nonnull(dir);
	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

static void set_up(void)
{
	struct err err;

	make_folder();
	fds_before = count_fds();
	pool = children_open(NULL, &err);
	ck_assert_msg(pool != NULL, "%s", err.text);
}

/* Whatever a test did: nothing is left of it. */
static void tear_down(void)
{
	io_reset();
	children_close(pool, NULL);
	ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);
	ck_assert_int_eq(errno, ECHILD);
	ck_assert_int_eq(count_fds(), fds_before);
	remove_folder();
}

static const char *fake_agent(void)
{
	const char *path = getenv("FAKE_AGENT");

	ck_assert_msg(path != NULL, "FAKE_AGENT must name tests/tools/fake_agent");
	return path;
}

/* The fake agent with these lines of script, NULL last. */
static struct child *start(const char *name, ...)
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
	c = child_start(pool, &spec, unit_now_ms(), &err);
	ck_assert_msg(c != NULL, "%s", err.text);
	return c;
}

enum { PATIENCE_MS = 60000 };

/* One turn of a loop: waits for news, looks. */
static void turn(int64_t until_ms)
{
	struct pollfd fd = { .fd = children_fd(pool), .events = POLLIN };
	int wait = children_wait_ms(pool, unit_now_ms());

	ck_assert_msg(unit_now_ms() < until_ms, "it took too long");
	poll(&fd, 1, wait < 0 ? PATIENCE_MS : wait);
	children_tick(pool, unit_now_ms());
}

#define wait_until(condition) \
	for (int64_t until_ = unit_now_ms() + PATIENCE_MS; !(condition);) \
	turn(until_)

static struct buf text; /* of the last read_capture */

static const char *read_capture(const struct child_capture *from)
{
	struct err err;
	size_t n = (size_t)(from->source.end - from->source.start);

	buf_clear(&text);
	buf_reserve(&text, n + 1);
	ck_assert_msg(source_fetch(&from->source, from->source.start, n, text.p, &err) == 0, "%s",
		      err.text);
	text.n = n;
	text.p[n] = '\0';
	return text.p;
}

#define has_line(capture, line) (strstr(read_capture(capture), line "\n") != NULL)

static void write_text(const char *path, const char *bytes, mode_t mode)
{
	write_with(path, O_TRUNC, mode, str_of(bytes));
}

/* As a channel does. */
static void tell(struct child *c, const char *line)
{
	ck_assert_int_eq(write(c->input.fd, line, strlen(line)), (ssize_t)strlen(line));
	c->input.sent += strlen(line);
}

/* Stands still when this returns. */
static void freeze(const struct child *c)
{
	siginfo_t info;

	ck_assert_int_eq(kill(c->pid, SIGSTOP), 0);
	ck_assert_int_eq(waitid(P_PID, (id_t)c->pid, &info, WSTOPPED | WNOWAIT), 0);
}

static bool lives(pid_t pid)
{
	char path[64], stat_text[256] = "";
	int fd;

	/* orphans are reaped by whoever adopts them, perhaps late */
	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	fd = open(path, O_RDONLY);
	if (fd < 0)
		return false;
	(void)!read(fd, stat_text, sizeof(stat_text) - 1);
	close(fd);
	return stat_text[0] && !strstr(stat_text, ") Z ");
}

/* The process that fork-child spoke of. */
static pid_t pid_told(struct child *c)
{
	const char *at;

	wait_until((at = strstr(read_capture(&c->out), "child ")) && strchr(at, '\n'));
	return (pid_t)atoi(at + 6);
}

/* ---- starting ---- */

static void refused(const char *program, const char *want)
{
	const char *argv[] = { program, "x", NULL };
	struct child_spec spec = { .name = "worker", .argv = argv };
	struct err err = { "" };

	ck_assert_ptr_null(child_start(pool, &spec, 0, &err));
	ck_assert_str_eq(err.text, want);
}

START_TEST(what_cannot_run_says_why)
{
	char want[600];

	clearenv();
	setenv("PATH", "/usr/bin:relative:/bin", 1);
	refused("no-such-program", "worker: cannot run no-such-program: No such file or directory; "
				   "check the name, and its first line if it is a script");
	setenv("SHLVL", "1", 1);
	setenv("OPENAI_API_KEY", "geheim", 1);
	refused("", "worker: cannot run : No such file or directory; check the name, and its first "
		    "line "
		    "if it is a script; not passed on (--env NAME): OPENAI_API_KEY, SHLVL");
	unsetenv("SHLVL");
	unsetenv("OPENAI_API_KEY");
	snprintf(want, sizeof(want),
		 "worker: cannot run %s: Permission denied; check who may run it (chmod +x)",
		 folder);
	refused(folder, want);
	write_text(path_of("script"), "touch ran\n", 0700);
	snprintf(want, sizeof(want),
		 "worker: cannot run %s: Exec format error; not a program; a script begins with "
		 "#! "
		 "and its interpreter",
		 path_of("script"));
	refused(path_of("script"), want);
	write_text(path_of("lost"), "#!/no/such/interpreter\n", 0700);
	snprintf(want, sizeof(want),
		 "worker: cannot run %s: No such file or directory; check the name, and its first "
		 "line "
		 "if it is a script",
		 path_of("lost"));
	refused(path_of("lost"), want);
	ck_assert_uint_eq(pool->list.n, 0);
}
END_TEST

START_TEST(many_withheld_names_are_counted)
{
	struct err err;
	const char *argv[] = { "/no/such", NULL };
	struct child_spec spec = { .name = "worker", .argv = argv };

	clearenv();
	for (int i = 0; i < 100; i++) {
		char name[32];

		snprintf(name, sizeof(name), "SOME_VARIABLE_%d", i);
		setenv(name, "x", 1);
	}
	setenv("Z_TOKEN", "x", 1);
	setenv("odd\x1b[31m", "x", 1);
	ck_assert_ptr_null(child_start(pool, &spec, 0, &err));
	assert_says(err, "not passed on (--env NAME): Z_TOKEN, SOME_VARIABLE_0, ");
	assert_says(err, " more");
	ck_assert_ptr_null(strchr(err.text, '\x1b'));
}
END_TEST

START_TEST(folders_and_names_are_looked_at)
{
	const char *argv[] = { fake_agent(), NULL }, *nothing[] = { NULL };
	struct child_spec spec = { .name = "worker", .argv = argv, .folder = "/no/such/folder" };
	static const char *const names[] = { "", ".hidden", "a/b", "a#1", "a b", "\xc3\xa4" };
	struct err err;

	ck_assert_ptr_null(child_start(pool, &spec, 0, &err));
	ck_assert_str_eq(err.text,
			 "worker: cannot work in /no/such/folder: No such file or directory; "
			 "check the folder");
	spec.folder = NULL;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		spec.name = names[i];
		ck_assert_ptr_null(child_start(pool, &spec, 0, &err));
		assert_says(err, "is no name for an agent; use");
	}
	spec.name = "worker";
	spec.argv = nothing;
	ck_assert_ptr_null(child_start(pool, &spec, 0, &err));
	assert_says(err, "no command to run");
	start("worker", "stall", NULL);
	spec.argv = argv;
	ck_assert_ptr_null(child_start(pool, &spec, 0, &err));
	assert_says(err, "two agents have this name");
}
END_TEST

START_TEST(without_descriptors_nothing_starts_and_nothing_is_left)
{
	const char *argv[] = { fake_agent(), NULL };
	struct child_spec spec = { .name = "worker", .argv = argv };
	struct rlimit limit, few;
	struct err err;
	int n = 0, before = count_fds();

	getrlimit(RLIMIT_NOFILE, &limit);
	do {
		few = limit;
		few.rlim_cur = (rlim_t)(before - 3 + n);
		ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &few), 0);
		if (child_start(pool, &spec, 0, &err))
			break;
		setrlimit(RLIMIT_NOFILE, &limit);
		assert_says(err, "Too many open files");
		ck_assert_int_eq(count_fds(), before);
		ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);
	} while (++n < 30);
	setrlimit(RLIMIT_NOFILE, &limit);
	ck_assert_int_gt(n, 5);
	ck_assert_int_lt(n, 30);
}
END_TEST

START_TEST(words_arrive_as_they_are)
{
	struct child *c = start("worker", "show-args", "--", "a;b", "$(touch ran)", "two words", "",
				"*", "`id`", "'\"\\", NULL);

	wait_until(c->life == CHILD_OVER);
	ck_assert_str_eq(read_capture(&c->out), "a;b\n$(touch ran)\ntwo words\n\n*\n`id`\n'\"\\\n");
}
END_TEST

START_TEST(a_script_gets_its_words_too)
{
	const char *argv[] = { NULL, "a;b", "$x", NULL };
	struct child_spec spec = { .name = "worker", .argv = argv, .folder = "/" };
	struct child *c;
	struct err err;

	write_text(path_of("agent"), "#!/bin/sh\nprintf '%s\\n' \"$@\"\n", 0700);
	ck_assert_int_eq(chdir(folder), 0);
	/* taken from here, though it works elsewhere */
	argv[0] = "./agent";
	c = child_start(pool, &spec, 0, &err);
	ck_assert_msg(c != NULL, "%s", err.text);
	wait_until(c->life == CHILD_OVER);
	ck_assert_str_eq(read_capture(&c->out), "a;b\n$x\n");
	/* and from PATH */
	setenv("PATH", folder, 1);
	spec.name = "other";
	argv[0] = "agent";
	c = child_start(pool, &spec, 0, &err);
	ck_assert_msg(c != NULL, "%s", err.text);
	wait_until(c->life == CHILD_OVER);
	ck_assert_str_eq(read_capture(&c->out), "a;b\n$x\n");
}
END_TEST

START_TEST(the_environment_is_chosen)
{
	const char *argv[] = { fake_agent(), "show-env", NULL };
	const char *named[] = { "WANTED", "MY_TOKEN", "NOT_SET", NULL };
	struct child_spec spec = { .name = "worker", .argv = argv, .env = named };
	struct child *c;
	struct err err;
	char want[400];

	clearenv();
	setenv(CHILD_MARK, "of another gavel", 1);
	setenv("PATH", "/bin", 1);
	setenv("HOME", "/h", 1);
	setenv("LC_ALL", "C", 1);
	setenv("XDG_STATE_HOME", "/s", 1);
	setenv("XDG_SECRET", "x", 1);
	setenv("LC_API_KEY", "x", 1);
	setenv("XDG_my_password_file", "x", 1);
	setenv("TERM", "xterm", 1);
	setenv("LD_PRELOAD", "", 1);
	setenv("PATHS", "x", 1);
	setenv("OTHER_TOKEN", "x", 1);
	setenv("WANTED", "w=1;$(id)", 1);
	setenv("MY_TOKEN", "t", 1);
	c = child_start(pool, &spec, 0, &err);
	ck_assert_msg(c != NULL, "%s", err.text);
	wait_until(c->life == CHILD_OVER);
	snprintf(want, sizeof(want),
		 "PATH=/bin\nHOME=/h\nLC_ALL=C\nXDG_STATE_HOME=/s\nWANTED=w=1;$(id)\nMY_TOKEN=t\n"
		 "TERM=dumb\nGAVEL_AGENT=agent:worker#1-%s\n", pool->tag);
	ck_assert_str_eq(read_capture(&c->out), want);
	ck_assert_str_eq(c->withheld, "XDG_SECRET, LC_API_KEY, XDG_my_password_file, OTHER_TOKEN, "
				      "LD_PRELOAD, PATHS");
}
END_TEST

START_TEST(it_has_its_own_session_folder_and_signals)
{
	const char *argv[] = { fake_agent(), "show-ids", "show-signals", NULL };
	struct child_spec spec = { .name = "worker", .argv = argv, .folder = folder };
	struct child *c;
	struct err err;
	unsigned long long blocked = 1, ignored = 1;
	sigset_t set;
	char want[400];

	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	c = child_start(pool, &spec, 0, &err);
	ck_assert_msg(c != NULL, "%s", err.text);
	wait_until(c->life == CHILD_OVER);
	snprintf(want, sizeof(want), "pid %d group %d session %d\nfolder %s\n", (int)c->pid,
		 (int)c->pid, (int)c->pid, folder);
	ck_assert_msg(strncmp(read_capture(&c->out), want, strlen(want)) == 0, "%s", text.p);
	ck_assert_int_eq(
		sscanf(text.p + strlen(want), "SigBlk:%llx SigIgn:%llx", &blocked, &ignored), 2);
	ck_assert_uint_eq(blocked, 0);
	/* but for the two that libc keeps to itself, and may have got from whoever started us */
	ck_assert_uint_eq(ignored & ~(3ULL << 31), 0);
	/* and ours are as they were */
	ck_assert(signal(SIGPIPE, SIG_DFL) == SIG_IGN);
	sigprocmask(SIG_SETMASK, NULL, &set);
	ck_assert(sigismember(&set, SIGUSR1));
	ck_assert(!sigismember(&set, SIGTERM));
}
END_TEST

START_TEST(it_gets_three_descriptors)
{
	int leak = open("/dev/null", O_RDONLY),
	    far = fcntl(leak, F_DUPFD, 200); /* not closed by exec */
	struct child *first = start("first", "stall", NULL);
	struct child *c = start("worker", "show-fds", NULL);

	wait_until(c->life == CHILD_OVER);
	ck_assert_str_eq(read_capture(&c->out), "0\n1\n2\n");
	ck_assert_int_eq(first->life, CHILD_RUNS);
	close(leak);
	close(far);
}
END_TEST

/* Run in a process that has a terminal; 0 = as it should be. */
static int in_terminal(const char *side)
{
	struct child *c;
	int fd;

	setsid();
	fd = open(side, O_RDWR);
	if (fd < 0 || ioctl(fd, TIOCSCTTY, 0) < 0)
		return 2;
	for (int i = 0; i <= 2; i++)
		dup2(fd, i);
	if (open("/dev/tty", O_RDWR) < 0)
		return 3;
	c = start("worker", "try-tty", NULL);
	wait_until(c->life == CHILD_OVER);
	read_capture(&c->out);
	if (!strstr(text.p, "open /dev/tty: No such device or address\n"))
		return 4;
	if (strstr(text.p, "typed") || strstr(text.p, ": yes"))
		return 5;
	children_close(pool, NULL);
	return 0;
}

START_TEST(it_has_no_terminal)
{
	int master = posix_openpt(O_RDWR | O_NOCTTY), status = 0;
	struct err err;
	pid_t pid;

	ck_assert_int_ge(master, 0);
	ck_assert_int_eq(grantpt(master), 0);
	ck_assert_int_eq(unlockpt(master), 0);
	children_close(pool, NULL);
	pid = fork();
	if (pid == 0) {
		pool = children_open(NULL, &err);
		_exit(pool ? in_terminal(ptsname(master)) : 6);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "status %x", (unsigned)status);
	close(master);
	pool = children_open(NULL, &err);
	ck_assert_ptr_nonnull(pool);
}
END_TEST

START_TEST(low_descriptors_may_be_free)
{
	struct child *c = start("worker", "echo-back 1", "stderr oops", NULL);
	struct err err;
	int saved[3];

	child_end_input(c);
	wait_until(c->life == CHILD_OVER);
	/* pipes get the numbers 0 to 2, which the child's ends must not be mixed up with */
	for (int i = 0; i < 3; i++)
		saved[i] = fcntl(i, F_DUPFD_CLOEXEC, 100);
	for (int i = 0; i < 3; i++)
		close(i);
	ck_assert_int_eq(child_restart(c, unit_now_ms(), 0, &err), 0);
	for (int i = 0; i < 3; i++)
		if (fcntl(i, F_GETFD) < 0)
			dup2(saved[i], i);
	tell(c, "hello\n");
	wait_until(c->life == CHILD_OVER);
	ck_assert_str_eq(read_capture(&c->out), "hello\n");
	ck_assert_str_eq(read_capture(&c->err), "oops\noops\n");
	children_close(pool, NULL);
	pool = NULL;
	for (int i = 0; i < 3; i++) {
		dup2(saved[i], i);
		close(saved[i]);
	}
}
END_TEST

/* ---- output ---- */

START_TEST(a_flood_is_taken_while_nobody_looks)
{
	struct child *c = start("worker", "flood 52428800", NULL);
	siginfo_t info;

	/* nothing but waiting for its end: it ends only when all was taken */
	ck_assert_int_eq(waitid(P_PID, (id_t)c->pid, &info, WEXITED | WNOWAIT), 0);
	ck_assert_int_eq(info.si_status, 0);
	wait_until(c->life == CHILD_OVER);
	ck_assert_uint_eq(c->out.source.end, 52428800);
	ck_assert_uint_eq(c->out.waiting, 0);
	ck_assert_int_eq(c->number, 0);
}
END_TEST

START_TEST(both_streams_are_kept_apart)
{
	struct child *c = start("worker", "say one", "stderr \x1b[31mred", "garbage 3000",
				"say two", "partial three", "stderr end", "exit 3", NULL);

	wait_until(c->life == CHILD_OVER);
	ck_assert_str_eq(read_capture(&c->err), "\x1b[31mred\nend\n");
	read_capture(&c->out);
	ck_assert_uint_eq(text.n, 4 + 3000 + 4 + 5);
	ck_assert_int_eq(memcmp(text.p, "one\n", 4), 0);
	ck_assert_int_eq(memcmp(text.p + 3004, "two\nthree", 9), 0);
}
END_TEST

START_TEST(fifty_agents_at_once)
{
	for (int i = 0; i < 50; i++) {
		char name[32];

		snprintf(name, sizeof(name), "worker-%d", i);
		start(name, "flood 500000", "wait-for-line", NULL);
	}
	for (uint32_t i = 0; i < pool->list.n; i++)
		wait_until(pool->list.v[i]->c.out.source.end == 500000);
	for (uint32_t i = 0; i < pool->list.n; i++)
		child_end_input(&pool->list.v[i]->c);
	for (uint32_t i = 0; i < pool->list.n; i++)
		wait_until(pool->list.v[i]->c.life == CHILD_OVER);
	ck_assert_ptr_eq(children_find(pool, "worker-49"), &pool->list.v[49]->c);
	ck_assert_ptr_null(children_find(pool, "worker-50"));
}
END_TEST

/* A full disk: the first `room` bytes of a capture can be written, only half of each write. */
static _Atomic uint64_t room;
static atomic_uint refusals;

static ssize_t full_pwrite(int fd, const void *from, size_t n, off_t offset)
{
	uint64_t left = room > (uint64_t)offset ? room - (uint64_t)offset : 0;

	if (!left) {
		refusals++;
		errno = ENOSPC;
		return -1;
	}
	n = n > 1 ? n / 2 : n;
	return pwrite(fd, from, n < left ? n : (size_t)left, offset);
}

static void fill_disk(uint64_t bytes)
{
	room = bytes;
	refusals = 0;
	io.pwrite = full_pwrite;
}

enum { FLOOD = 3 << 20 };

/* Bytes of a capture that were not written twice or out of order: lines as an agent without a full
 * disk writes them. */
static void assert_same_as(const struct child_capture *one, const struct child_capture *other)
{
	struct buf first = { 0 };

	read_capture(one);
	buf_add_str(&first, buf_str(&text));
	read_capture(other);
	ck_assert_uint_eq(first.n, text.n);
	ck_assert_int_eq(memcmp(first.p, text.p, text.n), 0);
	buf_release(&first);
}

START_TEST(output_waits_while_the_disk_is_full)
{
	struct child *c, *other;
	int unread = 0;

	other = start("other", "flood 3145728", "say the end", NULL);
	wait_until(other->life == CHILD_OVER);
	fill_disk(1000001);
	c = start("worker", "flood 3145728", "say the end", NULL);
	wait_until(c->out.waiting && refusals > 3);
	ck_assert_int_eq(c->out.trouble, ENOSPC);
	ck_assert_uint_eq(c->out.source.end, 1000001);
	/* it is not read further: its pipe fills, and it waits */
	wait_until(ioctl(c->run->fds[DRAIN_OUT], FIONREAD, &unread) == 0 &&
		   unread >= CHILD_PIPE_BYTES - 4096);
	ck_assert_uint_le(c->out.waiting, 256 << 10);
	ck_assert_int_eq(c->life, CHILD_RUNS);
	/* a little room, in the middle of a line */
	room = 1000003;
	wait_until(c->out.source.end == 1000003);
	ck_assert_int_eq(c->out.trouble, ENOSPC);
	room = UINT64_MAX;
	wait_until(c->life == CHILD_OVER);
	ck_assert_uint_eq(c->out.waiting, 0);
	ck_assert_int_eq(c->out.trouble, 0);
	ck_assert_int_eq(c->number, 0);
	assert_same_as(&c->out, &other->out);
}
END_TEST

/* An agent that has ended is not over before its last words are kept; the same for the newline
 * between two incarnations, and for stderr. */
START_TEST(last_words_wait_for_room)
{
	struct child *c = start("worker", "partial one", NULL);
	struct err err;

	wait_until(c->life == CHILD_OVER);
	fill_disk(3);
	ck_assert_int_eq(child_restart(c, unit_now_ms(), 0, &err), 0);
	wait_until(c->life == CHILD_EXITED && refusals > 3 + 2 * CHILD_DRAIN_MS / CHILD_RETRY_MS);
	ck_assert_int_eq(c->life, CHILD_EXITED);
	ck_assert_uint_eq(c->out.waiting, 4);
	room = UINT64_MAX;
	wait_until(c->life == CHILD_OVER);
	ck_assert_str_eq(read_capture(&c->out), "one\none");
}
END_TEST

START_TEST(other_agents_go_on_while_one_waits)
{
	struct rlimit limit, low;
	struct child *c, *other;

	/* a real error of a real write, also on stderr */
	getrlimit(RLIMIT_FSIZE, &limit);
	low = limit;
	low.rlim_cur = 1 << 20;
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &low), 0);
	c = start("worker", "flood 3145728", "stderr flooded", NULL);
	other = start("other", "echo-back", NULL);
	wait_until(c->out.waiting);
	ck_assert_int_eq(c->out.trouble, EFBIG);
	tell(other, "still there\n");
	wait_until(has_line(&other->out, "still there"));
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	wait_until(c->life == CHILD_OVER);
	ck_assert_uint_eq(c->out.source.end, FLOOD);
	ck_assert(has_line(&c->err, "flooded"));
}
END_TEST

/* Lines of gavel's own are written whole or not at all. */
START_TEST(a_turn_does_not_begin_on_a_full_disk)
{
	const char *argv[] = { fake_agent(), "say answer", NULL };
	struct child_spec spec = { .name = "worker", .argv = argv };
	struct child *c;
	struct err err;

	c = child_add(pool, &spec, &err);
	ck_assert_ptr_nonnull(c);
	fill_disk(5);
	ck_assert_int_eq(child_turn(c, argv, STR("question\n"), unit_now_ms(), &err), -1);
	assert_says(err, "No space left on device; make room there, then try again");
	ck_assert_int_eq(child_capture_append(c, STR("a remark\n"), &err), -1);
	ck_assert_uint_eq(c->incarnation, 0);
	ck_assert_uint_eq(c->out.source.end, 0);
	room = UINT64_MAX;
	ck_assert_int_eq(child_turn(c, argv, STR("question\n"), unit_now_ms(), &err), 0);
	wait_until(c->life == CHILD_OVER);
	ck_assert_str_eq(read_capture(&c->out), "question\nanswer\n");
}
END_TEST

/* Who closes all the same is told how much that costs. */
START_TEST(what_is_given_up_is_counted)
{
	struct child *c;
	struct buf left = { 0 };
	struct err err;

	fill_disk(10);
	c = start("worker", "say 0123456789abcde", "stall", NULL);
	wait_until(c->out.waiting == 6);
	children_close(pool, &left);
	ck_assert_msg(str_find(buf_str(&left), STR("worker: lost the last 6 bytes of its output: "),
			       0) == 0, "%s", left.p);
	buf_release(&left);
	io_reset();
	pool = children_open(NULL, &err);
}
END_TEST

START_TEST(captures_can_have_names)
{
	struct child *c;
	struct err err;
	const char *argv[] = { fake_agent(), "say more", NULL };
	struct child_spec spec = { .name = "worker", .argv = argv };
	struct children *other;
	struct stat st;

	children_close(pool, NULL);
	write_text(path_of("worker.ndjson"), "old, cut o", 0600);
	pool = children_open(folder, &err);
	ck_assert_ptr_nonnull(pool);
	c = child_start(pool, &spec, 0, &err);
	ck_assert_msg(c != NULL, "%s", err.text);
	/* another gavel would write over it */
	other = children_open(folder, &err);
	ck_assert_ptr_null(child_start(other, &spec, 0, &err));
	assert_says(err, "another gavel does; name another folder");
	children_close(other, NULL);
	wait_until(c->life == CHILD_OVER);
	ck_assert_uint_eq(c->out.source.start, 10);
	ck_assert_str_eq(read_capture(&c->out), "\nmore\n");
	ck_assert_int_eq(stat(path_of("worker.ndjson"), &st), 0);
	ck_assert_int_eq(st.st_size, 16);
	ck_assert_int_eq(stat(path_of("worker.stderr"), &st), 0);
	ck_assert_int_eq(st.st_mode & 0777, 0600);
	/* nothing is written through a link */
	write_text(path_of("target"), "", 0600);
	ck_assert_int_eq(symlink(path_of("target"), path_of("linked.ndjson")), 0);
	spec.name = "linked";
	ck_assert_ptr_null(child_start(pool, &spec, 0, &err));
	assert_says(err, "linked.ndjson: cannot keep an agent's output there");
}
END_TEST

/* ---- input ---- */

START_TEST(it_hears_what_it_is_told)
{
	struct child *c = start("worker", "wait-for-line go", "say went", "wait-for-line", NULL);

	tell(c, "no\ngo\n");
	wait_until(has_line(&c->out, "went"));
	child_end_input(c);
	ck_assert_int_eq(c->input.fd, -1);
	wait_until(c->life == CHILD_OVER);
	ck_assert_int_eq(c->number, 0);
}
END_TEST

START_TEST(input_can_be_at_its_end_from_the_start)
{
	const char *argv[] = { fake_agent(), "echo-back", "say end", NULL };
	struct child_spec spec = { .name = "worker", .argv = argv, .no_input = true };
	struct err err;
	struct child *c = child_start(pool, &spec, 0, &err);

	ck_assert_msg(c != NULL, "%s", err.text);
	wait_until(c->life == CHILD_OVER);
	ck_assert_str_eq(read_capture(&c->out), "end\n");
}
END_TEST

START_TEST(not_reading_is_seen)
{
	struct child *c = start("worker", "say up", "wait-for-line", NULL);
	int64_t t = unit_now_ms();

	wait_until(has_line(&c->out, "up"));
	freeze(c);
	tell(c, "hello\n");
	children_tick(pool, t + 1000);
	ck_assert_int_eq(c->input.unread, 6);
	ck_assert_int_eq(c->input.waits_since_ms, t + 1000);
	ck_assert_int_ge(children_wait_ms(pool, t), 0);
	children_tick(pool, t + 13000);
	ck_assert_int_eq(c->input.waits_since_ms, t + 1000);
	kill(c->pid, SIGCONT);
	wait_until(c->life == CHILD_OVER);
	ck_assert_int_eq(c->input.waits_since_ms, 0);
}
END_TEST

/* ---- the end ---- */

static void assert_words(const struct child *c, const char *want)
{
	struct buf words = { 0 };

	child_status_text(c, &words);
	ck_assert_str_eq(words.p, want);
	buf_release(&words);
}

START_TEST(how_it_ended_is_told)
{
	struct child *code = start("code", "exit 3", NULL), *crash = start("crash", "crash", NULL);
	struct child *stays = start("stays", "stall", NULL);

	wait_until(code->life == CHILD_OVER && crash->life == CHILD_OVER);
	assert_words(code, "exit code 3");
	ck_assert(crash->by_signal);
	ck_assert_int_eq(crash->number, SIGSEGV);
	crash->dumped = false; /* as the machine is set up */
	assert_words(crash, "signal 11 (Segmentation fault)");
	assert_words(stays, "runs");
	ck_assert_int_eq(children_wait_ms(pool, unit_now_ms()), -1);
}
END_TEST

START_TEST(a_parent_that_ignored_sigchld_does_not_matter)
{
	struct child *c;
	struct err err;

	children_close(pool, NULL);
	signal(SIGCHLD, SIG_IGN);
	pool = children_open(NULL, &err);
	ck_assert_ptr_nonnull(pool);
	c = start("code", "exit 3", NULL);
	wait_until(c->life == CHILD_OVER);
	assert_words(c, "exit code 3");
}
END_TEST

START_TEST(asked_it_ends_in_time)
{
	struct child *c = start("worker", "ignore-term", "say up", "wait-for-line notify:shutdown",
				"say bye", "exit 0", NULL);

	wait_until(has_line(&c->out, "up"));
	tell(c, "{\"type\":\"notify:shutdown\"}\n");
	child_stop(c, unit_now_ms(), PATIENCE_MS);
	ck_assert_int_eq(c->stop, CHILD_ASKED);
	ck_assert_int_gt(children_wait_ms(pool, unit_now_ms()), 0);
	wait_until(c->life == CHILD_OVER);
	assert_words(c, "exit code 0");
	ck_assert_int_eq(c->stop, CHILD_ASKED);
	ck_assert(has_line(&c->out, "bye"));
}
END_TEST

START_TEST(who_ignores_term_is_killed)
{
	struct child *c = start("worker", "ignore-term", "say up", "stall", NULL);
	int64_t t;

	wait_until(has_line(&c->out, "up"));
	t = unit_now_ms();
	child_stop(c, t, 1000);
	children_tick(pool, t + 999);
	ck_assert_int_eq(c->stop, CHILD_ASKED);
	ck_assert_int_eq(children_wait_ms(pool, t + 999), 1);
	/* a second request can only shorten it */
	child_stop(c, t, 5000);
	children_tick(pool, t + 1000);
	ck_assert_int_eq(c->stop, CHILD_TERMED);
	children_tick(pool, t + 1000 + CHILD_TERM_MS - 1);
	ck_assert_int_eq(c->stop, CHILD_TERMED);
	ck_assert_int_eq(c->life, CHILD_RUNS);
	children_tick(pool, t + 1000 + CHILD_TERM_MS);
	ck_assert_int_eq(c->stop, CHILD_KILLED);
	wait_until(c->life == CHILD_OVER);
	assert_words(c, "signal 9 (Killed)");
}
END_TEST

START_TEST(without_grace_it_is_termed_at_once_even_when_stopped)
{
	struct child *c = start("worker", "say up", "stall", NULL);

	wait_until(has_line(&c->out, "up"));
	freeze(c);
	child_stop(c, unit_now_ms(), 0);
	ck_assert_int_eq(c->stop, CHILD_TERMED);
	wait_until(c->life == CHILD_OVER);
	assert_words(c, "signal 15 (Terminated)");
}
END_TEST

START_TEST(its_processes_end_with_it)
{
	struct child *c = start("worker", "fork-child", "fork-child", "stall", NULL);
	pid_t pid = pid_told(c);

	ck_assert(lives(pid));
	child_stop(c, unit_now_ms(), 0);
	wait_until(c->life == CHILD_OVER);
	ck_assert(!lives(pid));
}
END_TEST

START_TEST(processes_it_left_behind_are_ended)
{
	struct child *c = start("worker", "say one", "fork-child", "exit 0", NULL);
	pid_t pid = pid_told(c);

	/* they keep the pipes open, and its end is its exit all the same */
	wait_until(c->life == CHILD_OVER);
	ck_assert(!lives(pid));
	assert_words(c, "exit code 0");
	ck_assert(has_line(&c->out, "one"));
}
END_TEST

START_TEST(processes_it_left_behind_that_ignore_term_are_killed)
{
	struct child *c = start("worker", "ignore-term", "fork-child", "exit 0", NULL);
	pid_t pid = pid_told(c);
	int64_t t = unit_now_ms();

	wait_until(c->life == CHILD_EXITED);
	t += 100000; /* our clock may run ahead */
	children_tick(pool, t);
	ck_assert_int_eq(c->stop, CHILD_TERMED);
	children_tick(pool, t + CHILD_TERM_MS - 1);
	ck_assert(lives(pid));
	ck_assert_int_eq(c->stop, CHILD_TERMED);
	children_tick(pool, t + CHILD_TERM_MS + 100);
	ck_assert_int_eq(c->stop, CHILD_KILLED);
	for (int64_t until = unit_now_ms() + PATIENCE_MS; c->life != CHILD_OVER && unit_now_ms() < until;)
		children_tick(pool, t += 1000);
	ck_assert_int_eq(c->life, CHILD_OVER);
	/* the clock of this test runs ahead of the kernel */
	for (int64_t until = unit_now_ms() + PATIENCE_MS; lives(pid) && unit_now_ms() < until;)
		;
	ck_assert(!lives(pid));
}
END_TEST

static bool is_gone(pid_t pid)
{
	return !lives(pid);
}

/* A process in a session of its own: found by its mark, it ends with the agent. */
START_TEST(a_process_that_went_away_is_ended)
{
	struct child *c = start("worker", "fork-away", "say last words", "exit 0", NULL);
	pid_t pid = pid_told(c);

	wait_until(c->life == CHILD_OVER);
	ck_assert(has_line(&c->out, "last words"));
	ck_assert(is_gone(pid));
	ck_assert_uint_eq(c->left.n, 0);
}
END_TEST

/* While another agent runs, that one's processes are left alone, and strangers always. */
START_TEST(others_that_went_away_are_left_alone)
{
	struct child *other = start("other", "fork-away", "wait-for-line", NULL);
	struct child *c = start("worker", "ignore-term", "fork-away", "exit 0", NULL);
	pid_t others = pid_told(other), pid = pid_told(c), stranger = fork();

	if (stranger == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL); /* also when the test fails */
		setsid();
		pause();
		_exit(0);
	}
	wait_until(c->stop == CHILD_TERMED);
	c->deadline_ms = 0; /* it ignores TERM */
	wait_until(c->life == CHILD_OVER);
	ck_assert(is_gone(pid));
	ck_assert(lives(others));
	child_stop(other, unit_now_ms(), 0);
	wait_until(other->life == CHILD_OVER);
	ck_assert(is_gone(others));
	ck_assert(lives(stranger));
	kill(stranger, SIGKILL);
	waitpid(stranger, NULL, 0);
}
END_TEST

/* Without a mark it is known by its parent, as long as that one lives. */
START_TEST(a_process_without_environment_is_ended)
{
	const char *argv[] = { "/bin/sh", "-c", "env -i setsid sh -c 'trap \"\" TERM; echo child "
						"$$; while :; do sleep 1; done' & wait", NULL };
	struct child_spec spec = { .name = "worker", .argv = argv };
	struct child *c;
	struct err err;
	pid_t pid;

	c = child_start(pool, &spec, unit_now_ms(), &err);
	ck_assert_ptr_nonnull(c);
	pid = pid_told(c);
	child_stop(c, unit_now_ms(), 0);
	wait_until(c->life == CHILD_EXITED);
	ck_assert(lives(pid));
	c->deadline_ms = 0;
	wait_until(c->life == CHILD_OVER);
	ck_assert(is_gone(pid));
}
END_TEST

START_TEST(closing_kills_what_went_away)
{
	struct child *c = start("worker", "ignore-term", "fork-away", "stall", NULL);
	pid_t pid = pid_told(c);
	struct buf left = { 0 };
	struct err err;

	children_close(pool, &left);
	ck_assert(is_gone(pid));
	ck_assert_uint_eq(left.n, 0);
	buf_release(&left);
	pool = children_open(NULL, &err);
	ck_assert_ptr_nonnull(pool);
}
END_TEST

START_TEST(what_could_not_be_ended_is_told)
{
	struct child *c = start("worker", "exit 0", NULL);
	struct buf left = { 0 };
	struct err err;

	wait_until(c->life == CHILD_OVER);
	vec_push(&c->known, (struct child_process){ .pid = 17 });
	vec_push(&c->known, (struct child_process){ .pid = 4711 });
	processes_leave(c);
	children_close(pool, &left);
	ck_assert_str_eq(left.p, "worker: left running: 17, 4711; it could not be ended\n");
	buf_release(&left);
	pool = children_open(NULL, &err);
	ck_assert_ptr_nonnull(pool);
}
END_TEST

START_TEST(closing_kills_what_runs)
{
	struct child *c = start("worker", "ignore-term", "fork-child", "wait-for-line",
				"flood 100000000", NULL);
	pid_t pid = c->pid, grandchild = pid_told(c);
	struct err err;

	tell(c, "go\n");
	wait_until(c->out.source.end > 1000000);
	children_close(pool, NULL);
	ck_assert(!lives(pid));
	for (int64_t until = unit_now_ms() + PATIENCE_MS; lives(grandchild) && unit_now_ms() < until;)
		;
	ck_assert(!lives(grandchild));
	pool = children_open(NULL, &err);
	ck_assert_ptr_nonnull(pool);
}
END_TEST

/* ---- again ---- */

static const char *path_to(const struct child *c)
{
	static struct buf path;

	buf_clear(&path);
	child_path(c, &path);
	return path.p;
}

START_TEST(a_restart_is_another_incarnation)
{
	struct child *c = start("worker", "partial cut o", "stderr oops", "exit 4", NULL);
	char *first = xstrdup(path_to(c));
	struct err err;

	ck_assert_uint_eq(c->incarnation, 1);
	ck_assert_int_eq(strncmp(first, "agent:worker#1-", 15), 0);
	wait_until(c->life == CHILD_OVER);
	ck_assert_ptr_null(children_input(pool, first, &err));
	ck_assert_str_eq(
		err.text,
		"worker: the agent has ended (exit code 4); restart it, then decide again");
	ck_assert_int_eq(child_restart(c, unit_now_ms(), 0, &err), 0);
	ck_assert_uint_eq(c->incarnation, 2);
	ck_assert_int_eq(c->life, CHILD_RUNS);
	ck_assert_ptr_null(children_input(pool, first, &err));
	ck_assert_str_eq(err.text,
			 "worker: the agent was restarted; what was meant for the one before "
			 "is not sent to it: decide again");
	wait_until(c->life == CHILD_OVER);
	ck_assert_str_eq(read_capture(&c->out), "cut o\ncut o");
	ck_assert_str_eq(read_capture(&c->err), "oops\noops\n");
	ck_assert_uint_eq(c->out.began, 5);
	ck_assert_ptr_null(children_input(pool, "agent:work#1-00000000", &err));
	assert_says(err, "no such agent runs here");
	ck_assert_ptr_null(children_input(pool, "/tmp/file", &err));
	free(first);
}
END_TEST

START_TEST(each_turn_has_its_own_words_and_begins_with_what_it_is_told)
{
	const char *first[] = { fake_agent(), "show-args", "partial cut", "--", "one", NULL };
	const char *second[] = { fake_agent(), "show-args", "exit 3", "--", "two", "words", NULL };
	struct child_spec spec = { .name = "reviewer", .argv = first };
	struct buf path = { 0 };
	struct child *c;
	struct err err;

	c = child_add(pool, &spec, &err);
	ck_assert_msg(c != NULL, "%s", err.text);
	ck_assert_int_eq(c->life, CHILD_OVER);
	ck_assert_uint_eq(c->incarnation, 0);
	child_next_path(c, &path);
	ck_assert_int_eq(child_turn(c, first, STR("told 1\n"), unit_now_ms(), &err), 0);
	ck_assert_str_eq(path.p, path_to(c));
	ck_assert_int_eq(child_turn(c, second, STR("no\n"), unit_now_ms(), &err), -1);
	assert_says(err, "is not over");
	ck_assert_int_eq(child_capture_append(c, STR("no\n"), &err), -1);
	wait_until(c->life == CHILD_OVER);
	ck_assert_int_eq(child_capture_append(c, STR("noted\n"), &err), 0);
	ck_assert_int_eq(child_turn(c, second, STR("told 2\n"), unit_now_ms(), &err), 0);
	ck_assert_uint_eq(c->incarnation, 2);
	ck_assert_uint_eq(c->out.began, strlen("told 1\none\ncut\nnoted\ntold 2\n"));
	wait_until(c->life == CHILD_OVER);
	ck_assert_int_eq(c->number, 3);
	ck_assert_str_eq(read_capture(&c->out),
			 "told 1\none\ncut\nnoted\ntold 2\ntwo\nwords\n");
	buf_release(&path);
}
END_TEST

START_TEST(a_turn_that_cannot_start_is_told_nothing)
{
	const char *argv[] = { path_of("gone"), NULL };
	struct child_spec spec = { .name = "reviewer", .argv = argv };
	struct child *c;
	struct err err;

	write_text(argv[0], "#!/bin/sh\n", 0700);
	c = child_add(pool, &spec, &err);
	ck_assert_msg(c != NULL, "%s", err.text);
	ck_assert_int_eq(unlink(argv[0]), 0);
	ck_assert_int_eq(child_turn(c, argv, STR("told\n"), unit_now_ms(), &err), -1);
	assert_says(err, "cannot run");
	ck_assert_uint_eq(c->incarnation, 0);
	ck_assert_str_eq(read_capture(&c->out), "");
	write_text(argv[0], "#!/bin/sh\necho here\n", 0700);
	ck_assert_int_eq(child_turn(c, argv, STR("told\n"), unit_now_ms(), &err), 0);
	wait_until(c->life == CHILD_OVER);
	ck_assert_str_eq(read_capture(&c->out), "told\nhere\n");
}
END_TEST

START_TEST(the_same_number_in_another_run_is_another_incarnation)
{
	struct children *mine = pool, *other;
	struct child *c = start("worker", "stall", NULL);
	struct err err;

	other = pool = children_open(NULL, &err);
	ck_assert_ptr_nonnull(other);
	start("worker", "stall", NULL);
	pool = mine;
	ck_assert_ptr_nonnull(children_input(mine, path_to(c), &err));
	ck_assert_ptr_null(children_input(other, path_to(c), &err));
	assert_says(err, "the agent was restarted");
	children_close(other, NULL);
}
END_TEST

START_TEST(a_path_leads_to_the_input)
{
	struct child *c = start("worker", "wait-for-line", NULL);
	struct err err;

	ck_assert_ptr_eq(children_input(pool, path_to(c), &err), &c->input);
	child_end_input(c);
	ck_assert_ptr_null(children_input(pool, path_to(c), &err));
}
END_TEST

START_TEST(an_end_is_seen_without_a_tick)
{
	struct child *c = start("worker", "exit 1", NULL);
	siginfo_t info;
	struct err err;

	ck_assert_int_eq(waitid(P_PID, (id_t)c->pid, &info, WEXITED | WNOWAIT), 0);
	ck_assert_ptr_null(children_input(pool, path_to(c), &err));
	assert_says(err, "has ended (exit code 1)");
	wait_until(c->life == CHILD_OVER);
}
END_TEST

START_TEST(a_restart_ends_what_runs_first)
{
	struct child *c = start("worker", "say up", "stall", NULL);
	pid_t first = c->pid;
	struct err err;

	wait_until(has_line(&c->out, "up"));
	ck_assert_int_eq(child_restart(c, unit_now_ms(), 0, &err), 0);
	ck_assert_uint_eq(c->incarnation, 1);
	wait_until(c->incarnation == 2);
	ck_assert(!lives(first));
	wait_until(has_line(&c->out, "up\nup"));
	/* stopping calls a restart off */
	ck_assert_int_eq(child_restart(c, unit_now_ms(), PATIENCE_MS, &err), 0);
	child_stop(c, unit_now_ms(), 0);
	wait_until(c->life == CHILD_OVER);
	ck_assert_uint_eq(c->incarnation, 2);
}
END_TEST

START_TEST(a_restart_that_fails_says_so)
{
	const char *argv[] = { path_of("agent"), NULL };
	struct child_spec spec = { .name = "worker", .argv = argv };
	struct child *c;
	struct err err;

	write_text(path_of("agent"), "#!/bin/sh\nread line\n", 0700);
	c = child_start(pool, &spec, 0, &err);
	ck_assert_msg(c != NULL, "%s", err.text);
	unlink(path_of("agent"));
	ck_assert_int_eq(child_restart(c, unit_now_ms(), 0, &err), 0);
	wait_until(c->life == CHILD_OVER);
	assert_says(c->trouble, "worker: cannot run");
	ck_assert_uint_eq(c->incarnation, 1);
	ck_assert_int_eq(child_restart(c, unit_now_ms(), 0, &err), -1);
	assert_says(err, "worker: cannot run");
}
END_TEST

START_TEST(restarts_leak_nothing)
{
	struct child *c = start("worker", "say x", "exit 0", NULL);
	struct err err;
	int before;

	wait_until(c->life == CHILD_OVER);
	before = count_fds();
	for (unsigned i = 2; i <= 20; i++) {
		ck_assert_int_eq(child_restart(c, unit_now_ms(), 0, &err), 0);
		ck_assert_uint_eq(c->incarnation, i);
		wait_until(c->life == CHILD_OVER);
	}
	ck_assert_int_eq(count_fds(), before);
	ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);
	ck_assert_uint_eq(c->out.source.end, 40);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("child");
	TCase *t;

	t = unit_cases(suite, "start", set_up, tear_down);
	tcase_add_test(t, what_cannot_run_says_why);
	tcase_add_test(t, many_withheld_names_are_counted);
	tcase_add_test(t, folders_and_names_are_looked_at);
	tcase_add_test(t, without_descriptors_nothing_starts_and_nothing_is_left);
	tcase_add_test(t, words_arrive_as_they_are);
	tcase_add_test(t, a_script_gets_its_words_too);
	tcase_add_test(t, the_environment_is_chosen);
	tcase_add_test(t, it_has_its_own_session_folder_and_signals);
	tcase_add_test(t, it_gets_three_descriptors);
	tcase_add_test(t, it_has_no_terminal);
	tcase_add_test(t, low_descriptors_may_be_free);

	t = unit_cases(suite, "output", set_up, tear_down);
	tcase_add_test(t, a_flood_is_taken_while_nobody_looks);
	tcase_add_test(t, both_streams_are_kept_apart);
	tcase_add_test(t, fifty_agents_at_once);
	tcase_add_test(t, output_waits_while_the_disk_is_full);
	tcase_add_test(t, last_words_wait_for_room);
	tcase_add_test(t, other_agents_go_on_while_one_waits);
	tcase_add_test(t, a_turn_does_not_begin_on_a_full_disk);
	tcase_add_test(t, what_is_given_up_is_counted);
	tcase_add_test(t, captures_can_have_names);

	t = unit_cases(suite, "input", set_up, tear_down);
	tcase_add_test(t, it_hears_what_it_is_told);
	tcase_add_test(t, input_can_be_at_its_end_from_the_start);
	tcase_add_test(t, not_reading_is_seen);

	t = unit_cases(suite, "end", set_up, tear_down);
	tcase_add_test(t, how_it_ended_is_told);
	tcase_add_test(t, a_parent_that_ignored_sigchld_does_not_matter);
	tcase_add_test(t, asked_it_ends_in_time);
	tcase_add_test(t, who_ignores_term_is_killed);
	tcase_add_test(t, without_grace_it_is_termed_at_once_even_when_stopped);
	tcase_add_test(t, its_processes_end_with_it);
	tcase_add_test(t, processes_it_left_behind_are_ended);
	tcase_add_test(t, processes_it_left_behind_that_ignore_term_are_killed);
	tcase_add_test(t, a_process_that_went_away_is_ended);
	tcase_add_test(t, others_that_went_away_are_left_alone);
	tcase_add_test(t, a_process_without_environment_is_ended);
	tcase_add_test(t, closing_kills_what_went_away);
	tcase_add_test(t, what_could_not_be_ended_is_told);
	tcase_add_test(t, closing_kills_what_runs);

	t = unit_cases(suite, "again", set_up, tear_down);
	tcase_add_test(t, a_restart_is_another_incarnation);
	tcase_add_test(t, the_same_number_in_another_run_is_another_incarnation);
	tcase_add_test(t, a_path_leads_to_the_input);
	tcase_add_test(t, an_end_is_seen_without_a_tick);
	tcase_add_test(t, a_restart_ends_what_runs_first);
	tcase_add_test(t, a_restart_that_fails_says_so);
	tcase_add_test(t, restarts_leak_nothing);
	tcase_add_test(t, each_turn_has_its_own_words_and_begins_with_what_it_is_told);
	tcase_add_test(t, a_turn_that_cannot_start_is_told_nothing);

	return unit_run(suite);
}
