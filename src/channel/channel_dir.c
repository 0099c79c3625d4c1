/* A directory with one file per message; the channel's path is that file's. It is created
 * atomically: written under a temporary name, synced, linked. The temporary name begins with a
 * dot, so readers skip it, and derives from the final one, so the next attempt removes what a
 * crash left.
 *
 * The folder is opened once, and all names are relative to that descriptor: whoever exchanges it for
 * a symbolic link meanwhile cannot send the message elsewhere. */
#include "channel/channel_ops.h"

#include "base/buf.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

/* What exists under the final name: nothing, this message, something else, an unreadable file. */
enum existing { EXISTING_NONE, EXISTING_SAME, EXISTING_OTHER, EXISTING_UNREADABLE };

static void folder_of(const char *path, struct buf *out)
{
	const char *slash = strrchr(path, '/');

	/* behind a slash at its end, a link would be followed */
	while (slash && slash > path && slash[-1] == '/')
		slash--;
	if (!slash)
		buf_addc(out, '.');
	else
		buf_add(out, path, slash == path ? 1 : (size_t)(slash - path));
}

static const char *name_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static void temporary_of(const char *path, struct buf *out)
{
	buf_printf(out, ".%s.gavel-new", name_of(path));
}

static enum channel_result dir_fail(const struct channel *c, const char *what, struct err *err)
{
	const int number = errno;

	return channel_fail(CHANNEL_FAILED, err, "%.300s: %s: %s; %s, then resend", c->path, what,
			    strerror(number),
			    number == ENOSPC || number == EDQUOT ? "make room" : "check the disk");
}

static enum channel_result fail_replaced(const struct channel *c, enum channel_result r,
					 const char *what, struct err *err)
{
	return channel_fail(r, err, "%.300s: its folder was moved or replaced just now; %s", c->path,
			    what);
}

/* Whether the path still names the folder that was opened, and no link to it. */
static bool is_in_place(const struct channel *c)
{
	struct buf folder = { 0 };
	struct stat opened, named;
	int rc;

	folder_of(c->path, &folder);
	IO_RETRY(rc, io.lstat(folder.p, &named));
	buf_release(&folder);
	return rc == 0 && channel_fstat(c->fd, &opened) == 0 && opened.st_dev == named.st_dev &&
	       opened.st_ino == named.st_ino;
}

static enum channel_result open_folder(struct channel *c, const char *folder, struct err *err)
{
	struct stat st;

	if (!channel_lstat(folder, S_IFDIR, &st, err))
		return CHANNEL_FAILED;
	c->fd = channel_open_path(folder, O_RDONLY | O_DIRECTORY, 0);
	if (c->fd < 0 && (errno == ENOTDIR || errno == ELOOP || errno == ENOENT))
		return fail_replaced(c, CHANNEL_FAILED, "look at it, then resend", err);
	if (c->fd < 0 || channel_fstat(c->fd, &st) < 0)
		return dir_fail(c, "its folder cannot be opened", err);
	return channel_is_safe(folder, &st, S_IFDIR, err) ? CHANNEL_OK : CHANNEL_FAILED;
}

static enum channel_result dir_open(struct channel *c, struct err *err)
{
	struct buf folder = { 0 };
	enum channel_result r;

	folder_of(c->path, &folder);
	r = open_folder(c, folder.p, err);
	buf_release(&folder);
	return r;
}

/* Opens a file of the folder; follows no link. */
static int open_name(const struct channel *c, const char *name, int flags)
{
	int fd;

	IO_RETRY(fd, io.openat(c->fd, name, flags | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC, 0600));
	return fd;
}

static enum existing compare(int fd, struct str bytes)
{
	char block[8192];
	size_t at = 0;

	for (;;) {
		ssize_t got;

		IO_RETRY(got, io.read(fd, block, sizeof(block)));
		if (got < 0)
			return EXISTING_UNREADABLE;
		if (got == 0)
			return at == bytes.n ? EXISTING_SAME : EXISTING_OTHER;
		if ((size_t)got > bytes.n - at || memcmp(block, bytes.p + at, (size_t)got) != 0)
			return EXISTING_OTHER;
		at += (size_t)got;
	}
}

static enum existing find_existing(const struct channel *c, struct str bytes)
{
	int fd = open_name(c, name_of(c->path), O_RDONLY | O_NONBLOCK);
	enum existing t = EXISTING_OTHER;
	struct stat st;
	int saved;

	if (fd < 0)
		return errno == ENOENT  ? EXISTING_NONE
		       : errno == ELOOP ? EXISTING_OTHER
					: EXISTING_UNREADABLE;
	if (channel_fstat(fd, &st) < 0)
		t = EXISTING_UNREADABLE;
	else if (S_ISREG(st.st_mode))
		t = compare(fd, bytes);
	saved = errno;
	io.close(fd);
	errno = saved;
	return t;
}

static enum channel_result existing_fail(const struct channel *c, enum existing t, struct err *err)
{
	if (t == EXISTING_UNREADABLE)
		return dir_fail(c, "cannot be read", err);
	return channel_fail(CHANNEL_FAILED, err,
			    "%.300s: exists with other content; look at it, move it away, then "
			    "resend",
			    c->path);
}

