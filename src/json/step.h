/* Inside this folder: text by STEP bytes at a time, which is 16 where there is SSE2, 8 where words are little
 * endian, and 1 elsewhere. What is looked for is told as a mask, a bit for each byte of the step; step_at says which
 * byte the lowest is, step_from leaves those from a byte on. Whoever looks at a step may look at STEP - 1 bytes behind
 * the text's last. */
#ifndef GAVEL_JSON_STEP_H
#define GAVEL_JSON_STEP_H

#include <stdint.h>
#include <string.h>

#if defined(__SSE2__) && !defined(QUICK_PORTABLE)
#include <emmintrin.h>

enum { STEP = 16, STEP_BITS = 1 };
typedef __m128i step_bytes;
typedef uint32_t step_mask;
#define step_lowest(mask) __builtin_ctz(mask)

/* Bytes that are not plain: quotes, backslashes, controls, and all that is not ASCII. */
static inline step_mask step_odd(step_bytes x)
{
	/* as signed bytes, what is not ASCII is below the controls */
	return (step_mask)_mm_movemask_epi8(
		_mm_or_si128(_mm_cmplt_epi8(x, _mm_set1_epi8(0x20)),
			     _mm_or_si128(_mm_cmpeq_epi8(x, _mm_set1_epi8('"')),
					  _mm_cmpeq_epi8(x, _mm_set1_epi8('\\')))));
}

static inline step_mask step_backslashes(step_bytes x)
{
	return (step_mask)_mm_movemask_epi8(_mm_cmpeq_epi8(x, _mm_set1_epi8('\\')));
}
#elif __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__

enum { STEP = 8, STEP_BITS = 8 };
typedef uint64_t step_bytes;
typedef uint64_t step_mask;
#define STEP_ALL(byte) (UINT64_C(0x0101010101010101) * (byte))
#define step_lowest(mask) __builtin_ctzll(mask)

/* The highest bit of each byte that is zero; no carry crosses bytes. */
static inline uint64_t step_zeros(uint64_t x)
{
	return ~(((x & STEP_ALL(0x7f)) + STEP_ALL(0x7f)) | x) & STEP_ALL(0x80);
}

static inline step_mask step_backslashes(step_bytes x)
{
	return step_zeros(x ^ STEP_ALL('\\'));
}

static inline step_mask step_odd(step_bytes x)
{
	uint64_t controls = ~((x & STEP_ALL(0x7f)) + STEP_ALL(0x60));

	return ((controls | x) & STEP_ALL(0x80)) | step_zeros(x ^ STEP_ALL('"')) | step_backslashes(x);
}
#else

enum { STEP = 1, STEP_BITS = 1 };
typedef unsigned char step_bytes;
typedef unsigned step_mask;
#define step_lowest(mask) __builtin_ctz(mask)

static inline step_mask step_backslashes(step_bytes c)
{
	return c == '\\';
}

static inline step_mask step_odd(step_bytes c)
{
	return c < 0x20 || c >= 0x80 || c == '"' || c == '\\';
}
#endif

/* mask is not 0. */
static inline unsigned step_at(step_mask mask)
{
	return (unsigned)step_lowest(mask) / STEP_BITS;
}

/* n is less than STEP. */
static inline step_mask step_from(step_mask mask, unsigned n)
{
	return mask & (step_mask)(~(step_mask)0 << n * STEP_BITS);
}

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

#endif
