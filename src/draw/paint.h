/* Renders a grid as bytes, for `gavel show` and other output without curses, and defines the colour
 * themes. The output contains the printable characters of cells, newlines, and SGR sequences
 * (ESC [ digits ; m), nothing else.
 *
 * A theme maps each role to its look; the terminal layer uses the same themes. LOOK_REVERSE is
 * reserved for ROLE_ESCAPED, so that escaped text cannot be imitated (tests/unit/theme.h). */
#ifndef GAVEL_DRAW_PAINT_H
#define GAVEL_DRAW_PAINT_H

#include "draw/grid.h"

/* The 16 colours of a terminal in SGR order: 0-7, then the bright ones 8-15. */
enum colour {
	COLOUR_BLACK, COLOUR_RED, COLOUR_GREEN, COLOUR_YELLOW,
	COLOUR_BLUE, COLOUR_MAGENTA, COLOUR_CYAN, COLOUR_WHITE,
	COLOUR_BRIGHT = 8, /* added to one of the above */
	COLOUR_DEFAULT = 16
};

/* A colour of the 256-colour palette beyond the first 16: a 6x6x6 cube and greys. */
#define COLOUR_256(n) (0x100 + (n))

enum look_bits {
	LOOK_BOLD = 1,
	LOOK_FAINT = 2,
	LOOK_UNDERLINE = 4,
	LOOK_REVERSE = 8,
};

struct look {
	uint16_t front, back; /* enum colour, perhaps with COLOUR_BRIGHT; or COLOUR_256 */
	uint8_t bits;         /* enum look_bits */
};

struct theme {
	struct look look[ROLE_COUNT];
};

extern const struct theme theme_dark, theme_light;         /* 16 colours of the user's palette */
extern const struct theme theme_dark_256, theme_light_256; /* for terminals with 256 */
extern const struct theme theme_mono;                      /* bold, underline and reverse only */
/* "dark", "light" or "mono" for a terminal with that many colours; NULL for any other name. */
const struct theme *theme_find(struct str name, int colours);

/* Appends one row without a newline and without invisible trailing blanks. theme NULL: plain text,
 * no SGR sequences. ascii: non-ASCII characters become '?'. */
void paint_row(const struct grid *g, int row, const struct theme *theme, bool ascii,
	       struct buf *out);
/* All rows, each with a newline. */
void paint_grid(const struct grid *g, const struct theme *theme, bool ascii, struct buf *out);

#endif
