/* Long work that lets others do something in between. The worker asks breath_on in its loops
 * whether to go on; now and then that calls `take`, which may do whatever else is waiting, and may
 * say that the work is not wanted any more. The worker then leaves its loops, and what it has made
 * is thrown away by whoever started it, who sees `stopped`. A NULL breath never stops. */
#ifndef GAVEL_BASE_BREATH_H
#define GAVEL_BASE_BREATH_H

#include <stdbool.h>
#include <stddef.h>

struct breath {
	bool (*take)(void *ctx); /* false: stop */
	void *ctx;
	unsigned asked;
	bool stopped;
};

bool breath_asked(struct breath *b);
static inline bool breath_on(struct breath *b)
{
	return !b || breath_asked(b);
}
/* qsort that breathes; equal elements may change places. */
void breath_sort(void *v, size_t n, size_t size, int (*compare)(const void *, const void *),
		 struct breath *b);

#endif
