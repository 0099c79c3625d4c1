/* An index of the lines of reply files: lists of lines under 64-bit keys, each in the order in which
 * they were added. Unlike a plain map it compares whole keys, and any number of lines under one key
 * costs no more than others. */
#ifndef GAVEL_SESSION_LINE_INDEX_H
#define GAVEL_SESSION_LINE_INDEX_H

#include "base/map.h"

struct line_node {
	uint32_t line;
	uint32_t next; /* of the same list, NONE */
	uint32_t list;
};

struct line_list {
	uint64_t key;
	uint32_t first, last; /* nodes; the user may drop lines at the front by moving `first` */
	/* for the keys that lines wait for (reply_waiting.c) */
	int64_t since_ms; /* earliest time of a message that offered the key */
	uint32_t untimed; /* lines that tell no time */
	bool grown;       /* lines were added since a message offered it */
	bool done;        /* the cause of what offers it is known */
};

struct line_index {
	struct map map; /* key → list */
	VEC(struct line_list) lists;
	VEC(struct line_node) nodes;
};

struct line_list *line_index_find(const struct line_index *x, uint64_t key);
struct line_list *line_index_add(struct line_index *x, uint64_t key, uint32_t line);
/* The first node of a key's list, NONE. */
uint32_t line_index_first(const struct line_index *x, uint64_t key);
void line_index_release(struct line_index *x);

#endif
