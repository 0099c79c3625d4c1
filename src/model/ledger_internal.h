/* Internal to loops.c and loop_at.c. */
#ifndef GAVEL_MODEL_LEDGER_INTERNAL_H
#define GAVEL_MODEL_LEDGER_INTERNAL_H

#include "model/ledger.h"

/* Computes answers and flips of all loops, up to message `end`. false: cancelled by the yield. */
bool ledger_count(struct ledger *all, uint32_t end, struct yield *yield);

#endif
