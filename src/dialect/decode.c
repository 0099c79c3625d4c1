/* Decodes one line: parse it, detect its dialect, call that dialect's decoder. */
#include "dialect/dialect.h"

#include "base/utf8.h"

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
	if (memchr(bytes.p, 0, bytes.n) || !utf8_valid(bytes))
		m->flags |= RECORD_BINARY;
	if (outcome == JSON_TOO_DEEP)
		diag_add(&m->diags, SEVERITY_WARNING, "json/depth", STR(""),
			 "nested deeper than %d levels: kept as a log line", JSON_DEPTH_MAX);
	else if (d->info.flags & RECORD_TRUNCATED)
		diag_add(&m->diags, SEVERITY_WARNING, "text/truncated", STR(""),
			 "the input ends inside this line");
	else if (outcome == JSON_NOT && t.n && t.p[0] == '{')
		diag_add(&m->diags, SEVERITY_WARNING, "json/syntax", STR(""),
			 "begins like JSON but is none: %s at byte %zu", d->outer.why,
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

/* A number, a string, a container, true, false or null. */
static bool begins_json(char c)
{
	return c == '{' || c == '[' || c == '"' || c == '-' || (c >= '0' && c <= '9') || c == 't' ||
	       c == 'f' || c == 'n';
}

static enum json_outcome read_outer(struct decoder *d, struct str bytes, yyjson_val **root)
{
	*root = NULL;
	d->outer.why = "not JSON";
	d->outer.where = 0;
	if (d->info.flags & RECORD_OVERSIZE)
		return JSON_NOT;
	/* most log lines are told from JSON by their first byte */
	if (!bytes.n || bytes.p[0] != '{') {
		struct str t = str_trim(bytes);

		if (t.n == 0 || !begins_json(t.p[0]))
			return JSON_NOT;
	}
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

void dialect_decode(struct decoder *d, struct str bytes, const struct frame_info *info,
		    struct message *m)
{
	const struct dialect_ops *dialect;
	enum json_outcome outcome;
	yyjson_val *root;

	if (!d->keeps)
		arena_reset(&d->arena);
	message_clear(m);
	m->diags.arena = &d->arena;
	m->diags.quiet = d->quiet;
	d->info = info ? *info : (struct frame_info){ 0 };
	d->bytes = bytes;
	d->looked = NULL;
	d->looked_dialect = NULL;
	checker_begin(&d->check, m);
	d->lazily = true;
	m->flags = (uint16_t)d->info.flags;
	outcome = read_outer(d, bytes, &root);
	if (!root || d->info.text) {
		decode_text(d, bytes, m, outcome);
		return;
	}
	m->dialect = decoder_detect(d, root);
	dialect = dialect_of(m->dialect);
	m->kind = STR("json");
	if (outcome == JSON_REPAIRED) {
		m->flags |= RECORD_REPAIRED;
		diag_add(&m->diags, SEVERITY_WARNING, "json/repaired", STR(""),
			 "holds broken Unicode; read with U+FFFD in its place");
	}
	if (dialect)
		dialect->decode(d, root, m);
	/* a whole JSON value is whole, newline or not */
	m->flags &= (uint16_t)~RECORD_TRUNCATED;
	if (d->keeps) {
		json_reader_keep(&d->outer);
		json_reader_keep(&d->inner);
	}
}

void decoder_reset(struct decoder *d)
{
	arena_reset(&d->arena);
	json_reader_forget(&d->outer);
	json_reader_forget(&d->inner);
}

yyjson_val *elements_at(struct array_index *e, yyjson_val *array, uint32_t index)
{
	size_t i, n;
	yyjson_val *v;

	if (e->array != array) {
		elements_forget(e);
		yyjson_arr_foreach(array, i, n, v)
			vec_push(&e->list, v);
		e->array = array;
	}
	return index < e->list.n ? e->list.v[index] : NULL;
}

void elements_forget(struct array_index *e)
{
	e->array = NULL;
	e->list.n = 0;
}

void elements_release(struct array_index *e)
{
	vec_release(&e->list);
	e->array = NULL;
}

void dialect_look(struct decoder *d, struct str bytes)
{
	elements_forget(&d->elements[0]);
	elements_forget(&d->elements[1]);
	arena_reset(&d->arena);
	d->info = (struct frame_info){ 0 };
	d->lazily = false;
	read_outer(d, bytes, &d->looked);
	d->looked_dialect = d->looked ? dialect_of(dialect_detect(d->looked, NULL)) : NULL;
	d->looked_response = NULL;
	d->response_sought = false;
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
	dialect_look(d, bytes);
	if (!dialect_summary(d, out))
		buf_add_str(out, str_trim(bytes));
}

bool dialect_detail(struct decoder *d, enum item_kind kind, uint32_t index, struct detail *out)
{
	arena_reset(&d->arena);
	*out = (struct detail){ 0 };
	return d->looked_dialect &&
	       d->looked_dialect->detail(d, d->looked, kind, index, out);
}

void decoder_release(struct decoder *d)
{
	json_reader_release(&d->outer);
	json_reader_release(&d->inner);
	json_reader_release(&d->original);
	checker_release(&d->check);
	arena_release(&d->arena);
	elements_release(&d->elements[0]);
	elements_release(&d->elements[1]);
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
