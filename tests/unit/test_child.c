/* Agents through their holders: a scripted one (tests/tools/fake_agent.c) is started, attached to,
 * stopped, started again, killed with its holder. What the holder itself does is tested in
 * test_holder.c. */
#include "held.h"

#include <dirent.h>
#include <sys/stat.h>

static void write_text(const char *path, const char *bytes, mode_t mode)
{
	write_with(path, O_TRUNC, mode, str_of(bytes));
}

static void assert_status(const struct child *c, const char *want)
{
	struct buf words = { 0 };

	child_status_text(c, &words);
	ck_assert_str_eq(words.p, want);
	buf_release(&words);
}

static int count_fds(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int n = 0;

	ck_assert_ptr_nonnull(dir);
	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

/* ---- starting ---- */

static void refused(const char *program, const char *want)
{
	const char *argv[] = { program, "x", NULL };
	struct child_spec spec = { .name = "worker", .argv = argv, .head = "{\"head\":1}" };
	struct err err = { "" };

	ck_assert_ptr_null(child_start(pool, &spec, &err));
	ck_assert_str_eq(err.text, want);
	ck_assert_int_eq(access(path_of("worker.ndjson"), F_OK), -1);
	ck_assert_int_eq(access(path_of("worker.stderr"), F_OK), -1);
	ck_assert_int_eq(access(path_of("worker.sock"), F_OK), -1);
}

/* Only these: the holder's own path stays. */
static void clear_environment(void)
{
	char *holder = strdup(getenv("GAVEL_HOLDER"));

	clearenv();
	setenv("GAVEL_HOLDER", holder, 1);
	free(holder);
}

START_TEST(what_cannot_run_says_why)
{
	char want[600];

	clear_environment();
	setenv("PATH", "/usr/bin:relative:/bin", 1);
	setenv("OPENAI_API_KEY", "geheim", 1);
	refused("no-such-program", "worker: cannot run no-such-program: No such file or directory; "
				   "check the name, and its first line if it is a script; not passed "
				   "on (--env NAME): OPENAI_API_KEY, GAVEL_HOLDER");
	unsetenv("OPENAI_API_KEY");
	write_text(path_of("script"), "touch ran\n", 0700);
	snprintf(want, sizeof(want),
		 "worker: cannot run %s: Exec format error; not a program; a script begins with #! "
		 "and its interpreter; not passed on (--env NAME): GAVEL_HOLDER",
		 path_of("script"));
	refused(path_of("script"), want);
	write_text(path_of("lost"), "#!/no/such/interpreter\n", 0700);
	snprintf(want, sizeof(want),
		 "worker: cannot run %s: No such file or directory; check the name, and its first "
		 "line if it is a script; not passed on (--env NAME): GAVEL_HOLDER",
		 path_of("lost"));
	refused(path_of("lost"), want);
	ck_assert_ptr_null(children_find(pool, "worker"));
}
END_TEST

START_TEST(folders_and_names_are_checked)
{
	const char *argv[] = { fake_agent(), "stall", NULL }, *nothing[] = { NULL };
	struct child_spec spec = { .name = "worker", .argv = argv, .folder = "/no/such/folder" };
	static const char *const names[] = { "", ".hidden", "a/b", "a#1", "a b", "\xc3\xa4" };
	struct err err;

	ck_assert_ptr_null(child_start(pool, &spec, &err));
	ck_assert_str_eq(err.text, "worker: cannot work in /no/such/folder: No such file or "
				   "directory; check the folder");
	spec.folder = NULL;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		spec.name = names[i];
		ck_assert_ptr_null(child_start(pool, &spec, &err));
		assert_says(err, "is no name for an agent; use");
	}
	spec.name = "worker";
	spec.argv = nothing;
	ck_assert_ptr_null(child_start(pool, &spec, &err));
	assert_says(err, "no command to run");
	start("worker", "stall", NULL);
	spec.argv = argv;
	ck_assert_ptr_null(child_start(pool, &spec, &err));
	assert_says(err, "two agents have this name");
}
END_TEST

