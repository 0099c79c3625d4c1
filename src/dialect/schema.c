/* The schema validator: check_object walks an object by its compiled shape. Only values that are
 * not valid by their type and do not pass their fast check go to check_field, which reports. */
#include "dialect/schema.h"

#include "base/err.h"
#include "base/map.h"
#include "event/diag_text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static inline void path_push_field(struct checker *c, const struct field *field)
{
	c->path[c->depth++].field = field;
}

static void path_push_str(struct checker *c, struct str name)
{
	c->path[c->depth++] = (struct path_step){ NULL, name, 0 };
}

static void add_member_diag(struct checker *c, enum severity s, const char *rule, struct str member,
			    const char *text)
{
	if (diag_count_only(&c->m->diags, s, rule))
		return;
	buf_clear(&c->scratch);
	buf_adds(&c->scratch, c->m->inside);
	for (unsigned i = 0; i < c->depth; i++) {
		if (c->path[i].field)
			json_pointer_add(&c->scratch, str_of(c->path[i].field->name));
		else if (c->path[i].name.p)
			json_pointer_add(&c->scratch, c->path[i].name);
		else
			buf_printf(&c->scratch, "/%u", c->path[i].index);
	}
	if (member.p)
		json_pointer_add(&c->scratch, member);
	diag_add_str(&c->m->diags, s, rule, buf_str(&c->scratch), str_of(text));
}

void add_diag(struct checker *c, enum severity s, const char *rule, const char *name,
	      const char *format, ...)
{
	char text[360];
	va_list ap;

	if (diag_count_only(&c->m->diags, s, rule))
		return;
	va_start(ap, format);
	diag_format(text, sizeof(text), format, ap);
	va_end(ap);
	add_member_diag(c, s, rule, name ? str_of(name) : STR_NONE, text);
}

/* Quiet mode only counts: skip formatting. */
#define quoted(s, q) (c->m->diags.quiet ? "" : quoted(s, q))
#define types_text(types, out) (c->m->diags.quiet ? "" : (types_text)(types, out))

static unsigned type_of(yyjson_val *v)
{
	int64_t whole;

	switch (unsafe_yyjson_get_type(v)) {
	case YYJSON_TYPE_STR: return T_STR;
	case YYJSON_TYPE_NUM: return T_NUM | (json_int(v, &whole) ? (unsigned)T_INT : 0);
	case YYJSON_TYPE_BOOL: return T_BOOL;
	case YYJSON_TYPE_OBJ: return T_OBJ;
	case YYJSON_TYPE_ARR: return T_ARR;
	case YYJSON_TYPE_NULL: return T_NULL;
	default: return 0; /* a number out of range, kept raw */
	}
}

static const char *(types_text)(unsigned types, char out[96])
{
	static const struct {
		unsigned type;
		const char *name;
	} names[] = {
		{ T_STR, "a string" },	{ T_NUM, "a number" },	{ T_INT, "a whole number" },
		{ T_BOOL, "a boolean" }, { T_OBJ, "an object" }, { T_ARR, "an array" },
		{ T_NULL, "null" },
	};
	size_t n = 0;

	out[0] = '\0';
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (types & names[i].type)
			n += (size_t)snprintf(out + n, 96 - n, "%s%s", n ? " or " : "",
					      names[i].name);
	return out;
}

/* Whether it contains U+0000, which only an escape can produce. */
static bool has_nul(yyjson_val *v, struct str s)
{
	return !(v->tag & YYJSON_SUBTYPE_NOESC) && memchr(s.p, 0, s.n);
}

