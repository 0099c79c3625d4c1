/* Encoder for acp: an ask is a request of JSON-RPC, and its answer the result with the same id. A
 * permission is answered with one of the options that it offers, chosen by its kind; a form with
 * its content. A reason has no place in either. */
#include "encode/encode_acp.h"

#include "encode/raw_member.h"
#include "json/compose.h"

/* The n-th option of that kind, from 1, or NULL. */
static yyjson_val *option_of_kind(yyjson_val *options, const char *kind, uint32_t number)
{
	yyjson_val *option;
	size_t i, n;

	if (yyjson_is_arr(options))
		yyjson_arr_foreach(options, i, n, option)
			if (str_is(json_get_str(option, "kind"), kind) &&
			    json_get_str(option, "optionId").n && --number == 0)
				return option;
	return NULL;
}

/* {"jsonrpc":"2.0","id":N,"result":{ with the id as the agent wrote it. */
static void begin_result(struct encoding *e, struct buf *b, uint32_t message)
{
	buf_adds(b, "{\"jsonrpc\":\"2.0\",\"id\":");
	buf_add_str(b, raw_member(e->reader->bytes(e->reader->ctx, message), "id"));
	buf_adds(b, ",\"result\":{");
}

static void end_result(struct encoding *e, struct proposal *p, struct buf *b)
{
	buf_adds(b, "}}");
	proposal_set_bytes(e, p, b);
	buf_release(b);
}

/* option NULL: the outcome is "cancelled". */
static void encode_outcome(struct encoding *e, struct proposal *p, uint32_t message,
			   yyjson_val *option)
{
	struct buf b = { 0 };

	begin_result(e, &b, message);
	json_open(&b, "outcome", '{');
	json_put_name(&b, "outcome", option ? "selected" : "cancelled");
	if (option)
		json_put_str(&b, "optionId", json_get_str(option, "optionId"));
	buf_addc(&b, '}');
	end_result(e, p, &b);
}

static void encode_action(struct encoding *e, struct proposal *p, uint32_t message,
			  const char *action)
{
	struct buf b = { 0 };

	begin_result(e, &b, message);
	json_put_name(&b, "action", action);
	end_result(e, p, &b);
}

/* ---- permissions and plans ---- */

static void encode_accept(struct encoding *e, struct proposal *p, uint32_t message,
			  yyjson_val *options)
{
	yyjson_val *option = option_of_kind(options, "allow_once", 1);

	if (option)
		encode_outcome(e, p, message, option);
	else
		propose_missing(e, p, "the agent offers no option to allow this once%s",
				option_of_kind(options, "allow_always", 1)
					? "; it can be allowed for good (always)"
					: "");
}

static void encode_always(struct encoding *e, struct proposal *p, uint32_t message,
			  yyjson_val *options)
{
	const struct draft *d = draft_of(e, 0);
	uint32_t number = d->option ? d->option : 1;
	yyjson_val *option = option_of_kind(options, "allow_always", number);
	char name[QUOTED_MAX];

	if (d->answer.n && !d->option)
		propose_missing(e, p, "acp takes no rule of one's own; choose one of those that "
				      "are offered, by its number");
	else if (!option)
		propose_missing(e, p, "the agent offers no rule %u", number);
	else {
		propose_caution(e, p, "from now on: %s; the agent keeps that rule, where and for "
				      "how long is up to it",
				quoted(json_get_str(option, "name"), name));
		encode_outcome(e, p, message, option);
	}
}

/* Reasons are sent by whoever runs the agent, as the next prompt. */
static void caution_of_reason(struct encoding *e, struct proposal *p)
{
	const struct draft *d = draft_of(e, 0);

	if (d->explanation.n || d->reason_code.n)
		propose_caution(e, p,
				"the protocol has no place for the reason: the agent does not read "
				"it now; it is for the next prompt, after the turn");
}

static void encode_reject(struct encoding *e, struct proposal *p, uint32_t message,
			  yyjson_val *options)
{
	yyjson_val *option = option_of_kind(options, "reject_once", 1);

	if (!option) {
		option = option_of_kind(options, "reject_always", 1);
		if (option)
			propose_caution(e, p, "the agent offers to reject it only for good");
	}
	caution_of_reason(e, p);
	encode_outcome(e, p, message, option);
}

