/* The standard input of an agent that gavel runs. Unlike a FIFO, the pipe has one writer, belongs
 * to one incarnation, and the bytes written to it are counted: with the number of bytes still
 * unread, this gives for each message how much was written and how much was read.
 *
 * The idle callback may notice that the agent has ended and start the next incarnation. So no
 * pointer to the agent is kept across a wait: its input is looked up again by path, and the
 * channel writes to a descriptor of its own, which cannot become another agent's. */
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

struct child_input *channel_input(const struct channel *c, struct err *err)
{
	if (channel_agents.find)
		return channel_agents.find(channel_agents.ctx, c->path, err);
	err_set(err, "%.300s: this gavel runs no agents; gavel run does", c->path);
	return NULL;
}

static enum channel_result child_fail(const struct channel *c, struct err *err)
{
	return channel_fail(CHANNEL_FAILED, err, "%.*s: %s; check the agent, then resend",
			    NAME_ARG(c), strerror(errno));
}

static enum channel_result child_open(struct channel *c, struct err *err)
{
	const struct child_input *in = channel_input(c, err);

	if (!in)
		return CHANNEL_FAILED;
	IO_RETRY(c->fd, io.dup(in->fd));
	return c->fd < 0 ? child_fail(c, err) : CHANNEL_OK;
}

/* There is no reader, and nothing was written. */
static enum channel_result nobody_reads(const struct channel *c, struct err *err)
{
	if (channel_input(c, err))
		err_set(err, "%.*s: does not read any more; restart it, then decide again",
			NAME_ARG(c));
	return CHANNEL_FAILED;
}

enum { WORDS_SIZE = 48 };

/* "not reading for 0:12" */
static const char *idle_words(const struct channel *c, char out[WORDS_SIZE])
{
	struct err unused;
	const struct child_input *in = channel_input(c, &unused);
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

static enum channel_result begin(struct channel *c, struct attempt *out, struct err *err)
{
	struct child_input *in = channel_input(c, err);
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
	const struct child_input *in = channel_input(c, err);
	char words[WORDS_SIZE];
	int left = 0;

	(void)after_torn; /* a partial message is completed, not repeated */
	if (!in || !channel_is_line(bytes, err))
		return CHANNEL_FAILED;
	if (in->due > in->sent)
		return channel_fail(
			CHANNEL_FAILED, err,
			"%.*s: an earlier message is half sent; resend that one first",
			NAME_ARG(c));
	switch (channel_drain(c, &left)) {
	case DRAIN_EMPTY: break;
	case DRAIN_SLOW:
		return channel_fail(CHANNEL_FAILED, err,
				    "%.*s: %s, %d bytes wait; resend when it reads again",
				    NAME_ARG(c), idle_words(c, words), left);
	case DRAIN_DESERTED: return nobody_reads(c, err);
	case DRAIN_FAILED: return child_fail(c, err);
	}
	if (!channel_has_reader(c))
		return nobody_reads(c, err);
	return begin(c, out, err);
}

/* The agent has ended; `done` of n bytes were written, `left` of them are unread. */
static enum channel_result fail_ended(struct channel *c, size_t done, size_t left, size_t n,
				      struct err *err)
{
	c->torn = true;
	/* a process that it left behind could still read them */
	if (left >= done && !channel_has_reader(c))
		return channel_fail(
			CHANNEL_FAILED, err,
			"%.*s: the agent ended without reading a byte of it; restart it, "
			"then decide again",
			NAME_ARG(c));
	return channel_fail(
		CHANNEL_UNCERTAIN, err,
		"%.*s: the agent ended after reading %zu of %zu bytes; check what it did, then "
		"restart it and decide again",
		NAME_ARG(c), done > left ? done - left : 0, n);
}

static enum channel_result fail_write(struct channel *c, int number, size_t done, size_t n,
				      struct err *err)
{
	struct child_input *in = channel_input(c, err);
	char words[WORDS_SIZE];
	int left = 0;

	if (in && !done)
		in->due = in->sent; /* no partial message */
	if (!done && (number == EPIPE || number == ESRCH))
		return nobody_reads(c, err);
	if (!done && number == EAGAIN)
		return channel_fail(CHANNEL_FAILED, err, "%.*s: %s; resend when it reads again",
				    NAME_ARG(c), idle_words(c, words));
	if (number == EPIPE || number == ESRCH)
		return fail_ended(c, done, io.unread(c->fd, &left) == 0 ? (size_t)left : 0, n, err);
	/* no other error is expected of a pipe, so it does not prove that nothing was written */
	c->torn = true;
	return channel_fail(CHANNEL_UNCERTAIN, err,
			    "%.*s: only %zu of %zu bytes were written: %s; resend completes it",
			    NAME_ARG(c), done, n,
			    number == EAGAIN ? idle_words(c, words) : strerror(number));
}

/* The agent has ended during a message: it is delivered if all of it was written and read. */
static enum channel_result finish_ended(struct channel *c, size_t n, struct err *err)
{
	int left = 0, rc;

	IO_RETRY(rc, io.unread(c->fd, &left));
	if (rc == 0 && left == 0 && c->put == n)
		return CHANNEL_OK;
	return fail_ended(c, c->put, rc == 0 ? (size_t)left : 0, n, err);
}

static enum channel_result child_send(struct channel *c, struct str bytes, const struct attempt *at,
				      struct err *err)
{
	struct child_input *in = channel_input(c, err);
	const enum channel_result not_begun = c->torn ? CHANNEL_UNCERTAIN : CHANNEL_FAILED;
	char words[WORDS_SIZE];
	int left = 0, number;
	size_t done;

	if (!in)
		return c->put ? finish_ended(c, bytes.n, err) : not_begun;
	if (!is_same_pipe(c, at) || in->sent < at->offset)
		return channel_fail(not_begun, err,
				    "%.*s: its pipe is not the one that the message was begun on; "
				    "look at the agent, then decide again",
				    NAME_ARG(c));
	done = in->sent - at->offset < bytes.n ? (size_t)(in->sent - at->offset) : bytes.n;
	if (done < bytes.n)
		in->due = at->offset + bytes.n;
	number = channel_write_rest(c, bytes, &done);
	c->put = done;
	if (number)
		return fail_write(c, number, done, bytes.n, err);
	switch (channel_drain(c, &left)) {
	case DRAIN_EMPTY: c->torn = false; return CHANNEL_OK;
	case DRAIN_DESERTED: return fail_ended(c, done, (size_t)left, bytes.n, err);
	case DRAIN_SLOW:
		return channel_fail(CHANNEL_UNCERTAIN, err,
				    "%.*s: %s, %d bytes wait; resend later: it is not sent twice",
				    NAME_ARG(c), idle_words(c, words), left);
	case DRAIN_FAILED: break;
	}
	return channel_fail(CHANNEL_UNCERTAIN, err,
			    "%.*s: written, but whether it was read cannot be seen: %s; look at "
			    "the agent, then resend",
			    NAME_ARG(c), strerror(errno));
}

static enum channel_found child_probe(struct channel *c, struct str bytes, const struct attempt *at,
				      struct err *err)
{
	const struct child_input *in = channel_input(c, err);

	if (in && is_same_pipe(c, at)) {
		const uint64_t end = at->offset + bytes.n;

		if (in->sent <= at->offset)
			return FOUND_NOTHING;
		c->torn = true; /* if completing it fails, the result is uncertain */
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
