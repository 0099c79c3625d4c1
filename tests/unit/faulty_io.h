/* The table of system calls with one fault in it: at the n-th call an error, a short write, or the
 * end of the process. It also watches: which bytes of journal and channel the disk has confirmed,
 * whether a byte left before its record was safe, and what a FIFO's reader got.
 *
 * What is watched lies in memory that a forked child shares, so it outlives the child. Syncs only
 * count: nothing here depends on a real disk, and losing power is played by cutting files back to
 * what was confirmed. */
#ifndef GAVEL_TESTS_FAULTY_IO_H
#define GAVEL_TESTS_FAULTY_IO_H

#include "base/io.h"
#include "decide/desk.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

enum strike {
	STRIKE_NONE,
	STRIKE_EIO,
	STRIKE_ENOSPC,
	STRIKE_EDQUOT,
	STRIKE_EINTR,
	STRIKE_LATE,      /* EIO, but the call had its effect */
	STRIKE_SHORT,     /* writes half */
	STRIKE_KILL,      /* the process ends before the call */
	STRIKE_HALF_KILL, /* writes half, then ends */
	STRIKE_KINDS,
};

/* What a call does; the others change nothing outside the process. */
enum call { CALL_OTHER, CALL_READS, CALL_MAKES, CALL_REMOVES, CALL_SYNC, CALL_WRITE, CALL_SENDS };

enum { CALLS_MAX = 4096, SEGMENTS_MAX = 8, CONNECTIONS_MAX = 64, GOT_MAX = 1 << 20, FDS_MAX = 256 };

struct watch {
	unsigned fault_at; /* from 1; 0 = none */
	enum strike fault;
	unsigned calls;
	unsigned char kinds[CALLS_MAX];
	/* what the disk has */
	uint64_t journal[SEGMENTS_MAX]; /* bytes, by number of the segment */
	uint64_t outbox;                /* of a file */
	unsigned linked;                /* files of a folder that were linked and not yet synced */
	unsigned early;                 /* bytes that left before INTENT and ATTEMPT were safe */
	/* the FIFO's reader */
	size_t got_n, connections[CONNECTIONS_MAX];
	unsigned connections_n;
	char got[GOT_MAX];
};

/* Of this process. */
static struct watch *watched;
static const char *outbox_path; /* file or FIFO; of a directory, its final names begin with it */
static enum channel_type outbox_type;
static const struct desk *watched_desk;
static int fifo_reader = -1;
static struct io real_io;
static bool strikes_late;
static struct {
	unsigned segment; /* of the journal, 0 = none */
	bool outbox, folder;
} watched_fds[FDS_MAX];

/* ---- the fault ---- */

static bool strikes(enum call kind)
{
	static const int numbers[STRIKE_KINDS] = { [STRIKE_EIO] = EIO,
						   [STRIKE_ENOSPC] = ENOSPC,
						   [STRIKE_EDQUOT] = EDQUOT,
						   [STRIKE_EINTR] = EINTR };

	if (watched->calls < CALLS_MAX)
		watched->kinds[watched->calls] = (unsigned char)kind;
	if (++watched->calls != watched->fault_at)
		return false;
	if (watched->fault == STRIKE_KILL)
		_exit(9);
	strikes_late = watched->fault == STRIKE_LATE;
	errno = numbers[watched->fault];
	return errno != 0;
}

static int struck(int rc)
{
	if (strikes_late && rc >= 0) {
		errno = EIO;
		rc = -1;
	}
	strikes_late = false;
	return rc;
}

/* ---- what is watched ---- */

static inline void drain_fifo(void)
{
	ssize_t n;

	while (fifo_reader >= 0 && watched->got_n < GOT_MAX &&
	       (n = read(fifo_reader, watched->got + watched->got_n, GOT_MAX - watched->got_n)) > 0)
		watched->got_n += (size_t)n;
}

static bool begins(const char *path, const char *with)
{
	return strncmp(path, with, strlen(with)) == 0;
}

static void watch_fd(int fd, const char *path, int flags)
{
	const char *name = strrchr(path, '/');
	unsigned segment = 0;
	int end = 0;

	if (fd < 0 || fd >= FDS_MAX)
		return;
	memset(&watched_fds[fd], 0, sizeof(watched_fds[fd]));
	if (name && sscanf(name, "/journal-%6u%n", &segment, &end) == 1 && !name[end] &&
	    segment < SEGMENTS_MAX)
		watched_fds[fd].segment = segment;
	if (outbox_type == CHANNEL_DIR) {
		size_t n = strrchr(outbox_path, '/') - outbox_path;

		watched_fds[fd].folder = strlen(path) == n && begins(outbox_path, path);
	} else if (strcmp(path, outbox_path) == 0) {
		watched_fds[fd].outbox = true;
		if (outbox_type == CHANNEL_FIFO && (flags & O_ACCMODE) == O_WRONLY) {
			drain_fifo();
			if (watched->connections_n < CONNECTIONS_MAX)
				watched->connections[watched->connections_n++] = watched->got_n;
		}
	}
}

