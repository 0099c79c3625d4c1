/* What changed between two texts, line by line, in reading order.
 *
 * A diff borrows both texts: keep them while it is looked at. Zero it, diff_make as often as you
 * like, diff_release. Joining the lines that are not ADDED gives a again, those that are not
 * REMOVED, each with its ending, give b, byte for byte.
 *
 * Lines that differ in their ending alone differ. A change lists what is removed, then what is
 * added. The result is the shortest one as long as that can be found at a bounded cost; beyond it,
 * the part not yet compared is all removed and all added, and coarse is set. Memory is linear in
 * the lines that changed. */
#ifndef GAVEL_DRAW_DIFF_H
#define GAVEL_DRAW_DIFF_H

#include "base/buf.h"
#include "base/mem.h"

enum diff_kind {
	DIFF_KEPT,
	DIFF_REMOVED,
	DIFF_ADDED,
	DIFF_GAP, /* kept lines that are not listed */
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
	uint32_t count; /* lines it stands for: 1, but for gaps and beyond DIFF_LINES_MAX */
	/* count 1: without the ending; else all of the lines as they are, and end says nothing */
	struct str text;
	/* the words of it that its partner does not have: diff.spans.v[span] and on; none where the
	 * line has no partner or little in common with it */
	uint32_t span, spans;
};

/* Bytes [at, at + n) of a line's text; never a part of a UTF-8 character. */
struct diff_span {
	uint32_t at, n;
};

struct diff {
	VEC(struct diff_line) lines;
	VEC(struct diff_span) spans;
	uint32_t kept, removed, added; /* lines of the texts, gaps counted in */
	uint32_t hunks;                /* changes with kept lines between them */
	bool coarse;
};

#define DIFF_WHOLE UINT32_MAX /* as context: no gap shorter than DIFF_LINES_MAX lines */

enum {
	DIFF_LINES_MAX = 1 << 18, /* of a text's changed part; the rest counts as one long line */
};

/* context: how many kept lines to list before and after a change. Equal texts give one gap. One
 * kept line is never worth a gap. */
void diff_make(struct diff *d, struct str a, struct str b, uint32_t context);
void diff_release(struct diff *d);

#endif
