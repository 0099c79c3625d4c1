/* Printing views as text: the rows of a view as lines of standard output. */
#ifndef GAVEL_CMD_PRINT_H
#define GAVEL_CMD_PRINT_H

#include "config/options.h"
#include "draw/say.h"
#include "view/view.h"

/* Prints row by row, in constant memory. */
struct printer {
	struct grid *g;
	const struct theme *theme; /* NULL = no colours */
	bool ascii;
	int cols;
	struct buf out; /* rows not yet written */
};

void printer_open(struct printer *p, const struct options *o);
void printer_close(struct printer *p);
void printer_heading(struct printer *p, const struct view_ops *view, const struct scene *s,
		   const struct lines *lines);
void printer_row(struct printer *p, const struct view_ops *view, const struct scene *s,
	       const struct lines *lines, uint32_t i);
/* A line of gavel's own, dimmed. */
void printer_note(struct printer *p, const char *words);
void printer_write(struct printer *p);

/* Prints "gavel: …" to stderr; returns EXIT_TROUBLE. */
int print_trouble(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* say_text and say_json of a buffer, which is released. */
void print_text(struct buf *b);
void print_json(struct buf *b);

#endif
