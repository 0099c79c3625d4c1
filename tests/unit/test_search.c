/* Searching all messages: what is found is what reading each message finds, forwards and backwards,
 * whatever the blocks; escapes hide nothing; and the program's search uses it. */
#include "unit.h"

#include "session/load.h"
#include "app/app.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char path[] = "/tmp/gavel-search-XXXXXX";
static struct load load;

static void open_text(const char *text, size_t n)
{
	int fd;
	const char *sources[] = { path };

	strcpy(path + strlen(path) - 6, "XXXXXX");
	fd = mkstemp(path);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, text, n), (ssize_t)n);
	close(fd);
	ck_assert_int_eq(load_open(&load, sources, 1, 0), 0);
	load_run(&load, NULL, NULL);
}

static void done(void)
{
	load_release(&load);
	load = (struct load){ 0 };
	unlink(path);
}

/* The numbers of all messages that have the word, each once, in the order in which they are
 * found. */
static struct buf found(const char *word, uint32_t from, int direction)
{
	uint32_t k = load.model.records.n;
	struct search_progress h = { .word = str_of(word), .direction = direction, .k = k, .at = from,
			  .left = k };
	struct buf out = { 0 };
	bool more = true;

	while (more && h.left) {
		more = load.reader.search_step(load.reader.ctx, &h);
		if (h.found != NONE)
			buf_printf(&out, "%u ", h.found);
	}
	buf_adds(&out, ".");
	return out;
}

static void check_found(const char *word, const char *wanted)
{
	struct buf got = found(word, 0, 1);

	ck_assert_msg(strcmp(got.p, wanted) == 0, "%s: found in %s not in %s", word, got.p, wanted);
	buf_release(&got);
}

START_TEST(needles)
{
	static const char bytes[] = "abAB .:\"\\\xc3\x9c\x00z";
	unsigned seed = 7;

	for (int round = 0; round < 20000; round++) {
		char text[80], word[6];
		size_t n = seed % sizeof(text), w = 1 + seed / 97 % sizeof(word), start;
		struct needle needle;
		ptrdiff_t want = -1;

		for (size_t i = 0; i < n; i++, seed = seed * 1103515245 + 12345)
			text[i] = bytes[(seed >> 16) % (sizeof(bytes) - 1)];
		for (size_t i = 0; i < w; i++, seed = seed * 1103515245 + 12345)
			word[i] = bytes[(seed >> 16) % (sizeof(bytes) - 1)];
		start = n ? (seed >> 8) % n : 0;
		for (size_t i = start; i + w <= n && want < 0; i++)
			if (str_contains_nocase(str_make(text + i, w), str_make(word, w)))
				want = (ptrdiff_t)i;
		needle_init(&needle, str_make(word, w));
		ck_assert_int_eq(needle_find(&needle, str_make(text, n), start), want);
	}
}
END_TEST

START_TEST(escapes_hide_nothing)
{
	static const char text[] = "{\"a\":\"gr\\u00fcn\"}\n"
				   "{\"a\":\"gr\xc3\xbcn\"}\n"
				   "{\"a\":\"\\u0047reen \\ud83d\\ude00\"}\n"
				   "plain gReEn text\n"
				   "{\"a\":\"a\\/b \\\"c\\\" d\\\\e\"}\n"
				   "{\"a\":\"{\\\"b\\\":\\\"gr\\\\u00fcn \\\\\\\"q\\\\\\\"\\\"}\"}\n"
				   "{\"a\":\"\\ud800 \\uzzzz \\u00\"}\n"
				   "\n"
				   "\\u0041end\\";
	struct search_progress h;

	open_text(text, sizeof(text) - 1);
	check_found("gr\xc3\xbcn", "0 1 5 .");
	check_found("green", "2 3 .");
	check_found("\xf0\x9f\x98\x80", "2 .");
	check_found("a/b", "4 .");
	check_found("\"c\" d\\e", "4 .");
	check_found("\"q\"", "5 .");
	check_found("\\u00fc", "0 5 .");
	check_found("\xef\xbf\xbd", "6 .");
	check_found("end", "7 .");
	check_found("aend\\", "7 .");
	check_found("axx", ".");
	check_found("nowhere", ".");
	/* as of the first three messages, round and round */
	h = (struct search_progress){ .word = STR("gr"), .direction = 1, .k = 3, .at = 2, .left = 3 };
	ck_assert(load.reader.search_step(load.reader.ctx, &h));
	ck_assert_uint_eq(h.found, 2);
	ck_assert(load.reader.search_step(load.reader.ctx, &h));
	ck_assert_uint_eq(h.found, 0);
	h = (struct search_progress){ .word = STR("gr"), .direction = -1, .k = 3, .at = 0, .left = 3 };
	ck_assert(load.reader.search_step(load.reader.ctx, &h));
	ck_assert(load.reader.search_step(load.reader.ctx, &h));
	ck_assert_uint_eq(h.found, 2);
	check_found("JSON", "0 1 2 4 5 .");   /* the kind */
	check_found("9", "7 .");              /* the line */
	done();
}
END_TEST

