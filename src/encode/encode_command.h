/* Commands in a collaboration session that decide no item: abort a task or the session, query an
 * agent's status, acknowledge a message. */
#ifndef GAVEL_ENCODE_ENCODE_COMMAND_H
#define GAVEL_ENCODE_ENCODE_COMMAND_H

#include "encode/plan.h"

enum session_command_type {
	SESSION_ABORT_TASK,
	SESSION_ABORT_SESSION,
	SESSION_STATUS,      /* of a task, or of everything if none is named */
	SESSION_ACKNOWLEDGE,
};

struct addressed_command {
	enum session_command_type type;
	uint32_t session, agent; /* indices in the model; agent is the recipient */
	struct str target;       /* task id; ACKNOWLEDGE: id of the message */
	struct str reason;       /* ABORT_* */
};

/* Appends the message with its newline to out. -1 if a field is missing or invalid. */
int command_write(const struct addressed_command *c, const struct model *m, const struct reader *r,
		  const struct desk *d, const struct terms *t, struct buf *out, struct err *err);

#endif
