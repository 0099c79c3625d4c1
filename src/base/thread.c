/* A new thread inherits the signal mask of the thread that creates it. */
#include "base/thread.h"

#include <signal.h>

int thread_start(pthread_t *thread, void *(*fn)(void *), void *ctx)
{
	sigset_t all, before;
	int rc;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	rc = pthread_create(thread, NULL, fn, ctx);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return rc;
}
