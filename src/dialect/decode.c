/* Decodes one line: parse it, detect its dialect, call that dialect's decoder. */
#include "dialect/dialect.h"

#include "base/err.h"
#include "base/utf8.h"

#include <stdlib.h>

static uint16_t binary_flag(struct str bytes)
{
	return bytes.n && (memchr(bytes.p, 0, bytes.n) || !utf8_valid(bytes)) ? RECORD_BINARY : 0;
}

bool dialect_is_log_line(struct str bytes, const struct frame_info *info, uint16_t *flags)
{
	if (usually(bytes.n && bytes.p[0] == '{') || json_is_possible(bytes) ||
	    info->flags & (RECORD_OVERSIZE | RECORD_TRUNCATED))
		return false;
	*flags = (uint16_t)info->flags | binary_flag(bytes);
	return true;
}

void dialect_log_line(struct message *m, uint16_t flags)
{
	message_clear(m);
	m->dialect = DIALECT_TEXT;
	m->kind = STR("log");
	m->flags = flags;
}

/* A line that is not JSON is a log line, by the orchestrator's text. If it began like JSON, say
 * so. */
static void decode_text(struct decoder *d, struct str bytes, struct message *m,
			enum json_outcome outcome)
{
	struct str t = str_trim(bytes);

	m->dialect = DIALECT_TEXT;
	m->kind = STR("log");
	if (d->info.flags & RECORD_OVERSIZE) {
		diag_add(&m->diags, SEVERITY_WARNING, "text/oversize", STR(""),
			 "oversize, %llu bytes: not read (--max-line raises the limit)",
			 (unsigned long long)d->info.full_length);
		return;
	}
	m->flags |= binary_flag(bytes);
	if (outcome == JSON_TOO_DEEP)
		diag_add(&m->diags, SEVERITY_WARNING, "json/depth", STR(""),
			 "nested deeper than %d levels: kept as a log line", JSON_DEPTH_MAX);
	else if (d->info.flags & RECORD_TRUNCATED)
		diag_add(&m->diags, SEVERITY_WARNING, "text/truncated", STR(""),
			 "the input ends inside this line");
	else if (outcome == JSON_NOT && t.n && t.p[0] == '{')
		diag_add(&m->diags, SEVERITY_WARNING, "json/syntax", STR(""),
			 "looks like JSON but is invalid: %s at byte %zu", d->outer.why,
			 d->outer.where + 1);
}

static struct names *decoder_names(struct decoder *d)
{
	if (!d->check.names)
		d->check.names = names_of_dialects();
	return d->check.names;
}

enum json_outcome decoder_read(struct decoder *d, struct json_reader *r, struct str bytes,
			       yyjson_val **root)
{
	r->names = decoder_names(d);
	return d->lazily ? json_read_lazily(r, bytes, root) : json_read(r, bytes, root);
}

static enum json_outcome read_outer(struct decoder *d, struct str bytes, yyjson_val **root)
{
	*root = NULL;
	d->outer.why = "not JSON";
	d->outer.where = 0;
	if (d->info.flags & RECORD_OVERSIZE)
		return JSON_NOT;
	if ((!bytes.n || bytes.p[0] != '{') && !json_is_possible(bytes))
		return JSON_NOT;
	d->outer.quiet = d->quiet;
	d->outer.in_place = d->info.lent;
	return decoder_read(d, &d->outer, bytes, root);
}

const char *decoder_read_ahead(struct decoder *d, const char *p, const char *end)
{
	if (*p != '{')
		return NULL;
	d->outer.names = decoder_names(d);
	return json_read_ahead(&d->outer, p, end);
}

/* A time that only one reading has is not believed, nor the later one: it could expire what waits. */
static int64_t earlier_time(int64_t a, int64_t b)
{
	return a == TIME_NONE || b == TIME_NONE ? TIME_NONE : a < b ? a : b;
}

static bool may_have_deadline(const struct event *e)
{
	return e->type == EV_ITEM || e->type == EV_REQUEST || e->type == EV_JUDGEMENT;
}

/* TIME_NONE is never. */
static int64_t latest_deadline(const struct message *m, int64_t latest)
{
	for (uint32_t i = 0; i < m->events.n; i++) {
		const struct event *e = &m->events.v[i];

		if (may_have_deadline(e) && (latest == TIME_NONE || e->deadline_ms == TIME_NONE))
			return TIME_NONE;
		if (may_have_deadline(e) && e->deadline_ms > latest)
			latest = e->deadline_ms;
	}
	return latest;
}

