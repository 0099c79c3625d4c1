/* The channel to an agent's standard input: a message reaches one incarnation, once, or it is said
 * that it did not. Most tests play the agent themselves, in the channel's own idle call, so that
 * everything happens at a known moment; the last ones run real ones. */
#include "base/io.h"
#include "base/mem.h"
#include "channel/channel.h"
#include "source/child.h"

#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const char words[] = "{\"id\":\"m-1\",\"text\":\"take it\"}\n";
static const struct str message = { words, sizeof(words) - 1 };
static const char path[] = "agent:worker#2-0000cafe";

/* ---- an agent played by the test ---- */

static struct agent {
	struct child_input input;
	int fd; /* its end */
	const char *path;
	struct buf got;
	unsigned idles, patience; /* so many pass before it does something */
	bool reads, ends, restarts;
	size_t stop_at; /* ends once it has that much */
} agent;

static struct child_input *find(void *ctx, const char *wanted, struct err *err)
{
	struct agent *a = ctx;

	if (strcmp(wanted, a->path) == 0 && a->input.fd >= 0)
		return &a->input;
	err_set(err, strcmp(wanted, a->path) == 0 ? "worker has ended; restart it"
						  : "worker was restarted; decide again");
	return NULL;
}

static void agent_open(void)
{
	int fds[2];

	ck_assert_int_eq(pipe2(fds, O_CLOEXEC | O_NONBLOCK), 0);
	agent.fd = fds[0];
	agent.input = (struct child_input){ .fd = fds[1] };
	agent.path = path;
}

static void agent_close(void)
{
	if (agent.fd >= 0)
		close(agent.fd);
	agent.fd = -1;
}

/* As the program does when it has noticed the end. */
static void agent_forget(void)
{
	if (agent.input.fd >= 0)
		close(agent.input.fd);
	agent.input.fd = -1;
}

static void agent_read(void)
{
	char block[4096];
	ssize_t n;

	while (agent.fd >= 0) {
		size_t want = sizeof(block);

		if (agent.stop_at && agent.stop_at - agent.got.n < want)
			want = agent.stop_at - agent.got.n;
		n = read(agent.fd, block, want);
		if (n <= 0)
			return;
		buf_add(&agent.got, block, (size_t)n);
		if (agent.got.n == agent.stop_at)
			agent_close();
	}
}

/* The next incarnation; its pipe may well get the numbers of the old one. */
static void agent_restart(void)
{
	agent_close();
	agent_forget();
	agent_open();
	agent.path = "agent:worker#3-0000cafe";
}

static bool agent_idle(void *ctx)
{
	(void)ctx;
	if (agent.idles++ < agent.patience)
		return true;
	if (agent.reads)
		agent_read();
	if (agent.ends)
		agent_close();
	if (agent.restarts) {
		agent.restarts = false;
		agent_restart();
	}
	return true;
}

static const struct idle idle = { agent_idle, NULL };

static void set_up(void)
{
	io_reset();
	memset(&agent, 0, sizeof(agent));
	agent_open();
	channel_agents = (struct channel_agents){ find, &agent };
}

static void tear_down(void)
{
	io_reset();
	agent_close();
	agent_forget();
	buf_release(&agent.got);
}

static enum channel_result deliver(struct channel *c, struct str bytes, struct attempt *at,
				   struct err *err)
{
	enum channel_result r = channel_open(c, CHANNEL_CHILD, path, err);

	if (r == CHANNEL_OK)
		r = channel_prepare(c, bytes, false, at, err);
	if (r == CHANNEL_OK)
		r = channel_send(c, bytes, at, err);
	channel_close(c);
	return r;
}

/* What the desk does with a message whose end is not known. */
static enum channel_result deliver_again(struct channel *c, struct str bytes,
					 const struct attempt *at, enum channel_found want,
					 struct err *err)
{
	enum channel_result r = channel_open(c, CHANNEL_CHILD, path, err);

	if (r != CHANNEL_OK)
		return r;
	ck_assert_int_eq(channel_probe(c, bytes, at, err), want);
	r = channel_send(c, bytes, at, err);
	channel_close(c);
	return r;
}

static void large_line(struct buf *out, size_t n)
{
	while (out->n + 1 < n)
		buf_addc(out, (char)('a' + out->n % 26));
	buf_addc(out, '\n');
}

