/* Memory. xmalloc and friends never return NULL: out of memory ends the program with a message
 * (bug_hook first). An arena hands out memory that is freed all at once; a vec is a growing
 * array: declare it with VEC(type), zero it, push, free with vec_release. */
#ifndef GAVEL_BASE_MEM_H
#define GAVEL_BASE_MEM_H

#include "base/str.h"

#include <stdlib.h>

void *xmalloc(size_t n);
void *xcalloc(size_t count, size_t size);
void *xrealloc(void *p, size_t n);
char *xstrdup(const char *s);
char *str_dup(struct str s); /* NUL after the end */
/* After much was freed: returns free memory between blocks to the system, too. */
void mem_trim(void);
_Noreturn void out_of_memory(size_t n); /* how they end the program */

/* Prefetches the cache line of p, which may be any address. The empty asm is a side effect: gcc
 * drops calls of functions without one, and does not count a prefetch as one. */
static inline void mem_prefetch(const void *p)
{
	__asm__ volatile("");
	__builtin_prefetch(p);
}

#ifdef __clang__
#define MEM_UNROLL /* clang unrolls by itself */
#else
#define MEM_UNROLL _Pragma("GCC unroll 8")
#endif

/* Prefetches n bytes, a constant, for writing (exclusive ownership of the lines). For generic
 * x86-64 gcc would emit a prefetch for reading; processors without prefetchw ignore it. */
static inline void mem_prefetch_write(const void *p, size_t n)
{
	MEM_UNROLL
	for (size_t i = 0; i < n; i += 64) {
#ifdef __x86_64__
		__asm__ volatile("prefetchw %0" : : "m"(((const char *)p)[i]));
#else
		__asm__ volatile("");
		__builtin_prefetch((const char *)p + i, 1);
#endif
	}
}

/* memset with 0 for structs of 64 to a few hundred bytes, n being a constant: compilers emit rep
 * stos there, whose start-up takes longer than all of this. */
static inline void mem_zero(void *p, size_t n)
{
	MEM_UNROLL
	for (size_t i = 0; i + 64 <= n; i += 64)
		memset((char *)p + i, 0, 64);
	if (n % 64)
		memset((char *)p + n - 64, 0, 64);
}

struct arena_chunk;
struct arena {
	struct arena_chunk *head; /* newest first */
	struct arena_chunk *spare;
	unsigned spare_n;
	char *next, *end;
	size_t total_bytes; /* of the chunks in use */
};

void *arena_alloc(struct arena *a, size_t n); /* aligned to 8, not zeroed */
void *arena_zalloc(struct arena *a, size_t n);
struct str arena_str(struct arena *a, struct str s); /* copy, NUL after the end */
struct buf;
struct str arena_take(struct arena *a, struct buf *b); /* the same; releases the buffer */
char *arena_printf(struct arena *a, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Forgets everything but keeps chunks, up to a megabyte, for the next round. */
void arena_reset(struct arena *a);
void arena_release(struct arena *a);

#define VEC(type) struct { type *v; uint32_t n, cap; }
#define vec_push(vec, ...) \
	do { \
		if ((vec)->n == (vec)->cap) \
			(vec)->v = vec_grow_((vec)->v, &(vec)->cap, sizeof(*(vec)->v)); \
		(vec)->v[(vec)->n] = __VA_ARGS__; \
		(vec)->n++; \
	} while (0)
#define vec_release(vec) (free((vec)->v), (vec)->v = NULL, (vec)->n = (vec)->cap = 0)
#define vec_last(vec) (&(vec)->v[(vec)->n - 1])
void *vec_grow_(void *v, uint32_t *cap, size_t size);

/* Binary search: low becomes the first i of [low, high) for which `before`, an expression in i that
 * is true up to some i and false from there on, is false. */
#define bisect(low, high, i, before) \
	for (uint32_t high_ = (high), i; (low) < high_;) { \
		i = (low) + (high_ - (low)) / 2; \
		if (before) \
			(low) = i + 1; \
		else \
			high_ = i; \
	}

#endif
