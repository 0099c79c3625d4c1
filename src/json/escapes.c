/* Escapes are handled in two steps: the parser only validates them (escape_length), and the few
 * strings that are asked for are decoded in place (json_unescape). */
#include "json/escapes.h"

#include "base/buf.h"
#include "base/utf8.h"
#include "json/json.h"

const char escape_value[256] = {
	['"'] = '"',  ['\\'] = '\\', ['/'] = '/',  ['n'] = '\n',
	['t'] = '\t', ['r'] = '\r',  ['b'] = '\b', ['f'] = '\f',
};

int escape_hex4(const char *p)
{
	int v = 0;

	for (int i = 0; i < 4; i++) {
		unsigned char c = (unsigned char)p[i], low = c | 32;

		if (c >= '0' && c <= '9')
			v = v << 4 | (c - '0');
		else if (low >= 'a' && low <= 'f')
			v = v << 4 | (low - 'a' + 10);
		else
			return -1;
	}
	return v;
}

unsigned escape_character(const char *p, uint32_t *out)
{
	int unit = escape_hex4(p + 2), low;

	if (unit < 0 || (unit >= 0xdc00 && unit <= 0xdfff))
		return 0;
	*out = (uint32_t)unit;
	if (unit < 0xd800 || unit > 0xdfff)
		return 6;
	if (p[6] != '\\' || p[7] != 'u' || (low = escape_hex4(p + 8)) < 0xdc00 || low > 0xdfff)
		return 0;
	*out = 0x10000 + ((uint32_t)(unit - 0xd800) << 10) + (uint32_t)(low - 0xdc00);
	return 12;
}

unsigned escape_length(const char *p)
{
	uint32_t c;

	if (escape_value[(unsigned char)p[1]])
		return 2;
	return p[1] == 'u' ? escape_character(p, &c) : 0;
}

void tree_unescape(yyjson_doc *doc)
{
	for (yyjson_val *v = doc->root, *end = v + doc->val_read; v < end; v++) {
		if (!unsafe_yyjson_is_str(v))
			continue;
		if (v->tag & JSON_ESCAPED)
			json_unescape(v);
		else
			((char *)(uintptr_t)v->uni.str)[v->tag >> YYJSON_TAG_BIT] = '\0';
	}
}

void add_escaped(struct buf *b, struct str s)
{
	static const char letters[0x20] = {
		['\b'] = 'b', ['\t'] = 't', ['\n'] = 'n', ['\f'] = 'f', ['\r'] = 'r'
	};

	for (size_t i = 0; i < s.n; i++) {
		unsigned char c = (unsigned char)s.p[i];

		if (c == '"' || c == '\\' || (c < 0x20 && letters[c])) {
			buf_addc(b, '\\');
			buf_addc(b, c < 0x20 ? letters[c] : (char)c);
		} else if (c < 0x20) {
			buf_printf(b, "\\u%04x", c);
		} else {
			buf_addc(b, (char)c);
		}
	}
}
