/* Text → cells, grid and paint. The rules of the table are checked by writing cells out in a small
 * notation: escaped runs in [brackets], cut marks in {braces}, line breaks as |. Properties are
 * checked for every code point, every width up to 200, and random bytes. */
#ifndef _XOPEN_SOURCE
#define _XOPEN_SOURCE 700
#endif
#include "base/buf.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "draw/cells.h"
#include "draw/grid.h"
#include "draw/paint.h"

#include "theme.h"

#include <check.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <wchar.h>
#include <wctype.h>

#define LAST_CODE_POINT 0x10ffff
/* ck_assert() writes to a file each time it holds: too slow for what is checked by the million. */
#define MUST(condition) \
	do { \
		if (!(condition)) \
			ck_abort_msg("%s", #condition); \
	} while (0)
#define RAW(literal) raw_of(STR(literal))

static uint64_t random_state = 1;

static uint32_t random_below(uint32_t n)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (uint32_t)(random_state >> 32) % n;
}

/* Pieces that matter to the decoder, so that random texts meet its states often. */
static void random_text(struct buf *b, size_t pieces)
{
	static const char *const piece[] = {
		"a", "b ", " ", "  ", "\t", "\n", "\r\n", "\r", "\033[31m", "\x7f", "\x9b", "\xff",
		"\xc3", "\xe2\x80", "\xe2\x80\xae", "\xe2\x80\x8d", "\xef\xb8\x8f", "\xef\xb8\x8e",
		"\xf0\x9f\x8f\xbd", "\xf0\x9f\x91\xa9", "\xe2\x9a\xa0", "\xcc\x81", "\xcc\xa7",
		"\xcc\x82", "e", "\xc3\xa9", "\xe6\xbc\xa2", "\xe5\xad\x97", "\xf3\xa0\x81\xa1",
		"\xf3\xa0\x80\xa2", "\xf3\xa0\x81\xbf", "\xe1\x84\x80", "\xe1\x85\xa1", "1",
		"\xe2\x83\xa3", "<FF>", "^[", "\xc2\x85", "\xe2\x80\xa8", "word-of-some-length",
	};

	while (pieces-- > 0) {
		if (random_below(8) == 0)
			buf_addc(b, (char)random_below(256));
		else
			buf_adds(b, piece[random_below(sizeof(piece) / sizeof(piece[0]))]);
	}
}

/* What must hold for every cell that ever comes out. */
static void check_cell(const struct cell *c, bool ascii)
{
	MUST(c->width == 1 || c->width == 2);
	MUST(c->base >= 0x20 && (c->base < 0x7f || c->base >= 0xa0));
	MUST(c->mark[0] || !c->mark[1]);
	if (ascii || c->class == CELL_ESCAPED) {
		MUST(c->base < 0x7f && c->width == 1 && !c->mark[0]);
		return;
	}
	MUST(wcwidth((wchar_t)c->base) == c->width);
	for (int i = 0; i < 2 && c->mark[i]; i++)
		MUST(wcwidth((wchar_t)c->mark[i]) == 0);
}

static void note(struct buf *out, const struct cell *c, int *class)
{
	static const char *const open[] = { "", "[", "{" }, *const close[] = { "", "]", "}" };
	char bytes[12];

	if (c->class != *class) {
		buf_adds(out, close[*class]);
		buf_adds(out, open[c->class]);
		*class = c->class;
	}
	buf_add(out, bytes, cell_bytes(c, bytes));
}

static void notes(struct buf *out, const struct cell *cells, uint32_t n)
{
	struct cell end = { .base = ' ', .width = 1 };
	int class = CELL_NORMAL;

	for (uint32_t i = 0; i < n; i++)
		note(out, &cells[i], &class);
	note(out, &end, &class);
	out->n--;
	buf_addc(out, '\0');
	out->n--;
}

static const char *spelled_as(struct str text, enum text_mode mode, bool ascii)
{
	static struct buf out;
	struct cells it = cells_start(raw_of(text), mode, ascii);
	struct cell c, end = { .base = ' ', .width = 1 };
	int class = CELL_NORMAL;
	enum cells_step step;

	buf_clear(&out);
	buf_addc(&out, '\0');
	buf_clear(&out);
	while ((step = cells_next(&it, &c)) != CELLS_END) {
		if (step == CELLS_BREAK) {
			note(&out, &end, &class);
			out.p[out.n - 1] = '|';
			continue;
		}
		note(&out, &c, &class);
		check_cell(&c, ascii || mode == TEXT_ID);
	}
	note(&out, &end, &class);
	out.p[--out.n] = '\0';
	return out.p;
}

static bool is_spelled(struct str text, enum text_mode mode, const char *expected)
{
	return strcmp(spelled_as(text, mode, false), expected) == 0;
}

#define CHECK_TEXT(mode, literal, expected) \
	ck_assert_str_eq(spelled_as(STR(literal), (mode), false), (expected))
#define CHECK_LINE(literal, expected) CHECK_TEXT(TEXT_LINE, literal, expected)

START_TEST(invalid_bytes_one_at_a_time)
{
	CHECK_LINE("a\xff" "b", "a[<FF>]b");
	CHECK_LINE("\xc0\xaf", "[<C0><AF>]");
	CHECK_LINE("\xed\xa0\x80", "[<ED><A0><80>]");
	CHECK_LINE("\xf4\x90\x80\x80", "[<F4><90><80><80>]");
	CHECK_LINE("\xe2\x80", "[<E2><80>]");
	CHECK_TEXT(TEXT_ID, "\xff", "[<FF>]");
	CHECK_LINE("", "");
}
END_TEST

