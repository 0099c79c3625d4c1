/* Bytes → lines. Feed it pieces of any size as they come; the frames do not depend on where the
 * pieces were cut. A line inside one piece is lent from it; a line over several is put together in
 * `held`, at most max_bytes and one, and no byte is looked at twice.
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
	uint64_t length; /* of what has come of it */
	uint32_t line;   /* its number */
	unsigned bom;    /* bytes of a BOM seen; BOM_BYTES: that question is settled */
	bool blank;      /* nothing but blanks so far */
	char last;       /* byte */
	struct buf held;
	newline_fn newline; /* NULL = all are looked for; its ctx is that of the frames */
};

/* offset: where the first byte stands in its file. */
void framer_init(struct framer *f, size_t max_bytes, uint64_t offset);
void framer_feed(struct framer *f, struct str piece, frame_fn emit, void *ctx);
/* No more will come: what is left is a truncated line. */
void framer_end(struct framer *f, frame_fn emit, void *ctx);
void framer_release(struct framer *f);

#endif
