/* Encoder for codex: a decision is the result of the agent's request, under its id, byte for byte.
 * The answer to an approval has no place for a reason, so that goes before it, as a turn/steer: the
 * model reads that its call was rejected, then why, in the same turn. */
#include "decide/question.h"
#include "dialect/codex.h"
#include "encode/plan.h"
#include "encode/raw_member.h"
#include "json/compose.h"

/* What is answered. Its parts live as long as e->json holds the message. */
struct codex_request {
	enum codex_ask ask;
	struct str id;    /* JSON text */
	struct str bytes; /* of the message, copied */
	yyjson_val *params;
};

static struct codex_request read_request(struct encoding *e, const struct item_state *at)
{
	struct codex_request r = { 0 };
	yyjson_val *root;

	r.bytes = keep_str(e, e->reader->bytes(e->reader->ctx, at->message));
	r.id = raw_member(r.bytes, "id");
	root = parse_message(e, at->message);
	r.ask = codex_ask_of(json_get_str(root, "method"));
	r.params = json_get(root, "params");
	return r;
}

static void begin_result(struct buf *b, const struct codex_request *r)
{
	buf_printf(b, "{\"id\":%.*s,\"result\":{", STR_ARG(r->id));
}

static void end_result(struct encoding *e, struct proposal *p, struct buf *b)
{
	buf_adds(b, "}}");
	proposal_set_bytes(e, p, b);
	buf_release(b);
}

/* ---- the reason of a rejection ---- */

/* The number of a request that waits for its reply or is planned; -1 = none. */
static int64_t request_number(struct json_reader *json, const struct letter *l)
{
	yyjson_val *root;
	int64_t n;

	if (l->dialect != DIALECT_CODEX || !l->bytes.n ||
	    json_read(json, l->bytes, &root) != JSON_OK || !json_get(root, "method") ||
	    !json_int(json_get(root, "id"), &n))
		return -1;
	return n;
}

/* Above all that were told on this connection, or will be. */
static int64_t next_number(const struct encoding *e)
{
	struct json_reader json = { 0 };
	int64_t highest = model_sequence(e->model, item_session(e->model, item_of(e, 0))), n = -1;

	/* numbers ascend, so the last letter has the highest */
	for (uint32_t i = e->plan->list.n; i-- > 0 && n < 0;)
		if (proposal_counts(e, i))
			n = request_number(&json, &e->plan->list.v[i].letter);
	for (uint32_t i = e->desk->letters.n; i-- > 0 && n < 0;)
		n = request_number(&json, &e->desk->letters.v[i]);
	json_reader_release(&json);
	highest = n > highest ? n : highest;
	return highest < 0 ? 1 : highest + 1;
}

/* Before the rejection itself. False: the ask names no turn that it could be said in. */
static bool encode_reason(struct encoding *e, const struct codex_request *r, struct str why,
			  struct str to)
{
	struct str thread = json_get_str(r->params, "threadId");
	struct str turn = json_get_str(r->params, "turnId");
	int64_t number = next_number(e);
	struct buf b = { 0 };
	struct proposal *p;

	if (!thread.n || !turn.n)
		return false;
	buf_addc(&b, '{');
	json_put_int(&b, "id", number);
	json_put_name(&b, "method", "turn/steer");
	json_open(&b, "params", '{');
	json_put_str(&b, "threadId", thread);
	json_put_str(&b, "expectedTurnId", turn);
	json_open(&b, "input", '[');
	buf_addc(&b, '{');
	json_put_name(&b, "type", "text");
	json_put_str(&b, "text", why);
	buf_adds(&b, "}]}}");
	p = propose(e, NULL, 0);
	p->letter.to = to;
	p->words = keep_str(e, why);
	proposal_set_bytes(e, p, &b);
	buf_release(&b);
	return true;
}

/* ---- approvals ---- */

static const char *plain_decision(const struct codex_request *r, enum verb verb)
{
	bool old = r->ask == CODEX_OLD_COMMAND || r->ask == CODEX_OLD_PATCH;

	switch (verb) {
	case VERB_ACCEPT: return old ? "approved" : "accept";
	case VERB_ALWAYS: return old ? "approved_for_session" : "acceptForSession";
	case VERB_REJECT: return old ? "denied" : "decline";
	case VERB_STOP: return old ? "abort" : "cancel";
	case VERB_PARTIAL:
	case VERB_ANSWER:
	case VERB_DISMISS:
	case VERB_ESCALATE:
	case VERB_COUNT: break;
	}
	return "";
}

