/* base: text with a length, memory, buffers, the map, UTF-8, times, work that yields. The cases
 * look for the edges: the empty string, the byte after the last one, the moment something grows. */
#include "base/buf.h"
#include "base/glob.h"
#include "base/err.h"
#include "base/io.h"
#include "base/job.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/sha256.h"
#include "base/utf8.h"
#include "base/timestamp.h"
#include "base/file_fault.h"

#include "unit.h"

#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

START_TEST(str_equality_is_by_length_and_bytes)
{
	ck_assert(str_eq(STR_NONE, STR("")));
	ck_assert(str_eq(STR("a\0b"), STR("a\0b")));
	ck_assert(!str_eq(STR("a\0b"), STR("a\0c")));
	ck_assert(!str_eq(STR("a"), STR("a\0")));
	ck_assert(str_is(STR("inbox"), "inbox"));
	ck_assert(!str_is(STR("inbo"), "inbox"));
	ck_assert(str_is(STR_NONE, NULL));
}
END_TEST

START_TEST(str_heads_and_tails)
{
	ck_assert(str_starts(STR("x-own"), STR("x-")));
	ck_assert(str_starts(STR("x-"), STR("x-")));
	ck_assert(!str_starts(STR("x"), STR("x-")));
	ck_assert(str_starts(STR("x"), STR("")));
	ck_assert(str_ends(STR("a.json"), STR(".json")));
	ck_assert(!str_ends(STR("json"), STR(".json")));
	ck_assert(str_ends(STR("x"), STR("")));
	assert_str(str_from(STR("abc"), 0), "abc");
	assert_str(str_from(STR("abc"), 2), "c");
	assert_str(str_from(STR("abc"), 3), "");
	assert_str(str_from(STR("abc"), 99), "");
}
END_TEST

START_TEST(str_nothing_is_a_head_of_nothing)
{
	ck_assert(str_starts(STR_NONE, STR_NONE));
	ck_assert(str_ends(STR_NONE, STR_NONE));
	ck_assert(!str_starts(STR_NONE, STR("a")));
	ck_assert(!str_ends(STR_NONE, STR("a")));
}
END_TEST

START_TEST(str_order_is_bytewise)
{
	ck_assert_int_eq(str_cmp(STR("abc"), STR("abc")), 0);
	ck_assert_int_eq(str_cmp(STR_NONE, STR("")), 0);
	ck_assert_int_lt(str_cmp(STR("ab"), STR("abc")), 0);
	ck_assert_int_gt(str_cmp(STR("b"), STR("abc")), 0);
	ck_assert_int_lt(str_cmp(STR("a\0a"), STR("a\0b")), 0);
	/* not the order of signed chars */
	ck_assert_int_lt(str_cmp(STR("z"), STR("\xc3\xa9")), 0);
}
END_TEST

START_TEST(str_case_is_folded_for_ascii_letters_only)
{
	ck_assert(str_eq_nocase(STR("AZaz09"), STR("azAZ09")));
	ck_assert(!str_eq_nocase(STR("@[`{"), STR("`{@[")));
	ck_assert(!str_eq_nocase(STR("\xc3\x89"), STR("\xc3\xa9")));
	ck_assert(str_contains_nocase(STR("a Merge CONFLICT"), STR("conflict")));
	ck_assert(str_contains_nocase(STR("anything"), STR("")));
	ck_assert(str_contains_nocase(STR_NONE, STR("")));
	ck_assert(!str_contains_nocase(STR("conflic"), STR("conflict")));
	ck_assert(!str_contains_nocase(STR_NONE, STR("x")));
}
END_TEST

START_TEST(str_find_knows_both_ends)
{
	struct str text = STR("aab\0aab");

	ck_assert_int_eq(str_find(text, STR("aab"), 0), 0);
	ck_assert_int_eq(str_find(text, STR("aab"), 1), 4);
	ck_assert_int_eq(str_find(text, STR("aab"), 5), -1);
	ck_assert_int_eq(str_find(text, STR("b\0a"), 0), 2);
	ck_assert_int_eq(str_find(text, STR("ab"), 0), 1);
	ck_assert_int_eq(str_find(text, STR("aab\0aabx"), 0), -1);
	ck_assert_int_eq(str_find(text, STR(""), 7), 7);
	ck_assert_int_eq(str_find(text, STR(""), 8), -1);
	ck_assert_int_eq(str_find(STR_NONE, STR("a"), 0), -1);
	/* what follows the text in memory does not count */
	ck_assert_int_eq(str_find(str_make(text.p, 2), STR("aab"), 0), -1);
}
END_TEST

START_TEST(str_trim_takes_white_space_and_nothing_else)
{
	assert_str(str_trim(STR(" \t\r\n a b \r\n")), "a b");
	assert_str(str_trim(STR("a")), "a");
	assert_str(str_trim(STR(" \t ")), "");
	assert_str(str_trim(STR_NONE), "");
	assert_str(str_trim(STR("\0 a \0")), "\0 a \0");
}
END_TEST

START_TEST(str_first_word_leaves_the_rest)
{
	struct str rest = STR("  cancel   T-1  too  late ");

	assert_str(str_first_word(&rest), "cancel");
	assert_str(rest, "T-1  too  late");
	assert_str(str_first_word(&rest), "T-1");
	assert_str(rest, "too  late");
	rest = STR("one ");
	assert_str(str_first_word(&rest), "one");
	assert_str(rest, "");
	assert_str(str_first_word(&rest), "");
	assert_str(rest, "");
}
END_TEST

START_TEST(str_hash_depends_on_every_byte_and_the_length)
{
	char bytes[200] = { 0 };
	uint64_t plain, other;

	for (size_t n = 0; n <= sizeof(bytes); n++) {
		plain = str_hash(str_make(bytes, n));
		for (size_t i = 0; i < n; i++) {
			bytes[i] = 1;
			other = str_hash(str_make(bytes, n));
			bytes[i] = 0;
			ck_assert_msg(other != plain, "byte %zu of %zu is ignored", i, n);
		}
		if (n)
			ck_assert(plain != str_hash(str_make(bytes, n - 1)));
	}
	/* where the text lies does not matter */
	ck_assert_uint_eq(str_hash(STR("0123456789")), str_hash(str_from(STR("x0123456789"), 1)));
	ck_assert(hash_mix(1, 2) != hash_mix(2, 1));
}
END_TEST

static int by_value(const void *left, const void *right)
{
	const uint64_t *a = left, *b = right;

	return *a < *b ? -1 : *a > *b;
}

/* No byte makes up for a length: "t-0100" and "t-01100" differ in both. */
START_TEST(str_hash_tells_lengths_apart)
{
	enum { DIGITS = 12, COUNT = (2 << DIGITS) - 1 };
	static uint64_t hashes[COUNT];
	static const char *const around[][2] = { { "", "" }, { "t-", "" }, { "abcdef", "uvwxyz" },
						 { "abcdefg", "klmnopqrstuvwx" } };

	for (size_t k = 0; k < sizeof(around) / sizeof(around[0]); k++) {
		size_t n = 0;

		for (unsigned digits = 0; digits <= DIGITS; digits++)
			for (unsigned v = 0; v < 1u << digits; v++) {
				char text[64], number[DIGITS + 1] = "";

				for (unsigned i = 0; i < digits; i++)
					number[i] = (char)('0' + (v >> i & 1));
				snprintf(text, sizeof(text), "%s%s%s", around[k][0], number,
					 around[k][1]);
				hashes[n++] = str_hash(str_of(text));
			}
		ck_assert_uint_eq(n, COUNT);
		qsort(hashes, n, sizeof(*hashes), by_value);
		for (size_t i = 1; i < n; i++)
			ck_assert_msg(hashes[i] != hashes[i - 1], "two of %s…%s have one hash",
				      around[k][0], around[k][1]);
	}
}
END_TEST

