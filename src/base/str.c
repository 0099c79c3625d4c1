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

struct str str_trim(struct str s)
{
	while (s.n && strchr(" \t\r\n", s.p[0]) && s.p[0])
		s.p++, s.n--;
	while (s.n && strchr(" \t\r\n", s.p[s.n - 1]) && s.p[s.n - 1])
		s.n--;
	return s;
}

uint64_t hash_mix(uint64_t a, uint64_t b)
{
	uint64_t h = (a ^ (b + 0x9e3779b97f4a7c15u + (a << 6) + (a >> 2))) * 0xff51afd7ed558ccdu;

	return h ^ (h >> 32);
}

uint64_t hash_seed = 0x2545f4914f6cdd1du;

uint64_t str_hash(struct str s)
{
	uint64_t h = hash_seed ^ s.n, word;
	size_t i = 0;

	for (; i + 8 <= s.n; i += 8) {
		memcpy(&word, s.p + i, 8);
		h = (h ^ word) * 0x9fb21c651e98df25u;
		h ^= h >> 35;
	}
	if (i < s.n) {
		word = 0;
		memcpy(&word, s.p + i, s.n - i);
		h = (h ^ word) * 0x9fb21c651e98df25u;
		h ^= h >> 35;
	}
	h *= 0xc4ceb9fe1a85ec53u;
	return h ^ (h >> 33);
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
