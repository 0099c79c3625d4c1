/* Fast substring search, ignoring the case of ASCII letters. */
#ifndef GAVEL_BASE_NEEDLE_H
#define GAVEL_BASE_NEEDLE_H

#include "base/str.h"

enum { NEEDLE_MAX = 256 };

struct needle {
	char word[NEEDLE_MAX]; /* in lower case */
	size_t n;
	size_t rare, other; /* offsets of the two bytes that are compared first */
};

/* Of words longer than NEEDLE_MAX only the beginning is found: the caller compares the rest. */
void needle_init(struct needle *n, struct str word);
/* The first offset from `start` on, or -1. */
ptrdiff_t needle_find(const struct needle *n, struct str text, size_t start);

#endif
