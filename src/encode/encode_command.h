/* What a person can say in a collaboration session without deciding an item: stop a task or the
 * whole session, ask an agent how it stands, confirm that a message has come. */
#ifndef GAVEL_ENCODE_ENCODE_COMMAND_H
#define GAVEL_ENCODE_ENCODE_COMMAND_H

#include "encode/plan.h"

enum command_type {
	COMMAND_ABORT_TASK,
	COMMAND_ABORT_SESSION,
	COMMAND_STATUS,      /* of a task, or of everything where none is named */
	COMMAND_ACKNOWLEDGE,
};

struct order {
	enum command_type type;
	uint32_t session, agent; /* numbers in the model: where, and to whom */
	struct str target;       /* task id; ACKNOWLEDGE: id of the message that has come */
	struct str reason;       /* ABORT_* */
};

/* One line with its newline, appended to out. -1 when it cannot be said. */
int command_write(const struct order *c, const struct model *m, const struct desk *d,
		  const struct terms *t, struct buf *out, struct err *err);

#endif
