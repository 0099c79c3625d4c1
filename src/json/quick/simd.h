/* Inside this folder: SIMD comparisons. A step is STEP bytes: 32 if STEP_WIDE is defined (AVX2),
 * else 16 with SSE2 and 8 in a 64-bit word without; a block is 64 bytes, one load if BLOCK_WIDE is
 * defined (AVX-512). Results are bit masks, the lowest bit for the first byte. */
#ifndef GAVEL_JSON_QUICK_SIMD_H
#define GAVEL_JSON_QUICK_SIMD_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#if defined(STEP_WIDE)
#include <immintrin.h>

enum { STEP = 32 };
typedef __m256i step_bytes;

static inline unsigned step_mask(step_bytes x)
{
	return (unsigned)_mm256_movemask_epi8(x);
}

static inline unsigned step_equal(step_bytes x, char c)
{
	return step_mask(_mm256_cmpeq_epi8(x, _mm256_set1_epi8(c)));
}

/* Bytes equal in both. */
static inline unsigned step_same(step_bytes x, step_bytes y)
{
	return step_mask(_mm256_cmpeq_epi8(x, y));
}

/* Bytes that are not ASCII. */
static inline unsigned step_high(step_bytes x)
{
	return step_mask(x);
}

/* Ends of a string: a quote, or a control character, which strings must not contain. */
static inline unsigned step_ends(step_bytes x)
{
	return step_mask(_mm256_or_si256(
		_mm256_cmpeq_epi8(x, _mm256_set1_epi8('"')),
		_mm256_cmpeq_epi8(x, _mm256_min_epu8(x, _mm256_set1_epi8(0x1f)))));
}

/* Vectors of one byte each, loaded from memory: as constants, gcc would build them for each
 * string. */
extern const char step_quotes[STEP], step_backslashes[STEP], step_blanks[STEP];

static inline step_bytes step_load(const char *p);

/* Bytes that need a closer look: string ends, backslashes, non-ASCII. */
static inline unsigned step_special(step_bytes x)
{
	/* as signed bytes, non-ASCII is less than a space too; movemask takes the sign bits */
	return step_mask(_mm256_subs_epi8(x, step_load(step_blanks)) |
			 _mm256_cmpeq_epi8(x, step_load(step_quotes)) |
			 _mm256_cmpeq_epi8(x, step_load(step_backslashes)));
}

/* A lookup table for the characters that mostly follow a backslash (another one, a quote, n or t):
 * indexed by the low four bits, in which they differ; the result is compared with the byte. */
#define USUAL_BY_LOW _mm_setr_epi8(1, 0, '"', 0, 't', 0, 0, 0, 0, 0, 0, 0, '\\', 0, 'n', 0)

static inline unsigned step_usual(step_bytes x)
{
	const __m256i by_low = _mm256_broadcastsi128_si256(USUAL_BY_LOW);

	return step_mask(_mm256_cmpeq_epi8(_mm256_shuffle_epi8(by_low, x), x));
}
#elif defined(__SSE2__) && !defined(QUICK_PORTABLE)
#include <emmintrin.h>

enum { STEP = 16 };
typedef __m128i step_bytes;

static inline unsigned step_equal(step_bytes x, char c)
{
	return (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(x, _mm_set1_epi8(c)));
}

static inline unsigned step_same(step_bytes x, step_bytes y)
{
	return (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(x, y));
}

static inline unsigned step_high(step_bytes x)
{
	return (unsigned)_mm_movemask_epi8(x);
}

static inline unsigned step_ends(step_bytes x)
{
	return (unsigned)_mm_movemask_epi8(
		_mm_or_si128(_mm_cmpeq_epi8(x, _mm_set1_epi8('"')),
			     _mm_cmpeq_epi8(x, _mm_min_epu8(x, _mm_set1_epi8(0x1f)))));
}

static inline unsigned step_special(step_bytes x)
{
	return (unsigned)_mm_movemask_epi8(
		_mm_or_si128(_mm_cmplt_epi8(x, _mm_set1_epi8(0x20)),
			     _mm_or_si128(_mm_cmpeq_epi8(x, _mm_set1_epi8('"')),
					  _mm_cmpeq_epi8(x, _mm_set1_epi8('\\')))));
}
#else

enum { STEP = 8 };
typedef uint64_t step_bytes;
#define STEP_ALL(byte) (UINT64_C(0x0101010101010101) * (byte))

