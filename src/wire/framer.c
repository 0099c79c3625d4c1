/* Line framer. A line inside one piece is emitted without copying. One over several pieces is
 * collected in `held`; past the limit only its length is counted. One byte more than the limit is
 * held, for it may be the CR of the line end. */
#include "wire/framer.h"

enum { HELD_KEPT_BYTES = 1 << 20 }; /* a bigger buffer is freed after its line */

void framer_init(struct framer *f, size_t max_bytes, uint64_t offset)
{
	*f = (struct framer){ .max_bytes = max_bytes, .start = offset, .line = 1, .blank = true };
}

static bool is_blank(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (s.p[i] != ' ' && s.p[i] != '\t' && s.p[i] != '\r')
			return false;
	return true;
}

/* bytes: the whole line without its end, or anything if length is over the limit */
static void emit_line(const struct framer *f, struct str bytes, uint64_t length, unsigned flags,
		     frame_fn emit, void *ctx)
{
	struct frame frame = { bytes, f->start, length, f->line, flags };

	if (length > f->max_bytes) {
		frame.bytes = STR_NONE;
		frame.flags |= FRAME_OVERSIZE;
	}
	emit(ctx, &frame);
}

static void next_line(struct framer *f, uint64_t start)
{
	f->start = start;
	f->length = 0;
	f->blank = true;
	if (f->line < UINT32_MAX)
		f->line++;
	if (f->held.cap > HELD_KEPT_BYTES)
		buf_release(&f->held);
	buf_clear(&f->held);
}

static void buffer_bytes(struct framer *f, const char *p, size_t n)
{
	if (!n)
		return;
	if (f->length + n <= (uint64_t)f->max_bytes + 1)
		buf_add(&f->held, p, n);
	f->length += n;
	f->last = p[n - 1];
	f->blank = f->blank && is_blank(str_make(p, n));
}

/* Fast path: the whole line is in one piece, no copy. */
static void line_at_once(struct framer *f, struct str line, frame_fn emit, void *ctx)
{
	struct str bytes = line;

	if (bytes.n && bytes.p[bytes.n - 1] == '\r')
		bytes.n--;
	if (!is_blank(bytes))
		emit_line(f, bytes, bytes.n, 0, emit, ctx);
	next_line(f, f->start + line.n + 1);
}

static void emit_held_line(struct framer *f, frame_fn emit, void *ctx)
{
	uint64_t length = f->length - (f->length && f->last == '\r');

	if (!f->blank)
		emit_line(f, str_make(f->held.p, length), length, 0, emit, ctx);
	next_line(f, f->start + f->length + 1);
}

void framer_feed(struct framer *f, struct str piece, frame_fn emit, void *ctx)
{
	const char *p = piece.p, *end;
	bool ends; /* with a line */

	if (!piece.n)
		return;
	end = p + piece.n;
	while (f->bom < BOM_BYTES && p < end) {
		if (*p == BOM[f->bom]) {
			p++;
			if (++f->bom == BOM_BYTES)
				f->start += BOM_BYTES;
		} else {
			buffer_bytes(f, BOM, f->bom);
			f->bom = BOM_BYTES;
		}
	}
	ends = end[-1] == '\n';
	while (p < end) {
		const char *newline = NULL;
		size_t n;

		if (ends && f->newline && !f->length)
			newline = f->newline(ctx, p, end);
		if (!newline)
			newline = memchr(p, '\n', (size_t)(end - p));
		n = (size_t)((newline ? newline : end) - p);
		if (newline && !f->length) {
			line_at_once(f, str_make(p, n), emit, ctx);
		} else {
			buffer_bytes(f, p, n);
			if (newline)
				emit_held_line(f, emit, ctx);
		}
		p += n + (newline != NULL);
	}
}

void framer_end(struct framer *f, frame_fn emit, void *ctx)
{
	if (f->bom < BOM_BYTES) {
		buffer_bytes(f, BOM, f->bom);
		f->bom = BOM_BYTES;
	}
	if (!f->blank)
		emit_line(f, str_make(f->held.p, f->length), f->length, FRAME_TRUNCATED, emit, ctx);
	if (f->length)
		next_line(f, f->start + f->length);
}

void framer_release(struct framer *f)
{
	buf_release(&f->held);
}
