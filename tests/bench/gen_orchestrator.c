/*
 * Agents and their orchestrator: requests, responses, events, notifications.
 *
 * Each agent has at most one request open, which is answered within seconds: by chance, and
 * before anything else once it is old, so that none meets its 30 s limit. A submitted task is
 * assigned to the agent that asked for it, and reports growing progress until it is done.
 */
#include "gen.h"

#include <stdio.h>

#define AGENTS 24
#define ANSWER_LATEST_MS 15000

enum request { REQUEST_AGENTS, REQUEST_TASKS, REQUEST_SUBMIT, REQUEST_GET, REQUEST_ASK };

struct worker {
	bool pending;
	enum request request;
	char request_id[UUID_SIZE];
	uint64_t asked_ms;
	unsigned task, progress;
	unsigned task_done;
	unsigned asked_task;
	bool notice_due;
};

static struct worker workers[AGENTS];
static unsigned task_count;

static void
message_begin(struct line *line, const char *type, char id[UUID_SIZE])
{
	rnd_uuid(id);
	line_object(line, NULL);
	line_string(line, "type", type);
	line_string(line, "id", id);
	line_time(line, "timestamp");
}

static void
agent_message_begin(struct line *line, const char *type, unsigned agent, char id[UUID_SIZE])
{
	message_begin(line, type, id);
	line_stringf(line, "agentId", "agent-%u", agent + 1);
	line_object(line, "payload");
}

static void
notice_begin(struct line *line, const char *type)
{
	char id[UUID_SIZE];

	message_begin(line, type, id);
	line_object(line, "payload");
}

static void
payload_end(struct line *line)
{
	line_object_end(line);
	line_object_end(line);
}

static void
task_over(struct worker *worker)
{
	worker->task_done = worker->task;
	worker->task = 0;
}

static void
submit_payload(struct line *line, const struct worker *worker)
{
	line_string(line, "type", "implementation");
	line_prose(line, "name", 40);
	line_prose(line, "description", 220);
	line_object(line, "payload");
	line_string(line, "file", path_pick());
	line_object_end(line);
	line_string(line, "requiredRole", "worker");
	line_array(line, "requiredCapabilities");
	line_string(line, NULL, "typescript");
	line_array_end(line);
	line_array(line, "dependencies");
	if (worker->task_done)
		line_stringf(line, NULL, "task-%u", worker->task_done);
	line_array_end(line);
	line_uint(line, "priority", rnd_between(1, 5));
}

static void
ask_option(struct line *line, const char *label, const char *value)
{
	line_object(line, NULL);
	line_string(line, "label", label);
	line_string(line, "value", value);
	line_object_end(line);
}

static void
ask_payload(struct line *line)
{
	line_prose(line, "question", 70);
	line_array(line, "options");
	ask_option(line, "OAuth 2.0", "oauth");
	ask_option(line, "JWT", "jwt");
	line_array_end(line);
	line_uint(line, "timeout", 300000);
}

static void
request_payload(struct line *line, const struct worker *worker)
{
	switch (worker->request) {
	case REQUEST_AGENTS:
		line_string(line, "role", "worker");
		line_string(line, "status", "idle");
		break;
	case REQUEST_TASKS:
		line_string(line, "status", "completed");
		line_uint(line, "limit", 10);
		break;
	case REQUEST_SUBMIT:
		submit_payload(line, worker);
		break;
	case REQUEST_GET:
		line_stringf(line, "taskId", "task-%u", worker->asked_task);
		break;
	case REQUEST_ASK:
		ask_payload(line);
		break;
	}
}

static void
write_request(struct line *line, unsigned agent)
{
	static const char *const types[] = {
		[REQUEST_AGENTS] = "request:query-agents", [REQUEST_TASKS] = "request:query-tasks",
		[REQUEST_SUBMIT] = "request:submit-task",  [REQUEST_GET] = "request:get-task",
		[REQUEST_ASK] = "request:ask-user",
	};
	struct worker *worker = &workers[agent];

	worker->pending = true;
	worker->request = (enum request)rnd_below(ARRAY_LEN(types));
	worker->asked_task = worker->task ? worker->task : worker->task_done;
	if (worker->request == REQUEST_GET && !worker->asked_task)
		worker->request = REQUEST_SUBMIT;
	worker->asked_ms = clock_ms();
	agent_message_begin(line, types[worker->request], agent, worker->request_id);
	request_payload(line, worker);
	payload_end(line);
}

