/* The writer's lock: an fcntl lock on the file `lock`, which the kernel releases when the process
 * ends. The file names the holder: pid, program, start time.
 *
 * fcntl locks belong to the process: a second one would be granted to the same process, and closing
 * either descriptor releases both. So a list of the locks held is kept, too. */
#include "journal/journal_internal.h"

#include "base/timestamp.h"

#include <fcntl.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

struct held {
	dev_t dev;
	ino_t ino;
	pid_t pid; /* a forked child inherits the list but not the locks */
	int fd;
};

static VEC(struct held) all_held;

static bool holds_already(const struct stat *st)
{
	for (uint32_t i = 0; i < all_held.n; i++) {
		const struct held *h = &all_held.v[i];

		if (h->dev == st->st_dev && h->ino == st->st_ino && h->pid == getpid())
			return true;
	}
	return false;
}

/* "process 4711 (gavel, since 2026-01-26T10:00:00Z)". The file may still name an earlier holder:
 * it is believed only where its pid is the one that F_GETLK reports. */
static void add_holder(int fd, struct buf *out)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	char text[128];
	struct str rest, program, since;
	uint64_t pid = 0;
	int64_t ms;
	ssize_t n;

	IO_RETRY(n, io.pread(fd, text, sizeof(text), 0));
	rest = str_make(text, n > 0 ? (size_t)n : 0);
	if (!str_to_u64(str_first_word(&rest), &pid))
		pid = 0;
	program = str_first_word(&rest);
	since = str_first_word(&rest);
	if (fcntl(fd, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK && lock.l_pid > 0 &&
	    (uint64_t)lock.l_pid != pid) {
		buf_printf(out, "process %ld", (long)lock.l_pid);
		return;
	}
	if (!pid) {
		buf_adds(out, "another process");
		return;
	}
	buf_printf(out, "process %llu", (unsigned long long)pid);
	if (program.n && str_is_plain(program) && timestamp_parse_iso(since, &ms))
		buf_printf(out, " (%.*s, since %.*s)", STR_ARG(program), STR_ARG(since));
}

/* For error messages only, so errors are ignored: a full disk must not prevent locking. */
static void write_holder(int fd)
{
	struct timespec now;
	struct buf who = { 0 };
	char iso[32];
	int rc;

	clock_gettime(CLOCK_REALTIME, &now);
	buf_printf(&who, "%ld %.40s %s\n", (long)getpid(), program_invocation_short_name,
		   timestamp_iso((int64_t)now.tv_sec * 1000, iso));
	IO_RETRY(rc, io.ftruncate(fd, 0));
	if (rc == 0)
		rc = io_write_all(fd, buf_str(&who), NULL);
	(void)rc;
	buf_release(&who);
}

static enum journal_result lock_error(const char *path, int fd, int number, struct err *err)
{
	struct buf who = { 0 };

	if (number != EACCES && number != EAGAIN) {
		err_set(err,
			"%.300s: cannot be locked: %s; name a folder on another disk with "
			"--journal",
			path, strerror(number));
		return JOURNAL_TROUBLE;
	}
	add_holder(fd, &who);
	err_set(err, "another gavel decides here: %.100s; end it, or only look on", who.p);
	buf_release(&who);
	return JOURNAL_LOCKED;
}

/* The file may have been removed or replaced before it was locked. */
static bool is_same_file(const char *path, int fd, struct stat *st)
{
	struct stat named;
	int rc;

	IO_RETRY(rc, io.fstat(fd, st));
	if (rc == 0)
		IO_RETRY(rc, io.lstat(path, &named));
	return rc == 0 && named.st_dev == st->st_dev && named.st_ino == st->st_ino;
}

static enum journal_result lock_path(const char *path, int *fd, struct err *err)
{
	struct stat st;
	enum journal_result result;
	int rc;

	IO_RETRY(rc, io.lstat(path, &st));
	if (rc == 0 && holds_already(&st)) {
		err_set(err, "this gavel decides here already: process %ld; name each source once",
			(long)getpid());
		return JOURNAL_LOCKED;
	}
	*fd = journal_open_file(path, O_RDWR | O_CREAT, err);
	if (*fd < 0)
		return JOURNAL_TROUBLE;
	IO_RETRY(rc, io.lock(*fd));
	if (rc < 0) {
		result = lock_error(path, *fd, errno, err);
		goto fail;
	}
	if (!is_same_file(path, *fd, &st)) {
		err_set(err, "%.300s: was replaced just now; try again", path);
		result = JOURNAL_TROUBLE;
		goto fail;
	}
	write_holder(*fd);
	vec_push(&all_held, (struct held){ st.st_dev, st.st_ino, getpid(), *fd });
	return JOURNAL_FINE;
fail:
	io.close(*fd);
	*fd = -1;
	return result;
}

enum journal_result lock_take(const char *dir, int *fd, struct err *err)
{
	struct buf path = { 0 };
	enum journal_result result;

	buf_printf(&path, "%s/lock", dir);
	result = lock_path(path.p, fd, err);
	buf_release(&path);
	return result;
}

void lock_drop(int fd)
{
	if (fd < 0)
		return;
	for (uint32_t i = 0; i < all_held.n; i++)
		if (all_held.v[i].fd == fd && all_held.v[i].pid == getpid()) {
			all_held.v[i] = *vec_last(&all_held);
			all_held.n--;
			break;
		}
	if (!all_held.n)
		vec_release(&all_held);
	io.close(fd);
}
