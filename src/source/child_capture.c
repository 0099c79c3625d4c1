/* Capture files of agents' output: opening them, appending (on the drain thread) and copying the
 * atomic counters to struct child_capture (on the main thread). */
#include "source/child_internal.h"

#include "base/io.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static int fail_capture(const char *path, int number, struct err *err)
{
	return err_set(err, "%.300s: cannot keep an agent's output there: %s; %s", path,
		       strerror(number),
		       number == EWOULDBLOCK ? "another gavel does; name another folder"
					     : "name a folder with room");
}

static int open_nameless(struct err *err)
{
	struct buf path = { 0 };
	int fd;

	buf_printf(&path, "%s/gavel-XXXXXX", io_temp_folder());
	fd = mkostemp(path.p, O_CLOEXEC); /* 0600 */
	if (fd < 0)
		fail_capture(path.p, errno, err);
	else
		unlink(path.p);
	buf_release(&path);
	return fd;
}

static int open_named(const char *folder, const char *name, const char *ending, struct err *err)
{
	struct buf path = { 0 };
	struct stat st;
	int fd, number = 0;

	buf_printf(&path, "%s/%s.%s", folder, name, ending);
	fd = open(path.p, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0600);
	if (fd < 0 || fstat(fd, &st) < 0)
		number = errno;
	else if (!S_ISREG(st.st_mode) || st.st_uid != geteuid() || st.st_nlink != 1)
		number = EPERM;
	else if (flock(fd, LOCK_EX | LOCK_NB) < 0)
		number = errno;
	if (number) {
		fail_capture(path.p, number, err);
		fd_close(&fd);
	}
	buf_release(&path);
	return fd;
}

/* Writes the head of a new capture. */
static int write_head(struct drain_capture *d, const char *head)
{
	struct buf line = { 0 };
	int rc;

	buf_printf(&line, "\t%s\n", head);
	rc = capture_append(d, buf_str(&line));
	d->head_bytes = line.n;
	buf_release(&line);
	return rc;
}

int capture_open(struct child *c, int stream, const char *head, struct err *err)
{
	struct drain_capture *d = &private_of(c)->captures[stream];
	struct source *s = stream == DRAIN_OUT ? &c->out.source : &c->err.source;
	struct stat st = { 0 };
	char last = '\n', first = '\0';

	d->fd = c->pool->folder ? open_named(c->pool->folder, c->name,
					     stream == DRAIN_OUT ? "ndjson" : "stderr", err)
				: open_nameless(err);
	if (d->fd < 0)
		return -1;
	if (fstat(d->fd, &st) == 0 && st.st_size > 0)
		(void)!pread(d->fd, &last, 1, st.st_size - 1);
	d->mid_line = last != '\n';
	atomic_store(&d->written, (uint64_t)st.st_size);
	if (!st.st_size && head && write_head(d, head) < 0)
		return fail_capture(c->name, errno, err);
	/* what is printed on stderr must not look like a capture, either */
	d->headed = stream == DRAIN_ERR ||
		    (head && pread(d->fd, &first, 1, 0) == 1 && first == '\t');
	*s = (struct source){ .name = c->name,
			      .kind = SOURCE_STREAM,
			      .fd = d->fd,
			      .dev = st.st_dev,
			      .ino = st.st_ino,
			      .start = c->whole && stream == DRAIN_OUT ? 0 : (uint64_t)st.st_size,
			      .end = atomic_load(&d->written) };
	return 0;
}

void capture_discard(struct child *c, int stream)
{
	const struct drain_capture *d = &private_of(c)->captures[stream];
	struct buf path = { 0 };
	struct stat st;

	if (d->fd < 0 || !c->pool->folder || fstat(d->fd, &st) < 0 ||
	    (uint64_t)st.st_size > d->head_bytes)
		return;
	buf_printf(&path, "%s/%s.%s", c->pool->folder, c->name,
		   stream == DRAIN_OUT ? "ndjson" : "stderr");
	unlink(path.p);
	buf_release(&path);
}

