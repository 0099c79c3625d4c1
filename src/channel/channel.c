/* What the kinds of channel share: names, the choice of the table, refusing unsafe paths, locks and
 * waiting. The kinds are in channel_file.c, channel_fifo.c, channel_dir.c and channel_child.c. */
#include "channel/channel_ops.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

static const char *const type_names[] = {
	[CHANNEL_NONE] = "none",
	[CHANNEL_FILE] = "file",
	[CHANNEL_FIFO] = "fifo",
	[CHANNEL_DIR] = "directory",
	[CHANNEL_CHILD] = "agent",
};

static const struct channel_ops *const tables[] = {
	[CHANNEL_FILE] = &channel_file,
	[CHANNEL_FIFO] = &channel_fifo,
	[CHANNEL_DIR] = &channel_dir,
	[CHANNEL_CHILD] = &channel_child,
};

const char *channel_type_name(enum channel_type t)
{
	return type_names[t];
}

bool channel_type_parse(struct str name, enum channel_type *out)
{
	for (int t = CHANNEL_NONE; t <= CHANNEL_CHILD; t++)
		if (str_is(name, type_names[t])) {
			*out = (enum channel_type)t;
			return true;
		}
	return false;
}

enum channel_type channel_type_of(const char *path)
{
	struct stat st;

	/* a link is none of these: opening it as a file refuses it */
	if (io.lstat(path, &st) < 0)
		return CHANNEL_FILE;
	if (S_ISFIFO(st.st_mode))
		return CHANNEL_FIFO;
	return S_ISDIR(st.st_mode) ? CHANNEL_DIR : CHANNEL_FILE;
}

enum channel_result channel_say(enum channel_result r, struct err *err, const char *format, ...)
{
	char text[sizeof(err->text)];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	err_set(err, "%s", text);
	return r;
}

/* ---- safe paths ---- */

static const char *type_word(mode_t type)
{
	return type == S_IFREG ? "a plain file" : type == S_IFIFO ? "a FIFO" : "a folder";
}

bool channel_is_safe(const char *path, const struct stat *st, mode_t type, struct err *err)
{
	const char *fault = NULL;

	if (S_ISLNK(st->st_mode))
		fault = "is a symbolic link; name the place itself";
	else if ((st->st_mode & S_IFMT) != type)
		return err_set(err, "%.300s: is not %s; name another place for replies", path,
			       type_word(type)) == 0;
	else if (st->st_uid != geteuid())
		fault = "belongs to another user; name a place of your own";
	else if (type != S_IFDIR && st->st_nlink > 1)
		fault = "has a second name (hard link); remove it or name another place";
	else if (st->st_mode & (S_IWGRP | S_IWOTH))
		fault = "others may write to it; chmod go-w it";
	if (fault)
		err_set(err, "%.300s: %s", path, fault);
	return !fault;
}

bool channel_look(const char *path, mode_t type, struct stat *st, struct err *err)
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
	/* readers take lines: anything else would be two messages, or half of one */
	if (bytes.n > 1 && memchr(bytes.p, '\n', bytes.n) == bytes.p + bytes.n - 1)
		return true;
	err_set(err, "the message is not one line; this is a fault of gavel, please report it");
	return false;
}

/* ---- waiting ---- */

enum { IDLE_EVERY_MS = 50 };

void patience_renew(struct patience *p)
{
	p->start_ms = loop_now_ms();
	p->step_ms = 1;
}

bool channel_wait(const struct channel *c, struct patience *p, short events, short *ready)
{
	struct pollfd fd = { .fd = c->fd, .events = events };
	int64_t now = loop_now_ms(), left;

	*ready = 0;
	if (c->wait_ms < 0)
		return false;
	if (!p->start_ms)
		patience_renew(p);
	if (!p->idle_ms)
		p->idle_ms = now;
	left = (c->wait_ms > 0 ? c->wait_ms : CHANNEL_WAIT_MS) - (now - p->start_ms);
	if (left <= 0)
		return false;
	if (c->idle && now - p->idle_ms >= IDLE_EVERY_MS) {
		p->idle_ms = now;
		if (!c->idle->go_on(c->idle->ctx))
			return false;
	}
	if (p->step_ms > left)
		p->step_ms = (int)left;
	if (io.poll(&fd, 1, p->step_ms) > 0)
		*ready = fd.revents;
	/* nothing tells that a pipe is empty or a lock free: ask often at first, then less */
	p->step_ms = p->step_ms * 2 < IDLE_EVERY_MS ? p->step_ms * 2 : IDLE_EVERY_MS;
	return true;
}

bool channel_has_reader(const struct channel *c)
{
	struct pollfd fd = { .fd = c->fd };

	return io.poll(&fd, 1, 0) <= 0 || !(fd.revents & (POLLERR | POLLHUP));
}

enum channel_result channel_lock(struct channel *c, struct err *err)
{
	struct patience p = { 0 };
	struct channel nothing = *c;
	short ready;
	int rc;

	nothing.fd = -1; /* only time passes: a file is always ready, and a FIFO may be */
	for (;;) {
		IO_RETRY(rc, io.lock(c->fd));
		if (rc == 0)
			return CHANNEL_OK;
		if (errno != EAGAIN && errno != EACCES)
			return channel_say(CHANNEL_FAILED, err,
					   "%.300s: cannot be locked: %s; "
					   "name a place on another disk",
					   c->path, strerror(errno));
		if (!channel_wait(&nothing, &p, 0, &ready))
			return channel_say(CHANNEL_FAILED, err,
					   "%.300s: another program has locked it; "
					   "resend when it is done",
					   c->path);
	}
}

/* ---- the calls ---- */

enum channel_result channel_open(struct channel *c, enum channel_type type, const char *path,
				 struct err *err)
{
	enum channel_result r;

	c->type = type;
	c->path = path;
	c->fd = -1;
	c->torn = c->created = false;
	c->put = 0;
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
	c->fd = -1;
}
