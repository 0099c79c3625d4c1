/* Life cycle of one agent process, on the main thread: start, detect exit, shut down, restart.
 *
 * An exited group leader is not reaped until its process group is empty: as long as it is a zombie
 * the kernel cannot reuse its pid, which is the group's id, so kill() cannot hit a stranger. */
#include "source/child_internal.h"

#include "base/io.h"

#include <ctype.h>
#include <errno.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- its input ---- */

void child_end_input(struct child *c)
{
	fd_close(&c->input.fd);
	c->input.unread = 0;
	c->input.waits_since_ms = 0;
}

/* FIONREAD only if the pipe can hold something: it did last time, or bytes were sent since. */
static bool poll_input(struct child_input *in, int64_t now_ms)
{
	int unread = 0;

	return in->fd >= 0 && (in->unread || in->sent != in->read) &&
	       ioctl(in->fd, FIONREAD, &unread) == 0 && child_input_note(in, unread, now_ms);
}

void child_path(const struct child *c, struct buf *out)
{
	buf_printf(out, "agent:%s#%u-%s", c->name, c->incarnation, c->pool->tag);
}

void child_next_path(const struct child *c, struct buf *out)
{
	buf_printf(out, "agent:%s#%u-%s", c->name, c->incarnation + 1, c->pool->tag);
}

/* ---- its end ---- */

bool child_notice_exit(struct child *c)
{
	siginfo_t info = { 0 };
	int rc;

	if (c->life != CHILD_RUNS)
		return false;
	IO_RETRY(rc, waitid(P_PID, (id_t)c->pid, &info, WEXITED | WNOHANG | WNOWAIT));
	if (rc == 0 && info.si_pid == 0)
		return false;
	c->life = CHILD_EXITED;
	c->exited_ms = -1; /* set by the next tick, which has the time */
	c->by_signal = rc == 0 && info.si_code != CLD_EXITED;
	c->dumped = rc == 0 && info.si_code == CLD_DUMPED;
	c->number = rc == 0 ? info.si_status : -1; /* someone else has reaped it */
	child_end_input(c);
	return true;
}

void child_reap(struct child *c)
{
	while (waitpid(c->pid, NULL, 0) < 0 && errno == EINTR)
		;
}

/* The next step of the shutdown (TERM, then KILL), once its deadline is reached. */
static bool advance_stop(struct child *c, int64_t now_ms)
{
	if (c->stop == CHILD_GOES_ON || c->stop == CHILD_KILLED || now_ms < c->deadline_ms)
		return false;
	if (c->stop == CHILD_ASKED) {
		processes_signal(c, SIGTERM);
		processes_signal(c, SIGCONT); /* a stopped process does not handle TERM */
		c->stop = CHILD_TERMED;
		c->deadline_ms = now_ms + CHILD_TERM_MS;
	} else {
		processes_signal(c, SIGKILL);
		c->stop = CHILD_KILLED;
	}
	return true;
}

/* Terminates what it left behind. True: nothing is left, or KILL did not help. */
static bool terminate_rest(struct child *c, int64_t now_ms)
{
	if (now_ms < c->sweep_ms)
		return false;
	c->sweep_ms = now_ms + SWEEP_EVERY_MS;
	if (!processes_find(c))
		return true;
	if (c->swept) {
		if (advance_stop(c, now_ms) || c->stop != CHILD_KILLED ||
		    now_ms < c->deadline_ms + CHILD_TERM_MS)
			return false;
		processes_leave(c);
		return true;
	}
	c->swept = true;
	if (c->stop < CHILD_TERMED) {
		c->stop = CHILD_ASKED;
		c->deadline_ms = now_ms;
		advance_stop(c, now_ms);
	}
	return false;
}

static int start_again(struct child *c, int64_t now_ms, struct err *err);

/* Copies the counters of both captures. True: they have changed. */
static bool update_captures(struct child *c)
{
	bool changed = capture_update(&c->out, &private_of(c)->captures[DRAIN_OUT]);

	return capture_update(&c->err, &private_of(c)->captures[DRAIN_ERR]) || changed;
}

static void finish(struct child *c, int64_t now_ms)
{
	child_reap(c);
	fd_close(&c->run->pidfd);
	free(c->run);
	c->run = NULL;
	c->life = CHILD_OVER;
	update_captures(c);
	if (c->again)
		start_again(c, now_ms, &c->trouble);
}

/* After its exit: drain the pipes, terminate its other processes, detach from the thread, reap. */
static bool advance_end(struct child *c, int64_t now_ms)
{
	if (c->exited_ms < 0)
		c->exited_ms = now_ms;
	if (atomic_load(&c->run->dropped)) {
		finish(c, now_ms);
		return true;
	}
	if (atomic_load(&c->run->drop))
		return false;
	if (!atomic_load(&c->run->pipes_ended) && now_ms < c->exited_ms + CHILD_DRAIN_MS)
		return false;
	if (!terminate_rest(c, now_ms))
		return false;
	atomic_store(&c->run->drop, true);
	drain_wake(c->pool->drain);
	return false;
}

