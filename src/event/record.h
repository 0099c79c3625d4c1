/* The in-memory index entry of a message, 24 bytes: what lists, filters and jumps need. The
 * message's bytes stay in its source; model/positions.h has their positions. */
#ifndef GAVEL_EVENT_RECORD_H
#define GAVEL_EVENT_RECORD_H

#include "base/str.h"

#define NONE UINT32_MAX

enum dialect_id {
	DIALECT_UNKNOWN, /* JSON of no known shape */
	DIALECT_TEXT,    /* not JSON */
	DIALECT_FEEDBACK,
	DIALECT_ENVELOPE,
	DIALECT_COLLABORATION,
	DIALECT_HANDOFF,
	DIALECT_ORCHESTRATOR,
	DIALECT_COUNT
};

/* Irregularities of a message's bytes. */
enum record_flag {
	RECORD_TRUNCATED = 1 << 0, /* the input ended inside this line */
	RECORD_OVERSIZE = 1 << 1,  /* over the line limit: skipped, only its length is known */
	RECORD_REPAIRED = 1 << 2,  /* read with U+FFFD in place of broken text */
	RECORD_AMBIGUOUS = 1 << 3, /* an object has a duplicate key */
	RECORD_REPEATED = 1 << 4,  /* a message id seen before with the same content: no effect */
	RECORD_BINARY = 1 << 5,    /* holds NUL or is not UTF-8 */
	RECORD_CLAIM = 1 << 6,     /* claims to be from a person, but is not in a file of replies */
};

struct record {
	int64_t time_ms; /* WHEN_NONE where the message has none */
	uint32_t length; /* bytes, without the line's end */
	uint32_t chain;  /* hash shared by messages of one correlation, 0 = none */
	uint32_t route;
	uint8_t kind;
	uint8_t errors, warnings, notes; /* diagnostics, counted up to 255 */
};

/* Attributes shared by many messages, deduplicated (interned): a record has only their number. */
struct route {
	unsigned source : 22; /* which file */
	unsigned dialect : 3; /* enum dialect_id */
	unsigned flags : 7;   /* enum record_flag */
	uint32_t session;
	uint32_t from, to; /* agents, or NONE */
};

_Static_assert(sizeof(struct route) == 16, "hashed as two words");

enum { SOURCES_MAX = 1 << 22 };

_Static_assert(sizeof(struct record) == 24, "memory is counted by the message");

#endif
