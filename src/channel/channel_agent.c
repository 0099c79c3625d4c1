/* The standard input of an agent, through its holder (source/holder_link.h). The holder has the whole
 * message before it writes the first byte, writes it once whatever becomes of this process, and
 * records it in the capture before anything that the agent says later. So a message either is in the
 * capture, or was not written; only if the holder itself is killed in between, nobody knows.
 *
 * One connection a message. A path whose incarnation has ended can be opened, too: to find out what
 * became of a message. */
#include "channel/channel_ops.h"

#include "base/mem.h"
#include "source/holder_link.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

enum { REPLY_MS = 5 }; /* a holder is given to reply even where a channel does not wait */

struct channel_starter channel_starter;

/* The delivery of one message. */
struct agent_delivery {
	struct buf capture;
	struct holder_link link; /* fd -1: closed, or that incarnation has ended */
	unsigned run;    /* the incarnation that the path names */
	unsigned later;  /* one after it that runs instead; 0 = none */
	bool greeted;    /* the greeting was received, or no holder listens */
	bool gone;       /* the incarnation gets nothing any more */
	uint64_t unread; /* bytes that the agent has not read yet */
	char last[HOLDER_ID_MAX + 1]; /* the last message that its holder has taken */
	size_t put;      /* bytes given to the holder */
	bool handed;     /* all of them */
};

/* The agent's name in a path, which an older gavel wrote as "agent:NAME#2-TAG". */
static struct str name_in(const char *path)
{
	struct str s = str_of(path);
	const char *end = strrchr(path, '#'), *slash = strrchr(path, '/');

	if (end)
		s.n = (size_t)(end - path);
	if (slash)
		s = str_make(slash + 1, s.n - (size_t)(slash + 1 - path));
	if (str_ends(s, STR(".ndjson")))
		s.n -= 7;
	return str_starts(s, STR("agent:")) ? str_from(s, 6) : s;
}

#define NAME_ARG(c) STR_ARG(name_in((c)->path))

/* ---- its incarnation ---- */

/* Why that incarnation cannot be reached. */
static void say_gone(const char *path, unsigned wanted, unsigned runs, struct err *err)
{
	struct str name = name_in(path);

	if (wanted && runs > wanted)
		err_set(err,
			"%.*s: the agent was restarted; what was meant for the one before is not "
			"sent to it: decide again",
			STR_ARG(name));
	else
		err_set(err, "%.*s: the agent has ended; restart it, then decide again",
			STR_ARG(name));
}

void agent_say_gone(const char *path, const char *runs, struct err *err)
{
	struct buf capture = { 0 };
	unsigned wanted = holder_split(path, &capture);

	say_gone(path, wanted, runs ? holder_split(runs, &capture) : 0, err);
	buf_release(&capture);
}

bool agent_is_running(const char *path, struct err *err)
{
	struct buf capture = { 0 };
	struct holder_greeting h = { 0 };
	unsigned run = holder_split(path, &capture);
	enum holder_state state = run ? holder_ask(capture.p, NULL, &h, err) : HOLDER_ABSENT;
	/* one that does not respond, or cannot be asked now, may well run */
	bool runs = state == HOLDER_RUNS ? h.run == run : state != HOLDER_ABSENT;

	if (!runs)
		say_gone(path, run, h.run, err);
	buf_release(&capture);
	return runs;
}

bool agent_is_gone(const struct channel *c)
{
	return c->delivery && c->delivery->gone;
}

bool agent_is_connected(const struct channel *c)
{
	return c->delivery && c->delivery->link.fd >= 0;
}

void agent_delivery_free(struct channel *c)
{
	if (!c->delivery)
		return;
	holder_close(&c->delivery->link);
	buf_release(&c->delivery->capture);
	free(c->delivery);
	c->delivery = NULL;
}

static void await_reply(const struct agent_delivery *a)
{
	struct pollfd fd = { .fd = a->link.fd, .events = POLLIN };

	io.poll(&fd, 1, REPLY_MS);
}