static void set_deadlines(struct message *m, int64_t deadline_ms)
{
	for (uint32_t i = 0; i < m->events.n; i++)
		if (may_have_deadline(&m->events.v[i]))
			m->events.v[i].deadline_ms = deadline_ms;
}

/* What either reading asks waits until the later deadline of both. */
static void share_deadlines(struct message *m, struct message *other)
{
	int64_t latest = latest_deadline(other, latest_deadline(m, TIME_NONE + 1));

	set_deadlines(m, latest);
	set_deadlines(other, latest);
}

/* Whether it could raise an item. */
static bool may_raise(const struct message *m)
{
	for (uint32_t i = 0; i < m->events.n; i++)
		switch (m->events.v[i].type) {
		case EV_ITEM:
		case EV_REQUEST:
		case EV_RESULT:
		case EV_JUDGEMENT:
		case EV_REVIEW_RESULT: return true;
		default: break; /* what asks nobody for anything */
		}
	return false;
}

static void decode_as(struct decoder *d, enum dialect_id dialect, yyjson_val *root,
		      struct message *m)
{
	m->dialect = dialect;
	m->kind = STR("json");
	if (dialect_of(dialect))
		dialect_of(dialect)->decode(d, root, m);
}

/* Decodes the message as those read it who take the last of duplicate names. */
static void decode_last(struct decoder *d, yyjson_val *root, struct message *m)
{
	struct message *other = arena_alloc(&d->arena, sizeof(*other));
	enum dialect_id dialect;
	struct event *events;

	memset(other, 0, sizeof(*other));
	message_clear(other);
	other->diags.arena = &d->arena;
	other->diags.quiet = true;
	checker_begin(&d->check, other);
	json_last_wins(root);
	d->last_wins = true;
	dialect = decoder_detect(d, root);
	decode_as(d, dialect, root, other);
	d->last_wins = false;
	other->flags |= RECORD_AMBIGUOUS;
	m->time_ms = other->time_ms = earlier_time(m->time_ms, other->time_ms);
	share_deadlines(m, other);
	events = other->events.v;
	other->events.v = arena_alloc(&d->arena, other->events.n * sizeof(*events));
	if (other->events.n)
		memcpy(other->events.v, events, other->events.n * sizeof(*events));
	other->events_borrowed = true;
	free(events);
	m->other = may_raise(other) ? other : NULL;
}

/* A name that tells dialects apart stands twice, but the dialect it was taken for does not know it. */
static void decode_doubtful(struct decoder *d, yyjson_val *root, struct message *m)
{
	if (dialect_of(m->dialect)) {
		decode_last(d, root, m);
		if (!m->other)
			return;
	} else { /* in the first reading it is of no dialect */
		json_last_wins(root);
		decode_as(d, decoder_detect(d, root), root, m);
		if (!dialect_of(m->dialect))
			return;
	}
	m->flags |= RECORD_AMBIGUOUS;
	diag_add(&m->diags, SEVERITY_ERROR, "json/duplicate-name", STR(""),
		 "duplicate name; readers disagree on what message this is, so it decides nothing");
}

/* Whether a message is taken for one of the dialect that its capture names: a reply of JSON-RPC, which
 * does not tell, a record of the holder, and what is of no dialect. */
static bool is_of_stream(const struct decoder *d, yyjson_val *root, enum dialect_id detected)
{
	bool reply = json_get(root, "id") && !json_get(root, "method");

	if (!yyjson_is_obj(root))
		return false;
	return d->info.holder || detected == DIALECT_UNKNOWN ||
	       ((detected == DIALECT_CODEX || detected == DIALECT_ACP) && reply);
}

void dialect_decode(struct decoder *d, struct str bytes, const struct frame_info *info,
		    struct message *m)
{
	enum json_outcome outcome;
	enum dialect_id dialect;
	yyjson_val *root;
	uint16_t flags;
	bool twice;