static void check_string(struct checker *c, yyjson_val *v, const struct field *f)
{
	struct str s = json_str(v);
	const char *wrong = NULL, *soft = NULL; /* an error; a warning */
	char q[QUOTED_MAX], list[256];
	int64_t ms;
	size_t n = 0;

	if (f->values && value_index(f->values, s) < 0) {
		if (f->related_values && value_index(f->related_values, s) >= 0) {
			add_diag(c, SEVERITY_WARNING, f->rule, NULL,
				 "%s is not of this protocol; related texts use it", quoted(s, q));
			return;
		}
		for (int i = 0; f->values[i] && n < sizeof(list) - 40 && !c->m->diags.quiet; i++)
			n += (size_t)snprintf(list + n, sizeof(list) - n, "%s%s", i ? ", " : "",
					      f->values[i]);
		add_diag(c, f->wrong_value ? f->wrong_value : SEVERITY_ERROR, f->rule, NULL,
			 "%s is not one of: %s", quoted(s, q), list);
		return;
	}
	switch (f->format) {
	case FORMAT_ANY:
		return;
	case FORMAT_NOT_EMPTY:
		if (s.n == 0 || has_nul(v, s))
			add_diag(c, SEVERITY_ERROR, f->rule, NULL,
				 s.n ? "must not hold U+0000" : "must not be empty");
		return;
	case FORMAT_TIMESTAMP:
	case FORMAT_DATE:
		if (!is_iso(s, f->format == FORMAT_TIMESTAMP, &ms))
			wrong = "is not an ISO 8601 time such as 2026-01-26T10:00:00Z";
		break;
	case FORMAT_MIME:
		if (!is_mime(s))
			wrong = "is not a media type such as text/markdown";
		break;
	case FORMAT_ITEM_ID:
		if (!is_item_id(s))
			wrong = "does not match ^[a-z0-9._-]{8,128}$";
		break;
	case FORMAT_UUID4_SOFT:
	case FORMAT_UUID_SOFT:
		if (s.n == 0 || has_nul(v, s))
			wrong = "is not an id";
		else if (!is_uuid(s, f->format == FORMAT_UUID4_SOFT))
			soft = f->format == FORMAT_UUID4_SOFT ? "is not a UUID of version 4"
							      : "is not a UUID";
		break;
	case FORMAT_RELATIVE_PATH:
		if (!is_relative_path(s))
			wrong = "is not a path relative to the repository root";
		else if (path_has_dotdot(s))
			soft = "leads out of the repository";
		break;
	}
	if (wrong || soft)
		add_diag(c, wrong ? SEVERITY_ERROR : SEVERITY_WARNING, f->rule, NULL, "%s %s",
			 quoted(s, q), wrong ? wrong : soft);
}

static void check_range(struct checker *c, yyjson_val *v, const struct field *f)
{
	enum severity s = f->wrong_value ? f->wrong_value : SEVERITY_ERROR;
	const char *must = s == SEVERITY_ERROR ? "must" : "should";
	double number;

	if (!json_number(v, &number) || (number >= f->min && number <= f->max))
		return;
	if (f->max == (double)COUNT_MAX && number > f->max)
		add_diag(c, s, f->rule, NULL,
			 "is too large to be exact for every reader; at most 2^53 - 1");
	else if (f->max == (double)COUNT_MAX)
		add_diag(c, s, f->rule, NULL, "%s be at least %g", must, f->min);
	else
		add_diag(c, s, f->rule, NULL, "%s be between %g and %g", must, f->min, f->max);
}

/* Strings longer than 16 bytes: compares the full text, from the first candidate on. */
static __attribute__((noinline)) int find_long_value(const struct field_index *fi, struct str s,
						 unsigned i)
{
	while (i < fi->value_n && !str_eq(fi->values->texts[i], s))
		i++;
	return i < fi->value_n ? (int)i : -1;
}

static inline int find_value(const struct field_index *fi, struct str s)
{
	const struct value_table *set = fi->values;
	struct json_words words = json_words(s.p, s.n);
	const struct value_slot *a = &set->slots[value_slot_of(set, words, s.n)];

	if (rarely((a->words.first ^ words.first) | (a->words.second ^ words.second) |
		   (a->n ^ s.n)))
		return -1;
	return s.n <= sizeof(words) ? (int)a->number : find_long_value(fi, s, a->number);
}

int value_number(const struct shape *shape, unsigned field, yyjson_val *v)
{
	const struct field_index *fi = &shape->index->field[field];

	return fi->value_n && yyjson_is_str(v) ? find_value(fi, json_str(v)) : -1;
}

static void check_members(struct checker *c, yyjson_val *obj, const struct shape_index *x,
			  yyjson_val **got);

/* Allocates n rows for the decoder at the field's `rows`. */
static inline yyjson_val **rows_new(struct checker *c, const struct field_index *fi, size_t n)
{
	size_t width = fi->inside->width, all = n * width;
	yyjson_val **row;

	if (all <= ROW_SPACE_MAX - c->row_space_n) {
		row = c->row_space + c->row_space_n + 1;
		c->row_space_n += (unsigned)all;
	} else {
		row = (yyjson_val **)arena_alloc(&c->rows_overflow, all * sizeof(*row)) + 1;
	}
	c->rows[fi->rows] = (struct rows){ row, (uint32_t)n, (uint32_t)width };
	return row;
}

static inline void check_inside(struct checker *c, yyjson_val *v, const struct field_index *fi)
{
	yyjson_val **row = NULL;

	if (fi->rows) {
		row = rows_new(c, fi, 1);
		row[SELF] = v;
	}
	check_members(c, v, fi->inside, row);
}

