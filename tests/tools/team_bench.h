/* What the parts of team_bench.c share. */
#ifndef GAVEL_TESTS_TEAM_BENCH_H
#define GAVEL_TESTS_TEAM_BENCH_H

#include "team_actors.h"

/* What all processes of a server have computed. */
double server_s(pid_t postmaster);
int bench_day(int argc, char **argv);
/* An address with %s for the login. */
struct store *open_as(const char *pattern, const char *login, const struct store_ops *ops);
/* NAME_mean, NAME_p50, NAME_p90, NAME_p99 and NAME_max, in ms; sorts them. */
void print_times(const char *name, int64_t *us, uint32_t n);

#endif
