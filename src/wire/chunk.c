/* Reads one chunk of a file with one pread, plus BEHIND_BYTES past its end for the rest of its last
 * line. A longer last line is read in further steps, into the same buffer up to BEHIND_ROOM. */
#include "wire/chunk.h"

#include "source/source.h"
#include "wire/framer.h"

enum { BEHIND_BYTES = 4 << 10, MORE_BYTES = 64 << 10, BEHIND_ROOM = BEHIND_BYTES + 4 * MORE_BYTES };

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Feeds the framer from `at` on until its line is complete or the file ends. */
static int read_last_line(const struct chunk *p, struct framer *f, uint64_t at, frame_fn emit,
		       void *ctx)
{
	struct buf room = { 0 };
	int rc = 0;

	while (at < p->end) {
		size_t n = (size_t)least(p->end - at, MORE_BYTES);
		char *bytes = source_buffer(&room, at, n);
		const char *newline;

		if (at - p->to > CHUNK_BEHIND_MAX || !pread_all(p->fd, bytes, n, at)) {
			rc = -1;
			break;
		}
		newline = memchr(bytes, '\n', n);
		framer_feed(f, str_make(bytes, newline ? (size_t)(newline - bytes) + 1 : n), emit,
			    ctx);
		if (newline)
			break;
		at += n;
	}
	buf_release(&room);
	return rc;
}

/* Finds the first newline from `inside` on, reading more behind the *n bytes, up to `most`. */
static const char *find_end(const struct chunk *p, char *bytes, size_t inside, size_t *n,
			    size_t most)
{
	const char *end = memchr(bytes + inside, '\n', *n - inside);

	while (!end && *n < most) {
		size_t more = most - *n < MORE_BYTES ? most - *n : MORE_BYTES;

		if (!pread_all(p->fd, bytes + *n, more, p->from + *n))
			break;
		end = memchr(bytes + *n, '\n', more);
		*n += more;
	}
	return end;
}

int chunk_read(const struct chunk *p, struct buf *room, frame_fn emit, void *ctx,
	       struct chunk_lines *out)
{
	size_t inside = (size_t)(least(p->to, p->end) - p->from);
	size_t n = (size_t)(least(p->to + BEHIND_BYTES, p->end) - p->from);
	size_t most = (size_t)(least(p->to + BEHIND_ROOM, p->end) - p->from);
	char *bytes = source_buffer(room, p->from, most);
	const char *first = bytes, *last;
	struct framer f;
	int rc = 0;

	*out = (struct chunk_lines){ .next = p->from };
	if (!pread_all(p->fd, bytes, n, p->from))
		return -1;
	if (p->from > p->start) {
		first = memchr(bytes, '\n', inside);
		if (!first)
			return 0; /* all of it is inside a line of an earlier chunk */
		first++;
	}
	framer_init(&f, p->max_bytes, p->from + (uint64_t)(first - bytes));
	if (p->from)
		f.bom = BOM_BYTES;
	f.newline = p->newline;
	last = find_end(p, bytes, inside, &n, most);
	framer_feed(&f, str_make(first, (size_t)((last ? last + 1 : bytes + n) - first)), emit,
		    ctx);
	f.newline = NULL;
	if (!last)
		rc = read_last_line(p, &f, p->from + n, emit, ctx);
	out->lines = f.line - 1;
	out->next = f.start;
	framer_release(&f);
	return rc;
}
