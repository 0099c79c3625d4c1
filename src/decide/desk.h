/* The desk of one source: the decisions staged, written and sent for it, kept in its journal.
 * Whoever decides (the UI, gavel decide) works through a desk; nothing else writes to journal or
 * channel.
 *
 * The order that everything depends on: DRAFT recorded → shown as staged; INTENT with the exact
 * bytes synced → ATTEMPT synced → bytes leave → SENT synced → shown as sent. What is on the screen
 * is never more than what is on the disk.
 *
 * After a start nothing is sent by itself: unfinished letters are listed (desk_unfinished), probed
 * and finished only by desk_recover, which the person asks for.
 *
 * Journal records (JSON; `state` first):
 *   OPEN    gavel, source, time                         head of a journal
 *   DRAFT   id, time, session ("" = the source's own), kind, item, dialect, rev, verb, by, seen
 *           [, reason_code, explanation, answer, artifact, sure, corrects]
 *   INTENT  id, time, drafts [ids], dialect, channel, path, to, bytes [, expect]
 *   INTENTS list                                        several at once: all or none
 *   ATTEMPT ref, time, drafts [ids], offset, dev, ino, lead, print
 *   SENT    ref, time, drafts [ids]                     so that a lost INTENT is not written anew
 *   ACKED   ref, time, line                             the log's proof
 *   HELD    ref, time, why, certain
 *   MOVED   ref, time, path                             from now on it goes there
 *   VOID    ref, time                                   a draft or letter given up; with a letter
 *                                                       those that accompany it (INTENTS)
 * and of agents that gavel runs, without consequence for the next start:
 *   RUN     time, agent, path, command                  an incarnation has begun
 *   ASKED   time, agent, path, type, id, ruling [, code, why, bytes]
 *                                                       a request, and how gavel answered by itself
 *   TOLD    time, agent, path, bytes                    what it said unasked: TIMEOUT, notify:… */
#ifndef GAVEL_DECIDE_DESK_H
#define GAVEL_DECIDE_DESK_H

#include "decide/decision.h"
#include "journal/journal.h"
#include "model/model.h"

struct plan;
struct reader;

enum desk_access {
	DESK_NONE,  /* no journal yet, none opened */
	DESK_READS, /* shows what is recorded; cannot decide, `why` says why */
	DESK_WRITES,
};

/* An agent that gavel runs, as the desk of its group sees it. */
struct desk_way {
	/* Appends the path to the incarnation that has written a message of the model; NONE: to the
	 * one that runs now. Nothing = there is none. */
	void (*path)(void *ctx, uint32_t message, struct buf *out);
	/* The agent has taken a line, whole. */
	void (*sent)(void *ctx, struct str path, struct str line);
	void *ctx;
};

struct output_queue;

struct desk {
	struct str group;  /* the source as given: the model's group of its sessions */
	struct str source; /* its real path; "stdin" for a stream */
	bool is_dir;
	enum desk_access access;
	enum journal_result trouble; /* why it only reads; FINE = more was not asked for */
	struct err why;
	struct journal journal;
	VEC(struct draft) drafts; /* oldest first; never removed */
	VEC(struct letter) letters;
	struct map draft_ids, letter_ids, item_drafts; /* their numbers: by id, by item_key */
	bool recovered; /* the person has seen what was unfinished */
	/* settle.c: how much of the model and of the desk was looked at; letters by the number that
	 * model_expect gave, NONE = another desk's */
	uint32_t items_seen, drafts_seen, letters_seen, replies_seen;
	VEC(uint32_t) expecting;
	/* set by the opener */
	bool sole_writer;
	int wait_ms; /* how long whoever reads may take, as in struct channel */
	const struct idle *idle;
	const struct desk_way *way; /* its replies go to an agent (post.h); NULL = they do not */
	struct output_queue *queue;          /* what is on its way there */
	int hand; /* descriptor + 1 that keeps a FIFO open between messages; 0 = none */
	const struct reader *reader; /* what an item says now; NULL = what was decided on */
	struct arena arena;
	char *dir;
};

/* $XDG_STATE_HOME/gavel, or ~/.local/state/gavel; `given` (--journal) in its place when not
 * NULL. */
