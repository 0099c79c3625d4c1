/* What the types of channel share: names, dispatch, checks of paths, locking, timeouts, draining
 * and writing of pipes. The types are channel_file.c, channel_fifo.c, channel_dir.c,
 * channel_agent.c, channel_team.c. */
#include "channel/channel_ops.h"

#include "base/file_fault.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

static const char *const type_names[] = {
	[CHANNEL_NONE] = "none",
	[CHANNEL_FILE] = "file",
	[CHANNEL_FIFO] = "fifo",
	[CHANNEL_DIR] = "directory",
	[CHANNEL_AGENT] = "agent",
	[CHANNEL_TEAM] = "team",
};

static const struct channel_ops *const tables[] = {
	[CHANNEL_FILE] = &channel_file,
	[CHANNEL_FIFO] = &channel_fifo,
	[CHANNEL_DIR] = &channel_dir,
	[CHANNEL_AGENT] = &channel_agent,
	[CHANNEL_TEAM] = &channel_team,
};

const char *channel_type_name(enum channel_type t)
{
	return type_names[t];
}

bool channel_type_parse(struct str name, enum channel_type *out)
{
	for (int t = CHANNEL_NONE; t <= CHANNEL_TEAM; t++)
		if (str_is(name, type_names[t])) {
			*out = (enum channel_type)t;
			return true;
		}
	return false;
}

enum channel_type channel_type_of(const char *path)
{
	struct stat st;

	/* a symbolic link counts as a file, which channel_open then refuses */
	if (io.lstat(path, &st) < 0)
		return CHANNEL_FILE;
	if (S_ISFIFO(st.st_mode))
		return CHANNEL_FIFO;
	return S_ISDIR(st.st_mode) ? CHANNEL_DIR : CHANNEL_FILE;
}

/* ---- safe paths ---- */

static const char *type_word(mode_t type)
{
	return type == S_IFREG ? "a plain file" : type == S_IFIFO ? "a FIFO" : "a folder";
}

bool channel_is_safe(const char *path, const struct stat *st, mode_t type, struct err *err)
{
	switch (file_fault(st, type, NULL)) {
	case FILE_SAFE: return true;
	case FILE_IS_LINK:
		err_set(err, "%.300s: is a symbolic link; name the place itself", path);
		break;
	case FILE_IS_OTHER_TYPE:
		err_set(err, "%.300s: is not %s; name another place for replies", path,
			type_word(type));
		break;
	case FILE_IS_FOREIGN:
		err_set(err, "%.300s: belongs to another user; name a place of your own", path);
		break;
	case FILE_HAS_SECOND_NAME:
		err_set(err,
			"%.300s: has a second name (hard link); remove it or name another place",
			path);
		break;
	case FILE_IS_OPEN:
		err_set(err, "%.300s: others may write to it; chmod go-w it", path);
		break;
	}
	return false;
}

bool channel_lstat(const char *path, mode_t type, struct stat *st, struct err *err)
{
	int rc;

	IO_RETRY(rc, io.lstat(path, st));
	if (rc < 0) {
		int saved = errno;

		err_set(err, "%.300s: %s; check the name", path, strerror(saved));
		errno = saved;
		return false;
	}
	errno = 0;
	return channel_is_safe(path, st, type, err);
}

int channel_open_path(const char *path, int flags, mode_t mode)
{
	int fd;

	IO_RETRY(fd, io.open(path, flags | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC, mode));
	return fd;
}

int channel_fstat(int fd, struct stat *st)
{
	int rc;

	IO_RETRY(rc, io.fstat(fd, st));
	return rc;
}

bool channel_is_line(struct str bytes, struct err *err)
{
	if (bytes.n > 1 && memchr(bytes.p, '\n', bytes.n) == bytes.p + bytes.n - 1)
		return true;
	err_set(err, "the message is not one line; this is a fault of gavel, please report it");
	return false;
}

/* ---- waiting ---- */

enum { IDLE_EVERY_MS = 50 };

static void timer_restart(struct channel_timer *t)
{
	t->start_ms = loop_now_ms();
	t->step_ms = 1;
}

/* channel_wait_for; *ready gets poll's revents. */
static bool wait_on(const struct channel *c, struct channel_timer *t, int descriptor, short events,
		    short *ready)
{
	struct pollfd fd = { .fd = descriptor, .events = events };
	int64_t now = loop_now_ms(), left;

	*ready = 0;
	if (c->wait_ms < 0)
		return false;
	if (!t->start_ms)
		timer_restart(t);
	if (!t->idle_ms)
		t->idle_ms = now;
	left = (c->wait_ms > 0 ? c->wait_ms : CHANNEL_WAIT_MS) - (now - t->start_ms);
	if (left <= 0)
		return false;
	if (c->idle && now - t->idle_ms >= IDLE_EVERY_MS) {
		t->idle_ms = now;
		if (!c->idle->go_on(c->idle->ctx))
			return false;
	}
	if (t->step_ms > left)
		t->step_ms = (int)left;
	if (io.poll(&fd, 1, t->step_ms) > 0)
		*ready = fd.revents;
	/* poll does not report an empty pipe or a free lock: check often at first, then less */
	t->step_ms = t->step_ms * 2 < IDLE_EVERY_MS ? t->step_ms * 2 : IDLE_EVERY_MS;
	return true;
}

