/* Incremental reading of one followed file or stream: decides whether it is a log or a document,
 * reads appended bytes, detects truncation and rewriting. */
#include "wire/tail.h"

#include <errno.h>
#include <stdlib.h>

static struct wire_file *file_of(const struct wire *w, const struct tail *t)
{
	return &w->files.v[t->file];
}

static void begin_detecting(struct wire *w, struct tail *t)
{
	t->state = TAIL_DETECTING;
	t->lines.at = file_of(w, t)->source.start;
}

struct tail *tail_new(struct wire *w, uint32_t file)
{
	struct tail *t = xcalloc(1, sizeof(*t));
	struct wire_file *f = &w->files.v[file];
	uint64_t length;

	t->file = file;
	t->before = NONE_BEFORE;
	t->watch = -1;
	t->came_ms = t->line_ms = TAIL_NOT_YET;
	t->changed_ns = f->source.changed_ns;
	f->source.spool = &w->spool;
	f->tailed = true;
	if (!f->read || f->source.end == f->source.start) {
		begin_detecting(w, t);
	} else if (f->lines) {
		t->state = TAIL_LINES;
		t->lines = *f->lines;
		t->line_start = t->lines.framer.start;
		length = t->lines.framer.length;
		/* spool the incomplete line: a truncation may remove it from the file */
		if (length && wire_spool(w, file, t->line_start, length, NULL) < 0)
			t->unspooled = true;
	} else {
		t->state = TAIL_DOCUMENT;
		t->lines.at = f->source.end;
	}
	free(f->lines);
	f->lines = NULL;
	return t;
}

static bool all_spooled(const struct wire *w, const struct tail *t)
{
	const struct source *s = &file_of(w, t)->source;

	return spooled_from(&s->spooled, s->start) >= t->lines.at - s->start;
}

void tail_free(struct wire *w, struct tail *t)
{
	file_of(w, t)->tailed = false;
	if (all_spooled(w, t)) {
		file_of(w, t)->source.spool_only = true;
		wire_close_file(w, t->file);
	}
	framer_release(&t->lines.framer);
	free(t->scan);
	free(t);
}

static void emit_frame(void *ctx, const struct frame *frame)
{
	struct feed *feed = ctx;

	feed->emit(feed->ctx, feed->file, frame);
}

/* ---- lines or document ---- */

/* It is a log: feeds the framer all that was scanned so far. */
static void begin_lines(struct tail *t, struct feed *feed)
{
	struct wire *w = feed->w;
	uint64_t start = file_of(w, t)->source.start, end = t->lines.at;

	free(t->scan);
	t->scan = NULL;
	t->state = TAIL_LINES;
	file_of(w, t)->read = true;
	t->lines = (struct wire_lines){ .at = start };
	t->line_start = start;
	framer_init(&t->lines.framer, wire_max_bytes(w), start);
	feed->file = t->file;
	while (t->lines.at < end) {
		const struct source *s = &file_of(w, t)->source;

		/* unreadable: truncated meanwhile, which the next read detects */
		if ((spooled_gap(&s->spooled, t->lines.at) &&
		     wire_ensure_open(w, t->file, NULL) < 0) ||
		    source_read(s, t->lines.at, &w->block, NULL) < 0 || !w->block.bytes.n)
			break;
		wire_lines_feed(&t->lines, w->block.bytes, w->block.bytes.n, emit_frame, feed);
	}
	w->block.source = NULL;
}

/* The document was rewritten with the same content. */
static bool is_unchanged(struct wire *w, const struct tail *t)
{
	struct wire_file *f = file_of(w, t), *before = &w->files.v[t->before];
	struct pieces kept;

	if (!f->hash || f->hash != before->hash)
		return false;
	/* the earlier messages are now fetched from the newly spooled bytes */
	kept = before->source.spooled;
	before->source.spooled = f->source.spooled;
	before->source.spool = f->source.spool;
	f->source.spooled = kept;
	return true;
}

static void read_document(struct tail *t, struct feed *feed)
{
	struct wire *w = feed->w;
	struct wire_file *f = file_of(w, t);

	free(t->scan);
	t->scan = NULL;
	t->state = TAIL_DOCUMENT;
	feed->file = t->file;
	if (!all_spooled(w, t) && wire_ensure_open(w, t->file, NULL) < 0)
		return;
	f->hash = wire_hash(w, &f->source);
	if (t->before != NONE_BEFORE && is_unchanged(w, t))
		return;
	/* on failure the file has changed, and will be read again */
	wire_read_document(w, t->file, emit_frame, feed, NULL);
}

enum detected { NOT_YET, AS_LINES, AS_DOCUMENT };

