/* Two pieces of work that do not touch what the other one writes, side by side in two threads. */
#ifndef GAVEL_BASE_PARALLEL_H
#define GAVEL_BASE_PARALLEL_H

typedef void (*side_fn)(void *ctx);

/* Returns when both are done. `own` is done by the caller, as is the other one where there can be
 * no thread. */
void side_by_side(side_fn own, void *own_ctx, side_fn other, void *other_ctx);

#endif
