/* The standard input of an agent that gavel runs. Unlike a FIFO, the pipe has one writer, one
 * connection for one incarnation of one agent, and a count of the bytes written to it: together
 * with the bytes that still wait in it this says of each message how much was written and how much
 * was taken.
 *
 * Whoever idles may find that the agent has ended and may start the next incarnation, so nothing
 * that belongs to the agent is kept over a wait: its input is looked up again by its path, and the
 * channel writes to a descriptor of its own, which can never become another agent's. */
#include "channel/channel_ops.h"

#include <errno.h>
#include <stdio.h>

struct channel_agents channel_agents;

/* The agent's name in a path. */
static struct str name_in(const char *path)
{
	struct str s = str_of(path);
	const char *end = strrchr(path, '#');

	if (end)
		s.n = (size_t)(end - path);
	return str_starts(s, STR("agent:")) ? str_from(s, 6) : s;
}

#define NAME_ARG(c) STR_ARG(name_in((c)->path))

static struct child_input *find(const struct channel *c, struct err *err)
{
	if (channel_agents.find)
		return channel_agents.find(channel_agents.ctx, c->path, err);
	err_set(err, "%.300s: this gavel runs no agents; gavel run does", c->path);
	return NULL;
}

static enum channel_result child_fail(const struct channel *c, struct err *err)
{
	return channel_say(CHANNEL_FAILED, err, "%.*s: %s; check the agent, then resend", NAME_ARG(c),
			   strerror(errno));
}

static enum channel_result child_open(struct channel *c, struct err *err)
{
	const struct child_input *in = find(c, err);

	if (!in)
		return CHANNEL_FAILED;
	IO_RETRY(c->fd, io.dup(in->fd));
	return c->fd < 0 ? child_fail(c, err) : CHANNEL_OK;
}

/* ---- what the pipe says ---- */

enum taking { TAKEN, SLOW, GONE, FAILED };

/* Waits until all was taken; *left says what was not. */
static enum taking wait_taken(const struct channel *c, int *left, struct err *err)
{
	struct patience p = { 0 };
	short ready = 0;

	for (;;) {
		struct child_input *in = find(c, err);
		int rc;

		/* asked after poll: it may have taken the rest and ended */
		IO_RETRY(rc, io.unread(c->fd, left));
		if (rc < 0)
			return FAILED;
		if (in)
			child_input_note(in, *left, loop_now_ms());
		if (*left == 0)
			return TAKEN;
		if (!in || ready & (POLLERR | POLLHUP))
			return GONE;
		if (!channel_wait(c, &p, 0, &ready))
			return SLOW;
	}
}

/* Nobody is there to take anything, and nothing was written. */
static enum channel_result nobody_reads(const struct channel *c, struct err *err)
{
	if (find(c, err))
		err_set(err, "%.*s: does not read any more; restart it, then decide again",
			NAME_ARG(c));
	return CHANNEL_FAILED;
}

enum { WORDS_SIZE = 48 };

/* "not reading for 0:12", of an agent that lets bytes wait. */
static const char *idle_words(const struct channel *c, char out[WORDS_SIZE])
{
	struct err unused;
	const struct child_input *in = find(c, &unused);
	int64_t s = in && in->waits_since_ms ? (loop_now_ms() - in->waits_since_ms) / 1000 : 0;

	if (s)
		snprintf(out, WORDS_SIZE, "not reading for %lld:%02d", (long long)(s / 60),
			 (int)(s % 60));
	else
		snprintf(out, WORDS_SIZE, "has not read all yet");
	return out;
}

static bool is_same_pipe(const struct channel *c, const struct attempt *at)
{
	struct stat st;

	return channel_fstat(c->fd, &st) == 0 && (uint64_t)st.st_dev == at->dev &&
	       (uint64_t)st.st_ino == at->ino;
}

/* ---- the calls ---- */

static enum channel_result begin(struct channel *c, struct attempt *out, struct err *err)
{
	struct child_input *in = find(c, err);
	struct stat st;

	if (!in)
		return CHANNEL_FAILED;
	if (channel_fstat(c->fd, &st) < 0)
		return child_fail(c, err);
	c->put = 0;
	*out = (struct attempt){ .offset = in->sent,
				 .dev = (uint64_t)st.st_dev,
				 .ino = (uint64_t)st.st_ino };
	return CHANNEL_OK;
}

static enum channel_result child_prepare(struct channel *c, struct str bytes, bool after_torn,
					 struct attempt *out, struct err *err)
{
	const struct child_input *in = find(c, err);
	char words[WORDS_SIZE];
	int left = 0;

	(void)after_torn; /* half a message is completed, not begun anew */
	if (!in || !channel_is_line(bytes, err))
		return CHANNEL_FAILED;
	if (in->due > in->sent)
		return channel_say(
			CHANNEL_FAILED, err,
			"%.*s: half of an earlier message is on its way; resend that one "
			"first",
			NAME_ARG(c));
	switch (wait_taken(c, &left, err)) {
	case TAKEN: break;
	case SLOW:
		return channel_say(CHANNEL_FAILED, err,
				   "%.*s: %s, %d bytes wait; resend when it reads again",
				   NAME_ARG(c), idle_words(c, words), left);
	case GONE: return nobody_reads(c, err);
	case FAILED: return child_fail(c, err);
	}
	if (!channel_has_reader(c))
		return nobody_reads(c, err);
	return begin(c, out, err);
}

