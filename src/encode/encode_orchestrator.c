/* Encoder for orchestrator: the person's answer becomes the response to the agent's request. It names
 * the agent only where others use the same id: readers may take agentId for the sender. */
#include "decide/question.h"
#include "encode/plan.h"
#include "json/compose.h"

/* An event, which expects no response. */
static bool is_event(const struct encoding *e, const struct item_state *at)
{
	return str_starts(model_kind(e->model, &e->model->records.v[at->message]), STR("event:"));
}

static uint32_t asker_of(const struct encoding *e)
{
	return step_by(e->model, &item_of(e, 0)->steps[0]);
}

/* Writes a response up to payload or error; end_response closes it. */
static void begin_response(struct encoding *e, struct buf *b, const char *type)
{
	buf_addc(b, '{');
	json_put_name(b, "type", type);
	json_put_str(b, "id", encode_uuid(e));
	json_put_str(b, "correlationId", model_str(e->model, item_of(e, 0)->id));
	json_put_str(b, "timestamp", encode_time(e));
	if (item_of(e, 0)->id != NONE && item_is_shared(e->model, item_of(e, 0)))
		json_put_str(b, "agentId", agent_name(e->model, asker_of(e)));
}

static void end_response(struct encoding *e, struct proposal *p, struct buf *b)
{
	buf_addc(b, '}');
	proposal_set_bytes(e, p, b);
	buf_release(b);
}

/* An answer from a queue is sent by somebody else: it says who has given it, in an object that the
 * protocol leaves open. */
static void put_person(struct encoding *e, struct buf *b)
{
	const struct draft *d = draft_of(e, 0);

	if (!e->via_queue)
		return;
	json_open(b, "x-gavel", '{');
	json_put_str(b, "by", d->by.n ? d->by : e->terms->as);
	buf_addc(b, '}');
}

/* ---- an answer ---- */

/* The option that the person chose by its number, or named by its value or label; NULL: none. */
static yyjson_val *chosen_option(struct encoding *e, struct proposal *p, yyjson_val *options)
{
	const struct draft *d = draft_of(e, 0);
	uint32_t number = d->option;
	bool several = false;

	if (!number)
		number = option_named(options, str_trim(d->answer), &several);
	if (several)
		propose_missing(e, p, "several options have this label; choose one by its number, "
				      "with --option=N");
	return option_numbered(options, number);
}

static void encode_answer(struct encoding *e, struct proposal *p)
{
	struct item_state at;
	struct str answer = draft_of(e, 0)->answer;
	struct buf b = { 0 }, value = { 0 };
	yyjson_val *options, *option;

	state_of(e, 0, &at);
	if (is_event(e, &at))
		propose_caution(e, p, "the protocol does not promise that this is read");
	options = json_get(json_get(parse_message(e, at.message), "payload"), "options");
	option = chosen_option(e, p, options);
	if (option && !option_answer(option, &value))
		propose_caution(e, p, "the value of this option is not a text; it is written as "
				      "one");
	if (option)
		answer = keep_buf(e, &value);
	else if (yyjson_arr_size(options))
		propose_caution(e, p, "not one of the options; sent as typed");
	begin_response(e, &b, "response:success");
	json_open(&b, "payload", '{');
	json_put_str(&b, "answer", answer.p ? answer : STR(""));
	json_open(&b, "metadata", '{');
	json_put_str(&b, "answeredAt", encode_time(e));
	put_person(e, &b);
	buf_adds(&b, "}}");
	end_response(e, p, &b);
}

/* ---- a rejection ---- */

static void encode_refusal(struct encoding *e, struct proposal *p)
{
	const struct draft *d = draft_of(e, 0);
	struct buf b = { 0 };

	begin_response(e, &b, "response:error");
	json_open(&b, "error", '{');
	json_put_name(&b, "code", "UNAUTHORIZED");
	json_put_str(&b, "message", d->explanation.n ? d->explanation : d->reason_code);
	if ((d->explanation.n && d->reason_code.n) || e->via_queue) {
		json_open(&b, "details", '{');
		if (d->explanation.n && d->reason_code.n)
			json_put_str(&b, "reason_code", d->reason_code);
		put_person(e, &b);
		buf_addc(&b, '}');
	}
	buf_addc(&b, '}');
	end_response(e, p, &b);
}

