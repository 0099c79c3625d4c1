/* Driver of agents of the Agent Client Protocol: initialize, session/new; then session/prompt,
 * one at a time, since an agent may drop words that come while it works. gavel declares that it
 * has neither files nor terminals for the agent; who asks for them all the same gets an error,
 * which does no harm. */
#include "agents/driver.h"

static bool is_ask(struct str method)
{
	return str_is(method, "session/request_permission") || str_is(method, "elicitation/create");
}

static void notified(struct driver *d, struct str method, yyjson_val *params)
{
	if (str_is(method, "$/cancel_request"))
		driver_answered(d, json_get(params, "requestId"));
}

static void requested(struct driver *d, struct driver_request *r, yyjson_val *params)
{
	struct str method = str_of(r->method);

	if (str_is(method, "initialize")) {
		driver_step_to(d, DRIVER_INITIALIZING);
	} else if (str_is(method, "session/new") || str_is(method, "session/load")) {
		driver_step_to(d, DRIVER_OPENING);
	} else if (str_is(method, "session/prompt")) {
		driver_turn_begins(d);
		driver_prompt_told(d, driver_rpc_text(json_get(params, "prompt")));
	} else if (str_is(method, "session/set_mode")) {
		driver_mode_told(d, json_get_str(params, "modeId"), r->id);
	} else if (str_is(method, "session/set_config_option")) {
		driver_mode_told(d, json_get_str(params, "value"), r->id);
	}
}

static void announced(struct driver *d, struct str method)
{
	(void)d;
	(void)method;
}

#define ASKS "it asks after :mode workspace-write, or begun with --mode=workspace-write"

/* codex-acp begins in a mode in which it reviews its own commands. */
static void note_mode(struct driver *d, struct str mode)
{
	if (str_find(buf_str(&d->agent), STR("codex-acp"), 0) < 0)
		return;
	d->asks_nobody = str_is(mode, "agent") || str_is(mode, "agent-full-access");
	if (str_is(mode, "agent"))
		driver_say(d, "asks nobody, since it reviews itself in mode \"agent\"; " ASKS);
	else if (str_is(mode, "agent-full-access"))
		driver_say(d, "asks nobody in mode \"agent-full-access\"; " ASKS);
}

/* Some agents have modes among their options: opencode all, codex-acp whether it only plans. */
static void note_options(struct driver *d, yyjson_val *options)
{
	yyjson_val *option, *value;
	size_t i, n, j, m;

	yyjson_arr_foreach(options, i, n, option) {
		struct str category = json_get_str(option, "category");

		if (!str_is(category, "mode") && !str_is(category, "collaboration_mode"))
			continue;
		yyjson_arr_foreach(json_get(option, "options"), j, m, value)
			driver_offer(d, json_get_str(value, "value"), json_get_str(option, "id"));
	}
}

static void opened(struct driver *d, yyjson_val *result)
{
	yyjson_val *modes = json_get(result, "modes"), *mode;
	size_t i, n;

	driver_set(&d->session, json_get_str(result, "sessionId"));
	yyjson_arr_foreach(json_get(modes, "availableModes"), i, n, mode)
		driver_offer(d, json_get_str(mode, "id"), STR_NONE);
	note_options(d, json_get(result, "configOptions"));
	if (!driver_offered(d))
		return;
	driver_step_to(d, DRIVER_READY);
	if (!d->first_mode)
		note_mode(d, json_get_str(modes, "currentModeId"));
}

static void replied(struct driver *d, struct driver_request *r, yyjson_val *result)
{
	struct str method = str_of(r->method);

	if (str_is(method, "initialize")) {
		driver_set(&d->agent, json_get_str(json_get(result, "agentInfo"), "name"));
		driver_step_to(d, DRIVER_INITIALIZED);
	} else if (str_is(method, "session/new") || str_is(method, "session/load")) {
		opened(d, result);
	} else if (str_is(method, "session/prompt")) {
		driver_turn_ends(d);
	} else {
		driver_mode_answered(d, r->id, STR_NONE);
	}
}

static void failed(struct driver *d, struct driver_request *r, struct str why)
{
	struct str method = str_of(r->method);

	if (str_is(method, "initialize") || str_is(method, "session/new") ||
	    str_is(method, "session/load")) {
		driver_fail(d, r->method, why);
		return;
	}
	if (driver_mode_answered(d, r->id, why.n ? why : STR("it gave no reason")))
		return;
	if (str_is(method, "session/prompt"))
		driver_turn_ends(d);
	d->needs_login = driver_is_login(why);
	driver_say(d, "refused %s: %.*s", r->method, STR_ARG(driver_cut(why)));
}

