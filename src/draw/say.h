/* The only door to standard output and standard error: tests/layers.t finds who goes round it.
 * Whatever a sentence repeats of messages, file names, the configuration or the command line,
 * nothing that a terminal would obey gets through: text passes as cells (draw/cells.h). */
#ifndef GAVEL_DRAW_SAY_H
#define GAVEL_DRAW_SAY_H

#include "base/buf.h"
#include "draw/cells.h"

/* One line of standard output; a newline in an argument is escaped, too. */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* "gavel: …", one line of standard error. */
void say_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Lines of text: each newline ends one, and the text should end with one. */
void say_text(struct str text);
void say_error_text(struct str text);
/* JSON on standard output. Its strings have DEL and C1 controls as escapes afterwards; directions
 * are data there. */
void say_json(struct str json);
/* What gavel itself has made, as it is, on standard output: painted cells, scripts, the manual. */
void say_own(struct str bytes);

/* Appends untrusted text as cells; plain ASCII is copied. */
void add_clean(struct buf *out, struct str s, enum text_mode mode);
/* Appends a label and then the text. */
void add_labelled(struct buf *out, const char *label, struct str s, enum text_mode mode);
/* The same as add_clean, truncated with "…" after so many cells. ascii: as cells_start has it, with "~".
 * What is shown with ASCII must be cut with it: there the "…" would be escaped like the text. */
void add_clean_cut(struct buf *out, struct str s, enum text_mode mode, bool ascii, int most);

#endif
