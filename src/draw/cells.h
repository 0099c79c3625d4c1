/* Text → cells: sanitizes untrusted text; the only way for text to reach a screen or a pipe.
 *
 * Text from agents, logs and file names is a struct raw. Only this file looks inside one, and emits
 * cells: a printable character with at most two combining marks, one or two columns wide. Control,
 * bidi, invisible and unassigned characters and invalid UTF-8 are escaped: spelled in ASCII with
 * class CELL_ESCAPED, which the screen shows in reverse video and uses for nothing else. So `<FF>`
 * written by an agent and a byte FF written by an agent look different.
 *
 * Different prose gives different cells, except: CR before LF is dropped, a tab becomes spaces,
 * U+FE0E/FE0F, ZWJ and skin tones inside emoji are dropped, and combining marks beyond two are
 * replaced by their number. Ids have no exception.
 *
 * Widths are those of wcwidth(), which ncurses uses too: call setlocale() first. In a locale that
 * is not UTF-8 all text is treated as with `ascii`. Nothing here allocates; time is linear. */
#ifndef GAVEL_DRAW_CELLS_H
#define GAVEL_DRAW_CELLS_H

#include "base/str.h"

/* Untrusted text, borrowed. Only cells.c may read the field. */
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
	TEXT_LABEL, /* the program's own text: TEXT_LINE, with ASCII stand-ins for line drawing */
};

enum cell_class {
	CELL_NORMAL,
	CELL_ESCAPED, /* always ASCII, one column */
	CELL_CUT,     /* the mark of clipped text: … ~ > */
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

/* Iterator over the cells of a text. A plain value: a copy is a bookmark. */
struct cells {
	struct str rest;
	enum text_mode mode;
	bool ascii;  /* emit only ASCII */
	bool hidden; /* tag characters were found so far: show the badge HIDDEN TEXT */
	bool in_tags;
	uint8_t pad; /* spaces of a tab left to emit */
	uint8_t escape_at, escape_n;
	char escape[32]; /* escaped text left to emit */
	uint32_t column; /* in its line, for tabs */
};

struct cells cells_start(struct raw text, enum text_mode mode, bool ascii);
/* Stores the next cell for CELLS_CELL; leaves *out alone otherwise. */
enum cells_step cells_next(struct cells *it, struct cell *out);

/* Whether the text contains tag characters, including the part that would be clipped. */
bool cells_hidden(struct raw text);
/* Whether a character is a C1 control, bidi or invisible, and thus always escaped on its own. */
bool is_unseen(uint32_t c);
/* Whether the text contains such characters, other than inside emoji. */
bool cells_unseen(struct raw text);
/* Columns of the text's widest line; stops counting beyond limit. */
uint32_t cells_width(struct raw text, enum text_mode mode, bool ascii, uint32_t limit);
/* Writes the next line into out, which has room for `cols` cells, clipped to `cols` columns: the
 * last is … (~ in ASCII) when there is more text. A wide character is never split. Returns the
 * number of cells. */
uint32_t cells_clip(struct cells *it, uint32_t cols, struct cell *out);

/* Word wrap into rows of at most `cols` columns: at newlines, at spaces (which are dropped there),
 * beside wide characters, and inside a word only if it is longer than a row. A newline at the very
 * end starts no row. Also a plain value: keep copies to return to a row. */
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
