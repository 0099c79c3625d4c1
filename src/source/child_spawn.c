/* fork and exec of an agent: filtered environment, PATH search, pipes, new session. No shell: argv
 * is passed as it is. Between fork and exec only async-signal-safe calls are made, since the drain
 * thread may hold any lock at the time of the fork; an error there is reported through a
 * close-on-exec pipe. */
#include "source/child_internal.h"

#include "base/io.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* ---- the environment ---- */

static const char *const passed_names[] = { "PATH", "HOME",   "USER",  "LOGNAME", "LANG",
				      "TZ",   "TMPDIR", "SHELL", "LC_*",    "XDG_*" };

static bool is_passed(struct str name)
{
	for (size_t i = 0; i < sizeof(passed_names) / sizeof(passed_names[0]); i++) {
		struct str p = str_of(passed_names[i]);

		if (p.p[p.n - 1] == '*' ? str_starts(name, str_make(p.p, p.n - 1))
					: str_eq(name, p))
			return true;
	}
	return false;
}

static bool ends_nocase(struct str name, struct str tail)
{
	return name.n >= tail.n && str_eq_nocase(str_from(name, name.n - tail.n), tail);
}

static bool is_secret(struct str name)
{
	return ends_nocase(name, STR("_KEY")) || ends_nocase(name, STR("_TOKEN")) ||
	       str_contains_nocase(name, STR("SECRET")) ||
	       str_contains_nocase(name, STR("PASSWORD"));
}

static bool is_named(struct str name, const char *const *named)
{
	for (; named && *named; named++)
		if (str_is(name, *named))
			return true;
	return false;
}

static struct str name_of(const char *entry)
{
	const char *equals = strchr(entry, '=');

	return str_make(entry, equals ? (size_t)(equals - entry) : strlen(entry));
}

/* Safe to print in an error message. */
static bool is_plain(struct str name)
{
	for (size_t i = 0; i < name.n; i++)
		if (!isalnum((unsigned char)name.p[i]) && name.p[i] != '_')
			return false;
	return name.n > 0;
}

enum { WITHHELD_BYTES = 200 };

/* Names that look like keys first: their absence breaks an agent most often. */
static char *list_withheld(const char *const *names, uint32_t n)
{
	struct buf text = { 0 };
	uint32_t shown = 0;

	for (int secrets = 1; secrets >= 0; secrets--)
		for (uint32_t i = 0; i < n; i++) {
			struct str name = name_of(names[i]);

			if (is_secret(name) != secrets || !is_plain(name) ||
			    text.n + name.n + 2 > WITHHELD_BYTES)
				continue;
			if (text.n)
				buf_adds(&text, ", ");
			buf_add_str(&text, name);
			shown++;
		}
	if (shown < n)
		buf_printf(&text, "%s%u more", shown ? " and " : "", n - shown);
	return text.p ? text.p : xstrdup("");
}

char **spawn_environment(const char *const *named, char **withheld)
{
	VEC(char *) passed_on = { 0 };
	VEC(const char *) left = { 0 };

	for (char **entry = environ; entry && *entry; entry++) {
		struct str name = name_of(*entry);

		if ((is_named(name, named) && !str_is(name, CHILD_MARK)) || (is_passed(name) && !is_secret(name)))
			vec_push(&passed_on, xstrdup(*entry));
		else if (!str_is(name, "TERM") && !str_is(name, CHILD_MARK))
			vec_push(&left, *entry);
	}
	if (!is_named(STR("TERM"), named))
		vec_push(&passed_on, xstrdup("TERM=dumb"));
	vec_push(&passed_on, xstrdup(CHILD_MARK "="));
	vec_push(&passed_on, NULL);
	*withheld = list_withheld(left.v, left.n);
	vec_release(&left);
	return passed_on.v;
}

/* ---- the program ---- */

static int fail(const char *name, const char *program, int number, const char *withheld,
		struct err *err)
{
	const char *todo = "check it and start it again";

