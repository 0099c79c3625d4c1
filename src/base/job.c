/* Coroutines on threads: a mutex and a condition variable pass the turn between the stepping thread
 * and a worker. Idle workers are reused and never exit: the exit of a thread that forked sends its
 * child the parent death signal (PR_SET_PDEATHSIG). */
#include "base/job.h"

#include "base/mem.h"
#include "base/thread.h"

#include <stdlib.h>

struct worker {
	pthread_mutex_t lock;
	pthread_cond_t turn_changed;
	bool worker_turn; /* under the lock */
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

static struct worker *idle_workers;

struct job *job_new(job_fn fn, void *ctx)
{
	struct job *j = xcalloc(1, sizeof(*j));

	j->fn = fn;
	j->ctx = ctx;
	return j;
}

static void await_turn(struct worker *w, bool worker_turn)
{
	pthread_mutex_lock(&w->lock);
	while (w->worker_turn != worker_turn)
		pthread_cond_wait(&w->turn_changed, &w->lock);
	pthread_mutex_unlock(&w->lock);
}

static void give_turn(struct worker *w, bool worker_turn)
{
	pthread_mutex_lock(&w->lock);
	w->worker_turn = worker_turn;
	pthread_cond_signal(&w->turn_changed);
	pthread_mutex_unlock(&w->lock);
}

static void give_back(struct yield *y)
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
	pthread_cond_init(&w->turn_changed, NULL);
	if (thread_start(&thread, work, w) == 0) {
		pthread_detach(thread);
		return w;
	}
	free(w);
	return NULL;
}

static void start(struct job *j)
{
	struct worker *w = idle_workers ? idle_workers : worker_new();

	if (!w) {
		j->fn(j->ctx, NULL);
		j->returned = true;
		return;
	}
	if (w == idle_workers)
		idle_workers = w->next;
	w->job = j;
	j->worker = w;
	j->yield.hand_over = give_back;
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
		j->worker->next = idle_workers;
		idle_workers = j->worker;
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
