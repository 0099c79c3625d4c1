/* Writes the header of a message from the person, and computes its sequence number. */
#include "encode/human_message.h"

#include "json/compose.h"

struct str address_type(struct str type, const char *usual)
{
	static const char *const types[] = { "architect", "developer", "reviewer", NULL };

	return value_index(types, type) < 0 ? str_of(usual) : type;
}

struct str session_id(const struct model *m, uint32_t session)
{
	const struct session *s = &m->sessions.v[session];

	return s->name == s->group ? STR_NONE : model_str(m, s->name);
}

void human_message_begin(struct buf *b, const struct human_message *m)
{
	char time[32];
	struct buf id = { 0 };

	buf_addc(b, '{');
	json_put_str(b, "message_id", m->id);
	json_put_name(b, "timestamp", timestamp_iso(m->time_ms, time));
	json_put_int(b, "sequence_number", m->sequence);
	if (m->session_id.n)
		json_put_str(b, "session_id", m->session_id);
	buf_add_str(&id, m->as);
	if (m->reviewer)
		buf_adds(&id, "-reviewer");
	json_open(b, "from_agent", '{');
	json_put_str(b, "agent_id", buf_str(&id));
	json_put_name(b, "agent_type", m->reviewer ? "reviewer" : "architect");
	json_put_name(b, "instance_id", "human");
	buf_addc(b, '}');
	buf_release(&id);
	json_open(b, "to_agent", '{');
	json_put_str(b, "agent_id", m->to.id);
	json_put_str(b, "agent_type", m->to.type);
	if (m->to.instance.n)
		json_put_str(b, "instance_id", m->to.instance);
	buf_addc(b, '}');
	json_put_name(b, "message_type", m->type);
	if (m->correlation.n)
		json_put_str(b, "correlation_id", m->correlation);
	if (m->reply_to.n)
		json_put_str(b, "reply_to", m->reply_to);
	json_open(b, "payload", '{');
}

void human_message_end(struct buf *b)
{
	buf_adds(b, "}}");
}

void put_abort(struct buf *b, const char *scope, struct str target, struct str reason)
{
	json_put_name(b, "scope", scope);
	json_put_str(b, "target_id", target);
	json_put_str(b, "reason", reason);
	json_put_bool(b, "cleanup_required", true);
}

/* -1 if the letter is not a collaboration message (but a queue entry). */
static int64_t sequence_of(struct json_reader *json, const struct letter *l)
{
	yyjson_val *root;
	int64_t n;

	if (l->dialect != DIALECT_COLLABORATION || !l->bytes.n ||
	    json_read(json, l->bytes, &root) != JSON_OK ||
	    !json_int(json_get(root, "sequence_number"), &n))
		return -1;
	return n;
}

int64_t next_sequence(const struct model *m, uint32_t session, const struct desk *d,
		      const struct encoding *e)
{
	struct json_reader json = { 0 };
	int64_t highest = model_sequence(m, session), n = -1;

	/* numbers ascend, so the last letter has the highest */
	for (uint32_t i = e ? e->plan->list.n : 0; i-- > 0 && n < 0;)
		if (proposal_counts(e, i))
			n = sequence_of(&json, &e->plan->list.v[i].letter);
	for (uint32_t i = d->letters.n; i-- > 0 && n < 0;)
		n = sequence_of(&json, &d->letters.v[i]);
	json_reader_release(&json);
	highest = n > highest ? n : highest;
	return highest < COUNT_MAX ? highest + 1 : -1;
}
