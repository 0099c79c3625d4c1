/* The agent's standard input: one line in flight.
 *
 * A line goes through SENDS (all but its last piece leave as the pipe has room; the last piece only at
 * a boundary of the capture), RECORDS (it has left; the record is written before standard output is
 * read again) and UNREAD. No event tells when the agent reads, so that is asked at doubling intervals,
 * and whenever the agent or a client has said something. */
#include "holder/holder.h"

#include "base/io.h"
#include "base/timestamp.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

/* A pipe that is writable takes that many bytes at once. */
enum { LAST_PIECE = PIPE_BUF, ASK_FIRST_MS = 5, ASK_MAX_MS = 2560, BROKEN_MS = 100 };

size_t input_unread(const struct holder *h)
{
	const struct agent_input *in = &h->input;

	return bytes_in(in->fd >= 0 ? in->fd : in->asked);
}

static short poll_input(const struct agent_input *in, short events)
{
	struct pollfd p = { .fd = in->fd, .events = events };

	return in->fd >= 0 && poll(&p, 1, 0) > 0 ? p.revents : 0;
}

static bool is_closed(const struct agent_input *in)
{
	return in->fd < 0 || in->ends || (poll_input(in, 0) & POLLERR);
}

enum refusal input_refuses(const struct holder *h, const char *id, size_t bytes)
{
	const struct agent_input *in = &h->input;
	const struct capture_file *c = &h->streams[STREAM_OUT].capture;

	if (in->map && strcmp(in->id, id) == 0)
		return REFUSE_IN_FLIGHT;
	if (strcmp(in->last, id) == 0)
		return REFUSE_AGAIN;
	if (h->exited)
		return REFUSE_ENDED;
	if (is_closed(in))
		return REFUSE_CLOSED;
	if (in->state != INPUT_IDLE)
		return REFUSE_BUSY;
	if (c->rest.n || (bytes && capture_reserve(c, bytes)))
		return REFUSE_FULL;
	return REFUSE_NOT;
}

void input_begin(struct holder *h, struct client *from, int64_t now_ms)
{
	struct agent_input *in = &h->input;

	in->state = INPUT_SENDS;
	in->from = from;
	in->map = from->map;
	in->map_bytes = from->map_bytes;
	in->n = from->need;
	in->put = 0;
	in->boundary_ms = 0;
	memcpy(in->id, from->id, sizeof(in->id));
	from->map = NULL;
	input_advance(h, now_ms);
}

/* ---- closing ---- */

/* A read end is kept to ask what is unread: a write end would keep the agent from seeing the end. */
static void close_input(struct agent_input *in)
{
	char path[40];

	if (in->fd < 0)
		return;
	if (in->state == INPUT_UNREAD) {
		snprintf(path, sizeof(path), "/proc/self/fd/%d", in->fd);
		in->asked = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	}
	fd_close(&in->fd);
}

void input_end(struct holder *h)
{
	struct agent_input *in = &h->input;

	in->ends = true;
	if (in->state == INPUT_IDLE || in->state == INPUT_UNREAD)
		close_input(in);
}

/* The line in flight is over, one way or the other. */
static void let_go(struct holder *h, int64_t now_ms)
{
	struct agent_input *in = &h->input;

	munmap(in->map, in->map_bytes);
	in->map = NULL;
	in->wants_room = false;
	in->boundary_ms = in->broken_ms = 0;
	capture_rejoin(&h->streams[STREAM_OUT].capture, now_ms);
}

/* Nobody will read the rest of the line. */
static void fail(struct holder *h, const char *why, int64_t now_ms)
{
	struct agent_input *in = &h->input;
	size_t unread = input_unread(h);

	if (in->put)
		memcpy(h->partial, in->id, sizeof(in->id));
	if (in->from)
		serve_say(in->from, "N %s %s %zu\n", in->id, why,
			  in->put > unread ? in->put - unread : 0);
	in->state = INPUT_IDLE;
	let_go(h, now_ms);
}

/* The agent has read its last line. */
static void announce_read(struct holder *h)
{
	struct agent_input *in = &h->input;

	if (in->announced)
		serve_say_all(h, "U 0\n");
	in->announced = false;
	in->state = INPUT_IDLE;
	in->ask_ms = 0;
	fd_close(&in->asked);
	if (in->from)
		serve_say(in->from, "T %s\n", in->last);
}

void input_abandon(struct holder *h, int64_t now_ms)
{
	struct agent_input *in = &h->input;

	h->unread = input_unread(h);
	if (in->state == INPUT_RECORDS && !h->gives_up)
		return; /* once more when the record is written */
	if (in->state == INPUT_SENDS || in->state == INPUT_RECORDS)
		fail(h, "ended", now_ms);
	else if (in->state == INPUT_UNREAD && !h->unread && (in->fd >= 0 || in->asked >= 0))
		announce_read(h);
	in->ask_ms = 0;
	fd_close(&in->fd);
	fd_close(&in->asked);
}

/* ---- leaving ---- */

static void ask_whether_read(struct holder *h, int64_t now_ms)
{
	struct agent_input *in = &h->input;

	if (h->exited)
		return;
	if (in->fd < 0 && in->asked < 0) {
		in->ask_ms = 0; /* no /proc: nobody can tell */
	} else if (!input_unread(h)) {
		announce_read(h);
	} else if (poll_input(in, 0) & POLLERR) {
		in->ask_ms = 0; /* nobody can read it any more */
	} else if (in->ask_ms && now_ms >= in->ask_ms) {
		if (in->ask_every_ms < ASK_MAX_MS)
			in->ask_every_ms *= 2;
		in->ask_ms = now_ms + in->ask_every_ms;
		if (!in->announced && now_ms - in->left_ms >= UNREAD_MS) {
			serve_say_all(h, "U %zu\n", input_unread(h));
			in->announced = true;
		}
	}
}