static enum channel_result dir_prepare(struct channel *c, struct str bytes, bool after_torn,
				       struct attempt *out, struct err *err)
{
	struct stat st;
	enum existing t;

	(void)after_torn;
	if (channel_fstat(c->fd, &st) < 0)
		return dir_fail(c, "its folder cannot be seen", err);
	t = find_existing(c, bytes);
	if (t == EXISTING_OTHER || t == EXISTING_UNREADABLE)
		return existing_fail(c, t, err);
	*out = (struct attempt){ .dev = (uint64_t)st.st_dev, .ino = (uint64_t)st.st_ino };
	return CHANNEL_OK;
}

static int sync_fd(int fd)
{
	int rc;

	IO_RETRY(rc, io.fsync(fd));
	return rc;
}

static int remove_file(const struct channel *c, const char *name)
{
	int rc;

	IO_RETRY(rc, io.unlinkat(c->fd, name, 0));
	return rc < 0 && errno != ENOENT ? -1 : 0;
}

/* Writes and syncs the message under its temporary name; -1 and errno. */
static int write_temporary(const struct channel *c, const char *name, struct str bytes)
{
	int fd, saved = 0;
	size_t done;

	if (remove_file(c, name) < 0)
		return -1;
	fd = open_name(c, name, O_WRONLY | O_CREAT | O_EXCL);
	if (fd < 0)
		return -1;
	if (io_write_all(fd, bytes, &done) < 0 || sync_fd(fd) < 0)
		saved = errno;
	if (io.close(fd) < 0 && errno != EINTR && !saved)
		saved = errno;
	errno = saved;
	return saved ? -1 : 0;
}

/* Creates the file unless it exists. OK: the folder is still to be synced. */
static enum channel_result create(const struct channel *c, const char *temporary, struct str bytes,
				  struct err *err)
{
	enum existing t = find_existing(c, bytes);
	int rc, saved;

	if (t == EXISTING_NONE) {
		if (write_temporary(c, temporary, bytes) < 0)
			return dir_fail(c, "nothing was written", err);
		if (!is_in_place(c))
			return fail_replaced(c, CHANNEL_FAILED, "look at it, then resend", err);
		IO_RETRY(rc, io.linkat(c->fd, temporary, c->fd, name_of(c->path), 0));
		if (rc == 0)
			return CHANNEL_OK;
		/* a failed call may have had its effect (NFS), or another process was faster */
		saved = errno;
		t = find_existing(c, bytes);
		errno = saved;
		if (t == EXISTING_NONE)
			return dir_fail(c, "cannot be linked into the folder", err);
		if (t == EXISTING_UNREADABLE) {
			dir_fail(c, "perhaps it was written", err);
			return CHANNEL_UNCERTAIN;
		}
	}
	return t == EXISTING_SAME ? CHANNEL_OK : existing_fail(c, t, err);
}

static enum channel_result dir_send(struct channel *c, struct str bytes, const struct attempt *at,
				    struct err *err)
{
	struct buf temporary = { 0 };
	enum channel_result r;

	(void)at;
	temporary_of(c->path, &temporary);
	r = create(c, temporary.p, bytes, err);
	/* if this fails, the next attempt removes it */
	remove_file(c, temporary.p);
	buf_release(&temporary);
	if (r == CHANNEL_OK && sync_fd(c->fd) < 0) {
		dir_fail(c, "is there, but its folder is not safe on the disk", err);
		r = CHANNEL_UNCERTAIN;
	}
	if (r == CHANNEL_OK && !is_in_place(c))
		r = fail_replaced(c, CHANNEL_UNCERTAIN, "look whether the message arrived", err);
	return r;
}

static enum channel_found dir_probe(struct channel *c, struct str bytes, const struct attempt *at,
				    struct err *err)
{
	struct buf temporary = { 0 };
	struct stat st;
	enum existing t;

	temporary_of(c->path, &temporary);
	remove_file(c, temporary.p);
	buf_release(&temporary);
	t = find_existing(c, bytes);
	switch (t) {
	case EXISTING_SAME:
		if (sync_fd(c->fd) == 0)
			return FOUND_WHOLE;
		dir_fail(c, "is there, but its folder is not safe on the disk", err);
		return FOUND_TROUBLE;
	case EXISTING_UNREADABLE: existing_fail(c, t, err); return FOUND_TROUBLE;
	case EXISTING_OTHER: existing_fail(c, t, err); return FOUND_NOTHING;
	case EXISTING_NONE: break;
	}
	if (channel_fstat(c->fd, &st) < 0) {
		dir_fail(c, "its folder cannot be seen", err);
		return FOUND_TROUBLE;
	}
	if ((uint64_t)st.st_dev == at->dev && (uint64_t)st.st_ino == at->ino)
		return FOUND_NOTHING;
	err_set(err, "%.300s: its folder is another one now; look whether the message arrived",
		c->path);
	return FOUND_UNKNOWN;
}

const struct channel_ops channel_dir = { dir_open, dir_prepare, dir_send, dir_probe };