static void watch_sync(int fd)
{
	struct stat st;

	if (fd < 0 || fd >= FDS_MAX || fstat(fd, &st) < 0)
		return;
	if (watched_fds[fd].segment)
		watched->journal[watched_fds[fd].segment] = (uint64_t)st.st_size;
	if (watched_fds[fd].outbox)
		watched->outbox = (uint64_t)st.st_size;
	if (watched_fds[fd].folder)
		watched->linked = 0;
}

/* The part of the journal that is safe on the disk. */
static inline void read_synced(const char *dir, struct buf *out)
{
	for (unsigned i = 1; i < SEGMENTS_MAX; i++) {
		char path[512];
		uint64_t left = watched->journal[i];
		int fd;

		snprintf(path, sizeof(path), "%s/journal-%06u", dir, i);
		fd = open(path, O_RDONLY);
		while (fd >= 0 && left) {
			char block[4096];
			ssize_t n = read(fd, block, left < sizeof(block) ? left : sizeof(block));

			if (n <= 0)
				break;
			buf_add(out, block, (size_t)n);
			left -= (uint64_t)n;
		}
		if (fd >= 0)
			close(fd);
	}
}

/* A letter's bytes leave now: both records must be safe. */
static void watch_leaving(const struct letter *l)
{
	struct buf journal = { 0 };
	char intent[64], attempt[64];

	snprintf(intent, sizeof(intent), "{\"state\":\"INTENT\",\"id\":\"%s\"", l->id);
	snprintf(attempt, sizeof(attempt), "{\"state\":\"ATTEMPT\",\"ref\":\"%s\"", l->id);
	read_synced(watched_desk->dir, &journal);
	if (str_find(buf_str(&journal), str_of(intent), 0) < 0 ||
	    str_find(buf_str(&journal), str_of(attempt), 0) < 0)
		watched->early++;
	buf_release(&journal);
}

/* Whose bytes these are: all of a letter's, or the rest of them. */
static void watch_line(struct str bytes)
{
	for (uint32_t i = 0; i < watched_desk->letters.n; i++)
		if (str_find(watched_desk->letters.v[i].bytes, bytes, 0) >= 0) {
			watch_leaving(&watched_desk->letters.v[i]);
			return;
		}
	watched->early++; /* nobody's: not even recorded */
}

/* One letter's or several; a line that somebody else has left without its end may be ended before. */
static void watch_bytes(struct str bytes)
{
	if (bytes.n && bytes.p[0] == '\n')
		bytes = str_from(bytes, 1);
	while (bytes.n) {
		const char *end = memchr(bytes.p, '\n', bytes.n);
		size_t n = end ? (size_t)(end - bytes.p) + 1 : bytes.n;

		watch_line(str_make(bytes.p, n));
		bytes = str_from(bytes, n);
	}
}

static void watch_link(const char *to)
{
	struct str name = str_of(to);

	for (uint32_t i = 0; i < watched_desk->letters.n; i++)
		if (str_ends(watched_desk->letters.v[i].path, name)) {
			watch_leaving(&watched_desk->letters.v[i]);
			return;
		}
	watched->early++;
}

/* ---- the calls ---- */

static int faulty_open(const char *path, int flags, mode_t mode)
{
	int fd;

	if (strikes(flags & O_CREAT ? CALL_MAKES : CALL_OTHER))
		return -1;
	fd = real_io.open(path, flags, mode);
	watch_fd(fd, path, flags);
	if (strikes_late && fd >= 0)
		close(fd);
	return struck(fd);
}

/* As Linux does it: whatever close says, the descriptor is gone. */
static int faulty_close(int fd)
{
	bool fails = strikes(CALL_OTHER);
	int number = errno;

	real_io.close(fd);
	errno = number;
	return fails ? -1 : struck(0);
}

static ssize_t faulty_write(int fd, const void *from, size_t n)
{
	bool sends = fd >= 0 && fd < FDS_MAX && watched_fds[fd].outbox;
	ssize_t put;

	if (strikes(sends ? CALL_SENDS : CALL_WRITE))
		return -1;
	if (sends)
		watch_bytes(str_make(from, n));
	if (watched->calls == watched->fault_at && n > 1 &&
	    (watched->fault == STRIKE_SHORT || watched->fault == STRIKE_HALF_KILL))
		n /= 2;
	put = real_io.write(fd, from, n);
	if (watched->calls == watched->fault_at && watched->fault == STRIKE_HALF_KILL)
		_exit(9);
	return strikes_late ? struck((int)put) : put;
}

