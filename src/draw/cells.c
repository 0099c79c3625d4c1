/* A pull decoder: each call of cells_next consumes one character with its combining marks and emoji
 * modifiers. Escapes are spelled into a small buffer and emitted a cell at a time, so a caller may
 * stop anywhere. A combining mark attaches only to the base right before it in the same text; on
 * its own it is escaped, so no text can draw on its neighbour.
 *
 * iswprint() and wcwidth() say what is assigned and how wide it is, but are no security filter:
 * libc considers bidi overrides, zero-width and tag characters printable; never_shown[] lists them.
 */
#ifndef _XOPEN_SOURCE
#define _XOPEN_SOURCE 700 /* wcwidth */
#endif
#include "draw/cells.h"

#include "base/mem.h"
#include "base/utf8.h"

#include <langinfo.h>
#include <stdarg.h>
#include <stdio.h>
#include <wchar.h>
#include <wctype.h>

_Static_assert(sizeof(wchar_t) >= 4, "wcwidth must take any code point");

#define TAB_COLS 8
#define ZWJ 0x200d
#define KEYCAP 0x20e3

static bool is_never_shown(uint32_t c);
static bool is_pictograph(uint32_t c);
static char stand_in(uint32_t c);

static bool between(uint32_t c, uint32_t low, uint32_t high)
{
	return c >= low && c <= high;
}

static bool is_tag(uint32_t c)
{
	return c == 0xe0001 || between(c, 0xe0020, 0xe007f);
}

static bool is_skin_tone(uint32_t c)
{
	return between(c, 0x1f3fb, 0x1f3ff);
}

static bool is_keycap_base(uint32_t c)
{
	return between(c, '0', '9') || c == '#' || c == '*';
}

/* Columns of a non-control character: 1, 2, 0 for a combining mark, -1 if it must be escaped. */
static int shown_cols(uint32_t c)
{
	int cols;

	if (c < 0x80)
		return 1;
	if (c < 0xa0 || is_never_shown(c) || is_skin_tone(c) || !iswprint((wint_t)c))
		return -1;
	cols = wcwidth((wchar_t)c);
	return cols > 2 ? -1 : cols;
}

/* Vowels and finals of Hangul have no width of their own after an initial, but do after others. */
static bool is_mark_of(uint32_t c, uint32_t base)
{
	if (between(c, 0x1160, 0x11ff) || between(c, 0xd7b0, 0xd7ff)) {
		if (!between(base, 0x1100, 0x115e) && !between(base, 0xa960, 0xa97c) &&
		    !between(base, 0xac00, 0xd7a3))
			return false;
	}
	return shown_cols(c) == 0;
}

static bool locale_is_utf8(void)
{
	return strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
}

struct cells cells_start(struct raw text, enum text_mode mode, bool ascii)
{
	return (struct cells){
		.rest = text.untrusted,
		.mode = mode,
		.ascii = ascii || !locale_is_utf8(),
	};
}

static bool only_ascii(const struct cells *it)
{
	return it->ascii || it->mode == TEXT_ID;
}

static void skip(struct cells *it, size_t n)
{
	it->rest.p += n;
	it->rest.n -= n;
}

/* The character `offset` bytes ahead; 0 if there is none or it is not valid. */
static uint32_t peek(const struct cells *it, size_t offset)
{
	uint32_t c;

	if (offset >= it->rest.n || !utf8_decode(str_from(it->rest, offset), &c))
		return 0;
	return c;
}

__attribute__((format(printf, 2, 3)))
static void spell(struct cells *it, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	it->escape_n = (uint8_t)vsnprintf(it->escape, sizeof(it->escape), format, args);
	it->escape_at = 0;
	va_end(args);
}

