/* Inside this folder: what takes the most time, compiled for some processors only. Whoever includes
 * this says for which: QUICK_TARGET is what they have, as compilers name it, and QUICK_RUNS whether
 * this one does; QUICK_THIS is the table that comes of it. What other files share is included
 * before the target changes, so that nothing of it is compiled for these processors. */
#include "base/utf8.h"
#include "json/escapes.h"
#include "json/json.h"
#include "json/names.h"
#include "json/quick.h"

#include <immintrin.h>

static bool runs(void)
{
	return QUICK_RUNS;
}

#define PRAGMA_OF(...) _Pragma(#__VA_ARGS__)
#define PRAGMA(...) PRAGMA_OF(__VA_ARGS__)
#ifdef __clang__
PRAGMA(clang attribute push(__attribute__((target(QUICK_TARGET))), apply_to = function))
#else
PRAGMA(GCC push_options)
PRAGMA(GCC target(QUICK_TARGET))
#endif

#include "json/unescape.h"
#include "json/values.h"

#ifdef __clang__
PRAGMA(clang attribute pop)
#else
PRAGMA(GCC pop_options)
#endif

const struct quick QUICK_THIS = { .runs = runs, .values = values, .unescape = unescape };
