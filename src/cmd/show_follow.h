/* gavel show --follow: prints what is there, then each record as it arrives.
 *
 *   messages    each message once
 *   inbox       each item when it opens and whenever it changes: reworded, decided, expired, …
 *   decisions   each decision when it is made and whenever its delivery advances; also those of
 *               other gavel processes
 *
 * Every line is flushed. Ends with the last source, on a signal, or when stdout is closed. */
#ifndef GAVEL_CMD_SHOW_FOLLOW_H
#define GAVEL_CMD_SHOW_FOLLOW_H

#include "session/load.h"

/* Whether the view cannot be followed; reports why on stderr. */
bool show_follow_refuses(const struct view_ops *view, const struct options *o);
/* After load_run of a load that follows. Returns the exit code. */
int show_follow(struct load *l, const struct view_ops *view, struct scene *s,
		const struct options *o);

#endif
