/* A file that messages are appended to. Sending is idempotent: it first searches the file from the
 * recorded offset on; a complete message is not written again, a partial one at the end is
 * completed.
 *
 * Others may append too, with or without the lock: O_APPEND writes are atomic, and the message is
 * searched for at every line after the offset. */
#include "channel/channel_ops.h"

#include "base/buf.h"
#include "base/sha256.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

enum {
	OPEN_TRIES = 8,
	PRINT_BYTES = 256, /* before a message, that its attempt has a hash of */
	WRITE_BYTES = 1 << 18, /* of several messages, at once */
};

/* What the file holds of a message, from an offset on. */
struct trace {
	bool whole;
	size_t head;    /* bytes of a partial message at the end of the file */
	bool ends_line; /* the file ends with a newline */
};

static ssize_t read_at(int fd, char *to, size_t n, uint64_t offset)
{
	ssize_t got;

	IO_RETRY(got, io.pread(fd, to, n, (off_t)offset));
	return got;
}

/* Compares each line with the message, whose only newline is its last byte. */
static void trace_block(struct trace *t, struct str bytes, bool *fits, const char *p, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		*fits = *fits && p[i] == bytes.p[t->head];
		if (*fits && ++t->head == bytes.n)
			t->whole = true;
		t->ends_line = p[i] == '\n';
		if (t->ends_line) {
			*fits = true;
			t->head = 0;
		}
	}
	if (!*fits)
		t->head = 0;
}

static int trace_message(int fd, struct str bytes, uint64_t offset, struct trace *t)
{
	char block[8192];
	bool fits;
	ssize_t got;

	*t = (struct trace){ .ends_line = true };
	if (offset) {
		got = read_at(fd, block, 1, offset - 1);
		if (got < 0)
			return -1;
		t->ends_line = got == 1 && block[0] == '\n';
	}
	fits = t->ends_line;
	while ((got = read_at(fd, block, sizeof(block), offset)) > 0) {
		trace_block(t, bytes, &fits, block, (size_t)got);
		offset += (uint64_t)got;
	}
	return got < 0 ? -1 : 0;
}

static int sync_data(int fd)
{
	int rc;

	IO_RETRY(rc, io.fdatasync(fd));
	return rc;
}

/* Somebody else may create it, or move it away, between two calls. */
static int open_or_create(struct channel *c, int flags)
{
	int fd = -1;

	errno = ENOENT;
	for (int i = 0; i < OPEN_TRIES && fd < 0 && (errno == ENOENT || errno == EEXIST); i++) {
		bool create = i % 2;

		fd = channel_open_path(c->path, flags | (create ? O_CREAT | O_EXCL : 0), 0600);
		c->created = create && fd >= 0;
	}
	return fd;
}

static enum channel_result file_open(struct channel *c, struct err *err)
{
	const int flags = O_RDWR | O_APPEND | O_NONBLOCK;
	struct stat st;

	if (!channel_lstat(c->path, S_IFREG, &st, err) && errno != ENOENT)
		return CHANNEL_FAILED;
	c->fd = open_or_create(c, flags);
	if (c->fd < 0 || channel_fstat(c->fd, &st) < 0)
		return channel_fail(CHANNEL_FAILED, err,
				    "%.300s: cannot be opened for writing: %s; "
				    "check the place or name another",
				    c->path, strerror(errno));
	if (!channel_is_safe(c->path, &st, S_IFREG, err))
		return CHANNEL_FAILED;
	/* an empty one may be left from a crash before its directory entry was synced */
	if (st.st_size == 0 && io_sync_folder(c->path) < 0)
		return channel_fail(CHANNEL_FAILED, err,
				    "%.300s: its folder cannot be synced: %s; "
				    "check the disk, then resend",
				    c->path, strerror(errno));
	return CHANNEL_OK;
}

/* The file may have been replaced while the lock was waited for. */
static bool is_not_replaced(const struct channel *c, struct stat *st, struct err *err)
{
	struct stat named;

	if (channel_fstat(c->fd, st) < 0) {
		err_set(err, "%.300s: %s; check the disk, then resend", c->path, strerror(errno));
		return false;
	}
	if (!channel_lstat(c->path, S_IFREG, &named, err))
		return false;
	if (named.st_dev == st->st_dev && named.st_ino == st->st_ino)
		return true;
	err_set(err, "%.300s: was replaced by another file just now; resend", c->path);
	return false;
}

static uint32_t print_of(struct str bytes)
{
	unsigned char hash[32];
	uint32_t print;

	sha256(bytes, hash);
	memcpy(&print, hash, sizeof(print));
	return print;
}

/* The last bytes before the offset; *n of them, -1 and errno. */
static int read_before(int fd, uint64_t offset, char bytes[PRINT_BYTES], size_t *n)
{
	size_t want = offset < PRINT_BYTES ? (size_t)offset : PRINT_BYTES;
	ssize_t got = want ? read_at(fd, bytes, want, offset - want) : 0;

	*n = got < 0 ? 0 : (size_t)got;
	return got < 0 ? -1 : 0;
}

