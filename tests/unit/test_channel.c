/* Channels: a message arrives whole, once, or it is said that it did not. Waiting is driven from
 * the channel's own idle call, which plays the reader or lets go of a lock: nothing here sleeps,
 * and what happens while a channel waits happens at a known moment. */
#include "base/io.h"
#include "base/mem.h"
#include "base/sha256.h"
#include "channel/channel.h"
#include "channel/file_locks.h"
#include "source/source.h"

#include "folder.h"
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* ---- faults ---- */

/* What goes wrong; calls that are not named here are the real ones. */
static struct {
	int write_error;
	size_t write_room;     /* bytes that still fit before ENOSPC; SIZE_MAX = any number */
	bool write_grows;      /* fails, yet a byte was written */
	int sync_error;        /* of every fdatasync */
	int folder_sync_error; /* of every fsync */
	int link_error;
	bool link_works; /* and yet it is linked */
	unsigned calls, interrupt_at, exchange_at;
} fault;
static struct io real;

static ssize_t fault_write(int fd, const void *p, size_t n)
{
	if (fault.write_grows) {
		ck_assert_int_eq(real.write(fd, p, 1), 1);
		errno = EIO;
		return -1;
	}
	if (fault.write_error || n > fault.write_room) {
		errno = fault.write_error ? fault.write_error : ENOSPC;
		if (fault.write_error || !fault.write_room)
			return -1;
		n = fault.write_room;
	}
	if (fault.write_room != SIZE_MAX)
		fault.write_room -= n;
	return real.write(fd, p, n);
}

/* Nothing is tested of the disk itself, and waiting for it takes most of the time. */
static int fault_fdatasync(int fd)
{
	(void)fd;
	errno = fault.sync_error;
	return errno ? -1 : 0;
}

static int fault_fsync(int fd)
{
	(void)fd;
	errno = fault.folder_sync_error;
	return errno ? -1 : 0;
}

static int fault_linkat(int from_folder, const char *from, int to_folder, const char *to, int flags)
{
	if (fault.link_error && !fault.link_works) {
		errno = fault.link_error;
		return -1;
	}
	ck_assert_int_eq(real.linkat(from_folder, from, to_folder, to, flags), 0);
	errno = fault.link_error;
	return errno ? -1 : 0;
}

static void plant(void)
{
	io_reset();
	io.fdatasync = fault_fdatasync;
	io.fsync = fault_fsync;
	real = io;
	memset(&fault, 0, sizeof(fault));
	fault.write_room = SIZE_MAX;
	io.write = fault_write;
	io.linkat = fault_linkat;
}

/* ---- files ---- */

static void set_up(void)
{
	make_folder();
	umask(022);
	plant();
}

static void tear_down(void)
{
	io_reset();
	remove_folder();
}

static void write_three(const char *path, struct str a, struct str b, struct str c)
{
	struct buf all = { 0 };

	buf_add_str(&all, a);
	buf_add_str(&all, b);
	buf_add_str(&all, c);
	write_file(path, buf_str(&all));
	buf_release(&all);
}

static bool file_is(const char *path, struct str a, struct str b)
{
	struct buf want = { 0 }, bytes = { 0 };
	struct err err;
	bool same;

	buf_add_str(&want, a);
	buf_add_str(&want, b);
	ck_assert_msg(io_read_file(path, 1 << 24, &bytes, &err) == 0, "%s", err.text);
	same = str_eq(buf_str(&want), buf_str(&bytes));
	buf_release(&bytes);
	buf_release(&want);
	return same;
}

static const char words[] = "{\"id\":\"m-1\",\"text\":\"take it\"}\n";
static const struct str message = { words, sizeof(words) - 1 };

/* ---- in one go ---- */

/* Opens, prepares and sends; what a decision does when nothing has to be journalled. */
static enum channel_result deliver(struct channel *c, enum channel_type type, const char *path,
				   struct str bytes, struct attempt *at, struct err *err)
{
	enum channel_result r = channel_open(c, type, path, err);

	if (r == CHANNEL_OK)
		r = channel_prepare(c, bytes, false, at, err);
	if (r == CHANNEL_OK)
		r = channel_send(c, bytes, at, err);
	channel_close(c);
	return r;
}

static enum channel_result deliver_file(const char *path, struct attempt *at, struct err *err)
{
	struct channel c = { .wait_ms = 200 };

	return deliver(&c, CHANNEL_FILE, path, message, at, err);
}

START_TEST(types_have_names)
{
	enum channel_type t;

	for (int i = CHANNEL_NONE; i <= CHANNEL_DIR; i++) {
		ck_assert(channel_type_parse(str_of(channel_type_name((enum channel_type)i)), &t));
		ck_assert_int_eq(t, i);
	}
	ck_assert(!channel_type_parse(STR("socket"), &t));
	ck_assert(!channel_type_parse(STR(""), &t));
}
END_TEST

START_TEST(type_of_a_path)
{
	ck_assert_int_eq(mkfifo(path_of("fifo"), 0600), 0);
	ck_assert_int_eq(symlink(path_of("fifo"), path_of("link")), 0);
	write_file(path_of("file"), STR("x"));
	ck_assert_int_eq(channel_type_of(path_of("fifo")), CHANNEL_FIFO);
	ck_assert_int_eq(channel_type_of(folder), CHANNEL_DIR);
	ck_assert_int_eq(channel_type_of(path_of("file")), CHANNEL_FILE);
	ck_assert_int_eq(channel_type_of(path_of("to-be")), CHANNEL_FILE);
	ck_assert_int_eq(channel_type_of(path_of("link")), CHANNEL_FILE); /* and refused as such */
}
END_TEST

START_TEST(none_sends_nothing)
{
	struct channel c = { 0 };
	struct attempt at;
	struct err err;

	ck_assert_int_eq(deliver(&c, CHANNEL_NONE, NULL, message, &at, &err), CHANNEL_OK);
	ck_assert_int_eq(channel_probe(&c, message, &at, &err), FOUND_WHOLE);
}
END_TEST

/* ---- file ---- */

START_TEST(file_is_made_and_appended_to)
{
	const char *path = path_of("replies");
	struct channel c = { 0 };
	struct attempt at;
	struct err err;
	struct stat st;

	ck_assert_int_eq(channel_open(&c, CHANNEL_FILE, path, &err), CHANNEL_OK);
	ck_assert(c.created);
	channel_close(&c);
	ck_assert_int_eq(deliver_file(path, &at, &err), CHANNEL_OK);
	ck_assert_int_eq(at.offset, 0);
	ck_assert(!at.lead);
	ck_assert_int_eq(deliver_file(path, &at, &err), CHANNEL_OK);
	ck_assert_int_eq(at.offset, message.n);
	ck_assert(file_is(path, message, message)); /* two letters of the same words are two */
	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert_int_eq(st.st_mode & 07777, 0600);
	ck_assert_uint_eq(at.ino, st.st_ino);
	ck_assert_uint_eq(at.dev, st.st_dev);
}
END_TEST

START_TEST(file_without_last_newline_gets_one)
{
	const char *path = path_of("replies");
	struct attempt at;
	struct err err;

	write_file(path, STR("half"));
	ck_assert_int_eq(deliver_file(path, &at, &err), CHANNEL_OK);
	ck_assert_int_eq(at.offset, 4);
	ck_assert(at.lead);
	ck_assert(file_is(path, STR("half\n"), message));
}
END_TEST

/* As a try leaves it behind. */
static uint32_t print_of(const char *path, uint64_t offset)
{
	size_t n = offset < 256 ? (size_t)offset : 256;
	unsigned char hash[32];
	char bytes[256];
	uint32_t print;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	ck_assert_int_eq(pread(fd, bytes, n, (off_t)(offset - n)), (ssize_t)n);
	close(fd);
	sha256(str_make(bytes, n), hash);
	memcpy(&print, hash, sizeof(print));
	return print;
}

