/* Escapes in two steps: the parser only looks whether they are right (escape_length), and most
 * strings are never asked for; those that are become text where they stand. */
#include "json/escapes.h"

#include "base/buf.h"
#include "base/utf8.h"
#include "json/json.h"
#include "json/step.h"

const char escape_meant[256] = {
	['"'] = '"',  ['\\'] = '\\', ['/'] = '/',  ['n'] = '\n',
	['t'] = '\t', ['r'] = '\r',  ['b'] = '\b', ['f'] = '\f',
};

static int hex4(const char *p)
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

/* The character of a \u escape or of a pair of them, and its length; 0 = it is none. */
static unsigned code_point(const char *p, uint32_t *out)
{
	int unit = hex4(p + 2), low;

	if (unit < 0 || (unit >= 0xdc00 && unit <= 0xdfff))
		return 0;
	*out = (uint32_t)unit;
	if (unit < 0xd800 || unit > 0xdfff)
		return 6;
	if (p[6] != '\\' || p[7] != 'u' || (low = hex4(p + 8)) < 0xdc00 || low > 0xdfff)
		return 0;
	*out = 0x10000 + ((uint32_t)(unit - 0xd800) << 10) + (uint32_t)(low - 0xdc00);
	return 12;
}

unsigned escape_length(const char *p)
{
	uint32_t c;

	if (escape_meant[(unsigned char)p[1]])
		return 2;
	return p[1] == 'u' ? code_point(p, &c) : 0;
}

/* The escape at p, which is right: its length, and what it means as a byte or, where *byte is 0,
 * as a character. */
static inline unsigned read_escape(const char *p, char *byte, uint32_t *c)
{
	*byte = escape_meant[(unsigned char)p[1]];
	return *byte ? 2 : code_point(p, c);
}

/* Less than the escape took. */
static inline char *put_meant(char *to, char byte, uint32_t c)
{
	if (!byte)
		return to + utf8_encode(c, to);
	*to = byte;
	return to + 1;
}

/* The text moves to the front, mostly by less than a step: a whole step that is written there
 * may cover what comes next, which is put back then. */
static char *unescape(char *at, const char *end)
{
	char *to = at, *from = at, byte;
	uint32_t c = 0;

	while (end - from >= STEP) {
		step_bytes here = step_load(from), next;
		unsigned found = step_equal(here, '\\'), n;

		if (!found) {
			step_store(to, here);
			from += STEP;
			to += STEP;
			continue;
		}
		n = (unsigned)__builtin_ctz(found);
		from += n;
		from += read_escape(from, &byte, &c);
		next = step_load(from);
		step_store(to, here);
		step_store(from, next);
		to = put_meant(to + n, byte, c);
	}
	while (from < end) {
		if (*from == '\\') {
			from += read_escape(from, &byte, &c);
			to = put_meant(to, byte, c);
		} else {
			*to++ = *from++;
		}
	}
	return to;
}

void json_unescape(yyjson_val *v)
{
	char *start = (char *)(uintptr_t)v->uni.str, *end = start + (v->tag >> YYJSON_TAG_BIT), *to;

	to = unescape(memchr(start, '\\', (size_t)(end - start)), end);
	*to = '\0';
	v->tag = (uint64_t)(to - start) << YYJSON_TAG_BIT | YYJSON_TYPE_STR;
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

void add_spelled(struct buf *b, struct str s)
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