/* Takes over the greeting, or the failure to get one. */
static enum channel_result meet(struct agent_delivery *a, enum holder_state state,
				const struct holder_greeting *h, const struct err *why,
				struct err *err)
{
	if (state != HOLDER_RUNS && state != HOLDER_ABSENT)
		return channel_fail(CHANNEL_FAILED, err, "%s", why->text);
	a->greeted = true;
	a->gone = state == HOLDER_ABSENT || h->run != a->run;
	if (a->gone) {
		a->later = state == HOLDER_RUNS ? h->run : 0;
		holder_close(&a->link);
	} else {
		a->unread = h->unread;
		memcpy(a->last, h->last, sizeof(a->last));
	}
	return CHANNEL_OK;
}

enum channel_result agent_greet(struct channel *c, struct err *err)
{
	struct agent_delivery *a = c->delivery;
	struct channel_timer t = { 0 };
	struct holder_greeting h = { 0 };
	enum holder_state state;
	struct err why;

	if (a->greeted)
		return CHANNEL_OK;
	do
		state = holder_greet(&a->link, a->capture.p, &h, &why);
	while (state == HOLDER_SILENT && channel_wait_for(c, &t, a->link.fd, POLLIN));
	return meet(a, state, &h, &why, err);
}

static enum channel_result agent_open(struct channel *c, struct err *err)
{
	struct agent_delivery *a = c->delivery = xcalloc(1, sizeof(*c->delivery));
	enum channel_result r = CHANNEL_OK;
	struct channel_timer t = { 0 };
	enum holder_state state;
	struct err why;

	a->link.fd = -1;
	if (channel_starter.start && channel_starter.start(channel_starter.ctx, c->path, err) < 0)
		return CHANNEL_FAILED;
	a->run = holder_split(c->path, &a->capture);
	if (!a->run) { /* of an older gavel, whose agents ended with it */
		a->gone = a->greeted = true;
		return CHANNEL_OK;
	}
	do /* it may have too many to accept */
		state = holder_connect(&a->link, a->capture.p, &why);
	while (state == HOLDER_SILENT && channel_wait_for(c, &t, -1, 0));
	if (state != HOLDER_RUNS)
		r = meet(a, state, NULL, &why, err);
	else if (c->wait_ms >= 0)
		r = agent_greet(c, err);
	else
		await_reply(a);
	if (r != CHANNEL_OK)
		return r;
	c->fd = channel_open_path(a->capture.p, O_RDONLY | O_NONBLOCK, 0);
	if (c->fd < 0)
		return channel_fail(CHANNEL_FAILED, err, "%s: %s; its agent cannot be reached",
				    a->capture.p, strerror(errno));
	return CHANNEL_OK;
}

/* ---- sending ---- */

/* Takes what the holder says; true once *line is one that is meant for this message. */
static bool take_reply(struct channel *c, struct str *line, bool *over)
{
	while (holder_next(&c->delivery->link, line, over)) {
		struct holder_greeting h;

		if (line->p[0] == 'H' && holder_parse_greeting(*line, &h))
			c->delivery->unread = h.unread;
		else if (line->n > 2 && (line->p[0] == 'A' || line->p[0] == 'N'))
			return true;
	}
	return false;
}

static enum channel_result agent_prepare(struct channel *c, struct str bytes, bool after_torn,
					 struct attempt *out, struct err *err)
{
	struct channel_timer t = { 0 };
	struct stat st;
	struct str line;
	bool over = false;

	(void)after_torn; /* the holder writes whole messages */
	if (!channel_is_line(bytes, err))
		return CHANNEL_FAILED;
	if (c->delivery->link.fd < 0) {
		say_gone(c->path, c->delivery->run, c->delivery->later, err);
		return CHANNEL_FAILED;
	}
	while (c->delivery->unread && !over) {
		if (!channel_wait_for(c, &t, c->delivery->link.fd, POLLIN))
			return channel_fail(CHANNEL_FAILED, err,
					    "%.*s: has not read all yet; resend when it reads again",
					    NAME_ARG(c));
		holder_say(&c->delivery->link, "?\n");
		take_reply(c, &line, &over);
	}
	if (channel_fstat(c->fd, &st) < 0)
		return channel_fail(CHANNEL_FAILED, err, "%.*s: %s; resend", NAME_ARG(c),
				    strerror(errno));
	*out = (struct attempt){ .offset = (uint64_t)st.st_size, .dev = (uint64_t)st.st_dev,
				 .ino = (uint64_t)st.st_ino };
	c->delivery->put = 0;
	return CHANNEL_OK;
}