START_TEST(control_characters)
{
	CHECK_LINE("\033[2J", "[^[][2J");
	CHECK_LINE("\0\a\b\x7f\x1f", "[^@^G^H^?^_]");
	CHECK_LINE("a\tb", "a       b");
	CHECK_LINE("1234567\tb", "1234567 b");
	CHECK_LINE("a\nb", "a[^J]b");
	CHECK_TEXT(TEXT_LINES, "a\nb", "a|b");
	CHECK_TEXT(TEXT_LINES, "ab\n\tc", "ab|        c");
	CHECK_LINE("a\r\nb\rc", "a[^J]b[^M]c");
	CHECK_TEXT(TEXT_LINES, "a\r\nb\rc\r\r\n", "a|b[^M]c[^M]|");
	CHECK_TEXT(TEXT_ID, "a\r\n\tb", "a[^M^J^I]b");
	CHECK_LINE("\xc2\x9b" "31m\xc2\x85", "[<U+009B>]31m[<U+0085>]");
}
END_TEST

START_TEST(what_hides_or_reorders)
{
	CHECK_LINE("a\xe2\x80\xae" "b", "a[<U+202E>]b");
	CHECK_LINE("\xe2\x80\x8b\xe2\x81\xa6\xef\xbb\xbf", "[<U+200B><U+2066><U+FEFF>]");
	CHECK_LINE("\xc2\xad\xe3\x85\xa4\xcd\x8f", "[<U+00AD><U+3164><U+034F>]");
	CHECK_LINE("\xe2\x80\xa8\xe2\x80\xa9", "[<U+2028><U+2029>]");
	CHECK_LINE("\xee\x80\x80\xf4\x8f\xbf\xbd", "[<U+E000><U+10FFFD>]");
	CHECK_LINE("\xcd\xb8\xef\xbf\xbf", "[<U+0378><U+FFFF>]");
	CHECK_LINE("<U+202E>^[", "<U+202E>^[");
}
END_TEST

START_TEST(emoji_parts_side_by_side)
{
	CHECK_LINE("\xe2\x9a\xa0\xef\xb8\x8f!", "\xe2\x9a\xa0!");
	CHECK_LINE("\xe2\x9a\xa0\xef\xb8\x8f\xef\xb8\x8f", "\xe2\x9a\xa0[<U+FE0F>]");
	CHECK_LINE("x\xef\xb8\x8f", "x[<U+FE0F>]");
	CHECK_LINE("1\xef\xb8\x8f", "1[<U+FE0F>]");
	CHECK_LINE("1\xef\xb8\x8f\xe2\x83\xa3", "1\xe2\x83\xa3");
	CHECK_LINE("\xf0\x9f\x91\x8d\xf0\x9f\x8f\xbd.", "\xf0\x9f\x91\x8d.");
	CHECK_LINE("\xf0\x9f\x8f\xbd", "[<U+1F3FD>]");
	CHECK_LINE("\xf0\x9f\x91\x8d\xf0\x9f\x8f\xbd\xf0\x9f\x8f\xbd",
		   "\xf0\x9f\x91\x8d[<U+1F3FD>]");
	/* woman, skin tone, ZWJ, laptop */
	CHECK_LINE("\xf0\x9f\x91\xa9\xf0\x9f\x8f\xbd\xe2\x80\x8d\xf0\x9f\x92\xbb",
		   "\xf0\x9f\x91\xa9\xf0\x9f\x92\xbb");
	CHECK_LINE("\xf0\x9f\x91\xa9\xe2\x80\x8d", "\xf0\x9f\x91\xa9[<U+200D>]");
	CHECK_LINE("\xf0\x9f\x91\xa9\xe2\x80\x8dx", "\xf0\x9f\x91\xa9[<U+200D>]x");
	CHECK_LINE("a\xe2\x80\x8d\xf0\x9f\x91\xa9", "a[<U+200D>]\xf0\x9f\x91\xa9");
	CHECK_TEXT(TEXT_ID, "\xe2\x9a\xa0\xef\xb8\x8f", "[<U+26A0><U+FE0F>]");
}
END_TEST

START_TEST(tags_are_decoded_and_reported)
{
	struct cells it;
	struct cell c;

	CHECK_LINE("a\xf3\xa0\x81\xa8\xf3\xa0\x81\xa9z", "a[<TAG:\"hi\">]z");
	CHECK_TEXT(TEXT_ID, "\xf3\xa0\x81\xa8", "[<TAG:\"h\">]");
	CHECK_LINE("\xf3\xa0\x80\xa2\xf3\xa0\x80\xbe", "[<TAG:\"\\\">\">]");
	CHECK_LINE("\xf3\xa0\x81\x9c", "[<TAG:\"\\\\\">]");
	CHECK_LINE("\xf3\xa0\x80\x81\xf3\xa0\x81\xbf", "[<TAG:\"\\x01\\x7F\">]");
	CHECK_LINE("\xf3\xa0\x80\x82", "[<U+E0002>]");

	it = cells_start(RAW("a\xf3\xa0\x81\xa8"), TEXT_LINE, false);
	ck_assert_int_eq(cells_next(&it, &c), CELLS_CELL);
	ck_assert(!it.hidden);
	ck_assert_int_eq(cells_next(&it, &c), CELLS_CELL);
	ck_assert(it.hidden);
	ck_assert(cells_hidden(RAW("long text \xf3 \xf3\xa0\x81\xa8")));
	ck_assert(!cells_hidden(RAW("long text \xf3 \xf3\xa0\x80\x82")));
	ck_assert(!cells_hidden(raw_of(STR_NONE)));
}
END_TEST

