/* Copies the lines of logs at the offsets that they have there, one call in flight for each log. What
 * comes meanwhile is the next call, so the store gets bigger calls the slower it is. Bytes are taken as
 * the wire has read them, so rotated files are copied to their end, too. */
#include "base/sha256.h"
#include "decide/identity.h"
#include "json/compose.h"
#include "ship/ship_internal.h"

#include <stdlib.h>
#include <sys/stat.h>

enum {
	CALL_BYTES = 256 << 10,
	PIECE_BYTES = 8 << 20, /* of a line that does not end before */
	PAUSE_MIN_MS = 20,
	PAUSE_MAX_MS = 1000,
	PAUSE_FACTOR = 8, /* of the time that the last call took */
	HEAD_BYTES = 4096,
	HEAD_LINE_MIN = 64,
};

static struct wire_file *wire_file_of(const struct shipped_file *f)
{
	return &f->s->load->wire.files.v[f->file];
}

static bool is_shipped(const struct wire_file *w)
{
	return !w->joined && !w->said && !w->found && !w->text;
}

/* Bytes of a file that the wire has read; false: not now. */
static bool fetch(struct shipped_file *f, uint64_t offset, size_t n, struct str *out)
{
	struct err err;

	return wire_fetch_block(&f->s->load->wire, f->file, offset, n, &f->s->room, out, &err) == 0;
}

/* ---- which log it is ---- */

/* A log is known by its first line, and as many more as make it unlikely that another begins the same; a
 * stream, whose offsets begin with this run, by a number of its own. The capture of a running agent is
 * read like a stream, and is a log. */
static bool read_head(struct shipped_file *f)
{
	const struct wire_file *w = wire_file_of(f);
	uint64_t left = w->source.end - w->source.start;
	size_t n = left < HEAD_BYTES ? (size_t)left : HEAD_BYTES, end = 0;
	struct str bytes;
	char id[37];

	if (w->source.kind == SOURCE_STREAM && !w->ours) {
		uuid_make(id);
		sha256_hex(str_of(id), f->head);
		return true;
	}
	if (!n || !fetch(f, w->source.start, n, &bytes))
		return false;
	for (size_t i = 0; i < bytes.n && end < HEAD_LINE_MIN; i++)
		if (bytes.p[i] == '\n')
			end = i + 1;
	if (!end && n < HEAD_BYTES && w->is_lines)
		return false; /* its first line is still being written */
	sha256_hex(str_make(bytes.p, end ? end : bytes.n), f->head);
	return true;
}

/* Whether the store's last line is at its place in this file, too. */
static bool has_mark(struct shipped_file *f, int64_t seq, int64_t next, struct str mark)
{
	unsigned char hash[32];
	struct str bytes;

	if (!mark.n || next <= seq)
		return true; /* it has no line, or lines were trimmed */
	if (!fetch(f, (uint64_t)seq, (size_t)(next - seq), &bytes))
		return false;
	sha256(bytes, hash);
	return str_eq(mark, str_make((const char *)hash, sizeof(hash)));
}

static void ask_where(struct shipped_file *f);

static void learn_where(void *ctx, const struct store_answer *a)
{
	struct shipped_file *f = ctx;

	if (!a->rows) {
		shipper_say(f->s, "%s: its lines are not copied%s: %.*s", wire_file_of(f)->name.p,
			    a->unsettled ? " yet" : "", STR_ARG(a->why));
		f->state = SHIP_FILE_NEW;
		f->next_ms = loop_now_ms() + (a->unsettled ? SHIP_RETRY_MS : SHIP_REFUSED_MS);
		f->refused = !a->unsettled;
		return;
	}
	f->id = store_int(a->rows, 0, 0);
	f->number = store_int(a->rows, 0, 1);
	f->at = (uint64_t)store_int(a->rows, 0, 2);
	f->state = SHIP_FILE_READY;
	f->refused = false;
	if (!has_mark(f, store_int(a->rows, 0, 3), (int64_t)f->at, store_str(a->rows, 0, 4)))
		ask_where(f); /* the next number */
}

