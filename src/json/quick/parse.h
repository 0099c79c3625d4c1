/* Inside this folder: the parser, as static functions compiled in each variant with the steps that
 * simd.h has there: quick.c for any machine, quick_avx2.c and quick_avx512.c with wider ones.
 *
 * Values are written to one array, a container before its contents, as yyjson lays them out.
 * Whitespace is rare in messages, so it is looked for only where nothing else matches. */
#include "base/utf8.h"
#include "json/escapes.h"
#include "json/json.h"
#include "json/quick/name_match.h"
#include "json/quick/utf8_simd.h"

/* The length of the character at p, which is not printable ASCII; 0 = a control, or not UTF-8. */
static inline unsigned character_length(const char *p)
{
	const unsigned char *u = (const unsigned char *)p;
	uint32_t c;

	if (u[0] >= 0xc2 && u[0] <= 0xdf && (u[1] & 0xc0) == 0x80)
		return 2;
	if (u[0] >= 0xe1 && u[0] <= 0xec && (u[1] & 0xc0) == 0x80 && (u[2] & 0xc0) == 0x80)
		return 3;
	return u[0] < 0x80 ? 0 : (unsigned)utf8_decode(str_make(p, 4), &c);
}

static inline const char *end_string(const char *start, const char *quote, uint64_t escapes,
				     yyjson_val *v)
{
	v->tag = (uint64_t)(quote - start) << YYJSON_TAG_BIT | YYJSON_TYPE_STR |
		 (escapes ? escapes : YYJSON_SUBTYPE_NOESC);
	v->uni.str = start;
	return quote + 1;
}

/* Parses a string whose bytes before p are plain, one odd byte at a time. Returns the end behind
 * its closing quote, NULL = not plain JSON. */
static __attribute__((noinline)) const char *slow_string(const char *start, const char *p,
							yyjson_val *v)
{
	uint64_t escapes = 0;

	for (;;) {
		unsigned special;
		unsigned n;

		while (!(special = step_special(step_load(p))))
			p += STEP;
		p += __builtin_ctz(special);
		if (*p == '"')
			return end_string(start, p, escapes, v);
		if (*p == '\\') {
			n = escape_length(p);
			escapes |=
				JSON_ESCAPED | (escape_is_canonical(p[1]) ? 0 : JSON_NONCANONICAL);
		} else {
			n = character_length(p);
		}
		if (!n)
			return NULL;
		p += n;
	}
}

/* The same, a block at a time, without a branch for each odd byte. Blocks that are not ASCII are
 * validated afterwards in one go, since a branch on each block would be mispredicted. Rare escapes
 * and errors are left to slow_string. */
static __attribute__((noinline)) const char *block_string(const char *start, const char *plain,
							  yyjson_val *v)
{
	const char *p = plain, *high_first = NULL, *high_last = NULL;
	uint64_t carry = 0, any = 0, ends;

	for (;; p += BLOCK) {
		struct simd_block b = block_load(p);
		uint64_t escaped = block_escaped(b.backslashes, &carry), inside;

		ends = b.ends & ~escaped;
		inside = (ends & -ends) - 1;
		escaped &= inside;
		any |= escaped;
		if (escaped & ~b.usual)
			return slow_string(start, plain, v);
		high_last = b.high & inside ? p : high_last;
		high_first = high_first ? high_first : high_last;
		if (ends)
			break;
	}
	p += __builtin_ctzll(ends);
	if (*p != '"')
		return NULL;
	if (high_last && !is_utf8(high_first, p - high_last < BLOCK ? p : high_last + BLOCK))
		return slow_string(start, plain, v);
	return end_string(start, p, any ? JSON_ESCAPED : 0, v);
}

/* From its opening quote on. */
static inline const char *string(const char *p, yyjson_val *v)
{
	const char *start = ++p;
	unsigned special;

	while (!(special = step_special(step_load(p))))
		p += STEP;
	if (p[__builtin_ctz(special)] != '"')
		return block_string(start, p, v);
	return end_string(start, p + __builtin_ctz(special), 0, v);
}

/* Moves *p behind the digits and appends them to *v, which can hold nineteen. */
static inline unsigned digits_at(const char **p, uint64_t *v)
{
	const char *first = *p;

	for (unsigned digit; (digit = (unsigned)**p - '0') <= 9; ++*p)
		*v = *v * 10 + digit;
	return (unsigned)(*p - first);
}

