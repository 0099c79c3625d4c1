/* Lines to a running agent: one in flight, never twice, never to another incarnation, and nobody
 * waits. The test plays the agent and the clock. */
#include "base/io.h"
#include "source/child.h"
#include "decide/output_queue.h"
#include "decide/records.h"
#include "loop/loop.h"

#include "unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const char first_path[] = "agent:dev#1-0000cafe", next_path[] = "agent:dev#2-0000cafe";

static struct child_input input;
static int agent_fd;
static const char *agent_path;
static struct buf got;   /* what the agent has read */
static struct buf taken; /* what the desk says that it took */
static struct desk desk;
static char folder[64];
static int64_t now; /* when a test began, as the desk has it, and what the test adds */

static struct child_input *find(void *ctx, const char *wanted, struct err *err)
{
	(void)ctx;
	if (strcmp(wanted, agent_path) == 0 && input.fd >= 0)
		return &input;
	err_set(err, "dev: %s", strcmp(wanted, agent_path) ? "was restarted" : "has ended");
	return NULL;
}

static void agent_begin(const char *path)
{
	int fds[2];

	ck_assert_int_eq(pipe2(fds, O_CLOEXEC | O_NONBLOCK), 0);
	agent_fd = fds[0];
	input = (struct child_input){ .fd = fds[1] };
	agent_path = path;
}

static void agent_end(void)
{
	if (agent_fd >= 0)
		close(agent_fd);
	if (input.fd >= 0)
		close(input.fd);
	agent_fd = input.fd = -1;
}

/* At most n bytes. */
static void agent_read(size_t n)
{
	char block[1 << 16];
	ssize_t done = read(agent_fd, block, n < sizeof(block) ? n : sizeof(block));

	if (done > 0)
		buf_add(&got, block, (size_t)done);
}

static void way_path(void *ctx, uint32_t message, struct buf *out)
{
	(void)ctx;
	(void)message;
	buf_adds(out, agent_path);
}

static void way_sent(void *ctx, struct str path, struct str line)
{
	(void)ctx;
	(void)path;
	buf_add_str(&taken, line);
}

static const struct desk_agent way = { way_path, way_sent, NULL };

static void open_desk(void)
{
	char source[128];

	snprintf(source, sizeof(source), "%s/dev.ndjson", folder);
	desk = (struct desk){ 0 };
	desk_open(&desk, folder, source, true);
	desk.agent = &way;
}

