/* The journal: that a record is there whole or not at all, whatever the disk does, and that
 * nothing is taken for a record which was not written as one. Each test has a folder of its own;
 * the journal is in j/, its files are spoilt by hand, and system calls fail through the table
 * (base/io.h).
 *
 * Nothing here is about the power failing, so syncs that are not under test do nothing: they
 * would only take time. */
#include "base/io.h"
#include "base/mem.h"
#include "base/sha256.h"
#include "journal/journal_internal.h"

#include "unit.h"

#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct str head = { "{\"state\":\"OPEN\"}", 16 };
static char folder[64], dir[128], first[160], lock_path[160];

static int no_sync(int fd)
{
	return fcntl(fd, F_GETFD) < 0 ? -1 : 0;
}

static void quick_io(void)
{
	io_reset();
	io.fsync = io.fdatasync = no_sync;
}

static void make_folder(void)
{
	const char *base = getenv("TMPDIR");

	/* thousands of small files: in memory where the system has such a place */
	if (!base || !*base)
		base = access("/dev/shm", W_OK | X_OK) == 0 ? "/dev/shm" : "/tmp";
	snprintf(folder, sizeof(folder), "%.40s/journalXXXXXX", base);
	ck_assert_ptr_nonnull(mkdtemp(folder));
	snprintf(dir, sizeof(dir), "%s/state/j", folder);
	snprintf(first, sizeof(first), "%s/journal-000001", dir);
	snprintf(lock_path, sizeof(lock_path), "%s/lock", dir);
	umask(022);
	quick_io();
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st;
	(void)type;
	(void)at;
	return remove(path);
}

static void empty_folder(void)
{
	char state[128];

	snprintf(state, sizeof(state), "%s/state", folder);
	nftw(state, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static void remove_folder(void)
{
	io_reset();
	nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static void slurp(const char *path, struct buf *out)
{
	FILE *f = fopen(path, "r");
	int c;

	buf_clear(out);
	ck_assert_msg(f, "%s: %s", path, strerror(errno));
	while ((c = getc(f)) != EOF)
		buf_addc(out, (char)c);
	fclose(f);
}

static void spill(const char *path, struct str bytes)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, bytes.p, bytes.n), (ssize_t)bytes.n);
	close(fd);
}

static bool is_there(const char *name)
{
	char path[256];
	struct stat st;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return lstat(path, &st) == 0;
}

static void note(void *ctx, struct str json)
{
	buf_add_str(ctx, json);
	buf_addc(ctx, '\n');
}

/* What can be read, a line a record. */
static enum journal_result read_records(struct buf *out)
{
	struct journal j = { 0 };
	struct err err = { "" };
	enum journal_result result;

	buf_clear(out);
	buf_adds(out, "");
	result = journal_open(&j, dir, false, STR_NONE, note, out, &err);
	journal_close(&j);
	return result;
}

#define assert_records(literal) \
	do { \
		struct buf records_ = { 0 }; \
		ck_assert_int_eq(read_records(&records_), JOURNAL_FINE); \
		assert_str(buf_str(&records_), literal); \
		buf_release(&records_); \
	} while (0)

static void assert_verified(uint64_t records)
{
	struct buf out = { 0 };
	uint64_t n = 0;

	ck_assert_msg(journal_verify(dir, &out, &n) == 0, "%s", out.p);
	ck_assert_uint_eq(n, records);
	buf_release(&out);
}

static void open_to_write(struct journal *j)
{
	struct err err = { "" };
	enum journal_result result;

	*j = (struct journal){ 0 };
	result = journal_open(j, dir, true, head, NULL, NULL, &err);
	ck_assert_msg(result == JOURNAL_FINE, "%d: %s", result, err.text);
}

static void append(struct journal *j, const char *json)
{
	struct err err = { "" };

	ck_assert_msg(journal_append(j, str_of(json), true, &err) == 0, "%s", err.text);
}

/* A journal with the head and these records. */
static void write_journal(const char *const *records)
{
	struct journal j;

	open_to_write(&j);
	for (; *records; records++)
		append(&j, *records);
	journal_close(&j);
}

static const char *const three[] = { "{\"n\":1}", "{\"n\":2}", "{\"n\":3,\"more\":\"text\"}",
				     NULL };
#define THREE "{\"state\":\"OPEN\"}\n{\"n\":1}\n{\"n\":2}\n{\"n\":3,\"more\":\"text\"}\n"

START_TEST(chain)
{
	struct buf bytes = { 0 }, want = { 0 }, link = { 0 };
	const char *json[] = { head.p, three[0], three[1], three[2] };
	char hash[65] = "0000000000000000000000000000000000000000000000000000000000000000";
	struct stat st;

	write_journal(three);
	for (int i = 0; i < 4; i++) {
		buf_clear(&link);
		buf_printf(&link, "%s%s", hash, json[i]);
		sha256_hex(buf_str(&link), hash);
		buf_printf(&want, "%s %s\n", hash, json[i]);
	}
	slurp(first, &bytes);
	ck_assert(str_eq(buf_str(&bytes), buf_str(&want)));
	ck_assert_int_eq(stat(first, &st), 0);
	ck_assert_uint_eq(st.st_mode & 07777, 0600);
	ck_assert_int_eq(stat(dir, &st), 0);
	ck_assert_uint_eq(st.st_mode & 07777, 0700);
	assert_records(THREE);
	assert_verified(4);
	buf_release(&bytes);
	buf_release(&want);
	buf_release(&link);
}
END_TEST

START_TEST(opened_again)
{
	struct journal j;
	struct buf seen = { 0 };

	write_journal(three);
	j = (struct journal){ 0 };
	ck_assert_int_eq(journal_open(&j, dir, true, head, note, &seen, NULL), JOURNAL_FINE);
	assert_str(buf_str(&seen), THREE);
	ck_assert(!j.was_poisoned && !j.torn.n);
	append(&j, "{\"n\":4}");
	journal_close(&j);
	journal_close(&j); /* has nothing to do */
	assert_records(THREE "{\"n\":4}\n");
	assert_verified(5);
	buf_release(&seen);
}
END_TEST

START_TEST(nothing_to_read)
{
	struct buf out = { 0 };
	uint64_t n;

	ck_assert_int_eq(read_records(&out), JOURNAL_NONE);
	ck_assert_int_eq(journal_repair(dir, &out, NULL), JOURNAL_NONE);
	ck_assert_uint_eq(journal_verify(dir, &out, &n), 1);
	ck_assert_msg(access(dir, F_OK) < 0, "looking made a folder");
	buf_release(&out);
}
END_TEST

START_TEST(big_records)
{
	struct buf big = { 0 }, got = { 0 };
	struct journal j;

	buf_adds(&big, "{\"bytes\":\"");
	for (int i = 0; i < 300000; i++)
		buf_printf(&big, "%09d ", i);
	buf_adds(&big, "\"}");
	open_to_write(&j);
	append(&j, big.p);
	append(&j, "{\"n\":1}");
	append(&j, big.p);
	journal_close(&j);
	ck_assert_int_eq(read_records(&got), JOURNAL_FINE);
	ck_assert_uint_eq(got.n, head.n + 1 + 2 * (big.n + 1) + 8);
	ck_assert_int_eq(memcmp(got.p + head.n + 1, big.p, big.n), 0);
	assert_verified(4);
	buf_release(&big);
	buf_release(&got);
}
END_TEST