/* Quote and backslash are escaped, so that the run cannot fake its own end. */
static void spell_tag(struct cells *it)
{
	uint32_t c;
	size_t n = it->rest.n ? utf8_decode(it->rest, &c) : 0;

	if (n == 0 || !is_tag(c)) {
		it->in_tags = false;
		spell(it, "\">");
		return;
	}
	skip(it, n);
	c -= 0xe0000;
	if (c == 0x01 || c == 0x7f)
		spell(it, "\\x%02X", (unsigned int)c);
	else if (c == '"' || c == '\\')
		spell(it, "\\%c", (char)c);
	else
		spell(it, "%c", (char)c);
}

/* Consumes what modifies the base just stored in out: combining marks, and emoji modifiers, each at
 * most once, so that a chain of them cannot smuggle a hidden message. */
static void take_modifiers(struct cells *it, struct cell *out)
{
	bool pictograph = is_pictograph(out->base);
	bool keycap = is_keycap_base(out->base);
	bool variant = false, tone = false;
	size_t marks = 0, n;
	uint32_t c;

	while (it->rest.n && (unsigned char)it->rest.p[0] >= 0x80) {
		n = utf8_decode(it->rest, &c);
		if (n == 0)
			break;
		if ((c == 0xfe0e || c == 0xfe0f) && !variant && marks == 0 &&
		    (pictograph || (keycap && peek(it, n) == KEYCAP))) {
			variant = true;
		} else if (is_skin_tone(c) && pictograph && !tone && marks == 0) {
			tone = true;
		} else if (c == ZWJ && pictograph && marks == 0 && is_pictograph(peek(it, n)) &&
			   shown_cols(peek(it, n)) > 0) {
			skip(it, n);
			return;
		} else if (is_mark_of(c, out->base)) {
			if (marks < 2)
				out->mark[marks] = c;
			marks++;
		} else {
			break;
		}
		skip(it, n);
	}
	if (marks > 2)
		spell(it, "<+%zu>", marks - 2);
}

static enum cells_step emit(struct cells *it, struct cell *out, struct cell cell)
{
	*out = cell;
	it->column += cell.width;
	return CELLS_CELL;
}

/* Whether the next cell is a printable ASCII character that nothing can modify: nearly always. */
static bool is_plain_next(const struct cells *it)
{
	return it->escape_at == it->escape_n && !it->pad && !it->in_tags && it->rest.n &&
	       it->rest.p[0] >= ' ' && it->rest.p[0] < 0x7f &&
	       (it->rest.n == 1 || (unsigned char)it->rest.p[1] < 0x80);
}

enum cells_step cells_next(struct cells *it, struct cell *out)
{
	uint32_t c;
	size_t n;
	int cols;
	char plain;

	if (is_plain_next(it)) {
		plain = it->rest.p[0];
		skip(it, 1);
		return emit(it, out, cell_ascii(plain, CELL_NORMAL));
	}
	for (;;) {
		if (it->escape_at < it->escape_n)
			return emit(it, out, cell_ascii(it->escape[it->escape_at++], CELL_ESCAPED));
		if (it->pad) {
			it->pad--;
			return emit(it, out, cell_ascii(' ', CELL_NORMAL));
		}
		if (it->in_tags) {
			spell_tag(it);
			continue;
		}
		if (it->rest.n == 0)
			return CELLS_END;

		n = utf8_decode(it->rest, &c);
		if (n == 0) {
			spell(it, "<%02X>", (unsigned char)it->rest.p[0]);
			skip(it, 1);
			continue;
		}
		if (is_tag(c)) {
			it->hidden = it->in_tags = true;
			spell(it, "<TAG:\"");
			continue;
		}
		skip(it, n);
		if (c < 0x20 || c == 0x7f) {
			if (c == '\n' && it->mode == TEXT_LINES) {
				it->column = 0;
				return CELLS_BREAK;
			}
			if (c == '\t' && it->mode != TEXT_ID)
				it->pad = (uint8_t)(TAB_COLS - it->column % TAB_COLS);
			else if (c != '\r' || it->mode == TEXT_ID || peek(it, 0) != '\n')
				spell(it, "^%c", (char)(c ^ 0x40));
			continue;
		}
		if (c >= 0x80 && only_ascii(it)) {
			plain = it->mode == TEXT_LABEL ? stand_in(c) : 0;
			if (plain)
				return emit(it, out, cell_ascii(plain, CELL_NORMAL));
			spell(it, "<U+%04X>", (unsigned int)c);
			continue;
		}
		cols = shown_cols(c);
		if (cols <= 0) {
			spell(it, "<U+%04X>", (unsigned int)c);
			continue;
		}
		emit(it, out, (struct cell){ .base = c, .width = (uint8_t)cols });
		if (!only_ascii(it))
			take_modifiers(it, out);
		return CELLS_CELL;
	}
}

