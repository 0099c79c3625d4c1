/* gavel demo: the built-in session; on a terminal with journal, replies and queue in a temporary
 * folder, so that nothing of the person's is touched. */
#include "base/io.h"
#include "cmd/cmd.h"
#include "watch/watch.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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
	struct buf dir = { 0 }, journal = { 0 }, reply = { 0 }, queue = { 0 };
	int code;

	buf_printf(&dir, "%s/gavel-demo-XXXXXX", io_temp_folder());
	if (!mkdtemp(dir.p)) {
		fprintf(stderr, "gavel: %s: %s; set TMPDIR to a folder that can be written\n", dir.p,
			strerror(errno));
		buf_release(&dir);
		return EXIT_TROUBLE;
	}
	buf_printf(&journal, "%s/journal", dir.p);
	buf_printf(&reply, "%s/replies.ndjson", dir.p);
	buf_printf(&queue, "%s/queue.ndjson", dir.p);
	if (!o->journal)
		o->journal = journal.p;
	if (!o->reply)
		o->reply = reply.p;
	if (!o->escalate_to)
		o->escalate_to = queue.p;
	o->no_follow = true;
	o->words.n = 0;
	vec_push(&o->words, source);
	code = watch_run(o);
	nftw(dir.p, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	buf_release(&dir);
	buf_release(&journal);
	buf_release(&reply);
	buf_release(&queue);
	return code;
}

int cmd_demo(struct options *o)
{
	const char *dir = getenv("GAVEL_DATADIR");
	struct buf path = { 0 };
	int code = EXIT_TROUBLE;

	buf_printf(&path, "%s/demo.ndjson", dir && *dir ? dir : PKGDATADIR);
	if (access(path.p, R_OK) < 0)
		fprintf(stderr, "gavel: %s: %s; make install puts the demo there, or GAVEL_DATADIR names "
				"the folder that has it\n", path.p, strerror(errno));
	else if (o->headless || isatty(STDOUT_FILENO))
		code = run_demo(o, path.p);
	else
		code = show_demo(o, path.p);
	buf_release(&path);
	return code;
}
