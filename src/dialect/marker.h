/* How a person's collaboration messages name what they decide: at the start of a text, "[find-7
 * accepted] …" in acceptance criteria, "[find-7 rejected] …" in the content of a feedback. */
#ifndef GAVEL_DIALECT_MARKER_H
#define GAVEL_DIALECT_MARKER_H

#include "base/buf.h"
#include "base/mem.h"
#include "event/event.h"

struct marker {
	struct str id;
	enum verdict verdict; /* ACCEPTED, PARTIAL, REJECTED or ESCALATED */
	struct str rest;      /* the text behind it */
};

/* false where the text begins with none. The arena is for an id that was written coded. */
bool marker_read(struct str text, struct arena *arena, struct marker *out);
/* With the space behind it. Ids are their senders' words, and one that holds a bracket could pass
 * itself off as a marker of another: brackets and control characters are written as %5B, and so is
 * a % that could be taken for such. */
void marker_write(struct buf *b, struct str id, enum verdict verdict);

#endif