bool cells_hidden(struct raw text)
{
	struct str s = text.untrusted;
	const char *p = s.p;
	uint32_t c;

	/* the first byte of all tag characters, rare otherwise */
	while (s.n && (p = memchr(s.p, 0xf3, s.n)) != NULL) {
		s = str_from(s, (size_t)(p - s.p));
		if (utf8_decode(s, &c) && is_tag(c))
			return true;
		s = str_from(s, 1);
	}
	return false;
}

bool is_unseen(uint32_t c)
{
	return between(c, 0x80, 0x9f) || is_never_shown(c);
}

/* Whether an invisible character is part of an emoji, as take_modifiers has it. */
static bool is_in_emoji(uint32_t before, uint32_t c, uint32_t after)
{
	if (c == 0xfe0e || c == 0xfe0f)
		return is_pictograph(before) || (is_keycap_base(before) && after == KEYCAP);
	return c == ZWJ && is_pictograph(after) &&
	       (is_pictograph(before) || is_skin_tone(before) || before == 0xfe0f);
}

bool cells_unseen(struct raw text)
{
	struct cells it = { .rest = text.untrusted };
	uint32_t before = 0, c;
	size_t n;

	for (; it.rest.n; skip(&it, n ? n : 1)) {
		n = utf8_decode(it.rest, &c);
		if (n && is_unseen(c) && !is_in_emoji(before, c, peek(&it, n)))
			return true;
		before = n ? c : 0;
	}
	return false;
}

uint32_t cells_width(struct raw text, enum text_mode mode, bool ascii, uint32_t limit)
{
	struct cells it = cells_start(text, mode, ascii);
	uint32_t widest = 0, cols = 0;
	enum cells_step step;
	struct cell cell;
	size_t plain = 0;

	while (plain < it.rest.n && it.rest.p[plain] >= ' ' && it.rest.p[plain] < 0x7f)
		plain++;
	if (plain == it.rest.n) /* one column each, in every mode */
		return plain <= limit ? (uint32_t)plain : limit + 1;
	while (widest <= limit && (step = cells_next(&it, &cell)) != CELLS_END) {
		cols = step == CELLS_BREAK ? 0 : cols + cell.width;
		if (cols > widest)
			widest = cols;
	}
	return widest;
}

static struct cell cut_mark(bool ascii)
{
	return (struct cell){ .base = ascii ? '~' : 0x2026, .width = 1, .class = CELL_CUT };
}

uint32_t cells_clip(struct cells *it, uint32_t cols, struct cell *out)
{
	uint32_t n = 0, used = 0;
	struct cell cell;

	if (cols == 0)
		return 0;
	for (;;) {
		enum cells_step step = cells_next(it, &cell);

		if (step == CELLS_END || (step == CELLS_BREAK && it->rest.n == 0))
			return n;
		if (step == CELLS_BREAK || used + cell.width > cols)
			break;
		out[n++] = cell;
		used += cell.width;
	}
	while (used > cols - 1)
		used -= out[--n].width;
	out[n++] = cut_mark(it->ascii);
	return n;
}

