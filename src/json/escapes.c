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

/* n bytes, and some more: one step at least, which mostly is enough. */
static inline void put_steps(char *to, const char *from, size_t n)
{
	size_t i = 0;

	do {
		step_store(to + i, step_load(from + i));
		i += STEP;
	} while (i < n);
}

/* Puts the text of a block at `from` behind *put, where two blocks have room, and returns where the
 * next one begins: behind the block, or behind an escape that ends there. */
static inline const char *unescape_block(const char *from, const char *end, char **put)
{
	uint64_t carry = 0, backslashes = block_load(from).backslashes;
	uint64_t escapes = backslashes & ~block_escaped(backslashes, &carry);
	size_t n = end - from < BLOCK ? (size_t)(end - from) : BLOCK, at = 0;
	char *to = *put;

	if (n < BLOCK)
		escapes &= (UINT64_C(1) << n) - 1;
	while (escapes) {
		size_t next = (size_t)__builtin_ctzll(escapes);
		char byte = escape_meant[(unsigned char)from[next + 1]];
		uint32_t c = 0;

		put_steps(to, from + at, next - at);
		to += next - at;
		escapes &= escapes - 1;
		if (byte) {
			*to++ = byte;
			at = next + 2;
		} else {
			at = next + code_point(from + next, &c);
			to += utf8_encode(c, to);
			escapes &= at < BLOCK ? ~UINT64_C(0) << at : 0; /* of a pair */
		}
	}
	if (at < n) {
		put_steps(to, from + at, n - at);
		to += n - at;
		at = n;
	}
	*put = to;
	return from + at;
}

/* The text moves to the front by way of a room of its own: what was just written is not read. */
static char *unescape(char *start, const char *end)
{
	enum { ROOM = 1024 };
	char room[ROOM + 2 * BLOCK], *to = start;
	const char *from = start;

	while (from < end) {
		char *put = room;

		while (from < end && put < room + ROOM)
			from = unescape_block(from, end, &put);
		memcpy(to, room, (size_t)(put - room));
		to += put - room;
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
