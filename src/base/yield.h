/* Cooperative yielding for long work. The worker calls yield_on in its loops; once the deadline has
 * passed, that calls `hand_over`, which returns when the work is resumed (job.h). false: cancelled;
 * the worker leaves its loops and its result is discarded. A NULL yield never yields. */
#ifndef GAVEL_BASE_YIELD_H
#define GAVEL_BASE_YIELD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct yield {
	void (*hand_over)(struct yield *y);
	int64_t until_ms; /* CLOCK_MONOTONIC; INT64_MAX = for ever */
	unsigned checks;
	bool cancelled;
};

bool yield_check(struct yield *y);
static inline bool yield_on(struct yield *y)
{
	return !y || yield_check(y);
}
/* Yields at once, for a worker that is waiting. false: cancelled. */
bool yield_now(struct yield *y);
/* qsort that yields; equal elements may change places. */
void yield_sort(void *v, size_t n, size_t size, int (*compare)(const void *, const void *),
		struct yield *y);

#endif
