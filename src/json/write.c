/* JSON out: compact, quoted strings, and pretty lines for reading. */
#include "json/json.h"

#include "base/utf8.h"

#include <stdio.h>
#include <stdlib.h>

void json_write_str(struct buf *b, struct str s)
{
	size_t start = 0, i = 0;

	buf_reserve(b, s.n + 2);
	buf_addc(b, '"');
	while (i < s.n) {
		unsigned char c = (unsigned char)s.p[i];
		uint32_t code;
		size_t step;

		if (c >= 0x20 && c < 0x7f && c != '"' && c != '\\') {
			i++;
			continue;
		}
		if (c >= 0x80 && (step = utf8_decode(str_from(s, i), &code)) != 0) {
			i += step;
			continue;
		}
		buf_add(b, s.p + start, i - start);
		if (c == '"' || c == '\\')
			buf_addc(b, '\\'), buf_addc(b, (char)c);
		else if (c == '\n')
			buf_adds(b, "\\n");
		else if (c == '\t')
			buf_adds(b, "\\t");
		else if (c == '\r')
			buf_adds(b, "\\r");
		else if (c < 0x80)
			buf_printf(b, "\\u%04x", c);
		else
			buf_adds(b, "\xef\xbf\xbd");
		start = ++i;
	}
	buf_add(b, s.p + start, i - start);
	buf_addc(b, '"');
}

static void write_scalar(struct buf *b, yyjson_val *v)
{
	if (yyjson_is_str(v))
		json_write_str(b, json_str(v));
	else if (yyjson_is_raw(v))
		buf_add(b, yyjson_get_raw(v), yyjson_get_len(v));
	else if (yyjson_is_uint(v))
		buf_printf(b, "%llu", (unsigned long long)yyjson_get_uint(v));
	else if (yyjson_is_sint(v))
		buf_printf(b, "%lld", (long long)yyjson_get_sint(v));
	else if (yyjson_is_real(v)) {
		char text[40];

		/* the shortest form that reads back as the same number */
		for (int digits = 15; digits <= 17; digits++) {
			snprintf(text, sizeof(text), "%.*g", digits, yyjson_get_real(v));
			if (strtod(text, NULL) == yyjson_get_real(v))
				break;
		}
		buf_adds(b, text);
	} else if (yyjson_is_bool(v))
		buf_adds(b, yyjson_get_bool(v) ? "true" : "false");
	else
		buf_adds(b, "null");
}

/* Depth is bounded by JSON_DEPTH_MAX, so recursion is. */
static void write_value(struct buf *b, yyjson_val *v, int indent, unsigned *lines)
{
	bool is_obj = yyjson_is_obj(v);
	size_t i, n;
	yyjson_val *key, *item;

	if (!is_obj && !yyjson_is_arr(v)) {
		write_scalar(b, v);
		return;
	}
	buf_addc(b, is_obj ? '{' : '[');
#define SEPARATE() \
	do { \
		if (i) \
			buf_addc(b, ','); \
		if (indent >= 0) { \
			if (*lines == 0) \
				return; \
			--*lines; \
			buf_printf(b, "\n%*s", indent + 2, ""); \
		} \
	} while (0)
	if (is_obj) {
		n = yyjson_obj_size(v);
		yyjson_obj_foreach(v, i, n, key, item) {
			SEPARATE();
			json_write_str(b, json_str(key));
			buf_adds(b, indent >= 0 ? ": " : ":");
			write_value(b, item, indent >= 0 ? indent + 2 : -1, lines);
		}
	} else {
		n = yyjson_arr_size(v);
		yyjson_arr_foreach(v, i, n, item) {
			SEPARATE();
			write_value(b, item, indent >= 0 ? indent + 2 : -1, lines);
		}
	}
#undef SEPARATE
	if (n && indent >= 0) {
		if (*lines == 0)
			return;
		--*lines;
		buf_printf(b, "\n%*s", indent, "");
	}
	buf_addc(b, is_obj ? '}' : ']');
}

void json_write(struct buf *b, yyjson_val *v)
{
	write_value(b, v, -1, NULL);
}

void json_write_pretty(struct buf *b, yyjson_val *v, unsigned max_lines)
{
	if (max_lines == 0)
		return;
	max_lines--;
	write_value(b, v, 0, &max_lines);
}
