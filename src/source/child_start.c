/* Starting an agent's holder: its capture files, the descriptors and words it is given, its report. */
#include "source/child_spawn.h"

#include "base/io.h"
#include "base/timestamp.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

/* Descriptors of a holder, as src/holder/holder.h has them. */
enum { FD_CAPTURE = 3, FD_STDERR, FD_FOLDER, FD_REPORT, FD_ABOVE };

enum { LOCK_WAIT_MS = 1000 };

/* ---- files ---- */

static int fail_capture(const char *path, int number, struct err *err)
{
	return err_set(err, "%.300s: cannot keep an agent's output there: %s; %s", path,
		       strerror(number),
		       number == EWOULDBLOCK ? "an agent of this name runs already; name another"
					     : "name a folder with room");
}

/* A holder that ends removes its socket before it releases the lock: while nobody listens there, that
 * is waited for. 0 or an errno. */
static int lock_file(int fd, const struct child *c)
{
	int64_t until = monotonic_ms() + LOCK_WAIT_MS;

	while (flock(fd, LOCK_EX | LOCK_NB) < 0) {
		enum holder_state state;
		struct holder_link k;
		struct err err;

		if (errno != EWOULDBLOCK)
			return errno;
		state = holder_connect(&k, c->capture, &err);
		holder_close(&k);
		if (state != HOLDER_ABSENT || monotonic_ms() >= until)
			return EWOULDBLOCK;
		poll(NULL, 0, 1);
	}
	return 0;
}

static int open_locked(int folder, const struct child *c, const char *ending, struct err *err)
{
	struct buf name = { 0 }, path = { 0 };
	struct stat st;
	int fd, number = 0;

	buf_printf(&name, "%s.%s", c->name, ending);
	fd = openat(folder, name.p, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC,
		    0600);
	if (fd < 0 || fstat(fd, &st) < 0)
		number = errno;
	else if (!S_ISREG(st.st_mode) || st.st_uid != geteuid() || st.st_nlink != 1)
		number = EPERM;
	else
		number = lock_file(fd, c);
	if (number) {
		buf_printf(&path, "%s/%s", children_folder(c->pool), name.p);
		fail_capture(path.p, number, err);
		fd_close(&fd);
		buf_release(&path);
	}
	buf_release(&name);
	return fd;
}

static int write_head(struct child_files *f, const char *head, const struct child *c,
		      struct err *err)
{
	struct buf line = { 0 };
	struct stat st;
	int rc = 0;

	if (fstat(f->out, &st) < 0 || st.st_size || !head)
		return 0;
	f->created = true;
	buf_printf(&line, "\t%s\n", head);
	if (io_write_all(f->out, buf_str(&line), NULL) < 0)
		rc = fail_capture(c->name, errno, err);
	buf_release(&line);
	return rc;
}

int files_open(const struct child *c, const char *head, struct child_files *f, struct err *err)
{
	const char *folder = children_folder(c->pool);

	*f = (struct child_files){ -1, -1, -1, false };
	f->folder = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (f->folder < 0)
		return fail_capture(folder, errno, err);
	f->out = open_locked(f->folder, c, "ndjson", err);
	if (f->out >= 0)
		f->err = open_locked(f->folder, c, "stderr", err);
	if (f->err < 0 || write_head(f, head, c, err) < 0) {
		files_discard(c, f);
		return -1;
	}
	return 0;
}

void files_close(struct child_files *f)
{
	fd_close(&f->out);
	fd_close(&f->err);
	fd_close(&f->folder);
}

static void discard_one(const struct child *c, const struct child_files *f, int fd, bool created,
			const char *ending)
{
	struct buf name = { 0 };
	struct stat st;

	buf_printf(&name, "%s.%s", c->name, ending);
	if (fd >= 0 && fstat(fd, &st) == 0 && (created || !st.st_size))
		unlinkat(f->folder, name.p, 0);
	buf_release(&name);
}

void files_discard(const struct child *c, struct child_files *f)
{
	discard_one(c, f, f->out, f->created, "ndjson");
	discard_one(c, f, f->err, false, "stderr");
	files_close(f);
}

/* ---- the holder ---- */

/* Beside this program while it is not installed. */
static char *find_program(struct err *err)
{
	const char *given = getenv("GAVEL_HOLDER");
	char self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	struct buf path = { 0 };

	while (n > 0 && self[n - 1] != '/')
		n--;
	if (given && *given)
		buf_adds(&path, given);
	else if (n > 0)
		buf_printf(&path, "%.*sgavel-holder", (int)n, self);
	if (path.n && access(path.p, X_OK) == 0)
		return path.p;
	buf_clear(&path);
	buf_adds(&path, PKGLIBEXECDIR "/gavel-holder");
	if (access(path.p, X_OK) == 0)
		return path.p;
	err_set(err, "%s: %s; install gavel as a whole", path.p, strerror(errno));
	buf_release(&path);
	return NULL;
}