/* ---- delivery ---- */

START_TEST(it_has_a_name)
{
	enum channel_type t;

	ck_assert_str_eq(channel_type_name(CHANNEL_CHILD), "agent");
	ck_assert(channel_type_parse(STR("agent"), &t));
	ck_assert_int_eq(t, CHANNEL_CHILD);
}
END_TEST

START_TEST(a_message_counts_once_it_was_read)
{
	struct channel c = { .idle = &idle, .wait_ms = 60000 };
	struct attempt at;
	struct err err;

	agent.reads = true;
	agent.patience = 1;
	ck_assert_int_eq(deliver(&c, message, &at, &err), CHANNEL_OK);
	ck_assert(str_eq(buf_str(&agent.got), message));
	ck_assert_int_ge(agent.idles, 2);
	ck_assert_uint_eq(at.offset, 0);
	ck_assert_uint_eq(agent.input.sent, message.n);
	ck_assert_int_eq(agent.input.unread, 0);
	/* the agent's own descriptor is still open */
	ck_assert_int_ge(fcntl(agent.input.fd, F_GETFD), 0);
	ck_assert_int_eq(deliver(&c, message, &at, &err), CHANNEL_OK);
	ck_assert_uint_eq(at.offset, message.n);
	ck_assert_uint_eq(agent.got.n, 2 * message.n);
}
END_TEST

START_TEST(a_large_message_needs_no_sole_writer)
{
	struct channel c = { .idle = &idle, .wait_ms = 60000 };
	struct buf line = { 0 };
	struct attempt at;
	struct err err;

	large_line(&line, 300000);
	agent.reads = true;
	ck_assert_int_eq(deliver(&c, buf_str(&line), &at, &err), CHANNEL_OK);
	ck_assert(str_eq(buf_str(&agent.got), buf_str(&line)));
	buf_release(&line);
}
END_TEST

START_TEST(lines_only)
{
	struct channel c = { .wait_ms = 100 };
	struct attempt at;
	struct err err;

	ck_assert_int_eq(deliver(&c, STR("two\nlines\n"), &at, &err), CHANNEL_FAILED);
	ck_assert_int_eq(deliver(&c, STR("no end"), &at, &err), CHANNEL_FAILED);
	ck_assert_uint_eq(agent.input.sent, 0);
}
END_TEST

START_TEST(without_agents_nothing_is_sent)
{
	struct channel c = { 0 };
	struct attempt at;
	struct err err;

	channel_agents = (struct channel_agents){ 0 };
	ck_assert_int_eq(deliver(&c, message, &at, &err), CHANNEL_FAILED);
	assert_says(err, "this gavel runs no agents");
}
END_TEST

/* ---- not reading ---- */

START_TEST(the_next_waits_until_the_pipe_is_empty)
{
	struct channel c = { .idle = &idle, .wait_ms = 60000 };
	struct attempt at;
	struct err err;

	ck_assert_int_eq(write(agent.input.fd, "earlier\n", 8), 8);
	agent.reads = true;
	agent.patience = 2;
	ck_assert_int_eq(channel_open(&c, CHANNEL_CHILD, path, &err), CHANNEL_OK);
	ck_assert_int_eq(channel_prepare(&c, message, false, &at, &err), CHANNEL_OK);
	assert_str(buf_str(&agent.got), "earlier\n");
	channel_close(&c);
}
END_TEST

START_TEST(who_does_not_read_gets_nothing_more)
{
	struct channel c = { .idle = &idle, .wait_ms = 160 };
	struct attempt first, second;
	struct err err;
	int64_t start = unit_now_ms();

	ck_assert_int_eq(deliver(&c, message, &first, &err), CHANNEL_UNCERTAIN);
	ck_assert_str_eq(err.text,
			 "worker: has not read all yet, 30 bytes wait; resend later: it is "
			 "not sent twice");
	ck_assert_int_ge(unit_now_ms() - start, 160);
	ck_assert_int_ge(agent.idles, 1); /* the UI lives */
	/* 12 s later */
	agent.input.waits_since_ms -= 12000;
	ck_assert_int_eq(deliver(&c, message, &second, &err), CHANNEL_FAILED);
	ck_assert_str_eq(err.text,
			 "worker: not reading for 0:12, 30 bytes wait; resend when it reads "
			 "again");
	agent.input.waits_since_ms -= 120000;
	ck_assert_int_eq(deliver(&c, message, &second, &err), CHANNEL_FAILED);
	assert_says(err, "not reading for 2:12");
	/* it reads again: the first is there, once, and nothing else */
	agent_read();
	ck_assert_int_eq(deliver_again(&c, message, &first, FOUND_WHOLE, &err), CHANNEL_OK);
	ck_assert(str_eq(buf_str(&agent.got), message));
}
END_TEST

