/* Field tables of SPEC-022, section by section. Fields that the specification's own examples omit
 * (must_not_break, rationale, verification.custom) or write differently (message_id) only warn. */
#include "dialect/collaboration.h"

#define OPEN_SHAPE(table) SHAPE_NOTING(table, RULE("2-unlisted-field"))

/* 2.1 */
static const char *const agent_types[] = { "architect", "developer", "reviewer", NULL };
static const char *const related_agent_types[] = { "product_owner", "challenger", NULL };
static const struct field agent_fields[] = {
	[AG_ID] = { "agent_id", RULE("2.1-agent_id"), REQUIRED_ID },
	[AG_TYPE] = { "agent_type", RULE("2.1-agent_type"), REQUIRED_ENUM(agent_types),
		      .related_values = related_agent_types },
	[AG_INSTANCE] = { "instance_id", RULE("2.1-instance_id"), OPTIONAL, T_STR },
};
static const struct shape agent_shape = OPEN_SHAPE(agent_fields);

const char *const collab_message_types[] = {
	"task_assignment", "task_progress", "task_completion", "review_request", "review_result",
	"feedback", "status_query", "status_response", "abort", "acknowledgment", NULL
};

static const struct field base_fields[] = {
	[B_ID] = { "message_id", RULE("6.2-message_id"), REQUIRED, T_STR,
		   .format = FORMAT_UUID4_SOFT },
	[B_TIME] = { "timestamp", RULE("6.2-timestamp"), REQUIRED_TIME },
	[B_SEQUENCE] = { "sequence_number", RULE("2.1-sequence_number"), REQUIRED, T_INT,
			 NOT_NEGATIVE },
	[B_FROM] = { "from_agent", RULE("6.2-from_agent"), REQUIRED, OBJECT(agent_shape),
		     .rows = ROWS_FROM },
	[B_TO] = { "to_agent", RULE("6.2-to_agent"), REQUIRED, OBJECT(agent_shape),
		   .rows = ROWS_TO },
	[B_TYPE] = { "message_type", RULE("6.2-message_type"),
		     REQUIRED_ENUM(collab_message_types) },
	[B_PAYLOAD] = { "payload", RULE("6.2-payload"), REQUIRED, T_OBJ, .alias = "content" },
	[B_CORRELATION] = { "correlation_id", RULE("2.1-correlation_id"), OPTIONAL, T_STR },
	[B_REPLY] = { "reply_to", RULE("2.1-reply_to"), OPTIONAL, T_STR },
	/* not in the specification, but seen in practice: separates sessions in one log */
	[B_SESSION] = { "session_id", RULE("2.1-session_id"), OPTIONAL, T_STR },
	[B_LOGGED] = { "logged_at", RULE("7.1-logged_at"), OPTIONAL, T_STR,
		       .format = FORMAT_TIMESTAMP },
	[B_DURATION] = { "processing_duration_ms", RULE("7.1-processing_duration_ms"), OPTIONAL,
			 T_NUM },
	[B_ERRORS] = { "validation_errors", RULE("7.1-validation_errors"), OPTIONAL, STRINGS },
};
const struct shape collab_base_shape = OPEN_SHAPE(base_fields);

