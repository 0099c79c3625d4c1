/* Composes the orchestrator's messages: responses with an error, notifications. */
#include "agents/orchestrate_internal.h"

#include "decide/decision.h"

const char *orchestrator_code_name(enum orchestrator_code c)
{
	static const char *const names[] = {
		[CODE_NONE] = "",
		[CODE_INVALID_REQUEST] = "INVALID_REQUEST",
		[CODE_INVALID_MESSAGE_TYPE] = "INVALID_MESSAGE_TYPE",
		[CODE_UNAUTHORIZED] = "UNAUTHORIZED",
		[CODE_NOT_FOUND] = "NOT_FOUND",
		[CODE_TIMEOUT] = "TIMEOUT",
		[CODE_INTERNAL_ERROR] = "INTERNAL_ERROR",
	};

	return names[c];
}

void write_head(const char *type, struct str request, int64_t now_ms, struct buf *out)
{
	char id[37], time[32];

	uuid_make(id);
	buf_addc(out, '{');
	json_put_name(out, "type", type);
	json_put_name(out, "id", id);
	if (request.n)
		json_put_str(out, "correlationId", request);
	json_put_name(out, "timestamp", timestamp_iso(now_ms, time));
}

void begin_payload(const char *type, struct str request, int64_t now_ms, struct buf *out)
{
	write_head(type, request, now_ms, out);
	json_key(out, "payload");
	buf_addc(out, '{');
}

void end_payload(struct buf *out)
{
	buf_adds(out, "}}\n");
}

void orchestrator_refuse(struct str request, enum orchestrator_code code, struct str message,
			 struct str details, int64_t now_ms, struct buf *out)
{
	write_head("response:error", request, now_ms, out);
	json_key(out, "error");
	buf_addc(out, '{');
	json_put_name(out, "code", orchestrator_code_name(code));
	json_put_str(out, "message", message);
	if (details.n) {
		json_key(out, "details");
		buf_add_str(out, details);
	}
	buf_adds(out, "}}\n");
}

void orchestrator_assign(struct str task, int64_t now_ms, struct buf *out)
{
	begin_payload("notify:task-assigned", STR_NONE, now_ms, out);
	json_put_str(out, "taskId", task);
	json_put_name(out, "message", "Task assigned. Use TaskGet to view details.");
	end_payload(out);
}

void orchestrator_cancel(struct str task, struct str reason, int64_t now_ms, struct buf *out)
{
	begin_payload("notify:task-cancelled", STR_NONE, now_ms, out);
	json_put_str(out, "taskId", task);
	json_put_str(out, "reason", reason.n ? reason : STR("Cancelled by a person"));
	end_payload(out);
}

void orchestrator_shutdown(int64_t grace_ms, struct str reason, int64_t now_ms, struct buf *out)
{
	begin_payload("notify:shutdown", STR_NONE, now_ms, out);
	json_put_int(out, "gracePeriod", grace_ms < 0 ? 0 : grace_ms);
	json_put_str(out, "reason", reason.n ? reason : STR("Orchestrator stopping"));
	end_payload(out);
}
