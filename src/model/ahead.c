/* Software prefetch of what model_apply will read for a message: interned names, its id, sessions,
 * tasks, reviews and items. Names go through a pipeline of four stages, GAP names at a time. */
#include "model/ahead.h"

#include "model/rules.h"

enum {
	LINE_BYTES = 64,
	GAP = 8, /* names per pipeline stage: about as many as a message has */
	EVENTS_FETCHED = 2,
};
_Static_assert(AHEAD_PADDING == 4 * GAP, "nobody looks for the end");

/* Branch-free: the number, or 0 where there is no such entity. A useless prefetch costs less than a
 * mispredicted branch. */
static inline uint32_t within(uint32_t number, uint32_t n)
{
	return number & -(uint32_t)(number < n);
}

/* Address of that entity; may be invalid, which prefetch ignores. */
#define PLACE(list, number) \
	(const void *)((uintptr_t)(list)->v + within(number, (list)->n) * sizeof(*(list)->v))

/* ---- names ---- */

static inline void fetch_slot(const struct model *m, const struct name_key *key)
{
	mem_fetch(key->p);
	map_fetch(&m->string_map, key->hash);
}

static inline void guess(const struct model *m, struct name_key *key)
{
	key->guess = map_guess(&m->string_map, key->hash) + 1; /* NONE + 1 is 0 */
	mem_fetch(&m->strings.v[key->guess - (key->guess > 0)]);
}

/* Entities are not aligned to cache lines and are longer than one. */
static inline void fetch(const void *p)
{
	mem_fetch(p);
	mem_fetch((const void *)((uintptr_t)p + LINE_BYTES));
}

/* Prefetches the text of a name, and the item, task and review last looked up by it. */
static inline void fetch_named(const struct model *m, const struct name_key *key)
{
	const struct interned *name = &m->strings.v[key->guess - (key->guess > 0)];
	uint32_t last = name->last, of_task = last | -(uint32_t)!key->of_task;

	mem_fetch(name->p);
	mem_fetch(PLACE(&m->items, last));
	fetch(PLACE(&m->tasks, of_task));
	fetch(PLACE(&m->reviews, of_task));
}

/* Compares the text. Interned numbers never change; a name that is unknown now may have been
 * interned since the guess, or may yet be before its message is applied. */
static inline void confirm(const struct model *m, struct name_key *key)
{
	uint32_t number = key->guess ? key->guess - 1 : name_recent(m, key->hash);

	if (number != NONE && str_eq(model_str(m, number), str_make(key->p, key->n)))
		key->number = number + 1;
}

#define EACH(name, first) \
	MEM_UNROLL \
	for (struct name_key *name = first, *end_ = name + GAP; name < end_; name++)

/* Fills the pipeline. */
static void begin(const struct ahead_names *a, const struct model *m)
{
	for (uint32_t i = 0; i < 3 * GAP; i++)
		fetch_slot(m, &a->keys[i]);
	for (uint32_t i = 0; i < 2 * GAP; i++)
		guess(m, &a->keys[i]);
	for (uint32_t i = 0; i < GAP; i++)
		fetch_named(m, &a->keys[i]);
}

/* Runs the pipeline until at least n names are resolved. */
static void know_names(struct ahead_names *a, const struct model *m, uint32_t n)
{
	if (!m->strings.n)
		return;
	if (!a->known && n)
		begin(a, m);
	for (; a->known < n; a->known += GAP) {
		struct name_key *key = &a->keys[a->known];

		EACH(later, key + 3 * GAP)
			fetch_slot(m, later);
		EACH(later, key + 2 * GAP)
			guess(m, later);
		EACH(later, key + GAP)
			fetch_named(m, later);
		EACH(due, key)
			confirm(m, due);
	}
}

/* ---- messages ---- */

/* n: a constant. */
static inline void fetch_bytes(const void *p, size_t n)
{
	MEM_UNROLL
	for (size_t at = 0; at < n; at += LINE_BYTES)
		mem_fetch((const void *)((uintptr_t)p + at));
}

static void fetch_items(const struct model *m, const struct message *msg, uint32_t session)
{
	uint32_t review = NONE;

	for (uint32_t i = 0; i < msg->events.n; i++) {
		const struct event *e = &msg->events.v[i];
		uint32_t number = message_key(msg, e->id_key)->number - 1;
		const struct interned *name = &m->strings.v[within(number, m->strings.n)];

		review = e->type == EV_REVIEW_RESULT ? name->last : review;
		if (name->shared)
			map_fetch(&m->item_map, item_hash(session, e->item, number, review));
		else if (m->items.n)
			mem_fetch(m->items.v[within(name->last, m->items.n)].steps);
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
		/* the hardware prefetcher gets the rest of a longer list */
		fetch_bytes(msg->events.v, EVENTS_FETCHED * sizeof(struct event));
		mem_fetch(msg->kind.p);
		break;
	case AHEAD_FILED:
		know_names(names, m, (uint32_t)(msg->keys + msg->keys_n - names->keys));
		fetch_filed(m, msg);
		break;
	case AHEAD_STEPS: break;
	}
}