/* Of another gavel: its capture is locked. */
START_TEST(a_name_that_runs_elsewhere_is_taken)
{
	const char *argv[] = { fake_agent(), "stall", NULL };
	struct child_spec spec = { .name = "worker", .argv = argv };
	struct children *other;
	struct err err;

	start("worker", "stall", NULL);
	other = children_open(folder, &err);
	ck_assert_ptr_nonnull(other);
	ck_assert_ptr_null(child_start(other, &spec, &err));
	assert_says(err, "an agent of this name runs already");
	children_close(other);
	ck_assert_int_eq(access(path_of("worker.ndjson"), F_OK), 0);
}
END_TEST

START_TEST(words_arrive_as_they_are)
{
	struct child *c = start("worker", "show-args", "--", "a;b", "$(touch ran)", "two words", "",
				"*", "`id`", "'\"\\", NULL);

	wait_until(c->life == CHILD_OVER);
	ck_assert_str_eq(read_said("worker.ndjson"),
			 "a;b\n$(touch ran)\ntwo words\n\n*\n`id`\n'\"\\\n");
}
END_TEST

START_TEST(a_script_is_found_here_and_in_path)
{
	const char *argv[] = { "./agent", "a;b", "$x", NULL };
	struct child_spec spec = { .name = "worker", .argv = argv, .folder = "/" };
	struct child *c;
	struct err err;

	write_text(path_of("agent"), "#!/bin/sh\nprintf '%s\\n' \"$@\"\npwd\n", 0700);
	ck_assert_int_eq(chdir(folder), 0);
	/* taken from here, though it works elsewhere */
	c = child_start(pool, &spec, &err);
	ck_assert_msg(c != NULL, "%s", err.text);
	wait_until(c->life == CHILD_OVER);
	ck_assert_str_eq(read_said("worker.ndjson"), "a;b\n$x\n/\n");
	setenv("PATH", folder, 1);
	spec.name = "other";
	argv[0] = "agent";
	c = child_start(pool, &spec, &err);
	ck_assert_msg(c != NULL, "%s", err.text);
	wait_until(c->life == CHILD_OVER);
	ck_assert_str_eq(read_said("other.ndjson"), "a;b\n$x\n/\n");
}
END_TEST

START_TEST(the_environment_is_chosen)
{
	const char *argv[] = { fake_agent(), "show-env", NULL };
	const char *named[] = { "WANTED", "MY_TOKEN", "NOT_SET", NULL };
	struct child_spec spec = { .name = "worker", .argv = argv, .env = named };
	struct child *c;
	struct err err;
	char want[400];

	clear_environment();
	setenv(CHILD_MARK, "of another gavel", 1);
	setenv("PATH", "/bin", 1);
	setenv("HOME", "/h", 1);
	setenv("LC_ALL", "C", 1);
	setenv("XDG_STATE_HOME", "/s", 1);
	setenv("XDG_SECRET", "x", 1);
	setenv("LC_API_KEY", "x", 1);
	setenv("XDG_my_password_file", "x", 1);
	setenv("TERM", "xterm", 1);
	setenv("LD_PRELOAD", "", 1);
	setenv("PATHS", "x", 1);
	setenv("OTHER_TOKEN", "x", 1);
	setenv("WANTED", "w=1;$(id)", 1);
	setenv("MY_TOKEN", "t", 1);
	c = child_start(pool, &spec, &err);
	ck_assert_msg(c != NULL, "%s", err.text);
	wait_until(c->life == CHILD_OVER);
	snprintf(want, sizeof(want),
		 "PATH=/bin\nHOME=/h\nLC_ALL=C\nXDG_STATE_HOME=/s\nWANTED=w=1;$(id)\nMY_TOKEN=t\n"
		 "TERM=dumb\nGAVEL_AGENT=%s/worker.ndjson#1\n",
		 folder);
	ck_assert_str_eq(read_said("worker.ndjson"), want);
	ck_assert_str_eq(c->withheld, "XDG_SECRET, LC_API_KEY, XDG_my_password_file, OTHER_TOKEN, "
				      "GAVEL_HOLDER, LD_PRELOAD, PATHS");
}
END_TEST

