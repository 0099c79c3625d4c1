/* Inside this folder: defines one variant, compiled for some processors only. The including file
 * defines QUICK_TARGET, the instruction sets as compilers name them; QUICK_RUNS, whether this
 * processor has them; and QUICK_THIS, the name of the variant. Shared headers are included before
 * the target changes, so that none of their inline functions is compiled for it. */
#include "base/utf8.h"
#include "json/escapes.h"
#include "json/json.h"
#include "json/names.h"
#include "json/quick/quick_variant.h"

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

#include "json/quick/parse.h"
#include "json/quick/unescape.h"

#ifdef __clang__
PRAGMA(clang attribute pop)
#else
PRAGMA(GCC pop_options)
#endif

const struct quick_variant QUICK_THIS = { .runs = runs, .values = values, .unescape = unescape };