bool channel_wait_for(const struct channel *c, struct channel_timer *t, int fd, short events)
{
	short ready;

	return wait_on(c, t, fd, events, &ready);
}

static bool channel_wait(const struct channel *c, struct channel_timer *t, short events,
			 short *ready)
{
	return wait_on(c, t, c->fd, events, ready);
}

enum channel_result channel_lock(struct channel *c, struct err *err)
{
	struct channel_timer t = { 0 };
	struct channel unpolled = *c;
	short ready;
	int rc;

	unpolled.fd = -1; /* a file is always ready, and a FIFO may be */
	for (;;) {
		IO_RETRY(rc, io.lock_open(c->fd));
		if (rc == 0)
			return CHANNEL_OK;
		if (errno != EAGAIN && errno != EACCES)
			return channel_fail(CHANNEL_FAILED, err,
					    "%.300s: cannot be locked: %s; "
					    "name a place on another disk",
					    c->path, strerror(errno));
		c->busy = !channel_wait(&unpolled, &t, 0, &ready);
		if (c->busy)
			return channel_fail(CHANNEL_FAILED, err,
					    "%.300s: another program has locked it; "
					    "resend when it is done",
					    c->path);
	}
}

/* ---- pipes ---- */

bool channel_has_reader(const struct channel *c)
{
	struct pollfd fd = { .fd = c->fd };

	return io.poll(&fd, 1, 0) <= 0 || !(fd.revents & (POLLERR | POLLHUP));
}

enum drain channel_drain(const struct channel *c, int *left)
{
	struct channel_timer t = { 0 };
	short ready = 0;

	for (;;) {
		bool deserted = ready & (POLLERR | POLLHUP);
		int rc;

		/* after poll: the reader may have read the rest before it ended */
		IO_RETRY(rc, io.unread(c->fd, left));
		if (rc < 0)
			return DRAIN_FAILED;
		if (*left == 0)
			return DRAIN_EMPTY;
		if (deserted)
			return DRAIN_DESERTED;
		if (!channel_wait(c, &t, 0, &ready))
			return DRAIN_SLOW;
	}
}

/* write(2) that fails with EPIPE instead of raising SIGPIPE: the signal is blocked in this thread
 * and consumed, unless it was pending before. */
static ssize_t write_no_signal(int fd, const char *p, size_t n)
{
	static const struct timespec at_once;
	sigset_t pipe_only, before, pending;
	ssize_t put;
	int saved;

	sigemptyset(&pipe_only);
	sigaddset(&pipe_only, SIGPIPE);
	sigemptyset(&pending);
	sigpending(&pending);
	pthread_sigmask(SIG_BLOCK, &pipe_only, &before);
	put = io.write(fd, p, n);
	saved = errno;
	if (put < 0 && saved == EPIPE && !sigismember(&pending, SIGPIPE))
		sigtimedwait(&pipe_only, NULL, &at_once);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	errno = saved;
	return put;
}

int channel_write_rest(const struct channel *c, struct str bytes, size_t *done)
{
	struct channel_timer t = { 0 };
	short ready;

	while (*done < bytes.n) {
		ssize_t put = write_no_signal(c->fd, bytes.p + *done, bytes.n - *done);

		if (put > 0) {
			*done += (size_t)put;
			timer_restart(&t);
		} else if (put < 0 && errno == EINTR) {
			continue;
		} else if (put < 0 && errno != EAGAIN) {
			return errno;
		} else if (!channel_wait(c, &t, POLLOUT, &ready)) {
			return EAGAIN;
		}
	}
	return 0;
}

/* ---- dispatch ---- */

enum channel_result channel_open(struct channel *c, enum channel_type type, const char *path,
				 struct err *err)
{
	enum channel_result r;

	c->type = type;
	c->path = path;
	c->fd = -1;
	c->torn = c->created = c->busy = false;
	c->delivery = NULL;
	if (type == CHANNEL_NONE)
		return CHANNEL_OK;
	r = tables[type]->open(c, err);
	if (r != CHANNEL_OK)
		channel_close(c);
	return r;
}

enum channel_result channel_prepare(struct channel *c, struct str bytes, bool after_torn,
				    struct attempt *out, struct err *err)
{
	*out = (struct attempt){ 0 };
	if (c->type == CHANNEL_NONE)
		return CHANNEL_OK;
	return tables[c->type]->prepare(c, bytes, after_torn, out, err);
}

enum channel_result channel_send(struct channel *c, struct str bytes, const struct attempt *at,
				 struct err *err)
{
	return c->type == CHANNEL_NONE ? CHANNEL_OK : tables[c->type]->send(c, bytes, at, err);
}

enum channel_found channel_probe(struct channel *c, struct str bytes, const struct attempt *at,
				 struct err *err)
{
	return c->type == CHANNEL_NONE ? FOUND_WHOLE : tables[c->type]->probe(c, bytes, at, err);
}

void channel_close(struct channel *c)
{
	if (c->type != CHANNEL_NONE && c->fd >= 0)
		io.close(c->fd);
	if (c->type == CHANNEL_AGENT)
		agent_delivery_free(c);
	c->fd = -1;
}
