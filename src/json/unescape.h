/* Inside this folder: escapes that are right become the bytes they mean, as static functions made of
 * the steps that step.h has where this is included, as values.h is. */
#include "base/utf8.h"
#include "json/escapes.h"
#include "json/step.h"

/* A block becomes text without a decision for each escape; returns where the next one begins.
 * NULL = it has other escapes than strings mostly have. Of one that ends behind the block, the
 * backslash is left to the next. */
#ifdef BLOCK_WIDE
static inline const char *unescape_usual(const char *from, const struct block *b, uint64_t escaped,
					 char **put)
{
	const __m512i meant = _mm512_broadcast_i32x4(
		_mm_setr_epi8(0, 0, '"', 0, '\t', 0, 0, 0, 0, 0, 0, 0, '\\', 0, '\n', 0));
	uint64_t escapes = b->backslashes & ~escaped;
	__m512i x = _mm512_loadu_si512(from);

	if (escaped & ~b->usual)
		return NULL;
	x = _mm512_mask_shuffle_epi8(x, escaped, meant, x);
	/* not straight to memory, which some processors do a byte at a time */
	_mm512_storeu_si512(*put, _mm512_maskz_compress_epi8(~escapes, x));
	*put += BLOCK - __builtin_popcountll(escapes);
	from += BLOCK;
	if (escapes >> (BLOCK - 1)) {
		from--;
		/* a guess, not a calculation: the next block would have to wait for that */
		__asm__("" : "+r"(from));
	}
	return from;
}
#elif defined(STEP_WIDE)
/* Only if they lose nothing but their backslash, as those of JSON inside a string mostly do. */
static inline const char *unescape_usual(const char *from, const struct block *b, uint64_t escaped,
					 char **put)
{
	uint64_t escapes = b->backslashes & ~escaped;
	char *to = *put;

	if (escaped & ~(b->quotes | b->backslashes))
		return NULL;
	ALL_STEPS
	for (unsigned i = 0; i < BLOCK; i += 8) {
		unsigned drop = escapes >> i & 0xff;
		__m128i here = _mm_loadu_si64(from + i);

		_mm_storeu_si64(to, _mm_shuffle_epi8(here, _mm_loadu_si64(escape_kept[drop])));
		to += 8 - __builtin_popcount(drop);
	}
	*put = to;
	return from + BLOCK - (escapes >> (BLOCK - 1));
}
#else
static inline const char *unescape_usual(const char *from, const struct block *b, uint64_t escaped,
					 char **put)
{
	(void)from, (void)b, (void)escaped, (void)put;
	return NULL;
}
#endif

/* n bytes, and some more: one step at least, which mostly is enough. */
static inline void put_steps(char *to, const char *from, size_t n)
{
	size_t i = 0;

	do {
		step_store(to + i, step_load(from + i));
		i += STEP;
	} while (i < n);
}

/* Puts the text of a block at `from` behind *put, where two blocks have room, and returns where the
 * next one begins: behind the block, or behind an escape that ends there. */
static inline const char *unescape_block(const char *from, const char *end, char **put)
{
	struct block b = block_load(from);
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
		char byte = escape_meant[(unsigned char)from[next + 1]];
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
			escapes &= at < BLOCK ? ~UINT64_C(0) << at : 0; /* of a pair */
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

/* The text moves to the front by way of a room of its own: what was just written is not read. */
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