struct wrap wrap_start(struct raw text, enum text_mode mode, bool ascii, uint32_t cols)
{
	return (struct wrap){ .it = cells_start(text, mode, ascii), .cols = cols ? cols : 1 };
}

static bool is_space(const struct cell *c)
{
	return c->base == ' ' && c->class == CELL_NORMAL && c->mark[0] == 0;
}

/* The row is full: drops the spaces before the next word. */
static void skip_spaces(struct wrap *w)
{
	struct cell cell;

	for (;;) {
		struct cells before = w->it;

		switch (cells_next(&w->it, &cell)) {
		case CELLS_END:
			w->done = true;
			return;
		case CELLS_BREAK:
			return;
		case CELLS_CELL:
			if (!is_space(&cell)) {
				w->it = before;
				return;
			}
		}
	}
}

bool wrap_next(struct wrap *w, struct cell *row, uint32_t *n)
{
	struct cells last_gap = w->it; /* the next row's start if the last word does not fit */
	uint32_t gap_n = 0, used = 0, words_end = 0;
	struct cell cell;

	*n = 0;
	while (!w->done) {
		struct cells before = w->it;
		enum cells_step step = cells_next(&w->it, &cell);

		if (step == CELLS_END) {
			w->done = true;
			return *n > 0;
		}
		if (step == CELLS_BREAK)
			return true;
		if (cell.width > w->cols)
			cell = cell_ascii('>', CELL_CUT);
		if (used + cell.width > w->cols) {
			w->it = before;
			if (is_space(&cell)) {
				skip_spaces(w);
			} else if (gap_n && cell.width == 1 && row[*n - 1].width == 1) {
				w->it = last_gap;
				*n = gap_n;
			}
			return true;
		}
		row[(*n)++] = cell;
		used += cell.width;
		if (!is_space(&cell))
			words_end = *n;
		if (is_space(&cell) || cell.width == 2) {
			last_gap = w->it;
			gap_n = words_end;
		}
	}
	return false;
}

size_t cell_bytes(const struct cell *c, char out[12])
{
	size_t n = utf8_encode(c->base, out);

	for (int i = 0; i < 2 && c->mark[i]; i++)
		n += utf8_encode(c->mark[i], out + n);
	return n;
}

struct cell cell_ascii(char c, enum cell_class class)
{
	return (struct cell){ .base = (unsigned char)c, .width = 1, .class = (uint8_t)class };
}

struct range {
	uint32_t low, high;
};

static bool in_ranges(uint32_t c, const struct range *ranges, uint32_t n)
{
	uint32_t at = 0;

	bisect(at, n, i, ranges[i].high < c)
	return at < n && c >= ranges[at].low;
}
#define IN_RANGES(c, table) in_ranges((c), (table), sizeof(table) / sizeof((table)[0]))

/* Unicode: general category Cf, Co, Zl, Zp, and Default_Ignorable_Code_Point. */
static const struct range never_shown[] = {
	{ 0x00ad, 0x00ad }, { 0x034f, 0x034f }, { 0x0600, 0x0605 }, { 0x061c, 0x061c },
	{ 0x06dd, 0x06dd }, { 0x070f, 0x070f }, { 0x0890, 0x0891 }, { 0x08e2, 0x08e2 },
	{ 0x115f, 0x1160 }, { 0x17b4, 0x17b5 }, { 0x180b, 0x180f }, { 0x200b, 0x200f },
	{ 0x2028, 0x202e }, { 0x2060, 0x206f }, { 0x3164, 0x3164 }, { 0xe000, 0xf8ff },
	{ 0xfdd0, 0xfdef }, { 0xfe00, 0xfe0f }, { 0xfeff, 0xfeff }, { 0xffa0, 0xffa0 },
	{ 0xfff0, 0xfffb }, { 0x110bd, 0x110bd }, { 0x110cd, 0x110cd }, { 0x13430, 0x1343f },
	{ 0x1bca0, 0x1bca3 }, { 0x1d173, 0x1d17a }, { 0xe0000, 0xe0fff }, { 0xf0000, 0x10ffff },
};

