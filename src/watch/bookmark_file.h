/* The file of bookmarks of a source, beside its journal: DIR.bookmarks, one JSON object a line,
 * appended only: file, offset and hash of the message, note, time, or that it was removed. The last
 * line about a message counts. What is not in the log any more stays in the file and is not shown. */
#ifndef GAVEL_WATCH_BOOKMARK_FILE_H
#define GAVEL_WATCH_BOOKMARK_FILE_H

#include "app/app.h"
#include "session/load.h"

/* Once the first load is complete. A file that cannot be read is reported on the message line. */
void bookmarks_load(struct app *a, struct load *l);
/* Keeps a change; -1 and err if it cannot be kept, or the source is a stream. */
int bookmarks_keep(struct load *l, uint32_t message, struct str note, bool removed, struct err *err);

#endif
