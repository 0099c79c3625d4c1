/* Runs two functions in parallel, one on a second thread. Neither may touch what the other
 * writes. */
#ifndef GAVEL_BASE_PARALLEL_H
#define GAVEL_BASE_PARALLEL_H

typedef void (*parallel_fn)(void *ctx);

/* Returns when both are done. `own` runs on the calling thread; so does `other`, after it, if no
 * thread can be created. */
void run_parallel(parallel_fn own, void *own_ctx, parallel_fn other, void *other_ctx);

#endif
