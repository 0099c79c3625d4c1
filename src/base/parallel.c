/* A short-lived second thread for one function. */
#include "base/parallel.h"

#include "base/thread.h"

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
	pthread_t thread;
	int rc = thread_start(&thread, run, &side);

	own(own_ctx);
	if (rc == 0)
		pthread_join(thread, NULL);
	else
		run(&side);
}
