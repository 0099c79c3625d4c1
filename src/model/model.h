/* The model: events in, entities with histories out. No I/O, no clock, no terminal.
 *
 * Messages are applied in order and numbered from 0. Every entity keeps what happened to it as
 * steps, each with the number of the message that caused it; nothing that a view can see is ever
 * changed, only added. So the session as of the first k messages is what one gets by looking at
 * steps with message < k, and equals what loading only those k messages gives. A cursor is that k.
 *
 * Entities refer to each other by number; NONE means none. Names are interned: model_str(m, id).
 * Texts of items are not kept; a view reads the message again (record) and asks its dialect. */
#ifndef GAVEL_MODEL_MODEL_H
#define GAVEL_MODEL_MODEL_H

#include "base/yield.h"
#include "base/buf.h"
#include "base/map.h"
#include "event/event.h"
#include "model/findings.h"
#include "model/ids.h"
#include "model/whence.h"

enum step_kind {
	STEP_RAISED,
	STEP_DECIDED,
	STEP_ACKED,      /* the decision was acknowledged */
	STEP_BOUNCED,    /* unknown_id: the item is open again */
	STEP_FIXED,      /* listed as fixed in an iteration */
	STEP_SUPERSEDED, /* a later turn or review overtook it undecided */
};

struct item_step {
	uint32_t message; /* also tells who: step_by */
	uint32_t index; /* RAISED: which element of the message */
	uint32_t hash;  /* RAISED: of what it says */
	uint16_t iteration;
	uint8_t verdict;
	uint8_t what : 3;        /* enum step_kind */
	uint8_t grade : 3;       /* RAISED: enum item_severity */
	uint8_t undecidable : 1; /* RAISED: its id, or a field the reply needs, is broken */
	uint8_t bare : 1;        /* RAISED: a verdict whose review has no findings */
};

/* What an item belongs to, and through that to the rest: a review is of a task, a task of a
 * session. */
enum item_owner {
	OWNER_SESSION,
	OWNER_TASK,
	OWNER_REVIEW, /* it is its finding or change */
	OWNER_OWN,    /* number in item_owners: what it named together belongs apart elsewhere */
};

struct item {
	uint32_t id;    /* interned; NONE = named after kind and line */
	uint32_t owner; /* number; item_session, item_task and item_review tell */
	struct item_step *steps;
	uint32_t n;
	uint8_t kind;   /* enum item_kind */
	bool open : 1;  /* after all its steps; deadline and standing aside */
	bool dated : 1; /* item_deadline tells */
	bool stood : 1; /* a person has decided on it: item_standing */
	uint8_t owned : 2; /* enum item_owner */
	uint8_t origin_dialect, origin_kind; /* of what a queue passes on; dialect 0 = none */
};

_Static_assert(sizeof(struct item) <= 24, "there may be millions");

struct owner {
	uint32_t session, task, review;
};

struct dated_item {
	int64_t deadline_ms;
	uint32_t item;
};

/* What a person has decided here, laid over what the log says.
 *
 * It holds for the text that was shown: seen from `from` on, until a message raises the item anew
 * (other words, a later iteration, after it was closed). Meanwhile the verdict is the person's and
 * the item is not open, whatever the log says of it; it does not expire either. Two have not
 * happened, and leave the item as the log has it: a staged one, whose verdict is shown as long as
 * the item is open, and one that bounced. The log's acknowledgement of one that was sent or held
 * counts at once. */
struct standing {
	uint32_t item;
	uint32_t from; /* messages that had come by then; at least the one that raised it */
	uint32_t by;   /* interned name */
	int64_t time_ms;
	uint8_t verdict;  /* enum verdict */
	uint8_t delivery; /* enum delivery */
};

/* A message that answers one whose id was expected (model_expect). */
struct reply {
	uint32_t expected; /* number that model_expect gave */
	uint32_t message;
};

/* Messages that came one after the other from one group; of a file of replies, from none. */
struct stretch {
	uint32_t first; /* message */
	uint32_t group; /* interned, NONE */
};

/* Messages from `first` on came at that time, as far as anybody watched them come. */
struct arrival {
	uint32_t first;
	int64_t time_ms;
};