	switch (number) {
	case ENOENT:
	case ENOTDIR: todo = "check the name, and its first line if it is a script"; break;
	case EACCES:
	case EPERM: todo = "check who may run it (chmod +x)"; break;
	case ENOEXEC: todo = "not a program; a script begins with #! and its interpreter"; break;
	case EAGAIN:
	case ENOMEM: todo = "end other programs and start it again"; break;
	case EMFILE:
	case ENFILE: todo = "run fewer agents, or raise the limit (ulimit -n)"; break;
	case E2BIG: todo = "give it shorter arguments"; break;
	}
	return err_set(err, "%.64s: cannot run %.120s: %s; %s%s%.220s", name, program,
		       strerror(number), todo, *withheld ? "; not passed on (--env NAME): " : "",
		       withheld);
}

/* 0 if it is an executable file, else an errno. */
static int check_executable(const char *path)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return errno;
	if (!S_ISREG(st.st_mode))
		return EACCES;
	return access(path, X_OK) < 0 ? errno : 0;
}

/* PATH search. Relative entries are skipped: the agent may have another working directory. */
static int search_path(const char *program, struct buf *out)
{
	const char *path = getenv("PATH"), *end;
	int why = ENOENT;

	if (!path || !*path)
		path = "/usr/local/bin:/usr/bin:/bin";
	for (;; path = end + 1) {
		int number;

		end = strchrnul(path, ':');
		buf_clear(out);
		buf_add(out, path, (size_t)(end - path));
		buf_printf(out, "/%s", program);
		number = *path == '/' ? check_executable(out->p) : ENOENT;
		if (number == 0)
			return 0;
		if (number == EACCES)
			why = EACCES;
		if (!*end)
			return why;
	}
}

char *spawn_find(const char *name, const char *program, const char *withheld, struct err *err)
{
	struct buf path = { 0 };
	char here[PATH_MAX];
	int number = 0;

	if (!*program)
		number = ENOENT;
	else if (!strchr(program, '/'))
		number = search_path(program, &path);
	else if (*program == '/')
		buf_adds(&path, program);
	else if (getcwd(here, sizeof(here)))
		buf_printf(&path, "%s/%s", here, program);
	else
		number = errno;
	if (!number && strchr(program, '/'))
		number = check_executable(path.p);
	if (!number)
		return path.p;
	fail(name, program, number, withheld, err);
	buf_release(&path);
	return NULL;
}

/* ---- the process ---- */

enum step { STEP_PIPES, STEP_SESSION, STEP_FOLDER, STEP_PROGRAM };

struct spawn_report {
	enum step step;
	int number;
};

/* Both ends of the three pipes, and the pipe that reports errors before exec. */
struct ends {
	int child[3], ours[3];
	int report[2];
};

static _Noreturn void report_failure(int report, enum step step)
{
	struct spawn_report r = { step, errno };

	(void)!write(report, &r, sizeof(r));
	_exit(127);
}

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

enum { REPORT_FD = 3, ABOVE_FD = 10 };

