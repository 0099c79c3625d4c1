/* A pane shows the lines of one view in a rectangle and keeps the selection and scroll position.
 *
 * Lines are made again when the scene has changed; the selection stays on the same line content,
 * not on the same row, so that arrivals and re-sorting never move it to something else. */
#ifndef GAVEL_VIEW_PANE_H
#define GAVEL_VIEW_PANE_H

#include "view/view.h"

enum { GUTTER_COLS = 1 }; /* left of a list's lines */

struct pane {
	const struct view_ops *view;
	bool text; /* a text that scrolls, not a list: it keeps its position, not its line */
	struct lines lines;
	bool made;
	bool touched;      /* the person has scrolled or moved the selection */
	uint32_t selected; /* line */
	struct line at;    /* content of the selected line */
	uint32_t top;      /* first visible line */
	int rows;          /* for lines and the headings of groups, when last drawn */
	struct sort_order sort; /* for the next pane_make */
	int left;          /* columns scrolled to the right; a list is then made anew */
	bool more;         /* when last drawn, a line went on beyond the right edge */
	uint32_t found;    /* in a text: the line of the last match + 1; 0 = none */
	uint32_t k;        /* messages when the lines were made */
	struct target gone; /* what was selected until pane_make found that it is not listed any more;
			     * whoever tells the person resets it */
	uint32_t gone_k;   /* messages while it was listed last */
};

/* Makes the lines for the scene; keeps the selection. cols: of the lines, without the gutter of a
 * list. False: cancelled, the old lines stay. */
bool pane_make(struct pane *p, const struct scene *s, int cols);
void pane_release(struct pane *p);
/* Moves the selection by n lines and scrolls so that it is visible. */
void pane_move(struct pane *p, int64_t n);
/* Scrolls without moving the selection out of sight. */
void pane_scroll(struct pane *p, int64_t n);
void pane_select(struct pane *p, uint32_t line);
/* The line that was drawn in that row of the body; NONE: none, or the heading of a group. */
uint32_t pane_line_in_row(const struct pane *p, int row);
struct target pane_line_target(const struct pane *p, const struct scene *s, uint32_t line);
/* Target of the selected line. */
struct target pane_target(const struct pane *p, const struct scene *s);
/* What the preview shows of it: view_ops.preview, else its target. */
struct target pane_preview(const struct pane *p, const struct scene *s);
/* Draws the visible lines; highlights matches of word, which may be empty. */
void pane_draw(struct pane *p, const struct scene *s, struct grid *g, struct rect where,
	       bool focused, struct str word);
/* "3/18" in a list; "top", "40%", "end", "all" in a text. */
const char *pane_position(const struct pane *p, char out[24]);
/* Whether line i, or in a list its target, contains the word (without case). */
bool pane_line_has(const struct pane *p, const struct scene *s, uint32_t i, struct str word);
/* Scrolls a text of that many rows so that the first line with the word is visible. */
void pane_show_word(struct pane *p, const struct scene *s, int rows, struct str word);

#endif
