/* What is common to making loops and looking at one. */
#ifndef GAVEL_MODEL_LEDGER_INTERNAL_H
#define GAVEL_MODEL_LEDGER_INTERNAL_H

#include "model/ledger.h"

/* What is open after each answer, and when each loop begins and ceases to diverge, up to message
 * `end`. false: the breath has stopped it. */
bool loops_count(struct loops *all, uint32_t end, struct breath *breath);

#endif
