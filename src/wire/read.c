/* Reads one file and splits it into frames. A first pass (scan.h) decides between lines, elements
 * of a document and a single message; it ends within the first lines of a log, so only documents
 * are read twice. */
#include "json/json.h"
#include "wire/scan.h"
#include "wire/wire.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

struct reading {
	struct wire *w;
	uint32_t number;
	struct wire_file *file;
	const struct source *source;
	frame_fn emit;
	void *ctx;
	struct err *err;
	int failed; /* -1 once an element could not be read */
};

static bool is_done(const struct wire *w)
{
	return w->stop || w->enough;
}

/* Points out at `length` bytes from start on: in the block if it has them, else read into
 * w->message. */
static int lend(struct reading *r, uint64_t start, uint64_t length, struct str *out)
{
	const struct block *b = &r->w->block;
	struct buf *message = &r->w->message;

	if (b->source == r->source && start >= b->offset && start - b->offset <= b->bytes.n &&
	    length <= b->bytes.n - (start - b->offset)) {
		*out = str_make(b->bytes.p + (start - b->offset), (size_t)length);
		return 0;
	}
	buf_clear(message);
	buf_reserve(message, (size_t)length);
	if (source_fetch(r->source, start, (size_t)length, message->p, r->err) < 0)
		return -1;
	*out = str_make(message->p, (size_t)length);
	return 0;
}

static void span_out(struct reading *r, uint64_t start, uint64_t end, uint32_t line, unsigned flags)
{
	struct frame frame = { STR_NONE, start, end - start, line, flags };

	if (r->failed)
		return;
	if (frame.full_length > wire_max_bytes(r->w))
		frame.flags |= FRAME_OVERSIZE;
	else if (lend(r, start, frame.full_length, &frame.bytes) < 0)
		r->failed = -1;
	if (!r->failed)
		r->emit(r->ctx, &frame);
}

static void element_out(void *ctx, uint64_t start, uint64_t end, uint32_t number)
{
	span_out(ctx, start, end, number, 0);
}

/* Reads a block; reopens the file if it was closed in favour of another (wire_hold). */
static int read_block(struct reading *r, uint64_t at)
{
	if (kept_gap(&r->source->kept, at) && wire_hold(r->w, r->number, r->err) < 0)
		return -1;
	return source_read(r->source, at, &r->w->block, r->err);
}

void wire_remember(struct wire_mark *mark, struct str seen)
{
	mark->n = seen.n < WIRE_MARK_BYTES ? (unsigned)seen.n : WIRE_MARK_BYTES;
	memcpy(mark->bytes, seen.p + seen.n - mark->n, mark->n);
}

void wire_lines_feed(struct wire_lines *l, struct str seen, size_t fresh, frame_fn emit, void *ctx)
{
	struct str piece = str_from(seen, seen.n - fresh);
	uint64_t first = l->at - (seen.n - fresh), start;

	wire_remember(&l->mark, seen);
	l->at += fresh;
	framer_feed(&l->framer, piece, emit, ctx);
	start = l->framer.start;
	if (start > first && start <= l->at)
		wire_remember(&l->complete, str_make(seen.p, (size_t)(start - first)));
}

/* Continues after the lines that the parallel loader has read. */
static void go_on_behind(const struct wire_ahead *a, struct wire_lines *l)
{
	uint64_t n = a->at - a->start < WIRE_MARK_BYTES ? a->at - a->start : WIRE_MARK_BYTES;
	ssize_t got;

	framer_init(&l->framer, a->max_bytes, a->at);
	l->framer.line = a->line;
	l->framer.bom = BOM_BYTES;
	l->at = a->at;
	do
		got = pread(a->fd, l->mark.bytes, (size_t)n, (off_t)(a->at - n));
	while (got < 0 && errno == EINTR);
	l->mark.n = got == (ssize_t)n ? (unsigned)n : 0;
	l->complete = l->mark;
}

/* Offers the lines to the parallel loader (w->ahead), with a descriptor of its own that stays open
 * whatever wire_hold closes. */