/* Long and short lines, so that blocks end anywhere; words at their very ends. */
START_TEST(as_reading_each_finds)
{
	static const char *const words[] = { "passkey", "REVIEW", "\"type\"", "x", "zzz", "needle-77" };
	struct buf text = { 0 };
	unsigned seed = 1;

	for (int i = 0; i < 1000; i++, seed = seed * 1103515245 + 12345) {
		unsigned length = (seed >> 16) % 400;

		if (i % 333 == 0)
			length = 700000;
		buf_printf(&text, "{\"n\":%d,\"type\":\"t\",\"x\":\"", i);
		for (unsigned n = 0; n < length; n++)
			buf_addc(&text, "abcdefgh \\\\rst"[(seed + n * 7) % 8]);
		buf_printf(&text, "%s%s\"}%s\n", i % 230 == 3 ? "needle-77" : "", i % 270 == 5 ? "Review" : "",
			   i % 300 == 7 ? "PassKey" : "");
	}
	open_text(text.p, text.n);
	for (unsigned w = 0; w < sizeof(words) / sizeof(words[0]); w++) {
		struct buf want = { 0 }, back = { 0 }, got;
		uint32_t k = load.model.records.n, from = k / 3;

		for (uint32_t i = 0; i < k; i++) {
			uint32_t at = (from + i) % k, rev = (from + k - i) % k;

			if (str_contains_nocase(load.reader.bytes(load.reader.ctx, at), str_of(words[w])))
				buf_printf(&want, "%u ", at);
			if (str_contains_nocase(load.reader.bytes(load.reader.ctx, rev), str_of(words[w])))
				buf_printf(&back, "%u ", rev);
		}
		buf_adds(&want, ".");
		buf_adds(&back, ".");
		got = found(words[w], from, 1);
		ck_assert_msg(strcmp(got.p, want.p) == 0, "%s: forwards", words[w]);
		buf_release(&got);
		got = found(words[w], from, -1);
		ck_assert_msg(strcmp(got.p, back.p) == 0, "%s: backwards", words[w]);
		buf_release(&got);
		buf_release(&want);
		buf_release(&back);
	}
	buf_release(&text);
	done();
}
END_TEST

/* A file that cannot be read any more is not the end of a search. */
START_TEST(a_file_that_was_cut)
{
	static const char text[] = "one word\ntwo words\nthree\n";

	open_text(text, sizeof(text) - 1);
	ck_assert_int_eq(truncate(path, 9), 0);
	check_found("word", "0 .");
	done();
}
END_TEST

static void type(struct app *a, const char *keys)
{
	struct str rest = str_of(keys);
	struct key key = { 0 };

	while (rest.n && key_parse(&rest, &key.code))
		app_key(a, &key);
}

static uint32_t selected(struct app *a)
{
	struct grid *g = grid_new(24, 80, true);
	int row, col;

	app_draw(a, g, &row, &col);
	grid_free(g);
	return a->lists[TAB_MESSAGES].selected;
}

START_TEST(in_the_program)
{
	struct app a;
	struct buf text = { 0 };

	/* more than one slice has room for */
	for (int i = 0; i < 120000; i++)
		buf_printf(&text, "line %d%s\n", i, i == 110000 || i == 20 ? " needle" : "");
	open_text(text.p, text.n);
	app_init(&a, &load.model, &load.reader, STR("log"), true);
	app_arrived(&a, 1, 1, false);
	selected(&a);
	type(&a, "4");
	selected(&a);
	type(&a, "/needle");
	while (app_is_searching(&a))
		app_search_step(&a);
	ck_assert_uint_eq(selected(&a), 20);
	type(&a, "<Enter>n");
	ck_assert(app_is_searching(&a));
	ck_assert_uint_eq(selected(&a), 20);
	app_search_step(&a);
	ck_assert(app_is_searching(&a));
	type(&a, "u"); /* any key stops it */
	ck_assert(!app_is_searching(&a));
	ck_assert(a.search.progress.left < 120000 && a.search.progress.at > 40000);
	type(&a, "n");
	while (app_is_searching(&a))
		app_search_step(&a);
	ck_assert_uint_eq(selected(&a), 110000);
	type(&a, "n"); /* round */
	while (app_is_searching(&a))
		app_search_step(&a);
	ck_assert_uint_eq(selected(&a), 20);
	type(&a, "N");
	while (app_is_searching(&a))
		app_search_step(&a);
	ck_assert_uint_eq(selected(&a), 110000);
	type(&a, "g/needle<Enter>n"); /* typed ahead: the second match, not the first */
	while (app_is_searching(&a))
		app_search_step(&a);
	ck_assert_uint_eq(selected(&a), 110000);
	type(&a, "g/line 119999");
	ck_assert(app_is_searching(&a));
	type(&a, "<Enter>"); /* does not stop it */
	while (app_is_searching(&a))
		app_search_step(&a);
	ck_assert_uint_eq(selected(&a), 119999);
	type(&a, "/nowhere<Enter>");
	while (app_is_searching(&a))
		app_search_step(&a);
	ck_assert_ptr_nonnull(strstr(a.notice.p, "not found"));
	app_release(&a);
	buf_release(&text);
	done();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("search");
	TCase *t = tcase_create("search");

	suite_add_tcase(suite, t);
	tcase_add_test(t, needles);
	tcase_add_test(t, escapes_hide_nothing);
	tcase_add_test(t, as_reading_each_finds);
	tcase_add_test(t, a_file_that_was_cut);
	tcase_add_test(t, in_the_program);
	return unit_run(suite);
}
