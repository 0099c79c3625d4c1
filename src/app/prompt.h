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
	PROMPT_RULE, /* what is always allowed */
	PROMPT_REASON,
	PROMPT_NOTE, /* of a bookmark */
	PROMPT_AGENT, /* words for an agent */
	PROMPT_KINDS
};

enum prompt_result {
	PROMPT_GOES_ON,
	PROMPT_CHANGED, /* the text may have changed */
	PROMPT_DONE,
	PROMPT_CANCELLED,
};

enum { COMPLETIONS_MAX = 200 };

/* What the word before the cursor could become. */
struct completions {
	struct arena strings;
	VEC(struct str) list; /* at most COMPLETIONS_MAX, none twice, in the order they were added */
	size_t from;          /* where in the text the word begins */
	struct str word;      /* the word so far: completions_add leaves out what begins otherwise */
};

struct prompt {
	enum prompt_kind kind;
	struct buf text;
	size_t cursor; /* byte offset */
	VEC(char *) history[PROMPT_KINDS];
	uint32_t back;   /* steps back in the history, 0 = the line being typed */
	struct buf kept; /* that line, while an older one is shown */
	const char *verb;   /* of the decision that the text is for; NULL = none */
	struct buf subject; /* the words of its item, */
	uint32_t items;     /* or the number of its items, where they are several */
	uint32_t tabs;      /* Tab was the last key, so many times */
	uint32_t chosen;    /* Tab goes through the completions: the number of the one in the text */
	bool cycles;        /* whether it does */
	struct completions completions; /* of the text as it is; empty while no word was begun */
};

/* Adds what the end of `before`, the text up to the cursor, could become, and sets `from`. */
typedef void (*complete_fn)(const void *ctx, struct str before, struct completions *out);

/* Begins a list for the word that starts at `from`. */
void completions_start(struct completions *c, struct str before, size_t from);
/* Letters of ASCII compare without case. */
void completions_add(struct completions *c, struct str word);

void prompt_open(struct prompt *p, enum prompt_kind kind, struct str text);
/* After prompt_open: says which decision the text is for. The words are clean; they are shown for a
 * single item, and cut to a third of the line. */
void prompt_name(struct prompt *p, const char *verb, struct str words, uint32_t items);
/* complete NULL: Tab completes nothing. */
enum prompt_result prompt_key(struct prompt *p, const struct key *key, complete_fn complete,
			      const void *ctx);
/* Draws the prompt; returns the column of the cursor. */
int prompt_draw(const struct prompt *p, struct grid *g, struct rect row);
void prompt_release(struct prompt *p);

#endif
