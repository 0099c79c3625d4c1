/* Index from names to tasks, reviews and items. Most names belong to one entity, whose number is
 * stored with the interned name. Only entities that share a name are added to the hash maps, where
 * every lookup is a cache miss. */
#include "model/rules.h"

static void file_task(struct model *m, uint32_t number)
{
	const struct task *task = &m->tasks.v[number];

	map_put(m->heap, &m->task_map, hash_mix(task->session, task->id), number);
}

static void file_review(struct model *m, uint32_t number)
{
	const struct review *review = &m->reviews.v[number];

	map_put(m->heap, &m->review_map, hash_mix(review->session, review->id), number);
}

static void file_item(struct model *m, uint32_t number)
{
	const struct item *item = &m->items.v[number];
	struct owner owner = item_owner(m, item);

	map_put(m->heap, &m->item_map,
		item_hash(owner.session, (enum item_kind)item->kind, item->id, owner.review), number);
}

static void file(struct model *m, enum named what, uint32_t number)
{
	switch (what) {
	case NAMED_TASK: file_task(m, number); break;
	case NAMED_REVIEW: file_review(m, number); break;
	case NAMED_ITEM: file_item(m, number); break;
	}
}

/* Kind of the only entity with that name so far; skips the newest, which may have its number. */
static enum named only_one(const struct model *m, uint32_t name, enum named newest)
{
	uint32_t number = m->strings.v[name].last;

	if (number < m->tasks.n - (newest == NAMED_TASK) && m->tasks.v[number].id == name)
		return NAMED_TASK;
	if (number < m->reviews.n - (newest == NAMED_REVIEW) && m->reviews.v[number].id == name)
		return NAMED_REVIEW;
	return NAMED_ITEM;
}

void name_give(struct model *m, uint32_t name, enum named what, uint32_t number)
{
	struct interned *kept = &m->strings.v[name];

	if (kept->last != NONE && !kept->shared) {
		kept->shared = true;
		file(m, only_one(m, name, what), kept->last);
	}
	if (kept->shared)
		file(m, what, number);
	kept->last = number;
}
