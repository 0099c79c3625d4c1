/* Parsing and formatting times. Own calendar arithmetic, independent of TZ and locale. */
#include "base/timestamp.h"

#include <stdio.h>
#include <time.h>

static int64_t days_from_civil(int64_t y, unsigned m, unsigned d)
{
	int64_t era;
	unsigned yoe, doy, doe;

	y -= m <= 2;
	era = (y >= 0 ? y : y - 399) / 400;
	yoe = (unsigned)(y - era * 400);
	doy = (153 * (m + (m > 2 ? -3u : 9u)) + 2) / 5 + d - 1;
	doe = yoe * 365 + yoe / 4 - yoe / 100 + doy;
	return era * 146097 + (int64_t)doe - 719468;
}

static void civil_from_days(int64_t z, int64_t *y, unsigned *m, unsigned *d)
{
	int64_t era;
	unsigned doe, yoe, doy, mp;

	z += 719468;
	era = (z >= 0 ? z : z - 146096) / 146097;
	doe = (unsigned)(z - era * 146097);
	yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
	doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
	mp = (5 * doy + 2) / 153;
	*d = doy - (153 * mp + 2) / 5 + 1;
	*m = mp < 10 ? mp + 3 : mp - 9;
	*y = (int64_t)yoe + era * 400 + (*m <= 2);
}

/* Takes exactly `digits` digits off the front. */
static bool take_digits(struct str *s, unsigned digits, unsigned *out)
{
	unsigned v = 0;

	if (s->n < digits)
		return false;
	for (unsigned i = 0; i < digits; i++) {
		unsigned c = (unsigned char)s->p[i] - (unsigned)'0';

		if (c > 9)
			return false;
		v = v * 10 + c;
	}
	*s = str_from(*s, digits);
	*out = v;
	return true;
}

static bool take_char(struct str *s, char c)
{
	if (s->n == 0 || s->p[0] != c)
		return false;
	*s = str_from(*s, 1);
	return true;
}

static bool digit_next(struct str s)
{
	return s.n && s.p[0] >= '0' && s.p[0] <= '9';
}

/* HH:MM[:SS[.fraction]], or the same without colons → milliseconds of the day */
static bool take_clock(struct str *s, int64_t *ms)
{
	unsigned h, m, sec = 0, scale = 100, frac = 0;
	bool colons;

	if (!take_digits(s, 2, &h))
		return false;
	colons = take_char(s, ':');
	if (!take_digits(s, 2, &m))
		return false;
	if (colons ? take_char(s, ':') : digit_next(*s)) {
		if (!take_digits(s, 2, &sec))
			return false;
		if (s->n && (s->p[0] == '.' || s->p[0] == ',')) {
			*s = str_from(*s, 1);
			if (!digit_next(*s))
				return false;
			while (digit_next(*s)) {
				frac += (unsigned)(s->p[0] - '0') * scale;
				scale /= 10;
				*s = str_from(*s, 1);
			}
		}
	}
	if (h > 24 || m > 59 || sec > 60 || (h == 24 && (m || sec || frac)))
		return false;
	*ms = (((int64_t)h * 60 + m) * 60 + sec) * 1000 + frac;
	return true;
}

static bool is_day(unsigned y, unsigned m, unsigned d)
{
	static const unsigned char days[] = { 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };

	return m >= 1 && m <= 12 && d >= 1 && d <= days[m - 1] &&
	       !(m == 2 && d == 29 && (y % 4 || (y % 100 == 0 && y % 400)));
}

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
/* SWAR: checks eight characters at once against `form`, in which 0 means any digit. Returns the
 * digits' values in their bytes; *wrong is set if a character does not match. `most` is added to
 * carry a byte that is too big into its high bit: 'v' = 0x80 - 10 for digits, 0x7f for others. */
static inline uint64_t match8(const char *p, const char *form, const char *most, uint64_t *wrong)
{
	uint64_t bytes, expected, carry;

	memcpy(&bytes, p, 8);
	memcpy(&expected, form, 8);
	memcpy(&carry, most, 8);
	bytes ^= expected;
	*wrong |= ((bytes + carry) | bytes) & UINT64_C(0x8080808080808080);
	return bytes;
}

