/* Looking for a word in a lot of bytes, upper and lower case of ASCII letters being the same. */
#ifndef GAVEL_BASE_NEEDLE_H
#define GAVEL_BASE_NEEDLE_H

#include "base/str.h"

enum { NEEDLE_MAX = 256 };

struct needle {
	char word[NEEDLE_MAX]; /* small letters */
	size_t n;
	size_t rare, other; /* places of the two bytes that are looked for first */
};

/* Words longer than NEEDLE_MAX are looked for by their beginning: whoever finds one compares it. */
void needle_init(struct needle *n, struct str word);
/* The first place from `start` on, or -1. */
ptrdiff_t needle_find(const struct needle *n, struct str text, size_t start);

#endif
