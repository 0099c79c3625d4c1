/* Prefetches what applying a message will read: names, its id, tasks, reviews and items. */
#include "model/prefetch.h"

#include "model/rules.h"

enum {
	LINE_BYTES = 64,
	GAP = 8, /* names per stage of the pipeline: about as many as a message has */
	EVENTS_PREFETCHED = 2,
};
_Static_assert(PREFETCH_PADDING == 4 * GAP, "the pipeline runs past the end");

/* The number, or 0 where there is no such entity; branch-free, since a needless prefetch costs less
 * than a mispredicted branch. */
static inline uint32_t within(uint32_t number, uint32_t n)
{
	return number & -(uint32_t)(number < n);
}

/* The address of that entity, which may not exist. */
#define PLACE(list, number) \
	(const void *)((uintptr_t)(list)->v + within(number, (list)->n) * sizeof(*(list)->v))

static inline void prefetch_slot(const struct model *m, const struct name_key *key)
{
	mem_prefetch(key->p);
	map_prefetch(&m->string_map, key->hash);
}

static inline void guess(const struct model *m, struct name_key *key)
{
	key->guess = map_guess(&m->string_map, key->hash) + 1; /* NONE + 1 is 0 */
	mem_prefetch(&m->strings.v[key->guess - (key->guess > 0)]);
}

/* An entity may start anywhere in a cache line and is longer than one. */
static inline void prefetch_entity(const void *p)
{
	mem_prefetch(p);
	mem_prefetch((const void *)((uintptr_t)p + LINE_BYTES));
}

/* Prefetches the text of a name, and the item, task or review of that name. */
static inline void prefetch_named(const struct model *m, const struct name_key *key)
{
	const struct interned *name = &m->strings.v[key->guess - (key->guess > 0)];
	uint32_t last = name->last, of_task = last | -(uint32_t)!key->of_task;

	mem_prefetch(name->p);
	mem_prefetch(PLACE(&m->items, last));
	prefetch_entity(PLACE(&m->tasks, of_task));
	prefetch_entity(PLACE(&m->reviews, of_task));
}

/* A known name keeps its number; an unknown one may have become known since the guess, or may be by
 * the time it is applied. */
static inline void confirm(const struct model *m, struct name_key *key)
{
	uint32_t number = key->guess ? key->guess - 1 : name_cached(m, key->hash);

	if (number != NONE && str_eq(model_str(m, number), str_make(key->p, key->n)))
		key->number = number + 1;
}

#define EACH(name, first) \
	MEM_UNROLL \
	for (struct name_key *name = first, *end_ = name + GAP; name < end_; name++)

/* Fills the pipeline. */
static void fill_pipeline(const struct prefetch_names *a, const struct model *m)
{
	for (uint32_t i = 0; i < 3 * GAP; i++)
		prefetch_slot(m, &a->keys[i]);
	for (uint32_t i = 0; i < 2 * GAP; i++)
		guess(m, &a->keys[i]);
	for (uint32_t i = 0; i < GAP; i++)
		prefetch_named(m, &a->keys[i]);
}

/* Runs the pipeline until at least n names have passed it. */
static void resolve_names(struct prefetch_names *a, const struct model *m, uint32_t n)
{
	if (!m->strings.n)
		return;
	if (!a->known && n)
		fill_pipeline(a, m);
	for (; a->known < n; a->known += GAP) {
		struct name_key *key = &a->keys[a->known];

		EACH(later, key + 3 * GAP)
			prefetch_slot(m, later);
		EACH(later, key + 2 * GAP)
			guess(m, later);
		EACH(later, key + GAP)
			prefetch_named(m, later);
		EACH(due, key)
			confirm(m, due);
	}
}

/* n: a constant. */
static inline void prefetch_bytes(const void *p, size_t n)
{
	MEM_UNROLL
	for (size_t at = 0; at < n; at += LINE_BYTES)
		mem_prefetch((const void *)((uintptr_t)p + at));
}

static void prefetch_items(const struct model *m, const struct message *msg, uint32_t session)
{
	uint32_t review = NONE;

	for (uint32_t i = 0; i < msg->events.n; i++) {
		const struct event *e = &msg->events.v[i];
		uint32_t number = message_key(msg, e->id_key)->number - 1;
		const struct interned *name = &m->strings.v[within(number, m->strings.n)];

		review = e->type == EV_REVIEW_RESULT ? name->last : review;
		if (name->shared)
			map_prefetch(&m->item_map, item_hash(session, e->item, number, review));
		else if (m->items.n)
			mem_prefetch(m->items.v[within(name->last, m->items.n)].steps);
	}
}

static void prefetch_entities(const struct model *m, const struct message *msg)
{
	uint32_t session = session_known(m, message_key(msg, msg->session_key));

	if (session == NONE)
		return;
	mem_prefetch(&m->sessions.v[session]);
	if (msg->id_hash)
		ids_prefetch(&m->ids, hash_mix(msg->id_hash, session));
	if (msg->reply_hash)
		ids_prefetch(&m->ids, hash_mix(msg->reply_hash, session));
	prefetch_items(m, msg, session);
}

void prefetch_message(const struct model *m, struct prefetch_names *names,
		      const struct message *msg, enum prefetch_step step)
{
	switch (step) {
	case PREFETCH_HEAD: prefetch_bytes(msg, sizeof(*msg)); break;
	case PREFETCH_EVENTS:
		/* more of them are a sequence that the hardware prefetches */
		prefetch_bytes(msg->events.v, EVENTS_PREFETCHED * sizeof(struct event));
		mem_prefetch(msg->kind.p);
		break;
	case PREFETCH_ENTITIES:
		resolve_names(names, m, (uint32_t)(msg->keys + msg->keys_n - names->keys));
		prefetch_entities(m, msg);
		break;
	case PREFETCH_STEPS: break;
	}
}
