/* diff: each case is two texts and the listing, one letter a line: ' ' kept, '-' removed, '+'
 * added, '@' a gap; then what holds of any two texts: the diff leads from one to the other, and it
 * is as short as the textbook's quadratic table says. */
#include "draw/diff.h"

#include "base/mem.h"
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>

/* "KIND a,b text ENDING" a line; spans in brackets */
static void list(const struct diff *d, struct buf *out)
{
	for (uint32_t i = 0; i < d->lines.n; i++) {
		const struct diff_line *l = &d->lines.v[i];
		uint32_t at = 0;

		if (l->kind == DIFF_GAP) {
			buf_printf(out, "@%u,%u x%u|", l->a, l->b, l->count);
			continue;
		}
		buf_printf(out, "%c%u,%u ", " -+"[l->kind], l -> a, l -> b);
		for (uint32_t s = l->span; s < l->span + l->spans; s++) {
			struct diff_span span = d->spans.v[s];

			ck_assert(span.n > 0 && span.at >= at && span.at + span.n <= l->text.n);
			buf_add(out, l->text.p + at, span.at - at);
			buf_addc(out, '[');
			buf_add(out, l->text.p + span.at, span.n);
			buf_addc(out, ']');
			at = span.at + span.n;
		}
		buf_add_str(out, str_from(l->text, at));
		buf_adds(out, l->end == DIFF_END_LF     ? "|"
			      : l->end == DIFF_END_CRLF ? "\\r|"
							: "\\|");
	}
}

/* Appends the line's bytes with its ending. */
static void add_line(const struct diff_line *line, struct buf *out)
{
	buf_add_str(out, line->text);
	if (line->count == 1 && line->end != DIFF_END_NONE)
		buf_adds(out, line->end == DIFF_END_CRLF ? "\r\n" : "\n");
}

/* Both texts come out of the diff, numbers run on without holes, and the counts are right. */
static void check_diff(const struct diff *d, struct str a, struct str b)
{
	struct buf back_a = { 0 }, back_b = { 0 };
	uint32_t at_a = 1, at_b = 1, kept = 0, hunks = 0;
	enum diff_kind last = DIFF_KEPT;

	for (uint32_t i = 0; i < d->lines.n; i++) {
		const struct diff_line *l = &d->lines.v[i];
		bool keeps = l->kind == DIFF_KEPT || l->kind == DIFF_GAP;

		/* libcheck reports each assertion that holds: too slow for every line */
		if (l->count < 1 || l->a != (l->kind == DIFF_ADDED ? 0 : at_a) ||
		    l->b != (l->kind == DIFF_REMOVED ? 0 : at_b) ||
		    (last == DIFF_ADDED && l->kind == DIFF_REMOVED))
			ck_abort_msg("line %u of the diff, %u and %u of the texts, is out of order",
				     i, l->a, l->b);
		if (l->kind != DIFF_ADDED) {
			add_line(l, &back_a);
			at_a += l->count;
		}
		if (l->kind != DIFF_REMOVED) {
			add_line(l, &back_b);
			at_b += l->count;
		}
		kept += keeps ? l->count : 0;
		hunks += !keeps && (i == 0 || last == DIFF_KEPT || last == DIFF_GAP);
		last = l->kind;
	}
	ck_assert(str_eq(buf_str(&back_a), a));
	ck_assert(str_eq(buf_str(&back_b), b));
	ck_assert_uint_eq(d->kept, kept);
	ck_assert_uint_eq(d->removed, at_a - 1 - kept);
	ck_assert_uint_eq(d->added, at_b - 1 - kept);
	ck_assert_uint_eq(d->hunks, hunks);
	buf_release(&back_a);
	buf_release(&back_b);
}

#define assert_diff(a, b, context, want) \
	do { \
		struct diff d_ = { 0 }; \
		struct buf got_ = { 0 }; \
		diff_make(&d_, (a), (b), (context)); \
		check_diff(&d_, (a), (b)); \
		list(&d_, &got_); \
		assert_str(buf_str(&got_), want); \
		buf_release(&got_); \
		diff_release(&d_); \
	} while (0)