/* The two-digit number at that byte. */
static inline unsigned two_digits(uint64_t digits, unsigned at)
{
	return (unsigned)((digits * 10 + (digits >> 8)) >> at * 8 & 0xff);
}

/* Fast path for the most common form, YYYY-MM-DDTHH:MM:SS[.mmm]Z. false = other or invalid. */
static bool parse_common(struct str s, int64_t *ms)
{
	uint64_t wrong = 0, date, clock, end;
	unsigned y, m, d, h, min, sec, frac = 0;

	if (s.n != 20 && s.n != 24)
		return false;
	date = match8(s.p, "0000-00-", "vvvv\x7fvv\x7f", &wrong);
	clock = match8(s.p + 8, "00T00:00", "vv\x7fvv\x7fvv", &wrong);
	if (s.n == 20) {
		end = match8(s.p + 12, "0:00:00Z", "v\x7fvv\x7fvv\x7f", &wrong);
		sec = two_digits(end, 5);
	} else {
		end = match8(s.p + 16, ":00.000Z", "\x7fvv\x7fvvv\x7f", &wrong);
		sec = two_digits(end, 1);
		frac = two_digits(end, 4) * 10 + (unsigned)(end >> 48 & 0xf);
	}
	y = two_digits(date, 0) * 100 + two_digits(date, 2);
	m = two_digits(date, 5);
	d = two_digits(clock, 0);
	h = two_digits(clock, 3);
	min = two_digits(clock, 6);
	if (wrong || !is_day(y, m, d) || h > 23 || min > 59 || sec > 60)
		return false;
	*ms = days_from_civil(y, m, d) * 86400000 + ((h * 60 + min) * 60 + sec) * (int64_t)1000 +
	      frac;
	return true;
}
#else
static bool parse_common(struct str s, int64_t *ms)
{
	(void)s, (void)ms;
	return false;
}
#endif

bool timestamp_parse_iso(struct str s, int64_t *ms)
{
	unsigned y, m, d, zh, zm = 0;
	int64_t clock = 0, t;
	bool dashes;

	if (parse_common(s, ms))
		return true;
	if (!take_digits(&s, 4, &y))
		return false;
	dashes = take_char(&s, '-');
	if (!take_digits(&s, 2, &m) || take_char(&s, '-') != dashes || !take_digits(&s, 2, &d))
		return false;
	if (!is_day(y, m, d))
		return false;
	t = days_from_civil(y, m, d) * 86400000;
	if (s.n == 0) {
		*ms = t;
		return true;
	}
	if (s.p[0] != 'T' && s.p[0] != 't' && s.p[0] != ' ')
		return false;
	s = str_from(s, 1);
	if (!take_clock(&s, &clock))
		return false;
	t += clock;
	if (s.n && (s.p[0] == '+' || s.p[0] == '-')) {
		int64_t sign = s.p[0] == '-' ? 1 : -1;

		s = str_from(s, 1);
		if (!take_digits(&s, 2, &zh))
			return false;
		if (s.n && (take_char(&s, ':') || 1) && !take_digits(&s, 2, &zm))
			return false;
		if (zh > 23 || zm > 59)
			return false;
		t += sign * ((int64_t)zh * 60 + zm) * 60000;
	} else if (s.n && (s.p[0] == 'Z' || s.p[0] == 'z')) {
		s = str_from(s, 1);
	}
	if (s.n)
		return false;
	*ms = t;
	return true;
}

bool timestamp_parse_loose(struct str s, int64_t day, int64_t *ms)
{
	struct str rest = s;
	uint64_t number;
	int64_t clock;

	if (timestamp_parse_iso(s, ms))
		return true;
	if (s.n >= 11 && s.n <= 15 && str_to_u64(s, &number)) {
		*ms = (int64_t)number;
		return true;
	}
	if (str_find(s, STR(":"), 0) == 2 && take_clock(&rest, &clock) && rest.n == 0) {
		int64_t midnight =
			day == TIME_NONE ? 0 : day - ((day % 86400000) + 86400000) % 86400000;

		*ms = midnight + clock;
		return true;
	}
	return false;
}