/* 2.2.1 */
static const struct field context_file_fields[] = {
	{ "path", RULE("2.2.1-path"), REQUIRED, T_STR },
	{ "reason", RULE("2.2.1-reason"), REQUIRED, T_STR },
	{ "sections", RULE("2.2.1-sections"), OPTIONAL, STRINGS },
};
static const struct shape context_file_shape = OPEN_SHAPE(context_file_fields);
static const struct field attempt_fields[] = {
	{ "attempt_number", RULE("2.2.1-attempt_number"), REQUIRED, T_INT, NOT_NEGATIVE },
	{ "outcome", RULE("2.2.1-outcome"), REQUIRED, T_STR },
	{ "feedback", RULE("2.2.1-feedback"), REQUIRED, T_STR },
};
static const struct shape attempt_shape = OPEN_SHAPE(attempt_fields);
static const struct field task_context_fields[] = {
	[CX_SPECS] = { "specs", RULE("2.2.1-specs"), REQUIRED, OBJECTS(context_file_shape) },
	[CX_FILES] = { "reference_files", RULE("2.2.1-reference_files"), REQUIRED,
		       OBJECTS(context_file_shape) },
	[CX_ATTEMPTS] = { "previous_attempts", RULE("2.2.1-previous_attempts"), OPTIONAL,
			  OBJECTS(attempt_shape) },
};
static const struct shape task_context_shape = OPEN_SHAPE(task_context_fields);
static const struct field constraint_fields[] = {
	[CN_SCOPE] = { "scope", RULE("2.2.1-scope"), REQUIRED, STRINGS },
	[CN_TESTING] = { "testing_required", RULE("2.2.1-testing_required"), REQUIRED, T_BOOL },
	[CN_UNBROKEN] = { "must_not_break", RULE("2.2.1-must_not_break"), RECOMMENDED, STRINGS },
	[CN_STYLE] = { "style_guide", RULE("2.2.1-style_guide"), OPTIONAL, T_STR },
};
static const struct shape constraint_shape = OPEN_SHAPE(constraint_fields);

/* 3.4; its place is not specified, so it is accepted in the task and beside it */
static const char *const dependency_types[] = { "hard", "soft", NULL };
static const struct field dependency_fields[] = {
	{ "task_id", RULE("3.4-task_id"), OPTIONAL, T_STR },
	{ "depends_on", RULE("3.4-depends_on"), REQUIRED, STRINGS },
	{ "dependency_type", RULE("3.4-dependency_type"), OPTIONAL, T_STR,
	  .values = dependency_types },
};
static const struct shape dependency_shape = OPEN_SHAPE(dependency_fields);

static const struct field task_fields[] = {
	[TK_ID] = { "task_id", RULE("2.2.1-task_id"), REQUIRED_ID },
	[TK_DESCRIPTION] = { "task_description", RULE("2.2.1-task_description"), REQUIRED, T_STR },
	[TK_CONTEXT] = { "context", RULE("2.2.1-context"), REQUIRED, OBJECT(task_context_shape),
			 .rows = ROWS_CONTEXT },
	[TK_CONSTRAINTS] = { "constraints", RULE("2.2.1-constraints"), REQUIRED,
			     OBJECT(constraint_shape), .rows = ROWS_CONSTRAINTS },
	[TK_CRITERIA] = { "acceptance_criteria", RULE("2.2.1-acceptance_criteria"), REQUIRED,
			  STRINGS },
	[TK_DEPENDS] = { "depends_on", RULE("3.4-depends_on"), OPTIONAL, STRINGS },
	[TK_DEPENDENCY_TYPE] = { "dependency_type", RULE("3.4-dependency_type"), OPTIONAL, T_STR,
				 .values = dependency_types },
	[TK_DEPENDENCIES] = { "dependencies", RULE("3.4-dependencies"), OPTIONAL, T_ARR,
			      T_OBJ | T_STR, &dependency_shape },
};
static const struct shape task_shape = OPEN_SHAPE(task_fields);
static const char *const priorities[] = { "high", "medium", "low", NULL };
static const struct field assignment_fields[] = {
	[AS_TASK] = { "task", RULE("2.2.1-task"), REQUIRED, OBJECT(task_shape), .rows = ROWS_TASK },
	[AS_PRIORITY] = { "priority", RULE("2.2.1-priority"), REQUIRED_ENUM(priorities) },
	[AS_DEADLINE] = { "deadline", RULE("2.2.1-deadline"), OPTIONAL, T_STR,
			  .format = FORMAT_DATE },
	[AS_MAX_ITERATIONS] = { "max_iterations", RULE("2.2.1-max_iterations"), OPTIONAL, T_INT,
				POSITIVE },
	[AS_DEPENDENCIES] = { "dependencies", RULE("3.4-dependencies"), OPTIONAL, T_ARR,
			      T_OBJ | T_STR, &dependency_shape },
};
static const struct shape assignment_shape = OPEN_SHAPE(assignment_fields);