START_TEST(nothing_and_equal_texts)
{
	struct diff d = { 0 };

	assert_diff(STR_NONE, STR_NONE, 3, "");
	assert_diff(STR(""), STR_NONE, DIFF_WHOLE, "");
	assert_diff(STR("a\n"), STR("a\n"), 3, " 1,1 a|");
	assert_diff(STR("a\nb\n"), STR("a\nb\n"), 3, "@1,1 x2|");
	assert_diff(STR("a\nb"), STR("a\nb"), 3, "@1,1 x2|");
	assert_diff(STR("a\nb"), STR("a\nb"), DIFF_WHOLE, " 1,1 a| 2,2 b\\|");
	diff_make(&d, STR("a\nb\n"), STR("a\nb\n"), 3);
	ck_assert_uint_eq(d.hunks + d.added + d.removed, 0);
	ck_assert(!d.coarse);
	diff_release(&d);
}
END_TEST

START_TEST(all_new_and_all_gone)
{
	assert_diff(STR_NONE, STR("a\nb\n"), 3, "+0,1 a|+0,2 b|");
	assert_diff(STR("a\nb\n"), STR(""), 3, "-1,0 a|-2,0 b|");
	assert_diff(STR(""), STR("\n"), 3, "+0,1 |");
	assert_diff(STR("a\n"), STR("z\n"), 3, "-1,0 a|+0,1 z|");
}
END_TEST

START_TEST(changes_at_the_ends)
{
	assert_diff(STR("b\nc\n"), STR("a\nb\nc\n"), 3, "+0,1 a| 1,2 b| 2,3 c|");
	assert_diff(STR("a\nb\nc\n"), STR("b\nc\n"), 3, "-1,0 a| 2,1 b| 3,2 c|");
	assert_diff(STR("a\nb\n"), STR("a\nb\nc\n"), 3, " 1,1 a| 2,2 b|+0,3 c|");
	assert_diff(STR("a\nb\nc\n"), STR("a\nb\n"), 3, " 1,1 a| 2,2 b|-3,0 c|");
	assert_diff(STR("a\nb\nc\n"), STR("x\nb\ny\n"), 3, "-1,0 a|+0,1 x| 2,2 b|-3,0 c|+0,3 y|");
	/* heads and tails that overlap */
	assert_diff(STR("a\na\n"), STR("a\na\na\n"), 3, " 1,1 a| 2,2 a|+0,3 a|");
	assert_diff(STR("a\nb\na\n"), STR("a\n"), 3, " 1,1 a|-2,0 b|-3,0 a|");
}
END_TEST

START_TEST(heads_and_tails_are_whole_lines)
{
	assert_diff(STR("abc\n"), STR("abd\n"), 3, "-1,0 abc|+0,1 abd|");
	assert_diff(STR("xab\n"), STR("yab\n"), 3, "-1,0 xab|+0,1 yab|");
	assert_diff(STR("b\n"), STR("ab\n"), 3, "-1,0 b|+0,1 ab|");
	assert_diff(STR("q\nb\n"), STR("ab\n"), 3, "-1,0 q|-2,0 b|+0,1 ab|");
	assert_diff(STR("\n"), STR("\n\n"), 3, " 1,1 |+0,2 |");
}
END_TEST

START_TEST(endings_are_part_of_a_line)
{
	assert_diff(STR("a\r\nb\r\n"), STR("a\r\nc\r\n"), 3, " 1,1 a\\r|-2,0 b\\r|+0,2 c\\r|");
	assert_diff(STR("a\r\n"), STR("a\n"), 3, "-1,0 a\\r|+0,1 a|");
	assert_diff(STR("a"), STR("a\n"), 3, "-1,0 a\\|+0,1 a|");
	assert_diff(STR("a\nb"), STR("a\nb\nc"), 3, " 1,1 a|-2,0 b\\|+0,2 b|+0,3 c\\|");
	/* a lone CR ends nothing */
	assert_diff(STR("a\rb"), STR("a\rc"), 3, "-1,0 a\r[b]\\|+0,1 a\r[c]\\|");
	assert_diff(STR("a\r"), STR("a\r\n"), 3, "-1,0 a[\r]\\|+0,1 a\\r|");
	assert_diff(STR("a\0b\n"), STR("a\0c\n"), 3, "-1,0 a\0[b]|+0,1 a\0[c]|");
}
END_TEST

