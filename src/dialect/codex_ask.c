/* What codex asks a person, and what it is answered. */
#include "dialect/codex.h"

#define RULE(id) "codex/" id

/* What an ask shows or its answer needs: a name that stands twice makes it ambiguous. */
#define ASK_FIELDS \
	{ "threadId", RULE("ask-threadId"), REQUIRED_ID }, \
	{ "turnId", RULE("ask-turnId"), OPTIONAL, T_STR | T_NULL }, \
	{ "itemId", RULE("ask-itemId"), REQUIRED_ID }
static const struct field approval_fields[] = {
	ASK_FIELDS,
	{ "command", RULE("ask-command"), OPTIONAL, T_STR | T_NULL },
	{ "cwd", RULE("ask-cwd"), OPTIONAL, T_STR | T_NULL },
	{ "reason", RULE("ask-reason"), OPTIONAL, T_STR | T_NULL },
	{ "grantRoot", RULE("ask-grantRoot"), OPTIONAL, T_STR | T_NULL },
	{ "permissions", RULE("ask-permissions"), OPTIONAL, T_OBJ },
	{ "availableDecisions", RULE("ask-availableDecisions"), OPTIONAL, T_ARR | T_NULL },
	{ "proposedExecpolicyAmendment", RULE("ask-proposedExecpolicyAmendment"), OPTIONAL,
	  T_ARR | T_NULL },
};
const struct shape codex_approval_shape = { SHAPE_FIELDS(approval_fields), UNKNOWN_OK };

static const struct field option_fields[] = {
	{ "label", RULE("question-label"), REQUIRED, T_STR },
};
static const struct shape option_shape = { SHAPE_FIELDS(option_fields), UNKNOWN_OK };
static const struct field question_fields[] = {
	{ "id", RULE("question-id"), REQUIRED_ID },
	{ "question", RULE("question-question"), REQUIRED, T_STR },
	{ "options", RULE("question-options"), OPTIONAL, T_ARR | T_NULL, T_OBJ, &option_shape },
};
static const struct shape question_shape = { SHAPE_FIELDS(question_fields), UNKNOWN_OK };
static const struct field input_fields[] = {
	ASK_FIELDS,
	{ "questions", RULE("ask-questions"), REQUIRED, OBJECTS(question_shape) },
};
const struct shape codex_input_shape = { SHAPE_FIELDS(input_fields), UNKNOWN_OK };

static const struct field result_fields[] = {
	{ "decision", RULE("answer-decision"), OPTIONAL, T_STR | T_OBJ },
	{ "answers", RULE("answer-answers"), OPTIONAL, T_OBJ },
};
const struct shape codex_result_shape = { SHAPE_FIELDS(result_fields), UNKNOWN_OK };

enum codex_ask codex_ask_of(struct str method)
{
	static const char *const methods[] = {
		[CODEX_NONE] = "",
		[CODEX_COMMAND] = "item/commandExecution/requestApproval",
		[CODEX_CHANGE] = "item/fileChange/requestApproval",
		[CODEX_INPUT] = "item/tool/requestUserInput",
		[CODEX_GRANT] = "item/permissions/requestApproval",
		[CODEX_FORM] = "mcpServer/elicitation/request",
		[CODEX_OLD_COMMAND] = "execCommandApproval",
		[CODEX_OLD_PATCH] = "applyPatchApproval",
		NULL,
	};
	int found = method.n ? value_index(methods, method) : -1;

	return found < 0 ? CODEX_NONE : (enum codex_ask)found;
}

enum item_kind codex_item_kind(enum codex_ask ask, yyjson_val *params)
{
	yyjson_val *schema = json_get(params, "requestedSchema");

	if (ask == CODEX_FORM)
		return yyjson_obj_size(json_get(schema, "properties")) ? ITEM_QUESTION
								       : ITEM_PERMISSION;
	return ask == CODEX_INPUT ? ITEM_QUESTION : ITEM_PERMISSION;
}

/* ---- asks ---- */

/* The thread's and the item's id, with that of the callback where an item asks several times. */
static struct str ask_id(struct decoder *d, yyjson_val *params)
{
	struct str thread = json_get_str(params, "threadId"), item = json_get_str(params, "itemId");
	struct str callback = json_get_str(params, "approvalId");

	if (!thread.n)
		thread = json_get_str(params, "conversationId");
	if (!item.n)
		item = json_get_str(params, "callId");
	if (!thread.n || !item.n)
		return STR_NONE;
	return str_of(arena_printf(&d->arena, "%.*s/%.*s%s%.*s", STR_ARG(thread), STR_ARG(item),
				   callback.n ? "/" : "", STR_ARG(callback)));
}

