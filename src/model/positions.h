/* Positions: line number and byte offset of each message in its file.
 *
 * Compressed as runs: consecutive messages are mostly on consecutive lines, so that within a run
 * line numbers count up and offsets follow from the lengths. A message costs a quarter of a byte;
 * one that starts a new run, 24. */
#ifndef GAVEL_MODEL_POSITIONS_H
#define GAVEL_MODEL_POSITIONS_H

#include "base/heap.h"
#include "event/record.h"

struct positions_run {
	uint64_t offset; /* of its first message */
	uint32_t first, line;
	uint32_t gap; /* bytes between the end of one message and the next */
};

struct positions {
	HVEC(struct positions_run) runs;
	HVEC(uint64_t) marks; /* offset of every MARK_EVERY_MESSAGES-th message */
	/* of the newest message: */
	uint64_t end;
	uint32_t source, line;
};

enum { MARK_EVERY_MESSAGES = 32 };

/* Appends the position of the next message. */
void positions_add(struct heap *h, struct positions *p, uint32_t message, uint32_t source,
		   uint32_t line, uint64_t offset, uint32_t length);
uint32_t positions_line(const struct positions *p, uint32_t message);
uint64_t positions_offset(const struct positions *p, const struct record *records,
			  uint32_t message);

#endif