START_TEST(it_has_its_own_session_descriptors_and_signals)
{
	const char *argv[] = { fake_agent(), "show-ids", "show-fds", "show-signals", NULL };
	struct child_spec spec = { .name = "worker", .argv = argv, .folder = folder };
	int leak = open("/dev/null", O_RDONLY), far = fcntl(leak, F_DUPFD, 200);
	struct child *c;
	struct err err;
	unsigned long long blocked = 1, ignored = 1;
	sigset_t set;
	char want[400];

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	c = child_start(pool, &spec, &err);
	ck_assert_msg(c != NULL, "%s", err.text);
	wait_until(c->life == CHILD_OVER);
	snprintf(want, sizeof(want), "pid %d group %d session %d\nfolder %s\n0\n1\n2\n", (int)c->pid,
		 (int)c->pid, (int)c->pid, folder);
	ck_assert_msg(strncmp(read_said("worker.ndjson"), want, strlen(want)) == 0, "%s", text.p);
	ck_assert_int_eq(
		sscanf(text.p + strlen(want), "SigBlk:%llx SigIgn:%llx", &blocked, &ignored), 2);
	ck_assert_uint_eq(blocked, 0);
	/* but for the two that libc keeps to itself */
	ck_assert_uint_eq(ignored & ~(3ULL << 31), 0);
	/* and ours are as they were */
	sigprocmask(SIG_SETMASK, NULL, &set);
	ck_assert(sigismember(&set, SIGUSR1));
	ck_assert(!sigismember(&set, SIGTERM));
	close(leak);
	close(far);
}
END_TEST

START_TEST(a_new_capture_gets_a_head)
{
	const char *argv[] = { fake_agent(), "say up", NULL };
	struct child_spec spec = { .name = "worker", .argv = argv, .head = "{\"head\":1}" };
	struct child *c;
	struct err err;

	c = child_start(pool, &spec, &err);
	ck_assert_msg(c != NULL, "%s", err.text);
	wait_until(c->life == CHILD_OVER);
	ck_assert_int_eq(child_restart(c, 0, 0, &err), 0);
	wait_until(c->life == CHILD_OVER);
	ck_assert_uint_eq(count_in("worker.ndjson", "{\"head\":1}"), 1);
	ck_assert_int_eq(strncmp(text.p, "\t{\"head\":1}\n\t{\"gavel\":\"run\"", 26), 0);
}
END_TEST

/* ---- ends ---- */

START_TEST(how_it_ended_is_told)
{
	struct child *three = start("three", "say x", "stderr oops", "exit 3", NULL);
	struct child *crash = start("crash", "crash", NULL);
	struct child *runs = start("runs", "stall", NULL);

	wait_until(three->life == CHILD_OVER && crash->life == CHILD_OVER);
	assert_status(three, "exit code 3");
	ck_assert(crash->end.by_signal);
	assert_status(runs, "runs");
	ck_assert_str_eq(read_said("three.ndjson"), "x\n");
	ck_assert_str_eq(read_whole("three.stderr"), "oops\n");
	ck_assert_uint_eq(three->err.source.end, 5);
}
END_TEST

START_TEST(stopping_takes_its_steps)
{
	struct child *c = start("worker", "ignore-term", "say up", "wait-for-line", "say bye", NULL);
	struct child *tough = start("tough", "ignore-term", "say up", "stall", NULL);
	struct buf left = { 0 };

	wait_until(has("worker.ndjson", "up\n") && has("tough.ndjson", "up\n"));
	child_stop(c, unit_now_ms(), PATIENCE_MS);
	ck_assert_int_eq(c->stop, CHILD_ASKED);
	child_end_input(c); /* as its protocol would */
	wait_until(c->life == CHILD_OVER);
	assert_status(c, "exit code 0");
	child_stop(tough, unit_now_ms(), 0);
	wait_until(tough->stop == CHILD_TERMED);
	ck_assert_int_eq(tough->life, CHILD_RUNS);
	children_kill(pool, &left);
	ck_assert_int_eq(tough->life, CHILD_OVER);
	ck_assert_int_eq(tough->stop, CHILD_KILLED);
	assert_status(tough, "signal 9 (Killed)");
	ck_assert_uint_eq(left.n, 0);
}
END_TEST

