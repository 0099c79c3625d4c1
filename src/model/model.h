/* The model: events in, entities with histories out. No I/O, no clock, no terminal.
 *
 * Messages are applied in order and numbered from 0. An entity's history is a list of steps, each
 * with the number of the message that caused it; nothing that a view can see is ever changed, only
 * added. So the session as of the first k messages follows from the steps with message < k, and
 * equals what loading only those k messages gives. A cursor is that k.
 *
 * Entities refer to each other by number; NONE means none. Names are interned: model_str(m, id).
 * Texts of items are not stored; a view fetches the message again (record) and decodes it.
 *
 * All memory is in one heap: model_init, model_apply for each message in order, model_release. */
#ifndef GAVEL_MODEL_MODEL_H
#define GAVEL_MODEL_MODEL_H

#include "base/yield.h"
#include "base/buf.h"
#include "base/map.h"
#include "event/event.h"
#include "model/diag_store.h"
#include "model/due_queue.h"
#include "model/ids.h"
#include "model/positions.h"
#include "model/tool_calls.h"

enum step_kind {
	STEP_RAISED,
	STEP_DECIDED,
	STEP_ACKED,      /* the decision was acknowledged */
	STEP_BOUNCED,    /* the sender answered unknown_id: the item is open again */
	STEP_FIXED,      /* listed as fixed in an iteration */
	STEP_SUPERSEDED, /* a later turn or review replaced it undecided */
	STEP_EXPIRED,    /* its deadline is before this message's time (expiry.c), or who asked is
			    gone */
	STEP_WITHDRAWN,  /* the agent asks no more: it said so, its turn is over, or somebody
			    else answered; a decision that was sent came too late */
};

struct item_step {
	uint32_t message; /* that caused it; step_by() gives its sender */
	uint32_t index; /* RAISED: which element of the message */
	uint32_t hash;  /* RAISED: of its content */
	uint32_t iteration;
	uint8_t verdict : 4;
	uint8_t anew : 1;  /* RAISED: decisions before it do not count: the first, other words, a
			      later iteration, after BOUNCED */
	uint8_t opens : 1; /* RAISED: the item is open after it; ANEW ones always open it */
	uint8_t said : 1;  /* caused by a reply */
	uint8_t no_always : 1;   /* RAISED: the ask offers no rule to allow such calls */
	uint8_t what : 3;        /* enum step_kind */
	uint8_t grade : 3;       /* RAISED: enum grade */
	uint8_t undecidable : 1; /* RAISED: its id, or a field that the reply needs, is invalid */
	uint8_t no_findings : 1; /* RAISED: a verdict whose review has no findings */
};

/* Kind of an item's owner; a review implies its task, a task its session. */
enum item_owner {
	OWNER_SESSION,
	OWNER_TASK,
	OWNER_REVIEW, /* it is its finding or change */
	OWNER_OWN,    /* index into item_owners: task and review do not imply the rest */
};

struct item {
	uint32_t id;    /* interned; NONE = named after kind and line */
	uint32_t owner; /* number, by `owned`; see item_session, item_task, item_review */
	struct item_step *steps;
	uint32_t n;
	uint8_t kind;   /* enum item_kind */
	bool open : 1;  /* after all its steps; ignores the clock and the decision overlay */
	bool dated : 1; /* is one of m->dated: item_deadline */
	bool overlaid : 1; /* has a decision overlay: item_overlay */
	uint8_t owned : 2; /* enum item_owner */
	bool origin_runs : 1; /* forwarded by a gavel that runs the agent, and tells it of timeouts */
	uint8_t origin_dialect, origin_kind; /* of an item forwarded by a queue; dialect 0 = none */
};

_Static_assert(sizeof(struct item) <= 24, "there may be millions");

struct owner {
	uint32_t session, task, review;
};

/* An item that had a deadline once. */
struct dated_item {
	uint32_t item;
	uint32_t first, newest; /* indexes into dated_raises */
};

/* The deadline of a raise that opened or reworded such an item; others repeat what was asked. */
struct dated_raise {
	int64_t deadline_ms; /* TIME_NONE = it has none */
	uint32_t item, message;
	uint32_t next; /* of this item, NONE */
};

