/* The address of a team's store, as it is given on the command line and in the configuration:
 *
 *   postgresql://[USER@]HOST[:PORT][,HOST…][/DATABASE][?NAME=VALUE&…]
 *
 * as libpq takes it, with one name more: source=NAME, a single source of the store. A socket is a host
 * that is a path: postgresql:///team?host=/run/postgresql, or no host at all.
 *
 * A password is refused: it would be in the list of processes, the shell's history and gavel's own
 * sentences. libpq finds it in ~/.pgpass, PGPASSFILE or PGPASSWORD. */
#ifndef GAVEL_TEAM_TEAM_URL_H
#define GAVEL_TEAM_TEAM_URL_H

#include "base/err.h"
#include "base/str.h"

#include <stdbool.h>

struct team_url {
	char *libpq;  /* without source= */
	char *group;  /* the address without user and settings: the same for everybody in the team */
	char *source; /* decoded; NULL = all of them */
	bool local;   /* all of its hosts are sockets */
};

/* Whether a SOURCE argument is such an address and not the name of a file. */
bool team_url_is(const char *word);
/* -1 and a sentence, in which no password is repeated. Released by team_url_release, also then. */
int team_url_parse(struct team_url *u, const char *word, struct err *err);
void team_url_release(struct team_url *u);

#endif