struct task_step {
	uint32_t message;
	uint32_t agent;   /* who has it */
	uint8_t state;    /* enum task_state */
	uint8_t percent;  /* 255 = not told */
	bool assigned;    /* the message gives the task out: its text is there */
};

/* What the envelopes of a lane said last to be missing. */
struct gaps {
	uint64_t hash, in_hash;
	int64_t in_iteration;
	uint32_t line;
};

struct task_need {
	uint32_t message;
	uint32_t task_id; /* interned */
};

/* What a task was given out with; there is nothing of it in most protocols. */
struct task_terms {
	HVEC(struct task_need) needs;
	/* for rules of collaboration */
	HVEC(uint32_t) scope;      /* globs, interned */
	int64_t given_ms, told_ms; /* when it was given out, and last reported on */
};

struct task {
	uint32_t id, session;
	uint32_t root;  /* the first of a chain of revisions; itself otherwise */
	uint32_t limit; /* review iterations */
	HVEC(struct task_step) steps;
	struct task_terms *terms; /* or NULL */
	/* for rules while messages are applied */
	uint32_t rounds;     /* of a root: reviews so far */
	uint32_t failures : 27;
	bool given : 1, active : 1, escalated : 1, has_result : 1, sensitive : 1;
	struct gaps *gaps; /* of a lane of envelopes, else NULL */
	double confidence;
	HVEC(uint32_t) open_items; /* of a root: may be open; pruned as they close */
};

struct review_step {
	uint32_t message;
	uint16_t iteration;
	uint16_t findings;
	uint8_t verdict; /* enum review_verdict; REVIEW_NONE = asked */
	bool failed;     /* a feedback turn that ended in an error */
};

/* A review of a task, or a feedback loop (task NONE): rounds of asking and answering. */
struct review {
	uint32_t id, session, task, reviewer;
	HVEC(struct review_step) steps;
	bool asked; /* a request is waiting for its result */
	uint32_t round;
};

struct agent_step {
	uint32_t message, state; /* state interned */
};

struct agent {
	uint32_t name, type, session;
	uint32_t first; /* message */
	HVEC(struct agent_step) states; /* told by others */
	int64_t *recent_ms; /* times of the last messages, for the rate rule */
	uint32_t recent_n;
	bool known, human, sent, flooding;
};

struct usage {
	uint32_t message, agent;
	uint64_t tokens_in, tokens_out, tokens_cached;
	double cost;
};

enum { MODEL_RECENT_NAMES = 2048, MODEL_RECENT = 1024, MODEL_RECENT_KINDS = 256 };

/* An interned text. */
struct interned {
	const char *p;
	uint32_t n : 31;
	bool shared : 1; /* several tasks, reviews or items have it */
	uint32_t last;   /* number of the one that was asked for by it last; NONE = none has it */
};

/* A session of a group, or an agent of a session, met lately: what its name in that is filed as.
 * Whoever finds it here need not look at the entity, which is far away. */
struct recent {
	uint32_t of, name;
	uint32_t number; /* plus one; 0 = none */
};

struct recent_route {
	struct route route;
	uint32_t number; /* the same */
};

struct model {
	struct heap *heap; /* where all of it is, but for this struct */
	HVEC(struct record) records;
	int64_t now_ms; /* the newest time of theirs, WHEN_NONE */
	HVEC(struct route) routes;
	struct whence whence;
	HVEC(struct session) sessions;
	HVEC(struct agent) agents;
	HVEC(struct task) tasks;
	HVEC(struct review) reviews;
	HVEC(struct item) items;
	HVEC(struct owner) item_owners;
	uint32_t open_count;  /* of items */
	HVEC(struct dated_item) dated; /* by number */
	HVEC(struct usage) usage;
	struct findings findings; /* about several messages, each on the one that completes it */
	HVEC(struct interned) strings;
	HVEC(struct standing) standings;
	HVEC(uint32_t) expected; /* interned ids of messages */
	HVEC(struct reply) replies;
	HVEC(struct stretch) stretches;
	HVEC(struct arrival) arrivals;
	struct ids ids;
	uint32_t group_before; /* name of the newest message's; may be anything */
	uint32_t office_names[OFFICE_COUNT]; /* interned, plus one; 0 = not met yet */
	/* those met last, by a hash: few speak at a time, and big maps are slow */
	struct recent recent_sessions[MODEL_RECENT], recent_agents[MODEL_RECENT];
	struct recent_route recent_routes[MODEL_RECENT];
	uint8_t recent_kinds[MODEL_RECENT_KINDS];
	struct map_slot recent_names[MODEL_RECENT_NAMES]; /* the last one of each hash */
	struct map route_map, string_map, session_map, agent_map, task_map, review_map, item_map, expected_map,
		standing_map;
	/* the judge's thresholds (handoff): from approve_from on a result passes, from human_from
	 * on a person decides */
	double approve_from, human_from;
	bool runs_agents; /* gavel is the orchestrator: a submitted task needs a person */
	struct str kinds[256];
	unsigned kind_count;
};

