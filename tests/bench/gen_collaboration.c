/*
 * SPEC-022: an architect, developers and reviewers.
 *
 * Each developer works on one task at a time, along the sequences of sections 3.1 and 4.1. A task
 * that is sent back or failed is assigned again under a new task_id in the same correlation, and
 * is reviewed at most three times. Developers stay inside the scope they were given, agents
 * speak only after they were addressed, and sequence numbers count the messages of the log.
 */
#include "gen.h"

#include <stdio.h>

#define LANES 24
#define REVIEWERS 6
#define REVIEWS_MAX 3
#define ATTEMPTS_MAX 5
#define FILES_PER_AREA 4

enum stage {
	STAGE_ASSIGN,
	STAGE_ACKNOWLEDGE,
	STAGE_WORK,
	STAGE_STATUS,
	STAGE_REVIEW,
	STAGE_RESULT,
	STAGE_ADVISE,
};

enum verdict { APPROVED, CHANGES_REQUESTED, REJECTED };

struct area {
	const char *glob;
	const char *files[FILES_PER_AREA];
};

struct job {
	enum stage stage;
	unsigned number; /* 0: none yet */
	unsigned attempt;
	unsigned attempt_reviewed; /* the first one; its task_id stands in all reviews */
	unsigned reviews;
	unsigned review;
	unsigned percent;
	bool over; /* a word of advice, then a new job */
	const struct area *area;
	char assignment[UUID_SIZE];
	char question[UUID_SIZE];
};

static const struct area areas[] = {
	{ "frontend/src/components/Timeline/**",
	  { "frontend/src/components/Timeline/Timeline.tsx",
	    "frontend/src/components/Timeline/Lane.tsx",
	    "frontend/src/components/Timeline/scale.ts",
	    "frontend/src/components/Timeline/tests/Lane.test.tsx" } },
	{ "src/auth/**",
	  { "src/auth/session.ts", "src/auth/token.ts", "src/auth/tests/session.test.ts",
	    "src/auth/README.md" } },
	{ "src/orchestrator/**",
	  { "src/orchestrator/queue.ts", "src/orchestrator/messages.ts",
	    "src/orchestrator/retry.ts", "src/orchestrator/tests/queue.test.ts" } },
	{ "lib/index/**",
	  { "lib/index/store.c", "lib/index/store.h", "lib/index/merge.c", "lib/index/scan.c" } },
};

static struct job jobs[LANES];
static unsigned job_count, review_count, sequence;

enum party { ARCHITECT, DEVELOPER, REVIEWER };

static void
write_party(struct line *line, const char *key, enum party party, unsigned lane)
{
	line_object(line, key);
	switch (party) {
	case ARCHITECT:
		line_string(line, "agent_id", "architect-main");
		line_string(line, "agent_type", "architect");
		break;
	case DEVELOPER:
		line_stringf(line, "agent_id", "developer-%02u", lane + 1);
		line_string(line, "agent_type", "developer");
		line_stringf(line, "instance_id", "inst-%03u", lane + 1);
		break;
	case REVIEWER:
		line_stringf(line, "agent_id", "reviewer-%02u", lane % REVIEWERS + 1);
		line_string(line, "agent_type", "reviewer");
		break;
	}
	line_object_end(line);
}

/* Writes all but the payload, which is left open; id may be NULL, reply_to too. */
static void
message_begin(struct line *line, const struct job *job, const char *type, enum party from,
	      enum party to, char *id, const char *reply_to)
{
	unsigned lane = (unsigned)(job - jobs);
	char uuid[UUID_SIZE];

	rnd_uuid(uuid);
	if (id)
		snprintf(id, UUID_SIZE, "%s", uuid);
	line_object(line, NULL);
	line_string(line, "message_id", uuid);
	line_time(line, "timestamp");
	line_uint(line, "sequence_number", ++sequence);
	write_party(line, "from_agent", from, lane);
	write_party(line, "to_agent", to, lane);
	line_string(line, "message_type", type);
	line_stringf(line, "correlation_id", "corr-%06u", job->number);
	if (reply_to)
		line_string(line, "reply_to", reply_to);
	line_object(line, "payload");
}

static void
message_end(struct line *line)
{
	line_object_end(line);
	line_object_end(line);
}

