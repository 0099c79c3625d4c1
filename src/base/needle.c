/* The two rarest bytes of the word are compared at 16 offsets per step with SSE2, at 64 with AVX2;
 * candidates are compared byte by byte. */
#include "base/needle.h"

#ifdef __SSE2__
#include <immintrin.h>
#endif

/* How frequent a byte is in logs of JSON and prose, roughly; lower is rarer. */
static int frequency(char c)
{
	static const char order[] =
		"zqxjkv;~`^|$%@#!?*+<>=wbg&yfp9876h5m431ulc0d2rn_isoat./()[]{}e-:,\" ";
	const char *at = strchr(order, c);

	return !c || !at ? 0 : (int)(at - order) + 1;
}

void needle_init(struct needle *n, struct str word)
{
	n->n = word.n < NEEDLE_MAX ? word.n : NEEDLE_MAX;
	n->rare = n->other = 0;
	for (size_t i = 0; i < n->n; i++)
		n->word[i] = ascii_lower(word.p[i]);
	for (size_t i = 1; i < n->n; i++)
		if (frequency(n->word[i]) < frequency(n->word[n->rare]))
			n->rare = i;
	n->other = n->rare == 0 && n->n > 1 ? 1 : 0;
	for (size_t i = 0; i < n->n; i++)
		if (i != n->rare && frequency(n->word[i]) < frequency(n->word[n->other]))
			n->other = i;
}

static bool matches_at(const struct needle *n, const char *p)
{
	for (size_t i = 0; i < n->n; i++)
		if (ascii_lower(p[i]) != n->word[i])
			return false;
	return true;
}

static ptrdiff_t find_scalar(const struct needle *n, struct str text, size_t at)
{
	for (; at + n->n <= text.n; at++)
		if (ascii_lower(text.p[at + n->rare]) == n->word[n->rare] &&
		    matches_at(n, text.p + at))
			return (ptrdiff_t)at;
	return -1;
}

#ifdef __SSE2__
/* The case bit, set on both sides of the comparison if the byte is a letter. */
static char case_bit(char c)
{
	return c >= 'a' && c <= 'z' ? 0x20 : 0;
}

/* The first offset with the word among the candidates `hits`, bits relative to `at`; -1 = none. */
static ptrdiff_t first_match(const struct needle *n, struct str text, size_t at, uint64_t hits)
{
	for (; hits; hits &= hits - 1) {
		size_t here = at + (size_t)__builtin_ctzll(hits);

		if (matches_at(n, text.p + here))
			return (ptrdiff_t)here;
	}
	return -1;
}

static ptrdiff_t find_sse2(const struct needle *n, struct str text, size_t at)
{
	const __m128i rare = _mm_set1_epi8(n->word[n->rare]),
		      other = _mm_set1_epi8(n->word[n->other]);
	const __m128i rare_bit = _mm_set1_epi8(case_bit(n->word[n->rare]));
	const __m128i other_bit = _mm_set1_epi8(case_bit(n->word[n->other]));
	ptrdiff_t found;

	for (; at + n->n + 16 <= text.n; at += 16) {
		__m128i a = _mm_loadu_si128((const void *)(text.p + at + n->rare));
		__m128i b = _mm_loadu_si128((const void *)(text.p + at + n->other));
		unsigned hits = (unsigned)_mm_movemask_epi8(
			_mm_and_si128(_mm_cmpeq_epi8(_mm_or_si128(a, rare_bit), rare),
				      _mm_cmpeq_epi8(_mm_or_si128(b, other_bit), other)));

		if (hits && (found = first_match(n, text, at, hits)) >= 0)
			return found;
	}
	return find_scalar(n, text, at);
}

struct avx2_needle {
	__m256i rare, other, rare_bit, other_bit;
};

__attribute__((target("avx2"))) static inline __m256i
match_avx2(const struct needle *n, const struct avx2_needle *w, const char *p)
{
	__m256i a = _mm256_loadu_si256((const void *)(p + n->rare));
	__m256i b = _mm256_loadu_si256((const void *)(p + n->other));

	return _mm256_and_si256(_mm256_cmpeq_epi8(_mm256_or_si256(a, w->rare_bit), w->rare),
				_mm256_cmpeq_epi8(_mm256_or_si256(b, w->other_bit), w->other));
}

__attribute__((target("avx2"))) static ptrdiff_t find_avx2(const struct needle *n, struct str text,
							   size_t at)
{
	const struct avx2_needle w = { _mm256_set1_epi8(n->word[n->rare]),
				       _mm256_set1_epi8(n->word[n->other]),
				       _mm256_set1_epi8(case_bit(n->word[n->rare])),
				       _mm256_set1_epi8(case_bit(n->word[n->other])) };
	ptrdiff_t found;

	for (; at + n->n + 64 <= text.n; at += 64) {
		__m256i low = match_avx2(n, &w, text.p + at),
			high = match_avx2(n, &w, text.p + at + 32);
		__m256i any = _mm256_or_si256(low, high);
		uint64_t hits;

		if (_mm256_testz_si256(any, any))
			continue;
		hits = (uint32_t)_mm256_movemask_epi8(low) |
		       (uint64_t)(uint32_t)_mm256_movemask_epi8(high) << 32;
		if ((found = first_match(n, text, at, hits)) >= 0)
			return found;
	}
	return find_sse2(n, text, at);
}

#endif

ptrdiff_t needle_find(const struct needle *n, struct str text, size_t start)
{
	if (!n->n)
		return start <= text.n ? (ptrdiff_t)start : -1;
#ifdef __SSE2__
	return (__builtin_cpu_supports("avx2") ? find_avx2 : find_sse2)(n, text, start);
#else
	return find_scalar(n, text, start);
#endif
}