bool child_tick(struct child *c, int64_t now_ms)
{
	bool changed = update_captures(c);

	changed |= poll_input(&c->input, now_ms);
	/* saves a waitid per agent and tick where there is a pidfd */
	if (c->run->pidfd < 0 || atomic_load(&c->run->exit_seen))
		changed |= child_notice_exit(c);
	if (c->life == CHILD_RUNS)
		changed |= advance_stop(c, now_ms);
	if (c->life == CHILD_EXITED)
		changed |= advance_end(c, now_ms);
	return changed;
}

/* ---- start ---- */

static int open_pidfd(pid_t pid)
{
#ifdef SYS_pidfd_open
	return (int)syscall(SYS_pidfd_open, pid, 0); /* closed by exec */
#else
	(void)pid;
	return -1;
#endif
}

/* Writes from the main thread: only while the drain thread does not have this run. */
static int write_lines(struct child *c, struct str lines, struct err *err)
{
	struct drain_capture *d = &private_of(c)->captures[DRAIN_OUT];

	if (lines.n && capture_append(d, lines) < 0)
		return err_set(err, "%s: cannot keep what is sent to it in %.300s: %s; make room "
			       "there, then try again", c->name, children_folder(c->pool),
			       strerror(errno));
	return 0;
}

/* In a capture with a head, a tab tells that the agent was told this. */
static int write_lead(struct child *c, struct str lead, struct err *err)
{
	struct buf line = { 0 };
	int rc;

	if (lead.n && private_of(c)->captures[DRAIN_OUT].headed)
		buf_addc(&line, '\t');
	buf_add_str(&line, lead);
	rc = write_lines(c, buf_str(&line), err);
	buf_release(&line);
	return rc;
}

/* Writes the lead and starts the process, or neither. */
static int spawn_after(struct child *c, struct str lead, struct spawned *s, struct err *err)
{
	struct drain_capture *d = &private_of(c)->captures[DRAIN_OUT];
	uint64_t written = atomic_load(&d->written);
	bool mid_line = d->mid_line;

	if (write_lead(c, lead, err) < 0)
		return -1;
	if (spawn(c, s, err) < 0) {
		capture_cut(d, written, mid_line);
		return -1;
	}
	capture_update(&c->out, d);
	return 0;
}

/* The last variable of its environment names the incarnation that is about to start. */
static void mark_environment(struct child *c)
{
	struct buf mark = { 0 };
	uint32_t n = 0;

	buf_adds(&mark, CHILD_MARK "=");
	child_next_path(c, &mark);
	while (c->env[n])
		n++;
	free(c->env[n - 1]);
	c->env[n - 1] = mark.p;
}

static int start(struct child *c, struct str lead, int64_t now_ms, struct err *err)
{
	struct child_private *k = private_of(c);
	struct spawned s;

	mark_environment(c);
	if (spawn_after(c, lead, &s, err) < 0)
		return -1;
	c->run = xcalloc(1, sizeof(*c->run));
	for (int i = 0; i < DRAIN_STREAMS; i++) {
		k->captures[i].fresh = true;
		c->run->captures[i] = &k->captures[i];
	}
	c->run->fds[DRAIN_OUT] = s.out;
	c->run->fds[DRAIN_ERR] = s.err;
	c->run->pidfd = open_pidfd(s.pid);
	c->pid = s.pid;
	c->incarnation++;
	c->out.began = c->out.source.end;
	c->err.began = c->err.source.end;
	c->life = CHILD_RUNS;
	c->stop = CHILD_GOES_ON;
	c->again = c->swept = c->by_signal = c->dumped = false;
	c->number = 0;
	c->known.n = 0;
	buf_clear(&c->left);
	c->started_ms = now_ms;
	c->exited_ms = c->sweep_ms = 0;
	c->input = (struct child_input){ .fd = s.in };
	if (c->no_input)
		child_end_input(c);
	drain_add(c->pool->drain, c->run);
	return 0;
}

static int start_again(struct child *c, int64_t now_ms, struct err *err)
{
	c->again = false;
	c->trouble.text[0] = '\0';
	return start(c, STR_NONE, now_ms, err);
}

bool child_name_takes(char c, size_t at)
{
	return isalnum((unsigned char)c) || c == '_' || c == '-' || (c == '.' && at);
}

bool child_name_is_valid(struct str name)
{
	for (size_t i = 0; i < name.n; i++)
		if (!child_name_takes(name.p[i], i))
			return false;
	return name.n && name.n <= CHILD_NAME_MAX;
}

static int check_spec(const struct children *pool, const struct child_spec *spec, struct err *err)
{
	if (!child_name_is_valid(str_of(spec->name)))
		return err_set(err,
			       "%.80s: is no name for an agent; use up to %d letters, digits, . _ "
			       "and -, not a dot first",
			       spec->name, CHILD_NAME_MAX);
	if (children_find(pool, spec->name))
		return err_set(err, "%s: two agents have this name; give one another name",
			       spec->name);
	if (!spec->argv || !spec->argv[0])
		return err_set(err, "%s: no command to run; give one", spec->name);
	return 0;
}

