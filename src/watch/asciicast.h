/* A playback as an asciicast, version 2: a header line, then one line for each moment at which the
 * screen changed, with the rows that did, as a terminal with 256 colours would get them. asciinema
 * plays it as it is. */
#ifndef GAVEL_WATCH_ASCIICAST_H
#define GAVEL_WATCH_ASCIICAST_H

#include "base/err.h"
#include "draw/grid.h"

#include <stdio.h>

struct cast {
	FILE *f;
	const char *file;
	struct buf *rows; /* as they were painted last */
	int row_count;
	bool ascii;
	uint32_t frames;
	int64_t last_ms;
};

int cast_open(struct cast *c, const char *file, int rows, int cols, struct str title, bool ascii,
	      struct err *err);
/* The screen at that moment; nothing is written if it is what it was. */
void cast_frame(struct cast *c, const struct grid *g, int64_t at_ms);
/* -1: not all of it could be written. */
int cast_close(struct cast *c, struct err *err);

#endif