/* The offer that the person chose; false = there is none. */
static bool chosen_offer(struct encoding *e, struct proposal *p, const struct codex_request *r,
			 struct codex_offer *out)
{
	struct codex_offer offers[CODEX_OFFERS_MAX];
	const struct draft *d = draft_of(e, 0);
	unsigned n = codex_offers(r->ask, r->params, offers), wanted = d->option ? d->option : 1;
	struct buf words = { 0 };

	if (d->answer.n && !d->option) {
		propose_missing(e, p, "codex takes no rule but those that it offers; choose one of "
				      "1 to %u", n);
		return false;
	}
	if (wanted > n) {
		propose_missing(e, p, "there is no offer %u; there are 1 to %u", wanted, n);
		return false;
	}
	*out = offers[wanted - 1];
	codex_offer_words(out, &words);
	propose_caution(e, p, "no longer asked from now on: %.*s", STR_ARG(buf_str(&words)));
	buf_release(&words);
	return true;
}

static void put_always(struct encoding *e, struct proposal *p, const struct codex_request *r,
		       struct buf *b)
{
	struct codex_offer offer;

	if (!chosen_offer(e, p, r, &offer))
		return;
	if (offer.decision) {
		json_put_value(b, "decision", offer.decision);
	} else if (offer.type == CODEX_OFFER_COMMANDS) {
		json_open(b, "decision", '{');
		json_open(b, "acceptWithExecpolicyAmendment", '{');
		json_put_value(b, "execpolicy_amendment", offer.rule);
		buf_adds(b, "}}");
	} else {
		json_put_name(b, "decision", plain_decision(r, VERB_ALWAYS));
	}
}

static void encode_approval(struct encoding *e, struct proposal *p, const struct codex_request *r)
{
	enum verb verb = draft_of(e, 0)->verb;
	struct buf b = { 0 };

	begin_result(&b, r);
	if (verb == VERB_ALWAYS)
		put_always(e, p, r, &b);
	else
		json_put_name(&b, "decision", plain_decision(r, verb));
	end_result(e, p, &b);
}

/* A wish for more permissions: what is granted is what was asked for, or nothing. */
static void encode_grant(struct encoding *e, struct proposal *p, const struct codex_request *r)
{
	enum verb verb = draft_of(e, 0)->verb;
	struct str wanted = raw_member(raw_member(r->bytes, "params"), "permissions");
	bool grants = verb == VERB_ACCEPT || verb == VERB_ALWAYS;
	struct codex_offer offer;
	struct buf b = { 0 };

	if (verb == VERB_STOP)
		propose_missing(e, p, "this request cannot end the turn; reject it instead");
	if (verb == VERB_ALWAYS && !chosen_offer(e, p, r, &offer))
		return;
	begin_result(&b, r);
	json_key(&b, "permissions");
	if (grants && wanted.n)
		add_on_one_line(&b, wanted);
	else
		buf_adds(&b, "{}");
	json_put_name(&b, "scope", verb == VERB_ALWAYS ? "session" : "turn");
	end_result(e, p, &b);
}

/* ---- questions ---- */

/* The option whose label the text begins with, alone or before a comma: the longest, or NULL. */
static yyjson_val *leading_option(yyjson_val *options, struct str text)
{
	yyjson_val *v, *found = NULL;
	size_t i, n;

	yyjson_arr_foreach(options, i, n, v) {
		struct str label = json_get_str(v, "label");

		if (label.n && str_starts(text, label) &&
		    (text.n == label.n || str_starts(str_from(text, label.n), STR(", "))) &&
		    (!found || label.n > json_get_str(found, "label").n))
			found = v;
	}
	return found;
}

/* ["A","B","free text"]: choices stand before what is no option's label. */
static void put_choices(struct encoding *e, struct proposal *p, yyjson_val *question,
			struct str line, struct buf *b)
{
	yyjson_val *options = json_get(question, "options"), *option;
	bool closed = yyjson_is_false(json_get(question, "isOther"));