/* Exchanges two words of a text, each of which then has that difference, too. */
static void exchange(char *text, size_t one, size_t other, uint64_t difference)
{
	uint64_t a, b;

	memcpy(&a, text + one, sizeof(a));
	memcpy(&b, text + other, sizeof(b));
	a ^= difference;
	b ^= difference;
	memcpy(text + one, &b, sizeof(b));
	memcpy(text + other, &a, sizeof(a));
}

/* Words are mixed with keys whose differences anyone can read in str.h: whoever exchanges some must
 * not find a text with the same hash. */
START_TEST(str_hash_has_no_twins)
{
	static const uint64_t keys[] = { HASH_K1, HASH_K2, HASH_K3, HASH_K4 };
	enum { KEYS = 4, MANY = 100 };
	char text[MANY], other[MANY];

	for (size_t n = 16; n <= MANY; n += MANY - 16) {
		for (size_t i = 0; i < n; i++)
			text[i] = (char)('a' + i % 23);
		for (size_t i = 0; i < KEYS * KEYS; i++) {
			uint64_t difference = keys[i / KEYS] ^ keys[i % KEYS];

			for (size_t at = 0; at < n && at < 64; at += 16)
				for (size_t with = 0; with < 3 * n; with++) {
					memcpy(other, text, n);
					exchange(other, at, at + 8, difference ^ with);
					ck_assert(str_hash(str_make(text, n)) !=
						  str_hash(str_make(other, n)));
				}
			for (size_t at = 0; n == MANY && at < 64; at += 16)
				for (size_t to = 0; to < at; to += 16) {
					memcpy(other, text, n);
					exchange(other, at, to, difference);
					exchange(other, at + 8, to + 8, 0);
					ck_assert(str_hash(str_make(text, n)) !=
						  str_hash(str_make(other, n)));
				}
		}
	}
}
END_TEST

/* What a lane comes to depends on its content and its key: so the same can be had from another lane.
 * Each lane has one of two contents; lanes that add up alike would give the same hash. n: up to 64
 * bytes there are two lanes, behind them four in each block. */
static uint64_t hash_of_lanes(size_t n, unsigned pattern)
{
	static const uint64_t contents[2][2] = { { 0x6162636465666768, 0x696a6b6c6d6e6f70 },
						 { 0x7172737475767778, 0x797a303132333435 } };
	static const uint64_t four[] = { HASH_K1, HASH_K2, HASH_K3, HASH_K4 }, two[] = { HASH_K1, HASH_K4 };
	char text[192];

	memset(text, 'x', sizeof(text));
	for (size_t at = 0; at < n && (n > 64 || at < 32); at += 16) {
		size_t lane = at / 16 % (n > 64 ? 4 : 2);
		const uint64_t *content = contents[pattern >> lane & 1];
		uint64_t first = content[0] ^ (n > 64 ? four[lane] : two[lane]);

		memcpy(text + at, &first, 8);
		memcpy(text + at + 8, &content[1], 8);
	}
	return str_hash(str_make(text, n));
}

START_TEST(str_hash_counts_each_lane)
{
	static const size_t lengths[] = { 64, 128, 192 };

	for (size_t i = 0; i < 3; i++)
		for (unsigned a = 0; a < (lengths[i] > 64 ? 16 : 4); a++)
			for (unsigned b = 0; b < a; b++)
				ck_assert_msg(hash_of_lanes(lengths[i], a) != hash_of_lanes(lengths[i], b),
					      "%zu: %u and %u", lengths[i], a, b);
}
END_TEST

START_TEST(str_to_u64_is_strict)
{
	uint64_t v = 7;

	ck_assert(str_to_u64(STR("0"), &v) && v == 0);
	ck_assert(str_to_u64(STR("007"), &v) && v == 7);
	ck_assert(str_to_u64(STR("18446744073709551615"), &v) && v == UINT64_MAX);
	v = 7;
	ck_assert(!str_to_u64(STR("18446744073709551616"), &v));
	ck_assert(!str_to_u64(STR("99999999999999999999"), &v));
	ck_assert(!str_to_u64(STR(""), &v));
	ck_assert(!str_to_u64(STR("-1"), &v));
	ck_assert(!str_to_u64(STR("+1"), &v));
	ck_assert(!str_to_u64(STR(" 1"), &v));
	ck_assert(!str_to_u64(STR("1\0"), &v));
	ck_assert(!str_to_u64(STR("0x1"), &v));
	ck_assert_uint_eq(v, 7);
}
END_TEST

START_TEST(str_from_u64_has_all_digits)
{
	char room[DIGITS_MAX];

	ck_assert(str_is(str_from_u64(0, room), "0"));
	ck_assert(str_is(str_from_u64(1203, room), "1203"));
	ck_assert(str_is(str_from_u64(UINT64_MAX, room), "18446744073709551615"));
}
END_TEST

/* Each byte at each place of texts that are looked at by 16 or eight bytes, and one at a time. */
START_TEST(str_is_plain_knows_each_byte)
{
	char text[35];

	for (size_t n = 0; n <= sizeof(text); n++)
		for (unsigned c = 0; c < 256 * n; c++) {
			memset(text, 'a', sizeof(text));
			text[c / 256] = (char)c;
			ck_assert(str_is_plain(str_make(text, n)) == (c % 256 >= ' ' && c % 256 <= '~'));
			ck_assert(str_is_plain_lines(str_make(text, n)) ==
				  ((c % 256 >= ' ' && c % 256 <= '~') || c % 256 == '\n'));
		}
	ck_assert(str_is_plain(STR("")));
}
END_TEST

START_TEST(err_returns_minus_one_and_cuts_long_text)
{
	struct err err;
	char big[2000];

	ck_assert_int_eq(err_set(NULL, "nobody listens"), -1);
	ck_assert_int_eq(err_set(&err, "%s: %d", "line", 3), -1);
	ck_assert_str_eq(err.text, "line: 3");
	memset(big, 'x', sizeof(big) - 1);
	big[sizeof(big) - 1] = '\0';
	err_set(&err, "%s", big);
	ck_assert_uint_eq(strlen(err.text), sizeof(err.text) - 1);
}
END_TEST

START_TEST(arena_blocks_are_aligned_and_apart)
{
	struct arena a = { 0 };
	char *block[300];

	/* enough to need several chunks, and blocks too big for one */
	for (size_t i = 0; i < 300; i++) {
		size_t n = i % 50 == 49 ? 100000 : i * 3;

		block[i] = arena_alloc(&a, n + 1);
		ck_assert_uint_eq((uintptr_t)block[i] % 8, 0);
		memset(block[i], (int)(i % 251), n + 1);
	}
	for (size_t i = 0; i < 300; i++) {
		size_t n = i % 50 == 49 ? 100000 : i * 3;

		for (size_t k = 0; k <= n; k++)
			ck_assert_int_eq((unsigned char)block[i][k], (int)(i % 251));
	}
	ck_assert_uint_ge(a.total_bytes, 600000);
	arena_release(&a);
	ck_assert_uint_eq(a.total_bytes, 0);
}
END_TEST

START_TEST(arena_takes_an_empty_block)
{
	struct arena a = { 0 };

	arena_zalloc(&a, 0);
	ck_assert_ptr_nonnull(arena_alloc(&a, 1));
	arena_release(&a);
}
END_TEST

START_TEST(arena_copies_end_in_nul)
{
	struct arena a = { 0 };
	char source[] = "abc";
	struct str copy = arena_str(&a, str_make(source, 3));
	char *zeros;

	source[0] = 'x';
	assert_str(copy, "abc");
	ck_assert_int_eq(copy.p[3], '\0');
	copy = arena_str(&a, STR_NONE);
	ck_assert_uint_eq(copy.n, 0);
	ck_assert_int_eq(copy.p[0], '\0');
	assert_str(arena_str(&a, STR("a\0b")), "a\0b");
	ck_assert_str_eq(arena_printf(&a, "%s/%03d", "item", 7), "item/007");
	ck_assert_str_eq(arena_printf(&a, "%s", ""), "");
	memset(arena_alloc(&a, 64), 0xff, 64);
	arena_reset(&a);
	zeros = arena_zalloc(&a, 1000);
	for (size_t i = 0; i < 1000; i++)
		ck_assert_int_eq(zeros[i], 0);
	arena_release(&a);
}
END_TEST

