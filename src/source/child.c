/* Agents through their holders: starting, attaching, following what holders say, stopping. */
#include "source/child_spawn.h"

#include "base/io.h"
#include "base/timestamp.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <unistd.h>

enum {
	MEET_EVERY_MS = 1000,
	KILL_WAIT_MS = 4000,
	ORPHAN_MS = 1000, /* for an agent to end after its holder was killed */
	ORPHAN_LOOK_MS = 20,
	ENVIRONMENT_MAX = 4 << 20,
};

struct children {
	char *folder;  /* absolute */
	int epoll, inotify;
	VEC(struct child *) list;
};

/* ---- the pool ---- */

struct children *children_open(const char *captures, struct err *err)
{
	struct children *pool = xcalloc(1, sizeof(*pool));
	struct epoll_event event = { .events = EPOLLIN };

	pool->folder = realpath(captures, NULL);
	pool->epoll = epoll_create1(EPOLL_CLOEXEC);
	pool->inotify = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	if (pool->folder && pool->epoll >= 0 && pool->inotify >= 0 &&
	    inotify_add_watch(pool->inotify, pool->folder, IN_MODIFY) >= 0 &&
	    epoll_ctl(pool->epoll, EPOLL_CTL_ADD, pool->inotify, &event) == 0)
		return pool;
	err_set(err, "%.300s: cannot listen to agents: %s; close something and try again", captures,
		strerror(errno));
	children_close(pool);
	return NULL;
}

static void child_free(struct child *c)
{
	fd_close(&c->out.source.fd);
	fd_close(&c->err.source.fd);
	holder_close(&c->link);
	free(c->name);
	free(c->capture);
	free(c->withheld);
	free(c->missing);
	buf_release(&c->full);
	free(c->program);
	free(c->folder);
	words_free(c->argv);
	words_free(c->env);
	free(c);
}

void children_close(struct children *pool)
{
	if (!pool)
		return;
	for (uint32_t i = 0; i < pool->list.n; i++)
		child_free(pool->list.v[i]);
	vec_release(&pool->list);
	fd_close(&pool->inotify);
	fd_close(&pool->epoll);
	free(pool->folder);
	free(pool);
}

const char *children_folder(const struct children *pool)
{
	return pool->folder;
}

int children_fd(const struct children *pool)
{
	return pool->epoll;
}

struct child *children_find(const struct children *pool, const char *name)
{
	for (uint32_t i = 0; i < pool->list.n; i++)
		if (strcmp(pool->list.v[i]->name, name) == 0)
			return pool->list.v[i];
	return NULL;
}

/* ---- captures ---- */

void child_path(const struct child *c, struct buf *out)
{
	buf_printf(out, "%s#%u", c->capture, c->incarnation);
}

void child_next_path(const struct child *c, struct buf *out)
{
	buf_printf(out, "%s#%u", c->capture, c->incarnation + 1);
}

static uint64_t size_of(int fd)
{
	struct stat st;

	return fd >= 0 && fstat(fd, &st) == 0 ? (uint64_t)st.st_size : 0;
}

/* whole: what was written there before is read, too. */
static int open_to_read(struct child *c, const char *ending, struct child_capture *to, bool whole,
			struct err *err)
{
	struct buf path = { 0 };
	struct stat st;
	int fd;

	buf_printf(&path, "%s/%s.%s", c->pool->folder, c->name, ending);
	fd = open(path.p, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
		err_set(err, "%.300s: %s; the agent's output cannot be read", path.p,
			strerror(errno));
		fd_close(&fd);
		buf_release(&path);
		return -1;
	}
	to->source = (struct source){ .name = c->name, .kind = SOURCE_STREAM, .fd = fd,
				      .dev = st.st_dev, .ino = st.st_ino,
				      .start = whole ? 0 : (uint64_t)st.st_size,
				      .end = (uint64_t)st.st_size };
	buf_release(&path);
	return 0;
}

static bool update_captures(struct child *c)
{
	uint64_t out = size_of(c->out.source.fd), err = size_of(c->err.source.fd);
	bool more = out > c->out.source.end || err > c->err.source.end;

	if (out > c->out.source.end)
		c->out.source.end = out;
	if (err > c->err.source.end)
		c->err.source.end = err;
	return more;
}

