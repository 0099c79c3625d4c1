/* A short-lived second thread for one function. */
#include "base/parallel.h"

#include <pthread.h>
#include <signal.h>

struct side {
	side_fn fn;
	void *ctx;
};

static void *run(void *ctx)
{
	struct side *side = ctx;

	side->fn(side->ctx);
	return NULL;
}

void side_by_side(side_fn own, void *own_ctx, side_fn other, void *other_ctx)
{
	struct side side = { other, other_ctx };
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