/* Reading sees what is whole, also between the halves of a line. */
/* A segment that is full is no end: the chain goes on in the next one. */
START_TEST(full_segments_go_on_in_the_next)
{
	struct journal j;
	struct err err = { "" };
	char json[64], taken[160];

	segment_max_bytes = 300;
	open_to_write(&j);
	for (int i = 0; i < 20; i++) {
		snprintf(json, sizeof(json), "{\"n\":%d,\"text\":\"twenty of these\"}", i);
		if (i == 10) { /* one that cannot go on says so and leaves all as it is */
			snprintf(taken, sizeof(taken), "%s/journal-%06u", dir, j.segment + 1);
			spill(taken, STR(""));
			while (journal_append(&j, str_of(json), true, &err) == 0)
				;
			ck_assert_str_eq(strtok(err.text, ":"), "NOT recorded");
			unlink(taken);
		}
		append(&j, json);
	}
	ck_assert_uint_gt(j.segment, 5);
	journal_close(&j);
	open_to_write(&j); /* and again later */
	append(&j, "{\"n\":20}");
	journal_close(&j);
	ck_assert(is_there("journal-000002"));
	{
		struct buf problems = { 0 };
		uint64_t n;

		ck_assert_msg(journal_verify(dir, &problems, &n) == 0, "%s", problems.p);
		ck_assert_uint_ge(n, 22);
		buf_release(&problems);
	}
	segment_max_bytes = 1 << 30;
}
END_TEST

START_TEST(read_while_written)
{
	struct buf bytes = { 0 };
	struct journal j;
	struct buf got = { 0 };

	open_to_write(&j);
	append(&j, three[0]);
	assert_records("{\"state\":\"OPEN\"}\n{\"n\":1}\n");
	append(&j, three[1]);
	slurp(first, &bytes);
	for (size_t n = bytes.n - 60; n < bytes.n; n++) {
		ck_assert_int_eq(truncate(first, (off_t)n), 0);
		ck_assert_int_eq(read_records(&got), JOURNAL_FINE);
		assert_str(buf_str(&got), "{\"state\":\"OPEN\"}\n{\"n\":1}\n");
		spill(first, buf_str(&bytes));
	}
	journal_close(&j);
	ck_assert_msg(!is_there("journal-000001.torn-1"), "reading changed something");
	buf_release(&bytes);
	buf_release(&got);
}
END_TEST

/* ---- who holds it ---- */