/* 2.2.2 */
static const struct field progress_fields[] = {
	[PG_TASK] = { "task_id", RULE("2.2.2-task_id"), REQUIRED_ID },
	[PG_PERCENT] = { "progress_percent", RULE("2.2.2-progress_percent"), REQUIRED, T_NUM,
			 .ranged = true, .min = 0, .max = 100 },
	[PG_STEP] = { "current_step", RULE("2.2.2-current_step"), REQUIRED, T_STR },
	[PG_FILES] = { "files_modified_so_far", RULE("2.2.2-files_modified_so_far"), REQUIRED,
		       STRINGS },
	[PG_REMAINING] = { "estimated_remaining", RULE("2.2.2-estimated_remaining"), OPTIONAL,
			   T_STR },
	[PG_BLOCKERS] = { "blockers", RULE("2.2.2-blockers"), OPTIONAL, STRINGS },
};
static const struct shape progress_shape = OPEN_SHAPE(progress_fields);

/* 2.2.3 */
static const char *const change_types[] = { "created", "modified", "deleted", NULL };
static const struct field file_fields[] = {
	[FL_PATH] = { "path", RULE("2.2.3-path"), REQUIRED, T_STR },
	[FL_TYPE] = { "change_type", RULE("2.2.3-change_type"), REQUIRED_ENUM(change_types) },
	[FL_ADDED] = { "lines_added", RULE("2.2.3-lines_added"), OPTIONAL, T_INT, NOT_NEGATIVE },
	[FL_REMOVED] = { "lines_removed", RULE("2.2.3-lines_removed"), OPTIONAL, T_INT,
			 NOT_NEGATIVE },
	[FL_DESCRIPTION] = { "description", RULE("2.2.3-description"), OPTIONAL, T_STR },
};
const struct shape collab_file_shape = OPEN_SHAPE(file_fields);
static const struct field changes_fields[] = {
	[CH_CREATED] = { "files_created", RULE("2.2.3-files_created"), REQUIRED,
			 OBJECTS(collab_file_shape), .rows = ROWS_CREATED },
	[CH_MODIFIED] = { "files_modified", RULE("2.2.3-files_modified"), REQUIRED,
			  OBJECTS(collab_file_shape), .rows = ROWS_MODIFIED },
	[CH_DELETED] = { "files_deleted", RULE("2.2.3-files_deleted"), REQUIRED, STRINGS },
};
static const struct shape changes_shape = OPEN_SHAPE(changes_fields);
static const struct field self_review_fields[] = {
	[SR_TESTS_RUN] = { "tests_run", RULE("2.2.3-tests_run"), REQUIRED, T_BOOL },
	[SR_TESTS_PASSED] = { "tests_passed", RULE("2.2.3-tests_passed"), REQUIRED, T_BOOL },
	[SR_TYPES_PASSED] = { "type_check_passed", RULE("2.2.3-type_check_passed"), REQUIRED,
			      T_BOOL },
	[SR_ISSUES] = { "known_issues", RULE("2.2.3-known_issues"), OPTIONAL, STRINGS },
};
static const struct shape self_review_shape = OPEN_SHAPE(self_review_fields);
static const char *const completion_states[] = { "completed", "partial", "failed", NULL };
static const struct field completion_fields[] = {
	[CP_TASK] = { "task_id", RULE("2.2.3-task_id"), REQUIRED_ID },
	[CP_STATUS] = { "status", RULE("2.2.3-status"), REQUIRED_ENUM(completion_states) },
	[CP_CHANGES] = { "changes", RULE("2.2.3-changes"), REQUIRED, OBJECT(changes_shape),
			 .rows = ROWS_FILES },
	[CP_SUMMARY] = { "summary", RULE("2.2.3-summary"), REQUIRED, T_STR },
	[CP_NOTES] = { "implementation_notes", RULE("2.2.3-implementation_notes"), OPTIONAL,
		       T_STR },
	[CP_REVIEW] = { "self_review", RULE("2.2.3-self_review"), REQUIRED,
			OBJECT(self_review_shape), .rows = ROWS_SELF_REVIEW },
	[CP_BLOCKERS] = { "blockers", RULE("2.2.3-blockers"), OPTIONAL, STRINGS },
	[CP_SUGGESTIONS] = { "suggestions", RULE("2.2.3-suggestions"), OPTIONAL, STRINGS },
};
const struct shape collab_completion_shape = OPEN_SHAPE(completion_fields);

