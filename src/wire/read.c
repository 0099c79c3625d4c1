/* Splits one file into frames, a block per step. A first pass detects the format, a second emits
 * the frames. The first ends within the first lines of a log; only documents are read twice. */
#include "json/json.h"
#include "wire/scan.h"
#include "wire/wire.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

enum {
	LOOK_BYTES = 16 << 10, /* of a big file, for the first look: nearly all show what they are */
	LOOK_LONGER = 4, /* times as many if the first line is longer */
};

enum reading_state {
	READING_GATHERS, /* a stream into its capture */
	READING_LOOKS,
	READING_LINES,
	READING_ELEMENTS,
	READING_DONE,
};

struct wire_reading {
	struct wire *w;
	uint32_t number;
	frame_fn emit;
	void *ctx;
	enum reading_state state;
	bool follow;    /* following comes after it */
	int capture;    /* of a stream that is being gathered; -1 */
	struct scan scan;
	uint64_t at;    /* of the pass over the file that is under way */
	size_t look;    /* bytes of the first look */
	struct wire_lines *lines;
	int failed;     /* -1 once an element could not be read */
	/* of the step under way: */
	struct wire_file *file;
	const struct source *source;
	struct err *err;
};

/* Bytes from start on, limited to one message: those of the block if it has them, else read. */
static int read_range(struct wire_reading *r, uint64_t start, uint64_t length, struct str *out)
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

static void emit_span(struct wire_reading *r, uint64_t start, uint64_t end, uint32_t line,
		      unsigned flags)
{
	struct frame frame = { STR_NONE, start, end - start, line, flags };

	if (r->failed)
		return;
	if (frame.full_length > wire_max_bytes(r->w))
		frame.flags |= FRAME_OVERSIZE;
	else if (read_range(r, start, frame.full_length, &frame.bytes) < 0)
		r->failed = -1;
	if (!r->failed)
		r->emit(r->ctx, &frame);
}

static void emit_element(void *ctx, uint64_t start, uint64_t end, uint32_t number)
{
	emit_span(ctx, start, end, number, 0);
}

/* A block of the file, which others may have had closed to look at another one. */
static int read_block(struct wire_reading *r, uint64_t at, size_t most)
{
	if (!r->source->held && spooled_gap(&r->source->spooled, at) &&
	    wire_ensure_open(r->w, r->number, r->err) < 0)
		return -1;
	return source_read_most(r->source, at, most, &r->w->block, r->err);
}

void wire_mark_set(struct wire_mark *mark, struct str seen)
{
	mark->n = seen.n < WIRE_MARK_BYTES ? (unsigned)seen.n : WIRE_MARK_BYTES;
	memcpy(mark->bytes, seen.p + seen.n - mark->n, mark->n);
}

void wire_lines_feed(struct wire_lines *l, struct str seen, size_t fresh, frame_fn emit, void *ctx)
{
	struct str piece = str_from(seen, seen.n - fresh);
	uint64_t first = l->at - (seen.n - fresh), start;

	wire_mark_set(&l->mark, seen);
	l->at += fresh;
	framer_feed(&l->framer, piece, emit, ctx);
	start = l->framer.start;
	if (start > first && start <= l->at)
		wire_mark_set(&l->complete, str_make(seen.p, (size_t)(start - first)));
}

/* Continues after the lines that the parallel loader has read. */
static void resume_after_parallel(const struct wire_reading *r, const struct wire_parallel *a,
				  struct wire_lines *l)
{
	const struct source *s = &r->w->files.v[r->number].source;
	uint64_t n = a->at - a->start < WIRE_MARK_BYTES ? a->at - a->start : WIRE_MARK_BYTES;

	framer_init(&l->framer, a->max_bytes, a->at);
	l->framer.line = a->line;
	l->framer.bom = BOM_BYTES;
	l->at = a->at;
	if (s->held ? source_fetch(s, a->at - n, (size_t)n, l->mark.bytes, NULL) == 0
		    : pread_all(a->fd, l->mark.bytes, (size_t)n, a->at - n))
		l->mark.n = (unsigned)n;
	l->complete = l->mark;
}

