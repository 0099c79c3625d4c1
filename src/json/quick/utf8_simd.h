/* Inside this folder: validating UTF-8 with AVX2. Without it is_utf8 is always false, and callers
 * validate one character at a time. */
#ifndef GAVEL_JSON_QUICK_UTF8_SIMD_H
#define GAVEL_JSON_QUICK_UTF8_SIMD_H

#include "json/quick/simd.h"

#ifdef STEP_WIDE
/* Errors that two adjacent bytes can show. Three tables, each indexed by four bits of the two
 * bytes, give the errors these bits allow; an error is present if all three allow it. After Keiser
 * and Lemire, "Validating UTF-8 In Less Than One Instruction Per Byte". */
enum {
	TOO_SHORT = 1 << 0, /* a lead byte without a continuation */
	TOO_LONG = 1 << 1,  /* a continuation after ASCII */
	OVERLONG_2 = 1 << 2,
	OVERLONG_3 = 1 << 3,
	OVERLONG_4 = 1 << 4, /* or too large: f5 and above */
	SURROGATE = 1 << 5,
	TOO_LARGE = 1 << 6, /* f4 90 and above */
	TWO_MORE = 1 << 7,  /* two continuations: right only as third or fourth byte */
	ANY_LOW = TOO_SHORT | TOO_LONG | TWO_MORE,
	ANY_MORE = TOO_LONG | TWO_MORE | OVERLONG_2,
	LARGE_LOW = ANY_LOW | TOO_LARGE | OVERLONG_4
};

#define FOUR(x) x, x, x, x
static const uint8_t utf8_first_high[16] = { FOUR(TOO_LONG), FOUR(TOO_LONG), FOUR(TWO_MORE),
					     TOO_SHORT | OVERLONG_2, TOO_SHORT,
					     TOO_SHORT | OVERLONG_3 | SURROGATE,
					     TOO_SHORT | OVERLONG_4 | TOO_LARGE };
static const uint8_t utf8_first_low[16] = { ANY_LOW | OVERLONG_2 | OVERLONG_3 | OVERLONG_4,
					    ANY_LOW | OVERLONG_2, ANY_LOW, ANY_LOW,
					    ANY_LOW | TOO_LARGE, LARGE_LOW, LARGE_LOW, LARGE_LOW,
					    FOUR(LARGE_LOW), LARGE_LOW, LARGE_LOW | SURROGATE,
					    LARGE_LOW, LARGE_LOW };
static const uint8_t utf8_second_high[16] = { FOUR(TOO_SHORT), FOUR(TOO_SHORT),
					      ANY_MORE | OVERLONG_3 | OVERLONG_4,
					      ANY_MORE | OVERLONG_3 | TOO_LARGE,
					      ANY_MORE | SURROGATE | TOO_LARGE,
					      ANY_MORE | SURROGATE | TOO_LARGE, FOUR(TOO_SHORT) };
#undef FOUR

static inline step_bytes by_half(const uint8_t table[16], step_bytes halves)
{
	return _mm256_shuffle_epi8(
		_mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)(const void *)table)),
		_mm256_and_si256(halves, _mm256_set1_epi8(0x0f)));
}

/* Not zero at each byte where an error shows; `before` is the previous step. */
static inline step_bytes step_utf8_errors(step_bytes x, step_bytes before)
{
	step_bytes joint = _mm256_permute2x128_si256(before, x, 0x21);
	step_bytes first = _mm256_alignr_epi8(x, joint, 15);
	step_bytes two = by_half(utf8_first_high, _mm256_srli_epi16(first, 4)) &
			 by_half(utf8_first_low, first) &
			 by_half(utf8_second_high, _mm256_srli_epi16(x, 4));
	/* the highest bit is set where a lead byte two or three bytes earlier needs more */
	step_bytes third = _mm256_subs_epu8(_mm256_alignr_epi8(x, joint, 14),
					    _mm256_set1_epi8(0xe0 - 0x80));
	step_bytes fourth = _mm256_subs_epu8(_mm256_alignr_epi8(x, joint, 13),
					     _mm256_set1_epi8(0xf0 - 0x80));

	return two ^ ((third | fourth) & _mm256_set1_epi8((char)TWO_MORE));
}

/* Whether [p, end) is UTF-8; the bytes before p and at `end` are ASCII. */
static inline bool is_utf8(const char *p, const char *end)
{
	step_bytes before = { 0 }, wrong = { 0 }, x, here;

	for (;; p += STEP) {
		x = step_load(p);
		here = step_utf8_errors(x, before);
		if (end - p < STEP)
			break;
		wrong |= here;
		before = x;
	}
	return _mm256_testz_si256(wrong, wrong) &&
	       !(~step_equal(here, 0) & ((UINT64_C(2) << (end - p)) - 1));
}
#else
static inline bool is_utf8(const char *p, const char *end)
{
	(void)p, (void)end;
	return false;
}
#endif

#endif
