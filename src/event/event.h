/* Messages and events: the protocol-neutral data between dialects (decoders) and the model.
 *
 * A dialect decodes one frame into one message: a head that every message has, and a list of
 * events, what the message does. The model knows events, never a protocol's field names. Strings
 * point into the parsed document and are valid until the next frame is decoded, or with
 * decoder.keeps until decoder_reset.
 *
 * Where the model may report a diagnostic about a field, the event has its JSON pointer: `at`, with
 * %u for `index` (an element's number). For messages inside part.text, `inside` is prepended. */
#ifndef GAVEL_EVENT_EVENT_H
#define GAVEL_EVENT_EVENT_H

#include "base/timestamp.h"
#include "event/diag.h"
#include "event/record.h"

/* One-byte enum: many decoded events are queued before they are applied. */
#define PACKED_ENUM __attribute__((packed))

/* Well-known roles that a protocol defines itself; the role's name is the agent's id. */
enum PACKED_ENUM known_role {
	KNOWN_ROLE_NONE,
	KNOWN_ROLE_REQUESTER,
	KNOWN_ROLE_PROVIDER,
	KNOWN_ROLE_PLANNER,
	KNOWN_ROLE_WORKER,
	KNOWN_ROLE_JUDGE,
	KNOWN_ROLE_ORCHESTRATOR,
	KNOWN_ROLE_WORKFLOW,
	KNOWN_ROLE_AGENT,
	KNOWN_ROLE_CLIENT, /* who runs a real agent: sends prompts and answers */
	KNOWN_ROLE_COUNT
};

/* Who an agent says it is. */
struct actor {
	struct str id;
	struct str type; /* architect, developer, worker, provider …; may be empty */
	bool human;      /* a person (instance_id "human") */
	enum known_role known_role; /* well-known role: the id needs no lookup */
};

/* What the type of a sender must allow for a message to act on the work of others. */
enum authority {
	AUTHORITY_NONE,   /* nothing */
	AUTHORITY_DIRECT, /* giving out tasks and reviews, aborting them */
	AUTHORITY_JUDGE,  /* reviewing */
};

/* Other types than those of the text and of related ones have no authority. */
bool type_has_authority(struct str type, enum authority needed);

extern const struct actor known_role_actors[KNOWN_ROLE_COUNT];

/* Lookup key of a name: its text, hash and, once resolved, number; all zero = none. */
struct name_key {
	const char *p;
	uint32_t n;
	bool of_task;    /* or of a review */
	uint64_t hash;   /* str_hash */
	uint32_t number; /* the model's number for it plus one, once that is known */
	uint32_t guess;  /* candidate whose text was not compared yet (model/prefetch.h) */
};

extern const struct name_key null_key;

/* Largest integer that every JSON parser represents exactly: 2^53 - 1. */
#define COUNT_MAX INT64_C(9007199254740991)

enum PACKED_ENUM item_kind {
	ITEM_IMPROVEMENT,
	ITEM_FINDING,
	ITEM_CHANGE,
	ITEM_VERDICT,
	ITEM_QUESTION,
	ITEM_BLOCKED,
	ITEM_ESCALATION,
	ITEM_RETRY,
	ITEM_TASK,
	ITEM_ERROR,
	ITEM_PERMISSION, /* a tool call that waits */
	ITEM_PLAN,
	ITEM_KIND_COUNT
};

/* Severity of an item ("severity" alone is a diagnostic's); worst first, as lists are sorted. */
enum PACKED_ENUM grade {
	GRADE_CRITICAL,
	GRADE_MAJOR,
	GRADE_MINOR,
	GRADE_SUGGESTION,
	GRADE_NONE
};

enum PACKED_ENUM verdict {
	VERDICT_NONE,
	VERDICT_ACCEPTED,
	VERDICT_REJECTED,
	VERDICT_PARTIAL,
	VERDICT_ESCALATED,
	VERDICT_ANSWERED,
	VERDICT_DISMISSED,
	VERDICT_EXPIRED,
	VERDICT_SUPERSEDED,
	VERDICT_WITHDRAWN, /* by the agent, or answered elsewhere: nobody's decision is wanted now */
};

