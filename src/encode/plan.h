/* From staged drafts to the letters that would be written: what the pre-flight page shows and what
 * delivery then sends. Making a plan writes nothing.
 *
 * Drafts are grouped by what the protocol says in one message (all of a feedback turn; the accepted
 * findings of one review), and each group is encoded by encode_<dialect>.c. A letter with a
 * `missing` entry cannot be sent: each says what is missing and how to supply it. `cautions` are
 * told before the person confirms.
 *
 * A plan owns its strings; it refers to drafts by number and to desks by pointer, so it is made
 * anew when either changes. */
#ifndef GAVEL_ENCODE_PLAN_H
#define GAVEL_ENCODE_PLAN_H

#include "decide/desk.h"
#include "decide/reader.h"
#include "encode/verbs.h"

struct proposal {
	struct desk *desk;
	struct letter letter; /* drafts: numbers in desk->drafts; no id yet */
	VEC(struct str) missing;
	VEC(struct str) cautions;
	uint32_t group;  /* proposals of one group go out together: number of its first draft */
	struct str runs; /* the command that it begins; empty = none */
	bool needs_sure; /* accepted or partial, but the artifact has not changed: confirm twice */
};

/* Where every message is a turn of a process of its own (gavel review). */
struct turn_terms {
	const char *path;    /* the incarnation to come (child_next_path) */
	const char *blocked; /* why none can begin now; NULL = one can */
	struct str to;       /* what would be run, for the person */
};

/* Where things go and who speaks; the same for the whole plan. */
struct terms {
	struct str as;          /* the person's name */
	const char *reply;      /* --reply; NULL = beside the source */
	const struct desks *desks; /* of all sources, which replies never go into; NULL = one */
	const char *escalate_to; /* --escalate-to; NULL = no queue */
	const char *artifact;   /* --artifact for drafts that have none of their own; NULL */
	bool sole_writer;
	int64_t now_ms;         /* the time messages carry (see HACKING: a recording's clock) */
	const struct turn_terms *turn; /* replies go there, `artifact` as it is then; NULL = no */
	bool reply_confirmed;   /* a queue's reply path was shown and confirmed, or is --reply */
};

struct plan {
	struct arena arena;
	VEC(struct proposal) list; /* in the order they will be sent */
	VEC(struct str) refused;   /* drafts that are in no letter: "ITEM: why" */
	VEC(uint32_t) refused_drafts; /* whose each of them is: a number in its desk's drafts */
};

/* All staged drafts of the desk, or only one (only = its number). */
void plan_make(struct plan *p, struct desk *desk, const struct model *m, const struct reader *r,
	       const struct terms *t, uint32_t only);
/* For terms with `turn`: a message that decides nothing. Of a feedback session the next Request, or
 * once more the one that was answered last; session NONE: the first Request of all. */
enum turn_which { TURN_NEXT, TURN_AGAIN };
void plan_turn(struct plan *p, struct desk *desk, const struct model *m, const struct reader *r,
	       const struct terms *t, uint32_t session, enum turn_which which);
/* The first input envelope, which a file holds. */
void plan_envelope(struct plan *p, struct desk *desk, const struct model *m, const struct reader *r,
		   const struct terms *t, const char *path);
/* Whether every message of a group is complete; sure: also those that needed a second yes. */
bool plan_group_is_ready(const struct plan *p, const struct desk *desk, uint32_t group, bool sure);
/* Sends the messages of a group, which are held or sent then. -1: "NOT recorded…". */
int plan_send_group(struct plan *p, struct desk *desk, uint32_t group, struct err *err);
/* Whether what it says still is what was decided, after messages have come. */
bool plan_is_current(const struct plan *p, const struct model *m, const struct reader *r,
		     int64_t now_ms);
bool plan_is_ready(const struct plan *p); /* something to send and nothing missing */
void plan_release(struct plan *p);

/* ---- for the encoders ---- */

/* One group of drafts that belong into one message (or a few). */
struct encoding {
	struct plan *plan;
	struct desk *desk;
	const struct model *model;
	const struct reader *reader;
	const struct terms *terms;
	const uint32_t *drafts; /* numbers in desk->drafts */
	uint32_t n;
	bool elsewhere; /* it answers what a queue passed on: what else is said there is not known */
	struct json_reader json; /* for looking into messages, one at a time: copy what must last */
};

/* Adds a proposal for the given drafts (numbers), with the channel and path where replies to the
 * item go; the encoder fills bytes, to, expect. Where each message is a turn there need be no
 * draft. */