/* 2.2.4 */
static const char *const focus_areas[] = { "security",	     "performance",   "style", "logic",
					   "error_handling", "test_coverage", NULL };
static const struct field review_scope_fields[] = {
	{ "files", RULE("2.2.4-files"), REQUIRED, STRINGS },
	{ "focus_areas", RULE("2.2.4-focus_areas"), REQUIRED, STRINGS, .values = focus_areas },
	{ "ignore_patterns", RULE("2.2.4-ignore_patterns"), OPTIONAL, STRINGS },
};
static const struct shape review_scope_shape = OPEN_SHAPE(review_scope_fields);
static const struct field custom_check_fields[] = {
	{ "name", RULE("2.2.4-name"), REQUIRED, T_STR },
	{ "command", RULE("2.2.4-command"), REQUIRED, T_STR },
	{ "expected_exit_code", RULE("2.2.4-expected_exit_code"), REQUIRED, T_INT },
};
static const struct shape custom_check_shape = OPEN_SHAPE(custom_check_fields);
static const struct field criteria_fields[] = {
	[CR_TESTS] = { "must_pass_tests", RULE("2.2.4-must_pass_tests"), REQUIRED, T_BOOL },
	[CR_TYPES] = { "must_pass_type_check", RULE("2.2.4-must_pass_type_check"), REQUIRED,
		       T_BOOL },
	[CR_LINT] = { "must_pass_lint", RULE("2.2.4-must_pass_lint"), OPTIONAL, T_BOOL },
	[CR_CUSTOM] = { "custom_checks", RULE("2.2.4-custom_checks"), OPTIONAL,
			OBJECTS(custom_check_shape) },
};
static const struct shape criteria_shape = OPEN_SHAPE(criteria_fields);
static const struct field past_review_fields[] = {
	{ "review_number", RULE("2.2.4-review_number"), REQUIRED, T_INT, NOT_NEGATIVE },
	{ "verdict", RULE("2.2.4-verdict"), REQUIRED, T_STR },
	{ "key_findings", RULE("2.2.4-key_findings"), REQUIRED, STRINGS },
};
static const struct shape past_review_shape = OPEN_SHAPE(past_review_fields);
static const struct field review_context_fields[] = {
	{ "task_description", RULE("2.2.4-task_description"), REQUIRED, T_STR },
	{ "acceptance_criteria", RULE("2.2.4-acceptance_criteria"), REQUIRED, STRINGS },
	{ "previous_reviews", RULE("2.2.4-previous_reviews"), OPTIONAL,
	  OBJECTS(past_review_shape) },
};
static const struct shape review_context_shape = OPEN_SHAPE(review_context_fields);
static const struct field review_request_fields[] = {
	[RQ_ID] = { "review_id", RULE("2.2.4-review_id"), REQUIRED_ID },
	[RQ_TASK] = { "task_id", RULE("2.2.4-task_id"), REQUIRED_ID },
	[RQ_SCOPE] = { "scope", RULE("2.2.4-scope"), REQUIRED, OBJECT(review_scope_shape) },
	[RQ_CRITERIA] = { "criteria", RULE("2.2.4-criteria"), REQUIRED, OBJECT(criteria_shape),
			  .rows = ROWS_CRITERIA },
	[RQ_CONTEXT] = { "context", RULE("2.2.4-context"), REQUIRED, OBJECT(review_context_shape) },
};
static const struct shape review_request_shape = OPEN_SHAPE(review_request_fields);

/* 2.2.5 */
static const struct field location_fields[] = {
	{ "file", RULE("2.2.5-file"), REQUIRED, T_STR },
	{ "line_start", RULE("2.2.5-line_start"), OPTIONAL, T_INT, NOT_NEGATIVE },
	{ "line_end", RULE("2.2.5-line_end"), OPTIONAL, T_INT, NOT_NEGATIVE },
	{ "code_snippet", RULE("2.2.5-code_snippet"), OPTIONAL, T_STR },
};
static const struct shape location_shape = OPEN_SHAPE(location_fields);
static const char *const severities[] = { "critical", "major", "minor", "suggestion", NULL };
static const char *const categories[] = { "bug",   "security", "performance", "style",
					  "logic", "test",     NULL };
