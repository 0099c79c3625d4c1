/* A plan: the replies that the staged drafts would become. The pre-flight page shows it, and
 * delivery sends it. Making a plan writes nothing.
 *
 * Drafts are grouped by what the protocol says in one message (all of a feedback turn; the accepted
 * findings of one review), and each group is encoded by encode_<dialect>.c. A proposal with a
 * `missing` entry cannot be sent; each entry says what is missing and how to supply it. `cautions`
 * are shown before the person confirms.
 *
 * A plan owns its strings. It refers to drafts by number and to desks by pointer, so it must be
 * remade when either changes. */
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
	uint32_t group;  /* sent together; number of the group's first draft */
	struct str words; /* of a letter without drafts: what it says of what; empty = none */
	struct str runs; /* the command it starts; empty = none */
	bool hears;      /* answer to a queue's entry: its reply file was read, */
	uint64_t heard_bytes; /* so far */
	bool needs_sure; /* accepted or partial, but the artifact is unchanged: confirm twice */
	uint32_t leaves_open; /* items that it closes undecided: confirm twice */
};

/* gavel review: each message is a turn, run by a new process. */
struct turn_terms {
	const char *path;    /* of the next incarnation (child_next_path) */
	const char *blocked; /* why none can start now; NULL = one can */
	struct str to;       /* the command, for display */
};

/* A draft of one of several desks. */
struct draft_ref {
	const struct desk *desk;
	uint32_t draft;
};

struct draft_refs {
	VEC(struct draft_ref) list;
};

/* Settings of a plan: sender, destinations, clock. */
struct terms {
	struct str as;          /* the person's name */
	const char *reply;      /* --reply; NULL = beside the source */
	const struct desks *desks; /* all sources, which are never written to; NULL = only one */
	const char *escalate_to; /* --escalate-to; NULL = no queue */
	const char *artifact;   /* --artifact for drafts that have none of their own; NULL */
	bool sole_writer;
	int64_t now_ms;         /* timestamp of messages (see HACKING: a recording's clock) */
	bool live;              /* it is the wall clock, which expires items */
	const struct turn_terms *turn; /* replies start a process; NULL = they do not */
	/* Answers whose place only a message names (an entry of an escalation queue): neither =
	 * refused; apart = left out and listed in plan.apart; named = only those to this path, for
	 * a confirmation of their own */
	bool apart;
	const char *named;
	const struct draft_refs *chosen; /* only these are planned; NULL = all that is staged */
	const struct draft_refs *dropped; /* left out, listed in plan.dropped; NULL = none */
};

/* The clock that expires items, as item_at takes it. */
static inline int64_t terms_clock(const struct terms *t)
{
	return t->live ? t->now_ms : TIME_NONE;
}

struct plan {
	struct arena arena;
	VEC(struct proposal) list; /* in sending order */
	VEC(struct str) refused;   /* drafts that cannot be sent: "ITEM: why" */
	VEC(uint32_t) refused_drafts; /* their numbers in the desk's drafts */
	VEC(struct draft_ref) dropped; /* drafts left out, see terms.dropped */
	VEC(struct str) apart; /* paths named by messages, each once; see terms.apart */
	struct str named;      /* the path of all its letters if a message names it; else empty */
};

/* Plans all staged drafts of the desk, or, if `only` is not NONE, the message that this draft belongs
 * to. */
void plan_make(struct plan *p, struct desk *desk, const struct model *m, const struct reader *r,
	       const struct terms *t, uint32_t only);
/* For terms with `turn`: a Request without decisions. The session's next one, or the last answered
 * one again; session NONE: the very first. */
enum turn_which { TURN_NEXT, TURN_AGAIN };
void plan_turn(struct plan *p, struct desk *desk, const struct model *m, const struct reader *r,
	       const struct terms *t, uint32_t session, enum turn_which which);
/* The first input envelope, read from a file. */
void plan_envelope(struct plan *p, struct desk *desk, const struct model *m, const struct reader *r,
		   const struct terms *t, const char *path);
/* The proposals of a group follow each other: the first of them, and the one behind, by any of them. */
uint32_t plan_group_first(const struct plan *p, uint32_t i);
uint32_t plan_group_end(const struct plan *p, uint32_t i);
/* Whether all proposals of the group that begins there are complete; sure: needs_sure is confirmed. */
bool plan_group_is_ready(const struct plan *p, uint32_t first, bool sure);
/* Locks the files that its complete groups go to, for those who then read what others wrote there,
 * plan again and send: until nothing new is locked, since another plan may need other files. sure: as
 * above. -1: another program holds one, err. */
int plan_lock(const struct plan *p, struct file_locks *locks, bool sure, struct err *err);
/* Whether nobody has written to the reply files of answers to a queue's entries since the plan was
 * made. Those of the sources are read by the conversation (session/conversation.h). */
