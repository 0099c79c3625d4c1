/* Most strings are as they should be, so what is asked here is answered eight bytes at a time. */
#include "dialect/formats.h"

/* All eight bytes the same. */
#define ALL(byte) (UINT64_C(0x0101010101010101) * (byte))

/* The highest bit of each byte that is from low to high, both ASCII. Bytes that are not ASCII
 * get any answer. */
static inline uint64_t in_range(uint64_t bytes, unsigned char low, unsigned char high)
{
	bytes &= ALL(0x7f);
	return (bytes + ALL(0x80u - low)) & ~(bytes + ALL(0x7fu - high));
}

static inline bool all_bytes(uint64_t bytes, uint64_t good)
{
	return (good & ~bytes & ALL(0x80)) == ALL(0x80);
}

static inline uint64_t eight_bytes(const char *p)
{
	uint64_t bytes;

	memcpy(&bytes, p, sizeof(bytes));
	return bytes;
}

/* Four bytes at p and four at q. */
static inline uint64_t four_and_four(const char *p, const char *q)
{
	uint32_t a, b;

	memcpy(&a, p, sizeof(a));
	memcpy(&b, q, sizeof(b));
	return (uint64_t)a << 32 | b;
}

static inline bool all_hex(uint64_t bytes)
{
	return all_bytes(bytes, in_range(bytes, '0', '9') | in_range(bytes | ALL(0x20), 'a', 'f'));
}

bool is_uuid(struct str s, bool version4)
{
	if (s.n != 36 || s.p[8] != '-' || s.p[13] != '-' || s.p[18] != '-' || s.p[23] != '-')
		return false;
	if (!all_hex(eight_bytes(s.p)) || !all_hex(four_and_four(s.p + 9, s.p + 14)) ||
	    !all_hex(four_and_four(s.p + 19, s.p + 24)) || !all_hex(eight_bytes(s.p + 28)))
		return false;
	return !version4 || (s.p[14] == '4' && (s.p[19] == '8' || s.p[19] == '9' ||
						(s.p[19] | 32) == 'a' || (s.p[19] | 32) == 'b'));
}

static inline bool all_of_item_ids(uint64_t bytes)
{
	return all_bytes(bytes, in_range(bytes, 'a', 'z') | in_range(bytes, '0', '9') |
					in_range(bytes, '-', '.') | in_range(bytes, '_', '_'));
}

bool is_item_id(struct str s)
{
	if (s.n < 8 || s.n > 128)
		return false;
	for (size_t i = 0; i + 8 < s.n; i += 8)
		if (!all_of_item_ids(eight_bytes(s.p + i)))
			return false;
	return all_of_item_ids(eight_bytes(s.p + s.n - 8));
}

static bool is_mime_token(struct str s)
{
	if (s.n == 0)
		return false;
	for (size_t i = 0; i < s.n; i++) {
		char c = s.p[i];
		bool letter = ((c | 32) >= 'a' && (c | 32) <= 'z') || (c >= '0' && c <= '9');

		if (!letter && (c == 0 || !strchr("!#$&^_.+-", c)))
			return false;
	}
	return true;
}

bool is_mime(struct str s)
{
	const char *semicolon = s.n ? memchr(s.p, ';', s.n) : NULL;
	struct str essence = str_trim(semicolon ? str_make(s.p, (size_t)(semicolon - s.p)) : s);
	const char *slash = essence.n ? memchr(essence.p, '/', essence.n) : NULL;
	size_t n = slash ? (size_t)(slash - essence.p) : 0;

	return slash && is_mime_token(str_make(essence.p, n)) &&
	       is_mime_token(str_from(essence, n + 1));
}

bool is_iso(struct str s, bool clock, int64_t *ms)
{
	size_t at = s.n > 4 && s.p[4] == '-' ? 10 : 8; /* of what is between them */
	char between = s.n > at ? s.p[at] : '\0';

	return between != ' ' && (!clock || between == 'T') && when_parse_iso(s, ms);
}

bool is_relative_path(struct str s)
{
	return s.n && s.p[0] != '/' && s.p[0] != '~' &&
	       !(s.n > 2 && s.p[1] == ':' && (s.p[2] == '\\' || s.p[2] == '/'));
}

bool path_leaves(struct str s)
{
	return str_is(s, "..") || str_starts(s, STR("../")) || str_find(s, STR("/../"), 0) >= 0 ||
	       str_ends(s, STR("/.."));
}

int value_index(const char *const *values, struct str s)
{
	for (int i = 0; s.n && values[i]; i++)
		if (values[i][0] == s.p[0] && str_is(s, values[i]))
			return i;
	return -1;
}