static const struct field finding_fields[] = {
	[FD_ID] = { "finding_id", RULE("2.2.5-finding_id"), REQUIRED_ID },
	[FD_SEVERITY] = { "severity", RULE("2.2.5-severity"), REQUIRED_ENUM(severities) },
	[FD_CATEGORY] = { "category", RULE("2.2.5-category"), REQUIRED_ENUM(categories) },
	/* related specifications: a flat "file"; checked by check_locations */
	[FD_LOCATION] = { "location", RULE("2.2.5-location"), OPTIONAL, OBJECT(location_shape) },
	[FD_DESCRIPTION] = { "description", RULE("2.2.5-description"), REQUIRED, T_STR },
	[FD_RATIONALE] = { "rationale", RULE("2.2.5-rationale"), RECOMMENDED, T_STR },
	[FD_SUGGESTION] = { "suggestion", RULE("2.2.5-suggestion"), OPTIONAL, T_STR },
	[FD_FIXED] = { "fixed_in_iteration", RULE("2.2.5-fixed_in_iteration"), OPTIONAL, T_INT,
		       NOT_NEGATIVE },
	[FD_FILE] = { "file", RULE("2.2.5-location"), OPTIONAL, T_STR },
	[FD_LINE] = { "line", RULE("2.2.5-location"), OPTIONAL, T_NUM },
};
const struct shape collab_finding_shape = OPEN_SHAPE(finding_fields);
static const struct field verification_result_fields[] = {
	{ "passed", RULE("2.2.5-passed"), REQUIRED, T_BOOL },
	{ "output", RULE("2.2.5-output"), OPTIONAL, T_STR },
	{ "error", RULE("2.2.5-error"), OPTIONAL, T_STR },
};
static const struct shape verification_result_shape = OPEN_SHAPE(verification_result_fields);
static const struct field custom_result = { "custom", RULE("2.2.5-custom"), REQUIRED,
					    OBJECT(verification_result_shape) };
static const struct shape custom_shape = { SHAPE_INDEX, .each = &custom_result };
static const struct field verification_fields[] = {
	/* related specifications: tests_passed as a boolean; checked by check_verification */
	[VF_TESTS] = { "tests", RULE("2.2.5-tests"), OPTIONAL, OBJECT(verification_result_shape) },
	[VF_TYPE_CHECK] = { "type_check", RULE("2.2.5-type_check"), OPTIONAL,
			    OBJECT(verification_result_shape) },
	[VF_LINT] = { "lint", RULE("2.2.5-lint"), OPTIONAL, OBJECT(verification_result_shape) },
	[VF_CUSTOM] = { "custom", RULE("2.2.5-custom"), RECOMMENDED, OBJECT(custom_shape) },
	[VF_TESTS_PASSED] = { "tests_passed", RULE("2.2.5-tests"), OPTIONAL, T_BOOL },
	[VF_TYPE_CHECK_PASSED] = { "type_check_passed", RULE("2.2.5-type_check"), OPTIONAL,
				   T_BOOL },
	[VF_LINT_PASSED] = { "lint_passed", RULE("2.2.5-lint"), OPTIONAL, T_BOOL },
};
static const struct shape verification_shape = OPEN_SHAPE(verification_fields);
static const char *const change_priorities[] = { "must_fix", "should_fix", "consider", NULL };
static const struct field change_fields[] = {
	[RC_ID] = { "change_id", RULE("2.2.5-change_id"), REQUIRED_ID },
	[RC_PRIORITY] = { "priority", RULE("2.2.5-priority"), REQUIRED_ENUM(change_priorities) },
	[RC_RELATED] = { "related_findings", RULE("2.2.5-related_findings"), REQUIRED, STRINGS },
	[RC_DESCRIPTION] = { "description", RULE("2.2.5-change-description"), REQUIRED, T_STR },
};
const struct shape collab_change_shape = OPEN_SHAPE(change_fields);
static const char *const review_verdicts[] = { "approved", "changes_requested", "rejected", NULL };
static const struct field review_result_fields[] = {
	[RV_ID] = { "review_id", RULE("2.2.5-review_id"), REQUIRED_ID },
	[RV_TASK] = { "task_id", RULE("2.2.5-task_id"), REQUIRED_ID },
	[RV_VERDICT] = { "verdict", RULE("2.2.5-verdict"), REQUIRED_ENUM(review_verdicts) },
	[RV_FINDINGS] = { "findings", RULE("2.2.5-findings"), REQUIRED,
			  OBJECTS(collab_finding_shape), .rows = ROWS_FINDINGS },
	[RV_VERIFICATION] = { "verification", RULE("2.2.5-verification"), REQUIRED,
			      OBJECT(verification_shape), .rows = ROWS_VERIFICATION },
	[RV_SUMMARY] = { "summary", RULE("2.2.5-summary"), REQUIRED, T_STR },
	[RV_CHANGES] = { "required_changes", RULE("2.2.5-required_changes"), OPTIONAL,
			 OBJECTS(collab_change_shape), .rows = ROWS_CHANGES },
	[RV_COMMENDATIONS] = { "commendations", RULE("2.2.5-commendations"), OPTIONAL, STRINGS },
};
const struct shape collab_review_result_shape = OPEN_SHAPE(review_result_fields);

