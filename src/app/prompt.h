/* The prompt at the bottom of the screen: a line editor for commands, search, filter and the text
 * of a decision, with a history for each kind and completion. Zero it, prompt_open, prompt_key
 * until it returns DONE or CANCELLED, then set kind to PROMPT_NONE; prompt_release at the end. */
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
	PROMPT_EXPLAIN, /* the explanation of a decision */
	PROMPT_ANSWER,
	PROMPT_REASON,
	PROMPT_KINDS
};

enum prompt_result {
	PROMPT_GOES_ON,
	PROMPT_CHANGED, /* the text may have changed */
	PROMPT_DONE,
	PROMPT_CANCELLED,
};

struct prompt {
	enum prompt_kind kind;
	struct buf text;
	size_t cursor; /* byte offset */
	VEC(char *) history[PROMPT_KINDS];
	uint32_t back;   /* steps back in the history, 0 = the line being typed */
	struct buf kept; /* that line, while an older one is shown */
};

/* Returns the i-th completion of `start`, valid until the next call; NULL after the last. */
typedef const char *(*complete_fn)(const void *ctx, struct str start, unsigned i);

void prompt_open(struct prompt *p, enum prompt_kind kind, struct str text);
/* complete NULL: Tab completes nothing. */
enum prompt_result prompt_key(struct prompt *p, const struct key *key, complete_fn complete,
			      const void *ctx);
/* Draws the prompt; returns the column of the cursor. */
int prompt_draw(const struct prompt *p, struct grid *g, struct rect row);
void prompt_release(struct prompt *p);

#endif