static void
response_agents(struct line *line)
{
	unsigned count = rnd_between(1, 10);

	line_array(line, "agents");
	for (unsigned i = 0; i < count; i++) {
		line_object(line, NULL);
		line_stringf(line, "id", "agent-%u", i + 1);
		line_string(line, "role", "worker");
		line_string(line, "status", rnd_percent(50) ? "idle" : "busy");
		line_array(line, "capabilities");
		line_string(line, NULL, "typescript");
		line_string(line, NULL, "testing");
		line_array_end(line);
		line_null(line, "currentTask");
		line_object_end(line);
	}
	line_array_end(line);
}

static void
response_tasks(struct line *line)
{
	unsigned start = rnd_below(AGENTS), count = rnd_below(8);

	line_array(line, "tasks");
	for (unsigned i = start; i < AGENTS && i < start + count; i++) {
		if (!workers[i].task_done)
			continue;
		line_object(line, NULL);
		line_stringf(line, "id", "task-%u", workers[i].task_done);
		line_prose(line, "name", 40);
		line_string(line, "status", "completed");
		line_string(line, "requiredRole", "worker");
		line_array(line, "dependencies");
		line_array_end(line);
		line_object_end(line);
	}
	line_array_end(line);
}

static void
response_submitted(struct line *line, struct worker *worker)
{
	task_count++;
	line_object(line, "task");
	line_stringf(line, "id", "task-%u", task_count);
	line_prose(line, "name", 40);
	line_string(line, "status", "queued");
	line_object_end(line);
	if (worker->task)
		return;
	worker->task = task_count;
	worker->progress = 0;
	worker->notice_due = true;
}

static void
response_task(struct line *line, const struct worker *worker)
{
	bool done = worker->asked_task != worker->task;

	line_object(line, "task");
	line_stringf(line, "id", "task-%u", worker->asked_task);
	line_prose(line, "name", 40);
	line_string(line, "status", done ? "completed" : "running");
	if (done) {
		line_object(line, "result");
		line_bool(line, "success", true);
		line_prose(line, "output", 200);
		line_object_end(line);
	}
	line_object_end(line);
}

static void
response_answer(struct line *line)
{
	line_string(line, "answer", rnd_percent(50) ? "oauth" : "jwt");
	line_object(line, "metadata");
	line_time(line, "answeredAt");
	line_object_end(line);
}

static void
response_payload(struct line *line, struct worker *worker)
{
	switch (worker->request) {
	case REQUEST_AGENTS:
		response_agents(line);
		break;
	case REQUEST_TASKS:
		response_tasks(line);
		break;
	case REQUEST_SUBMIT:
		response_submitted(line, worker);
		break;
	case REQUEST_GET:
		response_task(line, worker);
		break;
	case REQUEST_ASK:
		response_answer(line);
		break;
	}
}

static void
write_response(struct line *line, struct worker *worker)
{
	bool failed = rnd_percent(8);
	char id[UUID_SIZE];

	message_begin(line, failed ? "response:error" : "response:success", id);
	line_string(line, "correlationId", worker->request_id);
	line_object(line, failed ? "error" : "payload");
	if (failed) {
		line_string(line, "code", "NOT_FOUND");
		line_prose(line, "message", 60);
	} else {
		response_payload(line, worker);
	}
	payload_end(line);
	worker->pending = false;
}

static void
write_assigned(struct line *line, struct worker *worker)
{
	notice_begin(line, "notify:task-assigned");
	line_stringf(line, "taskId", "task-%u", worker->task);
	line_string(line, "message", "Task assigned. Use TaskGet to view details.");
	payload_end(line);
	worker->notice_due = false;
}

