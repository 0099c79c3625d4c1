/* Asking whether to go on, and sorting that asks. */
#include "base/breath.h"

#include "base/mem.h"

#include <string.h>

enum { ASKED_OFTEN = 64, RUN_LENGTH = 1024 };

bool breath_asked(struct breath *b)
{
	if (!b->stopped && ++b->asked % ASKED_OFTEN == 0)
		b->stopped = !b->take(b->ctx);
	return !b->stopped;
}

struct sorting {
	size_t size;
	int (*compare)(const void *, const void *);
	struct breath *breath;
};

/* Merges the neighbours [left, right) and [right, end). */
static void merge(const struct sorting *s, const char *left, const char *right, const char *end,
		  char *out)
{
	const char *a = left, *b = right;

	while (a < right && b < end && breath_on(s->breath)) {
		const char **from = s->compare(a, b) <= 0 ? &a : &b;

		memcpy(out, *from, s->size);
		*from += s->size;
		out += s->size;
	}
	memcpy(out, a, (size_t)(right - a));
	memcpy(out + (right - a), b, (size_t)(end - b));
}

/* Short runs are sorted at one go, then merged from one half of the memory into the other. */
void breath_sort(void *v, size_t n, size_t size, int (*compare)(const void *, const void *),
		 struct breath *b)
{
	const struct sorting s = { size, compare, b };
	size_t bytes = n * size, run = RUN_LENGTH * size;
	char *from = v, *spare, *to;

	if (!b || n <= RUN_LENGTH) {
		if (n)
			qsort(v, n, size, compare);
		return;
	}
	for (size_t at = 0; at < bytes && breath_on(b); at += run)
		qsort(from + at, (bytes - at < run ? bytes - at : run) / size, size, compare);
	spare = to = xmalloc(bytes);
	for (; run < bytes && breath_on(b); run *= 2) {
		char *swap = from;

		for (size_t at = 0; at < bytes; at += 2 * run) {
			size_t right = bytes - at < run ? bytes : at + run;
			size_t end = bytes - at < 2 * run ? bytes : at + 2 * run;

			merge(&s, from + at, from + right, from + end, to + at);
		}
		from = to;
		to = swap;
	}
	if (from != v)
		memcpy(v, from, bytes);
	free(spare);
}