START_TEST(long_kept_runs_become_gaps)
{
	struct str a = STR("1\n2\n3\n4\n5\n6\n7\n8\n9\n"), b = STR("1\n2\n3\n4\nx\n6\n7\n8\n9\n");
	struct str ends = STR("x\n2\n3\n4\n5\n6\n7\n8\ny\n");

	assert_diff(a, b, 0, "@1,1 x4|-5,0 5|+0,5 x|@6,6 x4|");
	assert_diff(a, b, 1, "@1,1 x3| 4,4 4|-5,0 5|+0,5 x| 6,6 6|@7,7 x3|");
	assert_diff(a, b, 2, "@1,1 x2| 3,3 3| 4,4 4|-5,0 5|+0,5 x| 6,6 6| 7,7 7|@8,8 x2|");
	/* a gap of one line would save nothing */
	assert_diff(a, b, 3,
		    " 1,1 1| 2,2 2| 3,3 3| 4,4 4|-5,0 5|+0,5 x| 6,6 6| 7,7 7| 8,8 8| 9,9 9|");
	assert_diff(
		a, ends, 3,
		"-1,0 1|+0,1 x| 2,2 2| 3,3 3| 4,4 4| 5,5 5| 6,6 6| 7,7 7| 8,8 8|-9,0 9|+0,9 y|");
	assert_diff(a, ends, 2, "-1,0 1|+0,1 x| 2,2 2| 3,3 3|@4,4 x3| 7,7 7| 8,8 8|-9,0 9|+0,9 y|");
	assert_diff(a, ends, 0, "-1,0 1|+0,1 x|@2,2 x7|-9,0 9|+0,9 y|");
	assert_diff(STR("q\n\n\n\nz"), STR("Q\n\n\n\nz"), 1, "-1,0 q|+0,1 Q| 2,2 |@3,3 x3|");
	assert_diff(STR("a\nb\nc"), STR("x\na\nb\nc"), 0, "+0,1 x|@1,2 x3|");
}
END_TEST

START_TEST(a_moved_line_costs_two)
{
	assert_diff(STR("a\nb\nc\nd\n"), STR("b\nc\nd\na\n"), 9,
		    "-1,0 a| 2,1 b| 3,2 c| 4,3 d|+0,4 a|");
	/* Myers' own example */
	assert_diff(STR("a\nb\nc\na\nb\nb\na\n"), STR("c\nb\na\nb\na\nc\n"), 9,
		    "-1,0 a|-2,0 b| 3,1 c|-4,0 a| 5,2 b|+0,3 a| 6,4 b| 7,5 a|+0,6 c|");
}
END_TEST

START_TEST(words_that_changed)
{
	assert_diff(STR("the quick fox\n"), STR("the slow fox\n"), 3,
		    "-1,0 the [quick] fox|+0,1 the [slow] fox|");
	assert_diff(STR("f(a, b);\n"), STR("f(a, b, c);\n"), 3,
		    "-1,0 f(a, b);|+0,1 f(a, b[, c]);|");
	/* the blank between two changed words goes with them */
	assert_diff(STR("keep this one here please now\n"), STR("keep that two here please now\n"),
		    3,
		    "-1,0 keep [this one] here please now|+0,1 keep [that two] here please now|");
	/* little in common: no partners */
	assert_diff(STR("alpha beta x\n"), STR("gamma delta x\n"), 3,
		    "-1,0 alpha beta x|+0,1 gamma delta x|");
	assert_diff(STR("aa bb\n"), STR("aa cc\n"), 3, "-1,0 aa [bb]|+0,1 aa [cc]|");
	assert_diff(STR("aa bb\n"), STR("aa ccc\n"), 3, "-1,0 aa bb|+0,1 aa ccc|");
	assert_diff(STR("a b\n"), STR("c d\n"), 3, "-1,0 a b|+0,1 c d|");
	/* never half a character */
	assert_diff(STR("size: \xc3\xa9t\xc3\xa9\n"), STR("size: \xc3\xa8t\xc3\xa9\n"), 3,
		    "-1,0 size: [\xc3\xa9t\xc3\xa9]|+0,1 size: [\xc3\xa8t\xc3\xa9]|");
	/* blanks count as changes, not as something in common */
	assert_diff(STR("a  =  1\n"), STR("a = 1\n"), 3, "-1,0 a[  ]=[  ]1|+0,1 a[ ]=[ ]1|");
	/* two pairs in one change; the third line has no partner */
	assert_diff(
		STR("one two 1\none two 2\n"), STR("one two 3\none two 4\nnew\n"), 3,
		"-1,0 one two [1]|-2,0 one two [2]|+0,1 one two [3]|+0,2 one two [4]|+0,3 new|");
}
END_TEST

START_TEST(very_long_lines_have_no_spans)
{
	struct buf a = { 0 }, b = { 0 };
	struct diff d = { 0 };

	for (int i = 0; i < 1000; i++) {
		buf_adds(&a, "word ");
		buf_adds(&b, i == 500 ? "WORD " : "word ");
	}
	diff_make(&d, buf_str(&a), buf_str(&b), 3);
	check_diff(&d, buf_str(&a), buf_str(&b));
	ck_assert_uint_eq(d.spans.n, 0);
	diff_release(&d);
	buf_release(&a);
	buf_release(&b);
}
END_TEST

