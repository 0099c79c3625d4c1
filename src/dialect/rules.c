/* The walker behind the tables. */
#include "dialect/rules.h"

#include "base/err.h"
#include "base/map.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static void path_push_str(struct checker *c, struct str name)
{
	c->path[c->depth++] = (struct path_step){ name, 0 };
}

static void report(struct checker *c, enum severity s, const char *rule, struct str member,
		   const char *format, va_list ap) __attribute__((format(printf, 5, 0)));
static void report(struct checker *c, enum severity s, const char *rule, struct str member,
		   const char *format, va_list ap)
{
	char text[360];
	int n;

	if (c->m->diags.quiet) {
		diag_add_str(&c->m->diags, s, rule, STR_NONE, STR_NONE);
		return;
	}
	buf_clear(&c->scratch);
	buf_adds(&c->scratch, c->m->inside);
	for (unsigned i = 0; i < c->depth; i++) {
		if (c->path[i].name.p)
			json_pointer_add(&c->scratch, c->path[i].name);
		else
			buf_printf(&c->scratch, "/%u", c->path[i].index);
	}
	if (member.p)
		json_pointer_add(&c->scratch, member);
	n = vsnprintf(text, sizeof(text), format, ap);
	diag_add_str(&c->m->diags, s, rule, buf_str(&c->scratch),
		     str_make(text, n < (int)sizeof(text) ? (size_t)n : sizeof(text) - 1));
}

void complain(struct checker *c, enum severity s, const char *rule, const char *name,
	      const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	report(c, s, rule, name ? str_of(name) : STR_NONE, format, ap);
	va_end(ap);
}

static void complain_member(struct checker *c, enum severity s, const char *rule, struct str name,
			    const char *format, ...) __attribute__((format(printf, 5, 6)));
static void complain_member(struct checker *c, enum severity s, const char *rule, struct str name,
			    const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	report(c, s, rule, name, format, ap);
	va_end(ap);
}

/* 1 for the digits of a UUID, 2 for what else an item's id may hold. */
static const uint8_t id_chars[256] = {
	['0'] = 3, ['1'] = 3, ['2'] = 3, ['3'] = 3, ['4'] = 3, ['5'] = 3, ['6'] = 3, ['7'] = 3,
	['8'] = 3, ['9'] = 3, ['a'] = 3, ['b'] = 3, ['c'] = 3, ['d'] = 3, ['e'] = 3, ['f'] = 3,
	['A'] = 1, ['B'] = 1, ['C'] = 1, ['D'] = 1, ['E'] = 1, ['F'] = 1, ['g'] = 2, ['h'] = 2,
	['i'] = 2, ['j'] = 2, ['k'] = 2, ['l'] = 2, ['m'] = 2, ['n'] = 2, ['o'] = 2, ['p'] = 2,
	['q'] = 2, ['r'] = 2, ['s'] = 2, ['t'] = 2, ['u'] = 2, ['v'] = 2, ['w'] = 2, ['x'] = 2,
	['y'] = 2, ['z'] = 2, ['.'] = 2, ['_'] = 2, ['-'] = 2,
};

static uint8_t all_are(const char *p, size_t n)
{
	uint8_t common = 3;

	for (size_t i = 0; i < n; i++)
		common &= id_chars[(unsigned char)p[i]];
	return common;
}

bool is_uuid(struct str s, bool version4)
{
	if (s.n != 36 || s.p[8] != '-' || s.p[13] != '-' || s.p[18] != '-' || s.p[23] != '-')
		return false;
	if (!(all_are(s.p, 8) & all_are(s.p + 9, 4) & all_are(s.p + 14, 4) & all_are(s.p + 19, 4) &
	      all_are(s.p + 24, 12) & 1))
		return false;
	return !version4 || (s.p[14] == '4' && strchr("89abAB", s.p[19]));
}

bool is_item_id(struct str s)
{
	return s.n >= 8 && s.n <= 128 && (all_are(s.p, s.n) & 2);
}

static bool is_mime_token(struct str s)
{
	if (s.n == 0)
		return false;
	for (size_t i = 0; i < s.n; i++) {
		char c = s.p[i];
		bool letter = ((c | 32) >= 'a' && (c | 32) <= 'z') || (c >= '0' && c <= '9');

		if (!letter && (c == 0 || !strchr("!#$&^_.+-", c)))
			return false;
	}
	return true;
}

