/* The yield check with its deadline, and a merge sort that yields. */
#include "base/yield.h"

#include "base/mem.h"
#include "base/timestamp.h"

enum { CLOCK_INTERVAL = 64, RUN_LENGTH = 1024 };

static bool is_due(const struct yield *y)
{
	return y->until_ms != INT64_MAX && monotonic_ms() >= y->until_ms;
}

bool yield_check(struct yield *y)
{
	if (!y->cancelled && ++y->checks % CLOCK_INTERVAL == 0 && is_due(y))
		y->hand_over(y);
	return !y->cancelled;
}

bool yield_now(struct yield *y)
{
	if (!y->cancelled)
		y->hand_over(y);
	return !y->cancelled;
}

struct sorting {
	size_t size;
	int (*compare)(const void *, const void *);
	struct yield *yield;
};

/* Merges the neighbours [left, right) and [right, end). */
static void merge(const struct sorting *s, const char *left, const char *right, const char *end,
		  char *out)
{
	const char *a = left, *b = right;

	while (a < right && b < end && yield_on(s->yield)) {
		const char **from = s->compare(a, b) <= 0 ? &a : &b;

		memcpy(out, *from, s->size);
		*from += s->size;
		out += s->size;
	}
	memcpy(out, a, (size_t)(right - a));
	memcpy(out + (right - a), b, (size_t)(end - b));
}

/* Runs of RUN_LENGTH are sorted by qsort, then merged between the array and a spare one. */
void yield_sort(void *v, size_t n, size_t size, int (*compare)(const void *, const void *),
		struct yield *y)
{
	const struct sorting s = { size, compare, y };
	size_t bytes = n * size, run = RUN_LENGTH * size;
	char *from = v, *spare, *to;

	if (!y || n <= RUN_LENGTH) {
		if (n)
			qsort(v, n, size, compare);
		return;
	}
	for (size_t at = 0; at < bytes && yield_on(y); at += run)
		qsort(from + at, (bytes - at < run ? bytes - at : run) / size, size, compare);
	spare = to = xmalloc(bytes);
	for (; run < bytes && yield_on(y); run *= 2) {
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
