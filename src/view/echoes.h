/* Echoes: decisions in the log that gavel itself wrote. In `run` and `review`, or where the reply
 * file is opened with its log, a person's decision is also a message; it must count only once. */
#ifndef GAVEL_VIEW_ECHOES_H
#define GAVEL_VIEW_ECHOES_H

#include "view/view.h"

struct echo {
	uint32_t item, step;
};

struct echoes {
	VEC(struct echo) list; /* sorted */
};

void echoes_find(const struct scene *s, struct echoes *out);
/* Whether that step of the item is an echo. */
bool echoes_have(const struct echoes *e, uint32_t item, uint32_t step);
void echoes_release(struct echoes *e);

#endif
