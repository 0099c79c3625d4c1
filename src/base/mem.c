/* malloc that cannot fail, arenas, and the growing of vectors. */
#include "base/mem.h"

#include "base/buf.h"
#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <stdlib.h>

_Noreturn void out_of_memory(size_t n)
{
	if (bug_hook)
		bug_hook();
	fprintf(stderr,
		"gavel: out of memory (asked for %zu bytes); close something and try again\n", n);
	exit(2);
}

void *xmalloc(size_t n)
{
	void *p = malloc(n ? n : 1);

	if (!p)
		out_of_memory(n);
	return p;
}

void *xcalloc(size_t count, size_t size)
{
	void *p = calloc(count ? count : 1, size ? size : 1);

	if (!p)
		out_of_memory(count * size);
	return p;
}

void *xrealloc(void *p, size_t n)
{
	void *q = realloc(p, n ? n : 1);

	if (!q)
		out_of_memory(n);
	return q;
}

void mem_trim(void)
{
#ifdef __GLIBC__
	malloc_trim(0);
#endif
}

char *xstrdup(const char *s)
{
	return str_dup(str_of(s));
}

char *str_dup(struct str s)
{
	char *p = xmalloc(s.n + 1);

	str_copy(p, s);
	return p;
}

struct arena_chunk {
	struct arena_chunk *next;
	size_t size;
	/* 16 bytes: what follows is aligned for anything we store */
};

enum {
	ARENA_CHUNK_BYTES = 64 * 1024,
	ARENA_SPARE_MAX = 16, /* chunks that arena_reset keeps besides the first */
};

void *arena_alloc(struct arena *a, size_t n)
{
	n = n ? (n + 7) & ~(size_t)7 : 8;
	if ((size_t)(a->end - a->next) < n) {
		size_t size = n > ARENA_CHUNK_BYTES / 4 ? n : ARENA_CHUNK_BYTES;
		struct arena_chunk *c = size == ARENA_CHUNK_BYTES ? a->spare : NULL;

		if (c) {
			a->spare = c->next;
			a->spare_n--;
		} else {
			c = xmalloc(sizeof(*c) + size);
		}
		c->size = size;
		a->total_bytes += sizeof(*c) + size;
		if (size != ARENA_CHUNK_BYTES && a->head) {
			/* a big block of its own: keep filling the chunk in use */
			c->next = a->head->next;
			a->head->next = c;
			return c + 1;
		}
		c->next = a->head;
		a->head = c;
		a->next = (char *)(c + 1);
		a->end = a->next + size;
	}
	a->next += n;
	return a->next - n;
}

void *arena_zalloc(struct arena *a, size_t n)
{
	return memset(arena_alloc(a, n), 0, n);
}

struct str arena_str(struct arena *a, struct str s)
{
	return str_copy(arena_alloc(a, s.n + 1), s);
}

struct str arena_take(struct arena *a, struct buf *b)
{
	struct str s = arena_str(a, buf_str(b));

	buf_release(b);
	return s;
}

char *arena_printf(struct arena *a, const char *format, ...)
{
	struct buf b = { 0 };
	va_list ap;

	va_start(ap, format);
	buf_vprintf(&b, format, ap);
	va_end(ap);
	return (char *)(uintptr_t)arena_take(a, &b).p;
}

void arena_reset(struct arena *a)
{
	struct arena_chunk *c = a->head, *keep = NULL;

	while (c) {
		struct arena_chunk *next = c->next;

		if (c->size != ARENA_CHUNK_BYTES || (keep && a->spare_n == ARENA_SPARE_MAX)) {
			free(c);
		} else if (!keep) {
			keep = c;
		} else {
			c->next = a->spare;
			a->spare = c;
			a->spare_n++;
		}
		c = next;
	}
	a->head = keep;
	a->next = a->end = NULL;
	a->total_bytes = 0;
	if (keep) {
		keep->next = NULL;
		a->next = (char *)(keep + 1);
		a->end = a->next + keep->size;
		a->total_bytes = sizeof(*keep) + keep->size;
	}
}

void arena_release(struct arena *a)
{
	arena_reset(a);
	free(a->head);
	for (struct arena_chunk *c = a->spare, *next; c; c = next) {
		next = c->next;
		free(c);
	}
	*a = (struct arena){ 0 };
}

void *vec_grow_(void *v, uint32_t *cap, size_t size)
{
	uint32_t n = *cap ? *cap + *cap / 2 + 8 : 8;

	if (n < *cap)
		BUG("vector over %u elements", *cap);
	*cap = n;
	return xrealloc(v, (size_t)n * size);
}
