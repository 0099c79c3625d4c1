/* Internal to the collaboration dialect: shared by its field tables (collaboration_fields.c), its
 * decoder (collaboration.c) and what that has of reviews (collaboration_review.c). */
#ifndef GAVEL_DIALECT_COLLABORATION_H
#define GAVEL_DIALECT_COLLABORATION_H

#include "dialect/dialect.h"

#define RULE(id) "collaboration/" id

enum message_type {
	MT_ASSIGNMENT, MT_PROGRESS, MT_COMPLETION, MT_REVIEW_REQUEST, MT_REVIEW_RESULT,
	MT_FEEDBACK, MT_STATUS_QUERY, MT_STATUS_RESPONSE, MT_ABORT, MT_ACKNOWLEDGMENT
};

/* numbers of the fields in collab_base_shape … */
enum { B_ID, B_TIME, B_SEQUENCE, B_FROM, B_TO, B_TYPE, B_PAYLOAD, B_CORRELATION, B_REPLY,
       B_SESSION, B_LOGGED, B_DURATION, B_ERRORS, B_N };

/* and in nested shapes whose rows are kept for the decoder; a message has one payload, so that
 * those of different types may share a number */
enum { ROWS_FROM = 1, ROWS_TO, ROWS_TASK, ROWS_CONTEXT, ROWS_CONSTRAINTS, ROWS_FILES, ROWS_CREATED,
       ROWS_MODIFIED, ROWS_FINDINGS, ROWS_CHANGES, ROWS_VERIFICATION,
       ROWS_SELF_REVIEW = ROWS_TASK, ROWS_CRITERIA = ROWS_TASK };
enum { AG_ID, AG_TYPE, AG_INSTANCE };
enum { AS_TASK, AS_PRIORITY, AS_DEADLINE, AS_MAX_ITERATIONS, AS_DEPENDENCIES };
enum { TK_ID, TK_DESCRIPTION, TK_CONTEXT, TK_CONSTRAINTS, TK_CRITERIA, TK_DEPENDS,
       TK_DEPENDENCY_TYPE, TK_DEPENDENCIES };
enum { CX_SPECS, CX_FILES, CX_ATTEMPTS };
enum { CN_SCOPE, CN_TESTING, CN_UNBROKEN, CN_STYLE };
enum { PG_TASK, PG_PERCENT, PG_STEP, PG_FILES, PG_REMAINING, PG_BLOCKERS };
enum { CP_TASK, CP_STATUS, CP_CHANGES, CP_SUMMARY, CP_NOTES, CP_REVIEW, CP_BLOCKERS,
       CP_SUGGESTIONS };
enum { CH_CREATED, CH_MODIFIED, CH_DELETED };
enum { SR_TESTS_RUN, SR_TESTS_PASSED, SR_TYPES_PASSED, SR_ISSUES };
enum { FL_PATH, FL_TYPE, FL_ADDED, FL_REMOVED, FL_DESCRIPTION };
enum { RQ_ID, RQ_TASK, RQ_SCOPE, RQ_CRITERIA, RQ_CONTEXT };
enum { CR_TESTS, CR_TYPES, CR_LINT, CR_CUSTOM };
enum { RV_ID, RV_TASK, RV_VERDICT, RV_FINDINGS, RV_VERIFICATION, RV_SUMMARY, RV_CHANGES,
       RV_COMMENDATIONS };
enum { FD_ID, FD_SEVERITY, FD_CATEGORY, FD_LOCATION, FD_DESCRIPTION, FD_RATIONALE, FD_SUGGESTION,
       FD_FIXED, FD_FILE, FD_LINE };
enum { VF_TESTS, VF_TYPE_CHECK, VF_LINT, VF_CUSTOM, VF_TESTS_PASSED, VF_TYPE_CHECK_PASSED,
       VF_LINT_PASSED };
enum { RC_ID, RC_PRIORITY, RC_RELATED, RC_DESCRIPTION };
enum { FB_TYPE, FB_SUBJECT, FB_CONTENT, FB_ACTION, FB_TASK };
enum { AB_SCOPE, AB_TARGET, AB_REASON, AB_CLEANUP };

extern const struct shape collab_base_shape, collab_completion_shape, collab_file_shape,
	collab_review_result_shape, collab_finding_shape, collab_change_shape;
extern const struct shape *const collab_payload_shapes[]; /* by enum message_type */
extern const struct shape *const collab_shapes[];

/* payload: the values of its fields. */
void decode_review_request(struct checker *c, struct message *m, yyjson_val *const *payload);
void decode_review_result(struct checker *c, struct message *m, yyjson_val *const *payload,
			  const char *payload_name);

extern const char *const collab_message_types[]; /* by enum message_type */

#endif