/* An element that is not an object with a shape. */
static __attribute__((noinline)) void check_element(struct checker *c, yyjson_val *v,
						    const struct field_index *fi)
{
	const struct field *f = fi->field;
	char want[96];

	if (!(type_of(v) & f->elements))
		add_diag(c, SEVERITY_ERROR, f->rule, NULL, "must be %s, is %s",
			 types_text(f->elements, want), json_type_name(v));
	else if (yyjson_is_str(v) &&
		 (!f->values || f->format != FORMAT_ANY || find_value(fi, json_str(v)) < 0))
		check_string(c, v, f);
}

static void check_elements(struct checker *c, yyjson_val *array, const struct field_index *fi)
{
	yyjson_val *v, **row = fi->rows ? rows_new(c, fi, yyjson_arr_size(array)) : NULL;
	size_t i, n;

	path_push_index(c, 0);
	yyjson_arr_foreach(array, i, n, v) {
		yyjson_val **here = row;

		if (row) {
			row[SELF] = v;
			if (!yyjson_is_obj(v))
				memset(row, 0, (fi->inside->width - 1u) * sizeof(*row));
			row += fi->inside->width;
		}
		if (tag_of(v) & fi->valid_element_tags)
			continue;
		c->path[c->depth - 1].index = (uint32_t)i;
		if (yyjson_is_obj(v) &&
		    (fi->elements & T_OBJ)) /* not always valid: it has a shape */
			check_members(c, v, fi->inside, here);
		else
			check_element(c, v, fi);
	}
	path_pop(c);
}

static void check_value(struct checker *c, yyjson_val *v, const struct field_index *fi)
{
	const struct field *f = fi->field;
	unsigned type = type_of(v);
	char want[96];

	if (!(type & f->types) && f->types != T_ANY) {
		if (json_is_number(v) && (f->types & (T_NUM | T_INT)))
			add_diag(c, SEVERITY_ERROR, f->rule, NULL, "must be %s%s",
				 types_text(f->types, want),
				 type ? "" : " that fits 64 bits");
		else
			add_diag(c, SEVERITY_ERROR, f->rule, NULL, "must be %s, is %s",
				 types_text(f->types, want), json_type_name(v));
		return;
	}
	if (type & T_STR)
		check_string(c, v, f);
	else if ((type & T_NUM) && f->ranged)
		check_range(c, v, f);
	else if ((type & T_OBJ) && f->inside)
		check_inside(c, v, fi);
	else if ((type & T_ARR) && f->elements)
		check_elements(c, v, fi);
}

static void check_unknown(struct checker *c, const struct shape *shape, struct str name)
{
	if (str_starts(name, STR("x-")))
		return;
	if (shape->unknown == UNKNOWN_ERROR)
		add_member_diag(c, SEVERITY_ERROR, shape->unknown_rule, name,
				"not a field of the protocol; own fields must start with x-");
	else if (shape->unknown == UNKNOWN_NOTE)
		add_member_diag(c, SEVERITY_NOTE, shape->unknown_rule, name,
				"not a field of the protocol");
}

void checker_begin(struct checker *c, struct message *m)
{
	c->m = m;
	c->depth = 0;
	c->time_value = NULL;
	mem_zero(c->rows, sizeof(c->rows));
	c->row_space_n = 0;
	if (c->rows_overflow.head)
		arena_release(&c->rows_overflow);
}

void checker_release(struct checker *c)
{
	arena_release(&c->rows_overflow);
	free(c->names);
	c->names = NULL;
	buf_release(&c->scratch);
}

/* Field by name text, for trees whose names are not interned (yyjson's own parser). */
static unsigned find_text(const struct shape *shape, struct str name)
{
	for (unsigned i = 0; i < shape->n; i++)
		if (str_is(name, shape->fields[i].name))
			return i;
	return NO_FIELD;
}

/* A value for a sentence: strings and containers are told apart from other values. */
static const char *value_text(yyjson_val *v, char out[QUOTED_MAX])
{
	struct buf b = { 0 };

	if (yyjson_is_ctn(v))
		return json_type_name(v);
	if (yyjson_is_str(v))
		return (quoted)(json_str(v), out);
	json_write(&b, v);
	snprintf(out, QUOTED_MAX, "%.*s", STR_ARG(buf_str(&b)));
	buf_release(&b);
	return out;
}

void report_duplicate(struct checker *c, struct str name, yyjson_val *first, yyjson_val *second)
{
	char one[QUOTED_MAX], other[QUOTED_MAX], text[256] = "";

	c->m->flags |= RECORD_AMBIGUOUS;
	if (!c->m->diags.quiet)
		snprintf(text, sizeof(text),
			 "duplicate name, with the values %s and %s; readers disagree on which one "
			 "counts, so the message decides nothing",
			 value_text(first, one), value_text(second, other));
	add_member_diag(c, SEVERITY_ERROR, "json/duplicate-name", name, text);
}

