/* A differential test of the quick parser against yyjson: whatever it accepts, yyjson accepts too and
 * builds the same tree of; in every variant, on texts of all kinds and on random mutations of them.
 * And what the hash of a value depends on. */
#include "json/escapes.h"
#include "json/json.h"
#include "json/quick/quick_variant.h"
#include "unit.h"

#include <stdlib.h>

/* once more, as it is where there is no SSE2 */
#define QUICK_PORTABLE
#include "../../src/json/quick/parse.h"
#include "../../src/json/quick/unescape.h"

static const char *const plain_texts[] = {
	"{}", "[]", " [ ] ", "\t{\r\n}\n", "\"\"", "\"a\"", "0", "7", "-1", "42", "true", "false", "null",
	"123456789012345", "-123456789012345", "0.5", "-0.25", "-0.0", "3.14159", "1.0", "0.1", "0.87", "100.001",
	"99999999.9999999", "0.00000000000001", "[0,1,-2,3.5]", "[[],{},[[]],[{}],{\"a\":[]}]",
	"{\"a\":1,\"b\":[true,false,null],\"c\":{\"d\":\"e\"}}", "{\"a\":1,\"a\":2}", "{\"\":\"\"}",
	"[\"0123456789abcde\",\"0123456789abcdef\",\"0123456789abcdefg\"]",
	"\"a string of more than thirty-two bytes, without an escape\"",
	"\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\u0041\\u00e9\\u20ac\\ud83d\\ude00\\u0000\"",
	"\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80 and plain text behind it, long enough\"",
	"\"plain text before, of sixteen\\nand more\\nlines\\nof it\\n\\n\\n, and \\\"quotes\\\" in it\"",
	"\"a\\\\\\\\\\\\b\xc3\xa9\\n\xc3\xa9 0123456789abcdef0123456789abcdef\\n0123456789abcdef\"",
	"{ \"key with blanks\" : [ 1 , 2 ] , \"type\" : null }", "{\"type\":{\"type\":[{\"a\":1,\"text\":2},{\"a\":3}]}}",
	("{\"type\":\"text\",\"timestamp\":1769421600000,\"sessionID\":\"ses_1\",\"part\":{\"text\":"
	"\"{\\\"protocol_version\\\":\\\"1.2\\\",\\\"iteration\\\":1}\",\"time\":{\"start\":1}}}"),
};

/* Left to yyjson, whatever it says. */
static const char *const odd_texts[] = {
	"", " ", "{", "}", "{\"t\\u0079pe\":1}", "{\"type\"", "{\"type\":", "{type\":1}", "{\"type\",1}", "[", "]", "[1", "[1,", "[1,]", "{\"a\"", "{\"a\":", "{\"a\":1", "{\"a\":1,", "{\"a\":1,}",
	"{a:1}", "{\"a\" 1}", "[1 2]", "1 2", "[]]", "{}{}", "\"", "\"a", "\"\\\"", "\"\\u12\"", "\"\\u123g\"",
	"\"\\x\"", "\"\\ud83d\"", "\"\\ud83d\\u0041\"", "\"\\ude00\"", "\"\t\"", "\"\xff\"", "\"\xc3\"",
	"\"\xc0\xaf\"", "\"\xed\xa0\x80\"", "\"\xf4\x90\x80\x80\"", "01", "-", "-0", "1.", ".5", "+1", "1e5",
	"1E-2", "1234567890123456", "12345678901234567890", "123456789012345678901234567890", "0.1234567890123456",
	"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[1,2,3,4,5,6,7", "tru", "truth", "nul", "nan", "Infinity", "[1}", "{\"a\":1]", "\xef\xbb\xbf{}", "//\n1", "'a'",
};

enum { PLAIN = sizeof(plain_texts) / sizeof(plain_texts[0]), ODD = sizeof(odd_texts) / sizeof(odd_texts[0]) };

static bool always(void)
{
	return true;
}

static const struct quick_variant portable = { .runs = always, .values = values, .unescape = unescape };
static const struct quick_variant *const ways[] = {
#ifdef QUICK_X86
	&quick_avx512,
	&quick_avx2,
#endif
	&quick_any,
	&portable,
};
enum { WAYS = sizeof(ways) / sizeof(ways[0]) };

