/* When an image of a log may be written, and the checksum that it is compared by; tests/cache.t has
 * what happens to images afterwards. */
#include "session/load.h"
#include "folder.h"

#include <sys/stat.h>

static const char line[] = "{\"type\":\"text\",\"timestamp\":1769421600000,\"sessionID\":\"ses_1\"}\n";

static struct load load;
static char *path;

static void open_log(void)
{
	struct buf text = { 0 };

	make_folder();
	ck_assert_int_eq(setenv("XDG_CACHE_HOME", folder, 1), 0);
	ck_assert_int_eq(setenv("GAVEL_CACHE_MIN", "1", 1), 0);
	for (int i = 0; i < 20; i++)
		buf_adds(&text, line);
	path = path_of("log");
	write_file(path, buf_str(&text));
	buf_release(&text);
	load = (struct load){ .cache.use = true };
	ck_assert_int_eq(load_open(&load, (const char *const *)&path, 1, 0), 0);
}

static void close_log(void)
{
	load_release(&load);
	remove_folder();
}

START_TEST(of_a_log_at_rest)
{
	load_run(&load, NULL, NULL);
	ck_assert(image_write(&load));
}
END_TEST

START_TEST(not_of_one_that_has_grown_since)
{
	load_run(&load, NULL, NULL);
	write_with(path, O_APPEND, 0600, STR(line));
	ck_assert(!image_write(&load));
}
END_TEST

/* Its time is set back, as touch does. */
static void change_in_place(void)
{
	struct stat before;
	int fd = open(path, O_WRONLY);

	ck_assert_int_eq(fstat(fd, &before), 0);
	ck_assert_int_eq(pwrite(fd, "9", 1, sizeof(line) + 10), 1);
	ck_assert_int_eq(futimens(fd, (struct timespec[]){ before.st_atim, before.st_mtim }), 0);
	close(fd);
}

START_TEST(not_of_one_that_was_changed_since)
{
	load_run(&load, NULL, NULL);
	change_in_place();
	ck_assert(!image_write(&load));
}
END_TEST

static void at_first_message(void *ctx, struct load *l, const struct message *msg, const struct record *r)
{
	(void)ctx, (void)msg, (void)r;
	if (l->model.records.n == 1)
		change_in_place();
}

START_TEST(not_of_one_that_was_changed_meanwhile)
{
	load_run(&load, at_first_message, NULL);
	ck_assert_uint_eq(load.model.records.n, 20);
	ck_assert(!image_write(&load));
}
END_TEST

/* Of sizes around those of the chunks and halves that it is computed in. */
START_TEST(every_byte_counts)
{
	static const size_t sizes[] = { 1, 4095, (256 << 10) - 1, 256 << 10, (512 << 10) + 1, 1300000 };
	size_t n = sizes[_i];
	char *bytes = calloc(1, n + 1);
	uint64_t sum;
	int fd;

	write_file(path, str_make(bytes, n + 1));
	fd = open(path, O_RDWR);
	sum = cache_checksum(fd, n);
	ck_assert_uint_ne(sum, 0);
	for (size_t at = 0; at < n; at += 1 + n / 17) {
		size_t where[] = { at, n - 1 - at };

		for (int i = 0; i < 2; i++) {
			ck_assert_int_eq(pwrite(fd, "x", 1, (off_t)where[i]), 1);
			ck_assert_uint_ne(cache_checksum(fd, n), sum);
			ck_assert_int_eq(pwrite(fd, "", 1, (off_t)where[i]), 1);
		}
	}
	ck_assert_int_eq(pwrite(fd, "x", 1, (off_t)n), 1);
	ck_assert_msg(cache_checksum(fd, n) == sum, "what is behind does not");
	ck_assert_uint_eq(cache_checksum(fd, n + 2), 0);
	close(fd);
	free(bytes);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("cache");
	TCase *t = tcase_create("images");

	tcase_add_checked_fixture(t, open_log, close_log);
	tcase_add_test(t, of_a_log_at_rest);
	tcase_add_test(t, not_of_one_that_has_grown_since);
	tcase_add_test(t, not_of_one_that_was_changed_since);
	tcase_add_test(t, not_of_one_that_was_changed_meanwhile);
	tcase_add_loop_test(t, every_byte_counts, 0, 6);
	suite_add_tcase(suite, t);
	return unit_run(suite);
}
