/* An agent that does what a script says: for tests of whoever runs agents.
 *
 *   fake_agent LINE... [-- WORD...]       each LINE is a line of script
 *   fake_agent -f SCRIPT [-- WORD...]     the lines of a file; blank ones and # lines are skipped
 *
 *   say TEXT             TEXT and a newline; see "In texts" below
 *   say-file FILE        the bytes of a file, beside the script if it is not absolute
 *   partial TEXT         without the newline
 *   stderr TEXT          TEXT and a newline on standard error
 *   garbage N            N bytes of all kinds
 *   flood N              N bytes of JSON lines, as fast as they are taken
 *   pace N RATE          N messages, RATE of them a second: logs, with an id and the time
 *   wait-for-line [TEXT] reads lines until one contains TEXT; at the end of input: exit 0
 *   echo-back [N]        says each line that it reads, N of them or all
 *   read-slow [N]        reads a byte every 10 ms, N of them or all
 *   read-input           reads to the end of input; without one it is refused
 *   expect TEXT          what was read must hold TEXT, else: says so on standard error, exit 65
 *   refuse TEXT          it must not
 *   expect-args TEXT     the WORDs, with a space between each two, must be TEXT
 *   echo-input           says what was read
 *   append FILE TEXT     adds a line to a file
 *   remove FILE          deletes it
 *   turns FILE           counts in FILE how often it was run, and goes on behind the line "turn N"; the
 *                        next such line is the end
 *   close-stdin
 *   delay MS
 *   close-input          closes its standard input, and says so
 *   stall                does nothing for ever
 *   ignore-term          SIGTERM does nothing from now on
 *   fork-child           leaves a process that holds its pipes and does nothing; says "child PID"
 *   fork-away            the same in a session of its own
 *   try-tty              tries to get at a terminal and says how that went
 *   show-args            says each WORD
 *   show-env             says its environment
 *   show-fds             says its open descriptors
 *   show-signals         says which signals are blocked, ignored and caught
 *   show-ids             says "pid P group G session S", and its folder
 *   hold TEXT            is the holder of a run that gavel has not started, on ./dev.sock; says TEXT and
 *                        ends once it is told to stop its agent
 *   claude, codex, acp PLAN   speaks as those do (fake_dialects.c)
 *   again                from the first line
 *   exit N, crash        the end of the script is exit 0
 *
 * In texts: {now} is the time, {now+S} S seconds later, {bytes} how many were read, {uuid} an id that no
 * other call gives, {last:NAME} the string after "NAME": in the line read last. */
#include "fake_agent.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

enum { LINES_MAX = 1000, EXIT_WRONG = 64, EXIT_UNEXPECTED = 65 };

static char *lines[LINES_MAX];
static int lines_n, line_at;
static char **words;      /* after -- */
static char folder[4096]; /* of the script, with a slash; "" = here */
static char *last;        /* line read, without its newline */
static size_t last_n, last_cap;

static _Noreturn void wrong(const char *what, const char *which)
{
	dprintf(STDERR_FILENO, "fake_agent: %s: %s\n", what, which);
	_exit(EXIT_WRONG);
}

static void put(int fd, const char *p, size_t n)
{
	while (n) {
		ssize_t done = write(fd, p, n);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			_exit(EXIT_WRONG + 1); /* nobody listens */
		p += done;
		n -= (size_t)done;
	}
}

static void nap(long ms)
{
	struct timespec t = { ms / 1000, ms % 1000 * 1000000 };

	while (nanosleep(&t, &t) < 0 && errno == EINTR)
		;
}

/* ---- texts ---- */

static void put_time(FILE *out, long later_s)
{
	struct timespec now;
	struct tm tm;
	char text[40];

	clock_gettime(CLOCK_REALTIME, &now);
	now.tv_sec += later_s;
	gmtime_r(&now.tv_sec, &tm);
	strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &tm);
	fprintf(out, "%s.%03ldZ", text, now.tv_nsec / 1000000);
}

static void put_uuid(FILE *out)
{
	static unsigned count;

	fprintf(out, "%08x-0000-4000-8000-%012x", (unsigned)getpid(), ++count);
}