static void
write_attempt_id(struct line *line, const char *key, const struct job *job, unsigned attempt)
{
	if (attempt == 1)
		line_stringf(line, key, "work-%06u", job->number);
	else
		line_stringf(line, key, "work-%06u-r%u", job->number, attempt);
}

static void
write_task_id(struct line *line, const char *key, const struct job *job)
{
	write_attempt_id(line, key, job, job->attempt);
}

static void
job_begin(struct job *job)
{
	*job = (struct job){
		.stage = STAGE_ASSIGN,
		.number = ++job_count,
		.area = &PICK(areas),
	};
}

static void
assign_files(struct line *line, const char *key, unsigned count)
{
	line_array(line, key);
	for (unsigned i = 0; i < count; i++) {
		line_object(line, NULL);
		line_string(line, "path", path_pick());
		line_prose(line, "reason", 40);
		line_object_end(line);
	}
	line_array_end(line);
}

static void
assign_attempts(struct line *line, const struct job *job)
{
	line_array(line, "previous_attempts");
	line_object(line, NULL);
	line_uint(line, "attempt_number", job->attempt - 1);
	line_string(line, "outcome", "changes_requested");
	line_prose(line, "feedback", 120);
	line_object_end(line);
	line_array_end(line);
}

static void
assign_task(struct line *line, const struct job *job)
{
	line_object(line, "task");
	write_task_id(line, "task_id", job);
	line_prose(line, "task_description", 160);
	line_object(line, "context");
	assign_files(line, "specs", rnd_between(1, 3));
	assign_files(line, "reference_files", rnd_below(4));
	if (job->attempt > 1)
		assign_attempts(line, job);
	line_object_end(line);
	line_object(line, "constraints");
	line_array(line, "scope");
	line_string(line, NULL, job->area->glob);
	line_array_end(line);
	line_bool(line, "testing_required", true);
	line_prose_array(line, "must_not_break", rnd_below(2), 40);
	line_object_end(line);
	line_prose_array(line, "acceptance_criteria", rnd_between(2, 5), 50);
	line_object_end(line);
}

static void
write_assignment(struct line *line, struct job *job)
{
	static const char *const priorities[] = { "high", "medium", "low" };

	if (job->number == 0)
		job_begin(job);
	job->attempt++;
	job->percent = 0;
	message_begin(line, job, "task_assignment", ARCHITECT, DEVELOPER, job->assignment, NULL);
	assign_task(line, job);
	line_string(line, "priority", PICK(priorities));
	if (rnd_percent(30))
		line_time_ahead(line, "deadline", 600);
	line_uint(line, "max_iterations", REVIEWS_MAX);
	message_end(line);
	job->stage = STAGE_ACKNOWLEDGE;
}

static void
write_acknowledgment(struct line *line, struct job *job)
{
	message_begin(line, job, "acknowledgment", DEVELOPER, ARCHITECT, NULL, job->assignment);
	write_task_id(line, "task_id", job);
	message_end(line);
	job->stage = STAGE_WORK;
}

static void
write_files(struct line *line, const char *key, const struct job *job, unsigned count)
{
	line_array(line, key);
	for (unsigned i = 0; i < count; i++)
		line_string(line, NULL, job->area->files[i]);
	line_array_end(line);
}

static void
write_progress(struct line *line, struct job *job)
{
	job->percent += rnd_between(15, 32);
	message_begin(line, job, "task_progress", DEVELOPER, ARCHITECT, NULL, NULL);
	write_task_id(line, "task_id", job);
	line_uint(line, "progress_percent", job->percent);
	line_prose(line, "current_step", 90);
	write_files(line, "files_modified_so_far", job, rnd_below(FILES_PER_AREA + 1));
	if (rnd_percent(40))
		line_stringf(line, "estimated_remaining", "%um", rnd_between(1, 30));
	message_end(line);
}

static void
write_query(struct line *line, struct job *job)
{
	message_begin(line, job, "status_query", ARCHITECT, DEVELOPER, job->question, NULL);
	write_task_id(line, "task_id", job);
	message_end(line);
	job->stage = STAGE_STATUS;
}

