/* What the drivers of JSON-RPC dialects have in common: requests and answers by their ids, in both
 * directions. */
#include "agents/driver.h"

static uint32_t find_request(const struct driver *d, uint64_t id)
{
	uint32_t i = 0;

	while (i < d->requests.n && d->requests.v[i].id != id)
		i++;
	return i;
}

static bool number_of(yyjson_val *id, uint64_t *out)
{
	int64_t n;

	if (!json_int(id, &n) || n < 0)
		return false;
	*out = (uint64_t)n;
	return true;
}

/* The agent has answered a request of ours. */
static void heard_answer(struct driver *d, yyjson_val *root)
{
	yyjson_val *error = json_get(root, "error");
	struct driver_request r;
	uint64_t id;
	uint32_t i;

	if (!number_of(json_get(root, "id"), &id) || (i = find_request(d, id)) == d->requests.n)
		return;
	r = d->requests.v[i];
	d->requests.v[i] = d->requests.v[--d->requests.n];
	if (error && !yyjson_is_null(error))
		d->ops->rpc->failed(d, &r, json_get_str(error, "message"));
	else
		d->ops->rpc->replied(d, &r, json_get(root, "result"));
	free(r.method);
	free(r.text);
}

void driver_rpc_heard(struct driver *d, yyjson_val *root)
{
	struct str method = json_get_str(root, "method");
	yyjson_val *id = json_get(root, "id");

	if (!method.n)
		heard_answer(d, root);
	else if (id)
		driver_asks(d, id, method, !d->ops->rpc->is_ask(method));
	else
		d->ops->rpc->notified(d, method, json_get(root, "params"));
}

void driver_rpc_told(struct driver *d, yyjson_val *root)
{
	struct str method = json_get_str(root, "method");
	yyjson_val *id = json_get(root, "id");
	uint64_t n;

	if (!method.n) {
		driver_answered(d, id);
	} else if (!id) {
		d->ops->rpc->announced(d, method);
	} else if (number_of(id, &n)) {
		if (n > d->last_id)
			d->last_id = n;
		if (find_request(d, n) == d->requests.n)
			vec_push(&d->requests, (struct driver_request){ n, str_dup(method), NULL });
		d->ops->rpc->requested(d, &d->requests.v[find_request(d, n)], json_get(root, "params"));
	}
}

void driver_rpc_request(struct driver *d, const char *method, struct buf *line)
{
	buf_printf(line, "\"id\":%llu,\"method\":\"%s\",\"params\":{",
		   (unsigned long long)(d->last_id + 1), method);
}

struct str driver_rpc_text(yyjson_val *blocks)
{
	return json_get_str(yyjson_arr_get_first(blocks), "text");
}

void driver_put_client(struct buf *line)
{
	buf_adds(line, "\"clientInfo\":{\"name\":\"gavel\",\"title\":\"gavel\",\"version\":"
		       "\"" PACKAGE_VERSION "\"}");
}