/* The highest bits of the bytes, gathered in memory order. */
static inline unsigned step_mask(uint64_t high)
{
	high = high >> 7 & STEP_ALL(1);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	return (unsigned)(high * UINT64_C(0x0102040810204080) >> 56);
#else
	return (unsigned)(high * UINT64_C(0x8040201008040201) >> 56);
#endif
}

/* No carry crosses bytes, here and in step_ends. */
static inline unsigned step_equal(step_bytes x, char c)
{
	x ^= STEP_ALL((unsigned char)c);
	return step_mask(~(((x & STEP_ALL(0x7f)) + STEP_ALL(0x7f)) | x));
}

static inline unsigned step_same(step_bytes x, step_bytes y)
{
	return step_equal(x ^ y, 0);
}

static inline unsigned step_high(step_bytes x)
{
	return step_mask(x);
}

static inline unsigned step_ends(step_bytes x)
{
	return step_equal(x, '"') | step_mask(~(((x & STEP_ALL(0x7f)) + STEP_ALL(0x60)) | x));
}

static inline unsigned step_special(step_bytes x)
{
	return step_ends(x) | step_high(x) | step_equal(x, '\\');
}
#endif

#ifndef STEP_WIDE
static inline unsigned step_usual(step_bytes x)
{
	return step_equal(x, '"') | step_equal(x, '\\') | step_equal(x, 'n') | step_equal(x, 't');
}
#endif

static inline step_bytes step_load(const char *p)
{
	step_bytes x;

	memcpy(&x, p, sizeof(x));
	return x;
}

static inline void step_store(char *p, step_bytes x)
{
	memcpy(p, &x, sizeof(x));
}

enum { BLOCK = 64 };
#ifdef __clang__
#define ALL_STEPS /* clang unrolls by itself */
#else
#define ALL_STEPS _Pragma("GCC unroll 8")
#endif

struct simd_block {
	uint64_t ends, quotes, backslashes, high, usual;
};

#ifdef BLOCK_WIDE
static inline struct simd_block block_load(const char *p)
{
	const __m512i by_low = _mm512_broadcast_i32x4(USUAL_BY_LOW);
	__m512i x = _mm512_loadu_si512(p);
	struct simd_block b;

	b.quotes = _mm512_cmpeq_epi8_mask(x, _mm512_set1_epi8('"'));
	b.ends = b.quotes | _mm512_cmplt_epu8_mask(x, _mm512_set1_epi8(' '));
	b.backslashes = _mm512_cmpeq_epi8_mask(x, _mm512_set1_epi8('\\'));
	b.high = _mm512_movepi8_mask(x);
	b.usual = _mm512_cmpeq_epi8_mask(_mm512_shuffle_epi8(by_low, x), x);
	/* keeps the mask in a general register: gcc would compute the carry of block_escaped, on
	 * which the next block depends, in mask registers, whose latency is higher */
	__asm__("" : "+r"(b.backslashes));
	return b;
}
#else
static inline struct simd_block block_load(const char *p)
{
	struct simd_block b = { 0 };

	ALL_STEPS
	for (unsigned i = 0; i < BLOCK; i += STEP) {
		step_bytes x = step_load(p + i);

		b.ends |= (uint64_t)step_ends(x) << i;
		b.quotes |= (uint64_t)step_equal(x, '"') << i;
		b.backslashes |= (uint64_t)step_equal(x, '\\') << i;
		b.high |= (uint64_t)step_high(x) << i;
		b.usual |= (uint64_t)step_usual(x) << i;
	}
	return b;
}
#endif

/* The bytes that are escaped: preceded by an odd number of backslashes. *carry is 1 if the first
 * byte is, and is set for the next block. The carry of an addition finds the ends of those runs of
 * backslashes that start at odd offsets, as in simdjson. */
static inline uint64_t block_escaped(uint64_t backslashes, uint64_t *carry)
{
	const uint64_t even = 0x5555555555555555u;
	uint64_t behind, odd_starts, runs;

	backslashes &= ~*carry;
	behind = backslashes << 1 | *carry;
	odd_starts = backslashes & ~even & ~behind;
	runs = odd_starts + backslashes;
	*carry = runs < backslashes;
	return (even ^ runs << 1) & behind;
}

#endif