/* Decision overlay: what the user decided and the session does not know (yet): staged, recorded or
 * held decisions, dismissals, and escalations that only the queue was told of. Decisions that were
 * sent are messages of the session (struct reply).
 *
 * It is valid for the raise that was shown: from message `from` on until a message raises the item
 * anew. Meanwhile the verdict is the user's and the item is not open, nor does it expire. A staged
 * decision does not close the item; its verdict is shown as long as the item is open. A decision
 * in the session ends a dismissal or an escalation. */
struct overlay {
	uint32_t item;
	uint32_t from; /* number of messages at the time; includes the one that raised it */
	uint32_t by;   /* interned name */
	int64_t time_ms;
	uint8_t verdict;  /* enum verdict */
	uint8_t delivery; /* enum delivery */
};

/* A message to the agents, from a journal or a file of replies: what a person said. */
struct reply {
	uint32_t message;
	uint32_t by;     /* interned name of the person, NONE = unknown */
	uint32_t proof;  /* message that acknowledges it, NONE */
	uint32_t stray;  /* message that claims to, but is not from its addressee, NONE */
	uint32_t acked;  /* how many of its items were acknowledged one by one */
	bool own;        /* from the journal of this person */
	bool relayed;    /* `by` is what the line itself says: an answer from a queue */
	int64_t time_ms; /* when it was sent, by the journal, else TIME_NONE */
	HVEC(uint32_t) items; /* that it decided */
};

/* A run of consecutive messages from one group; NONE for replies. */
struct group_run {
	uint32_t first;  /* message */
	uint32_t group;  /* interned, NONE */
	uint32_t before; /* messages of the group before it */
};

/* Messages from `first` on were received live at that time. */
struct arrival {
	uint32_t first;
	int64_t time_ms;
};

struct task_step {
	uint32_t message;
	uint32_t agent;   /* assignee */
	uint8_t state;    /* enum task_state */
	uint8_t percent;  /* 255 = unknown */
	bool assigned;    /* the message assigns the task, and has its text */
};

/* The gaps that the last envelopes of a lane listed. */
struct gaps {
	uint64_t hash, in_hash;
	int64_t in_iteration;
	uint32_t line;
};

/* A session's inputs of envelopes that wait for an output. A lane has one: a later input of the same
 * feature and workflow takes its place. */
enum { OPEN_INPUTS_MAX = 64 }; /* more are forgotten, the oldest first */
struct open_inputs {
	uint32_t newest;  /* lane of the last input, open or not */
	uint32_t n;
	uint32_t outputs; /* that came while several were open */
	struct {
		uint32_t lane, message;
	} list[OPEN_INPUTS_MAX];
};

/* An output envelope that came while several inputs were open: `n` entries of unclear_inputs. */
struct unclear_output {
	uint32_t message, first, n;
};

struct task_need {
	uint32_t message;
	uint32_t task_id; /* interned */
	bool hard;        /* it must be completed first */
};

/* Terms of an assignment, allocated only for protocols that have them. */
struct task_terms {
	HVEC(struct task_need) needs;
	/* for rules of collaboration */
	HVEC(uint32_t) scope;      /* globs, interned */
	int64_t assigned_ms, reported_ms; /* reported: last */
	uint32_t chain;       /* of the assignment's record */
	uint32_t changes;     /* of a root: message + 1 that requested changes, 0 = revised since */
	bool scoped : 1;      /* it has a scope, if an empty one */
	bool tests : 1;       /* testing is required */
	bool started : 1;     /* work on it was reported */
};

struct task {
	uint32_t id, session;
	uint32_t root;  /* the first of a chain of revisions; itself otherwise */
	uint32_t limit; /* review iterations */
	uint32_t given_by; /* the reply that gave it out last, NONE */
	HVEC(struct task_step) steps;
	struct task_terms *terms; /* or NULL */
	/* for rules while messages are applied */
	uint32_t rounds;     /* of a root: number of reviews so far */
	uint32_t failures : 26;
	bool given : 1, active : 1, escalated : 1, has_result : 1, sensitive : 1;
	bool final : 1; /* a person has decided on the newest Result */
	struct gaps *gaps; /* of a lane of envelopes, else NULL */
	/* of the newest Result (handoff) */
	float confidence;
	uint32_t result_hash;
	HVEC(uint32_t) open_items; /* of a root: may be open; pruned as they close */
};

/* How many reviews the collaboration protocol allows a root task. */
static inline uint32_t task_review_limit(const struct task *root)
{
	return root->limit ? root->limit : 3;
}

