/* Reads the lines of a reply file. */
#include "encode/foreign_replies.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { READ_MAX_BYTES = 64 << 20 };

/* A regular file, at most its last READ_MAX_BYTES bytes. Returns where it ended. */
static uint64_t read_file(const char *path, struct buf *out)
{
	uint64_t skipped = 0;
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct stat st;
	char block[1 << 16];
	ssize_t n;

	if (fd < 0)
		return 0;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode)) {
		if (st.st_size > READ_MAX_BYTES)
			skipped = (uint64_t)lseek(fd, st.st_size - READ_MAX_BYTES, SEEK_SET);
		while ((n = read(fd, block, sizeof(block))) > 0 || (n < 0 && errno == EINTR))
			buf_add(out, block, n > 0 ? (size_t)n : 0);
	}
	close(fd);
	return skipped + out->n;
}

struct foreign_replies foreign_replies_read(struct encoding *e, const char *path)
{
	struct foreign_replies out = { 0 };
	struct buf bytes = { 0 };
	VEC(struct str) lines = { 0 };

	out.bytes = read_file(path, &bytes);
	for (size_t at = 0; at < bytes.n;) {
		const char *end = memchr(bytes.p + at, '\n', bytes.n - at);
		size_t n = end ? (size_t)(end - bytes.p) - at : bytes.n - at;
		struct str line = str_trim(str_make(bytes.p + at, n));

		if (end && line.n)
			vec_push(&lines, keep_str(e, line));
		at += n + 1;
	}
	if (lines.n) {
		out.n = lines.n;
		out.lines = arena_alloc(&e->plan->arena, lines.n * sizeof(*lines.v));
		memcpy(out.lines, lines.v, lines.n * sizeof(*lines.v));
	}
	vec_release(&lines);
	buf_release(&bytes);
	return out;
}
