/* Where the bytes of messages came from: the line and the offset of each in its file.
 *
 * Messages mostly stand one after the other, a line each, so this can be told from a few of them: a
 * run begins where that is not so, and within one lines count up and offsets follow from the
 * lengths in between. A message costs a quarter of a byte; one that stands apart from its
 * neighbours, 24. */
#ifndef GAVEL_MODEL_POSITIONS_H
#define GAVEL_MODEL_POSITIONS_H

#include "base/heap.h"
#include "event/record.h"

struct whence_run {
	uint64_t offset; /* of its first message */
	uint32_t first, line;
	uint32_t gap; /* bytes between the end of one message and the next */
};

struct whence {
	HVEC(struct whence_run) runs;
	HVEC(uint64_t) marks; /* offsets of messages, of one in WHENCE_EVERY */
	/* of the newest message: */
	uint64_t end;
	uint32_t source, line;
};

enum { WHENCE_EVERY = 32 };

/* Of the message that comes next. */
void whence_add(struct heap *h, struct whence *w, uint32_t message, uint32_t source, uint32_t line,
		uint64_t offset, uint32_t length);
uint32_t whence_line(const struct whence *w, uint32_t message);
uint64_t whence_offset(const struct whence *w, const struct record *records, uint32_t message);

#endif