START_TEST(a_diff_can_be_made_again)
{
	struct diff d = { 0 };

	diff_make(&d, STR("one 1\n"), STR("one 2\n"), 3);
	ck_assert_uint_eq(d.lines.n, 2);
	ck_assert_uint_eq(d.spans.n, 2);
	diff_make(&d, STR("x\n"), STR("x\n"), 3);
	check_diff(&d, STR("x\n"), STR("x\n"));
	ck_assert_uint_eq(d.spans.n, 0);
	ck_assert(!d.coarse);
	diff_release(&d);
}
END_TEST

static uint64_t state = 0x9e3779b97f4a7c15u;

static uint32_t pick(uint32_t below)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (uint32_t)(state >> 33) % below;
}

/* The length of the longest common subsequence of lines, by the table. */
static uint32_t textbook(struct str a, struct str b)
{
	static uint32_t table[130][130];
	struct str la[130], lb[130];
	uint32_t n = 0, m = 0;

	for (size_t i = 0, from = 0; i < a.n; i++)
		if (a.p[i] == '\n' || i + 1 == a.n)
			la[n++] = str_make(a.p + from, i + 1 - from), from = i + 1;
	for (size_t i = 0, from = 0; i < b.n; i++)
		if (b.p[i] == '\n' || i + 1 == b.n)
			lb[m++] = str_make(b.p + from, i + 1 - from), from = i + 1;
	for (uint32_t i = 0; i <= n; i++)
		for (uint32_t j = 0; j <= m; j++) {
			uint32_t up = i ? table[i - 1][j] : 0, left = j ? table[i][j - 1] : 0;

			if (!i || !j)
				table[i][j] = 0;
			else if (str_eq(la[i - 1], lb[j - 1]))
				table[i][j] = table[i - 1][j - 1] + 1;
			else
				table[i][j] = up > left ? up : left;
		}
	return table[n][m];
}

static void random_text(struct buf *out, uint32_t lines, uint32_t letters)
{
	buf_clear(out);
	for (uint32_t i = 0; i < lines; i++) {
		for (uint32_t n = pick(3); n > 0; n--)
			buf_addc(out, (char)('a' + pick(letters)));
		buf_adds(out, pick(20) ? "\n" : "\r\n");
	}
	if (lines && pick(2))
		out->n--;
}

static void edit_text(struct buf *out, struct str from)
{
	buf_clear(out);
	for (size_t i = 0; i < from.n; i++) {
		uint32_t what = pick(30);

		if (what == 0)
			continue;
		if (what == 1)
			buf_addc(out, (char)('a' + pick(4)));
		if (what == 2)
			buf_addc(out, '\n');
		buf_addc(out, from.p[i]);
	}
}

START_TEST(random_texts_come_back_and_the_diff_is_shortest)
{
	struct buf a = { 0 }, b = { 0 };
	struct diff d = { 0 };

	buf_reserve(&a, 1);
	buf_reserve(&b, 1);
	for (int round = 0; round < 6000; round++) {
		uint32_t context = pick(5);

		random_text(&a, pick(round < 5000 ? 12 : 60), 1 + pick(4));
		if (pick(2))
			random_text(&b, pick(round < 5000 ? 12 : 60), 1 + pick(4));
		else
			edit_text(&b, buf_str(&a));
		diff_make(&d, buf_str(&a), buf_str(&b), context == 4 ? DIFF_WHOLE : context);
		check_diff(&d, buf_str(&a), buf_str(&b));
		ck_assert(!d.coarse);
		ck_assert_uint_eq(d.kept, textbook(buf_str(&a), buf_str(&b)));
	}
	buf_release(&a);
	buf_release(&b);
	diff_release(&d);
}
END_TEST

START_TEST(many_lines_with_few_changes)
{
	struct buf a = { 0 }, b = { 0 };
	struct diff d = { 0 };

	for (int i = 0; i < 100000; i++) {
		buf_printf(&a, "line %d\n", i);
		if (i % 10000 == 17)
			buf_printf(&b, "LINE %d\n", i);
		else if (i % 10000 != 4000)
			buf_printf(&b, "line %d\n", i);
		if (i % 10000 == 9000)
			buf_printf(&b, "and %d\n", i);
	}
	diff_make(&d, buf_str(&a), buf_str(&b), 3);
	check_diff(&d, buf_str(&a), buf_str(&b));
	ck_assert(!d.coarse);
	ck_assert_uint_eq(d.removed, 20);
	ck_assert_uint_eq(d.added, 20);
	ck_assert_uint_eq(d.hunks, 30);
	ck_assert_uint_lt(d.lines.n, 300);
	diff_release(&d);
	buf_release(&a);
	buf_release(&b);
}
END_TEST

