/*
 * screen - runs a terminal program on a terminal of its own and measures what a person waits for.
 *
 *	screen [-s COLSxROWS] [-t SECONDS] [-u TEXT] [-p N] [-a KEYS=TEXT]... [-q NAME=KEYS]...
 *	       [-w NAME=KEY]... COMMAND [ARGUMENT...]
 *
 * prints NAME VALUE lines, times in milliseconds:
 *	first      until a view was on the screen
 *	useful     until TEXT of -u was there
 *	complete   until the title no longer said "reading"
 *	keys       how many keys were pressed meanwhile (and for SECONDS at least), one every PAUSE_MS,
 *	           each changing the view
 *	key_median, key_p99, key_max   from such a key to the view it asked for
 *	shown I, pressed I   with -p, instead of these keys: when, by the monotonic clock, the I-th of N
 *	           permissions ("touch fI") was on the screen, and when the y that accepts it was
 *	           pressed, on its pre-flight page
 *	after_TEXT for each -a, in order: from KEYS to TEXT on the screen, once all is read; nothing
 *	           after = KEYS are pressed and not measured
 *	NAME       for each -q, in one order with -a: from KEYS to the last change of the screen that
 *	           they cause. The program has to change it, and is done when it waits and has
 *	           written nothing for QUIET_MS. A third word on the line: what it has computed
 *	           for that, which a busy machine does not change much
 *	NAME       for each -w, in one order with them: how long a key waits while a view is made
 *	           that KEY enters for the first time. KEY is pressed, and 1, 2, 4 … 128 ms later the
 *	           key of another view; the longest time from that to its view, and as a third word
 *	           the most that the program has computed for it
 *	peak_kib   the most memory it had
 *	cpu, cpu_user, cpu_sys   seconds that it has computed; what it runs is not in them
 *
 * What is on the screen is known from the bytes the program writes, read as a terminal reads them:
 * cursor, erasing, inserting and scrolling, as far as curses uses them. Asking tmux instead would
 * add more than what is measured.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
	COLS_MAX = 400,
	ROWS_MAX = 200,
	PAUSE_MS = 50,
	QUIET_MS = 100,
	PATIENCE_MS = 120000,
	GUARD_MS = 500, /* a page just opened takes no y for 300 ms */
	WAIT_MAX_MS = 128,
	KEYS_MAX = 100000,
	STEPS_MAX = 200,
};

/* One byte a cell is enough for what is looked for; others are a dot. */
struct screen {
	char cell[ROWS_MAX][COLS_MAX];
	int rows, cols, row, col, top, bottom;
	bool escaped, in_csi, in_osc;
	char parameters[64];
	size_t n_parameters;
	char last;
};

struct probe {
	struct screen screen;
	int fd;
	pid_t child;
	double start;
	double written; /* when it last wrote anything */
};

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void die(const char *what)
{
	fprintf(stderr, "screen: %s: %s\n", what, strerror(errno));
	exit(2);
}

/* ---- the terminal ---- */

static void blank(struct screen *s, int row, int from, int to)
{
	if (to > from)
		memset(&s->cell[row][from], ' ', (size_t)(to - from));
}

/* Lines from `from` to the bottom margin move by n: down if n > 0. */
static void move_lines(struct screen *s, int from, int n)
{
	for (; n > 0; n--) {
		for (int r = s->bottom; r > from; r--)
			memcpy(s->cell[r], s->cell[r - 1], COLS_MAX);
		blank(s, from, 0, s->cols);
	}
	for (; n < 0; n++) {
		for (int r = from; r < s->bottom; r++)
			memcpy(s->cell[r], s->cell[r + 1], COLS_MAX);
		blank(s, s->bottom, 0, s->cols);
	}
}

static void put(struct screen *s, char c)
{
	if (s->col >= s->cols)
		s->col = s->cols - 1;
	s->cell[s->row][s->col++] = s->last = c;
}

static int clamp(int n, int max)
{
	return n < 0 ? 0 : n > max ? max : n;
}

