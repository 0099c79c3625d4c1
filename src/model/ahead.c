/* What a message will look at: names, its id, tasks, reviews and items. */
#include "model/ahead.h"

#include "model/rules.h"

enum { LINE_BYTES = 64 };

static void fetch_bytes(const void *p, size_t n)
{
	for (size_t at = 0; at < n; at += LINE_BYTES)
		mem_fetch((const char *)p + at);
}

/* Many events of a message are of one task: names that the one before has, too, are passed over. */
static bool is_new_id(const struct message *msg, uint32_t i)
{
	const struct event *e = &msg->events.v[i];

	return !i || e->id.p != e[-1].id.p || e->id.n != e[-1].id.n;
}

static bool is_new_task(const struct message *msg, uint32_t i)
{
	const struct event *e = &msg->events.v[i];

	return e->task.n && (!i || e->task.p != e[-1].task.p || e->task.n != e[-1].task.n);
}

static void fetch_slot(const struct model *m, struct str s, struct name_key key)
{
	if (!key.hash)
		return;
	mem_fetch(s.p);
	map_fetch(&m->string_map, key.hash);
}

static void fetch_slots(const struct model *m, const struct message *msg)
{
	mem_fetch(msg->kind.p);
	mem_fetch(msg->session.p);
	mem_fetch(msg->from.id.p);
	mem_fetch(msg->to.id.p);
	for (uint32_t i = 0; i < msg->events.n; i++) {
		const struct event *e = &msg->events.v[i];

		if (is_new_id(msg, i))
			fetch_slot(m, e->id, e->id_key);
		if (is_new_task(msg, i))
			fetch_slot(m, e->task, e->task_key);
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

static void guess_names(const struct model *m, struct message *msg)
{
	guess(m, &msg->session_key);
	guess(m, &msg->from_key);
	guess(m, &msg->to_key);
	for (uint32_t i = 0; i < msg->events.n; i++) {
		struct event *e = &msg->events.v[i];

		if (is_new_id(msg, i))
			guess(m, &e->id_key);
		if (is_new_task(msg, i))
			guess(m, &e->task_key);
	}
}

/* Entities begin on any line and are longer than one. */
static void fetch(const void *p)
{
	mem_fetch(p);
	mem_fetch((const char *)p + LINE_BYTES);
}

static void fetch_text(const struct model *m, struct name_key key)
{
	if (key.guess)
		mem_fetch(m->strings.v[key.guess - 1].p);
}

/* The item, the task or the review of that name. */
static void fetch_named(const struct model *m, struct name_key key, bool may_be_task)
{
	uint32_t last = key.guess ? m->strings.v[key.guess - 1].last : NONE;

	if (last < m->items.n)
		mem_fetch(&m->items.v[last]);
	if (may_be_task && last < m->tasks.n)
		fetch(&m->tasks.v[last]);
	if (may_be_task && last < m->reviews.n)
		fetch(&m->reviews.v[last]);
}

static void fetch_texts(const struct model *m, const struct message *msg)
{
	bool names_tasks = msg->dialect != DIALECT_FEEDBACK;

	fetch_text(m, msg->session_key);
	fetch_text(m, msg->from_key);
	fetch_text(m, msg->to_key);
	for (uint32_t i = 0; i < msg->events.n; i++) {
		const struct event *e = &msg->events.v[i];

		if (is_new_id(msg, i)) {
			fetch_text(m, e->id_key);
			fetch_named(m, e->id_key, names_tasks);
		}
		if (is_new_task(msg, i)) {
			fetch_text(m, e->task_key);
			fetch_named(m, e->task_key, names_tasks);
		}
	}
}

/* A name once known keeps its number; one that is not may be known when its turn comes. */
static void confirm(const struct model *m, struct str s, struct name_key *key)
{
	const struct interned *kept;

	if (!key->guess)
		return;
	kept = &m->strings.v[key->guess - 1];
	if (str_eq(str_make(kept->p, kept->n), s))
		key->number = key->guess;
}

static void confirm_names(const struct model *m, struct message *msg)
{
	confirm(m, msg->session, &msg->session_key);
	confirm(m, msg->from.id, &msg->from_key);
	confirm(m, msg->to.id, &msg->to_key);
	for (uint32_t i = 0; i < msg->events.n; i++) {
		struct event *e = &msg->events.v[i];

		if (is_new_id(msg, i))
			confirm(m, e->id, &e->id_key);
		else
			e->id_key = e[-1].id_key;
		if (is_new_task(msg, i))
			confirm(m, e->task, &e->task_key);
		else if (e->task.n)
			e->task_key = e[-1].task_key;
	}
}

static void fetch_items(const struct model *m, const struct message *msg, uint32_t session)
{
	uint32_t review = NONE;

	for (uint32_t i = 0; i < msg->events.n; i++) {
		const struct event *e = &msg->events.v[i];
		uint32_t number = e->id_key.number - 1;
		const struct interned *name;

		if (!e->id_key.number)
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
	case AHEAD_HEAD: fetch_bytes(msg, sizeof(*msg)); break;
	case AHEAD_EVENTS:
		fetch_bytes(msg->events.v, msg->events.n * sizeof(struct event));
		break;
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