START_TEST(unlike_texts_of_many_lines_are_cheap)
{
	struct buf a = { 0 }, b = { 0 };
	struct diff d = { 0 };

	/* nothing in common but every tenth line */
	for (int i = 0; i < 50000; i++) {
		buf_printf(&a, i % 10 ? "a%d\n" : "same %d\n", i);
		buf_printf(&b, i % 10 ? "b%d\n" : "same %d\n", i);
	}
	diff_make(&d, buf_str(&a), buf_str(&b), 3);
	check_diff(&d, buf_str(&a), buf_str(&b));
	ck_assert(!d.coarse);
	ck_assert_uint_eq(d.kept, 5000);
	diff_release(&d);
	buf_release(&a);
	buf_release(&b);
}
END_TEST

/* Two kinds of lines in random order on both sides: the shortest diff would take minutes. */
START_TEST(hostile_texts_end_coarse_and_correct)
{
	struct buf a = { 0 }, b = { 0 };
	struct diff d = { 0 };

	for (int i = 0; i < 100000; i++) {
		buf_adds(&a, pick(2) ? "x\n" : "y\n");
		buf_adds(&b, pick(2) ? "x\n" : "y\n");
	}
	diff_make(&d, buf_str(&a), buf_str(&b), 3);
	check_diff(&d, buf_str(&a), buf_str(&b));
	ck_assert(d.coarse);

	/* the same lines in opposite order */
	buf_clear(&a);
	buf_clear(&b);
	for (int i = 0; i < 100000; i++) {
		buf_printf(&a, "%d\n", i);
		buf_printf(&b, "%d\n", 100000 - i);
	}
	diff_make(&d, buf_str(&a), buf_str(&b), 3);
	check_diff(&d, buf_str(&a), buf_str(&b));
	ck_assert(d.coarse);
	diff_release(&d);
	buf_release(&a);
	buf_release(&b);
}
END_TEST

START_TEST(more_lines_than_are_listed)
{
	struct buf a = { 0 };
	struct diff d = { 0 };
	const struct diff_line *last;

	for (int i = 0; i < DIFF_LINES_MAX + 1000; i++)
		buf_adds(&a, "\n");
	buf_adds(&a, "end");
	diff_make(&d, buf_str(&a), STR_NONE, 3);
	check_diff(&d, buf_str(&a), STR_NONE);
	ck_assert_uint_eq(d.lines.n, DIFF_LINES_MAX);
	last = vec_last(&d.lines);
	ck_assert_uint_eq(last->count, 1002);
	ck_assert_uint_eq(last->a, DIFF_LINES_MAX);
	ck_assert_uint_eq(d.removed, DIFF_LINES_MAX + 1001);

	diff_make(&d, STR("x"), buf_str(&a), DIFF_WHOLE);
	check_diff(&d, STR("x"), buf_str(&a));
	ck_assert_uint_eq(d.lines.n, DIFF_LINES_MAX + 1);
	diff_release(&d);
	buf_release(&a);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("diff");
	TCase *t = tcase_create("lines");

	tcase_add_test(t, nothing_and_equal_texts);
	tcase_add_test(t, all_new_and_all_gone);
	tcase_add_test(t, changes_at_the_ends);
	tcase_add_test(t, heads_and_tails_are_whole_lines);
	tcase_add_test(t, endings_are_part_of_a_line);
	tcase_add_test(t, long_kept_runs_become_gaps);
	tcase_add_test(t, a_moved_line_costs_two);
	tcase_add_test(t, words_that_changed);
	tcase_add_test(t, very_long_lines_have_no_spans);
	tcase_add_test(t, a_diff_can_be_made_again);
	suite_add_tcase(s, t);
	t = tcase_create("any");
	tcase_add_test(t, random_texts_come_back_and_the_diff_is_shortest);
	tcase_add_test(t, many_lines_with_few_changes);
	tcase_add_test(t, unlike_texts_of_many_lines_are_cheap);
	tcase_add_test(t, hostile_texts_end_coarse_and_correct);
	tcase_add_test(t, more_lines_than_are_listed);
	suite_add_tcase(s, t);
	return unit_run(s);
}