/* Hands the message to the holder, as far as it takes it. 0, EAGAIN, or another errno. */
static int hand_over(struct channel *c, struct str bytes)
{
	char head[HOLDER_ID_MAX + 40];
	size_t n = (size_t)snprintf(head, sizeof(head), "W %s %zu\n", c->id, bytes.n);

	while (c->delivery->put < n + bytes.n) {
		struct str rest = c->delivery->put < n ? str_make(head + c->delivery->put, n - c->delivery->put)
					     : str_from(bytes, c->delivery->put - n);
		ssize_t put;

		IO_RETRY(put, io.send(c->delivery->link.fd, rest.p, rest.n));
		if (put < 0)
			return errno;
		c->delivery->put += (size_t)put;
	}
	c->delivery->handed = true;
	return 0;
}

void agent_say_unread(const char *path, uint64_t unread, size_t n, struct err *err)
{
	struct str name = name_in(path);

	if (unread >= n)
		err_set(err,
			"%.*s: the agent ended without reading a byte of it; restart it, then "
			"decide again",
			STR_ARG(name));
	else
		err_set(err,
			"%.*s: the agent ended after reading %zu of %zu bytes; check what it did, "
			"then restart it and decide again",
			STR_ARG(name), n - (size_t)unread, n);
}

/* What the capture tells of a message of n bytes; err says what that means, unless it has it. */
static enum capture_letter look_up(const struct channel *c, const struct attempt *at, size_t n,
				   struct err *err)
{
	const struct agent_delivery *a = c->delivery;
	enum capture_letter found = CAPTURE_UNREADABLE;
	struct capture_end end;
	struct stat st;

	if (channel_fstat(c->fd, &st) == 0 && (uint64_t)st.st_ino == at->ino &&
	    (uint64_t)st.st_dev == at->dev)
		found = capture_find_letter(c->fd, at->offset, a->run, c->id);
	switch (found) {
	case CAPTURE_HAS_LETTER: break;
	case CAPTURE_NEVER: say_gone(c->path, a->run, a->later, err); return found;
	case CAPTURE_UNREADABLE:
		err_set(err, "%.*s: its capture cannot be read; resend later", NAME_ARG(c));
		return found;
	case CAPTURE_NOT_YET:
		err_set(err,
			"%.*s: the process that held its pipes was killed, and whether the agent got "
			"this is not known; check what it did, then decide again",
			NAME_ARG(c));
		return found;
	}
	capture_read_end(c->fd, at->offset, &end);
	if (end.run != a->run || strcmp(end.unread, c->id) != 0)
		return found;
	agent_say_unread(c->path, end.unread_n, n, err);
	return end.unread_n >= n ? CAPTURE_NEVER : CAPTURE_NOT_YET;
}

/* The connection is lost: the holder has ended, or was killed. */
static enum channel_result fail_gone(struct channel *c, const struct attempt *at, size_t n,
				     struct err *err)
{
	enum capture_letter found;

	holder_close(&c->delivery->link);
	if (!c->delivery->handed) {
		say_gone(c->path, c->delivery->run, c->delivery->later, err);
		return CHANNEL_FAILED;
	}
	found = look_up(c, at, n, err);
	c->delivery->gone = true;
	c->torn = found == CAPTURE_NOT_YET || found == CAPTURE_UNREADABLE;
	return c->torn ? CHANNEL_UNCERTAIN : found == CAPTURE_NEVER ? CHANNEL_FAILED : CHANNEL_OK;
}

static const struct refusal {
	const char *why, *sentence;
	bool gone; /* for good */
} refusals[] = {
	{ "busy", "has not read all yet; resend when it reads again", false },
	{ "full", "its capture cannot be written to, and what cannot be recorded is not said; make "
		  "room, then resend", false },
	{ "closed", "its standard input is closed; restart it, then decide again", true },
	{ "ended", "the agent has ended; restart it, then decide again", true },
};

