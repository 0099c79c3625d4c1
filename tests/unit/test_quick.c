/* The quick parser against yyjson: whatever it takes, yyjson takes too and makes the same tree of. Both of
 * its ways through a string are held against it, on texts of all kinds and on what is left of them when
 * bytes are changed at random. */
#include "json/json.h"
#include "json/quick.h"
#include "unit.h"

#include <stdlib.h>

/* the same file once more, as it is where there is no SSE2 */
yyjson_doc *quick_read_portable(char *text, size_t n, void *pool, size_t pool_bytes);
#define QUICK_PORTABLE
#define quick_read quick_read_portable
#define quick_pool_bytes quick_pool_bytes_portable
size_t quick_pool_bytes(size_t n);
#include "../../src/json/quick.c"
#undef quick_read
#undef quick_pool_bytes

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
	"{ \"key with \\\"escapes\\\"\" : [ 1 , 2 ] , \"x\" : null }",
	("{\"type\":\"text\",\"timestamp\":1769421600000,\"sessionID\":\"ses_1\",\"part\":{\"text\":"
	"\"{\\\"protocol_version\\\":\\\"1.2\\\",\\\"iteration\\\":1}\",\"time\":{\"start\":1}}}"),
};

/* Left to yyjson, whatever it says. */
static const char *const odd_texts[] = {
	"", " ", "{", "}", "[", "]", "[1", "[1,", "[1,]", "{\"a\"", "{\"a\":", "{\"a\":1", "{\"a\":1,", "{\"a\":1,}",
	"{a:1}", "{\"a\" 1}", "[1 2]", "1 2", "[]]", "{}{}", "\"", "\"a", "\"\\\"", "\"\\u12\"", "\"\\u123g\"",
	"\"\\x\"", "\"\\ud83d\"", "\"\\ud83d\\u0041\"", "\"\\ude00\"", "\"\t\"", "\"\xff\"", "\"\xc3\"",
	"\"\xc0\xaf\"", "\"\xed\xa0\x80\"", "\"\xf4\x90\x80\x80\"", "01", "-", "-0", "1.", ".5", "+1", "1e5",
	"1E-2", "1234567890123456", "12345678901234567890", "123456789012345678901234567890", "0.1234567890123456",
	"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[1,2,3,4,5,6,7", "tru", "truth", "nul", "nan", "Infinity", "[1}", "{\"a\":1]", "\xef\xbb\xbf{}", "//\n1", "'a'",
};

enum { PLAIN = sizeof(plain_texts) / sizeof(plain_texts[0]), ODD = sizeof(odd_texts) / sizeof(odd_texts[0]) };

typedef yyjson_doc *(*read_fn)(char *text, size_t n, void *pool, size_t pool_bytes);
static const read_fn readers[] = { quick_read, quick_read_portable };

static void assert_same(yyjson_val *a, yyjson_val *b, const char *text)
{
	ck_assert_msg(a->tag == b->tag, "%s: %llx, not %llx", text, (unsigned long long)a->tag,
		      (unsigned long long)b->tag);
	switch (yyjson_get_type(a)) {
	case YYJSON_TYPE_STR:
		ck_assert_msg(memcmp(a->uni.str, b->uni.str, yyjson_get_len(a) + 1) == 0, "%s", text);
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

/* Whether the quick parser takes it. */
static bool check(read_fn read, const char *text, size_t n)
{
	size_t pool_bytes = quick_pool_bytes(n);
	char *copy = calloc(1, n + QUICK_PADDING); /* so that a look too far is seen */
	void *pool = malloc(pool_bytes);
	yyjson_doc *quick, *want = yyjson_read(text, n, YYJSON_READ_BIGNUM_AS_RAW);

	memcpy(copy, text, n);
	quick = read(copy, n, pool, pool_bytes);
	if (quick) {
		ck_assert_msg(want != NULL, "%.*s is not JSON", (int)n, text);
		ck_assert_uint_eq(quick->val_read, want->val_read);
		for (size_t i = 0; i < want->val_read; i++)
			assert_same(quick->root + i, want->root + i, text);
	}
	yyjson_doc_free(want);
	free(copy);
	free(pool);
	return quick != NULL;
}

START_TEST(plain_json)
{
	for (int i = 0; i < PLAIN; i++)
		ck_assert_msg(check(readers[_i], plain_texts[i], strlen(plain_texts[i])), "%s",
			      plain_texts[i]);
}
END_TEST

START_TEST(odd_json)
{
	for (int i = 0; i < ODD; i++)
		ck_assert_msg(!check(readers[_i], odd_texts[i], strlen(odd_texts[i])), "%s",
			      odd_texts[i]);
	ck_assert(!check(readers[_i], "[1]\0", 4));
	ck_assert(!check(readers[_i], "\"a\0b\"", 5));
}
END_TEST

START_TEST(nesting)
{
	char text[2 * JSON_DEPTH_MAX + 2];

	memset(text, '[', JSON_DEPTH_MAX + 1);
	memset(text + JSON_DEPTH_MAX + 1, ']', JSON_DEPTH_MAX + 1);
	ck_assert(!check(readers[_i], text, 2 * JSON_DEPTH_MAX + 2));
	ck_assert(check(readers[_i], text + 1, 2 * JSON_DEPTH_MAX));
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
		taken += check(readers[_i], text, n);
	}
	ck_assert_uint_gt(taken, 4000);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("quick");
	TCase *t = tcase_create("beside yyjson");

	tcase_add_loop_test(t, plain_json, 0, 2);
	tcase_add_loop_test(t, odd_json, 0, 2);
	tcase_add_loop_test(t, nesting, 0, 2);
	tcase_add_loop_test(t, changed_bytes, 0, 2);
	suite_add_tcase(suite, t);
	return unit_run(suite);
}