int child_capture_append(struct child *c, struct str lines, struct err *err)
{
	struct child_files f;
	char last = '\n';
	off_t end;
	int rc = 0;

	if (c->life != CHILD_OVER)
		return err_set(err, "%s: still writes there; wait for its end", c->name);
	if (files_open(c, NULL, &f, err) < 0)
		return -1;
	end = lseek(f.out, 0, SEEK_END);
	if (end > 0)
		(void)!pread(f.out, &last, 1, end - 1);
	if ((last != '\n' && io_write_all(f.out, STR("\n"), NULL) < 0) ||
	    io_write_all(f.out, lines, NULL) < 0) {
		rc = err_set(err, "%s: cannot keep what is said to it in %.300s: %s; make room "
			     "there, then try again", c->name, c->pool->folder, strerror(errno));
		(void)!ftruncate(f.out, end);
	}
	files_close(&f);
	update_captures(c);
	return rc;
}

/* ---- what holders say ---- */

static void listen_to(struct child *c)
{
	struct epoll_event event = { .events = EPOLLIN };

	epoll_ctl(c->pool->epoll, EPOLL_CTL_ADD, c->link.fd, &event);
}

/* Whether its process exists, and not another one that has got its pid: by the mark in its
 * environment. */
static bool process_exists(const struct child *c)
{
	struct buf environment = { 0 }, mark = { 0 };
	char path[40];
	struct err err;
	bool is = false;

	buf_adds(&mark, CHILD_MARK "=");
	child_path(c, &mark);
	snprintf(path, sizeof(path), "/proc/%ld/environ", (long)c->pid);
	if (c->pid > 0 && io_read_file(path, ENVIRONMENT_MAX, &environment, &err) == 0)
		is = str_find(buf_str(&environment), str_make(mark.p, mark.n + 1), 0) >= 0;
	buf_release(&environment);
	buf_release(&mark);
	return is;
}

/* Its run is over, and `end` has what its capture tells of that. */
static void conclude(struct child *c)
{
	if (c->end.run != c->incarnation)
		c->end = (struct capture_end){ .number = -1 };
	if (!c->pid)
		c->pid = c->end.pid;
	c->orphan = !c->end.ended && process_exists(c) ? c->pid : 0;
	c->life = CHILD_OVER;
	c->over_at = c->end.ended ? c->end.at : c->out.began;
	c->holder = HOLDER_ABSENT;
	c->silent = false;
	c->input_ended = true;
	c->unread_since_ms = 0;
	buf_clear(&c->full);
}

static void note_unread(struct child *c, uint64_t unread, int64_t now_ms)
{
	if (!unread)
		c->unread_since_ms = 0;
	else if (!c->unread_since_ms)
		c->unread_since_ms = now_ms;
}

static void take_line(struct child *c, struct str line, int64_t now_ms)
{
	switch (line.n ? line.p[0] : '\0') {
	case 'F':
		buf_clear(&c->full);
		buf_add_str(&c->full, str_trim(str_from(line, 1)));
		break;
	case 'O': buf_clear(&c->full); break;
	case 'U': note_unread(c, !str_is(line, "U 0"), now_ms - HOLDER_UNREAD_MS); break;
	case 'S':
		c->stop = str_is(line, "S kill")   ? CHILD_KILLED
			  : str_is(line, "S term") ? CHILD_TERMED
						   : CHILD_ASKED;
		if (c->stop == CHILD_TERMED)
			c->deadline_ms = now_ms + CHILD_TERM_MS;
		break;
	}
}

static void disconnect(struct child *c, int64_t now_ms)
{
	holder_close(&c->link);
	c->holder = HOLDER_SILENT;
	c->silent_ms = now_ms;
	c->meet_ms = 0;
}

/* Tells the holder all that it is to do with the agent, also what it was told before: twice is the
 * same as once. While it is not connected, that waits. */
static void tell_wishes(struct child *c)
{
	int64_t now_ms = monotonic_ms();
	int64_t left = c->deadline_ms > now_ms ? c->deadline_ms - now_ms : 0;

	if (c->life == CHILD_RUNS && c->holder == HOLDER_RUNS &&
	    ((c->input_ended && !holder_say(&c->link, "E\n")) ||
	     (c->asked && !holder_say(&c->link, "K %lld\n", (long long)left)) ||
	     (c->killed && !holder_say(&c->link, "X\n"))))
		disconnect(c, now_ms);
}

