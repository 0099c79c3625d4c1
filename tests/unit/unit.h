/* The frame of every test program. Each test runs in a process of its own; CK_FORK=no in the
 * environment turns that off for a debugger, and CK_RUN_CASE=name runs one case only. */
#ifndef GAVEL_TESTS_UNIT_H
#define GAVEL_TESTS_UNIT_H

#include "base/str.h"

#include <check.h>
#include <time.h>

#define assert_str(actual, literal) \
	do { \
		struct str actual_ = (actual), want_ = STR(literal); \
		ck_assert_msg(str_eq(actual_, want_), "%s is \"%.*s\" (%zu bytes), not \"%s\"", \
			      #actual, STR_ARG(actual_), actual_.n, literal); \
	} while (0)

/* Of a sentence in a struct err. */
#define assert_says(err, word) \
	ck_assert_msg(strstr((err).text, word) != NULL, "\"%s\" does not say \"%s\"", (err).text, \
		      word)

/* A clock that does not go back. */
static inline int64_t unit_now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Another group of tests, each between set_up and tear_down; both may be NULL. */
static inline TCase *unit_cases(Suite *suite, const char *name, void (*set_up)(void),
				void (*tear_down)(void))
{
	TCase *t = tcase_create(name);

	if (set_up || tear_down)
		tcase_add_checked_fixture(t, set_up, tear_down);
	/* sanitizers and loaded machines are slow; a test that hangs still ends */
	tcase_set_timeout(t, 120);
	suite_add_tcase(suite, t);
	return t;
}

/* Runs the suite and frees it; the result is main's. `make check` asks for TAP through libcheck's
 * environment: the lines tell what failed, and automake would count a nonzero exit code as one
 * failure more. By hand, the report and the exit code are libcheck's usual ones. */
static inline int unit_run(Suite *suite)
{
	SRunner *runner = srunner_create(suite);
	bool tap = srunner_has_tap(runner);
	int failed;

	srunner_run_all(runner, tap ? CK_SILENT : CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed && !tap;
}

#endif
