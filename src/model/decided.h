/* Index of the log's decisions, newest first: those before any message are a suffix of the list,
 * found by binary search. */
#ifndef GAVEL_MODEL_DECIDED_H
#define GAVEL_MODEL_DECIDED_H

#include "model/model.h"

/* Step `step` of an item. Within one message sorted by item, within one item later steps first. */
struct decided {
	uint32_t message, item, step;
};

struct decided_list;

/* Indexes the first n messages. NULL: cancelled by the yield. */
struct decided_list *decided_new(const struct model *m, uint32_t n, struct yield *yield);
void decided_free(struct decided_list *d);
/* The decisions of the first k messages, n of them; owned by d. */
const struct decided *decided_before(const struct decided_list *d, uint32_t k, uint32_t *n);

#endif