	json_open(b, "answers", '[');
	while ((option = leading_option(options, line)) != NULL) {
		struct str label = json_get_str(option, "label");

		json_comma(b);
		json_write_str(b, label);
		line = str_from(line, label.n + (line.n > label.n ? 2 : 0));
	}
	if (line.n) {
		json_comma(b);
		json_write_str(b, line);
	}
	buf_addc(b, ']');
	if (!line.n || !yyjson_arr_size(options))
		return;
	if (closed)
		propose_missing(e, p, "\"%.*s\": only the listed options are taken",
				STR_ARG(json_get_str(question, "question")));
	else
		propose_caution(e, p, "not one of the options; sent as typed");
}

/* The next line of the person's answers. */
static struct str next_line(struct str *text)
{
	const char *end = text->n ? memchr(text->p, '\n', text->n) : NULL;
	struct str line = end ? str_make(text->p, (size_t)(end - text->p)) : *text;

	*text = end ? str_from(*text, line.n + 1) : STR_NONE;
	return str_trim(line);
}

static void encode_answers(struct encoding *e, struct proposal *p, const struct codex_request *r)
{
	yyjson_val *questions = json_get(r->params, "questions"), *v;
	struct str left = draft_of(e, 0)->answer;
	unsigned answered = 0;
	struct buf b = { 0 };
	size_t i, n;

	begin_result(&b, r);
	json_open(&b, "answers", '{');
	yyjson_arr_foreach(questions, i, n, v) {
		struct str line = n == 1 ? str_trim(left) : next_line(&left);

		if (!line.n)
			continue;
		answered++;
		if (yyjson_is_true(json_get(v, "isSecret")))
			propose_caution(e, p, "codex asks for a secret; the journal keeps what is "
					      "sent");
		json_comma(&b);
		json_write_str(&b, json_get_str(v, "id"));
		buf_adds(&b, ":{");
		put_choices(e, p, v, line, &b);
		buf_addc(&b, '}');
	}
	buf_addc(&b, '}');
	if (!answered)
		propose_missing(e, p, "none of its questions is answered");
	end_result(e, p, &b);
}

static void encode_no_answer(struct encoding *e, struct proposal *p, const struct codex_request *r)
{
	struct buf b = { 0 };

	begin_result(&b, r);
	buf_adds(&b, "\"answers\":{}");
	end_result(e, p, &b);
}

/* ---- forms of MCP servers ---- */

static bool is_listed(yyjson_val *list, struct str text)
{
	yyjson_val *v;
	size_t i, n;

	yyjson_arr_foreach(list, i, n, v)
		if (str_eq(json_str(v), text))
			return true;
	return false;
}

/* A field's value in the type that the form wants. */
static bool put_value(struct buf *b, yyjson_val *field, struct str text)
{
	struct str type = json_get_str(field, "type");
	struct json_reader json = { 0 };
	yyjson_val *v = NULL;
	bool valid;

	if (!type.n || str_is(type, "string")) {
		json_write_str(b, text);
		return !json_get(field, "enum") || is_listed(json_get(field, "enum"), text);
	}
	valid = json_read(&json, text, &v) == JSON_OK &&
		(str_is(type, "boolean") ? yyjson_is_bool(v) :
		 str_is(type, "array")	 ? yyjson_is_arr(v) :
					   json_is_number(v));
	if (valid)
		json_write(b, v);
	json_reader_release(&json);
	return valid;
}

static void put_fields(struct encoding *e, struct proposal *p, yyjson_val *schema, struct buf *b)
{
	yyjson_val *fields = json_get(schema, "properties"), *key, *v;
	struct str left = draft_of(e, 0)->answer;
	size_t i, n;

	yyjson_obj_foreach(fields, i, n, key, v) {
		struct str line = n == 1 ? str_trim(left) : next_line(&left);

		if (!line.n) {
			if (is_listed(json_get(schema, "required"), json_str(key)))
				propose_missing(e, p, "%.*s is required", STR_ARG(json_str(key)));
			continue;
		}
		json_comma(b);
		json_write_str(b, json_str(key));
		buf_addc(b, ':');
		if (!put_value(b, v, line)) {
			propose_missing(e, p, "%.*s: not what the form asks for",
					STR_ARG(json_str(key)));
			buf_adds(b, "null");
		}
	}
}