static bool is_never_shown(uint32_t c)
{
	return (c & 0xfffe) == 0xfffe || IN_RANGES(c, never_shown);
}

/* Unicode: Extended_Pictographic, with the ranges reserved for later emoji. */
static const struct range pictographs[] = {
	{ 0x00a9, 0x00a9 }, { 0x00ae, 0x00ae }, { 0x203c, 0x203c }, { 0x2049, 0x2049 },
	{ 0x2122, 0x2122 }, { 0x2139, 0x2139 }, { 0x2194, 0x2199 }, { 0x21a9, 0x21aa },
	{ 0x231a, 0x231b }, { 0x2328, 0x2328 }, { 0x2388, 0x2388 }, { 0x23cf, 0x23cf },
	{ 0x23e9, 0x23f3 }, { 0x23f8, 0x23fa }, { 0x24c2, 0x24c2 }, { 0x25aa, 0x25ab },
	{ 0x25b6, 0x25b6 }, { 0x25c0, 0x25c0 }, { 0x25fb, 0x25fe }, { 0x2600, 0x2605 },
	{ 0x2607, 0x2612 }, { 0x2614, 0x2685 }, { 0x2690, 0x2705 }, { 0x2708, 0x2712 },
	{ 0x2714, 0x2714 }, { 0x2716, 0x2716 }, { 0x271d, 0x271d }, { 0x2721, 0x2721 },
	{ 0x2728, 0x2728 }, { 0x2733, 0x2734 }, { 0x2744, 0x2744 }, { 0x2747, 0x2747 },
	{ 0x274c, 0x274c }, { 0x274e, 0x274e }, { 0x2753, 0x2755 }, { 0x2757, 0x2757 },
	{ 0x2763, 0x2767 }, { 0x2795, 0x2797 }, { 0x27a1, 0x27a1 }, { 0x27b0, 0x27b0 },
	{ 0x27bf, 0x27bf }, { 0x2934, 0x2935 }, { 0x2b05, 0x2b07 }, { 0x2b1b, 0x2b1c },
	{ 0x2b50, 0x2b50 }, { 0x2b55, 0x2b55 }, { 0x3030, 0x3030 }, { 0x303d, 0x303d },
	{ 0x3297, 0x3297 }, { 0x3299, 0x3299 }, { 0x1f000, 0x1f0ff }, { 0x1f10d, 0x1f10f },
	{ 0x1f12f, 0x1f12f }, { 0x1f16c, 0x1f171 }, { 0x1f17e, 0x1f17f }, { 0x1f18e, 0x1f18e },
	{ 0x1f191, 0x1f19a }, { 0x1f1ad, 0x1f1e5 }, { 0x1f201, 0x1f20f }, { 0x1f21a, 0x1f21a },
	{ 0x1f22f, 0x1f22f }, { 0x1f232, 0x1f23a }, { 0x1f23c, 0x1f23f }, { 0x1f249, 0x1f3fa },
	{ 0x1f400, 0x1f53d }, { 0x1f546, 0x1f64f }, { 0x1f680, 0x1f6ff }, { 0x1f774, 0x1f77f },
	{ 0x1f7d5, 0x1f7ff }, { 0x1f80c, 0x1f80f }, { 0x1f848, 0x1f84f }, { 0x1f85a, 0x1f85f },
	{ 0x1f888, 0x1f88f }, { 0x1f8ae, 0x1f8ff }, { 0x1f90c, 0x1f93a }, { 0x1f93c, 0x1f945 },
	{ 0x1f947, 0x1faff }, { 0x1fc00, 0x1fffd },
};

static bool is_pictograph(uint32_t c)
{
	return IN_RANGES(c, pictographs);
}