static void put_last(FILE *out, const char *name, size_t n)
{
	const char *p = last ? last : "";

	for (; (p = strchr(p, '"')); p++) {
		const char *end;

		if (strncmp(p + 1, name, n) != 0 || strncmp(p + 1 + n, "\":", 2) != 0)
			continue;
		p += n + 3;
		p += strspn(p, " ");
		end = *p == '"' ? strchr(p + 1, '"') : NULL;
		if (end)
			fwrite(p + 1, 1, (size_t)(end - p - 1), out);
		return;
	}
}

static void say(int fd, const char *text, const char *ending)
{
	char *all = NULL;
	size_t n = 0;
	FILE *out = open_memstream(&all, &n);

	while (*text) {
		const char *end = *text == '{' ? strchr(text, '}') : NULL;

		if (strncmp(text, "{now}", 5) == 0)
			put_time(out, 0);
		else if (end && strncmp(text, "{now+", 5) == 0)
			put_time(out, atol(text + 5));
		else if (strncmp(text, "{bytes}", 7) == 0)
			fprintf(out, "%zu", last_n);
		else if (strncmp(text, "{uuid}", 6) == 0)
			put_uuid(out);
		else if (end && strncmp(text, "{last:", 6) == 0)
			put_last(out, text + 6, (size_t)(end - text - 6));
		else
			end = NULL;
		if (!end)
			fputc(*text, out);
		text = end ? end + 1 : text + 1;
	}
	fputs(ending, out);
	fclose(out);
	put(fd, all, n);
	free(all);
}

static void say_file(const char *name)
{
	char path[8192], block[65536];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "%s%s", *name == '/' ? "" : folder, name);
	fd = open(path, O_RDONLY);
	if (fd < 0)
		wrong(path, strerror(errno));
	while ((n = read(fd, block, sizeof(block))) > 0)
		put(STDOUT_FILENO, block, (size_t)n);
	close(fd);
}

static void garbage(long n)
{
	unsigned x = 1;

	for (; n > 0; n--) {
		char c;

		x = x * 1103515245 + 12345;
		c = (char)(x >> 16);
		put(STDOUT_FILENO, &c, 1);
	}
}

static void flood(long n)
{
	static const char line[] = "{\"type\":\"event:log\",\"payload\":{\"level\":\"info\","
				   "\"message\":\"................................\"}}\n";
	static char block[65536];
	size_t fill = 0;

	while (fill + sizeof(line) - 1 <= sizeof(block)) {
		memcpy(block + fill, line, sizeof(line) - 1);
		fill += sizeof(line) - 1;
	}
	for (; n > 0; n -= (long)fill)
		put(STDOUT_FILENO, block, (size_t)n < fill ? (size_t)n : fill);
}

/* In bursts of PACE_MS; what comes late because nobody took it is not dropped. */
static void pace(const char *text)
{
	enum { PACE_MS = 20, LINE_MAX_BYTES = 256 };
	long n = 0, rate = 0, done = 0;
	struct timespec start, now;
	char *burst;

	if (sscanf(text, "%ld %ld", &n, &rate) != 2 || n < 1 || rate < 1)
		wrong("pace needs two numbers", text);
	burst = malloc((size_t)n * LINE_MAX_BYTES);
	if (!burst)
		wrong("memory", "none left");
	clock_gettime(CLOCK_MONOTONIC, &start);
	while (done < n) {
		long due, ms;
		char *at = burst, *time;
		size_t time_n;
		FILE *out = open_memstream(&time, &time_n);

		put_time(out, 0);
		fclose(out);
		clock_gettime(CLOCK_MONOTONIC, &now);
		ms = (now.tv_sec - start.tv_sec) * 1000 + (now.tv_nsec - start.tv_nsec) / 1000000;
		due = (ms + PACE_MS) * rate / 1000;
		for (due = due < n ? due : n; done < due; done++)
			at += snprintf(at, LINE_MAX_BYTES,
				       "{\"type\":\"event:log\",\"id\":\"%08x-0000-4000-8000-%012lx\","
				       "\"timestamp\":\"%s\",\"payload\":{\"level\":\"info\",\"message\":"
				       "\"step %ld of %ld is done\"}}\n",
				       (unsigned)getpid(), (unsigned long)done, time, done + 1, n);
		free(time);
		put(STDOUT_FILENO, burst, (size_t)(at - burst));
		nap(PACE_MS);
	}
	free(burst);
}

