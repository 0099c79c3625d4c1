/* Interning table of the member names that protocols define. A parser with this table predicts each
 * name from the one at the same place in an earlier message, without searching for its end; lookups
 * compare addresses: names_add returns the address that the name has in every tree parsed with it.
 *
 * Names of messages are never added, so no input can fill the table; too many is a BUG at start-up.
 * A name that is too long has no address and must be compared as text. */
#ifndef GAVEL_JSON_NAMES_H
#define GAVEL_JSON_NAMES_H

#include "base/str.h"

enum {
	NAME_COUNT_MAX = 512,
	NAME_WINDOW = 32,
	NAME_BYTES = NAME_WINDOW - 5,
	NAME_SLOTS = 512,
	NAME_PLACES = 2048
};

/* As it is in a message: a quote, the name, a quote, a colon. Half a cache line, since a message
 * has many names. */
struct known_name {
	char text[NAME_WINDOW - 1];
	uint8_t span; /* of all that, in bytes */
};

/* Zero it, and do not move it; the first name added is number 1. Number 0 is the empty name. */
struct names {
	struct known_name list[NAME_COUNT_MAX];
	uint16_t slots[NAME_SLOTS];    /* a hash table of numbers: name_slot */
	uint16_t next[NAME_COUNT_MAX]; /* number of the next name in the same slot, 0 = none */
	unsigned n;
	uint16_t guess[NAME_PLACES]; /* the name that was last seen at a place: name_place */
};

/* The slot of the name at a quote: a hash of the first four bytes from there and of where the name
 * ends. close: one bit, of the offset of the closing quote. */
static inline unsigned name_slot(const char *quote, uint32_t close)
{
	uint32_t first;

	memcpy(&first, quote, sizeof(first));
	return (first * 0x9e3779b1u + close * 0x85ebca6bu) >> 23;
}

/* A place is a hash of all names on the way there from the outermost object: this is the one after
 * `number` at `place`. Inside a container it starts with one bit flipped. */
static inline size_t name_place(size_t place, size_t number)
{
	return (uint32_t)((place + 1) * 0x9e3779b1u ^ number * 0x85ebca6bu) >> 21;
}

/* The name's own address, NULL if it has none. */
const char *names_add(struct names *t, struct str name);
/* The number of a name that is elsewhere, 0 = it has none here. */
unsigned names_find(const struct names *t, struct str name);

static inline const char *name_text(const struct known_name *name)
{
	return name->text + 1;
}

/* The number of a name by its address, 0 = it has none here. */
static inline unsigned name_number(const struct names *t, const char *text)
{
	uintptr_t offset = (uintptr_t)text - (uintptr_t)t->list;

	return offset < sizeof(t->list) ? (unsigned)(offset / sizeof(t->list[0])) : 0;
}

#endif
