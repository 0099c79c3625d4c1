/* The channel to an agent's standard input, with real holders: a message reaches one incarnation,
 * once, and what is said of it is so. The capture is the witness. */
#include "channel/channel.h"
#include "source/holder_link.h"
#include "source/source.h"

#include "held.h"

#include <sys/mman.h>

static const char words[] = "{\"id\":\"m-1\",\"text\":\"take it\"}\n";
static const struct str message = { words, sizeof(words) - 1 };

static struct child *agent;
static pid_t holder;
static char first_path[128];

static void set_up(void)
{
	held_open();
	snprintf(first_path, sizeof(first_path), "%s/dev.ndjson#1", folder);
}

static void tear_down(void)
{
	held_close();
}

static void begin(const char *line, const char *next)
{
	agent = start("dev", line, next, NULL);
	holder = parent_of(agent->pid);
}

static unsigned records(const char *id)
{
	char mark[128];

	snprintf(mark, sizeof(mark), "\n\t{\"gavel\":\"to\",\"id\":\"%s\"", id);
	return count_in("dev.ndjson", mark);
}

static enum channel_result deliver_to(const char *path, const char *id, struct str bytes, int wait_ms,
				      struct attempt *at, struct err *err)
{
	struct channel c = { .fd = -1, .wait_ms = wait_ms, .id = id };
	enum channel_result r = channel_open(&c, CHANNEL_AGENT, path, err);

	if (r == CHANNEL_OK)
		r = channel_prepare(&c, bytes, false, at, err);
	if (r == CHANNEL_OK)
		r = channel_send(&c, bytes, at, err);
	channel_close(&c);
	return r;
}

static enum channel_result deliver(const char *id, struct str bytes, int wait_ms, struct attempt *at,
				   struct err *err)
{
	return deliver_to(first_path, id, bytes, wait_ms, at, err);
}

static void assert_delivers(const char *id, struct str bytes)
{
	struct attempt at;
	struct err err = { "" };

	ck_assert_msg(deliver(id, bytes, PATIENCE_MS, &at, &err) == CHANNEL_OK, "%s: %s", id, err.text);
	ck_assert_uint_eq(records(id), 1);
}

static enum channel_found probe(const char *path, const char *id, const struct attempt *at,
				struct err *err)
{
	struct channel c = { .fd = -1, .wait_ms = 100, .id = id };
	enum channel_found found;

	ck_assert_msg(channel_open(&c, CHANNEL_AGENT, path, err) == CHANNEL_OK, "%s", err->text);
	found = channel_probe(&c, message, at, err);
	channel_close(&c);
	return found;
}

static void large_line(struct buf *out, size_t n)
{
	buf_clear(out);
	while (out->n + 1 < n)
		buf_addc(out, (char)('a' + out->n % 26));
	buf_addc(out, '\n');
}

/* ---- delivery ---- */

START_TEST(a_message_is_written_once_and_recorded)
{
	struct attempt at;
	struct err err = { "" };
	char record[128];

	begin("echo-back", NULL);
	ck_assert_str_eq(channel_type_name(CHANNEL_AGENT), "agent");
	ck_assert_msg(deliver("m-1", message, PATIENCE_MS, &at, &err) == CHANNEL_OK, "%s", err.text);
	ck_assert_uint_eq(records("m-1"), 1);
	snprintf(record, sizeof(record), "\n\t%s", words);
	ck_assert_ptr_nonnull(strstr(text.p + at.offset, record));
	wait_until(strcmp(read_said("dev.ndjson"), words) == 0);
	assert_delivers("m-2", STR("{}\n"));
	wait_until(has("dev.ndjson", "\n{}\n"));
}
END_TEST

START_TEST(the_same_again_is_not_written_again)
{
	begin("echo-back", NULL);
	for (int i = 0; i < 5; i++)
		assert_delivers("m-1", message);
	assert_delivers("m-2", STR("{}\n"));
	wait_until(has("dev.ndjson", "\n{}\n"));
	ck_assert_uint_eq(count_in("dev.ndjson", "\n{\"id\":\"m-1\""), 1);
}
END_TEST