/* Whether this processor can go that way, which is then used. */
static bool use_way(int i)
{
	if (!ways[i]->runs())
		return false;
	quick_used = ways[i];
	return true;
}

/* extra: bytes to compare behind a string, where yyjson puts its NUL */
static void assert_same(yyjson_val *a, yyjson_val *b, size_t extra, const char *text)
{
	ck_assert_msg(a->tag == b->tag, "%s: %llx, not %llx", text, (unsigned long long)a->tag,
		      (unsigned long long)b->tag);
	switch (yyjson_get_type(a)) {
	case YYJSON_TYPE_STR:
		ck_assert_msg(memcmp(a->uni.str, b->uni.str, yyjson_get_len(a) + extra) == 0, "%s", text);
		break;
	case YYJSON_TYPE_NUM:
		ck_assert_msg(a->uni.u64 == b->uni.u64, "%s", text);
		break;
	case YYJSON_TYPE_ARR:
	case YYJSON_TYPE_OBJ:
		ck_assert_msg(a->uni.ofs == b->uni.ofs, "%s", text);
		break;
	default:
		break;
	}
}

/* Names as the dialects have them; what was guessed of the texts before may be wrong of the
 * next. */
static struct names *some_names(void)
{
	static const char *const list[] = { "a",
					    "b",
					    "c",
					    "type",
					    "timestamp",
					    "sessionID",
					    "part",
					    "text",
					    "time",
					    "type_of_27_bytes_is_the_end",
					    "type_of_28_bytes_is_too_much" };
	static struct names names;

	if (names.n)
		return &names;
	for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++)
		ck_assert((names_add(&names, str_of(list[i])) != NULL) == (i < 10));
	return &names;
}

/* A text with a newline behind it is read as a line just if it is read otherwise; but its first newline
 * ends it. */
static void check_line(const char *text, size_t n, const yyjson_doc *otherwise)
{
	size_t pool_bytes = QUICK_POOL_BYTES(n + 1);
	void *pool = malloc(pool_bytes);
	const char *newline = memchr(text, '\n', n + 1), *end = NULL;
	yyjson_doc *line = quick_read(text, n + 1, &end, some_names(), pool, pool_bytes);

	ck_assert_msg(!line || end == newline, "%.*s", (int)n, text);
	if (newline == text + n)
		ck_assert_msg(line ? otherwise && line->val_read == otherwise->val_read : !otherwise,
			      "%.*s", (int)n, text);
	free(pool);
}

/* Lazily, with names, and with another message behind it, as in a log. */
static bool check_lazily(const char *text, size_t n, yyjson_doc *want)
{
	static const char behind[QUICK_PADDING] = "\n1,\"text\":[1,2],\"type\":{}}]]";
	size_t pool_bytes = QUICK_POOL_BYTES(n);
	char *copy = malloc(n + QUICK_PADDING);
	void *pool = malloc(pool_bytes);
	struct names *names = some_names();
	yyjson_doc *quick;

	memcpy(copy, text, n);
	memcpy(copy + n, behind, QUICK_PADDING);
	quick = quick_read(copy, n, NULL, names, pool, pool_bytes);
	check_line(copy, n, quick);
	if (quick) {
		ck_assert_uint_eq(quick->val_read, want->val_read);
		for (size_t i = want->val_read; i-- > 0;) {
			if (quick->root[i].tag & JSON_ESCAPED)
				json_unescape(quick->root + i);
			assert_same(quick->root + i, want->root + i, 0, text);
		}
		ck_assert_int_eq(memcmp(copy + n, behind, QUICK_PADDING), 0);
	}
	free(copy);
	free(pool);
	return quick != NULL;
}

