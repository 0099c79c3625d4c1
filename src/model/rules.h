/* Inside the model only: what the files that apply events share. Each dialect's cross-message rules
 * are one table in rules_<dialect>.c; a rule reports on the message that completes it.
 *
 * A log may begin in the middle of a session. What came before it is not known to be missing, so a
 * missing predecessor is an error only where the log is known to hold such predecessors (one was
 * seen in this session); otherwise it warns. */
#ifndef GAVEL_MODEL_RULES_H
#define GAVEL_MODEL_RULES_H

#include "model/model.h"

/* A feedback request that waits for its response. */
struct turn {
	bool open, has_applied;
	bool unsure; /* one that could have been taken for it has been answered */
	int64_t iteration;
	uint32_t message, decided_n;
	uint64_t content_hash;
	uint64_t *decided; /* hashes of the ids it decided */
};

struct request {
	uint64_t hash; /* of its id */
	uint32_t message;
	int64_t deadline_ms;
	bool answered, late_told, is_event;
};

/* Those of a session with an orchestrator. */
struct requests {
	HVEC(struct request) list;
	struct map map;
	HVEC(uint32_t) due; /* heap of requests, earliest deadline first */
};

enum { RECENT_MAX = 64 };

/* Small members stand together at the end, or there would be a quarter more of it. */
struct session_rules {
	/* feedback */
	HVEC(struct turn) waiting; /* first ones seen, whose session is not known yet */
	struct turn turn;         /* the newest request of this session */
	int64_t asked, answered;  /* last iterations, 0 = none */
	int64_t done;             /* as in struct turn_state */
	uint64_t request_hash;    /* of what its newest request asks */
	uint64_t raised[4]; /* a bit for each improvement, see may_have_raised */
	HVEC(uint32_t) open_items; /* may be open; pruned as they close */
	uint32_t *recent; /* of a home: sessions lately active, newest last; at most RECENT_MAX */
	uint32_t recent_n;
	uint32_t home;    /* the session of the file: where bare messages are */
	uint32_t request; /* number + 1 of its newest request, 0 = none */
	uint32_t answer;  /* the newest response */
	/* collaboration */
	int64_t sequence;    /* highest of agents so far, -1 */
	int64_t person_next; /* after the highest of a person's seat, 0 = none spoke */
	/* orchestrator */
	struct requests *requests; /* NULL = none yet */
	/* envelope */
	uint32_t lane;
	/* feedback */
	bool answer_failed : 1;
	bool answer_matched : 1; /* its request was seen */
	bool request_unsure : 1; /* it may be another session's */
	/* collaboration */
	bool saw_assignment : 1, saw_review_request : 1, saw_agents : 1;
	uint8_t sequence_complaints;
	/* handoff */
	bool saw_result : 1, saw_task : 1;
};

_Static_assert(sizeof(struct session_rules) <= 192, "three lines of a cache");

/* The message being applied. */
struct applying {
	struct model *m;
	struct message *msg;
	uint32_t message; /* its number */
	uint32_t session;
	uint32_t from, to; /* agents */
	unsigned glob_budget; /* steps of matching that this message may cost */
};

static inline struct session_rules *rules_of(struct applying *a)
{
	return a->m->sessions.v[a->session].rules;
}

/* A quick no to the question whether an improvement of that (interned) id was raised in a
 * session. */
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

/* Reports at `at` (with index in place of %u), inside part.text where the message is. */
void report(struct applying *a, enum severity s, const char *rule, const char *at, uint32_t index,
	    const char *format, ...) __attribute__((format(printf, 6, 7)));

/* Counts of senders, kept to what a step can hold. */
static inline uint32_t small(int64_t n)
{
	return n < 0 ? 0 : n > UINT16_MAX ? UINT16_MAX : (uint32_t)n;
}

/* The hash of s, which may be known. */
static inline uint64_t hash_known(struct str s, uint64_t hash)
{
	return hash ? hash : str_hash(s);
}

/* What records keep of a correlation; 0 = none. */
static inline uint32_t chain_of(const struct message *msg)
{
	struct str s = msg->correlation;
	uint32_t h = s.n ? (uint32_t)hash_known(s, msg->correlation_hash) : 0;

	return h || !s.n ? h : 1;
}

static inline uint64_t id_hash(const struct applying *a, const struct event *e)
{
	return hash_known(e->id, message_key(a->msg, e->id_key)->hash);
}

/* The number of a name whose str_hash is h, or NONE; name_intern: a new one's, too. */
uint32_t name_lookup(const struct model *m, struct str s, uint64_t h);
uint32_t name_intern(struct model *m, struct str s, uint64_t h);
/* The number that a name of that hash has in all likelihood, if it was looked for lately, or NONE.
 * New names come again soon: a small table knows the last one of each hash. */
uint32_t name_recent(const struct model *m, uint64_t h);
/* The number of a name, NONE for an empty one; name_known: also for one that is new. */
static inline uint32_t name_known(const struct model *m, struct str s, const struct name_key *key)
{
	if (key->number)
		return key->number - 1;
	return s.n ? name_lookup(m, s, hash_known(s, key->hash)) : NONE;
}

static inline uint32_t name_kept(struct model *m, struct str s, const struct name_key *key)
{
	if (key->number)
		return key->number - 1;
	return s.n ? name_intern(m, s, hash_known(s, key->hash)) : NONE;
}

static inline uint32_t id_known(const struct applying *a, const struct event *e)
{
	return name_known(a->m, e->id, message_key(a->msg, e->id_key));
}

