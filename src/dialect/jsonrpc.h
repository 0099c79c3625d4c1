/* What codex and acp have in common: the messages of JSON-RPC. */
#ifndef GAVEL_DIALECT_JSONRPC_H
#define GAVEL_DIALECT_JSONRPC_H

#include "dialect/dialect.h"

enum rpc_type {
	RPC_OTHER, /* no message of JSON-RPC */
	RPC_REQUEST,
	RPC_NOTIFICATION,
	RPC_RESULT,
	RPC_ERROR,
};

/* A method makes it a request or a notification, whatever else it has. */
enum rpc_type rpc_type(yyjson_val *root);
/* The id as JSON text in the decoder's arena, so that 0 and "0" differ. Empty: there is none that
 * could be answered, which is a string or a whole number. */
struct str rpc_id(struct decoder *d, yyjson_val *root);
/* The same of an id elsewhere in a message (requestId). */
struct str rpc_id_text(struct decoder *d, yyjson_val *id);
/* Whether a message was told to the agent: by its direction where that is known, else by what it
 * looks like. An entry of an escalation queue has messages of both directions, all of them marked as
 * a person's; only a reply, which looks like anybody's, is then taken for one. */
bool rpc_is_told(const struct decoder *d, enum rpc_type type, bool looks_told);

/* A holder's record of a run or its end, for any real agent: kind, time, sender and event. */
void decode_holder_record(yyjson_val *root, struct message *m, const char *agent);

#endif