/* A form belongs to no item. */
static struct str form_id(struct decoder *d, yyjson_val *params, struct str request)
{
	struct str thread = json_get_str(params, "threadId");

	if (!thread.n || !request.n)
		return STR_NONE;
	return str_of(arena_printf(&d->arena, "%.*s/elicitation-%.*s", STR_ARG(thread),
				   STR_ARG(request)));
}

static void check_ask(struct decoder *d, enum codex_ask ask, yyjson_val *root)
{
	yyjson_val *params = json_get(root, "params"), *id = json_get(root, "id");
	struct checker *c = &d->check;

	if (!id || yyjson_is_null(id))
		add_diag(c, SEVERITY_ERROR, RULE("ask-id"), "id",
			 "missing; nobody can answer it");
	if (ask == CODEX_FORM || ask == CODEX_OLD_COMMAND || ask == CODEX_OLD_PATCH)
		return;
	path_push(c, "params");
	if (yyjson_is_obj(params))
		check_object(c, params,
			     ask == CODEX_INPUT ? &codex_input_shape : &codex_approval_shape, NULL);
	else
		add_diag(c, SEVERITY_ERROR, RULE("ask-params"), NULL, "missing; it is required");
	path_pop(c);
}

void codex_decode_ask(struct decoder *d, yyjson_val *root, struct message *m, enum codex_ask ask)
{
	yyjson_val *params = json_get(root, "params");
	/* before any of its strings is asked for */
	uint64_t hash = value_hash_but(params, json_get(params, "startedAtMs"));
	struct str request = rpc_id(d, root), call = json_get_str(params, "itemId");
	struct event *e;

	check_ask(d, ask, root);
	if (!call.n)
		call = json_get_str(params, "callId");
	e = event_add(m, EV_ITEM,
		      ask == CODEX_FORM ? form_id(d, params, request) : ask_id(d, params),
		      "/params/itemId");
	e->item = codex_item_kind(ask, params);
	e->other = request;
	e->task = json_get_str(params, "turnId");
	e->again = true;
	e->content_hash = hash;
	e->deadline_ms = codex_deadline(root);
	if (e->deadline_ms != TIME_NONE)
		e->content_hash = hash_mix(hash, (uint64_t)e->deadline_ms);
	e->no_always = ask == CODEX_FORM;
	e->undecidable = !request.n;
	m->correlation = call.n ? call : e->task;
	if (!call.n || e->item != ITEM_PERMISSION)
		return;
	e = event_add(m, EV_TOOL, call, "/params/itemId");
	e->tool = TOOL_ASKED;
	e->severe = true;
	e->other = ask == CODEX_COMMAND || ask == CODEX_OLD_COMMAND ? STR("command") :
		   ask == CODEX_GRANT				    ? STR("permission grant") :
								      STR("file change");
}

/* ---- answers ---- */

static bool decision_verdict(yyjson_val *decision, enum verdict *out)
{
	static const char *const accepts[] = { "accept", "acceptForSession", "approved",
					       "approved_for_session", NULL };
	static const char *const refuses[] = { "decline", "cancel", "denied", "abort", NULL };
	static const char *const amends[] = { "acceptWithExecpolicyAmendment",
					      "applyNetworkPolicyAmendment",
					      "approved_execpolicy_amendment",
					      "network_policy_amendment", NULL };

	*out = VERDICT_REJECTED;
	for (int i = 0; amends[i]; i++)
		if (json_get(decision, amends[i])) {
			*out = VERDICT_ACCEPTED;
			return true;
		}
	if (yyjson_is_str(decision) && value_index(accepts, json_str(decision)) >= 0) {
		*out = VERDICT_ACCEPTED;
		return true;
	}
	return yyjson_is_str(decision) && value_index(refuses, json_str(decision)) >= 0;
}

bool codex_answer(yyjson_val *result, enum verdict *verdict)
{
	yyjson_val *answers = json_get(result, "answers");
	yyjson_val *granted = json_get(result, "permissions");
	struct str action = json_get_str(result, "action");

	*verdict = VERDICT_REJECTED;
	if (json_get(result, "decision"))
		return decision_verdict(json_get(result, "decision"), verdict);
	if (yyjson_is_obj(answers)) {
		*verdict = yyjson_obj_size(answers) ? VERDICT_ANSWERED : VERDICT_REJECTED;
		return true;
	}
	if (yyjson_is_obj(granted)) {
		*verdict = yyjson_obj_size(granted) ? VERDICT_ACCEPTED : VERDICT_REJECTED;
		return true;
	}
	if (str_is(action, "accept"))
		*verdict = yyjson_obj_size(json_get(result, "content")) ? VERDICT_ANSWERED
									: VERDICT_ACCEPTED;
	return str_is(action, "accept") || str_is(action, "decline") || str_is(action, "cancel");
}

