/* JSON output: compact, quoted strings, and pretty lines for reading. */
#include "json/compose.h"

#include "base/utf8.h"

#include <stdio.h>
#include <stdlib.h>

/* Whether 8 bytes are written as they are. */
static bool is_verbatim_eight(const char *p)
{
	const uint64_t each = 0x0101010101010101u;
	uint64_t word, quote, backslash;

	memcpy(&word, p, sizeof(word));
	quote = word ^ '"' * each;
	backslash = word ^ '\\' * each;
	/* a byte of zero borrows into its high bit; so may the one above it, which is no harm */
	return str_plain_eight(p) && !(((quote - each) & ~quote) & 0x80 * each) &&
	       !(((backslash - each) & ~backslash) & 0x80 * each);
}

void json_write_str(struct buf *b, struct str s)
{
	size_t start = 0, i = 0;

	buf_reserve(b, s.n + 2);
	buf_addc(b, '"');
	while (i < s.n) {
		unsigned char c = (unsigned char)s.p[i];
		uint32_t code;
		size_t step;

		if (i + 8 <= s.n && is_verbatim_eight(s.p + i)) {
			i += 8;
			continue;
		}
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
	if (i > start) /* an empty text may have no bytes to point to */
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
		buf_add_u64(b, yyjson_get_uint(v));
	else if (yyjson_is_sint(v))
		buf_add_i64(b, yyjson_get_sint(v));
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

struct pretty {
	struct buf *b;
	int indent;    /* of the current level; -1 = compact, all on one line */
	unsigned left; /* lines still allowed */
	bool cut;      /* there was more: a last line says so */
};

/* A new line, if there is one left. Compact output has no lines. */
static bool new_line(struct pretty *p)
{
	if (p->indent < 0)
		return true;
	if (p->left == 0) {
		if (!p->cut)
			buf_adds(p->b, "\n…");
		p->cut = true;
		return false;
	}
	p->left--;
	buf_printf(p->b, "\n%*s", p->indent, "");
	return true;
}

/* Depth is bounded by JSON_DEPTH_MAX, so recursion is. */
static void write_value(struct pretty *p, yyjson_val *v)
{
	bool is_obj = yyjson_is_obj(v);
	size_t n = is_obj ? yyjson_obj_size(v) : yyjson_arr_size(v);
	int step = p->indent < 0 ? 0 : 2;
	yyjson_val *next;

	if (!is_obj && !yyjson_is_arr(v)) {
		write_scalar(p->b, v);
		return;
	}
	next = unsafe_yyjson_get_first(v);
	buf_addc(p->b, is_obj ? '{' : '[');
	p->indent += step;
	for (size_t i = 0; i < n; i++) {
		yyjson_val *item = is_obj ? next + 1 : next;

		if (i)
			buf_addc(p->b, ',');
		if (!new_line(p))
			break;
		if (is_obj) {
			json_write_str(p->b, json_str(next));
			buf_adds(p->b, step ? ": " : ":");
		}
		write_value(p, item);
		if (p->cut)
			break;
		next = unsafe_yyjson_get_next(item);
	}
	p->indent -= step;
	if (!p->cut && (!n || new_line(p)))
		buf_addc(p->b, is_obj ? '}' : ']');
}

void json_write(struct buf *b, yyjson_val *v)
{
	struct pretty p = { .b = b, .indent = -1 };

	write_value(&p, v);
}

void json_write_but(struct buf *b, yyjson_val *v, const yyjson_val *but)
{
	size_t i, n;
	yyjson_val *key, *member;

	if (!but || !yyjson_is_obj(v)) {
		json_write(b, v);
		return;
	}
	buf_addc(b, '{');
	yyjson_obj_foreach(v, i, n, key, member)
		if (member != but)
			json_put_member(b, key, member);
	buf_addc(b, '}');
}

void json_write_pretty(struct buf *b, yyjson_val *v, unsigned max_lines)
{
	struct pretty p = { .b = b, .left = max_lines ? max_lines - 1 : 0 };

	write_value(&p, v);
}
