/* Complete lines of one part of a file, for whoever reads parts side by side. Nothing of the wire
 * is touched, so each thread may have a part of its own.
 *
 * A part from..to has the lines that begin behind its first newline, up to the one that begins at
 * `to`; the first part of a file has the line at the file's start too. So each line is in one part,
 * wherever parts end. */
#ifndef GAVEL_WIRE_PART_H
#define GAVEL_WIRE_PART_H

#include "base/buf.h"
#include "wire/frame.h"

enum {
	PART_BYTES = 128 << 10, /* what becomes of it still fits a processor's own cache */
	PART_BEHIND_MAX = 32 << 20, /* a last line that goes on longer is not waited for */
};

struct part {
	int fd;
	uint64_t start, end; /* of the file, or lines of it; no byte from end on is looked at */
	uint64_t from, to;
	size_t max_bytes; /* of a message */
	newline_fn newline; /* who finds the ends of lines in the room, or NULL */
};

/* What was in it. */
struct part_lines {
	uint32_t lines; /* complete ones, blank ones too */
	uint64_t next;  /* behind the last of them; if there is none in the first part, start */
};

/* Hands over the frames, whose line numbers count from 1 at the part's first line. room is for
 * the bytes, and may be used again; most frames are in it and stay there, each with the end of
 * its line behind it, and then a page at least that can be read. -1: the file cannot be read, or
 * has become shorter, or a line is too long to be waited for; what was handed over is not all of
 * the part. */
int part_read(const struct part *p, struct buf *room, frame_fn emit, void *ctx, struct part_lines *out);

#endif