START_TEST(long_lines)
{
	struct buf line = { 0 };

	begin("echo-back", NULL);
	large_line(&line, 3 << 20);
	assert_delivers("m-1", buf_str(&line));
	wait_until(agent->out.source.end > 6 << 20);
	wait_until(read_said("dev.ndjson") && text.n >= line.n);
	ck_assert(str_eq(buf_str(&text), buf_str(&line)));
	buf_release(&line);
}
END_TEST

START_TEST(lines_only)
{
	struct attempt at;
	struct err err;

	begin("echo-back", NULL);
	ck_assert_int_eq(deliver("a", STR("two\nlines\n"), 100, &at, &err), CHANNEL_FAILED);
	ck_assert_int_eq(deliver("b", STR("no end"), 100, &at, &err), CHANNEL_FAILED);
	ck_assert_int_eq(deliver("c", STR(""), 100, &at, &err), CHANNEL_FAILED);
	assert_delivers("m-1", message);
	ck_assert_uint_eq(count_in("dev.ndjson", "\"gavel\":\"to\""), 1);
}
END_TEST

/* ---- who gets it ---- */

static void refuses(const char *path, const char *why)
{
	struct attempt at;
	struct err err = { "" }, other;

	ck_assert_int_eq(deliver_to(path, "m-1", message, 100, &at, &err), CHANNEL_FAILED);
	assert_says(err, why);
	ck_assert(!agent_is_running(path, &other));
}

START_TEST(no_other_incarnation_gets_it)
{
	char next[160], other[128];
	struct err err;

	snprintf(next, sizeof(next), "%s/dev.ndjson#2", folder);
	snprintf(other, sizeof(other), "%s/other.ndjson#1", folder);
	begin("echo-back", NULL);
	ck_assert(agent_is_running(first_path, &err));
	refuses(next, "dev: the agent has ended; restart it, then decide again");
	refuses(other, "cannot be reached");
	refuses("agent:dev#1-0000cafe", "dev: the agent has ended");
	refuses("/tmp/file", "has ended");
	ck_assert_int_eq(child_restart(agent, unit_now_ms(), 0, &err), 0);
	wait_until(agent->incarnation == 2);
	keep_both(agent);
	refuses(first_path, "dev: the agent was restarted; what was meant for the one before is not "
			    "sent to it: decide again");
	ck_assert(agent_is_running(next, &err));
	ck_assert_uint_eq(records("m-1"), 0);
}
END_TEST

START_TEST(who_has_ended_gets_nothing)
{
	begin("exit 3", NULL);
	wait_until(agent->life == CHILD_OVER);
	refuses(first_path, "dev: the agent has ended; restart it, then decide again");
}
END_TEST

START_TEST(a_closed_input_takes_nothing)
{
	struct attempt at;
	struct err err;

	begin("close-stdin", "stall");
	for (int64_t until = unit_now_ms() + PATIENCE_MS;;) {
		ck_assert_int_lt(unit_now_ms(), until);
		/* until it has closed it, the pipe takes it */
		if (deliver("m-1", message, 20, &at, &err) == CHANNEL_FAILED)
			break;
		ck_assert_int_le(records("m-1"), 1);
	}
	ck_assert_int_eq(deliver("m-2", message, 100, &at, &err), CHANNEL_FAILED);
	ck_assert_uint_eq(records("m-2"), 0);
}
END_TEST

START_TEST(after_the_end_of_input_nothing_is_taken)
{
	struct attempt at;
	struct err err;

	begin("say up", "stall");
	child_end_input(agent);
	wait_until(has("dev.ndjson", "up\n") && agent->holder == HOLDER_RUNS);
	ck_assert_int_eq(deliver("m-1", message, 1000, &at, &err), CHANNEL_FAILED);
	assert_says(err, "dev: its standard input is closed; restart it, then decide again");
	ck_assert_uint_eq(records("m-1"), 0);
}
END_TEST

