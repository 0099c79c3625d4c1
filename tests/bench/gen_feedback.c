/*
 * Agent Feedback Protocol 1.2, as opencode writes it.
 *
 * A bare request names no session, so sessions follow each other: in each turn the request, then
 * the tool's lines with the response inside part.text. Each item of a response is decided in
 * the next request, each decision is acknowledged in the next response, and a session ends
 * after one to five turns or with an error.
 */
#include "gen.h"

#include <stdio.h>
#include <string.h>

#define ITEMS_MAX 9
#define TURNS_MAX 5

enum step { STEP_REQUEST, STEP_START, STEP_WORK, STEP_TEXT, STEP_FINISH };

static struct {
	enum step step;
	char id[32];
	unsigned number;
	unsigned turn, turns;
	unsigned parts;
	bool failed;
	unsigned item_count;
	char items[ITEMS_MAX][64];
	unsigned applied_count;
	char applied[ITEMS_MAX][64];
} session;

static struct line response;

static void
session_begin(void)
{
	session.number++;
	session.turn = 0;
	session.turns = rnd_between(1, TURNS_MAX);
	session.item_count = 0;
	session.failed = false;
	snprintf(session.id, sizeof(session.id), "ses_%012llx%06u",
		 (unsigned long long)(rnd_bits() >> 16), session.number % 1000000);
}

static void
request_decision(struct line *line, const char *id)
{
	static const char *const statuses[] = { "accepted", "rejected", "partial" };
	unsigned status = rnd_below(ARRAY_LEN(statuses));

	line_object(line, NULL);
	line_string(line, "id", id);
	line_string(line, "status", statuses[status]);
	if (status == 1)
		line_string(line, "reason_code", rnd_percent(50) ? "out_of_scope" : "infeasible");
	if (status != 0)
		line_prose(line, "explanation", 90);
	line_object_end(line);
}

static void
request_applied(struct line *line)
{
	line_object(line, "applied_feedback");
	line_array(line, "items");
	for (unsigned i = 0; i < session.item_count; i++) {
		request_decision(line, session.items[i]);
		memcpy(session.applied[i], session.items[i], sizeof(session.applied[i]));
	}
	line_array_end(line);
	line_object_end(line);
	session.applied_count = session.item_count;
}

static void
write_request(struct line *line)
{
	if (session.turn == session.turns || session.failed)
		session_begin();
	session.turn++;
	line_object(line, NULL);
	line_string(line, "protocol_version", "1.2");
	line_uint(line, "iteration", session.turn);
	line_object(line, "artifact");
	line_string(line, "media_type", rnd_percent(70) ? "text/markdown" : "text/plain");
	line_code(line, "content", rnd_artifact_length(500));
	if (rnd_percent(50))
		line_stringf(line, "artifact_ref", "%016llx", (unsigned long long)rnd_bits());
	line_object_end(line);
	if (session.turn > 1)
		request_applied(line);
	line_object_end(line);
	session.step = STEP_START;
}

static void
item_name(unsigned i)
{
	bool comes_back = i < session.item_count && rnd_percent(15);

	if (!comes_back)
		snprintf(session.items[i], sizeof(session.items[i]), "%s-%02u", slug_pick(),
			 session.turn * 10 + i);
}

static void
response_items(struct line *line)
{
	unsigned count = rnd_between(2, ITEMS_MAX);

	line_array(line, "areas_for_improvement");
	for (unsigned i = 0; i < count; i++) {
		item_name(i);
		line_object(line, NULL);
		line_string(line, "id", session.items[i]);
		line_string(line, "aspect", aspect_pick());
		line_prose(line, "description", 110);
		line_prose(line, "recommendation", 130);
		line_object_end(line);
	}
	line_array_end(line);
	session.item_count = count;
}

static void
response_feedback(struct line *line)
{
	static const char *const levels[] = { "high", "medium", "low" };
	unsigned points = rnd_between(1, 3);

	line_object(line, "feedback");
	line_object(line, "confidence");
	line_string(line, "level", PICK(levels));
	line_prose(line, "justification", 90);
	line_object_end(line);
	line_array(line, "positive_points");
	for (unsigned i = 0; i < points; i++) {
		line_object(line, NULL);
		line_string(line, "aspect", aspect_pick());
		line_prose(line, "justification", 90);
		line_object_end(line);
	}
	line_array_end(line);
	response_items(line);
	line_prose(line, "general_summary", 120);
	line_object_end(line);
}

static void
response_error(struct line *line)
{
	line_object(line, "error");
	line_string(line, "code", "INTERNAL_ERROR");
	line_prose(line, "message", 90);
	line_object_end(line);
	session.failed = true;
}