	if (!d->keeps)
		arena_reset(&d->arena);
	m->diags.arena = &d->arena;
	m->diags.quiet = d->quiet;
	d->info = info ? *info : (struct frame_info){ 0 };
	if (dialect_is_log_line(bytes, &d->info, &flags)) {
		dialect_log_line(m, flags);
		return;
	}
	message_clear(m);
	d->bytes = bytes;
	d->looked = NULL;
	d->looked_dialect = NULL;
	d->response_in = NULL;
	checker_begin(&d->check, m);
	d->lazily = true;
	m->flags = (uint16_t)d->info.flags;
	outcome = read_outer(d, bytes, &root);
	if (!root || d->info.text) {
		decode_text(d, bytes, m, outcome);
		return;
	}
	dialect = decoder_detect(d, root);
	if (rarely(d->info.stream != DIALECT_UNKNOWN) && is_of_stream(d, root, dialect))
		dialect = d->info.stream;
	twice = d->twice;
	if (outcome == JSON_REPAIRED) {
		m->flags |= RECORD_REPAIRED;
		diag_add(&m->diags, SEVERITY_WARNING, "json/repaired", STR(""),
			 "holds broken Unicode; read with U+FFFD in its place");
	}
	decode_as(d, dialect, root, m);
	if (rarely(m->flags & RECORD_AMBIGUOUS))
		decode_last(d, root, m);
	else if (rarely(twice))
		decode_doubtful(d, root, m);
	/* a whole JSON value is whole, newline or not */
	m->flags &= (uint16_t)~RECORD_TRUNCATED;
	if (d->keeps) {
		json_reader_keep(&d->outer);
		json_reader_keep(&d->inner);
		json_reader_keep(&d->last_inner);
	}
}

void decoder_reset(struct decoder *d)
{
	arena_reset(&d->arena);
	json_reader_forget(&d->outer);
	json_reader_forget(&d->inner);
	json_reader_forget(&d->last_inner);
}

yyjson_val *elements_at(struct array_index *e, yyjson_val *array, uint32_t index)
{
	size_t i, n;
	yyjson_val *v;

	if (e->last[e->newest].array != array)
		e->newest ^= 1;
	if (e->last[e->newest].array != array) {
		e->last[e->newest].list.n = 0;
		yyjson_arr_foreach(array, i, n, v)
			vec_push(&e->last[e->newest].list, v);
		e->last[e->newest].array = array;
	}
	return index < e->last[e->newest].list.n ? e->last[e->newest].list.v[index] : NULL;
}

void elements_forget(struct array_index *e)
{
	e->last[0].array = e->last[1].array = NULL;
}

void elements_release(struct array_index *e)
{
	vec_release(&e->last[0].list);
	vec_release(&e->last[1].list);
}

void dialect_look(struct decoder *d, struct str bytes, enum dialect_id known)
{
	elements_forget(&d->elements[0]);
	elements_forget(&d->elements[1]);
	arena_reset(&d->arena);
	d->info = (struct frame_info){ 0 };
	d->lazily = false;
	read_outer(d, bytes, &d->looked);
	if (known == DIALECT_UNKNOWN && d->looked)
		known = dialect_detect(d->looked, NULL);
	d->looked_dialect = d->looked ? dialect_of(known) : NULL;
	d->looked_about = d->looked_last = NULL;
	d->response_in = NULL;
}

void dialect_look_about(struct decoder *d, struct str bytes)
{
	decoder_read(d, &d->about, bytes, &d->looked_about);
}

void dialect_look_last(struct decoder *d, struct str bytes)
{
	decoder_read(d, &d->last, bytes, &d->looked_last);
	json_last_wins(d->looked_last);
}

bool dialect_summary(struct decoder *d, struct buf *out)
{
	arena_reset(&d->arena);
	if (d->looked_dialect)
		d->looked_dialect->summarize(d, d->looked, out);
	return d->looked_dialect != NULL;
}

void dialect_summarize(struct decoder *d, struct str bytes, struct buf *out)
{
	dialect_look(d, bytes, DIALECT_UNKNOWN);
	if (!dialect_summary(d, out))
		buf_add_str(out, str_trim(bytes));
}

static const struct detail_field *find_field(const struct detail *d, const char *label)
{
	for (unsigned i = 0; i < d->n; i++)
		if (strcmp(d->field[i].label, label) == 0)
			return &d->field[i];
	return NULL;
}

/* Its texts, some of which are in a reader that is used again. */
static void detail_keep(struct decoder *d, struct detail *out)
{
	out->title = arena_str(&d->arena, out->title);
	for (unsigned i = 0; i < out->n; i++)
		out->field[i].text = arena_str(&d->arena, out->field[i].text);
}

/* Adds what the last of duplicate names make of the item; false = nothing. */
static bool detail_last(struct decoder *d, enum item_kind kind, uint32_t index, bool found,
			struct detail *out)
{
	const struct dialect_ops *dialect = dialect_of(dialect_detect(d->looked_last, NULL));
	struct detail last = { .deadline_ms = TIME_NONE };
	yyjson_val *response_in = d->response_in, *response = d->response;

