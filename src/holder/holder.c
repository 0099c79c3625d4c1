/* The loop: one poll for the agent's pipes, its exit and all clients.
 *
 * Coalescing: a single write is read at once. After BUSY_ROUNDS in quick succession the pipes are left
 * alone for COALESCE_MS before each round, unless one is filling up, so that many agents writing at once
 * cost few wakeups. */
#include "holder/holder.h"

#include "base/io.h"
#include "base/timestamp.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

enum {
	COALESCE_MS = 20,
	SOON_MS = 5, /* BUSY_ROUNDS rounds in a row that waited less: coalesce */
	BUSY_ROUNDS = 8,
	ROUND_BYTES = PIPE_BYTES, /* of one stream, then the others have their turn */
};

char block[BLOCK_BYTES];

void sooner(int *timeout, int64_t when_ms, int64_t now_ms)
{
	int64_t left = when_ms > now_ms ? when_ms - now_ms : 0;

	if (when_ms && (*timeout < 0 || left < *timeout))
		*timeout = left < INT_MAX ? (int)left : INT_MAX;
}

size_t bytes_in(int fd)
{
	int n = 0;

	return fd >= 0 && ioctl(fd, FIONREAD, &n) == 0 && n > 0 ? (size_t)n : 0;
}

/* ---- output ---- */

/* A stream whose capture cannot be written to is not read: the agent waits. */
bool stream_is_read(const struct holder *h, int stream)
{
	const struct held_stream *s = &h->streams[stream];

	return s->fd >= 0 && !s->capture.rest.n && !s->capture.carry.n &&
	       !(stream == STREAM_OUT && h->input.state == INPUT_RECORDS);
}

/* One read. False: the pipe is empty or closed, or its capture takes no more now. */
static bool read_block(struct held_stream *s, size_t *total, int64_t now_ms)
{
	ssize_t got;

	IO_RETRY(got, read(s->fd, block, sizeof(block)));
	if (got > 0) {
		*total += (size_t)got;
		capture_take(&s->capture, str_make(block, (size_t)got), now_ms);
		return got == (ssize_t)sizeof(block) && !s->capture.rest.n && !s->capture.split;
	}
	if (got == 0 || errno != EAGAIN)
		fd_close(&s->fd);
	return false;
}

void stream_drain(struct holder *h, int stream, int64_t now_ms)
{
	struct held_stream *s = &h->streams[stream];
	size_t total = 0;

	if (!capture_flush(&s->capture, now_ms) || !stream_is_read(h, stream))
		return;
	while (read_block(s, &total, now_ms) && total < ROUND_BYTES)
		;
	h->filling |= total >= (size_t)s->room / 4;
}

/* ---- the loop ---- */

enum { AT_SIGNALS, AT_LISTENER, AT_INPUT, AT_OUT, AT_ERR, AT_CLIENTS };

static bool coalesces(const struct holder *h)
{
	return h->busy_rounds >= BUSY_ROUNDS && !h->filling && !h->input.boundary_ms && !h->exited;
}

static int next_timeout(const struct holder *h, int64_t now_ms)
{
	int timeout = -1;

	for (int s = 0; s < STREAMS; s++)
		if (h->streams[s].capture.rest.n)
			sooner(&timeout, h->streams[s].capture.retry_ms, now_ms);
	sooner(&timeout, h->accept_ms, now_ms);
	input_timeout(h, &timeout, now_ms);
	ending_timeout(h, &timeout, now_ms);
	return timeout;
}

/* rests: without the agent's output. */
static void build_poll_set(const struct holder *h, struct pollfd *fds, bool rests)
{
	fds[AT_SIGNALS].fd = h->signals;
	fds[AT_LISTENER].fd = h->accept_ms ? -1 : h->listener;
	fds[AT_INPUT].fd = h->input.wants_room ? h->input.fd : -1;
	for (int s = 0; s < STREAMS; s++)
		fds[AT_OUT + s].fd = !rests && stream_is_read(h, s) ? h->streams[s].fd : -1;
	for (int i = 0; i < CLIENTS_MAX; i++)
		fds[AT_CLIENTS + i].fd = h->clients[i].fd;
	for (int i = 0; i < AT_CLIENTS + CLIENTS_MAX; i++) {
		fds[i].events = i == AT_INPUT ? POLLOUT : POLLIN;
		fds[i].revents = 0;
	}
}

static void read_signals(struct holder *h, int64_t now_ms)
{
	struct signalfd_siginfo info;

	while (read(h->signals, &info, sizeof(info)) == (ssize_t)sizeof(info))
		if (info.ssi_signo == SIGTERM && h->exited)
			h->gives_up = true;
		else if (info.ssi_signo == SIGTERM)
			ending_stop(h, 0, now_ms);
	ending_notice(h, now_ms);
}

static void drain_streams(struct holder *h, const struct pollfd *fds, int64_t now_ms)
{
	bool said = false;

	for (int s = 0; s < STREAMS; s++) {
		bool ready = fds[AT_OUT + s].revents != 0;

		if (ready && !said) {
			h->busy_rounds = now_ms - h->quiet_ms < SOON_MS ? h->busy_rounds + 1 : 0;
			h->filling = false;
			said = true;
		}
		if (ready || h->streams[s].capture.rest.n)
			stream_drain(h, s, now_ms);
	}
	if (said)
		h->quiet_ms = now_ms;
}

static void serve_round(struct holder *h, const struct pollfd *fds, int64_t now_ms)
{
	if (fds[AT_SIGNALS].revents)
		read_signals(h, now_ms);
	drain_streams(h, fds, now_ms);
	input_advance(h, now_ms);
	for (int i = 0; i < CLIENTS_MAX; i++)
		if (fds[AT_CLIENTS + i].revents)
			serve_client(h, &h->clients[i], now_ms);
	if (fds[AT_LISTENER].revents || (h->accept_ms && now_ms >= h->accept_ms))
		serve_accept(h, now_ms);
}

void holder_run(struct holder *h)
{
	struct pollfd fds[AT_CLIENTS + CLIENTS_MAX];
	bool rested = false, over = false;

	while (!over) {
		int64_t now_ms = monotonic_ms();
		bool rests = !rested && coalesces(h);
		int timeout = next_timeout(h, now_ms);

		if (rests)
			sooner(&timeout, now_ms + COALESCE_MS, now_ms);
		build_poll_set(h, fds, rests);
		if (poll(fds, AT_CLIENTS + CLIENTS_MAX, timeout) < 0)
			continue;
		now_ms = monotonic_ms();
		if (rests)
			h->quiet_ms = now_ms;
		rested = rests;
		serve_round(h, fds, now_ms);
		over = ending_advance(h, now_ms);
		serve_trouble(h);
		serve_sweep(h);
	}
}
