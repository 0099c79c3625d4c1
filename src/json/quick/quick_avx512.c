/* The quick parser for processors with AVX-512: one load reads a block, and comparisons give masks
 * directly. Steps remain 32 bytes, since most strings are shorter. VBMI2, which compresses the
 * bytes of a block, also excludes the first AVX-512 processors, whose clock drops with 512-bit
 * work. */
#include "json/quick/quick_variant.h"

#ifdef QUICK_X86
#define STEP_WIDE
#define BLOCK_WIDE
#define QUICK_THIS quick_avx512
#define QUICK_TARGET "avx2,bmi,bmi2,popcnt,avx512f,avx512bw,avx512vl,avx512vbmi2"
#define QUICK_RUNS \
	(quick_avx2.runs() && __builtin_cpu_supports("avx512f") && \
	 __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") && \
	 __builtin_cpu_supports("avx512vbmi2"))
#include "json/quick/quick_target.h"
#endif
