/* The scripts that make a team's store. schema_text.c is made of the .sql files beside this one. */
#ifndef GAVEL_TEAM_TEAM_SCHEMA_H
#define GAVEL_TEAM_TEAM_SCHEMA_H

#include "base/buf.h"

extern const char schema_tables_1[];
extern const char schema_functions[];

/* Appends what brings a database from a version (0 = it has no store) to STORE_SCHEMA, as one script for
 * its owner; from STORE_SCHEMA, what makes sure that nothing is missing. */
void schema_script(int from, struct buf *out);

#endif
