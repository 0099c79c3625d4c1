/* The registry of dialects, and from a line's bytes to the dialect that reads them. */
#include "dialect/dialect.h"

#include "base/err.h"
#include "base/utf8.h"

#include <pthread.h>
#include <stdio.h>

static const struct dialect *const registry[] = {
	&dialect_feedback, &dialect_envelope,	  &dialect_collaboration,
	&dialect_handoff,  &dialect_orchestrator,
};
enum { REGISTERED = sizeof(registry) / sizeof(registry[0]) };

const struct dialect *dialect_of(enum dialect_id id)
{
	for (unsigned i = 0; i < REGISTERED; i++)
		if (registry[i]->id == id)
			return registry[i];
	return NULL;
}

/* The tells of all dialects by name, so that each member of a message is looked up once. */
enum { TELLS_MAX = 64, TELL_SLOTS = 256, MEMBERS_MAX = 64, WEIGHT_BITS = 12 };
_Static_assert(REGISTERED * WEIGHT_BITS <= 64 && MEMBERS_MAX * 60 < 1 << WEIGHT_BITS, "sums have room");

struct told {
	struct str name;
	uint64_t weights; /* of all dialects, WEIGHT_BITS each */
	int glance; /* which member of struct glance it is, -1 = none */
};
static struct told told[TELLS_MAX];
static uint8_t told_slots[TELL_SLOTS]; /* number + 1 */
static unsigned told_n;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static unsigned tell_slot(struct str name)
{
	unsigned first = (unsigned char)name.p[0], last = (unsigned char)name.p[name.n - 1];

	return ((unsigned)name.n * 11 + first * 5 + last * 37) % TELL_SLOTS;
}

static struct told *find_told(struct str name)
{
	for (unsigned slot = tell_slot(name); told_slots[slot]; slot = (slot + 1) % TELL_SLOTS)
		if (str_eq(told[told_slots[slot] - 1].name, name))
			return &told[told_slots[slot] - 1];
	return NULL;
}

static struct told *add_told(struct str name)
{
	struct told *known = find_told(name);
	unsigned slot = tell_slot(name);

	if (known)
		return known;
	if (told_n == TELLS_MAX)
		BUG("more than %d telling names", TELLS_MAX);
	while (told_slots[slot])
		slot = (slot + 1) % TELL_SLOTS;
	told[told_n] = (struct told){ .name = name, .glance = -1 };
	told_slots[slot] = (uint8_t)++told_n;
	return &told[told_n - 1];
}

static void collect_tells(void)
{
	static const char *const glances[GLANCES] = {
		[GLANCE_TYPE] = "type",	    [GLANCE_ID] = "id",
		[GLANCE_STATUS] = "status", [GLANCE_TIMESTAMP] = "timestamp",
		[GLANCE_PAYLOAD] = "payload",
	};

	for (unsigned k = 0; k < REGISTERED; k++)
		for (const struct tell *t = registry[k]->tells; t->name; t++)
			add_told(str_of(t->name))->weights += (uint64_t)t->weight
							      << k * WEIGHT_BITS;
	for (int i = 0; i < GLANCES; i++)
		add_told(str_of(glances[i]))->glance = i;
}

/* Names have the same numbers in all decoders: those that tell come first, in their order, so
 * told[i] is name number i + 1; then all that shapes have. */
static struct names all_names;

static void number_names(void)
{
	collect_tells();
	for (unsigned i = 0; i < told_n; i++)
		if (name_number(&all_names, names_add(&all_names, told[i].name)) != i + 1)
			BUG("%.*s is not the name number %u", STR_ARG(told[i].name), i + 1);
	for (unsigned k = 0; k < REGISTERED; k++)
		for (const struct shape *const *shape = registry[k]->shapes; *shape; shape++)
			shapes_compile(*shape, &all_names);
}

static struct names *names_new(void)
{
	struct names *names = xmalloc(sizeof(*names));

	pthread_once(&once, number_names);
	*names = all_names;
	return names;
}

static const struct told *told_of(const struct names *names, struct str name)
{
	unsigned number = names ? name_number(names, name.p) : 0;

	if (number)
		return number <= told_n ? &told[number - 1] : NULL;
	return name.n ? find_told(name) : NULL;
}

/* A member for probes to ask for its text: one with escapes is copied, since the bytes of the
 * message are still to be hashed as they came. */
static yyjson_val *glance_at(yyjson_val *v, struct decoder *d)
{
	yyjson_val *copy = v;

	if (d && yyjson_is_str(v) && (v->tag & JSON_ESCAPED)) {
		copy = arena_alloc(&d->arena, sizeof(*copy) + yyjson_get_len(v) + JSON_PADDING);
		copy->tag = v->tag;
		copy->uni.str = memcpy(copy + 1, v->uni.str, yyjson_get_len(v));
	}
	return copy;
}

/* d: the decoder that has read the message, or NULL. */
static enum dialect_id detect(yyjson_val *root, struct decoder *d, int *scores)
{
	const struct names *names = d ? d->check.names : NULL;
	int sum[REGISTERED], most = 0, best = DETECT_MIN - 1;
	uint64_t sums = 0;
	enum dialect_id winner = DIALECT_UNKNOWN;
	yyjson_val *glance[GLANCES] = { 0 };
	size_t i, n;
	yyjson_val *key, *v;

