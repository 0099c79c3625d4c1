/* A person's seat in a collaboration session: the head of every message that comes from it. The
 * seat is an architect under the person's name, or a reviewer under NAME-reviewer (so that nobody
 * has two types), and its instance_id is "human". */
#ifndef GAVEL_ENCODE_HUMAN_MESSAGE_H
#define GAVEL_ENCODE_HUMAN_MESSAGE_H

#include "encode/plan.h"

/* Whom a message is for. */
struct address {
	struct str id, type, instance; /* instance empty = none is known */
};

struct human_message {
	const char *type; /* message_type */
	struct str id;    /* a UUID */
	int64_t time_ms, sequence;
	struct str as; /* the person's name */
	bool reviewer;
	struct address to;
	struct str session_id, correlation, reply_to; /* empty = left out */
};

/* The type to address an agent by: its own where the protocol has it, else `usual`. */
struct str address_type(struct str type, const char *usual);
/* The message up to its payload's opening brace; put members, then human_message_end. */
void human_message_begin(struct buf *b, const struct human_message *m);
void human_message_end(struct buf *b);
/* The number for the next message of a person: after all that the session has shown, and after what
 * was written here already; -1: there is none that all could read. p may be NULL. */
int64_t next_sequence(const struct model *m, uint32_t session, const struct desk *d,
		      const struct plan *p);

#endif