START_TEST(arena_reset_keeps_one_chunk)
{
	struct arena a = { 0 };
	size_t first;

	arena_reset(&a);
	ck_assert_uint_eq(a.total_bytes, 0);
	/* a big block is not worth keeping, wherever it stands */
	arena_alloc(&a, 1000000);
	arena_reset(&a);
	ck_assert_uint_eq(a.total_bytes, 0);
	arena_alloc(&a, 10);
	arena_alloc(&a, 1000000);
	arena_reset(&a);
	first = a.total_bytes;
	ck_assert_uint_lt(first, 1000000);
	for (int round = 0; round < 100; round++) {
		for (int i = 0; i < 1000; i++)
			arena_alloc(&a, 1 + (size_t)i);
		arena_reset(&a);
	}
	ck_assert_uint_eq(a.total_bytes, first);
	arena_release(&a);
	arena_release(&a);
}
END_TEST

START_TEST(vec_keeps_what_was_pushed)
{
	VEC(struct str) v = { 0 };
	char text[] = "x";

	for (uint32_t i = 0; i < 1000; i++) {
		ck_assert_uint_eq(v.n, i);
		vec_push(&v, str_make(text, i));
		ck_assert_uint_eq(vec_last(&v)->n, i);
	}
	for (uint32_t i = 0; i < 1000; i++)
		ck_assert_uint_eq(v.v[i].n, i);
	ck_assert_uint_le(v.n, v.cap);
	vec_release(&v);
	ck_assert_ptr_null(v.v);
	vec_push(&v, STR("again"));
	assert_str(v.v[0], "again");
	vec_release(&v);
}
END_TEST

START_TEST(buf_grows_and_stays_terminated)
{
	struct buf b = { 0 };

	ck_assert_uint_eq(buf_str(&b).n, 0);
	for (size_t i = 0; i < 1000; i++) {
		buf_addc(&b, (char)('a' + i % 26));
		ck_assert_uint_eq(b.n, i + 1);
		ck_assert_int_eq(b.p[b.n], '\0');
		ck_assert_uint_lt(b.n, b.cap);
	}
	for (size_t i = 0; i < 1000; i++)
		ck_assert_int_eq(b.p[i], (char)('a' + i % 26));
	buf_release(&b);
	buf_release(&b);
}
END_TEST

