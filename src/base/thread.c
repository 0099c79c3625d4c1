/* A new thread inherits the signal mask of the thread that creates it. */
#include "base/thread.h"

#include <signal.h>

int thread_start(pthread_t *thread, void *(*fn)(void *), void *ctx)
{
	sigset_t all, before;
	pthread_attr_t attributes;
	int rc = pthread_attr_init(&attributes);

	if (rc)
		return rc;
	pthread_attr_setstacksize(&attributes, THREAD_STACK_BYTES);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	rc = pthread_create(thread, &attributes, fn, ctx);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attributes);
	return rc;
}
