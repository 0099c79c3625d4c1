/* The heap of a model: blocks keep what was put into them whatever happens to others, vectors grow
 * whole, and what was saved byte by byte comes back with its pointers, at the same address. */
#include "base/heap.h"
#include "base/map.h"

#include "unit.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MANY = 20000 };

#ifdef MREMAP_DONTUNMAP
static bool cannot_move;

/* The system's; or as Linux before 6.17 fails where pages are of several mappings. */
void *mremap(void *old, size_t n, size_t more, int flags, ...)
{
	va_list ap;
	void *to;

	va_start(ap, flags);
	to = va_arg(ap, void *);
	va_end(ap);
	if (!cannot_move)
		return (void *)syscall(SYS_mremap, old, n, more, flags, to);
	munmap(to, more);
	errno = EFAULT;
	return MAP_FAILED;
}
#endif

static uint32_t state;

static uint32_t any(uint32_t below)
{
	state = state * 1664525 + 1013904223;
	return (state >> 8) % below;
}

static void fill(unsigned char *p, size_t n, unsigned seed)
{
	for (size_t i = 0; i < n; i++)
		p[i] = (unsigned char)(seed + i * 7);
}

static bool holds(const unsigned char *p, size_t n, unsigned seed)
{
	for (size_t i = 0; i < n; i++)
		if (p[i] != (unsigned char)(seed + i * 7))
			return false;
	return true;
}

/* Blocks of all sizes, taken and given back in any order. */
static void churn(struct heap *h)
{
	static struct { unsigned char *p; size_t n; } live[256];

	memset(live, 0, sizeof(live));
	for (unsigned i = 0; i < MANY / 5; i++) {
		unsigned k = any(256);
		size_t n = any(20) ? 1 + any(300) : any(20) ? 1 + any(70000) : 1 + any(2 << 20);

		ck_assert(!live[k].p || holds(live[k].p, live[k].n, k));
		heap_give(h, live[k].p, live[k].n);
		live[k].p = heap_alloc(h, n);
		live[k].n = n;
		ck_assert_uint_eq((uintptr_t)live[k].p % 8, 0);
		fill(live[k].p, n, k);
	}
	for (unsigned k = 0; k < 256; k++)
		ck_assert(!live[k].p || holds(live[k].p, live[k].n, k));
}

START_TEST(blocks_are_apart)
{
	struct heap *h = heap_new(_i ? HEAP_FIXED : HEAP_PLAIN);

	state = 1;
	churn(h);
	heap_free(h);
}
END_TEST

struct odd {
	char bytes[20];
};

START_TEST(vectors_grow_whole)
{
	struct heap *h = heap_new(_i ? HEAP_FIXED : HEAP_PLAIN);
	struct { HVEC(uint32_t) list; } v[50] = { 0 };
	HVEC(struct odd) odd = { 0 };

	for (uint32_t i = 0; i < 10 * MANY; i++) {
		uint32_t k = i % 97 < 50 ? i % 97 : 0; /* one is much longer than the others */

		heap_push(h, &v[k].list, i);
		if (i % 5 == 0)
			heap_push(h, &odd, (struct odd){ "nineteen characters" });
	}
	for (uint32_t k = 0; k < 50; k++)
		for (uint32_t i = 1; i < v[k].list.n; i++)
			if (v[k].list.v[i] <= v[k].list.v[i - 1])
				ck_abort_msg("vector %u, element %u", k, i);
	for (uint32_t i = 0; i < odd.n; i++)
		if (strcmp(odd.v[i].bytes, "nineteen characters") != 0)
			ck_abort_msg("element %u", i);
	heap_free(h);
}
END_TEST

#ifdef MREMAP_DONTUNMAP
/* Also where pages cannot move along to a longer span. */
START_TEST(pages_are_copied_else)
{
	struct heap *h = heap_new(HEAP_FIXED);
	HVEC(uint32_t) v = { 0 };

	cannot_move = true;
	for (uint32_t i = 0; i < 50 * MANY; i++)
		heap_push(h, &v, i);
	for (uint32_t i = 0; i < v.n; i++)
		if (v.v[i] != i)
			ck_abort_msg("element %u", i);
	cannot_move = false;
	heap_free(h);
}
END_TEST
#endif