static void ask_where(struct shipped_file *f)
{
	const struct wire_file *w = wire_file_of(f);
	const struct desk *desk = desks_find(&f->s->load->desks, w->group);
	struct store_request r = { .sql = "select id, number, next, mark_seq, mark from "
					  "gavel.ship_open($1, $2, $3::bigint, $4::int)",
				   .n = 4, .answered = learn_where, .ctx = f };
	struct buf name = { 0 };

	if (!desk) {
		f->state = SHIP_FILE_NEVER;
		return;
	}
	shipper_source_name(f->s, desk, &name);
	if (w->listed && desk->is_dir) { /* a capture has a desk of its own */
		buf_addc(&name, '/');
		buf_add_str(&name, w->base);
	}
	r.values[0] = store_text(buf_str(&name));
	r.values[1] = store_text(str_of(f->head));
	r.values[2] = store_number((int64_t)w->source.end);
	r.values[3] = store_number(f->number);
	store_ask(f->s->store, &r);
	buf_release(&name);
	f->state = SHIP_FILE_OPENING;
}

/* ---- lines ---- */

/* A file that was cut before its lines were copied has only what was read live. */
static void note_lost(struct shipped_file *f, uint64_t left)
{
	const struct wire_file *w = wire_file_of(f);

	if (w->source.kind != SOURCE_FILE || !w->source.spool_only)
		return; /* it is tried again */
	shipper_say(f->s, "%s: %llu bytes were cut before they were copied; they are lost to the store",
		    w->name.p, (unsigned long long)left);
	f->state = SHIP_FILE_NEVER;
}

/* The bytes that make the next call: whole lines, or what a document has. */
static struct str next_bytes(struct shipped_file *f)
{
	const struct wire_file *w = wire_file_of(f);
	uint64_t end = w->source.end, left = end > f->at ? end - f->at : 0;
	bool document = w->source.kind == SOURCE_FILE && !w->is_lines && f->s->load->complete;

	for (size_t most = CALL_BYTES; left; most *= 4) {
		size_t n = left < most ? (size_t)left : most, whole;
		struct str bytes;

		if (!fetch(f, f->at, n, &bytes)) {
			note_lost(f, left);
			return STR_NONE;
		}
		for (whole = n; whole && bytes.p[whole - 1] != '\n'; whole--)
			;
		f->behind = n < left;
		if (whole)
			return str_make(bytes.p, whole);
		if (n >= PIECE_BYTES || (document && n == left))
			return bytes;
		if (n == left)
			break;
	}
	f->behind = false;
	return STR_NONE;
}

/* Both may go on: a line is taken from the one that comes first. */
static void note_shared(struct shipped_file *f)
{
	if (f->shared || f->at <= f->sent)
		return;
	f->shared = true;
	shipper_say(f->s, "%s: the store has it up to byte %llu already: another gavel ship copies it, too; "
			  "nothing is copied twice, but stop one of them",
		    wire_file_of(f)->name.p, (unsigned long long)f->at);
}

/* More than the store's owner lets this source ship: said once a minute. */
static void note_slowed(struct shipped_file *f, int64_t now_ms)
{
	if (f->slowed_ms && now_ms - f->slowed_ms < SHIP_REFUSED_MS)
		return;
	f->slowed_ms = now_ms;
	shipper_say(f->s, "%s: more lines come than the store takes from this source; they wait in the log, or "
			  "its owner raises the source's rate", wire_file_of(f)->name.p);
}

static void learn_next(void *ctx, const struct store_answer *a)
{
	struct shipped_file *f = ctx;
	int64_t now = loop_now_ms(), took = now - f->sent_ms, wait;

	f->state = SHIP_FILE_READY;
	if (!a->rows) {
		shipper_say(f->s, "%s: lines were refused: %.*s", wire_file_of(f)->name.p,
			    STR_ARG(a->why));
		f->next_ms = now + SHIP_RETRY_MS;
		return;
	}
	f->at = (uint64_t)store_int(a->rows, 0, 0);
	note_shared(f);
	wait = store_int(a->rows, 0, 1);
	if (wait)
		note_slowed(f, now);
	took = PAUSE_FACTOR * took < PAUSE_MAX_MS ? PAUSE_FACTOR * took : PAUSE_MAX_MS;
	if (!wait && !f->behind)
		wait = took < PAUSE_MIN_MS ? PAUSE_MIN_MS : took;
	f->next_ms = now + wait;
}