/* The agent has gone; `done` of the n bytes were written, `left` of them wait. */
static enum channel_result judge_gone(struct channel *c, size_t done, size_t left, size_t n,
				      struct err *err)
{
	c->torn = true;
	/* a process that it left behind could still take them */
	if (left >= done && !channel_has_reader(c))
		return channel_say(
			CHANNEL_FAILED, err,
			"%.*s: the agent ended without reading a byte of it; restart it, "
			"then decide again",
			NAME_ARG(c));
	return channel_say(
		CHANNEL_UNCERTAIN, err,
		"%.*s: the agent ended when it had read %zu of %zu bytes; look what it did, "
		"then restart it and decide again",
		NAME_ARG(c), done > left ? done - left : 0, n);
}

/* 0; an errno; EAGAIN when it does not read, ESRCH when it is not the agent any more. */
static int write_rest(const struct channel *c, struct str bytes, size_t *done)
{
	struct patience p = { 0 };
	struct err unused;
	short ready;

	while (*done < bytes.n) {
		struct child_input *in = find(c, &unused);
		ssize_t put;

		if (!in)
			return ESRCH;
		put = channel_write(c->fd, bytes.p + *done, bytes.n - *done);
		if (put > 0) {
			*done += (size_t)put;
			in->sent += (uint64_t)put;
			patience_renew(&p);
		} else if (put < 0 && errno == EINTR) {
			continue;
		} else if (put < 0 && errno != EAGAIN) {
			return errno;
		} else {
			int left = 0;

			if (io.unread(c->fd, &left) == 0)
				child_input_note(in, left, loop_now_ms());
			if (!channel_wait(c, &p, POLLOUT, &ready))
				return EAGAIN;
		}
	}
	return 0;
}

static enum channel_result fail_write(struct channel *c, int number, size_t done, size_t n,
				      struct err *err)
{
	struct child_input *in = find(c, err);
	char words[WORDS_SIZE];
	int left = 0;

	if (in && !done)
		in->due = in->sent; /* nothing has begun */
	if (!done && (number == EPIPE || number == ESRCH))
		return nobody_reads(c, err);
	if (!done && number == EAGAIN)
		return channel_say(CHANNEL_FAILED, err, "%.*s: %s; resend when it reads again",
				   NAME_ARG(c), idle_words(c, words));
	if (number == EPIPE || number == ESRCH)
		return judge_gone(c, done, io.unread(c->fd, &left) == 0 ? (size_t)left : 0, n, err);
	/* no other error is expected of a pipe, so none is proof that nothing happened */
	c->torn = true;
	return channel_say(CHANNEL_UNCERTAIN, err,
			   "%.*s: only %zu of %zu bytes were written: %s; resend completes it",
			   NAME_ARG(c), done, n,
			   number == EAGAIN ? idle_words(c, words) : strerror(number));
}

/* It is not there any more, in the middle of a message or at its end. */
static enum channel_result end_of_agent(struct channel *c, size_t n, struct err *err)
{
	int left = 0, rc;

	IO_RETRY(rc, io.unread(c->fd, &left));
	if (rc == 0 && left == 0 && c->put == n)
		return CHANNEL_OK;
	return judge_gone(c, c->put, rc == 0 ? (size_t)left : 0, n, err);
}

static enum channel_result child_send(struct channel *c, struct str bytes, const struct attempt *at,
				      struct err *err)
{
	struct child_input *in = find(c, err);
	const enum channel_result not_begun = c->torn ? CHANNEL_UNCERTAIN : CHANNEL_FAILED;
	char words[WORDS_SIZE];
	int left = 0, number;
	size_t done;

	if (!in)
		return c->put ? end_of_agent(c, bytes.n, err) : not_begun;
	if (!is_same_pipe(c, at) || in->sent < at->offset)
		return channel_say(not_begun, err,
				   "%.*s: its pipe is not the one that the message was begun on; "
				   "look at the agent, then decide again",
				   NAME_ARG(c));
	done = in->sent - at->offset < bytes.n ? (size_t)(in->sent - at->offset) : bytes.n;
	if (done < bytes.n)
		in->due = at->offset + bytes.n;
	number = write_rest(c, bytes, &done);
	c->put = done;
	if (number)
		return fail_write(c, number, done, bytes.n, err);
	switch (wait_taken(c, &left, err)) {
	case TAKEN: c->torn = false; return CHANNEL_OK;
	case GONE: return judge_gone(c, done, (size_t)left, bytes.n, err);
	case SLOW:
		return channel_say(CHANNEL_UNCERTAIN, err,
				   "%.*s: %s, %d bytes wait; resend later: it is not sent twice",
				   NAME_ARG(c), idle_words(c, words), left);
	case FAILED: break;
	}
	return channel_say(CHANNEL_UNCERTAIN, err,
			   "%.*s: written, but whether it was read cannot be seen: %s; look at the "
			   "agent, then resend",
			   NAME_ARG(c), strerror(errno));
}

static enum channel_found child_probe(struct channel *c, struct str bytes, const struct attempt *at,
				      struct err *err)
{
	const struct child_input *in = find(c, err);

	if (in && is_same_pipe(c, at)) {
		const uint64_t end = at->offset + bytes.n;

		if (in->sent <= at->offset)
			return FOUND_NOTHING;
		c->torn = true; /* so that a failure to complete it is not taken for nothing */
		if (in->sent >= end)
			return FOUND_WHOLE;
		if (in->due == end)
			return FOUND_TORN;
	}
	if (in)
		err_set(err,
			"%.*s: whether it was read cannot be found out; look at the agent, then "
			"resend",
			NAME_ARG(c));
	return FOUND_UNKNOWN;
}

const struct channel_ops channel_child = { child_open, child_prepare, child_send, child_probe };