/* An integer, or a fraction so short that one division of doubles rounds it correctly. */
static const char *number(const char *start, yyjson_val *out)
{
	static const double powers[] = { 1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
					 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15 };
	const char *p = start;
	bool minus = *p == '-';
	uint64_t v = 0;
	unsigned digits, fraction = 0;

	p += minus;
	if (*p == '0' && ((minus && p[1] != '.') || (p[1] >= '0' && p[1] <= '9')))
		return NULL;
	digits = digits_at(&p, &v);
	if (!digits)
		return NULL;
	if (*p == '.') {
		p++;
		fraction = digits_at(&p, &v);
		/* with excess precision (x87), a division rounds twice */
		if (!fraction || __FLT_EVAL_METHOD__ != 0)
			return NULL;
	}
	if (digits + fraction > 15 || *p == 'e' || *p == 'E')
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

static const char *word(const char *p, const char *name, size_t n, uint64_t tag, yyjson_val *out)
{
	out->tag = tag;
	out->uni.u64 = 0;
	return memcmp(p, name, n) == 0 ? p + n : NULL;
}

static const char *scalar(const char *p, yyjson_val *out)
{
	switch (*p) {
	case 't': return word(p, "true", 4, YYJSON_TYPE_BOOL | YYJSON_SUBTYPE_TRUE, out);
	case 'f': return word(p, "false", 5, YYJSON_TYPE_BOOL | YYJSON_SUBTYPE_FALSE, out);
	case 'n': return word(p, "null", 4, YYJSON_TYPE_NULL, out);
	default: return number(p, out);
	}
}

static inline bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* Stops at the text's end, after which another text may follow. A line (end is NULL) ends at its
 * newline. */
static inline bool at_blank(const char *p, const char *end)
{
	return is_blank(*p) && (end ? p < end : *p != '\n');
}

static inline const char *skip_blanks(const char *p, const char *end)
{
	if ((unsigned char)*p > ' ')
		return p;
	while (at_blank(p, end))
		p++;
	return p;
}

/* A name of the table, at its opening quote. */
static inline const char *known_name(const struct known_name *name, const char *p, yyjson_val *v)
{
	v->tag = ((uint64_t)name->span - 3) << YYJSON_TAG_BIT | YYJSON_TYPE_STR |
		 YYJSON_SUBTYPE_NOESC;
	v->uni.str = name_text(name);
	return p + name->span;
}

/* Any other name, and its colon. */
static __attribute__((noinline)) const char *other_name(const char *p, const char *end,
							yyjson_val *v)
{
	p = skip_blanks(p, end);
	if (*p != '"' || !(p = string(p, v)) || (v->tag & JSON_ESCAPED))
		return NULL; /* names are compared undecoded */
	p = skip_blanks(p, end);
	return *p == ':' ? p + 1 : NULL;
}

/* An open container, while one inside it is parsed. */
struct open {
	yyjson_val *value;
	uint64_t n;   /* members so far */
	size_t place; /* of the next name (json/names.h) */
};

/* Parses the container at p with all that is in it; NULL = not plain JSON. The state of the
 * innermost container is in variables and not in a struct open: copying a struct that was just
 * written member by member stalls (no store forwarding). */
static inline const char *container(const char *p, const char *end, struct names *names,
				    yyjson_val **tree)
{
	struct open outside[JSON_DEPTH_MAX], *parent = outside;
	yyjson_val *next = *tree, *in = NULL;
	size_t place = 0, number;
	uint64_t n = 0;
	char close;

open:
	if (parent == outside + JSON_DEPTH_MAX)
		return NULL;
	parent->value = in;
	parent->n = n;
	parent->place = place;
	parent++;
	in = next++;
	in->tag = *p == '{' ? YYJSON_TYPE_OBJ : YYJSON_TYPE_ARR;
	close = (char)(*p + 2); /* in ASCII */
	place ^= 1;
	n = 0;
	p = skip_blanks(p + 1, end);
	if (*p == close)
		goto close;
	n = 1;
	if (close == ']')
		goto value;
name:
	number = names->guess[place];
	if (!name_is_at(&names->list[number], p)) {
		p = skip_blanks(p, end);
		number = name_find(names, p);
		if (number)
			names->guess[place] = (uint16_t)number;
	}
	if (number) {
		p = known_name(&names->list[number], p, next++);
		place = name_place(place, number);
	} else if (!(p = other_name(p, end, next++))) {
		return NULL;
	}
value:
	if (*p == '"') {
		if (!(p = string(p, next++)))
			return NULL;
	} else if (*p == '{' || *p == '[') {
		goto open;
	} else if (at_blank(p, end)) {
		p = skip_blanks(p, end);
		goto value;
	} else if (!(p = scalar(p, next++))) {
		return NULL;
	}
behind: /* after a value, which may be the last of its container */
	if (*p == ',') {
		p++;
		n++;
		if (close == ']')
			goto value;
		goto name;
	}
	if (*p != close) {
		if (!at_blank(p, end))
			return NULL;
		p = skip_blanks(p, end);
		goto behind;
	}
close:
	p++;
	in->tag |= n << YYJSON_TAG_BIT;
	in->uni.ofs = (size_t)((char *)next - (char *)in);
	if (--parent > outside) {
		in = parent->value;
		n = parent->n;
		place = parent->place;
		close = in->tag == YYJSON_TYPE_OBJ ? '}' : ']';
		goto behind;
	}
	*tree = next;
	return p;
}

static inline const char *values(const char *text, const char *end, struct names *names,
				 yyjson_val **tree)
{
	const char *p = skip_blanks(text, end);

	if (*p == '{' || *p == '[')
		p = container(p, end, names, tree);
	else
		p = *p == '"' ? string(p, (*tree)++) : scalar(p, (*tree)++);
	return p ? skip_blanks(p, end) : NULL;
}