/* ---- slow readers ---- */

static int idles;

static bool count_idle(void *ctx)
{
	(void)ctx;
	if (++idles == 3)
		kill(agent->pid, SIGCONT);
	return true;
}

START_TEST(who_does_not_read_gets_nothing_more)
{
	static const struct idle idle = { count_idle, NULL };
	struct channel c = { .fd = -1, .wait_ms = PATIENCE_MS, .idle = &idle, .id = "m-3" };
	struct attempt at;
	struct err err;
	int64_t began;

	begin("echo-back", NULL);
	freeze(agent->pid);
	assert_delivers("m-1", message); /* it is in the pipe, which nobody can take back */
	began = unit_now_ms();
	ck_assert_int_eq(deliver("m-2", message, 160, &at, &err), CHANNEL_FAILED);
	ck_assert_int_ge(unit_now_ms() - began, 160);
	assert_says(err, "dev: has not read all yet; resend when it reads again");
	ck_assert_uint_eq(records("m-2"), 0);
	/* it goes on while this one waits, and the user interface lives */
	ck_assert_int_eq(channel_open(&c, CHANNEL_AGENT, first_path, &err), CHANNEL_OK);
	ck_assert_int_eq(channel_prepare(&c, message, false, &at, &err), CHANNEL_OK);
	ck_assert_int_eq(channel_send(&c, message, &at, &err), CHANNEL_OK);
	channel_close(&c);
	ck_assert_int_ge(idles, 3);
	ck_assert_uint_eq(records("m-3"), 1);
	ck_assert_uint_eq(records("m-2"), 0);
}
END_TEST

/* More than a pipe holds to one that reads nothing: it is with the holder, whatever becomes of us. */
START_TEST(what_the_holder_has_goes_on_without_us)
{
	struct buf line = { 0 };
	struct attempt at;
	struct err err;

	begin("echo-back", NULL);
	large_line(&line, 300000);
	freeze(agent->pid);
	ck_assert_int_eq(deliver("m-1", buf_str(&line), 300, &at, &err), CHANNEL_UNCERTAIN);
	assert_says(err, "has not read all yet; resend later: it is not sent twice");
	ck_assert_uint_eq(records("m-1"), 0);
	ck_assert_int_eq(probe(first_path, "m-1", &at, &err), FOUND_TROUBLE);
	kill(agent->pid, SIGCONT);
	wait_until(records("m-1") == 1);
	ck_assert_int_eq(probe(first_path, "m-1", &at, &err), FOUND_WHOLE);
	assert_delivers("m-1", buf_str(&line));
	wait_until(read_said("dev.ndjson") && text.n >= line.n);
	assert_delivers("m-2", STR("{}\n"));
	wait_until(has("dev.ndjson", "\n{}\n"));
	ck_assert_uint_eq(strlen(read_said("dev.ndjson")), line.n + 3);
	buf_release(&line);
}
END_TEST

/* ---- holders that do not respond ---- */

START_TEST(a_stopped_holder_is_not_waited_for)
{
	struct attempt at;
	struct err err, other;
	int64_t began;

	begin("echo-back", NULL);
	freeze(holder);
	/* often enough to fill the queue of its socket */
	for (int i = 0; i < 20; i++) {
		began = unit_now_ms();
		ck_assert_int_eq(deliver("m-1", message, 100, &at, &err), CHANNEL_FAILED);
		assert_says(err, "does not respond");
		ck_assert_int_lt(unit_now_ms() - began, 5000);
	}
	ck_assert(agent_is_running(first_path, &other));
	kill(holder, SIGCONT);
	assert_delivers("m-1", message);
}
END_TEST

