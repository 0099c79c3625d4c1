/* Drain thread: polls the output pipes of all agents, reads them and writes to their captures. It
 * never waits for the main thread, which is woken through an eventfd and reads counters as atomics.
 *
 * Coalescing: a single write is read at once. After DRAIN_BUSY_ROUNDS in quick succession it sleeps
 * DRAIN_COALESCE_MS before each round, unless a pipe is filling up, so that many agents writing at
 * once cost one wakeup here and in the main thread instead of one each.
 *
 * All signals are blocked, SIGXFSZ too, so that a capture at its size limit is a write error like a
 * full disk. */
#include "source/child_internal.h"

#include "base/io.h"
#include "base/thread.h"
#include "base/timestamp.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum {
	DRAIN_BLOCK_BYTES = 256 << 10,
	DRAIN_COALESCE_MS = 20,
	DRAIN_SOON_MS = 5,  /* DRAIN_BUSY_ROUNDS rounds in a row that waited less: coalesce */
	DRAIN_BUSY_ROUNDS = 8,
	DRAIN_ASK_MS = 100, /* without pidfd: interval at which the main thread checks for exits */
	DRAIN_LAST_BLOCKS = 16, /* more than a pipe holds; bounds an endless writer */
};

struct drain {
	pthread_t thread;
	pthread_mutex_t lock;
	VEC(struct child_run *) runs; /* under the lock */
	int wake, notify_fd;        /* eventfds: to the thread, to the main thread */
	atomic_bool quit, notified;
	/* used by the thread only */
	VEC(struct child_run *) polled;
	VEC(struct pollfd) fds;
	char *block;
	unsigned busy_rounds; /* consecutive rounds that waited less than DRAIN_SOON_MS */
	bool filling;  /* in the last one a pipe was a quarter full */
};

static void wake_fd(int fd)
{
	const uint64_t one = 1;

	(void)!write(fd, &one, sizeof(one));
}

static void notify(struct drain *d)
{
	if (!atomic_exchange(&d->notified, true))
		wake_fd(d->notify_fd);
}

/* ---- the thread ---- */

/* One read. False: the pipe is empty or closed, or its capture cannot be written to. */
static bool drain_once(struct drain *d, struct child_run *run, int stream, int64_t now_ms)
{
	struct drain_capture *c = run->captures[stream];
	ssize_t got;

	if (!capture_flush(c, now_ms))
		return false;
	IO_RETRY(got, read(run->fds[stream], d->block, DRAIN_BLOCK_BYTES));
	if (got > 0) {
		d->filling |= got >= run->room[stream] / 4;
		return capture_take(c, str_make(d->block, (size_t)got), now_ms);
	}
	if (got == 0 || errno != EAGAIN)
		fd_close(&run->fds[stream]);
	return false;
}

/* Reads what is left and closes the pipes. False: a capture cannot be written to now. */
static bool drain_last(struct drain *d, struct child_run *run, int64_t now_ms)
{
	bool done = true;

	for (int s = 0; s < DRAIN_STREAMS; s++) {
		for (int i = 0; i < DRAIN_LAST_BLOCKS && run->fds[s] >= 0; i++)
			if (!drain_once(d, run, s, now_ms))
				break;
		if (run->captures[s]->rest.n)
			done = false;
		else
			fd_close(&run->fds[s]);
	}
	return done;
}

/* Counts what cannot be kept although gavel ends. */
static void give_up(struct drain *d, struct child_run *run)
{
	for (int s = 0; s < DRAIN_STREAMS; s++) {
		struct drain_capture *c = run->captures[s];

		c->lost += c->rest.n;
		for (int i = 0; i < DRAIN_LAST_BLOCKS && run->fds[s] >= 0; i++) {
			ssize_t got;

			IO_RETRY(got, read(run->fds[s], d->block, DRAIN_BLOCK_BYTES));
			if (got <= 0)
				break;
			c->lost += (uint64_t)got;
		}
		fd_close(&run->fds[s]);
	}
}

