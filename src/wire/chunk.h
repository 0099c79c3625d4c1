/* Reads the complete lines of one chunk of a file, for parallel loading. Thread-safe.
 *
 * A chunk from..to owns the lines that start after its first newline, up to and including one that
 * starts at `to`; the first one also owns the line at the file's start. So each line belongs to
 * exactly one chunk, wherever they are split. */
#ifndef GAVEL_WIRE_CHUNK_H
#define GAVEL_WIRE_CHUNK_H

#include "base/buf.h"
#include "wire/frame.h"

enum {
	CHUNK_BYTES = 128 << 10, /* its decoded messages still fit a core's L2 cache */
	CHUNK_BEHIND_MAX = 32 << 20, /* chunk_read fails on a last line longer than that */
};

struct chunk {
	int fd;
	uint64_t start, end; /* range of the file to read; no byte from end on is read */
	uint64_t from, to;
	size_t max_bytes; /* of a message */
	newline_fn newline; /* shortcut that finds line ends, or NULL */
};

struct chunk_lines {
	uint32_t lines; /* complete ones, blank ones too */
	uint64_t next;  /* offset after the last of them; start if the first chunk has none */
};

/* Emits the frames; line numbers count from 1 at its first line. room is a reusable buffer
 * for the bytes: most frames point into it and stay valid after the call, each followed by its line
 * end and at least a readable page. -1: the file cannot be read or was truncated, or a line is
 * longer than CHUNK_BEHIND_MAX; then only some of the frames were emitted. */
int chunk_read(const struct chunk *p, struct buf *room, frame_fn emit, void *ctx,
	       struct chunk_lines *out);

#endif