/* Stopped when the channel was open already. */
START_TEST(a_holder_that_stops_in_between)
{
	struct channel c = { .fd = -1, .wait_ms = 150, .id = "m-1" };
	struct attempt at;
	struct err err;

	begin("echo-back", NULL);
	ck_assert_int_eq(channel_open(&c, CHANNEL_AGENT, first_path, &err), CHANNEL_OK);
	ck_assert_int_eq(channel_prepare(&c, message, false, &at, &err), CHANNEL_OK);
	freeze(holder);
	ck_assert_int_eq(channel_send(&c, message, &at, &err), CHANNEL_UNCERTAIN);
	channel_close(&c);
	ck_assert_uint_eq(records("m-1"), 0);
	kill(holder, SIGCONT);
	wait_until(records("m-1") == 1);
	assert_delivers("m-2", STR("{}\n"));
	ck_assert_int_eq(probe(first_path, "m-1", &at, &err), FOUND_WHOLE);
}
END_TEST

/* What the socket does not take is certainly not sent: not even if it is continued later. */
START_TEST(a_holder_that_stops_takes_half)
{
	struct channel c = { .fd = -1, .wait_ms = 150, .id = "m-1" };
	struct buf line = { 0 };
	struct attempt at;
	struct err err;

	large_line(&line, 3 << 20);
	begin("echo-back", NULL);
	ck_assert_int_eq(channel_open(&c, CHANNEL_AGENT, first_path, &err), CHANNEL_OK);
	ck_assert_int_eq(channel_prepare(&c, buf_str(&line), false, &at, &err), CHANNEL_OK);
	freeze(holder);
	ck_assert_int_eq(channel_send(&c, buf_str(&line), &at, &err), CHANNEL_FAILED);
	assert_says(err, "does not respond");
	kill(holder, SIGCONT);
	/* the channel is not to be continued after a certain failure */
	c.wait_ms = PATIENCE_MS;
	ck_assert_int_ne(channel_send(&c, buf_str(&line), &at, &err), CHANNEL_OK);
	channel_close(&c);
	assert_delivers("m-2", STR("{}\n"));
	ck_assert_uint_eq(records("m-1"), 0);
	assert_delivers("m-1", buf_str(&line));
	buf_release(&line);
}
END_TEST

/* Without waiting it is continued by the next call, and until then nobody knows. */
START_TEST(a_long_line_without_waiting)
{
	struct channel c = { .fd = -1, .wait_ms = -1, .id = "m-1" };
	enum channel_result r = CHANNEL_UNCERTAIN;
	struct buf line = { 0 };
	struct attempt at;
	struct err err;

	large_line(&line, 3 << 20);
	begin("echo-back", NULL);
	ck_assert_int_eq(channel_open(&c, CHANNEL_AGENT, first_path, &err), CHANNEL_OK);
	ck_assert_int_eq(channel_prepare(&c, buf_str(&line), false, &at, &err), CHANNEL_OK);
	for (int64_t until = unit_now_ms() + PATIENCE_MS; r != CHANNEL_OK;) {
		ck_assert_int_lt(unit_now_ms(), until);
		r = channel_send(&c, buf_str(&line), &at, &err);
		ck_assert_msg(r != CHANNEL_FAILED, "%s", err.text);
	}
	channel_close(&c);
	ck_assert_uint_eq(records("m-1"), 1);
	buf_release(&line);
}
END_TEST

/* More clients than a holder has room for: busy, not gone. */
START_TEST(too_many_clients_are_no_end)
{
	struct holder_link links[16];
	struct holder_greeting h;
	struct attempt at;
	struct err err;
	int n = 0;

	begin("echo-back", NULL);
	while (n < 16 && holder_ask(path_of("dev.ndjson"), &links[n], &h, &err) == HOLDER_RUNS)
		n++;
	ck_assert_int_ge(n, 15); /* the pool has one */
	ck_assert(agent_is_running(first_path, &err));
	ck_assert_int_eq(deliver("m-1", message, 100, &at, &err), CHANNEL_FAILED);
	ck_assert_msg(!strstr(err.text, "ended"), "%s", err.text);
	while (n > 0)
		holder_close(&links[--n]);
	wait_until(deliver("m-1", message, 1000, &at, &err) == CHANNEL_OK);
	ck_assert_uint_eq(records("m-1"), 1);
}
END_TEST