static void
response_ack(struct line *line)
{
	line_object(line, "applied_feedback_ack");
	line_array(line, "items");
	for (unsigned i = 0; i < session.applied_count; i++) {
		line_object(line, NULL);
		line_string(line, "id", session.applied[i]);
		line_string(line, "processing_status", "acknowledged");
		line_object_end(line);
	}
	line_array_end(line);
	line_object_end(line);
}

static void
write_response(struct line *line)
{
	bool failed = rnd_percent(4);

	line_object(line, NULL);
	line_string(line, "protocol_version", "1.2");
	line_uint(line, "iteration", session.turn);
	line_string(line, "status", failed ? "error" : "success");
	if (failed)
		response_error(line);
	else
		response_feedback(line);
	if (session.turn > 1)
		response_ack(line);
	line_object_end(line);
}

static void
part_begin(struct line *line, const char *type, const char *part_type)
{
	session.parts++;
	line_object(line, NULL);
	line_string(line, "type", type);
	line_uint(line, "timestamp", clock_ms());
	line_string(line, "sessionID", session.id);
	line_object(line, "part");
	line_stringf(line, "id", "prt_%08x%06u", (unsigned)rnd_bits(), session.parts % 1000000);
	line_string(line, "sessionID", session.id);
	line_stringf(line, "messageID", "msg_%s%02u", session.id + 4, session.turn);
	line_string(line, "type", part_type);
}

static void
part_end(struct line *line)
{
	line_object_end(line);
	line_object_end(line);
}

static void
part_time(struct line *line)
{
	line_object(line, "time");
	line_uint(line, "start", clock_ms() - 1);
	line_uint(line, "end", clock_ms());
	line_object_end(line);
}

static void
write_start(struct line *line)
{
	part_begin(line, "step_start", "step-start");
	line_stringf(line, "snapshot", "%016llx", (unsigned long long)rnd_bits());
	part_end(line);
	session.step = rnd_percent(15) ? STEP_WORK : STEP_TEXT;
}

static void
write_work(struct line *line)
{
	session.step = STEP_TEXT;
	if (rnd_percent(50)) {
		part_begin(line, "reasoning", "reasoning");
		line_prose(line, "text", 200);
		part_time(line);
		part_end(line);
		return;
	}
	part_begin(line, "tool_use", "tool");
	line_string(line, "tool", "read");
	line_stringf(line, "callID", "call_%08x", (unsigned)rnd_bits());
	line_object(line, "state");
	line_string(line, "status", "completed");
	line_object(line, "input");
	line_string(line, "filePath", path_pick());
	line_object_end(line);
	line_code(line, "output", rnd_length(400));
	line_string(line, "title", "read");
	line_object(line, "metadata");
	line_object_end(line);
	part_time(line);
	line_object_end(line);
	part_end(line);
}

static void
write_text(struct line *line)
{
	bool fenced = rnd_percent(5);

	line_clear(&response);
	if (fenced)
		line_addf(&response, "Here is my review.\n```json\n");
	write_response(&response);
	if (fenced)
		line_addf(&response, "\n```\n");
	part_begin(line, "text", "text");
	line_string_len(line, "text", response.bytes, response.len);
	part_time(line);
	part_end(line);
	session.step = STEP_FINISH;
}

static void
write_finish(struct line *line)
{
	unsigned input = rnd_between(100, 20000), output = rnd_between(50, 4000);
	unsigned cached = rnd_below(90000);

	part_begin(line, "step_finish", "step-finish");
	line_string(line, "reason", "stop");
	line_stringf(line, "snapshot", "%016llx", (unsigned long long)rnd_bits());
	line_object(line, "tokens");
	line_uint(line, "total", input + output + cached);
	line_uint(line, "input", input);
	line_uint(line, "output", output);
	line_uint(line, "reasoning", 0);
	line_object(line, "cache");
	line_uint(line, "read", cached);
	line_uint(line, "write", 0);
	line_object_end(line);
	line_object_end(line);
	line_hundredths(line, "cost", rnd_below(40));
	part_end(line);
	session.step = STEP_REQUEST;
}

void
feedback_next(struct line *line)
{
	switch (session.step) {
	case STEP_REQUEST:
		write_request(line);
		break;
	case STEP_START:
		write_start(line);
		break;
	case STEP_WORK:
		write_work(line);
		break;
	case STEP_TEXT:
		write_text(line);
		break;
	case STEP_FINISH:
		write_finish(line);
		break;
	}
}
