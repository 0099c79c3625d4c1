/* A library to be preloaded into a PostgreSQL server: keeps what a power cut would take back. Before
 * each write to a file at an offset (the write-ahead log, tables, the commit log) it copies the old
 * bytes to a log; after each sync of a file it notes that what was written before is safe. Once
 * all processes of the server are killed, `team_actors restore` undoes what was never synced.
 *
 * New names, lengths and small files that the server writes whole are taken as durable at once. */
#define _GNU_SOURCE
#include "power_cut.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

ssize_t pwrite(int fd, const void *from, size_t n, off_t offset);
ssize_t pwrite64(int fd, const void *from, size_t n, off_t offset);
ssize_t pwritev(int fd, const struct iovec *parts, int n, off_t offset);
ssize_t pwritev64(int fd, const struct iovec *parts, int n, off_t offset);
int fsync(int fd);
int fdatasync(int fd);

static int log_fd = -1;
/* What a sync takes on a disk that turns: the longer, the more is unsynced when the power goes. */
static const struct timespec disk = { 0, 2000000 };

/* The real function behind one that is replaced here. */
#define REAL(name) \
	static __typeof__(&name) real; \
	if (!real) \
	*(void **)&real = dlsym(RTLD_NEXT, #name)

/* A server whose writes are not noted would be no test. */
static int open_log(void)
{
	const char *path = getenv(POWER_CUT_LOG);

	if (log_fd < 0 && path)
		log_fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
	if (path && log_fd < 0)
		abort();
	return log_fd;
}

/* One writev to the end: records of several processes do not mix. */
static void note(struct power_cut_record *r, int fd, void *old)
{
	struct stat st;
	struct iovec parts[2] = { { r, sizeof(*r) }, { old, r->length } };

	if (fstat(fd, &st) < 0)
		abort();
	r->device = st.st_dev;
	r->inode = st.st_ino;
	if (writev(log_fd, parts, 2) != (ssize_t)(sizeof(*r) + r->length))
		abort();
}

static void note_write(int fd, size_t n, off_t offset)
{
	struct power_cut_record r = { .offset = (uint64_t)offset, .length = n };
	char *old;
	ssize_t got = 0;

	if (!n || open_log() < 0)
		return;
	old = calloc(1, n);
	if (!old)
		abort();
	for (size_t done = 0; done < n; done += (size_t)got) {
		got = pread(fd, old + done, n - done, offset + (off_t)done);
		if (got <= 0)
			break;
	}
	note(&r, fd, old);
	free(old);
}

ssize_t pwrite(int fd, const void *from, size_t n, off_t offset)
{
	REAL(pwrite);
	note_write(fd, n, offset);
	return real(fd, from, n, offset);
}

ssize_t pwrite64(int fd, const void *from, size_t n, off_t offset)
{
	return pwrite(fd, from, n, offset);
}

ssize_t pwritev(int fd, const struct iovec *parts, int n, off_t offset)
{
	size_t all = 0;
	REAL(pwritev);

	for (int i = 0; i < n; i++)
		all += parts[i].iov_len;
	note_write(fd, all, offset);
	return real(fd, parts, n, offset);
}

ssize_t pwritev64(int fd, const struct iovec *parts, int n, off_t offset)
{
	return pwritev(fd, parts, n, offset);
}

static int sync_and_note(int fd, int (*real)(int))
{
	struct power_cut_record r = { .is_sync = 1 };
	struct stat st;
	int rc;

	if (open_log() < 0)
		return real(fd);
	if (fstat(log_fd, &st) < 0)
		abort();
	r.offset = (uint64_t)st.st_size;
	nanosleep(&disk, NULL);
	rc = real(fd);
	if (rc == 0)
		note(&r, fd, NULL);
	return rc;
}

int fsync(int fd)
{
	REAL(fsync);
	return sync_and_note(fd, real);
}

int fdatasync(int fd)
{
	REAL(fdatasync);
	return sync_and_note(fd, real);
}