bool plan_heard_all(const struct plan *p, const struct file_locks *locks);
/* Sends the replies of the group that begins there (desk_send_all). -1: "NOT recorded…". */
int plan_send_group(struct plan *p, uint32_t first, struct err *err);
/* Sends that group and those behind it (desk_send_groups), as long as they are of the same desk and
 * ready; *end: the first one that is not. */
int plan_send_groups(struct plan *p, uint32_t first, bool sure, uint32_t *end, struct err *err);
/* Whether all its drafts can still be sent after more messages were applied. */
bool plan_is_current(const struct plan *p, const struct model *m, const struct reader *r,
		     int64_t wall_ms);
bool plan_has_drafts(const struct plan *p); /* else it is a command, or what others decided */
bool plan_is_ready(const struct plan *p); /* something to send and nothing missing */
bool plan_can_send(const struct plan *p); /* some group is complete */
void plan_release(struct plan *p);

/* ---- for the encoders ---- */

/* Where the replies of a session go. */
struct reply_place {
	uint32_t session;
	enum dialect_id dialect;
	enum channel_type channel;
	struct str path; /* without a pointer: not known yet */
};

/* Encoder state for one group of drafts, which become one message (or a few). */
struct encoding {
	struct plan *plan;
	struct desk *desk;
	const struct model *model;
	const struct reader *reader;
	const struct terms *terms;
	const uint32_t *drafts; /* numbers in desk->drafts */
	uint32_t n;
	uint32_t first; /* the group's first proposal in the plan */
	const bool *chosen, *dropped; /* of the terms, by draft; NULL = no list */
	bool via_queue; /* the item came through an escalation queue; its log is not at hand */
	struct json_reader json; /* holds one message at a time: copy what must last */
	struct revision_index *revisions; /* encode_revision.c */
	struct state_index *states;       /* encode_handoff.c */
	uint32_t *correlated;             /* correlation.c, by task */
	struct reply_place last_place;    /* reply_path.c */
	struct reply_check *check;        /* plan.c */
};

void state_index_free(struct state_index *x);

void encoding_release(struct encoding *e);

/* Whether the i-th proposal of the plan uses up numbers (sequence_number, task ids) that the next
 * message continues: it is of this group, or all of its group is complete. What is refused is not
 * sent and must leave no gap. */
bool proposal_counts(const struct encoding *e, uint32_t i);
/* Appends a proposal for the given drafts, with the item's reply path (reply_path); the encoder
 * fills in bytes and to. n may be 0 for a turn or an accompanying letter. */
struct proposal *propose(struct encoding *e, const uint32_t *drafts, uint32_t n);
/* Appends the answer to the first draft's item, to whoever has raised it. It lacks something if the
 * session has answered already: nobody uses a second answer. */
struct proposal *propose_answer(struct encoding *e, const struct item_state *at);
/* The name of the agent that has raised the item. */
struct str asker_name(struct encoding *e, const struct item_state *at);
/* Appends a proposal without reply path or bytes. */
struct proposal *proposal_add(struct encoding *e, enum dialect_id dialect, const uint32_t *drafts,
			      uint32_t n);
