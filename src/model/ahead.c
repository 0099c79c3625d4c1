/* What a message will look at: names, its id, tasks, reviews and items. */
#include "model/ahead.h"

#include "model/rules.h"

/* Who decoded the message may be another processor: its words are far away, too. */
static void fetch_slots(const struct model *m, const struct message *msg)
{
	mem_fetch(msg->kind.p);
	mem_fetch(msg->session.p);
	mem_fetch(msg->from.id.p);
	mem_fetch(msg->to.id.p);
	for (uint32_t i = 0; i < msg->events.n; i++) {
		const struct event *e = &msg->events.v[i];

		mem_fetch(e->id.p);
		if (e->id_key.hash)
			map_fetch(&m->string_map, e->id_key.hash);
		if (e->task_key.hash) {
			mem_fetch(e->task.p);
			map_fetch(&m->string_map, e->task_key.hash);
		}
	}
}

static void guess(const struct model *m, struct name_key *key)
{
	uint32_t number;

	if (!key->hash)
		return;
	number = name_guess(m, key->hash);
	key->guess = number + 1; /* NONE + 1 is 0 */
	if (number != NONE)
		mem_fetch(&m->strings.v[number]);
}

/* Many events are of one task. */
static bool same_id(const struct event *a, const struct event *b)
{
	return a->id.p == b->id.p && a->id.n == b->id.n;
}

static void guess_names(const struct model *m, struct message *msg)
{
	guess(m, &msg->session_key);
	guess(m, &msg->from_key);
	guess(m, &msg->to_key);
	for (uint32_t i = 0; i < msg->events.n; i++) {
		struct event *e = &msg->events.v[i];

		if (!i || !same_id(e, e - 1))
			guess(m, &e->id_key);
		guess(m, &e->task_key);
	}
}

/* Entities begin on any line and are longer than one. */
static void fetch(const void *p)
{
	mem_fetch(p);
	mem_fetch((const char *)p + 64);
}

static void fetch_text(const struct model *m, struct name_key key)
{
	if (key.guess)
		mem_fetch(m->strings.v[key.guess - 1].p);
}

static void fetch_named(const struct model *m, struct name_key key)
{
	uint32_t last = key.guess ? m->strings.v[key.guess - 1].last : NONE;

	if (last < m->tasks.n)
		fetch(&m->tasks.v[last]);
	if (last < m->reviews.n)
		fetch(&m->reviews.v[last]);
}

static void fetch_texts(const struct model *m, const struct message *msg)
{
	fetch_text(m, msg->session_key);
	fetch_text(m, msg->from_key);
	fetch_text(m, msg->to_key);
	for (uint32_t i = 0; i < msg->events.n; i++) {
		const struct event *e = &msg->events.v[i];

		fetch_text(m, e->id_key);
		fetch_text(m, e->task_key);
		if (msg->dialect != DIALECT_FEEDBACK) {
			fetch_named(m, e->id_key);
			fetch_named(m, e->task_key);
		}
	}
}

/* A name once known keeps its number; one that is not may be known when its turn comes. */
static void confirm(const struct model *m, struct str s, struct name_key *key)
{
	if (key->guess && str_eq(model_str(m, key->guess - 1), s))
		key->number = key->guess;
}

static void confirm_names(const struct model *m, struct message *msg)
{
	confirm(m, msg->session, &msg->session_key);
	confirm(m, msg->from.id, &msg->from_key);
	confirm(m, msg->to.id, &msg->to_key);
	for (uint32_t i = 0; i < msg->events.n; i++) {
		struct event *e = &msg->events.v[i];

		if (i && same_id(e, e - 1))
			e->id_key = e[-1].id_key;
		else
			confirm(m, e->id, &e->id_key);
		confirm(m, e->task, &e->task_key);
	}
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

static void fetch_filed(const struct model *m, const struct message *msg)
{
	uint32_t session = session_known(m, msg->session_key);

	if (session == NONE)
		return;
	mem_fetch(&m->sessions.v[session]);
	if (msg->id_key.hash)
		ids_fetch(&m->ids, hash_mix(msg->id_key.hash, session));
	fetch_items(m, msg, session);
}

void ahead_of(const struct model *m, struct message *msg, enum ahead_step step)
{
	switch (step) {
	case AHEAD_SLOTS: fetch_slots(m, msg); break;
	case AHEAD_NAMES: guess_names(m, msg); break;
	case AHEAD_TEXTS: fetch_texts(m, msg); break;
	case AHEAD_KNOWN:
		confirm_names(m, msg);
		fetch_filed(m, msg);
		break;
	case AHEAD_STEPS: break;
	}
}
