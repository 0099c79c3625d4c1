/* Fills struct terms, for the encoders, from command line and configuration. */
#ifndef GAVEL_SESSION_TERMS_H
#define GAVEL_SESSION_TERMS_H

#include "config/config.h"
#include "config/options.h"
#include "encode/plan.h"

/* Borrows strings of o and c. The time is that of the newest message, or the wall clock where
 * messages have none. */
void terms_fill(struct terms *t, const struct options *o, const struct config *c,
		const struct model *m);
/* The name of the person: --as, the configuration, $USER, the login name, in this order. */
struct str terms_name(const struct options *o, const struct config *c);

#endif