static char **copy_words(const char *const *words)
{
	VEC(char *) copy = { 0 };

	for (; *words; words++)
		vec_push(&copy, xstrdup(*words));
	vec_push(&copy, NULL);
	return copy.v;
}

static void free_words(char **words)
{
	for (char **w = words; w && *w; w++)
		free(*w);
	free(words);
}

void child_free(struct child *c)
{
	struct child_private *k = private_of(c);

	for (int i = 0; i < DRAIN_STREAMS; i++) {
		fd_close(&k->captures[i].fd);
		buf_release(&k->captures[i].rest);
		buf_release(&k->captures[i].escaped);
	}
	child_end_input(c);
	if (c->run)
		fd_close(&c->run->pidfd);
	free(c->run);
	free(c->name);
	free(c->withheld);
	buf_release(&c->left);
	vec_release(&c->known);
	free(c->program);
	free(c->folder);
	free_words(c->argv);
	free_words(c->env);
	free(k);
}

static struct child_private *private_new(struct children *pool, const struct child_spec *spec)
{
	struct child_private *k = xcalloc(1, sizeof(*k));

	k->captures[DRAIN_OUT].fd = k->captures[DRAIN_ERR].fd = -1;
	k->c = (struct child){ .name = xstrdup(spec->name),
			       .life = CHILD_OVER,
			       .input = { .fd = -1 },
			       .pool = pool,
			       .folder = spec->folder ? xstrdup(spec->folder) : NULL,
			       .argv = copy_words(spec->argv),
			       .no_input = spec->no_input,
			       .whole = spec->whole };
	k->c.env = spawn_environment(spec->env, &k->c.withheld);
	return k;
}

/* One that has never run leaves no files behind. */
static void discard(struct child *c)
{
	capture_discard(c, DRAIN_OUT);
	capture_discard(c, DRAIN_ERR);
	child_free(c);
}

struct child *child_add(struct children *pool, const struct child_spec *spec, struct err *err)
{
	struct child_private *k;

	if (check_spec(pool, spec, err) < 0)
		return NULL;
	k = private_new(pool, spec);
	k->c.program = spawn_find(k->c.name, k->c.argv[0], k->c.withheld, err);
	if (!k->c.program || capture_open(&k->c, DRAIN_OUT, spec->head, err) < 0 ||
	    capture_open(&k->c, DRAIN_ERR, NULL, err) < 0) {
		discard(&k->c);
		return NULL;
	}
	vec_push(&pool->list, k);
	return &k->c;
}

struct child *child_start(struct children *pool, const struct child_spec *spec, int64_t now_ms,
			  struct err *err)
{
	struct child *c = child_add(pool, spec, err);

	if (c && start(c, STR_NONE, now_ms, err) < 0) {
		discard(c);
		pool->list.n--; /* it was the last one */
		return NULL;
	}
	return c;
}

int child_turn(struct child *c, const char *const *argv, struct str lead, int64_t now_ms,
	       struct err *err)
{
	if (c->life != CHILD_OVER)
		return err_set(err, "%s: the turn before is not over; wait for it, or stop it",
			       c->name);
	free_words(c->argv);
	c->argv = copy_words(argv);
	return start(c, lead, now_ms, err);
}

int child_capture_append(struct child *c, struct str lines, struct err *err)
{
	if (c->life != CHILD_OVER)
		return err_set(err, "%s: still writes there; wait for its end", c->name);
	if (write_lines(c, lines, err) < 0)
		return -1;
	capture_update(&c->out, &private_of(c)->captures[DRAIN_OUT]);
	return 0;
}

void child_stop(struct child *c, int64_t now_ms, int64_t grace_ms)
{
	c->again = false;
	if (c->life != CHILD_RUNS || c->stop > CHILD_ASKED)
		return;
	if (c->stop == CHILD_GOES_ON || now_ms + grace_ms < c->deadline_ms)
		c->deadline_ms = now_ms + grace_ms;
	c->stop = CHILD_ASKED;
	child_notice_exit(c); /* if the leader has exited, terminate_rest does the rest */
	if (c->life == CHILD_RUNS)
		advance_stop(c, now_ms);
}

int child_restart(struct child *c, int64_t now_ms, int64_t grace_ms, struct err *err)
{
	if (c->life == CHILD_OVER)
		return start_again(c, now_ms, err);
	child_stop(c, now_ms, grace_ms);
	c->again = true;
	return 0;
}

void child_status_text(const struct child *c, struct buf *out)
{
	if (c->life == CHILD_RUNS)
		buf_adds(out, "runs");
	else if (c->by_signal)
		buf_printf(out, "signal %d (%s)%s", c->number, strsignal(c->number),
			   c->dumped ? ", core dumped" : "");
	else if (c->number < 0)
		buf_adds(out, "ended, status unknown");
	else
		buf_printf(out, "exit code %d", c->number);
}
