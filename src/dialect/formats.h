/* Predicates for string formats, independent of protocols. */
#ifndef GAVEL_DIALECT_FORMATS_H
#define GAVEL_DIALECT_FORMATS_H

#include "base/timestamp.h"

bool is_uuid(struct str s, bool version4);
bool is_item_id(struct str s); /* ^[a-z0-9._-]{8,128}$ */
bool is_mime(struct str s);    /* type/subtype, with or without parameters */
/* ISO 8601: a date, with `clock` followed by T and a time of day. Sets *ms if valid. */
bool is_iso(struct str s, bool clock, int64_t *ms);
bool is_relative_path(struct str s);
/* Whether a relative path contains "..", and may leave its base folder. */
bool path_has_dotdot(struct str s);

/* Index of s in a NULL-terminated list, or -1. */
int value_index(const char *const *values, struct str s);

#endif
