/* Reading a file of a wire to its end in one call. */
#ifndef GAVEL_TESTS_READ_FRAMES_H
#define GAVEL_TESTS_READ_FRAMES_H

#include "wire/wire.h"

#include <poll.h>

/* Emits all frames of one file, in order; reads a stream to its end. -1: failed after the frames
 * emitted so far. */
static int read_frames(struct wire *w, uint32_t file, frame_fn emit, void *ctx, struct err *err)
{
	struct wire_reading *r = wire_read_begin(w, file, emit, ctx);
	enum wire_step step;

	while ((step = wire_read_step(r, err)) != WIRE_DONE && step != WIRE_FAILED)
		if (step == WIRE_WAITS)
			poll(&(struct pollfd){ .fd = wire_read_fd(r), .events = POLLIN }, 1, -1);
	wire_read_end(r);
	return step == WIRE_FAILED ? -1 : 0;
}

#endif