/* Its reader took the message away and empties the file; others have written since. */
START_TEST(file_emptied_and_filled_anew_is_another)
{
	const char *path = path_of("replies");
	struct channel c = { 0 };
	struct attempt at;
	struct err err;

	write_file(path, STR("one\n"));
	ck_assert_int_eq(deliver_file(path, &at, &err), CHANNEL_OK);
	ck_assert_int_eq(truncate(path, 0), 0);
	ck_assert_int_eq(channel_open(&c, CHANNEL_FILE, path, &err), CHANNEL_OK);
	ck_assert_int_eq(channel_probe(&c, message, &at, &err), FOUND_UNKNOWN);
	channel_close(&c);
	write_file(path, STR("two and more\n"));
	ck_assert_int_eq(channel_open(&c, CHANNEL_FILE, path, &err), CHANNEL_OK);
	ck_assert_int_eq(channel_probe(&c, message, &at, &err), FOUND_UNKNOWN);
	channel_close(&c);
}
END_TEST

/* What was there, then k bytes of the message (or of newline and message): looked at and finished.
 */
static void restart(struct str before, struct str other, bool lead, size_t k)
{
	const char *path = path_of("replies");
	struct channel c = { 0 };
	struct attempt at = { .offset = before.n, .lead = lead };
	struct buf want = { 0 }, line = { 0 };
	enum channel_found found, expect;
	struct stat st;
	struct err err;

	if (lead)
		buf_addc(&line, '\n');
	buf_add_str(&line, message);
	write_three(path, before, other, str_make(line.p, k));
	ck_assert_int_eq(stat(path, &st), 0);
	at.dev = st.st_dev;
	at.ino = st.st_ino;
	at.print = print_of(path, at.offset);
	expect = k == line.n ? FOUND_WHOLE : k > lead ? FOUND_TORN : FOUND_NOTHING;
	ck_assert_int_eq(channel_open(&c, CHANNEL_FILE, path, &err), CHANNEL_OK);
	found = channel_probe(&c, message, &at, &err);
	ck_assert_msg(found == expect, "%zu bytes: found %d, not %d", k, found, expect);
	/* nothing may be prepared anew, torn and whole are finished where they are */
	if (found == FOUND_NOTHING)
		ck_assert_int_eq(channel_prepare(&c, message, false, &at, &err), CHANNEL_OK);
	ck_assert_int_eq(channel_send(&c, message, &at, &err), CHANNEL_OK);
	ck_assert_int_eq(channel_probe(&c, message, &at, &err), FOUND_WHOLE);
	/* and a second time changes nothing */
	ck_assert_int_eq(channel_send(&c, message, &at, &err), CHANNEL_OK);
	channel_close(&c);
	buf_add_str(&want, before);
	buf_add_str(&want, other);
	if (lead || (want.n && want.p[want.n - 1] != '\n'))
		buf_addc(&want, '\n');
	ck_assert_msg(file_is(path, buf_str(&want), message), "%zu bytes", k);
	buf_release(&want);
	buf_release(&line);
}

START_TEST(file_torn_at_every_byte_is_completed)
{
	for (size_t k = 0; k <= message.n; k++) {
		restart(STR(""), STR(""), false, k);
		restart(STR("{\"old\":1}\n"), STR(""), false, k);
		restart(STR("{\"old\":1}\n"), STR("{\"new\":2}\n"), false, k);
		restart(STR("{\"old\":1}\n"), STR("{\"id\":\"m-1\"\n"), false, k);
	}
	for (size_t k = 0; k <= message.n + 1; k++)
		restart(STR("{\"old\":1}"), STR(""), true, k);
}
END_TEST

/* A message longer than what is read at a time. */
START_TEST(file_torn_at_a_block_boundary_is_completed)
{
	const char *path = path_of("replies");
	struct buf large = { 0 };

	for (int i = 0; i < 20000; i++)
		buf_addc(&large, (char)('a' + i % 26));
	buf_addc(&large, '\n');
	for (size_t k = 8190; k < 8195; k++) {
		struct channel c = { 0 };
		struct attempt at = { 0 };
		struct stat st;
		struct err err;

		write_file(path, str_make(large.p, k));
		ck_assert_int_eq(stat(path, &st), 0);
		at.dev = st.st_dev;
		at.ino = st.st_ino;
		at.print = print_of(path, at.offset);
		ck_assert_int_eq(channel_open(&c, CHANNEL_FILE, path, &err), CHANNEL_OK);
		ck_assert_int_eq(channel_probe(&c, buf_str(&large), &at, &err), FOUND_TORN);
		ck_assert_int_eq(channel_send(&c, buf_str(&large), &at, &err), CHANNEL_OK);
		channel_close(&c);
		ck_assert(file_is(path, buf_str(&large), STR("")));
	}
	buf_release(&large);
}
END_TEST

/* Behind another's half line the message is not one that a reader can see. */
START_TEST(file_message_in_the_middle_of_a_line_does_not_count)
{
	const char *path = path_of("replies");
	struct channel c = { 0 };
	struct attempt at = { .offset = 4 };
	struct buf want = { 0 };
	struct err err;
	struct stat st;

	write_three(path, STR("half"), message, STR(""));
	ck_assert_int_eq(stat(path, &st), 0);
	at.dev = st.st_dev;
	at.ino = st.st_ino;
	at.print = print_of(path, at.offset);
	ck_assert_int_eq(channel_open(&c, CHANNEL_FILE, path, &err), CHANNEL_OK);
	ck_assert_int_eq(channel_probe(&c, message, &at, &err), FOUND_NOTHING);
	ck_assert_int_eq(channel_send(&c, message, &at, &err), CHANNEL_OK);
	channel_close(&c);
	buf_adds(&want, "half");
	buf_add_str(&want, message);
	ck_assert(file_is(path, buf_str(&want), message));
	buf_release(&want);
}
END_TEST

/* Others wrote behind the torn head: it is lost as it is, and the message is written once more. */
START_TEST(file_torn_head_behind_which_others_wrote)
{
	static const struct str tails[] = { STR("{\"other\":1}\n"), STR("\n"), STR("{\"oth") };

	for (size_t i = 0; i < sizeof(tails) / sizeof(tails[0]); i++) {
		const char *path = path_of("replies");
		struct channel c = { 0 };
		struct attempt at = { 0 };
		struct buf want = { 0 };
		struct err err;
		struct stat st;

		write_three(path, str_make(message.p, 9), tails[i], STR(""));
		ck_assert_int_eq(stat(path, &st), 0);
		at.dev = st.st_dev;
		at.ino = st.st_ino;
		at.print = print_of(path, at.offset);
		ck_assert_int_eq(channel_open(&c, CHANNEL_FILE, path, &err), CHANNEL_OK);
		ck_assert_int_eq(channel_probe(&c, message, &at, &err), FOUND_NOTHING);
		ck_assert_int_eq(channel_prepare(&c, message, false, &at, &err), CHANNEL_OK);
		ck_assert_int_eq(channel_send(&c, message, &at, &err), CHANNEL_OK);
		channel_close(&c);
		buf_add(&want, message.p, 9);
		buf_add_str(&want, tails[i]);
		if (!str_ends(tails[i], STR("\n")))
			buf_addc(&want, '\n');
		ck_assert(file_is(path, buf_str(&want), message));
		buf_release(&want);
	}
}
END_TEST

