/* Names that members of messages are known to have. A parser that has them recognizes a name
 * without looking for its end, since it is mostly the one that stood there in a message before;
 * and whoever asks for a member compares addresses: names_add tells the one that the name has in
 * every tree read with these names.
 *
 * Only names that the program knows are added, never those of messages, so nobody can fill the
 * table; one too many is a BUG when the program starts. One that is too long simply has no such
 * address: names that are not found here have to be compared as text. */
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

/* As it stands in a message: a quote, the name, a quote, a colon. Half a cache line, since a
 * message has many. */
struct name {
	char text[NAME_WINDOW - 1];
	uint8_t span; /* of all that, in bytes */
};

/* Zero it, and leave it where it is; the first name that is added is number 1. Number 0 is the
 * empty name. */
struct names {
	struct name list[NAME_COUNT_MAX];
	uint16_t slots[NAME_SLOTS]; /* numbers by how names begin and end */
	uint16_t next[NAME_COUNT_MAX]; /* number of another name in the same slot, 0 = none */
	unsigned n;
	uint16_t guess[NAME_PLACES]; /* the name that stood at a place the last time */
};

/* A place is all names from the outermost object up to there, as a hash: behind `number` at
 * `place`. Inside a container it begins with another bit. */
static inline size_t name_place(size_t place, size_t number)
{
	return (uint32_t)((place + 1) * 0x9e3779b1u ^ number * 0x85ebca6bu) >> 21;
}

/* The name's own address, NULL if it has none. */
const char *names_add(struct names *t, struct str name);
/* The number of a name that stands elsewhere, 0 = it has none here. */
unsigned names_find(const struct names *t, struct str name);

static inline const char *name_text(const struct name *name)
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