START_TEST(buf_adds_base64)
{
	static const struct {
		struct str text;
		const char *base64;
	} cases[] = { /* most of them from RFC 4648 */
		{ { "", 0 }, "" },
		{ { "f", 1 }, "Zg==" },
		{ { "fo", 2 }, "Zm8=" },
		{ { "foobar", 6 }, "Zm9vYmFy" },
		{ { "\0\xff\xfe", 3 }, "AP/+" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct buf b = { 0 };

		buf_add_base64(&b, cases[i].text);
		ck_assert(str_eq(buf_str(&b), str_of(cases[i].base64)));
		buf_release(&b);
	}
}
END_TEST

START_TEST(buf_adds_of_every_kind)
{
	struct buf b = { 0 };
	char big[500];

	buf_add_str(&b, STR_NONE);
	ck_assert_uint_eq(b.n, 0);
	buf_add_str(&b, STR("a\0b"));
	buf_adds(&b, "c");
	buf_adds(&b, "");
	buf_printf(&b, "%d%s", 42, "");
	assert_str(buf_str(&b), "a\0bc42");
	ck_assert_int_eq(b.p[b.n], '\0');
	buf_clear(&b);
	ck_assert_uint_eq(buf_str(&b).n, 0);

	buf_add_u64(&b, UINT64_MAX);
	buf_addc(&b, ' ');
	buf_add_u64(&b, 0);
	buf_addc(&b, ' ');
	buf_add_i64(&b, INT64_MIN);
	buf_addc(&b, ' ');
	buf_add_i64(&b, INT64_MAX);
	buf_addc(&b, ' ');
	buf_add_i64(&b, -1);
	assert_str(buf_str(&b), "18446744073709551615 0 -9223372036854775808 9223372036854775807 -1");
	buf_clear(&b);

	memset(big, 'y', sizeof(big) - 1);
	big[sizeof(big) - 1] = '\0';
	buf_printf(&b, "%s", big);
	ck_assert_uint_eq(b.n, sizeof(big) - 1);
	ck_assert_str_eq(b.p, big);
	buf_release(&b);
}
END_TEST

START_TEST(map_empty_has_nothing)
{
	struct map m = { 0 };
	uint32_t it = 0, value;

	ck_assert_uint_eq(map_get(&m, 0), MAP_NONE);
	ck_assert(!map_next(&m, 0, &it, &value));
	map_release(&m);
}
END_TEST

START_TEST(map_finds_each_of_many)
{
	struct map m = { 0 };
	uint64_t stranger = hash_mix(1, 1000000);

	for (uint32_t i = 0; i < 20000; i++)
		map_add(&m, hash_mix(1, i), i);
	for (uint32_t i = 0; i < 20000; i++) {
		uint32_t it = 0, value;
		bool found = false;

		while (map_next(&m, hash_mix(1, i), &it, &value))
			found |= value == i;
		ck_assert_msg(found, "%u is lost", i);
	}
	ck_assert_uint_eq(map_get(&m, stranger), MAP_NONE);
	map_release(&m);
}
END_TEST

/* Equal hashes wherever they land in the table, the wrap at its end included, before and after it
 * has grown. */
START_TEST(map_keeps_the_order_of_equal_hashes)
{
	for (uint64_t high = 1; high <= 200; high++) {
		struct map m = { 0 };
		uint32_t it = 0, value, expect = 0;

		for (uint32_t i = 0; i < 5; i++)
			map_add(&m, high << 32, i);
		ck_assert_uint_eq(map_get(&m, high << 32), 0);
		for (uint32_t i = 0; i < 500; i++)
			map_add(&m, (1000 + (uint64_t)i) << 32, 100 + i);
		ck_assert_uint_eq(map_get(&m, high << 32), 0);
		while (map_next(&m, high << 32, &it, &value))
			ck_assert_uint_eq(value, expect++);
		ck_assert_uint_eq(expect, 5);
		map_release(&m);
	}
}
END_TEST

START_TEST(map_holds_many_values_under_one_hash)
{
	struct map m = { 0 };
	uint32_t it = 0, value, n = 0;

	for (uint32_t i = 0; i < 300; i++)
		map_add(&m, UINT64_MAX, i);
	while (map_next(&m, UINT64_MAX, &it, &value))
		n++;
	ck_assert_uint_eq(n, 300);
	map_release(&m);
}
END_TEST

/* A hash that starts probing at that share of the table, in 2^-16 of it. */
static uint64_t hash_at(uint32_t share)
{
	return (uint64_t)((share << 16) * 340573321u) << 32; /* map_start multiplies by the inverse */
}

/* Tables grow where they are: crowded at the front, at the end and round it, all they have is
 * found again, in the order it came. */
START_TEST(map_grows_whole_when_crowded)
{
	static const uint32_t shares[] = { 0, 1, 0x8000, 0xfffe, 0xffff };
	struct heap *h = heap_new(HEAP_USUAL);
	struct map m = { 0 };
	enum { KINDS = 5, EACH = 600, OTHERS = 30000 };

	for (uint32_t i = 0; i < EACH; i++) {
		for (uint32_t k = 0; k < KINDS; k++)
			map_put(h, &m, hash_at(shares[k]), i * KINDS + k);
		for (uint32_t n = 0; n < OTHERS / EACH; n++)
			map_put(h, &m, hash_mix(7, i * OTHERS + n), UINT32_MAX - 1);
	}
	for (uint32_t k = 0; k < KINDS; k++) {
		uint32_t it = 0, value, expect = k;

		while (map_next(&m, hash_at(shares[k]), &it, &value)) {
			ck_assert_uint_eq(value, expect);
			expect += KINDS;
		}
		ck_assert_uint_eq(expect, EACH * KINDS + k);
	}
	ck_assert_uint_eq(m.n, EACH * KINDS + OTHERS);
	map_give(h, &m);
	heap_free(h);
}
END_TEST

static void assert_undecodable(struct str s)
{
	uint32_t c = 0x1234;

	ck_assert_uint_eq(utf8_decode(s, &c), 0);
	ck_assert_uint_eq(c, 0x1234);
	ck_assert(!utf8_valid(s));
}

/* Work that is cancelled when it has yielded that often. */
struct countdown {
	struct yield yield; /* first */
	unsigned left;
};

static void count_down(struct yield *y)
{
	struct countdown *c = (struct countdown *)y;

	y->cancelled = !c->left || !--c->left;
}

static int by_number(const void *left, const void *right)
{
	const uint32_t *a = left, *b = right;

	return *a < *b ? -1 : *a > *b;
}

/* Lengths around whole runs and their doubles. */
START_TEST(yield_sort_sorts)
{
	static const size_t lengths[] = { 0, 1, 2, 1023, 1024, 1025, 2048, 2049, 5000, 8192 };

	for (unsigned i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		size_t n = lengths[i];
		uint32_t *got = xcalloc(n + 1, sizeof(*got)), *want = xcalloc(n + 1, sizeof(*want));
		struct countdown c = { .yield = { .hand_over = count_down }, .left = UINT32_MAX };

		for (size_t k = 0; k < n; k++)
			got[k] = want[k] = (uint32_t)(k * 2654435761u) >> 8;
		qsort(want, n, sizeof(*want), by_number);
		yield_sort(got, n, sizeof(*got), by_number, &c.yield);
		ck_assert(memcmp(got, want, n * sizeof(*got)) == 0);
		ck_assert(!c.yield.cancelled);
		free(got);
		free(want);
	}
}
END_TEST

START_TEST(cancelled_work_ends_for_good)
{
	uint32_t numbers[5000];
	unsigned on = 0;
	struct countdown c = { .yield = { .hand_over = count_down }, .left = 20 };

	for (uint32_t i = 0; i < 5000; i++)
		numbers[i] = 5000 - i;
	yield_sort(numbers, 5000, sizeof(*numbers), by_number, &c.yield);
	ck_assert(c.yield.cancelled);
	for (unsigned i = 0; i < 1000; i++)
		on += yield_on(&c.yield);
	ck_assert_uint_eq(on, 0);
	ck_assert(yield_on(NULL));
}
END_TEST

/* ---- jobs ---- */

struct worker {
	unsigned steps, done; /* how often it is to ask, and what it did before each time */
	unsigned inside;      /* the other side has the turn while this is 0 */
	bool left, sorted;
	uint32_t numbers[5000];
};

static void work(void *ctx, struct yield *y)
{
	struct worker *w = ctx;

	w->inside++;
	for (; w->done < w->steps && yield_on(y); w->done++)
		;
	w->left = true;
}

static void wait_now(void *ctx, struct yield *y)
{
	struct worker *w = ctx;

	while (w->done < w->steps && yield_now(y))
		w->done++;
	w->left = true;
}

static void sort_numbers(void *ctx, struct yield *y)
{
	struct worker *w = ctx;

	yield_sort(w->numbers, 5000, sizeof(*w->numbers), by_number, y);
	w->sorted = true;
	for (unsigned i = 1; i < 5000; i++)
		w->sorted &= w->numbers[i - 1] <= w->numbers[i];
	w->left = true;
}

START_TEST(a_job_runs_only_in_its_steps)
{
	struct worker w = { .steps = 1000 };
	struct job *j = job_new(work, &w);
	unsigned before, steps = 0;

	ck_assert(!w.inside);
	while (!job_step(j, 0)) { /* a deadline that has passed long ago: as short as can be */
		before = w.done;
		steps++;
		ck_assert_uint_lt(before, w.steps);
		ck_assert(!w.left);
	}
	ck_assert_uint_gt(steps, 10);
	ck_assert(w.left && w.done == w.steps && w.inside == 1);
	ck_assert(job_step(j, 0)); /* it stays so */
	job_end(j);
}
END_TEST

START_TEST(a_job_without_a_deadline_runs_to_its_end)
{
	struct worker w = { .steps = 100000 };
	struct job *j = job_new(work, &w);

	ck_assert(job_step(j, INT64_MAX));
	ck_assert(w.left && w.done == w.steps);
	job_end(j);
}
END_TEST

START_TEST(a_cancelled_job_leaves_its_loops)
{
	struct worker w = { .steps = UINT32_MAX }, none = { .steps = 1 }, waits = { .steps = 3 };
	struct job *j = job_new(work, &w);

	ck_assert(!job_step(j, 0));
	job_end(j);
	ck_assert(w.left && w.done < 1000);
	j = job_new(work, &none); /* one that never began never does */
	job_end(j);
	ck_assert(!none.inside);
	j = job_new(wait_now, &waits); /* however far its deadline is */
	ck_assert(!job_step(j, INT64_MAX));
	ck_assert_uint_eq(waits.done, 0);
	ck_assert(!job_step(j, INT64_MAX));
	ck_assert_uint_eq(waits.done, 1);
	job_end(j);
	ck_assert(waits.left && waits.done == 1);
	job_end(NULL);
}
END_TEST

START_TEST(jobs_take_turns)
{
	struct worker w[3] = { { .steps = 500 }, { .steps = 700 }, { .steps = 300 } };
	struct job *j[3];
	unsigned ended = 0;

	for (unsigned i = 0; i < 3; i++)
		j[i] = job_new(work, &w[i]);
	while (ended < 3) {
		ended = 0;
		for (unsigned i = 0; i < 3; i++)
			ended += job_step(j[i], 0);
	}
	for (unsigned i = 0; i < 3; i++) {
		ck_assert(w[i].left && w[i].done == w[i].steps);
		job_end(j[i]);
	}
}
END_TEST

START_TEST(a_job_sorts)
{
	struct worker *w = xcalloc(1, sizeof(*w));
	struct job *j = job_new(sort_numbers, w);
	unsigned steps = 0;

	for (uint32_t i = 0; i < 5000; i++)
		w->numbers[i] = (i * 2654435761u) >> 8;
	while (!job_step(j, 0))
		steps++;
	ck_assert(w->sorted && steps > 10);
	job_end(j);
	j = job_new(sort_numbers, w);
	for (uint32_t i = 0; i < 5000; i++)
		w->numbers[i] = 5000 - i;
	w->left = false;
	ck_assert(!job_step(j, 0));
	job_end(j);
	ck_assert(w->left && !w->sorted);
	free(w);
}
END_TEST

START_TEST(utf8_goes_there_and_back)
{
	/* both sides of each step in length, and of the surrogates */
	static const uint32_t points[] = { 0,      0x7f,   0x80,   0x7ff,   0x800,
					   0xd7ff, 0xe000, 0xffff, 0x10000, 0x10ffff };
	static const size_t lengths[] = { 1, 1, 2, 2, 3, 3, 3, 3, 4, 4 };

	for (size_t i = 0; i < sizeof(points) / sizeof(points[0]); i++) {
		char bytes[4];
		uint32_t c = ~points[i];
		size_t n = utf8_encode(points[i], bytes);

		ck_assert_uint_eq(n, lengths[i]);
		ck_assert_uint_eq(utf8_decode(str_make(bytes, n), &c), n);
		ck_assert_uint_eq(c, points[i]);
		for (size_t cut = 1; cut < n; cut++)
			assert_undecodable(str_make(bytes, cut));
	}
}
END_TEST

START_TEST(utf8_is_strict)
{
	assert_undecodable(STR("\x80"));
	assert_undecodable(STR("\xbf"));
	assert_undecodable(STR("\xc0\xaf"));
	assert_undecodable(STR("\xc1\xbf"));
	assert_undecodable(STR("\xe0\x9f\xbf"));
	assert_undecodable(STR("\xf0\x8f\xbf\xbf"));
	assert_undecodable(STR("\xed\xa0\x80"));
	assert_undecodable(STR("\xed\xbf\xbf"));
	assert_undecodable(STR("\xf4\x90\x80\x80"));
	assert_undecodable(STR("\xf5\x80\x80\x80"));
	assert_undecodable(STR("\xfe"));
	assert_undecodable(STR("\xff"));
	assert_undecodable(STR("\xc3("));
	assert_undecodable(STR("\xe2\x82("));
	assert_undecodable(STR("\xc3\xc3"));
}
END_TEST

/* Character by character it comes to the same. */
START_TEST(utf8_valid_skips_no_more_than_ascii)
{
	static const char *const parts[] = { "a", "abcdefg", "\xc3\xa9", "\xe2\x80\xa6", "\xf0\x9f\x94\xa8",
					     "\xc3", "\x80", "\xff", "\x7f" };
	uint32_t state = 1;

	for (int round = 0; round < 100000; round++) {
		char text[64];
		size_t n = 0, valid = 0, step = 1;
		uint32_t c;

		for (unsigned i = 0; i < 8; i++) {
			state = state * 1664525 + 1013904223;
			const char *part = parts[state >> 29 ? (state >> 24) % 5 : (state >> 16) % 9];

			memcpy(text + n, part, strlen(part));
			n += strlen(part);
		}
		for (; valid < n && step; valid += step)
			step = utf8_decode(str_make(text + valid, n - valid), &c);
		ck_assert_uint_eq(utf8_valid_length(str_make(text, n)), valid);
	}
}
END_TEST

START_TEST(utf8_valid_reads_to_the_end)
{
	struct err err;

	ck_assert(utf8_valid(STR_NONE));
	ck_assert(utf8_valid(STR("a\0b")));
	ck_assert(utf8_valid(STR("gr\xc3\xbc\xc3\x9f \xe2\x80\xa6 \xf0\x9f\x94\xa8")));
	ck_assert(!utf8_valid(STR("fine until here\xe2\x80")));
	ck_assert(!utf8_valid(STR("\xc3\xbc\xbc")));
	ck_assert_uint_eq(utf8_valid_length(STR("\xc3\xbc\xbc")), 2);
	ck_assert_int_eq(utf8_check(STR("gr\xc3\xbc"), "it", &err), 0);
	ck_assert_int_eq(utf8_check(STR("caf\xe9"), "it", &err), -1);
	ck_assert_str_eq(err.text, "it is not UTF-8: byte 4 is 0xe9; convert it, as iconv does, and "
				   "give it again");
}
END_TEST

static int64_t iso(struct str s)
{
	int64_t ms = TIME_NONE;

	ck_assert_msg(timestamp_parse_iso(s, &ms), "%.*s was refused", STR_ARG(s));
	return ms;
}

static void assert_no_time(struct str s)
{
	int64_t ms = 42;

	ck_assert_msg(!timestamp_parse_iso(s, &ms), "%.*s was taken", STR_ARG(s));
	ck_assert_int_eq(ms, 42);
}

/* The form that is read at once, against the same time in a form that is not. */
START_TEST(timestamp_reads_the_usual_form)
{
	static const char digits[] = "0123456789:/a ";
	const char *const forms[] = { "2026-02-28T19:59:58.987Z", "2024-02-29T23:00:00Z" };

	for (int f = 0; f < 2; f++)
		for (size_t i = 0; i < strlen(forms[f]) * (sizeof(digits) - 1); i++) {
			char usual[40], other[40];
			size_t n = strlen(forms[f]);
			int64_t a = 42, b = 42;
			bool taken;

			memcpy(usual, forms[f], n + 1);
			usual[i / (sizeof(digits) - 1)] = digits[i % (sizeof(digits) - 1)];
			memcpy(other, usual, n);
			if (other[n - 1] == 'Z')
				memcpy(other + n - 1, "+00:00", 6), n += 5;
			taken = timestamp_parse_iso(str_of(usual), &a);
			ck_assert_msg(taken == timestamp_parse_iso(str_make(other, n), &b), "%s", usual);
			ck_assert_msg(a == b, "%s", usual);
		}
}
END_TEST

START_TEST(timestamp_reads_iso_8601)
{
	ck_assert_int_eq(iso(STR("1970-01-01T00:00:00Z")), 0);
	ck_assert_int_eq(iso(STR("1970-01-01")), 0);
	ck_assert_int_eq(iso(STR("1969-12-31T23:59:59.999Z")), -1);
	ck_assert_int_eq(iso(STR("2026-01-26T10:00:00Z")), 1769421600000);
	ck_assert_int_eq(iso(STR("2026-01-26t10:00:00z")), 1769421600000);
	ck_assert_int_eq(iso(STR("2026-01-26 10:00")), 1769421600000);
	ck_assert_int_eq(iso(STR("2026-01-26T12:30:00+02:30")), 1769421600000);
	ck_assert_int_eq(iso(STR("2026-01-26T12:30:00+0230")), 1769421600000);
	ck_assert_int_eq(iso(STR("2026-01-26T02:00:00-08:00")), 1769421600000);
	ck_assert_int_eq(iso(STR("2026-01-26T10:00:00.5Z")), 1769421600500);
	ck_assert_int_eq(iso(STR("2026-01-26T10:00:00.123456789Z")), 1769421600123);
	ck_assert_int_eq(iso(STR("2024-02-29")), iso(STR("2024-02-28T24:00:00Z")));
	ck_assert_int_eq(iso(STR("2000-02-29")) + 86400000, iso(STR("2000-03-01")));
	ck_assert_int_eq(iso(STR("2016-12-31T23:59:60Z")), iso(STR("2017-01-01")));
	ck_assert_int_eq(iso(STR("0000-01-01")), -62167219200000);
}
END_TEST

START_TEST(timestamp_refuses_what_is_no_time)
{
	assert_no_time(STR(""));
	assert_no_time(STR("yesterday"));
	assert_no_time(STR("2026-1-26"));
	assert_no_time(STR("2026-00-10"));
	assert_no_time(STR("2026-13-01"));
	assert_no_time(STR("2026-04-31"));
	assert_no_time(STR("2026-01-00"));
	assert_no_time(STR("2023-02-29"));
	assert_no_time(STR("1900-02-29"));
	assert_no_time(STR("2026-01-26T"));
	assert_no_time(STR("2026-01-26T10"));
	assert_no_time(STR("2026-01-26T25:00:00Z"));
	assert_no_time(STR("2026-01-26T24:00:01Z"));
	assert_no_time(STR("2026-01-26T10:60:00Z"));
	assert_no_time(STR("2026-01-26T10:00:61Z"));
	assert_no_time(STR("2026-01-26T10:00:00.Z"));
	assert_no_time(STR("2026-01-26T10:00:00+"));
	assert_no_time(STR("2026-01-26T10:00:00+02:"));
	assert_no_time(STR("2026-01-26T10:00:00+02:60"));
	assert_no_time(STR("2026-01-26T10:00:00+24:00"));
	assert_no_time(STR("2026-01-26T10:00:00ZZ"));
	assert_no_time(STR("2026-01-26T10:00:00Z "));
	assert_no_time(STR("2026-01-26T10:00:00Z\0"));
}
END_TEST

START_TEST(timestamp_reads_what_people_type)
{
	int64_t day = 1769421600000, midnight = 1769385600000, ms;

	ck_assert(timestamp_parse_loose(STR("2026-01-26T10:00:00Z"), 0, &ms) && ms == day);
	ck_assert(timestamp_parse_loose(STR("10:00"), day, &ms) && ms == day);
	ck_assert(timestamp_parse_loose(STR("00:00:01"), day, &ms) && ms == midnight + 1000);
	ck_assert(timestamp_parse_loose(STR("01:00"), -1, &ms) && ms == -86400000 + 3600000);
	ck_assert(timestamp_parse_loose(STR("01:00"), TIME_NONE, &ms) && ms == 3600000);
	ck_assert(timestamp_parse_loose(STR("1769421600123"), 0, &ms) && ms == day + 123);
	ck_assert(!timestamp_parse_loose(STR("10"), day, &ms));
	ck_assert(!timestamp_parse_loose(STR("10:00 "), day, &ms));
	ck_assert(!timestamp_parse_loose(STR("99999999999999999999"), day, &ms));
	ck_assert(!timestamp_parse_loose(STR(""), day, &ms));
}
END_TEST

START_TEST(timestamp_writes_what_it_reads)
{
	static const int64_t times[] = { 0, -1, 1, 951782400000, 1769421600123, -62167219200000,
					 253402300799999 };
	char out[32];

	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++)
		ck_assert_int_eq(iso(str_of(timestamp_iso(times[i], out))), times[i]);
	ck_assert_str_eq(timestamp_iso(1769421600000, out), "2026-01-26T10:00:00Z");
	ck_assert_str_eq(timestamp_iso(1769421600007, out), "2026-01-26T10:00:00.007Z");
	ck_assert_str_eq(timestamp_iso(-62198755200001, out), "-002-12-31T23:59:59.999Z");
	ck_assert_str_eq(timestamp_iso(253402300800000, out), "10000-01-01T00:00:00Z");
	ck_assert_str_eq(timestamp_iso(TIME_NONE, out), "-");
	/* out holds 32 bytes, whatever the time */
	ck_assert_uint_lt(strlen(timestamp_iso(INT64_MAX, out)), 32);
	ck_assert_uint_lt(strlen(timestamp_iso(INT64_MIN + 1, out)), 32);
	ck_assert_str_eq(timestamp_clock(1769421600999, out), "10:00:00");
	ck_assert_str_eq(timestamp_clock(-1, out), "23:59:59");
	ck_assert_str_eq(timestamp_clock(TIME_NONE, out), "-");
}
END_TEST