	if (scores)
		memset(scores, 0, DIALECT_COUNT * sizeof(*scores));
	if (!yyjson_is_obj(root))
		return DIALECT_UNKNOWN;
	if (!names)
		pthread_once(&once, number_names);
	yyjson_obj_foreach(root, i, n, key, v) {
		const struct told *t = told_of(names, json_str(key));

		if (i >= MEMBERS_MAX) /* no message has that many at its top */
			break;
		if (!t)
			continue;
		sums += t->weights;
		if (t->glance >= 0 && !glance[t->glance])
			glance[t->glance] = glance_at(v, d);
	}
	for (unsigned k = 0; k < REGISTERED; k++) {
		sum[k] = (int)(sums >> k * WEIGHT_BITS & ((1 << WEIGHT_BITS) - 1));
		most = sum[k] > most ? sum[k] : most;
	}
	for (unsigned k = 0; k < REGISTERED; k++) {
		/* whoever cannot win is not asked */
		if (sum[k] && registry[k]->probe &&
		    (scores || (sum[k] + PROBE_MAX >= most && sum[k] + PROBE_MAX > best)))
			sum[k] += registry[k]->probe(glance);
		if (scores)
			scores[registry[k]->id] = sum[k];
		if (sum[k] > best) {
			best = sum[k];
			winner = registry[k]->id;
		}
	}
	return winner;
}

enum dialect_id dialect_detect(yyjson_val *root, int *scores)
{
	return detect(root, NULL, scores);
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

enum json_outcome decoder_read(struct decoder *d, struct json_reader *r, struct str bytes,
			       yyjson_val **root)
{
	if (!d->check.names)
		d->check.names = names_new();
	r->names = d->check.names;
	return d->lazily ? json_read_lazily(r, bytes, root) : json_read(r, bytes, root);
}

static enum json_outcome read_outer(struct decoder *d, struct str bytes, yyjson_val **root)
{
	struct str t = str_trim(bytes);

	*root = NULL;
	d->outer.why = "not JSON";
	d->outer.where = 0;
	if (d->info.flags & RECORD_OVERSIZE)
		return JSON_NOT;
	/* most log lines are told from JSON by their first byte */
	if (t.n == 0 || !strchr("{[\"-0123456789tfn", t.p[0]))
		return JSON_NOT;
	d->outer.in_place = d->info.lent;
	return decoder_read(d, &d->outer, bytes, root);
}

void dialect_decode(struct decoder *d, struct str bytes, const struct frame_info *info,
		    struct message *m)
{
	const struct dialect *dialect;
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
	d->check.m = m;
	d->check.depth = 0;
	d->check.timed = NULL;
	d->lazily = true;
	m->flags = (uint16_t)d->info.flags;
	outcome = read_outer(d, bytes, &root);
	if (!root || d->info.text) {
		decode_text(d, bytes, m, outcome);
		return;
	}
	m->dialect = detect(root, d, NULL);
	m->kind = STR("json");
	if (outcome == JSON_REPAIRED) {
		m->flags |= RECORD_REPAIRED;
		diag_add(&m->diags, SEVERITY_WARNING, "json/repaired", STR(""),
			 "holds broken Unicode; read with U+FFFD in its place");
	}
	dialect = dialect_of(m->dialect);
	if (dialect)
		dialect->decode(d, root, m);
	/* a whole JSON value is whole, newline or not */
	m->flags &= (uint16_t)~RECORD_TRUNCATED;
	if (d->keeps) {
		json_reader_keep(&d->outer);
		json_reader_keep(&d->inner);
	}
}

void decoder_forget(struct decoder *d)
{
	arena_reset(&d->arena);
	json_reader_forget(&d->outer);
	json_reader_forget(&d->inner);
}

void dialect_look(struct decoder *d, struct str bytes)
{
	arena_reset(&d->arena);
	d->info = (struct frame_info){ 0 };
	d->lazily = false;
	read_outer(d, bytes, &d->looked);
	d->looked_dialect = d->looked ? dialect_of(dialect_detect(d->looked, NULL)) : NULL;
	d->looked_response = NULL;
	d->response_sought = false;
}

void dialect_summarize(struct decoder *d, struct str bytes, struct buf *out)
{
	dialect_look(d, bytes);
	if (d->looked_dialect)
		d->looked_dialect->summarize(d, d->looked, out);
	else
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
	detail_add(out, label, arena_str(&d->arena, buf_str(&b)), false);
	buf_release(&b);
}

struct str scalar_text(struct decoder *d, yyjson_val *v)
{
	struct buf b = { 0 };
	struct str s;

	if (!v)
		return STR_NONE;
	if (yyjson_is_str(v))
		return json_str(v);
	json_write(&b, v);
	s = arena_str(&d->arena, buf_str(&b));
	buf_release(&b);
	return s;
}

int64_t iso_time(yyjson_val *v)
{
	int64_t ms;

	return yyjson_is_str(v) && when_parse_iso(json_str(v), &ms) ? ms : WHEN_NONE;
}