bool capture_update(struct child_capture *to, struct drain_capture *from)
{
	uint64_t end = atomic_load(&from->written), waiting = atomic_load(&from->waiting);
	bool more = end != to->source.end || waiting != to->waiting;

	to->source.end = end;
	to->waiting = waiting;
	to->trouble = atomic_load(&from->trouble);
	return more;
}

/* As much as can be written; returns the rest. */
static struct str put(struct drain_capture *c, struct str bytes)
{
	uint64_t at = atomic_load(&c->written);

	while (bytes.n) {
		ssize_t done;

		IO_RETRY(done, io.pwrite(c->fd, bytes.p, bytes.n, (off_t)at));
		if (done <= 0) {
			atomic_store(&c->trouble, done ? errno : EIO);
			return bytes;
		}
		c->mid_line = bytes.p[done - 1] != '\n';
		bytes = str_from(bytes, (size_t)done);
		at += (uint64_t)done;
		atomic_store(&c->written, at);
	}
	atomic_store(&c->trouble, 0);
	return bytes;
}

/* False: something is waiting. */
static bool note_rest(struct drain_capture *c, int64_t now_ms)
{
	atomic_store(&c->waiting, c->rest.n);
	c->retry_ms = now_ms + CHILD_RETRY_MS;
	return !c->rest.n;
}

bool capture_flush(struct drain_capture *c, int64_t now_ms)
{
	struct str rest = buf_str(&c->rest);

	if (!rest.n || now_ms < c->retry_ms)
		return !rest.n;
	rest = put(c, rest);
	if (rest.n)
		memmove(c->rest.p, rest.p, rest.n);
	else
		buf_release(&c->rest);
	c->rest.n = rest.n;
	return note_rest(c, now_ms);
}

bool capture_write(struct drain_capture *c, struct str bytes, int64_t now_ms)
{
	/* a line that was cut off must not run into this one */
	if (c->fresh && c->mid_line && put(c, STR("\n")).n)
		buf_addc(&c->rest, '\n');
	c->fresh = false;
	if (!c->rest.n)
		bytes = put(c, bytes);
	if (bytes.n)
		buf_add_str(&c->rest, bytes);
	return note_rest(c, now_ms);
}

/* Puts a space before each tab at the beginning of a line. */
static struct str escape_tabs(struct drain_capture *c, struct str bytes)
{
	bool begins = !c->mid_line || c->fresh;

	buf_clear(&c->escaped);
	for (size_t i = 0; i < bytes.n;) {
		const char *newline = memchr(bytes.p + i, '\n', bytes.n - i);
		size_t end = newline ? (size_t)(newline - bytes.p) + 1 : bytes.n;

		if (begins && bytes.p[i] == '\t')
			buf_addc(&c->escaped, ' ');
		buf_add(&c->escaped, bytes.p + i, end - i);
		begins = true;
		i = end;
	}
	return buf_str(&c->escaped);
}

bool capture_take(struct drain_capture *c, struct str bytes, int64_t now_ms)
{
	if (c->headed && bytes.n && memchr(bytes.p, '\t', bytes.n))
		bytes = escape_tabs(c, bytes);
	return capture_write(c, bytes, now_ms);
}

void capture_cut(struct drain_capture *c, uint64_t written, bool mid_line)
{
	(void)!ftruncate(c->fd, (off_t)written); /* if that fails, it is written over */
	atomic_store(&c->written, written);
	c->mid_line = mid_line;
}

int capture_append(struct drain_capture *c, struct str lines)
{
	uint64_t before = atomic_load(&c->written);
	bool mid_line = c->mid_line;

	c->fresh = true;
	if (capture_write(c, lines, 0))
		return 0;
	capture_cut(c, before, mid_line);
	buf_release(&c->rest);
	atomic_store(&c->waiting, 0);
	errno = atomic_exchange(&c->trouble, 0);
	return -1;
}