START_TEST(a_killed_holder_takes_its_agent_along)
{
	struct child *c = start("worker", "say up", "stall", NULL);
	pid_t holder = parent_of(c->pid), agent = c->pid;
	struct err err;

	wait_until(has("worker.ndjson", "up\n"));
	kill(holder, SIGKILL);
	wait_until(c->life == CHILD_OVER);
	assert_status(c, "ended, status unknown");
	wait_until(waitpid(agent, NULL, WNOHANG) == agent);
	/* what is left of it does not hinder the next */
	ck_assert_msg(child_restart(c, unit_now_ms(), 0, &err) == 0, "%s", err.text);
	keep_both(c);
	ck_assert_uint_eq(c->incarnation, 2);
	wait_until(strcmp(read_said("worker.ndjson"), "up\nup\n") == 0);
	ck_assert_int_eq(c->life, CHILD_RUNS);
}
END_TEST

/* It gets SIGTERM, but works on: it must not be started a second time. */
START_TEST(an_agent_that_survives_its_holder_is_told)
{
	struct child *c = start("worker", "ignore-term", "say up", "stall", NULL);
	struct children *other;
	struct err err;
	char want[80];

	wait_until(has("worker.ndjson", "up\n") && c->holder == HOLDER_RUNS);
	kill(parent_of(c->pid), SIGKILL);
	wait_until(c->holder == HOLDER_ABSENT);
	children_tick(pool, unit_now_ms() + PATIENCE_MS);
	ck_assert_int_eq(c->life, CHILD_OVER);
	snprintf(want, sizeof(want), "its holder was killed; pid %ld still runs", (long)c->pid);
	assert_status(c, want);
	ck_assert_int_eq(child_restart(c, unit_now_ms(), 0, &err), -1);
	assert_says(err, "still runs; kill it");
	ck_assert_uint_eq(c->incarnation, 1);
	other = children_open(folder, &err);
	assert_status(child_attach(other, "worker", &err), want);
	children_close(other);
	kill(c->pid, SIGKILL);
	wait_until(waitpid(c->pid, NULL, WNOHANG) == c->pid);
	children_tick(pool, unit_now_ms() + 2 * PATIENCE_MS);
	assert_status(c, "ended, status unknown");
	ck_assert_msg(child_restart(c, unit_now_ms(), 0, &err) == 0, "%s", err.text);
	keep_both(c);
}
END_TEST

/* A holder that the kernel does not let run for a while has not ended; nor is it waited for. What it
 * is to do meanwhile, it does later. */
START_TEST(a_slow_holder_is_not_an_end)
{
	struct child *c = start("worker", "say up", "wait-for-line", NULL), *again;
	pid_t holder = parent_of(c->pid);
	int64_t begin;
	struct err err;

	wait_until(has("worker.ndjson", "up\n"));
	kill(holder, SIGSTOP);
	children_close(pool);
	pool = children_open(folder, &err);
	again = child_attach(pool, "worker", &err);
	ck_assert_msg(again != NULL, "%s", err.text);
	ck_assert_uint_eq(again->incarnation, 1);
	assert_status(again, "runs");
	begin = unit_now_ms();
	for (int i = 0; i < 40; i++) {
		children_tick(pool, begin + i * 1000);
		ck_assert_int_eq(again->holder, HOLDER_SILENT);
	}
	ck_assert_int_lt(unit_now_ms() - begin, 20 * HOLDER_WAIT_MS);
	ck_assert_int_eq(children_wait_ms(pool, begin), -1);
	assert_says(again->why, "does not respond");
	assert_status(again, "does not respond");
	child_end_input(again);
	kill(holder, SIGCONT);
	wait_until(again->life == CHILD_OVER);
	assert_status(again, "exit code 0");
	ck_assert_int_eq(again->holder, HOLDER_ABSENT);
}
END_TEST

START_TEST(a_stop_before_it_is_connected_is_kept)
{
	struct child *c = start("worker", "stall", NULL);

	ck_assert_int_ne(c->holder, HOLDER_RUNS);
	child_stop(c, unit_now_ms(), 0);
	wait_until(c->life == CHILD_OVER);
	assert_status(c, "signal 15 (Terminated)");
}
END_TEST

