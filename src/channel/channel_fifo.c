/* A FIFO: bytes cannot be read back, so the only proof of delivery is that the pipe, empty before,
 * is empty again. Bytes left in it when its last reader closes are lost or go to the next reader;
 * the result is then CHANNEL_UNCERTAIN. */
#include "channel/channel_ops.h"

#include "base/buf.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>

static enum channel_result nobody_reads(const struct channel *c, struct err *err)
{
	return channel_fail(CHANNEL_FAILED, err,
			    "nobody reads %.300s; start the reader, then resend", c->path);
}

static enum channel_result fifo_fail(const struct channel *c, struct err *err)
{
	return channel_fail(CHANNEL_FAILED, err, "%.300s: %s; check the FIFO, then resend", c->path,
			    strerror(errno));
}

static enum channel_result fifo_open(struct channel *c, struct err *err)
{
	struct stat st;

	/* before open, which may have side effects on a device */
	if (!channel_lstat(c->path, S_IFIFO, &st, err))
		return CHANNEL_FAILED;
	c->fd = channel_open_path(c->path, O_WRONLY | O_NONBLOCK, 0);
	if (c->fd < 0)
		return errno == ENXIO ? nobody_reads(c, err) : fifo_fail(c, err);
	if (channel_fstat(c->fd, &st) < 0)
		return fifo_fail(c, err);
	return channel_is_safe(c->path, &st, S_IFIFO, err) ? CHANNEL_OK : CHANNEL_FAILED;
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
		return channel_fail(
			CHANNEL_FAILED, err,
			"%.300s: the message has %zu bytes, and more than "
			"%d could mix with another writer's; give --sole-writer if gavel "
			"alone writes there",
			c->path, bytes.n + lead, PIPE_BUF);
	/* a second writer would take our unread message for its own */
	if (channel_lock(c, err) != CHANNEL_OK)
		return CHANNEL_FAILED;
	switch (channel_drain(c, &left)) {
	case DRAIN_EMPTY: break;
	case DRAIN_SLOW:
		return channel_fail(CHANNEL_FAILED, err,
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

static enum channel_result fail_write(struct channel *c, int number, size_t done, size_t n,
				      struct err *err)
{
	const char *why = number == EAGAIN  ? "its reader does not read"
			  : number == EPIPE ? "its reader has gone"
					    : strerror(number);

	if (!done && number == EPIPE)
		return nobody_reads(c, err);
	if (!done && number == EAGAIN)
		return channel_fail(CHANNEL_FAILED, err,
				    "%.300s: nothing was written: %s; resend when it reads",
				    c->path, why);
	/* no other error is expected of a pipe, so it does not prove that nothing was written */
	c->torn = true;
	return channel_fail(CHANNEL_UNCERTAIN, err,
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
	number = channel_write_rest(c, buf_str(&all), &done);
	buf_release(&all);
	if (number)
		return fail_write(c, number, done, n, err);
	switch (channel_drain(c, &left)) {
	case DRAIN_EMPTY: c->torn = false; return CHANNEL_OK;
	case DRAIN_SLOW:
		return channel_fail(CHANNEL_UNCERTAIN, err,
				    "%.300s: written, but its reader has not "
				    "taken %d bytes yet; look whether it reads, then resend",
				    c->path, left);
	case DRAIN_DESERTED:
		c->torn = true;
		return channel_fail(CHANNEL_UNCERTAIN, err,
				    "%.300s: its reader has gone without taking "
				    "%d bytes; start it, then resend",
				    c->path, left);
	case DRAIN_FAILED: break;
	}
	return channel_fail(CHANNEL_UNCERTAIN, err,
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
