/* What the screen remembers from one run to the next: `screen.json` in the folder of the journals
 * (desk_base), so that with --journal, and in the demo, nothing of the person's is read or changed.
 * It holds conveniences only: a file that cannot be read is as good as none. */
#ifndef GAVEL_WATCH_REMEMBERED_H
#define GAVEL_WATCH_REMEMBERED_H

#include "app/app.h"

/* journal: of the options, may be NULL. */
void remembered_load(struct app *a, const char *journal);
/* -1 and the reason. */
int remembered_save(const struct app *a, const char *journal, struct err *err);

#endif