static void take_greeting(struct child *c, const struct holder_greeting *h, int64_t now_ms)
{
	c->holder = HOLDER_RUNS;
	c->silent = false;
	c->pid = h->pid;
	note_unread(c, h->unread, now_ms);
	if (h->ending && c->stop == CHILD_GOES_ON)
		c->stop = CHILD_ASKED;
	tell_wishes(c);
}

/* Gets connected to the holder of this run, as far as that is possible without waiting. A holder
 * that does not respond, being stopped or starved, has not ended. */
static void meet(struct child *c, int64_t now_ms)
{
	struct holder_greeting h;
	enum holder_state state = c->holder;

	if (c->link.fd < 0 && now_ms >= c->meet_ms) {
		state = holder_connect(&c->link, c->capture, &c->why);
		c->meet_ms = now_ms + MEET_EVERY_MS;
		if (state == HOLDER_RUNS)
			listen_to(c);
	}
	if (c->link.fd >= 0)
		state = holder_greet(&c->link, c->capture, &h, &c->why);
	if (state == HOLDER_RUNS && h.run != c->incarnation) {
		holder_close(&c->link); /* find_next_run follows that when this end is told */
		state = HOLDER_ABSENT;
	}
	c->holder = state;
	if (state == HOLDER_RUNS)
		take_greeting(c, &h, now_ms);
}

/* Takes what the holder has said; true: something has changed. */
static bool listen_once(struct child *c, int64_t now_ms)
{
	bool over = false, some = false, was_silent = c->silent;
	struct str line;

	if (c->holder != HOLDER_RUNS)
		meet(c, now_ms);
	while (c->holder == HOLDER_RUNS && holder_next(&c->link, &line, &over)) {
		take_line(c, line, now_ms);
		some = true;
	}
	if (over) {
		disconnect(c, now_ms);
		meet(c, now_ms);
	}
	if (c->holder == HOLDER_ABSENT) {
		/* a killed holder's agent gets SIGTERM: it has a moment to end */
		if (now_ms - c->silent_ms < ORPHAN_MS && process_exists(c)) {
			c->meet_ms = now_ms + ORPHAN_LOOK_MS;
			return some;
		}
		update_captures(c);
		capture_read_run(c->out.source.fd, c->out.began, c->incarnation, &c->end);
		conclude(c);
		return true;
	}
	c->silent = c->holder != HOLDER_RUNS && now_ms - c->silent_ms >= CHILD_SILENT_MS;
	return some || c->silent != was_silent;
}

static void begin_run(struct child *c, pid_t pid)
{
	c->pid = pid;
	c->life = CHILD_RUNS;
	c->stop = CHILD_GOES_ON;
	c->again = c->asked = c->killed = c->input_ended = false;
	c->end = (struct capture_end){ 0 };
	c->unread_since_ms = 0;
	buf_clear(&c->full);
}

/* Another gavel may have started the next run of one that is over. */
static bool find_next_run(struct child *c, int64_t now_ms)
{
	uint64_t size = size_of(c->out.source.fd);
	struct capture_end end;

	if (size <= c->over_at)
		return false;
	capture_read_run(c->out.source.fd, c->over_at, c->incarnation + 1, &end);
	c->over_at = size;
	if (!end.run)
		return update_captures(c);
	c->incarnation = end.run;
	c->out.began = end.start;
	c->err.began = c->err.source.end;
	c->orphan = 0;
	begin_run(c, end.pid);
	disconnect(c, now_ms);
	return true;
}

static void start_again(struct child *c);

bool children_tick(struct children *pool, int64_t now_ms)
{
	char events[4096];
	bool changed = false;

	while (read(pool->inotify, events, sizeof(events)) > 0)
		;
	for (uint32_t i = 0; i < pool->list.n; i++) {
		struct child *c = pool->list.v[i];

		if (c->orphan && now_ms >= c->meet_ms) {
			c->meet_ms = now_ms + MEET_EVERY_MS;
			c->orphan = process_exists(c) ? c->pid : 0;
			changed |= !c->orphan;
		}
		if (c->life != CHILD_RUNS) {
			changed |= find_next_run(c, now_ms);
			continue;
		}
		changed |= update_captures(c);
		changed |= listen_once(c, now_ms);
		if (c->life == CHILD_OVER && c->again)
			start_again(c);
	}
	return changed;
}

