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
	return err_set(err, "%.300s: cannot keep what an agent writes there: %s; %s", path,
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

int capture_open(struct child *c, int stream, struct err *err)
{
	struct drain_capture *d = &private_of(c)->captures[stream];
	struct source *s = stream == DRAIN_OUT ? &c->out.source : &c->err.source;
	struct stat st = { 0 };
	char last = '\n';

	d->fd = c->pool->folder ? open_named(c->pool->folder, c->name,
					     stream == DRAIN_OUT ? "ndjson" : "stderr", err)
				: open_nameless(err);
	if (d->fd < 0)
		return -1;
	if (fstat(d->fd, &st) == 0 && st.st_size > 0)
		(void)!pread(d->fd, &last, 1, st.st_size - 1);
	d->mid_line = last != '\n';
	atomic_store(&d->written, (uint64_t)st.st_size);
	*s = (struct source){ .name = c->name,
			      .kind = SOURCE_STREAM,
			      .fd = d->fd,
			      .dev = st.st_dev,
			      .ino = st.st_ino,
			      .start = c->whole && stream == DRAIN_OUT ? 0 : (uint64_t)st.st_size,
			      .end = (uint64_t)st.st_size };
	return 0;
}

void capture_discard(struct child *c, int stream)
{
	const struct drain_capture *d = &private_of(c)->captures[stream];
	struct buf path = { 0 };
	struct stat st;

	if (d->fd < 0 || !c->pool->folder || fstat(d->fd, &st) < 0 || st.st_size)
		return;
	buf_printf(&path, "%s/%s.%s", c->pool->folder, c->name,
		   stream == DRAIN_OUT ? "ndjson" : "stderr");
	unlink(path.p);
	buf_release(&path);
}

bool capture_update(struct child_capture *to, struct drain_capture *from)
{
	uint64_t end = atomic_load(&from->written), lost = atomic_load(&from->lost);
	bool more = end != to->source.end || lost != to->lost;

	to->source.end = end;
	to->lost = lost;
	to->trouble = atomic_load(&from->trouble);
	return more;
}

static bool put(struct drain_capture *c, const char *p, size_t n)
{
	uint64_t at = atomic_load(&c->written);

	while (n) {
		ssize_t done = pwrite(c->fd, p, n, (off_t)at);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0) {
			atomic_store(&c->trouble, done ? errno : EIO);
			break;
		}
		c->mid_line = p[done - 1] != '\n';
		p += done;
		n -= (size_t)done;
		at += (uint64_t)done;
		atomic_store(&c->written, at);
	}
	atomic_fetch_add(&c->lost, n);
	return n == 0;
}

void capture_write(struct drain_capture *c, const char *p, size_t n)
{
	const char *end = p + n;
	bool ends_line = n && end[-1] == '\n';

	if (c->skip_line) {
		const char *newline = memchr(p, '\n', n);
		const char *line = newline ? newline + 1 : end;

		atomic_fetch_add(&c->lost, (uint64_t)(line - p));
		c->skip_line = !newline;
		p = line;
	}
	if (p == end)
		return;
	/* a line that was cut off must not run into this one */
	if (c->cut && c->mid_line && !put(c, "\n", 1)) {
		atomic_fetch_add(&c->lost, (uint64_t)(end - p) - 1); /* put counted the newline */
		c->skip_line = !ends_line;
		return;
	}
	c->cut = !put(c, p, (size_t)(end - p));
	c->skip_line = c->cut && !ends_line;
}