/* What is given back is used again: a thousand rounds need no more than one. */
START_TEST(room_is_used_again)
{
	struct heap *h = heap_new(HEAP_FIXED);
	struct heap_parts before, after;
	void *p[100];

	for (unsigned round = 0; round < 1000; round++) {
		for (unsigned i = 0; i < 100; i++)
			p[i] = heap_alloc(h, 8 + i * 1000);
		for (unsigned i = 0; i < 100; i++)
			heap_give(h, p[i], 8 + i * 1000);
		if (round == 0)
			heap_list(h, &before);
	}
	heap_list(h, &after);
	ck_assert_uint_eq(before.bytes, after.bytes);
	vec_release(&before.list);
	vec_release(&after.list);
	heap_free(h);
}
END_TEST

struct linked {
	struct linked *next;
	struct str name;
};

START_TEST(what_was_saved_comes_back)
{
	struct heap *h = heap_new(HEAP_FIXED);
	struct heap_parts parts;
	struct linked *list = NULL, *one;
	struct map map = { 0 };
	FILE *saved = tmpfile();
	uint64_t at = 0;
	unsigned n = 0;

	ck_assert(saved);
	if (!heap_is_fixed(h)) { /* the address is not to be had here */
		heap_free(h);
		fclose(saved);
		return;
	}
	for (unsigned i = 0; i < MANY; i++) {
		char name[32];

		snprintf(name, sizeof(name), "name %u", i);
		one = heap_alloc(h, sizeof(*one));
		*one = (struct linked){ list, heap_str(h, str_of(name)) };
		list = one;
		map_put(h, &map, str_hash(one->name), i);
	}
	heap_list(h, &parts);
	for (uint32_t i = 0; i < parts.list.n; i++)
		ck_assert_uint_eq(fwrite(heap_at(h, parts.list.v[i]), 1, parts.list.v[i].n, saved),
				  parts.list.v[i].n);
	ck_assert_int_eq(fflush(saved), 0);
	heap_free(h);

	h = heap_new(HEAP_FIXED);
	ck_assert(heap_is_fixed(h));
	for (uint32_t i = 0; i < parts.list.n; i++) {
		ck_assert(heap_map(h, parts.list.v[i], fileno(saved), at));
		at += parts.list.v[i].n;
	}
	for (one = list; one; one = one->next, n++) {
		char wanted[32];

		snprintf(wanted, sizeof(wanted), "name %u", MANY - 1 - n);
		ck_assert(str_is(one->name, wanted));
		ck_assert_uint_eq(map_get(&map, str_hash(str_of(wanted))), MANY - 1 - n);
	}
	ck_assert_uint_eq(n, MANY);
	churn(h); /* and it goes on */
	heap_reset(h);
	churn(h);
	fclose(saved);
	vec_release(&parts.list);
	heap_free(h);
}
END_TEST

START_TEST(parts_outside_are_refused)
{
	struct heap *h = heap_new(HEAP_FIXED);

	const uint64_t page = HEAP_PAGE;

	ck_assert(heap_at(h, (struct heap_part){ 0, page }) == (char *)h);
	ck_assert(!heap_at(h, (struct heap_part){ 0, page + 64 }));
	ck_assert(!heap_at(h, (struct heap_part){ 8, page }));
	ck_assert(!heap_at(h, (struct heap_part){ 0, 16 << 20 }));
	ck_assert(!heap_at(h, (struct heap_part){ UINT64_MAX, page }));
	ck_assert(!heap_at(h, (struct heap_part){ (uint64_t)1 << 39, UINT64_MAX - page + 1 }));
	ck_assert(!heap_at(h, (struct heap_part){ ((uint64_t)1 << 40) - page, 2 * page }));
	heap_free(h);
}
END_TEST