START_TEST(file_of_another_kind_or_length_is_unknown)
{
	const char *path = path_of("replies");
	struct channel c = { 0 };
	struct attempt at, other;
	struct err err;

	write_file(path, STR("{\"old\":1}\n"));
	ck_assert_int_eq(channel_open(&c, CHANNEL_FILE, path, &err), CHANNEL_OK);
	ck_assert_int_eq(channel_prepare(&c, message, false, &at, &err), CHANNEL_OK);
	for (int i = 0; i < 3; i++) {
		other = at;
		other.ino += i == 0;
		other.dev += i == 1;
		other.offset += i == 2;
		ck_assert_int_eq(channel_probe(&c, message, &other, &err), FOUND_UNKNOWN);
		assert_says(err, "is another file now, or was cut");
		ck_assert_int_eq(channel_send(&c, message, &other, &err), CHANNEL_UNCERTAIN);
		ck_assert(file_is(path, STR("{\"old\":1}\n"), STR("")));
	}
	channel_close(&c);
}
END_TEST

START_TEST(file_full_in_the_middle_says_how_far)
{
	const char *path = path_of("replies");

	for (size_t k = 0; k < message.n; k++) {
		struct channel c = { 0 };
		struct attempt at;
		struct err err;
		char word[64];

		write_file(path, STR("{\"old\":1}\n"));
		plant();
		fault.write_room = k;
		ck_assert_int_eq(channel_open(&c, CHANNEL_FILE, path, &err), CHANNEL_OK);
		ck_assert_int_eq(channel_prepare(&c, message, false, &at, &err), CHANNEL_OK);
		ck_assert_int_eq(channel_send(&c, message, &at, &err),
				 k ? CHANNEL_UNCERTAIN : CHANNEL_FAILED);
		snprintf(word, sizeof(word), "only %zu of 30 bytes were written", k);
		assert_says(err, k ? word : "nothing was written");
		assert_says(err, "make room");
		/* there is room for half of the rest, then for all */
		fault.write_room = (message.n - k) / 2;
		ck_assert_int_ne(channel_send(&c, message, &at, &err), CHANNEL_OK);
		plant();
		ck_assert_int_eq(channel_send(&c, message, &at, &err), CHANNEL_OK);
		channel_close(&c);
		ck_assert(file_is(path, STR("{\"old\":1}\n"), message));
	}
}
END_TEST

START_TEST(file_errors_say_what_is_certain)
{
	const char *path = path_of("replies");
	struct channel c = { 0 };
	struct attempt at;
	struct err err;

	write_file(path, STR("{\"old\":1}\n"));
	plant();
	ck_assert_int_eq(channel_open(&c, CHANNEL_FILE, path, &err), CHANNEL_OK);
	ck_assert_int_eq(channel_prepare(&c, message, false, &at, &err), CHANNEL_OK);
	fault.write_error = EIO;
	ck_assert_int_eq(channel_send(&c, message, &at, &err), CHANNEL_FAILED);
	fault.write_error = 0;
	fault.write_grows = true;
	ck_assert_int_eq(channel_send(&c, message, &at, &err), CHANNEL_UNCERTAIN);
	fault.write_grows = false;
	fault.sync_error = EIO;
	ck_assert_int_eq(channel_send(&c, message, &at, &err), CHANNEL_UNCERTAIN);
	assert_says(err, "not safe on the disk");
	ck_assert_int_eq(channel_probe(&c, message, &at, &err), FOUND_TROUBLE);
	fault.sync_error = 0;
	ck_assert_int_eq(channel_probe(&c, message, &at, &err), FOUND_WHOLE);
	channel_close(&c);
	ck_assert(file_is(path, STR("{\"old\":1}\n"), message));
}
END_TEST

START_TEST(file_is_not_used_before_its_name_is_durable)
{
	const char *path = path_of("replies");
	struct attempt at;
	struct err err;

	plant();
	fault.folder_sync_error = EIO;
	ck_assert_int_eq(deliver_file(path, &at, &err), CHANNEL_FAILED);
	assert_says(err, "its folder cannot be synced");
	ck_assert_int_eq(deliver_file(path, &at, &err), CHANNEL_FAILED); /* empty: still not known */
	plant();
	ck_assert_int_eq(deliver_file(path, &at, &err), CHANNEL_OK);
	ck_assert(file_is(path, message, STR("")));
}
END_TEST

/* A process that holds the lock until it is told, or for good. */
struct holder {
	pid_t pid;
	int tell;
	unsigned idles, after;
};

static void hold_lock(struct holder *h, const char *path)
{
	int down[2], up[2];
	char byte;

	ck_assert_int_eq(pipe(down), 0);
	ck_assert_int_eq(pipe(up), 0);
	h->pid = fork();
	if (h->pid == 0) {
		int fd = open(path, O_RDWR);

		if (fd >= 0 && io.lock(fd) == 0 && write(up[1], "x", 1) == 1)
			(void)!read(down[0], &byte, 1);
		_exit(0);
	}
	ck_assert_int_eq(read(up[0], &byte, 1), 1);
	close(up[0]);
	close(up[1]);
	close(down[0]);
	h->tell = down[1];
}

/* Ends the holder when it was asked often enough. */
static bool let_go(void *ctx)
{
	struct holder *h = ctx;

	if (++h->idles == h->after) {
		ck_assert_int_eq(write(h->tell, "x", 1), 1);
		ck_assert_int_eq(waitpid(h->pid, NULL, 0), h->pid);
	}
	return true;
}

START_TEST(file_lock_is_waited_for_but_not_for_ever)
{
	const char *path = path_of("replies");
	struct holder h = { 0 };
	struct idle idle = { let_go, &h };
	struct channel c = { .wait_ms = 120, .idle = &idle };
	struct attempt at;
	struct err err;

	write_file(path, STR("{\"old\":1}\n"));
	hold_lock(&h, path);
	ck_assert_int_eq(deliver(&c, CHANNEL_FILE, path, message, &at, &err), CHANNEL_FAILED);
	assert_says(err, "another program has locked it");
	ck_assert(file_is(path, STR("{\"old\":1}\n"), STR("")));
	h.after = h.idles + 2;
	c.wait_ms = 60000;
	ck_assert_int_eq(deliver(&c, CHANNEL_FILE, path, message, &at, &err), CHANNEL_OK);
	ck_assert(file_is(path, STR("{\"old\":1}\n"), message));
	close(h.tell);
}
END_TEST

static bool gives_up(void *ctx)
{
	(void)ctx;
	return false;
}

START_TEST(file_locks_exclude_others_until_they_are_released)
{
	const char *path = path_of("replies");
	const struct idle at_once = { gives_up, NULL };
	struct file_locks ours = { 0 }, theirs = { 0 };
	struct attempt at;
	struct err err;
	int fd;

	ck_assert_int_eq(file_locks_add(&ours, path, &at_once, &err), LOCK_TAKEN);
	ck_assert_int_eq(file_locks_add(&ours, path, &at_once, &err), LOCK_NOT_NEW);
	/* whoever follows the file closes descriptors of it */
	fd = open(path, O_RDONLY);
	ck_assert_int_ge(fd, 0);
	close(fd);
	ck_assert_int_eq(file_locks_add(&theirs, path, &at_once, &err), LOCK_BUSY);
	assert_says(err, "another program has locked it, so nothing was sent; try again");
	ck_assert_ptr_null(file_locks_find(&theirs, str_of(path)));
	/* messages are written through the channel that has the lock */
	ck_assert_int_eq(channel_prepare(file_locks_find(&ours, str_of(path)), message, false, &at,
					 &err), CHANNEL_OK);
	ck_assert_int_eq(channel_send(file_locks_find(&ours, str_of(path)), message, &at, &err),
			 CHANNEL_OK);
	ck_assert(file_is(path, message, STR("")));
	file_locks_release(&ours);
	ck_assert_int_eq(file_locks_add(&theirs, path, &at_once, &err), LOCK_TAKEN);
	file_locks_release(&theirs);
}
END_TEST

