/* Text → cells: the only door through which text reaches a screen or a pipe.
 *
 * What agents, logs and file names say is a struct raw. Nothing but this file accepts one, and what
 * comes out is cells: a printable character with at most two combining marks, one or two columns
 * wide. Whatever could steer a terminal, hide, reorder or overlay comes out spelled in ASCII with
 * class CELL_ESCAPED, which the screen shows in reverse video and uses for nothing else: so `<FF>`
 * written by an agent and a byte FF written by an agent look different.
 *
 * Different prose gives different cells, except: CR before LF is dropped, a tab becomes spaces,
 * U+FE0E/FE0F, ZWJ and skin tones inside emoji are dropped, and of more than two combining marks
 * only the number is told. Ids have no exception.
 *
 * Widths are those of wcwidth(), since ncurses places by it: call setlocale() first. In a locale
 * that is not UTF-8 all text is treated as with `ascii`. Nothing here allocates; time is linear. */
#ifndef GAVEL_DRAW_CELLS_H
#define GAVEL_DRAW_CELLS_H

#include "base/str.h"

/* Untrusted text, borrowed. The field is not for reading. */
struct raw {
	struct str untrusted;
};

static inline struct raw raw_of(struct str s)
{
	return (struct raw){ s };
}

enum text_mode {
	TEXT_LINE,  /* prose in a one-line field: a newline is ^J */
	TEXT_LINES, /* prose in a pane: a newline breaks the line */
	TEXT_ID,    /* ids, names, paths, enum values, commands: only ASCII is shown as itself */
	TEXT_LABEL, /* gavel's own words: TEXT_LINE, but drawing characters have ASCII stand-ins */
};

enum cell_class {
	CELL_NORMAL,
	CELL_ESCAPED, /* always ASCII, one column */
	CELL_CUT,     /* put there by gavel where text did not fit: … ~ > */
};

struct cell {
	uint32_t base;
	uint32_t mark[2]; /* 0 where there is none */
	uint8_t width;    /* 1 or 2; a grid stores 0 for the right half of a wide cell */
	uint8_t class;    /* enum cell_class */
};

enum cells_step {
	CELLS_END,
	CELLS_CELL,
	CELLS_BREAK, /* a newline, in TEXT_LINES only */
};

/* A walk over a text. It is a plain value: a copy is a bookmark. */
struct cells {
	struct str rest;
	enum text_mode mode;
	bool ascii;  /* nothing but ASCII may come out */
	bool hidden; /* a run of tag characters was met so far: show the badge HIDDEN TEXT */
	bool in_tags;
	uint8_t pad; /* spaces of a tab still to come */
	uint8_t escape_at, escape_n;
	char escape[32]; /* escaped text still to come */
	uint32_t column; /* in its line, for tabs */
};

struct cells cells_start(struct raw text, enum text_mode mode, bool ascii);
/* Stores the next cell for CELLS_CELL; leaves *out alone otherwise. */
enum cells_step cells_next(struct cells *it, struct cell *out);

/* Looks through the whole text, also what no field has room for. */
bool cells_hidden(struct raw text);
/* Columns of the text's widest line; counting stops once it is known to exceed limit. */
uint32_t cells_width(struct raw text, enum text_mode mode, bool ascii, uint32_t limit);
/* Writes the next line of the walk into out, which has room for `cols` cells, in at most `cols`
 * columns, the last of them … (~ in ASCII) when there is more text. A wide character is never
 * split. Returns the number of cells. */
uint32_t cells_clip(struct cells *it, uint32_t cols, struct cell *out);

/* Breaks text into rows of at most `cols` columns: at newlines, at spaces (which are swallowed
 * there), beside wide characters, and inside a word only if it is longer than a row. A newline at
 * the very end starts no row. Also a plain value: keep copies to come back to a row. */
struct wrap {
	struct cells it;
	uint32_t cols;
	bool done;
};

/* cols of 0 counts as 1. */
struct wrap wrap_start(struct raw text, enum text_mode mode, bool ascii, uint32_t cols);
/* Writes the next row into `row`, which has room for w->cols cells, and their number into *n.
 * Returns false when there are no more rows. */
bool wrap_next(struct wrap *w, struct cell *row, uint32_t *n);

/* Appends the cell's characters as UTF-8 to out (at most 12 bytes); returns how many. */
size_t cell_bytes(const struct cell *c, char out[12]);
struct cell cell_ascii(char c, enum cell_class class);

#endif
