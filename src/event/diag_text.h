/* The text of diagnostics: a small printf, several times faster than that of the C library. Logs that
 * break a rule break it in every other message, so a text is made for a good part of all messages. */
#ifndef GAVEL_EVENT_DIAG_TEXT_H
#define GAVEL_EVENT_DIAG_TEXT_H

#include "base/str.h"

#include <stdarg.h>

/* A buffer that truncates; there is room for a NUL behind `most`. */
struct diag_text {
	char *room;
	size_t n, most;
};

void diag_text_add(struct diag_text *t, struct str s);
void diag_text_number(struct diag_text *t, uint64_t v);
void diag_text_negative(struct diag_text *t, uint64_t v); /* with a minus */
void diag_text_fraction(struct diag_text *t, int digits, double v);
/* Puts a NUL behind it. */
struct str diag_text_end(struct diag_text *t);

/* A conversion: %u, %d, %s, %.1f (any one digit), %lld, %llu, %%. */
struct diag_conversion {
	char kind; /* u, d, s, f, %; 0 = another one, which is not supported */
	bool is_long;
	int digits;
	size_t length; /* with the % */
};

struct diag_conversion diag_conversion_at(const char *percent);

/* Formats into a room of `size` bytes like vsnprintf, to which it leaves other conversions. */
struct str diag_format(char *room, size_t size, const char *format, va_list ap)
	__attribute__((format(printf, 3, 0)));
/* head, then the pattern `at` with the index for its %u. */
struct str diag_pointer(char *room, size_t size, struct str head, struct str at, uint32_t index);

#endif