/* Whether the quick parser takes it. */
static bool check(const char *text, size_t n)
{
	size_t pool_bytes = QUICK_POOL_BYTES(n);
	char *copy = calloc(1, n + QUICK_PADDING); /* so that a look too far is seen */
	void *pool = malloc(pool_bytes);
	yyjson_doc *quick, *want = yyjson_read(text, n, YYJSON_READ_BIGNUM_AS_RAW);

	memcpy(copy, text, n);
	quick = quick_read(copy, n, NULL, NULL, pool, pool_bytes);
	ck_assert_msg(memcmp(copy, text, n) == 0, "%.*s was written to", (int)n, text);
	if (quick) {
		ck_assert_msg(want != NULL, "%.*s is not JSON", (int)n, text);
		ck_assert_uint_eq(quick->val_read, want->val_read);
		tree_unescape(quick);
		for (size_t i = 0; i < want->val_read; i++)
			assert_same(quick->root + i, want->root + i, 1, text);
	}
	ck_assert_msg(check_lazily(text, n, want) == (quick != NULL), "%.*s", (int)n, text);
	yyjson_doc_free(want);
	free(copy);
	free(pool);
	return quick != NULL;
}

/* Walks two trees as yyjson's own functions do, which rely on the order of values, on `ofs` of
 * containers, on lengths, and on types that our bits of a tag leave alone. */
static void assert_walks_alike(yyjson_val *a, yyjson_val *b)
{
	ck_assert_uint_eq(yyjson_get_type(a), yyjson_get_type(b));
	if (yyjson_is_obj(a)) {
		yyjson_obj_iter i = yyjson_obj_iter_with(a), k = yyjson_obj_iter_with(b);
		yyjson_val *name, *other;

		ck_assert_uint_eq(yyjson_obj_size(a), yyjson_obj_size(b));
		while ((name = yyjson_obj_iter_next(&i))) {
			ck_assert_ptr_nonnull(other = yyjson_obj_iter_next(&k));
			ck_assert(str_eq(json_str(name), json_str(other)));
			ck_assert_ptr_eq(yyjson_obj_getn(a, name->uni.str, yyjson_get_len(name)),
					 yyjson_obj_iter_get_val(name));
			assert_walks_alike(yyjson_obj_iter_get_val(name), yyjson_obj_iter_get_val(other));
		}
		ck_assert(!yyjson_obj_iter_has_next(&k));
	} else if (yyjson_is_arr(a)) {
		ck_assert_uint_eq(yyjson_arr_size(a), yyjson_arr_size(b));
		for (size_t i = 0; i < yyjson_arr_size(a); i++)
			assert_walks_alike(yyjson_arr_get(a, i), yyjson_arr_get(b, i));
	} else if (yyjson_is_str(a)) {
		ck_assert(yyjson_is_str(b) && yyjson_get_len(a) >= yyjson_get_len(b));
		ck_assert(str_eq(json_str(a), json_str(b)));
	} else {
		ck_assert(yyjson_equals(a, b));
	}
}

/* The layout that quick.c asserts, as yyjson's functions understand it. */
START_TEST(yyjson_walks_the_tree)
{
	static const char text[] = "{\"a\":[1,-2,0.5,[],{},[[\"x\\n\"],{\"y\":\"\\/\\u0041\"}],true,false,null],"
				   "\"b\":{\"type\":\"\\\\\",\"c\":[{\"text\":\"z\"},\"\xc3\xa9\"]},\"time\":\"\"}";
	size_t pool_bytes = QUICK_POOL_BYTES(sizeof(text) - 1), n;
	yyjson_doc *quick, *want = yyjson_read(text, sizeof(text) - 1, 0);
	char copy[sizeof(text) + QUICK_PADDING] = { 0 }, *written, *own;
	void *pool = malloc(pool_bytes);

	if (!use_way(_i))
		return;
	memcpy(copy, text, sizeof(text));
	quick = quick_read(copy, sizeof(text) - 1, NULL, some_names(), pool, pool_bytes);
	ck_assert_ptr_nonnull(quick);
	ck_assert_ptr_eq(yyjson_doc_get_root(quick), quick->root);
	ck_assert_uint_eq(yyjson_doc_get_val_count(quick), yyjson_doc_get_val_count(want));
	ck_assert_uint_eq(yyjson_doc_get_read_size(quick), sizeof(text) - 1);
	assert_walks_alike(quick->root, want->root);
	written = yyjson_val_write(quick->root, 0, &n);
	own = yyjson_val_write(want->root, 0, NULL);
	ck_assert_str_eq(written, own);
	free(written);
	free(own);
	free(pool);
	yyjson_doc_free(want);
}
END_TEST

