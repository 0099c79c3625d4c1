/* Finding the journals of all sources, and whether their place can be trusted. */
#ifndef GAVEL_SESSION_JOURNALS_H
#define GAVEL_SESSION_JOURNALS_H

#include "base/err.h"
#include "base/mem.h"

/* Folders that contain a journal, sorted. */
struct journal_folders {
	VEC(char *) list;
};

/* In `given` and right below it; NULL = in the default folder. */
void journals_find(const char *given, struct journal_folders *out);
void journals_release(struct journal_folders *f);
/* -1 and the reason if the folder of journals or that of captures exists, and belongs to somebody else
 * or can be written to by others, who could then decide in this person's name. */
int journals_check_place(const char *given, struct err *err);

#endif
