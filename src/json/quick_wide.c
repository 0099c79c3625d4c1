/* The quick parser once more, for processors with AVX2. */
#include "json/quick.h"

#ifdef QUICK_WIDE
#include "base/utf8.h"
#include "json/escapes.h"
#include "json/json.h"

#include <immintrin.h>

#ifdef __clang__
#pragma clang attribute push(__attribute__((target("avx2,bmi,bmi2"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,bmi,bmi2")
#endif
#define STEP_WIDE
#include "json/values.h"

const char *quick_values_wide(const char *text, const char *end, struct names *names,
			      yyjson_val **tree)
{
	return values(text, end, names, tree);
}

#ifdef __clang__
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

#else

const char *quick_values_wide(const char *text, const char *end, struct names *names,
			      yyjson_val **tree)
{
	return quick_values(text, end, names, tree);
}
#endif