/* A pool that is too small is not written to. */
START_TEST(a_small_pool)
{
	char text[16 + QUICK_PADDING] = "[1,2]", pool[QUICK_POOL_BYTES(5)];

	memset(pool, 'x', sizeof(pool));
	ck_assert_ptr_null(quick_read(text, 5, NULL, NULL, pool, QUICK_POOL_BYTES(5) - 1));
	for (size_t i = 0; i < sizeof(pool); i++)
		ck_assert_int_eq(pool[i], 'x');
}
END_TEST

START_TEST(plain_json)
{
	if (!use_way(_i))
		return;
	for (int i = 0; i < PLAIN; i++)
		ck_assert_msg(check(plain_texts[i], strlen(plain_texts[i])), "%s", plain_texts[i]);
}
END_TEST

START_TEST(odd_json)
{
	if (!use_way(_i))
		return;
	for (int i = 0; i < ODD; i++)
		ck_assert_msg(!check(odd_texts[i], strlen(odd_texts[i])), "%s", odd_texts[i]);
	ck_assert(!check("[1]\0", 4));
	ck_assert(!check("\"a\0b\"", 5));
}
END_TEST

START_TEST(nesting)
{
	char text[2 * JSON_DEPTH_MAX + 2];

	if (!use_way(_i))
		return;
	memset(text, '[', JSON_DEPTH_MAX + 1);
	memset(text + JSON_DEPTH_MAX + 1, ']', JSON_DEPTH_MAX + 1);
	ck_assert(!check(text, 2 * JSON_DEPTH_MAX + 2));
	ck_assert(check(text + 1, 2 * JSON_DEPTH_MAX));
}
END_TEST

/* What is odd at every place of a long string: steps and blocks end everywhere. */
START_TEST(every_place)
{
	static const char *const odd[] = { "\\n",
					   "\\\\",
					   "\\\"",
					   "\\/",
					   "\\u0041",
					   "\\ud83d\\ude00",
					   "\xc3\xa9",
					   "\xe2\x82\xac",
					   "\xf0\x9f\x98\x80",
					   "\\\\\\\\\\\\\\n",
					   "\xe0\x80\x80",
					   "\x01",
					   "\xc3",
					   "\\u00",
					   "\\ud83d",
					   "\\x",
					   "\"",
					   "\\" };
	enum { ODDS = sizeof(odd) / sizeof(odd[0]), LONG = 150 };
	char text[LONG + 64];

	if (!use_way(_i))
		return;
	for (int i = 0; i < ODDS * ODDS; i++)
		for (size_t at = 0; at <= LONG; at += 1 + (i % ODDS != 0)) {
			size_t n = 0;

			text[n++] = '"';
			memset(text + n, 'x', at);
			n += at;
			for (int k = 0; k < 2; k++) {
				const char *piece = odd[k ? i % ODDS : i / ODDS];

				memcpy(text + n, piece, strlen(piece));
				n += strlen(piece);
			}
			memset(text + n, 'y', LONG - at);
			n += LONG - at;
			text[n++] = '"';
			check(text, n);
		}
}
END_TEST

/* Escapes become text by blocks that begin at the first: others at every place of the blocks behind
 * it, also across their ends. */
START_TEST(far_apart)
{
	static const char *const some[] = { "\\n", "\\\\", "\\\"",     "\\t",
					    "\\r", "\\/",  "\\u0041", "\\\\\\n" };
	enum { SOME = sizeof(some) / sizeof(some[0]), LONG = 300 };
	char text[LONG + 64];

	if (!use_way(_i))
		return;
	for (int i = 0; i < SOME * SOME; i++)
		for (size_t at = 0; at < LONG / 2; at++) {
			const char *first = some[i / SOME], *others = some[i % SOME];
			size_t n = 0;

			text[n++] = '"';
			memcpy(text + n, first, strlen(first));
			n += strlen(first);
			for (size_t k = 0; n < LONG; k++) {
				if (k % (at + 1) == at) {
					memcpy(text + n, others, strlen(others));
					n += strlen(others);
				} else {
					text[n++] = (char)('a' + k % 26);
				}
			}
			text[n++] = '"';
			ck_assert_msg(check(text, n), "%.*s", (int)n, text);
		}
}
END_TEST

