/* Messages of JSON-RPC. */
#include "dialect/jsonrpc.h"

enum rpc_type rpc_type(yyjson_val *root)
{
	bool has_id = json_get(root, "id");

	if (yyjson_is_str(json_get(root, "method")))
		return has_id ? RPC_REQUEST : RPC_NOTIFICATION;
	if (!has_id)
		return RPC_OTHER;
	if (json_get(root, "result"))
		return RPC_RESULT;
	return json_get(root, "error") ? RPC_ERROR : RPC_OTHER;
}

struct str rpc_id_text(struct decoder *d, yyjson_val *id)
{
	struct buf b = { 0 };
	int64_t number;

	if (yyjson_is_str(id))
		json_write_str(&b, json_str(id));
	else if (json_int(id, &number))
		buf_printf(&b, "%lld", (long long)number);
	else
		return STR_NONE;
	return arena_take(&d->arena, &b);
}

struct str rpc_id(struct decoder *d, yyjson_val *root)
{
	return rpc_id_text(d, json_get(root, "id"));
}

bool rpc_is_told(const struct decoder *d, enum rpc_type type, bool looks_told)
{
	if (d->info.direction != DIRECTION_UNKNOWN)
		return d->info.direction == DIRECTION_OUT;
	return looks_told || (d->info.reply && (type == RPC_RESULT || type == RPC_ERROR));
}

void decode_holder_record(yyjson_val *root, struct message *m, const char *agent)
{
	int64_t time_ms;

	m->kind = json_get_str(root, "gavel");
	m->from = (struct actor){ str_of(agent), STR("agent"), false };
	if (json_int(json_get(root, "t"), &time_ms))
		m->time_ms = time_ms;
	event_add(m, EV_RUN, STR_NONE, "");
}
