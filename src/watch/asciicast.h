/* Writer of asciicast v2 files, for asciinema: a JSON header line, then an output event with the
 * changed rows, for a terminal with 256 colours, each time the screen changes. */
#ifndef GAVEL_WATCH_ASCIICAST_H
#define GAVEL_WATCH_ASCIICAST_H

#include "base/err.h"
#include "draw/grid.h"

#include <stdio.h>

struct cast {
	FILE *f;
	const char *file;
	struct buf *rows; /* as last painted */
	int row_count;
	bool ascii;
	uint32_t frames;
	int64_t last_ms;
};

int cast_open(struct cast *c, const char *file, int rows, int cols, struct str title, bool ascii,
	      struct err *err);
/* Adds an event if the screen has changed. */
void cast_frame(struct cast *c, const struct grid *g, int64_t at_ms);
/* -1: some write has failed. */
int cast_close(struct cast *c, struct err *err);

#endif
