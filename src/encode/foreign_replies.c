/* Reads the lines of a reply file that were not written by this desk. */
#include "encode/foreign_replies.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { READ_MAX_BYTES = 64 << 20 };

static bool is_letter(const struct desk *d, const struct map *letters, struct str line)
{
	for (uint32_t it = 0, v; map_next(letters, str_hash(line), &it, &v);)
		if (str_eq(str_trim(d->letters.v[v].bytes), line))
			return true;
	return false;
}

/* A regular file, at most its last READ_MAX_BYTES bytes. */
static void read_file(const char *path, struct buf *out)
{
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct stat st;
	char block[1 << 16];
	ssize_t n;

	if (fd < 0)
		return;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode)) {
		if (st.st_size > READ_MAX_BYTES)
			lseek(fd, st.st_size - READ_MAX_BYTES, SEEK_SET);
		while ((n = read(fd, block, sizeof(block))) > 0 || (n < 0 && errno == EINTR))
			buf_add(out, block, n > 0 ? (size_t)n : 0);
	}
	close(fd);
}

/* One reply file for several sessions, whose messages do not name their session. */
static bool is_shared(const struct encoding *e, const struct item *item, enum dialect_id dialect)
{
	uint32_t group = e->model->sessions.v[item_session(e->model, item)].group;

	return encoders[dialect]->names_no_session && e->terms->reply &&
	       has_several_sessions(e->model, group);
}

struct foreign_replies foreign_replies_read(struct encoding *e, const struct item *item,
					    enum dialect_id dialect)
{
	struct foreign_replies out = { 0 };
	struct buf path = { 0 }, bytes = { 0 };
	struct map letters = { 0 };
	VEC(struct str) lines = { 0 };

	if (is_shared(e, item, dialect) ||
	    reply_path(e->desk, e->terms, e->model, item, dialect, &path) != CHANNEL_FILE) {
		buf_release(&path);
		return out;
	}
	read_file(path.p, &bytes);
	for (uint32_t i = 0; bytes.n && !e->via_queue && i < e->desk->letters.n; i++)
		map_add(&letters, str_hash(str_trim(e->desk->letters.v[i].bytes)), i);
	for (size_t at = 0; at < bytes.n;) {
		const char *end = memchr(bytes.p + at, '\n', bytes.n - at);
		size_t n = end ? (size_t)(end - bytes.p) - at : bytes.n - at;
		struct str line = str_trim(str_make(bytes.p + at, n));

		if (end && line.n && !is_letter(e->desk, &letters, line))
			vec_push(&lines, keep_str(e, line));
		at += n + 1;
	}
	if (lines.n) {
		out.n = lines.n;
		out.lines = arena_alloc(&e->plan->arena, lines.n * sizeof(*lines.v));
		memcpy(out.lines, lines.v, lines.n * sizeof(*lines.v));
	}
	vec_release(&lines);
	map_release(&letters);
	buf_release(&path);
	buf_release(&bytes);
	return out;
}
