/* Searching all messages for a word.
 *
 * A message has the word if its bytes have it, as they came or with the escapes of JSON undone
 * (also those of JSON within JSON), or if its line in the list has it: who, to whom, what kind,
 * which dialect, when, which line of its file. Upper and lower case of ASCII letters are the same.
 *
 * Bytes are looked through in blocks, without regard to messages; only where something is found, or
 * an escape might hide something, is a message looked at. Where there are many blocks to look
 * through, a second thread takes every other one. */
#ifndef GAVEL_SESSION_SEARCH_H
#define GAVEL_SESSION_SEARCH_H

#include "base/needle.h"
#include "decide/reader.h"
#include "wire/wire.h"

/* What one thread needs to look through a block. */
struct search_hands {
	struct buf block, plain;
};

struct search {
	bool alone; /* in one thread */
	struct buf word;
	struct needle needle, escape;
	uint8_t escaped[256]; /* bytes of the word for which an escape may stand */
	bool quotes, slashes; /* the word has these, which JSON may escape with a backslash */
	bool is_number, is_clock;
	bool kind_has[256], dialect_has[DIALECT_MAX];
	unsigned kinds; /* of which kind_has tells */
	VEC(uint8_t) agent_has;
	struct search_hands own, other;
};

/* Looks through some messages, for a few milliseconds: see struct search_progress. bytes is the reader's, for
 * what cannot be read in blocks. */
bool search_step(struct search *s, const struct model *m, struct wire *w, const struct reader *r,
		 struct search_progress *h);
void search_release(struct search *s);

#endif