START_TEST(a_second_try_waits_and_does_not_repeat)
{
	struct channel c = { .idle = &idle, .wait_ms = 60 };
	struct attempt at;
	struct err err;

	ck_assert_int_eq(deliver(&c, message, &at, &err), CHANNEL_UNCERTAIN);
	ck_assert_int_eq(deliver_again(&c, message, &at, FOUND_WHOLE, &err), CHANNEL_UNCERTAIN);
	agent.reads = true;
	c.wait_ms = 60000;
	ck_assert_int_eq(deliver_again(&c, message, &at, FOUND_WHOLE, &err), CHANNEL_OK);
	ck_assert(str_eq(buf_str(&agent.got), message));
}
END_TEST

START_TEST(half_a_message_is_completed)
{
	struct channel c = { .idle = &idle, .wait_ms = 60 };
	struct buf line = { 0 };
	struct attempt at, other;
	struct err err;

	large_line(&line, 300000);
	ck_assert_int_eq(deliver(&c, buf_str(&line), &at, &err), CHANNEL_UNCERTAIN);
	assert_says(err, "of 300000 bytes were written: has not read all yet; resend completes it");
	ck_assert_uint_gt(agent.input.sent, 0);
	ck_assert_uint_lt(agent.input.sent, 300000);
	/* others do not get into the middle of it, also when the pipe is empty */
	agent_read();
	ck_assert_int_eq(deliver(&c, message, &other, &err), CHANNEL_FAILED);
	assert_says(err, "an earlier message is half sent; resend that one first");
	agent.reads = true;
	c.wait_ms = 60000;
	ck_assert_int_eq(deliver_again(&c, buf_str(&line), &at, FOUND_TORN, &err), CHANNEL_OK);
	ck_assert(str_eq(buf_str(&agent.got), buf_str(&line)));
	ck_assert_int_eq(deliver(&c, message, &other, &err), CHANNEL_OK);
	ck_assert_uint_eq(agent.got.n, 300000 + message.n);
	buf_release(&line);
}
END_TEST

/* ---- agents that end ---- */

START_TEST(an_agent_that_has_ended_gets_nothing)
{
	struct channel c = { .wait_ms = 60000 };
	struct attempt at;
	struct err err;

	/* noticed by the pipe before it is by the program */
	agent_close();
	ck_assert_int_eq(channel_open(&c, CHANNEL_CHILD, path, &err), CHANNEL_OK);
	ck_assert_int_eq(channel_prepare(&c, message, false, &at, &err), CHANNEL_FAILED);
	ck_assert_str_eq(err.text, "worker: does not read any more; restart it, then decide again");
	channel_close(&c);
	agent_forget();
	ck_assert_int_eq(deliver(&c, message, &at, &err), CHANNEL_FAILED);
	ck_assert_str_eq(err.text, "worker has ended; restart it");
}
END_TEST

/* Nobody handles SIGPIPE here: it would end this process. */
START_TEST(an_agent_that_ends_before_the_first_byte)
{
	struct channel c = { .wait_ms = 60000 };
	struct attempt at;
	struct err err;

	ck_assert_int_eq(channel_open(&c, CHANNEL_CHILD, path, &err), CHANNEL_OK);
	ck_assert_int_eq(channel_prepare(&c, message, false, &at, &err), CHANNEL_OK);
	agent_close();
	ck_assert_int_eq(channel_send(&c, message, &at, &err), CHANNEL_FAILED);
	assert_says(err, "does not read any more");
	channel_close(&c);
}
END_TEST

