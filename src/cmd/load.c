/* Reading sources into a model, and a message's bytes again for whoever wants to look. */
#include "cmd/load.h"

#include "base/sha256.h"

#include <stdio.h>
#include <stdlib.h>

struct reading {
	struct load *l;
	uint32_t file;
	uint32_t messages, binary;
	load_fn each;
	void *ctx;
};

static void take_frame(void *ctx, const struct frame *frame)
{
	struct reading *r = ctx;
	struct load *l = r->l;
	const struct wire_file *file = &l->wire.files.v[r->file];
	struct frame_info info = { .flags = frame->flags, .full_length = frame->full_length };
	struct place place = { .source = r->file, .line = frame->line, .offset = frame->offset,
			       .group = file->group };

	if (file->whole)
		info.file_name = file->base;
	place.length = frame->full_length > UINT32_MAX ? UINT32_MAX : (uint32_t)frame->full_length;
	dialect_decode(&l->decoder, frame->bytes, &info, &l->message);
	if (!l->message.session.n)
		l->message.session = file->session;
	model_apply(&l->model, &l->message, &place);
	r->messages++;
	r->binary += (l->message.flags & RECORD_BINARY) != 0;
	if (r->each)
		r->each(r->ctx, l, &l->message, vec_last(&l->model.records));
}

/* When a file of a directory was made, as its first message tells. */
struct dated {
	uint32_t file;
	int64_t time_ms;
	int rank;
	struct str name;
};

struct dating {
	struct load *l;
	struct dated *dated;
};

static void date_frame(void *ctx, const struct frame *frame)
{
	struct dating *d = ctx;

	if (d->dated->time_ms != WHEN_NONE)
		return;
	dialect_decode(&d->l->decoder, frame->bytes, NULL, &d->l->message);
	d->dated->time_ms = d->l->message.time_ms;
}

static int by_date(const void *left, const void *right)
{
	const struct dated *a = left, *b = right;

	if (a->time_ms != b->time_ms)
		return a->time_ms < b->time_ms ? -1 : 1;
	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	return str_cmp(a->name, b->name);
}

static int rank_of(struct str base)
{
	static const char *const order[] = { "task-", "result-", "decision-", "review-" };

	for (int i = 0; i < 4; i++)
		if (str_starts(base, str_of(order[i])))
			return i;
	return 4;
}

/* Files of one directory are messages of one session: they are applied in the order of their own
 * times, not of their names. Returns how many files, from `first`, it put in order. */
static uint32_t order_directory(struct load *l, uint32_t first, struct dated *out)
{
	const struct wire_file *f = l->wire.files.v;
	uint32_t n = 0;

	while (first + n < l->wire.files.n && str_eq(f[first + n].group, f[first].group) &&
	       !str_eq(f[first + n].group, f[first + n].name))
		n++;
	if (n < 2) {
		out[0] = (struct dated){ .file = first };
		return 1;
	}
	for (uint32_t i = 0; i < n; i++) {
		struct err err;
		struct dating d = { l, &out[i] };

		out[i] = (struct dated){ first + i, WHEN_NONE, rank_of(f[first + i].base),
					 f[first + i].base };
		/* an error will be said when it is read in earnest */
		wire_read(&l->wire, first + i, date_frame, &d, &err);
	}
	qsort(out, n, sizeof(*out), by_date);
	return n;
}

void add_clean(struct buf *out, struct str s, enum text_mode mode)
{
	struct cells it = cells_start(raw_of(s), mode, false);
	struct cell cell;

	while (cells_next(&it, &cell) == CELLS_CELL) {
		char bytes[12];

		buf_add(out, bytes, cell_bytes(&cell, bytes));
	}
}

void load_say(struct load *l, struct str sentence)
{
	struct buf here = { 0 }, *line = l->hold ? l->hold : &here;

	buf_adds(line, "gavel: ");
	add_clean(line, sentence, TEXT_LINE);
	buf_addc(line, '\n');
	if (!l->hold)
		fwrite(line->p, 1, line->n, stderr);
	buf_release(&here);
}

static void say_binary(struct load *l, const struct reading *r)
{
	struct buf text = { 0 };

	buf_add_str(&text, load_source_name(l, r->file));
	buf_printf(&text, ": binary? %u of %u lines are no text; compressed logs must be unpacked first",
		   r->binary, r->messages);
	load_say(l, buf_str(&text));
	buf_release(&text);
}

void load_run(struct load *l, load_fn each, void *ctx)
{
	struct dated *order = xmalloc((l->wire.files.n + 1) * sizeof(*order));

	for (uint32_t first = 0, n; first < l->wire.files.n && !l->wire.stop; first += n) {
		n = order_directory(l, first, order);
		for (uint32_t i = 0; i < n && !l->wire.stop; i++) {
			struct reading r = { .l = l, .file = order[i].file, .each = each,
					     .ctx = ctx };
			struct err err;

			if (wire_read(&l->wire, r.file, take_frame, &r, &err)) {
				load_say(l, str_of(err.text));
				l->trouble = true;
			}
			if (r.binary > r.messages / 2)
				say_binary(l, &r);
		}
	}
	free(order);
}

