/* gavel show state: a hash of the JSON output of all views as of k. It depends on what was said by
 * agents and to them: not on paths, nor on how it was loaded. Decisions that were not said (staged,
 * held, dismissed) are left out. */
#include "cmd/show_json.h"

#include "base/sha256.h"
#include "json/compose.h"

#include <stdlib.h>

static void add_lines(void *ctx, struct buf *lines)
{
	sha256_add(ctx, buf_str(lines));
	buf_clear(lines);
}

/* The logs, without replies, in the order of their first messages. Free the result. */
static uint32_t *list_logs(const struct load *l, uint32_t k, uint32_t *n)
{
	uint32_t *list = xmalloc((l->wire.files.n + 1) * sizeof(*list));
	bool *seen = xcalloc(l->wire.files.n + 1, sizeof(*seen));

	*n = 0;
	for (uint32_t i = 0; i < k; i++) {
		uint32_t file = message_route(&l->model, i)->source;

		if (!seen[file] && !l->wire.files.v[file].joined)
			list[(*n)++] = file;
		seen[file] = true;
	}
	free(seen);
	return list;
}

void state_hash(struct load *l, const struct scene *s, char hex[65])
{
	static void (*const views[])(struct load *, const struct scene *, struct buf *) = {
		json_inbox,  json_timeline, json_ledger,  json_messages,
		json_agents, json_agent_decisions,     json_summary,
	};
	struct json_output before = l->json;
	struct scene scene = *s;
	struct sha256 hash;
	struct buf lines = { 0 };

	model_overlay_clear(&l->model);
	scene.all = true;
	scene.filter = NULL;
	sha256_begin(&hash);
	l->json = (struct json_output){ add_lines, &hash, true };
	l->json.logs = list_logs(l, l->model.records.n, &l->json.logs_n);
	for (unsigned i = 0; i < sizeof(views) / sizeof(views[0]); i++) {
		views[i](l, &scene, &lines);
		add_lines(&hash, &lines);
	}
	free(l->json.logs);
	l->json = before;
	buf_release(&lines);
	sha256_end_hex(&hash, hex);
}

void json_state(struct load *l, const struct scene *s, struct buf *out)
{
	char hex[65];

	state_hash(l, s, hex);
	buf_addc(out, '{');
	json_put_name(out, "state", hex);
	json_put_number(out, "messages", s->k);
	json_put_time(out, "now", s->now_ms);
	json_end(l, out);
}