static enum detected detect_value(struct str base, const struct scan *s, bool is_file, bool settled,
				bool ended)
{
	bool json = is_file && str_ends(base, STR(".json"));
	/* a trailing newline added later does not change the hash of a small file */
	bool small = s->value_end <= WIRE_SMALL_BYTES;

	if (wire_cut_of(base, s) != CUT_LINES)
		return (json && small) || settled || ended ? AS_DOCUMENT : NOT_YET;
	if (is_file && wire_is_handoff(base))
		return AS_DOCUMENT;
	if (s->at_line_start) /* the line is complete */
		return AS_LINES;
	if (json && settled)
		return AS_DOCUMENT;
	return ended ? AS_LINES : NOT_YET;
}

/* quiet_ms: time since the last bytes */
static enum detected detect(const struct wire *w, const struct tail *t, int64_t quiet_ms,
			    bool ended)
{
	const struct wire_file *f = file_of(w, t);
	bool settled = quiet_ms >= TAIL_SETTLE_MS, is_file = f->source.kind == SOURCE_FILE;
	bool handoff = is_file && wire_is_handoff(f->base);

	if (wire_is_review(f->base))
		return settled || ended ? AS_DOCUMENT : NOT_YET;
	switch (t->scan->state) {
	case SCAN_BEFORE: return ended ? AS_LINES : NOT_YET;
	case SCAN_INSIDE:
		if (handoff)
			return quiet_ms >= TAIL_TORN_MS || ended ? AS_DOCUMENT : NOT_YET;
		return ended ? AS_LINES : NOT_YET;
	case SCAN_AFTER: return detect_value(f->base, t->scan, is_file, settled, ended);
	case SCAN_REJECTED: break;
	}
	if (handoff)
		return settled || ended ? AS_DOCUMENT : NOT_YET;
	return AS_LINES;
}

static void detect_format(struct tail *t, struct feed *feed, bool ended)
{
	int64_t quiet_ms = t->came_ms == TAIL_NOT_YET ? 0 : feed->now_ms - t->came_ms;

	if (t->state != TAIL_DETECTING || t->lines.at == file_of(feed->w, t)->source.start)
		return;
	switch (detect(feed->w, t, quiet_ms, ended)) {
	case NOT_YET: break;
	case AS_LINES: begin_lines(t, feed); break;
	case AS_DOCUMENT: read_document(t, feed); break;
	}
}

void tail_settle(struct tail *t, struct feed *feed)
{
	detect_format(t, feed, false);
}

int64_t tail_due(const struct wire *w, const struct tail *t)
{
	if (t->state != TAIL_DETECTING || t->came_ms == TAIL_NOT_YET)
		return TAIL_NEVER;
	if (detect(w, t, TAIL_SETTLE_MS, false) != NOT_YET)
		return t->came_ms + TAIL_SETTLE_MS;
	if (detect(w, t, TAIL_TORN_MS, false) != NOT_YET)
		return t->came_ms + TAIL_TORN_MS;
	return TAIL_NEVER;
}

void tail_end(struct tail *t, struct feed *feed)
{
	detect_format(t, feed, true);
	feed->file = t->file;
	if (t->state == TAIL_LINES)
		framer_end(&t->lines.framer, emit_frame, feed);
}

void tail_supersede(struct tail *t, struct feed *feed)
{
	const struct scan *s = t->scan;

	if (!s || s->state != SCAN_INSIDE || !s->many_lines)
		tail_end(t, feed);
}

uint64_t tail_incomplete(const struct wire *w, const struct tail *t)
{
	switch (t->state) {
	case TAIL_DETECTING: return t->lines.at - file_of(w, t)->source.start;
	case TAIL_LINES: return t->lines.framer.blank ? 0 : t->lines.framer.length;
	case TAIL_DOCUMENT: break;
	}
	return 0;
}

/* ---- reading ---- */

static void note_line_time(struct tail *t, const struct feed *feed)
{
	uint64_t start = t->state == TAIL_LINES ? t->lines.framer.start : 0;

	if (t->line_ms == TAIL_NOT_YET || t->line_start != start)
		t->line_ms = feed->now_ms;
	t->line_start = start;
}

/* Consumes the last `fresh` bytes of seen, which may point into w->block. */
static void consume(struct tail *t, struct feed *feed, struct str seen, size_t fresh)
{
	struct wire *w = feed->w;
	struct source *s = &file_of(w, t)->source;
	struct str piece = str_from(seen, seen.n - fresh);

	s->end = t->lines.at + fresh;
	w->bytes_done += fresh;
	w->bytes_total += fresh;
	feed->budget_bytes -= fresh < feed->budget_bytes ? fresh : feed->budget_bytes;
	feed->file = t->file;
	t->came_ms = feed->now_ms;
	if (spool_add(&w->spool, &s->spooled, t->lines.at, piece, NULL) < 0) {
		t->unspooled = true;
		if (t->state == TAIL_DETECTING && s->kind == SOURCE_STREAM) {
			/* not spooled, so they cannot be read again after the scan: as lines */
			char *copy = memcpy(xmalloc(fresh), piece.p, fresh);

			begin_lines(t, feed);
			wire_lines_feed(&t->lines, str_make(copy, fresh), fresh, emit_frame, feed);
			free(copy);
			return;
		}
	}
	if (t->state == TAIL_LINES) {
		wire_lines_feed(&t->lines, seen, fresh, emit_frame, feed);
	} else {
		if (!t->scan) {
			t->scan = xmalloc(sizeof(*t->scan));
			scan_init(t->scan, t->lines.at);
		}
		scan_feed(t->scan, piece, NULL, NULL);
		wire_mark_set(&t->lines.mark, seen);
		t->lines.at += fresh;
		detect_format(t, feed, false);
	}
	note_line_time(t, feed);
}