START_TEST(timestamp_is_recent_within_ten_minutes)
{
	int64_t now = timestamp_now_ms();

	ck_assert(timestamp_is_recent(now));
	ck_assert(timestamp_is_recent(now - 590000));
	ck_assert(timestamp_is_recent(now + 590000));
	ck_assert(!timestamp_is_recent(now - 600000));
	ck_assert(!timestamp_is_recent(now + 700000));
	ck_assert(!timestamp_is_recent(TIME_NONE));
}
END_TEST

static void user_folder_is(const char *base, const char *home, const char *want, bool told)
{
	struct buf path = { 0 };

	unsetenv("XDG_CACHE_HOME");
	unsetenv("HOME");
	if (base)
		setenv("XDG_CACHE_HOME", base, 1);
	if (home)
		setenv("HOME", home, 1);
	ck_assert(io_user_folder("XDG_CACHE_HOME", ".cache", &path) == told);
	ck_assert_str_eq(path.p, want);
	buf_release(&path);
}

START_TEST(io_folders_are_those_of_the_environment)
{
	user_folder_is("/c", "/h", "/c/gavel", true);
	user_folder_is("relative", "/h", "/h/.cache/gavel", true);
	user_folder_is("", "/h", "/h/.cache/gavel", true);
	user_folder_is(NULL, "/h", "/h/.cache/gavel", true);
	user_folder_is("/c", NULL, "/c/gavel", true);
	user_folder_is(NULL, "", "/.cache/gavel", false);
	user_folder_is(NULL, NULL, "/.cache/gavel", false);
	setenv("TMPDIR", "/t", 1);
	ck_assert_str_eq(io_temp_folder(), "/t");
	setenv("TMPDIR", "", 1);
	ck_assert_str_eq(io_temp_folder(), "/tmp");
}
END_TEST