START_TEST(combining_marks)
{
	struct cells it = cells_start(RAW("e\xcc\x81x"), TEXT_LINE, false);
	struct cell c;

	cells_next(&it, &c);
	ck_assert(c.base == 'e' && c.mark[0] == 0x301 && c.mark[1] == 0 && c.width == 1);
	CHECK_LINE("e\xcc\x81\xcc\xa7", "e\xcc\x81\xcc\xa7");
	CHECK_LINE("e\xcc\x81\xcc\xa7\xcc\x82\xcc\x82z", "e\xcc\x81\xcc\xa7[<+2>]z");
	CHECK_LINE("\xcc\x81", "[<U+0301>]");
	CHECK_LINE("\033\xcc\x81", "[^[<U+0301>]");
	CHECK_LINE("\t\xcc\x81", "        [<U+0301>]");
	CHECK_TEXT(TEXT_LINES, "a\n\xcc\x81", "a|[<U+0301>]");
	CHECK_TEXT(TEXT_ID, "e\xcc\x81", "e[<U+0301>]");
	/* Hangul: initial and vowel are one cell; a vowel elsewhere has nothing to stand on */
	CHECK_LINE("\xe1\x84\x80\xe1\x85\xa1", "\xe1\x84\x80\xe1\x85\xa1");
	CHECK_LINE("a\xe1\x85\xa1", "a[<U+1161>]");
}
END_TEST

START_TEST(ids_show_ascii_only)
{
	CHECK_TEXT(TEXT_ID, "dev-\xd0\xb0" "1 /x", "dev-[<U+0430>]1 /x");
	CHECK_LINE("dev-\xd0\xb0" "1", "dev-\xd0\xb0" "1");
	ck_assert_str_eq(spelled_as(STR("\xc3\xa9\xe2\x94\x80\n"), TEXT_LINES, true),
			 "[<U+00E9><U+2500>]|");
	ck_assert_str_eq(spelled_as(STR("\xe2\x94\x80\xe2\x94\x90\xc3\xa9"), TEXT_LABEL, true),
			 "-+[<U+00E9>]");
	CHECK_TEXT(TEXT_LABEL, "\xe2\x94\x80", "\xe2\x94\x80");
}
END_TEST

/* Controls, default-ignorable, private use, separators, what libc knows no width of. */
static bool must_be_escaped(uint32_t c)
{
	static const uint32_t hidden[][2] = {
		{ 0x00, 0x1f }, { 0x7f, 0x9f }, { 0xad, 0xad }, { 0x34f, 0x34f }, { 0x61c, 0x61c },
		{ 0x115f, 0x1160 }, { 0x17b4, 0x17b5 }, { 0x180b, 0x180f }, { 0x200b, 0x200f },
		{ 0x2028, 0x202e }, { 0x2060, 0x206f }, { 0x3164, 0x3164 }, { 0xe000, 0xf8ff },
		{ 0xfe00, 0xfe0f }, { 0xfeff, 0xfeff }, { 0xffa0, 0xffa0 }, { 0xfff0, 0xfffb },
		{ 0x1bca0, 0x1bca3 }, { 0x1d173, 0x1d17a }, { 0xe0000, 0xe0fff },
		{ 0xf0000, LAST_CODE_POINT },
	};

	for (size_t i = 0; i < sizeof(hidden) / sizeof(hidden[0]); i++) {
		if (c >= hidden[i][0] && c <= hidden[i][1])
			return true;
	}
	return wcwidth((wchar_t)c) < 0;
}

/* Between letters a code point is a cell, a mark on the letter before it, or escaped. */
START_TEST(every_code_point_between_letters)
{
	char text[8] = "a";

	for (uint32_t point = 0x80; point <= LAST_CODE_POINT; point++) {
		size_t n = 1 + utf8_encode(point, text + 1);
		struct cells it;
		struct cell c;

		text[n++] = 'b';
		it = cells_start(raw_of(str_make(text, n)), TEXT_LINE, false);
		MUST(cells_next(&it, &c) == CELLS_CELL);
		check_cell(&c, false);
		MUST(c.base == 'a' && c.mark[1] == 0);
		if (c.mark[0]) {
			MUST(c.mark[0] == point && !must_be_escaped(point));
			MUST(cells_next(&it, &c) == CELLS_CELL && c.base == 'b');
			continue;
		}
		MUST(cells_next(&it, &c) == CELLS_CELL);
		check_cell(&c, false);
		if (c.class == CELL_ESCAPED)
			MUST(c.base == '<');
		else
			MUST(c.base == point && !must_be_escaped(point));
	}
}
END_TEST

/* Each code point alone, in every mode; its cells tell which one it was. */
START_TEST(every_code_point)
{
	char text[8], expected[32];
	struct cells it;
	struct cell c;

	for (uint32_t point = 0; point <= LAST_CODE_POINT; point++) {
		size_t n = utf8_encode(point, text);

		for (int mode = TEXT_LINE; mode <= TEXT_LABEL; mode++) {
			uint32_t cells = 0, first = 0;
			bool escaped = false;

			it = cells_start(raw_of(str_make(text, n)), (enum text_mode)mode, false);
			while (cells_next(&it, &c) == CELLS_CELL) {
				check_cell(&c, mode == TEXT_ID);
				if (cells++ == 0) {
					first = c.base;
					escaped = c.class == CELL_ESCAPED;
				}
				MUST(c.class == (escaped ? CELL_ESCAPED : CELL_NORMAL));
			}
			if (point == '\n' && mode == TEXT_LINES)
				continue;
			if (point == '\t' && mode != TEXT_ID) {
				MUST(cells == 8 && !escaped);
				continue;
			}
			if (cells == 0)
				ck_abort_msg("U+%04X vanished", (unsigned int)point);
			if (!escaped &&
			    (must_be_escaped(point) || wcwidth((wchar_t)point) < 1 ||
			     (mode == TEXT_ID && point >= 0x80)))
				ck_abort_msg("U+%04X was shown", (unsigned int)point);
			if (!escaped) {
				MUST(cells == 1 && first == point);
			} else if (point >= 0x80 && !it.hidden &&
				   (point < 0xd800 || point > 0xdfff)) {
				snprintf(expected, sizeof(expected), "[<U+%04X>]", point);
				MUST(is_spelled(str_make(text, n), (enum text_mode)mode, expected));
			}
		}
	}
}
END_TEST

