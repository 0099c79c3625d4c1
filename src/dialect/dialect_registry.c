/* Registry of dialects, indexed by dialect number. */
#include "dialect/dialect.h"

#define DECLARE(NAME, name) extern const struct dialect_ops dialect_##name;
#define ROW(NAME, name) [DIALECT_##NAME] = &dialect_##name,

DIALECTS(DECLARE)

const struct dialect_ops *const dialects[DIALECT_MAX] = { DIALECTS(ROW) };
