/* A draft as a team's store keeps it: what a person decides, without who, when and on which item, as one
 * JSON object: verb [, reason_code, explanation, answer, option, input, artifact, sure]. The same decision
 * has the same bytes, so that two who countersign agree on all of it. artifact is no path, as people and
 * agents are on different machines, but "sha256:…" of the artifact as it was seen; empty = none. */
#ifndef GAVEL_DECIDE_DRAFT_WORDS_H
#define GAVEL_DECIDE_DRAFT_WORDS_H

#include "decide/decision.h"

/* Adds the members behind the verb to an object; the journal has them, too. */
void draft_words_put(const struct draft *draft, struct str artifact, struct buf *out);
/* draft->artifact is not looked at. */
void draft_words_write(const struct draft *draft, struct str artifact, struct buf *out);
/* Fills in the members of a decision; strings go into `words`. -1: it is none. */
int draft_words_read(struct str json, struct draft *draft, struct str *artifact, struct arena *words,
		     struct err *err);

#endif
