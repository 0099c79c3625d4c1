/* Stopping the agent, noticing its exit, ending the rest of its processes, recording the exit.
 *
 * The agent is not reaped until its process group is empty: as long as it is a zombie the kernel cannot
 * reuse its pid, which is the group's id, so kill() cannot hit a stranger. */
#include "holder/holder.h"

#include "base/io.h"
#include "base/timestamp.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LAST_ROUNDS = 4 }; /* of stream_drain, more than a pipe holds; bounds an endless writer */

/* The next step of the shutdown (TERM, then KILL), once its time has come. */
static bool advance_stop(struct holder *h, int64_t now_ms)
{
	if (h->stop == STOP_NONE || h->stop == STOP_KILLED || now_ms < h->stop_ms)
		return false;
	if (h->stop == STOP_ASKED) {
		processes_signal(h, SIGTERM);
		processes_signal(h, SIGCONT); /* a stopped process does not handle TERM */
		h->stop = STOP_TERMED;
		h->stop_ms = now_ms + TERM_MS;
		serve_say_all(h, "S term\n");
	} else {
		processes_signal(h, SIGKILL);
		h->stop = STOP_KILLED;
		serve_say_all(h, "S kill\n");
	}
	return true;
}

void ending_stop(struct holder *h, int64_t grace_ms, int64_t now_ms)
{
	if (h->exited || h->stop > STOP_ASKED)
		return;
	if (h->stop == STOP_NONE || now_ms + grace_ms < h->stop_ms)
		h->stop_ms = now_ms + grace_ms;
	if (h->stop == STOP_NONE)
		serve_say_all(h, "S ending\n");
	h->stop = STOP_ASKED;
	advance_stop(h, now_ms);
}

void ending_kill(struct holder *h, int64_t now_ms)
{
	if (h->stop == STOP_KILLED)
		return;
	h->stop = STOP_TERMED;
	h->stop_ms = now_ms;
	advance_stop(h, now_ms);
}

/* Also reaps the agent's orphans, which become children of the holder. */
void ending_notice(struct holder *h, int64_t now_ms)
{
	while (!h->exited) {
		siginfo_t info = { 0 };
		int rc;

		IO_RETRY(rc, waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT));
		if (rc < 0 || info.si_pid == 0)
			return;
		if (info.si_pid != h->pid) {
			waitpid(info.si_pid, NULL, WNOHANG);
			continue;
		}
		h->exited = true;
		h->exited_ms = now_ms;
		h->by_signal = info.si_code != CLD_EXITED;
		h->dumped = info.si_code == CLD_DUMPED;
		h->number = info.si_status;
		input_abandon(h, now_ms);
	}
}

/* Ends the processes that the agent has left. True: there are none any more, or KILL did not help. */
static bool terminate_rest(struct holder *h, int64_t now_ms)
{
	if (now_ms < h->sweep_ms)
		return false;
	h->sweep_ms = now_ms + SWEEP_MS;
	if (!processes_find(h))
		return true;
	if (h->stop == STOP_KILLED)
		processes_signal(h, SIGKILL); /* forked since the last sweep */
	if (h->swept)
		return !advance_stop(h, now_ms) && h->stop == STOP_KILLED &&
		       now_ms >= h->stop_ms + TERM_MS;
	h->swept = true;
	if (h->stop < STOP_TERMED) {
		h->stop = STOP_ASKED;
		h->stop_ms = now_ms;
		advance_stop(h, now_ms);
	}
	return false;
}

/* Reads what is left and closes the pipes. False: a capture cannot be written to now. */
static bool drain_last(struct holder *h, int64_t now_ms)
{
	bool done = true;

	for (int s = 0; s < STREAMS; s++) {
		struct held_stream *stream = &h->streams[s];

		for (int i = 0; i < LAST_ROUNDS && stream->fd >= 0; i++)
			stream_drain(h, s, now_ms);
		if (stream->capture.rest.n || (s == STREAM_OUT && h->input.state == INPUT_RECORDS))
			done = false;
		else
			fd_close(&stream->fd);
	}
	return done;
}

