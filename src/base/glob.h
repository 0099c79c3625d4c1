/* Shell-like patterns over paths: * and ? stay within one folder, ** crosses folders, [a-z] and
 * {one,two} as usual. A pattern that ends with / covers all below it. */
#ifndef GAVEL_BASE_GLOB_H
#define GAVEL_BASE_GLOB_H

#include "base/str.h"

bool glob_match(struct str pattern, struct str path);
/* The same, paid for from a budget of steps that several calls share: once it is spent (0),
 * false. */
bool glob_match_within(struct str pattern, struct str path, unsigned *budget);

#endif