static int faulty_fsync(int fd)
{
	bool fails = strikes(CALL_SYNC);

	if (!fails && !strikes_late)
		watch_sync(fd);
	return fails ? -1 : struck(0);
}

static int faulty_openat(int in, const char *name, int flags, mode_t mode)
{
	int fd;

	if (strikes(flags & O_CREAT ? CALL_MAKES : CALL_OTHER))
		return -1;
	fd = real_io.openat(in, name, flags, mode);
	watch_fd(fd, name, flags);
	if (strikes_late && fd >= 0)
		close(fd);
	return struck(fd);
}

static int faulty_linkat(int from_folder, const char *from, int to_folder, const char *to, int flags)
{
	int rc;

	if (strikes(CALL_SENDS))
		return -1;
	watch_link(to);
	rc = real_io.linkat(from_folder, from, to_folder, to, flags);
	if (rc == 0)
		watched->linked++;
	return struck(rc);
}

/* The FIFO's reader reads whenever someone waits, so that nobody has to. */
static int faulty_poll(struct pollfd *fds, nfds_t n, int timeout_ms)
{
	(void)timeout_ms;
	if (strikes(CALL_READS))
		return -1;
	drain_fifo();
	return struck(real_io.poll(fds, n, 0));
}

#define FAULTY(name, kind, parameters, arguments) \
	static int faulty_##name parameters \
	{ \
		return strikes(kind) ? -1 : struck(real_io.name arguments); \
	}

FAULTY(fstat, CALL_OTHER, (int fd, struct stat *st), (fd, st))
FAULTY(lstat, CALL_OTHER, (const char *path, struct stat *st), (path, st))
FAULTY(ftruncate, CALL_REMOVES, (int fd, off_t length), (fd, length))
FAULTY(mkdir, CALL_MAKES, (const char *path, mode_t mode), (path, mode))
FAULTY(rename, CALL_MAKES, (const char *from, const char *to), (from, to))
FAULTY(unlink, CALL_REMOVES, (const char *path), (path))
FAULTY(unlinkat, CALL_REMOVES, (int in, const char *name, int flags), (in, name, flags))
FAULTY(lock, CALL_OTHER, (int fd), (fd))
FAULTY(lock_open, CALL_OTHER, (int fd), (fd))
FAULTY(unread, CALL_OTHER, (int fd, int *n), (fd, n))

static ssize_t faulty_read(int fd, void *to, size_t n)
{
	return strikes(CALL_OTHER) ? -1 : struck((int)real_io.read(fd, to, n));
}

static ssize_t faulty_pread(int fd, void *to, size_t n, off_t offset)
{
	return strikes(CALL_OTHER) ? -1 : struck((int)real_io.pread(fd, to, n, offset));
}

/* Puts the table in place; the watch goes on, the calls are counted anew. */
static void faulty_io(enum strike kind, unsigned at)
{
	io_reset();
	real_io = io;
	io = (struct io){
		.open = faulty_open,
		.openat = faulty_openat,
		.close = faulty_close,
		.read = faulty_read,
		.pread = faulty_pread,
		.write = faulty_write,
		.fstat = faulty_fstat,
		.lstat = faulty_lstat,
		.fsync = faulty_fsync,
		.fdatasync = faulty_fsync,
		.mkdir = faulty_mkdir,
		.linkat = faulty_linkat,
		.ftruncate = faulty_ftruncate,
		.lock = faulty_lock,
		.lock_open = faulty_lock_open,
		.rename = faulty_rename,
		.unlink = faulty_unlink,
		.unlinkat = faulty_unlinkat,
		.poll = faulty_poll,
		.unread = faulty_unread,
	};
	watched->fault = kind;
	watched->fault_at = at;
	watched->calls = 0;
	strikes_late = false;
}

/* Whether this fault at call `at` (from 1) makes sense and differs from one before it: ending the
 * process shows only where the call before it has changed something. */
static inline bool strike_fits(enum strike kind, const unsigned char *kinds, unsigned at)
{
	const unsigned char call = kinds[at - 1];

	switch (kind) {
	case STRIKE_NONE:
	case STRIKE_KINDS: return false;
	case STRIKE_EIO:
	case STRIKE_EINTR: return true;
	case STRIKE_KILL: return at == 1 || kinds[at - 2] != CALL_OTHER;
	case STRIKE_LATE: return call != CALL_OTHER;
	case STRIKE_ENOSPC:
	case STRIKE_EDQUOT: return call >= CALL_MAKES && call != CALL_REMOVES;
	case STRIKE_SHORT:
	case STRIKE_HALF_KILL: return call == CALL_WRITE || call == CALL_SENDS;
	}
	return false;
}

static inline struct watch *watch_new(void)
{
	struct watch *w =
		mmap(NULL, sizeof(*w), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return w == MAP_FAILED ? NULL : w;
}

#endif