static void shift_cells(struct screen *s, int n)
{
	char *row = s->cell[s->row];
	int width = s->cols - s->col, by = clamp(n < 0 ? -n : n, width);

	if (n > 0) {
		memmove(row + s->col + by, row + s->col, (size_t)(width - by));
		blank(s, s->row, s->col, s->col + by);
	} else {
		memmove(row + s->col, row + s->col + by, (size_t)(width - by));
		blank(s, s->row, s->cols - by, s->cols);
	}
}

static void erase_line(struct screen *s, int how)
{
	blank(s, s->row, how == 0 ? s->col : 0, how == 1 ? s->col + 1 : s->cols);
}

static void erase_screen(struct screen *s, int how)
{
	erase_line(s, how);
	for (int r = 0; r < s->rows; r++) {
		if (how == 2 || (how == 0 ? r > s->row : r < s->row))
			blank(s, r, 0, s->cols);
	}
}

static void set_margins(struct screen *s, int top, int bottom)
{
	s->top = clamp(top - 1, s->rows - 1);
	s->bottom = bottom ? clamp(bottom - 1, s->rows - 1) : s->rows - 1;
	s->row = s->col = 0;
}

static void csi(struct screen *s, char final)
{
	int a = 0, b = 0, n;

	if (s->parameters[0] < '0' && s->parameters[0])
		return;
	if (s->parameters[0] == '?' || s->parameters[0] == '>' || s->parameters[0] == '=')
		return;
	sscanf(s->parameters, "%d;%d", &a, &b);
	if (s->parameters[0] == ';')
		sscanf(s->parameters + 1, "%d", &b);
	n = a ? a : 1;
	switch (final) {
	case 'A': s->row = clamp(s->row - n, s->rows - 1); break;
	case 'B': s->row = clamp(s->row + n, s->rows - 1); break;
	case 'C': s->col = clamp(s->col + n, s->cols - 1); break;
	case 'D': s->col = clamp(s->col - n, s->cols - 1); break;
	case 'G': s->col = clamp(n - 1, s->cols - 1); break;
	case 'd': s->row = clamp(n - 1, s->rows - 1); break;
	case 'H':
		s->row = clamp(n - 1, s->rows - 1);
		s->col = clamp(b - 1, s->cols - 1);
		break;
	case 'J': erase_screen(s, a); break;
	case 'K': erase_line(s, a); break;
	case 'X': blank(s, s->row, s->col, s->col + clamp(n, s->cols - s->col)); break;
	case '@': shift_cells(s, n); break;
	case 'P': shift_cells(s, -n); break;
	case 'L': move_lines(s, s->row, n); break;
	case 'M': move_lines(s, s->row, -n); break;
	case 'S': move_lines(s, s->top, -n); break;
	case 'T': move_lines(s, s->top, n); break;
	case 'r': set_margins(s, n, b); break;
	case 'b':
		while (n-- > 0)
			put(s, s->last);
		break;
	default: break; /* colours and modes show nothing */
	}
}

static void control(struct screen *s, char c)
{
	if (c == '\033')
		s->escaped = true;
	else if (c == '\r')
		s->col = 0;
	else if (c == '\b')
		s->col = clamp(s->col - 1, s->cols - 1);
	else if (c == '\n' && s->row == s->bottom)
		move_lines(s, s->top, -1);
	else if (c == '\n')
		s->row = clamp(s->row + 1, s->rows - 1);
}

static void feed(struct screen *s, char c)
{
	if (s->in_osc) {
		s->in_osc = c != '\a' && c != '\033';
		s->escaped = c == '\033';
	} else if (s->in_csi) {
		if (c >= '@' && c <= '~') {
			s->in_csi = false;
			s->parameters[s->n_parameters] = '\0';
			csi(s, c);
		} else if (s->n_parameters + 1 < sizeof(s->parameters)) {
			s->parameters[s->n_parameters++] = c;
		}
	} else if (s->escaped) {
		s->escaped = c == '(' || c == ')'; /* one more byte follows */
		s->in_csi = c == '[';
		s->in_osc = c == ']';
		s->n_parameters = 0;
		if (c == 'M' && s->row == s->top)
			move_lines(s, s->top, 1);
		else if (c == 'M')
			s->row = clamp(s->row - 1, s->rows - 1);
	} else if ((unsigned char)c < ' ') {
		control(s, c);
	} else if (((unsigned char)c & 0xc0) != 0x80) {
		put(s, (unsigned char)c < 0x80 ? c : '.');
	}
}

