/* The walker behind the tables. */
#include "dialect/rules.h"

#include "base/map.h"

#include <stdarg.h>
#include <stdio.h>

void path_push(struct checker *c, const char *name)
{
	c->path[c->depth++] = (struct path_step){ str_of(name), 0 };
}

void path_push_index(struct checker *c, uint32_t index)
{
	c->path[c->depth++] = (struct path_step){ STR_NONE, index };
}

static void path_push_str(struct checker *c, struct str name)
{
	c->path[c->depth++] = (struct path_step){ name, 0 };
}

void path_pop(struct checker *c)
{
	c->depth--;
}

static void report(struct checker *c, enum severity s, const char *rule, struct str member,
		   const char *format, va_list ap) __attribute__((format(printf, 5, 0)));
static void report(struct checker *c, enum severity s, const char *rule, struct str member,
		   const char *format, va_list ap)
{
	char text[360];

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
	vsnprintf(text, sizeof(text), format, ap);
	diag_add(&c->m->diags, s, rule, buf_str(&c->scratch), "%s", text);
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

bool is_uuid(struct str s, bool version4)
{
	if (s.n != 36)
		return false;
	for (size_t i = 0; i < 36; i++) {
		char c = s.p[i];

		if (i == 8 || i == 13 || i == 18 || i == 23) {
			if (c != '-')
				return false;
		} else if (!((c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'f'))) {
			return false;
		}
	}
	return !version4 || (s.p[14] == '4' && strchr("89abAB", s.p[19]));
}

bool is_item_id(struct str s)
{
	if (s.n < 8 || s.n > 128)
		return false;
	for (size_t i = 0; i < s.n; i++) {
		char c = s.p[i];

		if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '_' ||
		      c == '-'))
			return false;
	}
	return true;
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
	for (int i = 0; values[i]; i++)
		if (str_is(s, values[i]))
			return i;
	return -1;
}

static unsigned type_of(yyjson_val *v)
{
	int64_t whole;

	switch (yyjson_get_type(v)) {
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

static void check_string(struct checker *c, struct str s, const struct field *f)
{
	char q[QUOTED_MAX], list[256];
	size_t n = 0;
	int64_t ms;

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
		if (s.n == 0 || memchr(s.p, 0, s.n))
			complain(c, SEVERITY_ERROR, f->rule, NULL,
				 s.n ? "must not hold U+0000" : "must not be empty");
		return;
	case FORMAT_TIMESTAMP:
	case FORMAT_DATE:
		if (!when_parse_iso(s, &ms) || memchr(s.p, ' ', s.n) ||
		    (f->format == FORMAT_TIMESTAMP && !memchr(s.p, 'T', s.n)))
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
		if (s.n == 0 || memchr(s.p, 0, s.n))
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

static void check_elements(struct checker *c, yyjson_val *array, const struct field *f)
{
	size_t i, n;
	yyjson_val *v;
	char want[96];

	yyjson_arr_foreach(array, i, n, v) {
		path_push_index(c, (uint32_t)i);
		if (!(type_of(v) & f->elements))
			complain(c, SEVERITY_ERROR, f->rule, NULL, "must be %s, is %s",
				 types_text(f->elements, want), json_type_name(v));
		else if (f->inside && yyjson_is_obj(v))
			check_object(c, v, f->inside, NULL);
		else if (yyjson_is_str(v))
			check_string(c, json_str(v), f);
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
		check_string(c, json_str(v), f);
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

/* Members usually come in the order of the table, so the search starts behind the last hit. */
static unsigned find_field(const struct shape *shape, struct str name, unsigned start)
{
	for (unsigned k = 0, i = start; k < shape->n; k++, i++) {
		if (i >= shape->n)
			i = 0;
		const char *known = shape->fields[i].name;

		if (known[0] == name.p[0] && strlen(known) == name.n &&
		    memcmp(known, name.p, name.n) == 0)
			return i;
	}
	return shape->n;
}

static void note_duplicate(struct checker *c, struct str name)
{
	c->m->flags |= RECORD_AMBIGUOUS;
	complain_member(c, SEVERITY_WARNING, "json/duplicate-name", name,
			"stands twice; readers disagree on which one counts");
}

static void check_each(struct checker *c, yyjson_val *obj, const struct field *each)
{
	struct map seen = { 0 };
	size_t i, n;
	yyjson_val *key, *v;

	yyjson_obj_foreach(obj, i, n, key, v) {
		uint64_t h = str_hash(json_str(key));

		if (map_get(&seen, h) != MAP_NONE)
			note_duplicate(c, json_str(key));
		else
			map_add(&seen, h, (uint32_t)i);
		path_push_str(c, json_str(key));
		check_value(c, v, each);
		path_pop(c);
	}
	map_release(&seen);
}

void check_object(struct checker *c, yyjson_val *obj, const struct shape *shape, yyjson_val **got)
{
	yyjson_val *here[FIELDS_MAX] = { 0 }, **vals = got ? got : here;
	const char *name_of[FIELDS_MAX];
	size_t i, n;
	yyjson_val *key, *v;
	unsigned next = 0;

	if (shape->each) {
		check_each(c, obj, shape->each);
		return;
	}
	for (i = 0; i < shape->n; i++) {
		vals[i] = NULL;
		name_of[i] = shape->fields[i].name;
	}
	yyjson_obj_foreach(obj, i, n, key, v) {
		struct str name = json_str(key);
		unsigned f = find_field(shape, name, next);

		if (f < shape->n) {
			if (vals[f]) {
				note_duplicate(c, name);
			} else {
				vals[f] = v;
			}
			next = f + 1;
		} else if (shape->forbidden && shape->forbidden(name)) {
			complain_member(c, SEVERITY_ERROR, shape->forbidden_rule, name,
					"session fields belong to the tool, not to the agents' messages");
		} else {
			bool is_alias = false;

			for (unsigned k = 0; k < shape->n && !is_alias; k++)
				is_alias = shape->fields[k].alias && str_is(name, shape->fields[k].alias);
			if (!is_alias)
				check_stranger(c, shape, name);
		}
	}
	for (i = 0; i < shape->n; i++) {
		const struct field *f = &shape->fields[i];

		if (!vals[i] && f->alias && (v = json_get(obj, f->alias))) {
			complain(c, SEVERITY_WARNING, f->rule, f->name,
				 "missing; a related text's \"%s\" is read in its place", f->alias);
			vals[i] = v;
			name_of[i] = f->alias;
		}
		else if (vals[i] && f->alias && json_get(obj, f->alias))
			note_duplicate(c, str_of(f->alias));
		if (vals[i]) {
			path_push(c, name_of[i]);
			check_value(c, vals[i], f);
			path_pop(c);
		} else if (f->need == REQUIRED) {
			complain(c, SEVERITY_ERROR, f->rule, f->name, "missing; it is required");
		} else if (f->need == RECOMMENDED) {
			complain(c, SEVERITY_WARNING, f->rule, f->name, "missing; it should be here");
		}
	}
}
