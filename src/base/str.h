/* Text is a pointer and a length. A str never owns what it points at and may hold NUL bytes;
 * nothing here looks for a terminator. STR("...") makes one from a literal. */
#ifndef GAVEL_BASE_STR_H
#define GAVEL_BASE_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct str {
	const char *p;
	size_t n;
};

/* Branch hints, for code that runs for every byte or value. */
#define usually(condition) __builtin_expect(!!(condition), 1)
#define rarely(condition) __builtin_expect(!!(condition), 0)

#define STR(literal) ((struct str){ (literal), sizeof(literal) - 1 })
#define STR_NONE ((struct str){ NULL, 0 })
/* for printf("%.*s", STR_ARG(s)); only for text known to be short and clean */
#define STR_ARG(s) (int)(s).n, (s).p ? (s).p : ""

/* The ending of a noun after a number: "1 message", "2 messages". */
static inline const char *plural_s(uint64_t n)
{
	return n == 1 ? "" : "s";
}

static inline struct str str_of(const char *zero_terminated)
{
	return (struct str){ zero_terminated, zero_terminated ? strlen(zero_terminated) : 0 };
}

static inline struct str str_make(const char *p, size_t n)
{
	return (struct str){ p, n };
}

static inline bool str_eq(struct str a, struct str b)
{
	return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

static inline bool str_is(struct str a, const char *literal)
{
	return str_eq(a, str_of(literal));
}

static inline bool str_starts(struct str a, struct str head)
{
	return a.n >= head.n && (head.n == 0 || memcmp(a.p, head.p, head.n) == 0);
}

static inline bool str_ends(struct str a, struct str tail)
{
	return a.n >= tail.n && (tail.n == 0 || memcmp(a.p + a.n - tail.n, tail.p, tail.n) == 0);
}

static inline struct str str_from(struct str a, size_t start)
{
	return start >= a.n ? STR_NONE : str_make(a.p + start, a.n - start);
}

static inline char ascii_lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
}

/* Copies s to p, NUL after the end. */
static inline struct str str_copy(char *p, struct str s)
{
	if (s.n)
		memcpy(p, s.p, s.n);
	p[s.n] = '\0';
	return str_make(p, s.n);
}

/* Bytewise order, shorter first among equals. */
int str_cmp(struct str a, struct str b);
/* ASCII letters compare without case. */
bool str_eq_nocase(struct str a, struct str b);
bool str_contains_nocase(struct str text, struct str word);
/* Offset of the first occurrence at or after start, or -1. */
ptrdiff_t str_find(struct str text, struct str word, size_t start);
/* Splits at the first separator: returns what is before it, or all, and advances rest behind it. */
struct str str_cut(struct str *rest, struct str separator);
struct str str_trim(struct str s);
/* Takes the first word off a text, which is then what follows it, trimmed. */
struct str str_first_word(struct str *rest);
/* A fast 64-bit hash. Its seed is set once, before anything is hashed, so that writers of messages
 * cannot construct collisions. */
extern uint64_t hash_seed;
uint64_t str_hash(struct str s);
static inline uint64_t hash_mix(uint64_t a, uint64_t b)
{
	uint64_t h = (a ^ (b + 0x9e3779b97f4a7c15u + (a << 6) + (a >> 2))) * 0xff51afd7ed558ccdu;

	return h ^ (h >> 32);
}
/* Both halves of the product, xored: every bit of a and b affects every bit of the result; 0 if one
 * of them is. */
static inline uint64_t hash_fold(uint64_t a, uint64_t b)
{
#ifdef __SIZEOF_INT128__
	__extension__ unsigned __int128 product = (unsigned __int128)a * b;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
#else
	uint64_t low = (a & 0xffffffffu) * (b & 0xffffffffu), high = (a >> 32) * (b >> 32);
	uint64_t left = (a >> 32) * (b & 0xffffffffu), right = (a & 0xffffffffu) * (b >> 32);
	uint64_t middle = (low >> 32) + (left & 0xffffffffu) + right;

	return ((middle << 32) | (low & 0xffffffffu)) ^ (high + (left >> 32) + (middle >> 32));
#endif
}
#define HASH_K1 UINT64_C(0xa0761d6478bd642f)
#define HASH_K2 UINT64_C(0xe7037ed1a0b428db)
#define HASH_K3 UINT64_C(0x8ebc6af09c88c6e3)
#define HASH_K4 UINT64_C(0x589965cc75374cc3)
/* The parts of str_hash, for callers with the text in words already: of more than 16 bytes, and of
 * n bytes in two words. */
uint64_t hash_long(const char *p, size_t n);
/* Mixes a length with the seed: a byte of the text could cancel n itself. */
static inline uint64_t hash_length(size_t n)
{
	return n * (hash_seed ^ HASH_K4);
}
static inline uint64_t hash_short(uint64_t a, uint64_t b, size_t n)
{
	return hash_fold(a ^ hash_seed ^ HASH_K1, b ^ hash_seed ^ HASH_K2 ^ hash_length(n));
}
/* Whole decimal number without sign; false on anything else or overflow. */
bool str_to_u64(struct str s, uint64_t *out);
/* The inverse, in that buffer. */
enum { DIGITS_MAX = 20 };
struct str str_from_u64(uint64_t v, char room[DIGITS_MAX]);
/* Two lower-case digits for each byte; returns the end of them. */
char *str_put_hex(char *to, const unsigned char *bytes, size_t n);
/* Whether 8 bytes are printable ASCII. */
static inline bool str_plain_eight(const char *p)
{
	const uint64_t each = 0x0101010101010101u;
	uint64_t word;

	memcpy(&word, p, sizeof(word));
	return !((word | (word + each) | (word - 0x20 * each)) & 0x80 * each);
}
bool str_is_plain(struct str s); /* all bytes are */
bool str_is_plain_lines(struct str s); /* all bytes are, or newlines */

#endif
