/* A coroutine: a function with a stack of its own that runs only inside calls of job_step. It is a
 * thread with strict hand-over, so the two never run at the same time and share data without locks.
 * Inside, yield_on hands over once the step's deadline has passed.
 *
 * The function must leave its loops when yield_on says so, and must not step or end its own job.
 * Signals are left to other threads. One thread of a process makes and steps jobs. */
#ifndef GAVEL_BASE_JOB_H
#define GAVEL_BASE_JOB_H

#include "base/yield.h"

struct job;
typedef void (*job_fn)(void *ctx, struct yield *y);

/* Nothing runs before the first step. */
struct job *job_new(job_fn fn, void *ctx);
/* Runs until the function returns (true), or it yields at that moment of CLOCK_MONOTONIC or later
 * (false). Where there can be no thread it runs to its end at once. */
bool job_step(struct job *j, int64_t until_ms);
/* Frees the job; one that has not returned is cancelled and runs until it does. NULL is nothing. */
void job_end(struct job *j);

#endif
