/* Opening sources (file, stream, directory), file identity, and reading by offset. */
#include "source/source.h"

#include "base/io.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

enum { NS_PER_S = 1000000000 };

int source_fail(const char *name, int number, struct err *err)
{
	const char *todo = "check it and run gavel again";

	switch (number) {
	case ENOENT:
	case ENOTDIR:
	case ENAMETOOLONG:
	case ELOOP: todo = "check the name"; break;
	case EACCES:
	case EPERM: todo = "check who may read it"; break;
	case EMFILE:
	case ENFILE: todo = "name fewer streams, or raise the limit (ulimit -n)"; break;
	case ENXIO: todo = "if it is a socket, pipe its output into gavel instead"; break;
	case EBADF: todo = "open it for reading"; break;
	case EIO: todo = "check the disk"; break;
	case ESTALE: todo = "what it said then cannot be read any more"; break;
	}
	/* the name is truncated so that the reason fits the buffer */
	return err_set(err, "%.300s: %s; %s", name, strerror(number), todo);
}

static bool is_stdin(const struct source *s)
{
	return strcmp(s->name, "-") == 0;
}

/* Of a struct timespec or statx_timestamp. */
#define NANOSECONDS(t) ((int64_t)(t).tv_sec * 1000000000 + (t).tv_nsec)

/* Fallback where statx is missing or forbidden: no birth time. */
static int stat_fallback(const char *name, int fd, struct source_stat *out)
{
	struct stat st;

	if (name ? stat(name, &st) : fstat(fd, &st))
		return -1;
	*out = (struct source_stat){ .dev = st.st_dev, .ino = st.st_ino, .mode = st.st_mode,
				     .size = (uint64_t)st.st_size, .linked = st.st_nlink > 0,
				     .changed_ns = NANOSECONDS(st.st_mtim),
				     .ctime_ns = NANOSECONDS(st.st_ctim) };
	return 0;
}

int source_stat(const char *name, int fd, struct source_stat *out)
{
	struct statx st;

	if (statx(name ? AT_FDCWD : fd, name ? name : "", name ? 0 : AT_EMPTY_PATH,
		  STATX_BASIC_STATS | STATX_BTIME, &st) < 0)
		return errno == ENOSYS || errno == EPERM ? stat_fallback(name, fd, out) : -1;
	*out = (struct source_stat){ .dev = makedev(st.stx_dev_major, st.stx_dev_minor),
				     .ino = st.stx_ino, .mode = st.stx_mode, .size = st.stx_size,
				     .linked = st.stx_nlink > 0,
				     .changed_ns = NANOSECONDS(st.stx_mtime),
				     .ctime_ns = NANOSECONDS(st.stx_ctime) };
	if (st.stx_mask & STATX_BTIME)
		out->born_ns = NANOSECONDS(st.stx_btime);
	return 0;
}

bool source_is(const struct source *s, const struct source_stat *look)
{
	return s->dev == look->dev && s->ino == look->ino && s->born_ns == look->born_ns;
}

static int open_again(const struct source *s, struct source_stat *look, struct err *err)
{
	/* O_NONBLOCK: opening a FIFO would block until there is a writer */
	int fd = is_stdin(s) ? STDIN_FILENO
				: open(s->name, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);

	if (fd < 0)
		return source_fail(s->name, errno, err);
	if (source_stat(NULL, fd, look) < 0) {
		int saved = errno;

		if (!is_stdin(s))
			close(fd);
		return source_fail(s->name, saved, err);
	}
	return fd;
}

int source_open(struct source *s, const char *name, struct err *err)
{
	struct source_stat look;
	off_t start = 0;

	*s = (struct source){ .name = name, .fd = -1, .kind = SOURCE_STREAM };
	s->fd = open_again(s, &look, err);
	if (s->fd < 0)
		return -1;
	s->dev = look.dev;
	s->ino = look.ino;
	s->born_ns = look.born_ns;
	s->changed_ns = look.changed_ns;
	s->ctime_ns = look.ctime_ns;
	if (S_ISDIR(look.mode)) {
		s->kind = SOURCE_DIR;
		source_close(s);
		if (is_stdin(s))
			return err_set(err, "-: standard input is a directory; give its name");
		return 0;
	}
	if (S_ISREG(look.mode)) {
		s->kind = SOURCE_FILE;
		/* like cat: start at the current offset, another process may have read the head */
		if (is_stdin(s))
			start = lseek(s->fd, 0, SEEK_CUR);
		s->start = start > 0 ? (uint64_t)start : 0;
		s->end = look.size > s->start ? look.size : s->start;
	}
	return 0;
}

int source_reopen(struct source *s, struct err *err)
{
	struct source_stat look;

	if (s->fd >= 0)
		return 0;
	if (s->spool_only)
		return source_fail(s->name, ESTALE, err);
	if (s->kind != SOURCE_FILE)
		BUG("%s cannot be opened again", s->name);
	s->fd = open_again(s, &look, err);
	if (s->fd < 0)
		return -1;
	if (source_is(s, &look))
		return 0;
	source_close(s);
	return err_set(err, "%.300s: is another file now; run gavel again", s->name);
}

void source_close(struct source *s)
{
	if (s->fd > STDIN_FILENO || (s->fd == STDIN_FILENO && !is_stdin(s)))
		close(s->fd);
	s->fd = -1;
}

/* Whether any change from now on gives the file another ctime: the kernel's coarse clock has advanced
 * past it, by a second where the file system stores no fractions. */