/* The door opens on assigned, visible characters: it must not escape everything. */
START_TEST(ordinary_text_is_left_alone)
{
	CHECK_LINE("\xe2\x80\x9cna\xc3\xafve\xe2\x80\x9d", "\xe2\x80\x9cna\xc3\xafve\xe2\x80\x9d");
	CHECK_LINE("\xe2\x86\x92 \xe6\xbc\xa2", "\xe2\x86\x92 \xe6\xbc\xa2");
	for (uint32_t point = 0x20; point < 0x7f; point++) {
		char text[2] = { (char)point, 0 };

		ck_assert_str_eq(spelled_as(str_make(text, 1), TEXT_ID, false), text);
	}
	for (uint32_t point = 0x4e00; point < 0x9fa5; point++) {
		char text[5] = "";

		utf8_encode(point, text);
		MUST(strcmp(spelled_as(str_of(text), TEXT_LINE, false), text) == 0);
	}
}
END_TEST

static int by_notes(const void *a, const void *b)
{
	return strcmp(((const char *const *)a)[0], ((const char *const *)b)[0]);
}

/* All texts of up to three pieces from an alphabet without the documented exceptions: no two may
 * give the same cells and classes. */
START_TEST(different_text_different_cells)
{
	static const char *const piece[] = {
		"<", ">", "F", "^", "[", "\"", "\\", "\033", "\x1e", "\xff", "\x7f", "\xe2\x80\xae",
		"\xcc\x81", "\xc2\x9b", "\xf3\xa0\x80\xa2", "\xf3\xa0\x80\xbe", "\xf3\xa0\x81\x9c",
		"\xf3\xa0\x80\x81", "\xf3\xa0\x81\xb8", "\xf3\xa0\x80\xb0", "\xf3\xa0\x80\xb1",
		"\xf3\xa0\x80\xbc", "\xe6\xbc\xa2", " ",
	};
	enum { PIECES = sizeof(piece) / sizeof(piece[0]), TEXTS = PIECES * PIECES * PIECES };
	char **seen = xcalloc(TEXTS, sizeof(*seen));

	for (int mode = TEXT_LINE; mode <= TEXT_ID; mode++) {
		for (int i = 0; i < TEXTS; i++) {
			struct buf text = { 0 };

			buf_adds(&text, piece[i % PIECES]);
			buf_adds(&text, piece[i / PIECES % PIECES]);
			buf_adds(&text, piece[i / PIECES / PIECES]);
			seen[i] = xstrdup(spelled_as(buf_str(&text), (enum text_mode)mode, false));
			buf_release(&text);
		}
		qsort(seen, TEXTS, sizeof(*seen), by_notes);
		for (int i = 0; i + 1 < TEXTS; i++)
			MUST(strcmp(seen[i], seen[i + 1]) != 0);
		for (int i = 0; i < TEXTS; i++)
			free(seen[i]);
	}
	free(seen);
}
END_TEST

START_TEST(a_locale_that_is_not_utf8)
{
	ck_assert_ptr_nonnull(setlocale(LC_ALL, "C"));
	CHECK_LINE("a\xc3\xa9\n", "a[<U+00E9>^J]");
	CHECK_TEXT(TEXT_LABEL, "\xe2\x94\x80\xe2\x80\xa6", "-~");
	for (uint32_t point = 0; point <= LAST_CODE_POINT; point += 7) {
		char text[4];
		struct cells it = cells_start(raw_of(str_make(text, utf8_encode(point, text))),
					      TEXT_LINES, false);
		struct cell c;

		while (cells_next(&it, &c) == CELLS_CELL)
			check_cell(&c, true);
	}
	ck_assert_ptr_nonnull(setlocale(LC_ALL, "C.UTF-8"));
}
END_TEST

static const char *clipped(struct str text, enum text_mode mode, bool ascii, uint32_t cols)
{
	static struct buf out;
	struct cell row[256];
	struct cells it = cells_start(raw_of(text), mode, ascii);

	buf_clear(&out);
	notes(&out, row, cells_clip(&it, cols, row));
	return out.p;
}