struct review_step {
	uint32_t message;
	uint32_t iteration;
	uint32_t findings;
	uint8_t verdict; /* enum review_verdict; REVIEW_NONE = requested */
	bool failed;     /* a feedback turn that ended in an error */
};

/* What a request wants verified besides tests and types. */
struct review_checks {
	HVEC(uint32_t) names; /* of custom checks, interned */
	bool lint;
};

/* A review of a task, or a feedback loop (task NONE): rounds of request and response. */
struct review {
	uint32_t id, session, task, reviewer;
	HVEC(struct review_step) steps;
	bool asked; /* a request is waiting for its result */
	uint32_t round;
	/* of the newest request, for rules of collaboration */
	uint32_t chain;    /* of its record */
	uint32_t asked_of; /* agent, NONE */
	struct review_checks *checks; /* or NULL */
};

struct agent_step {
	uint32_t message, state; /* state interned */
};

struct agent {
	uint32_t name, type, session;
	uint32_t first; /* message */
	uint32_t spoke[TRUST_COUNT]; /* its first message of each origin, NONE */
	uint32_t claimed_human;      /* its first with RECORD_CLAIMS_HUMAN, NONE */
	HVEC(struct agent_step) states; /* as reported by other agents */
	int64_t *recent_ms; /* times of the last messages, for the rate rule */
	uint32_t recent_n;
	struct due_queue due; /* of what it asked, indexes into dated_raises */
	bool known, human, flooding;
	bool unknown; /* has spoken without being introduced by an architect since */
};

/* The sender that a line of one agent's own output names, and is not. */
struct claim {
	uint32_t message, name; /* name interned */
};

/* A message that was not allowed to decide an item. */
struct refusal {
	uint32_t message, item;
};

struct usage {
	uint32_t message, agent;
	uint64_t tokens_in, tokens_out, tokens_cached;
	double cost;
};

enum { MODEL_CACHE_NAMES = 2048, MODEL_CACHE = 1024, MODEL_CACHE_KINDS = 256 };

/* An interned text. */
struct interned {
	const char *p;
	uint32_t n : 31;
	bool shared : 1; /* several tasks, reviews or items have it */
	uint32_t last;   /* number of the entity last looked up by it; NONE = none has it */
};

/* Cache entry: (group, name) → session, or (session, name) → agent. A hit saves reading
 * the entity itself, a cache miss. */
struct cached_number {
	uint32_t of, name; /* of: the group or session */
	uint32_t number;   /* plus one; 0 = none */
};

struct cached_route {
	struct route route;
	uint32_t number; /* plus one; 0 = none */
};

/* Which times are believed, of messages that anybody may have written: none beyond a limit, and a
 * jump forward of more than an hour only when a second message tells a time within an hour of it. */
struct believed {
	int64_t now_ms;  /* the newest, or TIME_NONE */
	int64_t jump_ms; /* such a jump that one message has told, or TIME_NONE */
};

#define BELIEVED_NONE ((struct believed){ TIME_NONE, TIME_NONE })

/* The next message has that time, or TIME_NONE. */
void believe(struct believed *b, int64_t time_ms, int64_t limit_ms);

