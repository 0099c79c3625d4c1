/* Finding an item by its name on the command line: ID, SESSION/ID if it is not unique, either of
 * them as KIND:… if a session has several kinds of that id, or a prefix of the id. */
#ifndef GAVEL_SESSION_FIND_ITEM_H
#define GAVEL_SESSION_FIND_ITEM_H

#include "view/view.h"

/* rev, if not NULL, disambiguates. -1: none or several, reported on stderr. */
int find_item_named(const struct scene *s, const char *wanted, const char *rev, uint32_t *item);

#endif