START_TEST(clipping)
{
	ck_assert_str_eq(clipped(STR("abc"), TEXT_LINE, false, 3), "abc");
	ck_assert_str_eq(clipped(STR("abcd"), TEXT_LINE, false, 3), "ab{\xe2\x80\xa6}");
	ck_assert_str_eq(clipped(STR("abcd"), TEXT_LINE, true, 3), "ab{~}");
	ck_assert_str_eq(clipped(STR("abcd"), TEXT_ID, false, 3), "ab{\xe2\x80\xa6}");
	ck_assert_str_eq(clipped(STR("abcd"), TEXT_ID, true, 3), "ab{~}");
	ck_assert_str_eq(clipped(STR("abcd"), TEXT_LINE, false, 1), "{\xe2\x80\xa6}");
	ck_assert_str_eq(clipped(STR("abcd"), TEXT_LINE, false, 0), "");
	ck_assert_str_eq(clipped(STR("ab\xe6\xbc\xa2"), TEXT_LINE, false, 4), "ab\xe6\xbc\xa2");
	ck_assert_str_eq(clipped(STR("ab\xe6\xbc\xa2"), TEXT_LINE, false, 3), "ab{\xe2\x80\xa6}");
	ck_assert_str_eq(clipped(STR("ab\xe6\xbc\xa2x"), TEXT_LINE, false, 4), "ab{\xe2\x80\xa6}");
	ck_assert_str_eq(clipped(STR("one\ntwo"), TEXT_LINES, false, 9), "one{\xe2\x80\xa6}");
	ck_assert_str_eq(clipped(STR("one\n"), TEXT_LINES, false, 9), "one");
	ck_assert_uint_eq(cells_width(RAW("ab\xe6\xbc\xa2\033"), TEXT_LINE, false, 100), 6);
	ck_assert_uint_eq(cells_width(RAW("a\nbcd\ne"), TEXT_LINES, false, 100), 3);
	ck_assert_uint_eq(cells_width(RAW("abcdefgh"), TEXT_LINE, false, 3), 4);
}
END_TEST

static const char *wrapped(struct str text, uint32_t cols)
{
	static struct buf out;
	struct wrap w = wrap_start(raw_of(text), TEXT_LINES, false, cols);
	struct cell row[256];
	uint32_t n;

	buf_clear(&out);
	buf_addc(&out, '/');
	while (wrap_next(&w, row, &n)) {
		notes(&out, row, n);
		buf_addc(&out, '/');
	}
	ck_assert(!wrap_next(&w, row, &n));
	return out.p;
}

START_TEST(wrapping)
{
	ck_assert_str_eq(wrapped(STR(""), 5), "/");
	ck_assert_str_eq(wrapped(STR("\n"), 5), "//");
	ck_assert_str_eq(wrapped(STR("a\n\nb\n"), 5), "/a//b/");
	ck_assert_str_eq(wrapped(STR("one two three"), 7), "/one two/three/");
	ck_assert_str_eq(wrapped(STR("one two three"), 6), "/one/two/three/");
	ck_assert_str_eq(wrapped(STR("one   two"), 4), "/one /two/");
	ck_assert_str_eq(wrapped(STR("abc   \ndef"), 3), "/abc/def/");
	ck_assert_str_eq(wrapped(STR("abc   "), 3), "/abc/");
	ck_assert_str_eq(wrapped(STR("abcdefgh ij"), 3), "/abc/def/gh/ij/");
	ck_assert_str_eq(wrapped(STR("x abcdefgh"), 4), "/x/abcd/efgh/");
	ck_assert_str_eq(wrapped(STR("  code more"), 6), "/  code/more/");
	ck_assert_str_eq(wrapped(STR("   longword"), 5), "/   lo/ngwor/d/");
	ck_assert_str_eq(wrapped(STR("\xe6\xbc\xa2\xe5\xad\x97" "ab"), 3),
			 "/\xe6\xbc\xa2/\xe5\xad\x97/ab/");
	ck_assert_str_eq(wrapped(STR("\xe6\xbc\xa2" "a"), 1), "/{>}/a/");
	ck_assert_str_eq(wrapped(STR("a\033b"), 2), "/a[^]/[[]b/");
}
END_TEST

/* Nothing but spaces may be lost by wrapping, whatever the width; no row is too wide. */
START_TEST(wrapping_and_clipping_at_every_width)
{
	struct cell row[256];
	struct buf text = { 0 }, all = { 0 }, rows = { 0 };

	for (int round = 0; round < 40; round++) {
		struct cells it;
		struct cell c;
		enum cells_step step;
		char bytes[12];

		buf_clear(&text);
		buf_clear(&all);
		buf_addc(&all, '.');
		random_text(&text, 60);
		it = cells_start(raw_of(buf_str(&text)), TEXT_LINES, false);
		while ((step = cells_next(&it, &c)) != CELLS_END) {
			if (step == CELLS_CELL && (c.base != ' ' || c.mark[0]))
				buf_add(&all, bytes, cell_bytes(&c, bytes));
		}
		for (uint32_t cols = 1; cols <= 200; cols++) {
			struct wrap w = wrap_start(raw_of(buf_str(&text)), TEXT_LINES, false, cols);
			uint32_t n, used;

			buf_clear(&rows);
			buf_addc(&rows, '.');
			while (wrap_next(&w, row, &n)) {
				used = 0;
				for (uint32_t i = 0; i < n; i++) {
					check_cell(&row[i], false);
					used += row[i].width;
					if (row[i].base != ' ' || row[i].mark[0])
						buf_add(&rows, bytes, cell_bytes(&row[i], bytes));
				}
				MUST(used <= cols);
			}
			if (cols > 1)
				MUST(str_eq(buf_str(&rows), buf_str(&all)));

			it = cells_start(raw_of(buf_str(&text)), TEXT_LINE, false);
			n = cells_clip(&it, cols, row);
			used = 0;
			for (uint32_t i = 0; i < n; i++)
				used += row[i].width;
			MUST(used <= cols);
		}
	}
	buf_release(&text);
	buf_release(&all);
	buf_release(&rows);
}
END_TEST

START_TEST(random_bytes)
{
	for (int round = 0; round < 20000; round++) {
		struct buf text = { 0 };
		size_t n = random_below(64);

		while (text.n < n)
			buf_addc(&text, (char)random_below(256));
		/* an exact heap block, so that reading beyond it is seen */
		if (text.n) {
			char *copy = xmalloc(text.n);

			memcpy(copy, text.p, text.n);
			for (int mode = TEXT_LINE; mode <= TEXT_LABEL; mode++) {
				spelled_as(str_make(copy, text.n), (enum text_mode)mode, false);
				spelled_as(str_make(copy, text.n), (enum text_mode)mode, true);
			}
			cells_hidden(raw_of(str_make(copy, text.n)));
			free(copy);
		}
		buf_release(&text);
	}
}
END_TEST