/* ---- holders that are killed ---- */

/* Whether it has closed its connections: that happens one by one, before it is a zombie. */
static bool has_exited(pid_t pid)
{
	char path[64], stat[256] = "";
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	fd = open(path, O_RDONLY);
	if (fd < 0)
		return true;
	(void)!read(fd, stat, sizeof(stat) - 1);
	close(fd);
	return strstr(stat, ") Z ") != NULL || !stat[0];
}

static void kill_holder(void)
{
	kill(holder, SIGKILL);
	wait_until(agent->life == CHILD_OVER && has_exited(holder));
}

static void restart(void)
{
	struct err err;

	ck_assert_msg(child_restart(agent, unit_now_ms(), 0, &err) == 0, "%s", err.text);
	holder = keep_both(agent);
}

START_TEST(killed_before_the_line)
{
	struct channel c = { .fd = -1, .wait_ms = 1000, .id = "m-1" };
	struct attempt at;
	struct err err;

	begin("echo-back", NULL);
	ck_assert_int_eq(channel_open(&c, CHANNEL_AGENT, first_path, &err), CHANNEL_OK);
	ck_assert_int_eq(channel_prepare(&c, message, false, &at, &err), CHANNEL_OK);
	kill_holder();
	ck_assert_int_eq(channel_send(&c, message, &at, &err), CHANNEL_FAILED);
	assert_says(err, "dev: the agent has ended");
	channel_close(&c);
}
END_TEST

/* It may have written the line before it could record it: nobody can tell, also not when the agent runs
 * again. */
START_TEST(killed_with_the_line)
{
	struct channel c = { .fd = -1, .wait_ms = 100, .id = "m-1" };
	struct attempt at;
	struct err err;

	begin("echo-back", NULL);
	ck_assert_int_eq(channel_open(&c, CHANNEL_AGENT, first_path, &err), CHANNEL_OK);
	ck_assert_int_eq(channel_prepare(&c, message, false, &at, &err), CHANNEL_OK);
	freeze(holder);
	ck_assert_int_eq(channel_send(&c, message, &at, &err), CHANNEL_UNCERTAIN);
	kill_holder();
	ck_assert_int_eq(channel_send(&c, message, &at, &err), CHANNEL_UNCERTAIN);
	assert_says(err, "was killed, and whether the agent got this is not known");
	channel_close(&c);
	ck_assert_int_eq(probe(first_path, "m-1", &at, &err), FOUND_UNKNOWN);
	restart();
	ck_assert_int_eq(probe(first_path, "m-1", &at, &err), FOUND_UNKNOWN);
}
END_TEST

START_TEST(killed_after_the_record)
{
	struct channel c = { .fd = -1, .wait_ms = -1, .id = "m-1" };
	struct attempt at;
	struct err err;

	begin("echo-back", NULL);
	ck_assert_int_eq(channel_open(&c, CHANNEL_AGENT, first_path, &err), CHANNEL_OK);
	ck_assert_int_eq(channel_prepare(&c, message, false, &at, &err), CHANNEL_OK);
	channel_send(&c, message, &at, &err);
	wait_until(records("m-1") == 1);
	kill_holder();
	ck_assert_int_eq(channel_send(&c, message, &at, &err), CHANNEL_OK);
	channel_close(&c);
	ck_assert_int_eq(probe(first_path, "m-1", &at, &err), FOUND_WHOLE);
	restart();
	ck_assert_int_eq(probe(first_path, "m-1", &at, &err), FOUND_WHOLE);
	ck_assert_int_eq(probe(first_path, "m-2", &at, &err), FOUND_UNKNOWN);
}
END_TEST

