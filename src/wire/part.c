/* A part is read at once, with some bytes behind it for the end of its last line. */
#include "wire/part.h"

#include "source/source.h"
#include "wire/framer.h"

#include <errno.h>
#include <unistd.h>

enum { BEHIND_BYTES = 8 << 10, MORE_BYTES = 64 << 10 };

/* Exactly n bytes. */
static char *read_to(const struct part *p, struct buf *room, uint64_t offset, size_t n)
{
	char *at = source_room(room, offset, n);
	size_t got = 0;

	while (got < n) {
		ssize_t more = pread(p->fd, at + got, n - got, (off_t)(offset + got));

		if (more < 0 && errno == EINTR)
			continue;
		if (more <= 0)
			return NULL;
		got += (size_t)more;
	}
	return at;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Reads on from `at` until the framer's line is complete; at the file's end it stays incomplete. */
static int read_behind(const struct part *p, struct framer *f, uint64_t at, frame_fn emit,
		       void *ctx)
{
	struct buf room = { 0 };
	int rc = 0;

	while (at < p->end) {
		size_t n = (size_t)least(p->end - at, MORE_BYTES);
		const char *bytes, *newline;

		if (at - p->to > PART_BEHIND_MAX || !(bytes = read_to(p, &room, at, n))) {
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

int part_read(const struct part *p, struct buf *room, frame_fn emit, void *ctx, struct part_lines *out)
{
	uint64_t behind = least(p->end, p->to + BEHIND_BYTES);
	size_t n = (size_t)(behind - p->from), inside = (size_t)(least(p->to, p->end) - p->from);
	const char *bytes = read_to(p, room, p->from, n), *first = bytes, *last;
	struct framer f;
	int rc = 0;

	*out = (struct part_lines){ .next = p->from };
	if (!bytes)
		return -1;
	if (p->from > p->start) {
		first = memchr(bytes, '\n', inside);
		if (!first)
			return 0; /* all of it belongs to a line that begins before */
		first++;
	}
	framer_init(&f, p->max_bytes, p->from + (uint64_t)(first - bytes));
	if (p->from)
		f.bom = BOM_BYTES;
	last = n > inside ? memchr(bytes + inside, '\n', n - inside) : NULL;
	framer_feed(&f, str_make(first, (size_t)((last ? last + 1 : bytes + n) - first)), emit, ctx);
	if (!last)
		rc = read_behind(p, &f, behind, emit, ctx);
	out->lines = f.line - 1;
	out->next = f.start;
	framer_release(&f);
	return rc;
}