/* The same for the i-th draft, addressed to nobody: a dismissal, or to report what is missing. */
struct proposal *propose_to_nobody(struct encoding *e, uint32_t i);
void propose_missing(struct encoding *e, struct proposal *p, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void propose_caution(struct encoding *e, struct proposal *p, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
const struct draft *draft_of(const struct encoding *e, uint32_t i);   /* i-th of the group */
const struct item *item_of(const struct encoding *e, uint32_t i);
/* The item's state now. */
void state_of(const struct encoding *e, uint32_t i, struct item_state *out);
/* Parses a message; NULL when unreadable. Valid until the next call. */
yyjson_val *parse_message(struct encoding *e, uint32_t message);
/* Copies into the plan's arena. */
struct str keep_str(struct encoding *e, struct str s);
struct str keep_buf(struct encoding *e, struct buf *b); /* and releases b */
/* Sets the letter's bytes: the JSON and a newline. Adds a missing entry if gavel's own checks find
 * it invalid. */
void proposal_set_bytes(struct encoding *e, struct proposal *p, const struct buf *json);
/* The time of a message: terms->now_ms, but not before what it answers, whose time may be one that
 * is not believed yet. */
int64_t encode_ms(const struct encoding *e);
struct str encode_time(struct encoding *e); /* that in ISO 8601, in the plan's arena */
struct str encode_uuid(struct encoding *e); /* a fresh one, in the plan's arena */

enum { CONTEXT_MAX = 48 }; /* messages that go with an escalated item */

/* The messages that accompany an escalated item. */
struct context {
	uint32_t list[CONTEXT_MAX];
	uint32_t n;
};

/* Ignores NONE and duplicates, and everything beyond CONTEXT_MAX. */
void context_add_message(struct context *c, uint32_t message);

/* Which verbs an open item of this kind takes. */
struct item_verbs {
	enum item_kind kind;
	unsigned verbs;     /* CAN_…; 0 ends a table */
	bool never_expires; /* row applies only to items without a deadline */
};

/* How decisions are said in a dialect. */
struct encoder_ops {
	const struct item_verbs *verbs; /* the first matching row counts */
	/* A hash of what the drafts of one message share; 0 = a message of its own. NULL = never
	 * together. */
	uint64_t (*together)(const struct encoding *e, const struct draft *d);
	/* Turns a group of drafts into proposals. NULL = nothing can be said. */
	void (*encode)(struct encoding *e);
	/* Adds the messages that encoding an answer to the group's i-th item needs, for an
	 * escalated item that is decided without the log. */
	void (*add_context)(struct encoding *e, uint32_t i, const struct item_state *state,
			    struct context *out);
	/* Whether a decision that was said cannot be corrected by another message; appends why.
	 * NULL = it can. */
	bool (*is_final)(const struct model *m, const struct item *item,
			 const struct item_state *at, struct buf *why);
	bool at_once;          /* who asks waits for the answer: a verb opens the pre-flight of
				  that item, or of the marked ones */
	bool is_file;          /* messages are files in a folder */
	bool names_no_session; /* messages have no session id: one reply file per session */
	const char *queue_caution; /* for an answer through a queue; NULL = the usual one */
};

/* Indexed by dialect (encoder_registry.c); NULL behind the last. */
extern const struct encoder_ops *const encoders[DIALECT_MAX];

/* "reason code: explanation", either, or empty; in the plan's arena. */
struct str reason_text(struct encoding *e, const struct draft *d);
/* Writes a handoff Decision: {"task_id":…,"decision":…,"rationale":… */
void begin_decision(struct encoding *e, struct buf *b, const struct draft *d, struct str task);
/* …,"created_at":…,"x-gavel":{"by":… without the closing braces. */
void put_decider(struct encoding *e, struct buf *b, const struct draft *d);
/* Adds the escalation queue's entry for a draft, or a missing entry if there is no queue and the
 * dialect cannot say escalate. If it can, call this before proposing its message: the entry then
 * only accompanies it. */
void encode_escalation(struct encoding *e, uint32_t i, bool said_in_dialect);
/* Where an item that is decided elsewhere comes from. */
struct entry_origin {
	struct str from;   /* display name of the agent or log that asks */
	struct str places; /* the member "log" of its entry; empty = none */
};
/* Appends an entry for an item that nobody has escalated (dialect/escalation_entry.h), by terms->as, for
 * those who are to decide it elsewhere. -1: it would be too long. */
int encode_open_item(const struct desk *desk, const struct model *m, const struct reader *r,
		     const struct terms *t, uint32_t number, const struct entry_origin *origin,
		     struct buf *out, struct err *err);
/* Answers an item of an escalation queue in the original's dialect, to its reply path. */
bool is_from_queue(const struct item *item);
void encode_queue_answer(struct encoding *e);
/* What is decided in a team's inbox, for its store: the draft itself, which two persons may
 * countersign, as the letter. */
void encode_team_drafts(struct encoding *e);
/* Whether the answer of a draft goes to a path that only the queue's entry names. */
bool answer_is_named(struct encoding *e, uint32_t draft, struct str *path);
/* A proposal for the queue that --escalate-to names; missing says what is wrong with it. */
struct proposal *propose_to_queue(struct encoding *e, const uint32_t *drafts, uint32_t n);

/* Appends the path made absolute: the journal must not depend on the current directory. */
void add_absolute(struct buf *out, const char *path);
/* Whether the source has more than one feedback session, each with a reply file of its own. */
bool has_several_sessions(const struct model *m, uint32_t group);
/* Where replies go: to the next turn, the running agent, --reply, or beside the source. Appends the
 * path and returns the channel's type. */
enum channel_type reply_path(const struct desk *d, const struct terms *t, const struct model *m,
			     const struct item *item, enum dialect_id dialect, struct buf *out);
/* Sets where a letter of the group goes; the file system is asked for the first letter of a session only. */
void letter_set_path(struct encoding *e, struct letter *l);
/* Whether nothing says where the replies of a source go: it is a stream, and there is no --reply. */
bool reply_path_is_missing(const struct desk *d, const char *reply);
/* Why a letter cannot be sent to its channel and path, or NULL. */
const char *reply_problem(const struct desk *d, const struct terms *t, const struct letter *l);
/* Whether SESSION in LOG.SESSION.replies.ndjson was truncated, and does not name its session. */
bool reply_part_is_cut(struct str part);

#endif