/* Hash of the bytes before the offset: detects a file that was truncated and has grown again. */
static int hash_before(int fd, uint64_t offset, uint32_t *print)
{
	char bytes[PRINT_BYTES];
	size_t n;

	if (read_before(fd, offset, bytes, &n) < 0)
		return -1;
	*print = print_of(str_make(bytes, n));
	return 0;
}

static enum channel_result file_prepare(struct channel *c, struct str bytes, bool after_torn,
					struct attempt *out, struct err *err)
{
	struct stat st;
	char last = '\n';

	(void)after_torn; /* seen in the file itself */
	if (!channel_is_line(bytes, err) || channel_lock(c, err) != CHANNEL_OK ||
	    !is_not_replaced(c, &st, err))
		return CHANNEL_FAILED;
	if (hash_before(c->fd, (uint64_t)st.st_size, &out->print) < 0 ||
	    (st.st_size > 0 && read_at(c->fd, &last, 1, (uint64_t)st.st_size - 1) != 1))
		return channel_fail(CHANNEL_FAILED, err,
				    "%.300s: its end cannot be read: %s; "
				    "check the disk, then resend",
				    c->path, strerror(errno));
	out->offset = (uint64_t)st.st_size;
	out->dev = (uint64_t)st.st_dev;
	out->ino = (uint64_t)st.st_ino;
	out->lead = last != '\n';
	return CHANNEL_OK;
}

/* FOUND_WHOLE: *t is valid, whether or not it is whole. */
static enum channel_found find_trace(const struct channel *c, struct str bytes,
				     const struct attempt *at, struct trace *t, uint64_t *size,
				     struct err *err)
{
	struct stat st;
	uint32_t print;

	if (channel_fstat(c->fd, &st) < 0 || hash_before(c->fd, at->offset, &print) < 0 ||
	    trace_message(c->fd, bytes, at->offset, t) < 0) {
		err_set(err, "%.300s: cannot be read: %s; look whether the message is there",
			c->path, strerror(errno));
		return FOUND_TROUBLE;
	}
	*size = (uint64_t)st.st_size;
	if ((uint64_t)st.st_dev == at->dev && (uint64_t)st.st_ino == at->ino &&
	    *size >= at->offset && print == at->print)
		return FOUND_WHOLE;
	err_set(err, "%.300s: is another file now, or was cut; look whether the message arrived",
		c->path);
	return FOUND_UNKNOWN;
}

/* Only a file that has not grown proves that nothing was written: some file systems write in
 * part. */
static enum channel_result fail_write(const struct channel *c, size_t done, size_t n, uint64_t size,
				      struct err *err)
{
	const int number = errno;
	struct stat st;
	const char *todo = number == ENOSPC || number == EDQUOT ? "make room" : "check the disk";

	if (!done) {
		bool grown = channel_fstat(c->fd, &st) < 0 || (uint64_t)st.st_size != size;

		return channel_fail(grown ? CHANNEL_UNCERTAIN : CHANNEL_FAILED, err,
				    "%.300s: %s: %s; %s, then resend", c->path,
				    grown ? "perhaps a part was written" : "nothing was written",
				    strerror(number), todo);
	}
	return channel_fail(CHANNEL_UNCERTAIN, err,
			    "%.300s: only %zu of %zu bytes were written: %s; "
			    "%s, then resend",
			    c->path, done, n, strerror(number), todo);
}

static enum channel_result file_append(const struct channel *c, struct str bytes,
				       const struct trace *t, uint64_t size, struct err *err)
{
	struct buf all = { 0 };
	size_t done = 0;
	enum channel_result r = CHANNEL_OK;

	if (!t->head && !t->ends_line)
		buf_addc(&all, '\n');
	buf_add_str(&all, str_from(bytes, t->head));
	if (io_write_all(c->fd, buf_str(&all), &done) < 0)
		r = fail_write(c, t->head + done, t->head + all.n, size, err);
	buf_release(&all);
	return r;
}

static enum channel_result file_send(struct channel *c, struct str bytes, const struct attempt *at,
				     struct err *err)
{
	struct trace t;
	uint64_t size;
	enum channel_result r = CHANNEL_OK;

	if (!channel_is_line(bytes, err) || channel_lock(c, err) != CHANNEL_OK)
		return CHANNEL_UNCERTAIN;
	if (find_trace(c, bytes, at, &t, &size, err) != FOUND_WHOLE)
		return CHANNEL_UNCERTAIN;
	if (!t.whole)
		r = file_append(c, bytes, &t, size, err);
	return r == CHANNEL_OK ? channel_sync(c, err) : r;
}

static enum channel_found file_probe(struct channel *c, struct str bytes, const struct attempt *at,
				     struct err *err)
{
	enum channel_found found;
	struct trace t;
	uint64_t size;

