/* gavel show state: a hash of the JSON output of all views as of k. It depends on the contents of
 * the log alone: not on its path, nor on how it was loaded, nor on decisions made here. */
#include "cmd/show_json.h"

#include "base/sha256.h"
#include "json/compose.h"

static void add_lines(void *ctx, struct buf *lines)
{
	sha256_add(ctx, buf_str(lines));
	buf_clear(lines);
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

	scene.all = true;
	scene.filter = NULL;
	sha256_begin(&hash);
	l->json = (struct json_output){ add_lines, &hash, true };
	for (unsigned i = 0; i < sizeof(views) / sizeof(views[0]); i++) {
		views[i](l, &scene, &lines);
		add_lines(&hash, &lines);
	}
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