static void
write_status(struct line *line, struct job *job)
{
	message_begin(line, job, "status_response", DEVELOPER, ARCHITECT, NULL, job->question);
	write_task_id(line, "task_id", job);
	line_string(line, "status", "in_progress");
	line_uint(line, "progress_percent", job->percent);
	line_prose(line, "detail", 60);
	message_end(line);
	job->stage = STAGE_WORK;
}

static void
write_abort(struct line *line, struct job *job)
{
	message_begin(line, job, "abort", ARCHITECT, DEVELOPER, NULL, NULL);
	line_string(line, "scope", "task");
	write_task_id(line, "target_id", job);
	line_prose(line, "reason", 60);
	line_bool(line, "cleanup_required", true);
	message_end(line);
	job_begin(job);
}

static void
completion_files(struct line *line, const char *key, const char *type, const struct job *job,
		 unsigned from, unsigned to)
{
	line_array(line, key);
	for (unsigned i = from; i < to; i++) {
		line_object(line, NULL);
		line_string(line, "path", job->area->files[i]);
		line_string(line, "change_type", type);
		line_uint(line, "lines_added", rnd_below(400));
		line_prose(line, "description", 50);
		line_object_end(line);
	}
	line_array_end(line);
}

static void
completion_changes(struct line *line, const struct job *job)
{
	unsigned split = rnd_below(3);

	line_object(line, "changes");
	completion_files(line, "files_created", "created", job, 0, split);
	completion_files(line, "files_modified", "modified", job, split,
			 rnd_between(split, FILES_PER_AREA));
	line_array(line, "files_deleted");
	line_array_end(line);
	line_object_end(line);
}

static void
write_completion(struct line *line, struct job *job)
{
	bool done = job->attempt == ATTEMPTS_MAX || rnd_percent(90);
	const char *undone = rnd_percent(60) ? "partial" : "failed";

	message_begin(line, job, "task_completion", DEVELOPER, ARCHITECT, NULL, job->assignment);
	write_task_id(line, "task_id", job);
	line_string(line, "status", done ? "completed" : undone);
	completion_changes(line, job);
	line_prose(line, "summary", 140);
	line_code(line, "implementation_notes", rnd_artifact_length(200));
	line_object(line, "self_review");
	line_bool(line, "tests_run", true);
	line_bool(line, "tests_passed", done);
	line_bool(line, "type_check_passed", true);
	line_object_end(line);
	if (!done)
		line_prose_array(line, "blockers", 1, 60);
	message_end(line);
	job->stage = done ? STAGE_REVIEW : STAGE_ASSIGN;
}

static void
write_work(struct line *line, struct job *job)
{
	unsigned roll = rnd_below(100);

	if (roll < 4)
		write_query(line, job);
	else if (roll < 5)
		write_abort(line, job);
	else if (job->percent < 68 && roll < 75)
		write_progress(line, job);
	else
		write_completion(line, job);
}

static void
write_review_id(struct line *line, const struct job *job)
{
	line_stringf(line, "review_id", "review-%06u", job->review);
	write_attempt_id(line, "task_id", job, job->attempt_reviewed);
}

static void
write_review_request(struct line *line, struct job *job)
{
	job->review = ++review_count;
	if (job->reviews++ == 0)
		job->attempt_reviewed = job->attempt;
	message_begin(line, job, "review_request", ARCHITECT, REVIEWER, job->question, NULL);
	write_review_id(line, job);
	line_object(line, "scope");
	write_files(line, "files", job, rnd_between(1, FILES_PER_AREA));
	line_array(line, "focus_areas");
	line_string(line, NULL, "security");
	line_string(line, NULL, "logic");
	line_array_end(line);
	line_object_end(line);
	line_object(line, "criteria");
	line_bool(line, "must_pass_tests", true);
	line_bool(line, "must_pass_type_check", true);
	line_object_end(line);
	line_object(line, "context");
	line_prose(line, "task_description", 120);
	line_prose_array(line, "acceptance_criteria", rnd_between(1, 4), 50);
	line_object_end(line);
	message_end(line);
	job->stage = STAGE_RESULT;
}

static const char *
finding_severity(enum verdict verdict, unsigned i)
{
	static const char *const light[] = { "minor", "suggestion" };
	static const char *const any[] = { "major", "minor", "suggestion" };

	if (verdict == APPROVED)
		return PICK(light);
	if (i == 0)
		return verdict == REJECTED ? "critical" : "major";
	return PICK(any);
}