/* Other threads may have held locks at the fork, so nothing here may take one; dprintf of an
 * integer does not. */
static _Noreturn void exec_holder(const struct child *c, const char *program, char *const *words,
				  const int *fds)
{
	struct sigaction action = { .sa_handler = SIG_DFL };
	int moved[FD_ABOVE];
	sigset_t none;

	for (int i = FD_CAPTURE; i < FD_ABOVE; i++) /* out of the way of 3..6 first */
		moved[i] = fcntl(fds[i], F_DUPFD, 2 * FD_ABOVE);
	for (int i = FD_CAPTURE; i < FD_ABOVE; i++)
		if (moved[i] < 0 || dup2(moved[i], i) < 0)
			_exit(127);
	for (int i = FD_CAPTURE; i < FD_ABOVE; i++)
		close(moved[i]);
	if (c->folder && chdir(c->folder) < 0) {
		dprintf(FD_REPORT, "failed folder %d\n", errno);
		_exit(127);
	}
	sigemptyset(&action.sa_mask);
	for (int i = 1; i < NSIG; i++)
		sigaction(i, &action, NULL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	execve(program, words, c->env);
	dprintf(FD_REPORT, "failed holder %d\n", errno);
	_exit(127);
}

/* Signals are blocked over fork: gavel's handlers must not run in the child. */
static pid_t fork_holder(const struct child *c, const char *program, char *const *words,
			 const int *fds)
{
	sigset_t all, before;
	int saved;
	pid_t pid;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	pid = fork();
	if (pid == 0)
		exec_holder(c, program, words, fds);
	saved = errno;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	errno = saved;
	return pid;
}

static int fail_step(const struct child *c, struct str step, int number, struct err *err)
{
	if (str_is(step, "folder"))
		return err_set(err, "%.64s: cannot work in %.250s: %s; check the folder", c->name,
			       c->folder ? c->folder : ".", strerror(number));
	if (str_is(step, "capture"))
		return fail_capture(children_folder(c->pool), number, err);
	if (str_is(step, "socket"))
		return err_set(err, "%.64s: cannot listen in %.250s: %s; start it again", c->name,
			       children_folder(c->pool), strerror(number));
	return spawn_fail(c->name, c->argv[0], number, c->withheld, err);
}

/* "started PID", "failed STEP ERRNO", or nothing if the holder died. */
static int read_report(const struct child *c, int fd, pid_t *pid, struct err *err)
{
	struct buf text = { 0 };
	char step[16] = "";
	int number = 0, rc = 0;
	long started = 0;

	io_read_rest(fd, 200, &text);
	buf_addc(&text, '\0');
	if (sscanf(text.p, "started %ld", &started) == 1)
		*pid = (pid_t)started;
	else if (sscanf(text.p, "failed %15s %d", step, &number) == 2)
		rc = fail_step(c, str_of(step), number, err);
	else
		rc = err_set(err, "%.64s: the process that was to hold its pipes died; start it again",
			     c->name);
	buf_release(&text);
	return rc;
}

int holder_start(const struct child *c, unsigned run, const struct child_files *f, pid_t *pid,
		 struct err *err)
{
	char *program = find_program(err), number[16];
	VEC(char *) words = { 0 };
	int report[2], fds[FD_ABOVE] = { 0 };
	pid_t holder = -1;
	int rc = -1;

	if (!program)
		return -1;
	snprintf(number, sizeof(number), "%u", run);
	vec_push(&words, program);
	vec_push(&words, c->name);
	vec_push(&words, number);
	vec_push(&words, c->program);
	for (char **word = c->argv; *word; word++)
		vec_push(&words, *word);
	vec_push(&words, NULL);
	if (pipe2(report, O_CLOEXEC) < 0) {
		spawn_fail(c->name, program, errno, c->withheld, err);
	} else {
		fds[FD_CAPTURE] = f->out;
		fds[FD_STDERR] = f->err;
		fds[FD_FOLDER] = f->folder;
		fds[FD_REPORT] = report[1];
		holder = fork_holder(c, program, words.v, fds);
		if (holder < 0)
			spawn_fail(c->name, program, errno, c->withheld, err);
		close(report[1]);
		if (holder > 0)
			rc = read_report(c, report[0], pid, err);
		close(report[0]);
	}
	while (holder > 0 && waitpid(holder, NULL, 0) < 0 && errno == EINTR)
		;
	vec_release(&words);
	free(program);
	return rc;
}