/* type/subtype, with or without parameters */
bool is_mime(struct str s)
{
	ptrdiff_t semicolon = str_find(s, STR(";"), 0);
	struct str essence = str_trim(semicolon < 0 ? s : str_make(s.p, (size_t)semicolon));
	ptrdiff_t slash = str_find(essence, STR("/"), 0);

	return slash > 0 && is_mime_token(str_make(essence.p, (size_t)slash)) &&
	       is_mime_token(str_from(essence, (size_t)slash + 1));
}

int value_index(const char *const *values, struct str s)
{
	for (int i = 0; s.n && values[i]; i++)
		if (values[i][0] == s.p[0] && str_is(s, values[i]))
			return i;
	return -1;
}

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
	default: return 0; /* a number too big to be one */
	}
}

static const char *types_text(unsigned types, char out[96])
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

/* A date, and with `clock` a time of the day behind a T. */
static bool is_iso(struct str s, bool clock)
{
	size_t at = s.n > 4 && s.p[4] == '-' ? 10 : 8; /* of what is between them */
	char between = s.n > at ? s.p[at] : '\0';
	int64_t ms;

	return when_parse_iso(s, &ms) && between != ' ' && (!clock || between == 'T');
}

/* Whether U+0000 is in it, which can only be written as an escape. */
static bool holds_zero(yyjson_val *v, struct str s)
{
	return !(v->tag & YYJSON_SUBTYPE_NOESC) && memchr(s.p, 0, s.n);
}

/* What is only counted needs no words. */
#define quoted(s, q) (c->m->diags.quiet ? "" : quoted(s, q))

static void check_string(struct checker *c, yyjson_val *v, const struct field *f)
{
	struct str s = json_str(v);
	char q[QUOTED_MAX], list[256];
	size_t n = 0;

	if (f->values && value_index(f->values, s) < 0) {
		if (f->siblings && value_index(f->siblings, s) >= 0) {
			complain(c, SEVERITY_WARNING, f->rule, NULL,
				 "%s is not of this protocol; related texts use it", quoted(s, q));
			return;
		}
		for (int i = 0; f->values[i] && n < sizeof(list) - 40; i++)
			n += (size_t)snprintf(list + n, sizeof(list) - n, "%s%s", i ? ", " : "",
					      f->values[i]);
		complain(c, f->wrong_value ? f->wrong_value : SEVERITY_ERROR, f->rule, NULL,
			 "%s is not one of: %s", quoted(s, q), list);
		return;
	}
	switch (f->format) {
	case FORMAT_ANY:
		return;
	case FORMAT_NOT_EMPTY:
		if (s.n == 0 || holds_zero(v, s))
			complain(c, SEVERITY_ERROR, f->rule, NULL,
				 s.n ? "must not hold U+0000" : "must not be empty");
		return;
	case FORMAT_TIMESTAMP:
	case FORMAT_DATE:
		if (!is_iso(s, f->format == FORMAT_TIMESTAMP))
			complain(c, SEVERITY_ERROR, f->rule, NULL,
				 "%s is not an ISO 8601 time such as 2026-01-26T10:00:00Z",
				 quoted(s, q));
		return;
	case FORMAT_MIME:
		if (!is_mime(s))
			complain(c, SEVERITY_ERROR, f->rule, NULL,
				 "%s is not a media type such as text/markdown", quoted(s, q));
		return;
	case FORMAT_ITEM_ID:
		if (!is_item_id(s))
			complain(c, SEVERITY_ERROR, f->rule, NULL,
				 "%s does not match ^[a-z0-9._-]{8,128}$", quoted(s, q));
		return;
	case FORMAT_UUID4_SOFT:
	case FORMAT_UUID_SOFT:
		if (s.n == 0 || holds_zero(v, s))
			complain(c, SEVERITY_ERROR, f->rule, NULL, "%s is no id", quoted(s, q));
		else if (!is_uuid(s, f->format == FORMAT_UUID4_SOFT))
			complain(c, SEVERITY_WARNING, f->rule, NULL, "%s is not a UUID%s",
				 quoted(s, q), f->format == FORMAT_UUID4_SOFT ? " of version 4" : "");
		return;
	case FORMAT_RELATIVE_PATH:
		if (s.n == 0 || s.p[0] == '/' || s.p[0] == '~' ||
		    (s.n > 2 && s.p[1] == ':' && (s.p[2] == '\\' || s.p[2] == '/')))
			complain(c, SEVERITY_ERROR, f->rule, NULL,
				 "%s is not a path relative to the repository root", quoted(s, q));
		else if (str_is(s, "..") || str_starts(s, STR("../")) ||
			 str_find(s, STR("/../"), 0) >= 0 || str_ends(s, STR("/..")))
			complain(c, SEVERITY_WARNING, f->rule, NULL,
				 "%s leads out of the repository", quoted(s, q));
		return;
	}
}