START_TEST(file_locks_leave_what_cannot_be_locked_to_the_sender)
{
	const struct idle at_once = { gives_up, NULL };
	struct file_locks locks = { 0 };
	struct err err;

	ck_assert_int_eq(file_locks_add(&locks, path_of("no/folder"), &at_once, &err),
			 LOCK_NOT_NEW);
	ck_assert_uint_eq(locks.list.n, 0);
}
END_TEST

/* A process that was forked while the lock was held must not keep it. */
START_TEST(file_locks_do_not_stay_with_a_child)
{
	const char *path = path_of("replies");
	const struct idle at_once = { gives_up, NULL };
	struct file_locks ours = { 0 };
	struct err err;
	int stop[2];
	pid_t pid;
	char byte;

	ck_assert_int_eq(pipe(stop), 0);
	ck_assert_int_eq(file_locks_add(&ours, path, &at_once, &err), LOCK_TAKEN);
	pid = fork();
	if (pid == 0) {
		close(stop[1]);
		(void)!read(stop[0], &byte, 1);
		_exit(0);
	}
	file_locks_release(&ours);
	ck_assert_int_eq(file_locks_add(&ours, path, &at_once, &err), LOCK_TAKEN);
	file_locks_release(&ours);
	close(stop[0]);
	close(stop[1]);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}
END_TEST

START_TEST(file_replaced_after_opening_is_left_alone)
{
	const char *path = path_of("replies");
	struct channel c = { 0 };
	struct attempt at;
	struct err err;

	write_file(path, STR("{\"old\":1}\n"));
	write_file(path_of("new"), STR("{\"new\":1}\n"));
	ck_assert_int_eq(channel_open(&c, CHANNEL_FILE, path, &err), CHANNEL_OK);
	ck_assert_int_eq(rename(path_of("new"), path), 0);
	ck_assert_int_eq(channel_prepare(&c, message, false, &at, &err), CHANNEL_FAILED);
	assert_says(err, "was replaced");
	ck_assert_int_eq(unlink(path), 0);
	ck_assert_int_eq(channel_prepare(&c, message, false, &at, &err), CHANNEL_FAILED);
	channel_close(&c);
}
END_TEST

START_TEST(lines_only)
{
	static const struct str wrong[] = { STR(""), STR("\n"), STR("a"), STR("a\nb\n"),
					    STR("\na\n") };

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct channel c = { 0 };
		struct attempt at;
		struct err err;

		ck_assert_int_eq(deliver(&c, CHANNEL_FILE, path_of("replies"), wrong[i], &at, &err),
				 CHANNEL_FAILED);
		assert_says(err, "not one line");
		ck_assert(file_is(path_of("replies"), STR(""), STR("")));
	}
}
END_TEST

static void refused(enum channel_type type, const char *path, const char *word)
{
	struct channel c = { .wait_ms = 50 };
	struct attempt at;
	struct err err = { "" };

	ck_assert_msg(deliver(&c, type, path, message, &at, &err) == CHANNEL_FAILED, "%s", path);
	assert_says(err, word);
	assert_says(err, ";"); /* what is wrong; what to do */
	ck_assert_int_eq(c.fd, -1);
}

START_TEST(file_unsafe_paths_are_refused)
{
	write_file(path_of("file"), STR("{\"old\":1}\n"));
	ck_assert_int_eq(symlink(path_of("file"), path_of("link")), 0);
	ck_assert_int_eq(symlink(path_of("nowhere"), path_of("dangling")), 0);
	refused(CHANNEL_FILE, path_of("link"), "symbolic link");
	refused(CHANNEL_FILE, path_of("dangling"), "symbolic link");
	ck_assert_int_eq(access(path_of("nowhere"), F_OK), -1);
	ck_assert_int_eq(mkfifo(path_of("fifo"), 0600), 0);
	refused(CHANNEL_FILE, path_of("fifo"), "is not a plain file");
	refused(CHANNEL_FILE, folder, "is not a plain file");
	refused(CHANNEL_FILE, "/dev/null", "is not a plain file");
	refused(CHANNEL_FILE, path_of("no/such/folder"), "cannot be opened");
	ck_assert_int_eq(chmod(path_of("file"), 0602), 0);
	refused(CHANNEL_FILE, path_of("file"), "others may write");
	ck_assert_int_eq(chmod(path_of("file"), 0620), 0);
	refused(CHANNEL_FILE, path_of("file"), "others may write");
	ck_assert_int_eq(chmod(path_of("file"), 0644), 0);
	ck_assert_int_eq(link(path_of("file"), path_of("second")), 0);
	refused(CHANNEL_FILE, path_of("file"), "hard link");
	ck_assert_int_eq(unlink(path_of("second")), 0);
	if (geteuid() == 0) {
		ck_assert_int_eq(chown(path_of("file"), 12345, 12345), 0);
		refused(CHANNEL_FILE, path_of("file"), "another user");
	}
	ck_assert(file_is(path_of("file"), STR("{\"old\":1}\n"), STR("")));
}
END_TEST

/* ---- FIFO ---- */

/* The other end, read when the channel idles. */
struct reader {
	int fd;
	struct buf got;
	size_t stop_at;           /* closes once it has that much */
	unsigned idles, patience; /* so many pass before it reads or leaves */
	bool reads, leaves;
};

static void reader_open(struct reader *r, const char *path)
{
	r->fd = open(path, O_RDONLY | O_NONBLOCK);
	ck_assert_int_ge(r->fd, 0);
}

static void reader_close(struct reader *r)
{
	if (r->fd >= 0)
		close(r->fd);
	r->fd = -1;
}

static void reader_read(struct reader *r)
{
	char block[4096];
	ssize_t n;

	while (r->fd >= 0) {
		size_t want = sizeof(block);

		if (r->stop_at && r->stop_at - r->got.n < want)
			want = r->stop_at - r->got.n;
		n = read(r->fd, block, want);
		if (n <= 0)
			return;
		buf_add(&r->got, block, (size_t)n);
		if (r->got.n == r->stop_at)
			reader_close(r);
	}
}

static bool reader_idle(void *ctx)
{
	struct reader *r = ctx;

	r->idles++;
	if (r->reads && r->idles > r->patience)
		reader_read(r);
	if (r->leaves && r->idles > r->patience)
		reader_close(r);
	return true;
}

static const char *make_fifo(void)
{
	const char *path = path_of("fifo");

	ck_assert_int_eq(mkfifo(path, 0600), 0);
	return path;
}

static void large_line(struct buf *out, size_t n)
{
	while (out->n + 1 < n)
		buf_addc(out, (char)('a' + out->n % 26));
	buf_addc(out, '\n');
}

START_TEST(fifo_without_reader_is_not_waited_for)
{
	const char *path = make_fifo();
	struct channel c = { 0 };
	struct attempt at;
	struct err err;
	char want[600];

	ck_assert_int_eq(deliver(&c, CHANNEL_FIFO, path, message, &at, &err), CHANNEL_FAILED);
	snprintf(want, sizeof(want), "nobody reads %s; start the reader, then resend", path);
	ck_assert_str_eq(err.text, want);
}
END_TEST

START_TEST(fifo_message_counts_once_it_was_read)
{
	const char *path = make_fifo();
	struct reader r = { .patience = 1, .reads = true };
	struct idle idle = { reader_idle, &r };
	struct channel c = { .idle = &idle, .wait_ms = 60000 };
	struct attempt at;
	struct err err;

	reader_open(&r, path);
	ck_assert_int_eq(deliver(&c, CHANNEL_FIFO, path, message, &at, &err), CHANNEL_OK);
	ck_assert_int_ge(r.idles, 2);
	ck_assert(str_eq(buf_str(&r.got), message));
	ck_assert(!at.lead);
	reader_close(&r);
	buf_release(&r.got);
}
END_TEST