static void encode_form(struct encoding *e, struct proposal *p, const struct codex_request *r)
{
	enum verb verb = draft_of(e, 0)->verb;
	yyjson_val *schema = json_get(r->params, "requestedSchema");
	bool accepts = verb == VERB_ACCEPT || verb == VERB_ANSWER;
	struct buf b = { 0 };

	begin_result(&b, r);
	json_put_name(&b, "action", accepts		  ? "accept" :
				    verb == VERB_REJECT ? "decline" :
							  "cancel");
	if (accepts && schema) {
		json_open(&b, "content", '{');
		if (verb == VERB_ANSWER)
			put_fields(e, p, schema, &b);
		buf_addc(&b, '}');
	} else {
		json_put_str(&b, "content", STR_NONE);
	}
	end_result(e, p, &b);
}

/* ---- all of them ---- */

static void encode_reply(struct encoding *e, struct proposal *p, const struct codex_request *r)
{
	enum verb verb = draft_of(e, 0)->verb;

	switch (r->ask) {
	case CODEX_COMMAND:
	case CODEX_CHANGE:
	case CODEX_OLD_COMMAND:
	case CODEX_OLD_PATCH: encode_approval(e, p, r); break;
	case CODEX_GRANT: encode_grant(e, p, r); break;
	case CODEX_FORM: encode_form(e, p, r); break;
	case CODEX_INPUT:
		if (verb == VERB_ANSWER)
			encode_answers(e, p, r);
		else
			encode_no_answer(e, p, r);
		break;
	case CODEX_NONE: propose_missing(e, p, "its message cannot be read again"); break;
	}
}

static void encode(struct encoding *e)
{
	const struct draft *d = draft_of(e, 0);
	struct str why = reason_text(e, d), to;
	bool told = true;
	struct item_state at;
	struct codex_request r;
	struct proposal *p;

	if (d->verb == VERB_ESCALATE) {
		encode_escalation(e, 0, false);
		return;
	}
	state_of(e, 0, &at);
	to = asker_name(e, &at);
	r = read_request(e, &at);
	if (why.n && at.decided == NONE)
		told = d->verb == VERB_REJECT && encode_reason(e, &r, why, to);
	r = read_request(e, &at);
	p = propose_answer(e, &at);
	if (!p->missing.n)
		encode_reply(e, p, &r);
	if (!told)
		propose_caution(e, p, "codex has no place for the reason here; it stays in the "
				      "journal");
}

/* The last request to the agent, above which a number of ours must be. */
static void add_context(struct encoding *e, uint32_t i, const struct item_state *state,
			struct context *out)
{
	enum { SEARCHED = 10000 };
	const struct model *m = e->model;
	uint32_t session = item_session(m, item_of(e, i)), k = m->records.n;
	uint32_t last = k > SEARCHED ? k - SEARCHED : 0;

	(void)state;
	while (k-- > last) {
		const struct route *route = message_route(m, k);
		struct str kind = model_kind(m, &m->records.v[k]);

		if (route->session == session && route->dialect == DIALECT_CODEX &&
		    str_is(kind, "turn/start")) {
			context_add_message(out, k);
			return;
		}
	}
}

static bool is_final(const struct model *m, const struct item *item, const struct item_state *at,
		     struct buf *why)
{
	(void)m;
	(void)item;
	(void)at;
	buf_adds(why, "codex uses the first answer, which cannot be taken back");
	return true;
}

static const struct item_verbs verbs[] = {
	{ ITEM_PERMISSION, CAN_ACCEPT | CAN_ALWAYS | CAN_REJECT | CAN_STOP | CAN_ESCALATE },
	{ ITEM_QUESTION, CAN_ANSWER | CAN_REJECT | CAN_ESCALATE },
	{ .verbs = 0 },
};

const struct encoder_ops encoder_codex = {
	.verbs = verbs,
	.at_once = true,
	.encode = encode,
	.add_context = add_context,
	.is_final = is_final,
};
