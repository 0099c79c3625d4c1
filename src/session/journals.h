/* Finding the journals of all sources. */
#ifndef GAVEL_SESSION_JOURNALS_H
#define GAVEL_SESSION_JOURNALS_H

#include "base/mem.h"

/* Folders that contain a journal, sorted. */
struct journal_folders {
	VEC(char *) list;
};

/* In `given` and right below it; NULL = in the default folder. */
void journals_find(const char *given, struct journal_folders *out);
void journals_release(struct journal_folders *f);

#endif
