/* The quick parser for processors with AVX-512: a block is one load, and what is looked for in it
 * comes as a mask. Steps stay at 32 bytes, since most strings are shorter. VBMI2, which brings the
 * bytes of a block together, also leaves out the first of these processors, which run slower while
 * they have such wide work. */
#include "json/quick.h"

#ifdef QUICK_X86
#define STEP_WIDE
#define BLOCK_WIDE
#define QUICK_THIS quick_avx512
#define QUICK_TARGET "avx2,bmi,bmi2,popcnt,avx512f,avx512bw,avx512vl,avx512vbmi2"
#define QUICK_RUNS \
	(quick_avx2.runs() && __builtin_cpu_supports("avx512f") && \
	 __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") && \
	 __builtin_cpu_supports("avx512vbmi2"))
#include "json/quick_target.h"
#endif
