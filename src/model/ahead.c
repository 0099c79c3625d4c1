/* What a message will look at: names, its id, tasks, reviews and items. */
#include "model/ahead.h"

#include "model/rules.h"

void ahead_far(const struct model *m, const struct message *msg)
{
	for (uint32_t i = 0; i < msg->events.n; i++) {
		const struct event *e = &msg->events.v[i];

		if (e->id_key.hash)
			map_fetch(&m->string_map, e->id_key.hash);
		if (e->task_key.hash)
			map_fetch(&m->string_map, e->task_key.hash);
	}
}

/* A name once known keeps its number; one that is not may be known when its turn comes. */
static void look_up(const struct model *m, struct str s, struct name_key *key)
{
	if (key->hash && !key->number)
		key->number = name_lookup(m, s, key->hash) + 1; /* NONE + 1 is 0 */
}

/* Entities begin on any line and are longer than one. */
static void fetch(const void *p)
{
	mem_fetch(p);
	mem_fetch((const char *)p + 64);
}

static void fetch_named(const struct model *m, struct name_key key)
{
	uint32_t last = key.number ? m->strings.v[key.number - 1].last : NONE;

	if (last < m->tasks.n)
		fetch(&m->tasks.v[last]);
	if (last < m->reviews.n)
		fetch(&m->reviews.v[last]);
}

static void fetch_items(const struct model *m, const struct message *msg, uint32_t session)
{
	uint32_t review = NONE;

	for (uint32_t i = 0; i < msg->events.n; i++) {
		const struct event *e = &msg->events.v[i];
		uint32_t name = e->id_key.number - 1;

		if (!e->id_key.number)
			continue;
		if (e->type == EV_REVIEW_RESULT)
			review = m->strings.v[name].last;
		if (e->type == EV_ITEM || e->type == EV_DECIDE || e->type == EV_ACK)
			map_fetch(&m->item_map, item_hash(session, e->item, name, review));
	}
}

void ahead_near(const struct model *m, struct message *msg)
{
	uint32_t session;

	look_up(m, msg->session, &msg->session_key);
	look_up(m, msg->from.id, &msg->from_key);
	look_up(m, msg->to.id, &msg->to_key);
	for (uint32_t i = 0; i < msg->events.n; i++) {
		struct event *e = &msg->events.v[i];

		if (i && e->id.p == e[-1].id.p && e->id.n == e[-1].id.n)
			e->id_key = e[-1].id_key; /* many are of one task */
		else
			look_up(m, e->id, &e->id_key);
		look_up(m, e->task, &e->task_key);
		if (msg->dialect != DIALECT_FEEDBACK) {
			fetch_named(m, e->id_key);
			fetch_named(m, e->task_key);
		}
	}
	session = session_known(m, msg->session_key);
	if (session == NONE)
		return;
	if (msg->id_key.hash)
		ids_fetch(&m->ids, hash_mix(msg->id_key.hash, session));
	fetch_items(m, msg, session);
}
