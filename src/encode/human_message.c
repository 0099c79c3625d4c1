/* The head of a person's message, and its number. */
#include "encode/human_message.h"

#include "json/compose.h"

struct str address_type(struct str type, const char *usual)
{
	static const char *const types[] = { "architect", "developer", "reviewer", NULL };

	return value_index(types, type) < 0 ? str_of(usual) : type;
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
	json_key(b, "from_agent");
	buf_addc(b, '{');
	json_put_str(b, "agent_id", buf_str(&id));
	json_put_name(b, "agent_type", m->reviewer ? "reviewer" : "architect");
	json_put_name(b, "instance_id", "human");
	buf_addc(b, '}');
	buf_release(&id);
	json_key(b, "to_agent");
	buf_addc(b, '{');
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
	json_key(b, "payload");
	buf_addc(b, '{');
}

void human_message_end(struct buf *b)
{
	buf_adds(b, "}}");
}

/* -1 where the letter is no message of a seat (an entry of the queue). */
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
		      const struct plan *p)
{
	struct json_reader json = { 0 };
	int64_t highest = model_sequence(m, session), n = -1;

	/* each letter is numbered after those before it, so that the last one has the highest */
	for (uint32_t i = p ? p->list.n : 0; i-- > 0 && n < 0;)
		n = sequence_of(&json, &p->list.v[i].letter);
	for (uint32_t i = d->letters.n; i-- > 0 && n < 0;)
		n = sequence_of(&json, &d->letters.v[i]);
	json_reader_release(&json);
	highest = n > highest ? n : highest;
	return highest < COUNT_MAX ? highest + 1 : -1;
}
