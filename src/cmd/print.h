/* Views on paper: rows of a view as lines of standard output. */
#ifndef GAVEL_CMD_PRINT_H
#define GAVEL_CMD_PRINT_H

#include "config/options.h"
#include "view/view.h"

/* One view as it is printed, row by row: a view of a million lines takes no more memory than one of
 * ten. */
struct paper {
	struct grid *g;
	const struct theme *theme; /* NULL = no colours */
	bool ascii;
	int cols;
	struct buf out; /* rows that were drawn and not yet written */
};

void paper_open(struct paper *p, const struct options *o);
void paper_close(struct paper *p);
void paper_heading(struct paper *p, const struct view_ops *view, const struct scene *s,
		   const struct lines *lines);
void paper_row(struct paper *p, const struct view_ops *view, const struct scene *s,
	       const struct lines *lines, uint32_t i);
/* Our own words, dimmed. */
void paper_say(struct paper *p, const char *words);
void paper_write(struct paper *p);

#endif
