/* Layout of a reserved heap: a header, then small blocks up to the middle, then spans. Small blocks
 * have size classes at most a quarter apart, each with a free list. What is over SMALL_MAX has a
 * span of its own, of addresses at most 16 times as long as needed; a vector that outgrows its span
 * (1 MB, 16 MB, 256 MB …) moves to a longer one by remapping its pages. Pages of a span cost
 * nothing until they are used. */
#include "base/heap.h"

#include "base/err.h"

#include <sys/mman.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

#define HEAP_ADDRESS ((uintptr_t)0x3a0000000000) /* far from what systems and sanitizers use */
#define HEAP_BYTES ((uint64_t)1 << 40)
#define SMALL_START ((uint64_t)4 << 20)
#define SPANS_START (HEAP_BYTES / 2)

enum {
	SMALL_MAX = 64 << 10,
	FINE_MAX = 128, /* up to here sizes are 8 apart */
	CLASSES = FINE_MAX / 8 + 4 * 9,
	SPAN_CLASSES = 5, /* 1 MB, 16 MB … 64 GB */
	SPANS_MAX = 65536,
	SPAN_STEP = 64 << 10,
	RELEASE_MIN = 16 << 10, /* big free blocks are seldom used again soon */
	TEXT_MAX = 4096,
};

struct span {
	uint64_t offset;
	uint64_t used; /* 0: it is free */
	uint32_t class;
	uint32_t next; /* of the free ones, plus one */
};

/* Before a block of malloc's. */
struct plain {
	struct plain *prev, *next;
};

struct heap {
	bool plain;
	double expected; /* times as much; below 1: unknown */
	struct plain blocks; /* a ring */
	uint64_t small_next, span_next; /* offsets */
	char *text_next, *text_end;
	void *free_small[CLASSES]; /* each begins with the address of the next */
	uint32_t free_span[SPAN_CLASSES]; /* number plus one */
	uint32_t span_n;
	struct span spans[SPANS_MAX]; /* by offset */
};

_Static_assert(sizeof(struct heap) <= ((uint64_t)4 << 20), "the header precedes small blocks");

/* ---- blocks of malloc ---- */

static struct heap *new_plain(void)
{
	struct heap *h = xcalloc(1, offsetof(struct heap, spans));

	h->plain = true;
	h->blocks.prev = h->blocks.next = &h->blocks;
	return h;
}

static void *plain_alloc(struct heap *h, size_t n)
{
	struct plain *p = xmalloc(sizeof(*p) + n);

	p->prev = &h->blocks;
	p->next = h->blocks.next;
	p->next->prev = p->prev->next = p;
	return p + 1;
}

static void plain_give(void *block)
{
	struct plain *p = (struct plain *)block - 1;

	p->prev->next = p->next;
	p->next->prev = p->prev;
	free(p);
}

static void *plain_grow(struct heap *h, void *v, size_t n)
{
	struct plain *p;

	if (!v)
		return plain_alloc(h, n);
	p = xrealloc((struct plain *)v - 1, sizeof(*p) + n);
	p->prev->next = p->next->prev = p;
	return p + 1;
}

/* ---- reserved ---- */

static void reset_offsets(struct heap *h)
{
	h->small_next = SMALL_START;
	h->span_next = SPANS_START;
}

static struct heap *reserve(void)
{
	int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
	void *p;

	if (sizeof(size_t) < 8)
		return NULL;
#ifdef MAP_FIXED_NOREPLACE
	p = mmap((void *)HEAP_ADDRESS, (size_t)HEAP_BYTES, PROT_READ | PROT_WRITE,
		 flags | MAP_FIXED_NOREPLACE, -1, 0);
	if (p != MAP_FAILED)
		return p; /* old kernels take the address as a hint */
#endif
	p = mmap(NULL, (size_t)HEAP_BYTES, PROT_READ | PROT_WRITE, flags, -1, 0);
	return p == MAP_FAILED ? NULL : p;
}

struct heap *heap_new(enum heap_kind kind)
{
	struct heap *h = NULL;

	if (kind == HEAP_FIXED || (kind == HEAP_USUAL && !SANITIZED))
		h = reserve();
	if (!h)
		return new_plain();
	reset_offsets(h);
	return h;
}

void heap_free(struct heap *h)
{
	if (!h)
		return;
	if (!h->plain) {
		munmap(h, (size_t)HEAP_BYTES);
		return;
	}
	while (h->blocks.next != &h->blocks)
		plain_give(h->blocks.next + 1);
	free(h);
}

