/* The two records of a decision. A draft is the person's decision on one item: verb, reason,
 * answer. A letter is the reply message made of one or more drafts, with the exact bytes to send
 * and its delivery state. Both have an id of 12 random hex digits and live in the journal. Strings
 * are borrowed from the arena of the desk or plan that made them. */
#ifndef GAVEL_DECIDE_DECISION_H
#define GAVEL_DECIDE_DECISION_H

#include "channel/channel.h"
#include "event/event.h"

enum { DECISION_ID_SIZE = 13 };

enum verb {
	VERB_ACCEPT,
	VERB_ALWAYS, /* accept, and such calls from now on without asking */
	VERB_PARTIAL,
	VERB_REJECT,
	VERB_STOP, /* reject, and end the agent's turn */
	VERB_ANSWER,
	VERB_DISMISS,
	VERB_ESCALATE,
	VERB_COUNT
};

/* Sets of verbs. Every item can be escalated: if its protocol cannot say so, the queue takes it. */
enum {
	CAN_ACCEPT = 1 << VERB_ACCEPT,
	CAN_ALWAYS = 1 << VERB_ALWAYS,
	CAN_PARTIAL = 1 << VERB_PARTIAL,
	CAN_REJECT = 1 << VERB_REJECT,
	CAN_STOP = 1 << VERB_STOP,
	CAN_ANSWER = 1 << VERB_ANSWER,
	CAN_DISMISS = 1 << VERB_DISMISS,
	CAN_ESCALATE = 1 << VERB_ESCALATE,
};

const char *verb_name(enum verb v);
/* "can't accept this item in part" */
const char *verb_refusal(enum verb v);
bool verb_named(struct str name, enum verb *out);

/* A place in the agents' stream: behind the message that ends at an offset of a file. */
struct anchor {
	struct str file; /* without folders; empty = no place is known */
	uint64_t offset; /* 0 = before the first message */
	uint32_t print;  /* hash of the bytes before it */
};

enum draft_state {
	DRAFT_STAGED,
	DRAFT_VOID,    /* undone, or its letter was given up */
	DRAFT_WRITTEN, /* part of a letter, which has the delivery state */
};

struct draft {
	char id[DECISION_ID_SIZE];
	enum draft_state state;
	uint32_t letter; /* index in the desk's letters, or NONE */
	/* which item: names that stay valid across restarts */
	struct str session, item; /* from session_name and item_name */
	enum item_kind kind;
	enum dialect_id dialect;
	struct str rev; /* revision shown to the person (item_rev) */
	uint32_t seen;  /* messages of its source read by then (model_seen) */
	/* the decision */
	enum verb verb;
	struct str reason_code, explanation;
	/* ANSWER: the answer; to several questions a line each, empty = not answered.
	 * ALWAYS: a rule of the person's own. PARTIAL of a permission: the edited input, JSON. */
	struct str answer;
	uint32_t option;     /* ANSWER: the option that `answer` was taken from; ALWAYS: the offered
				rule; from 1, 0 = none */
	uint32_t input;      /* line of the input that an output answers; 0 = not said */
	struct str artifact; /* attached file, a path; empty = none */
	bool sure;           /* confirmed although the artifact is unchanged */
	struct str by;
	int64_t time_ms; /* wall clock */
	struct str team;     /* STORE/ITEM of a team's store that it was decided in; empty = here */
	struct str corrects; /* id of the delivered draft that this one corrects; "others" = a
				decision that was not made here; empty = none */
	uint32_t number; /* the item's index in the model; NONE while not in the log */
	/* cache of settle.c: model messages applied when it was decided; the first position where
	 * the item has the decided revision (0 = nowhere); and the raise that was decided on, by
	 * the message that raised it anew (NONE = unknown) */
	uint32_t when, from, raise;
	bool compared, placed; /* `from` is computed; `when` is final */
	/* the overlay last passed to the model */
	bool overlaid;
	enum delivery overlay_delivery;
	uint32_t overlay_from;
};

/* The recipient of queue entries, as displayed. */
#define QUEUE_NAME "the escalation queue"

enum letter_state {
	LETTER_INTENT,  /* recorded, not yet sent */
	LETTER_ATTEMPT, /* sending has begun; result not recorded */
	LETTER_SENT,
	LETTER_ACKED, /* acknowledged in the log */
	LETTER_HELD,  /* not delivered, or uncertain; `why` */
	LETTER_VOID, /* given up */
};

struct letter {
	char id[DECISION_ID_SIZE];
	enum letter_state state;
	enum dialect_id dialect;
	enum channel_type channel;
	struct str path;   /* FIFO or file; for a directory, the file to create */
	struct str bytes;  /* sent verbatim; a line includes its newline */
	struct str to;     /* recipient as displayed: an agent, a session, the queue */
	VEC(uint32_t) drafts; /* indices in the desk's drafts; empty for an accompanying letter */
	uint32_t batch; /* first letter of the INTENTS record it belongs to */
	bool aside;      /* not said to the source's agents: an entry of an escalation queue, or
			    an answer to one */
	struct attempt attempt;
	struct anchor at; /* behind what it was said */
	uint32_t message; /* its number in the model; NONE = it is not in there (yet) */
	bool elsewhere;  /* nor will it be: it was said in a file that is not read now */
	bool tried;      /* `attempt` is valid */
	bool uncertain;  /* the last attempt may have arrived, whole or in part */
	unsigned tries;
	struct str why;  /* of HELD */
	bool lost;       /* its agent has exited, so it can never be sent. Not journaled: agents
			    do not survive a restart */
	int64_t time_ms; /* of the last state change */
};

struct model;
struct reader;

/* Binds a draft to an item and its revision as of the first k messages; the decision fields are
 * left alone. Strings go into `words`. false: the item does not exist yet at k. */
bool draft_bind(struct draft *d, const struct model *m, const struct reader *r, uint32_t number,
		uint32_t k, struct arena *words);

/* What the verb requires and the draft lacks, as a sentence; NULL when complete. Reject needs a
 * reason code or an explanation, partial an explanation, answer an answer. */
const char *draft_missing(const struct draft *d);

/* -1 if one of its texts is not UTF-8: journal and messages are JSON and could not keep it. */
int draft_check_texts(const struct draft *d, struct err *err);

const char *letter_state_name(enum letter_state s); /* "INTENT" … as in the journal */
void decision_id(char out[DECISION_ID_SIZE]);
void uuid_make(char out[37]); /* random, version 4 */

#endif
