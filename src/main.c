/* main: process setup, option parsing, dispatch to a command. */
#include "base/stack.h"
#include "cmd/cmd.h"
#include "cmd/print.h"
#include "config/config.h"
#include "session/cache.h"
#include "session/journals.h"
#include "team/store.h"

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <signal.h>
#include <stdio.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

enum { BIG_BLOCK_BYTES = 256 << 10 };

static int (*const commands[])(struct options *o) = {
	[COMMAND_WATCH] = cmd_watch,
	[COMMAND_RUN] = cmd_run,
	[COMMAND_REVIEW] = cmd_review,
	[COMMAND_SHOW] = cmd_show,
	[COMMAND_REPLAY] = cmd_replay,
	[COMMAND_CHECK] = cmd_check,
	[COMMAND_DECIDE] = cmd_decide,
	[COMMAND_JOURNAL] = cmd_journal,
	[COMMAND_AGENTS] = cmd_agents,
	[COMMAND_TEAM] = cmd_team,
	[COMMAND_SHIP] = cmd_ship,
	[COMMAND_PURGE] = cmd_purge,
	[COMMAND_DEMO] = cmd_demo,
	[COMMAND_HELP] = cmd_help,
};

/* Makes a file at its size limit a write error, like a full disk, instead of the default action. A
 * handler, as SIG_IGN would be inherited by editors and agents. */
static void on_file_limit(int number)
{
	(void)number;
}

/* Opens /dev/null on closed standard descriptors; otherwise the next file opened, the journal say,
 * would get the number, and the output. In the wrong mode, so that I/O on them still fails. */
static void fill_standard_descriptors(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 &&
		    open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd)
			_exit(EXIT_TROUBLE);
}

/* Fixed thresholds: glibc would raise them after the first big list was freed, and then keep the
 * memory of later ones in its heap, fragmented, instead of returning it to the system. */
static void tune_malloc(void)
{
#ifdef __GLIBC__
	mallopt(M_MMAP_THRESHOLD, BIG_BLOCK_BYTES);
	mallopt(M_TRIM_THRESHOLD, 2 * BIG_BLOCK_BYTES);
#endif
}

/* Whoever can write to configuration or journals decides in this person's name. -1: refused. */
static int check_places(const struct options *o, struct err *err)
{
	enum command_id id = o->command->id;
	bool configured = id != COMMAND_HELP && id != COMMAND_JOURNAL && id != COMMAND_PURGE &&
			  id != COMMAND_AGENTS && id != COMMAND_TEAM;
	bool journals = id != COMMAND_HELP && id != COMMAND_TEAM && (id != COMMAND_DEMO || o->journal);

	if (configured && config_check(o->config, err))
		return -1;
	return journals ? journals_check_place(o->journal, err) : 0;
}

int main(int argc, char **argv)
{
	struct options o;
	struct err err;
	struct buf help = { 0 };
	int code;

	stack_guard();
	fill_standard_descriptors();
	tune_malloc();
	signal(SIGXFSZ, on_file_limit);
	setlocale(LC_ALL, "");
	setlocale(LC_NUMERIC, "C"); /* JSON has no decimal commas */
	if (getrandom(&hash_seed, sizeof(hash_seed), GRND_NONBLOCK) < 0)
		hash_seed ^= (uint64_t)time(NULL);
	cache_seed();
	if (options_parse(&o, argc - 1, argv + 1, &err)) {
		code = print_trouble("%s", err.text);
	} else if (o.version) {
		say("gavel %s, %s", PACKAGE_VERSION, store_engine());
		code = EXIT_FINE;
	} else if (o.help) {
		options_help(o.command, &help);
		say_own(buf_str(&help));
		buf_release(&help);
		code = EXIT_FINE;
	} else if (check_places(&o, &err)) {
		code = print_trouble("%s", err.text);
	} else {
		code = commands[o.command->id](&o);
	}
	options_release(&o);
	/* a full disk or a closed pipe must not pass for success */
	if (fflush(stdout) || ferror(stdout)) {
		if (errno != EPIPE)
			say_error("cannot write the output: %s", strerror(errno));
		return EXIT_TROUBLE;
	}
	return code;
}
