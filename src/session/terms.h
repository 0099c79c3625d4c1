/* What the command line and the configuration say about deciding, as the encoders want it. */
#ifndef GAVEL_SESSION_TERMS_H
#define GAVEL_SESSION_TERMS_H

#include "config/config.h"
#include "config/options.h"
#include "encode/plan.h"

/* Lends strings of o and c. In a recording the time is the newest message's; where messages have
 * none, the wall clock's. */
void terms_fill(struct terms *t, const struct options *o, const struct config *c,
		const struct model *m);
/* --as, the configuration, the login, in this order. */
struct str terms_name(const struct options *o, const struct config *c);

#endif
