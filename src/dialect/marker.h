/* How a person's collaboration messages name what they decide: at the start of a text, "[find-7
 * accepted] …" in acceptance criteria, "[find-7 rejected] …" in the content of a feedback. */
#ifndef GAVEL_DIALECT_MARKER_H
#define GAVEL_DIALECT_MARKER_H

#include "base/buf.h"
#include "event/event.h"

struct marker {
	struct str id;
	enum verdict verdict; /* ACCEPTED, PARTIAL, REJECTED or ESCALATED */
	struct str rest;      /* the text behind it */
};

/* false where the text begins with none. */
bool marker_read(struct str text, struct marker *out);
/* With the space behind it. Only ids that marker_can_name are read back as they were. */
void marker_write(struct buf *b, struct str id, enum verdict verdict);
/* Ids are their senders' words: one that holds a bracket could pass itself off as a marker of another. */
bool marker_can_name(struct str id);

#endif
