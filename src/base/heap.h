/* The memory of a model: entities, histories, names and maps of one session, all of it together.
 *
 * It is one range of addresses, reserved at the beginning and used as it is needed, at an address
 * that is the same in every run of the program. So what grows big grows where it is, without a copy
 * beside it; what is given back is used again; all of it goes at once; and it can be saved byte by
 * byte and put back by another run, pointers and all. For this, nothing in it points outside of it.
 *
 * Where the address is taken (a second model, a checker's own memory), another one serves as well,
 * only that the heap is then not one to be saved (heap_is_fixed). Where so much cannot be reserved
 * (ulimit -v), or a checker shall see every block, each is one of malloc's. */
#ifndef GAVEL_BASE_HEAP_H
#define GAVEL_BASE_HEAP_H

#include "base/mem.h"

struct heap;

/* HEAP_PLAIN: blocks of malloc. HEAP_FIXED: reserved also in builds with a checker, which are plain
 * otherwise. */
enum heap_kind { HEAP_USUAL, HEAP_PLAIN, HEAP_FIXED };
struct heap *heap_new(enum heap_kind kind);
void heap_free(struct heap *h);

void *heap_alloc(struct heap *h, size_t n); /* aligned to 8, not zeroed; n > 0 */
void *heap_zalloc(struct heap *h, size_t n);
/* p from heap_alloc with this n; p may be NULL. */
void heap_give(struct heap *h, void *p, size_t n);
/* A block of n bytes with room for more: where it is, if it can grow there. p may be NULL with n 0. */
void *heap_resize(struct heap *h, void *p, size_t n, size_t more);
/* Of what is in it now, so many times as much will be in it soon, as far as anybody knows; 0 =
 * nobody does. Tables that grow can grow to that at once, as heap_expected tells: to EXPECT_MOST
 * times as much at most, since it may turn out wrong. */
void heap_expect(struct heap *h, double times);
uint64_t heap_expected(const struct heap *h, uint64_t n);
enum { EXPECT_MOST = 8 };
/* A copy for as long as the heap lives, NUL after the end. */
struct str heap_str(struct heap *h, struct str s);

/* A growing array in a heap, as a VEC is one in memory of its own: declare it with HVEC(type), zero
 * it, heap_push. Small ones grow by one, big ones where they are. */
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

/* At the address that it would have in another run. */
bool heap_is_fixed(const struct heap *h);

enum { HEAP_PAGE = 64 << 10 }; /* the system's pages are that big, or parts of it */

/* Pages of it that are in use. The first piece is the heap's own books. */
struct heap_part {
	uint64_t offset; /* in the heap */
	uint64_t n;
};

struct heap_parts {
	VEC(struct heap_part) list;
	uint64_t bytes;
};

void heap_list(const struct heap *h, struct heap_parts *out); /* vec_release(&out->list) */
/* Where a part is. For one that is to be put back into a new heap: NULL if it cannot be one. */
char *heap_at(struct heap *h, struct heap_part part);
/* Puts a part back: its bytes are those of the file from offset on, read when they are looked at
 * and copied when they are changed, so the file must stay as it is. offset: a multiple of
 * HEAP_PAGE. NULL: it cannot be. */
char *heap_map(struct heap *h, struct heap_part part, int fd, uint64_t offset);
/* Of a part that was put back and not changed: its pages take no memory of this program until
 * somebody looks at them again. */
void heap_rest(struct heap *h, struct heap_part part);
/* Empties a fixed heap, of which parts were put back that turn out to be no good. */
void heap_reset(struct heap *h);

#endif
