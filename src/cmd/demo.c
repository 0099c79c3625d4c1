/* gavel demo on a terminal: the built-in session, with a desk that is thrown away. What is decided
 * there is recorded and sent like everything else, into a folder that is gone when the demo is. */
#include "base/io.h"
#include "cmd/options.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *place)
{
	(void)st;
	(void)type;
	(void)place;
	return remove(path);
}

int demo_run(struct options *o, const char *source)
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