START_TEST(who_cannot_be_reached_has_a_reason)
{
	struct child *c = start("worker", "stall", NULL);
	struct holder_link links[20];
	struct holder_greeting h;
	struct err err;
	int n = 0;

	wait_until(c->holder == HOLDER_RUNS);
	buf_adds(&c->link.in, "S te"); /* the rest of a line is waited for by its descriptor */
	ck_assert_int_eq(children_wait_ms(pool, unit_now_ms()), -1);
	buf_clear(&c->link.in);
	ck_assert_int_eq(holder_ask(path_of("nobody.ndjson"), NULL, &h, &err), HOLDER_ABSENT);
	assert_says(err, "nobody.ndjson: its agent does not run");
	chmod(folder, 0770);
	ck_assert_int_eq(holder_ask(c->capture, NULL, &h, &err), HOLDER_REFUSED);
	assert_says(err, "write");
	chmod(folder, 0700);
	while (n < 20 && holder_ask(c->capture, &links[n], &h, &err) == HOLDER_RUNS)
		n++;
	ck_assert_int_eq(n, 15); /* the pool has one */
	ck_assert_int_eq(holder_ask(c->capture, NULL, &h, &err), HOLDER_BUSY);
	assert_says(err, "too many programs are connected");
	ck_assert(!holder_say(&links[0], "%0600d", 0)); /* not in parts, either */
	while (n > 0)
		holder_close(&links[--n]);
}
END_TEST

/* ---- records ---- */

static int reads;

static ssize_t count_pread(int fd, void *to, size_t n, off_t at)
{
	reads++;
	return pread(fd, to, n, at);
}

START_TEST(the_end_is_read_from_the_end)
{
	struct buf capture = { 0 };
	struct capture_end end;
	uint64_t start;
	int fd;

	buf_adds(&capture, "\t{\"gavel\":\"capture\"}\n");
	start = capture.n;
	buf_adds(&capture, "\t{\"gavel\":\"run\",\"n\":2,\"pid\":7,\"t\":1}\n");
	for (int i = 0; i < 5000; i++)
		buf_adds(&capture, "a\tb, \t{\"gavel\":\"exit\",\"n\":2,\"code\":1} of another line\n");
	buf_adds(&capture, "\t{\"gavel\":\"to\",\"id\":\"m-1\",\"t\":1}\n"
			   "\t{\"gavel\":\"exit\",\"n\":2,\"code\":4,\"t\":1}\n");
	write_text(path_of("x.ndjson"), capture.p, 0600);
	fd = open(path_of("x.ndjson"), O_RDONLY | O_CLOEXEC);
	capture_read_end(fd, start, &end);
	ck_assert_uint_eq(end.run, 2);
	ck_assert_int_eq(end.pid, 7);
	ck_assert(!end.ended); /* that was said to the agent */
	ck_assert_int_eq(capture_find_letter(fd, start, 2, "m-1"), CAPTURE_HAS_LETTER);
	ck_assert_int_eq(capture_find_letter(fd, start, 2, "m-2"), CAPTURE_NOT_YET);
	close(fd);
	buf_adds(&capture, "\t{\"gavel\":\"exit\",\"n\":2,\"signal\":9,\"t\":1,\"unread\":3,"
			   "\"id\":\"m-1\",\"left\":[8,9]}\nnoted\n");
	write_text(path_of("x.ndjson"), capture.p, 0600);
	fd = open(path_of("x.ndjson"), O_RDONLY | O_CLOEXEC);
	io.pread = count_pread;
	capture_read_end(fd, start, &end);
	ck_assert_int_le(reads, 4);
	ck_assert(end.ended && end.by_signal && end.number == 9);
	ck_assert_str_eq(end.unread, "m-1");
	ck_assert_uint_eq(end.unread_n, 3);
	ck_assert_str_eq(end.left, "8,9");
	ck_assert_uint_eq(end.start, start);
	capture_read_end(fd, 0, &end);
	ck_assert_uint_eq(end.start, start);
	ck_assert(end.ended);
	ck_assert_int_eq(capture_find_letter(fd, start, 2, "m-2"), CAPTURE_NEVER);
	close(fd);
	buf_release(&capture);
}
END_TEST