enum { VERDICT_COUNT = VERDICT_WITHDRAWN + 1 };

/* Delivery state of a decision made here; shown only once it is on disk. */
enum delivery {
	DELIVERY_NONE,
	DELIVERY_STAGED,
	DELIVERY_RECORDED,
	DELIVERY_SENT,
	DELIVERY_ACKNOWLEDGED,
	DELIVERY_BOUNCED,
	DELIVERY_HELD,
};

enum PACKED_ENUM task_state {
	TASK_PENDING,
	TASK_QUEUED,
	TASK_ASSIGNED,
	TASK_RUNNING,
	TASK_REVIEW,
	TASK_COMPLETED,
	TASK_PARTIAL,
	TASK_FAILED,
	TASK_CANCELLED,
	TASK_RETRYING,
	TASK_STATE_COUNT
};

enum PACKED_ENUM review_verdict {
	REVIEW_NONE, /* requested, no result yet */
	REVIEW_APPROVED,
	REVIEW_CHANGES,
	REVIEW_REJECTED,
};

/* What became of a tool call. */
enum PACKED_ENUM tool_state {
	TOOL_STARTED,
	TOOL_ASKED,     /* a person is asked whether it may run */
	TOOL_GOES_ON,
	TOOL_COMPLETED,
	TOOL_FAILED,    /* it ran */
	TOOL_DENIED,    /* it did not */
};

enum PACKED_ENUM event_type {
	EV_TASK,         /* a task is assigned: id, who, priority, limits */
	EV_TASK_DEPENDS, /* id depends on other */
	EV_TASK_SCOPE,   /* one glob pattern of the task's scope; an empty string: the scope is empty */
	EV_TASK_STATE,   /* progress or a new state */
	EV_TASK_FILE,    /* a file that the task's agent says it touched */
	EV_TASK_NAMED,   /* a message is about a task that it does not change */
	EV_ABORT,        /* a task, or the session when id names no task */
	EV_ACKNOWLEDGE,  /* an agent has received what it replies to */
	EV_REVIEW_ASK,
	EV_REVIEW_RESULT, /* before its findings and changes */
	EV_REVIEW_CHECK,  /* a verification that is wanted or, after a result, was done */
	EV_ITEM,
	EV_DECIDE,        /* an item was decided in the log; ITEM_FINDING of collaboration: the
			     item of any kind that has this id in the message replied to */
	EV_FIXED,         /* a finding listed as fixed in an iteration */
	EV_TURN_ASK,      /* feedback: a Request; its decisions follow as EV_DECIDE */
	EV_TURN_ANSWER,   /* feedback: a Response; acks and items follow */
	EV_ACK,           /* feedback: one acknowledged decision */
	EV_REQUEST,       /* orchestrator: a message that expects a response */
	EV_RESPONSE,
	EV_RESULT,        /* handoff: a worker's Result */
	EV_JUDGEMENT,     /* handoff: a Decision */
	EV_ENVELOPE_IN,
	EV_ENVELOPE_OUT,
	EV_USAGE,         /* tokens and cost of a step */
	EV_AGENT,         /* an agent exists or has a state */
	/* real agents (claude, codex, acp); EV_ITEM, EV_RESPONSE and EV_ACK name the request that
	 * asks by its id on the connection: `other`, `id`, `id` */
	EV_TOOL,          /* a tool call: id; behind an EV_ITEM with TOOL_ASKED: the one that waits */
	EV_TURN,          /* a turn: id, or none where the protocol numbers none; state */
	EV_WITHDRAWN,     /* an ask waits no more: id of its request; none = all of `task`, a turn;
			     again: the client cancels the turn, and will answer */
	EV_MODE,          /* which calls it asks for from now on: other, severe */
	EV_FOLDER,        /* where it works from now on: other */
	EV_RUN,           /* the process was started, or ended: nothing that it asked waits */
};

/* In what an option that an ask offers means (event.options): accept, and such calls from now on. */
enum { OFFER_ALWAYS = 1 << 8 };

