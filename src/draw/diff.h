/* Line diff of two texts, with the changed words inside changed lines.
 *
 * A diff borrows both texts: keep them as long as it. Zero it, diff_make any number of times,
 * diff_release. Concatenating the lines that are not ADDED, each with its ending, gives a byte for
 * byte; those that are not REMOVED give b.
 *
 * Lines that differ only in their ending differ. A change lists the removed lines, then the added
 * ones. The diff is minimal if that can be found at a bounded cost; beyond it, the part not yet
 * compared is all removed and all added, and coarse is set. Memory is linear in what changed. */
#ifndef GAVEL_DRAW_DIFF_H
#define GAVEL_DRAW_DIFF_H

#include "base/buf.h"
#include "base/mem.h"

enum diff_kind {
	DIFF_KEPT,
	DIFF_REMOVED,
	DIFF_ADDED,
	DIFF_GAP, /* kept lines that are not shown */
};

enum diff_end {
	DIFF_END_LF,
	DIFF_END_CRLF,
	DIFF_END_NONE, /* the text ends without a newline */
};

struct diff_line {
	enum diff_kind kind;
	enum diff_end end;
	uint32_t a, b;  /* line numbers from 1; 0 where that text has no such line */
	uint32_t count; /* lines it represents: 1, except for gaps and beyond DIFF_LINES_MAX */
	/* count 1: without the ending; else all the lines verbatim, and end is unused */
	struct str text;
	/* the words changed with respect to the paired line: diff.spans.v[span] and on; none where
	 * there is no such line or it has little in common */
	uint32_t span, spans;
};

/* Bytes [at, at + n) of a line's text; never a part of a UTF-8 character. */
struct diff_span {
	uint32_t at, n;
};

struct diff {
	VEC(struct diff_line) lines;
	VEC(struct diff_span) spans;
	uint32_t kept, removed, added; /* number of lines, gaps included */
	uint32_t hunks;                /* changes with kept lines between them */
	bool coarse;
};

#define DIFF_WHOLE UINT32_MAX /* as context: no gaps below DIFF_LINES_MAX lines */

enum {
	DIFF_LINES_MAX = 1 << 18, /* of a text's changed part; the rest counts as one long line */
};

/* context: the number of kept lines shown before and after a change. Equal texts give one gap; a
 * gap has at least two lines. */
void diff_make(struct diff *d, struct str a, struct str b, uint32_t context);
void diff_release(struct diff *d);

#endif
