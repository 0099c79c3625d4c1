/* Most strings are as they should be, so what is asked here is answered sixteen bytes at a time. */
#include "dialect/formats.h"

typedef unsigned char sixteen __attribute__((vector_size(16)));

/* Eight bytes at p and eight at q, which may overlap. */
static inline sixteen two_eights(const char *p, const char *q)
{
	sixteen bytes;

	memcpy(&bytes, p, 8);
	memcpy((char *)&bytes + 8, q, 8);
	return bytes;
}

/* All bits of the bytes from low to high. */
static inline sixteen in_range(sixteen bytes, unsigned char low, unsigned char high)
{
	return (sixteen)(bytes - low <= (unsigned char)(high - low));
}

static inline bool all(sixteen good)
{
	uint64_t halves[2];

	memcpy(halves, &good, sizeof(halves));
	return (halves[0] & halves[1]) == UINT64_MAX;
}

static inline sixteen hex_digits(sixteen bytes)
{
	return in_range(bytes, '0', '9') | in_range(bytes | 0x20, 'a', 'f');
}

bool is_uuid(struct str s, bool version4)
{
	char middle[16];

	if (s.n != 36 || s.p[8] != '-' || s.p[13] != '-' || s.p[18] != '-' || s.p[23] != '-')
		return false;
	memcpy(middle, s.p + 9, 4);
	memcpy(middle + 4, s.p + 14, 4);
	memcpy(middle + 8, s.p + 19, 4);
	memcpy(middle + 12, s.p + 24, 4);
	if (!all(hex_digits(two_eights(s.p, s.p + 28)) &
		 hex_digits(two_eights(middle, middle + 8))))
		return false;
	return !version4 || (s.p[14] == '4' && (s.p[19] == '8' || s.p[19] == '9' ||
						(s.p[19] | 32) == 'a' || (s.p[19] | 32) == 'b'));
}

/* Two ranges, and not the byte in each that is none of them. */
static inline sixteen item_id_bytes(sixteen bytes)
{
	return (in_range(bytes, '-', '9') | in_range(bytes, '_', 'z')) &
	       ~((sixteen)(bytes == '/') | (sixteen)(bytes == '`'));
}

bool is_item_id(struct str s)
{
	sixteen good;

	if (s.n < 8 || s.n > 128)
		return false;
	if (s.n < 16)
		return all(item_id_bytes(two_eights(s.p, s.p + s.n - 8)));
	good = item_id_bytes(two_eights(s.p + s.n - 16, s.p + s.n - 8));
	for (size_t i = 0; i + 16 < s.n; i += 16)
		good &= item_id_bytes(two_eights(s.p + i, s.p + i + 8));
	return all(good);
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