#undef quoted

static void check_range(struct checker *c, yyjson_val *v, const struct field *f)
{
	double number;

	if (!json_number(v, &number) || (number >= f->min && number <= f->max))
		return;
	if (f->max == (double)COUNT_MAX && number > f->max)
		complain(c, SEVERITY_ERROR, f->rule, NULL,
			 "is too large to be exact for every reader; at most 2^53 - 1");
	else if (f->max == (double)COUNT_MAX)
		complain(c, SEVERITY_ERROR, f->rule, NULL, "must be at least %g", f->min);
	else
		complain(c, SEVERITY_ERROR, f->rule, NULL, "must be between %g and %g", f->min,
			 f->max);
}

/* ---- what needs no further look, by a value's tag ---- */

#define TAG(type, subtype) (1u << ((type) | (subtype)))
#define TAGS(type) (TAG(type, 0) | TAG(type, 1 << 3) | TAG(type, 2 << 3) | TAG(type, 3 << 3))

static unsigned tag_of(yyjson_val *v)
{
	return 1u << (v->tag & 31);
}

static uint32_t fine_tags(unsigned types, const struct field *f, bool arrays)
{
	uint32_t fine = types == T_ANY ? TAGS(YYJSON_TYPE_RAW) : 0;

	if ((types & T_STR) && !f->values && f->format == FORMAT_ANY)
		fine |= TAGS(YYJSON_TYPE_STR);
	if ((types & T_NUM) && !f->ranged)
		fine |= TAGS(YYJSON_TYPE_NUM);
	if ((types & T_INT) && !f->ranged)
		fine |= TAG(YYJSON_TYPE_NUM, YYJSON_SUBTYPE_SINT);
	if (types & T_BOOL)
		fine |= TAGS(YYJSON_TYPE_BOOL);
	if (types & T_NULL)
		fine |= TAGS(YYJSON_TYPE_NULL);
	if ((types & T_OBJ) && !f->inside)
		fine |= TAGS(YYJSON_TYPE_OBJ);
	if ((types & T_ARR) && arrays)
		fine |= TAGS(YYJSON_TYPE_ARR);
	return fine;
}

static void check_elements(struct checker *c, yyjson_val *array, const struct field *f)
{
	uint32_t fine = fine_tags(f->elements, f, true);
	size_t i, n;
	yyjson_val *v;
	char want[96];

	yyjson_arr_foreach(array, i, n, v) {
		if (tag_of(v) & fine)
			continue;
		path_push_index(c, (uint32_t)i);
		if (!(type_of(v) & f->elements))
			complain(c, SEVERITY_ERROR, f->rule, NULL, "must be %s, is %s",
				 types_text(f->elements, want), json_type_name(v));
		else if (f->inside && yyjson_is_obj(v))
			check_object(c, v, f->inside, NULL);
		else if (yyjson_is_str(v))
			check_string(c, v, f);
		path_pop(c);
	}
}

void check_value(struct checker *c, yyjson_val *v, const struct field *f)
{
	unsigned type = type_of(v);
	char want[96];

	if (!(type & f->types) && f->types != T_ANY) {
		if (json_is_number(v) && (f->types & (T_NUM | T_INT)))
			complain(c, SEVERITY_ERROR, f->rule, NULL, "must be %s%s",
				 types_text(f->types, want),
				 type ? "" : " that fits 64 bits");
		else
			complain(c, SEVERITY_ERROR, f->rule, NULL, "must be %s, is %s",
				 types_text(f->types, want), json_type_name(v));
		return;
	}
	if (type & T_STR)
		check_string(c, v, f);
	else if ((type & T_NUM) && f->ranged)
		check_range(c, v, f);
	else if ((type & T_OBJ) && f->inside)
		check_object(c, v, f->inside, NULL);
	else if ((type & T_ARR) && f->elements)
		check_elements(c, v, f);
}