struct model {
	struct heap *heap; /* holds everything but this struct */
	HVEC(struct record) records;
	struct believed believed;
	int64_t limit_ms;  /* of times that are believed; INT64_MAX = none, set by model_set_limit */
	int64_t beyond_ms; /* earliest timestamp above limit_ms, or INT64_MAX */
	HVEC(struct route) routes;
	uint32_t first_source; /* of a message that is no reply, + 1; 0 = none yet */
	bool several_sources;  /* and whether there are others */
	struct positions positions;
	HVEC(struct session) sessions;
	HVEC(struct agent) agents;
	HVEC(struct task) tasks;
	HVEC(struct review) reviews;
	HVEC(struct review_message) review_messages; /* in their order */
	HVEC(struct item) items;
	HVEC(struct owner) item_owners;
	uint32_t open_count;  /* of items */
	uint32_t review_answers; /* review steps with a verdict: loops change with them */
	HVEC(struct dated_item) dated;
	HVEC(struct dated_raise) dated_raises; /* those of an item in order */
	HVEC(struct usage) usage;
	HVEC(struct tool_call) tool_calls; /* sorted by message, as are */
	HVEC(struct tool_act) tool_acts;
	struct diag_store diag_store;  /* of cross-message rules, each at its last message */
	HVEC(struct interned) strings;
	HVEC(struct overlay) overlays;
	HVEC(struct claim) claims;     /* sorted by message, as are */
	HVEC(struct refusal) refusals;
	HVEC(struct reply) replies; /* in the order of messages */
	HVEC(struct group_run) group_runs;
	HVEC(struct arrival) arrivals;
	HVEC(struct open_inputs) open_inputs;
	HVEC(struct unclear_output) unclear_outputs; /* sorted by message */
	HVEC(uint32_t) unclear_inputs; /* messages */
	struct ids ids;
	struct {
		uint32_t item, n, step; /* of its first n steps, `step` raised it last */
	} raised; /* see model/trust.c */
	uint32_t group_before; /* guess for the next message's group: that of the newest */
	uint32_t known_role_names[KNOWN_ROLE_COUNT]; /* interned, plus one; 0 = not yet */
	/* direct-mapped caches before the big maps: few agents talk at a time */
	struct cached_number session_cache[MODEL_CACHE], agent_cache[MODEL_CACHE];
	struct cached_route route_cache[MODEL_CACHE];
	uint8_t kind_cache[MODEL_CACHE_KINDS];
	struct map_slot name_cache[MODEL_CACHE_NAMES];
	struct map route_map, string_map, session_map, agent_map, task_map, review_map, item_map,
		overlay_map, dated_map;
	/* confidence thresholds of the judge (handoff): >= approve_from passes, >= human_from goes
	 * to a person */
	double approve_from, human_from;
	bool runs_agents; /* gavel is the orchestrator: a submitted task needs a person */
	bool keeps_no_diags; /* only the messages get them: nobody will read the store */
	struct str kinds[256];
	unsigned kind_count;
};

/* Position of a message's bytes in its source, from the wire. */
struct place {
	uint32_t source, line, length;
	uint64_t offset;
	struct str group; /* the session's name where messages name none */
	enum trust trust; /* REPLY and JOURNAL: said to the agents */
	bool unplaced; /* a reply to nothing that is known: it has no effect */
	bool echo;     /* repeats a reply, byte for byte: it has no effect */
	struct str speaker; /* TRUST_AGENT: the agent's name, whatever the message claims; or none */
	struct str by; /* who said it, by the journal */
	int64_t said_ms; /* when, by the journal; 0 = unknown */
};

void model_init(struct model *m);
/* In the caller's heap, of which the model takes ownership. */
void model_init_in(struct model *m, struct heap *heap);
void model_release(struct model *m);
/* Applies one message. Diagnostics of cross-message rules are added to msg->diags and stored. */
void model_apply(struct model *m, struct message *msg, const struct place *place);
/* Timestamps above the limit are ignored. The model reads no clock: the loader sets this before
 * the first message, and a later one as time goes on. */
void model_set_limit(struct model *m, int64_t limit_ms);
/* The part of model_apply that appends the record and judges its time. */
void model_add_record(struct model *m, struct record r);

/* Sets or replaces the decision overlay of an item; DELIVERY_NONE removes it. */
void model_overlay(struct model *m, const struct overlay *s);
/* How many of the first k messages are from the group of that session, without replies: a position
 * that stays valid when the group is loaded together with others. */
uint32_t model_seen(const struct model *m, uint32_t session, uint32_t k);
/* The inverse: the k at which the group had that many messages; at most all. */
uint32_t model_when_seen(const struct model *m, uint32_t session, uint32_t seen);
/* The same for an interned group. */
uint32_t model_group_seen(const struct model *m, uint32_t group, uint32_t k);
/* The messages from `first` on were received live at time_ms. */
void model_arrived(struct model *m, uint32_t first, int64_t time_ms);
uint32_t model_intern(struct model *m, struct str s);
/* NONE if the name is not interned. */
uint32_t model_known(const struct model *m, struct str s);
/* The newest time among the last messages of an interned group, as of k; TIME_NONE if they have none,
 * or are too far back to be looked for. */
int64_t model_group_end(const struct model *m, uint32_t group, uint32_t k);
/* The group of the log that this message replies to; STR_NONE if there is none or several. Linear
 * in the number of sessions. */
