/* Reading the file that replies go to. */
#include "encode/foreign_replies.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { OTHERS_BYTES_MAX = 64 << 20 };

static bool is_letter(const struct desk *d, const struct map *letters, struct str line)
{
	for (uint32_t it = 0, v; map_next(letters, str_hash(line), &it, &v);)
		if (str_eq(str_trim(d->letters.v[v].bytes), line))
			return true;
	return false;
}

/* All of a plain file; its last bytes where it is too long. */
static void read_file(const char *path, struct buf *out)
{
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct stat st;
	char block[1 << 16];
	ssize_t n;

	if (fd < 0)
		return;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode)) {
		if (st.st_size > OTHERS_BYTES_MAX)
			lseek(fd, st.st_size - OTHERS_BYTES_MAX, SEEK_SET);
		while ((n = read(fd, block, sizeof(block))) > 0 || (n < 0 && errno == EINTR))
			buf_add(out, block, n > 0 ? (size_t)n : 0);
	}
	close(fd);
}

static void keep(struct encoding *e, struct str line, struct foreign_replies *out, uint32_t *room)
{
	struct str *bigger;

	if (out->n == *room) {
		*room = *room ? 2 * *room : 16;
		bigger = arena_alloc(&e->plan->arena, *room * sizeof(*bigger));
		if (out->n)
			memcpy(bigger, out->lines, out->n * sizeof(*bigger));
		out->lines = bigger;
	}
	out->lines[out->n++] = arena_str(&e->plan->arena, line);
}

/* A Request names no session: where one file is given for several, nobody else's can be told. */
static bool is_shared(const struct encoding *e, const struct item *item, enum dialect_id dialect)
{
	return encoders[dialect]->names_no_session && e->terms->reply &&
	       has_several_sessions(e->model, e->model->sessions.v[item_session(e->model, item)].group);
}

struct foreign_replies foreign_replies_read(struct encoding *e, const struct item *item, enum dialect_id dialect)
{
	struct foreign_replies out = { 0 };
	struct buf path = { 0 }, bytes = { 0 };
	struct map letters = { 0 };
	uint32_t room = 0;

	if (is_shared(e, item, dialect) ||
	    reply_path(e->desk, e->terms, e->model, item, dialect, &path) != CHANNEL_FILE) {
		buf_release(&path);
		return out;
	}
	read_file(path.p, &bytes);
	for (uint32_t i = 0; bytes.n && !e->elsewhere && i < e->desk->letters.n; i++)
		map_add(&letters, str_hash(str_trim(e->desk->letters.v[i].bytes)), i);
	for (size_t at = 0; at < bytes.n;) {
		const char *end = memchr(bytes.p + at, '\n', bytes.n - at);
		size_t n = end ? (size_t)(end - bytes.p) - at : bytes.n - at;
		struct str line = str_trim(str_make(bytes.p + at, n));

		if (end && line.n && !is_letter(e->desk, &letters, line))
			keep(e, line, &out, &room);
		at += n + 1;
	}
	map_release(&letters);
	buf_release(&path);
	buf_release(&bytes);
	return out;
}
