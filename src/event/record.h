/* The in-memory index entry of a message, 24 bytes: what lists, filters and jumps need. The
 * message's bytes stay in its source; model/positions.h has their positions. */
#ifndef GAVEL_EVENT_RECORD_H
#define GAVEL_EVENT_RECORD_H

#include "base/str.h"

#define NONE UINT32_MAX

/* The dialects, a line each; a dialect's number is its row. Each layer has a registry with a table
 * for each of them (*_registry.c). UNKNOWN is JSON of no known shape, TEXT is not JSON. */
#define DIALECTS(ROW)                     \
	ROW(UNKNOWN, unknown)             \
	ROW(TEXT, text)                   \
	ROW(FEEDBACK, feedback)           \
	ROW(ENVELOPE, envelope)           \
	ROW(COLLABORATION, collaboration) \
	ROW(HANDOFF, handoff)             \
	ROW(ORCHESTRATOR, orchestrator)   \
	ROW(CLAUDE, claude)               \
	ROW(CODEX, codex)                 \
	ROW(ACP, acp)

#define DIALECT_NUMBER(NAME, name) DIALECT_##NAME,
enum dialect_id { DIALECTS(DIALECT_NUMBER) DIALECT_LISTED, DIALECT_MAX = 32 };

_Static_assert(DIALECT_LISTED <= DIALECT_MAX, "raise DIALECT_MAX: tables have room for no more");

/* Irregularities of a message's bytes. */
enum record_flag {
	RECORD_TRUNCATED = 1 << 0, /* the input ended inside this line */
	RECORD_OVERSIZE = 1 << 1,  /* over the line limit: skipped, only its length is known */
	RECORD_REPAIRED = 1 << 2,  /* read with U+FFFD in place of broken text */
	RECORD_AMBIGUOUS = 1 << 3, /* an object has a duplicate key: it decides nothing, and
				      what either reading of it raises cannot be decided */
	RECORD_REPEATED = 1 << 4,  /* the same message as an earlier one: no effect */
	RECORD_BINARY = 1 << 5,    /* holds NUL or is not UTF-8 */
	RECORD_CLAIMS_HUMAN = 1 << 6, /* says it is from a person, but not in a file of replies */
	RECORD_REPLY = 1 << 7,        /* said to the agents: from a journal or a file of replies */
	RECORD_UNPLACED = 1 << 8,     /* a reply to nothing that is known here: no effect */
	RECORD_NOT_ITS_ROLE = 1 << 9, /* says what its origin or sender may not: no effect on items */
	RECORD_CLAIMS_AGENT = 1 << 10, /* one agent's own line that names another as its sender */
	RECORD_TOLD = 1 << 11,        /* in a capture: what the agent was told */
	RECORD_HOLDER = 1 << 12,      /* in a capture: the holder's record of a run or its end */
};

/* Where a message came from, which decides what it may do (model/trust.h). */
enum trust {
	TRUST_LOG,     /* a log, FIFO or pipe that several agents write to */
	TRUST_AGENT,   /* one agent's own output: a process that gavel runs, or its capture */
	TRUST_REPLY,   /* a reply file: people who can write there */
	TRUST_JOURNAL, /* this person's journal */
	TRUST_COUNT
};

struct record {
	int64_t time_ms; /* TIME_NONE where the message has none */
	uint32_t length; /* bytes, without the line's end */
	uint32_t chain;  /* hash shared by messages of one correlation, 0 = none */
	uint32_t route;
	uint8_t kind;
	uint8_t errors, warnings, notes; /* diagnostics, counted up to 255 */
};

/* Attributes shared by many messages, deduplicated (interned): a record has only their number. */
struct route {
	uint32_t source;  /* which file */
	uint8_t dialect;  /* enum dialect_id */
	uint8_t trust;    /* enum trust */
	uint16_t flags;   /* enum record_flag */
	uint32_t session;
	uint32_t from, to; /* agents, or NONE */
};

_Static_assert(sizeof(struct route) == 20, "no padding: compared as bytes");
_Static_assert(DIALECT_MAX <= UINT8_MAX, "a dialect's number fits a byte");

_Static_assert(sizeof(struct record) == 24, "memory is counted by the message");

#endif
