/* Registry of encoders, indexed by dialect. */
#include "encode/plan.h"

#define DECLARE(NAME, name) extern const struct encoder_ops encoder_##name;
#define ROW(NAME, name) [DIALECT_##NAME] = &encoder_##name,

DIALECTS(DECLARE)

const struct encoder_ops *const encoders[DIALECT_MAX] = { DIALECTS(ROW) };