START_TEST(timestamp_spans_are_short)
{
	char out[32];

	ck_assert_str_eq(timestamp_span(0, out), "0:00");
	ck_assert_str_eq(timestamp_span(42999, out), "0:42");
	ck_assert_str_eq(timestamp_span(725000, out), "12:05");
	ck_assert_str_eq(timestamp_span(3599999, out), "59:59");
	ck_assert_str_eq(timestamp_span(3600000, out), "1h00");
	ck_assert_str_eq(timestamp_span(11040000, out), "3h04");
	ck_assert_str_eq(timestamp_span(86399999, out), "23h59");
	ck_assert_str_eq(timestamp_span(190800000, out), "2d05h");
	ck_assert_str_eq(timestamp_span(-42000, out), "-0:42");
	ck_assert_uint_lt(strlen(timestamp_span(INT64_MIN, out)), 32);
	ck_assert_uint_lt(strlen(timestamp_span(INT64_MAX, out)), 32);
}
END_TEST

static TCase *cases(Suite *suite, const char *name)
{
	TCase *t = tcase_create(name);

	suite_add_tcase(suite, t);
	return t;
}

static bool glob(const char *pattern, const char *path)
{
	return glob_match(str_of(pattern), str_of(path));
}

START_TEST(glob_knows_folders_classes_and_braces)
{
	ck_assert(glob("src/*.c", "src/a.c"));
	ck_assert(!glob("src/*.c", "src/x/a.c"));
	ck_assert(glob("src/*", "src/a.c"));
	ck_assert(glob("src/*", "src/"));
	ck_assert(!glob("src/*", "src/x/a.c"));
	ck_assert(glob("src/**", "src/"));
	ck_assert(glob("src/**", "src/x/a.c"));
	ck_assert(glob("src/**/a.c", "src/a.c"));
	ck_assert(glob("src/**/a.c", "src/x/y/a.c"));
	ck_assert(glob("./src/a.c", "src/a.c"));
	ck_assert(glob("src/", "src/x/a.c"));
	ck_assert(!glob("src/", "srcs/a.c"));
	ck_assert(glob("a?c", "abc"));
	ck_assert(!glob("a?c", "a/c"));
	ck_assert(glob("[a-c]x", "bx"));
	ck_assert(!glob("[!a-c]x", "bx"));
	ck_assert(glob("{src,tests}/*.{c,h}", "tests/a.h"));
	ck_assert(!glob("{src,tests}/*.{c,h}", "doc/a.h"));
	ck_assert(glob("{a", "{a"));
	ck_assert(!glob("", "a"));
	ck_assert(glob("src/*", "src/a.c"));
	ck_assert(glob("src/*", "src/"));
	ck_assert(!glob("src/*", "src/x/a.c"));
	ck_assert(!glob("src/a.c", "src/a"));
	ck_assert(!glob("src/a", "src/a.c"));
	ck_assert(!glob("src/a?", "src/a"));
	ck_assert(glob("a[*]c", "a*c"));
}
END_TEST

static bool is_cleaned(const char *path, const char *expected)
{
	char room[PATH_CLEAN_MAX];

	return str_is(path_clean(str_of(path), room), expected);
}

static bool glob_cleaned(const char *pattern, const char *path)
{
	char pattern_room[PATH_CLEAN_MAX], path_room[PATH_CLEAN_MAX];
	unsigned budget = 1000;

	return glob_match_clean(glob_clean(str_of(pattern), pattern_room),
				path_clean(str_of(path), path_room), &budget);
}