/* An end that was recorded proves that what is not there was not written. */
START_TEST(an_end_is_a_proof)
{
	struct attempt at = { 0 };
	struct stat st;
	struct err err;

	begin("wait-for-line", "exit 0");
	ck_assert_int_eq(stat(path_of("dev.ndjson"), &st), 0);
	at.dev = st.st_dev;
	at.ino = st.st_ino;
	ck_assert_int_eq(probe(first_path, "m-1", &at, &err), FOUND_NOTHING);
	child_end_input(agent);
	wait_until(agent->life == CHILD_OVER);
	ck_assert_int_eq(probe(first_path, "m-1", &at, &err), FOUND_NOTHING);
	restart();
	ck_assert_int_eq(probe(first_path, "m-1", &at, &err), FOUND_NOTHING);
	at.ino++;
	ck_assert_int_eq(probe(first_path, "m-1", &at, &err), FOUND_TROUBLE);
}
END_TEST

/* What an agent says, or is told, is no record. */
START_TEST(records_cannot_be_forged)
{
	struct attempt at;
	struct err err;

	agent = start("dev",
		      "say {\"x\":1}\t{\"gavel\":\"to\",\"id\":\"m-1\",\"t\":1}",
		      "say \t{\"gavel\":\"to\",\"id\":\"m-1\",\"t\":1}",
		      "say \t{\"gavel\":\"exit\",\"n\":1,\"code\":0,\"t\":1}", "echo-back", NULL);
	holder = parent_of(agent->pid);
	wait_until(has("dev.ndjson", "\"exit\""));
	ck_assert_int_eq(deliver("m-0", STR("{\"gavel\":\"to\",\"id\":\"m-1\",\"t\":1}\n"), 1000, &at,
				 &err), CHANNEL_OK);
	ck_assert_int_eq(deliver("m-2", STR("{\"gavel\":\"exit\",\"n\":1,\"code\":0,\"t\":1}\n"), 1000,
				 &at, &err), CHANNEL_OK);
	wait_until(has("dev.ndjson", "\n{\"gavel\":\"exit\""));
	at.offset = 0;
	ck_assert_int_eq(probe(first_path, "m-1", &at, &err), FOUND_NOTHING);
	kill_holder();
	ck_assert_int_eq(probe(first_path, "m-1", &at, &err), FOUND_UNKNOWN);
}
END_TEST

/* ---- every call ---- */

enum strike { STRIKE_EIO, STRIKE_ENOSPC, STRIKE_EINTR, STRIKE_KILL, STRIKE_SHORT_KILL, STRIKES };

static struct io real;
static unsigned calls, fault_at;
static enum strike fault;

static bool strikes(void)
{
	static const int numbers[] = { EIO, ENOSPC, EINTR };

	if (++calls != fault_at || fault == STRIKE_SHORT_KILL)
		return false;
	if (fault == STRIKE_KILL)
		_exit(9);
	errno = numbers[fault];
	return true;
}

static int fault_open(const char *p, int f, mode_t m) { return strikes() ? -1 : real.open(p, f, m); }
static int fault_fstat(int fd, struct stat *st) { return strikes() ? -1 : real.fstat(fd, st); }
static int fault_lstat(const char *p, struct stat *st) { return strikes() ? -1 : real.lstat(p, st); }
static int fault_poll(struct pollfd *p, nfds_t n, int ms) { return strikes() ? -1 : real.poll(p, n, ms); }
static ssize_t fault_read(int fd, void *p, size_t n) { return strikes() ? -1 : real.read(fd, p, n); }
static int fault_close(int fd) { bool fails = strikes(); real.close(fd); return fails ? -1 : 0; }
static ssize_t fault_pread(int fd, void *p, size_t n, off_t at)
{
	return strikes() ? -1 : real.pread(fd, p, n, at);
}
static ssize_t fault_send(int fd, const void *p, size_t n)
{
	if (strikes())
		return -1;
	if (calls == fault_at && fault == STRIKE_SHORT_KILL) {
		(void)!real.send(fd, p, (n + 1) / 2);
		_exit(9);
	}
	return real.send(fd, p, n);
}