/* What the payload of an orchestrator's response holds, by the kind of the request; bits. */
enum reply_content { REPLY_AGENTS = 1, REPLY_TASKS = 2, REPLY_TASK = 4, REPLY_ANSWER = 8 };

/* One flat struct; each member says for which types it is valid. Unset members are zero. */
struct event {
	enum event_type type;
	enum item_kind item;
	enum grade grade;
	enum verdict verdict;       /* EV_DECIDE, EV_JUDGEMENT */
	enum task_state state;      /* EV_TASK_STATE */
	enum review_verdict review; /* EV_REVIEW_RESULT */
	enum tool_state tool;       /* EV_TOOL */
	bool tests;    /* EV_TASK: testing is required; EV_TASK_STATE: it does not say that
			  none were run */
	bool again;    /* EV_TASK: a revision or retry (previous_attempts); EV_TURN_ANSWER:
			  gavel's own note, no response; EV_ITEM: a new ask, even in the same
			  words; EV_TASK_STATE: a task that is known; EV_TOOL: it tells what the
			  call's input is; EV_ACK of all: but for calls that were told of before
			  the ask, whose own news are awaited; EV_TURN: told again (acp);
			  EV_RESPONSE: it allows such calls from now on */
	bool failed;   /* EV_REVIEW_RESULT: a verification failed; EV_TURN_ANSWER, EV_RESPONSE:
			  error; EV_RESULT: failure or retry; EV_ENVELOPE_OUT: wants another
			  attempt; EV_TURN: perhaps, if the reply is that of a prompt (acp) */
	bool severe;   /* EV_REVIEW_RESULT: critical or major findings that are not fixed;
			  EV_RESULT: sensitive; EV_TASK_DEPENDS: a hard dependency;
			  EV_JUDGEMENT from a queue: gavel runs the agent that asked, and
			  tells it of a timeout; EV_TOOL: it changes something; EV_MODE: it
			  asks before it does; EV_RESPONSE: it gives the ask up, so a withdrawal
			  says the same */
	bool acked;    /* EV_ACK: acknowledged; false = unknown_id. EV_TURN_ANSWER: has an ack
			  object; EV_TURN_ASK: has applied_feedback; EV_TOOL that goes on: `other`
			  has reviewed it in a person's place */
	bool undecidable; /* EV_ITEM: its id or a field that the reply needs is invalid;
			     EV_ACK: it proves nothing (set by the rules); EV_TOOL: the
			     call's end does not prove that an answer was used */
	bool no_findings; /* of a verdict: its review has no findings */
	bool no_always;   /* of a permission: the ask offers no rule to allow such calls */
	/* EV_JUDGEMENT from an escalation queue: what was escalated; dialect 0 = not from a
	 * queue */
	uint8_t origin_dialect, origin_kind;
	uint8_t replies; /* reply_content: EV_REQUEST: what it asks for; EV_RESPONSE: what it has */
	uint32_t index; /* element number, for %u in `at` and to find the item again */
	const char *at; /* JSON pointer pattern of what `id` came from */
	struct str id;  /* of the task, review, item, request, agent … */
	struct str other;       /* EV_TASK_DEPENDS: needed task; EV_TASK_SCOPE, _FILE: path or glob;
				   EV_REVIEW_CHECK: name of a custom check, empty for lint;
				   EV_ITEM, EV_DECIDE of a review: review id; EV_REQUEST: type;
				   EV_AGENT: state; EV_TOOL: the tool, of a completed one the
				   reason why it was allowed (rule, mode, hook) or empty;
				   EV_MODE: its name; EV_FOLDER: the path; EV_ITEM of real
				   agents: the request; EV_RESPONSE of one: the option that is
				   chosen, whose meaning the ask tells (options) */
	struct str task;        /* EV_REVIEW_*, EV_ITEM, EV_REQUEST, EV_RESPONSE …: the task
				   concerned */
	uint32_t id_key, task_key; /* for message_key */
	int64_t iteration;      /* EV_TURN_*, EV_ENVELOPE_IN, EV_FIXED; 0 = none or invalid */
	int64_t limit;          /* EV_TASK: max_iterations, 0 = default; EV_REVIEW_RESULT: number
				   of findings that are fixed */
	int64_t deadline_ms;    /* EV_ITEM, EV_REQUEST; TIME_NONE = never */
	double number;          /* EV_TASK_STATE: progress 0..1, <0 none; EV_RESULT: confidence */
	uint64_t content_hash;  /* EV_ITEM and what becomes one: of all that its page shows
				   (struct detail); EV_ENVELOPE_*: of the gaps it names;
				   EV_DECIDE of an envelope: of the notes that contain it;
				   EV_RESPONSE: str_hash of the answer, 0 = none */
	union {
		struct actor agent; /* EV_AGENT; EV_TASK: the assignee; EV_RESPONSE: the person
				       that a reply names, if any */
		struct {            /* EV_USAGE */
			uint64_t tokens_in, tokens_out, tokens_cached;
			double cost;
		};
		uint64_t artifact_hash; /* EV_TURN_ASK: of the artifact's content, 0 = none; of
					   claude's EV_ITEM, EV_RESPONSE, EV_ACK: of the call's
					   input that is asked about or allowed */
		struct {            /* EV_REQUEST: str_hash of each answer that it offers;
				       acp's EV_ITEM: pairs of that and the verdict that it is,
				       perhaps with OFFER_ALWAYS; options_n counts pairs */
			const uint64_t *options;
			uint32_t options_n;
		};
	};
};

