/* Full-text search through all messages.
 *
 * A message matches if its bytes contain the word, raw or with JSON escapes decoded (also those of
 * JSON within JSON), or if a column of the message list does: sender, receiver, kind, dialect,
 * time, line number. ASCII letters match without case.
 *
 * Blocks of bytes are scanned regardless of message boundaries; a message is only looked at where
 * there is a hit, or an escape that might hide one. A second thread helps if there are many
 * blocks. */
#ifndef GAVEL_SESSION_SEARCH_H
#define GAVEL_SESSION_SEARCH_H

#include "base/needle.h"
#include "decide/reader.h"
#include "wire/wire.h"

/* Buffers of one thread. */
struct search_buffers {
	struct buf block, plain;
};

struct search {
	bool alone; /* do not use a second thread */
	struct buf word;
	struct needle needle, escape;
	uint8_t escaped[256]; /* bytes of the word that \uXXXX may encode */
	bool quotes, slashes; /* the word contains these, which JSON may escape */
	bool is_number, is_clock;
	bool kind_has[256], dialect_has[DIALECT_MAX];
	unsigned kinds; /* entries of kind_has that are set */
	VEC(uint8_t) agent_has;
	struct search_buffers own, other;
};

/* Continues a search for a few milliseconds, or to the next match: see reader.search_step. r->bytes
 * is used for messages that cannot be read in blocks. */
bool search_step(struct search *s, const struct model *m, struct wire *w, const struct reader *r,
		 struct search_progress *h);
void search_release(struct search *s);

#endif