/* All that is and is not UTF-8, near enough: every first byte, and behind it those at the ends of what
 * a character may have. */
START_TEST(every_character)
{
	static const unsigned char second[] = { 'a', 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc3 };
	static const unsigned char more[] = { 'a', 0x80, 0xbf, 0xc3 };
	enum { SECONDS = sizeof(second), MORES = sizeof(more), LONG = 150 };
	char text[LONG + 8];

	if (!use_way(_i))
		return;
	for (unsigned i = 0; i < 128 * SECONDS * MORES * MORES; i++) {
		size_t at = 1 + i * 7 % (LONG - 8);
		unsigned k = i / 128;
		yyjson_doc *want;

		memset(text, 'x', LONG);
		text[0] = text[LONG - 1] = '"';
		text[at] = (char)(0x80 + i % 128);
		text[at + 1] = (char)second[k % SECONDS];
		text[at + 2] = (char)more[k / SECONDS % MORES];
		text[at + 3] = (char)more[k / SECONDS / MORES];
		want = yyjson_read(text, LONG, 0);
		ck_assert_msg(check(text, LONG) == (want != NULL), "%02x %02x %02x %02x",
			      text[at] & 0xff, text[at + 1] & 0xff, text[at + 2] & 0xff,
			      text[at + 3] & 0xff);
		yyjson_doc_free(want);
	}
}
END_TEST

static uint32_t chance(uint32_t below)
{
	static uint64_t state = 0x9e3779b97f4a7c15u;

	state = state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(state >> 33) % below;
}

START_TEST(changed_bytes)
{
	static const char likely[] = "\"\\{}[]:,.-0123456789eEutrufalsnb \t\n\x80\xc3\xa9\x01/";
	unsigned taken = 0;

	if (!use_way(_i))
		return;
	for (int round = 0; round < 40000; round++) {
		const char *from = plain_texts[chance(PLAIN)];
		size_t n = strlen(from);
		char text[512];

		memcpy(text, from, n);
		for (uint32_t changes = 1 + chance(3); changes && n; changes--) {
			size_t at = chance((uint32_t)n);

			if (chance(3) == 0) {
				memmove(text + at, text + at + 1, --n - at);
			} else if (chance(2) && n < sizeof(text) - 8) {
				memmove(text + at + 1, text + at, n++ - at);
				text[at] = likely[chance(sizeof(likely) - 1)];
			} else {
				text[at] = likely[chance(sizeof(likely) - 1)];
			}
		}
		taken += check(text, n);
	}
	ck_assert_uint_gt(taken, 4000);
}
END_TEST

/* The hash of a text that is read lazily, and again once all its strings were asked for. */
static uint64_t hash_of(const char *json)
{
	struct json_reader r = { 0 };
	yyjson_val *v;
	uint64_t lazily, after;

	ck_assert_int_eq(json_read_lazily(&r, str_of(json), &v), JSON_OK);
	lazily = value_hash(v);
	for (size_t i = 0; i < r.doc->val_read; i++)
		json_str(v + i);
	after = value_hash(v);
	ck_assert_msg(lazily == after, "%s", json);
	json_reader_release(&r);
	return lazily;
}

/* A name is another one's beginning where it ends with a quote and a colon. */
START_TEST(names_are_found_whole)
{
	const struct names *names = some_names();

	ck_assert_uint_ne(names_find(names, STR("a")), 0);
	ck_assert_uint_eq(names_find(names, STR("a\":")), 0);
	ck_assert_uint_eq(names_find(names, STR("a\":b")), 0);
	ck_assert_uint_eq(names_find(names, STR("")), 0);
}
END_TEST

/* What was read ahead is for the next who reads there, and for nobody once another text may stand
 * there: a line over the limit is read ahead, and never asked for. */
