/* Inside this folder: a parser for the JSON that messages are made of. It builds the tree that yyjson would
 * build, looking at sixteen bytes of a string at a time. Whatever is not plain (an error, a number with an
 * exponent or more than fifteen digits, broken UTF-8, nesting beyond the limit) it leaves to yyjson: NULL.
 * tests/unit/test_quick.c holds the two against each other. */
#ifndef GAVEL_JSON_QUICK_H
#define GAVEL_JSON_QUICK_H

#include <yyjson.h>

enum { QUICK_PADDING = 32 }; /* zeros that must stand behind the text */

/* What the tree of a text of n bytes may need while it is made. */
size_t quick_pool_bytes(size_t n);
/* text is written to, also when it is given up. pool holds the tree; NULL also where it is too small. */
yyjson_doc *quick_read(char *text, size_t n, void *pool, size_t pool_bytes);

#endif
