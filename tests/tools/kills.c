/* Kills what can be killed, at random moments, and looks at what is left (tests/kills.t).
 *
 *   kills N [SEED]     N kills of the UI, the decider, the holder and the agent; needs $GAVEL and a
 *                      $XDG_STATE_HOME of its own; exit 1 and a line for each broken promise
 *   kills agent        the agent: asks numbered questions, numbers what it says, says what it got
 *
 * What is promised: no line of the agent is lost or doubled while its holder lives; a question is
 * answered at most once, by its own answer, in its own run; what the journal calls SENT is in the
 * capture, once, and what it calls HELD for certain, or VOID, is not. */
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { OPEN_ASKS = 3, AGENT_SECONDS = 300, LINES_MAX = 40000, CAPTURE_KILLS = 60, DECIDER_US = 20000,
       UI_US = 150000,
       FILE_MAX = 64 << 20, UNREAD = -1000, PATIENCE_MS = 30000 };

static int64_t now_ms(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* The string after "NAME":" in a line, "" = none. */
static const char *field(const char *line, const char *name)
{
	static char text[4][256];
	static int turn;
	char mark[64], *to = text[turn = (turn + 1) % 4];
	const char *at;
	size_t n = 0;

	snprintf(mark, sizeof(mark), "\"%s\":\"", name);
	at = strstr(line, mark);
	if (at)
		n = strcspn(at += strlen(mark), "\"");
	if (n > 255)
		n = 255;
	if (at)
		memcpy(to, at, n);
	to[n] = '\0';
	return to;
}

/* ---- the agent ---- */

static void put_line(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void put_line(const char *format, ...)
{
	char line[1024];
	va_list args;
	size_t n, done = 0;

	va_start(args, format);
	n = (size_t)vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	while (done < n) {
		ssize_t put = write(STDOUT_FILENO, line + done, n - done);

		if (put < 0)
			_exit(3);
		done += (size_t)put;
	}
}

static void take_input(char *in, size_t *n, int *said, int *open)
{
	char *end;

	while ((end = memchr(in, '\n', *n))) {
		*end = '\0';
		put_line("{\"type\":\"got\",\"n\":%d,\"to\":\"%s\",\"answer\":\"%s\"}\n", ++*said,
			 field(in, "correlationId"), field(in, "answer"));
		--*open;
		*n -= (size_t)(end + 1 - in);
		memmove(in, end + 1, *n);
	}
}

static int agent(void)
{
	static char in[1 << 16];
	size_t n = 0;
	int said = 0, asked = 0, open = 0;

	alarm(AGENT_SECONDS);
	while (said < LINES_MAX) {
		struct pollfd fd = { .events = POLLIN };
		char time_text[32];
		time_t t = time(NULL);

		strftime(time_text, sizeof(time_text), "%Y-%m-%dT%H:%M:%SZ", gmtime(&t));
		for (; open < OPEN_ASKS; open++) {
			asked++;
			put_line("{\"type\":\"request:ask-user\",\"id\":\"q-%d-%d\",\"timestamp\":\"%s\","
				 "\"payload\":{\"question\":\"Which?\",\"options\":[{\"label\":\"A\","
				 "\"value\":\"for:q-%d-%d\"}],\"timeout\":3000000},\"n\":%d}\n",
				 (int)getpid(), asked, time_text, (int)getpid(), asked, ++said);
		}
		put_line("{\"type\":\"said\",\"n\":%d}\n", ++said);
		if (poll(&fd, 1, 5) > 0) {
			ssize_t got = read(STDIN_FILENO, in + n, sizeof(in) - n);

			if (got <= 0)
				return 0;
			n += (size_t)got;
			take_input(in, &n, &said, &open);
		}
	}
	return 0;
}

/* ---- the killer ---- */

static const char *gavel;
static char self[4096], capture[4096];
static pid_t agent_pid, holder_pid, ui_pid;
static unsigned faults, kills, of_ui, of_decider, of_holder, of_agent, captures, answers, incomplete;
static uint64_t chance_state;

static unsigned chance(unsigned below)
{
	chance_state = chance_state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (unsigned)(chance_state >> 33) % below;
}

static void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void complain(const char *format, ...)
{
	va_list args;

	if (++faults > 40)
		return;
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	printf(" (%s)\n", capture);
}

static char *read_text(const char *path)
{
	FILE *f = fopen(path, "r");
	char *text = NULL;
	size_t n = 0, room = 0;

	while (f) {
		if (room - n < 65536)
			text = realloc(text, room = room * 2 + 131072);
		size_t got = fread(text + n, 1, room - n - 1, f);

		if (!got)
			break;
		n += got;
	}
	if (f)
		fclose(f);
	if (text)
		text[n] = '\0';
	return text ? text : strdup("");
}

static pid_t spawn(const char *const *argv, int out)
{
	pid_t pid = fork();

	if (pid == 0) {
		int null = open("/dev/null", O_RDWR);
		char *copy[16] = { 0 };

		for (int i = 0; argv[i] && i < 15; i++)
			copy[i] = strdup(argv[i]);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dup2(null, 0);
		dup2(out >= 0 ? out : null, 1);
		dup2(getenv("KILLS_LOUD") ? 2 : null, 2);
		execv(copy[0], copy);
		_exit(127);
	}
	return pid;
}

static bool is_alive(pid_t pid)
{
	char path[64], text[256] = "";
	int fd;

	waitpid(pid, NULL, WNOHANG); /* orphans come here */
	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	fd = open(path, O_RDONLY);
	if (fd < 0)
		return false;
	(void)!read(fd, text, sizeof(text) - 1);
	close(fd);
	return text[0] && !strstr(text, ") Z ");
}

static pid_t parent_of(pid_t pid)
{
	char path[64];
	char *text, *at;
	int parent = 0;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	text = read_text(path);
	at = strrchr(text, ')');
	if (at)
		sscanf(at + 1, " %*c %d", &parent);
	free(text);
	return parent;
}

static void wait_for(pid_t pid, const char *what)
{
	int64_t until = now_ms(CLOCK_MONOTONIC) + PATIENCE_MS;

	while (waitpid(pid, NULL, WNOHANG) == 0) {
		if (now_ms(CLOCK_MONOTONIC) > until) {
			complain("%s hangs", what);
			kill(pid, SIGKILL);
			until += PATIENCE_MS;
		}
		poll(NULL, 0, 1);
	}
}

static bool start_agent(void)
{
	const char *argv[] = { gavel, "run", "--detach", "--agent", "dev", "--", self, "agent", NULL };
	char text[4096] = "";
	int fds[2], pid = 0;
	size_t n = 0;
	ssize_t got;
	pid_t run;

	if (pipe2(fds, O_CLOEXEC) < 0)
		return false;
	run = spawn(argv, fds[1]);
	close(fds[1]);
	while (n < sizeof(text) - 1 && (got = read(fds[0], text + n, sizeof(text) - 1 - n)) > 0)
		n += (size_t)got;
	close(fds[0]);
	wait_for(run, "gavel run");
	if (sscanf(text, "dev runs, pid %d: gavel %4095s", &pid, capture) != 2) {
		complain("gavel run says: %s", text);
		return false;
	}
	agent_pid = pid;
	holder_pid = parent_of(pid);
	captures++;
	return holder_pid > 1;
}

/* A question that has no answer in the capture; false: none. */
static bool find_ask(char *id)
{
	char *text = read_text(capture), *at = text, *end;
	char asks[64][64];
	int n = 0;

	for (; (end = strchr(at, '\n')); at = end + 1) {
		*end = '\0';
		if (strstr(at, "\"request:ask-user\"") && *at == '{' && n < 64)
			snprintf(asks[n++], sizeof(asks[0]), "%s", field(at, "id"));
		for (int i = 0; *at == '\t' && i < n; i++)
			if (strcmp(field(at, "correlationId"), asks[i]) == 0)
				memcpy(asks[i], asks[--n], sizeof(asks[0]));
	}
	free(text);
	if (n)
		strcpy(id, asks[chance((unsigned)n)]);
	return n > 0;
}

static pid_t start_decider(void)
{
	char id[64], answer[96];
	const char *argv[] = { gavel, "decide", "--recover=send", "--deliver", answer, capture, id,
			       "answer", NULL };

	if (!find_ask(id))
		return 0;
	snprintf(answer, sizeof(answer), "--answer=for:%s", id);
	return spawn(argv, -1);
}

static pid_t start_ui(const char *keys)
{
	char size[] = "--size=80x24", keys_option[4200];
	const char *argv[] = { gavel, capture, "--headless", "--recover=send", size, keys_option, NULL };

	snprintf(keys_option, sizeof(keys_option), "--keys=%s", keys);
	return spawn(argv, -1);
}

/* Whether that pid is still the process that it was: a number is used again. */
static bool runs_program(pid_t pid, const char *ending)
{
	char path[64], exe[4096];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	n = readlink(path, exe, sizeof(exe) - 1);
	return n > (ssize_t)strlen(ending) &&
	       memcmp(exe + n - (ssize_t)strlen(ending), ending, strlen(ending)) == 0;
}

static bool agent_lives(void)
{
	return is_alive(agent_pid) && runs_program(agent_pid, "/kills");
}

static bool holder_lives(void)
{
	return is_alive(holder_pid) && runs_program(holder_pid, "/gavel-holder");
}

static void count_kill(unsigned *what, pid_t pid)
{
	if (pid > 1 && is_alive(pid) && kill(pid, SIGKILL) == 0) {
		kills++;
		++*what;
	}
}

static void pause_us(unsigned us)
{
	struct timespec t = { .tv_nsec = us * 1000L };

	nanosleep(&t, NULL);
}

static void end_ui(void)
{
	if (ui_pid)
		wait_for(ui_pid, "the UI");
	ui_pid = 0;
}

/* One round: a decider works beside a UI, which stays for several rounds, and somebody dies. */
static void play_round(void)
{
	unsigned victim = chance(100);
	pid_t decider;

	if (ui_pid && waitpid(ui_pid, NULL, WNOHANG) == ui_pid)
		ui_pid = 0;
	if (!ui_pid && chance(2))
		ui_pid = start_ui("keys");
	decider = chance(8) ? start_decider() : 0;
	pause_us(chance(DECIDER_US));
	if (victim < 55 && decider) {
		count_kill(&of_decider, decider);
	} else if (victim < 85 && ui_pid) {
		pause_us(chance(UI_US));
		count_kill(&of_ui, ui_pid);
		end_ui();
	} else if (victim >= 96 && agent_lives()) {
		count_kill(&of_agent, agent_pid);
	} else if (victim >= 92 && holder_lives()) {
		count_kill(&of_holder, holder_pid);
	}
	if (decider)
		wait_for(decider, "gavel decide");
}

static void end_agent(void)
{
	int64_t until = now_ms(CLOCK_MONOTONIC) + PATIENCE_MS;

	if (agent_lives())
		kill(agent_pid, SIGKILL);
	while (agent_lives() || holder_lives()) {
		if (now_ms(CLOCK_MONOTONIC) > until) {
			complain("the holder outlives its agent");
			if (holder_lives())
				kill(holder_pid, SIGKILL);
			return;
		}
		poll(NULL, 0, 1);
	}
}

/* ---- what is left ---- */

struct name {
	char id[64];
	int n;
};
struct names {
	struct name *v;
	int n;
};

static int *count_of(struct names *names, const char *id)
{
	for (int i = 0; i < names->n; i++)
		if (strcmp(names->v[i].id, id) == 0)
			return &names->v[i].n;
	names->v = realloc(names->v, (size_t)(names->n + 1) * sizeof(*names->v));
	names->v[names->n] = (struct name){ .n = 0 };
	snprintf(names->v[names->n].id, sizeof(names->v[0].id), "%s", id);
	return &names->v[names->n++].n;
}

static struct names letters; /* records of all captures */

/* What the agent was told. */
static void check_told(const char *line, int pid, struct names *told)
{
	const char *to = field(line, "correlationId"), *answer = field(line, "answer");
	int whose = 0;

	if (!*to)
		return;
	answers++;
	if (++*count_of(told, to) > 1)
		complain("%s was answered twice", to);
	if (sscanf(to, "q-%d-", &whose) != 1 || whose != pid)
		complain("%s was answered in the run of %d", to, pid);
	if (*answer && (strncmp(answer, "for:", 4) || strcmp(answer + 4, to)))
		complain("%s got the answer %s", to, answer);
}

static void check_said(const char *line, int *said, struct names *told, struct names *got)
{
	const char *at = strstr(line, "\"n\":"), *number = at;
	const char *to = field(line, "to");

	while (at && (at = strstr(at + 1, "\"n\":")))
		number = at;
	if (strstr(line, "\"type\":\"got\""))
		number = strstr(line, "\"n\":");
	if (!number || atoi(number + 4) != *said + 1)
		complain("after line %d: %.80s", *said, line);
	*said = number ? atoi(number + 4) : *said + 1;
	if (!*to)
		return;
	if (++*count_of(got, to) > 1)
		complain("the agent got %s twice", to);
	if (!*count_of(told, to))
		complain("the agent got %s, which is not recorded", to);
	if (strcmp(field(line, "answer") + 4, to))
		complain("the agent got another answer: %s", line);
}

static void check_capture(void)
{
	char *text = read_text(capture), *at = text, *end;
	struct names told = { 0 }, got = { 0 };
	int pid = 0, said = 0;
	bool is_told = false;

	for (; (end = strchr(at, '\n')); at = end + 1) {
		*end = '\0';
		if (is_told) {
			check_told(at, pid, &told);
			is_told = false;
		} else if (*at != '\t') {
			check_said(at, &said, &told, &got);
		} else if (strstr(at, "\t{\"gavel\":\"run\"") == at) {
			pid = atoi(strstr(at, "\"pid\":") + 6);
			said = 0;
		} else if (strstr(at, "\t{\"gavel\":\"exit\"") == at && *field(at, "id")) {
			*count_of(&letters, field(at, "id")) = UNREAD;
		} else if (strstr(at, "\t{\"gavel\":\"to\"") == at) {
			is_told = true;
			if (++*count_of(&letters, field(at, "id")) > 1)
				complain("letter %s is recorded twice", field(at, "id"));
		}
	}
	free(told.v);
	free(got.v);
	free(text);
}

static void check_journal(const char *path)
{
	char *text = read_text(path), *at = text, *end;
	struct names sent = { 0 };
	enum { OPEN, SENT, HELD, VOID };

	for (; (end = strchr(at, '\n')); at = end + 1) {
		char *record = strchr(at, '{');

		*end = '\0';
		if (!record || !*field(record, "ref"))
			continue;
		*count_of(&sent, field(record, "ref")) =
			strstr(record, "{\"state\":\"SENT\"") ? SENT
			: strstr(record, "{\"state\":\"VOID\"") ? VOID
			: strstr(record, "{\"state\":\"HELD\"") && strstr(record, "\"certain\":true") ? HELD
										    : OPEN;
	}
	for (int i = 0; i < sent.n; i++) {
		int n = *count_of(&letters, sent.v[i].id);

		incomplete += sent.v[i].n == OPEN;
		if (n == UNREAD)
			continue; /* the agent ended before it read all of it: both are true */
		if (sent.v[i].n == SENT && n != 1)
			complain("letter %s is SENT, and %d times in the capture", sent.v[i].id, n);
		if ((sent.v[i].n == HELD || sent.v[i].n == VOID) && n)
			complain("letter %s is %s, and in the capture", sent.v[i].id,
				 sent.v[i].n == HELD ? "HELD" : "VOID");
	}
	free(sent.v);
	free(text);
}

static void check_journals(void)
{
	char root[4096], path[8192];
	struct dirent *e, *f;
	DIR *dir, *in;

	snprintf(root, sizeof(root), "%s/gavel", getenv("XDG_STATE_HOME"));
	dir = opendir(root);
	while (dir && (e = readdir(dir))) {
		snprintf(path, sizeof(path), "%s/%s", root, e->d_name);
		in = e->d_name[0] == '.' ? NULL : opendir(path);
		while (in && (f = readdir(in)))
			if (strncmp(f->d_name, "journal-", 8) == 0) {
				snprintf(path, sizeof(path), "%s/%s/%s", root, e->d_name, f->d_name);
				check_journal(path);
			}
		if (in)
			closedir(in);
	}
	if (dir)
		closedir(dir);
}

static void write_keys(const char *path, const char *keys)
{
	FILE *f = fopen(path, "w");

	if (!f || fputs(keys, f) < 0 || fclose(f))
		exit(99);
}

/* The next gavel that opens it finishes what the killed ones left. */
static void settle(void)
{
	end_agent();
	if (ui_pid)
		kill(ui_pid, SIGKILL);
	end_ui();
	wait_for(start_ui("quit"), "the UI");
	check_capture();
}

static int run(unsigned wanted)
{
	struct rlimit limit = { FILE_MAX, FILE_MAX };
	unsigned at_start = 0;
	pid_t verify;
	int status = 0;

	setrlimit(RLIMIT_FSIZE, &limit); /* whatever goes wrong, no disk is filled */
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	write_keys("keys", "<until:Which>=1<Enter><wait:200>y<wait:50>=1<Enter><wait:200>y<wait:50>=1<Enter><wait:200>y"
		   "<wait:50>Q");
	write_keys("quit", "Q");
	while (kills < wanted && faults < 40) {
		if (!agent_pid) {
			if (!start_agent())
				break;
			at_start = kills;
		}
		play_round();
		if (!agent_lives() || kills - at_start >= CAPTURE_KILLS) {
			settle();
			agent_pid = 0;
		}
	}
	if (agent_pid)
		settle();
	check_journals();
	verify = spawn((const char *[]){ gavel, "journal", "verify", NULL }, -1);
	waitpid(verify, &status, 0);
	if (status)
		complain("the journal is damaged");
	printf("%u kills: %u of the UI, %u of the decider, %u of the holder, %u of the agent; %u agents, "
	       "%u answers, %u letters in doubt, %u faults\n",
	       kills, of_ui, of_decider, of_holder, of_agent, captures, answers, incomplete, faults);
	return faults || kills < wanted;
}

int main(int argc, char **argv)
{
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (argc > 1 && strcmp(argv[1], "agent") == 0)
		return agent();
	gavel = getenv("GAVEL");
	if (argc < 2 || n <= 0 || !gavel || !getenv("XDG_STATE_HOME"))
		return 99;
	chance_state = argc > 2 ? strtoull(argv[2], NULL, 10) : (uint64_t)now_ms(CLOCK_REALTIME);
	printf("seed %llu\n", (unsigned long long)chance_state);
	return run((unsigned)atoi(argv[1]));
}
