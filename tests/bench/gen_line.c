/*
 * Random numbers, the simulated clock and the JSON writer of the log generator.
 *
 * The writer needs no stack: a comma is due unless the line is empty or ends in an opening
 * bracket or a newline (of the text before a JSON value), and no value ends in one of these.
 */
#include "gen.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define ARTIFACT_BIG_PERMILLE 24
#define ARTIFACT_BIG_MIN 20500
#define ARTIFACT_BIG_MAX 90000

static uint64_t rnd_state;
static uint64_t now_ms = 1769421600000; /* 2026-01-26T10:00:00Z */

void
rnd_seed(uint64_t seed)
{
	rnd_state = seed * 0xd1342543de82ef95 + 1;
}

/* splitmix64 */
uint64_t
rnd_bits(void)
{
	uint64_t z = rnd_state += 0x9e3779b97f4a7c15;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

unsigned
rnd_below(unsigned limit)
{
	return (unsigned)(((rnd_bits() >> 32) * limit) >> 32);
}

unsigned
rnd_between(unsigned low, unsigned high)
{
	return low + rnd_below(high - low + 1);
}

bool
rnd_percent(unsigned percent)
{
	return rnd_below(100) < percent;
}

/*
 * Log-normal in shape: median * 2^z, where z is the sum of four uniform numbers, in 1/256.
 * Powers of two between the whole ones are taken on a straight line.
 */
unsigned
rnd_length(unsigned median)
{
	unsigned z = 0, whole, part;
	uint64_t length;

	for (int i = 0; i < 4; i++)
		z += rnd_below(513);
	whole = z / 256;
	part = z % 256;
	length = (((uint64_t)median * (256 + part)) << whole) >> 12;
	return length < 8 ? 8 : (unsigned)length;
}

unsigned
rnd_artifact_length(unsigned median)
{
	if (rnd_below(1000) < ARTIFACT_BIG_PERMILLE)
		return rnd_between(ARTIFACT_BIG_MIN, ARTIFACT_BIG_MAX);
	return rnd_length(median);
}

void
rnd_uuid(char uuid[UUID_SIZE])
{
	uint64_t high = rnd_bits(), low = rnd_bits();

	snprintf(uuid, UUID_SIZE, "%08x-%04x-4%03x-%04x-%012llx", (unsigned)(high >> 32),
		 (unsigned)(high >> 16) & 0xffff, (unsigned)high & 0xfff,
		 (unsigned)((low >> 48) & 0x3fff) | 0x8000,
		 (unsigned long long)(low & 0xffffffffffff));
}

uint64_t
clock_ms(void)
{
	return now_ms;
}

void
clock_advance(unsigned ms)
{
	now_ms += ms;
}

static void
line_reserve(struct line *line, size_t more)
{
	if (line->len + more <= line->cap)
		return;
	line->cap = 2 * (line->len + more);
	line->bytes = realloc(line->bytes, line->cap);
	if (!line->bytes) {
		perror("gen");
		exit(2);
	}
}

void
line_clear(struct line *line)
{
	line->len = 0;
}

void
line_release(struct line *line)
{
	free(line->bytes);
	*line = (struct line){0};
}

void
line_add(struct line *line, const char *bytes, size_t len)
{
	if (len == 0)
		return;
	line_reserve(line, len);
	memcpy(line->bytes + line->len, bytes, len);
	line->len += len;
}

static void __attribute__((format(printf, 2, 0)))
line_addv(struct line *line, const char *format, va_list args)
{
	int len;

	line_reserve(line, 1024);
	len = vsnprintf(line->bytes + line->len, 1024, format, args);
	if (len < 0 || len >= 1024)
		abort();
	line->len += (size_t)len;
}

void
line_addf(struct line *line, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	line_addv(line, format, args);
	va_end(args);
}

static void
line_key(struct line *line, const char *key)
{
	char last = line->len ? line->bytes[line->len - 1] : '\n';

	if (last != '[' && last != '{' && last != '\n')
		line_add(line, ",", 1);
	if (key)
		line_addf(line, "\"%s\":", key);
}

void
line_object(struct line *line, const char *key)
{
	line_key(line, key);
	line_add(line, "{", 1);
}

void
line_object_end(struct line *line)
{
	line_add(line, "}", 1);
}

void
line_array(struct line *line, const char *key)
{
	line_key(line, key);
	line_add(line, "[", 1);
}

void
line_array_end(struct line *line)
{
	line_add(line, "]", 1);
}

static char
escape_letter(char c)
{
	switch (c) {
	case '\n':
		return 'n';
	case '\t':
		return 't';
	case '"':
	case '\\':
		return c;
	}
	return 0;
}

void
line_string_len(struct line *line, const char *key, const char *value, size_t len)
{
	char *out;

	line_key(line, key);
	line_reserve(line, 2 * len + 2);
	out = line->bytes + line->len;
	*out++ = '"';
	for (size_t i = 0; i < len; i++) {
		char letter = escape_letter(value[i]);

		if (letter)
			*out++ = '\\';
		*out++ = letter ? letter : value[i];
	}
	*out++ = '"';
	line->len = (size_t)(out - line->bytes);
}

void
line_string(struct line *line, const char *key, const char *value)
{
	line_string_len(line, key, value, strlen(value));
}

void
line_stringf(struct line *line, const char *key, const char *format, ...)
{
	va_list args;

	line_key(line, key);
	line_add(line, "\"", 1);
	va_start(args, format);
	line_addv(line, format, args);
	va_end(args);
	line_add(line, "\"", 1);
}

void
line_uint(struct line *line, const char *key, uint64_t value)
{
	line_key(line, key);
	line_addf(line, "%llu", (unsigned long long)value);
}

void
line_hundredths(struct line *line, const char *key, unsigned value)
{
	line_key(line, key);
	line_addf(line, "%u.%02u", value / 100, value % 100);
}

void
line_bool(struct line *line, const char *key, bool value)
{
	line_key(line, key);
	line_addf(line, value ? "true" : "false");
}

void
line_null(struct line *line, const char *key)
{
	line_key(line, key);
	line_addf(line, "null");
}

void
line_time_ahead(struct line *line, const char *key, unsigned seconds)
{
	time_t when = (time_t)(now_ms / 1000 + seconds);
	char day[32];
	struct tm tm;

	gmtime_r(&when, &tm);
	strftime(day, sizeof(day), "%Y-%m-%dT%H:%M:%S", &tm);
	line_stringf(line, key, "%s.%03uZ", day, (unsigned)(now_ms % 1000));
}

void
line_time(struct line *line, const char *key)
{
	line_time_ahead(line, key, 0);
}