/* ---- again ---- */

static const char *path_to(const struct child *c)
{
	static struct buf path;

	buf_clear(&path);
	child_path(c, &path);
	return path.p;
}

START_TEST(a_restart_is_another_incarnation)
{
	struct child *c = start("worker", "partial cut o", "stderr oops", "exit 4", NULL);
	char *first = strdup(path_to(c));
	struct buf path = { 0 };
	struct err err;

	ck_assert_uint_eq(c->incarnation, 1);
	ck_assert_uint_eq(holder_split(first, &path), 1);
	ck_assert_str_eq(path.p, path_of("worker.ndjson"));
	wait_until(c->life == CHILD_OVER);
	buf_clear(&path);
	child_next_path(c, &path);
	ck_assert_int_eq(child_restart(c, unit_now_ms(), 0, &err), 0);
	ck_assert_uint_eq(c->incarnation, 2);
	ck_assert_str_eq(path_to(c), path.p);
	ck_assert_str_ne(path_to(c), first);
	wait_until(c->life == CHILD_OVER);
	ck_assert_str_eq(read_said("worker.ndjson"), "cut o\ncut o\n");
	ck_assert_str_eq(read_whole("worker.stderr"), "oops\noops\n");
	ck_assert_uint_eq(c->err.began, 5);
	read_whole("worker.ndjson");
	ck_assert_int_eq(strncmp(text.p + c->out.began, "\t{\"gavel\":\"run\",\"n\":2,", 22), 0);
	free(first);
	buf_release(&path);
}
END_TEST

START_TEST(a_restart_ends_what_runs_first)
{
	struct child *c = start("worker", "say up", "stall", NULL);
	struct err err;

	wait_until(has("worker.ndjson", "up\n"));
	ck_assert_int_eq(child_restart(c, unit_now_ms(), 0, &err), 0);
	ck_assert_uint_eq(c->incarnation, 1);
	wait_until(c->incarnation == 2);
	keep_both(c);
	wait_until(strcmp(read_said("worker.ndjson"), "up\nup\n") == 0);
	/* stopping calls a restart off */
	ck_assert_int_eq(child_restart(c, unit_now_ms(), PATIENCE_MS, &err), 0);
	child_stop(c, unit_now_ms(), 0);
	wait_until(c->life == CHILD_OVER);
	ck_assert_uint_eq(c->incarnation, 2);
	assert_status(c, "signal 15 (Terminated)");
}
END_TEST

START_TEST(a_restart_that_fails_says_so)
{
	const char *argv[] = { path_of("agent"), NULL };
	struct child_spec spec = { .name = "worker", .argv = argv };
	struct child *c;
	struct err err;

	write_text(path_of("agent"), "#!/bin/sh\nread line\n", 0700);
	c = child_start(pool, &spec, &err);
	ck_assert_msg(c != NULL, "%s", err.text);
	keep_both(c);
	unlink(path_of("agent"));
	ck_assert_int_eq(child_restart(c, unit_now_ms(), 0, &err), 0);
	wait_until(c->life == CHILD_OVER);
	assert_says(c->trouble, "worker: cannot run");
	ck_assert_uint_eq(c->incarnation, 1);
	ck_assert_int_eq(child_restart(c, unit_now_ms(), 0, &err), -1);
	assert_says(err, "worker: cannot run");
	ck_assert(has("worker.ndjson", "\"n\":1,"));
}
END_TEST

START_TEST(restarts_leak_nothing)
{
	struct child *c = start("worker", "say x", "exit 0", NULL);
	struct err err;
	int before;

	wait_until(c->life == CHILD_OVER);
	before = count_fds();
	for (unsigned i = 2; i <= 10; i++) {
		ck_assert_int_eq(child_restart(c, unit_now_ms(), 0, &err), 0);
		ck_assert_uint_eq(c->incarnation, i);
		wait_until(c->life == CHILD_OVER);
	}
	ck_assert_int_eq(count_fds(), before);
	ck_assert_str_eq(read_said("worker.ndjson"), "x\nx\nx\nx\nx\nx\nx\nx\nx\nx\n");
}
END_TEST

