/* The chain of a store's events: each has a hash over its words and the hash before it, so what was
 * changed afterwards does not fit. Computed here as function tell of the schema does. */
#ifndef GAVEL_TEAM_CHAIN_H
#define GAVEL_TEAM_CHAIN_H

#include "base/buf.h"

struct store_event {
	int64_t n;
	int64_t at_us; /* since 2000, as the server has it */
	struct str who, what, note, hash;
	int64_t item; /* 0 = none */
};

/* The newest event known; zero = none. */
struct chain {
	int64_t n;
	unsigned char hash[32];
};

enum chain_fault {
	CHAIN_FINE,
	CHAIN_GAP,   /* an event before it is missing */
	CHAIN_WRONG, /* it, or what is before it, was changed */
};

/* Columns of gavel.event in the order that chain_read takes them from a row. */
#define CHAIN_COLUMNS "n, at, who::text, what, item, note, hash"

struct store_rows;
void chain_read(const struct store_rows *rows, uint32_t row, struct store_event *e);
/* Checks the next event, and advances if it is fine. */
enum chain_fault chain_add(struct chain *c, const struct store_event *e);

#endif
