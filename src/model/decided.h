/* The log's decisions in the order they are listed, the newest first: so those before any message
 * are the tail of one list. */
#ifndef GAVEL_MODEL_DECIDED_H
#define GAVEL_MODEL_DECIDED_H

#include "model/model.h"

/* Step `step` of an item. Of one message, items in their order, of one item, the later step
 * first. */
struct decided {
	uint32_t message, item, step;
};

struct decided_list;

/* Of the first n messages. NULL: it was cancelled. */
struct decided_list *decided_new(const struct model *m, uint32_t n, struct yield *yield);
void decided_free(struct decided_list *d);
/* Those of the first k messages. */
const struct decided *decided_before(const struct decided_list *d, uint32_t k, uint32_t *n);

#endif
