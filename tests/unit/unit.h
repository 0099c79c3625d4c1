/* The frame of every test program. Each test runs in a process of its own; CK_FORK=no in the
 * environment turns that off for a debugger, and CK_RUN_CASE=name runs one case only. */
#ifndef GAVEL_TESTS_UNIT_H
#define GAVEL_TESTS_UNIT_H

#include "base/str.h"

#include <check.h>

#define assert_str(actual, literal) \
	do { \
		struct str actual_ = (actual), want_ = STR(literal); \
		ck_assert_msg(str_eq(actual_, want_), "%s is \"%.*s\" (%zu bytes), not \"%s\"", \
			      #actual, STR_ARG(actual_), actual_.n, literal); \
	} while (0)

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
