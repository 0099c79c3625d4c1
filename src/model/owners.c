/* Owner of an item: a review implies its task, a task its session, so one number is enough. Only an
 * item of a message that names a review with another task than before needs an entry in
 * item_owners. */
#include "model/rules.h"

struct owner item_owner(const struct model *m, const struct item *item)
{
	switch ((enum item_owner)item->owned) {
	case OWNER_SESSION: break;
	case OWNER_TASK:
		return (struct owner){ m->tasks.v[item->owner].session, item->owner, NONE };
	case OWNER_REVIEW:
		return (struct owner){ m->reviews.v[item->owner].session,
				       m->reviews.v[item->owner].task, item->owner };
	case OWNER_OWN: return m->item_owners.v[item->owner];
	}
	return (struct owner){ item->owner, NONE, NONE };
}

_Static_assert(sizeof(struct owner) == 12, "no padding: compared as bytes");

void item_set_owner(struct model *m, struct item *item, struct owner owner)
{
	struct owner implied;
	item->owned = owner.review != NONE ? OWNER_REVIEW
		      : owner.task != NONE ? OWNER_TASK
					   : OWNER_SESSION;
	item->owner = owner.review != NONE ? owner.review
		      : owner.task != NONE ? owner.task
					   : owner.session;
	implied = item_owner(m, item);
	if (memcmp(&implied, &owner, sizeof(owner)) == 0)
		return;
	item->owned = OWNER_OWN;
	item->owner = m->item_owners.n;
	heap_push(m->heap, &m->item_owners, owner);
}

uint32_t item_task(const struct model *m, const struct item *item)
{
	return item_owner(m, item).task;
}