/* Moves the pipes to 0, 1 and 2 and closes all others; returns the descriptor for reports. */
static int arrange_descriptors(const struct ends *e)
{
	/* the ends may themselves be 0..3: move them out of the way first */
	int report = fcntl(e->report[1], F_DUPFD_CLOEXEC, ABOVE_FD), fds[3];

	if (report < 0)
		report_failure(e->report[1], STEP_PIPES);
	for (int i = 0; i < 3; i++)
		if ((fds[i] = fcntl(e->child[i], F_DUPFD_CLOEXEC, ABOVE_FD)) < 0)
			report_failure(report, STEP_PIPES);
	for (int i = 0; i < 3; i++)
		if (dup2(fds[i], i) < 0)
			report_failure(report, STEP_PIPES);
	if (dup3(report, REPORT_FD, O_CLOEXEC) < 0)
		report_failure(report, STEP_PIPES);
	close_from(REPORT_FD + 1);
	return REPORT_FD;
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

/* TERM when gavel is killed: no agent is to run unsupervised, and not all exit on a closed pipe. */
static void set_parent_death_signal(pid_t parent)
{
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		_exit(127); /* the parent died before prctl */
}

static _Noreturn void exec_child(const struct child *c, const struct ends *e, pid_t parent)
{
	int report = arrange_descriptors(e);

	/* a new session has no controlling terminal: no /dev/tty, TIOCSTI or job control signals */
	if (setsid() < 0)
		report_failure(report, STEP_SESSION);
	if (c->folder && chdir(c->folder) < 0)
		report_failure(report, STEP_FOLDER);
	reset_signals();
	set_parent_death_signal(parent);
	execve(c->program, c->argv, c->env);
	report_failure(report, STEP_PROGRAM);
}

static void close_all(int *fds, int n)
{
	for (int i = 0; i < n; i++)
		fd_close(&fds[i]);
}

/* As large as the user's pipe memory limit allows; smaller ones work, too. */
static void enlarge_pipe(int fd)
{
#ifdef F_SETPIPE_SZ
	for (int bytes = CHILD_PIPE_BYTES; bytes > 64 << 10; bytes /= 2)
		if (fcntl(fd, F_SETPIPE_SZ, bytes) >= 0)
			return;
#else
	(void)fd;
#endif
}

static int make_pipes(struct ends *e)
{
	for (int i = 0; i < 3; i++)
		e->child[i] = e->ours[i] = -1;
	e->report[0] = e->report[1] = -1;
	for (int i = 0; i < 3; i++) {
		int fds[2], mine;

		if (pipe2(fds, O_CLOEXEC) < 0)
			return -1;
		mine = i == 0; /* the end we write to */
		e->ours[i] = fds[mine];
		e->child[i] = fds[!mine];
		if (fcntl(e->ours[i], F_SETFL, O_NONBLOCK) < 0)
			return -1;
		if (i > 0)
			enlarge_pipe(e->ours[i]);
	}
	return pipe2(e->report, O_CLOEXEC);
}

/* Blocks signals over fork: gavel's handlers must not run in the child, they write to its pipes. */
static pid_t fork_child(const struct child *c, const struct ends *e)
{
	sigset_t all, before;
	int saved;
	pid_t pid, parent = getpid();

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	pid = fork();
	if (pid == 0)
		exec_child(c, e, parent);
	saved = errno;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	errno = saved;
	return pid;
}

static int fail_step(const struct child *c, const struct spawn_report *r, struct err *err)
{
	const char *why = strerror(r->number);

	switch (r->step) {
	case STEP_FOLDER:
		return err_set(err, "%.64s: cannot work in %.250s: %s; check the folder", c->name,
			       c->folder, why);
	case STEP_SESSION:
		return err_set(err, "%.64s: cannot get a session of its own: %s; start it again",
			       c->name, why);
	case STEP_PIPES:
	case STEP_PROGRAM: break;
	}
	return fail(c->name, c->argv[0], r->number, c->withheld, err);
}

/* Waits for exec to succeed (end of file) or for an error report. */
static bool read_report(int fd, struct spawn_report *r)
{
	ssize_t got;

	IO_RETRY(got, read(fd, r, sizeof(*r)));
	return got == (ssize_t)sizeof(*r);
}

int spawn(const struct child *c, struct spawned *out, struct err *err)
{
	struct spawn_report report = { STEP_PIPES, 0 };
	struct ends e;
	pid_t pid = -1;

	if (make_pipes(&e) == 0)
		pid = fork_child(c, &e);
	if (pid < 0)
		report.number = errno;
	close_all(e.child, 3);
	close_all(&e.report[1], 1);
	if (pid >= 0 && read_report(e.report[0], &report))
		while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
			;
	close_all(e.report, 1);
	if (report.number) {
		close_all(e.ours, 3);
		return fail_step(c, &report, err);
	}
	*out = (struct spawned){ pid, e.ours[0], e.ours[1], e.ours[2] };
	return 0;
}