int children_wait_ms(const struct children *pool, int64_t now_ms)
{
	int64_t first = INT64_MAX;

	for (uint32_t i = 0; i < pool->list.n; i++) {
		const struct child *c = pool->list.v[i];
		int64_t due = INT64_MAX;

		if (c->life == CHILD_OVER && c->over_at < c->out.source.end)
			due = 0;
		else if (c->orphan || (c->life == CHILD_RUNS && c->link.fd < 0))
			due = c->meet_ms;
		else if (c->life == CHILD_RUNS && c->holder != HOLDER_RUNS && !c->silent)
			due = c->silent_ms + CHILD_SILENT_MS;
		if (due < first)
			first = due;
	}
	if (first == INT64_MAX)
		return -1;
	return first <= now_ms ? 0 : (int)(first - now_ms);
}

static bool some_run(const struct children *pool)
{
	for (uint32_t i = 0; i < pool->list.n; i++)
		if (pool->list.v[i]->life == CHILD_RUNS)
			return true;
	return false;
}

void children_kill(struct children *pool, struct buf *left)
{
	int64_t until = monotonic_ms() + KILL_WAIT_MS;

	for (uint32_t i = 0; i < pool->list.n; i++) {
		pool->list.v[i]->again = false;
		pool->list.v[i]->killed = true;
		tell_wishes(pool->list.v[i]);
	}
	while (some_run(pool) && monotonic_ms() < until) {
		struct pollfd fd = { .fd = pool->epoll, .events = POLLIN };

		poll(&fd, 1, 100);
		children_tick(pool, monotonic_ms());
	}
	for (uint32_t i = 0; i < pool->list.n; i++) {
		const struct child *c = pool->list.v[i];

		if (c->life == CHILD_RUNS && c->full.n)
			buf_printf(left, "%s: its last output waits for room in %s: %s\n", c->name,
				   pool->folder, c->full.p);
		else if (c->life == CHILD_RUNS || c->orphan)
			buf_printf(left, "%s: left running: %ld; it could not be ended\n", c->name,
				   (long)c->pid);
		else if (c->end.left[0])
			buf_printf(left, "%s: left running: %s; it could not be ended\n", c->name,
				   c->end.left);
	}
}

/* ---- start ---- */

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

/* Starts the holder of the next incarnation. */
static int start(struct child *c, const char *head, struct err *err)
{
	struct child_files f;
	pid_t pid;

	if (c->orphan && process_exists(c))
		return err_set(err, "%s: its holder was killed, but pid %ld still runs; kill it, "
				    "then start it again", c->name, (long)c->orphan);
	c->orphan = 0;
	if (!c->program && !(c->program = spawn_find(c->name, c->argv[0], c->withheld, err)))
		return -1;
	mark_environment(c);
	if (files_open(c, head, &f, err) < 0)
		return -1;
	if (c->out.source.fd < 0 && (open_to_read(c, "ndjson", &c->out, true, err) < 0 ||
				     open_to_read(c, "stderr", &c->err, false, err) < 0)) {
		files_discard(c, &f);
		return -1;
	}
	update_captures(c);
	if (holder_start(c, c->incarnation + 1, &f, &pid, err) < 0) {
		files_discard(c, &f);
		return -1;
	}
	files_close(&f);
	c->incarnation++;
	c->out.began = c->out.source.end;
	c->err.began = c->err.source.end;
	begin_run(c, pid);
	disconnect(c, monotonic_ms());
	return 0;
}

