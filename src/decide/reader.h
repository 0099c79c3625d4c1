/* Looking at messages again: texts are not in the model, they are read from the bytes whenever
 * someone wants to see or answer them. */
#ifndef GAVEL_DECIDE_READER_H
#define GAVEL_DECIDE_READER_H

#include "dialect/dialect.h"
#include "model/model.h"

/* A search through the first k messages, a slice at a time. It goes from message to message in one
 * direction, from the last to the first and the other way round, for `left` messages. */
struct search_progress {
	struct str word;
	int direction;
	uint32_t k;
	uint32_t at, left; /* the next one to look at, and how many are left */
	uint32_t found;    /* NONE: not in this slice */
};

/* Lends texts until the next call of any of these. */
struct reader {
	void *ctx;
	/* The text of an item as it stands in state.message. */
	bool (*detail)(void *ctx, const struct item *item, const struct item_state *state,
		       struct detail *out);
	/* One line about a message. */
	struct str (*summary)(void *ctx, uint32_t message);
	/* The bytes of a message as they came. */
	struct str (*bytes)(void *ctx, uint32_t message);
	/* The diagnostics of a message, its own and the cross-message ones. */
	const struct diags *(*diags)(void *ctx, uint32_t message);
	/* The file a message came from. */
	struct str (*source)(void *ctx, uint32_t message);
	/* Continues a search for a few milliseconds or to the next match; false: it is over. NULL =
	 * not supported. */
	bool (*search_step)(void *ctx, struct search_progress *h);
};

/* "sha256:" and 64 digits: SHA-256 of the item, written compactly. Empty when it cannot be read. */
void item_rev(const struct reader *r, const struct item *item, const struct item_state *state,
	      struct buf *out);

#endif
