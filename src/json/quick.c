/* Values are written one behind the other, a container before what it holds, as yyjson_val wants it. */
#include "json/quick.h"

#include "base/utf8.h"
#include "json/json.h"

#if defined(__SSE2__) && !defined(QUICK_PORTABLE)
#include <emmintrin.h>
#endif

/* How many of the next bytes are plain: no quote, no backslash, ASCII and no control. At most STEP. */
#if defined(__SSE2__) && !defined(QUICK_PORTABLE)
enum { STEP = 16 };
static unsigned plain(const char *p)
{
	__m128i x = _mm_loadu_si128((const __m128i *)(const void *)p);
	/* as signed bytes, what is not ASCII is below the controls */
	__m128i odd = _mm_or_si128(_mm_cmplt_epi8(x, _mm_set1_epi8(0x20)),
				   _mm_or_si128(_mm_cmpeq_epi8(x, _mm_set1_epi8('"')),
						_mm_cmpeq_epi8(x, _mm_set1_epi8('\\'))));
	unsigned mask = (unsigned)_mm_movemask_epi8(odd);

	return mask ? (unsigned)__builtin_ctz(mask) : STEP;
}
#elif __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
enum { STEP = 8 };
static unsigned plain(const char *p)
{
	const uint64_t ones = 0x0101010101010101u;
	uint64_t x, odd;

	memcpy(&x, p, 8);
	/* a borrow can only flag bytes behind one that is flagged itself */
	odd = ((x - ones * 0x20) | ((x ^ ones * '"') - ones) | ((x ^ ones * '\\') - ones) | x) &
	      ones * 0x80;
	return odd ? (unsigned)__builtin_ctzll(odd) / 8 : STEP;
}
#else
enum { STEP = 1 };
static unsigned plain(const char *p)
{
	unsigned char c = (unsigned char)*p;

	return c >= 0x20 && c < 0x80 && c != '"' && c != '\\';
}
#endif

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

/* One escape at *from, which may be a pair of them; the number of bytes written to `to`, 0 = not plain. */
static size_t unescape(const char **from, char *to)
{
	const char *p = *from;
	int unit, low;

	*from += 2;
	switch (p[1]) {
	case '"':
	case '\\':
	case '/': *to = p[1]; return 1;
	case 'n': *to = '\n'; return 1;
	case 't': *to = '\t'; return 1;
	case 'r': *to = '\r'; return 1;
	case 'b': *to = '\b'; return 1;
	case 'f': *to = '\f'; return 1;
	case 'u': break;
	default: return 0;
	}
	unit = hex4(p + 2);
	*from += 4;
	if (unit >= 0xd800 && unit <= 0xdbff && p[6] == '\\' && p[7] == 'u') {
		low = hex4(p + 8);
		*from += 6;
		if (low < 0xdc00 || low > 0xdfff)
			return 0;
		unit = 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
	} else if (unit < 0 || (unit >= 0xd800 && unit <= 0xdfff)) {
		return 0;
	}
	return utf8_encode((uint32_t)unit, to);
}

/* Copies the first and the last bytes of n, which may overlap each other and what they are copied to. */
#define MOVE_ENDS(type, to, from, n) \
	do { \
		type first_, last_; \
\
		memcpy(&first_, (from), sizeof(type)); \
		memcpy(&last_, (from) + (n) - sizeof(type), sizeof(type)); \
		memcpy((to), &first_, sizeof(type)); \
		memcpy((to) + (n) - sizeof(type), &last_, sizeof(type)); \
	} while (0)

/* Moves n bytes to the front, at most 16, and writes no other. */
static inline void move_few(char *to, const char *from, unsigned n)
{
	if (n >= 8) {
		MOVE_ENDS(uint64_t, to, from, n);
	} else if (n >= 4) {
		MOVE_ENDS(uint32_t, to, from, n);
	} else if (n >= 2) {
		MOVE_ENDS(uint16_t, to, from, n);
	} else if (n) {
		*to = *from;
	}
}

/* A string whose bytes before `from` are plain, and that one is not. What has no escapes stays where it
 * is; the rest moves to the front. NULL = not plain JSON, else behind its quote. */
static __attribute__((noinline)) char *odd_string(char *start, char *at, yyjson_val *v)
{
	const char *from = at;
	char *to = at;

	while (*from != '"') {
		unsigned n;

		if (*from == '\\') {
			size_t bytes = unescape(&from, to);

			if (!bytes)
				return NULL;
			to += bytes;
		} else {
			uint32_t c;
			size_t bytes = (unsigned char)*from < 0x80 ? 0 : utf8_decode(str_make(from, 4), &c);

			if (!bytes)
				return NULL; /* a control */
			move_few(to, from, (unsigned)bytes);
			from += bytes;
			to += bytes;
		}
		do {
			n = plain(from);
			move_few(to, from, n);
			from += n;
			to += n;
		} while (n == STEP);
	}
	*to = '\0';
	v->tag = (uint64_t)(to - start) << YYJSON_TAG_BIT | YYJSON_TYPE_STR |
		 (to == from ? YYJSON_SUBTYPE_NOESC : YYJSON_SUBTYPE_NONE);
	v->uni.str = start;
	return at + (from - at) + 1;
}

/* From a quote on. */
static inline char *string(char *p, yyjson_val *v)
{
	char *start = ++p;
	unsigned n;

	while ((n = plain(p)) == STEP)
		p += STEP;
	p += n;
	if (*p != '"')
		return odd_string(start, p, v);
	*p = '\0';
	v->tag = (uint64_t)(p - start) << YYJSON_TAG_BIT | YYJSON_TYPE_STR | YYJSON_SUBTYPE_NOESC;
	v->uni.str = start;
	return p + 1;
}