static void plant(enum strike kind, unsigned at)
{
	io_reset();
	real = io;
	calls = 0;
	fault = kind;
	fault_at = at;
	io.open = fault_open;
	io.fstat = fault_fstat;
	io.lstat = fault_lstat;
	io.poll = fault_poll;
	io.read = fault_read;
	io.close = fault_close;
	io.pread = fault_pread;
	io.send = fault_send;
}

/* What outlives the process that is killed. */
struct journal {
	bool attempted, ended;
	struct attempt at;
	enum channel_result result;
	unsigned calls;
};
static struct journal *journal;

/* As the desk does it: the attempt is safe before anything is sent. */
static void send_journaled(const char *id, struct str bytes)
{
	struct channel c = { .fd = -1, .wait_ms = PATIENCE_MS, .id = id };
	struct err err;
	enum channel_result r = channel_open(&c, CHANNEL_AGENT, first_path, &err);

	if (r == CHANNEL_OK)
		r = channel_prepare(&c, bytes, false, &journal->at, &err);
	if (r == CHANNEL_OK) {
		journal->attempted = true;
		r = channel_send(&c, bytes, &journal->at, &err);
	}
	channel_close(&c);
	journal->result = r;
	journal->ended = true;
	journal->calls = calls;
}

static void send_with_fault(const char *id, struct str bytes, enum strike kind, unsigned at)
{
	pid_t pid;

	memset(journal, 0, sizeof(*journal));
	if (kind < STRIKE_KILL) {
		plant(kind, at);
		send_journaled(id, bytes);
		io_reset();
		return;
	}
	pid = fork();
	if (pid == 0) {
		plant(kind, at);
		send_journaled(id, bytes);
		_exit(0);
	}
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}

/* What the desk does with a letter whose end is not known, or that failed. */
static void send_again(const char *id, struct str bytes, const char *when)
{
	struct channel c = { .fd = -1, .wait_ms = PATIENCE_MS, .id = id };
	bool doubt = journal->attempted &&
		     (!journal->ended || journal->result == CHANNEL_UNCERTAIN);
	enum channel_found found = FOUND_NOTHING;
	struct err err = { "" };

	ck_assert_msg(channel_open(&c, CHANNEL_AGENT, first_path, &err) == CHANNEL_OK, "%s: %s", when,
		      err.text);
	if (doubt)
		found = channel_probe(&c, bytes, &journal->at, &err);
	ck_assert_msg(found == FOUND_NOTHING || found == FOUND_WHOLE, "%s: found %d: %s", when, found,
		      err.text);
	if (found == FOUND_NOTHING)
		ck_assert_msg(channel_prepare(&c, bytes, false, &journal->at, &err) == CHANNEL_OK,
			      "%s: %s", when, err.text);
	ck_assert_msg(channel_send(&c, bytes, &journal->at, &err) == CHANNEL_OK, "%s: %s", when,
		      err.text);
	channel_close(&c);
}

