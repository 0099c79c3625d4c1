/* Streams (pipe, FIFO, terminal): spooled to a capture file that can be read by offset, or followed
 * a block at a time.
 *
 * Every read is preceded by poll: a FIFO that no writer has opened yet reads as end of file, but
 * poll reports it as not ready. */
#include "source/source.h"

#include "base/io.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

int stream_more(struct source *s, struct block *block, bool *ended, struct err *err)
{
	struct pollfd ready = { .fd = s->fd, .events = POLLIN };
	size_t room;
	ssize_t got;
	char *p = block_room(block, 0, &room);

	*block = (struct block){ block->memory, NULL, 0, str_make(p, 0) };
	*ended = false;
	if (poll(&ready, 1, 0) <= 0 || !ready.revents)
		return 0;
	got = read(s->fd, p, room);
	if (got < 0 && errno != EINTR && errno != EAGAIN && errno != EWOULDBLOCK)
		return source_fail(s->name, errno, err);
	*ended = got == 0;
	block->bytes.n = got > 0 ? (size_t)got : 0;
	return 0;
}

int stream_spool(struct source *s, struct block *block, int *capture, bool *ended, struct err *err)
{
	if (*capture < 0 && (*capture = spool_open_file(err)) < 0)
		return -1;
	if (stream_more(s, block, ended, err) < 0)
		return -1;
	if (io_write_all(*capture, block->bytes, NULL) < 0)
		return spool_fail(err);
	if (!*ended)
		return 0;
	source_close(s);
	s->fd = *capture;
	s->end = (uint64_t)lseek(s->fd, 0, SEEK_CUR);
	*capture = -1;
	return 0;
}

bool stream_has_more(const struct source *s)
{
	struct pollfd ready = { .fd = s->fd, .events = POLLIN };

	return poll(&ready, 1, 0) > 0 && (ready.revents & POLLIN);
}

bool stream_is_fifo(const struct source *s)
{
	struct statfs fs;
	struct stat st;

	return strcmp(s->name, "-") != 0 && fstat(s->fd, &st) == 0 && S_ISFIFO(st.st_mode) &&
	       fstatfs(s->fd, &fs) == 0 && fs.f_type != PIPEFS_MAGIC;
}

void stream_enlarge_pipe(const struct source *s)
{
	(void)fcntl(s->fd, F_SETPIPE_SZ, STREAM_PIPE_BYTES);
}
