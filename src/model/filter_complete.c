/* Completions of a filter while it is typed: its keys, and the values that the session has. */
#include "model/filter_terms.h"

#include "model/rules.h"

enum {
	SCAN_MAX = 100000, /* entities looked at for names, the newest first */
};

struct offer {
	const struct model *m;
	struct str head; /* of the word, up to its value: -agent: */
	filter_word_fn each;
	void *ctx;
};

static void offer(const struct offer *o, struct str value)
{
	struct buf word = { 0 };
	bool quote = memchr(value.p ? value.p : "", ' ', value.n);

	if (!value.n || value.n > FILTER_VALUE_MAX || memchr(value.p, '"', value.n))
		return;
	for (size_t i = 0; i < value.n; i++)
		if ((unsigned char)value.p[i] < 0x20 || value.p[i] == 0x7f)
			return;
	buf_printf(&word, "%.*s%s%.*s%s", STR_ARG(o->head), quote ? "\"" : "", STR_ARG(value),
		   quote ? "\"" : "");
	o->each(o->ctx, buf_str(&word));
	buf_release(&word);
}

static void offer_kinds(const struct offer *o)
{
	for (int k = 0; k < ITEM_KIND_COUNT; k++)
		offer(o, str_of(item_kind_name((enum item_kind)k)));
	for (unsigned i = 0; i < o->m->kind_count; i++)
		offer(o, o->m->kinds[i]);
}

/* The newest entities of a list are numbered from..n. */
static uint32_t newest(uint32_t n)
{
	return n > SCAN_MAX ? n - SCAN_MAX : 0;
}

static void offer_agents(const struct offer *o)
{
	for (uint32_t i = newest(o->m->agents.n); i < o->m->agents.n; i++)
		offer(o, agent_name(o->m, i));
}

static void offer_tasks(const struct offer *o)
{
	for (uint32_t i = newest(o->m->tasks.n); i < o->m->tasks.n; i++)
		offer(o, model_str(o->m, o->m->tasks.v[i].id));
}

static void offer_sessions(const struct offer *o)
{
	for (uint32_t i = newest(o->m->sessions.n); i < o->m->sessions.n; i++)
		offer(o, session_name(o->m, i));
}

/* The file names, without folders. */
static void offer_sources(const struct offer *o)
{
	for (uint32_t i = newest(o->m->sessions.n); i < o->m->sessions.n; i++) {
		struct str path = model_str(o->m, o->m->sessions.v[i].group);
		size_t from = path.n;

		while (from && path.p[from - 1] != '/')
			from--;
		offer(o, str_from(path, from));
	}
}

static void offer_values(struct offer *o, enum key key, struct str value)
{
	name_fn at = filter_names(key);
	const char *name;

	switch (key) {
	case KEY_KIND: offer_kinds(o); return;
	case KEY_AGENT: offer_agents(o); return;
	case KEY_TASK: offer_tasks(o); return;
	case KEY_SESSION: offer_sessions(o); return;
	case KEY_SOURCE: offer_sources(o); return;
	case KEY_SEVERITY: /* a comparison belongs to the head */
		for (size_t i = 0; i < value.n && strchr("<>=", value.p[i]); i++)
			o->head.n++;
		break;
	case KEY_DIALECT:
	case KEY_VERDICT:
	case KEY_IS:
	case KEY_TRUST: break;
	case KEY_ID:
	case KEY_AFTER:
	case KEY_BEFORE:
	case KEY_SCOPE:
	case KEY_WORD: return;
	}
	for (unsigned i = 0; (name = at(i)); i++)
		offer(o, str_of(name));
}

size_t filter_last_word(struct str text)
{
	size_t from = 0;
	bool quoted = false;

	for (size_t i = 0; i < text.n; i++) {
		if (text.p[i] == '"')
			quoted = !quoted;
		else if (text.p[i] == ' ' && !quoted)
			from = i + 1;
	}
	return from;
}

void filter_complete(const struct model *m, struct str text, filter_word_fn each, void *ctx)
{
	struct str word = str_from(text, filter_last_word(text));
	size_t sign = word.n && word.p[0] == '-', colon = sign;
	struct offer o = { m, { word.p, sign }, each, ctx };

	while (colon < word.n && word.p[colon] != ':')
		colon++;
	for (unsigned i = 0; i < KEY_COUNT; i++) {
		struct str name = str_of(filter_keys[i].name);
		char key[32];

		if (colon < word.n && str_eq_nocase(str_make(word.p + sign, colon - sign), name)) {
			o.head.n = colon + 1;
			offer_values(&o, (enum key)i, str_from(word, colon + 1));
			break;
		}
		if (colon == word.n) {
			memcpy(key, name.p, name.n);
			key[name.n] = ':';
			offer(&o, str_make(key, name.n + 1));
		}
	}
}
