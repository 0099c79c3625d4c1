/* Growing byte buffer: allocation and formatted output. */
#include "base/buf.h"

#include "base/err.h"
#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>

void buf_reserve(struct buf *b, size_t more)
{
	size_t want = b->n + more + 1, cap = b->cap;

	if (want <= cap)
		return;
	cap = cap ? cap + cap / 2 : 64;
	if (cap < want)
		cap = want;
	b->p = xrealloc(b->p, cap);
	b->cap = cap;
}

void buf_addc(struct buf *b, char c)
{
	buf_add(b, &c, 1);
}

void buf_adds(struct buf *b, const char *s)
{
	buf_add(b, s, strlen(s));
}

void buf_vprintf(struct buf *b, const char *format, va_list ap)
{
	va_list again;
	int n;

	va_copy(again, ap);
	n = vsnprintf(NULL, 0, format, ap);
	if (n < 0)
		BUG("bad format %s", format);
	buf_reserve(b, (size_t)n);
	vsnprintf(b->p + b->n, (size_t)n + 1, format, again);
	va_end(again);
	b->n += (size_t)n;
}

void buf_printf(struct buf *b, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	buf_vprintf(b, format, ap);
	va_end(ap);
}

void buf_add_u64(struct buf *b, uint64_t n)
{
	char digits[DIGITS_MAX];

	buf_add_str(b, str_from_u64(n, digits));
}

void buf_add_i64(struct buf *b, int64_t n)
{
	if (n < 0)
		buf_addc(b, '-');
	buf_add_u64(b, n < 0 ? 0 - (uint64_t)n : (uint64_t)n);
}

void buf_add_base64(struct buf *b, struct str s)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	buf_reserve(b, (s.n + 2) / 3 * 4);
	for (size_t i = 0; i < s.n; i += 3) {
		uint32_t bits = 0;

		for (size_t k = 0; k < 3; k++)
			bits = bits << 8 | (i + k < s.n ? (unsigned char)s.p[i + k] : 0);
		for (size_t k = 0; k < 4; k++)
			buf_addc(b, k > s.n - i ? '=' : digits[bits >> (18 - 6 * k) & 63]);
	}
}

void buf_release(struct buf *b)
{
	free(b->p);
	*b = (struct buf){ 0 };
}
