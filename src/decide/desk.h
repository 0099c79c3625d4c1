/* The desk of one source: its decisions, from staging to acknowledgment, backed by a journal. The
 * UI and gavel decide send every reply through a desk; nothing else writes to journal or channel.
 * To send a reply: desk_stage, plan_make (encode/plan.h) for its bytes, desk_send_all; desk_settle
 * then matches its acknowledgment.
 *
 * Write-ahead order: DRAFT recorded → shown as staged; INTENT with the exact bytes synced →
 * ATTEMPT synced → bytes leave → SENT synced → shown as sent. Where nothing has to be waited for
 * between INTENT and ATTEMPT, one sync confirms both. The screen never shows more than the
 * disk holds.
 *
 * Recovery after a crash: opening a desk sends nothing. Unfinished letters are listed
 * (desk_unfinished), and probed and finished only by desk_recover, which the person asks for.
 *
 * Journal records (JSON; `state` first):
 *   OPEN    gavel, source, time [, file]                head of a journal; again for each other path
 *                                                       or file that it was found to be of
 *   DRAFT   id, time, session ("" = the source's own), kind, item, dialect, rev, verb, by, seen
 *           [, team, reason_code, explanation, answer, option, input, artifact, sure, corrects]
 *   DRAFTS  time, decides [DRAFT]                       several staged at once: all or none
 *   INTENT  id, time, drafts [ids], decides, dialect, channel, path, to, bytes [, aside]
 *   INTENTS list                                        several at once: all or none
 *   DONE    id, time, drafts [ids], decides, dialect    a dismissal, which is said to nobody
 *   ATTEMPT ref, time, drafts [ids], decides, offset, dev, ino, lead, print [, at]
 *   SENT    ref, time, drafts [ids], decides [, at]
 *   ACKED   ref, time, line                             acknowledged by that line of the log
 *   HELD    ref, time, why, certain
 *   MOVED   ref, time, path                             new destination
 *   VOID    ref, time [, drafts]                        a draft or letter given up; a letter
 *                                                       takes its batch (INTENTS) along; drafts:
 *                                                       all that are undone at once, ref the first
 *   HEARD   time, path, offset, at                      where somebody else's reply was read
 *   SNOOZED time, session, kind, item, rev, steps       hidden until it changes; WOKEN likewise
 * where `decides` repeats the drafts without their words, so that what was sent stays decided even if
 * DRAFT and INTENT are damaged (a gavel that does not know DRAFTS reads its `decides` the same way, and
 * a VOID with drafts as that of a letter that was lost), and `at` is the place in the agents' stream: {file, offset, print}
 * (struct anchor), and `file` the log's identity: {dev, ino, born, head} (struct log_identity);
 * and about agents that gavel runs, ignored on replay:
 *   RUN     time, agent, path, command                  an incarnation has started
 *   ASKED   time, agent, path, type, id, ruling [, code, why, bytes]
 *                                                       a request and gavel's automatic answer
 *   TOLD    time, agent, path, bytes                    an unsolicited line: TIMEOUT, notify:… */
#ifndef GAVEL_DECIDE_DESK_H
#define GAVEL_DECIDE_DESK_H

#include "decide/decision.h"
#include "decide/identity.h"
#include "journal/journal.h"
#include "model/model.h"

struct file_locks;
struct plan;
struct reader;

enum desk_access {
	DESK_NONE,  /* no journal */
	DESK_READS, /* read-only, `why` says why */
	DESK_WRITES,
};

/* The running agent that a desk's replies go to. */
struct desk_agent {
	/* Appends the path of the incarnation that wrote a message of the model; NONE: of the
	 * running one. Appends nothing if there is none. */
	void (*path)(void *ctx, uint32_t message, struct buf *out);
	bool queued; /* by desk_tick; else sending waits until its holder has written the reply */
	void *ctx;
};

/* The store of a team that a desk's decisions go to. */
struct desk_team {
	const char *store; /* its address without the login */
	const char *login; /* who decides there */
	/* Why nothing can be decided now, or NULL. */
	const char *(*stopped)(void *ctx);
	/* Whether an item of the model must not be decided, and appends why: it is not what agents said. */
	bool (*refuses)(void *ctx, uint32_t item, struct buf *why);
	void *ctx;
};

struct desk;
/* Who decides on a desk: `as`, but in a team's store the login. */
struct str desk_decider(const struct desk *d, struct str as);

struct output_queue;

/* A line of a reply file that somebody else wrote while a gavel was watching. */
struct heard {
	struct str path;
	uint64_t offset;
	struct anchor at;
	uint32_t letters; /* number of letters recorded before it */
};

/* A log that the journal is of. */
struct known_log {
	struct str source;
	struct log_identity file; /* zero in journals of 0.1.0 */
};

