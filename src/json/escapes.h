/* Inside this folder: the escapes of JSON strings, told from what is none and put as the bytes they mean. */
#ifndef GAVEL_JSON_ESCAPES_H
#define GAVEL_JSON_ESCAPES_H

#include <yyjson.h>

/* The bytes of the escape at p, a pair of surrogates counting as one; 0 = it is none, or half a pair. Looks no
 * further than the first byte that does not fit. */
size_t escape_length(const char *p);
/* All strings of a tree, and a NUL behind each, as yyjson leaves them. */
void tree_unescape(yyjson_doc *doc);

#endif