START_TEST(fifo_reader_in_its_own_process)
{
	const char *path = make_fifo();
	int ready[2], back[2];
	struct channel c = { .wait_ms = 60000 };
	struct attempt at;
	struct err err;
	char got[256];
	pid_t pid;
	ssize_t n = 0, more;

	ck_assert_int_eq(pipe(ready), 0);
	ck_assert_int_eq(pipe(back), 0);
	pid = fork();
	if (pid == 0) {
		/* read-write: opening does not wait for a writer */
		int fd = open(path, O_RDWR);

		close(back[0]);
		(void)!write(ready[1], "x", 1);
		for (int i = 0; i < 3; i++) {
			n = read(fd, got, sizeof(got));
			if (n > 0)
				(void)!write(back[1], got, (size_t)n);
		}
		_exit(0);
	}
	close(back[1]);
	ck_assert_int_eq(read(ready[0], got, 1), 1);
	for (int i = 0; i < 3; i++)
		ck_assert_msg(deliver(&c, CHANNEL_FIFO, path, message, &at, &err) == CHANNEL_OK,
			      "%s", err.text);
	while ((more = read(back[0], got + n, sizeof(got) - (size_t)n)) > 0)
		n += more;
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	ck_assert_int_eq(n, 3 * (ssize_t)message.n);
	for (int i = 0; i < 3; i++)
		ck_assert(!memcmp(got + (size_t)i * message.n, message.p, message.n));
}
END_TEST

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

START_TEST(fifo_stuck_reader_is_given_up_in_time)
{
	const char *path = make_fifo();
	struct reader r = { .fd = -1 };
	struct idle idle = { reader_idle, &r };
	struct channel c = { .idle = &idle, .wait_ms = 160 };
	struct attempt at;
	struct err err;
	int64_t start;

	reader_open(&r, path);
	start = now_ms();
	ck_assert_int_eq(deliver(&c, CHANNEL_FIFO, path, message, &at, &err), CHANNEL_UNCERTAIN);
	assert_says(err, "has not taken 30 bytes yet");
	ck_assert_int_ge(now_ms() - start, 160);
	ck_assert_int_ge(r.idles, 1); /* how often depends on the machine */
	/* now there is something in the pipe: the next one is not even begun */
	r.idles = 0;
	ck_assert_int_eq(deliver(&c, CHANNEL_FIFO, path, message, &at, &err), CHANNEL_FAILED);
	assert_says(err, "does not read, 30 bytes wait");
	reader_read(&r);
	ck_assert(str_eq(buf_str(&r.got), message)); /* one copy */
	reader_close(&r);
	buf_release(&r.got);
}
END_TEST

static bool never(void *ctx)
{
	++*(int *)ctx;
	return false;
}

START_TEST(fifo_waiting_can_be_broken_off)
{
	const char *path = make_fifo();
	int asked = 0;
	struct idle idle = { never, &asked };
	struct channel c = { .idle = &idle, .wait_ms = 60000 };
	struct reader r = { .fd = -1 };
	struct attempt at;
	struct err err;

	reader_open(&r, path);
	ck_assert_int_eq(deliver(&c, CHANNEL_FIFO, path, message, &at, &err), CHANNEL_UNCERTAIN);
	ck_assert_int_eq(asked, 1);
	reader_close(&r);
}
END_TEST

START_TEST(fifo_waits_until_the_pipe_is_empty)
{
	const char *path = make_fifo();
	struct reader r = { .patience = 2, .reads = true };
	struct idle idle = { reader_idle, &r };
	struct channel c = { .idle = &idle, .wait_ms = 60000 };
	struct attempt at;
	struct err err;
	int other;

	reader_open(&r, path);
	other = open(path, O_WRONLY | O_NONBLOCK);
	ck_assert_int_eq(write(other, "earlier\n", 8), 8);
	ck_assert_int_eq(channel_open(&c, CHANNEL_FIFO, path, &err), CHANNEL_OK);
	ck_assert_int_eq(channel_prepare(&c, message, false, &at, &err), CHANNEL_OK);
	assert_str(buf_str(&r.got), "earlier\n");
	ck_assert_int_eq(channel_send(&c, message, &at, &err), CHANNEL_OK);
	channel_close(&c);
	ck_assert_uint_eq(r.got.n, 8 + message.n);
	close(other);
	reader_close(&r);
	buf_release(&r.got);
}
END_TEST

START_TEST(fifo_large_messages_need_a_sole_writer)
{
	const char *path = make_fifo();

	for (size_t n = PIPE_BUF - 1; n <= PIPE_BUF + 1; n++) {
		for (int lead = 0; lead < 2; lead++) {
			struct reader r = { .reads = true };
			struct idle idle = { reader_idle, &r };
			struct channel c = { .idle = &idle, .wait_ms = 60000 };
			bool fits = n + (size_t)lead <= PIPE_BUF;
			struct buf line = { 0 };
			struct attempt at;
			struct err err;

			large_line(&line, n);
			reader_open(&r, path);
			ck_assert_int_eq(channel_open(&c, CHANNEL_FIFO, path, &err), CHANNEL_OK);
			ck_assert_int_eq(channel_prepare(&c, buf_str(&line), lead, &at, &err),
					 fits ? CHANNEL_OK : CHANNEL_FAILED);
			if (fits)
				ck_assert_int_eq(channel_send(&c, buf_str(&line), &at, &err),
						 CHANNEL_OK);
			else
				assert_says(err, "--sole-writer");
			channel_close(&c);
			ck_assert_uint_eq(r.got.n, fits ? n + (size_t)lead : 0);
			reader_close(&r);
			buf_release(&r.got);
			buf_release(&line);
		}
	}
}
END_TEST

START_TEST(fifo_sole_writer_sends_more_than_the_pipe_holds)
{
	const char *path = make_fifo();
	struct reader r = { .reads = true };
	struct idle idle = { reader_idle, &r };
	struct channel c = { .idle = &idle, .sole_writer = true, .wait_ms = 60000 };
	struct buf line = { 0 };
	struct attempt at;
	struct err err;

	large_line(&line, 300000);
	reader_open(&r, path);
	ck_assert_int_eq(deliver(&c, CHANNEL_FIFO, path, buf_str(&line), &at, &err), CHANNEL_OK);
	ck_assert(str_eq(buf_str(&r.got), buf_str(&line)));
	reader_close(&r);
	buf_release(&r.got);
	buf_release(&line);
}
END_TEST

/* Nobody handles SIGPIPE here: it would end this process. */
START_TEST(fifo_reader_that_dies_half_way)
{
	const char *path = make_fifo();
	struct reader r = { .reads = true, .stop_at = 100000 };
	struct idle idle = { reader_idle, &r };
	struct channel c = { .idle = &idle, .sole_writer = true, .wait_ms = 60000 };
	struct buf line = { 0 };
	struct attempt at;
	struct err err;
	sigset_t pending;

	large_line(&line, 300000);
	reader_open(&r, path);
	ck_assert_int_eq(channel_open(&c, CHANNEL_FIFO, path, &err), CHANNEL_OK);
	ck_assert_int_eq(channel_prepare(&c, buf_str(&line), false, &at, &err), CHANNEL_OK);
	ck_assert_int_eq(channel_send(&c, buf_str(&line), &at, &err), CHANNEL_UNCERTAIN);
	assert_says(err, "of 300000 bytes were written: its reader has gone");
	ck_assert(c.torn);
	sigpending(&pending);
	ck_assert(!sigismember(&pending, SIGPIPE));
	/* what was left went with the last descriptor; the next connection begins with a newline */
	channel_close(&c);
	r.stop_at = 0;
	buf_clear(&r.got);
	reader_open(&r, path);
	c.torn = false;
	ck_assert_int_eq(channel_open(&c, CHANNEL_FIFO, path, &err), CHANNEL_OK);
	ck_assert_int_eq(channel_prepare(&c, buf_str(&line), true, &at, &err), CHANNEL_OK);
	ck_assert(at.lead);
	ck_assert_int_eq(channel_send(&c, buf_str(&line), &at, &err), CHANNEL_OK);
	channel_close(&c);
	ck_assert_int_eq(r.got.p[0], '\n');
	ck_assert(str_eq(str_from(buf_str(&r.got), 1), buf_str(&line)));
	reader_close(&r);
	buf_release(&r.got);
	buf_release(&line);
}
END_TEST