static void
result_finding(struct line *line, const struct job *job, enum verdict verdict, unsigned i)
{
	static const char *const categories[] = {
		"bug", "security", "performance", "style", "logic", "test",
	};

	line_object(line, NULL);
	line_stringf(line, "finding_id", "find-%03u", i + 1);
	line_string(line, "severity", finding_severity(verdict, i));
	line_string(line, "category", PICK(categories));
	line_object(line, "location");
	line_string(line, "file", PICK(job->area->files));
	line_uint(line, "line_start", rnd_between(1, 900));
	if (rnd_percent(40))
		line_code(line, "code_snippet", rnd_length(80));
	line_object_end(line);
	line_prose(line, "description", 80);
	line_prose(line, "rationale", 80);
	if (rnd_percent(60))
		line_prose(line, "suggestion", 70);
	line_object_end(line);
}

static void
result_check(struct line *line, const char *key, bool passed)
{
	line_object(line, key);
	line_bool(line, "passed", passed);
	if (!passed)
		line_code(line, "output", rnd_length(160));
	line_object_end(line);
}

static void
result_verification(struct line *line, enum verdict verdict)
{
	line_object(line, "verification");
	result_check(line, "tests", verdict == APPROVED || rnd_percent(70));
	result_check(line, "type_check", true);
	line_object(line, "custom");
	line_object_end(line);
	line_object_end(line);
}

static void
result_changes(struct line *line)
{
	line_array(line, "required_changes");
	line_object(line, NULL);
	line_string(line, "change_id", "change-001");
	line_string(line, "priority", "must_fix");
	line_array(line, "related_findings");
	line_string(line, NULL, "find-001");
	line_array_end(line);
	line_prose(line, "description", 60);
	line_object_end(line);
	line_array_end(line);
}

static enum verdict
result_verdict(const struct job *job)
{
	unsigned roll = rnd_below(100);

	if (roll < 55)
		return APPROVED;
	return roll < 92 && job->reviews < REVIEWS_MAX ? CHANGES_REQUESTED : REJECTED;
}

static void
write_review_result(struct line *line, struct job *job)
{
	static const char *const names[] = { "approved", "changes_requested", "rejected" };
	enum verdict verdict = result_verdict(job);
	unsigned findings = verdict == APPROVED ? rnd_below(3) : rnd_between(1, 5);

	message_begin(line, job, "review_result", REVIEWER, ARCHITECT, NULL, job->question);
	write_review_id(line, job);
	line_string(line, "verdict", names[verdict]);
	line_array(line, "findings");
	for (unsigned i = 0; i < findings; i++)
		result_finding(line, job, verdict, i);
	line_array_end(line);
	result_verification(line, verdict);
	line_prose(line, "summary", 90);
	if (verdict != APPROVED)
		result_changes(line);
	message_end(line);
	job->over = verdict != CHANGES_REQUESTED;
	job->stage = STAGE_ADVISE;
	if (verdict == APPROVED && rnd_percent(75))
		job_begin(job);
}

static void
write_advice(struct line *line, struct job *job)
{
	static const char *const types[] = { "clarification", "correction", "guidance" };

	message_begin(line, job, "feedback", ARCHITECT, DEVELOPER, NULL, NULL);
	line_string(line, "feedback_type", PICK(types));
	line_prose(line, "subject", 30);
	line_prose(line, "content", 180);
	line_bool(line, "action_required", rnd_percent(30));
	write_task_id(line, "related_task_id", job);
	message_end(line);
	if (job->over)
		job_begin(job);
	else
		job->stage = STAGE_ASSIGN;
}

void
collaboration_next(struct line *line)
{
	static void (*const writers[])(struct line *, struct job *) = {
		[STAGE_ASSIGN] = write_assignment,
		[STAGE_ACKNOWLEDGE] = write_acknowledgment,
		[STAGE_WORK] = write_work,
		[STAGE_STATUS] = write_status,
		[STAGE_REVIEW] = write_review_request,
		[STAGE_RESULT] = write_review_result,
		[STAGE_ADVISE] = write_advice,
	};
	struct job *job = &jobs[rnd_below(LANES)];

	writers[job->stage](line, job);
}