struct str model_group_of(struct model *m, const struct message *msg);
/* The reply that a message is, or NULL. */
const struct reply *message_reply(const struct model *m, uint32_t message);
/* What became of a person's decision, which a step of the item is, as of k. */
enum delivery step_delivery(const struct item *item, uint32_t step, uint32_t k);
/* A reply that was read from a file turns out to be from this person's journal. */
void model_reply_own(struct model *m, uint32_t message, struct str by, int64_t time_ms);
/* Whether a step is a decision of this person: the journal has it, too. */
bool step_is_own(const struct model *m, const struct item_step *step);
/* Messages are numbered for people without the replies: the n-th message of agents, from 1, and the
 * r-th reply behind it; r is 0 for the agents' own, n may be 0 for a reply. */
struct message_number {
	uint32_t n, r;
};
struct message_number message_number(const struct model *m, uint32_t message);
/* The k that includes the n-th message of agents and the first r replies behind it; UINT32_MAX = all
 * of them. */
uint32_t model_cut_number(const struct model *m, uint64_t n, uint32_t r);
/* The same for "#12", which includes what was said behind message 12, "#12.0", which does not, or
 * "#12.2". false: it is none of these. */
bool model_cut_named(const struct model *m, struct str number, uint32_t *k);
/* The position k as "#12" or "#12.2": its last message. */
void model_cut_name(const struct model *m, uint32_t k, char out[32]);

static inline struct str model_str(const struct model *m, uint32_t id)
{
	return id == NONE ? STR_NONE : str_make(m->strings.v[id].p, m->strings.v[id].n);
}
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
	return positions_line(&m->positions, message);
}

static inline uint64_t message_offset(const struct model *m, uint32_t message)
{
	return positions_offset(&m->positions, m->records.v, message);
}

/* What to say behind "line N" of a message: " of the replies", or nothing. */
const char *reply_words(const struct model *m, uint32_t message);

struct str model_kind(const struct model *m, const struct record *r);
struct str session_name(const struct model *m, uint32_t session);
/* Empty for NONE. */
struct str agent_name(const struct model *m, uint32_t agent);
/* The first message of a session with that id, or NONE. */
uint32_t message_with_id(const struct model *m, uint32_t session, struct str id);
/* The same by the id's str_hash. */
uint32_t message_with_hash(const struct model *m, uint32_t session, uint64_t hash);
/* The highest sequence number in a collaboration session, or id of a request to a codex agent;
 * -1 = none. */
int64_t model_sequence(const struct model *m, uint32_t session);

/* The inputs that were open when this output envelope came, oldest first, if there were several: it
 * does not say which one it answers. NULL = it is clear. */
const uint32_t *output_inputs(const struct model *m, uint32_t message, uint32_t *n);
bool lane_has_input(const struct model *m, uint32_t lane, uint32_t message);
/* The lane (a task) of an input envelope, or NONE. */
uint32_t input_lane(const struct model *m, uint32_t message);

/* ---- queries as of the first k messages ---- */

/* A message's own time, else the time it was received, else TIME_NONE. */
int64_t model_time(const struct model *m, uint32_t message);

/* The newest believed time among the first k messages: "now" when nothing is live. */
int64_t model_now(const struct model *m, uint32_t k);
/* Number of messages before the first one later than that time. */
uint32_t model_cut_at(const struct model *m, int64_t time_ms);

