/* What the parts of team_bench.c share. */
#ifndef GAVEL_TESTS_TEAM_BENCH_H
#define GAVEL_TESTS_TEAM_BENCH_H

#include "session/team_internal.h"
#include "team_actors.h"

/* What a screen asks: what has happened behind $1, and the items $1 = {ID,…} as they are now. */
#define EVENTS_SQL \
	"select " CHAIN_COLUMNS " from gavel.event where n > $1::bigint order by n limit 1000"
#define ITEMS_SQL \
	"select " TEAM_COLUMNS " from " TEAM_JOINS \
	" where i.id = any ($1::text::bigint[]) order by i.id"

/* Asks without waiting for the answer. */
void ask_later(struct store *s, const char *sql, const struct store_value *values, unsigned n,
	       void (*done)(void *, const struct store_answer *), void *ctx);
/* What all processes of a server have computed. */
double server_s(pid_t postmaster);
int bench_day(int argc, char **argv);
/* An address with %s for the login. */
struct store *open_as(const char *pattern, const char *login, const struct store_ops *ops);
/* NAME_mean, NAME_p50, NAME_p90, NAME_p99 and NAME_max, in ms; sorts them. */
void print_times(const char *name, int64_t *us, uint32_t n);

#endif