struct proposal *propose(struct encoding *e, const uint32_t *drafts, uint32_t n);
void propose_missing(struct encoding *e, struct proposal *p, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void propose_caution(struct encoding *e, struct proposal *p, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
const struct draft *draft_of(const struct encoding *e, uint32_t i);   /* i-th of the group */
const struct item *item_of(const struct encoding *e, uint32_t i);
/* The item's state now. */
void state_of(const struct encoding *e, uint32_t i, struct item_state *out);
/* Parses a message's bytes anew; NULL when they cannot be read. Lives until the next call. */
yyjson_val *parse_message(struct encoding *e, uint32_t message);
/* The bytes as one line, into the plan's arena, newline added; missing where gavel's own rules have
 * something against it. */
void proposal_set_bytes(struct encoding *e, struct proposal *p, const struct buf *json);
/* ISO 8601 of terms->now_ms, in the plan's arena. */
struct str encode_time(struct encoding *e);
/* A fresh UUID, in the plan's arena. */
struct str encode_uuid(struct encoding *e);

enum { CONTEXT_MAX = 48 }; /* messages that go with an escalated item */

/* A message of the log; or a letter from here, which need not be in it, and was written when `at`
 * messages had come. */
struct companion {
	uint32_t at;
	struct str letter; /* n 0 = the message with the number at */
};

/* In the log's order once they are sorted. */
struct context {
	struct companion list[CONTEXT_MAX];
	uint32_t n;
};

/* Nothing for NONE, one that is there, or one too many. */
void context_add_message(struct context *c, uint32_t message);
/* What was written here, unless it is in the log as well. NULL: nothing. */
void context_add_letter(struct encoding *e, uint32_t session, const struct letter *l,
			struct context *c);

/* The verbs of an item that is open. */
struct item_verbs {
	enum item_kind kind;
	unsigned verbs;     /* CAN_…; 0 ends a table */
	bool never_expires; /* only of those without a deadline */
};

/* What can be said in a dialect. A NULL slot: nothing, or the usual. */
struct encoder_ops {
	const struct item_verbs *verbs; /* the first row that fits; ends with verbs 0 */
	/* Whether two staged drafts go out in one message. NULL = never. */
	bool (*together)(const struct encoding *e, const struct draft *a, const struct draft *b);
	/* Makes proposals of the drafts of one group. */
	void (*encode)(struct encoding *e);
	/* The other messages that an answer to the group's i-th item has to look at, for who
	 * decides an escalated item elsewhere. */
	void (*add_context)(struct encoding *e, uint32_t i, const struct item_state *state,
			    struct context *out);
	bool is_file;          /* a message is a file: a folder takes it */
	bool names_no_session; /* so each session of a log has a reply file of its own */
	const char *queue_caution; /* with an answer to what a queue passed on */
};

/* By a dialect's number (encoder_registry.c); NULL behind the last. */
extern const struct encoder_ops *const encoders[DIALECT_MAX];

/* Reason code and explanation in one text, in the plan's arena; empty when there are neither. */
struct str encode_words(struct encoding *e, const struct draft *d);
/* Adds the queue's entry for an escalated draft (also "no queue is given" as missing where the
 * dialect cannot say it itself). Where the dialect says it too, call this first: the entry is then
 * housekeeping, and the draft is done only when both are written. */
void encode_escalation(struct encoding *e, uint32_t i, bool said_in_dialect);
/* An item of an escalation queue: answers in the original's dialect to the original's reply
 * path. */
bool is_from_queue(const struct item *item);
void encode_queue_answer(struct encoding *e);
/* A proposal that goes to the queue --escalate-to names, or says what is wrong with that queue. */
struct proposal *propose_to_queue(struct encoding *e, const uint32_t *drafts, uint32_t n);

/* A path as typed, whole: the journal outlives the current folder. */
void add_absolute(struct buf *out, const char *path);
/* Replies for a source: the turn to come, --reply, else beside it. `session` only where several
 * feedback sessions share a log. Into out; the type of channel is returned. */
/* Whether the source holds more than one feedback session: a Request names none, so each has its
 * own file. */
bool has_several_sessions(const struct model *m, uint32_t group);
enum channel_type reply_path(const struct desk *d, const struct terms *t, const struct model *m,
			     const struct item *item, enum dialect_id dialect, struct buf *out);
/* Why replies cannot go where the letter's channel and path say, or NULL. */
const char *reply_problem(const struct desk *d, const struct terms *t, const struct letter *l);
/* Whether SESSION in LOG.SESSION.replies.ndjson was cut, and does not name its session. */
bool reply_part_is_cut(struct str part);

#endif
