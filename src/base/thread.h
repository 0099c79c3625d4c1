/* Starting threads. Signals belong to the main thread: every other one runs with all of them
 * blocked. */
#ifndef GAVEL_BASE_THREAD_H
#define GAVEL_BASE_THREAD_H

#include <pthread.h>

/* Of every thread, whatever ulimit -s says: a small limit would make a thread overflow, a big one
 * costs addresses that ulimit -v may not allow. */
enum { THREAD_STACK_BYTES = 2 << 20 };

/* Like pthread_create, but all signals are blocked in the new thread from its start. Returns 0, or
 * an errno value. */
int thread_start(pthread_t *thread, void *(*fn)(void *), void *ctx);

#endif