	if (!channel_is_line(bytes, err) || channel_lock(c, err) != CHANNEL_OK)
		return FOUND_TROUBLE;
	found = find_trace(c, bytes, at, &t, &size, err);
	if (found != FOUND_WHOLE)
		return found;
	if (!t.whole)
		return t.head ? FOUND_TORN : FOUND_NOTHING;
	/* the writer may have crashed before its sync */
	if (sync_data(c->fd) == 0)
		return FOUND_WHOLE;
	err_set(err, "%.300s: the message is there, but not safe on the disk: %s; check the disk",
		c->path, strerror(errno));
	return FOUND_TROUBLE;
}

/* Keeps the last PRINT_BYTES. */
static void add_to_tail(struct buf *tail, struct str bytes)
{
	buf_add_str(tail, bytes.n > PRINT_BYTES ? str_from(bytes, bytes.n - PRINT_BYTES) : bytes);
	if (tail->n > PRINT_BYTES) {
		memmove(tail->p, tail->p + tail->n - PRINT_BYTES, PRINT_BYTES);
		tail->n = PRINT_BYTES;
	}
}

enum channel_result channel_prepare_all(struct channel *c, const struct str *bytes, uint32_t n,
					struct attempt *out, struct err *err)
{
	struct buf tail = { 0 };
	size_t before;

	for (uint32_t i = 0; i < n; i++)
		if (!channel_is_line(bytes[i], err))
			return CHANNEL_FAILED;
	if (channel_prepare(c, bytes[0], false, &out[0], err) != CHANNEL_OK)
		return CHANNEL_FAILED;
	buf_reserve(&tail, 2 * PRINT_BYTES + 1);
	if (read_before(c->fd, out[0].offset, tail.p, &before) < 0) {
		buf_release(&tail);
		return channel_fail(CHANNEL_FAILED, err, "%.300s: its end cannot be read: %s", c->path,
				    strerror(errno));
	}
	tail.n = before;
	if (out[0].lead)
		buf_addc(&tail, '\n');
	for (uint32_t i = 1; i < n; i++) {
		add_to_tail(&tail, bytes[i - 1]);
		out[i] = out[0];
		out[i].lead = false;
		out[i].offset = out[i - 1].offset + out[i - 1].lead + bytes[i - 1].n;
		out[i].print = print_of(buf_str(&tail));
	}
	buf_release(&tail);
	return CHANNEL_OK;
}

/* Where it ends in the file. */
static uint64_t end_of(struct str bytes, const struct attempt *at)
{
	return at->offset + at->lead + bytes.n;
}

/* Writes the rest of a message, of which a short write has left `part`. */
static enum channel_result append_rest(const struct channel *c, struct str rest, size_t part,
				       const struct attempt *at, struct err *err)
{
	size_t more;

	if (io_write_all(c->fd, rest, &more) == 0)
		return CHANNEL_OK;
	return fail_write(c, part + more, part + rest.n, at->offset, err);
}

/* The lines of as many as one write takes. */
static uint32_t join_lines(const struct str *bytes, const struct attempt *at, uint32_t n, struct buf *lines)
{
	uint32_t taken = 0;

	for (; taken < n && (!taken || lines->n + bytes[taken].n <= WRITE_BYTES); taken++) {
		if (at[taken].lead)
			buf_addc(lines, '\n');
		buf_add_str(lines, bytes[taken]);
	}
	return taken;
}

enum channel_result channel_append(struct channel *c, const struct str *bytes, const struct attempt *at,
				   uint32_t n, uint32_t *done, uint32_t *doubtful, struct err *err)
{
	struct buf lines = { 0 };
	struct stat st;
	enum channel_result r = CHANNEL_OK;
	uint64_t end;
	uint32_t taken;
	ssize_t put;

	*done = 0;
	*doubtful = 1;
	if (channel_fstat(c->fd, &st) < 0 || (uint64_t)st.st_size != at->offset)
		return channel_fail(CHANNEL_FAILED, err,
				    "%.300s: somebody else has written to it just now; resend",
				    c->path);
	taken = join_lines(bytes, at, n, &lines);
	IO_RETRY(put, io.write(c->fd, lines.p, lines.n));
	if (put <= 0) {
		errno = put < 0 ? errno : EIO;
		*doubtful = taken;
		r = fail_write(c, 0, lines.n, at->offset, err);
		put = 0;
	}
	end = at->offset + (uint64_t)put;
	while (*done < taken && end_of(bytes[*done], &at[*done]) <= end)
		++*done;
	if (put && *done < taken && at[*done].offset < end) { /* others are left for the next call */
		uint64_t rest = end_of(bytes[*done], &at[*done]) - end;

		r = append_rest(c, str_make(lines.p + put, (size_t)rest),
				(size_t)(end - at[*done].offset), &at[*done], err);
		*done += r == CHANNEL_OK;
	}
	buf_release(&lines);
	return r;
}

enum channel_result channel_sync(struct channel *c, struct err *err)
{
	if (sync_data(c->fd) == 0)
		return CHANNEL_OK;
	return channel_fail(CHANNEL_UNCERTAIN, err,
			    "%.300s: written, but not safe on the disk: %s; check the disk, then "
			    "resend",
			    c->path, strerror(errno));
}

const struct channel_ops channel_file = { file_open, file_prepare, file_send, file_probe };
