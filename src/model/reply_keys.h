/* Keys by which a reply is put behind the message that it answers, where no journal says where it
 * was said. A message of the agents offers keys; a reply names those it waits for.
 *
 *   behind   it belongs right behind the first message that offers one of these
 *   before   it belongs before the first message that offers one of these: its effect
 *
 * Some keys are not unique: a task may have several Results. Of the replies that wait for such a
 * key, each message that offers it releases one, in their order. */
#ifndef GAVEL_MODEL_REPLY_KEYS_H
#define GAVEL_MODEL_REPLY_KEYS_H

#include "event/event.h"

struct model;

enum answers {
	ANSWERS_MESSAGE, /* a message, by its id: unique, unless other agents may use the id, too */
	ANSWERS_ITEM,    /* an item raised in a turn: several Requests may decide it */
	ANSWERS_TURN,    /* a Response, by its iteration */
	ANSWERS_FAILED,  /* the same, of an error: its Request may be sent again */
	ANSWERS_TASK,    /* a message that waits for a Decision on its task */
	ANSWERS_LANE,    /* an output envelope, by lane and iteration */
	ANSWERS_GIVEN,   /* work on a task that the reply gave out */
};

struct reply_key {
	uint64_t hash;
	bool before;
	bool unique;
	bool escalates; /* an escalation, or the reason of a rejection that is told before it, may be
			   followed by an answer to the same message */
};

struct reply_keys {
	VEC(struct reply_key) list;
	bool answers_nothing; /* by its nature, as an abort of the session: its time tells where */
};

static inline uint64_t reply_key(enum answers kind, int64_t number, struct str name)
{
	return hash_mix(hash_mix((uint64_t)kind, (uint64_t)number), name.n ? str_hash(name) : 0);
}

static inline void reply_key_add(struct reply_keys *out, uint64_t hash, bool before, bool unique)
{
	vec_push(&out->list, (struct reply_key){ hash, before, unique });
}

/* The keys that a decoded reply waits for; *out is emptied first. */
void message_reply_keys(const struct message *msg, struct reply_keys *out);
/* The keys that the message just applied offers to replies behind it. */
void message_offer_keys(const struct model *m, const struct message *msg, struct reply_keys *out);
/* The keys that a message, not yet applied, offers to replies before it. */
void message_effect_keys(const struct message *msg, struct reply_keys *out);

#endif
