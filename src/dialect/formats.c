/* Validation of string formats; UUIDs and item ids with SIMD (gcc vector extensions). */
#include "dialect/formats.h"

typedef unsigned char bytes16 __attribute__((vector_size(16)));
typedef uint64_t words2 __attribute__((vector_size(16)));

static inline bytes16 load16(const char *p)
{
	bytes16 bytes;

	memcpy(&bytes, p, sizeof(bytes));
	return bytes;
}

/* Eight bytes at p and eight at q, which may overlap. Combined in registers: through memory, two
 * narrow stores and a wide load would defeat store-to-load forwarding. */
static inline bytes16 load8x2(const char *p, const char *q)
{
	uint64_t first, second;

	memcpy(&first, p, sizeof(first));
	memcpy(&second, q, sizeof(second));
	return (bytes16)(words2){ first, second };
}

/* 0xff for each byte in low..high, else 0. */
static inline bytes16 in_range(bytes16 bytes, unsigned char low, unsigned char high)
{
	return (bytes16)(bytes - low <= (unsigned char)(high - low));
}

static inline bool all(bytes16 good)
{
	uint64_t halves[2];

	memcpy(halves, &good, sizeof(halves));
	return (halves[0] & halves[1]) == UINT64_MAX;
}

static inline bytes16 hex_digits(bytes16 bytes)
{
	return in_range(bytes, '0', '9') | in_range(bytes | 0x20, 'a', 'f');
}

/* 0xff for each hex digit, or dash where `dashes` is 0xff. */
static inline bytes16 dashed_digits(bytes16 bytes, bytes16 dashes)
{
	return (hex_digits(bytes) & ~dashes) | ((bytes16)(bytes == '-') & dashes);
}

bool is_uuid(struct str s, bool version4)
{
	enum { NO, DASH = 0xff };
	const bytes16 first = { NO, NO, NO, NO, NO, NO, NO, NO, DASH, NO, NO, NO, NO, DASH };
	const bytes16 second = { NO, NO, DASH, NO, NO, NO, NO, DASH }, last = { NO, NO, NO, DASH };

	if (s.n != 36)
		return false;
	if (!all(dashed_digits(load16(s.p), first) & dashed_digits(load16(s.p + 16), second) &
		 dashed_digits(load16(s.p + 20), last)))
		return false;
	return !version4 || (s.p[14] == '4' && (s.p[19] == '8' || s.p[19] == '9' ||
						(s.p[19] | 32) == 'a' || (s.p[19] | 32) == 'b'));
}

/* [a-z0-9._-] as two ranges without the byte in each that does not belong. */
static inline bytes16 item_id_bytes(bytes16 bytes)
{
	return (in_range(bytes, '-', '9') | in_range(bytes, '_', 'z')) &
	       ~((bytes16)(bytes == '/') | (bytes16)(bytes == '`'));
}

bool is_item_id(struct str s)
{
	bytes16 good;

	if (s.n < 8 || s.n > 128)
		return false;
	if (s.n < 16)
		return all(item_id_bytes(load8x2(s.p, s.p + s.n - 8)));
	good = item_id_bytes(load16(s.p + s.n - 16));
	for (size_t i = 0; i + 16 < s.n; i += 16)
		good &= item_id_bytes(load16(s.p + i));
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
	size_t at = s.n > 4 && s.p[4] == '-' ? 10 : 8; /* of the T between date and time */
	char between = s.n > at ? s.p[at] : '\0';

	return between != ' ' && (!clock || between == 'T') && timestamp_parse_iso(s, ms);
}

bool is_relative_path(struct str s)
{
	return s.n && s.p[0] != '/' && s.p[0] != '~' &&
	       !(s.n > 2 && s.p[1] == ':' && (s.p[2] == '\\' || s.p[2] == '/'));
}

bool path_has_dotdot(struct str s)
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