/* A whole number, or one with a fraction that a double division gives exactly as it should be. */
static char *number(char *start, yyjson_val *out)
{
	static const double powers[] = { 1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
					 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15 };
	char *p = start;
	bool minus = *p == '-';
	uint64_t v = 0;
	unsigned digits = 0, fraction = 0;

	p += minus;
	if (*p == '0' && ((minus && p[1] != '.') || (p[1] >= '0' && p[1] <= '9')))
		return NULL;
	for (; *p >= '0' && *p <= '9' && digits <= 15; p++, digits++)
		v = v * 10 + (uint64_t)(*p - '0');
	if (!digits || digits > 15)
		return NULL;
	if (*p == '.') {
		for (p++; *p >= '0' && *p <= '9' && digits <= 15; p++, digits++, fraction++)
			v = v * 10 + (uint64_t)(*p - '0');
		/* where doubles are wider than they say, a division rounds twice */
		if (!fraction || digits > 15 || __FLT_EVAL_METHOD__ != 0)
			return NULL;
	}
	if (*p == 'e' || *p == 'E')
		return NULL;
	if (fraction) {
		double d = (double)v / powers[fraction];

		out->tag = YYJSON_TYPE_NUM | YYJSON_SUBTYPE_REAL;
		out->uni.f64 = minus ? -d : d;
	} else if (minus) {
		out->tag = YYJSON_TYPE_NUM | YYJSON_SUBTYPE_SINT;
		out->uni.i64 = -(int64_t)v;
	} else {
		out->tag = YYJSON_TYPE_NUM | YYJSON_SUBTYPE_UINT;
		out->uni.u64 = v;
	}
	return p;
}

static char *word(char *p, const char *name, size_t n, uint64_t tag, yyjson_val *out)
{
	out->tag = tag;
	out->uni.u64 = 0;
	return memcmp(p, name, n) == 0 ? p + n : NULL;
}

static char *scalar(char *p, yyjson_val *out)
{
	switch (*p) {
	case 't': return word(p, "true", 4, YYJSON_TYPE_BOOL | YYJSON_SUBTYPE_TRUE, out);
	case 'f': return word(p, "false", 5, YYJSON_TYPE_BOOL | YYJSON_SUBTYPE_FALSE, out);
	case 'n': return word(p, "null", 4, YYJSON_TYPE_NULL, out);
	default: return number(p, out);
	}
}

static inline char *skip_blanks(char *p)
{
	while (*p == ' ' || *p == '\t' || *p == '\n' || *p == '\r')
		p++;
	return p;
}

struct open {
	yyjson_val *value;
	uint64_t n;
};

static void close_container(const struct open *c, yyjson_val *next)
{
	c->value->tag |= c->n << YYJSON_TAG_BIT;
	c->value->uni.ofs = (size_t)((char *)next - (char *)c->value);
}

/* All values up to the end of the outermost; NULL = not plain JSON. `next` is moved behind the tree. */
static char *values(char *p, yyjson_val **tree)
{
	struct open open[JSON_DEPTH_MAX + 1], *in = open; /* the first is no container */
	yyjson_val *next = *tree;

value:
	p = skip_blanks(p);
	if (*p == '"') {
		if (!(p = string(p, next)))
			return NULL;
		next++;
	} else if (*p == '{' || *p == '[') {
		if (in == open + JSON_DEPTH_MAX)
			return NULL;
		in++;
		*in = (struct open){ next, 0 };
		next->tag = *p == '{' ? YYJSON_TYPE_OBJ : YYJSON_TYPE_ARR;
		next++;
		p = skip_blanks(p + 1);
		if (*p != (in->value->tag == YYJSON_TYPE_OBJ ? '}' : ']')) {
			if (in->value->tag == YYJSON_TYPE_OBJ)
				goto name;
			goto value;
		}
		p++;
		close_container(in--, next);
	} else {
		if (!(p = scalar(p, next)))
			return NULL;
		next++;
	}
	for (;;) { /* behind a value, which may be the last of its container */
		p = skip_blanks(p);
		if (in == open)
			break;
		in->n++;
		if (*p == ',') {
			p++;
			if (in->value->tag == YYJSON_TYPE_ARR)
				goto value;
			p = skip_blanks(p);
			goto name;
		}
		if (*p != (in->value->tag == YYJSON_TYPE_OBJ ? '}' : ']'))
			return NULL;
		p++;
		close_container(in--, next);
	}
	*tree = next;
	return p;

name:
	if (*p != '"' || !(p = string(p, next)))
		return NULL;
	next++;
	p = skip_blanks(p);
	if (*p++ != ':')
		return NULL;
	goto value;
}

size_t quick_pool_bytes(size_t n)
{
	/* each value takes two bytes of the text at least, but containers without an end only one */
	return 64 + ((n + JSON_DEPTH_MAX) / 2 + 2) * sizeof(yyjson_val);
}

yyjson_doc *quick_read(char *text, size_t n, void *pool, size_t pool_bytes)
{
	yyjson_val *root = (yyjson_val *)(void *)((char *)pool + 64), *next = root;
	yyjson_doc *doc = pool;

	_Static_assert(sizeof(yyjson_doc) <= 64, "the tree follows");
	if (pool_bytes < quick_pool_bytes(n) || values(text, &next) != text + n)
		return NULL;
	*doc = (yyjson_doc){ .root = root, .dat_read = n, .val_read = (size_t)(next - root) };
	return doc;
}
