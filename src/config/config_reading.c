/* Line and column of each value, and error messages. A yyjson tree has no positions, but its
 * values and keys lie in memory in the order of the text, the root first: the n-th value is the
 * n-th token, so one scan over the tokens finds all positions. */
#include "config/config_reading.h"

#include "base/err.h"
#include "base/utf8.h"

#include <stdarg.h>
#include <stdio.h>

void config_place_advance(struct config_place *at, struct str s)
{
	for (size_t i = 0; i < s.n; i++) {
		if (s.p[i] == '\n')
			*at = (struct config_place){ at->line + 1, 1 };
		else
			at->column += ((unsigned char)s.p[i] & 0xc0) != 0x80;
	}
}

/* Length of the token, comment or single character at the start of s. */
static size_t token_length(struct str s, bool *is_value)
{
	size_t n = 1;
	ptrdiff_t end;

	*is_value = !memchr(" \t\r\n,:]}/", s.p[0], 9);
	if (s.p[0] == '"') {
		while (n < s.n && s.p[n] != '"')
			n += s.p[n] == '\\' ? 2 : 1;
		n++;
	} else if (str_starts(s, STR("//"))) {
		while (n < s.n && s.p[n] != '\n' && s.p[n] != '\r')
			n++;
	} else if (str_starts(s, STR("/*"))) {
		end = str_find(s, STR("*/"), 2);
		n = end < 0 ? s.n : (size_t)end + 2;
	} else if (*is_value && s.p[0] != '{' && s.p[0] != '[') {
		while (n < s.n && !memchr(" \t\r\n,:]}/", s.p[n], 9))
			n++;
	}
	return n < s.n ? n : s.n;
}

void config_find_places(struct config_reading *r, struct str text)
{
	struct config_place at = { 1, 1 };

	while (text.n) {
		bool is_value;
		size_t n = token_length(text, &is_value);

		if (is_value)
			vec_push(&r->places, at);
		config_place_advance(&at, str_make(text.p, n));
		text = str_from(text, n);
	}
}

struct config_place config_place_of(const struct config_reading *r, yyjson_val *v)
{
	return r->places.v[v - r->root];
}

void config_add_problem(struct config *c, struct buf *sentence)
{
	vec_push(&c->problems, sentence->p);
	*sentence = (struct buf){ 0 };
}

void config_problem(struct config *c, uint32_t line, uint32_t column, const char *format, ...)
{
	struct buf b = { 0 };
	char sentence[1024];
	va_list ap;

	va_start(ap, format);
	vsnprintf(sentence, sizeof(sentence), format, ap);
	va_end(ap);
	buf_printf(&b, "%s:%u:%u: %s", c->file ? c->file : "configuration", line, column, sentence);
	config_add_problem(c, &b);
}

void config_quote(struct str s, char out[CONFIG_VALUE_MAX])
{
	struct buf b = { 0 };
	unsigned shown = 0;

	buf_addc(&b, '"');
	for (size_t i = 0; i < s.n && shown < CONFIG_SHOWN_MAX; shown++) {
		uint32_t c;
		size_t n = utf8_decode(str_from(s, i), &c);

		if (!n)
			BUG("JSON text is not UTF-8");
		if (c >= 0x20 && c < 0x7f && c != '"' && c != '\\')
			buf_addc(&b, (char)c);
		else if (c == '"' || c == '\\')
			buf_printf(&b, "\\%c", (char)c);
		else
			buf_printf(&b, "\\u%04x", c);
		i += n;
		if (shown + 1 == CONFIG_SHOWN_MAX && i < s.n)
			buf_adds(&b, "...");
	}
	buf_addc(&b, '"');
	snprintf(out, CONFIG_VALUE_MAX, "%s", b.p);
	buf_release(&b);
}

/* A value as text, long ones cut; objects and arrays by their type. */
static void describe(yyjson_val *v, char out[CONFIG_VALUE_MAX])
{
	struct buf b = { 0 };

	if (yyjson_is_str(v)) {
		config_quote(json_str(v), out);
		return;
	}
	if (yyjson_is_bool(v) || json_is_number(v))
		json_write(&b, v);
	else
		buf_adds(&b, json_type_name(v));
	snprintf(out, CONFIG_VALUE_MAX, "%.*s%s", CONFIG_SHOWN_MAX, b.p,
		 b.n > CONFIG_SHOWN_MAX ? "..." : "");
	buf_release(&b);
}

void config_invalid(struct config_reading *r, yyjson_val *v, const char *name, const char *expected)
{
	char found[CONFIG_VALUE_MAX];

	describe(v, found);
	config_error(r, v, "%s must be %s, not %s", name, expected, found);
}

void config_unknown_key(struct config_reading *r, yyjson_val *key, const char *what,
			const char *known)
{
	char found[CONFIG_VALUE_MAX];

	config_quote(json_str(key), found);
	config_error(r, key, "no %s %s; there are %s", what, found, known);
}

bool config_is_object(struct config_reading *r, yyjson_val *v, const char *name,
		      const char *expected)
{
	if (!yyjson_is_obj(v))
		config_invalid(r, v, name, expected);
	else if (yyjson_obj_size(v) > CONFIG_MEMBERS_MAX)
		config_error(r, v, "%s must have at most %d members, not %zu", name,
			     CONFIG_MEMBERS_MAX, yyjson_obj_size(v));
	else
		return true;
	return false;
}

bool config_is_array(yyjson_val *v, size_t min)
{
	return yyjson_is_arr(v) && yyjson_arr_size(v) >= min &&
	       yyjson_arr_size(v) <= CONFIG_MEMBERS_MAX;
}

bool config_is_repeated(struct config_reading *r, yyjson_val *object, yyjson_val *key)
{
	char name[CONFIG_VALUE_MAX];

	if (yyjson_obj_getn(object, yyjson_get_str(key), yyjson_get_len(key)) ==
	    yyjson_obj_iter_get_val(key))
		return false;
	config_quote(json_str(key), name);
	config_error(r, key, "%s is given twice; the first one counts", name);
	return true;
}

bool config_set_bool(struct config_reading *r, const char *name, yyjson_val *v, bool *out)
{
	if (!yyjson_is_bool(v)) {
		config_invalid(r, v, name, "true or false");
		return false;
	}
	*out = yyjson_get_bool(v);
	return true;
}