/* A child that has the journal open until it is killed. */
static pid_t child_with_journal(void)
{
	int ready[2];
	char c;
	pid_t pid;

	ck_assert_int_eq(pipe(ready), 0);
	pid = fork();
	if (pid == 0) {
		struct journal j = { 0 };

		c = journal_open(&j, dir, true, head, NULL, NULL, NULL) == JOURNAL_FINE ? 'y' : 'n';
		if (write(ready[1], &c, 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	ck_assert_int_eq(read(ready[0], &c, 1), 1);
	ck_assert_int_eq(c, 'y');
	close(ready[0]);
	close(ready[1]);
	return pid;
}

static void end_child(pid_t pid)
{
	kill(pid, SIGKILL);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}

START_TEST(locked_by_another)
{
	struct journal j = { 0 };
	struct err err;
	struct buf out = { 0 };
	char want[64];
	pid_t pid;

	write_journal(three);
	pid = child_with_journal();
	ck_assert_int_eq(journal_open(&j, dir, true, head, note, &out, &err), JOURNAL_LOCKED);
	snprintf(want, sizeof(want), "process %ld (", (long)pid);
	ck_assert_msg(strstr(err.text, want), "%s", err.text);
	snprintf(want, sizeof(want), "(%.30s, since 2", program_invocation_short_name);
	ck_assert_msg(strstr(err.text, want), "%s", err.text);
	ck_assert_uint_eq(out.n, 0);
	ck_assert_int_eq(journal_append(&j, head, true, &err), -1);
	journal_close(&j);
	ck_assert_int_eq(journal_repair(dir, &out, &err), JOURNAL_LOCKED);
	assert_records(THREE);
	/* what the file says of someone else is not believed */
	spill(lock_path, STR("1 init 2020-01-01T00:00:00Z\n"));
	ck_assert_int_eq(journal_open(&j, dir, true, head, NULL, NULL, &err), JOURNAL_LOCKED);
	snprintf(want, sizeof(want), "process %ld;", (long)pid);
	ck_assert_msg(strstr(err.text, want), "%s", err.text);
	spill(lock_path, STR("\033]0;x\007 \xff\n"));
	ck_assert_int_eq(journal_open(&j, dir, true, head, NULL, NULL, &err), JOURNAL_LOCKED);
	ck_assert_msg(strstr(err.text, want), "%s", err.text);
	end_child(pid);
	open_to_write(&j);
	journal_close(&j);
	buf_release(&out);
}
END_TEST

START_TEST(locked_by_ourselves)
{
	struct journal one, two = { 0 };
	struct err err;
	struct buf out = { 0 };
	pid_t pid;
	int status;

	open_to_write(&one);
	ck_assert_int_eq(journal_open(&two, dir, true, head, NULL, NULL, &err), JOURNAL_LOCKED);
	journal_close(&two);
	ck_assert_int_eq(journal_repair(dir, &out, &err), JOURNAL_LOCKED);
	assert_records("{\"state\":\"OPEN\"}\n");
	/* none of that has given up the lock */
	pid = fork();
	if (pid == 0)
		_exit(journal_open(&two, dir, true, head, NULL, NULL, &err));
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(WEXITSTATUS(status), JOURNAL_LOCKED);
	append(&one, three[0]);
	journal_close(&one);
	open_to_write(&two);
	journal_close(&two);
	buf_release(&out);
}
END_TEST

START_TEST(removed_or_changed_meanwhile)
{
	struct journal j;
	struct err err;
	char aside[256];

	snprintf(aside, sizeof(aside), "%s/aside", dir);
	write_journal(three);
	open_to_write(&j);
	ck_assert_int_eq(rename(first, aside), 0);
	append(&j, "{\"n\":4}"); /* still ours, under another name */
	ck_assert_int_eq(unlink(aside), 0);
	ck_assert_int_eq(journal_append(&j, STR("{}"), true, &err), -1);
	ck_assert_msg(strstr(err.text, "NOT recorded"), "%s", err.text);
	journal_close(&j);

	open_to_write(&j);
	ck_assert_int_eq(unlink(lock_path), 0); /* another gavel could now come in */
	ck_assert_int_eq(journal_append(&j, STR("{}"), true, &err), -1);
	journal_close(&j);

	open_to_write(&j);
	ck_assert_int_eq(truncate(first, 5), 0);
	ck_assert_int_eq(journal_append(&j, STR("{}"), true, &err), -1);
	journal_close(&j);
}
END_TEST

/* ---- what is not accepted ---- */

static void assert_refused(const char *why)
{
	struct journal j = { 0 };
	struct err err = { "" };
	struct buf seen = { 0 };

	ck_assert_int_eq(journal_open(&j, dir, true, head, note, &seen, &err), JOURNAL_TROUBLE);
	ck_assert_msg(strstr(err.text, why), "%s, not: %s", err.text, why);
	ck_assert_uint_eq(seen.n, 0);
	journal_close(&j);
	buf_release(&seen);
}

static void refuse_file(const char *path)
{
	char other[256];
	struct stat st;

	snprintf(other, sizeof(other), "%s/other", dir);
	ck_assert_int_eq(rename(path, other), 0);
	ck_assert_int_eq(symlink(other, path), 0);
	assert_refused("is a symbolic link");
	ck_assert_int_eq(unlink(path), 0);
	ck_assert_int_eq(symlink("nowhere", path), 0);
	assert_refused("is a symbolic link");
	ck_assert_int_eq(unlink(path), 0);

	ck_assert_int_eq(link(other, path), 0);
	assert_refused("hard link");
	ck_assert_int_eq(unlink(path), 0);

	ck_assert_int_eq(mkfifo(path, 0600), 0);
	assert_refused("is not a plain file");
	ck_assert_int_eq(unlink(path), 0);
	ck_assert_int_eq(mkdir(path, 0700), 0);
	assert_refused("is not a plain file");
	ck_assert_int_eq(rmdir(path), 0);

	ck_assert_int_eq(rename(other, path), 0);
	ck_assert_int_eq(chmod(path, 0602), 0);
	assert_refused("others can write");
	ck_assert_int_eq(chmod(path, 0620), 0);
	assert_refused("others can write");
	ck_assert_int_eq(chmod(path, 0600), 0);
	if (geteuid() == 0) {
		ck_assert_int_eq(chown(path, 1, 1), 0);
		assert_refused("another user");
		ck_assert_int_eq(chown(path, 0, 0), 0);
	}
	ck_assert_int_eq(lstat(path, &st), 0);
	ck_assert_uint_eq(st.st_nlink, 1);
}

START_TEST(refused_files)
{
	char poisoned[256];
	struct journal j;

	write_journal(three);
	refuse_file(first);
	refuse_file(lock_path);
	snprintf(poisoned, sizeof(poisoned), "%s/poisoned", dir);
	spill(poisoned, STR(""));
	refuse_file(poisoned);
	unlink(poisoned);
	open_to_write(&j);
	journal_close(&j);
	assert_records(THREE);
}
END_TEST

START_TEST(refused_folders)
{
	char other[256];
	struct journal j;
	struct buf got = { 0 };

	write_journal(three);
	ck_assert_int_eq(chmod(dir, 0722), 0);
	assert_refused("others can write");
	ck_assert_int_eq(read_records(&got), JOURNAL_TROUBLE);
	ck_assert_int_eq(chmod(dir, 0770), 0);
	assert_refused("others can write");
	ck_assert_int_eq(chmod(dir, 0700), 0);
	if (geteuid() == 0) {
		ck_assert_int_eq(chown(dir, 1, 1), 0);
		assert_refused("another user");
		ck_assert_int_eq(chown(dir, 0, 0), 0);
	}
	snprintf(other, sizeof(other), "%s/other", folder);
	ck_assert_int_eq(rename(dir, other), 0);
	ck_assert_int_eq(symlink(other, dir), 0);
	assert_refused("is a symbolic link");
	ck_assert_int_eq(unlink(dir), 0);
	spill(dir, STR("x"));
	assert_refused("is not a folder");
	ck_assert_int_eq(unlink(dir), 0);
	ck_assert_int_eq(rename(other, dir), 0);
	open_to_write(&j);
	journal_close(&j);
	buf_release(&got);
}
END_TEST

/* ---- damage ---- */

/* How many of the records of THREE are among the lines of got; they must be the only ones, in
 * order. */
static unsigned count_known(struct str got)
{
	struct str all = STR(THREE);
	unsigned n = 0;

	while (got.n) {
		const char *end = memchr(got.p, '\n', got.n);
		struct str line = str_make(got.p, (size_t)(end - got.p) + 1);
		ptrdiff_t at = str_find(all, line, 0);

		ck_assert_msg(at >= 0, "\"%.*s\" was never recorded", STR_ARG(line));
		all = str_from(all, (size_t)at + line.n);
		got = str_from(got, line.n);
		n++;
	}
	return n;
}

/* The four records of THREE by offset: which one, and where in it. */
static unsigned record_at(struct str bytes, size_t offset, size_t *within)
{
	unsigned n = 0;
	size_t start = 0;

	for (size_t i = 0; i < offset; i++)
		if (bytes.p[i] == '\n') {
			n++;
			start = i + 1;
		}
	*within = offset - start;
	return n;
}

/* How many records a repair may lose for one byte that was changed by its lowest bit. */
static unsigned loss(struct str bytes, size_t offset)
{
	size_t within;
	unsigned record = record_at(bytes, offset, &within);

	if (bytes.p[offset] == '\n' || within == 64)
		return 0;
	if (within < 64)
		return record == 3; /* no record comes after it to prove it */
	return 1;
}

static void spoil(struct str bytes, size_t offset, char c, bool lowest_bit)
{
	struct buf spoilt = { 0 }, seen = { 0 }, out = { 0 };
	struct journal j = { 0 };
	struct err err;
	enum journal_result result;
	uint64_t n;
	size_t within;
	unsigned problems, before = record_at(bytes, offset, &within);

	buf_add_str(&spoilt, bytes);
	spoilt.p[offset] = c;
	empty_folder();
	ck_assert_int_eq(io_make_folders(dir, true, NULL), 0);
	spill(first, buf_str(&spoilt));
	problems = journal_verify(dir, &out, &n);
	ck_assert_msg(out.n > 0, "byte %zu as %d is not noticed", offset, c);
	result = journal_open(&j, dir, true, head, note, &seen, &err);
	ck_assert_msg((problems > 0) == (result == JOURNAL_DAMAGED), "byte %zu as %d: %s", offset,
		      c, out.p);
	ck_assert_msg((result == JOURNAL_FINE && j.torn.n) || result == JOURNAL_DAMAGED,
		      "byte %zu as %d: %d", offset, c, result);
	ck_assert_msg(count_known(buf_str(&seen)) == before, "byte %zu as %d:\n%s", offset, c,
		      seen.p);
	journal_close(&j);
	if (result == JOURNAL_DAMAGED) {
		unsigned kept;

		ck_assert_int_eq(journal_repair(dir, &out, &err), JOURNAL_FINE);
		ck_assert_int_eq(read_records(&seen), JOURNAL_FINE);
		kept = count_known(buf_str(&seen));
		ck_assert_msg(kept + (lowest_bit ? loss(bytes, offset) : 2) >= 4,
			      "byte %zu as %d: kept\n%sof\n%s\n%s", offset, c, seen.p, spoilt.p,
			      out.p);
		ck_assert(is_there("journal-000001.damaged"));
		assert_verified(kept);
		open_to_write(&j);
		journal_close(&j);
	}
	buf_release(&spoilt);
	buf_release(&seen);
	buf_release(&out);
}

START_TEST(every_byte_spoilt)
{
	struct buf bytes = { 0 };

	write_journal(three);
	slurp(first, &bytes);
	for (size_t i = 0; i < bytes.n; i++) {
		spoil(buf_str(&bytes), i, (char)(bytes.p[i] ^ 1), true);
		/* these need not meet every byte */
		if (i % 3 == 0)
			spoil(buf_str(&bytes), i, (char)(bytes.p[i] ^ 0x80), true);
		else if (i % 3 == 1 || bytes.p[i] == '\n')
			spoil(buf_str(&bytes), i, '\0', false);
		else
			spoil(buf_str(&bytes), i, '\n', false);
	}
	buf_release(&bytes);
}
END_TEST

START_TEST(cut_at_every_byte)
{
	struct buf bytes = { 0 }, seen = { 0 }, tail = { 0 };
	size_t start, line;

	write_journal(three);
	slurp(first, &bytes);
	for (size_t n = 0; n < bytes.n; n++) {
		struct journal j = { 0 };
		struct err err = { "" };

		empty_folder();
		ck_assert_int_eq(io_make_folders(dir, true, NULL), 0);
		spill(first, str_make(bytes.p, n));
		line = record_at(buf_str(&bytes), n, &start);
		start = n - start;
		buf_clear(&seen);
		ck_assert_msg(journal_open(&j, dir, true, head, note, &seen, &err) == JOURNAL_FINE,
			      "%zu: %s", n, err.text);
		ck_assert_uint_eq(count_known(buf_str(&seen)), line);
		ck_assert_int_eq(n > start, j.torn.n > 0);
		if (j.torn.n) {
			slurp(j.torn.p, &tail);
			ck_assert(str_eq(buf_str(&tail), str_make(bytes.p + start, n - start)));
		}
		append(&j, "{\"new\":1}");
		journal_close(&j);
		assert_verified((line ? line : 1) + 1);
	}
	buf_release(&bytes);
	buf_release(&seen);
	buf_release(&tail);
}
END_TEST

/* The disk had room for the line but not yet its bytes. */
START_TEST(tail_of_zeros)
{
	struct buf bytes = { 0 }, seen = { 0 };
	struct journal j;

	write_journal(three);
	slurp(first, &bytes);
	buf_add(&bytes, "\0\0\0\0\0\0\0more\"}\n", 14);
	spill(first, buf_str(&bytes));
	assert_records(THREE);
	open_to_write(&j);
	ck_assert_msg(str_ends(buf_str(&j.torn), STR("/journal-000001.torn-1")), "%s", j.torn.p);
	journal_close(&j);
	/* a second one does not take the name of the first */
	bytes.n -= 4;
	spill(first, buf_str(&bytes));
	open_to_write(&j);
	ck_assert_msg(str_ends(buf_str(&j.torn), STR("/journal-000001.torn-2")), "%s", j.torn.p);
	append(&j, "{\"n\":4}");
	journal_close(&j);
	assert_records(THREE "{\"n\":4}\n");
	buf_release(&bytes);
	buf_release(&seen);
}
END_TEST

START_TEST(lines_moved)
{
	struct buf bytes = { 0 }, spoilt = { 0 }, seen = { 0 };
	size_t at[5] = { 0 };
	struct journal j = { 0 };
	/* which lines, in which order; a negative number ends them */
	static const int orders[][6] = {
		{ 1, 2, 3, -1 }, { 0, 2, 3, -1 }, { 0, 1, 3, -1 }, { 0, 2, 1, 3, -1 },
		{ 0, 1, 1, 2, 3, -1 }, { 0, 1, 2, 3, 3, -1 }, { 3, 2, 1, 0, -1 },
	};

	write_journal(three);
	slurp(first, &bytes);
	for (size_t i = 0, n = 1; i < bytes.n; i++)
		if (bytes.p[i] == '\n')
			at[n++] = i + 1;
	for (size_t o = 0; o < sizeof(orders) / sizeof(*orders); o++) {
		struct buf out = { 0 };

		buf_clear(&spoilt);
		for (const int *line = orders[o]; *line >= 0; line++)
			buf_add(&spoilt, bytes.p + at[*line], at[*line + 1] - at[*line]);
		spill(first, buf_str(&spoilt));
		ck_assert_int_eq(journal_open(&j, dir, true, head, NULL, NULL, NULL),
				 JOURNAL_DAMAGED);
		ck_assert_int_eq(journal_repair(dir, &out, NULL), JOURNAL_FINE);
		ck_assert_int_eq(read_records(&seen), JOURNAL_FINE);
		count_known(buf_str(&seen));
		open_to_write(&j);
		journal_close(&j);
		buf_release(&out);
	}
	buf_release(&bytes);
	buf_release(&spoilt);
	buf_release(&seen);
}
END_TEST

/* ---- failing calls ---- */

enum how {
	FAILS,
	SHORT,       /* write only: half of it, once */
	HALF_FAILS,  /* write only: half of it, then an error */
	ENDS,        /* the process is killed there */
};

static struct {
	enum how how;
	int number;          /* errno */
	int at, calls;
	bool again;          /* half of a write is done, the next write fails */
	bool struck;
} fault;

static bool strikes_at(bool write)
{
	/* half a write is a matter of writes */
	if (!write && (fault.how == SHORT || fault.how == HALF_FAILS))
		return false;
	if (++fault.calls != fault.at)
		return false;
	fault.struck = true;
	if (fault.how == ENDS)
		_exit(9);
	errno = fault.number;
	return fault.how == FAILS;
}

static bool strike(void)
{
	return strikes_at(false);
}

static struct io real;

static int f_open(const char *path, int flags, mode_t mode)
{
	return strike() ? -1 : real.open(path, flags, mode);
}

static int f_close(int fd)
{
	bool fails = strike();

	real.close(fd); /* also when it says that it failed */
	if (fails)
		errno = fault.number;
	return fails ? -1 : 0;
}

static ssize_t f_read(int fd, void *to, size_t n)
{
	return strike() ? -1 : real.read(fd, to, n);
}

static ssize_t f_pread(int fd, void *to, size_t n, off_t offset)
{
	return strike() ? -1 : real.pread(fd, to, n, offset);
}

static ssize_t f_write(int fd, const void *from, size_t n)
{
	if (fault.again) {
		fault.again = false;
		errno = fault.number;
		return -1;
	}
	if (strikes_at(true))
		return -1;
	if (fault.calls == fault.at && n > 1) {
		fault.again = fault.how == HALF_FAILS;
		n /= 2;
	}
	return real.write(fd, from, n);
}

static int f_fstat(int fd, struct stat *st)
{
	return strike() ? -1 : real.fstat(fd, st);
}

static int f_lstat(const char *path, struct stat *st)
{
	return strike() ? -1 : real.lstat(path, st);
}

static int f_fsync(int fd)
{
	return strike() ? -1 : real.fsync(fd);
}

static int f_fdatasync(int fd)
{
	return strike() ? -1 : real.fdatasync(fd);
}

static int f_ftruncate(int fd, off_t length)
{
	return strike() ? -1 : real.ftruncate(fd, length);
}

static int f_mkdir(const char *path, mode_t mode)
{
	return strike() ? -1 : real.mkdir(path, mode);
}

static int f_rename(const char *from, const char *to)
{
	return strike() ? -1 : real.rename(from, to);
}

static int f_unlink(const char *path)
{
	return strike() ? -1 : real.unlink(path);
}

static int f_lock(int fd)
{
	return strike() ? -1 : real.lock(fd);
}

static void plant(enum how how, int number, int at)
{
	quick_io();
	real = io;
	memset(&fault, 0, sizeof(fault));
	fault.how = how;
	fault.number = number;
	fault.at = at;
	io = (struct io){ .open = f_open, .close = f_close, .read = f_read, .pread = f_pread,
			  .write = f_write, .fstat = f_fstat, .lstat = f_lstat, .fsync = f_fsync,
			  .fdatasync = f_fdatasync, .ftruncate = f_ftruncate, .mkdir = f_mkdir,
			  .rename = f_rename, .unlink = f_unlink, .lock = f_lock };
}

/* What a journal looked like before the start under test. */
enum state { STATE_NEW, STATE_TORN, STATE_POISONED, STATE_EMPTY, STATES };

static void prepare(enum state state)
{
	static const char *const one[] = { "{\"old\":1}", NULL };
	char poisoned[256];
	struct buf bytes = { 0 };

	quick_io();
	empty_folder();
	if (state == STATE_NEW)
		return;
	write_journal(one);
	slurp(first, &bytes);
	switch (state) {
	case STATE_TORN:
		buf_adds(&bytes, "0123456789abcdef {\"half\":");
		spill(first, buf_str(&bytes));
		break;
	case STATE_POISONED:
		snprintf(poisoned, sizeof(poisoned), "%s/poisoned", dir);
		spill(poisoned, STR(""));
		break;
	case STATE_EMPTY:
		spill(first, STR(""));
		break;
	case STATE_NEW:
	case STATES:
		break;
	}
	buf_release(&bytes);
}

enum { STEPS = 3 };
static const char *const steps[STEPS] = { "{\"a\":1}", "{\"b\":1}", "{\"c\":1}" };

struct outcome {
	bool opened, done[STEPS];
};

/* The second is not synced. */
static void play(volatile struct outcome *o)
{
	struct journal j = { 0 };
	struct err err = { "" };

	o->opened = journal_open(&j, dir, true, head, NULL, NULL, &err) == JOURNAL_FINE;
	for (int i = 0; o->opened && i < STEPS; i++) {
		err.text[0] = '\0';
		o->done[i] = journal_append(&j, str_of(steps[i]), i != 1, &err) == 0;
		if (!o->done[i])
			ck_assert_msg(strstr(err.text, "NOT recorded"), "%s", err.text);
	}
	journal_close(&j);
}

/* What must be there after `played`, if the next start is fine. `more`: the first step that is
 * not done may be there all the same; `unsynced`: the second step counts. */
static void expect(enum state state, const struct outcome *o, bool unsynced, int more,
		   struct buf *out)
{
	buf_clear(out);
	note(out, head);
	if (state == STATE_TORN || state == STATE_POISONED)
		note(out, STR("{\"old\":1}"));
	for (int i = 0; i < STEPS; i++) {
		if (!o->done[i] && more-- <= 0)
			continue;
		if (i != 1 || unsynced)
			note(out, str_of(steps[i]));
	}
}

static void assert_outcome(enum state state, const struct outcome *o, bool ended)
{
	struct buf seen = { 0 }, want[3] = { { 0 } };
	struct journal j = { 0 };
	struct err err = { "" };
	enum journal_result result;
	uint64_t n = 0;
	bool fits = false;

	quick_io();
	expect(state, o, true, 0, &want[0]);
	expect(state, o, false, 0, &want[1]);
	expect(state, o, true, ended, &want[2]);
	result = journal_open(&j, dir, true, head, note, &seen, &err);
	ck_assert_msg(result == JOURNAL_FINE, "call %d, errno %d: %d: %s", fault.at, fault.number,
		      result, err.text);
	append(&j, "{\"last\":1}");
	journal_close(&j);
	ck_assert_int_eq(read_records(&seen), JOURNAL_FINE);
	for (int i = 0; i < 3; i++) {
		/* without its sync a record may be lost, but only to a later failure */
		if (i == 1 && (ended || o->done[2]))
			continue;
		buf_adds(&want[i], "{\"last\":1}\n");
		fits |= str_eq(buf_str(&want[i]), buf_str(&seen));
	}
	ck_assert_msg(fits,
		      "state %d, call %d, errno %d: opened %d, done %d %d %d, but there is\n%s",
		      state, fault.at, fault.number, o->opened, o->done[0], o->done[1], o->done[2],
		      seen.p);
	for (size_t i = 0; i < seen.n; i++)
		n += seen.p[i] == '\n';
	assert_verified(n);
	for (int i = 0; i < 3; i++)
		buf_release(&want[i]);
	buf_release(&seen);
}

START_TEST(every_call_fails)
{
	static const struct {
		enum how how;
		int number;
	} faults[] = {
		{ FAILS, EIO }, { FAILS, EINTR }, { SHORT, 0 }, { HALF_FAILS, ENOSPC },
		{ HALF_FAILS, EINTR }, { HALF_FAILS, EDQUOT }, { FAILS, ENOSPC }, { FAILS, EDQUOT },
	};
	const size_t all = sizeof(faults) / sizeof(*faults);

	for (enum state state = 0; state < STATES; state++)
		/* the last two differ from the first by their number only */
		for (size_t f = 0; f < (state <= STATE_TORN ? all : all - 2); f++)
			for (int at = 1;; at++) {
				struct outcome o = { 0 };
				bool harmless = faults[f].number == EINTR || faults[f].how == SHORT;

				prepare(state);
				plant(faults[f].how, faults[f].number, at);
				play(&o);
				if (!fault.struck) {
					ck_assert_int_gt(at, faults[f].how == FAILS ? 20 : 3);
					break;
				}
				if (harmless)
					ck_assert_msg(o.opened && o.done[0] && o.done[1] &&
							      o.done[2],
						      "state %d, call %d stops it", state, at);
				assert_outcome(state, &o, false);
			}
}
END_TEST

/* Half a record is cut off at once: once there is room, the same gavel goes on. */
START_TEST(full_disk)
{
	struct journal j;
	struct err err;
	struct buf before = { 0 }, after = { 0 };

	write_journal(three);
	open_to_write(&j);
	slurp(first, &before);
	plant(HALF_FAILS, ENOSPC, 1);
	ck_assert_int_eq(journal_append(&j, STR("{\"n\":4}"), true, &err), -1);
	ck_assert_msg(strstr(err.text, "NOT recorded") && strstr(err.text, "make room"), "%s",
		      err.text);
	ck_assert(!j.poisoned);
	slurp(first, &after);
	ck_assert(str_eq(buf_str(&before), buf_str(&after)));
	append(&j, "{\"n\":5}");
	journal_close(&j);
	quick_io();
	assert_records(THREE "{\"n\":5}\n");
	buf_release(&before);
	buf_release(&after);
}
END_TEST

/* From some call on nothing works any more. */
START_TEST(a_disk_that_dies)
{
	for (int at = 1; at < 120; at++) {
		struct outcome o = { 0 };
		struct journal j;

		prepare(STATE_TORN);
		plant(FAILS, EIO, at);
		o.opened = journal_open(&j, dir, true, head, NULL, NULL, NULL) == JOURNAL_FINE;
		for (int i = 0; o.opened && i < STEPS; i++) {
			o.done[i] = journal_append(&j, str_of(steps[i]), true, NULL) == 0;
			if (fault.struck)
				fault.at = fault.calls + 1;
		}
		journal_close(&j);
		assert_outcome(STATE_TORN, &o, false);
	}
}
END_TEST

START_TEST(ended_at_every_call)
{
	struct outcome *o =
		mmap(NULL, sizeof(*o), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	ck_assert_ptr_ne(o, MAP_FAILED);
	for (enum state state = 0; state < STATES; state++)
		for (int at = 1, status = 0;; at++) {
			pid_t pid;

			memset(o, 0, sizeof(*o));
			prepare(state);
			pid = fork();
			if (pid == 0) {
				plant(ENDS, 0, at);
				play(o);
				_exit(0);
			}
			ck_assert_int_eq(waitpid(pid, &status, 0), pid);
			ck_assert(WIFEXITED(status));
			fault.at = at;
			assert_outcome(state, o, true);
			if (WEXITSTATUS(status) == 0) {
				ck_assert_int_gt(at, 20);
				break;
			}
		}
	munmap(o, sizeof(*o));
}
END_TEST

/* ---- failed syncs ---- */

static int fail_sync(int fd)
{
	(void)fd;
	errno = EIO;
	return -1;
}

static int fail_truncate(int fd, off_t length)
{
	(void)fd;
	(void)length;
	errno = EIO;
	return -1;
}

static void poison_journal(bool cut_fails)
{
	struct journal j;
	struct err err;

	open_to_write(&j);
	append(&j, "{\"n\":1}");
	io.fdatasync = fail_sync;
	if (cut_fails)
		io.ftruncate = fail_truncate;
	ck_assert_int_eq(journal_append(&j, STR("{\"never\":1}"), true, &err), -1);
	ck_assert_msg(strstr(err.text, "NOT recorded"), "%s", err.text);
	ck_assert(j.poisoned);
	quick_io();
	/* also when the disk has recovered: who knows what it has lost */
	ck_assert_int_eq(journal_append(&j, STR("{\"never\":2}"), true, &err), -1);
	journal_close(&j);
	ck_assert(is_there("poisoned"));
	assert_records("{\"state\":\"OPEN\"}\n{\"n\":1}\n");
}

static void check_poisoned(bool cut_fails)
{
	struct journal j;
	struct buf one = { 0 }, two = { 0 }, out = { 0 };
	char second[256];
	uint64_t n;

	poison_journal(cut_fails);
	ck_assert_uint_eq(journal_verify(dir, &out, &n), 0);
	ck_assert_msg(strstr(out.p, "the disk did not confirm"), "%s", out.p);
	ck_assert_uint_eq(n, 2);
	open_to_write(&j);
	ck_assert(j.was_poisoned);
	ck_assert_uint_eq(j.segment, 2);
	ck_assert_int_eq(cut_fails, j.torn.n > 0);
	ck_assert(!is_there("poisoned"));
	append(&j, "{\"n\":2}");
	journal_close(&j);
	snprintf(second, sizeof(second), "%s/journal-000002", dir);
	slurp(first, &one);
	slurp(second, &two);
	/* the chain goes on: the second segment means nothing without the first */
	buf_clear(&out);
	buf_printf(&out, "%.64s{\"n\":2}", one.p + head.n + 66);
	sha256_hex(buf_str(&out), out.p);
	ck_assert_int_eq(strncmp(out.p, two.p, 64), 0);
	assert_records("{\"state\":\"OPEN\"}\n{\"n\":1}\n{\"n\":2}\n");
	assert_verified(3);
	open_to_write(&j);
	ck_assert(!j.was_poisoned);
	ck_assert_uint_eq(j.segment, 2);
	append(&j, "{\"n\":3}");
	journal_close(&j);
	assert_records("{\"state\":\"OPEN\"}\n{\"n\":1}\n{\"n\":2}\n{\"n\":3}\n");
	buf_release(&one);
	buf_release(&two);
	buf_release(&out);
}

START_TEST(failed_sync)
{
	check_poisoned(false);
}
END_TEST

/* The record that was never confirmed stays in the file: the mark tells that it does not count. */
START_TEST(failed_sync_and_cut)
{
	check_poisoned(true);
}
END_TEST

/* A mark that lies about where the journal is well cuts nothing off. */
START_TEST(false_marks)
{
	static const char *const marks[] = {
		"",
		"\n",
		"journal-000001",
		"journal-000001 0 \n",
		"nonsense",
		"journal-000001 0 "
		"1111111111111111111111111111111111111111111111111111111111111111\n",
		"journal-000001 82 "
		"0000000000000000000000000000000000000000000000000000000000000000\n",
		"journal-4294967297 0 "
		"0000000000000000000000000000000000000000000000000000000000000000\n",
	};
	char poisoned[256];
	struct journal j;

	write_journal(three);
	snprintf(poisoned, sizeof(poisoned), "%s/poisoned", dir);
	for (size_t i = 0; i < sizeof(marks) / sizeof(*marks); i++) {
		spill(poisoned, str_of(marks[i]));
		open_to_write(&j);
		ck_assert(j.was_poisoned && !j.torn.n);
		journal_close(&j);
		assert_records(THREE);
	}
}
END_TEST

/* ---- repair ---- */

/* Three segments of two records each, after the head. */
static void write_segments(void)
{
	char poisoned[256];
	struct journal j;

	snprintf(poisoned, sizeof(poisoned), "%s/poisoned", dir);
	for (int i = 0; i < 3; i++) {
		char json[64];

		if (i)
			spill(poisoned, STR(""));
		open_to_write(&j);
		ck_assert_uint_eq(j.segment, (unsigned)i + 1);
		for (int k = 0; k < 2; k++) {
			snprintf(json, sizeof(json), "{\"n\":%d}", 2 * i + k);
			append(&j, json);
		}
		journal_close(&j);
	}
}

#define SIX \
	"{\"state\":\"OPEN\"}\n{\"n\":0}\n{\"n\":1}\n{\"n\":2}\n{\"n\":3}\n{\"n\":4}\n{\"n\":5}\n"

static void spoil_file(const char *name, size_t offset)
{
	char path[256];
	struct buf bytes = { 0 };

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	slurp(path, &bytes);
	bytes.p[offset] ^= 1;
	spill(path, buf_str(&bytes));
	buf_release(&bytes);
}

START_TEST(repair_several_segments)
{
	struct buf out = { 0 }, before = { 0 }, after = { 0 };
	struct journal j = { 0 };
	struct err err;

	write_segments();
	assert_records(SIX);
	ck_assert_int_eq(journal_repair(dir, &out, &err), JOURNAL_FINE);
	assert_str(buf_str(&out), "nothing is damaged\n");
	assert_records(SIX);

	slurp(first, &before);
	spoil_file("journal-000002", 68); /* the text of n 2 */
	ck_assert_int_eq(journal_open(&j, dir, true, head, NULL, NULL, &err), JOURNAL_DAMAGED);
	ck_assert_msg(strstr(err.text, "journal-000002, line 1"), "%s", err.text);
	buf_clear(&out);
	ck_assert_int_eq(journal_repair(dir, &out, &err), JOURNAL_FINE);
	ck_assert_msg(strstr(out.p, "6 records kept"), "%s", out.p);
	ck_assert_msg(strstr(out.p, "journal-000002, line 1: damaged"), "%s", out.p);
	assert_records(
		"{\"state\":\"OPEN\"}\n{\"n\":0}\n{\"n\":1}\n{\"n\":3}\n{\"n\":4}\n{\"n\":5}\n");
	slurp(first, &after);
	ck_assert(str_eq(buf_str(&before), buf_str(&after)));
	ck_assert(is_there("journal-000002.damaged") && is_there("journal-000003.damaged"));
	ck_assert(is_there("journal-000002") && !is_there("journal-000003"));
	open_to_write(&j);
	append(&j, "{\"n\":6}");
	journal_close(&j);
	assert_verified(7);

	/* what was put aside before is not overwritten */
	spoil_file("journal-000002", 68);
	ck_assert_int_eq(journal_repair(dir, &out, &err), JOURNAL_FINE);
	ck_assert(is_there("journal-000002.damaged-2"));
	buf_release(&out);
	buf_release(&before);
	buf_release(&after);
}
END_TEST

/* The hash of a segment's last record is proven by the first record of the next. */
START_TEST(repair_across_segments)
{
	struct buf out = { 0 };

	write_segments();
	spoil_file("journal-000001", 65 + 17 + 65 + 8 + 3);
	ck_assert_int_eq(journal_repair(dir, &out, NULL), JOURNAL_FINE);
	assert_records(SIX);
	buf_release(&out);
}
END_TEST

START_TEST(missing_segment)
{
	struct buf out = { 0 };
	struct journal j = { 0 };
	struct err err;
	char second[256];
	uint64_t n;

	write_segments();
	snprintf(second, sizeof(second), "%s/journal-000002", dir);
	ck_assert_int_eq(unlink(second), 0);
	ck_assert_int_eq(journal_open(&j, dir, true, head, NULL, NULL, &err), JOURNAL_DAMAGED);
	ck_assert_uint_gt(journal_verify(dir, &out, &n), 0);
	ck_assert_msg(strstr(out.p, "journal-000002: is missing"), "%s", out.p);
	ck_assert_int_eq(journal_repair(dir, &out, &err), JOURNAL_FINE);
	/* n 4 followed from what is missing; n 5 follows from n 4's hash */
	assert_records("{\"state\":\"OPEN\"}\n{\"n\":0}\n{\"n\":1}\n{\"n\":5}\n");
	assert_verified(4);
	buf_release(&out);
}
END_TEST

/* A repair that fails or is ended anywhere loses nothing that it would have kept. */
START_TEST(repair_at_every_call)
{
	static const enum how hows[] = { FAILS, HALF_FAILS, ENDS };

	for (size_t h = 0; h < sizeof(hows) / sizeof(*hows); h++)
		for (int at = 1, status = 0;; at++) {
			struct buf out = { 0 };
			struct err err = { "" };
			struct journal j = { 0 };
			enum journal_result r;
			pid_t pid;

			empty_folder();
			write_segments();
			spoil_file("journal-000002", 68);
			pid = fork();
			if (pid == 0) {
				plant(hows[h], EIO, at);
				journal_repair(dir, &out, &err);
				_exit(fault.struck ? 9 : 0);
			}
			ck_assert_int_eq(waitpid(pid, &status, 0), pid);
			r = journal_open(&j, dir, true, head, NULL, NULL, &err);
			journal_close(&j);
			ck_assert_msg(r == JOURNAL_DAMAGED || r == JOURNAL_FINE, "call %d: %d: %s",
				      at, r, err.text);
			if (r == JOURNAL_DAMAGED)
				ck_assert_msg(journal_repair(dir, &out, &err) == JOURNAL_FINE,
					      "call %d: %s", at, err.text);
			assert_records(
				"{\"state\":\"OPEN\"}\n{\"n\":0}\n{\"n\":1}\n{\"n\":3}\n{\"n\":4}\n"
				"{\"n\":5}\n");
			assert_verified(6);
			buf_release(&out);
			if (WEXITSTATUS(status) == 0) {
				ck_assert_int_gt(at, hows[h] == HALF_FAILS ? 1 : 20);
				break;
			}
		}
}
END_TEST

/* ---- anything at all ---- */

static uint64_t random_state = 88172645463325252u;

static size_t any(size_t below)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return below ? (size_t)(random_state % below) : 0;
}

static void mutate(struct buf *b)
{
	size_t at = any(b->n), n = any(b->n - at < 100 ? b->n - at : 100);
	struct buf copy = { 0 };

	buf_add_str(&copy, buf_str(b));
	switch (any(8)) {
	case 0: /* a bit */
		if (b->n)
			b->p[at] = (char)(b->p[at] ^ 1 << any(8));
		break;
	case 1: /* any byte */
		if (b->n)
			b->p[at] = (char)any(256);
		break;
	case 2: /* cut off */
		b->n = at;
		break;
	case 3: /* cut out */
		b->n = at;
		buf_add_str(b, str_from(buf_str(&copy), at + n));
		break;
	case 4: /* said twice */
		b->n = at;
		buf_add(b, copy.p + at, n);
		buf_add_str(b, str_from(buf_str(&copy), at));
		break;
	case 5: /* zeros */
		memset(b->p + at, 0, n);
		break;
	case 6: /* a newline, a space, a brace */
		if (b->n)
			b->p[at] = "\n {"[any(3)];
		break;
	case 7: /* moved to the end */
		b->n = at;
		buf_add_str(b, str_from(buf_str(&copy), at + n));
		buf_add(b, copy.p + at, n);
		break;
	}
	buf_release(&copy);
}

/* Records of SIX in order, and heads of journals that were begun anew: nothing else may come
 * out. */
static void assert_from_six(struct str got, int round)
{
	struct str all = STR(SIX);

	while (got.n) {
		const char *end = memchr(got.p, '\n', got.n);
		struct str line = str_make(got.p, (size_t)(end - got.p) + 1);
		ptrdiff_t at = str_find(all, line, 0);

		got = str_from(got, line.n);
		ck_assert_msg(at >= 0, "round %d: \"%.*s\" in this place was never recorded", round,
			      STR_ARG(line));
		all = str_from(all, (size_t)at + line.n);
	}
}

static void survive(int round)
{
	struct journal j = { 0 };
	struct err err = { "" };
	struct buf out = { 0 }, seen = { 0 };
	enum journal_result result;
	uint64_t n;

	read_records(&seen);
	assert_from_six(buf_str(&seen), round);
	journal_verify(dir, &out, &n);
	buf_clear(&seen);
	result = journal_open(&j, dir, true, head, note, &seen, &err);
	journal_close(&j);
	assert_from_six(buf_str(&seen), round);
	ck_assert_msg(result == JOURNAL_FINE || result == JOURNAL_DAMAGED, "round %d: %s", round,
		      err.text);
	ck_assert_msg(journal_repair(dir, &out, &err) == JOURNAL_FINE, "round %d: %s", round,
		      err.text);
	buf_clear(&seen);
	result = journal_open(&j, dir, true, head, note, &seen, &err);
	ck_assert_msg(result == JOURNAL_FINE, "round %d: %s", round, err.text);
	journal_close(&j);
	assert_from_six(buf_str(&seen), round);
	buf_clear(&out);
	ck_assert_msg(journal_verify(dir, &out, &n) == 0, "round %d: %s", round, out.p);
	buf_release(&out);
	buf_release(&seen);
}

START_TEST(random_damage)
{
	static const char *const names[] = { "journal-000001", "journal-000002", "journal-000003",
					     "lock", "poisoned" };
	struct buf good[5] = { { 0 } }, bytes = { 0 };
	char path[256];

	write_segments();
	for (int i = 0; i < 4; i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, names[i]);
		slurp(path, &good[i]);
	}
	buf_printf(&good[4], "journal-000003 %zu %.64s\n", good[2].n / 2, good[2].p);
	for (int round = 0; round < 2000; round++) {
		bool marked = any(4) == 0;

		empty_folder();
		ck_assert_int_eq(io_make_folders(dir, true, NULL), 0);
		for (int i = 0; i < 4 + marked; i++) {
			snprintf(path, sizeof(path), "%s/%s", dir, names[i]);
			spill(path, buf_str(&good[i]));
		}
		for (size_t k = any(4) + 1; k > 0; k--) {
			snprintf(path, sizeof(path), "%s/%s", dir, names[any(4 + marked)]);
			slurp(path, &bytes);
			mutate(&bytes);
			spill(path, buf_str(&bytes));
		}
		survive(round);
	}
	for (int i = 0; i < 5; i++)
		buf_release(&good[i]);
	buf_release(&bytes);
}
END_TEST

/* ---- one verdict ---- */

/* A segment of lines with the hashes that belong there, whatever they say. */
static void write_lines(const char *const *lines, const char *end)
{
	struct buf bytes = { 0 };
	char hash[65] = FIRST_HASH;

	ck_assert_int_eq(io_make_folders(dir, true, NULL), 0);
	for (; *lines; lines++)
		journal_add_line(&bytes, str_of(*lines), hash);
	buf_adds(&bytes, end);
	spill(first, buf_str(&bytes));
	buf_release(&bytes);
}

/* Hashes prove that nothing was changed, not that it was a record. */
START_TEST(a_right_hash_makes_no_record)
{
	static const char *const foreign[] = { "",       "=",         "hello", "[1]",
					       "{\"n\"", "{} {}",     "1",     "{\"n\":\"\xff\"}" };
	struct buf out = { 0 }, seen = { 0 };
	struct journal j = { 0 };
	struct err err = { "" };
	uint64_t n;

	for (int alone = 0; alone < 2; alone++) {
		const char *among[] = { head.p, foreign[_i], "{\"n\":1}", NULL };
		const char *single[] = { foreign[_i], NULL };

		empty_folder();
		write_lines(alone ? single : among, "");
		ck_assert_int_eq(journal_open(&j, dir, true, head, note, &seen, &err),
				 JOURNAL_DAMAGED);
		ck_assert_msg(strstr(err.text, "is not a record"), "%s", err.text);
		ck_assert_int_eq(read_records(&seen), JOURNAL_DAMAGED);
		ck_assert_uint_gt(journal_verify(dir, &out, &n), 0);
		ck_assert_uint_eq(n, alone ? 0 : 2);
		ck_assert_int_eq(journal_repair(dir, &out, &err), JOURNAL_FINE);
		assert_verified(alone ? 0 : 2);
		ck_assert_int_eq(read_records(&seen), JOURNAL_FINE);
		ck_assert_str_eq(seen.p, alone ? "" : "{\"state\":\"OPEN\"}\n{\"n\":1}\n");
	}
	buf_release(&out);
	buf_release(&seen);
}
END_TEST

/* What the next start puts aside by itself is no damage for those who only look. */
START_TEST(a_torn_tail_is_no_damage)
{
	static const struct str tails[] = { STR("0"), STR("0123 {\"n\""), STR("\0\0\0\0\n"),
					    STR("{\"n\":1}\0\0\n") };
	const char *const lines[] = { head.p, "{\"n\":1}", NULL };
	struct buf out = { 0 }, bytes = { 0 }, seen = { 0 };
	struct err err = { "" };
	struct journal j;
	uint64_t n;

	write_lines(lines, "");
	slurp(first, &bytes);
	buf_add_str(&bytes, tails[_i]);
	spill(first, buf_str(&bytes));
	ck_assert_int_eq(read_records(&seen), JOURNAL_FINE);
	ck_assert_msg(journal_verify(dir, &out, &n) == 0, "%s", out.p);
	ck_assert_msg(strstr(out.p, "the next start puts them aside"), "%s", out.p);
	ck_assert_uint_eq(n, 2);
	buf_clear(&out);
	ck_assert_int_eq(journal_repair(dir, &out, &err), JOURNAL_FINE);
	assert_str(buf_str(&out), "nothing is damaged\n");
	open_to_write(&j);
	ck_assert(j.torn.n > 0);
	journal_close(&j);
	assert_verified(2);
	buf_release(&out);
	buf_release(&bytes);
	buf_release(&seen);
}
END_TEST

static TCase *cases(Suite *suite, const char *name)
{
	TCase *t = tcase_create(name);

	/* sanitizers and loaded machines are slow; a test that hangs still ends */
	tcase_set_timeout(t, 120);
	tcase_add_checked_fixture(t, make_folder, remove_folder);
	suite_add_tcase(suite, t);
	return t;
}

int main(void)
{
	Suite *suite = suite_create("journal");
	TCase *t = cases(suite, "records");

	tcase_add_test(t, chain);
	tcase_add_test(t, opened_again);
	tcase_add_test(t, nothing_to_read);
	tcase_add_test(t, big_records);
	tcase_add_test(t, full_segments_go_on_in_the_next);
	tcase_add_test(t, read_while_written);

	t = cases(suite, "lock");
	tcase_add_test(t, locked_by_another);
	tcase_add_test(t, locked_by_ourselves);
	tcase_add_test(t, removed_or_changed_meanwhile);

	t = cases(suite, "refusals");
	tcase_add_test(t, refused_files);
	tcase_add_test(t, refused_folders);

	t = cases(suite, "damage");
	tcase_add_test(t, every_byte_spoilt);
	tcase_add_test(t, cut_at_every_byte);
	tcase_add_test(t, tail_of_zeros);
	tcase_add_test(t, lines_moved);
	tcase_add_test(t, random_damage);
	tcase_add_loop_test(t, a_right_hash_makes_no_record, 0, 8);
	tcase_add_loop_test(t, a_torn_tail_is_no_damage, 0, 4);

	t = cases(suite, "failures");
	tcase_add_test(t, every_call_fails);
	tcase_add_test(t, full_disk);
	tcase_add_test(t, a_disk_that_dies);
	tcase_add_test(t, ended_at_every_call);
	tcase_add_test(t, failed_sync);
	tcase_add_test(t, failed_sync_and_cut);
	tcase_add_test(t, false_marks);

	t = cases(suite, "repair");
	tcase_add_test(t, repair_several_segments);
	tcase_add_test(t, repair_across_segments);
	tcase_add_test(t, missing_segment);
	tcase_add_test(t, repair_at_every_call);

	return unit_run(suite);
}
