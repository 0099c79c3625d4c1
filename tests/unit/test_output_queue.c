/* The desk's queue to a running agent, with a real holder: letters first, one in flight, never twice,
 * never to another incarnation, and nobody waits. The clock of the queue is the test's. */
#include "channel/channel.h"
#include "decide/output_queue.h"
#include "decide/records.h"
#include "loop/loop.h"
#include "source/holder_link.h"

#include "held.h"

static struct child *agent;
static pid_t holder;
static char first_path[128];
static struct desk desk;
static int64_t now; /* real, and what a test adds */

static void way_path(void *ctx, uint32_t message, struct buf *out)
{
	(void)ctx;
	(void)message;
	if (agent->life == CHILD_RUNS)
		buf_adds(out, first_path);
}

static const struct desk_agent way = { way_path, true, NULL };

static void open_desk(void)
{
	desk = (struct desk){ 0 };
	desk_open(&desk, path_of("journals"), path_of("dev.ndjson"), true);
	ck_assert_msg(desk.access == DESK_WRITES, "%s", desk.why.text);
	desk.agent = &way;
}

static void set_up(void)
{
	held_open();
	snprintf(first_path, sizeof(first_path), "%s/dev.ndjson#1", folder);
	now = loop_now_ms();
}

static void tear_down(void)
{
	io_reset();
	desk_close(&desk);
	held_close();
}

static void begin(const char *line, const char *next)
{
	agent = start("dev", line, next, NULL);
	holder = parent_of(agent->pid);
	open_desk();
}

static void tick(int64_t until)
{
	ck_assert_msg(unit_now_ms() < until, "it took too long: letter %u is %s, %.*s",
		      desk.letters.n - 1,
		      desk.letters.n ? letter_state_name(desk.letters.v[desk.letters.n - 1].state) : "",
		      STR_ARG(desk.letters.n ? desk.letters.v[desk.letters.n - 1].why : STR_NONE));
	poll(NULL, 0, 2);
	desk_tick(&desk, now += 20);
	children_tick(pool, unit_now_ms());
}

#define tick_until(condition) \
	for (int64_t until_ = unit_now_ms() + PATIENCE_MS; !(condition);) \
	tick(until_)