bool wire_parallel_begin(struct wire_reading *r, struct wire_parallel *a)
{
	const struct source *s = &r->w->files.v[r->number].source;

	*a = (struct wire_parallel){ .file = r->number, .start = s->start, .end = s->end,
				     .at = s->start, .line = 1, .fd = -1,
				     .max_bytes = wire_max_bytes(r->w) };
	/* a descriptor that stays open whatever else is looked at meanwhile */
	if (s->fd >= 0 && !s->held && !s->spool_only && !s->spooled.list.n)
		a->fd = fcntl(s->fd, F_DUPFD_CLOEXEC, 3);
	return a->fd >= 0 || s->held;
}

void wire_parallel_end(struct wire_reading *r, struct wire_parallel *a)
{
	if (a->at > a->start)
		resume_after_parallel(r, a, r->lines);
	if (a->fd >= 0)
		close(a->fd);
}

static enum wire_step begin_lines(struct wire_reading *r)
{
	r->lines = xcalloc(1, sizeof(*r->lines));
	r->lines->at = r->source->start;
	framer_init(&r->lines->framer, wire_max_bytes(r->w), r->lines->at);
	r->state = READING_LINES;
	return WIRE_LINES;
}

void wire_lines_free(struct wire_lines *l)
{
	if (l)
		framer_release(&l->framer);
	free(l);
}

/* What there is of the lines was cut: rc of the last block. */
static enum wire_step end_lines(struct wire_reading *r, int rc)
{
	r->file->cut_at = r->lines->framer.start;
	r->file->cut_line = r->lines->framer.line;
	if (r->follow) {
		r->file->lines = r->lines;
		r->lines = NULL;
	} else {
		framer_end(&r->lines->framer, r->emit, r->ctx);
	}
	return rc < 0 ? WIRE_FAILED : WIRE_DONE;
}

static enum wire_step step_lines(struct wire_reading *r)
{
	const struct block *b = &r->w->block;
	int rc = read_block(r, r->lines->at, SOURCE_BLOCK_BYTES);

	if (rc < 0 || !b->bytes.n)
		return end_lines(r, rc);
	r->w->bytes_done += b->bytes.n;
	wire_lines_feed(r->lines, b->bytes, b->bytes.n, r->emit, r->ctx);
	return WIRE_MORE;
}

static bool is_first_look(const struct wire_reading *r)
{
	return r->state == READING_LOOKS && r->at == r->source->start;
}

/* Threads will read the block again: it is not worth reading it whole. */
static size_t block_bytes(const struct wire_reading *r)
{
	const struct source *s = r->source;

	return is_first_look(r) && s->end - s->start > SOURCE_BLOCK_BYTES ? r->look
									  : SOURCE_BLOCK_BYTES;
}

/* Reading more of the file at once costs less than scanning a long line. */
static bool look_longer(struct wire_reading *r, struct str first)
{
	if (first.n != r->look || r->look >= SOURCE_BLOCK_BYTES || first.p[0] != '{' ||
	    memchr(first.p, '\n', first.n))
		return false;
	r->look *= LOOK_LONGER;
	r->w->block.source = NULL;
	return true;
}

/* A file with the name of a handoff is read as one value even if its first line is cut off. */
static bool is_log_at_once(const struct wire_reading *r, struct str first)
{
	return !wire_is_handoff(r->file->base) && scan_begins_log(first);
}

/* The next block through the scanner. WIRE_DONE: at the file's end, or it is clear that the file is
 * not one value. */
static enum wire_step scan_block(struct wire_reading *r, element_fn element)
{
	const struct block *b = &r->w->block;