/* The whole record is in the capture. */
static void confirm(struct holder *h, int64_t now_ms)
{
	struct agent_input *in = &h->input;

	/* the line has left, whatever this says: there is nothing else to answer */
	(void)io.fdatasync(h->streams[STREAM_OUT].capture.fd);
	memcpy(in->last, in->id, sizeof(in->id));
	let_go(h, now_ms);
	in->state = INPUT_UNREAD;
	in->ask_every_ms = ASK_FIRST_MS;
	in->ask_ms = now_ms + ASK_FIRST_MS;
	in->left_ms = now_ms;
	in->announced = false;
	if (in->from)
		serve_say(in->from, "A %s %llu\n", in->last, (unsigned long long)in->last_at);
	if (in->ends)
		close_input(in);
	if (h->exited)
		input_abandon(h, now_ms);
}

static void put_record(struct holder *h, int64_t now_ms)
{
	struct agent_input *in = &h->input;

	if (now_ms < in->record_ms)
		return;
	in->record = capture_put(&h->streams[STREAM_OUT].capture, in->record, now_ms);
	in->record_ms = now_ms + RETRY_MS;
	if (!in->record.n)
		confirm(h, now_ms);
}

/* The record is made in front of the line, so that both are written at once. */
static void begin_record(struct holder *h, int64_t now_ms)
{
	struct agent_input *in = &h->input;
	struct capture_file *c = &h->streams[STREAM_OUT].capture;
	char head[RECORD_HEAD];
	int n = snprintf(head, sizeof(head), "\t{\"gavel\":\"to\",\"id\":\"%s\",\"t\":%lld}\n\t",
			 in->id, (long long)timestamp_now_ms());
	char *at = in->map + RECORD_HEAD - n;

	memcpy(at, head, (size_t)n);
	in->record = str_make(at, (size_t)n + in->n);
	in->record_ms = 0;
	in->last_at = c->end;
	in->state = INPUT_RECORDS;
	c->clock_ms = now_ms;
	c->fresh = false;
	put_record(h, now_ms);
}

/* Writes up to `n` bytes of the line. False: no room now, or nobody reads it. An agent that exits closes
 * its input before its exit is seen, so that is waited for before it counts as closed. */
static bool put_piece(struct agent_input *in, size_t n, int64_t now_ms)
{
	ssize_t done;

	IO_RETRY(done, io.write(in->fd, in->map + RECORD_HEAD + in->put, n));
	if (done >= 0) {
		in->put += (size_t)done;
		return true;
	}
	if (errno == EAGAIN)
		in->wants_room = true;
	else
		in->broken_ms = now_ms + BROKEN_MS;
	return false;
}

/* Whether the capture is at the beginning of a line, or was brought there. */
static bool reach_boundary(struct holder *h, int64_t now_ms)
{
	struct agent_input *in = &h->input;
	struct capture_file *c = &h->streams[STREAM_OUT].capture;

	if (c->rest.n)
		return false;
	if (!c->mid_line || c->fresh || h->streams[STREAM_OUT].fd < 0 ||
	    (in->boundary_ms && now_ms >= in->boundary_ms)) {
		capture_break(c, now_ms);
		return !c->rest.n && !c->mid_line;
	}
	if (!in->boundary_ms)
		in->boundary_ms = now_ms + BOUNDARY_MS;
	c->split = true;
	return false;
}

static void send_line(struct holder *h, int64_t now_ms)
{
	struct agent_input *in = &h->input;

	in->wants_room = false;
	if (in->broken_ms) {
		if (now_ms >= in->broken_ms)
			fail(h, "closed", now_ms);
		return;
	}
	while (in->n - in->put > LAST_PIECE)
		if (!put_piece(in, in->n - in->put - LAST_PIECE, now_ms))
			return;
	if (!(poll_input(in, POLLOUT) & (POLLOUT | POLLERR))) {
		in->wants_room = true;
		return;
	}
	if (!reach_boundary(h, now_ms))
		return;
	if (put_piece(in, in->n - in->put, now_ms) && in->put == in->n)
		begin_record(h, now_ms);
}

void input_advance(struct holder *h, int64_t now_ms)
{
	switch (h->input.state) {
	case INPUT_IDLE: break;
	case INPUT_SENDS: send_line(h, now_ms); break;
	case INPUT_RECORDS: put_record(h, now_ms); break;
	case INPUT_UNREAD: ask_whether_read(h, now_ms); break;
	}
}

void input_timeout(const struct holder *h, int *timeout, int64_t now_ms)
{
	const struct agent_input *in = &h->input;

	if (in->state == INPUT_SENDS && !in->broken_ms && !h->streams[STREAM_OUT].capture.rest.n)
		sooner(timeout, in->boundary_ms, now_ms);
	if (in->state == INPUT_SENDS)
		sooner(timeout, in->broken_ms, now_ms);
	if (in->state == INPUT_RECORDS)
		sooner(timeout, in->record_ms, now_ms);
	if (in->state == INPUT_UNREAD)
		sooner(timeout, in->ask_ms, now_ms);
}
