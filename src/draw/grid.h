/* An off-screen grid of spots, each a cell and a role. Views draw into it and know nothing of
 * colours; a theme (paint.h) and the terminal turn roles into looks.
 *
 * Every drawing function takes a rect, clips it to the grid, and writes only inside it. One
 * exception: when a rect's edge cuts a wide character drawn earlier, the half outside becomes a
 * blank. Cells of class CELL_ESCAPED always get ROLE_ESCAPED, whatever role is passed; passing
 * ROLE_ESCAPED is a BUG(). */
#ifndef GAVEL_DRAW_GRID_H
#define GAVEL_DRAW_GRID_H

#include "base/buf.h"
#include "draw/cells.h"

enum role {
	ROLE_NORMAL,
	ROLE_DIM,
	ROLE_TITLE,
	ROLE_HEADER,
	ROLE_KEY,
	ROLE_ID,
	ROLE_TIME,
	ROLE_DIALECT,
	ROLE_ACCENT,
	ROLE_MATCH,
	ROLE_SELECTED,
	ROLE_MARKED,
	ROLE_BORDER,
	ROLE_CURSOR,
	ROLE_BADGE,
	ROLE_BAR,
	ROLE_BAR_REST,
	ROLE_OK,
	ROLE_INFO,
	ROLE_WARN,
	ROLE_ERROR,
	ROLE_CRITICAL,
	ROLE_ACCEPTED,
	ROLE_PARTIAL,
	ROLE_REJECTED,
	ROLE_ESCALATED,
	ROLE_DEFERRED,
	ROLE_STAGED,
	ROLE_HELD,
	ROLE_DUE,
	ROLE_STALLED,
	ROLE_ADDED,
	ROLE_REMOVED,
	ROLE_ARCHITECT,
	ROLE_DEVELOPER,
	ROLE_REVIEWER,
	ROLE_AGENT,
	ROLE_PERSON,
	ROLE_ESCAPED, /* assigned only by the grid */
	ROLE_COUNT
};

/* The role's unique printable letter in saved screens. */
char role_letter(enum role role);
/* The role's name in the configuration, and back: ROLE_COUNT if there is no such name. */
const char *role_name(enum role role);
enum role role_find(struct str name);

/* Any numbers are allowed; what lies outside the grid is not drawn. */
struct rect {
	int row, col, rows, cols;
};

/* A sub-rectangle, placed relative to `outer` and clipped to it. */
struct rect rect_in(struct rect outer, int row, int col, int rows, int cols);

static inline bool rect_has(struct rect r, int row, int col)
{
	return row >= r.row && row < r.row + r.rows && col >= r.col && col < r.col + r.cols;
}

struct spot {
	struct cell cell; /* width 0: the right half of the wide cell before it */
	enum role role;
};

struct grid {
	int rows, cols;
	bool ascii; /* draw with ASCII only; set before drawing */
	struct spot *spots;
	struct cell *line; /* scratch for one row */
};

#define GRID_MAX_COLS 4096
#define GRID_MAX_SPOTS (1 << 22)

/* Sizes are clamped to 1 and the limits. Resizing clears. */
struct grid *grid_new(int rows, int cols, bool ascii);
void grid_free(struct grid *g);
void grid_resize(struct grid *g, int rows, int cols);
void grid_clear(struct grid *g);
struct rect grid_rect(const struct grid *g);
/* Copies a part of a row, from that column on, to `where`. Half of a wide character is a blank. */
void grid_copy_row(struct grid *g, struct rect where, const struct grid *from, int row, int col);
/* Lends a spot; BUG() outside the grid. */
const struct spot *grid_at(const struct grid *g, int row, int col);

/* Draws one line on the first row of the rect, clipped with … at its right edge. Returns the
 * number of columns used; the rest of the row is left as it was. */
int grid_text(struct grid *g, struct rect where, enum role role, struct raw text,
	      enum text_mode mode);
/* The program's own text, as TEXT_LABEL. */
int grid_put(struct grid *g, struct rect where, enum role role, const char *label);
/* Short own text with numbers; never for untrusted text. */
int grid_printf(struct grid *g, struct rect where, enum role role, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
/* Draws rows [skip, skip + where.rows) of the wrapped text; returns how many it drew. */
int grid_prose(struct grid *g, struct rect where, enum role role, struct raw text,
	       enum text_mode mode, int skip);
/* The same from an iterator with cols = where.cols; it advances to the first row not drawn. */
int grid_wrap(struct grid *g, struct rect where, enum role role, struct wrap *w);
/* The number of rows of the text when wrapped to cols of this grid; counts up to limit. */
int grid_prose_rows(struct grid *g, int cols, struct raw text, enum text_mode mode, int limit);
/* Fills with the first character of label; " " blanks. */
void grid_fill(struct grid *g, struct rect where, enum role role, const char *label);
/* Changes the role of what is there; escaped text stays escaped. */
void grid_role(struct grid *g, struct rect where, enum role role);

/* Appends the rows of text without trailing blanks, a line "---", and the rows of role letters, one
 * for each column. */
void grid_save(const struct grid *g, struct buf *out);

#endif