static void read_ahead(struct reading *r, struct wire_lines *l)
{
	const struct source *s = r->source;
	struct wire_ahead a = { .file = r->number, .start = s->start, .end = s->end, .at = s->start,
				.line = 1, .max_bytes = wire_max_bytes(r->w) };

	if (!r->w->ahead || s->fd < 0 || s->only_kept || s->kept.list.n)
		return;
	a.fd = fcntl(s->fd, F_DUPFD_CLOEXEC, 3);
	if (a.fd < 0)
		return;
	r->w->ahead(r->ctx, &a);
	if (a.at > a.start)
		go_on_behind(&a, l);
	close(a.fd);
}

static int read_lines(struct reading *r, bool followed)
{
	const struct block *b = &r->w->block;
	struct wire_lines *l = xcalloc(1, sizeof(*l));
	int rc = 0;

	l->at = r->source->start;
	framer_init(&l->framer, wire_max_bytes(r->w), l->at);
	read_ahead(r, l);
	while (!is_done(r->w) && (rc = read_block(r, l->at)) == 0 && b->bytes.n) {
		r->w->bytes_done += b->bytes.n;
		wire_lines_feed(l, b->bytes, b->bytes.n, r->emit, r->ctx);
	}
	r->file->cut_at = l->framer.start;
	r->file->cut_line = l->framer.line;
	if (followed) {
		r->file->lines = l;
		return rc;
	}
	framer_end(&l->framer, r->emit, r->ctx);
	framer_release(&l->framer);
	free(l);
	return rc;
}

/* Scans to the end of the file, or until it is clear that it is not one JSON value. */
static int look(struct reading *r, struct scan *scan, element_fn element)
{
	struct block *b = &r->w->block;
	uint64_t at = r->source->start;
	int rc;

	scan_init(scan, at);
	while ((rc = read_block(r, at)) == 0 && b->bytes.n) {
		scan_feed(scan, b->bytes, element, r);
		at += b->bytes.n;
		if (element)
			r->w->bytes_done += b->bytes.n;
		if (scan->state == SCAN_NOT || r->failed || (element && is_done(r->w)))
			break;
	}
	return r->failed ? -1 : rc;
}

static int read_elements(struct reading *r, struct scan *scan)
{
	if (look(r, scan, element_out) < 0)
		return -1;
	if (scan->state != SCAN_AFTER && !is_done(r->w))
		return err_set(r->err, "%.300s: changed while gavel was reading; run gavel again",
			       r->source->name);
	return 0;
}

/* Emits the whole file as one frame, without BOM and final newline. */
static int read_text(struct reading *r, uint64_t start, unsigned flags)
{
	uint64_t end = r->source->end, n;
	struct str s;

	n = end - start < BOM_BYTES ? end - start : BOM_BYTES;
	if (lend(r, start, n, &s) < 0)
		return -1;
	if (str_starts(s, STR(BOM)))
		start += BOM_BYTES;
	n = end - start < 2 ? end - start : 2;
	if (lend(r, end - n, n, &s) < 0)
		return -1;
	if (str_ends(s, STR("\r\n")))
		end -= 2;
	else if (str_ends(s, STR("\n")))
		end--;
	if (end > start)
		span_out(r, start, end, 1, flags);
	r->w->bytes_done += r->source->end - r->source->start;
	return r->failed;
}

static void keep_session(struct reading *r, const struct scan *scan)
{
	struct json_reader reader = { 0 };
	struct buf quoted = { 0 };
	yyjson_val *value;

	if (!scan->session_n)
		return;
	buf_addc(&quoted, '"');
	buf_add(&quoted, scan->session, scan->session_n);
	buf_addc(&quoted, '"');
	json_read(&reader, buf_str(&quoted), &value);
	if (json_str(value).n)
		r->file->session = arena_str(&r->w->arena, json_str(value));
	json_reader_release(&reader);
	buf_release(&quoted);
}

bool wire_is_review(struct str base)
{
	return str_starts(base, STR("review-")) && str_ends(base, STR(".md"));
}

/* A single object by its name, even if it is truncated or malformed. */
bool wire_is_handoff(struct str base)
{
	return str_ends(base, STR(".json")) &&
	       (str_starts(base, STR("task-")) || str_starts(base, STR("result-")) ||
		str_starts(base, STR("decision-")));
}