void desk_base(const char *given, struct buf *out);
/* Finds the journal's folder (base/<hash of the real path>) and reads it if it is there. write:
 * takes the lock if the journal exists; a new journal is made by the first decision. Never fails as
 * a whole: access, trouble and why say what can be done. */
void desk_open(struct desk *d, const char *base, const char *source, bool write);
/* Opens a journal by its folder, whatever its source (gavel journal). */
void desk_open_dir(struct desk *d, const char *dir, bool write);
void desk_close(struct desk *d);

/* Finds the items of drafts that are not yet tied to the model, and tells the model how each stands
 * (model_overlay), what replies to expect (model_expect), and records the proofs it has meanwhile
 * found. Call after messages were applied and after each change here, always with the same
 * model. */
void desk_settle(struct desk *d, struct model *m);

/* Records a decision. The draft's strings are copied, id and state filled in; an older staged draft
 * of the same item is voided by it. -1: "NOT recorded…". Refuses what is not complete
 * (draft_missing), and a second live decision on the same revision unless `corrects` names the
 * delivered one. Returns the draft's number in *number. */
int desk_stage(struct desk *d, const struct draft *draft, uint32_t *number, struct err *err);
/* Undoes a staged draft. */
int desk_undo(struct desk *d, uint32_t draft, struct err *err);
/* The newest live draft (staged or written) on the same item in the same revision, or NONE. */
uint32_t desk_find(const struct desk *d, const struct draft *like);
/* The same among those that were written, which another decision would contradict. */
uint32_t desk_find_written(const struct desk *d, const struct draft *like);
uint32_t desk_staged(const struct desk *d); /* how many */

/* Writes INTENT for letters that belong together, one record for all, so that a crash leaves none
 * unlisted, and sends them. Their strings are copied; their drafts are numbers of this desk. Their
 * numbers start at *first; how they ended: the states in d->letters.v. -1: a record could not be
 * written, err says which; without INTENT nothing was sent. An empty letter is refused: only a
 * dismissal, which goes to nobody, is its record alone. */
int desk_send_all(struct desk *d, const struct letter *letters, uint32_t n, uint32_t *first,
		  struct err *err);
/* Sends a held letter again, byte by byte the same. */
int desk_resend(struct desk *d, uint32_t letter, struct err *err);
/* Gives up a held letter: its drafts are void, and the items open again. What may have arrived only
 * when sure, which is for a place that is gone for good: where it can be looked at, what did arrive
 * is sent instead (the letter's state tells). */
int desk_give_up(struct desk *d, uint32_t letter, bool sure, struct err *err);
/* A letter for one turn of a review goes to the process of another: that of its own never had it.
 * Then it can be sent again. */
int desk_move(struct desk *d, uint32_t letter, struct str path, struct err *err);
/* The process that a letter was for has ended, so that no more can become of it: it has arrived, as
 * an answer tells, or the turn failed and whoever retries it writes another one. */
int desk_conclude(struct desk *d, uint32_t letter, bool arrived, struct err *err);
/* Letters whose end is not known or that were held: what the recovery page lists. */
uint32_t desk_unfinished(const struct desk *d);
/* Finishes them: completes what is torn, sends what certainly was not sent, and where it is
 * uncertain resends by itself for collaboration and handoff (at most 3 tries), feedback and
 * orchestrator when `uncertain` is true, envelopes never. Returns how many are still held. */
uint32_t desk_recover(struct desk *d, bool uncertain, struct err *err);

/* A FIFO is kept open from one message to the next, because its reader takes the last close for the
 * end; this is the end. */
void desk_let_go(struct desk *d);

/* The letter that a draft went into, NULL = none yet. */
static inline const struct letter *draft_letter(const struct desk *d, const struct draft *draft)
{
	return draft->letter == NONE ? NULL : &d->letters.v[draft->letter];
}

/* How a draft stands, for views and JSON. */
enum delivery draft_delivery(const struct desk *d, const struct draft *draft);
enum verdict verb_verdict(enum verb v);

/* Several sources: one desk each. */
struct desks {
	VEC(struct desk) list;
};
/* The desk of a session's group, or NULL. */
struct desk *desks_find(struct desks *all, struct str group);
struct desk *desks_of_item(struct desks *all, const struct model *m, const struct item *item);

#endif