/* Drops the output that waits for room. The record of a line that is not whole is removed: its reader
 * would take the record of the exit for the rest of it. */
static void give_up(struct holder *h, int64_t now_ms)
{
	bool records = h->input.state == INPUT_RECORDS;

	if (records)
		(void)!ftruncate(h->streams[STREAM_OUT].capture.fd, (off_t)h->input.last_at);
	for (int s = 0; s < STREAMS; s++) {
		struct held_stream *stream = &h->streams[s];
		struct capture_file *c = &stream->capture;

		h->lost += c->rest.n + c->carry.n + bytes_in(stream->fd);
		fd_close(&stream->fd);
		buf_release(&c->rest);
		buf_release(&c->carry);
		(void)capture_init(c, c->fd, c->clocked);
	}
	if (records)
		input_abandon(h, now_ms);
}

/* The line that unread bytes belong to: one line is in flight at most. */
static const char *unread_id(const struct holder *h)
{
	return *h->partial ? h->partial : h->unread ? h->input.last : "";
}

static void record_exit(struct holder *h, int64_t now_ms)
{
	struct buf line = { 0 };
	const char *id = unread_id(h);

	buf_printf(&line, "{\"gavel\":\"exit\",\"n\":%lu,\"%s\":%d", h->run,
		   h->by_signal ? "signal" : "code", h->number);
	if (h->dumped)
		buf_adds(&line, ",\"core\":true");
	if (h->streams[STREAM_OUT].capture.mid_line)
		buf_adds(&line, ",\"cut\":true");
	if (h->lost)
		buf_printf(&line, ",\"lost\":%zu", h->lost);
	buf_printf(&line, ",\"t\":%lld", (long long)timestamp_now_ms());
	if (h->unread || *id)
		buf_printf(&line, ",\"unread\":%zu", h->unread);
	if (*id)
		buf_printf(&line, ",\"id\":\"%s\"", id);
	for (uint32_t i = 0; i < h->known.n; i++)
		buf_printf(&line, "%s%ld", i ? "," : ",\"left\":[", (long)h->known.v[i].pid);
	buf_printf(&line, "%s}", h->known.n ? "]" : "");
	capture_control(&h->streams[STREAM_OUT].capture, buf_str(&line), now_ms);
	buf_release(&line);
	h->recorded = true;
}

static void announce_end(struct holder *h)
{
	struct buf line = { 0 };

	buf_printf(&line, "D %s %d", h->by_signal ? "signal" : "code", h->number);
	for (uint32_t i = 0; i < h->known.n; i++)
		buf_printf(&line, "%s%ld", i ? ", " : " left ", (long)h->known.v[i].pid);
	serve_say_all(h, "%s\n", line.p);
	buf_release(&line);
}

bool ending_advance(struct holder *h, int64_t now_ms)
{
	bool drained = h->streams[STREAM_OUT].fd < 0 && h->streams[STREAM_ERR].fd < 0;

	if (!h->exited) {
		advance_stop(h, now_ms);
		return false;
	}
	if (!h->gathered && (drained || now_ms >= h->exited_ms + DRAIN_MS))
		h->gathered = terminate_rest(h, now_ms);
	if (!h->gathered)
		return false;
	if (!h->recorded && !drain_last(h, now_ms)) {
		if (!h->gives_up)
			return false;
		give_up(h, now_ms);
	}
	if (!h->recorded)
		record_exit(h, now_ms);
	if (!capture_flush(&h->streams[STREAM_OUT].capture, now_ms) && !h->gives_up)
		return false;
	(void)io.fsync(h->streams[STREAM_OUT].capture.fd);
	serve_trouble(h);
	serve_close(h);
	announce_end(h);
	return true;
}

void ending_timeout(const struct holder *h, int *timeout, int64_t now_ms)
{
	if (h->exited && !h->gathered)
		sooner(timeout, h->sweep_ms ? h->sweep_ms : h->exited_ms + DRAIN_MS, now_ms);
	if (!h->exited && (h->stop == STOP_ASKED || h->stop == STOP_TERMED))
		sooner(timeout, h->stop_ms, now_ms);
}
