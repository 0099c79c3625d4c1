/* Members of a JSON object as text: what a reply copies from a message is copied byte for byte, since
 * parsing and writing again could change numbers and escapes. */
#ifndef GAVEL_ENCODE_RAW_MEMBER_H
#define GAVEL_ENCODE_RAW_MEMBER_H

#include "base/buf.h"

/* The value of that member, without white space around it; empty = there is none. The object is valid
 * JSON, and its names have no escapes. */
struct str raw_member(struct str object, const char *name);
/* The same for the element of an array, from 0. */
struct str raw_element(struct str array, uint32_t index);
/* Without line ends, which stand only between the tokens of valid JSON. */
void add_on_one_line(struct buf *b, struct str text);

#endif