	detail_keep(d, out);
	d->last_wins = true;
	d->response_in = NULL;
	if (!dialect || !dialect->detail(d, d->looked_last, kind, index, &last))
		last.n = 0;
	d->last_wins = false;
	d->response_in = response_in;
	d->response = response;
	if (!found && last.n) {
		*out = last;
		return true;
	}
	for (unsigned i = 0; i < last.n; i++) {
		const struct detail_field *f = &last.field[i], *same = find_field(out, f->label);

		if (!same || !str_eq(same->text, f->text))
			detail_add(out, arena_printf(&d->arena, "or %s", f->label), f->text,
				   f->id_like);
	}
	return found;
}

bool dialect_detail(struct decoder *d, enum item_kind kind, uint32_t index, struct detail *out)
{
	bool found;

	arena_reset(&d->arena);
	*out = (struct detail){ .deadline_ms = TIME_NONE };
	found = d->looked_dialect && d->looked_dialect->detail(d, d->looked, kind, index, out);
	return d->looked_last ? detail_last(d, kind, index, found, out) : found;
}

void decoder_release(struct decoder *d)
{
	json_reader_release(&d->outer);
	json_reader_release(&d->inner);
	json_reader_release(&d->original);
	json_reader_release(&d->about);
	json_reader_release(&d->last);
	json_reader_release(&d->last_inner);
	checker_release(&d->check);
	arena_release(&d->arena);
	elements_release(&d->elements[0]);
	elements_release(&d->elements[1]);
}

void detail_part(struct detail *out, yyjson_val *value, const yyjson_val *but)
{
	if (out->parts == DETAIL_PARTS_MAX)
		BUG("an item of more than %d parts", DETAIL_PARTS_MAX);
	out->part[out->parts++] = (struct detail_part){ value, but };
}

/* Absent parts leave empty lines, which no value does. */
void detail_write(const struct detail *d, struct buf *out)
{
	size_t start = out->n;

	for (unsigned i = 0; i < d->parts; i++) {
		if (i)
			buf_addc(out, '\n');
		if (d->part[i].value)
			json_write_but(out, d->part[i].value, d->part[i].but);
	}
	if (d->deadline_ms != TIME_NONE)
		buf_printf(out, "%s%lld", out->n > start ? "\n" : "", (long long)d->deadline_ms);
}

void detail_ask(struct detail *out, struct str words, yyjson_val *options, bool several)
{
	if (out->question_n < DETAIL_QUESTIONS_MAX)
		out->questions[out->question_n++] = (struct detail_question){
			words, yyjson_is_arr(options) ? options : NULL, several };
}

void detail_add(struct detail *out, const char *label, struct str text, bool id_like)
{
	if (text.n && out->n < DETAIL_FIELDS_MAX)
		out->field[out->n++] = (struct detail_field){ label, text, id_like };
}

void detail_add_list(struct decoder *d, struct detail *out, const char *label, yyjson_val *array)
{
	struct buf b = { 0 };
	size_t i, n;
	yyjson_val *v;

	if (!yyjson_is_arr(array))
		return;
	yyjson_arr_foreach(array, i, n, v) {
		if (i)
			buf_addc(&b, '\n');
		if (yyjson_is_str(v))
			buf_add_str(&b, json_str(v));
		else
			json_write(&b, v);
	}
	detail_add(out, label, arena_take(&d->arena, &b), false);
}

struct str scalar_text(struct decoder *d, yyjson_val *v)
{
	struct buf b = { 0 };

	if (!v)
		return STR_NONE;
	if (yyjson_is_str(v))
		return json_str(v);
	json_write(&b, v);
	return arena_take(&d->arena, &b);
}

void summary_add(struct decoder *d, struct buf *out, yyjson_val *obj, const char *template)
{
	for (const char *p = template; *p; p++) {
		const char *close = *p == '{' ? strchr(p, '}') : NULL;
		bool any = close && p[1] == '#';
		yyjson_val *v;

		if (!close) {
			buf_addc(out, *p);
			continue;
		}
		v = json_getn(obj, p + 1 + any, (size_t)(close - p) - 1 - any);
		buf_add_str(out, any ? scalar_text(d, v) : json_str(v));
		p = close;
	}
}

/* What is not of any other dialect. */
const struct dialect_ops dialect_unknown = { .name = "unknown", .short_name = "json" };
const struct dialect_ops dialect_text = { .name = "text", .short_name = "text" };
