/* Options → command. */
#include "cmd/cmd.h"
#include "session/cache.h"

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <signal.h>
#include <stdio.h>
#include <string.h>
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
	[COMMAND_PURGE] = cmd_purge,
	[COMMAND_DEMO] = cmd_demo,
	[COMMAND_HELP] = cmd_help,
};

/* A file that may not grow is an error like a full disk, not the end. A handler, since what is
 * ignored would be so in an editor, too. */
static void on_file_limit(int number)
{
	(void)number;
}

/* A standard descriptor that is closed would be the next file's that is opened: what is printed
 * would go into the journal. Something must be there; what is there can be written to, or read, as
 * little as before, so that it does not pass for success. */
static void hold_descriptors(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 &&
		    open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd)
			_exit(EXIT_TROUBLE);
}

/* Lists as long as the log come and go. Left alone, glibc learns from the first of them to keep such
 * memory for the next one, between other blocks, from where it does not go back to the system. */
static void give_memory_back(void)
{
#ifdef __GLIBC__
	mallopt(M_MMAP_THRESHOLD, BIG_BLOCK_BYTES);
	mallopt(M_TRIM_THRESHOLD, 2 * BIG_BLOCK_BYTES);
#endif
}

int main(int argc, char **argv)
{
	struct options o;
	struct err err;
	struct buf help = { 0 };
	int code;

	hold_descriptors();
	give_memory_back();
	signal(SIGXFSZ, on_file_limit);
	setlocale(LC_ALL, "");
	setlocale(LC_NUMERIC, "C"); /* JSON has no decimal commas */
	if (getrandom(&hash_seed, sizeof(hash_seed), GRND_NONBLOCK) < 0)
		hash_seed ^= (uint64_t)time(NULL);
	cache_seed();
	if (options_parse(&o, argc - 1, argv + 1, &err)) {
		fprintf(stderr, "gavel: %s\n", err.text);
		code = EXIT_TROUBLE;
	} else if (o.version) {
		printf("gavel %s\n", PACKAGE_VERSION);
		code = EXIT_FINE;
	} else if (o.help) {
		options_help(o.command, &help);
		fwrite(help.p, 1, help.n, stdout);
		buf_release(&help);
		code = EXIT_FINE;
	} else {
		code = commands[o.command->id](&o);
	}
	options_release(&o);
	/* a full disk or a closed pipe must not pass for success */
	if (fflush(stdout) || ferror(stdout)) {
		if (errno != EPIPE)
			fprintf(stderr, "gavel: cannot write the output: %s\n", strerror(errno));
		return EXIT_TROUBLE;
	}
	return code;
}
