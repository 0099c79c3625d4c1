/* Internal to the model: shared by the files that apply events. Each dialect's cross-message rules
 * are one table in rules_<dialect>.c; a diagnostic is reported on the message that completes it.
 *
 * A log may begin in the middle of a session, so a missing predecessor is an error only if the log
 * has shown one of its kind in this session; otherwise it is a warning. */
#ifndef GAVEL_MODEL_RULES_H
#define GAVEL_MODEL_RULES_H

#include "model/model.h"
#include "model/reply_keys.h"
#include "model/trust.h"

/* A feedback request that waits for its response. */
struct turn_request {
	bool open, has_applied;
	bool unsure; /* ambiguous: a response may have been matched to another one instead of it */
	uint32_t message;
	int64_t iteration;
	uint64_t content_hash;
	uint64_t *decided; /* hashes of the ids it decided */
	uint32_t decided_n;
	uint32_t artifact_hash; /* 0 = none */
};

/* A HVEC with a name. */
struct turn_queue {
	struct turn_request *v;
	uint32_t n, room;
};

struct pending_request {
	uint64_t hash; /* of its id */
	uint32_t message;
	uint32_t newest; /* of the first request of an id: the newest, by any agent */
	int64_t deadline_ms;
	bool answered : 1, timeout_reported : 1, is_event : 1;
	bool shared : 1; /* of the first request of an id: other agents use it, too */
	uint8_t replies;    /* what it asks for, enum reply_content */
	uint32_t options_n; /* answers that it offers */
	union {
		uint64_t *options;  /* of a question: their hashes */
		uint64_t task_hash; /* of others: that of the task it asks for, 0 = none */
	};
};

struct submitted_task {
	uint32_t task, agent; /* the task's name */
};

/* Requests of an orchestrator session. */
struct requests {
	HVEC(struct pending_request) list;
	struct map map;
	struct due_queue due; /* by deadline */
	HVEC(struct submitted_task) submitted;
	struct map submitted_map; /* by submission_hash */
};

/* State of the rules that few sessions need. */
struct session_extra {
	struct requests requests;        /* orchestrator */
	struct turn_queue older;         /* feedback: requests without response before the newest */
	struct due_queue due;            /* of all items, indexes into dated_raises */
	struct due_queue due_for_anyone; /* of those whose asker has no name */
	uint64_t output_hash;            /* envelope: of the newest output since the last input */
	uint32_t output;                 /* its message + 1, 0 = none */
	struct session_asks *asks;       /* real agents (model/asks.h), NULL = none */
	struct acp_connection *acp;      /* acp (rules_acp.c), NULL = none */
};

enum { RECENT_MAX = 64 };

/* Per-session state of the rules. Bit-fields are last to avoid padding (a quarter of the size). */
struct session_rules {
	/* feedback */
	struct turn_queue waiting;  /* first requests whose session is not known yet */
	struct turn_request turn;         /* the newest request of this session */
	int64_t asked, answered;  /* last iterations, 0 = none */
	int64_t done;             /* as in struct turn_state */
	uint64_t request_hash;    /* content hash of its newest request */
	uint64_t raised[4]; /* Bloom filter of improvements, see may_have_raised */
	HVEC(uint32_t) open_items; /* may be open; pruned as they close */
	uint32_t *recent; /* of a home: recently active sessions, newest last; at most RECENT_MAX */
	uint32_t recent_n;
	uint32_t home;    /* the file's own session, which has messages without session id */
	uint32_t request; /* number + 1 of its newest request, 0 = none */
	uint32_t answer;  /* the newest response */
	/* collaboration */
	int64_t sequence;    /* highest of agents so far, -1 */
	int64_t person_next; /* after the highest of a person, 0 = none */
	struct session_extra *extra; /* NULL = not needed yet */
	/* envelope */
	uint32_t inputs; /* index in m->open_inputs + 1, 0 = none yet */
	/* feedback */
	bool answer_failed : 1;
	bool answer_matched : 1; /* its request was seen */
	bool request_unsure : 1; /* the match is ambiguous: it may be another session's */
	bool request_answered : 1; /* the newest response is of the newest request */
	/* collaboration */
	bool saw_assignment : 1, saw_review_request : 1, saw_agents : 1;
	bool saw_architect : 1; /* an architect has spoken */
	bool aborted : 1;       /* and no task was assigned since */
	uint8_t sequence_reports;
	/* handoff */
	bool saw_task : 1, saw_result : 1;
};

_Static_assert(sizeof(struct session_rules) <= 192, "three cache lines");