static bool shows(const struct screen *s, const char *text, int rows)
{
	char line[COLS_MAX + 1];

	for (int r = 0; r < rows; r++) {
		memcpy(line, s->cell[r], (size_t)s->cols);
		line[s->cols] = '\0';
		if (strstr(line, text))
			return true;
	}
	return false;
}

/* ---- the program ---- */

static void run(struct probe *p, char **argv)
{
	struct winsize size = { .ws_row = (unsigned short)p->screen.rows,
				.ws_col = (unsigned short)p->screen.cols };

	p->start = now_ms();
	p->child = forkpty(&p->fd, NULL, NULL, &size);
	if (p->child < 0)
		die("forkpty");
	if (p->child == 0) {
		setenv("TERM", "xterm-256color", 1);
		setenv("LC_ALL", "C.UTF-8", 1);
		execvp(argv[0], argv);
		_exit(127);
	}
	set_margins(&p->screen, 1, 0);
	for (int r = 0; r < ROWS_MAX; r++)
		memset(p->screen.cell[r], ' ', COLS_MAX);
}

/* Takes what comes within wait_ms; false = the program has ended. */
static bool take(struct probe *p, int wait_ms)
{
	struct pollfd ready = { .fd = p->fd, .events = POLLIN };
	char bytes[1 << 16];
	ssize_t n;

	if (poll(&ready, 1, wait_ms) <= 0)
		return true;
	n = read(p->fd, bytes, sizeof(bytes));
	if (n <= 0)
		return n < 0 && errno == EINTR;
	p->written = now_ms();
	for (ssize_t i = 0; i < n; i++)
		feed(&p->screen, bytes[i]);
	return true;
}

static void press(struct probe *p, const char *keys)
{
	if (write(p->fd, keys, strlen(keys)) < 0)
		die("keys");
}

static void complain(struct probe *p, const char *text)
{
	fprintf(stderr, "screen: \"%s\" did not come; the screen was:\n", text);
	for (int r = 0; r < p->screen.rows; r++)
		fprintf(stderr, "%.*s\n", p->screen.cols, p->screen.cell[r]);
	kill(p->child, SIGKILL);
	exit(1);
}

/* Until text is (or is not) in the first rows; the time that took from `since`. */
static double until(struct probe *p, const char *text, int rows, bool there, double since)
{
	while (shows(&p->screen, text, rows) != there) {
		if (!take(p, 100) || now_ms() - since > PATIENCE_MS)
			complain(p, text);
	}
	return now_ms() - since;
}

static long peak_kib(pid_t pid)
{
	char name[64], line[256];
	long kib = 0;
	FILE *f;

	snprintf(name, sizeof(name), "/proc/%d/status", (int)pid);
	f = fopen(name, "r");
	while (f && fgets(line, sizeof(line), f))
		sscanf(line, "VmHWM: %ld", &kib);
	if (f)
		fclose(f);
	return kib;
}

/* How long it and its threads have computed, in seconds. */
static void computed(pid_t pid, double *in_user, double *in_system)
{
	unsigned long user = 0, system = 0;
	char name[64], text[1024] = "";
	FILE *f;

	snprintf(name, sizeof(name), "/proc/%d/stat", (int)pid);
	f = fopen(name, "r");
	if (f && fgets(text, sizeof(text), f) && strrchr(text, ')'))
		sscanf(strrchr(text, ')') + 2, "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu",
		       &user, &system);
	if (f)
		fclose(f);
	*in_user = (double)user / (double)sysconf(_SC_CLK_TCK);
	*in_system = (double)system / (double)sysconf(_SC_CLK_TCK);
}