/* Two at once: the second is elsewhere, and not to be saved. */
START_TEST(a_second_one_is_elsewhere)
{
	struct heap *a = heap_new(HEAP_FIXED), *b = heap_new(HEAP_FIXED);

	ck_assert(a != b);
	ck_assert(!heap_is_fixed(b));
	state = 2;
	churn(b);
	churn(a);
	heap_free(a);
	heap_free(b);
}
END_TEST

/* A table grows where it is, as long as there is room. Some hashes are at its very end, and go on
 * at its start. _i: nothing is expected, a little more, or more than can be believed. */
START_TEST(a_map_grows_whole)
{
	static const double times[] = { 0, 1.2, 1e9 };
	struct heap *h = heap_new(HEAP_FIXED);
	struct map map = { 0 };
	uint32_t near = 0;

	heap_expect(h, times[_i]);
	for (uint32_t i = 0; i < 10 * MANY; i++)
		map_put(h, &map, i % 1000 ? hash_mix(1, i) : UINT64_MAX, i);
	ck_assert_uint_le(map.size, (_i == 2 ? 2 * EXPECT_MOST : 3) * map.n);
	for (uint32_t i = 0; i < 10 * MANY; i++) {
		uint32_t guess = map_guess(&map, hash_mix(1, i));

		ck_assert(guess == MAP_NONE || guess == map_get(&map, hash_mix(1, i)));
		near += guess != MAP_NONE;
	}
	ck_assert_uint_gt(near, 7 * MANY);
	ck_assert(map_guess(&map, UINT64_MAX) == MAP_NONE || map_guess(&map, UINT64_MAX) == 0);
	for (uint32_t i = 0; i < 10 * MANY; i++)
		if (i % 1000 && map_get(&map, hash_mix(1, i)) != i)
			ck_abort_msg("value %u", i);
	for (uint32_t it = 0, v, want = 0; want < 10 * MANY; want += 1000)
		ck_assert(map_next(&map, UINT64_MAX, &it, &v) && v == want);
	heap_free(h);
}
END_TEST

START_TEST(a_small_map_is_guessed_up_to_its_end)
{
	struct map map = { 0 };

	ck_assert_uint_eq(map_guess(&map, 1), MAP_NONE);
	/* the last slots are near to all that start there */
	map_add(&map, UINT64_MAX, 7);
	ck_assert_uint_eq(map_start(&map, UINT32_MAX), 24);
	for (uint32_t i = 1; i < 2 * map.size; i++) {
		uint64_t hash = (uint64_t)(i << 26) * 340573321u << 32;

		ck_assert_uint_eq(map_guess(&map, hash), MAP_NONE);
	}
	ck_assert_uint_eq(map_guess(&map, UINT64_MAX), 7);
	map_release(&map);
}
END_TEST

START_TEST(what_is_expected_has_a_limit)
{
	struct heap *h = heap_new(_i ? HEAP_FIXED : HEAP_PLAIN);

	ck_assert_uint_eq(heap_expected(h, 100), 100);
	heap_expect(h, 2.5);
	ck_assert_uint_eq(heap_expected(h, 100), 250);
	heap_expect(h, 1e30);
	ck_assert_uint_eq(heap_expected(h, 100), 100 * EXPECT_MOST);
	heap_expect(h, 0);
	ck_assert_uint_eq(heap_expected(h, 100), 100);
	heap_free(h);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("heap");
	TCase *t = tcase_create("heap");

	suite_add_tcase(suite, t);
	tcase_add_loop_test(t, blocks_are_apart, 0, 2);
	tcase_add_loop_test(t, vectors_grow_whole, 0, 2);
#ifdef MREMAP_DONTUNMAP
	tcase_add_test(t, pages_are_copied_else);
#endif
	tcase_add_test(t, room_is_used_again);
	tcase_add_loop_test(t, a_map_grows_whole, 0, 3);
	tcase_add_test(t, a_small_map_is_guessed_up_to_its_end);
	tcase_add_loop_test(t, what_is_expected_has_a_limit, 0, 2);
	tcase_add_test(t, what_was_saved_comes_back);
	tcase_add_test(t, parts_outside_are_refused);
	tcase_add_test(t, a_second_one_is_elsewhere);
	return unit_run(suite);
}