/* What a message's bytes are and where they are, as the wire knows it. */
struct place {
	uint32_t source, line, length;
	uint64_t offset;
	struct str group; /* the session's name where messages name none */
	bool aside; /* from a file of replies: another reading of the group may not have it */
};

void model_init(struct model *m);
/* In a heap of the caller's making, which is the model's from then on. */
void model_init_in(struct model *m, struct heap *heap);
void model_release(struct model *m);
/* Applies one message. Diagnostics of cross-message rules are added to msg->diags and kept. */
void model_apply(struct model *m, struct message *msg, const struct place *place);
/* What of that makes a message one more. */
void model_add_record(struct model *m, struct record r);

/* How a person's decision stands; takes the place of an older one on the same item. delivery
 * DELIVERY_NONE takes it away. */
void model_stand(struct model *m, const struct standing *s);
/* How many of the first k messages came from the group of that session, files of replies not
 * counted: a number that still means the same when the group is read together with others. */
uint32_t model_seen(const struct model *m, uint32_t session, uint32_t k);
/* The other way round: how many messages had come when the group had that many; at most all. */
uint32_t model_when_seen(const struct model *m, uint32_t session, uint32_t seen);
/* From now on a message that replies to this id is noted in replies; what has come already is not
 * looked at again. Expecting the same id twice gives the same number. */
uint32_t model_expect(struct model *m, struct str message_id);
/* The messages from `first` on have come just now, live. */
void model_arrived(struct model *m, uint32_t first, int64_t time_ms);
uint32_t model_intern(struct model *m, struct str s);
/* The same for names that may be new to the model, and are then not kept: NONE. */
uint32_t model_known(const struct model *m, struct str s);
/* The group whose session knows what this message answers (a file of replies belongs to the log it
 * replies to), or STR_NONE; also where several groups know it. Looks at every session. */
struct str model_group_of(struct model *m, const struct message *msg);

static inline struct str model_str(const struct model *m, uint32_t id)
{
	return id == NONE ? STR_NONE : str_make(m->strings.v[id].p, m->strings.v[id].n);
}
/* What way a message went, and where its bytes are. */
static inline const struct route *route_of(const struct model *m, const struct record *r)
{
	return &m->routes.v[r->route];
}

static inline const struct route *message_route(const struct model *m, uint32_t message)
{
	return route_of(m, &m->records.v[message]);
}

static inline uint32_t message_line(const struct model *m, uint32_t message)
{
	return whence_line(&m->whence, message);
}

static inline uint64_t message_offset(const struct model *m, uint32_t message)
{
	return whence_offset(&m->whence, m->records.v, message);
}

struct str model_kind(const struct model *m, const struct record *r);
struct str session_name(const struct model *m, uint32_t session);
/* Empty for NONE. */
struct str agent_name(const struct model *m, uint32_t agent);
/* The first message of a session with that id, or NONE. */
uint32_t message_with_id(const struct model *m, uint32_t session, struct str id);
/* The highest number that a collaboration session's messages carry, -1 = none has one. */
int64_t model_sequence(const struct model *m, uint32_t session);

/* ---- looking at it as of the first k messages ---- */

/* When a message was sent as it says, else when it came, else WHEN_NONE. */
int64_t model_time(const struct model *m, uint32_t message);

/* The newest time among the first k messages: "now" when nothing is live. */
int64_t model_now(const struct model *m, uint32_t k);
/* How many messages come before the first one later than t. */
uint32_t model_cut_at(const struct model *m, int64_t time_ms);