static void check_stranger(struct checker *c, const struct shape *shape, struct str name)
{
	if (shape->stranger == STRANGER_ERROR) {
		if (!str_starts(name, STR("x-")))
			complain_member(c, SEVERITY_ERROR, shape->stranger_rule, name,
					"not a field of the protocol; own fields must start with x-");
	} else if (shape->stranger == STRANGER_NOTE && !str_starts(name, STR("x-"))) {
		complain_member(c, SEVERITY_NOTE, shape->stranger_rule, name,
				"not a field of the protocol");
	}
}

/* ---- shapes, as they are looked through ---- */

/* What of a shape is asked for at every member, close together. */
struct shape_index {
	const struct shape *shape;
	uint32_t needed, aliased; /* bits of fields */
	uint32_t fine[FIELDS_MAX];  /* tags that need no further look */
	uint8_t name[FIELDS_MAX];   /* numbers (json/names.h) */
	uint8_t length[FIELDS_MAX]; /* of names */
	bool numbered;              /* all names have numbers */
};

static struct shape_index *index_new(struct checker *c, const struct shape *shape)
{
	struct shape_index *x = xcalloc(1, sizeof(*x));
	struct names *names = checker_names(c);

	x->shape = shape;
	x->numbered = true;
	for (unsigned i = 0; i < shape->n; i++) {
		const struct field *f = &shape->fields[i];

		x->name[i] = (uint8_t)name_number(names, names_add(names, str_of(f->name)));
		x->numbered = x->numbered && x->name[i];
		x->length[i] = (uint8_t)strlen(f->name);
		x->fine[i] = fine_tags(f->types, f, !f->elements);
		x->needed |= (uint32_t)(f->need != OPTIONAL) << i;
		x->aliased |= (uint32_t)(f->alias != NULL) << i;
	}
	return x;
}

static const struct shape_index *index_of(struct checker *c, const struct shape *shape)
{
	unsigned slot = (unsigned)((uintptr_t)shape / sizeof(void *) * 2654435761u >> 8) % SHAPES_MAX;

	while (c->indexes[slot] && c->indexes[slot]->shape != shape)
		slot = (slot + 1) % SHAPES_MAX;
	if (!c->indexes[slot]) {
		if (++c->index_n == SHAPES_MAX)
			BUG("more than %d shapes", SHAPES_MAX);
		c->indexes[slot] = index_new(c, shape);
	}
	return c->indexes[slot];
}

struct names *checker_names(struct checker *c)
{
	if (!c->names)
		c->names = xcalloc(1, sizeof(*c->names));
	return c->names;
}

void checker_release(struct checker *c)
{
	for (unsigned i = 0; i < SHAPES_MAX; i++)
		free(c->indexes[i]);
	memset(c->indexes, 0, sizeof(c->indexes));
	c->index_n = 0;
	free(c->names);
	c->names = NULL;
	buf_release(&c->scratch);
}

/* Names of trees that another parser made, or that were read before this shape was met. */
static unsigned find_text(const struct shape_index *x, struct str name)
{
	unsigned i = 0;

	while (i < x->shape->n &&
	       (x->length[i] != name.n || memcmp(x->shape->fields[i].name, name.p, name.n) != 0))
		i++;
	return i;
}

/* The number of the field of that name, the shape's n if there is none. Members usually come in
 * the order of the table, so the search starts behind the last hit. */
static inline unsigned find_field(const struct checker *c, const struct shape_index *x,
				  struct str name, unsigned start)
{
	unsigned number = name_number(c->names, name.p);

	for (unsigned i = start; i < x->shape->n && number; i++)
		if (x->name[i] == number)
			return i;
	for (unsigned i = 0; i < start && number; i++)
		if (x->name[i] == number)
			return i;
	return number && x->numbered ? x->shape->n : find_text(x, name);
}

static void note_duplicate(struct checker *c, struct str name)
{
	c->m->flags |= RECORD_AMBIGUOUS;
	complain_member(c, SEVERITY_WARNING, "json/duplicate-name", name,
			"stands twice; readers disagree on which one counts");
}

