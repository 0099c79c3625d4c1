/* Owner of an item: a review implies its task, a task its session, so one number is enough. Only if
 * a message names a review with another task than before, the item gets an entry of its own in
 * item_owners. */
#include "model/rules.h"

struct owner item_owner(const struct model *m, const struct item *item)
{
	switch ((enum item_owner)item->owned) {
	case OWNER_SESSION: break;
	case OWNER_TASK: return (struct owner){ m->tasks.v[item->owner].session, item->owner, NONE };
	case OWNER_REVIEW:
		return (struct owner){ m->reviews.v[item->owner].session,
				       m->reviews.v[item->owner].task, item->owner };
	case OWNER_OWN: return m->item_owners.v[item->owner];
	}
	return (struct owner){ item->owner, NONE, NONE };
}

static bool same_owner(struct owner a, struct owner b)
{
	return a.session == b.session && a.task == b.task && a.review == b.review;
}

void item_give(struct model *m, struct item *item, struct owner owner)
{
	item->owned = owner.review != NONE ? OWNER_REVIEW
		      : owner.task != NONE ? OWNER_TASK
					   : OWNER_SESSION;
	item->owner = owner.review != NONE ? owner.review
		      : owner.task != NONE ? owner.task
					   : owner.session;
	if (item->owned == OWNER_SESSION || same_owner(item_owner(m, item), owner))
		return;
	item->owned = OWNER_OWN;
	item->owner = m->item_owners.n;
	heap_push(m->heap, &m->item_owners, owner);
}

uint32_t item_task(const struct model *m, const struct item *item)
{
	return item_owner(m, item).task;
}