/* An item that the person does not want to see until it changes. Names stay valid across restarts. */
struct snooze {
	struct str session, item; /* as in struct draft */
	enum item_kind kind;
	struct str rev;  /* as it was snoozed, */
	uint32_t steps;  /* and with so many steps in its history */
};

/* The newest event of a team's store that was seen; n 0 = none. */
struct store_seen {
	int64_t n;
	unsigned char hash[32];
};

struct desk {
	/* the model's group of its sessions: the source as given, unless the opener set another */
	struct str group;
	struct str source; /* its real path; "stdin" for a stream; by desk_open_dir the last one known */
	struct log_identity file; /* of the source, zero unless it is a regular file */
	VEC(struct known_log) logs; /* as the journal has them, oldest first */
	struct str notice; /* that it begins like a log with decisions; empty = none */
	bool is_dir;
	enum desk_access access;
	enum journal_result trouble; /* why it is read-only; FINE = as requested */
	struct err why;
	struct journal journal;
	VEC(struct draft) drafts; /* oldest first; never removed */
	VEC(struct letter) letters;
	/* hash indexes: draft and letter by id, drafts by record_item_key */
	struct map draft_ids, letter_ids, item_drafts;
	uint32_t finished; /* so many letters, the oldest ones, are not unfinished */
	bool recovered; /* nothing was unfinished, or desk_recover was called */
	uint32_t changes; /* records applied */
	VEC(struct heard) heard; /* oldest first */
	VEC(struct snooze) snoozes; /* one per item; stale entries are kept */
	struct store_seen store_seen;
	uint32_t items_seen, drafts_seen; /* settle.c: progress through model and desk */
	/* set by the opener */
	bool sole_writer;
	int wait_ms; /* reader timeout, as in struct channel */
	const struct idle *idle;
	const struct desk_agent *agent; /* that replies go to; NULL = to a file, FIFO or folder */
	const struct desk_team *team; /* NULL = it is no team's inbox */
	const char *reply; /* where replies go, set by the person meanwhile; NULL = as the terms say */
	bool unanswerable; /* nothing says where replies go */
	struct output_queue *queue; /* of that agent */
	const struct file_locks *locks; /* files that the caller has locked; NULL = none */
	int kept_fifo; /* FIFO kept open between messages: descriptor + 1, 0 = none */
	const struct reader *reader; /* to compare revisions; NULL = assume them equal */
	/* The place behind the last message of its agents; NULL = not known. said: a letter that has
	 * left, or NULL; false if its items have other words there than those decided on. */
	bool (*anchor)(void *ctx, const struct desk *d, const struct letter *said,
		       struct anchor *out, struct arena *names);
	void *anchor_ctx;
	struct arena arena;
	char *base, *dir; /* base: NULL by desk_open_dir */
	bool noted; /* the journal and the index have the source's path and identity */
};

/* Where journals are: `given` (--journal) if not NULL, else $XDG_STATE_HOME/gavel or
 * ~/.local/state/gavel. */
void desk_base(const char *given, struct buf *out);
/* Replays the source's journal, if it exists: the one that knows this very file, be it renamed or a
 * hard link, else the one in base/<hash of the real path>. write: also locks it; a missing journal
 * is created by the first decision. If only another log begins the same and has decisions, `notice`
 * says so. Cannot fail: access, trouble and why tell what is possible. */
void desk_open(struct desk *d, const char *base, const char *source, bool write);
/* Opens a journal by its folder (gavel journal). */
void desk_open_dir(struct desk *d, const char *dir, bool write);
void desk_close(struct desk *d);
/* Takes the lock of a desk opened for writing now, and not with the first decision: for who must be the
 * only one before there is something to write. -1: it cannot be had, err. */
int desk_claim(struct desk *d, struct err *err);

/* Synchronizes desk and model: binds drafts to their items, updates the model's overlays
 * (model_overlay) and records acknowledgments that the model has found (ACKED). Call after messages
 * were applied and after each change of the desk, always with the same model. */
void desk_settle(struct desk *d, struct model *m);

/* Records a decision as a staged draft, *number. Its strings are copied, id and state filled in; it
 * voids an older staged draft of the same item. -1 "NOT recorded…": the journal failed, the draft
 * is incomplete (draft_missing) or not UTF-8 (draft_check_texts), or the same raise has a live
 * decision that `corrects` does not
 * name. */
int desk_stage(struct desk *d, const struct draft *draft, uint32_t *number, struct err *err);
/* Several at once, in one record with one sync: all of them, *first and those behind it, or none. */
int desk_stage_all(struct desk *d, const struct draft *drafts, uint32_t n, uint32_t *first,
		   struct err *err);
/* Stages a draft that is sent at once, so that the sync of its message confirms it: it must not be
 * shown before that, or before desk_confirm, which is to be called if nothing was sent. */
int desk_stage_unconfirmed(struct desk *d, const struct draft *draft, uint32_t *number,
			   struct err *err);
