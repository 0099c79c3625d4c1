/* The default table of system calls, and helpers built on it: read and write all, fsync of a
 * directory, mkdir -p. */
#include "base/io.h"

#include "base/buf.h"
#include "base/mem.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

static int real_open(const char *path, int flags, mode_t mode)
{
	return open(path, flags, mode);
}

static int real_openat(int folder, const char *name, int flags, mode_t mode)
{
	return openat(folder, name, flags, mode);
}

static int real_lock(int fd)
{
	struct flock whole = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

	return fcntl(fd, F_SETLK, &whole);
}

static int real_lock_open(int fd)
{
	struct flock whole = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

	return fcntl(fd, F_OFD_SETLK, &whole);
}

static int real_unread(int fd, int *n)
{
	return ioctl(fd, FIONREAD, n);
}

static ssize_t real_send(int fd, const void *from, size_t n)
{
	return send(fd, from, n, MSG_NOSIGNAL);
}

#define REAL \
	{ \
		.open = real_open, .openat = real_openat, .close = close, .read = read, \
		.pread = pread, .write = write, .pwrite = pwrite, .fstat = fstat, .lstat = lstat, \
		.fsync = fsync, \
		.fdatasync = fdatasync, .ftruncate = ftruncate, .mkdir = mkdir, .linkat = linkat, \
		.rename = rename, .unlink = unlink, .unlinkat = unlinkat, .lock = real_lock, \
		.lock_open = real_lock_open, .unread = real_unread, .poll = poll, .send = real_send, \
	}

struct io io = REAL;

void io_reset(void)
{
	io = (struct io)REAL;
}

void fd_close(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

int io_write_all(int fd, struct str bytes, size_t *done)
{
	size_t at = 0;
	int rc = 0;

	while (at < bytes.n) {
		ssize_t n;

		IO_RETRY(n, io.write(fd, bytes.p + at, bytes.n - at));
		if (n == 0)
			errno = EIO; /* write returned 0: retrying could loop for ever */
		if (n <= 0) {
			rc = -1;
			break;
		}
		at += (size_t)n;
	}
	if (done)
		*done = at;
	return rc;
}

int io_read_rest(int fd, size_t max, struct buf *out)
{
	struct stat st;
	ssize_t n;
	size_t start = out->n, room = 64 * 1024;
	int rc;

	IO_RETRY(rc, io.fstat(fd, &st));
	if (rc < 0)
		return -1;
	/* one more than its size, so that end of file is seen without growing the buffer */
	if (S_ISREG(st.st_mode) && st.st_size > 0)
		room = (uint64_t)st.st_size < max ? (size_t)st.st_size + 1 : max + 1;
	for (;;) {
		if (out->n - start > max) {
			errno = EFBIG;
			return -1;
		}
		buf_reserve(out, room);
		IO_RETRY(n, io.read(fd, out->p + out->n, room));
		if (n < 0)
			return -1;
		if (n == 0)
			break;
		out->n += (size_t)n;
		room = 64 * 1024;
	}
	out->p[out->n] = '\0';
	return 0;
}

int io_read_file(const char *path, size_t max, struct buf *out, struct err *err)
{
	struct stat st;
	size_t start = out->n;
	int fd, rc;

	/* O_NONBLOCK: opening a FIFO must not block */
	IO_RETRY(fd, io.open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0));
	if (fd < 0)
		return err_set(err, "%.300s: %s; check the name and who may read it", path,
			       strerror(errno));
	IO_RETRY(rc, io.fstat(fd, &st));
	if (rc == 0 && !S_ISREG(st.st_mode)) {
		io.close(fd);
		return err_set(err, "%.300s: is %s, not a file; name a file", path,
			       S_ISDIR(st.st_mode) ? "a folder" : "a device, pipe or socket");
	}
	if (rc == 0)
		rc = io_read_rest(fd, max, out);
	if (rc < 0) {
		int number = errno;

		out->n = start;
		io.close(fd);
		if (number == EFBIG)
			return err_set(err, "%.300s: is longer than %zu bytes; name a shorter file",
				       path, max);
		return err_set(err, "%.300s: cannot be read: %s; check the disk", path,
			       strerror(number));
	}
	io.close(fd);
	return 0;
}

