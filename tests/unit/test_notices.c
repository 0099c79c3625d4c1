/* The program of notices.command: what it gets, and that it can neither hold up nor outlive gavel. */
#include "unit.h"

#include "base/buf.h"
#include "watch/notice_command.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/gavel-notices-XXXXXX";
static struct notice_command command;
static struct err err;

static void set_up(void)
{
	strcpy(folder + strlen(folder) - 6, "XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
	ck_assert_int_eq(chdir(folder), 0);
	command = (struct notice_command){ 0 };
	err.text[0] = '\0';
}

static void tear_down(void)
{
	char words[100];

	notice_command_end(&command);
	snprintf(words, sizeof(words), "rm -rf %s", folder);
	ck_assert_int_eq(chdir("/"), 0);
	ck_assert_int_eq(system(words), 0);
}

/* Starts sh with this script, at time 1000. */
static void start(const char *script, const char *input)
{
	char sh[] = "sh", c[] = "-c", word[400];
	char *argv[] = { sh, c, word, NULL };

	snprintf(word, sizeof(word), "%s", script);
	ck_assert_int_eq(notice_command_start(&command, argv, str_of(input), 1000, &err), 0);
	ck_assert_int_gt(command.pid, 0);
}

/* The result of the tick in which it is gone, all at time 1000 + ms. */
static int ended(int64_t ms)
{
	int64_t until = unit_now_ms() + 20000;
	int rc = 0;

	while (command.pid && unit_now_ms() < until) {
		rc = notice_command_tick(&command, 1000 + ms, &err);
		if (command.pid)
			poll(NULL, 0, 2);
	}
	ck_assert_int_eq(command.pid, 0);
	return rc;
}

/* The file once it is there. */
static const char *text_of(const char *file)
{
	static char text[8192];
	int64_t until = unit_now_ms() + 20000;
	FILE *f = NULL;
	size_t n;

	while (!(f = fopen(file, "r")) && unit_now_ms() < until)
		poll(NULL, 0, 2);
	ck_assert_ptr_nonnull(f);
	n = fread(text, 1, sizeof(text) - 1, f);
	fclose(f);
	text[n] = '\0';
	return text;
}

START_TEST(it_gets_the_input_and_its_end)
{
	start("cat >told", "{\"event\":\"opened\"}\n");
	ck_assert_int_eq(ended(0), 0);
	ck_assert_str_eq(text_of("told"), "{\"event\":\"opened\"}\n");
	/* whether it reads or not */
	start("exit 0", "{}\n");
	ck_assert_int_eq(ended(0), 0);
	ck_assert_int_eq(notice_command_tick(&command, 5000, &err), 0);
	ck_assert_int_eq(notice_command_wait_ms(&command, 5000), -1);
}
END_TEST

START_TEST(the_longest_input_does_not_block)
{
	char input[4097] = "";

	memset(input, 'x', 4096);
	start("wc -c >told", input);
	ck_assert_int_eq(ended(0), 0);
	ck_assert_int_eq(atoi(text_of("told")), 4096);
}
END_TEST

START_TEST(it_has_nothing_of_the_terminal)
{
	char wanted[100];

	/* its output, process group, session and controlling terminal */
	start("a=$(readlink /proc/$$/fd/1 /proc/$$/fd/2; cut -d' ' -f5-7 /proc/$$/stat); "
	      "echo \"$a\" >told", "");
	snprintf(wanted, sizeof(wanted), "/dev/null\n/dev/null\n%d %d 0\n", (int)command.pid,
		 (int)command.pid);
	ck_assert_int_eq(ended(0), 0);
	ck_assert_str_eq(text_of("told"), wanted);
}
END_TEST

START_TEST(signals_are_as_usual)
{
	sigset_t one;

	sigemptyset(&one);
	sigaddset(&one, SIGTERM);
	sigprocmask(SIG_BLOCK, &one, NULL);
	signal(SIGPIPE, SIG_IGN);
	start("kill -TERM $$; sleep 20", "");
	ck_assert_int_eq(ended(0), -1);
	assert_says(err, "killed by signal 15");
	start("kill -PIPE $$; sleep 20", "");
	ck_assert_int_eq(ended(0), -1);
	assert_says(err, "killed by signal 13");
}
END_TEST

START_TEST(failures_are_sentences)
{
	char program[] = "/nonexistent/tell", name[] = "gavel-no-such-program";
	char *argv[] = { program, NULL }, *by_name[] = { name, NULL };

	ck_assert_int_eq(notice_command_start(&command, argv, STR("{}"), 0, &err), -1);
	assert_says(err, "No such file or directory");
	ck_assert_int_eq(command.pid, 0);
	ck_assert_int_eq(notice_command_start(&command, by_name, STR("{}"), 0, &err), -1);
	assert_says(err, "No such file or directory");
	start("exit 3", "{}");
	ck_assert_int_eq(ended(0), -1);
	assert_says(err, "exit code 3");
}
END_TEST

/* Whether any process of this group is left, after at most some seconds. */
static bool group_is_gone(pid_t group)
{
	int64_t until = unit_now_ms() + 20000;

	while (kill(-group, 0) == 0 && unit_now_ms() < until)
		poll(NULL, 0, 2);
	return kill(-group, 0) < 0;
}

START_TEST(it_is_killed_in_time)
{
	pid_t pid;

	start("trap '' TERM INT HUP; sleep 100 & echo >told; wait; sleep 100", "{}");
	pid = command.pid;
	text_of("told");
	ck_assert_int_eq(notice_command_tick(&command, 1000 + NOTICE_COMMAND_MS - 1, &err), 0);
	ck_assert_int_eq(command.pid, pid);
	ck_assert_int_le(notice_command_wait_ms(&command, 1000), 1000);
	ck_assert_int_eq(notice_command_wait_ms(&command, 1000 + NOTICE_COMMAND_MS), 0);
	ck_assert_int_eq(notice_command_tick(&command, 1000 + NOTICE_COMMAND_MS, &err), -1);
	assert_says(err, "more than 10 s");
	ck_assert_int_eq(command.pid, 0);
	ck_assert(group_is_gone(pid));
}
END_TEST

START_TEST(it_does_not_outlive_gavel)
{
	pid_t pid;
	int64_t since;

	start("trap '' TERM; echo >told; sleep 100; sleep 100", "{}");
	pid = command.pid;
	text_of("told");
	since = unit_now_ms();
	notice_command_end(&command);
	ck_assert_int_lt(unit_now_ms() - since, 10000);
	ck_assert_int_eq(command.pid, 0);
	ck_assert(group_is_gone(pid));
	/* one that is about to end is left to */
	start("echo >done", "{}");
	notice_command_end(&command);
	ck_assert_int_eq(access("done", F_OK), 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("notices");
	TCase *t = unit_cases(suite, "command", set_up, tear_down);

	tcase_add_test(t, it_gets_the_input_and_its_end);
	tcase_add_test(t, the_longest_input_does_not_block);
	tcase_add_test(t, it_has_nothing_of_the_terminal);
	tcase_add_test(t, signals_are_as_usual);
	tcase_add_test(t, failures_are_sentences);
	tcase_add_test(t, it_is_killed_in_time);
	tcase_add_test(t, it_does_not_outlive_gavel);
	return unit_run(suite);
}