START_TEST(an_agent_that_ends_with_the_message_unread)
{
	struct channel c = { .idle = &idle, .wait_ms = 60000 };
	struct attempt at;
	struct err err;

	agent.ends = true;
	ck_assert_int_eq(deliver(&c, message, &at, &err), CHANNEL_FAILED);
	ck_assert_str_eq(err.text,
			 "worker: the agent ended without reading a byte of it; restart it, "
			 "then decide again");
}
END_TEST

START_TEST(an_agent_that_ends_in_the_middle)
{
	struct channel c = { .idle = &idle, .wait_ms = 60000 };
	struct attempt at;
	struct err err;

	agent.reads = true;
	agent.stop_at = 12;
	ck_assert_int_eq(deliver(&c, message, &at, &err), CHANNEL_UNCERTAIN);
	ck_assert_str_eq(err.text,
			 "worker: the agent ended after reading 12 of 30 bytes; check what "
			 "it did, then restart it and decide again");
}
END_TEST

START_TEST(an_agent_that_ends_in_the_middle_of_a_large_message)
{
	struct channel c = { .idle = &idle, .wait_ms = 60000 };
	struct buf line = { 0 };
	struct attempt at;
	struct err err;
	sigset_t pending;

	large_line(&line, 300000);
	agent.reads = true;
	agent.stop_at = 100000;
	ck_assert_int_eq(deliver(&c, buf_str(&line), &at, &err), CHANNEL_UNCERTAIN);
	assert_says(err, "the agent ended after reading 100000 of 300000 bytes");
	sigpending(&pending);
	ck_assert(!sigismember(&pending, SIGPIPE));
	buf_release(&line);
}
END_TEST

START_TEST(an_agent_that_takes_it_and_ends)
{
	struct channel c = { .idle = &idle, .wait_ms = 60000 };
	struct attempt at;
	struct err err;

	agent.reads = agent.ends = true;
	ck_assert_int_eq(deliver(&c, message, &at, &err), CHANNEL_OK);
	ck_assert(str_eq(buf_str(&agent.got), message));
}
END_TEST

START_TEST(what_it_left_behind_could_still_read_it)
{
	struct buf line = { 0 };

	large_line(&line, 300000);
	for (int i = 0; i < 2; i++) {
		struct channel c = { .idle = &idle, .wait_ms = 60000 };
		struct attempt at;
		struct err err;
		int heir;

		agent_close();
		agent_forget();
		agent_open();
		heir = fcntl(agent.fd, F_DUPFD_CLOEXEC, 0);
		agent.restarts = true;
		ck_assert_int_eq(deliver(&c, i ? buf_str(&line) : message, &at, &err),
				 CHANNEL_UNCERTAIN);
		assert_says(err, "the agent ended after reading 0 of 30");
		close(heir);
	}
	buf_release(&line);
}
END_TEST

/* ---- restarts ---- */

START_TEST(another_incarnation_gets_nothing)
{
	struct channel c = { .wait_ms = 60000 };
	struct attempt at;
	struct err err;

	agent_restart();
	ck_assert_int_eq(deliver(&c, message, &at, &err), CHANNEL_FAILED);
	ck_assert_str_eq(err.text, "worker was restarted; decide again");
	agent_read();
	ck_assert_uint_eq(agent.got.n, 0);
}
END_TEST

START_TEST(a_restart_while_it_waits)
{
	struct buf line = { 0 };
	size_t sizes[] = { message.n, 300000 };

	large_line(&line, 300000);
	for (int i = 0; i < 2; i++) {
		struct channel c = { .idle = &idle, .wait_ms = 60000 };
		struct attempt at;
		struct err err;

		agent_close();
		agent_forget();
		agent_open();
		agent.restarts = true;
		ck_assert_int_eq(
			deliver(&c, str_from(buf_str(&line), 300000 - sizes[i]), &at, &err),
			CHANNEL_FAILED);
		assert_says(err, "the agent ended without reading a byte of it");
		/* not a byte of it for the new one, and nothing of its counts */
		agent_read();
		ck_assert_uint_eq(agent.got.n, 0);
		ck_assert_uint_eq(agent.input.sent, 0);
		ck_assert_uint_eq(agent.input.due, 0);
	}
	buf_release(&line);
}
END_TEST

