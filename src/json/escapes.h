/* Inside this folder: the escapes of JSON strings, told from what is none and put as the bytes
 * they mean. */
#ifndef GAVEL_JSON_ESCAPES_H
#define GAVEL_JSON_ESCAPES_H

#include "base/buf.h"

#include <stdbool.h>
#include <yyjson.h>

/* The bytes of the escape at p, a pair of surrogates counting as one; 0 = it is none, or half a
 * pair. Looks no further than the first byte that does not fit. */
unsigned escape_length(const char *p);
/* The character of a \u escape or of a pair of them, and its length; 0 = it is none. */
unsigned escape_character(const char *p, uint32_t *out);
/* What stands for the byte behind a backslash; 0 = no such escape, or \u. */
extern const char escape_meant[256];
/* By which bytes of eight are dropped: where the others are, one behind the other. */
extern uint8_t escape_kept[256][8];
/* By the byte behind the backslash: whether no other escape can stand for the same. */
static inline bool escape_is_usual(char c)
{
	return escape_meant[(unsigned char)c] && c != '/';
}
/* All strings of a tree, and a NUL behind each, as yyjson leaves them. */
void tree_unescape(yyjson_doc *doc);
/* A text with those escapes, and only those, that a string must have, in their usual spelling. */
void add_spelled(struct buf *b, struct str s);

#endif