/* The message being applied. */
struct apply_ctx {
	struct model *m;
	struct message *msg;
	uint32_t message; /* its number */
	uint32_t session;
	uint32_t from, to; /* agents */
	bool chain_reported; /* a differing correlation was; once is enough */
	unsigned glob_budget; /* limit on glob matching steps, against hostile patterns */
	enum trust trust;
	bool reply; /* said to the agents; the last of m->replies */
	bool denied; /* it may change no items, except raise its own (model/trust.h) */
	bool second; /* the other reading of an ambiguous message: reports nothing */
};

/* Readers disagree on what the message says: it raises items that cannot be decided, and neither
 * decides nor closes nor acknowledges anything. */
static inline bool is_ambiguous(const struct apply_ctx *a)
{
	return rarely(a->msg->flags & RECORD_AMBIGUOUS);
}

static inline struct session_rules *rules_of(struct apply_ctx *a)
{
	return a->m->sessions.v[a->session].rules;
}

static inline struct session_extra *extra_of(struct apply_ctx *a)
{
	struct session_rules *r = rules_of(a);

	if (!r->extra)
		r->extra = heap_zalloc(a->m->heap, sizeof(*r->extra));
	return r->extra;
}

/* Bloom filter of the (interned) ids of improvements raised in a session. */
static inline void note_raised(struct session_rules *r, uint32_t id)
{
	uint64_t h = hash_mix(id, 0);

	r->raised[h % 4] |= UINT64_C(1) << (h >> 58);
}

static inline bool may_have_raised(const struct session_rules *r, uint32_t id)
{
	uint64_t h = hash_mix(id, 0);

	return r->raised[h % 4] >> (h >> 58) & 1;
}

/* Adds a diagnostic at the JSON pointer `at` (%u = index), prefixed with msg->inside. */
void report(struct apply_ctx *a, enum severity s, const char *rule, const char *at, uint32_t index,
	    const char *format, ...) __attribute__((format(printf, 6, 7)));

/* Clamps a sender's number to 32 bits. */
static inline uint32_t clamp32(int64_t n)
{
	return n < 0 ? 0 : n > UINT32_MAX ? UINT32_MAX : (uint32_t)n;
}

/* The hash of s, computed unless it is given (not 0). */
static inline uint64_t hash_known(struct str s, uint64_t hash)
{
	return hash ? hash : str_hash(s);
}

/* Hash of the correlation as stored in records; 0 = none. */
static inline uint32_t chain_of(const struct message *msg)
{
	struct str s = msg->correlation;
	uint32_t h = s.n ? (uint32_t)hash_known(s, msg->correlation_hash) : 0;

	return h || !s.n ? h : 1;
}

static inline uint64_t id_hash(const struct apply_ctx *a, const struct event *e)
{
	return hash_known(e->id, message_key(a->msg, e->id_key)->hash);
}

/* The number of a name whose str_hash is h, or NONE; name_intern adds a new one. */
uint32_t name_lookup(const struct model *m, struct str s, uint64_t h);
uint32_t name_intern(struct model *m, struct str s, uint64_t h);
/* Direct-mapped cache: the likely number of a name of that hash (the text is not compared), or
 * NONE. New names tend to be used again soon. */
uint32_t name_cached(const struct model *m, uint64_t h);
/* The number of a name, NONE for an empty one; name_known does not intern: NONE for a new one. */
static inline uint32_t name_known(const struct model *m, struct str s, const struct name_key *key)
{
	if (key->number)
		return key->number - 1;
	return s.n ? name_lookup(m, s, hash_known(s, key->hash)) : NONE;
}

static inline uint32_t name_intern_key(struct model *m, struct str s, const struct name_key *key)
{
	if (key->number)
		return key->number - 1;
	return s.n ? name_intern(m, s, hash_known(s, key->hash)) : NONE;
}

static inline uint32_t id_known(const struct apply_ctx *a, const struct event *e)
{
	return name_known(a->m, e->id, message_key(a->msg, e->id_key));
}

static inline uint32_t id_intern(struct apply_ctx *a, const struct event *e)
{
	return name_intern_key(a->m, e->id, message_key(a->msg, e->id_key));
}

static inline uint32_t task_name_intern(struct apply_ctx *a, const struct event *e)
{
	return name_intern_key(a->m, e->task, message_key(a->msg, e->task_key));
}

/* The session of that name in the group of the last message, or NONE; without a name, the group's
 * own. */
uint32_t session_known(const struct model *m, const struct name_key *key);
/* Finds or adds; NONE for an empty name. */
uint32_t model_session(struct model *m, struct str group, struct str id, const struct name_key *key,
		       uint32_t message);
uint32_t model_agent(struct model *m, uint32_t session, const struct actor *actor,
		     const struct name_key *key, uint32_t message);