void heap_reset(struct heap *h)
{
	/* its header may be damaged, too */
	if ((uintptr_t)h != HEAP_ADDRESS ||
	    mmap(h, (size_t)HEAP_BYTES, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) != h)
		BUG("this heap cannot be emptied");
	reset_offsets(h);
}

/* The size of a small block, and its size class. */
static inline size_t round_up(size_t n, unsigned *class)
{
	unsigned bits;
	size_t step;

	if (usually(n <= FINE_MAX)) {
		n = n ? (n + 7) & ~(size_t)7 : 8;
		*class = (unsigned)(n / 8 - 1);
		return n;
	}
	bits = 63 - (unsigned)__builtin_clzll(n - 1); /* 2^bits < n <= 2^(bits + 1) */
	step = (size_t)1 << (bits - 2);
	n = (n + step - 1) & ~(step - 1);
	*class = FINE_MAX / 8 + 4 * (bits - 7) + (unsigned)((n - ((size_t)1 << bits)) / step) - 1;
	return n;
}

static inline void *small_alloc(struct heap *h, size_t n)
{
	unsigned class;
	void *p;

	n = round_up(n, &class);
	p = h->free_small[class];
	if (p) {
		memcpy(&h->free_small[class], p, sizeof(void *));
		return p;
	}
	if (h->small_next + n > SPANS_START)
		out_of_memory(n);
	p = (char *)h + h->small_next;
	h->small_next += n;
	return p;
}

/* Frees the whole pages within the block. */
static void release_pages(char *p, size_t n)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	uintptr_t from = ((uintptr_t)p + page - 1) & ~(page - 1);
	uintptr_t to = ((uintptr_t)p + n) & ~(page - 1);

	if (from < to)
		madvise((void *)from, to - from, MADV_DONTNEED);
}

static void small_give(struct heap *h, void *p, size_t n)
{
	unsigned class;

	n = round_up(n, &class);
	memcpy(p, &h->free_small[class], sizeof(void *));
	h->free_small[class] = p;
	if (n >= RELEASE_MIN)
		release_pages((char *)p + sizeof(void *), n - sizeof(void *));
}

static uint64_t span_bytes(unsigned class)
{
	return (uint64_t)1 << (20 + 4 * class);
}

static struct span *span_of(struct heap *h, const void *p)
{
	uint64_t offset = (uint64_t)((const char *)p - (const char *)h);
	uint32_t low = 0;

	bisect(low, h->span_n, i, h->spans[i].offset < offset)
	if (low == h->span_n || h->spans[low].offset != offset || !h->spans[low].used)
		BUG("no span at %p", p);
	return &h->spans[low];
}

static void *span_alloc(struct heap *h, size_t n)
{
	unsigned class = 0;
	struct span *s;

	while (class < SPAN_CLASSES && span_bytes(class) < n)
		class++;
	if (class == SPAN_CLASSES)
		out_of_memory(n);
	if (h->free_span[class]) {
		s = &h->spans[h->free_span[class] - 1];
		h->free_span[class] = s->next;
	} else {
		if (h->span_n == SPANS_MAX || h->span_next + span_bytes(class) > HEAP_BYTES)
			out_of_memory(n);
		s = &h->spans[h->span_n++];
		*s = (struct span){ .offset = h->span_next, .class = class };
		h->span_next += span_bytes(class);
	}
	s->used = n;
	return (char *)h + s->offset;
}

static void span_give(struct heap *h, void *p)
{
	struct span *s = span_of(h, p);

	madvise(p, (size_t)span_bytes(s->class), MADV_DONTNEED);
	s->used = 0;
	s->next = h->free_span[s->class];
	h->free_span[s->class] = (uint32_t)(s - h->spans) + 1;
}

/* ---- both kinds ---- */

void heap_expect(struct heap *h, double times)
{
	h->expected = times < EXPECT_MOST ? times : EXPECT_MOST;
}

uint64_t heap_expected(const struct heap *h, uint64_t n)
{
	return h->expected > 1 ? (uint64_t)((double)n * h->expected) : n;
}

void *heap_alloc(struct heap *h, size_t n)
{
	n = n ? n : 1;
	if (h->plain)
		return plain_alloc(h, n);
	return n <= SMALL_MAX ? small_alloc(h, n) : span_alloc(h, n);
}

void *heap_zalloc(struct heap *h, size_t n)
{
	return memset(heap_alloc(h, n), 0, n);
}

void heap_give(struct heap *h, void *p, size_t n)
{
	if (!p)
		return;
	if (h->plain)
		plain_give(p);
	else if (n <= SMALL_MAX)
		small_give(h, p, n);
	else
		span_give(h, p);
}

struct str heap_str(struct heap *h, struct str s)
{
	char *p;