/* Megabytes of the worst there is must take no longer than megabytes of letters. */
START_TEST(time_is_linear)
{
	static const char *const piece[] = { "\xcc\x81", "\xf3\xa0\x81\xa1", " ", "\xef\xb8\x8f" };

	for (size_t k = 0; k < sizeof(piece) / sizeof(piece[0]); k++) {
		struct buf text = { 0 };
		struct cell row[80];
		struct wrap w;
		uint32_t n;

		buf_adds(&text, "ab e");
		for (int i = 0; i < 1000000; i++)
			buf_adds(&text, piece[k]);
		buf_adds(&text, "end");
		w = wrap_start(raw_of(buf_str(&text)), TEXT_LINES, false, 3);
		while (wrap_next(&w, row, &n))
			MUST(n <= 3);
		buf_release(&text);
	}
}
END_TEST

/* Every right half follows a wide cell, every wide cell is followed by its half. */
static void check_grid(const struct grid *g)
{
	for (int row = 0; row < g->rows; row++) {
		for (int col = 0; col < g->cols; col++) {
			const struct spot *s = grid_at(g, row, col);

			if (s->cell.width == 0)
				MUST(col > 0 && grid_at(g, row, col - 1)->cell.width == 2);
			else
				check_cell(&s->cell, g->ascii);
			if (s->cell.width == 2)
				MUST(col + 1 < g->cols &&
					  grid_at(g, row, col + 1)->cell.width == 0);
			MUST((s->cell.class == CELL_ESCAPED) == (s->role == ROLE_ESCAPED));
		}
	}
}

static const char *saved(const struct grid *g)
{
	static struct buf out;

	buf_clear(&out);
	grid_save(g, &out);
	return out.p;
}

START_TEST(drawing_and_saving)
{
	struct grid *g = grid_new(3, 8, false);

	ck_assert_int_eq(grid_put(g, grid_rect(g), ROLE_TITLE, "\xe2\x94\x80" "ab"), 3);
	ck_assert_int_eq(grid_text(g, (struct rect){ 1, 2, 1, 6 }, ROLE_ID, RAW("x\xd0\xb0"),
				   TEXT_ID), 6);
	ck_assert_int_eq(grid_text(g, (struct rect){ 2, 0, 1, 8 }, ROLE_OK, RAW("\xe6\xbc\xa2!"),
				   TEXT_LINE), 3);
	ck_assert_int_eq(grid_printf(g, (struct rect){ 2, 4, 1, 4 }, ROLE_DUE, "%d", 42), 2);
	check_grid(g);
	ck_assert_str_eq(saved(g), "\xe2\x94\x80" "ab\n  x<U+0\xe2\x80\xa6\n\xe6\xbc\xa2! 42\n---\n"
				   "TTT.....\n..i####i\nooo.!!..\n");
	grid_role(g, (struct rect){ 1, 0, 1, 8 }, ROLE_SELECTED);
	check_grid(g);
	ck_assert_str_eq(strstr(saved(g), "---"), "---\nTTT.....\nsss####s\nooo.!!..\n");
	grid_resize(g, 1, 2);
	ck_assert_str_eq(saved(g), "\n---\n..\n");
	grid_resize(g, -5, 1 << 30);
	ck_assert(g->rows == 1 && g->cols == GRID_MAX_COLS);
	grid_resize(g, 1 << 30, 100);
	ck_assert_int_le(g->rows, GRID_MAX_SPOTS / 100);
	grid_free(g);
	grid_free(NULL);
}
END_TEST

START_TEST(ascii_grid)
{
	struct grid *g = grid_new(1, 9, true);

	grid_fill(g, grid_rect(g), ROLE_BORDER, "\xe2\x94\x80");
	grid_put(g, rect_in(grid_rect(g), 0, 2, 1, 3), ROLE_NORMAL,
		 "\xe2\x94\x82\xe2\x96\x88\xe2\x94\x82");
	check_grid(g);
	ck_assert_str_eq(saved(g), "--|#|----\n---\nbb...bbbb\n");
	grid_free(g);
}
END_TEST

START_TEST(wide_cells_leave_no_orphans)
{
	struct grid *g = grid_new(1, 6, false);
	struct rect all = grid_rect(g);

	grid_put(g, all, ROLE_NORMAL, "\xe6\xbc\xa2\xe5\xad\x97\xe6\xbc\xa2");
	grid_put(g, rect_in(all, 0, 1, 1, 1), ROLE_NORMAL, "x");
	check_grid(g);
	ck_assert_str_eq(saved(g), " x\xe5\xad\x97\xe6\xbc\xa2\n---\n......\n");
	grid_put(g, rect_in(all, 0, 3, 1, 2), ROLE_NORMAL, "\xe5\xad\x97");
	check_grid(g);
	ck_assert_str_eq(saved(g), " x \xe5\xad\x97\n---\n......\n");
	grid_put(g, rect_in(all, 0, 3, 1, 1), ROLE_NORMAL, "y");
	check_grid(g);
	grid_fill(g, rect_in(all, 0, 0, 1, 3), ROLE_NORMAL, "\xe6\xbc\xa2");
	check_grid(g);
	ck_assert_str_eq(saved(g), "\xe6\xbc\xa2>y\n---\n......\n");
	grid_free(g);
}
END_TEST

