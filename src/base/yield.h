/* Long work that yields in between. The worker asks yield_on in its loops whether to go on; once its
 * deadline has passed, that calls `hand_over`, which returns when the work is resumed (job.h).
 * false: the work was cancelled. The worker then leaves its loops, and what it has made is thrown
 * away by whoever started it. A NULL yield never hands over. */
#ifndef GAVEL_BASE_YIELD_H
#define GAVEL_BASE_YIELD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct yield {
	void (*hand_over)(struct yield *y);
	int64_t until_ms; /* CLOCK_MONOTONIC; INT64_MAX = for ever */
	unsigned asked;
	bool cancelled;
};

bool yield_asked(struct yield *y);
static inline bool yield_on(struct yield *y)
{
	return !y || yield_asked(y);
}
/* Hands over at once, for whoever has nothing to do but wait. false: cancelled. */
bool yield_now(struct yield *y);
/* qsort that asks; equal elements may change places. */
void yield_sort(void *v, size_t n, size_t size, int (*compare)(const void *, const void *),
		struct yield *y);

#endif