static const struct driver_rpc rpc = { is_ask, notified, requested, announced, replied, failed };

#define HEAD "{\"jsonrpc\":\"2.0\","

static void initialize(struct driver *d, struct buf *line)
{
	buf_adds(line, HEAD);
	driver_rpc_request(d, "initialize", line);
	buf_adds(line,
		 "\"protocolVersion\":1,\"clientCapabilities\":{\"fs\":{\"readTextFile\":false,"
		 "\"writeTextFile\":false},\"terminal\":false,\"elicitation\":{\"form\":{}}},");
	driver_put_client(line);
	buf_adds(line, "}}");
}

static void open_session(struct driver *d, struct buf *line)
{
	buf_adds(line, HEAD);
	driver_rpc_request(d, "session/new", line);
	buf_adds(line, "\"cwd\":");
	json_write_str(line, buf_str(&d->folder));
	buf_adds(line, ",\"mcpServers\":[]}}");
}

static void refuse(const struct driver_asked *asked, struct buf *line)
{
	struct buf words = { 0 };

	buf_printf(&words, "Method not found: %s", asked->method);
	buf_printf(line, HEAD "\"id\":%s,\"error\":{\"code\":-32601,\"message\":", asked->id);
	json_write_str(line, buf_str(&words));
	buf_adds(line, "}}");
	buf_release(&words);
}

/* Whoever cancels a turn has to answer what was asked in it. */
static void cancel_asked(const struct driver_asked *asked, struct buf *line)
{
	buf_printf(line, HEAD "\"id\":%s,\"result\":%s}", asked->id,
		   str_is(str_of(asked->method), "elicitation/create")
			   ? "{\"action\":\"cancel\"}"
			   : "{\"outcome\":{\"outcome\":\"cancelled\"}}");
}

static void add_session(const struct driver *d, struct buf *line)
{
	buf_adds(line, "\"sessionId\":");
	json_write_str(line, buf_str(&d->session));
}

static void change_mode(struct driver *d, struct buf *line)
{
	struct str mode = driver_next_mode(d);
	const struct driver_offer *offer = driver_offer_of(d, mode);

	buf_adds(line, HEAD);
	if (offer && offer->option) {
		driver_rpc_request(d, "session/set_config_option", line);
		add_session(d, line);
		buf_adds(line, ",\"configId\":");
		json_write_str(line, str_of(offer->option));
		buf_adds(line, ",\"value\":");
	} else {
		driver_rpc_request(d, "session/set_mode", line);
		add_session(d, line);
		buf_adds(line, ",\"modeId\":");
	}
	json_write_str(line, mode);
	buf_adds(line, "}}");
}

static bool next_of_session(struct driver *d, struct buf *line)
{
	if (d->interrupt) {
		d->interrupt = false;
		d->cancelling = true;
		buf_adds(line, HEAD "\"method\":\"session/cancel\",\"params\":{");
		add_session(d, line);
		buf_adds(line, "}}");
	} else if (d->cancelling && d->asked.n) {
		cancel_asked(&d->asked.v[0], line);
	} else if (d->mode.n && !d->mode_request) {
		change_mode(d, line);
	} else if (d->prompts.n && !d->busy && !driver_changes_mode(d)) {
		buf_adds(line, HEAD);
		driver_rpc_request(d, "session/prompt", line);
		add_session(d, line);
		buf_adds(line, ",\"prompt\":[{\"type\":\"text\",\"text\":");
		driver_put_prompt(d, line);
		buf_adds(line, "}]}}");
	} else {
		return false;
	}
	return true;
}

static bool next(struct driver *d, struct buf *line)
{
	const struct driver_asked *asked = driver_to_refuse(d);

	if (d->step == DRIVER_FRESH)
		initialize(d, line);
	else if (d->step == DRIVER_INITIALIZED)
		open_session(d, line);
	else if (asked)
		refuse(asked, line);
	else
		return d->step == DRIVER_READY && next_of_session(d, line);
	return true;
}

const struct driver_ops driver_acp = { DIALECT_ACP, false, driver_rpc_heard, driver_rpc_told, next, &rpc };
