/* Table of system calls for fault injection: journal and delivery reach the disk only through `io`,
 * so that a test can fail, shorten or kill the process at any one of them.
 *
 * Entries behave as the calls they are named after. io_reset puts the real ones back. */
#ifndef GAVEL_BASE_IO_H
#define GAVEL_BASE_IO_H

#include "base/buf.h"
#include "base/err.h"

#include <errno.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/types.h>

struct io {
	int (*open)(const char *path, int flags, mode_t mode);
	int (*openat)(int folder, const char *name, int flags, mode_t mode);
	int (*close)(int fd);
	ssize_t (*read)(int fd, void *to, size_t n);
	ssize_t (*pread)(int fd, void *to, size_t n, off_t offset);
	ssize_t (*write)(int fd, const void *from, size_t n);
	ssize_t (*pwrite)(int fd, const void *from, size_t n, off_t offset);
	int (*fstat)(int fd, struct stat *st);
	int (*lstat)(const char *path, struct stat *st);
	int (*fsync)(int fd);
	int (*fdatasync)(int fd);
	int (*ftruncate)(int fd, off_t length);
	int (*mkdir)(const char *path, mode_t mode);
	int (*linkat)(int from_folder, const char *from, int to_folder, const char *to, int flags);
	int (*rename)(const char *from, const char *to);
	int (*unlink)(const char *path);
	int (*unlinkat)(int folder, const char *name, int flags);
	int (*lock)(int fd);             /* write lock on the whole file: fcntl F_SETLK */
	/* The same, owned by the open file description: closing another descriptor of the file,
	 * which this process may read as well, does not release it. Nobody tells who holds it. */
	int (*lock_open)(int fd);        /* fcntl F_OFD_SETLK */
	int (*unread)(int fd, int *n);   /* bytes in a pipe: FIONREAD */
	int (*poll)(struct pollfd *fds, nfds_t n, int timeout_ms);
	ssize_t (*send)(int fd, const void *from, size_t n); /* without SIGPIPE */
};

extern struct io io;
void io_reset(void);

/* rc = call, retried on EINTR. Not for close, which has closed the descriptor anyway. */
#define IO_RETRY(rc, call) \
	do \
		(rc) = (call); \
	while ((rc) < 0 && errno == EINTR)

/* Closes it unless it is -1, which it then is. */
void fd_close(int *fd);
/* Writes all of it, retrying EINTR and short writes. -1 and errno; *done (may be NULL) is the
 * number of bytes written. */
int io_write_all(int fd, struct str bytes, size_t *done);
/* Reads to end of file, appending to out. -1 and errno, EFBIG for more than max bytes. */
int io_read_rest(int fd, size_t max, struct buf *out);
/* The whole file, at most max bytes, added to out; of one that cannot be read, nothing. */
int io_read_file(const char *path, size_t max, struct buf *out, struct err *err);
const char *io_temp_folder(void); /* $TMPDIR or /tmp */
/* gavel's folder below an XDG base directory ("XDG_CACHE_HOME"; ignored if relative), or below
 * `usual` (".cache") in $HOME. false: neither variable is set. */
bool io_user_folder(const char *base, const char *usual, struct buf *out);
/* Appends the real path of a regular file below the current folder; -1 and the reason if there is
 * none, or if the path leads out of that folder, by ".." or by a link. */
int io_find_below(const char *path, struct buf *out, struct err *err);
/* fsync of the folder that holds path: makes a new name durable. */
int io_sync_folder(const char *path);
/* -1 and the reason unless the file or folder belongs to this user (root_may: or to root) and others
 * cannot write to it. */
int io_check_owner(const char *path, const struct stat *st, bool root_may, struct err *err);
/* -1 and the reason unless path is a folder, no symlink, and passes io_check_owner. */
int io_check_folder(const char *path, struct err *err);
/* mkdir -p with mode 0700; the last one must pass io_check_folder. durable: fsyncs new names. */
int io_make_folders(const char *path, bool durable, struct err *err);

#endif
