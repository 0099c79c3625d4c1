/* Shell-like patterns over paths: * and ? stay within one folder, ** crosses folders, [a-z] and
 * {one,two} as usual. A pattern that ends with / covers all below it. */
#ifndef GAVEL_BASE_GLOB_H
#define GAVEL_BASE_GLOB_H

#include "base/str.h"

bool glob_match(struct str pattern, struct str path);
/* The same with a budget of steps that several calls may share: false once it is 0. */
bool glob_match_within(struct str pattern, struct str path, unsigned *budget);

#endif
