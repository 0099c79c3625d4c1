/* Between the two files of the collaboration dialect: its tables (collaboration_rules.c) and its
 * reading (collaboration.c). Nobody else includes this. */
#ifndef GAVEL_DIALECT_COLLABORATION_H
#define GAVEL_DIALECT_COLLABORATION_H

#include "dialect/dialect.h"

#define RULE(id) "collaboration/" id

enum message_type {
	MT_ASSIGNMENT, MT_PROGRESS, MT_COMPLETION, MT_REVIEW_REQUEST, MT_REVIEW_RESULT,
	MT_FEEDBACK, MT_STATUS_QUERY, MT_STATUS_RESPONSE, MT_ABORT, MT_ACKNOWLEDGMENT
};

/* numbers of the fields in collab_base_shape */
enum { B_ID, B_TIME, B_SEQUENCE, B_FROM, B_TO, B_TYPE, B_PAYLOAD, B_CORRELATION, B_REPLY,
       B_SESSION, B_LOGGED, B_DURATION, B_ERRORS, B_N };

extern const struct shape collab_base_shape;
extern const struct shape *const collab_payload_shapes[]; /* by enum message_type */
extern const struct shape *const collab_shapes[];

/* allowed values, in the order of the enums they stand for */
extern const char *const collab_message_types[], *const collab_completion_states[],
	*const collab_severities[], *const collab_review_verdicts[],
	*const collab_change_priorities[];

#endif
