/* Markers: how a person's collaboration messages name the item they decide, at the start of a text:
 * "[find-7 accepted] …" in acceptance criteria, "[find-7 rejected] …" in a feedback's content. */
#ifndef GAVEL_DIALECT_MARKER_H
#define GAVEL_DIALECT_MARKER_H

#include "base/buf.h"
#include "base/mem.h"
#include "event/event.h"

struct marker {
	struct str id;
	enum verdict verdict; /* ACCEPTED, PARTIAL, REJECTED or ESCALATED */
	struct str rest;      /* the text after it */
};

/* false if the text does not begin with a marker. The arena is for a percent-decoded id. */
bool marker_read(struct str text, struct arena *arena, struct marker *out);
/* Writes a marker and a space. Ids are untrusted: one with a bracket could forge the marker of
 * another item. So brackets, control characters and a % that looks like an encoding are
 * percent-encoded (%5B). */
void marker_write(struct buf *b, struct str id, enum verdict verdict);

#endif