/* 2.2.6, 2.2.7 */
static const char *const feedback_types[] = { "clarification", "correction", "guidance", "question",
					      NULL };
static const struct field feedback_fields[] = {
	[FB_TYPE] = { "feedback_type", RULE("2.2.6-feedback_type"), REQUIRED_ENUM(feedback_types) },
	[FB_SUBJECT] = { "subject", RULE("2.2.6-subject"), REQUIRED, T_STR },
	[FB_CONTENT] = { "content", RULE("2.2.6-content"), REQUIRED, T_STR },
	[FB_ACTION] = { "action_required", RULE("2.2.6-action_required"), REQUIRED, T_BOOL },
	[FB_TASK] = { "related_task_id", RULE("2.2.6-related_task_id"), OPTIONAL, T_STR },
};
static const struct shape feedback_shape = OPEN_SHAPE(feedback_fields);
static const char *const abort_scopes[] = { "task", "session", NULL };
static const struct field abort_fields[] = {
	[AB_SCOPE] = { "scope", RULE("2.2.7-scope"), REQUIRED_ENUM(abort_scopes) },
	[AB_TARGET] = { "target_id", RULE("2.2.7-target_id"), REQUIRED_ID },
	[AB_REASON] = { "reason", RULE("2.2.7-reason"), REQUIRED, T_STR },
	[AB_CLEANUP] = { "cleanup_required", RULE("2.2.7-cleanup_required"), REQUIRED, T_BOOL },
};
static const struct shape abort_shape = OPEN_SHAPE(abort_fields);
/* no payload is specified for the other three types */
static const struct shape free_shape = { SHAPE_INDEX, .unknown = UNKNOWN_OK };

const struct shape *const collab_payload_shapes[] = {
	[MT_ASSIGNMENT] = &assignment_shape,
	[MT_PROGRESS] = &progress_shape,
	[MT_COMPLETION] = &collab_completion_shape,
	[MT_REVIEW_REQUEST] = &review_request_shape,
	[MT_REVIEW_RESULT] = &collab_review_result_shape,
	[MT_FEEDBACK] = &feedback_shape,
	[MT_STATUS_QUERY] = &free_shape,
	[MT_STATUS_RESPONSE] = &free_shape,
	[MT_ABORT] = &abort_shape,
	[MT_ACKNOWLEDGMENT] = &free_shape,
};
const struct shape *const collab_shapes[] = { &collab_base_shape,    &assignment_shape,
					      &progress_shape,       &collab_completion_shape,
					      &review_request_shape, &collab_review_result_shape,
					      &feedback_shape,       &abort_shape,
					      &free_shape,           NULL };