START_TEST(path_clean_removes_what_leads_nowhere)
{
	ck_assert(is_cleaned("src/a.c", "src/a.c"));
	ck_assert(is_cleaned("src/.hidden/..a", "src/.hidden/..a"));
	ck_assert(is_cleaned("src/../secret", "secret"));
	ck_assert(is_cleaned("a/b/../../c", "c"));
	ck_assert(is_cleaned("./a//b/./c", "a/b/c"));
	ck_assert(is_cleaned("a/../../b", "../b"));
	ck_assert(is_cleaned("../../a", "../../a"));
	ck_assert(is_cleaned("/../a/../b", "/b"));
	ck_assert(is_cleaned("//a", "/a"));
	ck_assert(is_cleaned("a/..", ""));
	ck_assert(is_cleaned("a/b/", "a/b/"));
	ck_assert(is_cleaned("a/./b/", "a/b/"));
	ck_assert(is_cleaned("", ""));
	for (unsigned at = 0; at < 24; at++) { /* wherever it is */
		char path[] = "abcdefghijklmnopqrstuvwxyz", cleaned[] = "abcdefghijklmnopqrstuvwxyz";

		memcpy(path + at, "//", 2);
		cleaned[at] = '/';
		memmove(cleaned + at + 1, cleaned + at + 2, sizeof(cleaned) - at - 2);
		ck_assert(is_cleaned(path, cleaned));
		memcpy(path + at, "/.x", 3);
		ck_assert(is_cleaned(path, path));
		if (at < 23) {
			memcpy(path + at, "/./", 3);
			cleaned[sizeof(cleaned) - 3] = 0;
			memcpy(cleaned + at + 1, path + at + 3, strlen(path + at + 3) + 1);
			ck_assert(is_cleaned(path, cleaned));
		}
	}
}
END_TEST

START_TEST(glob_matches_clean_paths)
{
	ck_assert(glob_cleaned("src/**", "src/x/../a.c"));
	ck_assert(!glob_cleaned("src/**", "src/../secret"));
	ck_assert(!glob_cleaned("src/**", "src/x/../../secret"));
	ck_assert(glob_cleaned("src/*", "src//a.c"));
	ck_assert(!glob_cleaned("src/*/a.c", "src/./a.c"));
	ck_assert(glob_cleaned("src/../lib/**", "lib/a.c"));
	ck_assert(glob_cleaned("./src/./a.c", "src/a.c"));
	ck_assert(glob_cleaned("src/../a.c", "a.c"));
	ck_assert(!glob_cleaned("**", "../a.c"));
	ck_assert(glob_cleaned("**", "a.c"));
	ck_assert(glob_cleaned("../lib/**", "../lib/a.c"));
	ck_assert(glob_cleaned("..*", "..a"));
}
END_TEST

/* No timing here: without its bounds this would not end. */
START_TEST(glob_gives_up_on_hostile_patterns)
{
	char pattern[1000], path[4000];
	unsigned budget = 1000;

	for (size_t i = 0; i < sizeof(pattern); i++)
		pattern[i] = i % 2 ? 'a' : '*';
	memset(path, 'a', sizeof(path));
	pattern[sizeof(pattern) - 1] = 'b';
	ck_assert(!glob_match(str_make(pattern, sizeof(pattern)), str_make(path, sizeof(path))));
	memset(pattern, '{', sizeof(pattern));
	ck_assert(!glob_match(str_make(pattern, sizeof(pattern)), str_make(path, sizeof(path))));
	ck_assert(!glob_match_within(STR("*a*a*a*a*b"), str_make(path, 400), &budget));
	ck_assert_uint_eq(budget, 0);
	ck_assert(!glob_match_within(STR("a"), STR("a"), &budget));
	budget = 3; /* bytes that stand for themselves are paid for, too */
	ck_assert(!glob_match_within(STR("abcd"), STR("abcd"), &budget));
	budget = 4;
	ck_assert(glob_match_within(STR("abcd"), STR("abcd"), &budget));
	ck_assert_uint_eq(budget, 0);
}
END_TEST

