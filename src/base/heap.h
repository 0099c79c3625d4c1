/* The allocator for the memory of a model: entities, histories, names and maps.
 *
 * A heap is one range of virtual addresses, reserved at the start and committed as needed, at the
 * same address in every run of the program. So big arrays grow in place without a copy, freed
 * blocks are used again, all of it is freed at once, and it can be saved byte by byte and mapped by
 * another run, pointers and all. For this, nothing in it points outside of it.
 *
 * If the address is taken (a second model, a sanitizer's own memory), the heap is elsewhere and
 * cannot be saved (heap_is_fixed). If so much cannot be reserved (ulimit -v), or a sanitizer should
 * see every block, each block is one of malloc's. */
#ifndef GAVEL_BASE_HEAP_H
#define GAVEL_BASE_HEAP_H

#include "base/mem.h"

struct heap;

/* HEAP_PLAIN: blocks of malloc. HEAP_FIXED: reserved also in builds with sanitizers, which are
 * plain otherwise. */
enum heap_kind { HEAP_USUAL, HEAP_PLAIN, HEAP_FIXED };
struct heap *heap_new(enum heap_kind kind);
void heap_free(struct heap *h);

void *heap_alloc(struct heap *h, size_t n); /* aligned to 8, not zeroed; n > 0 */
void *heap_zalloc(struct heap *h, size_t n);
/* p from heap_alloc with this n; p may be NULL. */
void heap_give(struct heap *h, void *p, size_t n);
/* Enlarges a block of n bytes, in place if possible. p may be NULL with n 0. */
void *heap_resize(struct heap *h, void *p, size_t n, size_t more);
/* A hint: the heap will soon hold so many times as much as now; 0 = unknown. Tables that grow can
 * grow to heap_expected at once; at most EXPECT_MOST times, since the estimate may be wrong. */
void heap_expect(struct heap *h, double times);
uint64_t heap_expected(const struct heap *h, uint64_t n);
enum { EXPECT_MOST = 8 };
/* A copy that lives as long as the heap, NUL after the end. */
struct str heap_str(struct heap *h, struct str s);

/* A growing array in a heap, as VEC is one in malloc's: declare it with HVEC(type), zero it,
 * heap_push. Small ones grow by one element, big ones in place. */
#define HVEC(type) struct { type *v; uint32_t n, room; }
#define heap_push(h, vec, ...) \
	do { \
		if ((vec)->n == (vec)->room) \
			(vec)->v = heap_grow_((h), (vec)->v, &(vec)->room, sizeof(*(vec)->v)); \
		(vec)->v[(vec)->n] = __VA_ARGS__; \
		(vec)->n++; \
	} while (0)
void *heap_grow_(struct heap *h, void *v, uint32_t *room, size_t size);

/* ---- saving it ---- */

/* Whether it is at the address that it has in every run. */
bool heap_is_fixed(const struct heap *h);

enum { HEAP_PAGE = 64 << 10 }; /* the system's pages are that big, or parts of it */

/* Pages of it that are in use. The first part is the heap's own header. */
struct heap_part {
	uint64_t offset; /* in the heap */
	uint64_t n;
};

struct heap_parts {
	VEC(struct heap_part) list;
	uint64_t bytes;
};

void heap_list(const struct heap *h, struct heap_parts *out); /* vec_release(&out->list) */
/* The address of a part. NULL if it cannot be one of a heap. */
char *heap_at(struct heap *h, struct heap_part part);
/* Maps a part from the file at that offset, a multiple of HEAP_PAGE; copy-on-write, so the file
 * must not be modified. NULL on failure. */
char *heap_map(struct heap *h, struct heap_part part, int fd, uint64_t offset);
/* Drops the resident pages of a mapped part that was not modified, until they are read again. */
void heap_rest(struct heap *h, struct heap_part part);
/* Empties a fixed heap after parts were mapped that turn out to be damaged. */
void heap_reset(struct heap *h);

#endif
