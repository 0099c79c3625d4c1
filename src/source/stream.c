/* Streams: read to the end once, into a capture that can be read again by offset.
 *
 * poll comes before every read, the first one too: a FIFO that no writer has opened yet reads as
 * ended, but polls as waiting. */
#include "source/source.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

static const char *capture_folder(void)
{
	const char *folder = getenv("TMPDIR");

	return folder && *folder ? folder : "/tmp";
}

static int capture_fail(struct err *err)
{
	return err_set(err,
		       "%.300s: cannot keep the bytes of a stream there: %s; "
		       "set TMPDIR to a folder with room",
		       capture_folder(), strerror(errno));
}

static int capture_open(struct err *err)
{
	struct arena arena = { 0 };
	char *name = arena_printf(&arena, "%s/gavel-XXXXXX", capture_folder());
	int fd = mkostemp(name, O_CLOEXEC); /* 0600 */

	if (fd < 0)
		capture_fail(err);
	else
		unlink(name);
	arena_release(&arena);
	return fd;
}

static int capture_add(int fd, const char *p, size_t n, struct err *err)
{
	while (n) {
		ssize_t put = write(fd, p, n);

		if (put < 0 && errno == EINTR)
			continue;
		if (put < 0)
			return capture_fail(err);
		p += put;
		n -= (size_t)put;
	}
	return 0;
}

enum { IDLE_EVERY_MS = 20 };

/* Waits; 0 bytes are the end, also when the one who idles has had enough. */
static ssize_t stream_read(const struct source *s, char *p, size_t n, const struct idle *idle,
			   struct err *err)
{
	for (;;) {
		struct pollfd ready = { .fd = s->fd, .events = POLLIN };
		ssize_t got;

		if (idle && !idle->go_on(idle->ctx))
			return 0;
		if (poll(&ready, 1, idle ? IDLE_EVERY_MS : -1) < 0 && errno != EINTR)
			return source_fail(s->name, errno, err);
		if (!ready.revents)
			continue;
		got = read(s->fd, p, n);
		if (got >= 0)
			return got;
		if (errno != EINTR && errno != EAGAIN && errno != EWOULDBLOCK)
			return source_fail(s->name, errno, err);
	}
}

int stream_spool(struct source *s, struct block *block, const struct idle *idle, struct err *err)
{
	int capture = capture_open(err);
	uint64_t total = 0;
	ssize_t got = 0;

	if (capture < 0)
		return -1;
	block->source = NULL;
	block->bytes = STR_NONE;
	do {
		size_t room;
		char *p = block_room(block, 0, &room);

		got = stream_read(s, p, room, idle, err);
		if (got > 0 && capture_add(capture, p, (size_t)got, err) < 0)
			got = -1;
		if (got > 0)
			total += (uint64_t)got;
	} while (got > 0);
	if (got < 0) {
		close(capture);
		return -1;
	}
	source_close(s);
	s->fd = capture;
	s->end = total;
	return 0;
}