START_TEST(prose_rows)
{
	struct grid *g = grid_new(3, 6, false);
	struct raw text = RAW("one two three four");
	struct wrap w = wrap_start(text, TEXT_LINES, false, 5);
	struct rect where = { 0, 1, 2, 5 };

	ck_assert_int_eq(grid_prose_rows(g, 5, text, TEXT_LINES, 100), 4);
	ck_assert_int_eq(grid_prose_rows(g, 5, text, TEXT_LINES, 2), 2);
	ck_assert_int_eq(grid_prose(g, where, ROLE_NORMAL, text, TEXT_LINES, 1), 2);
	ck_assert_str_eq(saved(g), " two\n three\n\n---\n......\n......\n......\n");
	ck_assert_int_eq(grid_prose(g, where, ROLE_NORMAL, text, TEXT_LINES, 9), 0);
	ck_assert_int_eq(grid_wrap(g, where, ROLE_NORMAL, &w), 2);
	grid_clear(g);
	ck_assert_int_eq(grid_wrap(g, where, ROLE_NORMAL, &w), 2);
	ck_assert_str_eq(saved(g), " three\n four\n\n---\n......\n......\n......\n");
	grid_free(g);
}
END_TEST

/* A canary all round a random rect: random text in it must not touch one spot outside. */
START_TEST(nothing_outside_the_rect)
{
	struct grid *g = grid_new(7, 20, false);
	struct buf text = { 0 };

	for (int round = 0; round < 20000; round++) {
		struct rect r = { (int)random_below(11) - 2, (int)random_below(26) - 3,
				  (int)random_below(10) - 1, (int)random_below(26) - 1 };
		struct raw raw;

		g->ascii = random_below(4) == 0;
		grid_fill(g, grid_rect(g), ROLE_BORDER, "@");
		buf_clear(&text);
		random_text(&text, 1 + random_below(20));
		raw = raw_of(buf_str(&text));
		switch (random_below(5)) {
		case 0:
			grid_fill(g, r, ROLE_WARN, "\xe6\xbc\xa2");
			break;
		case 1:
			grid_prose(g, r, ROLE_WARN, raw, TEXT_LINES, (int)random_below(3));
			break;
		case 2:
			grid_role(g, r, ROLE_WARN);
			break;
		case 3:
			grid_put(g, r, ROLE_WARN, "\xe6\xbc\xa2\xe6\xbc\xa2 label");
			break;
		case 4:
			grid_text(g, r, ROLE_WARN, raw, (enum text_mode)random_below(4));
			break;
		}
		check_grid(g);
		for (int row = 0; row < g->rows; row++) {
			for (int col = 0; col < g->cols; col++) {
				const struct spot *s = grid_at(g, row, col);

				if (row >= r.row && row < r.row + r.rows && col >= r.col &&
				    col < r.col + r.cols)
					continue;
				MUST(s->cell.base == '@' && s->role == ROLE_BORDER);
			}
		}
	}
	buf_release(&text);
	grid_free(g);
}
END_TEST

/* Drawing over drawings, without clearing: the invariant of wide cells must survive. */
START_TEST(random_overdrawing)
{
	struct grid *g = grid_new(5, 12, false);
	struct buf text = { 0 };

	for (int round = 0; round < 20000; round++) {
		struct rect r = { (int)random_below(5), (int)random_below(12),
				  1 + (int)random_below(3), 1 + (int)random_below(12) };

		buf_clear(&text);
		random_text(&text, 1 + random_below(6));
		grid_text(g, r, ROLE_INFO, raw_of(buf_str(&text)), TEXT_LINE);
		check_grid(g);
	}
	buf_release(&text);
	grid_free(g);
}
END_TEST

START_TEST(rects)
{
	struct rect outer = { 2, 3, 10, 20 }, r;

	r = rect_in(outer, 1, 1, 4, 5);
	ck_assert(r.row == 3 && r.col == 4 && r.rows == 4 && r.cols == 5);
	r = rect_in(outer, 8, 18, 99, 99);
	ck_assert(r.row == 10 && r.col == 21 && r.rows == 2 && r.cols == 2);
	r = rect_in(outer, -1, -1, 3, 3);
	ck_assert(r.row == 2 && r.col == 3 && r.rows == 2 && r.cols == 2);
	r = rect_in(outer, 1 << 30, 0, 1 << 30, 1 << 30);
	ck_assert(r.rows == 0 && r.cols == 20);
	r = rect_in(outer, 2147483647, -2147483647 - 1, 2147483647, 2147483647);
	ck_assert(r.rows == 0 && r.cols == 0);
}
END_TEST

START_TEST(escaped_role_is_not_for_views)
{
	struct grid *g = grid_new(1, 5, false);

	grid_put(g, grid_rect(g), ROLE_ESCAPED, "x");
	grid_free(g);
}
END_TEST

START_TEST(roles)
{
	for (int i = 0; i < ROLE_COUNT; i++) {
		ck_assert(role_letter((enum role)i) > ' ' && role_letter((enum role)i) < 0x7f);
		ck_assert_int_eq(role_find(str_of(role_name((enum role)i))), i);
		for (int k = 0; k < i; k++)
			ck_assert_int_ne(role_letter((enum role)i), role_letter((enum role)k));
	}
	ck_assert_int_eq(role_find(STR("no-such-role")), ROLE_COUNT);
}
END_TEST

START_TEST(themes)
{
	struct theme copy = theme_dark;

	ck_assert(theme_is_sound(&theme_dark));
	copy.look[ROLE_OK].bits |= LOOK_REVERSE;
	ck_assert(!theme_is_sound(&copy));
	copy = theme_dark;
	copy.look[ROLE_ESCAPED].bits = 0;
	ck_assert(!theme_is_sound(&copy));
	copy = theme_dark;
	copy.look[ROLE_OK].front = 17;
	ck_assert(!theme_is_sound(&copy));
}
END_TEST

