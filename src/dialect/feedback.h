/* Internal to the feedback dialect: shared by feedback.c and feedback_extract.c. */
#ifndef GAVEL_DIALECT_FEEDBACK_H
#define GAVEL_DIALECT_FEEDBACK_H

#include "dialect/dialect.h"

extern const struct dialect_ops dialect_feedback;

/* The keys of its signature, as dialect_has gives them. */
enum { HAS_SESSION, HAS_PART, HAS_TYPE, HAS_TIMESTAMP, HAS_ITERATION, HAS_ARTIFACT, HAS_APPLIED,
       HAS_VERSION, HAS_STATUS, HAS_FEEDBACK, HAS_ACK, HAS_ERROR };

/* Extracts the Response from a text, or NULL. *broken: it looks like one but is not JSON. */
yyjson_val *find_response(struct decoder *d, yyjson_val *part_text, bool *repaired, bool *broken);

#endif
