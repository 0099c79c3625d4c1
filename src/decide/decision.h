/* A draft is what the person decided on one item; a letter is one message made of drafts, with the
 * exact bytes that go out. Both are named by 12 random hex digits and live in the journal. Strings
 * belong to whoever made them (the desk's arena, the plan's arena). */
#ifndef GAVEL_DECIDE_DECISION_H
#define GAVEL_DECIDE_DECISION_H

#include "channel/channel.h"
#include "event/event.h"

enum { DECISION_ID_SIZE = 13 };

enum verb {
	VERB_ACCEPT,
	VERB_PARTIAL,
	VERB_REJECT,
	VERB_ANSWER,
	VERB_DISMISS,
	VERB_ESCALATE,
	VERB_COUNT
};

/* Sets of them. Every item can be escalated: what a protocol cannot say goes to the queue. */
enum {
	CAN_ACCEPT = 1 << VERB_ACCEPT,
	CAN_PARTIAL = 1 << VERB_PARTIAL,
	CAN_REJECT = 1 << VERB_REJECT,
	CAN_ANSWER = 1 << VERB_ANSWER,
	CAN_DISMISS = 1 << VERB_DISMISS,
	CAN_ESCALATE = 1 << VERB_ESCALATE,
};

const char *verb_name(enum verb v);
bool verb_named(struct str name, enum verb *out);

enum draft_state {
	DRAFT_STAGED,
	DRAFT_VOID,    /* undone, or its letter was given up */
	DRAFT_WRITTEN, /* part of a letter: see there */
};

struct draft {
	char id[DECISION_ID_SIZE];
	enum draft_state state;
	uint32_t letter; /* of its desk, NONE */
	/* which item, in words that outlive the process */
	struct str session, item; /* as session_name and item_name say */
	enum item_kind kind;
	enum dialect_id dialect;
	struct str rev; /* of what was shown */
	uint32_t seen;  /* messages of its source that had come (model_seen) */
	/* what was decided */
	enum verb verb;
	struct str reason_code, explanation, answer;
	struct str artifact; /* attached file, a path; empty = none */
	bool sure;           /* confirmed although the artifact has not changed */
	struct str by;
	int64_t time_ms; /* the wall clock's */
	struct str corrects; /* id of the delivered draft that this one corrects; empty = none */
	uint32_t number; /* of the item in the model; NONE while the log does not show it */
	/* the desk's: messages of the model that had come then, 0 = none says what was decided
	 * on */
	uint32_t when, from;
	bool compared, placed; /* placed: when will not change any more */
	bool overlaid;            /* the model was told how it stands: this */
	enum delivery overlay_delivery;
	uint32_t overlay_from;
};

enum letter_state {
	LETTER_INTENT,  /* recorded: will be sent */
	LETTER_ATTEMPT, /* a try began and its end is not known */
	LETTER_SENT,
	LETTER_ACKED,
	LETTER_HELD, /* why; uncertain or certainly not delivered */
	LETTER_VOID, /* given up */
};

struct letter {
	char id[DECISION_ID_SIZE];
	enum letter_state state;
	enum dialect_id dialect;
	enum channel_type channel;
	struct str path;   /* FIFO or file; for a directory, the file that will be there */
	struct str bytes;  /* exactly what goes out; a line ends with its newline */
	struct str to;     /* whom, for the person: an agent, a session, the queue */
	struct str expect; /* id of the message, that an acknowledgement would name; may be empty */
	VEC(uint32_t) drafts; /* of its desk; empty for housekeeping */
	uint32_t batch; /* the first of those that were recorded together with it */
	struct attempt attempt;
	bool tried;      /* attempt means something */
	bool uncertain;  /* its last try: it may have arrived, whole or in part */
	unsigned tries;
	struct str why;  /* of HELD */
	bool lost;       /* its agent has ended and nothing can be done about it any more. Not in the
			    journal: every agent of an earlier run has ended */
	uint32_t stray;  /* a message, plus one, that claims to acknowledge it but is not from
			    whom it went to; 0 = none. Not in the journal: it proves nothing */
	uint32_t proof;  /* a message, plus one, that acknowledges it; 0 = none. ACKED records it */
	int64_t time_ms; /* of its last step */
};

struct model;
struct reader;

/* Binds a draft to an item as of the first k messages: which one, in which revision. What was
 * decided and by whom is left as it is. Strings are kept in `words`. false: there is no such item
 * yet. */
bool draft_bind(struct draft *d, const struct model *m, const struct reader *r, uint32_t number,
		uint32_t k, struct arena *words);

/* What a decision needs besides its verb and does not have: reject a reason code or an explanation,
 * partial an explanation, answer an answer. A sentence; NULL when it is complete. */
const char *draft_missing(const struct draft *d);

const char *letter_state_name(enum letter_state s); /* "INTENT" … as in the journal */
/* 12 random hex digits. */
void decision_id(char out[DECISION_ID_SIZE]);
/* A random UUID, version 4. */
void uuid_make(char out[37]);

#endif