_Static_assert(sizeof(struct event) <= 168, "many are queued");

/* The head of a message and its events. */
struct message {
	enum dialect_id dialect;
	struct str kind;
	int64_t time_ms;
	struct str session; /* the sender's own session id; empty = the source is the session */
	struct actor from, to;
	struct str id, reply_to, correlation;
	int64_t sequence; /* of codex the number that a request to the agent has; -1 = none */
	uint16_t flags;   /* enum record_flag */
	uint8_t authority; /* enum authority: what it needs of its sender's type */
	bool payload_is_content; /* "/payload" in `at` of its events means "/content" here */
	const char *inside; /* "/part/text", or "" */
	struct message *other; /* if RECORD_AMBIGUOUS: what parsers read that take the last of
				  duplicate names; NULL = nothing that could raise an item */
	uint64_t content_hash; /* of the whole message, where it has an id; of envelopes' outputs */
	uint64_t id_hash, correlation_hash, reply_hash; /* set by message_hash; 0 = not yet */
	uint32_t session_key, from_key, to_key; /* for message_key; 0 for well-known roles */
	uint32_t keys_n;
	struct name_key *keys; /* of the names of its head and its events */
	VEC(struct event) events;
	bool events_borrowed; /* events.v is copied, not reallocated, when the list grows */
	struct diags diags;
};

const char *trust_name(enum trust t); /* "log", "agent", "reply", "journal" */
/* The same in words behind a name: " (in the log)"; nothing for the journal. */
const char *trust_words(enum trust t);
const char *item_kind_name(enum item_kind k);
bool item_kind_named(struct str name, enum item_kind *out);
/* Parses "change:c-1" (a finding may have the same id). false: no kind before a colon. */
bool item_kind_split(struct str name, enum item_kind *kind, struct str *id);
const char *grade_name(enum grade s); /* NULL for GRADE_NONE */
const char *verdict_name(enum verdict v);
const char *delivery_name(enum delivery d);
const char *task_state_name(enum task_state s);
const char *review_verdict_name(enum review_verdict v);

/* Adds a zeroed event of that type; the pointer is valid until the next is added. */
struct event *event_add(struct message *m, enum event_type type, struct str id, const char *at);
/* Hashes the names that the model will look up, on the decoding thread while they are in the cache;
 * optional. room: for message_keys_max keys; if it moves later, update m->keys. */
static inline uint32_t message_keys_max(const struct message *m)
{
	return 3 + 2 * m->events.n;
}
void message_hash(struct message *m, struct name_key *room);
/* The key that a *_key member of a message or event refers to. */
static inline const struct name_key *message_key(const struct message *m, uint32_t key)
{
	return key ? &m->keys[key - 1] : &null_key;
}
void message_clear(struct message *m);
void message_release(struct message *m);

#endif