/* -1: what was recorded without a sync may be lost. */
int desk_confirm(struct desk *d, struct err *err);
/* Takes back staged drafts; several at once likewise. */
int desk_undo(struct desk *d, uint32_t draft, struct err *err);
int desk_undo_all(struct desk *d, const uint32_t *drafts, uint32_t n, struct err *err);
/* The newest live draft (staged or written) on the same raise of an item, or NONE. */
uint32_t desk_find(const struct desk *d, const struct draft *like);
/* The same among written drafts only: a second decision would contradict it. */
uint32_t desk_find_written(const struct desk *d, const struct draft *like);
/* Whether an item that it decides has other words now than the person saw. */
bool letter_is_outdated(const struct desk *d, const struct model *m, const struct letter *l);
/* Records, unsynced, where somebody else's line of a reply file was read. */
void desk_note_heard(struct desk *d, struct str path, uint64_t offset);
/* Records, unsynced, that an item is snoozed, or that it is not any more. */
int desk_snooze(struct desk *d, const struct snooze *s, bool on, struct err *err);
/* Records that a sent letter was acknowledged, where no message of the log tells. */
void desk_acknowledge(struct desk *d, uint32_t letter);
/* Records, unsynced, the newest event of the team's store, once there is a journal. */
void desk_note_seen(struct desk *d, const struct store_seen *seen);
uint32_t desk_staged(const struct desk *d); /* how many */
/* A draft by its id, or NULL. */
const struct draft *desk_draft_named(const struct desk *d, struct str id);

/* Sends replies: writes INTENT for all of them in one record (all or none survive a crash), then
 * transmits each. Strings are copied; drafts are indices of this desk. The new letters start at
 * d->letters.v[*first], where their states tell the outcome. -1: a record could not be written; if
 * it was INTENT, nothing was sent. Refuses a letter without bytes, except a dismissal, which is
 * only recorded. */
int desk_send_all(struct desk *d, const struct letter *letters, uint32_t n, uint32_t *first,
		  struct err *err);
/* Letters that belong together, as desk_send_all takes them. */
struct letter_group {
	const struct letter *letters;
	uint32_t n;
};
/* Sends groups one after the other, as desk_send_all would; such as go to one file that is locked share
 * their syncs: INTENTs and ATTEMPTs of all, then the messages, then SENT of all. -1: a record could not
 * be written; drafts that are still staged were not sent. */
int desk_send_groups(struct desk *d, const struct letter_group *groups, uint32_t n, struct err *err);
/* Retries a held letter, with the same bytes. */
int desk_resend(struct desk *d, uint32_t letter, struct err *err);
/* Looks for a letter that may have arrived, and sends nothing. */
enum channel_found desk_look_for(struct desk *d, const struct letter *l, struct err *err);
/* Gives up a held letter: voids its drafts, so their items are open again. One that may have
 * arrived needs `sure`; if the channel can still be probed and has it, it becomes SENT instead. */
int desk_give_up(struct desk *d, uint32_t letter, bool sure, struct err *err);
/* Changes the destination of a letter that the process of its review turn never received to that
 * of another turn, for desk_resend. */
int desk_reroute(struct desk *d, uint32_t letter, struct str path, struct err *err);
/* Closes a letter whose process has exited: SENT if its answer proves that it arrived, else VOID (a
 * retry of the turn writes a new one). */
int desk_conclude(struct desk *d, uint32_t letter, bool arrived, struct err *err);
/* How many letters are held or of unknown outcome: those that the recovery page lists. */
uint32_t desk_unfinished(const struct desk *d);
/* Finishes them: completes torn ones, sends those certainly not sent. Uncertain ones are resent
 * for collaboration and handoff (at most 3 tries), for feedback and orchestrator if `uncertain` is
 * true, for envelopes never. Returns how many remain. */
uint32_t desk_recover(struct desk *d, bool uncertain, struct err *err);

/* Closes the FIFO that is kept open between messages so that its reader sees no end of file. */
void desk_close_fifo(struct desk *d);

/* NULL while the draft is in none. */
static inline const struct letter *draft_letter(const struct desk *d, const struct draft *draft)
{
	return draft->letter == NONE ? NULL : &d->letters.v[draft->letter];
}

/* Delivery state of a draft, for all that show it. m: knows acknowledgments before they are recorded
 * and decisions that bounced; NULL = by the journal alone. */
enum delivery draft_delivery(const struct desk *d, const struct draft *draft,
			     const struct model *m);
enum verdict verb_verdict(enum verb v);

/* One desk per source. */
struct desks {
	VEC(struct desk) list;
};
/* The desk of a session's group, or NULL. */
struct desk *desks_find(struct desks *all, struct str group);
struct desk *desks_of_item(struct desks *all, const struct model *m, const struct item *item);

#endif
