/* What takes the most time once more, for processors with AVX2. Elsewhere it is as it was, and not
 * called. */
#include "base/utf8.h"
#include "json/escapes.h"
#include "json/json.h"
#include "json/quick.h"

#ifdef QUICK_WIDE
#include <immintrin.h>
#ifdef __clang__
#pragma clang attribute push(__attribute__((target("avx2,bmi,bmi2,popcnt"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,bmi,bmi2,popcnt")
#endif
#define STEP_WIDE
#endif

#include "json/unescape.h"
#include "json/values.h"

const char *quick_values_wide(const char *text, const char *end, struct names *names,
			      yyjson_val **tree)
{
	return values(text, end, names, tree);
}

char *unescape_wide(char *start, const char *end)
{
	return unescape(start, end);
}

#ifdef QUICK_WIDE
#ifdef __clang__
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
#endif