START_TEST(read_ahead_is_forgotten)
{
	struct json_reader r = { .names = some_names(), .in_place = true };
	char room[64 + JSON_PADDING] = "{\"a\":1}\n";
	yyjson_val *root;

	ck_assert_ptr_eq(json_read_ahead(&r, room, room + 8), room + 7);
	ck_assert_int_eq(json_read_lazily(&r, str_make(room, 7), &root), JSON_OK);
	ck_assert_uint_eq(yyjson_get_uint(json_get(root, "a")), 1);
	ck_assert_ptr_eq(json_read_ahead(&r, room, room + 8), room + 7);
	json_reader_forget(&r);
	memcpy(room, "[2]\n", 4);
	ck_assert_int_eq(json_read_lazily(&r, str_make(room, 3), &root), JSON_OK);
	ck_assert(yyjson_is_arr(root));
	json_reader_release(&r);
}
END_TEST

/* Whatever is read as JSON must be possible; of log lines, most must not be. */
START_TEST(what_is_possible)
{
	static const char *const log_lines[] = {
		"[worker] done", "2026-01-26 10:00 done", "npm WARN", "not found", "true story",
		"\"quoted\" and more", "[2026-01-26] done", "[nullable] x", "-- a rule", "12 files",
	};
	static const char likely[] = "[]{}\",:tfn0-1e. \ttrue\\ux";
	struct json_reader r = { 0 }, quiet = { .quiet = true };
	yyjson_val *root;
	char text[200];
	uint32_t read = 0;

	for (size_t i = 0; i < sizeof(log_lines) / sizeof(*log_lines); i++)
		ck_assert_msg(!json_is_possible(str_of(log_lines[i])), "%s", log_lines[i]);
	ck_assert(json_is_possible(STR(" [ null , 1]")));
	for (int round = 0; round < 300000; round++) {
		size_t n = 1 + chance(6);
		enum json_outcome outcome;

		for (size_t i = 0; i < n; i++)
			text[i] = likely[chance(sizeof(likely) - 1)];
		outcome = json_read(&r, str_make(text, n), &root);
		ck_assert_msg(outcome == JSON_NOT || json_is_possible(str_make(text, n)), "%.*s",
			      (int)n, text);
		ck_assert_int_eq(json_read(&quiet, str_make(text, n), &root), outcome);
		read += outcome == JSON_OK;
	}
	ck_assert_uint_gt(read, 1000);
	memset(text, '{', sizeof(text)); /* what is nested too deep is, whoever asks */
	for (size_t n = 1; n <= sizeof(text); n++)
		ck_assert_int_eq(json_read(&quiet, str_make(text, n), &root),
				 json_read(&r, str_make(text, n), &root));
	json_reader_release(&quiet);
	json_reader_release(&r);
}
END_TEST

/* Every byte at every place of a text of some words. */
START_TEST(texts_are_written_as_json)
{
	struct buf out = { 0 }, wanted = { 0 };
	char text[17];

	for (unsigned c = 0; c < 0x80; c++)
		for (size_t at = 0; at < sizeof(text); at++) {
			memset(text, 'x', sizeof(text));
			text[at] = (char)c;
			buf_clear(&wanted);
			buf_addc(&wanted, '"');
			buf_add(&wanted, text, at);
			if (c == '"' || c == '\\')
				buf_printf(&wanted, "\\%c", c);
			else if (c == '\n' || c == '\t' || c == '\r')
				buf_printf(&wanted, "\\%c", c == '\n' ? 'n' : c == '\t' ? 't' : 'r');
			else if (c < 0x20 || c == 0x7f)
				buf_printf(&wanted, "\\u%04x", c);
			else
				buf_addc(&wanted, (char)c);
			buf_add(&wanted, text + at + 1, sizeof(text) - at - 1);
			buf_addc(&wanted, '"');
			buf_clear(&out);
			json_write_str(&out, str_make(text, sizeof(text)));
			ck_assert_str_eq(out.p, wanted.p);
		}
	buf_release(&out);
	buf_release(&wanted);
}
END_TEST

