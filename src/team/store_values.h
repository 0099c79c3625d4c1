/* Values of a request in the form in which they are sent. */
#ifndef GAVEL_TEAM_STORE_VALUES_H
#define GAVEL_TEAM_STORE_VALUES_H

#include "base/buf.h"
#include "team/store.h"

/* The server's number of a type that is sent in binary form; 0 = as text, whose type the statement says. */
unsigned store_type_oid(enum store_type type);
/* Appends a value: nothing for a NULL. */
void store_value_write(const struct store_value *v, struct buf *out);

#endif
