/*
 * Planner, Worker, Judge: Task, Result, Decision.
 *
 * Some tasks run side by side. The judge keeps to the default thresholds: from 0.90 approve,
 * from 0.70 escalate to a person, below that reject, which makes the worker try again; the
 * second failure of a task is escalated. A person's decision, where there is one, is the last.
 */
#include "gen.h"

#define LANES 12
#define FAILURES_MAX 2
#define APPROVE_FROM 90
#define HUMAN_FROM 70

enum stage { STAGE_TASK, STAGE_RESULT, STAGE_DECISION, STAGE_HUMAN };

struct handoff {
	enum stage stage;
	char task[UUID_SIZE];
	unsigned confidence;
	unsigned failures;
	bool failed;
};

static struct handoff lanes[LANES];
static unsigned state_version = 1000;

static void
write_task(struct line *line, struct handoff *lane)
{
	static const char *const types[] = { "content", "research", "publish", "agent_update" };
	static const char *const priorities[] = { "high", "medium", "low" };

	*lane = (struct handoff){ .stage = STAGE_RESULT };
	rnd_uuid(lane->task);
	line_object(line, NULL);
	line_string(line, "task_id", lane->task);
	line_string(line, "task_type", PICK(types));
	line_string(line, "priority", PICK(priorities));
	line_object(line, "context");
	line_prose(line, "goal", 90);
	line_prose(line, "background", 160);
	line_object_end(line);
	line_prose_array(line, "acceptance_criteria", rnd_between(1, 4), 60);
	line_array(line, "required_resources");
	line_string(line, NULL, "social://mentions/recent");
	line_array_end(line);
	line_time(line, "created_at");
	line_string(line, "status", "pending");
	line_object_end(line);
}

static void
result_outcome(struct handoff *lane)
{
	lane->failed = rnd_percent(12);
	lane->confidence = lane->failed ? rnd_between(5, 60) :
			   rnd_percent(65) ? rnd_between(90, 100) : rnd_between(50, 89);
	if (lane->failed || lane->confidence < HUMAN_FROM)
		lane->failures++;
}

static void
write_result(struct line *line, struct handoff *lane)
{
	result_outcome(lane);
	line_object(line, NULL);
	line_string(line, "task_id", lane->task);
	line_string(line, "status", lane->failed ? "failure" : "success");
	line_hundredths(line, "confidence_score", lane->confidence);
	line_object(line, "output");
	line_string(line, "type", "text");
	line_object(line, "payload");
	line_code(line, "text", rnd_artifact_length(300));
	line_object_end(line);
	line_object_end(line);
	line_prose(line, "traces", 140);
	line_array(line, "artifacts");
	line_array_end(line);
	line_time(line, "created_at");
	line_object_end(line);
	lane->stage = STAGE_DECISION;
}

static void
decision(struct line *line, const struct handoff *lane, const char *verdict, const char *why)
{
	line_object(line, NULL);
	line_string(line, "task_id", lane->task);
	line_string(line, "decision", verdict);
	if (why)
		line_string(line, "rationale", why);
	else
		line_prose(line, "rationale", 200);
	line_stringf(line, "state_version", "v%u", ++state_version);
	line_time(line, "created_at");
	line_object_end(line);
}

static void
write_decision(struct line *line, struct handoff *lane)
{
	bool low = lane->failed || lane->confidence < HUMAN_FROM;

	if (low && lane->failures < FAILURES_MAX) {
		decision(line, lane, "reject", lane->failed ? NULL : "low confidence");
		lane->stage = STAGE_RESULT;
	} else if (low) {
		decision(line, lane, "escalate", "low confidence: the worker failed twice");
		lane->stage = rnd_percent(50) ? STAGE_HUMAN : STAGE_TASK;
	} else if (lane->confidence < APPROVE_FROM) {
		decision(line, lane, "escalate", NULL);
		lane->stage = rnd_percent(80) ? STAGE_HUMAN : STAGE_TASK;
	} else {
		decision(line, lane, "approve", NULL);
		lane->stage = STAGE_TASK;
	}
}

static void
write_human(struct line *line, struct handoff *lane)
{
	decision(line, lane, rnd_percent(70) ? "approve" : "reject", NULL);
	lane->stage = STAGE_TASK;
}

void
handoff_next(struct line *line)
{
	struct handoff *lane = &lanes[rnd_below(LANES)];

	switch (lane->stage) {
	case STAGE_TASK:
		write_task(line, lane);
		break;
	case STAGE_RESULT:
		write_result(line, lane);
		break;
	case STAGE_DECISION:
		write_decision(line, lane);
		break;
	case STAGE_HUMAN:
		write_human(line, lane);
		break;
	}
}
