/* Strict UTF-8 decoder, encoder and validation. */
#include "base/utf8.h"

size_t utf8_decode(struct str s, uint32_t *code_point)
{
	const unsigned char *p = (const unsigned char *)s.p;
	uint32_t c = p[0], min;
	size_t n;

	if (c < 0x80) {
		*code_point = c;
		return 1;
	}
	if (c >= 0xc2 && c <= 0xdf)
		n = 2, c &= 0x1f, min = 0x80;
	else if (c >= 0xe0 && c <= 0xef)
		n = 3, c &= 0x0f, min = 0x800;
	else if (c >= 0xf0 && c <= 0xf4)
		n = 4, c &= 0x07, min = 0x10000;
	else
		return 0;
	if (s.n < n)
		return 0;
	for (size_t i = 1; i < n; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (p[i] & 0x3f);
	}
	if (c < min || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
		return 0;
	*code_point = c;
	return n;
}

size_t utf8_encode(uint32_t c, char out[4])
{
	static const unsigned char lead[] = { 0, 0, 0xc0, 0xe0, 0xf0 };
	size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;

	for (size_t i = n; --i; c >>= 6)
		out[i] = (char)(0x80 | (c & 0x3f));
	out[0] = (char)(lead[n] | c);
	return n;
}

/* How many of the n <= 8 bytes at p come before the first that is not ASCII. */
static size_t ascii_bytes(const char *p, size_t n)
{
	uint64_t word = 0, high;

	memcpy(&word, p, n);
	high = word & 0x8080808080808080u;
	if (!high)
		return n;
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	return (size_t)__builtin_ctzll(high) / 8;
#else
	return (size_t)__builtin_clzll(high) / 8;
#endif
}

size_t utf8_valid_length(struct str s)
{
	uint32_t c;
	size_t i = 0, step;

	while (i < s.n) {
		step = i + 8 <= s.n ? ascii_bytes(s.p + i, 8) : ascii_bytes(s.p + i, s.n - i);
		i += step;
		if (step == 8 || i == s.n)
			continue;
		step = utf8_decode(str_from(s, i), &c);
		if (!step)
			break;
		i += step;
	}
	return i;
}

bool utf8_valid(struct str s)
{
	return utf8_valid_length(s) == s.n;
}

int utf8_check(struct str s, const char *what, struct err *err)
{
	size_t n = utf8_valid_length(s);

	if (n == s.n)
		return 0;
	return err_set(err,
		       "%s is not UTF-8: byte %zu is 0x%02x; convert it, as iconv does, and give it "
		       "again", what, n + 1, (unsigned)(unsigned char)s.p[n]);
}