static void detach(struct drain *d, struct child_run *run)
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
static bool serve(struct drain *d, struct child_run *run, const struct pollfd *fds, int64_t now_ms)
{
	bool news = false;

	for (int s = 0; s < DRAIN_STREAMS; s++)
		if (run->captures[s]->rest.n || (run->fds[s] >= 0 && fds[s].revents)) {
			drain_once(d, run, s, now_ms);
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
	if (atomic_load(&run->drop) && drain_last(d, run, now_ms)) {
		detach(d, run);
		news = true;
	}
	return news;
}

/* A stream whose capture cannot be written to is not read: its agent waits. */
static void add_streams(struct drain *d, const struct child_run *run, int *timeout)
{
	for (int s = 0; s < DRAIN_STREAMS; s++) {
		bool waits = run->captures[s]->rest.n != 0;

		vec_push(&d->fds, (struct pollfd){ .fd = waits ? -1 : run->fds[s],
						   .events = POLLIN });
		if (waits && (*timeout < 0 || *timeout > CHILD_RETRY_MS))
			*timeout = CHILD_RETRY_MS;
	}
}

/* Builds the poll set; returns the timeout. */
static int build_poll_set(struct drain *d)
{
	int timeout = -1;

	d->polled.n = 0;
	d->fds.n = 0;
	vec_push(&d->fds, (struct pollfd){ .fd = d->wake, .events = POLLIN });
	pthread_mutex_lock(&d->lock);
	for (uint32_t i = 0; i < d->runs.n; i++) {
		struct child_run *run = d->runs.v[i];

		vec_push(&d->polled, run);
		add_streams(d, run, &timeout);
		vec_push(&d->fds,
			 (struct pollfd){ .fd = atomic_load(&run->exit_seen) ? -1 : run->pidfd,
					  .events = POLLIN });
		if (run->pidfd < 0)
			timeout = DRAIN_ASK_MS;
	}
	pthread_mutex_unlock(&d->lock);
	return timeout;
}

/* Serves all pipes after a poll that began at since_ms. */
static void serve_all(struct drain *d, int64_t since_ms)
{
	int64_t now_ms = monotonic_ms();
	bool news = false;

	d->busy_rounds = now_ms - since_ms < DRAIN_SOON_MS ? d->busy_rounds + 1 : 0;
	d->filling = false;
	for (uint32_t i = 0; i < d->polled.n; i++)
		news |= serve(d, d->polled.v[i], &d->fds.v[1 + i * (DRAIN_STREAMS + 1)],
			      now_ms);
	if (news)
		notify(d);
}

/* Sleeps while output is coalesced; only a wake from the main thread ends it early. */
static void coalesce(struct drain *d)
{
	struct pollfd wake = { .fd = d->wake, .events = POLLIN };

	if (d->busy_rounds >= DRAIN_BUSY_ROUNDS && !d->filling)
		poll(&wake, 1, DRAIN_COALESCE_MS);
}

static void *drain_main(void *arg)
{
	struct drain *d = arg;

	while (!atomic_load(&d->quit)) {
		int64_t since_ms;
		uint64_t count;
		int timeout;

		coalesce(d);
		since_ms = monotonic_ms();
		timeout = build_poll_set(d);
		if (poll(d->fds.v, d->fds.n, timeout) < 0)
			continue;
		if (d->fds.v[0].revents)
			(void)!read(d->wake, &count, sizeof(count));
		serve_all(d, since_ms);
	}
	for (uint32_t i = 0; i < d->runs.n; i++) /* no lock: drain_add is not called any more */
		if (!drain_last(d, d->runs.v[i], INT64_MAX - CHILD_RETRY_MS))
			give_up(d, d->runs.v[i]);
	return NULL;
}

/* ---- the main thread's side ---- */

static void drain_free(struct drain *d)
{
	fd_close(&d->wake);
	fd_close(&d->notify_fd);
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
	d->notify_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	number = d->wake < 0 || d->notify_fd < 0 ? errno : 0;
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
	wake_fd(d->wake);
	pthread_join(d->thread, NULL);
	drain_free(d);
}

int drain_fd(const struct drain *d)
{
	return d->notify_fd;
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
	wake_fd(d->wake);
}

void drain_wake(struct drain *d)
{
	wake_fd(d->wake);
}

void drain_rearm(struct drain *d)
{
	uint64_t count;

	(void)!read(d->notify_fd, &count, sizeof(count));
	atomic_store(&d->notified, false);
}