	if (read_block(r, r->at, block_bytes(r)) < 0)
		return WIRE_FAILED;
	if (!b->bytes.n)
		return WIRE_DONE;
	if (is_first_look(r) && look_longer(r, b->bytes))
		return WIRE_MORE;
	if (is_first_look(r) && is_log_at_once(r, b->bytes))
		r->scan.state = SCAN_REJECTED;
	scan_feed(&r->scan, b->bytes, element, r);
	r->at += b->bytes.n;
	if (r->failed)
		return WIRE_FAILED;
	return r->scan.state == SCAN_REJECTED ? WIRE_DONE : WIRE_MORE;
}

static enum wire_step step_elements(struct wire_reading *r)
{
	uint64_t before = r->at;
	enum wire_step step = scan_block(r, emit_element);

	r->w->bytes_done += r->at - before;
	if (step == WIRE_DONE && r->scan.state != SCAN_AFTER) {
		err_set(r->err, "%.300s: changed while gavel was reading; run gavel again",
			r->source->name);
		return WIRE_FAILED;
	}
	return step;
}

/* The whole file as text, without BOM and without the end of its last line. */
static enum wire_step read_text(struct wire_reading *r, uint64_t start, unsigned flags)
{
	uint64_t end = r->source->end, n;
	struct str s;

	n = end - start < BOM_BYTES ? end - start : BOM_BYTES;
	if (read_range(r, start, n, &s) < 0)
		return WIRE_FAILED;
	if (str_starts(s, STR(BOM)))
		start += BOM_BYTES;
	n = end - start < 2 ? end - start : 2;
	if (read_range(r, end - n, n, &s) < 0)
		return WIRE_FAILED;
	if (str_ends(s, STR("\r\n")))
		end -= 2;
	else if (str_ends(s, STR("\n")))
		end--;
	if (end > start)
		emit_span(r, start, end, 1, flags);
	r->w->bytes_done += r->source->end - r->source->start;
	return r->failed ? WIRE_FAILED : WIRE_DONE;
}

static void keep_session(struct wire_reading *r, const struct scan *scan)
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

/* A log, to which lines may be added; not a file that is written once, even if it has lines. */
static bool is_log(const struct wire_reading *r, const struct scan *scan)
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

static enum wire_step read_one(struct wire_reading *r)
{
	const struct scan *scan = &r->scan;

	if (scan->state != SCAN_AFTER)
		return read_text(r, scan->value_start,
				 scan->state == SCAN_INSIDE ? FRAME_TRUNCATED : 0);
	emit_span(r, scan->value_start, scan->value_end, 1, 0);
	r->w->bytes_done += r->source->end - r->source->start;
	return r->failed ? WIRE_FAILED : WIRE_DONE;
}

/* Once the file was looked at. */
static enum wire_step begin_cutting(struct wire_reading *r)
{
	enum wire_cut cut = wire_cut_of(r->file->base, &r->scan);

	r->file->is_lines = cut == CUT_LINES && r->scan.state == SCAN_REJECTED;
	r->follow = r->follow && cut == CUT_LINES && is_log(r, &r->scan);
	r->file->whole = cut == CUT_ONE ||
			 (cut == CUT_LINES && r->scan.state == SCAN_AFTER && !r->follow);
	switch (cut) {
	case CUT_LINES: return begin_lines(r);
	case CUT_ELEMENTS: break;
	case CUT_ONE: return read_one(r);
	}
	keep_session(r, &r->scan);
	r->at = r->source->start;
	scan_init(&r->scan, r->at);
	r->state = READING_ELEMENTS;
	return WIRE_MORE;
}

static enum wire_step step_look(struct wire_reading *r)
{
	enum wire_step step = scan_block(r, NULL);

	return step == WIRE_DONE ? begin_cutting(r) : step;
}