START_TEST(a_restart_between_the_calls)
{
	struct channel c = { .wait_ms = 60000 };
	struct attempt at;
	struct err err;

	ck_assert_int_eq(channel_open(&c, CHANNEL_CHILD, path, &err), CHANNEL_OK);
	ck_assert_int_eq(channel_prepare(&c, message, false, &at, &err), CHANNEL_OK);
	agent_restart();
	ck_assert_int_eq(channel_send(&c, message, &at, &err), CHANNEL_FAILED);
	ck_assert_str_eq(err.text, "worker was restarted; decide again");
	channel_close(&c);
	agent_read();
	ck_assert_uint_eq(agent.got.n, 0);
}
END_TEST

START_TEST(after_a_crash_nobody_knows)
{
	struct channel c = { .idle = &idle, .wait_ms = 60000 };
	struct attempt at;
	struct err err;

	agent.reads = true;
	ck_assert_int_eq(deliver(&c, message, &at, &err), CHANNEL_OK);
	/* as if the path were the same in the next run: its pipe is another */
	agent_close();
	close(agent.input.fd);
	agent_open();
	ck_assert_int_eq(channel_open(&c, CHANNEL_CHILD, path, &err), CHANNEL_OK);
	ck_assert_int_eq(channel_probe(&c, message, &at, &err), FOUND_UNKNOWN);
	assert_says(err, "cannot be found out");
	ck_assert_int_eq(channel_send(&c, message, &at, &err), CHANNEL_FAILED);
	assert_says(err, "its pipe is not the one");
	/* the agent ends meanwhile */
	agent_close();
	agent_forget();
	ck_assert_int_eq(channel_probe(&c, message, &at, &err), FOUND_UNKNOWN);
	channel_close(&c);
	agent_open();
}
END_TEST

START_TEST(a_probe_knows_what_has_not_begun)
{
	struct channel c = { .wait_ms = 60000 };
	struct attempt at;
	struct err err;

	ck_assert_int_eq(channel_open(&c, CHANNEL_CHILD, path, &err), CHANNEL_OK);
	ck_assert_int_eq(channel_prepare(&c, message, false, &at, &err), CHANNEL_OK);
	ck_assert_int_eq(channel_probe(&c, message, &at, &err), FOUND_NOTHING);
	channel_close(&c);
}
END_TEST

/* ---- faults ---- */

static struct io real;
static unsigned calls, fault_at;
static int fault_number;
static size_t room; /* a write takes at most so much; 0 = any */

static bool faulty(void)
{
	errno = fault_number;
	return ++calls == fault_at;
}

static int fault_dup(int fd)
{
	return faulty() ? -1 : real.dup(fd);
}

static int fault_fstat(int fd, struct stat *st)
{
	return faulty() ? -1 : real.fstat(fd, st);
}

static int fault_unread(int fd, int *n)
{
	return faulty() ? -1 : real.unread(fd, n);
}

static int fault_poll(struct pollfd *fds, nfds_t n, int timeout_ms)
{
	if (faulty())
		return -1;
	agent_read(); /* sooner than when the channel idles */
	return real.poll(fds, n, timeout_ms);
}

static ssize_t fault_write(int fd, const void *p, size_t n)
{
	return faulty() ? -1 : real.write(fd, p, room && n > room ? room : n);
}

static void plant(unsigned at, int number)
{
	io_reset();
	real = io;
	calls = 0;
	fault_at = at;
	fault_number = number;
	io.dup = fault_dup;
	io.fstat = fault_fstat;
	io.unread = fault_unread;
	io.poll = fault_poll;
	io.write = fault_write;
}

static void begin_anew(void)
{
	agent_close();
	agent_forget();
	agent_open();
	buf_clear(&agent.got);
	agent.reads = true;
}

START_TEST(interrupted_calls_begin_again)
{
	unsigned at = 0;

	room = 7;
	do {
		struct channel c = { .idle = &idle, .wait_ms = 60000 };
		struct attempt where;
		struct err err = { "" };

		begin_anew();
		plant(++at, EINTR);
		ck_assert_msg(deliver(&c, message, &where, &err) == CHANNEL_OK, "call %u: %s", at,
			      err.text);
		ck_assert(str_eq(buf_str(&agent.got), message));
	} while (calls >= at);
	ck_assert_uint_gt(at, 10);
}
END_TEST