struct item_state {
	enum verdict verdict;
	enum grade grade;
	uint32_t opened;      /* message that raised it first */
	uint32_t anew;        /* message that raised it anew last, or bounced a decision */
	uint32_t message, index; /* position of its newest text */
	uint32_t hash;           /* of that text */
	uint32_t decided;     /* message or NONE; decided_by: its sender */
	uint32_t withdrawn;   /* message, if that is the verdict */
	int64_t deadline_ms;  /* of the raise that counts, TIME_NONE = none */
	uint32_t iteration, times, revision;
	bool open, came_back, acked, bounced, undecidable;
	bool snoozed; /* set by views: the person has hidden it for now */
	bool no_findings; /* a verdict whose review has no findings */
	bool no_always;   /* a permission that offers no rule */
	uint32_t fixed_in; /* iteration, 0 = not */
	enum delivery delivery; /* of a person's decision; NONE = there is none */
	uint32_t person;        /* interned name of who made that decision, NONE = unknown */
	int64_t person_ms;      /* when, TIME_NONE = unknown */
	bool overlaid;          /* that decision is the overlay */
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

/* The deadline of its newest raise as of k; TIME_NONE = it has none. These take a pointer into
 * m->items, not a copy. */
int64_t item_deadline(const struct model *m, const struct item *item, uint32_t k);
/* What happens when its deadline passes, as the end of a sentence. */
const char *item_default(const struct model *m, const struct item *item);
/* Passed on to a queue from here, while nobody has decided it. */
bool item_is_passed_on(const struct item *item, const struct item_state *at);
/* Its decision overlay, or NULL. */
const struct overlay *item_overlay(const struct model *m, const struct item *item);
/* Removes all decision overlays. */
void model_overlay_clear(struct model *m);

/* The agent that sent the step's message, or NONE. */
static inline uint32_t step_by(const struct model *m, const struct item_step *step)
{
	return message_route(m, step->message)->from;
}

/* false when the item does not exist yet. wall_ms, here and below: the wall clock where the log is
 * live, which then expires what nobody has decided; TIME_NONE in a recording, where only a step
 * does. */
bool item_at(const struct model *m, const struct item *item, uint32_t k, int64_t wall_ms,
	     struct item_state *out);
/* The same without the decision overlay. */
bool item_without_overlay(const struct model *m, const struct item *item, uint32_t k,
			  int64_t wall_ms, struct item_state *out);
/* The agent that decided it in the log, or NONE. */
static inline uint32_t decided_by(const struct model *m, const struct item_state *at)
{
	return at->decided == NONE ? NONE : message_route(m, at->decided)->from;
}
/* Who decided it, a person or an agent; STR_NONE = nobody. A staged decision counts. */
struct str item_by(const struct model *m, const struct item_state *at);
/* The earlier message that the item's text in `message` is about, such as the Result that a Decision
 * escalates, or NONE. It is shown with the item, and is part of what is decided on. */
uint32_t item_subject(const struct model *m, const struct item *item, uint32_t message);
/* Where that decision came from, in words behind the name: " (in the log)". Nothing for this person's
 * own, and where the name says it. */
const char *item_by_origin(const struct model *m, const struct item_state *at);
/* Where a message came from; a reply that a journal knows, too, is that person's. */
enum trust message_trust(const struct model *m, uint32_t message);
/* Of the message or record that decided the item; while it is undecided, of what raised it. */
enum trust item_trust(const struct model *m, const struct item_state *at);
/* What a message claims to be beyond that: "human" outside of replies and journal, or the sender that
 * one agent's own output names in place of the agent. STR_NONE = nothing. */
struct str message_claims(const struct model *m, uint32_t message);
/* Why the asks that a message withdrew wait no more: "the turn is over". */
const char *withdrawal_reason(const struct model *m, uint32_t message);
/* The folder that the agent worked in when it sent a message, as far as it told; STR_NONE = unknown. */
struct str ask_folder(const struct model *m, uint32_t message);
/* Why nobody's decision on the item is wanted any more: that, or the process that asked has ended; NULL
 * = it is open, or was closed otherwise. */
const char *item_over_reason(const struct model *m, const struct item_state *at);
/* Of the message that item_trust is about. */
struct str item_claims(const struct model *m, const struct item_state *at);
/* As of k: JOURNAL or REPLY of a person who has spoken there, AGENT of a process that gavel runs or
 * ran, else LOG. */
enum trust agent_trust(const struct model *m, uint32_t agent, uint32_t k);
/* Whether messages in the log, or of one agent, claim that this is a person. */
bool agent_claims_human(const struct model *m, uint32_t agent, uint32_t k);
/* "scope-01", "review-7/find-2", "escalation@12"; "dev-2:q-7" if agents share the id. */
void item_name(const struct model *m, const struct item *item, struct buf *out);
/* The same without the agent: not unique, but it does not change when another agent uses the id. */
void item_plain_name(const struct model *m, const struct item *item, struct buf *out);
/* Its id as used in a reply to the message that raised it: "c-1", or "change:c-1" if that message
 * also has a finding with this id. */
void item_reply_name(const struct model *m, const struct item *item, struct buf *out);
/* The item that a name in a reply to that message refers to, or NONE. */
uint32_t item_replied_to(const struct model *m, uint32_t message, struct str name);
/* Whether an item of another agent has the same kind and id. */
bool item_is_shared(const struct model *m, const struct item *item);
/* Whether another kind of item in its session has the same item_name. */
bool item_has_twin(const struct model *m, const struct item *item);
/* Number of items as of k: they are numbered in the order in which they were first raised. */
uint32_t model_item_count(const struct model *m, uint32_t k);
/* Sorts the inbox: open items (or all), most urgent first, as numbers. Free the result. */
uint32_t *model_inbox(const struct model *m, uint32_t k, int64_t wall_ms, bool all, uint32_t *n,
		      struct yield *yield);
/* Number of open items, and how many of these have a deadline. Cheap for k = all messages. */
uint32_t model_open(const struct model *m, uint32_t k, int64_t wall_ms, uint32_t *due);

struct task_state_at {
	enum task_state state;
	int percent;         /* -1 = unknown */
	uint32_t agent;
	uint32_t first, last; /* messages */
	uint32_t given;       /* message that assigned it, NONE */
	uint32_t attempts;    /* number of assignments */
};
bool task_at(const struct model *m, const struct task *task, uint32_t k, struct task_state_at *out);
/* The task of that id (a number in `strings`) in a session, or NONE. */
uint32_t task_named(const struct model *m, uint32_t session, uint32_t id);
/* Number of its dependencies as of k; the first ones of terms->needs. */
uint32_t task_needs(const struct task *task, uint32_t k);
bool task_state_is_final(enum task_state s);
/* The assignee is working on it. */
bool task_state_is_work(enum task_state s);
/* No progress for 30 s on a running task. */
bool task_is_stalled(const struct model *m, const struct task_state_at *t, int64_t now_ms);

struct review_state {
	enum review_verdict verdict;
	uint32_t iteration, findings;
	uint32_t first, last;
	bool failed;
};
bool review_at(const struct model *m, const struct review *r, uint32_t k, struct review_state *out);

/* State of a session's feedback loop after all messages: the next turn and the last Request. */
struct turn_state {
	uint32_t request; /* message, NONE */
	bool unsure;      /* several first Requests were waiting: it may be another session's */
	int64_t asked, answered; /* last iterations, 0 = none */
	int64_t done; /* the turn that the newest Response completed: the Request's iteration where
			 the Response does not echo it; 0 = none */
	bool waits;   /* a Request has no Response yet */
	bool failed;  /* the newest Response is an error */
	bool matched; /* the Request that it answers was seen */
	uint32_t response; /* its message */
};
void feedback_turn(const struct model *m, uint32_t session, struct turn_state *out);

enum {
	STALL_MS = 30000,       /* task without progress, working agent without a message */
	ACTIVITY_BUCKETS = 12,       /* buckets of an activity histogram */
	RATE_SPAN_MS = 60000,
	FLOOD_MESSAGES = 100,   /* per second; more is a flood */
	FLOOD_SHOWN_MS = 10000, /* how long a flood is shown after it */
};

enum agent_health { /* the worst last */
	AGENT_IDLE,
	AGENT_WORKING,
	AGENT_SILENT,  /* working, but no message for STALL_MS */
	AGENT_STALLED, /* its task has made no progress for STALL_MS */
	AGENT_FLOODING,
};

struct agent_stats {
	uint32_t messages, errors, warnings, last_message;
	int64_t last_seen_ms;
	uint64_t tokens_in, tokens_out, tokens_cached;
	double cost;
	uint32_t task;   /* current, NONE */
	uint32_t state;  /* interned, or NONE: as reported by the orchestrator */
	uint32_t minute; /* messages in the last RATE_SPAN_MS */
	uint32_t asked, unasked; /* tool calls that a person was asked about; that changed
				    something without */
	uint16_t activity[ACTIVITY_BUCKETS]; /* histogram over the session's time */
	uint8_t health; /* enum agent_health */
};

_Static_assert(sizeof(struct agent_stats) <= 104, "there may be tens of thousands");
/* One for every agent. Free the result. */
struct agent_stats *model_agent_stats(const struct model *m, uint32_t k, int64_t now_ms,
				      struct yield *yield);
/* Histogram of an agent's messages over the last RATE_SPAN_MS, newest bucket last. Stored behind
 * the stats of all n agents: for most agents it stays zero, and untouched pages cost no memory. */
static inline uint16_t *agent_recent(struct agent_stats *all, uint32_t n, uint32_t agent)
{
	return (uint16_t *)(void *)(all + n) + (size_t)agent * ACTIVITY_BUCKETS;
}

struct session_rules;

struct session {
	uint32_t name, group;
	uint32_t first; /* message */
	uint32_t loop;  /* review that is its feedback loop, NONE */
	struct session_rules *rules;
};

#endif