static void start_again(struct child *c)
{
	c->again = false;
	c->trouble.text[0] = '\0';
	start(c, NULL, &c->trouble);
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

void child_learn(struct child *c, const struct child_spec *spec)
{
	c->folder = spec->folder ? xstrdup(spec->folder) : NULL;
	c->argv = words_copy(spec->argv);
	c->env = spawn_environment(spec->env, &c->withheld);
}

static struct child *child_new(struct children *pool, const char *name)
{
	struct child *c = xcalloc(1, sizeof(*c));
	struct buf capture = { 0 };

	buf_printf(&capture, "%s/%s.ndjson", pool->folder, name);
	*c = (struct child){ .name = xstrdup(name), .capture = capture.p, .life = CHILD_OVER,
			     .holder = HOLDER_ABSENT, .end = { .number = -1 }, .pool = pool,
			     .link = { .fd = -1 } };
	c->out.source.fd = c->err.source.fd = -1;
	return c;
}

/* One that can be started, with its program found. */
static struct child *child_of(struct children *pool, const struct child_spec *spec, struct err *err)
{
	struct child *c;

	if (check_spec(pool, spec, err) < 0)
		return NULL;
	c = child_new(pool, spec->name);
	child_learn(c, spec);
	if ((c->program = spawn_find(c->name, c->argv[0], c->withheld, err)))
		return c;
	child_free(c);
	return NULL;
}

/* Its last run: one that goes on is attached to. */
static void find_last_run(struct child *c)
{
	struct holder_greeting h;
	enum holder_state state = holder_ask(c->capture, &c->link, &h, &c->why);

	if (state == HOLDER_RUNS) {
		c->incarnation = h.run;
		c->out.began = h.start;
		begin_run(c, h.pid);
		listen_to(c);
		take_greeting(c, &h, monotonic_ms());
		listen_once(c, monotonic_ms()); /* what came with it */
		return;
	}
	capture_read_end(c->out.source.fd, 0, &c->end);
	c->incarnation = c->end.run;
	c->out.began = c->end.start;
	if (state != HOLDER_ABSENT && c->incarnation && !c->end.ended) {
		begin_run(c, c->end.pid);
		disconnect(c, monotonic_ms());
	} else if (c->incarnation) {
		conclude(c);
	}
}

static struct child *add_found(struct child *c, bool attached, struct err *err)
{
	if (open_to_read(c, "ndjson", &c->out, true, err) < 0 ||
	    open_to_read(c, "stderr", &c->err, attached, err) < 0) {
		child_free(c);
		return NULL;
	}
	find_last_run(c);
	vec_push(&c->pool->list, c);
	return c;
}

struct child *child_add(struct children *pool, const struct child_spec *spec, struct err *err)
{
	struct child *c = child_of(pool, spec, err);
	struct child_files f;

	if (!c)
		return NULL;
	/* its last turn may still run, and have the files locked */
	if (files_open(c, spec->head, &f, err) == 0)
		files_close(&f);
	return add_found(c, false, err);
}

struct child *child_attach(struct children *pool, const char *name, struct err *err)
{
	return add_found(child_new(pool, name), true, err);
}

struct child *child_start(struct children *pool, const struct child_spec *spec, struct err *err)
{
	struct child *c = child_of(pool, spec, err);

	if (!c)
		return NULL;
	if (start(c, spec->head, err) < 0) {
		child_free(c);
		return NULL;
	}
	vec_push(&pool->list, c);
	return c;
}

int child_turn(struct child *c, const char *const *argv, struct err *err)
{
	if (c->life != CHILD_OVER)
		return err_set(err, "%s: the turn before is not over; wait for it, or stop it",
			       c->name);
	words_free(c->argv);
	c->argv = words_copy(argv);
	return start(c, NULL, err);
}

/* ---- stop ---- */

void child_stop(struct child *c, int64_t now_ms, int64_t grace_ms)
{
	c->again = false;
	if (c->life != CHILD_RUNS || c->stop > CHILD_ASKED)
		return;
	if (!c->asked || now_ms + grace_ms < c->deadline_ms)
		c->deadline_ms = now_ms + grace_ms;
	c->asked = true;
	c->stop = CHILD_ASKED;
	tell_wishes(c);
}

int child_restart(struct child *c, int64_t now_ms, int64_t grace_ms, struct err *err)
{
	if (!c->argv)
		return err_set(err, "%s: its capture does not have its whole command; start it anew "
				    "by gavel run",
			       c->name);
	if (c->missing)
		return err_set(err, "%s: %.200s is not set here; set it as it was at its start, then "
				    "attach and restart it again",
			       c->name, c->missing);
	if (c->life == CHILD_OVER)
		return start(c, NULL, err);
	child_stop(c, now_ms, grace_ms);
	c->again = true;
	return 0;
}

void child_end_input(struct child *c)
{
	c->input_ended = true;
	tell_wishes(c);
}

void child_status_text(const struct child *c, struct buf *out)
{
	if (c->life == CHILD_RUNS)
		buf_adds(out, c->silent ? "does not respond" : "runs");
	else if (c->orphan)
		buf_printf(out, "its holder was killed; pid %ld still runs", (long)c->orphan);
	else if (c->end.by_signal)
		buf_printf(out, "signal %d (%s)%s", c->end.number, strsignal(c->end.number),
			   c->end.core ? ", core dumped" : "");
	else if (c->end.number < 0)
		buf_adds(out, "ended, status unknown");
	else
		buf_printf(out, "exit code %d", c->end.number);
}
