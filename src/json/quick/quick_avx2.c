/* The quick parser for processors with AVX2: 32 bytes per step. */
#include "json/quick/quick_variant.h"

#ifdef QUICK_X86
#define STEP_WIDE
#define QUICK_THIS quick_avx2
#define QUICK_TARGET "avx2,bmi,bmi2,popcnt"
#define QUICK_RUNS \
	(__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") && \
	 __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt"))
#include "json/quick/quick_target.h"
#endif