uint32_t task_get(struct apply_ctx *a, uint32_t name); /* finds or adds */
struct task_terms *task_terms(struct model *m, uint32_t task); /* finds or adds */
void apply_task_depends(struct apply_ctx *a, const struct event *e);
/* Does nothing for NONE. */
void task_step(struct apply_ctx *a, uint32_t task, enum task_state state, double progress,
	       bool assigned);
/* A message that requests or reports a review. */
struct review_message {
	uint32_t message, review;
};
uint32_t review_get(struct apply_ctx *a, uint32_t name, uint32_t task);
void review_step(struct apply_ctx *a, uint32_t review, uint32_t iteration, enum review_verdict v,
		 uint32_t findings, bool failed);

/* Adds the newest task, review or item to the index of names (name_index.c). */
enum named { NAMED_TASK, NAMED_REVIEW, NAMED_ITEM };
void name_index_add(struct model *m, uint32_t name, enum named what, uint32_t number);
/* Prefetches what that writes for an item that is named like a review. */
void name_index_prefetch(const struct model *m, uint32_t name, enum item_kind kind, uint32_t session);

void item_set_owner(struct model *m, struct item *item, struct owner owner);

static inline uint64_t item_hash(uint32_t session, enum item_kind kind, uint32_t id,
				 uint32_t review)
{
	return hash_mix(hash_mix(session, kind), hash_mix(id, review));
}

/* The same for the items of one agent, where several share an id. */
static inline uint64_t raiser_hash(uint64_t item_hash, uint32_t raiser)
{
	return hash_mix(item_hash, raiser);
}

/* Whether that number is the item of this name. */
bool item_is(const struct model *m, uint32_t number, uint32_t session, enum item_kind kind,
	     uint32_t id, uint32_t review);
/* Raises e's item (or raises it again) and returns its number. task may be NONE. A reply raises
 * nothing: the result is the known item, or NONE. */
uint32_t item_raise(struct apply_ctx *a, const struct event *e, uint32_t task, uint32_t review,
		    uint32_t iteration);
/* The same if the caller has looked up the item; NONE = a new one. */
uint32_t item_raise_found(struct apply_ctx *a, const struct event *e, uint32_t found, uint32_t task,
			  uint32_t review, uint32_t iteration);
uint32_t find_item(const struct model *m, uint32_t session, enum item_kind kind, struct str id,
		   uint32_t review);
/* The same by an interned id; NONE for NONE. */
uint32_t item_named(const struct model *m, uint32_t session, enum item_kind kind, uint32_t id,
		    uint32_t review);
/* The same, raised first by that agent; ANYBODY = by any. */
#define ANYBODY (UINT32_MAX - 1)
uint32_t item_raised_by(const struct model *m, uint32_t session, enum item_kind kind, uint32_t id,
			uint32_t review, uint32_t raiser);
/* The same in the message's session, without review; asks may_have_raised first. */
uint32_t item_here(const struct apply_ctx *a, enum item_kind kind, uint32_t id);
/* false: the message may not do that (model/trust.h). */
bool item_step(struct apply_ctx *a, uint32_t item, enum step_kind what, enum verdict verdict,
	       uint32_t iteration);
/* Whether an item is open after a step; the decision overlay is not considered. */
static inline bool is_open_after(bool open, const struct item_step *s)
{
	switch ((enum step_kind)s->what) {
	case STEP_RAISED: return s->opens;
	case STEP_BOUNCED: return true;
	case STEP_ACKED: return open;
	case STEP_DECIDED:
	case STEP_FIXED:
	case STEP_SUPERSEDED:
	case STEP_EXPIRED:
	case STEP_WITHDRAWN: break;
	}
	return false;
}

/* Folds the next step into an item's state, from step 0 on; without the decision overlay. */
void item_fold(const struct item *item, uint32_t step, struct item_state *at);
/* Deadlines and expiry (expiry.c). NULL: no raise of the item had a deadline. */
const struct dated_item *item_dated(const struct model *m, const struct item *item);
/* From one of an item's dated raises on, the newest one as of k. */
uint32_t dated_raise_after(const struct model *m, uint32_t raise, uint32_t k);
/* Adds a dated raise, and returns its index. */
uint32_t deadline_add(struct model *m, uint32_t item, uint32_t message, int64_t deadline_ms);
/* The message being applied has raised the item, with this deadline or TIME_NONE. */
void deadline_set(struct apply_ctx *a, uint32_t item, int64_t deadline_ms);
/* Who asked asks again after the deadline: it had expired. */
void expire_before_raise(struct apply_ctx *a, uint32_t item);
/* Expires what is due by the message being applied, after its dialect's rules. */
void expire_items(struct apply_ctx *a);
/* Sort weight in the inbox; the default of its kind if it has no grade. */
unsigned item_weight(const struct item *item, enum grade grade);
/* Sort key in the inbox of an open item with a deadline. */
struct inbox_place {
	int64_t deadline_ms;
	uint32_t weight, item;
};
int inbox_order(const void *left, const void *right);
/* Closes every open item of a task's chain raised before this message. kinds: bits of item kinds */
void close_items(struct apply_ctx *a, uint32_t task, unsigned kinds, enum step_kind what,
		 enum verdict verdict);