struct item_state {
	enum verdict verdict; /* EXPIRED when its deadline is before now */
	enum item_severity grade;
	uint32_t opened;      /* message that raised it first */
	uint32_t message, index; /* where its newest text is */
	uint32_t decided;     /* message, NONE; also tells who: decided_by */
	uint16_t iteration, times, revision;
	bool open, came_back, acked, bounced, undecidable;
	bool bare; /* a verdict whose review has no findings */
	uint16_t fixed_in; /* iteration, 0 = not */
	enum delivery delivery; /* of a person's decision (struct standing); NONE = nobody's */
	uint32_t person;        /* interned name of who decided here, NONE */
	int64_t stood_ms;       /* when */
};

/* task, review: NONE = of none. */
struct owner item_owner(const struct model *m, const struct item *item);
uint32_t item_task(const struct model *m, const struct item *item);
static inline uint32_t item_session(const struct model *m, const struct item *item)
{
	return item->owned == OWNER_SESSION ? item->owner : item_owner(m, item).session;
}

static inline uint32_t item_review(const struct model *m, const struct item *item)
{
	return item->owned == OWNER_REVIEW ? item->owner
	       : item->owned == OWNER_OWN  ? m->item_owners.v[item->owner].review
					   : NONE;
}

/* WHEN_NONE = it has none. These three are for an item of the model, not for a copy. */
int64_t item_deadline(const struct model *m, const struct item *item);
/* What a person has decided on it; NULL = nothing. */
const struct standing *item_standing(const struct model *m, const struct item *item);
/* As if nobody had decided anything. */
void model_unstand(struct model *m);

/* For whoever walks all items, tasks or reviews and looks at their steps, which lie anywhere:
 * called with the number of each, these have the steps of a later one brought near, the first and
 * the last of them. */
enum { STEPS_AHEAD = 16 };

static inline void steps_fetch(const void *steps, uint32_t n, size_t size)
{
	mem_fetch(steps);
	mem_fetch((const void *)((uintptr_t)steps + (n ? n - 1 : 0) * size));
}

static inline void items_fetch(const struct model *m, uint32_t number)
{
	if (number + STEPS_AHEAD < m->items.n) {
		const struct item *later = &m->items.v[number + STEPS_AHEAD];

		steps_fetch(later->steps, later->n, sizeof(*later->steps));
	}
}

static inline void tasks_fetch(const struct model *m, uint32_t number)
{
	if (number + STEPS_AHEAD < m->tasks.n) {
		const struct task *later = &m->tasks.v[number + STEPS_AHEAD];

		steps_fetch(later->steps.v, later->steps.n, sizeof(*later->steps.v));
	}
}

static inline void reviews_fetch(const struct model *m, uint32_t number)
{
	if (number + STEPS_AHEAD < m->reviews.n) {
		const struct review *later = &m->reviews.v[number + STEPS_AHEAD];

		steps_fetch(later->steps.v, later->steps.n, sizeof(*later->steps.v));
	}
}

/* The agent, or NONE: whoever sent the message. */
static inline uint32_t step_by(const struct model *m, const struct item_step *step)
{
	return message_route(m, step->message)->from;
}

/* false when the item does not exist yet. */
bool item_at(const struct model *m, const struct item *item, uint32_t k, int64_t now_ms,
	     struct item_state *out);
/* The same without what a person has decided here. */
bool item_in_log(const struct model *m, const struct item *item, uint32_t k, int64_t now_ms,
		 struct item_state *out);
/* The agent that decided it in the log, or NONE. */
static inline uint32_t decided_by(const struct model *m, const struct item_state *at)
{
	return at->decided == NONE ? NONE : message_route(m, at->decided)->from;
}
/* "scope-01", "review-7/find-2", "escalation@12" */
void item_name(const struct model *m, const struct item *item, struct buf *out);
/* Its id, as a reply to the message that raised it names it: "c-1", or "change:c-1" where that
 * message has a finding of this id, too. */