START_TEST(each_turn_has_its_own_words)
{
	const char *first[] = { fake_agent(), "show-args", "partial cut", "wait-for-line", "--", "one",
				NULL };
	const char *second[] = { fake_agent(), "show-args", "exit 3", "--", "two", "words", NULL };
	struct child_spec spec = { .name = "reviewer", .argv = first, .head = "{\"head\":1}" };
	struct child *c;
	struct err err;

	c = child_add(pool, &spec, &err);
	ck_assert_msg(c != NULL, "%s", err.text);
	ck_assert_int_eq(c->life, CHILD_OVER);
	ck_assert_uint_eq(c->incarnation, 0);
	ck_assert_int_eq(child_turn(c, first, &err), 0);
	keep_both(c);
	ck_assert_int_eq(child_turn(c, second, &err), -1);
	assert_says(err, "is not over");
	ck_assert_int_eq(child_capture_append(c, STR("no\n"), &err), -1);
	child_end_input(c);
	wait_until(c->life == CHILD_OVER);
	ck_assert_int_eq(child_capture_append(c, STR("noted\n"), &err), 0);
	ck_assert_int_eq(child_turn(c, second, &err), 0);
	ck_assert_uint_eq(c->incarnation, 2);
	wait_until(c->life == CHILD_OVER);
	assert_status(c, "exit code 3");
	ck_assert_str_eq(read_said("reviewer.ndjson"), "one\ncut\nnoted\ntwo\nwords\n");
}
END_TEST

/* ---- attaching ---- */

START_TEST(attaches_to_one_that_runs)
{
	struct child *c = start("worker", "say up", "stderr oh", "wait-for-line", "say bye", "exit 5",
				NULL);
	pid_t pid = c->pid;
	uint64_t began = c->out.began;
	struct err err;

	wait_until(has("worker.ndjson", "up\n"));
	children_close(pool); /* gavel ends, the agent goes on */
	pool = children_open(folder, &err);
	c = child_attach(pool, "worker", &err);
	ck_assert_msg(c != NULL, "%s", err.text);
	ck_assert_int_eq(c->life, CHILD_RUNS);
	ck_assert_int_eq(c->pid, pid);
	ck_assert_uint_eq(c->incarnation, 1);
	ck_assert_uint_eq(c->out.began, began);
	assert_status(c, "runs");
	ck_assert_int_eq(child_restart(c, unit_now_ms(), 0, &err), -1);
	assert_says(err, "does not have its whole command");
	child_end_input(c);
	wait_until(c->life == CHILD_OVER);
	assert_status(c, "exit code 0");
	ck_assert_str_eq(read_said("worker.ndjson"), "up\n");
}
END_TEST

START_TEST(attaches_to_one_that_ended)
{
	struct child *c = start("worker", "exit 3", NULL);
	struct err err;

	wait_until(c->life == CHILD_OVER);
	ck_assert_int_eq(child_restart(c, unit_now_ms(), 0, &err), 0);
	wait_until(c->life == CHILD_OVER);
	children_close(pool);
	pool = children_open(folder, &err);
	c = child_attach(pool, "worker", &err);
	ck_assert_msg(c != NULL, "%s", err.text);
	ck_assert_int_eq(c->life, CHILD_OVER);
	ck_assert_uint_eq(c->incarnation, 2);
	assert_status(c, "exit code 3");
	ck_assert_ptr_null(child_attach(pool, "nobody", &err));
	assert_says(err, "nobody.ndjson");
}
END_TEST