static void
write_cancelled(struct line *line, struct worker *worker)
{
	notice_begin(line, "notify:task-cancelled");
	line_stringf(line, "taskId", "task-%u", worker->task);
	line_string(line, "reason", "Dependency failed");
	payload_end(line);
	worker->task = 0;
}

static void
write_shutdown(struct line *line)
{
	notice_begin(line, "notify:shutdown");
	line_uint(line, "gracePeriod", 30000);
	line_string(line, "reason", "Orchestrator stopping");
	payload_end(line);
}

static void
write_progress(struct line *line, unsigned agent)
{
	struct worker *worker = &workers[agent];
	char id[UUID_SIZE];

	worker->progress += rnd_between(10, 40);
	if (worker->progress > 100)
		worker->progress = 100;
	agent_message_begin(line, "event:progress", agent, id);
	line_stringf(line, "taskId", "task-%u", worker->task);
	line_hundredths(line, "progress", worker->progress);
	line_prose(line, "message", 120);
	payload_end(line);
	if (worker->progress == 100)
		task_over(worker);
}

static void
write_log(struct line *line, unsigned agent)
{
	static const char *const levels[] = { "info", "info", "info", "warn", "error" };
	char id[UUID_SIZE];

	agent_message_begin(line, "event:log", agent, id);
	line_string(line, "level", PICK(levels));
	line_prose(line, "message", 120);
	line_object(line, "context");
	line_string(line, "table", "users");
	line_uint(line, "rows", rnd_below(100000));
	line_object_end(line);
	payload_end(line);
}

static void
write_error(struct line *line, unsigned agent)
{
	char id[UUID_SIZE];

	agent_message_begin(line, "event:error", agent, id);
	line_stringf(line, "taskId", "task-%u", workers[agent].task);
	line_string(line, "error", "TypeError: Cannot read property 'x' of undefined");
	line_code(line, "stack", rnd_length(500));
	line_bool(line, "recoverable", rnd_percent(70));
	payload_end(line);
}

static void
write_question(struct line *line, unsigned agent)
{
	char id[UUID_SIZE];

	agent_message_begin(line, "event:question", agent, id);
	line_prose(line, "question", 70);
	line_object(line, "context");
	line_uint(line, "affectedFiles", rnd_below(50));
	line_object_end(line);
	payload_end(line);
}

static void
write_busy(struct line *line, unsigned agent)
{
	unsigned roll = rnd_below(100);

	if (workers[agent].notice_due)
		write_assigned(line, &workers[agent]);
	else if (roll < 75)
		write_progress(line, agent);
	else if (roll < 90)
		write_error(line, agent);
	else if (roll < 93)
		write_cancelled(line, &workers[agent]);
	else
		write_log(line, agent);
}

static void
write_idle(struct line *line, unsigned agent)
{
	unsigned roll = rnd_below(1000);

	if (roll < 520 && !workers[agent].pending)
		write_request(line, agent);
	else if (roll < 580)
		write_question(line, agent);
	else if (roll < 582)
		write_shutdown(line);
	else
		write_log(line, agent);
}

static struct worker *
worker_overdue(void)
{
	for (unsigned i = 0; i < AGENTS; i++)
		if (workers[i].pending && workers[i].asked_ms + ANSWER_LATEST_MS < clock_ms())
			return &workers[i];
	return NULL;
}

void
orchestrator_next(struct line *line)
{
	unsigned agent = rnd_below(AGENTS);
	struct worker *overdue = worker_overdue();

	if (overdue)
		write_response(line, overdue);
	else if (workers[agent].pending && rnd_percent(60))
		write_response(line, &workers[agent]);
	else if (workers[agent].task && rnd_percent(80))
		write_busy(line, agent);
	else
		write_idle(line, agent);
}

void
orchestrator_marker(struct line *line, const char *message)
{
	char id[UUID_SIZE];

	agent_message_begin(line, "event:log", 0, id);
	line_string(line, "level", "info");
	line_string(line, "message", message);
	payload_end(line);
}

void
orchestrator_log(struct line *line)
{
	write_log(line, rnd_below(AGENTS));
}
