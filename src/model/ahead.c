/* What a message will look at: names, its id, tasks, reviews and items. */
#include "model/ahead.h"

#include "model/rules.h"

enum {
	LINE_BYTES = 64,
	GAP = 8, /* names from one step to the next: about as many as a message has */
};

/* ---- names ---- */

static void fetch_slot(const struct model *m, const struct name_key *key)
{
	mem_fetch(key->p);
	map_fetch(&m->string_map, key->hash);
}

static void guess(const struct model *m, struct name_key *key)
{
	uint32_t number = name_guess(m, key->hash);

	key->guess = number + 1; /* NONE + 1 is 0 */
	if (number != NONE)
		mem_fetch(&m->strings.v[number]);
}

/* Entities begin on any line and are longer than one. */
static void fetch(const void *p)
{
	mem_fetch(p);
	mem_fetch((const char *)p + LINE_BYTES);
}

/* The text of a name, and the item, task or review of that name. */
static void fetch_named(const struct model *m, const struct name_key *key)
{
	const struct interned *name;

	if (!key->guess)
		return;
	name = &m->strings.v[key->guess - 1];
	mem_fetch(name->p);
	if (name->last < m->items.n)
		mem_fetch(&m->items.v[name->last]);
	if (key->of_task && name->last < m->tasks.n)
		fetch(&m->tasks.v[name->last]);
	if (key->of_task && name->last < m->reviews.n)
		fetch(&m->reviews.v[name->last]);
}

/* A name once known keeps its number; one that is not may be known when its turn comes. */
static void confirm(const struct model *m, struct name_key *key)
{
	if (key->guess && str_eq(model_str(m, key->guess - 1), str_make(key->p, key->n)))
		key->number = key->guess;
}

/* The first ones have taken some steps when the first of all is due. */
static void begin(const struct ahead_names *a, const struct model *m)
{
	for (uint32_t i = 0; i < 3 * GAP && i < a->n; i++)
		fetch_slot(m, &a->keys[i]);
	for (uint32_t i = 0; i < 2 * GAP && i < a->n; i++)
		guess(m, &a->keys[i]);
	for (uint32_t i = 0; i < GAP && i < a->n; i++)
		fetch_named(m, &a->keys[i]);
}

/* Until n of them are known. */
static void know_names(struct ahead_names *a, const struct model *m, uint32_t n)
{
	if (!a->known && n)
		begin(a, m);
	for (; a->known < n; a->known++) {
		struct name_key *key = &a->keys[a->known];
		uint32_t left = a->n - a->known;

		if (left > 3 * GAP)
			fetch_slot(m, key + 3 * GAP);
		if (left > 2 * GAP)
			guess(m, key + 2 * GAP);
		if (left > GAP)
			fetch_named(m, key + GAP);
		confirm(m, key);
	}
}

/* ---- messages ---- */

static void fetch_bytes(const void *p, size_t n)
{
	for (size_t at = 0; at < n; at += LINE_BYTES)
		mem_fetch((const char *)p + at);
}

static void fetch_items(const struct model *m, const struct message *msg, uint32_t session)
{
	uint32_t review = NONE;

	for (uint32_t i = 0; i < msg->events.n; i++) {
		const struct event *e = &msg->events.v[i];
		uint32_t number = message_key(msg, e->id_key)->number - 1;
		const struct interned *name;

		if (number == NONE)
			continue;
		name = &m->strings.v[number];
		if (e->type == EV_REVIEW_RESULT)
			review = name->last;
		if (e->type != EV_ITEM && e->type != EV_DECIDE && e->type != EV_ACK)
			continue;
		if (name->shared)
			map_fetch(&m->item_map, item_hash(session, e->item, number, review));
		else if (name->last < m->items.n)
			mem_fetch(m->items.v[name->last].steps);
	}
}

static void fetch_filed(const struct model *m, const struct message *msg)
{
	uint32_t session = session_known(m, message_key(msg, msg->session_key));

	if (session == NONE)
		return;
	mem_fetch(&m->sessions.v[session]);
	if (msg->id_hash)
		ids_fetch(&m->ids, hash_mix(msg->id_hash, session));
	fetch_items(m, msg, session);
}

void ahead_of(const struct model *m, struct ahead_names *names, const struct message *msg,
	      enum ahead_step step)
{
	switch (step) {
	case AHEAD_HEAD: fetch_bytes(msg, sizeof(*msg)); break;
	case AHEAD_EVENTS:
		fetch_bytes(msg->events.v, msg->events.n * sizeof(struct event));
		mem_fetch(msg->kind.p);
		break;
	case AHEAD_FILED:
		know_names(names, m, (uint32_t)(msg->keys + msg->keys_n - names->keys));
		fetch_filed(m, msg);
		break;
	case AHEAD_STEPS: break;
	}
}
