/* gavel-holder from outside: started as gavel starts it, talked to through its socket, its captures read.
 * Each test is the subreaper of its holder, so it sees the holder's end. Nothing sleeps for a fixed time:
 * each wait is for a state, with a deadline. */
#include "base/buf.h"
#include "base/io.h"
#include "base/mem.h"
#include "holder/holder.h"

#include "folder.h"
#include "unit.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PATIENCE_MS = 20000, CLIENTS = 16, CAPTURE_MAX = 256 << 20 };

static pid_t agent, holder;
static struct buf text; /* of the last read */
static int watcher = -1; /* pipe to it */

/* A holder outlives whoever started it, also a test that fails, which never gets to tear_down: this
 * process gets the pids that run, and ends them when the test is gone. */
static void watch_test(void)
{
	pid_t pids[2] = { 0 };
	int fds[2];

	ck_assert_int_eq(pipe2(fds, O_CLOEXEC), 0);
	watcher = fds[1];
	if (fork()) {
		close(fds[0]);
		return;
	}
	close(fds[1]);
	setsid();
	while (read(fds[0], pids, sizeof(pids)) == (ssize_t)sizeof(pids))
		;
	for (int i = 0; i < 2; i++)
		if (pids[i])
			kill(pids[i], SIGKILL);
	_exit(0);
}

static void set_running(pid_t new_holder, pid_t new_agent)
{
	pid_t pids[2] = { new_holder, new_agent };

	holder = new_holder;
	agent = new_agent;
	ck_assert_int_eq(write(watcher, pids, sizeof(pids)), (ssize_t)sizeof(pids));
}

static void limit_files(pid_t pid, rlim_t bytes)
{
	struct rlimit limit = { bytes < CAPTURE_MAX ? bytes : CAPTURE_MAX, RLIM_INFINITY };

	ck_assert_int_eq(prlimit(pid, RLIMIT_FSIZE, &limit, NULL), 0);
}

