/* Recordings of real ACP agents (tests/fixtures/agents/acp-NAME.both.ndjson), played into a model as a
 * capture is read: what the agent wrote is its own, what it was told a person's. */
#ifndef GAVEL_TESTS_ACP_RECORDING_H
#define GAVEL_TESTS_ACP_RECORDING_H

#include "encode.h"

#include "base/err.h"
#include "base/io.h"
#include "encode/raw_member.h"

#include <dirent.h>
#include <stdlib.h>

enum speaker { BY_AGENT, BY_CLIENT, BY_HOLDER };

struct heard_line {
	enum speaker by;
	struct str bytes; /* points into the recording */
	bool broken;      /* on purpose */
};

struct recording {
	struct buf text;
	VEC(struct heard_line) lines;
};

static inline void recording_add(struct recording *r, struct str line)
{
	struct str dir = raw_member(line, "dir"), msg = raw_member(line, "msg");
	struct str text = raw_member(line, "text");
	/* what was broken on purpose is there as a JSON string */
	struct str broken = STR("{\"jsonrpc\":\"2.0\",\"id\":5,\"meth");

	if (str_is(dir, "\"agent\"") || str_is(dir, "\"client\""))
		vec_push(&r->lines, ((struct heard_line){ str_is(dir, "\"agent\"") ? BY_AGENT : BY_CLIENT,
							  msg.n ? msg : broken, !msg.n }));
	else if (str_starts(text, STR("\"exit")))
		vec_push(&r->lines, ((struct heard_line){
					    BY_HOLDER,
					    STR("{\"gavel\":\"exit\",\"n\":1,\"code\":0,\"t\":"
						"1794902925034}"),
					    false }));
}

static inline void recording_open(struct recording *r, const char *name)
{
	char path[1024];
	struct str rest;
	struct err err;

	memset(r, 0, sizeof(*r));
	snprintf(path, sizeof(path), "%s/agents/%s.both.ndjson", getenv("GAVEL_FIXTURES"), name);
	ck_assert_msg(io_read_file(path, 1 << 24, &r->text, &err) == 0, "%s", err.text);
	rest = buf_str(&r->text);
	while (rest.n) {
		struct str line = str_cut(&rest, STR("\n"));

		if (line.n)
			recording_add(r, line);
	}
	ck_assert_uint_gt(r->lines.n, 4);
}

static inline void recording_close(struct recording *r)
{
	vec_release(&r->lines);
	buf_release(&r->text);
}

/* The next line of the capture. */
static inline void hear(struct bench *b, const struct heard_line *l)
{
	struct frame_info info = { .full_length = l->bytes.n, .stream = DIALECT_ACP,
				   .direction = l->by == BY_CLIENT ? DIRECTION_OUT : DIRECTION_IN,
				   .reply = l->by == BY_CLIENT, .holder = l->by == BY_HOLDER };
	struct place place = { .line = b->lines.n + 1, .length = (uint32_t)l->bytes.n,
			       .group = b->desk.group, .speaker = STR("opencode"),
			       .trust = l->by == BY_CLIENT ? TRUST_REPLY : TRUST_AGENT };

	vec_push(&b->lines, arena_str(&b->arena, l->bytes));
	vec_push(&b->names, b->desk.group);
	dialect_decode(&b->decoder, vec_last(&b->lines)[0], &info, &b->message);
	bench_take(b, &place);
}

static inline void hear_text(struct bench *b, enum speaker by, const char *line)
{
	struct heard_line l = { by, str_of(line), false };

	hear(b, &l);
}

static inline bool is_ask(const struct heard_line *l)
{
	return l->by == BY_AGENT && (str_find(l->bytes, STR("\"session/request_permission\""), 0) >= 0 ||
				     str_find(l->bytes, STR("\"elicitation/create\""), 0) >= 0);
}

/* What a rule says of the last message, or NULL. */
static inline const struct diag *told_of(const struct bench *b, const char *rule)
{
	for (uint32_t i = 0; i < b->message.diags.list.n; i++)
		if (strcmp(b->message.diags.list.v[i].rule, rule) == 0)
			return &b->message.diags.list.v[i];
	return NULL;
}

/* Messages. */
#define UPDATE(session, rest) \
	"{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{\"sessionId\":\"" session \
	"\",\"update\":{" rest "}}}"
#define CALL(session, id, rest) \
	UPDATE(session, "\"sessionUpdate\":\"tool_call\",\"toolCallId\":\"" id \
			"\",\"title\":\"make\",\"kind\":\"execute\",\"status\":\"pending\"" rest)
#define NEWS(session, id, status) \
	UPDATE(session, "\"sessionUpdate\":\"tool_call_update\",\"toolCallId\":\"" id \
			"\",\"status\":\"" status "\"")
#define TEXT(session) \
	UPDATE(session, "\"sessionUpdate\":\"agent_message_chunk\",\"content\":{\"type\":\"text\"," \
			"\"text\":\"Well.\"}")
#define ASK(id, session, call) \
	"{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"session/request_permission\",\"params\":{" \
	"\"sessionId\":\"" session "\",\"toolCall\":{\"toolCallId\":\"" call "\"},\"options\":[" \
	"{\"optionId\":\"y\",\"name\":\"Yes\",\"kind\":\"allow_once\"}," \
	"{\"optionId\":\"n\",\"name\":\"No\",\"kind\":\"reject_once\"}]}}"
#define CHOOSE(id, option) \
	"{\"jsonrpc\":\"2.0\",\"id\":" id ",\"result\":{\"outcome\":{\"outcome\":\"selected\"," \
	"\"optionId\":\"" option "\"}}}"
#define CANCELLED(id) \
	"{\"jsonrpc\":\"2.0\",\"id\":" id ",\"result\":{\"outcome\":{\"outcome\":\"cancelled\"}}}"
#define PROMPT(id, session) \
	"{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"session/prompt\",\"params\":{\"sessionId\":\"" \
	session "\",\"prompt\":[{\"type\":\"text\",\"text\":\"Build it\"}]}}"
#define DONE(id, reason) "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"result\":{\"stopReason\":\"" reason "\"}}"
#define MODE(session, mode) \
	UPDATE(session, "\"sessionUpdate\":\"current_mode_update\",\"currentModeId\":\"" mode "\"")

/* For tcase_add_loop_test. */
#define ROWS(table) (int)(sizeof(table) / sizeof((table)[0]))

#endif
