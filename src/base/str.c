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

static unsigned char lower(char c)
{
	return (c >= 'A' && c <= 'Z') ? (unsigned char)(c + 32) : (unsigned char)c;
}

bool str_eq_nocase(struct str a, struct str b)
{
	if (a.n != b.n)
		return false;
	for (size_t i = 0; i < a.n; i++)
		if (lower(a.p[i]) != lower(b.p[i]))
			return false;
	return true;
}

bool str_contains_nocase(struct str text, struct str word)
{
	if (word.n == 0)
		return true;
	for (size_t i = 0; i + word.n <= text.n; i++)
		if (lower(text.p[i]) == lower(word.p[0]) &&
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

/* Long text goes through three lanes, which do not wait for each other. */
uint64_t str_hash(struct str s)
{
	const uint64_t k1 = 0xa0761d6478bd642fu, k2 = 0xe7037ed1a0b428dbu, k3 = 0x8ebc6af09c88c6e3u,
		       k4 = 0x589965cc75374cc3u;
	uint64_t h = hash_seed, a = 0, b = 0;
	const char *p = s.p;
	size_t left = s.n;

	if (left > 48) {
		uint64_t h2 = h, h3 = h;

		for (; left > 48; left -= 48, p += 48) {
			h = hash_fold(word8(p) ^ k1, word8(p + 8) ^ h);
			h2 = hash_fold(word8(p + 16) ^ k2, word8(p + 24) ^ h2);
			h3 = hash_fold(word8(p + 32) ^ k3, word8(p + 40) ^ h3);
		}
		h ^= h2 ^ h3;
	}
	for (; left > 16; left -= 16, p += 16)
		h = hash_fold(word8(p) ^ k1, word8(p + 8) ^ h);
	if (left >= 8) {
		a = word8(p);
		b = word8(p + left - 8);
	} else if (left >= 4) {
		a = word4(p);
		b = word4(p + left - 4);
	} else if (left) {
		a = (uint64_t)(unsigned char)p[0] << 16 |
		    (uint64_t)(unsigned char)p[left / 2] << 8 | (unsigned char)p[left - 1];
	}
	return hash_fold(k4 ^ s.n, hash_fold(a ^ k2, b ^ h));
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