/* ---- input ---- */

/* One line into `last`; false at the end. A byte at a time: what follows it stays in the pipe. */
static bool read_line(void)
{
	last_n = 0;
	for (;;) {
		char c;
		ssize_t n = read(STDIN_FILENO, &c, 1);

		if (n < 0 && errno == EINTR)
			continue;
		if (last_n + 1 >= last_cap)
			last = realloc(last, last_cap = last_cap * 2 + 256);
		if (!last)
			wrong("memory", "none left");
		if (n <= 0 || c == '\n') {
			last[last_n] = '\0';
			return n > 0;
		}
		last[last_n++] = c;
	}
}

const char *fake_read_line(void)
{
	return read_line() ? last : NULL;
}

void fake_say(const char *text)
{
	say(STDOUT_FILENO, text, "\n");
}

static void wait_for_line(const char *text)
{
	do
		if (!read_line())
			_exit(0);
	while (!strstr(last, text));
}

static _Noreturn void unexpected(const char *what, const char *which)
{
	dprintf(STDERR_FILENO, "fake_agent: error: %s: %s\n", what, which);
	_exit(EXIT_UNEXPECTED);
}

/* All of it must be one line. */
static void read_input(void)
{
	ssize_t n;

	last_n = 0;
	do {
		if (last_n + 65536 >= last_cap)
			last = realloc(last, last_cap = last_cap * 2 + 131072);
		if (!last)
			wrong("memory", "none left");
		n = read(STDIN_FILENO, last + last_n, 65536);
		last_n += n > 0 ? (size_t)n : 0;
	} while (n > 0 || (n < 0 && errno == EINTR));
	if (last_n < 2 || memchr(last, '\n', last_n) != last + last_n - 1)
		unexpected("input", "not one line");
	last[--last_n] = '\0';
}

static void expect(const char *text)
{
	if (!last || !strstr(last, text))
		unexpected("input without", text);
}

static void refuse(const char *text)
{
	if (last && strstr(last, text))
		unexpected("input with", text);
}

static void expect_args(const char *text)
{
	char all[4096] = "";
	size_t n = 0;

	for (char **w = words; w && *w && n < sizeof(all); w++)
		n += (size_t)snprintf(all + n, sizeof(all) - n, "%s%s", n ? " " : "", *w);
	if (strcmp(all, text) != 0)
		unexpected("arguments", all);
}

static void append(const char *words_of)
{
	char name[4096];
	size_t n = strcspn(words_of, " ");
	int fd;

	snprintf(name, sizeof(name), "%.*s", (int)n, words_of);
	fd = open(name, O_WRONLY | O_CREAT | O_APPEND, 0600);
	if (fd < 0 || !words_of[n])
		wrong("append", words_of);
	say(fd, words_of + n + 1, "\n");
	close(fd);
}

static void echo_input(void)
{
	put(STDOUT_FILENO, last, last_n);
	put(STDOUT_FILENO, "\n", 1);
}

static void remove_file(const char *name)
{
	if (unlink(name) < 0)
		wrong(name, strerror(errno));
}

static void find_turn(const char *count)
{
	int fd = open(count, O_WRONLY | O_CREAT | O_APPEND, 0600);
	char want[40];

	if (fd < 0 || write(fd, ".", 1) != 1)
		wrong(count, strerror(errno));
	snprintf(want, sizeof(want), "turn %ld", (long)lseek(fd, 0, SEEK_END));
	close(fd);
	while (line_at < lines_n && strcmp(lines[line_at], want) != 0)
		line_at++;
	if (line_at++ == lines_n)
		unexpected("no such turn", want);
}

static _Noreturn void end_turn(const char *next)
{
	(void)next;
	_exit(0);
}

static void echo_back(long n)
{
	for (long i = 0; (!n || i < n) && read_line(); i++) {
		put(STDOUT_FILENO, last, last_n);
		put(STDOUT_FILENO, "\n", 1);
	}
}