/* One message with a fault in its at-th call; false: it has fewer. */
static bool survives(enum strike kind, unsigned at, size_t n)
{
	char id[32], other[32], when[64];
	struct buf line = { 0 };
	unsigned had;

	snprintf(id, sizeof(id), "m-%d-%u-%zu", kind, at, n);
	snprintf(other, sizeof(other), "o-%d-%u-%zu", kind, at, n);
	snprintf(when, sizeof(when), "fault %d at call %u", kind, at);
	buf_printf(&line, "<%s>", id);
	while (line.n + 1 < n)
		buf_addc(&line, 'x');
	buf_addc(&line, '\n');
	send_with_fault(id, buf_str(&line), kind, at);
	/* another message: the holder has forgotten the first one, and done all that it had of it */
	assert_delivers(other, STR("{}\n"));
	had = records(id);
	ck_assert_msg(had <= 1, "%s: %u times", when, had);
	if (journal->ended && journal->result == CHANNEL_OK)
		ck_assert_msg(had == 1, "%s: said to be sent, but it is not", when);
	if (journal->ended && journal->result == CHANNEL_FAILED)
		ck_assert_msg(had == 0, "%s: said not to be sent, but it is", when);
	if (!journal->ended || journal->result != CHANNEL_OK)
		send_again(id, buf_str(&line), when);
	ck_assert_msg(records(id) == 1, "%s: %u times", when, records(id));
	buf_release(&line);
	return !journal->ended || journal->calls >= at;
}

/* The agent's own view: each message once. */
static void assert_echoes(void)
{
	assert_delivers("last", STR("{\"last\":1}\n"));
	wait_until(has("dev.ndjson", "\n{\"last\":1}\n"));
	for (char *at = text.p; (at = strstr(at, "\n<m-")); at++) {
		size_t n = strcspn(at + 1, ">") + 2;
		struct str mark = str_make(at, n);

		ck_assert_msg(str_find(str_from(buf_str(&text), (size_t)(at - text.p) + n), mark, 0) <
				      0, "%.*s was said twice", STR_ARG(mark));
	}
}

static void try_every_call(size_t bytes)
{
	unsigned tried = 0;

	journal = mmap(NULL, sizeof(*journal), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		       0);
	ck_assert_ptr_ne(journal, MAP_FAILED);
	begin("echo-back", NULL);
	for (enum strike kind = 0; kind < STRIKES; kind++)
		for (unsigned at = 1; at < 40 && survives(kind, at, bytes); at++)
			tried++;
	ck_assert_uint_gt(tried, 40);
	assert_echoes();
}

START_TEST(every_call_fails_once)
{
	try_every_call(40);
}
END_TEST

START_TEST(every_call_of_a_long_message_fails_once)
{
	try_every_call(5000);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("channel_agent");
	TCase *t;

	t = unit_cases(suite, "delivery", set_up, tear_down);
	tcase_add_test(t, a_message_is_written_once_and_recorded);
	tcase_add_test(t, the_same_again_is_not_written_again);
	tcase_add_test(t, long_lines);
	tcase_add_test(t, lines_only);
	tcase_add_test(t, no_other_incarnation_gets_it);
	tcase_add_test(t, who_has_ended_gets_nothing);
	tcase_add_test(t, a_closed_input_takes_nothing);
	tcase_add_test(t, after_the_end_of_input_nothing_is_taken);

	t = unit_cases(suite, "slow", set_up, tear_down);
	tcase_add_test(t, who_does_not_read_gets_nothing_more);
	tcase_add_test(t, what_the_holder_has_goes_on_without_us);
	tcase_add_test(t, a_stopped_holder_is_not_waited_for);
	tcase_add_test(t, a_holder_that_stops_in_between);
	tcase_add_test(t, a_holder_that_stops_takes_half);
	tcase_add_test(t, a_long_line_without_waiting);
	tcase_add_test(t, too_many_clients_are_no_end);

	t = unit_cases(suite, "killed", set_up, tear_down);
	tcase_add_test(t, killed_before_the_line);
	tcase_add_test(t, killed_with_the_line);
	tcase_add_test(t, killed_after_the_record);
	tcase_add_test(t, an_end_is_a_proof);
	tcase_add_test(t, records_cannot_be_forged);

	t = unit_cases(suite, "faults", set_up, tear_down);
	tcase_add_test(t, every_call_fails_once);
	tcase_add_test(t, every_call_of_a_long_message_fails_once);
	return unit_run(suite);
}
