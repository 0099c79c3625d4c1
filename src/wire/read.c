/* One file → frames: look at it from afar until it is clear how it is to be cut, then cut. The
 * first look ends within the first lines of a log; only documents are gone through twice. */
#include "json/json.h"
#include "wire/framer.h"
#include "wire/scan.h"
#include "wire/wire.h"

enum cut { CUT_LINES, CUT_ELEMENTS, CUT_ONE };

struct reading {
	struct wire *w;
	struct wire_file *file;
	const struct source *source;
	frame_fn emit;
	void *ctx;
	struct err *err;
	int failed; /* -1 once an element could not be read */
};

/* Bytes from start on, limited to one message: those of the block if it has them, else read. */
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

static int read_lines(struct reading *r)
{
	struct block *b = &r->w->block;
	uint64_t at = r->source->start;
	struct framer framer;
	int rc;

	framer_init(&framer, wire_max_bytes(r->w), at);
	while ((rc = source_read(r->source, at, b, r->err)) == 0 && b->bytes.n) {
		framer_feed(&framer, b->bytes, r->emit, r->ctx);
		at += b->bytes.n;
		r->w->bytes_done += b->bytes.n;
		if (r->w->stop)
			break;
	}
	framer_end(&framer, r->emit, r->ctx);
	framer_release(&framer);
	return rc;
}

/* Until the file's end or until it is clear that it is not one value. */
static int look(struct reading *r, struct scan *scan, element_fn element)
{
	struct block *b = &r->w->block;
	uint64_t at = r->source->start;
	int rc;

	scan_init(scan, at);
	while ((rc = source_read(r->source, at, b, r->err)) == 0 && b->bytes.n) {
		scan_feed(scan, b->bytes, element, r);
		at += b->bytes.n;
		if (element)
			r->w->bytes_done += b->bytes.n;
		if (scan->state == SCAN_NOT || r->failed || (element && r->w->stop))
			break;
	}
	return r->failed ? -1 : rc;
}

static int read_elements(struct reading *r, struct scan *scan)
{
	if (look(r, scan, element_out) < 0)
		return -1;
	if (scan->state != SCAN_AFTER && !r->w->stop)
		return err_set(r->err, "%.300s: changed while gavel was reading; run gavel again",
			       r->source->name);
	return 0;
}

/* The whole file as text, without BOM and without the end of its last line. */
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

static bool is_review(struct str base)
{
	return str_starts(base, STR("review-")) && str_ends(base, STR(".md"));
}

/* By its name a single object, even if it is torn or has a comma too many. */
static bool is_handoff(struct str base)
{
	return str_ends(base, STR(".json")) &&
	       (str_starts(base, STR("task-")) || str_starts(base, STR("result-")) ||
		str_starts(base, STR("decision-")));
}

static enum cut cut_of(const struct reading *r, const struct scan *scan)
{
	if (scan->state == SCAN_AFTER) {
		/* a single line such as [] or [1, 2] is a line, not a document */
		if (scan->has_elements &&
		    (!scan->is_array || scan->many_lines || scan->has_objects))
			return CUT_ELEMENTS;
		return scan->many_lines ? CUT_ONE : CUT_LINES;
	}
	if (is_handoff(r->file->base) && !scan->is_array &&
	    (scan->state == SCAN_INSIDE || scan->many_lines))
		return CUT_ONE;
	return CUT_LINES;
}

static int read_file(struct reading *r)
{
	struct scan scan;
	enum cut cut;

	if (is_review(r->file->base)) {
		r->file->whole = true;
		return read_text(r, r->source->start, 0);
	}
	if (look(r, &scan, NULL) < 0)
		return -1;
	cut = cut_of(r, &scan);
	if (cut == CUT_ELEMENTS)
		keep_session(r, &scan);
	r->file->whole = cut == CUT_ONE || (cut == CUT_LINES && scan.state == SCAN_AFTER);
	switch (cut) {
	case CUT_LINES: return read_lines(r);
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

int wire_read(struct wire *w, uint32_t file, frame_fn emit, void *ctx, struct err *err)
{
	struct reading r = { .w = w, .emit = emit, .ctx = ctx, .err = err };
	struct source *s;
	uint64_t before;

	if (wire_hold(w, file, err) < 0)
		return -1;
	r.file = &w->files.v[file];
	r.source = s = &r.file->source;
	r.file->whole = false;
	r.file->session = STR_NONE;
	before = s->end;
	w->block.source = NULL;
	if (source_gather(s, &w->block, w->idle.go_on ? &w->idle : NULL, err) < 0)
		return -1;
	w->bytes_total += s->end - before;
	return read_file(&r);
}
