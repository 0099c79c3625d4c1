/* A thread and a turn that is handed back and forth. A thread whose job is done waits for the next
 * one and never ends: where a job has begun a process, Linux tells that process that its parent has
 * died when the thread does (PR_SET_PDEATHSIG). */
#include "base/job.h"

#include "base/mem.h"
#include "base/thread.h"

#include <stdlib.h>

struct worker {
	pthread_mutex_t lock;
	pthread_cond_t turned;
	bool works; /* under the lock: whose turn it is */
	struct job *job;
	struct worker *next;
};

struct job {
	struct yield yield; /* first, so that a pointer to it is one to the job */
	job_fn fn;
	void *ctx;
	bool returned;
	struct worker *worker; /* NULL before the first step, and after the last */
};

static struct worker *spare; /* that have nothing to do */

struct job *job_new(job_fn fn, void *ctx)
{
	struct job *j = xcalloc(1, sizeof(*j));

	j->fn = fn;
	j->ctx = ctx;
	return j;
}

static void await_turn(struct worker *w, bool works)
{
	pthread_mutex_lock(&w->lock);
	while (w->works != works)
		pthread_cond_wait(&w->turned, &w->lock);
	pthread_mutex_unlock(&w->lock);
}

static void give_turn(struct worker *w, bool works)
{
	pthread_mutex_lock(&w->lock);
	w->works = works;
	pthread_cond_signal(&w->turned);
	pthread_mutex_unlock(&w->lock);
}

static void hand_over(struct yield *y)
{
	struct worker *w = ((struct job *)y)->worker;

	give_turn(w, false);
	await_turn(w, true);
}

static void *work(void *ctx)
{
	struct worker *w = ctx;

	for (;;) {
		await_turn(w, true);
		w->job->fn(w->job->ctx, &w->job->yield);
		w->job->returned = true;
		give_turn(w, false);
	}
	return NULL;
}

/* NULL: there can be no thread. */
static struct worker *worker_new(void)
{
	struct worker *w = xcalloc(1, sizeof(*w));
	pthread_t thread;

	pthread_mutex_init(&w->lock, NULL);
	pthread_cond_init(&w->turned, NULL);
	if (thread_start(&thread, work, w) == 0) {
		pthread_detach(thread);
		return w;
	}
	free(w);
	return NULL;
}

static void start(struct job *j)
{
	struct worker *w = spare ? spare : worker_new();

	if (!w) {
		j->fn(j->ctx, NULL);
		j->returned = true;
		return;
	}
	if (w == spare)
		spare = w->next;
	w->job = j;
	j->worker = w;
	j->yield.hand_over = hand_over;
}

bool job_step(struct job *j, int64_t until_ms)
{
	j->yield.until_ms = until_ms;
	if (!j->returned && !j->worker)
		start(j);
	if (!j->worker)
		return true;
	give_turn(j->worker, true);
	await_turn(j->worker, false);
	if (j->returned) {
		j->worker->next = spare;
		spare = j->worker;
		j->worker = NULL;
	}
	return j->returned;
}

void job_end(struct job *j)
{
	if (j && j->worker) {
		j->yield.cancelled = true;
		job_step(j, INT64_MAX);
	}
	free(j);
}