/* ASCII stand-ins of line-drawing and other label characters. */
static const struct {
	uint16_t drawn;
	char plain;
} stand_ins[] = {
	{ 0x00ab, '<' }, /* « */ { 0x00b7, '.' }, /* · */ { 0x00bb, '>' }, /* » */
	{ 0x00d7, 'x' }, /* × */ { 0x2013, '-' }, /* – */ { 0x2014, '-' }, /* — */
	{ 0x2022, '*' }, /* • */ { 0x2026, '~' }, /* … */ { 0x2190, '<' }, /* ← */
	{ 0x2191, '^' }, /* ↑ */ { 0x2192, '>' }, /* → */ { 0x2193, 'v' }, /* ↓ */
	{ 0x21b3, '>' }, /* ↳ */ { 0x2500, '-' }, /* ─ */ { 0x2501, '=' }, /* ━ */
	{ 0x2502, '|' }, /* │ */ { 0x2503, '|' }, /* ┃ */ { 0x2504, '-' }, /* ┄ */
	{ 0x2506, ':' }, /* ┆ */ { 0x250c, '+' }, /* ┌ */ { 0x2510, '+' }, /* ┐ */
	{ 0x2514, '+' }, /* └ */ { 0x2518, '+' }, /* ┘ */ { 0x251c, '+' }, /* ├ */
	{ 0x2524, '+' }, /* ┤ */ { 0x252c, '+' }, /* ┬ */ { 0x2534, '+' }, /* ┴ */
	{ 0x253c, '+' }, /* ┼ */ { 0x254c, '-' }, /* ╌ */ { 0x254e, ':' }, /* ╎ */
	{ 0x2550, '=' }, /* ═ */ { 0x2551, '|' }, /* ║ */ { 0x256d, '+' }, /* ╭ */
	{ 0x256e, '+' }, /* ╮ */ { 0x256f, '+' }, /* ╯ */ { 0x2570, '+' }, /* ╰ */
	{ 0x2571, '/' }, /* ╱ */ { 0x2572, '\\' }, /* ╲ */ { 0x2573, 'X' }, /* ╳ */
	{ 0x2581, '_' }, /* ▁ */ { 0x2582, '.' }, /* ▂ */ { 0x2583, '-' }, /* ▃ */
	{ 0x2584, '=' }, /* ▄ */ { 0x2585, 'o' }, /* ▅ */ { 0x2586, '*' }, /* ▆ */
	{ 0x2587, '%' }, /* ▇ */ { 0x2588, '#' }, /* █ */ { 0x258c, '|' }, /* ▌ */
	{ 0x2590, '|' }, /* ▐ */ { 0x2591, '.' }, /* ░ */ { 0x2592, ':' }, /* ▒ */
	{ 0x2593, '%' }, /* ▓ */ { 0x25a0, '#' }, /* ■ */ { 0x25a1, '.' }, /* □ */
	{ 0x25b2, '^' }, /* ▲ */ { 0x25b6, '>' }, /* ▶ */ { 0x25b8, '>' }, /* ▸ */
	{ 0x25b9, '>' }, /* ▹ */ { 0x25bc, 'v' }, /* ▼ */ { 0x25be, 'v' }, /* ▾ */
	{ 0x25bf, 'v' }, /* ▿ */ { 0x25c0, '<' }, /* ◀ */
	{ 0x25c2, '<' }, /* ◂ */ { 0x25c6, '*' }, /* ◆ */ { 0x25c7, 'o' }, /* ◇ */
	{ 0x25cb, 'o' }, /* ○ */ { 0x25cf, '*' }, /* ● */ { 0x26a0, '!' }, /* ⚠ */
	{ 0x2713, '+' }, /* ✓ */ { 0x2717, 'x' }, /* ✗ */
};

static char stand_in(uint32_t c)
{
	for (size_t i = 0; i < sizeof(stand_ins) / sizeof(stand_ins[0]); i++) {
		if (stand_ins[i].drawn == c)
			return stand_ins[i].plain;
	}
	return 0;
}