static enum tail_result read_stream(struct tail *t, struct feed *feed, struct err *err)
{
	struct wire *w = feed->w;
	bool ended;

	while (file_of(w, t)->source.fd >= 0) {
		struct source *s = &file_of(w, t)->source;

		if (t->state == TAIL_DOCUMENT && stream_has_more(s))
			return TAIL_CHANGED;
		if (stream_more(s, &w->block, &ended, err) < 0)
			return TAIL_FAILED;
		if (ended) {
			tail_end(t, feed);
			return stream_is_fifo(&file_of(w, t)->source) ? TAIL_EOF : TAIL_ENDED;
		}
		if (!w->block.bytes.n)
			return TAIL_EOF;
		consume(t, feed, w->block.bytes, w->block.bytes.n);
		if (!feed->budget_bytes)
			return TAIL_MORE;
	}
	return TAIL_ENDED;
}

/* stat only: EOF if size and mtime are unchanged. */
static enum tail_result check_stat(struct tail *t, const struct source *s)
{
	struct source_stat look;

	if (source_stat(s->fd < 0 ? s->name : NULL, s->fd, &look) < 0)
		return s->fd < 0 ? TAIL_REPLACED : TAIL_FAILED;
	if (!source_is(s, &look))
		return TAIL_REPLACED;
	if (look.size == t->lines.at && look.changed_ns == t->changed_ns)
		return TAIL_EOF;
	/* stored before reading, so that a concurrent change is detected next time */
	t->changed_ns = look.changed_ns;
	return TAIL_CHANGED;
}

/* A writer may truncate its own unfinished line; the bytes before it must be unchanged. */
static bool begin_line_again(struct tail *t, struct feed *feed)
{
	struct wire *w = feed->w;
	struct wire_lines *l = &t->lines;
	struct source *s = &file_of(w, t)->source;
	const struct wire_mark *before = &l->complete;
	struct framer *f = &l->framer;

	if (t->state != TAIL_LINES || !f->length || !before->n || f->line < 2 ||
	    source_more(s, f->start - before->n, &w->block, NULL) < 0 ||
	    !str_starts(w->block.bytes, str_make(before->bytes, before->n)))
		return false;
	spooled_cut(&s->spooled, f->start);
	l->at = s->end = f->start;
	l->mark = l->complete;
	f->length = 0;
	f->blank = true;
	buf_clear(&f->held);
	return true;
}

static enum tail_result read_log(struct tail *t, struct feed *feed, struct err *err)
{
	struct wire *w = feed->w;
	/* a closed file is opened only if it has changed; one that may become a document needs its
	 * mtime */
	bool closed = file_of(w, t)->source.fd < 0;
	enum tail_result news = closed || t->state == TAIL_DETECTING
				      ? check_stat(t, &file_of(w, t)->source)
				      : TAIL_CHANGED;

	if (news == TAIL_REPLACED || (closed && news == TAIL_EOF))
		return news;
	for (;;) {
		const struct wire_mark *mark = &t->lines.mark;
		const struct str known = str_make(mark->bytes, mark->n);

		if (wire_ensure_open(w, t->file, err) < 0 ||
		    source_more(&file_of(w, t)->source, t->lines.at - mark->n, &w->block, err) < 0)
			return TAIL_FAILED;
		if (!str_starts(w->block.bytes, known)) {
			if (!begin_line_again(t, feed))
				return TAIL_CHANGED;
			continue;
		}
		if (w->block.bytes.n == mark->n)
			return TAIL_EOF;
		consume(t, feed, w->block.bytes, w->block.bytes.n - mark->n);
		if (t->state == TAIL_DOCUMENT)
			return TAIL_EOF;
		if (!feed->budget_bytes)
			return TAIL_MORE;
	}
}

enum tail_result tail_read(struct tail *t, struct feed *feed, struct err *err)
{
	const struct source *s = &file_of(feed->w, t)->source;
	enum tail_result news;

	if (t->came_ms == TAIL_NOT_YET && tail_incomplete(feed->w, t))
		t->came_ms = t->line_ms = feed->now_ms;
	if (s->kind == SOURCE_STREAM)
		return read_stream(t, feed, err);
	if (t->state != TAIL_DOCUMENT)
		return read_log(t, feed, err);
	news = check_stat(t, s);
	if (news == TAIL_FAILED)
		source_fail(s->name, errno, err);
	return news;
}
