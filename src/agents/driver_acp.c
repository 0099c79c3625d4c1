/* Driver of agents of the Agent Client Protocol: initialize, session/new; then session/prompt, one at a
 * time, since an agent may drop words that come while it works. gavel declares that it has neither files
 * nor terminals for the agent; who asks for them all the same gets an error, which does no harm. */
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
	}
}

static void announced(struct driver *d, struct str method)
{
	(void)d;
	(void)method;
}

/* codex-acp begins in a mode in which it reviews its own commands. */
static void note_mode(struct driver *d, struct str mode)
{
	if (str_find(buf_str(&d->agent), STR("codex-acp"), 0) < 0)
		return;
	if (str_is(mode, "agent"))
		driver_say(d, "is in mode \"agent\": it reviews itself and asks nobody; :mode "
			      "workspace-write makes it ask");
	else if (str_is(mode, "agent-full-access"))
		driver_say(d, "is in mode \"agent-full-access\": it asks nobody; :mode "
			      "workspace-write makes it ask");
}

static void opened(struct driver *d, yyjson_val *result)
{
	yyjson_val *modes = json_get(result, "modes"), *mode;
	size_t i, n;

	driver_set(&d->session, json_get_str(result, "sessionId"));
	buf_clear(&d->modes);
	yyjson_arr_foreach(json_get(modes, "availableModes"), i, n, mode) {
		buf_adds(&d->modes, d->modes.n ? ", " : "");
		buf_add_str(&d->modes, json_get_str(mode, "id"));
	}
	driver_step_to(d, DRIVER_READY);
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
	} else if (str_is(method, "session/set_mode")) {
		driver_say(d, "has changed its mode");
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
	if (str_is(method, "session/prompt"))
		driver_turn_ends(d);
	d->needs_login = driver_is_login(why);
	driver_say(d, "refused %s: %.*s", r->method, (int)(why.n < 300 ? why.n : 300),
		   why.n ? why.p : "");
}

static const struct driver_rpc rpc = { is_ask,    notified, requested,
				       announced, replied,  failed };

static void heard(struct driver *d, yyjson_val *root)
{
	driver_rpc_heard(d, root, &rpc);
}

static void told(struct driver *d, yyjson_val *root)
{
	driver_rpc_told(d, root, &rpc);
}

#define HEAD "{\"jsonrpc\":\"2.0\","

static void initialize(struct driver *d, struct buf *line)
{
	buf_adds(line, HEAD);
	driver_rpc_request(d, "initialize", line);
	buf_adds(line, "\"protocolVersion\":1,\"clientCapabilities\":{\"fs\":{\"readTextFile\":false,"
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
	} else if (d->mode.n) {
		buf_adds(line, HEAD);
		driver_rpc_request(d, "session/set_mode", line);
		add_session(d, line);
		buf_adds(line, ",\"modeId\":");
		json_write_str(line, buf_str(&d->mode));
		buf_adds(line, "}}");
		buf_clear(&d->mode);
	} else if (d->prompts.n && !d->busy) {
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

const struct driver_ops driver_acp = { DIALECT_ACP, true, heard, told, next };
