/* Which session messages belong to that name none. The model gives them to the session named after
 * their group (the file or folder); people mean the one that the rest of the file is about. So they
 * belong to the only session that is named in their file, else to the only one in their group; where
 * there are several, or none, the session stays that of the group.
 *
 * Zero it, ask session_of, release it. It follows the model as that grows: what a line belongs to may
 * turn out later. With k set, only sessions that have begun by then are known. */
#ifndef GAVEL_MODEL_SESSION_OF_H
#define GAVEL_MODEL_SESSION_OF_H

#include "model/model.h"

/* By key, the only session that was named there, or SESSION_SEVERAL. */
struct only_sessions {
	struct map map; /* key → index into list */
	VEC(uint32_t) list;
};

struct sessions_named {
	uint32_t k; /* 0 = all messages */
	const struct model *m;
	uint32_t routes_seen;
	struct only_sessions files, groups;
};

uint32_t session_of(struct sessions_named *c, const struct model *m, uint32_t route);
void sessions_named_release(struct sessions_named *c);

#endif
