/* A short-lived second thread for one function. */
#include "base/parallel.h"

#include <pthread.h>
#include <signal.h>

struct parallel_task {
	parallel_fn fn;
	void *ctx;
};

static void *run(void *ctx)
{
	struct parallel_task *side = ctx;

	side->fn(side->ctx);
	return NULL;
}

void run_parallel(parallel_fn own, void *own_ctx, parallel_fn other, void *other_ctx)
{
	struct parallel_task side = { other, other_ctx };
	sigset_t all, before;
	pthread_t thread;
	int rc;

	sigfillset(&all); /* signals stay with the calling thread */
	pthread_sigmask(SIG_SETMASK, &all, &before);
	rc = pthread_create(&thread, NULL, run, &side);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	own(own_ctx);
	if (rc == 0)
		pthread_join(thread, NULL);
	else
		run(&side);
}
