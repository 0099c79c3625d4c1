/* Index from names to tasks, reviews and items. Most names belong to one entity, whose number is
 * stored with the interned name. Only entities that share a name are added to the hash maps, where
 * every lookup is a cache miss. */
#include "model/rules.h"

/* Two of the items that differ only in who raised them are found by their names alone; the others
 * only with the agent, so that many agents with one id make no long chain. */
static void put_item(struct model *m, uint64_t h, uint32_t number)
{
	const struct item *item = &m->items.v[number];
	struct owner owner = item_owner(m, item);
	uint32_t same = 0;

	for (uint32_t it = 0, v; map_next(&m->item_map, h, &it, &v);)
		same += item_is(m, v, owner.session, (enum item_kind)item->kind, item->id,
				owner.review);
	map_put(m->heap, &m->item_map,
		same < 2 ? h : raiser_hash(h, step_by(m, &item->steps[0])), number);
}

static void put_in_map(struct model *m, uint32_t name, enum named what, uint32_t number)
{
	struct owner owner;

	switch (what) {
	case NAMED_TASK:
		map_put(m->heap, &m->task_map, hash_mix(m->tasks.v[number].session, name), number);
		break;
	case NAMED_REVIEW:
		map_put(m->heap, &m->review_map, hash_mix(m->reviews.v[number].session, name),
			number);
		break;
	case NAMED_ITEM:
		owner = item_owner(m, &m->items.v[number]);
		put_item(m, item_hash(owner.session, (enum item_kind)m->items.v[number].kind, name,
				      owner.review), number);
		break;
	}
}

/* Kind of the only entity with that name so far; skips the newest, which may have its number. */
static enum named kind_of_only(const struct model *m, uint32_t name, enum named newest)
{
	uint32_t number = m->strings.v[name].last;

	if (number < m->tasks.n - (newest == NAMED_TASK) && m->tasks.v[number].id == name)
		return NAMED_TASK;
	if (number < m->reviews.n - (newest == NAMED_REVIEW) && m->reviews.v[number].id == name)
		return NAMED_REVIEW;
	return NAMED_ITEM;
}

void name_index_add(struct model *m, uint32_t name, enum named what, uint32_t number)
{
	struct interned *kept = &m->strings.v[name];

	if (kept->last != NONE && !kept->shared) {
		kept->shared = true;
		put_in_map(m, name, kind_of_only(m, name, what), kept->last);
	}
	if (kept->shared)
		put_in_map(m, name, what, number);
	kept->last = number;
}

void name_index_prefetch(const struct model *m, uint32_t name, enum item_kind kind, uint32_t session)
{
	map_prefetch(&m->review_map, hash_mix(session, name));
	map_prefetch(&m->item_map, item_hash(session, kind, name, NONE));
}
