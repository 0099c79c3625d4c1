/* Driver of codex app-server: initialize, initialized, thread/start; then a turn for each
 * prompt. A prompt while a turn runs joins it (turn/steer); if the turn does not take it, it
 * becomes the next one. Its modes are those of collaboration, default and plan: in plan it asks
 * questions and proposes, and a turn begins with them. */
#include "agents/driver.h"
#include "dialect/codex.h"

/* What becomes an item. Of another request nobody would know, and the agent would wait for ever. */
static bool is_ask(struct str method)
{
	return codex_ask_of(method) != CODEX_NONE;
}

static bool is_ours(const struct driver *d, yyjson_val *params)
{
	return str_eq(json_get_str(params, "threadId"), buf_str(&d->session));
}

static void notified(struct driver *d, struct str method, yyjson_val *params)
{
	struct str turn = json_get_str(json_get(params, "turn"), "id");

	if (str_is(method, "serverRequest/resolved")) {
		driver_answered(d, json_get(params, "requestId"));
	} else if (!is_ours(d, params)) {
		return; /* of a subagent's thread */
	} else if (str_is(method, "turn/started")) {
		driver_turn_begins(d);
		driver_set(&d->turn, turn);
	} else if (str_is(method, "turn/completed")) {
		yyjson_val *error = json_get(json_get(params, "turn"), "error");
		struct str why = json_get_str(error, "message");

		driver_turn_ends(d);
		if (why.n) {
			d->needs_login = driver_is_login(why);
			driver_say(d, "could not work: %.*s", STR_ARG(driver_cut(why)));
		}
	}
}

static void requested(struct driver *d, struct driver_request *r, yyjson_val *params)
{
	struct str method = str_of(r->method), text = driver_rpc_text(json_get(params, "input"));

	if (str_is(method, "initialize"))
		driver_step_to(d, DRIVER_INITIALIZING);
	else if (str_is(method, "thread/start") || str_is(method, "thread/resume"))
		driver_step_to(d, DRIVER_OPENING);
	else if (str_is(method, "turn/start"))
		driver_turn_begins(d);
	if (str_is(method, "turn/start"))
		driver_mode_told(
			d, json_get_str(json_get(params, "collaborationMode"), "mode"), 0);
	if (str_is(method, "turn/start") || str_is(method, "turn/steer")) {
		if (!r->text)
			r->text = str_dup(text);
		driver_prompt_told(d, text);
	}
}

static void announced(struct driver *d, struct str method)
{
	if (str_is(method, "initialized"))
		driver_step_to(d, DRIVER_ANNOUNCED);
}

static void replied(struct driver *d, struct driver_request *r, yyjson_val *result)
{
	struct str method = str_of(r->method);

	if (str_is(method, "initialize")) {
		driver_step_to(d, DRIVER_INITIALIZED);
	} else if (str_is(method, "thread/start") || str_is(method, "thread/resume")) {
		driver_set(&d->session, json_get_str(json_get(result, "thread"), "id"));
		driver_set(&d->model, json_get_str(result, "model"));
		driver_offer(d, STR("default"), STR_NONE);
		driver_offer(d, STR("plan"), STR_NONE);
		if (driver_offered(d))
			driver_step_to(d, DRIVER_READY);
	} else if (str_is(method, "turn/start") && d->busy) {
		driver_set(&d->turn, json_get_str(json_get(result, "turn"), "id"));
	}
}

static void failed(struct driver *d, struct driver_request *r, struct str why)
{
	struct str method = str_of(r->method);

	if (str_is(method, "initialize") || str_is(method, "thread/start") ||
	    str_is(method, "thread/resume")) {
		driver_fail(d, r->method, why);
	} else if (str_is(method, "turn/steer") && r->text) {
		d->no_steering = d->busy;
		driver_prompt_again(d, str_of(r->text));
	} else {
		if (str_is(method, "turn/start"))
			driver_turn_ends(d);
		d->needs_login = driver_is_login(why);
		driver_say(d, "refused %s: %.*s", r->method, STR_ARG(driver_cut(why)));
	}
}

static const struct driver_rpc rpc = { is_ask, notified, requested, announced, replied, failed };

static void add_thread(const struct driver *d, struct buf *line)
{
	buf_adds(line, "\"threadId\":");
	json_write_str(line, buf_str(&d->session));
}

/* Codex keeps it for the turns behind this one. It needs the model named with it. */
static void add_mode(const struct driver *d, struct buf *line)
{
	if (!d->mode.n)
		return;
	buf_adds(line, ",\"collaborationMode\":{\"mode\":");
	json_write_str(line, driver_next_mode(d));
	buf_adds(line, ",\"settings\":{\"model\":");
	json_write_str(line, buf_str(&d->model));
	buf_adds(line, ",\"reasoning_effort\":null,\"developer_instructions\":null}}");
}

static void add_prompt(struct driver *d, struct buf *line)
{
	buf_adds(line, ",\"input\":[{\"type\":\"text\",\"text\":");
	driver_put_prompt(d, line);
	buf_adds(line, "}]}}");
}

static void open_thread(struct driver *d, struct buf *line)
{
	buf_addc(line, '{');
	driver_rpc_request(d, "thread/start", line);
	if (d->folder.n) {
		buf_adds(line, "\"cwd\":");
		json_write_str(line, buf_str(&d->folder));
		buf_addc(line, ',');
	}
	buf_adds(line, "\"approvalPolicy\":\"on-request\",\"sandbox\":\"workspace-write\"}}");
}

/* The turn that runs is ended, or told more; its id must be known. */
static void turn_request(struct driver *d, const char *method, const char *member, struct buf *line)
{
	buf_addc(line, '{');
	driver_rpc_request(d, method, line);
	add_thread(d, line);
	buf_printf(line, ",\"%s\":", member);
	json_write_str(line, buf_str(&d->turn));
}

static bool next_of_turn(struct driver *d, struct buf *line)
{
	if (d->interrupt && d->turn.n) {
		d->interrupt = false;
		turn_request(d, "turn/interrupt", "turnId", line);
		buf_adds(line, "}}");
	} else if (d->prompts.n && d->busy && d->turn.n && !d->no_steering) {
		turn_request(d, "turn/steer", "expectedTurnId", line);
		add_prompt(d, line);
	} else if (d->prompts.n && !d->busy) {
		buf_addc(line, '{');
		driver_rpc_request(d, "turn/start", line);
		add_thread(d, line);
		add_mode(d, line);
		add_prompt(d, line);
	} else {
		return false;
	}
	return true;
}

static bool next(struct driver *d, struct buf *line)
{
	const struct driver_asked *asked = driver_to_refuse(d);

	if (d->step == DRIVER_FRESH) {
		buf_addc(line, '{');
		driver_rpc_request(d, "initialize", line);
		driver_put_client(line);
		buf_adds(line, ",\"capabilities\":{\"experimentalApi\":true}}}");
	} else if (d->step == DRIVER_INITIALIZED) {
		buf_adds(line, "{\"method\":\"initialized\"}");
	} else if (d->step == DRIVER_ANNOUNCED) {
		open_thread(d, line);
	} else if (asked) {
		buf_printf(line, "{\"id\":%s,\"error\":{\"code\":-32601,\"message\":", asked->id);
		json_write_str(line, STR("Method not found"));
		buf_adds(line, "}}");
	} else {
		return d->step == DRIVER_READY && next_of_turn(d, line);
	}
	return true;
}

const struct driver_ops driver_codex = { DIALECT_CODEX, true, driver_rpc_heard, driver_rpc_told, next, &rpc };
