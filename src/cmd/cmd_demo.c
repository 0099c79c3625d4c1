/* gavel demo: the built-in session, with journal, replies and queue in a temporary folder. */
#include "base/io.h"
#include "cmd/cmd.h"
#include "cmd/print.h"
#include "watch/watch.h"

#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *place)
{
	(void)st;
	(void)type;
	(void)place;
	return remove(path);
}

static int run_demo(struct options *o, const char *source)
{
	struct arena arena = { 0 };
	char *dir = arena_printf(&arena, "%s/gavel-demo-XXXXXX", io_temp_folder());
	int code;

	if (!mkdtemp(dir)) {
		code = print_trouble("%s: %s; set TMPDIR to a folder that can be written", dir,
				     strerror(errno));
		arena_release(&arena);
		return code;
	}
	o->keeps_nothing = !o->journal;
	if (!o->journal)
		o->journal = arena_printf(&arena, "%s/journal", dir);
	if (!o->reply)
		o->reply = arena_printf(&arena, "%s/replies.ndjson", dir);
	if (!o->escalate_to)
		o->escalate_to = arena_printf(&arena, "%s/queue.ndjson", dir);
	o->no_follow = true;
	o->words.n = 0;
	vec_push(&o->words, source);
	code = watch_run(o);
	nftw(dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	arena_release(&arena);
	return code;
}

/* The demo session beside a program that was built and not installed: configure links it into the
 * build folder. Whoever could put another one there could replace the program as well. */
static bool find_built(struct buf *path)
{
	char program[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", program, sizeof(program));
	const char *slash = n > 0 && n < PATH_MAX ? memrchr(program, '/', (size_t)n) : NULL;

	if (!slash)
		return false;
	buf_printf(path, "%.*s/data/demo.ndjson", (int)(slash - program), program);
	if (access(path->p, R_OK) == 0)
		return true;
	buf_clear(path);
	return false;
}

int cmd_demo(struct options *o)
{
	const char *dir = getenv("GAVEL_DATADIR");
	struct buf path = { 0 };
	int code = EXIT_TROUBLE;

	if (dir && *dir)
		buf_printf(&path, "%s/demo.ndjson", dir);
	else if (!find_built(&path))
		buf_adds(&path, PKGDATADIR "/demo.ndjson");
	if (access(path.p, R_OK) < 0)
		print_trouble("%s: %s; make install puts the demo there, or GAVEL_DATADIR names "
			      "the folder that has it", path.p, strerror(errno));
	else if (o->headless || isatty(STDOUT_FILENO))
		code = run_demo(o, path.p);
	else
		code = show_demo(o, path.p);
	buf_release(&path);
	return code;
}
