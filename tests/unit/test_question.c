/* What people type as an answer becomes: numbers the options' answers, several of them separated by
 * commas; a line for each question. And the edited input of a tool call. */
#include "decide/question.h"
#include "unit.h"

static struct json_reader reader;

static yyjson_val *options(const char *json)
{
	yyjson_val *root;

	ck_assert_int_eq(json_read(&reader, str_of(json), &root), JSON_OK);
	return root;
}

static const struct {
	const char *options, *typed, *answer;
	bool several;
} answers[] = {
	{ "[{\"label\":\"A\"},{\"label\":\"B\"}]", "2", "B", false },
	{ "[{\"label\":\"A\"},{\"label\":\"B\"}]", " B ", "B", false },
	{ "[{\"label\":\"A\"},{\"label\":\"B\"}]", "3", "3", false },
	{ "[{\"label\":\"A\"},{\"label\":\"B\"}]", "1, 2", "1, 2", false },
	{ "[{\"label\":\"A\"},{\"label\":\"B\"}]", "1, 2", "A, B", true },
	{ "[{\"label\":\"A\"},{\"label\":\"B\"}]", "2,,A,", "B, A", true },
	{ "[{\"label\":\"A\"},{\"label\":\"B\"}]", "1, of my own", "A, of my own", true },
	{ "[{\"label\":\"A, B\"},{\"label\":\"C\"}]", "A, B", "A, B", true },
	{ "[{\"label\":\"2\"},{\"label\":\"1\"}]", "2", "2", false },
	{ "[{\"const\":\"a\",\"title\":\"First\"}]", "1", "a", false },
	{ "[{\"value\":\"a\",\"label\":\"First\"}]", "1", "a", true },
	{ "[]", "1", "1", false },
	{ "[]", "two\nlines", "two lines", false },
	{ "[]", "  ", "", true },
};

START_TEST(typed_answers)
{
	struct detail_question q = { .options = options(answers[_i].options),
				     .several = answers[_i].several };
	struct buf out = { 0 };

	question_answer(&q, str_of(answers[_i].typed), &out);
	ck_assert_str_eq(out.n ? out.p : "", answers[_i].answer);
	buf_release(&out);
	json_reader_release(&reader);
}
END_TEST

START_TEST(inputs_are_objects)
{
	static const char *const wrong[] = { "", "ls", "[1]", "{\"a\":1", "{} {}" };
	struct draft draft = { .answer = STR("as before") };
	struct arena words = { 0 };
	struct err err;

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		ck_assert_int_eq(draft_set_input(&draft, str_of(wrong[i]), &words, &err), -1);
		ck_assert(str_is(draft.answer, "as before"));
	}
	ck_assert_int_eq(draft_set_input(&draft, STR("{\n  \"a\": [1, 2]\n}\n"), &words, &err), 0);
	ck_assert(str_is(draft.answer, "{\"a\":[1,2]}"));
	arena_release(&words);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("question");
	TCase *t = tcase_create("answers");

	tcase_add_loop_test(t, typed_answers, 0, sizeof(answers) / sizeof(answers[0]));
	tcase_add_test(t, inputs_are_objects);
	suite_add_tcase(s, t);
	return unit_run(s);
}
