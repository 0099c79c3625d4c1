/* Comparing, searching and hashing text with a length. */
#include "base/str.h"

int str_cmp(struct str a, struct str b)
{
	size_t n = a.n < b.n ? a.n : b.n;
	int c = n ? memcmp(a.p, b.p, n) : 0;

	if (c)
		return c;
	return (a.n > b.n) - (a.n < b.n);
}

bool str_eq_nocase(struct str a, struct str b)
{
	if (a.n != b.n)
		return false;
	for (size_t i = 0; i < a.n; i++)
		if (ascii_lower(a.p[i]) != ascii_lower(b.p[i]))
			return false;
	return true;
}

bool str_contains_nocase(struct str text, struct str word)
{
	if (word.n == 0)
		return true;
	for (size_t i = 0; i + word.n <= text.n; i++)
		if (ascii_lower(text.p[i]) == ascii_lower(word.p[0]) &&
		    str_eq_nocase(str_make(text.p + i, word.n), word))
			return true;
	return false;
}

ptrdiff_t str_find(struct str text, struct str word, size_t start)
{
	const char *hit;

	if (start > text.n || text.n - start < word.n)
		return -1;
	if (word.n == 0)
		return (ptrdiff_t)start;
	for (size_t i = start; i + word.n <= text.n; i++) {
		hit = memchr(text.p + i, word.p[0], text.n - word.n - i + 1);
		if (!hit)
			return -1;
		i = (size_t)(hit - text.p);
		if (memcmp(hit, word.p, word.n) == 0)
			return (ptrdiff_t)i;
	}
	return -1;
}

static inline bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

struct str str_trim(struct str s)
{
	while (s.n && is_blank(s.p[0]))
		s.p++, s.n--;
	while (s.n && is_blank(s.p[s.n - 1]))
		s.n--;
	return s;
}

struct str str_first_word(struct str *rest)
{
	struct str text = str_trim(*rest);
	ptrdiff_t space = str_find(text, STR(" "), 0);

	*rest = space < 0 ? STR_NONE : str_trim(str_from(text, (size_t)space));
	return space < 0 ? text : str_make(text.p, (size_t)space);
}

struct str str_cut(struct str *rest, struct str separator)
{
	ptrdiff_t at = str_find(*rest, separator, 0);
	struct str head = at < 0 ? *rest : str_make(rest->p, (size_t)at);

	*rest = at < 0 ? STR_NONE : str_from(*rest, (size_t)at + separator.n);
	return head;
}

uint64_t hash_seed = 0x2545f4914f6cdd1du;

static uint64_t word8(const char *p)
{
	uint64_t word;

	memcpy(&word, p, 8);
	return word;
}

static uint64_t word4(const char *p)
{
	uint32_t word;

	memcpy(&word, p, 4);
	return word;
}

/* All keys contain the seed, or a text could make a factor zero and hide what it is multiplied
 * with. But the differences of keys are public: so no two keys are factors of one product, and
 * lanes have different weights, or words could be exchanged without changing the hash.
 *
 * Lengths of texts cannot be predicted, so there are few branches on them: the last bytes are read
 * from the end, some of them a second time. */
static uint64_t hash_longer(const char *p, size_t n, uint64_t h)
{
	const uint64_t k1 = hash_seed ^ HASH_K1, k2 = hash_seed ^ HASH_K2, k3 = hash_seed ^ HASH_K3,
		       k4 = hash_seed ^ HASH_K4;
	const char *last = p + n - 64;
	uint64_t h1 = h, h2 = h, h3 = h, h4 = h;

	/* four independent lanes */
#define LANES(p) \
	h1 = hash_fold(word8(p) ^ k1, word8((p) + 8) ^ h1); \
	h2 = hash_fold(word8((p) + 16) ^ k2, word8((p) + 24) ^ h2); \
	h3 = hash_fold(word8((p) + 32) ^ k3, word8((p) + 40) ^ h3); \
	h4 = hash_fold(word8((p) + 48) ^ k4, word8((p) + 56) ^ h4)

	for (; p < last; p += 64) {
		LANES(p);
	}
	LANES(last);
#undef LANES
	return hash_fold((h1 + 3 * h2 + 9 * h3 + 27 * h4) ^ k3, h);
}