static void set_up(void)
{
	make_folder();
	ck_assert_int_eq(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
	signal(SIGPIPE, SIG_IGN);
	limit_files(0, CAPTURE_MAX); /* whatever goes wrong, no disk is filled */
	watch_test();
}

/* Whatever a test did: nothing is left of it. */
static void tear_down(void)
{
	if (holder)
		kill(holder, SIGKILL);
	if (agent)
		kill(-agent, SIGKILL);
	close(watcher);
	while (waitpid(-1, NULL, 0) > 0 || errno == EINTR)
		;
	buf_release(&text);
	remove_folder();
}

static const char *program(const char *variable)
{
	const char *path = getenv(variable);

	ck_assert_msg(path != NULL, "%s must name a program", variable);
	return path;
}

/* ---- starting ---- */

static int open_capture(const char *name)
{
	int fd = open(path_of(name), O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(flock(fd, LOCK_EX | LOCK_NB), 0);
	return fd;
}

static _Noreturn void exec_holder(const int *from, const char *const *argv)
{
	char *copy[24] = { 0 };
	int fds[4];

	for (int i = 0; argv[i]; i++)
		copy[i] = xstrdup(argv[i]);
	for (int i = 0; i < 4; i++)
		fds[i] = fcntl(from[i], F_DUPFD, 10);
	for (int i = 0; i < 4; i++)
		dup2(fds[i], 3 + i);
	execv(copy[0], copy);
	_exit(99);
}

static void reap_first(pid_t pid)
{
	int status;

	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_msg(WIFEXITED(status), "the first process did not exit");
	ck_assert_int_eq(WEXITSTATUS(status), 0);
}

/* Runs gavel-holder with these descriptors; returns the line that it reports. */
static const char *run_holder(int out, int err, int in_folder, const char *const *argv)
{
	static char line[128];
	ssize_t got;
	size_t n = 0;
	int report[2];
	pid_t pid;

	ck_assert_int_eq(pipe2(report, O_CLOEXEC), 0);
	pid = fork();
	if (pid == 0)
		exec_holder((int[]){ out, err, in_folder, report[1] }, argv);
	close(report[1]);
	reap_first(pid);
	while ((got = read(report[0], line + n, sizeof(line) - 1 - n)) > 0)
		n += (size_t)got;
	close(report[0]);
	line[n] = '\0';
	return line;
}

static const char *run_in_folder(const char *const *argv)
{
	int out = open_capture("a.ndjson"), err = open_capture("a.stderr");
	int in_folder = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	const char *line = run_holder(out, err, in_folder, argv);

	close(out);
	close(err);
	close(in_folder);
	return line;
}

/* /proc/PID/stat from the state of the process on. */
static const char *stat_of(pid_t pid)
{
	static char line[512];
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	f = fopen(path, "r");
	ck_assert_ptr_nonnull(f);
	ck_assert_ptr_nonnull(fgets(line, sizeof(line), f));
	fclose(f);
	return strrchr(line, ')') + 2;
}

static pid_t parent_of(pid_t pid)
{
	int parent = 0;

	ck_assert_int_eq(sscanf(stat_of(pid), "%*c %d", &parent), 1);
	return parent;
}

static void start_argv(const char *const *argv)
{
	const char *line = run_in_folder(argv);

	int pid;

	ck_assert_msg(sscanf(line, "started %d\n", &pid) == 1, "it says: %s", line);
	set_running(parent_of(pid), pid);
	ck_assert_int_gt(holder, 1);
}

/* The fake agent with these lines of script, NULL last. */
static void start(const char *first, ...)
{
	const char *argv[24] = { program("GAVEL_HOLDER"), "a", "1", program("FAKE_AGENT"),
				 "fake", first };
	va_list args;

	va_start(args, first);
	for (int i = 6; (argv[i] = va_arg(args, const char *)); i++)
		ck_assert_int_lt(i, 22);
	va_end(args);
	start_argv(argv);
}

static void start_shell(const char *script)
{
	const char *argv[] = { program("GAVEL_HOLDER"), "a", "1", "/bin/sh", "sh", "-c", script,
			       NULL };

	start_argv(argv);
}

/* ---- waiting ---- */

static void pause_until(int64_t until_ms)
{
	struct timespec t = { .tv_nsec = 1000000 };

	ck_assert_msg(unit_now_ms() < until_ms, "it took too long");
	nanosleep(&t, NULL);
}

#define wait_until(condition) \
	for (int64_t until_ = unit_now_ms() + PATIENCE_MS; !(condition);) \
	pause_until(until_)

static const char *read_capture(const char *name)
{
	int fd = open(path_of(name), O_RDONLY | O_CLOEXEC);

	buf_clear(&text);
	buf_reserve(&text, 1);
	text.p[0] = '\0';
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(io_read_rest(fd, 256 << 20, &text), 0);
	close(fd);
	return text.p;
}

static bool has(const char *name, const char *part)
{
	return strstr(read_capture(name), part) != NULL;
}

static uint64_t size_of(const char *name)
{
	struct stat st;

	ck_assert_int_eq(stat(path_of(name), &st), 0);
	return (uint64_t)st.st_size;
}

static void freeze(pid_t pid)
{
	kill(pid, SIGSTOP);
	wait_until(*stat_of(pid) == 'T');
}

/* The holder's own end; its exit code. */
static int reap_holder(void)
{
	int status;

	ck_assert_int_eq(waitpid(holder, &status, 0), holder);
	ck_assert(WIFEXITED(status));
	set_running(0, 0);
	return WEXITSTATUS(status);
}

static bool is_gone(pid_t pid)
{
	waitpid(pid, NULL, WNOHANG);
	return kill(pid, 0) < 0 && errno == ESRCH;
}

static long status_number(const char *field)
{
	char path[64], line[256];
	long n = -1;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", holder);
	f = fopen(path, "r");
	ck_assert_ptr_nonnull(f);
	while (fgets(line, sizeof(line), f))
		if (strncmp(line, field, strlen(field)) == 0)
			n = atol(line + strlen(field));
	fclose(f);
	return n;
}

#if !defined(__has_feature)
#define __has_feature(name) 0
#endif

/* At most 2 MB resident; sanitizers need more. */
static void assert_small(void)
{
#if !defined(__SANITIZE_ADDRESS__) && !__has_feature(address_sanitizer)
	ck_assert_int_le(status_number("RssAnon:") + status_number("RssFile:"), 2048);
#endif
}

/* ---- talking ---- */

/* -1 = it is not there. Asserts nothing: an agent uses it, too, outside of libcheck. */
static int connect_holder(void)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	struct timeval patience = { .tv_sec = PATIENCE_MS / 1000 };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(at.sun_path, sizeof(at.sun_path), "%s/a.sock", folder);
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	return connect(fd, (const struct sockaddr *)&at, sizeof(at)) < 0 ? -1 : fd;
}

static int try_connect(void)
{
	int fd = connect_holder();

	ck_assert_int_ge(fd, 0);
	return fd;
}

/* The next line without its newline; "" = the connection has ended. */
static const char *hear(int fd)
{
	static char line[256];
	size_t n = 0;

	while (n < sizeof(line) - 1) {
		ssize_t got = recv(fd, line + n, 1, 0);

		ck_assert_msg(got >= 0 || errno == ECONNRESET, "nothing is heard: %s",
			      strerror(errno));
		if (got <= 0 || line[n] == '\n')
			break;
		n++;
	}
	line[n] = '\0';
	return line;
}

#define assert_hears(fd, wanted) ck_assert_str_eq(hear(fd), wanted)

static int dial(void)
{
	int fd = try_connect();

	ck_assert_msg(strncmp(hear(fd), "H 1 ", 4) == 0, "no greeting");
	return fd;
}

static void say(int fd, const char *bytes, size_t n)
{
	while (n) {
		ssize_t put = send(fd, bytes, n, MSG_NOSIGNAL);

		ck_assert_msg(put > 0, "cannot say it: %s", strerror(errno));
		bytes += put;
		n -= (size_t)put;
	}
}

static void says(int fd, const char *bytes)
{
	say(fd, bytes, strlen(bytes));
}

/* line: with its newline */
static void tell(int fd, const char *id, const char *line)
{
	char head[128];

	snprintf(head, sizeof(head), "W %s %zu\n", id, strlen(line));
	says(fd, head);
	says(fd, line);
}

/* Hears A for that id; the offset of the record. */
static uint64_t hear_written(int fd, const char *id)
{
	char heard_id[80];
	unsigned long long at;
	const char *line = hear(fd);

	ck_assert_msg(sscanf(line, "A %79s %llu", heard_id, &at) == 2, "heard: %s", line);
	ck_assert_str_eq(heard_id, id);
	return at;
}

static void assert_record(uint64_t at, const char *id, const char *line)
{
	char head[128];
	const char *record = read_capture("a.ndjson") + at;
	int n = snprintf(head, sizeof(head), "\t{\"gavel\":\"to\",\"id\":\"%s\",\"t\":", id);
	const char *end = strchr(record, '\n');

	ck_assert_uint_lt(at, text.n);
	ck_assert_msg(strncmp(record, head, (size_t)n) == 0, "at %llu: %.80s",
		      (unsigned long long)at, record);
	ck_assert_msg(at == 0 || record[-1] == '\n', "the record is not at the beginning of a line");
	ck_assert_ptr_nonnull(end);
	ck_assert_int_eq(end[1], '\t');
	ck_assert_msg(strncmp(end + 2, line, strlen(line)) == 0, "%.80s", end + 2);
}

static void tell_wholly(int fd, const char *id, const char *line)
{
	uint64_t at;
	char wanted[80];

	tell(fd, id, line);
	at = hear_written(fd, id);
	snprintf(wanted, sizeof(wanted), "T %s", id);
	assert_hears(fd, wanted);
	assert_record(at, id, line);
}

/* ---- start ---- */

START_TEST(starts_an_agent)
{
	char greeting[80];
	struct stat st;
	int fd;

	start("say hello", "stderr oh", "show-ids", "show-signals", "wait-for-line", NULL);
	fd = try_connect();
	snprintf(greeting, sizeof(greeting), "H 1 %d runs 0 - 0", agent);
	assert_hears(fd, greeting);
	ck_assert_int_eq(stat(path_of("a.sock"), &st), 0);
	ck_assert_int_eq(st.st_mode & 0777, 0600);
	wait_until(has("a.ndjson", "hello\n"));
	snprintf(greeting, sizeof(greeting), "\t{\"gavel\":\"run\",\"n\":1,\"pid\":%d,\"t\":", agent);
	ck_assert_ptr_eq(strstr(read_capture("a.ndjson"), greeting), text.p);
	wait_until(has("a.stderr", "oh\n"));
	snprintf(greeting, sizeof(greeting), "pid %d group %d session %d", agent, agent, agent);
	wait_until(has("a.ndjson", greeting));
	says(fd, "E\n");
	assert_hears(fd, "D code 0");
	assert_hears(fd, "");
	ck_assert_int_eq(reap_holder(), 0);
	ck_assert_int_eq(access(path_of("a.sock"), F_OK), -1);
	ck_assert(has("a.ndjson", "\n\t{\"gavel\":\"exit\",\"n\":1,\"code\":0,\"t\":"));
	ck_assert(!has("a.ndjson", "unread"));
	ck_assert_str_eq(read_capture("a.stderr"), "oh\n");
}
END_TEST

START_TEST(keeps_the_agents_surroundings)
{
	char wanted[128];

	ck_assert_int_eq(chdir("/usr"), 0);
	setenv("SOMETHING", "of its own", 1);
	umask(027);
	start_shell("pwd; umask; echo $SOMETHING; ls /proc/self/fd | wc -l; read x; exit 3");
	ck_assert_int_eq(chdir("/"), 0);
	wait_until(has("a.ndjson", "of its own\n4\n")); /* 0, 1, 2 and the one that ls has opened */
	snprintf(wanted, sizeof(wanted), "/usr\n0027\nof its own\n4\n");
	ck_assert(has("a.ndjson", wanted));
}
END_TEST

START_TEST(holds_the_lock)
{
	int fd;

	start("wait-for-line", NULL);
	fd = open(path_of("a.ndjson"), O_RDWR | O_CLOEXEC);
	ck_assert_int_eq(flock(fd, LOCK_EX | LOCK_NB), -1);
	kill(holder, SIGTERM);
	ck_assert_int_eq(reap_holder(), 0);
	ck_assert_int_eq(flock(fd, LOCK_EX | LOCK_NB), 0);
	ck_assert(has("a.ndjson", "\"signal\":15,"));
	close(fd);
}
END_TEST

START_TEST(fails_to_start)
{
	const char *argv[] = { program("GAVEL_HOLDER"), "a", "1", "/nowhere/at/all", "x", NULL };
	const char *not_executable[] = { argv[0], "a", "1", "/etc/passwd", "x", NULL };

	ck_assert_str_eq(run_in_folder(argv), "failed program 2\n");
	ck_assert_str_eq(run_in_folder(not_executable), "failed program 13\n");
	ck_assert_uint_eq(size_of("a.ndjson"), 0);
	ck_assert_int_eq(access(path_of("a.sock"), F_OK), -1);
	close(open_capture("a.ndjson")); /* nobody holds it */
}
END_TEST

START_TEST(fails_without_a_folder_or_a_file)
{
	const char *argv[] = { program("GAVEL_HOLDER"), "a", "1", "/bin/true", "true", NULL };
	const char *long_name[] = { argv[0],
				    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
				    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
				    "1", "/bin/true", "true", NULL };
	int out = open_capture("a.ndjson"), err = open_capture("a.stderr"), gone, null, here;

	ck_assert_int_eq(mkdir(path_of("gone"), 0700), 0);
	gone = open(path_of("gone"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	ck_assert_int_eq(rmdir(path_of("gone")), 0);
	ck_assert_str_eq(run_holder(out, err, gone, argv), "failed socket 2\n");
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	here = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	ck_assert_str_eq(run_holder(null, err, here, argv), "failed capture 22\n");
	ck_assert_str_eq(run_holder(out, err, here, long_name), "failed socket 36\n");
	ck_assert_uint_eq(size_of("a.ndjson"), 0);
}
END_TEST

START_TEST(ends_a_line_of_an_earlier_run)
{
	write_file(path_of("a.ndjson"), STR("\thead\ncut off"));
	write_file(path_of("a.stderr"), STR("cut off"));
	write_file(path_of("a.sock"), STR("stale"));
	start("stderr oh", "wait-for-line", NULL);
	close(dial());
	wait_until(has("a.ndjson", "\thead\ncut off\n\t{\"gavel\":\"run\""));
	wait_until(has("a.stderr", "cut off\noh\n"));
}
END_TEST

/* ---- both directions ---- */

START_TEST(records_what_it_is_told)
{
	int fd, other;
	char wanted[80];

	start("echo-back", NULL);
	fd = dial();
	tell_wholly(fd, "L1", "{\"a\":1}\n");
	tell_wholly(fd, "L2", "\ttab\n");
	wait_until(has("a.ndjson", "\n \ttab\n")); /* its echo */
	ck_assert_ptr_nonnull(strstr(read_capture("a.ndjson"), "\n\t\ttab\n"));
	other = try_connect();
	snprintf(wanted, sizeof(wanted), "H 1 %d runs 0 L2 0", agent);
	assert_hears(other, wanted);
}
END_TEST

/* For each record: it is there, once, and the echo comes behind it. */
START_TEST(records_before_the_reaction)
{
	enum { TIMES = 1000 };
	char id[16], line[32], echo[32];
	uint64_t ats[TIMES];
	int fd;

	start("echo-back", NULL);
	fd = dial();
	for (int i = 0; i < TIMES; i++) {
		snprintf(id, sizeof(id), "L%d", i);
		snprintf(line, sizeof(line), "line %d.\n", i);
		tell(fd, id, line);
		ats[i] = hear_written(fd, id);
		snprintf(line, sizeof(line), "T L%d", i);
		assert_hears(fd, line);
	}
	wait_until(has("a.ndjson", "\nline 999.\n"));
	for (int i = 0; i < TIMES; i++) {
		snprintf(id, sizeof(id), "L%d", i);
		snprintf(echo, sizeof(echo), "\nline %d.\n", i);
		ck_assert(strstr(text.p, echo) > text.p + ats[i]);
	}
}
END_TEST

/* All lines of the capture are whole: the flood's, controls, and what it was told. */
static void assert_flood(const char *flood, int told)
{
	struct str rest = buf_str(&text);
	int to = 0;

	while (rest.n) {
		struct str line = str_cut(&rest, STR("\n"));

		if (!rest.n && !str_is(line, flood))
			return; /* the last one may not be there yet */
		if (str_starts(line, STR("\t{\"gavel\":\"to\""))) {
			line = str_cut(&rest, STR("\n"));
			ck_assert_msg(str_is(line, "\tabcdef"), "%.*s", STR_ARG(line));
			to++;
		} else if (!str_starts(line, STR("\t{\"gavel\":"))) {
			ck_assert_msg(str_is(line, flood), "%.*s", STR_ARG(line));
		}
	}
	ck_assert_int_eq(to, told);
}

START_TEST(records_in_a_flood)
{
	enum { TIMES = 20 };
	char id[16], wanted[32];
	int fd;

	start_shell("exec 3<&0; (while read -r line <&3; do :; done; kill $$) & "
		    "printf 01234; while :; do printf '56789\\n01234'; done");
	fd = dial();
	for (int i = 0; i < TIMES; i++) {
		snprintf(id, sizeof(id), "L%d", i);
		tell(fd, id, "abcdef\n");
		assert_record(hear_written(fd, id), id, "abcdef\n");
		snprintf(wanted, sizeof(wanted), "T %s", id);
		assert_hears(fd, wanted);
	}
	kill(holder, SIGTERM);
	ck_assert_int_eq(reap_holder(), 0);
	read_capture("a.ndjson");
	/* the last line was cut off by the end */
	*strstr(text.p, "\t{\"gavel\":\"exit\"") = '\0';
	text.n = strlen(text.p);
	if (text.n && text.p[text.n - 1] == '\n')
		text.n--;
	while (text.n && text.p[text.n - 1] != '\n')
		text.n--;
	assert_flood("0123456789", TIMES);
}
END_TEST

START_TEST(escapes_tabs)
{
	start("say \t{\"gavel\":\"exit\",\"n\":1}", "say x\ty", "partial \t", "say \tz", "say \t",
	      "stderr \te", "stall", NULL);
	wait_until(has("a.ndjson", "\n \t{\"gavel\":\"exit\",\"n\":1}\nx\ty\n \t\tz\n \t\n"));
	wait_until(has("a.stderr", " \te\n"));
	ck_assert(!has("a.ndjson", "\n\t{\"gavel\":\"exit\""));
}
END_TEST

START_TEST(tells_the_time_of_lines)
{
	const char *first, *second;

	start("say one", "delay 150", "say two", "say three", "stall", NULL);
	wait_until(has("a.ndjson", "three\n"));
	first = strstr(text.p, "one\n");
	second = strstr(first, "\n\t{\"gavel\":\"clock\",\"t\":1");
	ck_assert_ptr_nonnull(second);
	ck_assert_ptr_eq(strstr(second, "}\n") + 2, strstr(text.p, "two\n"));
	ck_assert_ptr_nonnull(strstr(second, "two\nthree\n"));
}
END_TEST

START_TEST(waits_for_the_rest_of_a_line)
{
	uint64_t at;
	int fd;

	start("partial abc", "delay 300", "say def", "wait-for-line", "say done", "stall", NULL);
	fd = dial();
	wait_until(has("a.ndjson", "abc"));
	tell(fd, "L1", "hello\n");
	at = hear_written(fd, "L1");
	assert_record(at, "L1", "hello\n");
	ck_assert_ptr_eq(strstr(text.p, "\nabcdef\n") + strlen("\nabcdef\n"), text.p + at);
	wait_until(has("a.ndjson", "\thello\ndone\n"));
}
END_TEST

START_TEST(ends_half_a_line_after_a_second)
{
	int64_t began;
	uint64_t at;
	int fd;

	start("partial abc", "wait-for-line", "say def", "stall", NULL);
	fd = dial();
	wait_until(has("a.ndjson", "abc"));
	began = unit_now_ms();
	tell(fd, "L1", "hello\n");
	at = hear_written(fd, "L1");
	ck_assert_int_ge(unit_now_ms() - began, 900);
	assert_record(at, "L1", "hello\n");
	ck_assert_ptr_eq(strstr(text.p, "\nabc\n") + strlen("\nabc\n"), text.p + at);
	wait_until(has("a.ndjson", "\thello\ndef\n"));
}
END_TEST

/* ---- the line in flight ---- */

static char *long_line(size_t n)
{
	char *line = xmalloc(n + 1);

	for (size_t i = 0; i < n; i++)
		line[i] = (char)('a' + i % 26);
	line[n - 1] = '\n';
	line[n] = '\0';
	return line;
}

START_TEST(writes_a_long_line)
{
	enum { BYTES = 3 << 20 };
	char *line = long_line(BYTES);
	int fd, other;
	uint64_t at;

	start("partial half", "wait-for-line", "say {bytes} bytes", "stall", NULL);
	fd = dial();
	other = dial();
	wait_until(has("a.ndjson", "half"));
	kill(agent, SIGSTOP);
	tell(fd, "L1", line);
	says(other, "W L2 2\nx\n");
	assert_hears(other, "N L2 busy");
	kill(agent, SIGCONT);
	at = hear_written(fd, "L1");
	assert_hears(fd, "T L1");
	assert_record(at, "L1", line);
	wait_until(has("a.ndjson", "\n3145727 bytes\n"));
	assert_small(); /* its memory was given back */
	free(line);
}
END_TEST

START_TEST(is_busy_until_it_was_read)
{
	int fd;

	start("delay 300", "wait-for-line", "wait-for-line", NULL);
	fd = dial();
	kill(agent, SIGSTOP);
	tell(fd, "L1", "one\n");
	hear_written(fd, "L1");
	tell(fd, "L2", "two\n");
	assert_hears(fd, "N L2 busy");
	tell(fd, "L1", "one\n"); /* again */
	hear_written(fd, "L1");
	kill(agent, SIGCONT);
	assert_hears(fd, "T L1");
	tell(fd, "L2", "two\n");
	hear_written(fd, "L2");
	assert_hears(fd, "T L2");
	assert_hears(fd, "D code 0");
	ck_assert_int_eq(reap_holder(), 0);
	read_capture("a.ndjson");
	ck_assert_ptr_null(strstr(strstr(text.p, "\tone\n") + 1, "\tone\n"));
}
END_TEST

START_TEST(answers_again)
{
	uint64_t at, size;
	int fd, other;

	start("echo-back", NULL);
	fd = dial();
	tell(fd, "L1", "one\n");
	at = hear_written(fd, "L1");
	assert_hears(fd, "T L1");
	wait_until(has("a.ndjson", "\none\n"));
	size = size_of("a.ndjson");
	other = dial();
	tell(other, "L1", "one\n");
	ck_assert_uint_eq(hear_written(other, "L1"), at);
	assert_hears(other, "T L1");
	ck_assert_uint_eq(size_of("a.ndjson"), size);
	tell_wholly(other, "L2", "two\n"); /* the stream is in step */
}
END_TEST

START_TEST(forgets_half_a_line_of_a_lost_client)
{
	int fd;

	start("echo-back", NULL);
	fd = dial();
	says(fd, "W L1 100\nhalf of it");
	close(fd);
	fd = dial();
	tell_wholly(fd, "L2", "whole\n");
	ck_assert(!has("a.ndjson", "half of it"));
	tell_wholly(fd, "L1", "another\n");
}
END_TEST

START_TEST(finishes_the_line_of_a_lost_client)
{
	char *line = long_line(200000);
	int fd;

	start("wait-for-line", "say read", "stall", NULL);
	kill(agent, SIGSTOP);
	fd = dial();
	tell(fd, "L1", line);
	close(fd);
	fd = dial();
	wait_until((says(fd, "W L2 2\nx\n"), strcmp(hear(fd), "N L2 busy") == 0));
	tell(fd, "L1", line); /* in flight: its answers come here */
	kill(agent, SIGCONT);
	assert_record(hear_written(fd, "L1"), "L1", line);
	assert_hears(fd, "T L1");
	wait_until(has("a.ndjson", "\nread\n"));
	free(line);
}
END_TEST

START_TEST(refuses_what_is_malformed)
{
	static const char *const bad[] = { "Y\n", "W L1\n", "W L1 x\n", "W a/b 2\nx\n", "W L1 0\n",
					   "W L1 67108865\n", "K\n", "K x\n", "\n", "E \n",
					   /* 65 letters */
					   "W aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa 2\nx\n" };
	char *long_head = long_line(2000);
	int fd;

	start("echo-back", NULL);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		fd = dial();
		says(fd, bad[i]);
		assert_hears(fd, "N - bad");
		assert_hears(fd, "");
		close(fd);
	}
	fd = dial();
	say(fd, long_head, 1000);
	assert_hears(fd, "N - bad");
	fd = dial();
	says(fd, "W L1 4\na\nb\nW L1 3\nabc");
	assert_hears(fd, "N L1 bad");
	assert_hears(fd, "N L1 bad");
	tell_wholly(fd, "L1", "good\n");
	free(long_head);
}
END_TEST

/* ---- end of input ---- */

START_TEST(ends_the_input)
{
	int fd;

	start("delay 100", "read-input", "echo-input", "wait-for-line", NULL);
	fd = dial();
	tell(fd, "L1", "the task\n");
	hear_written(fd, "L1");
	says(fd, "E\n");
	tell(fd, "L2", "more\n");
	assert_hears(fd, "N L2 closed");
	assert_hears(fd, "T L1"); /* read after the end of input */
	assert_hears(fd, "D code 0");
	ck_assert_int_eq(reap_holder(), 0);
	ck_assert(has("a.ndjson", "\nthe task\n"));
	ck_assert(!has("a.ndjson", "unread"));
}
END_TEST

START_TEST(finds_a_closed_input)
{
	char *line = long_line(200000);
	int fd;

	start("close-stdin", "say closed", "stall", NULL);
	fd = dial();
	wait_until(has("a.ndjson", "closed\n"));
	tell(fd, "L1", line);
	assert_hears(fd, "N L1 closed");
	free(line);
}
END_TEST

START_TEST(finds_an_input_closed_under_way)
{
	char *line = long_line(200000);
	unsigned put;
	int fd;

	start_shell("head -c 10 >/dev/null; exec <&-; echo closed; exec sleep 1000");
	fd = dial();
	tell(fd, "L1", line);
	ck_assert_int_eq(sscanf(hear(fd), "N L1 closed %u", &put), 1);
	ck_assert_uint_gt(put, 0);
	ck_assert_uint_lt(put, 200000);
	kill(agent, SIGKILL);
	assert_hears(fd, "D signal 9");
	ck_assert_int_eq(reap_holder(), 0);
	ck_assert(has("a.ndjson", ",\"id\":\"L1\"}"));
	ck_assert(!has("a.ndjson", "\"to\""));
	free(line);
}
END_TEST

/* ---- stopping ---- */

START_TEST(stops_an_agent)
{
	int fd, other;

	start("stall", NULL);
	fd = dial();
	says(fd, "K 60000\n");
	assert_hears(fd, "S ending");
	other = try_connect();
	ck_assert_ptr_nonnull(strstr(hear(other), " ending 0 -"));
	says(fd, "K 100000\nK 20\n"); /* only the shorter one counts */
	assert_hears(fd, "S term");
	assert_hears(fd, "D signal 15");
	assert_hears(fd, "");
	assert_hears(other, "S term");
	ck_assert_int_eq(reap_holder(), 0);
}
END_TEST

static pid_t child_of_agent(void)
{
	int pid = 0;

	wait_until(has("a.ndjson", "child ") && strchr(strstr(text.p, "child "), '\n'));
	ck_assert_int_eq(sscanf(strstr(text.p, "child "), "child %d", &pid), 1);
	return pid;
}

START_TEST(kills_an_agent)
{
	int64_t began;
	pid_t child;
	int fd;

	start("ignore-term", "fork-away", "stall", NULL);
	child = child_of_agent();
	fd = dial();
	began = unit_now_ms();
	says(fd, "K 0\n");
	assert_hears(fd, "S ending");
	assert_hears(fd, "S term");
	assert_hears(fd, "S kill");
	ck_assert_int_ge(unit_now_ms() - began, 4900);
	assert_hears(fd, "D signal 9");
	ck_assert_int_eq(reap_holder(), 0);
	ck_assert(is_gone(child));
}
END_TEST

START_TEST(ends_what_an_agent_leaves)
{
	int64_t began = unit_now_ms();
	pid_t child;
	int fd;

	start("fork-away", "wait-for-line", "exit 3", NULL);
	fd = dial();
	child = child_of_agent();
	tell(fd, "L1", "go\n");
	hear_written(fd, "L1");
	ck_assert_ptr_nonnull(strchr("TS", *hear(fd))); /* T L1, unless it was quicker */
	while (strncmp(hear(fd), "D ", 2) != 0)
		ck_assert_int_lt(unit_now_ms(), began + PATIENCE_MS);
	ck_assert_int_eq(reap_holder(), 0);
	ck_assert(is_gone(child));
	ck_assert(has("a.ndjson", "\"code\":3,"));
}
END_TEST

/* One that was forked while KILL was sent. The test is the holder. */
START_TEST(kills_until_none_is_left)
{
	struct holder h = { .exited = true,
			    .exited_ms = unit_now_ms(),
			    .stop = STOP_KILLED,
			    .stop_ms = unit_now_ms(),
			    .swept = true,
			    .streams = { { .fd = -1 }, { .fd = -1 } } };
	pid_t left = fork();
	int status;

	if (left == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		pause();
		_exit(0);
	}
	h.pid = fork();
	if (h.pid == 0)
		_exit(0);
	ck_assert(!ending_advance(&h, unit_now_ms()));
	wait_until(waitpid(left, &status, WNOHANG) == left);
	ck_assert(WIFSIGNALED(status));
	vec_release(&h.known);
}
END_TEST

/* It clears its environment, leaves its session, and its parent is gone before anybody looks. */
START_TEST(finds_an_orphan)
{
	pid_t child;

	start_shell("(setsid env -i /bin/sh -c 'echo child $$; exec sleep 1000' >&1 &) ; read x");
	child = child_of_agent();
	wait_until(parent_of(child) == holder);
	kill(holder, SIGTERM);
	ck_assert_int_eq(reap_holder(), 0);
	ck_assert(is_gone(child));
}
END_TEST

START_TEST(reaps_orphans)
{
	pid_t child;

	start_shell("(setsid /bin/sh -c 'echo child $$; exec sleep 300' &) ; read x; read x");
	child = child_of_agent();
	wait_until(parent_of(child) == holder);
	kill(child, SIGKILL);
	wait_until(is_gone(child));
}
END_TEST

START_TEST(records_a_crash)
{
	int fd;

	start("say hi", "partial and", "wait-for-line", "crash", NULL);
	fd = dial();
	tell(fd, "L1", "go\n");
	while (strncmp(hear(fd), "D signal 11", 11) != 0)
		;
	ck_assert_int_eq(reap_holder(), 0);
	ck_assert(has("a.ndjson", "\n\t{\"gavel\":\"exit\",\"n\":1,\"signal\":11,"));
}
END_TEST

START_TEST(records_what_was_not_read)
{
	char *line = long_line(200000);
	int fd;

	start("stall", NULL);
	fd = dial();
	tell(fd, "L1", "hello\n");
	hear_written(fd, "L1");
	kill(agent, SIGKILL);
	assert_hears(fd, "D signal 9");
	ck_assert_int_eq(reap_holder(), 0);
	ck_assert(has("a.ndjson", ",\"unread\":6,\"id\":\"L1\"}\n"));
	start("stall", NULL);
	fd = dial();
	tell(fd, "L2", line);
	wait_until((says(fd, "W L3 2\nx\n"), strcmp(hear(fd), "N L3 busy") == 0));
	kill(agent, SIGKILL);
	assert_hears(fd, "N L2 ended 0");
	assert_hears(fd, "D signal 9");
	ck_assert_int_eq(reap_holder(), 0);
	ck_assert(has("a.ndjson", ",\"unread\":65536,\"id\":\"L2\"}\n"));
	ck_assert(!has("a.ndjson", "\"to\",\"id\":\"L2\""));
	free(line);
}
END_TEST

/* What D promises: socket and lock are free at once. */
START_TEST(makes_way_for_the_next)
{
	for (int i = 0; i < 50; i++) {
		int fd, out;

		start("wait-for-line", NULL);
		fd = dial();
		says(fd, "E\n");
		assert_hears(fd, "D code 0");
		ck_assert_int_eq(access(path_of("a.sock"), F_OK), -1);
		out = open_capture("a.ndjson");
		close(out);
		close(fd);
		ck_assert_int_eq(reap_holder(), 0);
	}
}
END_TEST

START_TEST(survives_signals)
{
	static const int signals[] = { SIGHUP,  SIGINT,  SIGQUIT, SIGPIPE, SIGTSTP,
				       SIGTTOU, SIGTTIN, SIGUSR1, SIGUSR2, SIGXFSZ };
	int fd;

	start("echo-back", NULL);
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		kill(-getpgid(holder), signals[i]);
	fd = dial();
	tell_wholly(fd, "L1", "still there\n");
	ck_assert_int_eq(getsid(holder), holder);
	ck_assert_int_ne(getsid(holder), getsid(0));
}
END_TEST

START_TEST(takes_the_agent_along)
{
	int status;

	start("stall", NULL);
	kill(holder, SIGKILL);
	ck_assert_int_eq(waitpid(holder, &status, 0), holder);
	wait_until(waitpid(agent, &status, WNOHANG) == agent);
	ck_assert(WIFSIGNALED(status));
	ck_assert_int_eq(WTERMSIG(status), SIGTERM);
	set_running(0, 0);
}
END_TEST

/* ---- a full disk ---- */

static long ticks_of_holder(void)
{
	long user = 0, system = 0;

	ck_assert_int_eq(sscanf(stat_of(holder),
				"%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %ld %ld", &user,
				&system),
			 2);
	return user + system;
}

/* Processor time that it takes in 400 ms, in ticks of 10 ms. */
static long ticks_while_silent(int fd)
{
	struct pollfd silent = { .fd = fd, .events = POLLIN };
	long before = ticks_of_holder();

	ck_assert_int_eq(poll(&silent, 1, 400), 0);
	return ticks_of_holder() - before;
}

START_TEST(waits_for_room)
{
	enum { FLOOD = 3 << 20 };
	uint64_t size;
	int fd, other;

	start("wait-for-line", "flood 3145728", "say done", "wait-for-line", NULL);
	fd = dial();
	limit_files(holder, 100000);
	tell_wholly(fd, "L1", "go\n");
	assert_hears(fd, "F File too large");
	other = dial();
	assert_hears(other, "F File too large");
	tell(other, "L2", "more\n");
	assert_hears(other, "N L2 full");
	size = size_of("a.ndjson");
	ck_assert_uint_eq(size, 100000);
	assert_small();
	ck_assert_int_lt(ticks_while_silent(other), 10);
	limit_files(holder, CAPTURE_MAX);
	assert_hears(fd, "O");
	wait_until(has("a.ndjson", "done\n"));
	ck_assert_uint_ge(text.n, FLOOD);
	tell_wholly(fd, "L2", "more\n");
	while (strncmp(hear(fd), "D code 0", 8) != 0)
		;
	ck_assert_int_eq(reap_holder(), 0);
}
END_TEST

/* Whether the limit on a file's size is met by writing, as on ext4. tmpfs does not reserve room beyond it
 * either, so that the holder refuses a line at once. */
static bool limit_is_met_late(void)
{
	int fd = open(path_of("limit"), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	bool late;

	signal(SIGXFSZ, SIG_IGN);
	limit_files(0, 1000);
	late = fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, 5000) == 0 || errno == EOPNOTSUPP;
	limit_files(0, CAPTURE_MAX);
	close(fd);
	return late;
}

/* The record of a line that has left, and the exit, wait for room. */
START_TEST(keeps_records_until_there_is_room)
{
	char *line;
	int fd, other;

	if (!limit_is_met_late())
		return;
	line = long_line(5000);
	start("wait-for-line", "say reaction", NULL);
	fd = dial();
	limit_files(holder, (rlim_t)size_of("a.ndjson") + 1000);
	tell(fd, "L1", line);
	assert_hears(fd, "F File too large");
	wait_until(kill(agent, 0) == 0 && (other = try_connect(), strstr(hear(other), " ended ")));
	assert_hears(other, "F File too large");
	ck_assert(!has("a.ndjson", "reaction"));
	limit_files(holder, CAPTURE_MAX);
	hear_written(fd, "L1");
	assert_hears(fd, "T L1");
	assert_hears(fd, "O");
	assert_hears(fd, "D code 0");
	ck_assert_int_eq(reap_holder(), 0);
	ck_assert(has("a.ndjson", "\nreaction\n\t{\"gavel\":\"exit\",\"n\":1,\"code\":0"));
	ck_assert(strstr(text.p, "\nreaction") > strstr(text.p, line));
	free(line);
}
END_TEST

/* While there is no room. */
static void wait_for_exit(int fd)
{
	bool ended;

	wait_until((says(fd, "?\n"), ended = strstr(hear(fd), " ended ") != NULL,
		    strcmp(hear(fd), "F File too large") == 0 && ended));
}

/* Only SIGTERM asks for it, no client. */
START_TEST(gives_up_output_when_asked)
{
	pid_t child;
	int fd;

	start_shell("trap '' TERM; sleep 1000 & trap - TERM; echo child $!; read x;"
		    "yes | head -c 300000 >&2");
	child = child_of_agent();
	fd = dial();
	limit_files(holder, 100000);
	tell_wholly(fd, "L1", "go\n");
	assert_hears(fd, "F File too large");
	wait_for_exit(fd);
	assert_hears(fd, "S term");
	says(fd, "K 0\nX\n");
	assert_hears(fd, "S kill");
	wait_until(is_gone(child)); /* now the holder waits for nothing but room */
	wait_for_exit(fd);
	kill(holder, SIGTERM);
	assert_hears(fd, "O");
	assert_hears(fd, "D code 0");
	ck_assert_int_eq(reap_holder(), 0);
	ck_assert(has("a.ndjson", "\n\t{\"gavel\":\"exit\",\"n\":1,\"code\":0,\"lost\":200000,"));
	ck_assert_uint_eq(size_of("a.stderr"), 100000);
	/* no room for a record of the exit */
	start("wait-for-line", "flood 300000", NULL);
	fd = dial();
	limit_files(holder, 100000);
	tell_wholly(fd, "L1", "go\n");
	assert_hears(fd, "F File too large");
	wait_for_exit(fd);
	kill(holder, SIGTERM);
	assert_hears(fd, "D code 0");
	ck_assert_int_eq(reap_holder(), 0);
	ck_assert_uint_eq(size_of("a.ndjson"), 100000);
}
END_TEST

/* The line has left, but half a record would be worse than none. */
START_TEST(gives_up_a_record_when_asked)
{
	char *line;
	int fd;

	if (!limit_is_met_late())
		return;
	line = long_line(5000);
	start("wait-for-line", "say reaction", NULL);
	fd = dial();
	limit_files(holder, (rlim_t)size_of("a.ndjson") + 1000);
	tell(fd, "L1", line);
	assert_hears(fd, "F File too large");
	wait_for_exit(fd);
	kill(holder, SIGTERM);
	assert_hears(fd, "N L1 ended 5000");
	assert_hears(fd, "O");
	assert_hears(fd, "D code 0");
	ck_assert_int_eq(reap_holder(), 0);
	ck_assert(has("a.ndjson", "}\n\t{\"gavel\":\"exit\",\"n\":1,\"code\":0,\"lost\":9,"));
	ck_assert(has("a.ndjson", ",\"unread\":0,\"id\":\"L1\"}\n"));
	ck_assert(!has("a.ndjson", "\"to\""));
	free(line);
}
END_TEST

START_TEST(does_not_wait_for_a_deleted_capture)
{
	int fd;

	start("wait-for-line", "flood 3145728", NULL);
	fd = dial();
	limit_files(holder, 100000);
	tell_wholly(fd, "L1", "go\n");
	assert_hears(fd, "F File too large");
	ck_assert_int_eq(unlink(path_of("a.ndjson")), 0);
	assert_hears(fd, "O");
	assert_hears(fd, "D code 0");
	ck_assert_int_eq(reap_holder(), 0);
}
END_TEST

/* A file system of 256 KiB over the folder, or false if that is not allowed here. */
static bool mount_small(void)
{
	return unshare(CLONE_NEWNS) == 0 &&
	       mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
	       mount("none", folder, "tmpfs", 0, "size=256k") == 0;
}

START_TEST(refuses_without_room)
{
	const char *argv[] = { program("GAVEL_HOLDER"), "a", "1", "/bin/true", "true", NULL };
	char *line = long_line(300000);
	char *fill = long_line(240 << 10);
	int fd, big;

	if (!mount_small())
		return; /* not for this user */
	start("echo-back", NULL);
	fd = dial();
	tell(fd, "L1", line);
	assert_hears(fd, "N L1 full");
	tell_wholly(fd, "L2", "small\n");
	kill(holder, SIGTERM);
	ck_assert_int_eq(reap_holder(), 0);
	big = open(path_of("big"), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	while (write(big, fill, 4096) > 0)
		;
	ck_assert_int_eq(unlink(path_of("a.ndjson")), 0); /* so that a new one has no block yet */
	while (write(big, fill, 4096) > 0)
		;
	ck_assert_str_eq(run_in_folder(argv), "failed capture 28\n");
	close(big);
	free(line);
	free(fill);
	ck_assert_int_eq(umount(folder), 0);
}
END_TEST

/* ---- clients ---- */

START_TEST(refuses_other_users)
{
	int status;
	pid_t pid;

	if (geteuid() != 0)
		return; /* nobody else to be */
	start("stall", NULL);
	chmod(folder, 0755);
	chmod(path_of("a.sock"), 0666);
	pid = fork();
	if (pid == 0) {
		if (setuid(65534) < 0)
			_exit(2);
		_exit(*hear(try_connect()) != '\0');
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	close(dial());
}
END_TEST

/* Prints the first that the holder says. */
static void print_greeting(const char *who)
{
	char line[80];
	ssize_t n = read(connect_holder(), line, sizeof(line));

	dprintf(STDOUT_FILENO, "%s: %.*s", who, (int)(n > 0 ? n : 0), line);
}

/* An agent that tries to answer itself: by its own process, by an orphan in another session, and, when
 * it is told to go on, by one that exits at once. */
static _Noreturn void dial_own_holder(void)
{
	pid_t above = getppid();

	print_greeting("agent");
	if (fork() == 0) {
		setsid();
		if (fork())
			_exit(0);
		while (getppid() != above)
			sched_yield();
		print_greeting("orphan");
		_exit(0);
	}
	wait(NULL);
	raise(SIGSTOP);
	if (fork() == 0)
		_exit(write(connect_holder(), "W L1 4\nyes\n", 11) != 11);
	wait(NULL);
	raise(SIGSTOP);
	_exit(0);
}

START_TEST(refuses_its_agent)
{
	char self[512] = "";
	const char *argv[] = { program("GAVEL_HOLDER"), "a", "1", self, "self", folder, NULL };
	int fd;

	ck_assert_int_gt(readlink("/proc/self/exe", self, sizeof(self) - 1), 0);
	start_argv(argv);
	wait_until(has("a.ndjson", "agent: N - refused\n"));
	wait_until(has("a.ndjson", "orphan: N - refused\n"));
	wait_until(*stat_of(agent) == 'T');
	freeze(holder);
	kill(agent, SIGCONT);
	wait_until(*stat_of(agent) == 'T');
	fd = try_connect();
	kill(holder, SIGCONT);
	ck_assert_ptr_nonnull(strstr(hear(fd), " runs 0 - 0"));
}
END_TEST

/* Two clients are gone before the holder has read the lines that they sent, or has accepted them. */
START_TEST(greets_after_what_was_sent)
{
	char *line = long_line(5000);
	int fd, other;

	start("echo-back", NULL);
	fd = dial();
	freeze(holder);
	tell(fd, "L1", line);
	close(fd);
	fd = try_connect();
	kill(holder, SIGCONT);
	ck_assert_ptr_nonnull(strstr(hear(fd), " L1 "));
	wait_until((says(fd, "?\n"), strstr(hear(fd), " 0 L1 ")));
	freeze(holder);
	other = try_connect();
	tell(other, "L2", line);
	close(other);
	other = try_connect();
	kill(holder, SIGCONT);
	ck_assert_ptr_nonnull(strstr(hear(other), " L2 "));
	free(line);
}
END_TEST

START_TEST(serves_so_many_clients)
{
	int fds[CLIENTS], fd;

	start("stall", NULL);
	for (int i = 0; i < CLIENTS; i++)
		fds[i] = dial();
	fd = try_connect();
	assert_hears(fd, "N - busy");
	assert_hears(fd, "");
	close(fd);
	close(fds[7]);
	wait_until((fd = try_connect(), *hear(fd) == 'H' || (close(fd), false)));
	says(fds[3], "K 60000\n");
	for (int i = 0; i < CLIENTS; i++)
		if (i != 7)
			assert_hears(fds[i], "S ending");
}
END_TEST

START_TEST(drops_a_client_that_does_not_read)
{
	int fd, deaf;
	ssize_t put = 0;

	start("stall", NULL);
	deaf = dial();
	fd = dial();
	tell(fd, "L1", "hello\n");
	hear_written(fd, "L1");
	for (int i = 0; i < 1000000 && put >= 0; i++)
		put = send(deaf, "W L2 2\nx\n", 9, MSG_NOSIGNAL);
	ck_assert_int_lt(put, 0);
	says(fd, "W L2 2\nx\n");
	assert_hears(fd, "N L2 busy");
}
END_TEST

/* Neither waits for an answer, not even for the greeting. */
START_TEST(obeys_a_client_that_hangs_up)
{
	char id[16], greeting[80];
	bool heard;
	int fd;

	start("echo-back", NULL);
	for (int i = 0; i < 50; i++) {
		snprintf(id, sizeof(id), "L%d", i);
		fd = try_connect();
		tell(fd, id, "hello\n");
		close(fd);
		snprintf(greeting, sizeof(greeting), "H 1 %d runs 0 %s 0", agent, id);
		wait_until((fd = try_connect(), heard = strcmp(hear(fd), greeting) == 0, close(fd),
			    heard));
	}
	fd = try_connect();
	says(fd, "K 0\n");
	close(fd);
	ck_assert_int_eq(reap_holder(), 0);
	ck_assert(has("a.ndjson", "\"signal\":15"));
}
END_TEST

/* ---- what it costs ---- */

START_TEST(is_small)
{
	start("wait-for-line", "flood 30000000", "say done", "stall", NULL);
	assert_small();
	tell_wholly(dial(), "L1", "go\n");
	while (size_of("a.ndjson") < 30000000)
		assert_small();
}
END_TEST

START_TEST(does_nothing_while_nothing_happens)
{
	struct pollfd silent;
	long before;
	int fd;

	start("echo-back", NULL);
	fd = dial();
	tell_wholly(fd, "L1", "hello\n");
	wait_until(has("a.ndjson", "\nhello\n"));
	silent = (struct pollfd){ .fd = fd, .events = POLLIN };
	ck_assert_int_eq(poll(&silent, 1, 50), 0);
	before = status_number("voluntary_ctxt_switches:");
	ck_assert_int_eq(poll(&silent, 1, 400), 0);
	ck_assert_int_eq(status_number("voluntary_ctxt_switches:"), before);
	/* the longer a line is unread, the less often that is asked */
	freeze(agent);
	tell(fd, "L2", "hello\n");
	hear_written(fd, "L2");
	assert_hears(fd, "U 6");
	before = status_number("voluntary_ctxt_switches:");
	ck_assert_int_eq(poll(&silent, 1, 500), 0);
	ck_assert_int_le(status_number("voluntary_ctxt_switches:"), before + 1);
	kill(agent, SIGCONT);
	assert_hears(fd, "U 0");
	assert_hears(fd, "T L2");
}
END_TEST

/* With a folder: the agent of refuses_its_agent. */
int main(int argc, char **argv)
{
	Suite *suite = suite_create("holder");
	TCase *t = unit_cases(suite, "start", set_up, tear_down);

	if (argc == 2) {
		str_copy(folder, str_of(argv[1]));
		dial_own_holder();
	}
	tcase_add_test(t, starts_an_agent);
	tcase_add_test(t, keeps_the_agents_surroundings);
	tcase_add_test(t, holds_the_lock);
	tcase_add_test(t, fails_to_start);
	tcase_add_test(t, fails_without_a_folder_or_a_file);
	tcase_add_test(t, ends_a_line_of_an_earlier_run);
	t = unit_cases(suite, "capture", set_up, tear_down);
	tcase_add_test(t, records_what_it_is_told);
	tcase_add_test(t, records_before_the_reaction);
	tcase_add_test(t, records_in_a_flood);
	tcase_add_test(t, escapes_tabs);
	tcase_add_test(t, tells_the_time_of_lines);
	tcase_add_test(t, waits_for_the_rest_of_a_line);
	tcase_add_test(t, ends_half_a_line_after_a_second);
	t = unit_cases(suite, "input", set_up, tear_down);
	tcase_add_test(t, writes_a_long_line);
	tcase_add_test(t, is_busy_until_it_was_read);
	tcase_add_test(t, answers_again);
	tcase_add_test(t, forgets_half_a_line_of_a_lost_client);
	tcase_add_test(t, finishes_the_line_of_a_lost_client);
	tcase_add_test(t, refuses_what_is_malformed);
	tcase_add_test(t, ends_the_input);
	tcase_add_test(t, finds_a_closed_input);
	tcase_add_test(t, finds_an_input_closed_under_way);
	t = unit_cases(suite, "end", set_up, tear_down);
	tcase_add_test(t, stops_an_agent);
	tcase_add_test(t, kills_an_agent);
	tcase_add_test(t, ends_what_an_agent_leaves);
	tcase_add_test(t, kills_until_none_is_left);
	tcase_add_test(t, finds_an_orphan);
	tcase_add_test(t, reaps_orphans);
	tcase_add_test(t, records_a_crash);
	tcase_add_test(t, records_what_was_not_read);
	tcase_add_test(t, makes_way_for_the_next);
	tcase_add_test(t, survives_signals);
	tcase_add_test(t, takes_the_agent_along);
	t = unit_cases(suite, "disk", set_up, tear_down);
	tcase_add_test(t, waits_for_room);
	tcase_add_test(t, keeps_records_until_there_is_room);
	tcase_add_test(t, gives_up_output_when_asked);
	tcase_add_test(t, gives_up_a_record_when_asked);
	tcase_add_test(t, does_not_wait_for_a_deleted_capture);
	tcase_add_test(t, refuses_without_room);
	t = unit_cases(suite, "clients", set_up, tear_down);
	tcase_add_test(t, refuses_other_users);
	tcase_add_test(t, refuses_its_agent);
	tcase_add_test(t, greets_after_what_was_sent);
	tcase_add_test(t, serves_so_many_clients);
	tcase_add_test(t, drops_a_client_that_does_not_read);
	tcase_add_test(t, obeys_a_client_that_hangs_up);
	t = unit_cases(suite, "cost", set_up, tear_down);
	tcase_add_test(t, is_small);
	tcase_add_test(t, does_nothing_while_nothing_happens);
	return unit_run(suite);
}
