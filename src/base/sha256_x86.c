/* SHA-256 by the SHA instructions of x86-64: a block takes a tenth of the time. */
#include "base/sha256.h"

#ifdef SHA256_X86

#include <cpuid.h>
#include <immintrin.h>

enum { CPUID_SHA = 1 << 29 }; /* of leaf 7, in ebx */

bool sha256_x86_runs(void)
{
	unsigned a, b, c, d;

	return __builtin_cpu_supports("ssse3") && __builtin_cpu_supports("sse4.1") &&
	       __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & CPUID_SHA);
}

#define TARGET __attribute__((target("sha,ssse3,sse4.1")))

/* The next four words of the schedule: w has the last sixteen, from the oldest, w[at], on. */
static inline TARGET __m128i next_words(const __m128i w[4], unsigned at)
{
	__m128i last = w[(at + 3) % 4], before = w[(at + 2) % 4];
	__m128i sum = _mm_add_epi32(_mm_sha256msg1_epu32(w[at % 4], w[(at + 1) % 4]),
				    _mm_alignr_epi8(last, before, 4));

	return _mm_sha256msg2_epu32(sum, last);
}

/* abef and cdgh are the halves of the state, as the instructions take it; each does two rounds. */
TARGET void sha256_blocks_x86(uint32_t h[8], const unsigned char *p, size_t blocks)
{
	const __m128i big_endian = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
	const __m128i *constants = (const __m128i *)(const void *)sha256_constants;
	__m128i *state = (__m128i *)(void *)h;
	__m128i cdab = _mm_shuffle_epi32(_mm_loadu_si128(state), 0xb1);
	__m128i efgh = _mm_shuffle_epi32(_mm_loadu_si128(state + 1), 0x1b);
	__m128i abef = _mm_alignr_epi8(cdab, efgh, 8), cdgh = _mm_blend_epi16(efgh, cdab, 0xf0);

	for (; blocks; blocks--, p += SHA256_BLOCK) {
		const __m128i *block = (const __m128i *)(const void *)p;
		const __m128i abef_before = abef, cdgh_before = cdgh;
		__m128i w[4];

		for (unsigned i = 0; i < 16; i++) {
			__m128i sum;

			w[i % 4] = i < 4 ? _mm_shuffle_epi8(_mm_loadu_si128(block + i), big_endian)
					 : next_words(w, i);
			sum = _mm_add_epi32(w[i % 4], _mm_loadu_si128(constants + i));
			cdgh = _mm_sha256rnds2_epu32(cdgh, abef, sum);
			abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(sum, 0x0e));
		}
		abef = _mm_add_epi32(abef, abef_before);
		cdgh = _mm_add_epi32(cdgh, cdgh_before);
	}
	cdab = _mm_shuffle_epi32(cdgh, 0xb1);
	efgh = _mm_shuffle_epi32(abef, 0x1b);
	_mm_storeu_si128(state, _mm_blend_epi16(efgh, cdab, 0xf0));
	_mm_storeu_si128(state + 1, _mm_alignr_epi8(cdab, efgh, 8));
}

#endif
