/* The journals below a folder, one for each source. */
#ifndef GAVEL_SESSION_JOURNALS_H
#define GAVEL_SESSION_JOURNALS_H

#include "base/mem.h"

/* Folders that hold a journal, sorted; each from malloc. */
struct folders {
	VEC(char *) list;
};

/* Below `given` (itself, where it is a journal's own folder), or the usual place. */
void folders_find(const char *given, struct folders *out);
void folders_release(struct folders *f);

#endif
