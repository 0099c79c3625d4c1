/* Driver of Claude Code's stream-json: initialize, prompts at any time (while a turn runs they join it),
 * interrupt, set_permission_mode. Requests to it are called gavel-N. */
#include "agents/driver.h"

#define OWN "gavel-"

static void heard_response(struct driver *d, yyjson_val *response)
{
	struct str id = json_get_str(response, "request_id"), error;

	/* the others repeat answers of ours: the proof that they were used */
	if (!str_starts(id, STR(OWN)))
		return;
	if (!str_is(json_get_str(response, "subtype"), "error")) {
		if (json_get_str(json_get(response, "response"), "mode").n)
			driver_say(d, "has changed its mode");
		return;
	}
	error = json_get_str(response, "error");
	d->needs_login = driver_is_login(error);
	driver_say(d, "refused what it was told: %.*s", (int)(error.n < 300 ? error.n : 300),
		   error.n ? error.p : "");
}

/* The end of a turn. */
static void heard_result(struct driver *d, yyjson_val *root)
{
	struct str words = json_get_str(root, "result");

	driver_turn_ends(d);
	if (yyjson_get_bool(json_get(root, "is_error")) && driver_is_login(words)) {
		d->needs_login = true;
		driver_say(d, "could not work: %.*s", (int)(words.n < 300 ? words.n : 300), words.p);
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

static void note_number(struct driver *d, struct str id)
{
	uint64_t n;

	if (str_starts(id, STR(OWN)) && str_to_u64(str_from(id, sizeof(OWN) - 1), &n) &&
	    n > d->last_id)
		d->last_id = n;
}

static void told(struct driver *d, yyjson_val *root)
{
	struct str type = json_get_str(root, "type");

	if (str_is(type, "control_request")) {
		struct str what = json_get_str(json_get(root, "request"), "subtype");

		note_number(d, json_get_str(root, "request_id"));
		if (str_is(what, "initialize"))
			driver_step_to(d, DRIVER_READY);
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
	buf_printf(line, "{\"type\":\"control_request\",\"request_id\":\"" OWN "%llu\",\"request\":"
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
		buf_printf(line, "{\"type\":\"control_response\",\"response\":{\"subtype\":\"error\","
				 "\"request_id\":%s,\"error\":\"gavel does not do that\"}}",
			   asked->id);
	} else if (d->interrupt) {
		d->interrupt = false;
		begin_request(d, "interrupt", line);
		buf_adds(line, "}}");
	} else if (d->mode.n) {
		begin_request(d, "set_permission_mode", line);
		buf_adds(line, ",\"mode\":");
		json_write_str(line, buf_str(&d->mode));
		buf_adds(line, "}}");
		buf_clear(&d->mode);
	} else if (d->prompts.n) {
		buf_adds(line, "{\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":");
		driver_put_prompt(d, line);
		buf_adds(line, "}}");
	} else {
		return false;
	}
	return true;
}

const struct driver_ops driver_claude = { DIALECT_CLAUDE, true, heard, told, next };
