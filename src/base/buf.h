/* A growing byte buffer. Zero it to start, buf_release to end. p is NUL-terminated whenever
 * n > 0, so short clean results can be printed; the length is n all the same. */
#ifndef GAVEL_BASE_BUF_H
#define GAVEL_BASE_BUF_H

#include "base/str.h"

#include <stdarg.h>

struct buf {
	char *p;
	size_t n, cap;
};

void buf_reserve(struct buf *b, size_t more);
void buf_addc(struct buf *b, char c);
void buf_adds(struct buf *b, const char *zero_terminated);
void buf_printf(struct buf *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
void buf_vprintf(struct buf *b, const char *format, va_list ap)
	__attribute__((format(printf, 2, 0)));
void buf_add_u64(struct buf *b, uint64_t n); /* in decimal */
void buf_add_i64(struct buf *b, int64_t n);
void buf_add_base64(struct buf *b, struct str s); /* with padding, on one line */
void buf_release(struct buf *b);

/* Inline, so that constant sizes compile to a few instructions. */
static inline void buf_add(struct buf *b, const void *bytes, size_t n)
{
	if (b->cap - b->n <= n)
		buf_reserve(b, n);
	if (n)
		memcpy(b->p + b->n, bytes, n);
	b->n += n;
	b->p[b->n] = '\0';
}

static inline void buf_add_str(struct buf *b, struct str s)
{
	buf_add(b, s.p, s.n);
}

static inline struct str buf_str(const struct buf *b)
{
	return str_make(b->p, b->n);
}

static inline void buf_clear(struct buf *b)
{
	b->n = 0;
}

#endif
