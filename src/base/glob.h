/* Shell-like patterns over paths: * and ? stay within one folder, ** crosses folders, [a-z] and
 * {one,two} as usual. A pattern that ends with / covers all below it. */
#ifndef GAVEL_BASE_GLOB_H
#define GAVEL_BASE_GLOB_H

#include "base/str.h"

bool glob_match(struct str pattern, struct str path);
/* The same with a budget of steps that several calls may share: false once it is 0. */
bool glob_match_within(struct str pattern, struct str path, unsigned *budget);

enum { PATH_CLEAN_MAX = 4096 };

/* Removes empty components, "." and, with the folder before it, "..", by name alone: symbolic links
 * are not known here. "../a" stays as it is. Returns the path itself if nothing is to be removed or
 * it is longer than the room. */
struct str path_clean(struct str path, char room[PATH_CLEAN_MAX]);
/* The same for the folders before a pattern's first wildcard. */
struct str glob_clean(struct str pattern, char room[PATH_CLEAN_MAX]);
/* glob_match_within of a clean pattern and a clean path: one that leaves the root folder ("../a")
 * is matched only by a pattern that does, too. */
bool glob_match_clean(struct str pattern, struct str path, unsigned *budget);

#endif