static int try_send(const char *bytes, uint32_t *number, struct err *err)
{
	struct letter l = { .dialect = DIALECT_ORCHESTRATOR,
			    .channel = CHANNEL_AGENT,
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

static unsigned records(uint32_t n)
{
	char mark[128];

	snprintf(mark, sizeof(mark), "\n\t{\"gavel\":\"to\",\"id\":\"%s\"", letter(n)->id);
	return count_in("dev.ndjson", mark);
}

static void assert_state(uint32_t n, enum letter_state state)
{
	ck_assert_msg(letter(n)->state == state, "%u is %s: %.*s", n,
		      letter_state_name(letter(n)->state), STR_ARG(letter(n)->why));
}

/* The journal agrees: what a desk reads from it. */
static void assert_journal(uint32_t n, enum letter_state state)
{
	desk_close(&desk);
	open_desk();
	assert_state(n, state);
}

static void thaw(pid_t pid)
{
	kill(pid, SIGCONT);
}

static char *large_line(void)
{
	static char line[300002];

	for (int i = 0; i < 300000; i++)
		line[i] = (char)('a' + i % 26);
	line[300000] = '\n';
	return line;
}

/* ---- */

START_TEST(sent_once_it_is_recorded)
{
	uint32_t n;

	begin("echo-back", NULL);
	n = send_letter("{\"a\":1}\n");
	ck_assert(letter(n)->state == LETTER_ATTEMPT || letter(n)->state == LETTER_SENT);
	tick_until(letter(n)->state == LETTER_SENT);
	ck_assert_uint_eq(records(n), 1);
	wait_until(strcmp(read_said("dev.ndjson"), "{\"a\":1}\n") == 0);
	ck_assert_int_eq(desk_queue_wait_ms(&desk, now), -1);
	assert_journal(n, LETTER_SENT);
}
END_TEST

/* Decisions first, each after the one before was read. */
START_TEST(one_in_flight)
{
	uint32_t a, b;

	begin("echo-back", NULL);
	freeze(agent->pid);
	ck_assert(desk_queue_line(&desk, str_of(first_path), STR("told 1\n")));
	tick_until(has("dev.ndjson", "told 1\n"));
	ck_assert(desk_queue_line(&desk, str_of(first_path), STR("told 2\n")));
	a = send_letter("one\n");
	b = send_letter("two\n");
	for (int i = 0; i < 20; i++)
		desk_tick(&desk, now);
	assert_state(a, LETTER_INTENT);
	assert_state(b, LETTER_INTENT);
	ck_assert_int_ge(desk_queue_wait_ms(&desk, now), 0);
	thaw(agent->pid);
	tick_until(desk_queue_wait_ms(&desk, now) < 0);
	assert_state(a, LETTER_SENT);
	assert_state(b, LETTER_SENT);
	wait_until(strcmp(read_said("dev.ndjson"), "told 1\none\ntwo\ntold 2\n") == 0);
}
END_TEST

START_TEST(not_reading_is_held_and_goes_on)
{
	uint32_t a, b;

	begin("echo-back", NULL);
	freeze(agent->pid);
	a = send_letter("one\n");
	tick_until(letter(a)->state == LETTER_SENT); /* in the pipe */
	b = send_letter("two\n");
	desk_tick(&desk, now);
	assert_state(b, LETTER_INTENT);
	desk_tick(&desk, now += OUTPUT_QUEUE_HELD_MS - 1000);
	assert_state(b, LETTER_INTENT);
	ck_assert(desk_tick(&desk, now += 2000));
	assert_state(b, LETTER_HELD);
	ck_assert(!letter(b)->uncertain && !letter(b)->lost);
	ck_assert_msg(str_find(letter(b)->why, STR("read"), 0) >= 0, "%.*s", STR_ARG(letter(b)->why));
	ck_assert(!desk_tick(&desk, now += 60000)); /* told once */
	ck_assert_uint_eq(records(b), 0);
	thaw(agent->pid);
	tick_until(letter(b)->state == LETTER_SENT);
	ck_assert_uint_eq(records(a), 1);
	ck_assert_uint_eq(records(b), 1);
	assert_journal(b, LETTER_SENT);
}
END_TEST

/* More than a pipe holds: it is with the holder, and nobody knows until it is read. */
START_TEST(larger_than_the_pipe)
{
	uint32_t a;

	begin("echo-back", NULL);
	freeze(agent->pid);
	a = send_letter(large_line());
	for (int i = 0; i < 20; i++)
		desk_tick(&desk, now);
	assert_state(a, LETTER_ATTEMPT);
	ck_assert(desk_tick(&desk, now += 60000));
	assert_state(a, LETTER_HELD);
	ck_assert(letter(a)->uncertain && !letter(a)->lost);
	ck_assert_uint_eq(records(a), 0);
	thaw(agent->pid);
	tick_until(letter(a)->state == LETTER_SENT);
	ck_assert_uint_eq(records(a), 1);
	wait_until(read_said("dev.ndjson") && text.n >= 300001);
	ck_assert(str_eq(buf_str(&text), str_of(large_line())));
}
END_TEST

/* What is continued may be sent when gavel dies: it must not be called certainly unsent. */
START_TEST(half_handed_over_is_not_certain)
{
	static char line[(3 << 20) + 1];
	uint32_t a, b;

	memset(line, 'x', sizeof(line) - 2);
	line[sizeof(line) - 2] = '\n';
	begin("echo-back", NULL);
	a = send_letter("one\n");
	tick_until(letter(a)->state == LETTER_SENT);
	b = send_letter(line);
	freeze(holder);
	desk_tick(&desk, now);
	assert_state(b, LETTER_ATTEMPT);
	desk_tick(&desk, now += 60000);
	assert_state(b, LETTER_HELD);
	ck_assert(letter(b)->uncertain);
	thaw(holder);
	tick_until(letter(b)->state == LETTER_SENT);
	ck_assert_uint_eq(records(b), 1);
}
END_TEST

START_TEST(ends_without_reading)
{
	uint32_t a, b;
	struct err err;

	begin("echo-back", NULL);
	freeze(agent->pid);
	a = send_letter("one\n");
	tick_until(letter(a)->state == LETTER_SENT);
	b = send_letter("two\n");
	ck_assert(desk_queue_line(&desk, str_of(first_path), STR("told\n")));
	kill(agent->pid, SIGKILL);
	tick_until(letter(b)->state == LETTER_HELD);
	ck_assert(!letter(b)->uncertain);
	ck_assert(letter_is_lost(&desk, letter(b)));
	wait_until(agent->life == CHILD_OVER);
	ck_assert_int_eq(child_restart(agent, unit_now_ms(), 0, &err), 0);
	keep_both(agent);
	ck_assert(!desk_tick(&desk, now));
	ck_assert_int_eq(desk_queue_wait_ms(&desk, now), -1);
	ck_assert_int_eq(desk_resend(&desk, b, &err), 0);
	assert_state(b, LETTER_HELD);
	ck_assert_int_eq(desk_give_up(&desk, b, false, &err), 0);
	assert_state(b, LETTER_VOID);
	ck_assert_uint_eq(records(b), 0);
	ck_assert(!has("dev.ndjson", "told"));
	assert_journal(b, LETTER_VOID);
}
END_TEST

START_TEST(ends_in_the_middle)
{
	uint32_t a;
	struct err err;

	begin("read-slow 3", "exit 0");
	a = send_letter(large_line());
	tick_until(letter(a)->state == LETTER_HELD);
	ck_assert_msg(letter(a)->uncertain, "%.*s", STR_ARG(letter(a)->why));
	ck_assert_uint_eq(records(a), 0);
	wait_until(agent->life == CHILD_OVER);
	ck_assert(letter_is_lost(&desk, letter(a)));
	ck_assert_int_eq(desk_give_up(&desk, a, false, &err), 0);
}
END_TEST

/* No other attempt could end otherwise. */
START_TEST(closed_input_is_final)
{
	uint32_t a;

	begin("close-input", "stall");
	wait_until(has("dev.ndjson", "closed"));
	a = send_letter("one\n");
	ck_assert(desk_queue_line(&desk, str_of(first_path), STR("told\n")));
	tick_until(desk_queue_wait_ms(&desk, now) < 0);
	assert_state(a, LETTER_HELD);
	ck_assert(!letter(a)->uncertain && letter(a)->lost);
	assert_journal(a, LETTER_HELD);
	ck_assert(!letter(a)->uncertain);
}
END_TEST

/* An end that nobody saw: who opens the desk later holds what was sent and not read. */
START_TEST(unread_is_held_later)
{
	struct capture_end end;
	uint32_t a;

	begin("stall", NULL);
	a = send_letter("one\n");
	tick_until(letter(a)->state == LETTER_SENT);
	desk_close(&desk);
	kill(agent->pid, SIGKILL);
	wait_until(agent->life == CHILD_OVER);
	open_desk();
	capture_read_end(agent->out.source.fd, 0, &end);
	desk_hold_unread(&desk, &end);
	assert_state(a, LETTER_HELD);
	ck_assert(!letter(a)->uncertain && letter(a)->lost);
	assert_journal(a, LETTER_HELD);
}
END_TEST

/* Whether the holder has all of the letter. */
static bool holder_has(uint32_t n)
{
	struct holder_greeting h = { 0 };
	struct err err;

	ck_assert_int_eq(holder_ask(path_of("dev.ndjson"), NULL, &h, &err), HOLDER_RUNS);
	return strcmp(h.last, letter(n)->id) == 0;
}

START_TEST(a_killed_holder_leaves_doubt)
{
	struct err err;
	uint32_t a;

	begin("echo-back", NULL);
	freeze(agent->pid);
	a = send_letter(large_line());
	tick_until(holder_has(a));
	assert_state(a, LETTER_ATTEMPT);
	/* what the holder has cannot be taken back */
	ck_assert_int_lt(desk_give_up(&desk, a, true, &err), 0);
	assert_state(a, LETTER_ATTEMPT);
	kill(holder, SIGKILL);
	tick_until(letter(a)->state == LETTER_HELD);
	ck_assert(letter(a)->uncertain && letter(a)->lost);
	assert_journal(a, LETTER_HELD);
	ck_assert(letter(a)->uncertain);
}
END_TEST

START_TEST(a_stopped_holder_is_waited_for)
{
	int64_t began;
	uint32_t a;

	begin("echo-back", NULL);
	freeze(holder);
	began = unit_now_ms();
	a = send_letter("one\n");
	ck_assert(desk_queue_line(&desk, str_of(first_path), STR("told\n")));
	for (int i = 0; i < 12; i++)
		desk_tick(&desk, now);
	ck_assert_int_lt(unit_now_ms() - began, 150); /* nothing waits for its greeting */
	assert_state(a, LETTER_INTENT);
	desk_tick(&desk, now += 60000);
	assert_state(a, LETTER_HELD);
	ck_assert(!letter(a)->uncertain && !letter(a)->lost);
	ck_assert(!letter_is_lost(&desk, letter(a)));
	thaw(holder);
	tick_until(desk_queue_wait_ms(&desk, now) < 0);
	assert_state(a, LETTER_SENT);
	wait_until(strcmp(read_said("dev.ndjson"), "one\ntold\n") == 0);
}
END_TEST

START_TEST(only_so_much_waits)
{
	int n = 0;

	begin("stall", NULL);
	while (desk_queue_line(&desk, str_of(first_path), STR("told\n")))
		n++;
	ck_assert_int_eq(n, OUTPUT_QUEUE_MAX_LINES);
	kill(agent->pid, SIGKILL);
	wait_until(agent->life == CHILD_OVER);
	desk_tick(&desk, now);
	ck_assert_int_eq(desk_queue_wait_ms(&desk, now), -1);
	ck_assert(desk_queue_line(&desk, str_of(first_path), STR("told\n")));
}
END_TEST

/* Another message meanwhile: its holder remembers only the last one. */
static void tell_another(void)
{
	struct channel c = { .fd = -1, .wait_ms = PATIENCE_MS, .id = "another" };
	struct attempt at;
	struct err err;

	ck_assert_int_eq(channel_open(&c, CHANNEL_AGENT, first_path, &err), CHANNEL_OK);
	ck_assert_int_eq(channel_prepare(&c, STR("another\n"), false, &at, &err), CHANNEL_OK);
	ck_assert_int_eq(channel_send(&c, STR("another\n"), &at, &err), CHANNEL_OK);
	channel_close(&c);
}

static int no_poll(struct pollfd *fds, nfds_t n, int ms)
{
	(void)ms;
	return poll(fds, n, 0);
}

static void crash_after_sending(void)
{
	pid_t pid;

	desk_close(&desk);
	pid = fork();
	if (pid == 0) {
		open_desk();
		io.poll = no_poll;
		send_letter("one\n");
		while (letter(0)->state == LETTER_INTENT)
			desk_tick(&desk, now);
		_exit(9); /* before SENT is recorded */
	}
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	wait_until(has("dev.ndjson", "\n\tone\n"));
}

START_TEST(after_a_crash_it_is_found)
{
	begin("echo-back", NULL);
	crash_after_sending();
	tell_another();
	open_desk();
	tick_until(letter(0)->state == LETTER_SENT);
	ck_assert_uint_eq(records(0), 1);
	tell_another();
	wait_until(has("dev.ndjson", "\nanother\n"));
	ck_assert_str_eq(read_said("dev.ndjson"), "one\nanother\n");
}
END_TEST

/* The same while its holder does not respond, and others are recorded meanwhile. */
START_TEST(after_a_crash_it_is_found_later)
{
	begin("echo-back", NULL);
	crash_after_sending();
	tell_another();
	freeze(holder);
	open_desk();
	assert_state(0, LETTER_ATTEMPT);
	for (int i = 0; i < 5; i++)
		desk_tick(&desk, now += 20);
	assert_state(0, LETTER_ATTEMPT);
	for (int i = 0; i < 40; i++)
		send_letter("more\n");
	thaw(holder);
	tick_until(letter(40)->state == LETTER_SENT);
	assert_state(0, LETTER_SENT);
	ck_assert_uint_eq(records(0), 1);
}
END_TEST

/* The agent has ended meanwhile: what it got is in the capture all the same. */
START_TEST(after_a_crash_and_an_end_it_is_found)
{
	begin("wait-for-line", "exit 0");
	crash_after_sending();
	wait_until(agent->life == CHILD_OVER);
	open_desk();
	tick_until(letter(0)->state == LETTER_SENT || letter(0)->state == LETTER_HELD);
	assert_state(0, LETTER_SENT);
}
END_TEST

/* Its agent has ended, and nothing was sent: it is taken back. */
START_TEST(recovery_takes_back)
{
	struct err err = { { 0 } };
	uint32_t a;

	begin("echo-back", NULL);
	freeze(agent->pid);
	send_letter("one\n");
	a = send_letter("two\n");
	tick_until(letter(0)->state == LETTER_SENT);
	desk_close(&desk);
	kill(agent->pid, SIGKILL);
	wait_until(agent->life == CHILD_OVER);
	open_desk();
	ck_assert_uint_eq(desk_unfinished(&desk), 1);
	ck_assert(letter_is_lost(&desk, letter(a)));
	ck_assert_uint_eq(desk_recover(&desk, true, &err), 0);
	assert_state(a, LETTER_VOID);
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

static int fault_open(const char *p, int f, mode_t m) { return faulty() ? -1 : real.open(p, f, m); }
static int fault_fstat(int fd, struct stat *st) { return faulty() ? -1 : real.fstat(fd, st); }
static int fault_sync(int fd) { return faulty() ? -1 : real.fdatasync(fd); }
static ssize_t fault_send(int fd, const void *p, size_t n) { return faulty() ? -1 : real.send(fd, p, n); }
static ssize_t fault_read(int fd, void *p, size_t n) { return faulty() ? -1 : real.read(fd, p, n); }
static ssize_t fault_pread(int fd, void *p, size_t n, off_t at)
{
	return faulty() ? -1 : real.pread(fd, p, n, at);
}
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
	io.open = fault_open;
	io.fstat = fault_fstat;
	io.fdatasync = fault_sync;
	io.send = fault_send;
	io.read = fault_read;
	io.pread = fault_pread;
	io.write = fault_write;
}

static bool is_settled(uint32_t n)
{
	return desk.letters.n <= n || letter(n)->state == LETTER_SENT ||
	       (letter(n)->state == LETTER_HELD && letter(n)->lost) || desk.access != DESK_WRITES;
}

/* Whatever fails, and when: the agent has one copy or none, and the journal knows which. */
START_TEST(every_call_fails_once)
{
	unsigned at = 0, sent = 0;
	bool reached;

	begin("echo-back", NULL);
	do {
		uint32_t n = desk.letters.n, had;
		char line[64];
		struct err err;

		snprintf(line, sizeof(line), "{\"letter\":%u}\n", ++at);
		plant(at);
		try_send(line, &n, &err);
		for (int i = 0; i < 5 && !is_settled(n); i++) {
			poll(NULL, 0, 1);
			desk_tick(&desk, now);
		}
		reached = calls >= at;
		io_reset();
		tick_until(is_settled(n));
		tell_another();
		desk_close(&desk);
		open_desk();
		snprintf(line, sizeof(line), "\n\t{\"letter\":%u}\n", at);
		had = count_in("dev.ndjson", line);
		ck_assert_msg(had <= 1, "call %u: %u times", at, had);
		if (desk.letters.n <= n) {
			ck_assert_msg(!had, "call %u: sent and not journaled", at);
			continue;
		}
		if (letter(n)->state == LETTER_SENT)
			ck_assert_msg(had == 1, "call %u: SENT, but it is not there", at);
		if (letter(n)->state == LETTER_HELD && !letter(n)->uncertain)
			ck_assert_msg(!had, "call %u: HELD, but it is there", at);
		/* another gavel finishes it */
		tick_until(is_settled(n));
		sent += letter(n)->state == LETTER_SENT;
		ck_assert_msg(letter(n)->state != LETTER_SENT || count_in("dev.ndjson", line) == 1,
			      "call %u", at);
	} while (reached && at < 100);
	ck_assert_uint_gt(at, 15);
	ck_assert_uint_ge(sent + 8, at);
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

/* What was sent is sent once, also where nobody can write that down yet. */
START_TEST(the_disk_stays_full)
{
	uint32_t n;

	begin("echo-back", NULL);
	freeze(holder);
	thaw(holder);
	n = send_letter("one\n");
	if (letter(n)->state != LETTER_SENT) {
		real = io;
		io.write = full_write;
		wait_until(has("dev.ndjson", "\n\tone\n"));
		for (int i = 0; i < 3; i++)
			ck_assert(!desk_tick(&desk, now));
		assert_state(n, LETTER_ATTEMPT);
		ck_assert_int_ge(desk_queue_wait_ms(&desk, now), 0);
		io_reset();
	}
	tick_until(letter(n)->state == LETTER_SENT);
	ck_assert_uint_eq(records(n), 1);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("output_queue");
	TCase *t = unit_cases(suite, "queue", set_up, tear_down);

	tcase_add_test(t, sent_once_it_is_recorded);
	tcase_add_test(t, one_in_flight);
	tcase_add_test(t, not_reading_is_held_and_goes_on);
	tcase_add_test(t, larger_than_the_pipe);
	tcase_add_test(t, half_handed_over_is_not_certain);
	tcase_add_test(t, ends_without_reading);
	tcase_add_test(t, ends_in_the_middle);
	tcase_add_test(t, closed_input_is_final);
	tcase_add_test(t, unread_is_held_later);
	tcase_add_test(t, a_killed_holder_leaves_doubt);
	tcase_add_test(t, a_stopped_holder_is_waited_for);
	tcase_add_test(t, only_so_much_waits);
	tcase_add_test(t, after_a_crash_it_is_found);
	tcase_add_test(t, after_a_crash_it_is_found_later);
	tcase_add_test(t, after_a_crash_and_an_end_it_is_found);
	tcase_add_test(t, recovery_takes_back);
	tcase_add_test(t, every_call_fails_once);
	tcase_add_test(t, the_disk_stays_full);
	return unit_run(suite);
}