void item_reply_name(const struct model *m, const struct item *item, struct buf *out);
/* The item that a reply to that message means by a name, or NONE. */
uint32_t item_replied_to(const struct model *m, uint32_t message, struct str name);
/* Whether its session has an item of another kind that item_name gives the same name. */
bool item_has_twin(const struct model *m, const struct item *item);
/* How many items there are as of k: they are numbered in the order they were raised first. */
uint32_t model_item_count(const struct model *m, uint32_t k);
/* Open items (or all), most urgent first: numbers into items. Free the result. */
uint32_t *model_inbox(const struct model *m, uint32_t k, int64_t now_ms, bool all, uint32_t *n,
		      struct yield *yield);
/* How many items are open, and how many of these have a deadline. Cheap for all messages. */
uint32_t model_open(const struct model *m, uint32_t k, int64_t now_ms, uint32_t *due);

struct task_state_at {
	enum task_state state;
	int percent;         /* -1 = not told */
	uint32_t agent;
	uint32_t first, last; /* messages */
	uint32_t given;       /* message that describes it, NONE */
	uint32_t attempts;    /* times it was given out */
};
bool task_at(const struct model *m, const struct task *task, uint32_t k, struct task_state_at *out);
/* How many of its needs there are as of k; the first ones of terms->needs. */
uint32_t task_needs(const struct task *task, uint32_t k);
bool task_state_is_final(enum task_state s);
/* Whoever has it is at work. */
bool task_state_is_work(enum task_state s);
/* No progress for 30 s on a running task. */
bool task_is_stalled(const struct model *m, const struct task_state_at *t, int64_t now_ms);

struct review_state {
	enum review_verdict verdict;
	uint16_t iteration, findings;
	uint32_t first, last;
	bool failed;
};
bool review_at(const struct model *m, const struct review *r, uint32_t k, struct review_state *out);

/* A session's feedback loop after all messages: which turn is next, and which Request came last. */
struct turn_state {
	uint32_t request; /* message, NONE */
	bool unsure;      /* several first Requests were waiting: it may be another session's */
	int64_t asked, answered; /* last iterations, 0 = none */
	int64_t done; /* the turn that the newest Response ended: its own iteration, but where that
			 does not echo the Request's, the Request's; 0 = none */
	bool waits;   /* a Request has no Response yet */
	bool failed;  /* the newest Response is an error */
	bool matched; /* the Request that it answers was seen */
	uint32_t response; /* its message */
};
void feedback_turn(const struct model *m, uint32_t session, struct turn_state *out);

enum {
	STALL_MS = 30000,       /* a task without progress, an agent at work without a word */
	AGENT_PARTS = 12,
	RATE_SPAN_MS = 60000,
	FLOOD_MESSAGES = 100,   /* a second, more than that is a flood */
	FLOOD_SHOWN_MS = 10000, /* how long after it */
};

enum agent_health { /* the worst last */
	AGENT_IDLE,
	AGENT_WORKING,
	AGENT_SILENT,  /* at work, but not heard of for STALL_MS */
	AGENT_STALLED, /* its task has made no progress for STALL_MS */
	AGENT_FLOODING,
};

struct agent_stats {
	uint32_t messages, errors, warnings, last_message;
	int64_t last_seen_ms;
	uint64_t tokens_in, tokens_out, tokens_cached;
	double cost;
	uint32_t task;   /* current, NONE */
	uint32_t state;  /* interned, or NONE: told by the orchestrator */
	uint32_t minute; /* messages in the last RATE_SPAN_MS */
	uint16_t activity[AGENT_PARTS]; /* in each part of the session's time */
	uint8_t health; /* enum agent_health */
};

_Static_assert(sizeof(struct agent_stats) <= 96, "there may be tens of thousands");
/* One for every agent. Free the result. */
struct agent_stats *model_agent_stats(const struct model *m, uint32_t k, int64_t now_ms,
				      struct yield *yield);
/* How many messages of an agent are in each part of the last RATE_SPAN_MS, the newest last. These
 * lie behind the stats of all n agents: few have spoken lately, and pages of the others take no
 * memory as long as nobody writes to them. */
static inline uint16_t *agent_recent(struct agent_stats *all, uint32_t n, uint32_t agent)
{
	return (uint16_t *)(void *)(all + n) + (size_t)agent * AGENT_PARTS;
}

struct session_rules;

struct session {
	uint32_t name, group;
	uint32_t first; /* message */
	uint32_t loop;  /* review that is its feedback loop, NONE */
	struct session_rules *rules;
};

#endif