static void send_lines(struct shipped_file *f, struct str bytes, int64_t now_ms)
{
	VEC(struct str) lines = { 0 };
	struct store_request r = { .sql = "select next, wait_ms from gavel.ship($1::int, $2::bigint, $3)",
				   .n = 3, .answered = learn_next, .ctx = f };

	f->sent = f->at + bytes.n;
	while (bytes.n) {
		const char *end = memchr(bytes.p, '\n', bytes.n);
		size_t n = end ? (size_t)(end - bytes.p) + 1 : bytes.n;

		vec_push(&lines, str_make(bytes.p, n));
		bytes = str_from(bytes, n);
	}
	r.values[0] = store_number(f->id);
	r.values[1] = store_number((int64_t)f->at);
	r.values[2] = store_list(lines.v, lines.n);
	store_ask(f->s->store, &r);
	vec_release(&lines);
	f->sent_ms = now_ms;
	f->state = SHIP_FILE_SENDING;
}

static bool has_more(const struct shipped_file *f)
{
	return wire_file_of(f)->source.end > f->at;
}

static void step_file(struct shipped_file *f, int64_t now_ms)
{
	struct str bytes;

	if (f->state == SHIP_FILE_NEW && now_ms >= f->next_ms && read_head(f))
		ask_where(f);
	if (f->state != SHIP_FILE_READY || now_ms < f->next_ms || !has_more(f))
		return;
	bytes = next_bytes(f);
	if (bytes.n)
		send_lines(f, bytes, now_ms);
}

static void add_files(struct shipper *s)
{
	for (uint32_t i = s->files.n; i < s->load->wire.files.n; i++) {
		struct shipped_file *f = xcalloc(1, sizeof(*f));

		f->s = s;
		f->file = i;
		if (!is_shipped(&s->load->wire.files.v[i]))
			f->state = SHIP_FILE_NEVER;
		vec_push(&s->files, f);
	}
}

void ship_lines_step(struct shipper *s, int64_t now_ms)
{
	if (s->settings.options->no_lines || !s->load->complete)
		return;
	add_files(s);
	for (uint32_t i = 0; i < s->files.n; i++)
		step_file(s->files.v[i], now_ms);
}

int ship_lines_wait_ms(const struct shipper *s, int64_t now_ms)
{
	int wait = -1;

	for (uint32_t i = 0; i < s->files.n; i++) {
		const struct shipped_file *f = s->files.v[i];
		int64_t left = f->next_ms - now_ms;

		if (f->state == SHIP_FILE_READY && f->next_ms && left > 0 && has_more(f))
			wait = loop_sooner(wait, (int)left);
	}
	return wait;
}

bool ship_lines_are_done(const struct shipper *s)
{
	if (s->settings.options->no_lines)
		return true;
	for (uint32_t i = 0; i < s->files.n; i++) {
		struct shipped_file *f = s->files.v[i];

		if (f->state == SHIP_FILE_OPENING || f->state == SHIP_FILE_SENDING ||
		    (f->state == SHIP_FILE_NEW && f->next_ms && !f->refused))
			return false;
		if (f->state == SHIP_FILE_READY && has_more(f) && next_bytes(f).n)
			return false;
	}
	return s->files.n == s->load->wire.files.n;
}

static const struct shipped_file *file_of(const struct shipper *s, uint32_t message)
{
	uint32_t file = message_route(&s->load->model, message)->source;

	return file < s->files.n ? s->files.v[file] : NULL;
}

bool ship_is_opening(const struct shipper *s, uint32_t message)
{
	const struct shipped_file *f = file_of(s, message);

	return f && f->state == SHIP_FILE_OPENING;
}

bool ship_put_place(const struct shipper *s, uint32_t message, struct buf *out)
{
	const struct shipped_file *f = file_of(s, message);

	if (!f || (f->state != SHIP_FILE_READY && f->state != SHIP_FILE_SENDING))
		return false;
	json_comma(out);
	buf_addc(out, '{');
	json_put_int(out, "source", f->id);
	json_put_number(out, "offset", message_offset(&s->load->model, message));
	buf_addc(out, '}');
	return true;
}

void ship_lines_again(struct shipper *s)
{
	for (uint32_t i = 0; i < s->files.n; i++)
		if (s->files.v[i]->state == SHIP_FILE_READY) {
			s->files.v[i]->number--; /* that one again, not the next */
			ask_where(s->files.v[i]);
		}
}