static const char *painted(const struct grid *g, const struct theme *theme, bool ascii)
{
	static struct buf out;

	buf_clear(&out);
	paint_grid(g, theme, ascii, &out);
	return out.p;
}

START_TEST(painting)
{
	struct grid *g = grid_new(2, 9, false);

	grid_put(g, grid_rect(g), ROLE_OK, "\xe6\xbc\xa2" "b");
	grid_text(g, (struct rect){ 0, 4, 1, 5 }, ROLE_NORMAL, RAW("c\033"), TEXT_LINE);
	ck_assert_str_eq(painted(g, NULL, false), "\xe6\xbc\xa2" "b c^[\n\n");
	ck_assert_str_eq(painted(g, NULL, true), "??b c^[\n\n");
	ck_assert_str_eq(painted(g, &theme_dark, false),
			 "\033[0;32m\xe6\xbc\xa2" "b\033[0m c\033[0;7m^[\033[0m\n\n");
	/* blanks that show a background stay, others go */
	grid_fill(g, (struct rect){ 1, 0, 1, 3 }, ROLE_TITLE, " ");
	grid_fill(g, (struct rect){ 0, 0, 1, 9 }, ROLE_OK, " ");
	ck_assert_str_eq(painted(g, &theme_dark, false), "\n\033[0;1;97;44m   \033[0m\n");
	ck_assert_str_eq(painted(g, NULL, false), "\n\n");
	grid_free(g);
}
END_TEST

/* Reads painted bytes as a strict terminal would and refuses all but SGR and printables. */
static void check_painted(struct str s, bool colour, bool ascii)
{
	for (size_t i = 0; i < s.n;) {
		uint32_t c;
		size_t n = utf8_decode(str_from(s, i), &c);

		MUST(n > 0);
		i += n;
		if (c == '\033') {
			MUST(colour && i < s.n && s.p[i] == '[');
			for (i++; i < s.n && s.p[i] != 'm'; i++)
				MUST((s.p[i] >= '0' && s.p[i] <= '9') || s.p[i] == ';');
			MUST(i++ < s.n);
			continue;
		}
		MUST(c == '\n' || (c >= 0x20 && c < 0x7f) || (c >= 0xa0 && !ascii));
		MUST(c != 0x202e && c != 0x200d && c != 0xfe0f && (c < 0xe0000 || c > 0xe0fff));
	}
}

START_TEST(painted_bytes_are_harmless)
{
	struct grid *g = grid_new(6, 40, false);
	struct buf text = { 0 }, out = { 0 };

	for (int round = 0; round < 3000; round++) {
		bool colour = round & 1, ascii = round & 2;

		grid_clear(g);
		buf_clear(&text);
		buf_clear(&out);
		random_text(&text, 40);
		grid_prose(g, grid_rect(g), (enum role)random_below(ROLE_ESCAPED),
			   raw_of(buf_str(&text)), TEXT_LINES, 0);
		paint_grid(g, colour ? &theme_dark : NULL, ascii, &out);
		check_painted(buf_str(&out), colour, ascii);
	}
	buf_release(&text);
	buf_release(&out);
	grid_free(g);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("ui");
	TCase *cells = tcase_create("cells"), *grid = tcase_create("grid");
	TCase *paint = tcase_create("paint");
	SRunner *runner;
	int failed;

	if (!setlocale(LC_ALL, "C.UTF-8")) {
		fputs("test_draw: no locale C.UTF-8 here; skipped\n", stderr);
		return 77;
	}
	tcase_set_timeout(cells, 120);
	tcase_add_test(cells, invalid_bytes_one_at_a_time);
	tcase_add_test(cells, control_characters);
	tcase_add_test(cells, what_hides_or_reorders);
	tcase_add_test(cells, emoji_parts_side_by_side);
	tcase_add_test(cells, tags_are_decoded_and_reported);
	tcase_add_test(cells, combining_marks);
	tcase_add_test(cells, ids_show_ascii_only);
	tcase_add_test(cells, every_code_point);
	tcase_add_test(cells, every_code_point_between_letters);
	tcase_add_test(cells, ordinary_text_is_left_alone);
	tcase_add_test(cells, different_text_different_cells);
	tcase_add_test(cells, a_locale_that_is_not_utf8);
	tcase_add_test(cells, clipping);
	tcase_add_test(cells, wrapping);
	tcase_add_test(cells, wrapping_and_clipping_at_every_width);
	tcase_add_test(cells, random_bytes);
	tcase_add_test(cells, time_is_linear);
	suite_add_tcase(suite, cells);
	tcase_set_timeout(grid, 120);
	tcase_add_test(grid, drawing_and_saving);
	tcase_add_test(grid, ascii_grid);
	tcase_add_test(grid, wide_cells_leave_no_orphans);
	tcase_add_test(grid, prose_rows);
	tcase_add_test(grid, nothing_outside_the_rect);
	tcase_add_test(grid, random_overdrawing);
	tcase_add_test(grid, rects);
	tcase_add_test(grid, roles);
	tcase_add_test_raise_signal(grid, escaped_role_is_not_for_views, SIGABRT);
	suite_add_tcase(suite, grid);
	tcase_set_timeout(paint, 120);
	tcase_add_test(paint, themes);
	tcase_add_test(paint, painting);
	tcase_add_test(paint, painted_bytes_are_harmless);
	suite_add_tcase(suite, paint);

	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? 1 : 0;
}
