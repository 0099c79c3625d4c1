/* gavel SOURCE: the terminal UI, or the printed inbox where the output is not a terminal. */
#include "cmd/cmd.h"
#include "cmd/print.h"
#include "agents/running.h"
#include "watch/watch.h"

#include <stdlib.h>
#include <unistd.h>

/* The command that the first word was meant to be: it is like one and no file. */
static const struct command *meant(const struct options *o)
{
	const char *word = o->words.n ? o->words.v[0] : "";

	return *word && access(word, F_OK) < 0 ? command_near(word) : NULL;
}

/* The UI; on agents that run, if the sources are their captures. */
static int open_ui(struct options *o)
{
	struct agent_group g;
	int code;

	if (o->no_follow || !agent_group_find(&g, o->words.v, o->words.n))
		return watch_run(o);
	code = attach_to(o, &g);
	agent_group_release(&g);
	return code;
}

int cmd_watch(struct options *o)
{
	const struct command *near = meant(o);

	if (near)
		return print_trouble("%s: no such file or command; did you mean %s?",
				     o->words.v[0], near->name);
	configured_source(o, 0);
	if (!o->headless && !o->words.n && isatty(STDIN_FILENO))
		return print_trouble("no source; give a log, or try: gavel demo (all of it: gavel "
				     "--help)");
	/* what only the printed inbox can do is printed */
	if (o->headless || (isatty(STDOUT_FILENO) && !o->at && !o->since && !o->until &&
			    o->format == OUTPUT_TEXT))
		return open_ui(o);
	return show_inbox(o);
}
