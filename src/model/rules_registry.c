/* Registry of cross-message rules, indexed by dialect number. */
#include "model/rules.h"

#define DECLARE(NAME, name) extern const struct rules_ops rules_##name;
#define ROW(NAME, name) [DIALECT_##NAME] = &rules_##name,

DIALECTS(DECLARE)

const struct rules_ops *const dialect_rules[DIALECT_MAX] = { DIALECTS(ROW) };
