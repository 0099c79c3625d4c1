/* Splits a byte stream into lines. Feed it pieces of any size; the frames do not depend on where
 * the pieces were split. A line inside one piece points into it; a line over several is collected
 * in `held`, at most max_bytes + 1 bytes, and no byte is scanned twice. framer_init, framer_feed as
 * often as needed, framer_end at end of file, framer_release.
 *
 * A BOM before the first line and a CR before LF are not part of a frame. Lines of spaces, tabs and
 * CR give no frame but are counted. All other bytes, NUL too, are ordinary. */
#ifndef GAVEL_WIRE_FRAMER_H
#define GAVEL_WIRE_FRAMER_H

#include "base/buf.h"
#include "wire/frame.h"

struct framer {
	size_t max_bytes;
	uint64_t start;  /* offset of the current line */
	uint64_t length; /* of its bytes so far */
	uint32_t line;   /* its number */
	unsigned bom;    /* bytes of a BOM matched; BOM_BYTES: no longer looked for */
	bool blank;      /* nothing but blanks so far */
	char last;       /* byte */
	struct buf held;
	newline_fn newline; /* NULL = memchr; gets the ctx of framer_feed */
};

/* offset: of the first byte in its file. */
void framer_init(struct framer *f, size_t max_bytes, uint64_t offset);
void framer_feed(struct framer *f, struct str piece, frame_fn emit, void *ctx);
/* End of input: emits what is left as a truncated line. */
void framer_end(struct framer *f, frame_fn emit, void *ctx);
void framer_release(struct framer *f);

#endif
