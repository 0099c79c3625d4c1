/* Names that members of messages are known to have. A parser that has them recognizes a name without looking
 * for its end, since it is mostly the one that stood there in a message before; and whoever asks for a member
 * compares addresses: names_add tells the one that the name has in every tree read with these names.
 *
 * Only names that the program knows are added, never those of messages, so nobody can fill the table. One that
 * is too long for it, or one too many, simply has no such address: names that are not found here have to be
 * compared as text. */
#ifndef GAVEL_JSON_NAMES_H
#define GAVEL_JSON_NAMES_H

#include "base/str.h"

enum { NAME_COUNT_MAX = 256, NAME_WORDS = 4, NAME_WINDOW = NAME_WORDS * 8, NAME_SLOTS = 512 };

struct name {
	uint64_t word[NAME_WORDS]; /* as it stands in a message: a quote, the name, a quote, a colon; zeros */
	uint64_t mask[NAME_WORDS]; /* of these bytes */
	uint16_t length;
	uint8_t other; /* name in the same slot, 0 = none */
};

/* Zero it, and leave it where it is; the first name that is added is number 1. Number 0 is the empty name. */
struct names {
	struct name list[NAME_COUNT_MAX];
	uint8_t slots[NAME_SLOTS]; /* numbers by how names begin */
	unsigned n;
	/* What came behind a name the last two times: [2 * number] in the same object, [2 * number + 1] first in
	 * the objects it names */
	uint8_t guess[2 * NAME_COUNT_MAX][2];
};

/* The name's own address, NULL if it has none. */
const char *names_add(struct names *t, struct str name);

static inline const char *name_text(const struct name *name)
{
	return (const char *)name->word + 1;
}

/* The number of a name by its address, 0 = it has none here. */
static inline unsigned name_number(const struct names *t, const char *text)
{
	uintptr_t offset = (uintptr_t)text - (uintptr_t)t->list;

	return offset < sizeof(t->list) ? (unsigned)(offset / sizeof(t->list[0])) : 0;
}

/* Whether the name stands there, between quotes and with a colon behind it. NAME_WINDOW bytes are looked at. */
static inline bool name_stands_at(const struct name *name, const char *quote)
{
	uint64_t word[NAME_WORDS], differ = 0;

	memcpy(word, quote, sizeof(word));
	for (int i = 0; i < NAME_WORDS; i++)
		differ |= (word[i] ^ name->word[i]) & name->mask[i];
	return !differ;
}

/* By the first four bytes from the quote on; a shorter name has its own quote among them. */
static inline unsigned name_slot(const char *quote)
{
	uint32_t first;

	memcpy(&first, quote, sizeof(first));
	return first * 0x9e3779b1u >> 23;
}

/* The number of the name that stands there, 0 = none that is known, or the empty one. */
static inline unsigned name_find(const struct names *t, const char *quote)
{
	unsigned number = t->slots[name_slot(quote)];

	while (number && !name_stands_at(&t->list[number], quote))
		number = t->list[number].other;
	return number;
}

#endif