START_TEST(fifo_stuck_in_the_middle_of_a_large_message)
{
	const char *path = make_fifo();
	struct reader r = { .fd = -1 };
	struct channel c = { .sole_writer = true, .wait_ms = 100 };
	struct buf line = { 0 };
	struct attempt at;
	struct err err;

	large_line(&line, 300000);
	reader_open(&r, path);
	ck_assert_int_eq(channel_open(&c, CHANNEL_FIFO, path, &err), CHANNEL_OK);
	ck_assert_int_eq(channel_prepare(&c, buf_str(&line), false, &at, &err), CHANNEL_OK);
	ck_assert_int_eq(channel_send(&c, buf_str(&line), &at, &err), CHANNEL_UNCERTAIN);
	assert_says(err, "of 300000 bytes were written: its reader does not read");
	ck_assert(c.torn);
	/* on the same connection too, the next message begins a line */
	reader_read(&r);
	buf_clear(&r.got);
	ck_assert_int_eq(channel_prepare(&c, message, false, &at, &err), CHANNEL_OK);
	ck_assert(at.lead);
	channel_close(&c);
	reader_close(&r);
	buf_release(&r.got);
	buf_release(&line);
}
END_TEST

START_TEST(fifo_reader_gone_before_the_first_byte)
{
	const char *path = make_fifo();
	struct reader r = { .fd = -1 };
	struct channel c = { .wait_ms = 60000 };
	struct attempt at;
	struct err err;

	reader_open(&r, path);
	ck_assert_int_eq(channel_open(&c, CHANNEL_FIFO, path, &err), CHANNEL_OK);
	ck_assert_int_eq(channel_prepare(&c, message, false, &at, &err), CHANNEL_OK);
	reader_close(&r);
	ck_assert_int_eq(channel_send(&c, message, &at, &err), CHANNEL_FAILED);
	assert_says(err, "nobody reads");
	ck_assert(!c.torn);
	ck_assert_int_eq(channel_prepare(&c, message, false, &at, &err), CHANNEL_FAILED);
	assert_says(err, "nobody reads");
	channel_close(&c);
}
END_TEST

START_TEST(fifo_reader_gone_with_the_message_unread)
{
	const char *path = make_fifo();
	struct reader r = { .leaves = true };
	struct idle idle = { reader_idle, &r };
	struct channel c = { .idle = &idle, .wait_ms = 60000 };
	struct attempt at;
	struct err err;

	reader_open(&r, path);
	ck_assert_int_eq(deliver(&c, CHANNEL_FIFO, path, message, &at, &err), CHANNEL_UNCERTAIN);
	assert_says(err, "has gone without taking 30 bytes");
}
END_TEST

START_TEST(fifo_reader_that_takes_it_and_leaves)
{
	const char *path = make_fifo();
	struct reader r = { .reads = true, .leaves = true };
	struct idle idle = { reader_idle, &r };
	struct channel c = { .idle = &idle, .wait_ms = 60000 };
	struct attempt at;
	struct err err;

	reader_open(&r, path);
	ck_assert_int_eq(deliver(&c, CHANNEL_FIFO, path, message, &at, &err), CHANNEL_OK);
	ck_assert(str_eq(buf_str(&r.got), message));
	buf_release(&r.got);
}
END_TEST

START_TEST(fifo_cannot_be_probed)
{
	const char *path = make_fifo();
	struct reader r = { .fd = -1 };
	struct channel c = { 0 };
	struct attempt at = { 0 };
	struct err err;

	reader_open(&r, path);
	ck_assert_int_eq(channel_open(&c, CHANNEL_FIFO, path, &err), CHANNEL_OK);
	ck_assert_int_eq(channel_probe(&c, message, &at, &err), FOUND_UNKNOWN);
	channel_close(&c);
	reader_close(&r);
}
END_TEST

START_TEST(fifo_unsafe_paths_are_refused)
{
	const char *path = make_fifo();
	struct reader r = { .fd = -1 };

	reader_open(&r, path);
	ck_assert_int_eq(symlink(path, path_of("link")), 0);
	refused(CHANNEL_FIFO, path_of("link"), "symbolic link");
	write_file(path_of("file"), STR("x"));
	refused(CHANNEL_FIFO, path_of("file"), "is not a FIFO");
	refused(CHANNEL_FIFO, "/dev/null", "is not a FIFO");
	refused(CHANNEL_FIFO, path_of("nothing"), "check the name");
	ck_assert_int_eq(chmod(path, 0622), 0);
	refused(CHANNEL_FIFO, path, "others may write");
	ck_assert_int_eq(chmod(path, 0644), 0);
	ck_assert_int_eq(link(path, path_of("second")), 0);
	refused(CHANNEL_FIFO, path, "hard link");
	ck_assert_int_eq(unlink(path_of("second")), 0);
	if (geteuid() == 0) {
		ck_assert_int_eq(chown(path, 12345, 12345), 0);
		refused(CHANNEL_FIFO, path, "another user");
	}
	reader_read(&r);
	ck_assert_uint_eq(r.got.n, 0);
	reader_close(&r);
}
END_TEST

/* ---- directory ---- */

static const char temporary[] = ".decision-1.json.gavel-new";

static enum channel_result deliver_dir(struct attempt *at, struct err *err)
{
	struct channel c = { 0 };

	return deliver(&c, CHANNEL_DIR, path_of("decision-1.json"), message, at, err);
}

static enum channel_found probe_dir(const struct attempt *at, struct err *err)
{
	struct channel c = { 0 };
	enum channel_found found;

	ck_assert_int_eq(channel_open(&c, CHANNEL_DIR, path_of("decision-1.json"), err),
			 CHANNEL_OK);
	found = channel_probe(&c, message, at, err);
	channel_close(&c);
	return found;
}

static bool is_there(const char *name)
{
	struct stat st;

	return lstat(path_of(name), &st) == 0;
}

START_TEST(dir_gets_a_file)
{
	struct attempt at;
	struct err err;
	struct stat st;

	ck_assert_int_eq(deliver_dir(&at, &err), CHANNEL_OK);
	ck_assert(file_is(path_of("decision-1.json"), message, STR("")));
	ck_assert(!is_there(temporary));
	ck_assert_int_eq(stat(path_of("decision-1.json"), &st), 0);
	ck_assert_int_eq(st.st_mode & 07777, 0600);
	ck_assert_int_eq(st.st_nlink, 1);
	ck_assert_int_eq(stat(folder, &st), 0);
	ck_assert_uint_eq(at.ino, st.st_ino);
	/* once more is the same message */
	ck_assert_int_eq(deliver_dir(&at, &err), CHANNEL_OK);
	ck_assert_int_eq(probe_dir(&at, &err), FOUND_WHOLE);
}
END_TEST

START_TEST(dir_in_the_working_directory)
{
	struct channel c = { 0 };
	struct attempt at;
	struct err err;

	ck_assert_int_eq(chdir(folder), 0);
	ck_assert_int_eq(deliver(&c, CHANNEL_DIR, "decision-1.json", message, &at, &err),
			 CHANNEL_OK);
	ck_assert(file_is(path_of("decision-1.json"), message, STR("")));
	ck_assert_int_eq(chdir("/"), 0);
}
END_TEST

