/* Inside this folder: decoding valid escapes, as static functions compiled in each variant, like
 * parse.h. */
#include "base/utf8.h"
#include "json/escapes.h"
#include "json/quick/simd.h"

/* Decodes a block without a branch for each escape; returns where the next block begins. NULL = it
 * contains other escapes than the common ones. If an escape crosses the end of the block, its
 * backslash is left to the next one. */
#ifdef BLOCK_WIDE
static inline const char *unescape_usual(const char *from, const struct simd_block *b,
					 uint64_t escaped, char **put)
{
	const __m512i meant = _mm512_broadcast_i32x4(
		_mm_setr_epi8(0, 0, '"', 0, '\t', 0, 0, 0, 0, 0, 0, 0, '\\', 0, '\n', 0));
	uint64_t escapes = b->backslashes & ~escaped;
	__m512i x = _mm512_loadu_si512(from);

	if (escaped & ~b->usual)
		return NULL;
	x = _mm512_mask_shuffle_epi8(x, escaped, meant, x);
	/* not a compressing store, which is slow microcode on some processors */
	_mm512_storeu_si512(*put, _mm512_maskz_compress_epi8(~escapes, x));
	*put += BLOCK - __builtin_popcountll(escapes);
	from += BLOCK;
	if (escapes >> (BLOCK - 1)) {
		from--;
		/* forces a branch: arithmetic would make the next load depend on this block */
		__asm__("" : "+r"(from));
	}
	return from;
}
#elif defined(STEP_WIDE)
/* For each set of dropped bytes out of eight, the indexes of the others. */
extern uint8_t kept_bytes[256][8];

/* By 8 bytes: shuffles the kept ones together. Only for escapes that lose nothing but the
 * backslash, as most of JSON inside a string do. */
static inline const char *unescape_usual(const char *from, const struct simd_block *b,
					 uint64_t escaped, char **put)
{
	uint64_t escapes = b->backslashes & ~escaped;
	char *to = *put;

	if (escaped & ~(b->quotes | b->backslashes))
		return NULL;
	ALL_STEPS
	for (unsigned i = 0; i < BLOCK; i += 8) {
		unsigned drop = escapes >> i & 0xff;
		__m128i here = _mm_loadu_si64(from + i);

		_mm_storeu_si64(to, _mm_shuffle_epi8(here, _mm_loadu_si64(kept_bytes[drop])));
		to += 8 - __builtin_popcount(drop);
	}
	*put = to;
	return from + BLOCK - (escapes >> (BLOCK - 1));
}
#else
static inline const char *unescape_usual(const char *from, const struct simd_block *b,
					 uint64_t escaped, char **put)
{
	(void)from, (void)b, (void)escaped, (void)put;
	return NULL;
}
#endif

/* Copies n bytes rounded up to whole steps: mostly one. */
static inline void put_steps(char *to, const char *from, size_t n)
{
	size_t i = 0;

	do {
		step_store(to + i, step_load(from + i));
		i += STEP;
	} while (i < n);
}

/* Decodes a block at `from` to *put, where there is room for two, and returns where the next one
 * begins: after the block, or after an escape that ends there. */
static inline const char *unescape_block(const char *from, const char *end, char **put)
{
	struct simd_block b = block_load(from);
	uint64_t carry = 0, escaped = block_escaped(b.backslashes, &carry);
	uint64_t escapes = b.backslashes & ~escaped;
	size_t n = end - from < BLOCK ? (size_t)(end - from) : BLOCK, at = 0;
	const char *behind = n == BLOCK ? unescape_usual(from, &b, escaped, put) : NULL;
	char *to = *put;

	if (behind)
		return behind;
	if (n < BLOCK)
		escapes &= (UINT64_C(1) << n) - 1;
	while (escapes) {
		size_t next = (size_t)__builtin_ctzll(escapes);
		char byte = escape_value[(unsigned char)from[next + 1]];
		uint32_t c = 0;

		put_steps(to, from + at, next - at);
		to += next - at;
		escapes &= escapes - 1;
		if (byte) {
			*to++ = byte;
			at = next + 2;
		} else {
			at = next + escape_character(from + next, &c);
			to += utf8_encode(c, to);
			escapes &= at < BLOCK ? ~UINT64_C(0) << at : 0; /* of a surrogate pair */
		}
	}
	if (at < n) {
		put_steps(to, from + at, n - at);
		to += n - at;
		at = n;
	}
	*put = to;
	return from + at;
}

/* Decodes by way of a buffer: loads from bytes that were just stored in other widths would
 * stall. */
static char *unescape(char *start, const char *end)
{
	enum { ROOM = 1024 };
	char room[ROOM + 2 * BLOCK], *to = start;
	const char *from = start;

	while (from < end) {
		char *put = room;

		while (from < end && put < room + ROOM)
			from = unescape_block(from, end, &put);
		memcpy(to, room, (size_t)(put - room));
		to += put - room;
	}
	return to;
}
