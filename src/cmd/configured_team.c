/* The team's store of the configuration, where the command line names none. */
#include "cmd/cmd.h"
#include "config/config.h"

#include <unistd.h>

const char *configured_team(struct options *o)
{
	struct config c;

	config_load(&c, o->config);
	free(o->team_url);
	o->team_url = c.team_url ? xstrdup(c.team_url) : NULL;
	config_release(&c);
	return o->team_url;
}

void configured_source(struct options *o, uint32_t words)
{
	if (o->words.n == words && isatty(STDIN_FILENO) && configured_team(o))
		vec_push(&o->words, o->team_url);
}