enum { FEW = 16 };

/* Every member by one rule. Few names are compared with each other, many are hashed. */
static void check_each(struct checker *c, yyjson_val *obj, const struct field *each)
{
	uint32_t fine = fine_tags(each->types, each, !each->elements);
	bool few = yyjson_obj_size(obj) <= FEW;
	struct str names[FEW];
	struct map seen = { 0 };
	size_t i, n;
	yyjson_val *key, *v;

	yyjson_obj_foreach(obj, i, n, key, v) {
		struct str name = json_str(key);
		bool twice = false;

		if (few) {
			for (size_t k = 0; k < i && !twice; k++)
				twice = str_eq(names[k], name);
			names[i] = name;
		} else {
			uint64_t h = str_hash(name);

			twice = map_get(&seen, h) != MAP_NONE;
			if (!twice)
				map_add(&seen, h, (uint32_t)i);
		}
		if (twice)
			note_duplicate(c, name);
		if (tag_of(v) & fine)
			continue;
		path_push_str(c, name);
		check_value(c, v, each);
		path_pop(c);
	}
	map_release(&seen);
}

/* A member that no field has the name of. */
static void check_other(struct checker *c, const struct shape_index *x, struct str name)
{
	const struct shape *shape = x->shape;

	if (shape->forbidden && shape->forbidden(name)) {
		complain_member(c, SEVERITY_ERROR, shape->forbidden_rule, name,
				"session fields belong to the tool, not to the agents' messages");
		return;
	}
	for (uint32_t left = x->aliased; left; left &= left - 1)
		if (str_is(name, shape->fields[__builtin_ctz(left)].alias))
			return;
	check_stranger(c, shape, name);
}

/* A field whose value has to be looked at, that has another name too, or that is not there.
 * Returns its value. */
static yyjson_val *check_field(struct checker *c, yyjson_val *obj, const struct shape_index *x,
			       unsigned number, yyjson_val *v)
{
	const struct field *f = &x->shape->fields[number];
	yyjson_val *other = f->alias ? json_get(obj, f->alias) : NULL;
	struct str name = str_make(f->name, x->length[number]);

	if (!v && other) {
		complain(c, SEVERITY_WARNING, f->rule, f->name,
			 "missing; a related text's \"%s\" is read in its place", f->alias);
		v = other;
		name = str_of(f->alias);
	} else if (v && other) {
		note_duplicate(c, str_of(f->alias));
	}
	if (v) {
		path_push_str(c, name);
		check_value(c, v, f);
		path_pop(c);
	} else if (f->need == REQUIRED) {
		complain(c, SEVERITY_ERROR, f->rule, f->name, "missing; it is required");
	} else if (f->need == RECOMMENDED) {
		complain(c, SEVERITY_WARNING, f->rule, f->name, "missing; it should be here");
	}
	return v;
}

void check_object(struct checker *c, yyjson_val *obj, const struct shape *shape, yyjson_val **got)
{
	const struct shape_index *x;
	yyjson_val *here[FIELDS_MAX], **vals = got ? got : here;
	uint32_t seen = 0, look = 0;
	size_t i, n;
	yyjson_val *key, *v;
	unsigned next = 0;

	if (shape->each) {
		check_each(c, obj, shape->each);
		return;
	}
	x = index_of(c, shape);
	for (i = 0; i < shape->n; i++)
		vals[i] = NULL;
	yyjson_obj_foreach(obj, i, n, key, v) {
		struct str name = str_make(unsafe_yyjson_get_str(key), unsafe_yyjson_get_len(key));
		unsigned f = find_field(c, x, name, next);

		if (f == shape->n) {
			check_other(c, x, name);
			continue;
		}
		if (seen & 1u << f) {
			note_duplicate(c, name);
		} else {
			vals[f] = v;
			seen |= 1u << f;
			look |= (uint32_t)!(tag_of(v) & x->fine[f]) << f;
		}
		next = f + 1;
	}
	/* what is wrong is told in the order of the table */
	for (look |= (x->needed & ~seen) | x->aliased; look; look &= look - 1) {
		unsigned f = (unsigned)__builtin_ctz(look);

		vals[f] = check_field(c, obj, x, f, vals[f]);
	}
}