START_TEST(hashes_of_spellings)
{
	static const char *const same[][2] = {
		{ "\"a\\/b\"", "\"a/b\"" },
		{ "\"\\u0041\\n\"", "\"A\\u000a\"" },
		{ "\"\\u00e9 \\\\ \\\"\"", "\"\xc3\xa9 \\u005c \\u0022\"" },
		{ "\"\\t\\r\\b\\f\"", "\"\\u0009\\u000D\\u0008\\u000c\"" },
		{ "\"\\u001f\"", "\"\\u001F\"" },
		{ "{\"a\":1,\"b\":[true,{\"c\":\"\\n\"}]}", "{ \"b\":[true, {\"c\":\"\\u000a\"}], \"\\u0061\":1.0}" },
		{ "[12345678901234567890123, 0.5]", "[ 12345678901234567890123,5e-1 ]" },
	};
	static const char *const different[] = {
		"\"n\"", "\"\\n\"", "\"\\\\n\"", "\"\\\\\\n\"", "\"\\u0000\"", "\"u0000\"", "\"\"",
		"1", "\"1\"", "[1]", "[[1]]", "{\"1\":1}", "true", "false", "null", "0", "-1", "1.5",
		"[]", "{}", "[null]", "[[]]", "[{}]", "[1,2]", "[2,1]", "[1,[2]]", "[[1],2]",
		"{\"a\":\"b\"}", "{\"b\":\"a\"}", "{\"a\":\"a\"}", "{\"a\":1,\"b\":2}",
		"{\"a\":2,\"b\":1}", "{\"a\":{\"b\":2}}", "{\"a\":1,\"a\":1}", "{\"a\":1}",
		"12345678901234567890123", "12345678901234567890124", "\"12345678901234567890123\"",
	};

	for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++)
		ck_assert_msg(hash_of(same[i][0]) == hash_of(same[i][1]), "%s", same[i][0]);
	for (size_t i = 0; i < sizeof(different) / sizeof(different[0]); i++)
		for (size_t k = 0; k < i; k++)
			ck_assert_msg(hash_of(different[i]) != hash_of(different[k]), "%s",
				      different[i]);
}
END_TEST

/* Every byte of a string counts, and nothing behind it. */
START_TEST(hashes_of_lengths)
{
	enum { LONGEST = 120 };
	struct json_reader r = { 0 };
	char text[LONGEST + 64];
	uint64_t plain[LONGEST + 1];
	yyjson_val *v;

	for (size_t n = 0; n <= LONGEST; n++) {
		memset(text, 'x', sizeof(text));
		text[0] = text[n + 1] = '"';
		ck_assert_int_eq(json_read_lazily(&r, str_make(text, n + 2), &v), JSON_OK);
		plain[n] = value_hash(v);
		for (size_t k = 0; k < n; k++)
			ck_assert(plain[k] != plain[n]);
		for (size_t at = 1; at <= n; at++) {
			text[at] = 'y';
			ck_assert_int_eq(json_read_lazily(&r, str_make(text, n + 2), &v), JSON_OK);
			ck_assert_msg(value_hash(v) != plain[n], "byte %zu of %zu", at, n);
			text[at] = 'x';
		}
		memset(text + n + 2, 'z', sizeof(text) - n - 2);
		r.in_place = true;
		text[n + 2] = '\n';
		ck_assert_int_eq(json_read_lazily(&r, str_make(text, n + 2), &v), JSON_OK);
		ck_assert(value_hash(v) == plain[n]);
		r.in_place = false;
	}
	json_reader_release(&r);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("quick");
	TCase *t = tcase_create("beside yyjson");

	tcase_set_timeout(t, 60); /* sanitizers on a busy machine */
	tcase_add_loop_test(t, yyjson_walks_the_tree, 0, WAYS);
	tcase_add_test(t, a_small_pool);
	tcase_add_loop_test(t, plain_json, 0, WAYS);
	tcase_add_loop_test(t, odd_json, 0, WAYS);
	tcase_add_loop_test(t, nesting, 0, WAYS);
	tcase_add_loop_test(t, every_character, 0, WAYS);
	tcase_add_loop_test(t, every_place, 0, WAYS);
	tcase_add_loop_test(t, far_apart, 0, WAYS);
	tcase_add_loop_test(t, changed_bytes, 0, WAYS);
	tcase_add_test(t, names_are_found_whole);
	tcase_add_test(t, read_ahead_is_forgotten);
	tcase_add_test(t, what_is_possible);
	tcase_add_test(t, texts_are_written_as_json);
	tcase_add_test(t, hashes_of_spellings);
	tcase_add_test(t, hashes_of_lengths);
	suite_add_tcase(suite, t);
	return unit_run(suite);
}
