/* gavel SOURCE: the terminal UI, or the printed inbox where the output is not a terminal. */
#include "cmd/cmd.h"
#include "cmd/print.h"
#include "watch/watch.h"

#include <unistd.h>

int cmd_watch(struct options *o)
{
	if (!o->headless && !o->words.n && isatty(STDIN_FILENO))
		return print_trouble("no source; give a log, or try: gavel demo (all of it: gavel "
				     "--help)");
	/* what only the printed inbox can do is printed */
	if (o->headless || (isatty(STDOUT_FILENO) && !o->at && !o->since && !o->until &&
			    o->format == OUTPUT_TEXT))
		return watch_run(o);
	return show_inbox(o);
}
