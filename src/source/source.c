/* Opening anything that can be opened, and reading by offset. */
#include "source/source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

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
	}
	/* a long name must not push the reason out */
	return err_set(err, "%.300s: %s; %s", name, strerror(number), todo);
}

static bool is_standard(const struct source *s)
{
	return strcmp(s->name, "-") == 0;
}

static int open_again(const struct source *s, struct stat *st, struct err *err)
{
	/* without O_NONBLOCK a FIFO would make open wait for a writer */
	int fd = is_standard(s) ? STDIN_FILENO
				: open(s->name, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);

	if (fd < 0)
		return source_fail(s->name, errno, err);
	if (fstat(fd, st) < 0) {
		int saved = errno;

		if (!is_standard(s))
			close(fd);
		return source_fail(s->name, saved, err);
	}
	return fd;
}

int source_open(struct source *s, const char *name, struct err *err)
{
	struct stat st;
	off_t start = 0;

	*s = (struct source){ .name = name, .fd = -1, .kind = SOURCE_STREAM };
	s->fd = open_again(s, &st, err);
	if (s->fd < 0)
		return -1;
	s->dev = st.st_dev;
	s->ino = st.st_ino;
	if (S_ISDIR(st.st_mode)) {
		s->kind = SOURCE_DIR;
		source_close(s);
		if (is_standard(s))
			return err_set(err, "-: standard input is a directory; give its name");
		return 0;
	}
	if (S_ISREG(st.st_mode)) {
		s->kind = SOURCE_FILE;
		/* like cat: someone may have read the first part already */
		if (is_standard(s))
			start = lseek(s->fd, 0, SEEK_CUR);
		s->start = start > 0 ? (uint64_t)start : 0;
		s->end = (uint64_t)st.st_size > s->start ? (uint64_t)st.st_size : s->start;
	}
	return 0;
}

int source_reopen(struct source *s, struct err *err)
{
	struct stat st;

	if (s->fd >= 0)
		return 0;
	if (s->kind != SOURCE_FILE)
		BUG("%s cannot be opened again", s->name);
	s->fd = open_again(s, &st, err);
	if (s->fd < 0)
		return -1;
	if (st.st_dev == s->dev && st.st_ino == s->ino)
		return 0;
	source_close(s);
	return err_set(err, "%.300s: is another file now; run gavel again", s->name);
}

void source_close(struct source *s)
{
	if (s->fd > STDIN_FILENO || (s->fd == STDIN_FILENO && !is_standard(s)))
		close(s->fd);
	s->fd = -1;
}

int source_gather(struct source *s, struct block *block, const struct idle *idle, struct err *err)
{
	struct stat st;

	if (s->kind == SOURCE_STREAM)
		return s->end ? 0 : stream_spool(s, block, idle, err);
	if (fstat(s->fd, &st) < 0)
		return source_fail(s->name, errno, err);
	s->end = (uint64_t)st.st_size > s->start ? (uint64_t)st.st_size : s->start;
	return 0;
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

int source_read(const struct source *s, uint64_t offset, struct block *block, struct err *err)
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
	if (room > s->end - offset)
		room = (size_t)(s->end - offset);
	do
		got = pread(s->fd, p, room, (off_t)offset);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		return source_fail(s->name, errno, err);
	block->bytes.n = (size_t)got;
	return 0;
}

int source_fetch(const struct source *s, uint64_t offset, size_t n, char *out, struct err *err)
{
	while (n) {
		ssize_t got = pread(s->fd, out, n, (off_t)offset);

		if (got < 0 && errno == EINTR)
			continue;
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

void block_release(struct block *block)
{
	free(block->memory);
	*block = (struct block){ 0 };
}