/* ---- forms ---- */

static void encode_answer(struct encoding *e, struct proposal *p, uint32_t message,
			  yyjson_val *params)
{
	struct buf b = { 0 };

	begin_result(e, &b, message);
	json_put_name(&b, "action", "accept");
	if (json_get(params, "requestedSchema")) {
		json_open(&b, "content", '{');
		put_form_content(e, p, params, &b);
		buf_addc(&b, '}');
	}
	if (p->missing.n)
		buf_release(&b);
	else
		end_result(e, p, &b);
}

/* ---- verbs ---- */

/* The agent is to end the turn; then it has to be told that its ask is given up. */
static void propose_cancel(struct encoding *e, const struct item_state *at, struct str session)
{
	struct proposal *p = propose(e, e->drafts, 0);
	struct buf b = { 0 };

	p->letter.to = asker_name(e, at);
	p->words = STR("end the turn");
	buf_adds(&b, "{\"jsonrpc\":\"2.0\",\"method\":\"session/cancel\",\"params\":{");
	json_put_str(&b, "sessionId", session);
	buf_adds(&b, "}}");
	proposal_set_bytes(e, p, &b);
	buf_release(&b);
}

static void encode_verb(struct encoding *e, struct proposal *p, uint32_t message,
			yyjson_val *params)
{
	yyjson_val *options = json_get(params, "options");
	const struct draft *d = draft_of(e, 0);
	bool form = d->kind == ITEM_QUESTION;

	switch (d->verb) {
	case VERB_ACCEPT: encode_accept(e, p, message, options); break;
	case VERB_ALWAYS: encode_always(e, p, message, options); break;
	case VERB_ANSWER: encode_answer(e, p, message, params); break;
	case VERB_REJECT:
		if (form) {
			caution_of_reason(e, p);
			encode_action(e, p, message, "decline");
		} else {
			encode_reject(e, p, message, options);
		}
		break;
	case VERB_STOP:
		caution_of_reason(e, p);
		if (form)
			encode_action(e, p, message, "cancel");
		else
			encode_outcome(e, p, message, NULL);
		break;
	case VERB_PARTIAL:
	case VERB_DISMISS:
	case VERB_ESCALATE:
	case VERB_COUNT: break; /* cannot be said */
	}
}

static void encode(struct encoding *e)
{
	const struct draft *d = draft_of(e, 0);
	struct item_state at;
	struct proposal *p;
	yyjson_val *params;

	if (d->verb == VERB_ESCALATE) {
		encode_escalation(e, 0, false);
		return;
	}
	state_of(e, 0, &at);
	params = json_get(parse_message(e, at.message), "params");
	if (d->verb == VERB_STOP && json_get_str(params, "sessionId").n && at.decided == NONE)
		propose_cancel(e, &at, json_get_str(params, "sessionId"));
	p = propose_answer(e, &at);
	if (!p->missing.n)
		encode_verb(e, p, at.message, params);
}

static bool is_final(const struct model *m, const struct item *item, const struct item_state *at,
		     struct buf *why)
{
	(void)m;
	(void)item;
	(void)at;
	buf_adds(why, "the agent takes the first answer, which cannot be taken back");
	return true;
}

static const struct item_verbs verbs[] = {
	{ ITEM_PERMISSION, CAN_ACCEPT | CAN_ALWAYS | CAN_REJECT | CAN_STOP | CAN_ESCALATE },
	{ ITEM_PLAN, CAN_ACCEPT | CAN_ALWAYS | CAN_REJECT | CAN_STOP | CAN_ESCALATE },
	{ ITEM_QUESTION, CAN_ANSWER | CAN_REJECT | CAN_STOP | CAN_ESCALATE },
	{ .verbs = 0 },
};

const struct encoder_ops encoder_acp = {
	.verbs = verbs,
	.at_once = true,
	.encode = encode,
	.is_final = is_final,
};