/* Each call fails once: what is called not delivered is not there; a second try makes one copy. */
START_TEST(no_error_doubles_or_loses_a_message)
{
	unsigned at = 0;

	room = 7;
	do {
		struct channel c = { .idle = &idle, .wait_ms = 60000 };
		struct attempt where = { 0 };
		struct err err = { "" };
		enum channel_result r;
		bool called;

		begin_anew();
		plant(++at, EIO);
		r = deliver(&c, message, &where, &err);
		called = calls >= at;
		plant(0, 0);
		agent_read();
		if (r == CHANNEL_OK)
			ck_assert(str_eq(buf_str(&agent.got), message));
		else
			ck_assert_msg(err.text[0] != '\0', "call %u", at);
		if (r == CHANNEL_FAILED) {
			ck_assert_uint_eq(agent.got.n, 0);
			r = deliver(&c, message, &where, &err);
		} else if (r == CHANNEL_UNCERTAIN) {
			enum channel_found want = agent.input.sent == 0     ? FOUND_NOTHING
						  : agent.got.n < message.n ? FOUND_TORN
									    : FOUND_WHOLE;

			if (want == FOUND_NOTHING)
				r = deliver(&c, message, &where, &err);
			else
				r = deliver_again(&c, message, &where, want, &err);
		}
		ck_assert_msg(r == CHANNEL_OK, "call %u: %s", at, err.text);
		ck_assert_msg(str_eq(buf_str(&agent.got), message), "call %u: %.*s", at,
			      STR_ARG(buf_str(&agent.got)));
		if (!called)
			break;
	} while (at < 100);
	ck_assert_uint_gt(at, 10);
	ck_assert_uint_lt(at, 100);
}
END_TEST

/* ---- real agents ---- */

static struct children *pool;
static struct child *child;

static bool pool_idle(void *ctx)
{
	(void)ctx;
	children_tick(pool, unit_now_ms());
	return true;
}

static const struct idle pool_waits = { pool_idle, NULL };

static void start(const char *first, const char *second)
{
	const char *argv[] = { getenv("FAKE_AGENT"), first, second, NULL };
	struct child_spec spec = { .name = "worker", .argv = argv };
	struct err err;

	ck_assert_ptr_nonnull(argv[0]);
	pool = children_open(NULL, &err);
	ck_assert_ptr_nonnull(pool);
	child = child_start(pool, &spec, unit_now_ms(), &err);
	ck_assert_msg(child != NULL, "%s", err.text);
	channel_agents = (struct channel_agents){ children_input, pool };
}

static void wait_over(void)
{
	for (int64_t until = unit_now_ms() + 60000; child->life != CHILD_OVER;) {
		struct pollfd fd = { .fd = children_fd(pool), .events = POLLIN };

		ck_assert_int_lt(unit_now_ms(), until);
		poll(&fd, 1, 50);
		children_tick(pool, unit_now_ms());
	}
}

static enum channel_result say(struct channel *c, struct str bytes, struct attempt *at,
			       struct err *err)
{
	struct buf name = { 0 };
	enum channel_result r;

	child_path(child, &name);
	r = channel_open(c, CHANNEL_CHILD, name.p, err);
	if (r == CHANNEL_OK)
		r = channel_prepare(c, bytes, false, at, err);
	if (r == CHANNEL_OK)
		r = channel_send(c, bytes, at, err);
	channel_close(c);
	buf_release(&name);
	return r;
}

START_TEST(an_agent_answers)
{
	struct channel c = { .idle = &pool_waits, .wait_ms = 60000 };
	struct attempt at;
	struct err err;
	char got[sizeof(words)] = "";

	start("echo-back 2", NULL);
	ck_assert_msg(say(&c, message, &at, &err) == CHANNEL_OK, "%s", err.text);
	ck_assert_msg(say(&c, message, &at, &err) == CHANNEL_OK, "%s", err.text);
	wait_over();
	ck_assert_uint_eq(child->out.source.end, 2 * message.n);
	ck_assert_int_eq(source_fetch(&child->out.source, message.n, message.n, got, &err), 0);
	ck_assert_str_eq(got, words);
	ck_assert_int_eq(say(&c, message, &at, &err), CHANNEL_FAILED);
	assert_says(err, "has ended (exit code 0)");
	children_close(pool, NULL);
}
END_TEST