static void set_up(void)
{
	io_reset();
	now = loop_now_ms();
	strcpy(folder, "/tmp/gavel-test-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
	channel_agents = (struct channel_agents){ find, NULL };
	agent_begin(first_path);
	open_desk();
}

static void tear_down(void)
{
	char command[128];

	io_reset();
	desk_close(&desk);
	agent_end();
	buf_release(&got);
	buf_release(&taken);
	snprintf(command, sizeof(command), "/bin/rm -rf '%s'", folder);
	ck_assert_int_eq(system(command), 0);
}

static int try_send(const char *bytes, uint32_t *number, struct err *err)
{
	struct letter l = { .dialect = DIALECT_ORCHESTRATOR,
			    .channel = CHANNEL_CHILD,
			    .path = str_of(first_path),
			    .bytes = str_of(bytes),
			    .to = STR("dev") };

	return desk_send_all(&desk, &l, 1, number, err);
}

static uint32_t send_letter(const char *bytes)
{
	uint32_t number;
	struct err err;

	ck_assert_msg(try_send(bytes, &number, &err) == 0, "%s", err.text);
	return number;
}

static const struct letter *letter(uint32_t n)
{
	return &desk.letters.v[n];
}

START_TEST(sent_once_it_was_read)
{
	uint32_t n = send_letter("{\"a\":1}\n");

	ck_assert_int_eq(letter(n)->state, LETTER_ATTEMPT);
	ck_assert(!desk_tick(&desk, now));
	ck_assert_int_ge(desk_queue_wait_ms(&desk, now), 0);
	agent_read(3);
	ck_assert(!desk_tick(&desk, now));
	agent_read(100);
	ck_assert(desk_tick(&desk, now));
	ck_assert_int_eq(letter(n)->state, LETTER_SENT);
	assert_str(buf_str(&got), "{\"a\":1}\n");
	assert_str(buf_str(&taken), "{\"a\":1}\n");
	ck_assert_int_eq(desk_queue_wait_ms(&desk, now), -1);
}
END_TEST

/* Decisions first, each after the one before was taken. */
START_TEST(one_in_flight)
{
	uint32_t a, b;

	ck_assert(desk_queue_line(&desk, str_of(first_path), STR("told 1\n")));
	ck_assert(desk_tick(&desk, now) == false);
	a = send_letter("one\n");
	b = send_letter("two\n");
	ck_assert(desk_queue_line(&desk, str_of(first_path), STR("told 2\n")));
	ck_assert_int_eq(letter(a)->state, LETTER_INTENT);
	for (int i = 0; i < 4; i++) {
		int waits;

		desk_tick(&desk, now);
		ck_assert_int_eq(io.unread(agent_fd, &waits), 0);
		ck_assert_int_eq(waits, i == 0 || i == 3 ? 7 : 4);
		agent_read(100);
	}
	desk_tick(&desk, now);
	assert_str(buf_str(&got), "told 1\none\ntwo\ntold 2\n");
	ck_assert(str_eq(buf_str(&got), buf_str(&taken)));
	ck_assert_int_eq(letter(a)->state, LETTER_SENT);
	ck_assert_int_eq(letter(b)->state, LETTER_SENT);
}
END_TEST

START_TEST(not_reading_is_held_and_goes_on)
{
	uint32_t a = send_letter("one\n"), b = send_letter("two\n");

	now += INT64_C(1000000000); /* much later than it was sent */
	desk_tick(&desk, now);
	ck_assert_int_eq(letter(a)->state, LETTER_HELD);
	ck_assert(letter(a)->uncertain);
	ck_assert_msg(str_find(letter(a)->why, STR("read"), 0) >= 0, "%.*s", STR_ARG(letter(a)->why));
	ck_assert(!desk_tick(&desk, now += 60000)); /* told once */
	ck_assert_int_eq(letter(b)->state, LETTER_INTENT);
	agent_read(100);
	ck_assert(desk_tick(&desk, now));
	ck_assert_int_eq(letter(a)->state, LETTER_SENT);
	agent_read(100);
	desk_tick(&desk, now);
	ck_assert_int_eq(letter(b)->state, LETTER_SENT);
	assert_str(buf_str(&got), "one\ntwo\n");
}
END_TEST

START_TEST(ends_without_reading)
{
	uint32_t a = send_letter("one\n"), b = send_letter("two\n");
	struct err err;

	ck_assert(desk_queue_line(&desk, str_of(first_path), STR("told\n")));
	agent_end();
	agent_begin(next_path);
	ck_assert(desk_tick(&desk, now));
	for (uint32_t n = a; n <= b; n++) {
		ck_assert_int_eq(letter(n)->state, LETTER_HELD);
		ck_assert(!letter(n)->uncertain);
		ck_assert(letter_is_lost(letter(n)));
	}
	ck_assert(!desk_tick(&desk, now));
	agent_read(100);
	ck_assert_uint_eq(got.n, 0);
	ck_assert_uint_eq(taken.n, 0);
	ck_assert_int_eq(desk_resend(&desk, a, &err), 0);
	ck_assert_int_eq(letter(a)->state, LETTER_HELD);
	ck_assert_int_eq(desk_give_up(&desk, a, false, &err), 0);
	ck_assert_int_eq(letter(a)->state, LETTER_VOID);
}
END_TEST

START_TEST(ends_in_the_middle)
{
	uint32_t a = send_letter("one and a half\n");
	struct err err;

	agent_read(3);
	agent_end();
	ck_assert(desk_tick(&desk, now));
	ck_assert_int_eq(letter(a)->state, LETTER_HELD);
	ck_assert(letter(a)->uncertain);
	ck_assert_msg(str_find(letter(a)->why, STR("3 of 15"), 0) >= 0, "%.*s",
		      STR_ARG(letter(a)->why));
	ck_assert_int_eq(desk_give_up(&desk, a, false, &err), 0);
}
END_TEST

START_TEST(reads_all_and_ends)
{
	uint32_t a = send_letter("one\n");

	agent_read(100);
	agent_end();
	ck_assert(desk_tick(&desk, now));
	ck_assert_int_eq(letter(a)->state, LETTER_SENT);
	assert_str(buf_str(&taken), "one\n");
}
END_TEST

/* More than a pipe holds: it goes on where it stopped. */
START_TEST(larger_than_the_pipe)
{
	struct buf line = { 0 };
	uint32_t a;

	while (line.n < 300000)
		buf_addc(&line, (char)('a' + line.n % 26));
	buf_addc(&line, '\n');
	a = send_letter(line.p);
	for (int i = 0; i < 100 && letter(a)->state != LETTER_SENT; i++) {
		agent_read(50000);
		desk_tick(&desk, now);
	}
	ck_assert_int_eq(letter(a)->state, LETTER_SENT);
	ck_assert(str_eq(buf_str(&got), buf_str(&line)));
	buf_release(&line);
}
END_TEST

START_TEST(only_so_much_waits)
{
	int n = 0;

	while (desk_queue_line(&desk, str_of(first_path), STR("told\n")))
		n++;
	ck_assert_int_eq(n, OUTPUT_QUEUE_MAX_LINES);
	agent_end();
	desk_tick(&desk, now);
	ck_assert_int_eq(desk_queue_wait_ms(&desk, now), -1);
	ck_assert(desk_queue_line(&desk, str_of(first_path), STR("told\n")));
}
END_TEST

/* What another gavel left of a run: its agents are gone. */
START_TEST(recovery_takes_back)
{
	uint32_t a = send_letter("one\n");
	struct err err = { { 0 } };

	ck_assert_int_eq(letter(a)->state, LETTER_ATTEMPT);
	desk_close(&desk);
	channel_agents = (struct channel_agents){ 0 };
	open_desk();
	desk.agent = NULL;
	ck_assert_uint_eq(desk_unfinished(&desk), 1);
	ck_assert(letter_is_lost(letter(0)));
	ck_assert_uint_eq(desk_recover(&desk, true, &err), 0);
	ck_assert_int_eq(letter(0)->state, LETTER_VOID);
}
END_TEST

/* ---- faults ---- */

static struct io real;
static unsigned calls, fault_at;

static bool faulty(void)
{
	errno = EIO;
	return ++calls == fault_at;
}

static int fault_dup(int fd) { return faulty() ? -1 : real.dup(fd); }
static int fault_fstat(int fd, struct stat *st) { return faulty() ? -1 : real.fstat(fd, st); }
static int fault_unread(int fd, int *n) { return faulty() ? -1 : real.unread(fd, n); }
static int fault_sync(int fd) { return faulty() ? -1 : real.fdatasync(fd); }
static int fault_open(const char *p, int f, mode_t m) { return faulty() ? -1 : real.open(p, f, m); }
static ssize_t fault_write(int fd, const void *p, size_t n)
{
	return faulty() ? -1 : real.write(fd, p, n > 9 ? n / 2 : n);
}

static void plant(unsigned at)
{
	io_reset();
	real = io;
	calls = 0;
	fault_at = at;
	io.dup = fault_dup;
	io.fstat = fault_fstat;
	io.unread = fault_unread;
	io.fdatasync = fault_sync;
	io.open = fault_open;
	io.write = fault_write;
}

/* Whatever fails, and when: the agent has one copy or none, and what it has is in the journal. */
START_TEST(every_call_fails_once)
{
	static const char line[] = "{\"type\":\"response:success\"}\n";
	unsigned at = 0;
	bool reached;

	do {
		uint32_t n;
		struct err err;

		tear_down();
		set_up();
		plant(++at);
		try_send(line, &n, &err);
		for (int i = 0; i < 5; i++) {
			agent_read(10);
			desk_tick(&desk, now);
		}
		reached = calls >= at;
		plant(0);
		for (int i = 0; i < 10; i++) {
			desk_tick(&desk, now);
			agent_read(100);
		}
		desk_close(&desk);
		desk = (struct desk){ 0 };
		open_desk();
		if (got.n) {
			ck_assert_msg(str_starts(STR(line), buf_str(&got)), "call %u: %.*s", at,
				      STR_ARG(buf_str(&got)));
			ck_assert_msg(desk.letters.n == 1, "call %u: %u letters", at, desk.letters.n);
			ck_assert_msg(letter(0)->tried, "call %u", at);
			ck_assert(str_eq(letter(0)->bytes, STR(line)));
		}
		if (desk.letters.n && letter(0)->state == LETTER_SENT)
			ck_assert_msg(str_eq(buf_str(&got), STR(line)), "call %u", at);
	} while (reached);
	ck_assert_uint_gt(at, 20);
}
END_TEST

static ssize_t full_write(int fd, const void *p, size_t n)
{
	struct stat st;

	if (real.fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return real.write(fd, p, n);
	errno = ENOSPC;
	return -1;
}

/* What was taken is taken once, also where nobody can write that down yet. */
START_TEST(the_disk_stays_full)
{
	uint32_t n = send_letter("one\n");

	real = io;
	io.write = full_write;
	agent_read(100);
	for (int i = 0; i < 3; i++)
		ck_assert(!desk_tick(&desk, now));
	ck_assert_int_eq(letter(n)->state, LETTER_ATTEMPT);
	ck_assert_int_ge(desk_queue_wait_ms(&desk, now), 0);
	io_reset();
	ck_assert(desk_tick(&desk, now));
	ck_assert_int_eq(letter(n)->state, LETTER_SENT);
	agent_read(100);
	assert_str(buf_str(&got), "one\n");
	assert_str(buf_str(&taken), "one\n");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("post");
	TCase *t = tcase_create("post");

	tcase_add_checked_fixture(t, set_up, tear_down);
	tcase_set_timeout(t, 60);
	tcase_add_test(t, sent_once_it_was_read);
	tcase_add_test(t, one_in_flight);
	tcase_add_test(t, not_reading_is_held_and_goes_on);
	tcase_add_test(t, ends_without_reading);
	tcase_add_test(t, ends_in_the_middle);
	tcase_add_test(t, reads_all_and_ends);
	tcase_add_test(t, larger_than_the_pipe);
	tcase_add_test(t, only_so_much_waits);
	tcase_add_test(t, recovery_takes_back);
	tcase_add_test(t, every_call_fails_once);
	tcase_add_test(t, the_disk_stays_full);
	suite_add_tcase(suite, t);
	return unit_run(suite);
}
