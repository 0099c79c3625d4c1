/* Drain thread: polls the output pipes of all agents, reads them and writes to their captures. It
 * never waits for the main thread, which is woken through an eventfd and reads counters as atomics.
 *
 * Coalescing: a single write is read at once. After DRAIN_CROWD rounds in quick succession the
 * thread sleeps DRAIN_GATHER_MS before each round, so that many agents writing at once cost one
 * wakeup, here and in the main thread, instead of one each; not while a pipe is filling up.
 *
 * All signals are blocked, SIGXFSZ too, so that a capture at its size limit is a write error like a
 * full disk. */
#include "source/child_internal.h"

#include "base/thread.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

enum {
	DRAIN_BLOCK_BYTES = 256 << 10,
	DRAIN_GATHER_MS = 20,
	DRAIN_SOON_MS = 5,  /* DRAIN_CROWD rounds in a row that waited less: coalesce */
	DRAIN_CROWD = 8,
	DRAIN_ASK_MS = 100, /* without pidfd: interval at which the main thread checks for exits */
	DRAIN_LAST_BLOCKS =
		16, /* more than a pipe holds, but bounded against an endless writer */
};

struct drain {
	pthread_t thread;
	pthread_mutex_t lock;
	VEC(struct child_run *) runs; /* under the lock */
	int wake, news;               /* eventfds: to the thread, to the main thread */
	atomic_bool quit, told;
	/* used by the thread only */
	VEC(struct child_run *) polled;
	VEC(struct pollfd) fds;
	char *block;
	unsigned crowd; /* consecutive rounds that waited less than DRAIN_SOON_MS */
	bool brimming;  /* in the last one a pipe was a quarter full */
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

/* One read. False: the pipe is empty or closed. */
static bool drain_once(struct drain *d, struct child_run *run, int stream)
{
	ssize_t got;

	do
		got = read(run->fds[stream], d->block, DRAIN_BLOCK_BYTES);
	while (got < 0 && errno == EINTR);
	if (got > 0) {
		d->brimming |= got >= run->room[stream] / 4;
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

/* fds: poll results of its streams and its pidfd. True: the main thread has to be notified. */
static bool serve(struct drain *d, struct child_run *run, const struct pollfd *fds)
{
	bool news = false;

	for (int s = 0; s < DRAIN_STREAMS; s++)
		if (run->fds[s] >= 0 && fds[s].revents) {
			drain_once(d, run, s);
			news = true;
		}
	if (fds[DRAIN_STREAMS].revents) {
		atomic_store(&run->exit_seen, true);
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
	return news;
}

/* Builds the poll set; returns the timeout. */
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
		vec_push(&d->fds, (struct pollfd){ .fd = atomic_load(&run->exit_seen) ? -1
											: run->pidfd,
						   .events = POLLIN });
		if (run->pidfd < 0)
			timeout = DRAIN_ASK_MS;
	}
	pthread_mutex_unlock(&d->lock);
	return timeout;
}

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Serves all pipes after a poll that began at since_ms. */
static void take_round(struct drain *d, int64_t since_ms)
{
	bool news = false;

	d->crowd = now_ms() - since_ms < DRAIN_SOON_MS ? d->crowd + 1 : 0;
	d->brimming = false;
	for (uint32_t i = 0; i < d->polled.n; i++)
		news |= serve(d, d->polled.v[i], &d->fds.v[1 + i * (DRAIN_STREAMS + 1)]);
	if (news)
		tell(d);
}

/* Sleeps while output is coalesced; only a wake from the main thread ends it early. */
static void gather(struct drain *d)
{
	struct pollfd wake = { .fd = d->wake, .events = POLLIN };

	if (d->crowd >= DRAIN_CROWD && !d->brimming)
		poll(&wake, 1, DRAIN_GATHER_MS);
}

static void *drain_main(void *arg)
{
	struct drain *d = arg;

	while (!atomic_load(&d->quit)) {
		int64_t since_ms;
		uint64_t count;
		int timeout;

		gather(d);
		since_ms = now_ms();
		timeout = collect(d);
		if (poll(d->fds.v, d->fds.n, timeout) < 0)
			continue;
		if (d->fds.v[0].revents)
			(void)!read(d->wake, &count, sizeof(count));
		take_round(d, since_ms);
	}
	for (uint32_t i = 0; i < d->runs.n; i++) /* no lock: drain_add is not called any more */
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
	int number;

	pthread_mutex_init(&d->lock, NULL);
	d->block = xmalloc(DRAIN_BLOCK_BYTES);
	d->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	d->news = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	number = d->wake < 0 || d->news < 0 ? errno : 0;
	if (!number)
		number = thread_start(&d->thread, drain_main, d);
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

/* Capacity of a pipe: F_SETPIPE_SZ may have been refused. */
static int room_of(int fd)
{
	int bytes = -1;

#ifdef F_GETPIPE_SZ
	bytes = fcntl(fd, F_GETPIPE_SZ);
#endif
	return bytes > 0 ? bytes : PIPE_BUF;
}

void drain_add(struct drain *d, struct child_run *run)
{
	for (int s = 0; s < DRAIN_STREAMS; s++)
		run->room[s] = room_of(run->fds[s]);
	pthread_mutex_lock(&d->lock);
	vec_push(&d->runs, run);
	pthread_mutex_unlock(&d->lock);
	ring(d->wake);
}

void drain_wake(struct drain *d)
{
	ring(d->wake);
}

void drain_rearm(struct drain *d)
{
	uint64_t count;

	(void)!read(d->news, &count, sizeof(count));
	atomic_store(&d->told, false);
}
