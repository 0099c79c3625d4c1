/* Internal to ledger.c and ledger_at.c. */
#ifndef GAVEL_MODEL_LEDGER_INTERNAL_H
#define GAVEL_MODEL_LEDGER_INTERNAL_H

#include "model/ledger.h"

/* Computes answers and transitions of all loops up to message `end`. false: cancelled. */
bool ledger_count(struct ledger *all, uint32_t end, struct yield *yield);

#endif