enum { PAIRWISE_MAX = 16 };

/* Every member follows shape->each. Duplicates: pairwise up to PAIRWISE_MAX members, else a map. */
static __attribute__((noinline)) void check_each(struct checker *c, yyjson_val *obj,
						 const struct shape *shape)
{
	const struct field_index *fi = shape->index->field;
	bool few = yyjson_obj_size(obj) <= PAIRWISE_MAX;
	struct str names[PAIRWISE_MAX];
	yyjson_val *values[PAIRWISE_MAX], *first = NULL;
	struct map seen = { 0 };
	size_t i, n;
	yyjson_val *key, *v;

	if (!shape->index->made)
		BUG("a shape that no dialect has listed");
	yyjson_obj_foreach(obj, i, n, key, v) {
		struct str name = json_str(key);
		bool twice = false;

		if (few) {
			for (size_t k = 0; k < i && !twice; k++) {
				twice = str_eq(names[k], name);
				first = values[k];
			}
			names[i] = name;
			values[i] = v;
		} else {
			uint64_t h = str_hash(name);

			twice = map_get(&seen, h) != MAP_NONE;
			if (!twice)
				map_add(&seen, h, (uint32_t)i);
			first = twice ? json_getn(obj, name.p, name.n) : NULL;
		}
		if (twice)
			report_duplicate(c, name, first, v);
		if (tag_of(v) & fi->valid_tags)
			continue;
		path_push_str(c, name);
		check_value(c, v, fi);
		path_pop(c);
	}
	map_release(&seen);
}

/* A member without a field of its name. Returns the bit of the field it is an alias of, or 0. */
static uint32_t check_unlisted(struct checker *c, const struct shape *shape, struct str name)
{
	if (shape->forbidden && shape->forbidden(name)) {
		add_member_diag(c, SEVERITY_ERROR, shape->forbidden_rule, name,
				"session fields belong to the tool, not to the agents' messages");
		return 0;
	}
	for (uint32_t left = shape->index->aliased; left; left &= left - 1)
		if (str_is(name, shape->fields[__builtin_ctz(left)].alias))
			return left & -left;
	check_unknown(c, shape, name);
	return 0;
}

/* Slow path: a field whose value may be invalid, that has an alias member, or that is missing.
 * Returns its value. */
static __attribute__((noinline)) yyjson_val *check_field(struct checker *c, yyjson_val *obj,
							 const struct field_index *fi,
							 yyjson_val *v)
{
	const struct field *f = fi->field;
	yyjson_val *other = f->alias ? json_get(obj, f->alias) : NULL;
	struct str name = str_of(f->name);

	if (!v && other) {
		add_diag(c, SEVERITY_WARNING, f->rule, f->name,
			 "missing; a related text's \"%s\" is read in its place", f->alias);
		v = other;
		name = str_of(f->alias);
	} else if (v && other) {
		report_duplicate(c, str_of(f->alias), v, other);
	}
	if (v) {
		path_push_str(c, name);
		check_value(c, v, fi);
		path_pop(c);
	} else if (f->need == REQUIRED) {
		add_diag(c, SEVERITY_ERROR, f->rule, f->name, "missing; it is required");
	} else if (f->need == RECOMMENDED) {
		add_diag(c, SEVERITY_WARNING, f->rule, f->name, "missing; it should be here");
	}
	return v;
}

/* ---- fast path ---- */

static bool is_in_range(yyjson_val *v, const struct field *f)
{
	double number = yyjson_is_real(v)   ? v->uni.f64
			: yyjson_is_sint(v) ? (double)v->uni.i64
					    : (double)v->uni.u64;

	return number >= f->min && number <= f->max;
}

static bool is_time(struct checker *c, yyjson_val *v, bool clock)
{
	c->time_value = is_iso(json_str(v), clock, &c->time_ms) ? v : NULL;
	return c->time_value;
}

int64_t iso_time(yyjson_val *v)
{
	int64_t ms;

	return yyjson_is_str(v) && timestamp_parse_iso(json_str(v), &ms) ? ms : TIME_NONE;
}

int64_t checked_time(const struct checker *c, yyjson_val *v)
{
	return v && v == c->time_value ? c->time_ms : iso_time(v);
}

/* Of a value whose tag is in fi->fast_tags. Always true for containers: checking their members
 * reports itself. */