/* ---- an accepted task ---- */

static bool is_strings(yyjson_val *v)
{
	yyjson_val *text;
	size_t i, n;

	if (!yyjson_is_arr(v))
		return false;
	yyjson_arr_foreach(v, i, n, text)
		if (!yyjson_is_str(text))
			return false;
	return true;
}

static bool is_int(yyjson_val *v)
{
	int64_t n;

	return json_int(v, &n);
}

/* The submitted task with a new id, without invalid fields. */
static void encode_task(struct encoding *e, struct proposal *p)
{
	static const struct {
		const char *name;
		bool (*is_valid)(yyjson_val *v);
	} fields[] = {
		{ "type", yyjson_is_str },	   { "name", yyjson_is_str },
		{ "description", yyjson_is_str },  { "payload", yyjson_is_obj },
		{ "requiredRole", yyjson_is_str }, { "requiredCapabilities", is_strings },
		{ "dependencies", is_strings },	   { "priority", is_int },
	};
	struct item_state at;
	struct buf b = { 0 };
	yyjson_val *payload;

	state_of(e, 0, &at);
	payload = json_get(parse_message(e, at.message), "payload");
	begin_response(e, &b, "response:success");
	json_key(&b, "payload");
	buf_adds(&b, "{\"task\":{");
	json_put_str(&b, "id",
		     str_of(arena_printf(&e->plan->arena, "task-%.*s", STR_ARG(encode_uuid(e)))));
	json_put_name(&b, "status", "queued");
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		yyjson_val *v = json_get(payload, fields[i].name);

		if (v && fields[i].is_valid(v))
			json_put_value(&b, fields[i].name, v);
	}
	buf_addc(&b, '}');
	if (e->via_queue) {
		json_open(&b, "metadata", '{');
		put_person(e, &b);
		buf_addc(&b, '}');
	}
	buf_addc(&b, '}');
	end_response(e, p, &b);
}

static void encode(struct encoding *e)
{
	const struct draft *d = draft_of(e, 0);
	struct item_state at;
	struct proposal *p;

	if (d->verb == VERB_ESCALATE) {
		encode_escalation(e, 0, false);
		return;
	}
	state_of(e, 0, &at);
	p = propose_answer(e, &at);
	if (p->missing.n)
		return;
	if (d->kind == ITEM_QUESTION && d->verb == VERB_ANSWER)
		encode_answer(e, p);
	else if (d->kind == ITEM_TASK && d->verb == VERB_ACCEPT)
		encode_task(e, p);
	else if ((d->kind == ITEM_TASK || d->kind == ITEM_QUESTION) && d->verb == VERB_REJECT &&
		 !is_event(e, &at))
		encode_refusal(e, p);
}

static const struct item_verbs verbs[] = {
	/* an event, which expects no response */
	{ ITEM_QUESTION, CAN_ANSWER | CAN_DISMISS | CAN_ESCALATE, .never_expires = true },
	{ ITEM_QUESTION, CAN_ANSWER | CAN_REJECT | CAN_ESCALATE },
	{ ITEM_TASK, CAN_ACCEPT | CAN_REJECT | CAN_ESCALATE },
	{ ITEM_ERROR, CAN_DISMISS | CAN_ESCALATE },
	{ .verbs = 0 },
};

static bool is_final(const struct model *m, const struct item *item, const struct item_state *at,
		     struct buf *why)
{
	(void)m;
	(void)item;
	(void)at;
	buf_adds(why, "a request has one response, which cannot be taken back");
	return true;
}

const struct encoder_ops encoder_orchestrator = {
	.verbs = verbs,
	.is_final = is_final,
	.encode = encode,
};
