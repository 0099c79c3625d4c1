/* One line of typing at the bottom of the screen: command, search, filter, the words of a decision.
 * Keeps a history and completes commands. */
#ifndef GAVEL_APP_PROMPT_H
#define GAVEL_APP_PROMPT_H

#include "base/buf.h"
#include "base/mem.h"
#include "draw/grid.h"
#include "draw/key.h"

enum prompt_kind {
	PROMPT_NONE,
	PROMPT_COMMAND,
	PROMPT_SEARCH,
	PROMPT_FILTER,
	PROMPT_EXPLAIN, /* of a decision: why */
	PROMPT_ANSWER,
	PROMPT_REASON,
	PROMPT_KINDS
};

enum prompt_result {
	PROMPT_GOES_ON,
	PROMPT_CHANGED, /* the text has changed: search as you type */
	PROMPT_DONE,
	PROMPT_CANCELLED,
};

struct prompt {
	enum prompt_kind kind;
	struct buf text;
	size_t cursor; /* byte */
	VEC(char *) history[PROMPT_KINDS];
	uint32_t back; /* steps back in the history, 0 = the line being typed */
	struct buf kept; /* that line, while looking at older ones */
};

/* The i-th word that `start` may become, or NULL after the last. NULL: nothing is completed. */
typedef const char *(*complete_fn)(const void *ctx, struct str start, unsigned i);

void prompt_open(struct prompt *p, enum prompt_kind kind, struct str text);
enum prompt_result prompt_key(struct prompt *p, const struct key *key, complete_fn complete,
			      const void *ctx);
/* Draws and tells the column of the cursor. */
int prompt_draw(const struct prompt *p, struct grid *g, struct rect row);
void prompt_release(struct prompt *p);

#endif
