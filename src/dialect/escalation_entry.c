/* Parses the x-gavel object of an escalation queue. Absent fields stay empty; `missing` names the
 * first required one. */
#include "dialect/escalation_entry.h"

#include "dialect/dialect.h"

static int64_t count_of(yyjson_val *object, const char *name)
{
	int64_t n;

	return json_int(json_get(object, name), &n) && n >= 0 && n <= UINT32_MAX - 1 ? n : 0;
}

bool queue_entry_read(yyjson_val *decision, struct queue_entry *out)
{
	yyjson_val *object = json_get(decision, "x-gavel"), *reply = json_get(object, "reply");
	yyjson_val *team = json_get(object, "team");
	bool has_kind;

	*out = (struct queue_entry){ .object = object, .deadline_ms = TIME_NONE };
	if (!yyjson_is_obj(object))
		return false;
	out->by = json_get_str(object, "by");
	out->session = json_get_str(object, "session");
	out->verb = json_get_str(object, "verb");
	out->passes_on = json_get(object, "original") || json_get(object, "dialect") ||
			 json_get(object, "kind") || json_get(object, "item");
	if (!out->passes_on)
		return true;
	if (!dialect_named(json_get_str(object, "dialect"), &out->dialect) ||
	    out->dialect == DIALECT_TEXT)
		out->dialect = DIALECT_UNKNOWN;
	has_kind = item_kind_named(json_get_str(object, "kind"), &out->kind);
	out->item = json_get_str(object, "item");
	out->rev = json_get_str(object, "rev");
	out->title = json_get_str(object, "title");
	out->source = json_get_str(object, "source");
	out->original = json_get_str(object, "original");
	out->file = json_get_str(object, "file");
	out->line = count_of(object, "line");
	out->index = count_of(object, "index");
	out->before = count_of(object, "before");
	out->about = count_of(object, "about");
	out->deadline_ms = iso_time(json_get(object, "deadline"));
	out->reply_channel = json_get_str(reply, "channel");
	out->reply_path = json_get_str(reply, "path");
	out->team_item = count_of(team, "item");
	out->team_source = json_get_str(team, "source");
	if (yyjson_is_arr(json_get(object, "context")))
		out->context = json_get(object, "context");
	if (yyjson_is_arr(json_get(object, "log")))
		out->log = json_get(object, "log");
	out->missing = out->dialect == DIALECT_UNKNOWN ? "dialect"
		       : !has_kind		       ? "kind"
		       : !out->session.n	       ? "session"
		       : !out->item.n		       ? "item"
		       : !out->rev.n		       ? "rev"
		       : !out->original.n	       ? "original"
		       : !out->reply_channel.n	       ? "reply"
						       : NULL;
	return true;
}