static inline uint32_t id_kept(struct applying *a, const struct event *e)
{
	return name_kept(a->m, e->id, message_key(a->msg, e->id_key));
}

static inline uint32_t task_name_known(const struct applying *a, const struct event *e)
{
	return name_known(a->m, e->task, message_key(a->msg, e->task_key));
}

static inline uint32_t task_name_kept(struct applying *a, const struct event *e)
{
	return name_kept(a->m, e->task, message_key(a->msg, e->task_key));
}

/* The session of that name in the group that spoke last, or NONE; without a name, the group's own. */
uint32_t session_known(const struct model *m, const struct name_key *key);
/* Finds or adds; NONE for an empty name. */
uint32_t model_session(struct model *m, struct str group, struct str id, const struct name_key *key,
		       uint32_t message);
uint32_t model_agent(struct model *m, uint32_t session, const struct actor *actor,
		     const struct name_key *key, uint32_t message);
/* Existing only, or NONE. */
uint32_t find_agent(const struct model *m, uint32_t session, struct str name);
uint32_t find_task(const struct model *m, uint32_t session, struct str id);
uint32_t task_named(const struct model *m, uint32_t session, uint32_t name);
uint32_t task_get(struct applying *a, uint32_t name); /* finds or adds */
uint32_t task_root(const struct model *m, uint32_t task);
struct task_terms *task_terms(struct model *m, uint32_t task); /* finds or adds */
void task_need(struct applying *a, uint32_t task, uint32_t needed); /* needed: interned */
void task_step(struct applying *a, uint32_t task, enum task_state state, double progress,
	       bool assigned);
uint32_t review_get(struct applying *a, uint32_t name, uint32_t task);
void review_step(struct applying *a, uint32_t review, uint32_t iteration, enum review_verdict v,
		 uint32_t findings, bool failed);

/* Gives a name to a task, review or item that has just been added. */
enum named { NAMED_TASK, NAMED_REVIEW, NAMED_ITEM };
void name_give(struct model *m, uint32_t name, enum named what, uint32_t number);

void item_give(struct model *m, struct item *item, struct owner owner);

static inline uint64_t item_hash(uint32_t session, enum item_kind kind, uint32_t id, uint32_t review)
{
	return hash_mix(hash_mix(session, kind), hash_mix(id, review));
}

/* Raises e's item (or raises it again) and returns its number. task may be NONE. */
uint32_t item_raise(struct applying *a, const struct event *e, uint32_t task, uint32_t review,
		    uint32_t iteration);
/* The same for who knows which item that is; NONE = a new one. */
uint32_t item_raise_found(struct applying *a, const struct event *e, uint32_t found, uint32_t task,
			  uint32_t review, uint32_t iteration);
uint32_t find_item(const struct model *m, uint32_t session, enum item_kind kind, struct str id,
		   uint32_t review);
/* The same by an interned id; NONE for NONE. */
uint32_t item_named(const struct model *m, uint32_t session, enum item_kind kind, uint32_t id,
		    uint32_t review);
/* The same in the message's session, of no review; quick to say that an improvement is new. */
uint32_t item_here(const struct applying *a, enum item_kind kind, uint32_t id);
void item_step(struct applying *a, uint32_t item, enum step_kind what, enum verdict verdict,
	       uint32_t iteration);
bool item_is_open(const struct item *item);
/* Which of the dated an item is that has a deadline. */
uint32_t dated_place(const struct model *m, uint32_t item);
/* For the order of the inbox; that of its kind where nobody graded it. */
unsigned item_weight(const struct item *item, enum item_severity grade);
/* Closes every open item of a task's chain raised before this message. kinds: bits of item kinds */
void close_items(struct applying *a, uint32_t task, unsigned kinds, enum step_kind what,
		 enum verdict verdict);

/* What a person says in a collaboration session (person.c).
 *
 * The task that the message is about, as what it replies to tells; NONE. */
uint32_t task_meant(const struct applying *a);
/* Decides an item that the message answered has raised; raised again since, it is another question.
 * false: not this item, or it was decided by this message already. */
bool person_decides(struct applying *a, uint32_t item, enum verdict v);
/* Whether it names what it decides in a message that is known; apply_named then decides it. */
bool names_items(const struct applying *a);
void apply_named(struct applying *a);
/* The round on which a review's result is a person's last word: the one it replies to, else the
 * newest if that was answered. 0 = it is none. */
uint32_t last_word_round(const struct applying *a, const struct review *r);
/* The last word decides what the review asked for, and no more: its findings stay as they are. */
void apply_last_word(struct applying *a, const struct event *e);

/* Whether it is the session's failed request once more. */
bool feedback_is_resent(const struct model *m, uint32_t session, const struct event *ask);

/* Of messages that have an id: where it stands, and which rules speak of it. */
struct id_rules {
	const char *at;
	const char *again; /* the same message once more: a note */
	const char *reuse; /* another message with its id: an error */
};

/* A NULL slot: the dialect has no such thing. */
struct rules_ops {
	const char *name; /* the dialect's */
	/* Applies the message's events, and reports what they break. */
	void (*apply)(struct applying *a);
	/* A message may name no session: finds the one it goes on with, and sets a->session. */
	void (*find_session)(struct applying *a, struct str group);
	/* The id of the message that this one replies to; may be empty. */
	struct str (*replied_to)(const struct message *msg);
	struct id_rules id;
};

/* By a dialect's number (rules_registry.c); NULL behind the last. */
extern const struct rules_ops *const dialect_rules[DIALECT_MAX];

#endif
