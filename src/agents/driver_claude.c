/* Driver of Claude Code's stream-json: initialize, prompts at any time (while a turn runs they
 * join it), interrupt, set_permission_mode. Requests to it are called gavel-N. */
#include "agents/driver.h"

#define OWN "gavel-"

/* Of a request of gavel. */
static bool number_of(struct str id, uint64_t *out)
{
	return str_starts(id, STR(OWN)) && str_to_u64(str_from(id, sizeof(OWN) - 1), out);
}

static void heard_response(struct driver *d, yyjson_val *response)
{
	struct str error = STR_NONE;
	uint64_t number;

	/* the others repeat answers of ours: the proof that they were used */
	if (!number_of(json_get_str(response, "request_id"), &number))
		return;
	if (str_is(json_get_str(response, "subtype"), "error"))
		error = json_get_str(response, "error");
	if (str_is(json_get_str(response, "subtype"), "error") && !error.n)
		error = STR("it gave no reason");
	if (driver_mode_answered(d, number, error) || !error.n)
		return;
	d->needs_login = driver_is_login(error);
	driver_say(d, "refused what it was told: %.*s", STR_ARG(driver_cut(error)));
}

/* The end of a turn. */
static void heard_result(struct driver *d, yyjson_val *root)
{
	struct str words = json_get_str(root, "result");

	driver_turn_ends(d);
	if (yyjson_get_bool(json_get(root, "is_error")) && words.n) {
		d->needs_login = driver_is_login(words);
		driver_say(d, "could not work: %.*s", STR_ARG(driver_cut(words)));
	}
}

static void heard(struct driver *d, yyjson_val *root)
{
	struct str type = json_get_str(root, "type");
	struct str subtype = json_get_str(json_get(root, "request"), "subtype");

	if (str_is(type, "control_request")) {
		driver_asks(d, json_get(root, "request_id"), subtype,
			    !str_is(subtype, "can_use_tool"));
	} else if (str_is(type, "control_cancel_request")) {
		driver_answered(d, json_get(root, "request_id"));
	} else if (str_is(type, "control_response")) {
		heard_response(d, json_get(root, "response"));
	} else if (str_is(type, "result")) {
		heard_result(d, root);
	} else if (str_is(type, "system") && str_is(json_get_str(root, "subtype"), "init")) {
		driver_turn_begins(d);
	}
}

static void told_request(struct driver *d, struct str id, yyjson_val *request)
{
	struct str what = json_get_str(request, "subtype");
	uint64_t number = 0;

	if (number_of(id, &number) && number > d->last_id)
		d->last_id = number;
	if (str_is(what, "initialize"))
		driver_step_to(d, DRIVER_READY);
	else if (str_is(what, "set_permission_mode"))
		driver_mode_told(d, json_get_str(request, "mode"), number);
}

static void told(struct driver *d, yyjson_val *root)
{
	struct str type = json_get_str(root, "type");

	if (str_is(type, "control_request")) {
		told_request(d, json_get_str(root, "request_id"), json_get(root, "request"));
	} else if (str_is(type, "control_response")) {
		driver_answered(d, json_get(json_get(root, "response"), "request_id"));
	} else if (str_is(type, "user")) {
		driver_step_to(d, DRIVER_READY);
		driver_turn_begins(d);
		driver_prompt_told(d, json_get_str(json_get(root, "message"), "content"));
	}
}

static void begin_request(struct driver *d, const char *subtype, struct buf *line)
{
	buf_printf(line,
		   "{\"type\":\"control_request\",\"request_id\":\"" OWN "%llu\",\"request\":"
		   "{\"subtype\":\"%s\"",
		   (unsigned long long)(d->last_id + 1), subtype);
}

static bool next(struct driver *d, struct buf *line)
{
	const struct driver_asked *asked = driver_to_refuse(d);

	if (d->step == DRIVER_FRESH) {
		begin_request(d, "initialize", line);
		buf_adds(line, ",\"hooks\":{}}}");
	} else if (asked) {
		buf_printf(line,
			   "{\"type\":\"control_response\",\"response\":{\"subtype\":\"error\","
			   "\"request_id\":%s,\"error\":\"gavel does not do that\"}}",
			   asked->id);
	} else if (d->interrupt) {
		d->interrupt = false;
		begin_request(d, "interrupt", line);
		buf_adds(line, "}}");
	} else if (d->mode.n) {
		begin_request(d, "set_permission_mode", line);
		buf_adds(line, ",\"mode\":");
		json_write_str(line, driver_next_mode(d));
		buf_adds(line, "}}");
	} else if (d->prompts.n && !driver_changes_mode(d)) {
		buf_adds(line, "{\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":");
		driver_put_prompt(d, line);
		buf_adds(line, "}}");
	} else {
		return false;
	}
	return true;
}

const struct driver_ops driver_claude = { DIALECT_CLAUDE, false, heard, told, next, NULL };