/* Writes n digits. */
static char *put_digits(char *to, unsigned n, unsigned v)
{
	for (unsigned i = n; i-- > 0; v /= 10)
		to[i] = (char)('0' + v % 10);
	return to + n;
}

/* HH:MM:SS, of the milliseconds of a day. */
static char *put_clock(char *to, unsigned ms)
{
	to = put_digits(to, 2, ms / 3600000);
	*to++ = ':';
	to = put_digits(to, 2, ms / 60000 % 60);
	*to++ = ':';
	return put_digits(to, 2, ms / 1000 % 60);
}

const char *timestamp_iso(int64_t ms, char out[32])
{
	int64_t y, days = ms / 86400000, rest = ms % 86400000;
	unsigned m, d, r;
	char *to = out;

	if (ms == TIME_NONE)
		return memcpy(out, "-", 2);
	if (rest < 0)
		rest += 86400000, days--;
	civil_from_days(days, &y, &m, &d);
	r = (unsigned)rest;
	if (y < -9999 || y > 99999) {
		snprintf(out, 32, "@%lld", (long long)ms);
		return out;
	}
	if (y < 0 || y > 9999)
		to += snprintf(to, 8, "%04d", (int)y);
	else
		to = put_digits(to, 4, (unsigned)y);
	*to++ = '-';
	to = put_digits(to, 2, m);
	*to++ = '-';
	to = put_digits(to, 2, d);
	*to++ = 'T';
	to = put_clock(to, r);
	if (r % 1000) {
		*to++ = '.';
		to = put_digits(to, 3, r % 1000);
	}
	memcpy(to, "Z", 2);
	return out;
}

const char *timestamp_clock(int64_t ms, char out[32])
{
	unsigned r;

	if (ms == TIME_NONE)
		return memcpy(out, "-", 2);
	r = (unsigned)((ms % 86400000 + 86400000) % 86400000);
	*put_clock(out, r) = '\0';
	return out;
}

const char *timestamp_span(int64_t ms, char out[32])
{
	const char *sign = ms < 0 ? "-" : "";
	uint64_t s = (ms < 0 ? 0 - (uint64_t)ms : (uint64_t)ms) / 1000;

	if (s < 3600)
		snprintf(out, 32, "%s%u:%02u", sign, (unsigned)(s / 60), (unsigned)(s % 60));
	else if (s < 86400)
		snprintf(out, 32, "%s%uh%02u", sign, (unsigned)(s / 3600), (unsigned)(s / 60 % 60));
	else
		snprintf(out, 32, "%s%llud%02uh", sign, (unsigned long long)(s / 86400),
			 (unsigned)(s / 3600 % 24));
	return out;
}

bool timestamp_parse_span(struct str s, int64_t *ms)
{
	static const struct {
		const char *unit;
		int64_t ms;
	} units[] = { { "ms", 1 }, { "s", 1000 }, { "m", 60000 }, { "h", 3600000 },
		      { "d", 86400000 }, { "", 1000 } };
	uint64_t n;

	for (unsigned i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		struct str unit = str_of(units[i].unit);

		if (!str_ends(s, unit) || !str_to_u64(str_make(s.p, s.n - unit.n), &n) ||
		    n > 1000000000)
			continue;
		*ms = (int64_t)n * units[i].ms;
		return true;
	}
	return false;
}

static int64_t clock_ms(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

int64_t timestamp_now_ms(void)
{
	return clock_ms(CLOCK_REALTIME);
}

int64_t monotonic_ms(void)
{
	return clock_ms(CLOCK_MONOTONIC);
}

bool timestamp_is_recent(int64_t ms)
{
	const int64_t recent = 600000;
	int64_t now = timestamp_now_ms();

	return ms > now - recent && ms < now + recent;
}
