/* Header fields of a collaboration message sent by the person. The sender is an architect with the
 * person's name, or a reviewer NAME-reviewer (no agent id may have two types); its instance_id is
 * "human". */
#ifndef GAVEL_ENCODE_HUMAN_MESSAGE_H
#define GAVEL_ENCODE_HUMAN_MESSAGE_H

#include "encode/plan.h"

struct address {
	struct str id, type, instance; /* instance empty = unknown */
};

struct human_message {
	const char *type; /* message_type */
	struct str id;    /* a UUID */
	int64_t time_ms, sequence;
	struct str as; /* the person's name */
	bool reviewer; /* else architect */
	struct address to;
	struct str session_id, correlation, reply_to; /* empty = left out */
};

/* The agent type if the protocol knows it, else `usual`. */
struct str address_type(struct str type, const char *usual);
/* The session's id; STR_NONE if it has none and is named after its source. */
struct str session_id(const struct model *m, uint32_t session);
/* Writes the message up to its payload's opening brace; put members, then human_message_end. */
void human_message_begin(struct buf *b, const struct human_message *m);
void human_message_end(struct buf *b);
/* The payload of an abort. */
void put_abort(struct buf *b, const char *scope, struct str target, struct str reason);
/* The next sequence_number: after all messages of the session, the desk's letters and what is planned
 * to be sent (e may be NULL: nothing); -1 when they are exhausted. */
int64_t next_sequence(const struct model *m, uint32_t session, const struct desk *d,
		      const struct encoding *e);

#endif
