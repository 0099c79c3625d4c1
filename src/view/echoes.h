/* Decisions that gavel wrote and reads again: in `run` and `review`, or where the file of replies
 * is opened with its log, a person's decision is a message too. It is one decision, the
 * person's. */
#ifndef GAVEL_VIEW_ECHOES_H
#define GAVEL_VIEW_ECHOES_H

#include "view/view.h"

struct echo {
	uint32_t item, step;
};

struct echoes {
	VEC(struct echo) list; /* in order */
};

void echoes_find(const struct scene *s, struct echoes *out);
/* Whether that step of the item is a decision from here. */
bool echoes_have(const struct echoes *e, uint32_t item, uint32_t step);
void echoes_release(struct echoes *e);

#endif