uint64_t hash_long(const char *p, size_t n)
{
	const uint64_t k1 = hash_seed ^ HASH_K1, k2 = hash_seed ^ HASH_K2, k3 = hash_seed ^ HASH_K3,
		       k4 = hash_seed ^ HASH_K4;
	const char *last = p + n - 16;
	uint64_t h = k2 ^ hash_length(n), h2;

	if (n > 64)
		return hash_longer(p, n, h);
	h2 = hash_fold(word8(p) ^ k1, word8(p + 8) ^ h);
	if (n > 32) {
		h = hash_fold(word8(p + 16) ^ k4, word8(p + 24) ^ h);
		h2 = hash_fold(word8(last - 16) ^ k2, word8(last - 8) ^ (h2 + 3 * h));
	}
	return hash_fold(word8(last) ^ k3, word8(last + 8) ^ h2);
}

uint64_t str_hash(struct str s)
{
	uint64_t a = 0, b = 0;
	const char *p = s.p;

	if (s.n > 16)
		return hash_long(p, s.n);
	if (s.n >= 8) {
		a = word8(p);
		b = word8(p + s.n - 8);
	} else if (s.n >= 4) {
		a = word4(p);
		b = word4(p + s.n - 4);
	} else if (s.n) {
		a = (uint64_t)(unsigned char)p[0] << 16 |
		    (uint64_t)(unsigned char)p[s.n / 2] << 8 | (unsigned char)p[s.n - 1];
	}
	return hash_short(a, b, s.n);
}

bool str_to_u64(struct str s, uint64_t *out)
{
	uint64_t v = 0;

	if (s.n == 0)
		return false;
	for (size_t i = 0; i < s.n; i++) {
		unsigned d = (unsigned char)s.p[i] - (unsigned)'0';

		if (d > 9 || v > (UINT64_MAX - d) / 10)
			return false;
		v = v * 10 + d;
	}
	*out = v;
	return true;
}

struct str str_from_u64(uint64_t v, char room[DIGITS_MAX])
{
	char *p = room + DIGITS_MAX;

	do {
		*--p = (char)('0' + v % 10);
		v /= 10;
	} while (v);
	return str_make(p, (size_t)(room + DIGITS_MAX - p));
}

char *str_put_hex(char *to, const unsigned char *bytes, size_t n)
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < n; i++) {
		*to++ = digits[bytes[i] >> 4];
		*to++ = digits[bytes[i] & 0xf];
	}
	return to;
}

typedef unsigned char bytes16 __attribute__((vector_size(16)));
typedef uint64_t words2 __attribute__((vector_size(16)));

/* 0xff for each byte that is printable ASCII, or a newline if these are plain. */
static inline bytes16 plain_sixteen(const char *p, bool newlines)
{
	bytes16 bytes, plain;

	memcpy(&bytes, p, sizeof(bytes));
	plain = (bytes16)(bytes - ' ' <= (unsigned char)('~' - ' '));
	return newlines ? plain | (bytes16)(bytes == '\n') : plain;
}

/* Of 16 bytes at least; the last ones are looked at from the end. */
static inline bool is_plain_long(struct str s, bool newlines)
{
	bytes16 plain = plain_sixteen(s.p + s.n - 16, newlines);

	for (size_t i = 0; i + 16 < s.n; i += 16)
		plain &= plain_sixteen(s.p + i, newlines);
	return (((words2)plain)[0] & ((words2)plain)[1]) == UINT64_MAX;
}

static inline bool is_plain(struct str s, bool newlines)
{
	bool plain = true;

	if (s.n >= 16)
		return is_plain_long(s, newlines);
	if (s.n >= 8 && str_plain_eight(s.p) && str_plain_eight(s.p + s.n - 8))
		return true;
	for (size_t i = 0; i < s.n; i++)
		plain &= (unsigned char)(s.p[i] - ' ') <= '~' - ' ' || (newlines && s.p[i] == '\n');
	return plain;
}

bool str_is_plain(struct str s)
{
	return is_plain(s, false);
}

bool str_is_plain_lines(struct str s)
{
	return is_plain(s, true);
}