/* While it is looked at: how the old run ended is told, then the new one is followed. */
START_TEST(a_restart_by_another_gavel_is_followed)
{
	struct child *own = start("worker", "say up", "wait-for-line", NULL), *c;
	struct children *other;
	uint64_t began;
	struct err err;

	wait_until(has("worker.ndjson", "up\n"));
	other = children_open(folder, &err);
	c = child_attach(other, "worker", &err);
	/* looks at each step; when the next one runs already; when that has ended already */
	for (unsigned run = 2; run <= 5; run++) {
		if (run < 5) /* the fourth was stopped */
			child_stop(own, unit_now_ms(), 0);
		wait_until(own->life == CHILD_OVER);
		if (run == 2)
			wait_until((children_tick(other, unit_now_ms()), c->life == CHILD_OVER));
		ck_assert_int_eq(child_restart(own, unit_now_ms(), 0, &err), 0);
		keep_both(own);
		began = own->out.began;
		if (run == 4) {
			child_stop(own, unit_now_ms(), 0);
			wait_until(own->life == CHILD_OVER);
		}
		while (c->life == CHILD_RUNS)
			children_tick(other, unit_now_ms());
		assert_status(c, "signal 15 (Terminated)");
		ck_assert_uint_eq(c->incarnation, run - 1);
		ck_assert_int_eq(children_wait_ms(other, unit_now_ms()), 0);
		children_tick(other, unit_now_ms());
		ck_assert_uint_eq(c->incarnation, run);
		ck_assert_uint_ge(c->out.began, run == 4 ? 0 : began);
		wait_until((children_tick(other, unit_now_ms()),
			    c->holder == (run == 4 ? HOLDER_ABSENT : HOLDER_RUNS)));
	}
	ck_assert_uint_eq(c->out.began, began);
	ck_assert_int_eq(c->pid, own->pid);
	child_end_input(c); /* by a connection to the run that is shown */
	wait_until((children_tick(other, unit_now_ms()), c->life == CHILD_OVER));
	assert_status(c, "exit code 0");
	ck_assert_uint_eq(c->out.source.end, strlen(read_whole("worker.ndjson")));
	children_close(other);
}
END_TEST

START_TEST(attaches_to_one_whose_holder_was_killed)
{
	struct child *c = start("worker", "say up", "stall", NULL);
	struct err err;

	wait_until(has("worker.ndjson", "up\n"));
	kill(parent_of(c->pid), SIGKILL);
	wait_until(c->life == CHILD_OVER);
	children_close(pool);
	pool = children_open(folder, &err);
	c = child_attach(pool, "worker", &err);
	ck_assert_msg(c != NULL, "%s", err.text);
	ck_assert_int_eq(c->life, CHILD_OVER);
	ck_assert_uint_eq(c->incarnation, 1);
	assert_status(c, "ended, status unknown");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("child");
	TCase *t;

	t = unit_cases(suite, "start", held_open, held_close);
	tcase_add_test(t, what_cannot_run_says_why);
	tcase_add_test(t, folders_and_names_are_checked);
	tcase_add_test(t, a_name_that_runs_elsewhere_is_taken);
	tcase_add_test(t, words_arrive_as_they_are);
	tcase_add_test(t, a_script_is_found_here_and_in_path);
	tcase_add_test(t, the_environment_is_chosen);
	tcase_add_test(t, it_has_its_own_session_descriptors_and_signals);
	tcase_add_test(t, a_new_capture_gets_a_head);

	t = unit_cases(suite, "end", held_open, held_close);
	tcase_add_test(t, how_it_ended_is_told);
	tcase_add_test(t, stopping_takes_its_steps);
	tcase_add_test(t, a_killed_holder_takes_its_agent_along);
	tcase_add_test(t, an_agent_that_survives_its_holder_is_told);
	tcase_add_test(t, a_slow_holder_is_not_an_end);
	tcase_add_test(t, a_stop_before_it_is_connected_is_kept);
	tcase_add_test(t, who_cannot_be_reached_has_a_reason);
	tcase_add_test(t, the_end_is_read_from_the_end);

	t = unit_cases(suite, "again", held_open, held_close);
	tcase_add_test(t, a_restart_is_another_incarnation);
	tcase_add_test(t, a_restart_ends_what_runs_first);
	tcase_add_test(t, a_restart_that_fails_says_so);
	tcase_add_test(t, restarts_leak_nothing);
	tcase_add_test(t, each_turn_has_its_own_words);

	t = unit_cases(suite, "attach", held_open, held_close);
	tcase_add_test(t, attaches_to_one_that_runs);
	tcase_add_test(t, attaches_to_one_that_ended);
	tcase_add_test(t, attaches_to_one_whose_holder_was_killed);
	tcase_add_test(t, a_restart_by_another_gavel_is_followed);
	return unit_run(suite);
}