START_TEST(dir_other_bytes_are_refused)
{
	static const struct str others[] = {
		STR(""),
		STR("{"),
		STR("{\"id\":\"m-1\",\"text\":\"take it\"}"),
		STR("{\"id\":\"m-2\",\"text\":\"take it\"}\n"),
		STR("{\"id\":\"m-1\",\"text\":\"take it\"}\n\n"),
	};
	struct channel c = { 0 };
	struct attempt at = { 0 };
	struct err err;

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		write_file(path_of("decision-1.json"), others[i]);
		ck_assert_int_eq(deliver_dir(&at, &err), CHANNEL_FAILED);
		assert_says(err, "exists with other content");
		ck_assert_int_eq(probe_dir(&at, &err), FOUND_NOTHING);
		ck_assert(file_is(path_of("decision-1.json"), others[i], STR("")));
		ck_assert(!is_there(temporary));
	}
	/* a longer file that begins with it, as does the memory behind it */
	write_file(path_of("decision-1.json"), message);
	ck_assert_int_eq(deliver(&c, CHANNEL_DIR, path_of("decision-1.json"),
				 str_make(message.p, message.n - 5), &at, &err),
			 CHANNEL_FAILED);
	/* a link to the right bytes is not the message */
	write_file(path_of("elsewhere"), message);
	ck_assert_int_eq(unlink(path_of("decision-1.json")), 0);
	ck_assert_int_eq(symlink(path_of("elsewhere"), path_of("decision-1.json")), 0);
	ck_assert_int_eq(deliver_dir(&at, &err), CHANNEL_FAILED);
	ck_assert_int_eq(unlink(path_of("decision-1.json")), 0);
	ck_assert_int_eq(mkdir(path_of("decision-1.json"), 0700), 0);
	ck_assert_int_eq(deliver_dir(&at, &err), CHANNEL_FAILED);
}
END_TEST

/* Every state that a crash can leave: half a temporary file, a whole one, linked and not yet
 * removed. */
START_TEST(dir_leftovers_of_a_crash_are_cleaned)
{
	for (size_t k = 0; k <= message.n; k++) {
		struct attempt at = { 0 };
		struct stat st;
		struct err err;

		ck_assert_int_eq(stat(folder, &st), 0);
		at.dev = st.st_dev;
		at.ino = st.st_ino;
		write_file(path_of(temporary), str_make(message.p, k));
		ck_assert_int_eq(probe_dir(&at, &err), FOUND_NOTHING);
		ck_assert(!is_there(temporary));
		write_file(path_of(temporary), str_make(message.p, k));
		ck_assert_int_eq(deliver_dir(&at, &err), CHANNEL_OK);
		ck_assert(file_is(path_of("decision-1.json"), message, STR("")));
		ck_assert(!is_there(temporary));
		ck_assert_int_eq(unlink(path_of("decision-1.json")), 0);
	}
	for (int sends = 0; sends < 2; sends++) {
		struct attempt at = { 0 };
		struct err err;

		write_file(path_of(temporary), message);
		ck_assert_int_eq(link(path_of(temporary), path_of("decision-1.json")), 0);
		if (sends)
			ck_assert_int_eq(deliver_dir(&at, &err), CHANNEL_OK);
		else
			ck_assert_int_eq(probe_dir(&at, &err), FOUND_WHOLE);
		ck_assert(!is_there(temporary));
		ck_assert(file_is(path_of("decision-1.json"), message, STR("")));
		ck_assert_int_eq(unlink(path_of("decision-1.json")), 0);
	}
}
END_TEST

START_TEST(dir_errors_say_what_is_certain)
{
	struct attempt at;
	struct err err;

	plant();
	for (size_t k = 0; k < message.n; k++) {
		fault.write_room = k;
		ck_assert_int_eq(deliver_dir(&at, &err), CHANNEL_FAILED);
		assert_says(err, "make room");
		ck_assert(!is_there("decision-1.json") && !is_there(temporary));
	}
	plant();
	fault.folder_sync_error = EIO; /* of the file, already */
	ck_assert_int_eq(deliver_dir(&at, &err), CHANNEL_FAILED);
	ck_assert(!is_there("decision-1.json") && !is_there(temporary));
	plant();
	fault.link_error = EPERM;
	ck_assert_int_eq(deliver_dir(&at, &err), CHANNEL_FAILED);
	assert_says(err, "cannot be linked");
	ck_assert(!is_there("decision-1.json") && !is_there(temporary));
	fault.link_works = true;
	ck_assert_int_eq(deliver_dir(&at, &err), CHANNEL_OK);
	plant();
	fault.folder_sync_error = EIO; /* the file is there: the folder's, this time */
	ck_assert_int_eq(deliver_dir(&at, &err), CHANNEL_UNCERTAIN);
	ck_assert_int_eq(probe_dir(&at, &err), FOUND_TROUBLE);
	plant();
	ck_assert_int_eq(probe_dir(&at, &err), FOUND_WHOLE);
	ck_assert(!is_there(temporary));
}
END_TEST

START_TEST(dir_of_another_identity_is_unknown)
{
	struct attempt at = { 0 };
	struct err err;

	ck_assert_int_eq(probe_dir(&at, &err), FOUND_UNKNOWN);
	assert_says(err, "another one now");
}
END_TEST

START_TEST(dir_unsafe_folders_are_refused)
{
	ck_assert_int_eq(mkdir(path_of("open"), 0700), 0);
	ck_assert_int_eq(chmod(path_of("open"), 0777), 0);
	refused(CHANNEL_DIR, path_of("open/decision-1.json"), "others may write");
	ck_assert_int_eq(chmod(path_of("open"), 0755), 0);
	ck_assert_int_eq(symlink(path_of("open"), path_of("link")), 0);
	refused(CHANNEL_DIR, path_of("link/decision-1.json"), "symbolic link");
	refused(CHANNEL_DIR, path_of("none/decision-1.json"), "check the name");
	write_file(path_of("file"), STR("x"));
	refused(CHANNEL_DIR, path_of("file/decision-1.json"), "is not a folder");
	if (geteuid() == 0) {
		ck_assert_int_eq(chown(path_of("open"), 12345, 12345), 0);
		refused(CHANNEL_DIR, path_of("open/decision-1.json"), "another user");
	}
}
END_TEST

/* ---- interruptions ---- */

/* Somebody puts a link to another folder in the place of "replies". */
static void exchange(void)
{
	ck_assert_int_eq(rename(path_of("replies"), path_of("moved")), 0);
	ck_assert_int_eq(symlink(path_of("target"), path_of("replies")), 0);
}

#define INTERRUPT(name, parameters, arguments, type) \
	static type interrupt_##name parameters \
	{ \
		if (++fault.calls == fault.exchange_at) \
			exchange(); \
		if (fault.calls == fault.interrupt_at) { \
			errno = EINTR; \
			return -1; \
		} \
		return real.name arguments; \
	}

INTERRUPT(open, (const char *p, int f, mode_t m), (p, f, m), int)
INTERRUPT(read, (int fd, void *p, size_t n), (fd, p, n), ssize_t)
INTERRUPT(pread, (int fd, void *p, size_t n, off_t o), (fd, p, n, o), ssize_t)
INTERRUPT(write, (int fd, const void *p, size_t n), (fd, p, n), ssize_t)
INTERRUPT(fstat, (int fd, struct stat *st), (fd, st), int)
INTERRUPT(lstat, (const char *p, struct stat *st), (p, st), int)
INTERRUPT(fsync, (int fd), (fd), int)
INTERRUPT(fdatasync, (int fd), (fd), int)
INTERRUPT(openat, (int d, const char *p, int f, mode_t m), (d, p, f, m), int)
INTERRUPT(linkat, (int d, const char *a, int e, const char *b, int f), (d, a, e, b, f), int)
INTERRUPT(unlinkat, (int d, const char *p, int f), (d, p, f), int)
INTERRUPT(lock, (int fd), (fd), int)
INTERRUPT(unread, (int fd, int *n), (fd, n), int)
INTERRUPT(poll, (struct pollfd * f, nfds_t n, int t), (f, n, t), int)

