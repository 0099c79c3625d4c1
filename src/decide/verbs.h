/* Which verbs an item's dialect can say. Deciding and writing come on top of this. */
#ifndef GAVEL_DECIDE_VERBS_H
#define GAVEL_DECIDE_VERBS_H

#include "event/event.h"

enum verb {
	VERB_ACCEPT,
	VERB_PARTIAL,
	VERB_REJECT,
	VERB_ANSWER,
	VERB_DISMISS,
	VERB_ESCALATE,
	VERB_COUNT
};

const char *verb_name(enum verb v);
/* Bits 1 << VERB_…. never_expires tells a question that is an event from one that is a request. */
unsigned verbs_of(enum dialect_id dialect, enum item_kind kind, bool never_expires);

#endif