/* "N ID WHY [PUT]": nothing was written, unless its reader went away in the middle: PUT bytes were
 * read. */
static enum channel_result refused(struct channel *c, struct str why, struct err *err)
{
	struct str put = why;

	c->delivery->handed = false;
	c->delivery->put = 0;
	why = str_cut(&put, STR(" "));
	c->torn = put.n && !str_is(put, "0");
	if (c->torn)
		return channel_fail(CHANNEL_UNCERTAIN, err,
				    "%.*s: the agent closed its input after reading %.*s bytes of it; "
				    "check what it did, then restart it and decide again",
				    NAME_ARG(c), STR_ARG(put));
	for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++)
		if (str_is(why, refusals[i].why)) {
			c->delivery->gone = refusals[i].gone;
			return channel_fail(CHANNEL_FAILED, err, "%.*s: %s", NAME_ARG(c),
					    refusals[i].sentence);
		}
	return channel_fail(CHANNEL_FAILED, err, "%.*s: its holder refuses: %.*s", NAME_ARG(c),
			    STR_ARG(why));
}

/* It has a part of the message. Without the rest it writes nothing; if this is continued, nobody knows
 * yet. */
static enum channel_result fail_halfway(struct channel *c, struct err *err)
{
	if (c->wait_ms >= 0)
		holder_close(&c->delivery->link);
	return channel_fail(c->wait_ms >= 0 ? CHANNEL_FAILED : CHANNEL_UNCERTAIN, err,
			    "%.*s: the process that holds its pipes does not respond; resend later",
			    NAME_ARG(c));
}

static enum channel_result agent_send(struct channel *c, struct str bytes, const struct attempt *at,
				      struct err *err)
{
	struct channel_timer t = { 0 };
	struct str line;
	bool over = false;
	int number;

	if (c->delivery->link.fd < 0) {
		c->delivery->handed = true; /* it was found in the capture, or may have been written */
		return fail_gone(c, at, bytes.n, err);
	}
	if (!c->delivery->handed && !c->delivery->put &&
	    look_up(c, at, bytes.n, err) == CAPTURE_HAS_LETTER)
		return CHANNEL_OK;
	while (!c->delivery->handed) {
		number = hand_over(c, bytes);
		if (number == 0)
			await_reply(c->delivery);
		else if (number != EAGAIN)
			return fail_gone(c, at, bytes.n, err);
		else if (!channel_wait_for(c, &t, c->delivery->link.fd, POLLOUT))
			return fail_halfway(c, err);
	}
	for (;;) {
		if (take_reply(c, &line, &over)) {
			size_t n = 2 + strlen(c->id);

			if (line.p[0] == 'A')
				return CHANNEL_OK;
			return refused(c, str_trim(str_from(line, n)), err);
		}
		if (over)
			return fail_gone(c, at, bytes.n, err);
		if (!channel_wait_for(c, &t, c->delivery->link.fd, POLLIN))
			return channel_fail(CHANNEL_UNCERTAIN, err,
					    "%.*s: has not read all yet; resend later: it is not sent "
					    "twice",
					    NAME_ARG(c));
	}
}

static enum channel_found agent_probe(struct channel *c, struct str bytes, const struct attempt *at,
				      struct err *err)
{
	switch (look_up(c, at, bytes.n, err)) {
	case CAPTURE_HAS_LETTER: return FOUND_WHOLE;
	case CAPTURE_UNREADABLE: return FOUND_TROUBLE;
	case CAPTURE_NEVER: return FOUND_NOTHING;
	case CAPTURE_NOT_YET: break;
	}
	if (c->delivery->link.fd < 0)
		return FOUND_UNKNOWN;
	if (strcmp(c->delivery->last, c->id) != 0)
		return FOUND_NOTHING;
	err_set(err, "%.*s: has not read all yet; resend later", NAME_ARG(c));
	return FOUND_TROUBLE; /* accepted, and not written yet */
}

const struct channel_ops channel_agent = { agent_open, agent_prepare, agent_send, agent_probe };
