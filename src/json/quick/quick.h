/* The quick parser for the JSON that messages are made of, and the fence round it: quick_read is
 * all that code outside this folder calls.
 *
 * It builds the tree of yyjson_val that yyjson would build, with SIMD instructions where there are
 * any, but leaves escapes in strings undecoded and marks those strings with JSON_ESCAPED in their
 * tags; json_unescape (json.h), implemented in this folder, decodes one in place. Whatever is not
 * plain (an error, a number with an exponent or more than fifteen digits, invalid UTF-8, a name
 * with an escape, nesting beyond JSON_DEPTH_MAX) it leaves to yyjson by returning NULL.
 *
 * What it relies on of yyjson is asserted in quick.c; tests/unit/test_quick.c compares the two
 * parsers. src/PERFORMANCE.md has what was measured. */
#ifndef GAVEL_JSON_QUICK_QUICK_H
#define GAVEL_JSON_QUICK_QUICK_H

#include "json/json.h"

/* So many bytes after the text must be readable, and the first of them a control character (the
 * newline of a line or a NUL will do), at which parsing stops. */
enum { QUICK_PADDING = JSON_PADDING };

/* The largest pool that a text of n bytes may need: room for the document, and each value takes at
 * least two bytes of the text, except unclosed containers, which take one. */
#define QUICK_POOL_BYTES(n) (64 + (((n) + JSON_DEPTH_MAX) / 2 + 2) * sizeof(yyjson_val))

/* Parses n bytes of text; or, if newline is not NULL, the line that begins there and ends within n
 * bytes, and sets *newline to its end. names may be NULL; otherwise the names of members that it
 * contains are its own strings (json/names.h). The tree is in the pool; NULL also if that is too
 * small. */
yyjson_doc *quick_read(const char *text, size_t n, const char **newline, struct names *names,
		       void *pool, size_t pool_bytes);

#endif