/* The first line of a file about one of its threads. */
static bool thread_line(pid_t pid, const char *thread, const char *file, char line[1024])
{
	char name[320];
	FILE *f;
	bool read;

	snprintf(name, sizeof(name), "/proc/%d/task/%s/%s", (int)pid, thread, file);
	f = fopen(name, "r");
	read = f && fgets(line, 1024, f);
	if (f)
		fclose(f);
	return read;
}

/* Whether none of its threads has anything to do, and how many milliseconds they have computed; 0
 * where the kernel does not tell. */
static bool waits(pid_t pid, double *ms)
{
	char name[64], line[1024];
	struct dirent *thread;
	unsigned long long ns;
	bool all = true;
	DIR *dir;

	*ms = 0;
	snprintf(name, sizeof(name), "/proc/%d/task", (int)pid);
	dir = opendir(name);
	while (dir && (thread = readdir(dir))) {
		if (thread->d_name[0] == '.')
			continue;
		if (thread_line(pid, thread->d_name, "stat", line) && strrchr(line, ')'))
			all = all && strrchr(line, ')')[2] == 'S';
		if (thread_line(pid, thread->d_name, "schedstat", line) && sscanf(line, "%llu", &ns) == 1)
			*ms += (double)ns / 1e6;
	}
	if (dir)
		closedir(dir);
	return dir && all;
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Presses keys until all is read, and at least a few. */
static void measure_keys(struct probe *p, double seconds)
{
	static const char *const keys[] = { "4", "5", "1" };
	static const char *const views[] = { "[4 Messages]", "[5 Agents]", "[1 Inbox]" };
	static double took[KEYS_MAX];
	double complete = 0;
	size_t n = 0;

	while (n < KEYS_MAX &&
	       (!complete || n < 30 || now_ms() - p->start < seconds * 1e3)) {
		double since = now_ms();

		press(p, keys[n % 3]);
		took[n] = until(p, views[n % 3], p->screen.rows, true, since);
		n++;
		while (now_ms() - since < PAUSE_MS)
			take(p, 1);
		if (!complete && !shows(&p->screen, " reading ", 1))
			complete = now_ms() - p->start;
	}
	qsort(took, n, sizeof(*took), by_size);
	printf("complete %.1f\nkeys %zu\nkey_median %.1f\nkey_p99 %.1f\nkey_max %.1f\n", complete, n,
	       took[n / 2], took[n * 99 / 100], took[n - 1]);
}

/* Accepts what agents ask for, one after the other. */
static void measure_asks(struct probe *p, int n)
{
	char text[40];

	for (int i = 1; i <= n; i++) {
		double since = now_ms();

		snprintf(text, sizeof(text), "touch f%d", i);
		until(p, text, p->screen.rows, true, since);
		printf("shown %d %.3f\n", i, now_ms());
		press(p, "a");
		since = now_ms();
		until(p, "y send", p->screen.rows, true, since);
		while (now_ms() - since < GUARD_MS)
			take(p, 1);
		printf("pressed %d %.3f\n", i, now_ms());
		press(p, "y");
		until(p, "y send", p->screen.rows, false, now_ms());
	}
}

static void measure_after(struct probe *p, char *step)
{
	char *text = strchr(step, '=');
	double since = now_ms();

	if (!text) {
		press(p, step);
		return;
	}
	*text++ = '\0';
	press(p, step);
	printf("after_%s %.1f\n", text, until(p, text, p->screen.rows, true, since));
}

/* Until the program has nothing more to do for what was pressed. */
static void until_quiet(struct probe *p, double since)
{
	double ms;

	while (p->written < since || now_ms() - p->written < QUIET_MS || !waits(p->child, &ms)) {
		if (!take(p, QUIET_MS / 10) || now_ms() - since > PATIENCE_MS)
			complain(p, "a change of the screen, then quiet");
	}
}

static void measure_quiet(struct probe *p, char *step)
{
	char *keys = strchr(step, '=');
	double since, before, after;

	if (!keys)
		die("-q NAME=KEYS");
	*keys++ = '\0';
	until_quiet(p, p->written); /* what was pressed before */
	waits(p->child, &before);
	since = now_ms();
	press(p, keys);
	until_quiet(p, since);
	waits(p->child, &after);
	printf("%s %.1f %.2f\n", step, p->written - since, after - before);
}

/* Another view drops the list that is being made, so each time it is begun anew. */
static void measure_wait(struct probe *p, char *step)
{
	char *key = strchr(step, '=');
	double longest = 0, most = 0;
	const char *other, *view;

	if (!key)
		die("-w NAME=KEY");
	*key++ = '\0';
	other = *key == '4' ? "1" : "4";
	view = *key == '4' ? "[1 Inbox]" : "[4 Messages]";
	press(p, other);
	until(p, view, p->screen.rows, true, now_ms());
	until_quiet(p, p->written);
	for (int ms = 1; ms <= WAIT_MAX_MS; ms *= 2) {
		double since = now_ms(), before, after;

		press(p, key);
		until(p, view, p->screen.rows, false, since);
		while (now_ms() - since < ms)
			take(p, 1);
		waits(p->child, &before);
		since = now_ms();
		press(p, other);
		since = until(p, view, p->screen.rows, true, since);
		waits(p->child, &after);
		longest = since > longest ? since : longest;
		most = after - before > most ? after - before : most;
	}
	printf("%s %.1f %.1f\n", step, longest, most);
}

static int usage(void)
{
	fputs("usage: screen [-s COLSxROWS] [-t SECONDS] [-u TEXT] [-p N] [-a KEYS=TEXT]... "
	      "[-q NAME=KEYS]... [-w NAME=KEY]... COMMAND [ARGUMENT...]\n",
	      stderr);
	return 2;
}

int main(int argc, char **argv)
{
	static struct probe p = { .screen = { .rows = 36, .cols = 120 } };
	struct {
		char *text;
		void (*measure)(struct probe *p, char *step);
	} steps[STEPS_MAX];
	const char *useful = NULL;
	double seconds = 0, user, system;
	int c, n = 0, permissions = 0;

	while ((c = getopt(argc, argv, "+s:a:p:q:t:u:w:")) >= 0) {
		if (c == 's' && sscanf(optarg, "%dx%d", &p.screen.cols, &p.screen.rows) == 2 &&
		    p.screen.cols > 0 && p.screen.cols <= COLS_MAX && p.screen.rows > 0 &&
		    p.screen.rows <= ROWS_MAX)
			continue;
		if (c == 't' && sscanf(optarg, "%lf", &seconds) == 1)
			continue;
		if (c == 'p' && (permissions = atoi(optarg)) > 0)
			continue;
		if (c == 'u') {
			useful = optarg;
			continue;
		}
		if ((c != 'a' && c != 'q' && c != 'w') || n == STEPS_MAX)
			return usage();
		steps[n].text = optarg;
		steps[n++].measure = c == 'a'   ? measure_after
				     : c == 'q' ? measure_quiet
						: measure_wait;
	}
	if (optind >= argc)
		return usage();
	run(&p, argv + optind);
	printf("first %.1f\n", until(&p, "[1 Inbox]", p.screen.rows, true, p.start));
	if (useful)
		printf("useful %.1f\n", until(&p, useful, p.screen.rows, true, p.start));
	if (permissions)
		measure_asks(&p, permissions);
	else
		measure_keys(&p, seconds);
	for (int i = 0; i < n; i++)
		steps[i].measure(&p, steps[i].text);
	computed(p.child, &user, &system);
	printf("peak_kib %ld\ncpu %.2f\ncpu_user %.2f\ncpu_sys %.2f\n", peak_kib(p.child), user + system,
	       user, system);
	kill(p.child, SIGTERM);
	while (take(&p, 1000))
		;
	waitpid(p.child, NULL, 0);
	return 0;
}