static inline bool fast_check_passes(struct checker *c, yyjson_val *v, const struct field_index *fi)
{
	switch (fi->fast_check) {
	case FAST_VALUE: return find_value(fi, json_str(v)) >= 0;
	case FORMAT_NOT_EMPTY: return v->tag >> YYJSON_TAG_BIT && (v->tag & YYJSON_SUBTYPE_NOESC);
	case FORMAT_TIMESTAMP: return is_time(c, v, true);
	case FORMAT_DATE: return is_time(c, v, false);
	case FORMAT_MIME: return is_mime(json_str(v));
	case FORMAT_ITEM_ID: return is_item_id(json_str(v));
	case FORMAT_UUID4_SOFT: return is_uuid(json_str(v), true);
	case FORMAT_UUID_SOFT: return is_uuid(json_str(v), false);
	case FORMAT_RELATIVE_PATH:
		return is_relative_path(json_str(v)) && !path_has_dotdot(json_str(v));
	case FAST_RANGE: return is_in_range(v, fi->field);
	case FAST_OBJECT:
		path_push_field(c, fi->field);
		check_inside(c, v, fi);
		path_pop(c);
		return true;
	case FAST_ELEMENTS:
		path_push_field(c, fi->field);
		check_elements(c, v, fi);
		path_pop(c);
		return true;
	}
	return false;
}

/* A member that field_of does not know, or a duplicate; vals: of the fields in `seen`. Returns its
 * field if it has one after all, or NO_FIELD; from bit ALIASES on, the set of fields that it is an
 * alias of. */
enum { ALIASES = 8 };
static __attribute__((noinline)) uint32_t
unmatched_member(struct checker *c, const struct shape *shape, yyjson_val *key, uint32_t seen,
		 yyjson_val *const *vals)
{
	struct str name = str_make(key->uni.str, unsafe_yyjson_get_len(key));
	unsigned number = name_number(c->names, name.p), f = shape->index->field_of[number];

	if (f == NO_FIELD && (!number || !shape->index->numbered))
		f = find_text(shape, name);
	if (f == NO_FIELD)
		return NO_FIELD | check_unlisted(c, shape, name) << ALIASES;
	if (!(seen >> f & 1))
		return f;
	report_duplicate(c, name, vals[f], key + 1);
	return NO_FIELD;
}

/* The field of an interned name by its address, or NO_FIELD. */
static inline uint32_t field_named(const struct shape_index *x, const struct names *names,
				   const char *text)
{
	uintptr_t offset = (uintptr_t)text - (uintptr_t)names->list;

	return usually(offset < sizeof(names->list)) ? x->field_of[offset / sizeof(names->list[0])]
						     : (uint32_t)NO_FIELD;
}

static void check_members(struct checker *c, yyjson_val *obj, const struct shape_index *x,
			  yyjson_val **got)
{
	const struct names *names = c->names;
	yyjson_val *key = unsafe_yyjson_get_first(obj), *v,
		   **vals = got ? got : c->scratch_rows[c->depth];
	uint32_t seen = 1u << NO_FIELD; /* so that unmatched_member is called for it */
	uint32_t to_check = 0, missing;

	if (!x->plain) {
		check_each(c, obj, x->shape);
		return;
	}
	for (size_t left = unsafe_yyjson_get_len(obj); left; left--) {
		uint32_t f = field_named(x, names, key->uni.str), bit = 1u << f;

		v = key + 1;
		key = value_after(v);
		if (rarely(seen & bit)) {
			f = unmatched_member(c, x->shape, v - 1, seen, vals);
			to_check |= f >> ALIASES;
			f &= (1u << ALIASES) - 1;
			if (f == NO_FIELD)
				continue;
			bit = 1u << f;
		}
		vals[f] = v;
		seen |= bit;
		to_check |= x->maybe_invalid[v->tag & YYJSON_TYPE_MASK] & bit;
	}
	to_check |= x->needed & ~seen;
	for (missing = (got ? x->fields : to_check) & ~seen; missing; missing &= missing - 1)
		vals[__builtin_ctz(missing)] = NULL;
	/* diagnostics are in the order of the table */
	for (; to_check; to_check &= to_check - 1) {
		unsigned f = (unsigned)__builtin_ctz(to_check);
		const struct field_index *fi = &x->field[f];

		v = vals[f];
		if (rarely(!v || !(fi->fast_tags >> (v->tag & 31) & 1) ||
			   !fast_check_passes(c, v, fi)))
			vals[f] = check_field(c, obj, fi, v);
	}
}

void check_object(struct checker *c, yyjson_val *obj, const struct shape *shape, yyjson_val **got)
{
	check_members(c, obj, shape->index, got);
}
