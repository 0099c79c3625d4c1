/* Encodes commands as messages from the person. */
#include "encode/encode_command.h"

#include "encode/human_message.h"
#include "json/compose.h"

static int check_command(const struct addressed_command *c, const struct model *m,
			 const struct terms *t, struct err *err)
{
	bool aborts = c->type == SESSION_ABORT_TASK || c->type == SESSION_ABORT_SESSION;

	if (!t->as.n)
		return err_set(err, "a message needs a sender; give your name with --as");
	if (c->agent == NONE || m->agents.v[c->agent].session != c->session)
		return err_set(err,
			       "no such agent in this session; name one that has spoken in it");
	if (c->type == SESSION_ABORT_SESSION && !session_id(m, c->session).n)
		return err_set(err,
			       "this session has no id, so it cannot be named; abort its tasks");
	if ((c->type == SESSION_ABORT_TASK || c->type == SESSION_ACKNOWLEDGE) && !c->target.n)
		return err_set(err, "nothing is named; give the id of a %s",
			       aborts ? "task" : "message");
	if (aborts && !c->reason.n)
		return err_set(err, "an abort needs a reason; give one");
	return 0;
}

int command_write(const struct addressed_command *c, const struct model *m, const struct desk *d,
		  const struct terms *t, struct buf *out, struct err *err)
{
	static const char *const types[] = { [SESSION_ABORT_TASK] = "abort",
					     [SESSION_ABORT_SESSION] = "abort",
					     [SESSION_STATUS] = "status_query",
					     [SESSION_ACKNOWLEDGE] = "acknowledgment" };
	struct human_message head = { .type = types[c->type], .time_ms = t->now_ms, .as = t->as };
	struct str type;
	char id[37];

	if (check_command(c, m, t, err))
		return -1;
	uuid_make(id);
	head.id = str_make(id, 36);
	head.sequence = next_sequence(m, c->session, d, NULL);
	if (head.sequence < 0)
		return err_set(err, "this session's sequence numbers have come to their end, "
				    "2^53 - 1; nothing can follow");
	type = address_type(model_str(m, m->agents.v[c->agent].type), "developer");
	head.to = (struct address){ agent_name(m, c->agent), type,
				    m->agents.v[c->agent].human ? STR("human") : STR_NONE };
	head.session_id = session_id(m, c->session);
	if (c->type == SESSION_ACKNOWLEDGE)
		head.reply_to = c->target;
	human_message_begin(out, &head);
	switch (c->type) {
	case SESSION_ABORT_TASK: put_abort(out, "task", c->target, c->reason); break;
	case SESSION_ABORT_SESSION: put_abort(out, "session", head.session_id, c->reason); break;
	case SESSION_STATUS:
		if (c->target.n)
			json_put_str(out, "task_id", c->target);
		break;
	case SESSION_ACKNOWLEDGE: break;
	}
	human_message_end(out);
	buf_addc(out, '\n');
	return 0;
}