	if (s.n >= TEXT_MAX || h->plain) {
		p = heap_alloc(h, s.n + 1);
	} else {
		if ((size_t)(h->text_end - h->text_next) <= s.n) {
			h->text_next = heap_alloc(h, SMALL_MAX);
			h->text_end = h->text_next + SMALL_MAX;
		}
		p = h->text_next;
		h->text_next += s.n + 1;
	}
	return str_copy(p, s);
}

/* Moves memory by remapping its pages where possible, since a copy would need twice the memory for
 * a moment. Linux before 6.17 cannot move a range of several mappings (some pages mapped from an
 * image, or moved before), and has unmapped `to` by the time it fails. */
static void move_pages(void *to, void *from, size_t n)
{
#ifdef MREMAP_DONTUNMAP
	size_t pages = (n + HEAP_PAGE - 1) & ~(size_t)(HEAP_PAGE - 1);

	if (mremap(from, pages, pages, MREMAP_MAYMOVE | MREMAP_FIXED | MREMAP_DONTUNMAP, to) == to)
		return;
	if (mmap(to, pages, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) != to)
		out_of_memory(n);
#endif
	memcpy(to, from, n);
}

static void *span_resize(struct heap *h, void *p, size_t n, size_t more)
{
	struct span *s = span_of(h, p);
	void *moved;

	if (more <= span_bytes(s->class)) {
		s->used = more;
		return p;
	}
	moved = span_alloc(h, more);
	move_pages(moved, p, n);
	span_give(h, p);
	return moved;
}

void *heap_resize(struct heap *h, void *p, size_t n, size_t more)
{
	void *moved;

	if (h->plain)
		return plain_grow(h, p, more);
	if (n > SMALL_MAX)
		return span_resize(h, p, n, more);
	moved = heap_alloc(h, more);
	if (n)
		memcpy(moved, p, n);
	heap_give(h, p, n);
	return moved;
}

/* A vector with a span grows by SPAN_STEP, others by half. */
void *heap_grow_(struct heap *h, void *v, uint32_t *room, size_t size)
{
	uint32_t n = *room < 4 ? *room + 1 : *room + *room / 2;
	size_t bytes, old = (size_t)*room * size;
	unsigned class;

	if (n <= *room)
		BUG("vector over %u elements", *room);
	bytes = (size_t)n * size;
	if (!h->plain && old > SMALL_MAX)
		bytes = old + (size > SPAN_STEP ? size : SPAN_STEP);
	else if (!h->plain && bytes <= SMALL_MAX)
		bytes = round_up(bytes, &class);
	*room = bytes / size < UINT32_MAX ? (uint32_t)(bytes / size) : UINT32_MAX;
	return heap_resize(h, v, old, bytes);
}

/* ---- saving it ---- */

bool heap_is_fixed(const struct heap *h)
{
	return !h->plain && (uintptr_t)h == HEAP_ADDRESS;
}

static void list_part(struct heap_parts *out, uint64_t offset, uint64_t n)
{
	n = (n + HEAP_PAGE - 1) & ~(uint64_t)(HEAP_PAGE - 1);
	vec_push(&out->list, (struct heap_part){ offset, n });
	out->bytes += n;
}

void heap_list(const struct heap *h, struct heap_parts *out)
{
	*out = (struct heap_parts){ 0 };
	list_part(out, 0, offsetof(struct heap, spans) + h->span_n * sizeof(struct span));
	list_part(out, SMALL_START, h->small_next - SMALL_START);
	for (uint32_t i = 0; i < h->span_n; i++)
		if (h->spans[i].used)
			list_part(out, h->spans[i].offset, h->spans[i].used);
}

char *heap_at(struct heap *h, struct heap_part part)
{
	bool header = part.offset == 0 && part.n <= SMALL_START;
	bool small = part.offset == SMALL_START && part.n <= SPANS_START - SMALL_START;
	bool span = part.offset >= SPANS_START && part.offset < HEAP_BYTES &&
		    part.n <= HEAP_BYTES - part.offset;

	return (header || small || span) && part.n % HEAP_PAGE == 0 ? (char *)h + part.offset
								    : NULL;
}

void heap_rest(struct heap *h, struct heap_part part)
{
	madvise(heap_at(h, part), (size_t)part.n, MADV_DONTNEED);
}

char *heap_map(struct heap *h, struct heap_part part, int fd, uint64_t offset)
{
	char *to = heap_at(h, part);
	int flags = MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE;

	if (!to || !part.n || offset % HEAP_PAGE ||
	    mmap(to, (size_t)part.n, PROT_READ | PROT_WRITE, flags, fd, (off_t)offset) != to)
		return NULL;
	return to;
}