enum wire_cut wire_cut_of(struct str base, const struct scan *scan)
{
	if (scan->state == SCAN_AFTER) {
		/* a single line such as [] or [1, 2] is a line, not a document */
		if (scan->has_elements &&
		    (!scan->is_array || scan->many_lines || scan->has_objects))
			return CUT_ELEMENTS;
		return scan->many_lines ? CUT_ONE : CUT_LINES;
	}
	if (wire_is_handoff(base) && !scan->is_array &&
	    (scan->state == SCAN_INSIDE || scan->many_lines))
		return CUT_ONE;
	return CUT_LINES;
}

/* A log that may grow, as opposed to a file that is written once. */
static bool is_log(const struct reading *r, const struct scan *scan)
{
	struct str base = r->file->base;

	if (wire_is_handoff(base))
		return false;
	return !str_ends(base, STR(".json")) || scan->state != SCAN_AFTER || scan->at_line_start;
}

uint64_t wire_hash(struct wire *w, const struct source *s)
{
	uint64_t size = s->end - s->start;
	struct str bytes;

	if (!size || size > WIRE_SMALL_BYTES)
		return 0;
	buf_clear(&w->message);
	buf_reserve(&w->message, (size_t)size);
	if (source_fetch(s, s->start, (size_t)size, w->message.p, NULL) < 0)
		return 0;
	bytes = str_make(w->message.p, (size_t)size);
	while (bytes.n && memchr(" \t\r\n", bytes.p[bytes.n - 1], 4))
		bytes.n--;
	return str_hash(bytes);
}

static int read_file(struct reading *r, bool follow)
{
	struct scan scan;
	enum wire_cut cut;

	if (wire_is_review(r->file->base)) {
		r->file->whole = true;
		return read_text(r, r->source->start, 0);
	}
	if (look(r, &scan, NULL) < 0)
		return -1;
	cut = wire_cut_of(r->file->base, &scan);
	r->file->is_lines = cut == CUT_LINES && scan.state == SCAN_NOT;
	follow = follow && cut == CUT_LINES && is_log(r, &scan);
	if (cut == CUT_ELEMENTS)
		keep_session(r, &scan);
	r->file->whole = cut == CUT_ONE ||
			 (cut == CUT_LINES && scan.state == SCAN_AFTER && !follow);
	switch (cut) {
	case CUT_LINES: return read_lines(r, follow);
	case CUT_ELEMENTS: return read_elements(r, &scan);
	case CUT_ONE: break;
	}
	if (scan.state != SCAN_AFTER)
		return read_text(r, scan.value_start,
				 scan.state == SCAN_INSIDE ? FRAME_TRUNCATED : 0);
	span_out(r, scan.value_start, scan.value_end, 1, 0);
	r->w->bytes_done += r->source->end - r->source->start;
	return r->failed;
}

/* Resets what an earlier wire_read found out. */
static void forget_reading(struct wire_file *f)
{
	f->whole = false;
	f->session = STR_NONE;
	if (f->lines)
		framer_release(&f->lines->framer);
	free(f->lines);
	f->lines = NULL;
}

int wire_read(struct wire *w, uint32_t file, frame_fn emit, void *ctx, struct err *err)
{
	struct reading r = { .w = w, .number = file, .emit = emit, .ctx = ctx, .err = err };
	struct source *s;
	uint64_t before;
	int rc;

	if (wire_hold(w, file, err) < 0)
		return -1;
	r.file = &w->files.v[file];
	r.source = s = &r.file->source;
	forget_reading(r.file);
	if (w->follow && s->kind == SOURCE_STREAM) {
		s->only_kept = true;
		return 0;
	}
	before = s->end;
	w->enough = false;
	w->block.source = NULL;
	if (source_gather(s, &w->block, w->idle.go_on ? &w->idle : NULL, err) < 0)
		return -1;
	w->bytes_total += s->end - before;
	r.file->read = true;
	rc = read_file(&r, w->follow);
	/* so that a rewrite with the same content is not taken for a new message */
	if (w->follow)
		r.file->hash = r.file->lines ? 0 : wire_hash(w, s);
	return rc;
}

int wire_cut_whole(struct wire *w, uint32_t file, frame_fn emit, void *ctx, struct err *err)
{
	struct reading r = { .w = w, .number = file, .emit = emit, .ctx = ctx, .err = err };

	r.file = &w->files.v[file];
	r.source = &r.file->source;
	forget_reading(r.file);
	w->enough = false;
	w->block.source = NULL;
	r.file->read = true;
	return read_file(&r, false);
}
