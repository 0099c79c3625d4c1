/* gavel show --follow: what is there, then each record as it comes.
 *
 *   messages    each message once
 *   inbox       each item when it opens and whenever it changes: reworded, decided, expired, …
 *   decisions   each decision when it is made and whenever its delivery gets on; also those that
 *               another gavel makes meanwhile
 *
 * Every line leaves at once. It ends with the last source that can end, with a signal, or when
 * nobody reads the output any more. */
#ifndef GAVEL_CMD_SHOW_FOLLOW_H
#define GAVEL_CMD_SHOW_FOLLOW_H

#include "session/load.h"

/* Says on stderr why a view cannot be followed; false: it can. */
bool show_follow_refuses(const struct view_ops *view, const struct options *o);
/* After load_run of a load that follows. Returns the exit code. */
int show_follow(struct load *l, const struct view_ops *view, struct scene *s,
		const struct options *o);

#endif
