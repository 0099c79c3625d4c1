/* One thread for all agents: poll, read, write to captures. It knows nothing of agents and never
 * waits for the main thread, which learns of news through an eventfd and of numbers through
 * atomics.
 *
 * Signals are none of its business: all are blocked, also SIGXFSZ, so that a capture at its limit
 * is an error of write like a full disk. */
#include "source/child_parts.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum {
	DRAIN_BLOCK_BYTES = 256 << 10,
	DRAIN_ASK_MS = 100, /* a kernel without pidfd: the main thread looks so often */
	DRAIN_LAST_BLOCKS =
		16, /* more than a pipe holds: who keeps writing does not keep it open */
};

struct drain {
	pthread_t thread;
	pthread_mutex_t lock;
	VEC(struct child_run *) runs; /* under the lock */
	int wake, news;               /* eventfds: to the thread, to the main thread */
	atomic_bool quit, told;
	/* the thread's */
	VEC(struct child_run *) polled;
	VEC(struct pollfd) fds;
	char *block;
};

static void ring(int fd)
{
	const uint64_t one = 1;

	(void)!write(fd, &one, sizeof(one));
}

static void tell(struct drain *d)
{
	if (!atomic_exchange(&d->told, true))
		ring(d->news);
}

/* ---- the thread ---- */

/* False: nothing more is there now. */
static bool drain_once(struct drain *d, struct child_run *run, int stream)
{
	ssize_t got;

	do
		got = read(run->fds[stream], d->block, DRAIN_BLOCK_BYTES);
	while (got < 0 && errno == EINTR);
	if (got > 0) {
		capture_keep(run->captures[stream], d->block, (size_t)got);
		return true;
	}
	if (got == 0 || errno != EAGAIN) {
		close(run->fds[stream]);
		run->fds[stream] = -1;
	}
	return false;
}

static void drain_last(struct drain *d, struct child_run *run)
{
	for (int s = 0; s < DRAIN_STREAMS; s++) {
		for (int i = 0; i < DRAIN_LAST_BLOCKS && run->fds[s] >= 0; i++)
			if (!drain_once(d, run, s))
				break;
		if (run->fds[s] >= 0)
			close(run->fds[s]);
		run->fds[s] = -1;
	}
}

static void forget(struct drain *d, struct child_run *run)
{
	pthread_mutex_lock(&d->lock);
	for (uint32_t i = 0; i < d->runs.n; i++)
		if (d->runs.v[i] == run) {
			d->runs.v[i] = d->runs.v[--d->runs.n];
			break;
		}
	pthread_mutex_unlock(&d->lock);
	atomic_store(&run->dropped, true); /* the main thread may free it now */
}

/* fds: of its streams and its process. */
static void serve(struct drain *d, struct child_run *run, const struct pollfd *fds)
{
	bool news = false;

	for (int s = 0; s < DRAIN_STREAMS; s++)
		if (run->fds[s] >= 0 && fds[s].revents) {
			drain_once(d, run, s);
			news = true;
		}
	if (fds[DRAIN_STREAMS].revents) {
		run->exit_seen = true;
		news = true;
	}
	if (run->pidfd < 0)
		news = true;
	if (run->fds[DRAIN_OUT] < 0 && run->fds[DRAIN_ERR] < 0)
		atomic_store(&run->pipes_ended, true);
	if (atomic_load(&run->drop)) {
		drain_last(d, run);
		forget(d, run);
		news = true;
	}
	if (news)
		tell(d);
}

/* What to wait for; the timeout of poll. */
static int collect(struct drain *d)
{
	int timeout = -1;

	d->polled.n = 0;
	d->fds.n = 0;
	vec_push(&d->fds, (struct pollfd){ .fd = d->wake, .events = POLLIN });
	pthread_mutex_lock(&d->lock);
	for (uint32_t i = 0; i < d->runs.n; i++) {
		struct child_run *run = d->runs.v[i];

		vec_push(&d->polled, run);
		for (int s = 0; s < DRAIN_STREAMS; s++)
			vec_push(&d->fds, (struct pollfd){ .fd = run->fds[s], .events = POLLIN });
		vec_push(&d->fds, (struct pollfd){ .fd = run->exit_seen ? -1 : run->pidfd,
						   .events = POLLIN });
		if (run->pidfd < 0)
			timeout = DRAIN_ASK_MS;
	}
	pthread_mutex_unlock(&d->lock);
	return timeout;
}

static void *drain_main(void *arg)
{
	struct drain *d = arg;

	while (!atomic_load(&d->quit)) {
		int timeout = collect(d);
		uint64_t count;

		if (poll(d->fds.v, d->fds.n, timeout) < 0)
			continue;
		if (d->fds.v[0].revents)
			(void)!read(d->wake, &count, sizeof(count));
		for (uint32_t i = 0; i < d->polled.n; i++)
			serve(d, d->polled.v[i], &d->fds.v[1 + i * (DRAIN_STREAMS + 1)]);
	}
	for (uint32_t i = 0; i < d->runs.n; i++) /* nobody adds any more */
		drain_last(d, d->runs.v[i]);
	return NULL;
}

/* ---- the main thread's side ---- */

static void drain_free(struct drain *d)
{
	if (d->wake >= 0)
		close(d->wake);
	if (d->news >= 0)
		close(d->news);
	vec_release(&d->runs);
	vec_release(&d->polled);
	vec_release(&d->fds);
	free(d->block);
	pthread_mutex_destroy(&d->lock);
	free(d);
}

struct drain *drain_open(struct err *err)
{
	struct drain *d = xcalloc(1, sizeof(*d));
	sigset_t all, before;
	int number;

	pthread_mutex_init(&d->lock, NULL);
	d->block = xmalloc(DRAIN_BLOCK_BYTES);
	d->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	d->news = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	number = d->wake < 0 || d->news < 0 ? errno : 0;
	if (!number) {
		sigfillset(&all);
		pthread_sigmask(SIG_SETMASK, &all, &before);
		number = pthread_create(&d->thread, NULL, drain_main, d);
		pthread_sigmask(SIG_SETMASK, &before, NULL);
	}
	if (!number)
		return d;
	drain_free(d);
	err_set(err, "cannot listen to agents: %s; close something and try again",
		strerror(number));
	return NULL;
}

void drain_close(struct drain *d)
{
	atomic_store(&d->quit, true);
	ring(d->wake);
	pthread_join(d->thread, NULL);
	drain_free(d);
}

int drain_fd(const struct drain *d)
{
	return d->news;
}

void drain_add(struct drain *d, struct child_run *run)
{
	pthread_mutex_lock(&d->lock);
	vec_push(&d->runs, run);
	pthread_mutex_unlock(&d->lock);
	ring(d->wake);
}

void drain_wake(struct drain *d)
{
	ring(d->wake);
}

void drain_heard(struct drain *d)
{
	uint64_t count;

	(void)!read(d->news, &count, sizeof(count));
	atomic_store(&d->told, false);
}
