/* What is common to making loops and looking at one. */
#ifndef GAVEL_MODEL_LOOPS_PARTS_H
#define GAVEL_MODEL_LOOPS_PARTS_H

#include "model/loops.h"

/* What is open after each answer, and when each loop begins and ceases to diverge, up to message
 * `end`. false: it was cancelled. */
bool loops_count(struct loops *all, uint32_t end, struct yield *yield);

#endif