bool codex_looks_like_answer(yyjson_val *result)
{
	return json_get(result, "decision") || json_get(result, "answers") ||
	       json_get(result, "action") ||
	       (json_get(result, "permissions") && json_get(result, "scope"));
}

/* Whether such calls are allowed from now on. */
static bool allows_always(yyjson_val *result)
{
	static const char *const words[] = { "acceptForSession", "approved_for_session", NULL };
	yyjson_val *decision = json_get(result, "decision");

	return yyjson_is_obj(decision) || value_index(words, json_str(decision)) >= 0 ||
	       str_is(json_get_str(result, "scope"), "session");
}

void codex_decode_answer(struct decoder *d, yyjson_val *root, struct message *m)
{
	yyjson_val *result = json_get(root, "result");
	uint64_t hash = value_hash(result ? result : json_get(root, "error"));
	struct event *e = event_add(m, EV_RESPONSE, rpc_id(d, root), "/id");

	if (yyjson_is_obj(result)) {
		path_push(&d->check, "result");
		check_object(&d->check, result, &codex_result_shape, NULL);
		path_pop(&d->check);
	}
	e->content_hash = hash;
	e->failed = !codex_answer(result, &e->verdict);
	e->again = e->verdict == VERDICT_ACCEPTED && allows_always(result);
}

/* ---- rules for "always" ---- */

static bool allows_host(yyjson_val *amendment)
{
	return str_is(json_get_str(amendment, "action"), "allow");
}

/* Returns how many there are; the last place is for the session. */
static unsigned add_offer(struct codex_offer *out, unsigned n, enum codex_offer_type type,
			  yyjson_val *rule, yyjson_val *decision)
{
	if (!rule || n >= CODEX_OFFERS_MAX - 1)
		return n;
	out[n] = (struct codex_offer){ type, rule, decision };
	return n + 1;
}

unsigned codex_offers(enum codex_ask ask, yyjson_val *params, struct codex_offer *out)
{
	yyjson_val *listed = json_get(params, "availableDecisions"), *v;
	yyjson_val *proposed = json_get(params, "proposedExecpolicyAmendment");
	bool has_commands = false;
	unsigned n = 0;
	size_t i, of;

	if (ask == CODEX_FORM || ask == CODEX_INPUT || ask == CODEX_NONE)
		return 0;
	yyjson_arr_foreach(listed, i, of, v) {
		yyjson_val *commands = json_get(json_get(v, "acceptWithExecpolicyAmendment"),
						"execpolicy_amendment");
		yyjson_val *host = json_get(json_get(v, "applyNetworkPolicyAmendment"),
					    "network_policy_amendment");

		has_commands |= commands != NULL;
		n = add_offer(out, n, CODEX_OFFER_COMMANDS, commands, v);
		n = add_offer(out, n, CODEX_OFFER_HOST, allows_host(host) ? host : NULL, v);
	}
	if (ask == CODEX_COMMAND && !has_commands && yyjson_arr_size(proposed))
		n = add_offer(out, n, CODEX_OFFER_COMMANDS, proposed, NULL);
	out[n++] = (struct codex_offer){ CODEX_OFFER_SESSION, NULL, NULL };
	return n;
}

void codex_offer_words(const struct codex_offer *offer, struct buf *out)
{
	yyjson_val *v;
	size_t i, n;

	switch (offer->type) {
	case CODEX_OFFER_COMMANDS:
		yyjson_arr_foreach(offer->rule, i, n, v) {
			if (i)
				buf_addc(out, ' ');
			buf_add_str(out, json_str(v));
		}
		buf_adds(out, "  and what begins so, in $CODEX_HOME/rules/default.rules");
		break;
	case CODEX_OFFER_HOST:
		buf_add_str(out, json_get_str(offer->rule, "host"));
		buf_adds(out, "  network access, in $CODEX_HOME/rules/default.rules");
		break;
	case CODEX_OFFER_SESSION: buf_adds(out, "the same again  for this session"); break;
	}
}