static bool would_show_changes(int64_t ctime_ns)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME_COARSE, &now);
	return NANOSECONDS(now) > ctime_ns + (ctime_ns % NS_PER_S ? 0 : NS_PER_S);
}

void source_drop(struct source *s)
{
	free(s->held);
	s->held = NULL;
}

bool source_hold(struct source *s)
{
	if (s->kind != SOURCE_FILE || s->fd < 0 || s->start || s->end > SOURCE_HELD_BYTES ||
	    s->held || !would_show_changes(s->ctime_ns))
		return false;
	s->held = xmalloc((size_t)s->end + 1);
	if (!pread_all(s->fd, s->held, (size_t)s->end, 0))
		source_drop(s);
	return s->held != NULL;
}

int source_update_end(struct source *s, struct err *err)
{
	struct source_stat look;

	if (s->kind == SOURCE_STREAM || s->held)
		return 0;
	if (source_stat(NULL, s->fd, &look) < 0)
		return source_fail(s->name, errno, err);
	s->end = look.size > s->start ? look.size : s->start;
	s->changed_ns = look.changed_ns;
	return 0;
}

char *source_buffer(struct buf *room, uint64_t offset, size_t n)
{
	buf_clear(room);
	buf_reserve(room, n + 3 * SOURCE_PAGE_BYTES);
	return room->p + (SOURCE_PAGE_BYTES - (uintptr_t)room->p % SOURCE_PAGE_BYTES) +
	       offset % SOURCE_PAGE_BYTES;
}

char *block_room(struct block *block, uint64_t offset, size_t *room)
{
	size_t skew = (size_t)(offset % SOURCE_PAGE_BYTES);
	char *page;

	if (!block->memory)
		block->memory = xmalloc(SOURCE_BLOCK_BYTES + SOURCE_PAGE_BYTES);
	page = block->memory + (SOURCE_PAGE_BYTES - (uintptr_t)block->memory % SOURCE_PAGE_BYTES);
	*room = SOURCE_BLOCK_BYTES - skew;
	return page + skew;
}

static ssize_t read_held(const struct source *s, uint64_t offset, char *p, size_t n)
{
	uint64_t left = offset < s->end ? s->end - offset : 0;

	if (n > left)
		n = (size_t)left;
	if (n)
		memcpy(p, s->held + offset, n);
	return (ssize_t)n;
}

/* From memory or the spool if they have the bytes, else pread from the file. */
static ssize_t read_at(const struct source *s, uint64_t offset, char *p, size_t n)
{
	uint64_t gap = spooled_gap(&s->spooled, offset);
	ssize_t got;

	if (s->held)
		return read_held(s, offset, p, n);
	if (!gap)
		return spooled_read(s->spool, &s->spooled, offset, p, n);
	if (s->spool_only) {
		errno = ESTALE;
		return -1;
	}
	if (n > gap)
		n = (size_t)gap;
	IO_RETRY(got, pread(s->fd, p, n, (off_t)offset));
	return got;
}

int source_read(const struct source *s, uint64_t offset, struct block *block, struct err *err)
{
	return source_read_most(s, offset, SOURCE_BLOCK_BYTES, block, err);
}

int source_read_most(const struct source *s, uint64_t offset, size_t most, struct block *block,
		     struct err *err)
{
	size_t room;
	ssize_t got;
	char *p;

	if (block->source == s && block->offset == offset && block->bytes.n &&
	    offset + block->bytes.n <= s->end)
		return 0;
	p = block_room(block, offset, &room);
	*block = (struct block){ block->memory, s, offset, str_make(p, 0) };
	if (offset >= s->end)
		return 0;
	if (room > most)
		room = most;
	if (room > s->end - offset)
		room = (size_t)(s->end - offset);
	got = read_at(s, offset, p, room);
	if (got < 0)
		return source_fail(s->name, errno, err);
	block->bytes.n = (size_t)got;
	return 0;
}

int source_more(const struct source *s, uint64_t offset, struct block *block, struct err *err)
{
	size_t room;
	ssize_t got;
	char *p = block_room(block, offset, &room);

	*block = (struct block){ block->memory, NULL, offset, str_make(p, 0) };
	IO_RETRY(got, pread(s->fd, p, room, (off_t)offset));
	if (got < 0)
		return source_fail(s->name, errno, err);
	block->bytes.n = (size_t)got;
	return 0;
}

int source_fetch(const struct source *s, uint64_t offset, size_t n, char *out, struct err *err)
{
	while (n) {
		ssize_t got = read_at(s, offset, out, n);

		if (got < 0)
			return source_fail(s->name, errno, err);
		if (got == 0)
			return err_set(err, "%.300s: has become shorter; run gavel again", s->name);
		out += got;
		offset += (uint64_t)got;
		n -= (size_t)got;
	}
	return 0;
}

bool pread_all(int fd, char *out, size_t n, uint64_t offset)
{
	while (n) {
		ssize_t got;

		IO_RETRY(got, pread(fd, out, n, (off_t)offset));
		if (got <= 0)
			return false;
		out += got;
		offset += (uint64_t)got;
		n -= (size_t)got;
	}
	return true;
}

int source_fetch_block(const struct source *s, uint64_t offset, size_t n, char *out,
		       struct err *err)
{
	if (!s->held && !s->spool_only && pread_all(s->fd, out, n, offset))
		return 0;
	return source_fetch(s, offset, n, out, err);
}

void block_release(struct block *block)
{
	free(block->memory);
	*block = (struct block){ 0 };
}