static void read_slow(long n)
{
	char c;

	for (long i = 0; (!n || i < n) && read(STDIN_FILENO, &c, 1) == 1; i++)
		nap(10);
}

/* ---- what it is and what it may ---- */

static void leave_process(bool away)
{
	int ready[2];
	char text[40];
	pid_t pid;

	if (pipe(ready) < 0)
		wrong("pipe", strerror(errno));
	pid = fork();
	if (pid == 0) {
		if (away)
			setsid();
		close(ready[0]);
		close(ready[1]);
		for (;;)
			pause();
	}
	close(ready[1]);
	(void)!read(ready[0], text, 1); /* it is where it wants to be */
	close(ready[0]);
	snprintf(text, sizeof(text), "child %d", (int)pid);
	say(STDOUT_FILENO, text, "\n");
}

static void fork_child(void)
{
	leave_process(false);
}

static void fork_away(void)
{
	leave_process(true);
}

static void show_signals(void)
{
	FILE *in = fopen("/proc/self/status", "r");
	char line[256];

	while (in && fgets(line, sizeof(line), in))
		if (strncmp(line, "SigBlk", 6) == 0 || strncmp(line, "SigIgn", 6) == 0 ||
		    strncmp(line, "SigCgt", 6) == 0)
			put(STDOUT_FILENO, line, strlen(line));
	if (in)
		fclose(in);
}

static void try_tty(void)
{
	int fd = open("/dev/tty", O_RDWR);

	dprintf(STDOUT_FILENO, "open /dev/tty: %s\n", fd < 0 ? strerror(errno) : "opened");
	for (int i = 0; i <= 2; i++) {
		int rc = -1;

		errno = ENOSYS;
#ifdef TIOCSTI
		rc = ioctl(i, TIOCSTI, "x");
#endif
		dprintf(STDOUT_FILENO, "TIOCSTI on %d: %s\n", i,
			rc < 0 ? strerror(errno) : "typed");
		dprintf(STDOUT_FILENO, "terminal on %d: %s\n", i, isatty(i) ? "yes" : "no");
	}
	if (fd >= 0)
		close(fd);
}

static void show_words(char **list)
{
	for (; list && *list; list++) {
		put(STDOUT_FILENO, *list, strlen(*list));
		put(STDOUT_FILENO, "\n", 1);
	}
}

static void show_fds(void)
{
	DIR *dir = opendir("/proc/self/fd");
	struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		if (entry->d_name[0] != '.' && atoi(entry->d_name) != dirfd(dir))
			say(STDOUT_FILENO, entry->d_name, "\n");
	if (dir)
		closedir(dir);
}

static void show_ids(void)
{
	char here[4096];

	dprintf(STDOUT_FILENO, "pid %d group %d session %d\n", (int)getpid(), (int)getpgrp(),
		(int)getsid(0));
	dprintf(STDOUT_FILENO, "folder %s\n", getcwd(here, sizeof(here)) ? here : "?");
}

/* ---- the script ---- */

static void close_input(void)
{
	close(STDIN_FILENO);
	if (write(STDOUT_FILENO, "closed\n", 7) != 7)
		_exit(EXIT_WRONG);
}

static _Noreturn void stall(void)
{
	for (;;)
		pause();
}

static _Noreturn void crash(void)
{
	signal(SIGSEGV, SIG_DFL);
	raise(SIGSEGV);
	_exit(EXIT_WRONG);
}

static void ignore_term(void)
{
	signal(SIGTERM, SIG_IGN);
}

static void again(void)
{
	line_at = 0;
}

static void quit(long n)
{
	_exit((int)n);
}

/* One client at a time. */
static void hold(const char *text)
{
	struct sockaddr_un at = { AF_UNIX, "dev.sock" };
	int listener = socket(AF_UNIX, SOCK_STREAM, 0);
	char said[512];
	ssize_t n;

	if (bind(listener, (struct sockaddr *)&at, sizeof(at)) < 0 || listen(listener, 8) < 0)
		wrong("dev.sock", strerror(errno));
	for (;;) {
		int fd = accept(listener, NULL, NULL);

		say(fd, "H 1 1 runs 0 - 0", "\n");
		while ((n = read(fd, said, sizeof(said) - 1)) > 0) {
			said[n] = '\0';
			if (strchr(said, 'K')) {
				unlink(at.sun_path);
				say(fd, text, "\n");
				return;
			}
		}
		close(fd);
	}
}

