/* Inside this folder: a parser for the JSON that messages are made of. It builds the tree that
 * yyjson would build, looking at sixteen bytes of a string at a time, but leaves the escapes in
 * its strings, which have JSON_ESCAPED in their tags then. Whatever is not plain (an error, a
 * number with an exponent or more than fifteen digits, broken UTF-8, a name with an escape,
 * nesting beyond the limit) it leaves to yyjson: NULL. tests/unit/test_quick.c holds the two
 * against each other. */
#ifndef GAVEL_JSON_QUICK_H
#define GAVEL_JSON_QUICK_H

#include "json/json.h"

/* So many bytes behind the text must be readable, and the first of them a control (the newline
 * of a line will do, or a zero), at which everything stops. */
enum { QUICK_PADDING = JSON_PADDING };

/* What the tree of a text of n bytes may need while it is made. */
size_t quick_pool_bytes(size_t n);
/* names may be NULL; else names of members that it has are its own. pool holds the tree; NULL
 * also where it is too small. */
yyjson_doc *quick_read(const char *text, size_t n, struct names *names, void *pool,
		       size_t pool_bytes);

#endif
