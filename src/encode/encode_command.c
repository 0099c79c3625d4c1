/* Encodes commands as messages from the person. */
#include "encode/encode_command.h"

#include "base/utf8.h"
#include "encode/encode_collaboration.h"
#include "json/compose.h"

static int check_command(const struct addressed_command *c, const struct model *m,
			 const struct terms *t, struct err *err)
{
	bool aborts = c->type == SESSION_ABORT_TASK || c->type == SESSION_ABORT_SESSION;

	if (!t->as.n)
		return err_set(err, "a message needs a sender; give your name with --as");
	if (utf8_check(t->as, "your name (--as)", err) || utf8_check(c->reason, "the reason", err) ||
	    utf8_check(c->target, "what is named", err))
		return -1;
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

/* The newest task of that id, or NONE. */
static uint32_t find_task(const struct model *m, uint32_t session, struct str id)
{
	for (uint32_t i = m->tasks.n; id.n && i-- > 0;)
		if (m->tasks.v[i].session == session && str_eq(model_str(m, m->tasks.v[i].id), id))
			return i;
	return NONE;
}

/* The task that a message is about, or NONE. */
static uint32_t task_of_message(struct encoding *e, uint32_t session, uint32_t message)
{
	yyjson_val *payload = payload_of(parse_message(e, message));
	struct str id = json_get_str(payload, "task_id");

	if (!id.n)
		id = json_get_str(json_get(payload, "task"), "task_id");
	if (!id.n)
		id = json_get_str(payload, "related_task_id");
	return find_task(e->model, session, id);
}

/* Addressee and correlation: an acknowledgment goes to the sender as the message names it, other
 * commands belong to their task. */
static void address_command(struct encoding *e, const struct addressed_command *c,
			    struct human_message *head)
{
	const struct model *m = e->model;
	bool replies = c->type == SESSION_ACKNOWLEDGE;
	uint32_t message = replies ? message_with_id(m, c->session, c->target) : NONE;
	uint32_t task = replies ? NONE : find_task(m, c->session, c->target);
	yyjson_val *from;

	head->to = find_address(e, c->agent);
	if (message != NONE) {
		from = json_get(parse_message(e, message), "from_agent");
		if (str_eq(json_get_str(from, "agent_id"), head->to.id))
			head->to = read_address(e, from, "developer");
		task = task_of_message(e, c->session, message);
	}
	if (m->agents.v[c->agent].human)
		head->to.instance = STR("human");
	if (message != NONE || task != NONE)
		head->correlation = find_correlation(e, c->session, message, task, NONE);
}

static void put_payload(struct buf *out, const struct addressed_command *c, struct str session_id)
{
	switch (c->type) {
	case SESSION_ABORT_TASK: put_abort(out, "task", c->target, c->reason); break;
	case SESSION_ABORT_SESSION: put_abort(out, "session", session_id, c->reason); break;
	case SESSION_STATUS:
		if (c->target.n)
			json_put_str(out, "task_id", c->target);
		break;
	case SESSION_ACKNOWLEDGE: break;
	}
}

int command_write(const struct addressed_command *c, const struct model *m, const struct reader *r,
		  const struct desk *d, const struct terms *t, struct buf *out, struct err *err)
{
	static const char *const types[] = { [SESSION_ABORT_TASK] = "abort",
					     [SESSION_ABORT_SESSION] = "abort",
					     [SESSION_STATUS] = "status_query",
					     [SESSION_ACKNOWLEDGE] = "acknowledgment" };
	struct human_message head = { .type = types[c->type], .time_ms = t->now_ms, .as = t->as };
	struct plan strings = { 0 };
	struct encoding e = { .plan = &strings, .model = m, .reader = r, .terms = t };
	char id[37];

	if (check_command(c, m, t, err))
		return -1;
	uuid_make(id);
	head.id = str_make(id, 36);
	head.sequence = next_sequence(m, c->session, d, NULL);
	if (head.sequence < 0)
		return err_set(err, "this session's sequence numbers are exhausted (2^53 - 1); "
				    "nothing can follow");
	address_command(&e, c, &head);
	head.session_id = session_id(m, c->session);
	if (c->type == SESSION_ACKNOWLEDGE)
		head.reply_to = c->target;
	human_message_begin(out, &head);
	put_payload(out, c, head.session_id);
	human_message_end(out);
	buf_addc(out, '\n');
	encoding_release(&e);
	plan_release(&strings);
	return 0;
}