static const struct command {
	const char *name;
	void (*alone)(void);
	void (*number)(long n);
	void (*text)(const char *text);
	int fd; /* texts that are said: where, and how they end */
	const char *ending;
} commands[] = {
	{ "say", .fd = STDOUT_FILENO, .ending = "\n" },
	{ "partial", .fd = STDOUT_FILENO, .ending = "" },
	{ "stderr", .fd = STDERR_FILENO, .ending = "\n" },
	{ "say-file", .text = say_file },
	{ "wait-for-line", .text = wait_for_line },
	{ "expect", .text = expect },
	{ "refuse", .text = refuse },
	{ "expect-args", .text = expect_args },
	{ "echo-input", .alone = echo_input },
	{ "append", .text = append },
	{ "remove", .text = remove_file },
	{ "turns", .text = find_turn },
	{ "turn", .text = end_turn },
	{ "read-input", .alone = read_input },
	{ "garbage", .number = garbage },
	{ "flood", .number = flood },
	{ "pace", .text = pace },
	{ "echo-back", .number = echo_back },
	{ "read-slow", .number = read_slow },
	{ "delay", .number = nap },
	{ "exit", .number = quit },
	{ "close-input", .alone = close_input },
	{ "stall", .alone = stall },
	{ "crash", .alone = crash },
	{ "ignore-term", .alone = ignore_term },
	{ "fork-child", .alone = fork_child },
	{ "fork-away", .alone = fork_away },
	{ "show-signals", .alone = show_signals },
	{ "try-tty", .alone = try_tty },
	{ "show-fds", .alone = show_fds },
	{ "show-ids", .alone = show_ids },
	{ "hold", .text = hold },
	{ "claude", .text = fake_claude },
	{ "codex", .text = fake_codex },
	{ "acp", .text = fake_acp },
	{ "again", .alone = again },
};

static void run(const char *line)
{
	size_t n = strcspn(line, " ");
	const char *rest = line + n + strspn(line + n, " ");

	if (strcmp(line, "close-stdin") == 0) {
		close(STDIN_FILENO);
		return;
	}
	if (strcmp(line, "show-args") == 0 || strcmp(line, "show-env") == 0) {
		show_words(strcmp(line, "show-env") == 0 ? environ : words);
		return;
	}
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		const struct command *c = &commands[i];

		if (strlen(c->name) != n || strncmp(c->name, line, n) != 0)
			continue;
		if (c->alone)
			c->alone();
		else if (c->number)
			c->number(atol(rest));
		else if (c->text)
			c->text(rest);
		else
			say(c->fd, rest, c->ending);
		return;
	}
	wrong("no such command", line);
}

static void add_line(char *line)
{
	if (lines_n == LINES_MAX)
		wrong("too long", "the script");
	if (*line && *line != '#')
		lines[lines_n++] = line;
}

static void read_script(const char *path)
{
	const char *slash = strrchr(path, '/');
	FILE *in = fopen(path, "r");
	char *line = NULL;
	size_t cap = 0;
	ssize_t n;

	if (!in)
		wrong(path, strerror(errno));
	snprintf(folder, sizeof(folder), "%.*s", slash ? (int)(slash - path + 1) : 0, path);
	while ((n = getline(&line, &cap, in)) >= 0) {
		if (n && line[n - 1] == '\n')
			line[n - 1] = '\0';
		add_line(line);
		line = NULL;
		cap = 0;
	}
	free(line);
	fclose(in);
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--") == 0) {
			words = argv + i + 1;
			break;
		}
		if (strcmp(argv[i], "-f") == 0 && argv[i + 1])
			read_script(argv[++i]);
		else
			add_line(argv[i]);
	}
	while (line_at < lines_n)
		run(lines[line_at++]);
	return 0;
}
