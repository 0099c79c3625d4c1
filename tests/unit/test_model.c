/* What the model remembers of messages by their ids: the same message again is a note and changes
 * nothing, another one under the same id is an error, and nothing else is taken for either. */
#include "model/model.h"

#include "unit.h"

#include <stdio.h>

enum { MANY = 200000 };

static struct model model;
static struct arena arena;

static void setup(void)
{
	model_init(&model);
}

static void teardown(void)
{
	model_release(&model);
	arena_release(&arena);
}

/* The record of an orchestrator message, or of a line of text where id is "". */
static struct record add(const char *session, const char *id, uint64_t content, int64_t time_ms)
{
	struct message m = { .dialect = *id ? DIALECT_ORCHESTRATOR : DIALECT_TEXT,
			     .kind = STR("event:log"), .id = str_of(id), .session = str_of(session),
			     .content_hash = content, .time_ms = time_ms, .sequence = -1,
			     .inside = "", .diags = { .arena = &arena } };
	struct place place = { .line = model.records.n + 1, .group = STR("log.ndjson") };

	model_apply(&model, &m, &place);
	message_release(&m);
	return *vec_last(&model.records);
}

/* An assertion of libcheck costs more than a message: the tests of many count for themselves. */
static bool is_new(struct record r)
{
	return !r.errors && !r.notes && !(r.flags & RECORD_REPEATED);
}

static bool is_repeat(struct record r)
{
	return !r.errors && r.notes == 1 && r.flags & RECORD_REPEATED;
}

static bool is_clash(struct record r)
{
	return r.errors == 1 && !r.notes && !(r.flags & RECORD_REPEATED);
}

START_TEST(the_same_again_is_a_note)
{
	ck_assert(is_new(add("", "a", 7, 1)));
	ck_assert(is_repeat(add("", "a", 7, 1)));
	ck_assert(is_repeat(add("", "a", 7, 1)));
	assert_str(vec_last(&model.findings)->text,
		   "the same message as in line 1; it changes nothing");
}
END_TEST

START_TEST(another_under_the_id_is_an_error)
{
	ck_assert(is_new(add("", "a", 7, 1)));
	ck_assert(is_clash(add("", "a", 8, 1)));
	assert_str(vec_last(&model.findings)->text, "the id of another message, in line 1");
	/* the first one stays the one that later ones are held against */
	ck_assert(is_repeat(add("", "a", 7, 1)));
	ck_assert(is_clash(add("", "a", 8, 1)));
}
END_TEST

/* Few bits of the content are kept; where just these are equal, the time tells. */
START_TEST(another_time_is_another_message)
{
	ck_assert(is_new(add("", "a", 7, 1)));
	ck_assert(is_clash(add("", "a", 7, 2)));
}
END_TEST

START_TEST(sessions_have_ids_of_their_own)
{
	ck_assert(is_new(add("one", "a", 7, 1)));
	ck_assert(is_new(add("two", "a", 7, 1)));
	ck_assert(is_new(add("three", "a", 8, 1)));
	ck_assert(is_repeat(add("two", "a", 7, 1)));
	ck_assert(is_clash(add("three", "a", 7, 1)));
}
END_TEST

START_TEST(messages_without_an_id_are_never_the_same)
{
	for (unsigned i = 0; i < 5; i++)
		ck_assert(is_new(add("", "", 7, 1)));
	ck_assert_uint_eq(model.ids.of.n, 0);
	ck_assert(is_new(add("", "a", 7, 1)));
	ck_assert(is_new(add("", "", 7, 1)));
	ck_assert(is_repeat(add("", "a", 7, 1)));
	ck_assert_uint_eq(message_with_id(&model, 0, STR("")), NONE);
	ck_assert_uint_eq(message_with_id(&model, 0, STR("a")), 5);
	ck_assert_uint_eq(message_with_id(&model, 0, STR("b")), NONE);
}
END_TEST

static const char *numbered(unsigned i)
{
	static char id[32];

	snprintf(id, sizeof(id), "msg-%u", i);
	return id;
}

/* Far beyond the first buckets, which so are split several times over; text comes in between. */
START_TEST(many_ids_are_all_found_and_none_is_mistaken)
{
	unsigned mistaken = 0, lost = 0;

	for (unsigned i = 0; i < MANY; i++) {
		if (i % 7 == 0)
			add("", "", 0, 1);
		mistaken += !is_new(add("", numbered(i), i, 1));
	}
	for (unsigned i = 0; i < MANY; i++)
		lost += message_with_id(&model, 0, str_of(numbered(i))) != i + i / 7 + 1;
	for (unsigned i = MANY; i < 2 * MANY; i++)
		mistaken += message_with_id(&model, 0, str_of(numbered(i))) != NONE;
	ck_assert_uint_eq(mistaken, 0);
	ck_assert_uint_eq(lost, 0);
	for (unsigned i = 0; i < MANY; i += 1000) {
		ck_assert(is_repeat(add("", numbered(i), i, 1)));
		ck_assert(is_clash(add("", numbered(i), i + 1, 1)));
	}
}
END_TEST

/* The bytes that a message may cost beside its record, slack not counted: it is never touched. */
START_TEST(ids_cost_14_bytes_a_message)
{
	for (unsigned i = 0; i < MANY; i++)
		add("", numbered(i), i, 1);
	ck_assert_uint_le(model.ids.of.n * sizeof(*model.ids.of.v) +
				  model.ids.buckets.n * sizeof(*model.ids.buckets.v),
			  14 * MANY);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("model");
	TCase *t = tcase_create("ids");

	tcase_add_checked_fixture(t, setup, teardown);
	suite_add_tcase(suite, t);
	tcase_add_test(t, the_same_again_is_a_note);
	tcase_add_test(t, another_under_the_id_is_an_error);
	tcase_add_test(t, another_time_is_another_message);
	tcase_add_test(t, sessions_have_ids_of_their_own);
	tcase_add_test(t, messages_without_an_id_are_never_the_same);
	tcase_add_test(t, many_ids_are_all_found_and_none_is_mistaken);
	tcase_add_test(t, ids_cost_14_bytes_a_message);
	return unit_run(suite);
}
