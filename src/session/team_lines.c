/* The lines that items and decisions of a team's store are in the capture. An entry is another
 * machine's word: it is parsed and written anew, member by member, so that what stands in the capture is
 * one line of JSON that names its own item and source. */
#include "session/team_internal.h"

#include "json/compose.h"

/* Names of sessions are unique on one machine only. One without id is named after its log, as the
 * source is. */
static struct str name_session(struct team_inbox *t, struct str session, struct str source)
{
	struct buf name = { 0 };
	struct str kept;

	if (session.n && session.p[0] != '/' && !str_is(session, "-") && !str_eq(session, source)) {
		buf_add_str(&name, session);
		buf_addc(&name, '@');
	}
	buf_add_str(&name, source);
	kept = arena_str(&t->arena, buf_str(&name));
	buf_release(&name);
	return kept;
}

/* Members that are said by the store and not by the entry. */
static bool is_ours(struct str name)
{
	return str_is(name, "by") || str_is(name, "team") || str_is(name, "session") ||
	       str_is(name, "verb") || str_is(name, "from");
}

static void put_gavel(const struct team_item *item, yyjson_val *gavel, struct str body,
		      struct buf *out)
{
	yyjson_val *key, *v;
	size_t i, n;

	json_open(out, "x-gavel", '{');
	json_put_str(out, "by", item->from);
	json_open(out, "team", '{');
	json_put_int(out, "item", item->id);
	json_put_str(out, "source", item->source);
	buf_addc(out, '}');
	json_put_str(out, "session", item->session);
	if (!yyjson_is_obj(gavel))
		json_put_str(out, "original", body); /* shown, but it cannot be decided */
	yyjson_obj_foreach(gavel, i, n, key, v)
		if (!is_ours(json_str(key)))
			json_put_member(out, key, v);
	buf_addc(out, '}');
}

static void put_time(struct buf *out, int64_t ms)
{
	char text[32];

	json_put_name(out, "created_at", timestamp_iso(ms == TIME_NONE ? timestamp_now_ms() : ms, text));
}

void team_line_opened(struct team_inbox *t, struct team_item *item, struct str body, struct str rev,
		      int64_t at_ms, struct buf *out)
{
	yyjson_val *root = NULL, *gavel;
	struct str words;

	if (json_read(&t->json, body, &root) == JSON_NOT)
		root = NULL;
	gavel = json_get(root, "x-gavel");
	item->session = name_session(t, json_get_str(gavel, "session"), item->source);
	words = json_get_str(gavel, "from");
	item->from = str_trim(words).n ? arena_str(&t->arena, words) : item->source;
	words = json_get_str(root, "task_id");
	item->task = arena_str(&t->arena, words.n ? words : item->key);
	words = json_get_str(root, "rationale");
	buf_addc(out, '{');
	json_put_str(out, "task_id", item->task);
	json_put_name(out, "decision", "escalate");
	json_put_str(out, "rationale", str_trim(words).n ? words : STR("It waits for a person."));
	words = json_get_str(gavel, "rev");
	item->rev = arena_str(&t->arena, words.n ? words : item->key);
	if (json_get(root, "state_version"))
		json_put_value(out, "state_version", json_get(root, "state_version"));
	else
		json_put_str(out, "state_version", item->rev);
	put_time(out, at_ms);
	put_gavel(item, gavel, body, out);
	buf_adds(out, "}\n");
	team_prove(t, item, root, rev);
}

/* What the person said, in one sentence. */
static struct str words_of(yyjson_val *draft)
{
	static const char *const names[] = { "answer", "explanation", "reason_code" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (str_trim(json_get_str(draft, names[i])).n)
			return json_get_str(draft, names[i]);
	return STR_NONE;
}

void team_line_decided(struct team_inbox *t, const struct team_item *item, struct str verb,
		       struct str by, struct str draft, int64_t at_ms, struct buf *out)
{
	bool refuses = str_is(verb, "reject") || str_is(verb, "stop") || str_is(verb, "dismiss") ||
		       str_is(verb, "withdrawn");
	yyjson_val *root = NULL;
	struct str words;

	if (json_read(&t->json, draft, &root) == JSON_NOT)
		root = NULL;
	words = words_of(root);
	buf_adds(out, "\t{");
	json_put_str(out, "task_id", item->task);
	json_put_name(out, "decision", refuses ? "reject" : "approve");
	json_put_str(out, "rationale", words.n ? words : verb);
	json_put_str(out, "state_version", item->rev);
	put_time(out, at_ms);
	json_open(out, "x-gavel", '{');
	json_put_str(out, "by", by);
	json_put_str(out, "session", item->session);
	json_put_str(out, "verb", verb);
	buf_adds(out, "}}\n");
}
