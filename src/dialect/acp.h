/* Private to the dialect acp: the Agent Client Protocol, JSON-RPC 2.0 between an agent (opencode acp,
 * gemini --acp, claude-agent-acp, codex-acp) and its client. The agent reports with session/update and
 * asks with session/request_permission and elicitation/create; the client prompts and answers.
 *
 * A tool call is told of in pieces: a call, updates of it, and the ask. Each piece has some of the
 * members of struct acp_call. */
#ifndef GAVEL_DIALECT_ACP_H
#define GAVEL_DIALECT_ACP_H

#include "dialect/acp_questions.h"
#include "dialect/jsonrpc.h"

/* The methods that gavel knows; the rest are kept as they are. */
enum acp_method {
	ACP_OTHER,
	/* of the agent */
	ACP_UPDATE,
	ACP_PERMISSION,
	ACP_ELICITATION,
	ACP_CANCEL_REQUEST,
	ACP_READ_FILE,
	ACP_WRITE_FILE,
	ACP_TERMINAL,
	/* of the client */
	ACP_INITIALIZE,
	ACP_NEW,
	ACP_LOAD,
	ACP_PROMPT,
	ACP_CANCEL,
	ACP_SET_MODE,
	ACP_SET_OPTION,
	ACP_OF_CLIENT, /* another one */
};

enum acp_method acp_method(yyjson_val *root);

/* What a session/update tells. */
enum acp_update {
	UPDATE_OTHER,
	UPDATE_TEXT,
	UPDATE_THOUGHT,
	UPDATE_USER, /* what the user said: session/load repeats it */
	UPDATE_CALL,
	UPDATE_CALL_NEWS,
	UPDATE_PLAN,
	UPDATE_USAGE,
	UPDATE_MODE,
	UPDATE_OPTIONS,
	UPDATE_COMMANDS,
	UPDATE_SESSION,
};

enum acp_update acp_update(yyjson_val *update);

/* The id of the mode in a result of session/new or session/load, or in an update; empty = none. */
struct str acp_mode(yyjson_val *v);
/* The agent's own name of a call's tool, else its kind; empty = neither. */
struct str acp_tool(yyjson_val *call);
/* The text of a content block or of an array of them, a line each; empty = none. */
struct str acp_text(struct decoder *d, yyjson_val *content);
/* The call that a message tells of or asks about; NULL = none. */
yyjson_val *acp_call(yyjson_val *root);
/* The command that a call runs; empty = it is none. */
struct str acp_command(struct decoder *d, yyjson_val *call);
/* What a call does, for a title: "Bash: touch a.txt". about: an earlier message on it, NULL = none. */
struct str acp_call_title(struct decoder *d, yyjson_val *call, yyjson_val *about);

void acp_form_fields(struct decoder *d, yyjson_val *params, struct detail *out);

/* The id of a request as a part of a name: 3, and "3" without its quotes. */
struct str acp_bare_id(struct str id);
/* A turn is called after its prompt's request: prompt-3. */
struct str acp_turn_name(struct decoder *d, struct str request);
/* SESSION/CALL, since agents may number the calls of each session from 1; empty if the name is. */
struct str acp_name_within(struct decoder *d, struct str session, struct str name);

/* The events of a session/update (acp_updates.c). */
void acp_decode_update(struct decoder *d, struct message *m, yyjson_val *update,
		       struct str session);
struct event *acp_add_tool(struct message *m, yyjson_val *call, struct str session,
			   struct str id, enum tool_state state);
/* The agent goes on, so it has what it was answered. calls: also for calls that it told of before it
 * asked, whose own updates are awaited otherwise. */
void acp_add_proof(struct message *m, struct str session, bool calls);
void acp_add_mode(struct message *m, struct str mode, struct str session, const char *at);
/* session/load tells again what was said in a session: nothing of that happens now. request: turn name
 * of the request, empty = it is not known. */
void acp_add_replay(struct message *m, struct str session, struct str request);
/* The call whose subagent a call or ask belongs to; empty = none. */
struct str acp_parent_call(yyjson_val *v);
/* Makes that subagent the sender. */
void acp_set_subagent(struct decoder *d, struct message *m, struct str session,
		      struct str parent);

void acp_summarize(struct decoder *d, yyjson_val *root, struct buf *out);
bool acp_detail(struct decoder *d, yyjson_val *root, enum item_kind kind, uint32_t index,
		struct detail *out);

#endif