const char *io_temp_folder(void)
{
	const char *folder = getenv("TMPDIR");

	return folder && *folder ? folder : "/tmp";
}

bool io_user_folder(const char *base, const char *usual, struct buf *out)
{
	const char *folder = getenv(base), *home = getenv("HOME");

	if (folder && folder[0] == '/') {
		buf_printf(out, "%s/gavel", folder);
		return true;
	}
	buf_printf(out, "%s/%s/gavel", home ? home : "", usual);
	return home && *home;
}

int io_find_below(const char *path, struct buf *out, struct err *err)
{
	char *here = realpath(".", NULL), *real = realpath(path, NULL);
	size_t n = here && strcmp(here, "/") != 0 ? strlen(here) : 0;
	struct stat st;
	int rc = 0;

	if (!here || !real || stat(real, &st) < 0)
		rc = err_set(err, "%.300s: %s; nothing to open", path, strerror(errno));
	else if (strncmp(real, here, n) != 0 || real[n] != '/')
		rc = err_set(err, "%.300s leads out of the current folder; it is not opened", path);
	else if (!S_ISREG(st.st_mode))
		rc = err_set(err, "%.300s is not a file; it is not opened", path);
	else
		buf_adds(out, real);
	free(here);
	free(real);
	return rc;
}

int io_sync_folder(const char *path)
{
	const char *slash = strrchr(path, '/');
	char *folder = xstrdup(slash ? path : ".");
	int fd, rc, number;

	if (slash)
		folder[slash == path ? 1 : slash - path] = '\0';
	IO_RETRY(fd, io.open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0));
	number = errno;
	free(folder);
	errno = number;
	if (fd < 0)
		return -1;
	IO_RETRY(rc, io.fsync(fd));
	number = errno;
	io.close(fd);
	/* EINVAL: the file system does not support fsync of directories */
	if (rc < 0 && number == EINVAL)
		return 0;
	errno = number;
	return rc;
}

static int make_folder(const char *path, bool durable, struct err *err)
{
	struct stat st;
	int rc;

	IO_RETRY(rc, io.lstat(path, &st));
	if (rc == 0)
		return 0;
	if (errno == ENOENT) {
		IO_RETRY(rc, io.mkdir(path, 0700));
		if (rc < 0 && errno == EEXIST)
			return 0;
		if (rc == 0 && durable)
			rc = io_sync_folder(path);
	}
	if (rc < 0)
		return err_set(err, "%.300s: cannot be created: %s; check the place or name "
				    "another",
			       path, strerror(errno));
	return 0;
}

int io_check_owner(const char *path, const struct stat *st, bool root_may, struct err *err)
{
	if (st->st_uid != geteuid() && !(root_may && st->st_uid == 0))
		return err_set(err, "%.300s: belongs to another user; name one of your own", path);
	if (st->st_mode & (S_IWGRP | S_IWOTH))
		return err_set(err, "%.200s: others can write to it; chmod go-w %.200s, or name "
				    "another", path, path);
	return 0;
}

int io_check_folder(const char *path, struct err *err)
{
	const char *why = NULL;
	struct stat st;
	int rc;

	IO_RETRY(rc, io.lstat(path, &st));
	if (rc < 0)
		return err_set(err, "%.300s: %s; check the place or name another", path,
			       strerror(errno));
	if (S_ISLNK(st.st_mode))
		why = "is a symbolic link; name the folder itself";
	else if (!S_ISDIR(st.st_mode))
		why = "is not a folder; move it away or name another place";
	if (why)
		return err_set(err, "%.300s: %s", path, why);
	return io_check_owner(path, &st, false, err);
}

int io_make_folders(const char *path, bool durable, struct err *err)
{
	char *part = xstrdup(path);
	size_t n = strlen(part);
	int rc = 0;

	while (n > 1 && part[n - 1] == '/')
		part[--n] = '\0';
	for (size_t i = 1; i <= n && rc == 0; i++) {
		if (part[i] != '/' && part[i] != '\0')
			continue;
		part[i] = '\0';
		rc = make_folder(part, durable, err);
		if (i < n)
			part[i] = '/';
	}
	if (rc == 0)
		rc = io_check_folder(part, err);
	free(part);
	return rc;
}