/* However the bytes are cut, the hash is that of the whole. */
START_TEST(sha256_comes_in_pieces)
{
	char bytes[200], whole[65], pieces[65];
	struct sha256 s;

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (char)(i * 7);
	for (size_t n = 0; n <= sizeof(bytes); n += 5) {
		sha256_hex(str_make(bytes, n), whole);
		for (size_t a = 0; a <= n; a += 3) {
			size_t b = (n - a) / 2;

			sha256_begin(&s);
			sha256_add(&s, str_make(bytes, a));
			sha256_add(&s, str_make(bytes + a, b));
			sha256_add(&s, str_make(bytes + a + b, n - a - b));
			sha256_end_hex(&s, pieces);
			ck_assert_str_eq(pieces, whole);
		}
	}
	sha256_hex(STR("abc"), whole);
	ck_assert_str_eq(whole,
			 "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}
END_TEST

/* Each implementation that runs here, with one block and with many. */
START_TEST(sha256_is_the_same_by_any_implementation)
{
	sha256_blocks_fn *const used = sha256_blocks;
	sha256_blocks_fn *all[] = { used, sha256_blocks_any };
	char bytes[1000], hex[65];

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (char)('a' + i % 26);
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		sha256_blocks = all[i];
		sha256_hex(str_make(bytes, 0), hex);
		ck_assert_str_eq(hex, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
		sha256_hex(str_make(bytes, 56), hex);
		ck_assert_str_eq(hex, "784f623b787495078e93ff28a25b581df0584055a7e71d8cd90c454716b92f51");
		sha256_hex(str_make(bytes, sizeof(bytes)), hex);
		ck_assert_str_eq(hex, "915e53a44c18b19bb06ba5b3f5fcaf1dc4651e8404c63425cfc6174e74659d87");
	}
	sha256_blocks = used;
}
END_TEST

/* ---- trust ---- */

static struct stat a_file(mode_t mode)
{
	return (struct stat){ .st_mode = mode, .st_uid = geteuid(), .st_gid = getegid(),
			      .st_nlink = 1 };
}

START_TEST(a_file_is_safe_if_only_this_user_writes_it)
{
	const struct trusted nobody = { 0 };
	struct stat st = a_file(S_IFREG | 0644);

	ck_assert_int_eq(file_fault(&st, S_IFREG, NULL), FILE_SAFE);
	ck_assert_ptr_null(file_distrust(&st, &nobody));
	ck_assert_int_eq(file_fault(&st, S_IFIFO, NULL), FILE_IS_OTHER_TYPE);
	st.st_nlink = 2;
	ck_assert_int_eq(file_fault(&st, S_IFREG, NULL), FILE_HAS_SECOND_NAME);
	st = a_file(S_IFDIR | 0755);
	st.st_nlink = 7;
	ck_assert_int_eq(file_fault(&st, S_IFDIR, NULL), FILE_SAFE);
	st = a_file(S_IFLNK | 0777);
	ck_assert_int_eq(file_fault(&st, S_IFREG, NULL), FILE_IS_LINK);
	st = a_file(S_IFREG | 0602);
	ck_assert_int_eq(file_fault(&st, S_IFREG, NULL), FILE_IS_OPEN);
	st = a_file(S_IFREG | 0660);
	ck_assert_int_eq(file_fault(&st, S_IFREG, NULL), FILE_IS_OPEN);
	st = a_file(S_IFREG | 0600);
	st.st_uid++;
	ck_assert_int_eq(file_fault(&st, S_IFREG, NULL), FILE_IS_FOREIGN);
	ck_assert_ptr_nonnull(strstr(file_distrust(&st, &nobody), "reviewers"));
}
END_TEST

/* A user besides this one; "" = there is none. */
static char *another_user(uid_t *uid)
{
	static char name[256];
	const struct passwd *p;

	name[0] = '\0';
	setpwent();
	while (!name[0] && (p = getpwent()))
		if (p->pw_uid != geteuid()) {
			snprintf(name, sizeof(name), "%s", p->pw_name);
			*uid = p->pw_uid;
		}
	endpwent();
	return name;
}

START_TEST(reviewers_are_believed_by_name)
{
	char unknown[] = "nobody of that name", *list[] = { unknown, NULL };
	const struct trusted also = { list, 2, NULL }, other = { list, 1, NULL };
	struct stat st = a_file(S_IFREG | 0644);

	list[1] = another_user(&st.st_uid);
	if (!list[1][0])
		return;
	ck_assert_int_eq(file_fault(&st, S_IFREG, &also), FILE_SAFE);
	ck_assert_int_eq(file_fault(&st, S_IFREG, &other), FILE_IS_FOREIGN);
	ck_assert_int_eq(file_fault(&st, S_IFREG, NULL), FILE_IS_FOREIGN);
	st.st_mode |= S_IWOTH;
	ck_assert_int_eq(file_fault(&st, S_IFREG, &also), FILE_IS_OPEN);
	st.st_uid = (uid_t)-2; /* without a name */
	ck_assert_int_eq(file_fault(&st, S_IFREG, &also), FILE_IS_FOREIGN);
}
END_TEST

START_TEST(the_reviewers_group_may_write)
{
	struct stat st = a_file(S_IFREG | 0664);
	const struct group *own = getgrgid(st.st_gid);
	struct trusted also = { .group = own ? own->gr_name : NULL };

	if (!own)
		return;
	ck_assert_int_eq(file_fault(&st, S_IFREG, &also), FILE_SAFE);
	st.st_mode |= S_IWOTH;
	ck_assert_int_eq(file_fault(&st, S_IFREG, &also), FILE_IS_OPEN);
	st.st_mode &= ~(mode_t)S_IWOTH;
	also.group = "no group of that name";
	ck_assert_int_eq(file_fault(&st, S_IFREG, &also), FILE_IS_OPEN);
	also.group = NULL;
	ck_assert_int_eq(file_fault(&st, S_IFREG, &also), FILE_IS_OPEN);
}
END_TEST

START_TEST(io_finds_files_below_the_folder_only)
{
	char folder[] = "/tmp/gavel-below-XXXXXX", path[64];
	struct buf real = { 0 };
	struct err err;

	ck_assert(mkdtemp(folder) && chdir(folder) == 0 && mkdir("a", 0700) == 0);
	ck_assert_int_eq(close(creat("a/+x", 0600)), 0);
	ck_assert(symlink("+x", "a/in") == 0 && symlink("/etc/passwd", "a/out") == 0);
	ck_assert(symlink("..", "a/up") == 0 && mkfifo("a/fifo", 0600) == 0);
	ck_assert_int_eq(io_find_below("a/in", &real, &err), 0);
	ck_assert(real.p[0] == '/' && str_ends(buf_str(&real), STR("/a/+x")));
	buf_clear(&real);
	ck_assert_int_eq(io_find_below("a/up/a/+x", &real, &err), 0);
	buf_clear(&real);
	ck_assert_int_eq(io_find_below("a/out", &real, &err), -1);
	assert_says(err, "leads out");
	ck_assert_int_eq(io_find_below("../../etc/passwd", &real, &err), -1);
	assert_says(err, "leads out");
	ck_assert_int_eq(io_find_below("a/none", &real, &err), -1);
	ck_assert_int_eq(io_find_below("a", &real, &err), -1);
	ck_assert_int_eq(io_find_below("a/fifo", &real, &err), -1);
	assert_says(err, "is not a file");
	/* a folder whose name merely begins the same */
	ck_assert_int_eq(chdir("a"), 0);
	ck_assert(mkdir("../ab", 0700) == 0 && close(creat("../ab/f", 0600)) == 0);
	ck_assert_int_eq(io_find_below("../ab/f", &real, &err), -1);
	ck_assert_uint_eq(real.n, 0);
	buf_release(&real);
	ck_assert(unlink("+x") == 0 && unlink("in") == 0 && unlink("out") == 0 && unlink("up") == 0);
	ck_assert(unlink("fifo") == 0 && unlink("../ab/f") == 0 && rmdir("../ab") == 0);
	snprintf(path, sizeof(path), "%s/a", folder);
	ck_assert(chdir("/") == 0 && rmdir(path) == 0 && rmdir(folder) == 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("base");
	TCase *t;

	t = cases(suite, "str");
	tcase_add_test(t, str_equality_is_by_length_and_bytes);
	tcase_add_test(t, str_heads_and_tails);
	tcase_add_test(t, str_nothing_is_a_head_of_nothing);
	tcase_add_test(t, str_order_is_bytewise);
	tcase_add_test(t, str_case_is_folded_for_ascii_letters_only);
	tcase_add_test(t, str_find_knows_both_ends);
	tcase_add_test(t, str_trim_takes_white_space_and_nothing_else);
	tcase_add_test(t, str_first_word_leaves_the_rest);
	tcase_add_test(t, str_hash_depends_on_every_byte_and_the_length);
	tcase_add_test(t, str_hash_tells_lengths_apart);
	tcase_add_test(t, str_hash_has_no_twins);
	tcase_add_test(t, str_hash_counts_each_lane);
	tcase_add_test(t, str_to_u64_is_strict);
	tcase_add_test(t, str_from_u64_has_all_digits);
	tcase_add_test(t, str_is_plain_knows_each_byte);
	tcase_add_test(t, err_returns_minus_one_and_cuts_long_text);

	t = cases(suite, "mem");
	tcase_add_test(t, arena_blocks_are_aligned_and_apart);
	tcase_add_test(t, arena_takes_an_empty_block);
	tcase_add_test(t, arena_copies_end_in_nul);
	tcase_add_test(t, arena_reset_keeps_one_chunk);
	tcase_add_test(t, vec_keeps_what_was_pushed);

	t = cases(suite, "buf");
	tcase_add_test(t, buf_grows_and_stays_terminated);
	tcase_add_test(t, buf_adds_of_every_kind);
	tcase_add_test(t, buf_adds_base64);

	t = cases(suite, "map");
	tcase_add_test(t, map_empty_has_nothing);
	tcase_add_test(t, map_finds_each_of_many);
	tcase_add_test(t, map_keeps_the_order_of_equal_hashes);
	tcase_add_test(t, map_holds_many_values_under_one_hash);
	tcase_add_test(t, map_grows_whole_when_crowded);

	t = cases(suite, "sha256");
	tcase_add_test(t, sha256_comes_in_pieces);
	tcase_add_test(t, sha256_is_the_same_by_any_implementation);

	t = cases(suite, "glob");
	tcase_add_test(t, glob_knows_folders_classes_and_braces);
	tcase_add_test(t, path_clean_removes_what_leads_nowhere);
	tcase_add_test(t, glob_matches_clean_paths);
	tcase_add_test(t, glob_gives_up_on_hostile_patterns);

	t = cases(suite, "yield");
	tcase_add_test(t, yield_sort_sorts);
	tcase_add_test(t, cancelled_work_ends_for_good);

	t = cases(suite, "job");
	tcase_add_test(t, a_job_runs_only_in_its_steps);
	tcase_add_test(t, a_job_without_a_deadline_runs_to_its_end);
	tcase_add_test(t, a_cancelled_job_leaves_its_loops);
	tcase_add_test(t, jobs_take_turns);
	tcase_add_test(t, a_job_sorts);

	t = cases(suite, "utf8");
	tcase_add_test(t, utf8_goes_there_and_back);
	tcase_add_test(t, utf8_is_strict);
	tcase_add_test(t, utf8_valid_skips_no_more_than_ascii);
	tcase_add_test(t, utf8_valid_reads_to_the_end);

	t = cases(suite, "when");
	tcase_add_test(t, timestamp_reads_iso_8601);
	tcase_add_test(t, timestamp_reads_the_usual_form);
	tcase_add_test(t, timestamp_refuses_what_is_no_time);
	tcase_add_test(t, timestamp_reads_what_people_type);
	tcase_add_test(t, timestamp_writes_what_it_reads);
	tcase_add_test(t, timestamp_spans_are_short);
	tcase_add_test(t, timestamp_is_recent_within_ten_minutes);

	t = cases(suite, "trust");
	tcase_add_test(t, a_file_is_safe_if_only_this_user_writes_it);
	tcase_add_test(t, reviewers_are_believed_by_name);
	tcase_add_test(t, the_reviewers_group_may_write);

	t = cases(suite, "io");
	tcase_add_test(t, io_folders_are_those_of_the_environment);
	tcase_add_test(t, io_finds_files_below_the_folder_only);

	return unit_run(suite);
}
