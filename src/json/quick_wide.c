/* The quick parser once more, for processors with AVX2, which quick_has_wide looks for when it
 * runs. */
#include "json/quick.h"

#if defined(__x86_64__) && defined(__GNUC__)
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

bool quick_has_wide(void)
{
	return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
	       __builtin_cpu_supports("bmi2");
}

#else

bool quick_has_wide(void)
{
	return false;
}

const char *quick_values_wide(const char *text, const char *end, struct names *names,
			      yyjson_val **tree)
{
	return quick_values(text, end, names, tree);
}
#endif