/* The bytes of the file stand still from now on. */
static enum wire_step begin_looking(struct wire_reading *r)
{
	r->w->block.source = NULL;
	r->file->read = true;
	r->at = r->source->start;
	scan_init(&r->scan, r->at);
	r->look = LOOK_BYTES;
	r->state = READING_LOOKS;
	/* the bytes that showed it when it was dated are still the same */
	if (r->source->held && r->file->is_lines) {
		r->scan.state = SCAN_REJECTED;
		return begin_cutting(r);
	}
	if (!wire_is_review(r->file->base))
		return WIRE_MORE;
	r->file->whole = true;
	return read_text(r, r->at, 0);
}

static enum wire_step step_gather(struct wire_reading *r)
{
	struct source *s = &r->file->source;
	uint64_t before = s->end;
	bool ended = true;

	if (r->w->follow && s->kind == SOURCE_STREAM) {
		s->spool_only = true;
		return WIRE_DONE;
	}
	if (s->kind == SOURCE_STREAM && !s->end) {
		if (stream_spool(s, &r->w->block, &r->capture, &ended, r->err) < 0)
			return WIRE_FAILED;
	} else if (source_update_end(s, r->err) < 0) {
		return WIRE_FAILED;
	}
	if (!ended)
		return r->w->block.bytes.n ? WIRE_MORE : WIRE_WAITS;
	r->w->bytes_total += s->end - before;
	return begin_looking(r);
}

static enum wire_step step(struct wire_reading *r, struct err *err)
{
	r->file = &r->w->files.v[r->number];
	r->source = &r->file->source;
	r->err = err;
	switch (r->state) {
	case READING_GATHERS: return step_gather(r);
	case READING_LOOKS: return step_look(r);
	case READING_LINES: return step_lines(r);
	case READING_ELEMENTS: return step_elements(r);
	case READING_DONE: break;
	}
	return WIRE_DONE;
}

struct wire_reading *wire_read_begin(struct wire *w, uint32_t file, frame_fn emit, void *ctx)
{
	struct wire_reading *r = xcalloc(1, sizeof(*r));
	struct wire_file *f = &w->files.v[file];

	*r = (struct wire_reading){ .w = w, .number = file, .emit = emit, .ctx = ctx,
				    .follow = w->follow, .capture = -1 };
	f->whole = false; /* as if it had not been read before */
	f->session = STR_NONE;
	wire_lines_free(f->lines);
	f->lines = NULL;
	return r;
}

enum wire_step wire_read_step(struct wire_reading *r, struct err *err)
{
	struct wire *w = r->w;
	enum wire_step news = WIRE_FAILED;
	struct wire_file *f = &w->files.v[r->number];

	if (f->source.held || wire_ensure_open(w, r->number, err) == 0)
		news = step(r, err);
	if (news != WIRE_DONE && news != WIRE_FAILED)
		return news;
	/* a file that is written anew with the same bytes says nothing new */
	if (w->follow && f->read)
		f->hash = f->lines ? 0 : wire_hash(w, &f->source);
	r->state = READING_DONE;
	return news;
}

int wire_read_fd(const struct wire_reading *r)
{
	const struct source *s = &r->w->files.v[r->number].source;

	return r->state == READING_GATHERS && s->kind == SOURCE_STREAM ? s->fd : -1;
}

void wire_read_end(struct wire_reading *r)
{
	if (r)
		source_drop(&r->w->files.v[r->number].source);
	wire_read_leave(r);
}

void wire_read_leave(struct wire_reading *r)
{
	if (!r)
		return;
	if (r->capture >= 0)
		close(r->capture);
	wire_lines_free(r->lines);
	free(r);
}

int wire_read_document(struct wire *w, uint32_t file, frame_fn emit, void *ctx, struct err *err)
{
	struct wire_reading *r = wire_read_begin(w, file, emit, ctx);
	enum wire_step news;

	r->follow = false;
	r->file = &w->files.v[file];
	r->source = &r->file->source;
	r->err = err;
	for (news = begin_looking(r); news != WIRE_DONE && news != WIRE_FAILED;)
		news = step(r, err);
	wire_read_end(r);
	return news == WIRE_FAILED ? -1 : 0;
}