static void interrupt(unsigned at)
{
	plant();
	fault.interrupt_at = at;
	io.open = interrupt_open;
	io.read = interrupt_read;
	io.pread = interrupt_pread;
	io.write = interrupt_write;
	io.fstat = interrupt_fstat;
	io.lstat = interrupt_lstat;
	io.fsync = interrupt_fsync;
	io.fdatasync = interrupt_fdatasync;
	io.openat = interrupt_openat;
	io.linkat = interrupt_linkat;
	io.unlinkat = interrupt_unlinkat;
	io.lock_open = interrupt_lock;
	io.unread = interrupt_unread;
	io.poll = interrupt_poll;
}

START_TEST(an_interrupted_call_begins_again)
{
	enum channel_type type = _i == 0 ? CHANNEL_FILE : _i == 1 ? CHANNEL_FIFO : CHANNEL_DIR;
	const char *path = type == CHANNEL_FIFO ? make_fifo() : path_of("out");
	unsigned at = 0, called;

	do {
		struct reader r = { .reads = true, .fd = -1 };
		struct idle idle = { reader_idle, &r };
		struct channel c = { .idle = &idle, .wait_ms = 60000 };
		struct attempt where;
		struct err err = { "" };
		enum channel_result result;

		if (type == CHANNEL_FIFO)
			reader_open(&r, path);
		else
			unlink(path);
		interrupt(++at);
		result = deliver(&c, type, path, message, &where, &err);
		called = fault.calls;
		plant();
		ck_assert_msg(result == CHANNEL_OK, "call %u: %s", at, err.text);
		if (type == CHANNEL_FIFO)
			ck_assert(str_eq(buf_str(&r.got), message));
		else
			ck_assert(file_is(path, message, STR("")));
		reader_close(&r);
		buf_release(&r.got);
	} while (called >= at);
	ck_assert_uint_gt(at, 8);
}
END_TEST

/* Whenever the folder is exchanged for a link, nothing is written behind the link, and what is called
 * sent was in its place then. */
START_TEST(dir_exchanged_at_every_call)
{
	unsigned at = 0, called;

	ck_assert_int_eq(mkdir(path_of("target"), 0700), 0);
	do {
		struct channel c = { 0 };
		struct attempt where;
		struct err err = { "" };
		enum channel_result result;

		ck_assert_int_eq(mkdir(path_of("replies"), 0700), 0);
		interrupt(0);
		fault.exchange_at = ++at;
		result = deliver(&c, CHANNEL_DIR, path_of("replies/decision-1.json"), message,
				 &where, &err);
		called = fault.calls;
		plant();
		ck_assert_msg(rmdir(path_of("target")) == 0, "call %u: written behind the link", at);
		ck_assert_int_eq(mkdir(path_of("target"), 0700), 0);
		if (called < at) {
			ck_assert_int_eq(result, CHANNEL_OK);
			break;
		}
		ck_assert_msg(is_there("moved/decision-1.json") == (result != CHANNEL_FAILED),
			      "call %u: %s", at, err.text);
		ck_assert_msg(!is_there("moved/.decision-1.json.gavel-new"), "call %u", at);
		ck_assert_msg(result == CHANNEL_OK || strstr(err.text, "replaced") ||
				      strstr(err.text, "is a symbolic link"),
			      "call %u: %s", at, err.text);
		ck_assert(result != CHANNEL_OK || called == at);
		unlink(path_of("moved/decision-1.json"));
		ck_assert_int_eq(rmdir(path_of("moved")), 0);
		ck_assert_int_eq(unlink(path_of("replies")), 0);
	} while (called >= at);
	ck_assert_uint_gt(at, 8);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("channel");
	TCase *t;

	t = unit_cases(suite, "types", set_up, tear_down);
	tcase_add_test(t, types_have_names);
	tcase_add_test(t, type_of_a_path);
	tcase_add_test(t, none_sends_nothing);
	tcase_add_loop_test(t, an_interrupted_call_begins_again, 0, 3);

	t = unit_cases(suite, "file", set_up, tear_down);
	tcase_add_test(t, file_is_made_and_appended_to);
	tcase_add_test(t, file_without_last_newline_gets_one);
	tcase_add_test(t, file_emptied_and_filled_anew_is_another);
	tcase_add_test(t, file_torn_at_every_byte_is_completed);
	tcase_add_test(t, file_torn_at_a_block_boundary_is_completed);
	tcase_add_test(t, file_message_in_the_middle_of_a_line_does_not_count);
	tcase_add_test(t, file_torn_head_behind_which_others_wrote);
	tcase_add_test(t, file_of_another_kind_or_length_is_unknown);
	tcase_add_test(t, file_full_in_the_middle_says_how_far);
	tcase_add_test(t, file_errors_say_what_is_certain);
	tcase_add_test(t, file_is_not_used_before_its_name_is_durable);
	tcase_add_test(t, file_lock_is_waited_for_but_not_for_ever);
	tcase_add_test(t, file_replaced_after_opening_is_left_alone);
	tcase_add_test(t, lines_only);
	tcase_add_test(t, file_locks_exclude_others_until_they_are_released);
	tcase_add_test(t, file_locks_leave_what_cannot_be_locked_to_the_sender);
	tcase_add_test(t, file_locks_do_not_stay_with_a_child);
	tcase_add_test(t, file_unsafe_paths_are_refused);

	t = unit_cases(suite, "fifo", set_up, tear_down);
	tcase_add_test(t, fifo_without_reader_is_not_waited_for);
	tcase_add_test(t, fifo_message_counts_once_it_was_read);
	tcase_add_test(t, fifo_reader_in_its_own_process);
	tcase_add_test(t, fifo_stuck_reader_is_given_up_in_time);
	tcase_add_test(t, fifo_waiting_can_be_broken_off);
	tcase_add_test(t, fifo_waits_until_the_pipe_is_empty);
	tcase_add_test(t, fifo_large_messages_need_a_sole_writer);
	tcase_add_test(t, fifo_sole_writer_sends_more_than_the_pipe_holds);
	tcase_add_test(t, fifo_reader_that_dies_half_way);
	tcase_add_test(t, fifo_stuck_in_the_middle_of_a_large_message);
	tcase_add_test(t, fifo_reader_gone_before_the_first_byte);
	tcase_add_test(t, fifo_reader_gone_with_the_message_unread);
	tcase_add_test(t, fifo_reader_that_takes_it_and_leaves);
	tcase_add_test(t, fifo_cannot_be_probed);
	tcase_add_test(t, fifo_unsafe_paths_are_refused);

	t = unit_cases(suite, "directory", set_up, tear_down);
	tcase_add_test(t, dir_gets_a_file);
	tcase_add_test(t, dir_in_the_working_directory);
	tcase_add_test(t, dir_other_bytes_are_refused);
	tcase_add_test(t, dir_leftovers_of_a_crash_are_cleaned);
	tcase_add_test(t, dir_errors_say_what_is_certain);
	tcase_add_test(t, dir_of_another_identity_is_unknown);
	tcase_add_test(t, dir_unsafe_folders_are_refused);
	tcase_add_test(t, dir_exchanged_at_every_call);

	return unit_run(suite);
}