/* Replies (replies.c). reply_add: the message that is applied is one. */
void reply_add(struct apply_ctx *a, const struct place *place);
/* Who said it by its own words, unless the journal knows; nothing for other messages. */
void reply_name_person(struct apply_ctx *a, struct str by);
/* The reply that is applied decides an item. */
void reply_decides(struct apply_ctx *a, uint32_t item);
/* The message that is applied acknowledges an earlier one, if that is a reply to its sender. */
void reply_acknowledge(struct apply_ctx *a, uint32_t message);
/* It acknowledges the decision on one item; before that becomes a step. */
void reply_item_acked(struct apply_ctx *a, uint32_t item);

/* Inputs of envelopes that wait for an output (open_inputs.c). */
/* The message being applied is an input of that lane. */
void input_open(struct apply_ctx *a, uint32_t lane);
/* The lane of the session's last input, or NONE. */
uint32_t newest_lane(struct apply_ctx *a);
/* It is an output. False if several inputs are open; it is then one of m->unclear_outputs. */
bool input_answer(struct apply_ctx *a);

/* Messages of a person in a collaboration session (human.c).
 *
 * The task of the message replied to, or NONE. */
uint32_t replied_task(const struct apply_ctx *a);
/* Decides an item that was raised by the message replied to, unless it was raised again since.
 * false: not decided, or already decided by this message. */
bool person_decides(struct apply_ctx *a, uint32_t item, enum verdict v);
/* Whether it decides items of a known message by name, for apply_named_decisions. */
bool decides_by_name(const struct apply_ctx *a);
void apply_named_decisions(struct apply_ctx *a);
/* A person's review result overrides that of a round: the one it replies to, else the newest if
 * that has a result. Returns the round, 0 = it does not override. */
uint32_t override_round(const struct apply_ctx *a, const struct review *r);
/* The override decides the verdict item of the review only; its findings are not touched. */
void apply_override(struct apply_ctx *a, const struct event *e);

/* Sets a->session to the one that a request without session id continues (feedback_session.c). */
void feedback_find_session(struct apply_ctx *a, struct str group);
/* Whether it repeats the session's failed request. */
bool feedback_is_resent(const struct model *m, uint32_t session, const struct event *ask);

/* Rules about messages that come again. */
struct id_rules {
	const char *at;    /* JSON pointer of the id */
	const char *again; /* the same message once more: a note */
	const char *reuse; /* another message with its id: an error */
};

/* A NULL slot: not in this dialect. */
struct rules_ops {
	const char *name;
	/* Applies the message's events and reports violations. */
	void (*apply)(struct apply_ctx *a);
	/* Sets a->session to the one that a message without session id continues, or the name of
	 * the sender where only the session knows it. */
	void (*find_session)(struct apply_ctx *a, struct str group);
	/* The id of the message that this one acknowledges, if its addressee sends it; may be
	 * empty. NULL: the dialect has no acknowledgment, or one for each item. */
	struct str (*replied_to)(const struct message *msg);
	/* Keys of a reply; of a message of the agents as the effect of replies, and as what they
	 * answer once it is applied: reply_keys.h. */
	void (*reply_keys)(const struct message *msg, struct reply_keys *out);
	void (*effect_keys)(const struct message *msg, struct reply_keys *out);
	void (*offer_keys)(const struct model *m, uint32_t session, const struct message *msg,
			   struct reply_keys *out);
	/* Of messages without id: the one that this one repeats, or NONE. */
	uint32_t (*repeated)(const struct apply_ctx *a);
	/* For item_subject. */
	uint32_t (*subject)(const struct model *m, const struct item *item, uint32_t message);
	struct id_rules id;
	/* Messages name no sender: what one agent wrote is that agent's, and what it was told is
	 * for that agent. */
	bool names_nobody;
	/* An agent repeats what it was told, to prove that it has used it. */
	bool echoes;
};

/* By a dialect's number (rules_registry.c); NULL behind the last. */
extern const struct rules_ops *const dialect_rules[DIALECT_MAX];

#endif
