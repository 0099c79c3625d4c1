/* Items as the person names them on the command line: the id, SESSION/ID where it is not unique,
 * either of them as KIND:… where a session has two kinds of that id, or the beginning of the id. */
#ifndef GAVEL_SESSION_FIND_ITEM_H
#define GAVEL_SESSION_FIND_ITEM_H

#include "view/view.h"

/* rev, if not NULL, chooses among several. -1: there is none or more than one; said on stderr. */
int find_item_named(const struct scene *s, const char *wanted, const char *rev, uint32_t *item);

#endif
