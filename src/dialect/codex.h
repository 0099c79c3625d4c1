/* What the files of the codex dialect share, and what its encoder needs of it. Codex talks in three
 * forms: the app-server's JSON-RPC (codex.c), and two kinds of logs that ask nobody (codex_log.c),
 * the lines of `codex exec --json` and the rollouts that every session leaves on disk. */
#ifndef GAVEL_DIALECT_CODEX_H
#define GAVEL_DIALECT_CODEX_H

#include "dialect/jsonrpc.h"

/* What a request of the app-server asks a person. */
enum codex_ask {
	CODEX_NONE,
	CODEX_COMMAND,     /* item/commandExecution/requestApproval */
	CODEX_CHANGE,      /* item/fileChange/requestApproval: item/started has the diff */
	CODEX_INPUT,       /* item/tool/requestUserInput */
	CODEX_GRANT,       /* item/permissions/requestApproval */
	CODEX_FORM,        /* mcpServer/elicitation/request */
	CODEX_OLD_COMMAND, /* execCommandApproval, applyPatchApproval: other words */
	CODEX_OLD_PATCH,
};

enum codex_ask codex_ask_of(struct str method);
/* A form without fields asks for a yes. */
enum item_kind codex_item_kind(enum codex_ask ask, yyjson_val *params);

/* Rules for "always" that an ask offers, in the order of its availableDecisions; the session comes
 * last, which works though it is not always listed. */
enum codex_offer_type { CODEX_OFFER_COMMANDS, CODEX_OFFER_HOST, CODEX_OFFER_SESSION };
struct codex_offer {
	enum codex_offer_type type;
	yyjson_val *rule;     /* the beginning of a command, an array; a host, an object; NULL */
	yyjson_val *decision; /* as it is offered; NULL = only the rule is */
};
enum { CODEX_OFFERS_MAX = 16 };
unsigned codex_offers(enum codex_ask ask, yyjson_val *params, struct codex_offer *out);
/* "touch cx1.txt  in $CODEX_HOME/rules/default.rules" */
void codex_offer_words(const struct codex_offer *offer, struct buf *out);

/* A command line without the shell that Codex starts for it: of /bin/bash -lc 'touch a' the text
 * between the quotes, where nothing in it has another meaning there. */
struct str codex_command(struct str whole);
/* When a message says that it was sent, or that what it tells began; TIME_NONE = it does not. */
int64_t codex_time(yyjson_val *root);
/* When a question resolves itself, TIME_NONE = never. */
int64_t codex_deadline(yyjson_val *root);
/* What a reply to the agent says. False: nothing that an ask takes; it counts as a denial. */
bool codex_answer(yyjson_val *result, enum verdict *verdict);
/* Whether a result is one that clients send. */
bool codex_looks_like_answer(yyjson_val *result);

/* Parts of the decoder (codex_ask.c). */
extern const struct shape codex_approval_shape, codex_input_shape, codex_result_shape;
void codex_decode_ask(struct decoder *d, yyjson_val *root, struct message *m, enum codex_ask ask);
void codex_decode_answer(struct decoder *d, yyjson_val *root, struct message *m);
/* Adds EV_MODE: who is asked, and for what. */
void codex_add_mode(struct decoder *d, struct message *m, yyjson_val *policy, yyjson_val *reviewer);
/* Adds EV_TURN; without an id turns are counted. */
struct event *codex_add_turn(struct message *m, struct str id, enum task_state state);
/* Adds EV_USAGE of tokens under Codex's names in one of its two spellings. */
void codex_add_usage(struct message *m, yyjson_val *usage, bool snake_case);

/* The logs. */
bool codex_is_log(yyjson_val *root);
void codex_decode_log(struct decoder *d, yyjson_val *root, struct message *m);
void codex_summarize_log(struct decoder *d, yyjson_val *root, struct buf *out);

void codex_summarize(struct decoder *d, yyjson_val *root, struct buf *out);
bool codex_detail(struct decoder *d, yyjson_val *root, enum item_kind kind, uint32_t index,
		  struct detail *out);

#endif
