/* Validating and decoding the escapes of JSON strings. */
#ifndef GAVEL_JSON_ESCAPES_H
#define GAVEL_JSON_ESCAPES_H

#include "base/buf.h"

#include <stdbool.h>
#include <yyjson.h>

/* The length of the escape at p, a surrogate pair being one; 0 = not valid, or half a pair. Reads
 * no further than the first byte that does not match. */
unsigned escape_length(const char *p);
/* The character of a \u escape or of a surrogate pair, and its length; 0 = not valid. */
unsigned escape_character(const char *p, uint32_t *out);
/* Four hexadecimal digits; -1 = they are not. */
int escape_hex4(const char *p);
/* The decoded byte, indexed by the one after the backslash; 0 = no such escape, or \u. */
extern const char escape_value[256];
/* Whether \c is the usual spelling of what it stands for. */
static inline bool escape_is_canonical(char c)
{
	return escape_value[(unsigned char)c] && c != '/';
}
/* Decodes all strings of a tree and puts a NUL after each, as yyjson does. */
void tree_unescape(yyjson_doc *doc);
/* Appends a text with only those escapes that a string must have, in their usual spelling. */
void add_escaped(struct buf *b, struct str s);

#endif
