/* A FIFO: what was written to it cannot be looked at again, so the only proof of delivery is that
 * the pipe, empty before, is empty afterwards. What the pipe holds when its last reader leaves is
 * lost or goes to the next reader: nobody can tell, and the result says so. */
#include "channel/channel_ops.h"

#include "base/buf.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <time.h>

static enum channel_result nobody_reads(const struct channel *c, struct err *err)
{
	return channel_say(CHANNEL_FAILED, err, "nobody reads %.300s; start the reader, then resend",
			   c->path);
}

static enum channel_result fifo_fail(const struct channel *c, struct err *err)
{
	return channel_say(CHANNEL_FAILED, err, "%.300s: %s; check the FIFO, then resend", c->path,
			   strerror(errno));
}

static enum channel_result fifo_open(struct channel *c, struct err *err)
{
	struct stat st;

	/* looked at first: opening a device could do something */
	if (!channel_look(c->path, S_IFIFO, &st, err))
		return CHANNEL_FAILED;
	c->fd = channel_open_path(c->path, O_WRONLY | O_NONBLOCK, 0);
	if (c->fd < 0)
		return errno == ENXIO ? nobody_reads(c, err) : fifo_fail(c, err);
	if (channel_fstat(c->fd, &st) < 0)
		return fifo_fail(c, err);
	return channel_is_safe(c->path, &st, S_IFIFO, err) ? CHANNEL_OK : CHANNEL_FAILED;
}

static int unread(const struct channel *c, int *n)
{
	int rc;

	IO_RETRY(rc, io.unread(c->fd, n));
	return rc;
}

enum drain { DRAIN_EMPTY, DRAIN_SLOW, DRAIN_DESERTED, DRAIN_FAILED };

/* Waits until everything was read; *left says what was not. */
static enum drain wait_empty(const struct channel *c, int *left)
{
	struct patience p = { 0 };
	short ready = 0;

	for (;;) {
		bool deserted = ready & (POLLERR | POLLHUP);

		/* asked after poll: a reader may have taken the rest and left */
		if (unread(c, left) < 0)
			return DRAIN_FAILED;
		if (*left == 0)
			return DRAIN_EMPTY;
		if (deserted)
			return DRAIN_DESERTED;
		if (!channel_wait(c, &p, 0, &ready))
			return DRAIN_SLOW;
	}
}

static enum channel_result fifo_prepare(struct channel *c, struct str bytes, bool after_torn,
					struct attempt *out, struct err *err)
{
	const bool lead = after_torn || c->torn;
	struct stat st;
	int left = 0;

	if (!channel_is_line(bytes, err))
		return CHANNEL_FAILED;
	if (bytes.n + lead > PIPE_BUF && !c->sole_writer)
		return channel_say(
			CHANNEL_FAILED, err,
			"%.300s: the message has %zu bytes, and more than "
			"%d could mix with another writer's; give --sole-writer if gavel "
			"alone writes there",
			c->path, bytes.n + lead, PIPE_BUF);
	/* two gavels at one FIFO would each see the other's message waiting */
	if (channel_lock(c, err) != CHANNEL_OK)
		return CHANNEL_FAILED;
	switch (wait_empty(c, &left)) {
	case DRAIN_EMPTY: break;
	case DRAIN_SLOW:
		return channel_say(CHANNEL_FAILED, err,
				   "%.300s: its reader does not read, %d bytes wait "
				   "there; resend when it reads again",
				   c->path, left);
	case DRAIN_DESERTED: return nobody_reads(c, err);
	case DRAIN_FAILED: return fifo_fail(c, err);
	}
	if (!channel_has_reader(c))
		return nobody_reads(c, err);
	if (channel_fstat(c->fd, &st) < 0)
		return fifo_fail(c, err);
	*out = (struct attempt){ .dev = (uint64_t)st.st_dev,
				 .ino = (uint64_t)st.st_ino,
				 .lead = lead };
	return CHANNEL_OK;
}

/* A reader that has gone raises SIGPIPE, which would end the program: it is kept off this thread
 * for the time of the write and taken back, unless it was waiting before. */
ssize_t channel_write(int fd, const char *p, size_t n)
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

/* 0, or the errno; EAGAIN when the reader took too long. */
static int write_slowly(const struct channel *c, struct str all, size_t *done)
{
	struct patience p = { 0 };
	short ready;

	while (*done < all.n) {
		ssize_t put = channel_write(c->fd, all.p + *done, all.n - *done);

		if (put > 0) {
			*done += (size_t)put;
			patience_renew(&p);
		} else if (put < 0 && errno == EINTR) {
			continue;
		} else if (put < 0 && errno != EAGAIN) {
			return errno;
		} else if (!channel_wait(c, &p, POLLOUT, &ready)) {
			return EAGAIN;
		}
	}
	return 0;
}

static enum channel_result fail_write(struct channel *c, int number, size_t done, size_t n,
				      struct err *err)
{
	const char *why = number == EAGAIN  ? "its reader does not read"
			  : number == EPIPE ? "its reader has gone"
					    : strerror(number);

	if (!done && number == EPIPE)
		return nobody_reads(c, err);
	if (!done && number == EAGAIN)
		return channel_say(CHANNEL_FAILED, err,
				   "%.300s: nothing was written: %s; resend when it reads", c->path,
				   why);
	/* no other error is expected of a pipe, so none is proof that nothing happened */
	c->torn = true;
	return channel_say(CHANNEL_UNCERTAIN, err,
			   "%.300s: only %zu of %zu bytes were written: %s; resend when it reads",
			   c->path, done, n, why);
}

static enum channel_result fifo_send(struct channel *c, struct str bytes, const struct attempt *at,
				     struct err *err)
{
	struct buf all = { 0 };
	size_t done = 0, n;
	int number, left = 0;

	if (at->lead)
		buf_addc(&all, '\n');
	buf_add_str(&all, bytes);
	n = all.n;
	number = write_slowly(c, buf_str(&all), &done);
	buf_release(&all);
	if (number)
		return fail_write(c, number, done, n, err);
	switch (wait_empty(c, &left)) {
	case DRAIN_EMPTY: c->torn = false; return CHANNEL_OK;
	case DRAIN_SLOW:
		return channel_say(CHANNEL_UNCERTAIN, err,
				   "%.300s: written, but its reader has not "
				   "taken %d bytes yet; look whether it reads, then resend",
				   c->path, left);
	case DRAIN_DESERTED:
		c->torn = true;
		return channel_say(CHANNEL_UNCERTAIN, err,
				   "%.300s: its reader has gone without taking "
				   "%d bytes; start it, then resend",
				   c->path, left);
	case DRAIN_FAILED: break;
	}
	return channel_say(CHANNEL_UNCERTAIN, err,
			   "%.300s: written, but whether it was read cannot be "
			   "seen: %s; look at the reader, then resend",
			   c->path, strerror(errno));
}

static enum channel_found fifo_probe(struct channel *c, struct str bytes, const struct attempt *at,
				     struct err *err)
{
	(void)bytes;
	(void)at;
	err_set(err,
		"%.300s: a FIFO does not tell what was read from it; look at the reader, "
		"then resend",
		c->path);
	return FOUND_UNKNOWN;
}

const struct channel_ops channel_fifo = { fifo_open, fifo_prepare, fifo_send, fifo_probe };