START_TEST(a_slow_agent_is_waited_for_in_steps)
{
	struct channel c = { .idle = &pool_waits, .wait_ms = 60 };
	struct attempt at;
	struct err err;
	struct buf name = { 0 };
	enum channel_result r;

	start("read-slow 30", "exit 0");
	child_path(child, &name);
	r = say(&c, message, &at, &err);
	for (int64_t until = unit_now_ms() + 60000; r != CHANNEL_OK && unit_now_ms() < until;) {
		ck_assert_int_eq(r, CHANNEL_UNCERTAIN);
		if (channel_open(&c, CHANNEL_CHILD, name.p, &err) != CHANNEL_OK)
			break;
		ck_assert_int_eq(channel_probe(&c, message, &at, &err), FOUND_WHOLE);
		r = channel_send(&c, message, &at, &err);
		channel_close(&c);
	}
	ck_assert_msg(r == CHANNEL_OK, "%s", err.text);
	wait_over();
	buf_release(&name);
	children_close(pool, NULL);
}
END_TEST

START_TEST(an_agent_dies_half_way)
{
	struct channel c = { .idle = &pool_waits, .wait_ms = 60000 };
	struct attempt at;
	struct err err;

	start("read-slow 5", "crash");
	ck_assert_int_eq(say(&c, message, &at, &err), CHANNEL_UNCERTAIN);
	assert_says(err, "worker: the agent ended after reading 5 of 30 bytes");
	wait_over();
	ck_assert_int_eq(child->number, SIGSEGV);
	children_close(pool, NULL);
}
END_TEST

START_TEST(an_agent_closes_its_input)
{
	struct channel c = { .idle = &pool_waits, .wait_ms = 60000 };
	struct attempt at;
	struct err err;

	start("close-stdin", "stall");
	ck_assert_int_eq(say(&c, message, &at, &err), CHANNEL_FAILED);
	ck_assert_int_eq(say(&c, message, &at, &err), CHANNEL_FAILED);
	assert_says(err, "does not read any more");
	children_close(pool, NULL);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("channel_child");
	TCase *t;

	t = unit_cases(suite, "delivery", set_up, tear_down);
	tcase_add_test(t, it_has_a_name);
	tcase_add_test(t, a_message_counts_once_it_was_read);
	tcase_add_test(t, a_large_message_needs_no_sole_writer);
	tcase_add_test(t, lines_only);
	tcase_add_test(t, without_agents_nothing_is_sent);

	t = unit_cases(suite, "not reading", set_up, tear_down);
	tcase_add_test(t, the_next_waits_until_the_pipe_is_empty);
	tcase_add_test(t, who_does_not_read_gets_nothing_more);
	tcase_add_test(t, a_second_try_waits_and_does_not_repeat);
	tcase_add_test(t, half_a_message_is_completed);

	t = unit_cases(suite, "ends", set_up, tear_down);
	tcase_add_test(t, an_agent_that_has_ended_gets_nothing);
	tcase_add_test(t, an_agent_that_ends_before_the_first_byte);
	tcase_add_test(t, an_agent_that_ends_with_the_message_unread);
	tcase_add_test(t, an_agent_that_ends_in_the_middle);
	tcase_add_test(t, an_agent_that_ends_in_the_middle_of_a_large_message);
	tcase_add_test(t, an_agent_that_takes_it_and_ends);
	tcase_add_test(t, what_it_left_behind_could_still_read_it);

	t = unit_cases(suite, "restarts", set_up, tear_down);
	tcase_add_test(t, another_incarnation_gets_nothing);
	tcase_add_test(t, a_restart_while_it_waits);
	tcase_add_test(t, a_restart_between_the_calls);
	tcase_add_test(t, after_a_crash_nobody_knows);
	tcase_add_test(t, a_probe_knows_what_has_not_begun);

	t = unit_cases(suite, "faults", set_up, tear_down);
	tcase_add_test(t, interrupted_calls_begin_again);
	tcase_add_test(t, no_error_doubles_or_loses_a_message);

	t = unit_cases(suite, "agents", set_up, tear_down);
	tcase_add_test(t, an_agent_answers);
	tcase_add_test(t, a_slow_agent_is_waited_for_in_steps);
	tcase_add_test(t, an_agent_dies_half_way);
	tcase_add_test(t, an_agent_closes_its_input);

	return unit_run(suite);
}
