/* Access to message texts. The model stores none; they are parsed again from the source's bytes
 * when a view shows them or an encoder answers them. Implemented by session/load.c. */
#ifndef GAVEL_DECIDE_READER_H
#define GAVEL_DECIDE_READER_H

#include "dialect/dialect.h"
#include "model/model.h"

/* An incremental text search through the first k messages, in one direction with wraparound. */
struct search_progress {
	struct str word;
	int direction;
	uint32_t k;
	uint32_t at, left; /* next message to search, messages still to search */
	uint32_t found;    /* NONE: no match in this slice */
};

/* Returned texts are valid until the next call of any of these. */
struct reader {
	void *ctx;
	/* The item's text in message state->message. */
	bool (*detail)(void *ctx, const struct item *item, const struct item_state *state,
		       struct detail *out);
	/* One-line summary of a message. */
	struct str (*summary)(void *ctx, uint32_t message);
	/* The raw bytes of a message. */
	struct str (*bytes)(void *ctx, uint32_t message);
	/* The diagnostics of a message, its own and the cross-message ones. */
	const struct diags *(*diags)(void *ctx, uint32_t message);
	/* The file a message came from. */
	struct str (*source)(void *ctx, uint32_t message);
	/* Continues a search for a few milliseconds or to the next match; false: finished. NULL:
	 * not supported. */
	bool (*search_step)(void *ctx, struct search_progress *h);
	/* The message parsed, NULL if it is not JSON. The function may be NULL: parse the bytes. */
	yyjson_val *(*parsed)(void *ctx, uint32_t message);
};

/* The item's revision, which ties a decision to what was shown: "sha256:" and the hash of
 * detail_write. Appends nothing when it cannot be read. */
void item_rev(const struct reader *r, const struct item *item, const struct item_state *state,
	      struct buf *out);

#endif
