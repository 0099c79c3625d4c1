/* The index of the lines of reply files. */
#include "session/line_index.h"

#include "event/event.h"

#include "unit.h"

START_TEST(lines_of_a_key_come_in_their_order)
{
	struct line_index x = { 0 };
	uint32_t n = 0;

	for (uint32_t i = 0; i < 1000; i++)
		line_index_add(&x, i % 10, i);
	for (uint32_t i = line_index_first(&x, 7); i != NONE; i = x.nodes.v[i].next)
		ck_assert_uint_eq(x.nodes.v[i].line, n++ * 10 + 7);
	ck_assert_uint_eq(n, 100);
	ck_assert_uint_eq(line_index_first(&x, 10), NONE);
	ck_assert_ptr_null(line_index_find(&x, 10));
	line_index_release(&x);
}
END_TEST

/* A map tells keys apart by their upper halves only. */
START_TEST(keys_are_compared_whole)
{
	struct line_index x = { 0 };

	for (uint32_t i = 0; i < 100; i++)
		line_index_add(&x, UINT64_C(5) << 32 | i, i);
	for (uint32_t i = 0; i < 100; i++) {
		uint32_t node = line_index_first(&x, UINT64_C(5) << 32 | i);

		ck_assert_uint_ne(node, NONE);
		ck_assert_uint_eq(x.nodes.v[node].line, i);
		ck_assert_uint_eq(x.nodes.v[node].next, NONE);
	}
	ck_assert_uint_eq(line_index_first(&x, UINT64_C(5) << 32 | 100), NONE);
	line_index_release(&x);
}
END_TEST

START_TEST(a_list_grows_after_its_front_was_dropped)
{
	struct line_index x = { 0 };
	struct line_list *list = line_index_add(&x, 1, 10);

	list->first = x.nodes.v[list->first].next;
	ck_assert_uint_eq(line_index_first(&x, 1), NONE);
	line_index_add(&x, 1, 11);
	ck_assert_uint_eq(x.nodes.v[line_index_first(&x, 1)].line, 11);
	line_index_release(&x);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("line_index");
	TCase *t = unit_cases(suite, "lists", NULL, NULL);

	tcase_add_test(t, lines_of_a_key_come_in_their_order);
	tcase_add_test(t, keys_are_compared_whole);
	tcase_add_test(t, a_list_grows_after_its_front_was_dropped);
	return unit_run(suite);
}