struct str load_source_name(const struct load *l, uint32_t source)
{
	return l->wire.files.v[source].name;
}

static struct str read_bytes(void *ctx, uint32_t message)
{
	struct load *l = ctx;
	const struct record *r = &l->model.records.v[message];
	struct err err;

	if (wire_fetch(&l->wire, r->source, r->offset, r->length, &l->bytes, &err)) {
		buf_clear(&l->bytes);
		buf_printf(&l->bytes, "(cannot be read any more: %s)", err.text);
	}
	return buf_str(&l->bytes);
}

static bool read_detail(void *ctx, const struct item *item, const struct item_state *state,
			struct detail *out)
{
	struct load *l = ctx;

	/* the items of one message are asked for one after the other */
	if (l->looked_at != state->message)
		dialect_look(&l->again, read_bytes(l, state->message));
	l->looked_at = state->message;
	return dialect_detail(&l->again, item->kind, state->index, out);
}

static struct str read_summary(void *ctx, uint32_t message)
{
	struct load *l = ctx;
	const struct record *r = &l->model.records.v[message];

	l->looked_at = NONE;
	buf_clear(&l->text);
	if (r->flags & RECORD_OVERSIZE)
		buf_printf(&l->text, "oversize, %u bytes", r->length);
	else
		dialect_summarize(&l->again, read_bytes(l, message), &l->text);
	return buf_str(&l->text);
}

static struct str read_source(void *ctx, uint32_t message)
{
	struct load *l = ctx;

	return load_source_name(l, l->model.records.v[message].source);
}

static const struct diags *read_diags(void *ctx, uint32_t message)
{
	struct load *l = ctx;
	const struct record *r = &l->model.records.v[message];
	const struct wire_file *file = &l->wire.files.v[r->source];
	struct frame_info info = { .flags = r->flags & (RECORD_TRUNCATED | RECORD_OVERSIZE),
				   .full_length = r->length };
	const struct model *m = &l->model;
	uint32_t low = 0, high = m->findings.n;

	if (file->whole)
		info.file_name = file->base;
	l->looked_at = NONE;
	dialect_decode(&l->again, read_bytes(l, message), &info, &l->again_message);
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (m->findings.v[middle].message < message)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < m->findings.n && m->findings.v[low].message == message; low++)
		diag_add(&l->again_message.diags, m->findings.v[low].severity,
			 m->findings.v[low].rule, m->findings.v[low].pointer, "%.*s",
			 STR_ARG(m->findings.v[low].text));
	return &l->again_message.diags;
}

int load_open(struct load *l, const char *const *sources, uint32_t n, size_t max_line_bytes)
{
	struct err err;

	model_init(&l->model);
	l->looked_at = NONE;
	l->reader = (struct reader){ l, read_detail, read_summary, read_bytes, read_diags,
				     read_source };
	l->wire.max_bytes = max_line_bytes;
	for (uint32_t i = 0; i < (n ? n : 1); i++)
		if (wire_add(&l->wire, n ? sources[i] : "-", &err)) {
			load_say(l, str_of(err.text));
			l->trouble = true;
		}
	for (uint32_t i = 0; i < l->wire.warnings.n; i++)
		load_say(l, l->wire.warnings.v[i]);
	return l->wire.files.n ? 0 : -1;
}

int load_filter(const struct options *o, int64_t day, struct filter **out)
{
	struct buf text = { 0 };
	struct err err;

	*out = NULL;
	if (!o->filter && !o->since && !o->until)
		return 0;
	if (o->filter)
		buf_adds(&text, o->filter);
	if (o->since)
		buf_printf(&text, " after:\"%s\"", o->since);
	if (o->until)
		buf_printf(&text, " before:\"%s\"", o->until);
	*out = filter_new(buf_str(&text), day, &err);
	buf_release(&text);
	if (!*out)
		fprintf(stderr, "gavel: %s\n", err.text);
	return *out ? 0 : -1;
}

void load_rev(struct load *l, const struct item *item, const struct item_state *state,
	      struct buf *out)
{
	struct detail detail;
	struct buf compact = { 0 };
	char hex[65];

	if (!read_detail(l, item, state, &detail) || !detail.value)
		return;
	json_write(&compact, detail.value);
	sha256_hex(buf_str(&compact), hex);
	buf_printf(out, "sha256:%s", hex);
	buf_release(&compact);
}

void load_release(struct load *l)
{
	wire_release(&l->wire);
	model_release(&l->model);
	decoder_release(&l->decoder);
	decoder_release(&l->again);
	message_release(&l->message);
	message_release(&l->again_message);
	buf_release(&l->bytes);
	buf_release(&l->text);
}
