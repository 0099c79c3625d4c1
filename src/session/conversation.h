/* The conversation: puts what was said to the agents into the model, in the order in which it was
 * said. A source is opened with its reply files: LOG.replies.ndjson, LOG.SESSION.replies.ndjson,
 * --reply, and the paths in its journal. Their lines are not read like a log; each is applied where
 * it belongs:
 *
 *   own letters    behind the message that the journal names (struct anchor), also if their channel
 *                  kept nothing (a FIFO); in journals of 0.1.0 behind the `seen`-th message
 *   others' lines  where they were read, if a gavel was watching and has recorded that (HEARD);
 *                  else right behind the message that they answer, or before the first one that is
 *                  their effect (model/reply_keys.h)
 *   the rest       at the end, without effect: what names something unknown must not close items
 *                  that were raised later. While following, it waits.
 *
 * Letters to agents that gavel runs are found in what the agents were told, and those of a review
 * in its log. load_apply calls the hooks for each message of the agents. */
#ifndef GAVEL_SESSION_CONVERSATION_H
#define GAVEL_SESSION_CONVERSATION_H

#include "base/map.h"
#include "dialect/dialect.h"
#include "model/reply_keys.h"
#include "session/line_index.h"
#include "wire/frame.h"

#include <time.h>

struct desk;
struct letter;
struct load;
struct anchor;
struct place;
struct stat;
struct wire_file;

/* A line of a reply file, until it is in the model. */
struct reply_line {
	uint32_t file, line; /* in the wire's list */
	uint32_t of, incarnation; /* of the talk's files, and which of that name */
	uint32_t next;            /* line of the same file, NONE */
	uint32_t first_key, keys; /* that it waits for: nodes of the talk's index */
	uint64_t offset;
	struct str bytes;
	uint32_t letter; /* of the desk, NONE = somebody else's */
	uint32_t message; /* its number in the model, once it is placed */
	int64_t time_ms;
	bool placed;
	bool free;     /* by its nature it answers nothing */
	bool known;    /* what it answers has come; its time tells where it stands */
	bool ready;    /* to be placed as soon as the letters above it are */
	bool spent;    /* anchored, and the message that it answers has come */
	bool anchored; /* in the queue, or a letter that is about to be sent */
};

/* Something that was said at a known place. */
struct anchored {
	uint32_t letter; /* of the desk; NONE = a line */
	uint32_t line;   /* NONE = the letter has none */
	uint32_t file;   /* of the wire; NONE = `seen` tells */
	uint64_t offset;
	uint32_t seen;
};

struct reply_file {
	char *path;
	struct str name;    /* as shown */
	struct str session; /* that it answers, by its name; or none */
	uint32_t file;      /* of the wire, NONE = it does not exist yet */
	uint64_t dev, ino;
	uint64_t at;        /* read up to here: whole lines */
	uint32_t line;      /* number of the next one, from 1 */
	uint32_t incarnation; /* counts files that had this name, and cuts */
	bool given;         /* by the user */
	bool skips;         /* inside a line that is too long */
	bool distrusted;    /* others can write to it: not read, and said so */
	uint32_t last;      /* of its lines, NONE */
	uint32_t first_anchored; /* of its lines, as far as is known; NONE */
	VEC(uint32_t) ready;     /* lines that are, in their order, from ready_at on */
	uint32_t ready_at;
};

enum { TALK_LENGTHS = 16 };

/* A letter that is in the model, or never will be. */
struct placed_letter {
	char id[16];
	uint32_t message; /* NONE: it was said in a file that is not read now */
};

/* What is said to the agents of one group. */
struct talk {
	struct str group;
	uint32_t desk; /* of the load, NONE */
	bool began;    /* the first message of its agents has come */
	bool quiet;    /* nothing was said yet: messages need not be looked at */
	VEC(struct reply_file) files;
	char *folder; /* where the source is, NULL = not known */
	struct timespec folder_changed;
	VEC(struct reply_line) lines;
	VEC(struct anchored) queue; /* in the order in which it was said */
	uint32_t next;              /* in the queue */
	uint32_t first_anchor;      /* in the queue: the first with a file, its length = none */
	uint32_t pending;           /* lines that wait for what they answer */
	uint32_t heard;             /* lines that were registered or placed; the rest is new */
	uint32_t ready;             /* lines that are ready */
	bool loose;                 /* some were placed at the end only because the log ends */
	VEC(uint32_t) due;          /* lines that wait for a time to pass: a heap */
	uint64_t lengths[TALK_LENGTHS]; /* a Bloom filter of the lines' lengths */
	uint32_t seen;              /* messages of its agents applied */
	uint32_t queued_seen;       /* the highest `seen` in the queue */
	uint32_t changes;           /* of the desk, as of the last look at it */
	uint32_t claimed;           /* letters before it are no lines of the log to come */
	VEC(struct placed_letter) placed;
	uint32_t spool;             /* file for letters without a file, NONE */
	uint32_t spool_line;
	uint64_t spooled;
	struct line_index waiting;  /* lines by the keys that they wait for */
	struct line_index texts;    /* lines by their bytes */
	uint32_t last_file;         /* of the last message of its agents, NONE */
};

struct conversation {
	bool on; /* reply files are looked for */
	bool applying; /* inside a frame: the wire must not get more files */
	VEC(struct talk *) talks;
	VEC(uint32_t) by_file;  /* of the wire: talk + 1; 0 = none */
	VEC(uint64_t) passed;   /* of the wire: end of the last message applied */
	struct decoder decoder;
	struct message message;
	struct reply_keys keys;
	struct buf bytes;
	struct arena arena; /* bytes of lines */
	/* as in struct load_reading, for replies */
	void (*each)(void *ctx, struct load *l, const struct message *msg, const struct record *r);
	void *ctx;
};

/* After the sources were added and their desks opened: finds the reply files and reads them. -1: a
 * reply file was given (--reply) for more than one source; that was reported. */
int conversation_open(struct load *l);
/* The talk of a file's group; NULL = nothing is said to it. */
struct talk *conversation_of(struct load *l, uint32_t file);
/* Behind a message of a quiet talk: only its place counts. */
static inline void conversation_pass(struct conversation *c, struct talk *t, uint32_t file,
				     const struct frame *frame)
{
	while (c->passed.n <= file)
		vec_push(&c->passed, 0);
	c->passed.v[file] = frame->offset + frame->full_length;
	t->last_file = file;
	t->seen++;
}

/* Before and after a message of the agents is applied. claim: sets *place if it is a letter of the
 * desk that the log itself holds, or repeats a reply. */
void conversation_claim(struct load *l, struct talk *t, uint32_t file, const struct frame *frame,
			const struct message *msg, struct place *place);
void conversation_before(struct load *l, struct talk *t, const struct message *msg);
void conversation_behind(struct load *l, struct talk *t, uint32_t file, const struct frame *frame,
			 const struct message *msg);
/* Everything was read: the rest goes to the end. */
void conversation_end(struct load *l);
/* After the first load: reads what was appended to reply files, and applies letters that were sent
 * since. Returns the number of new messages. */
uint32_t conversation_update(struct load *l);
/* After a desk was read anew from its journal. */
void conversation_rebind(struct load *l, uint32_t desk);
/* Lines that wait for what they answer, as they came too early or answer nothing in this log. */
uint32_t conversation_waiting(const struct load *l);
/* For the cache: a hash of all that is said; whether an image may hold it, that is, nothing waits
 * and the bytes of all of it are in files; and marking all of it as placed, once the model comes
 * from an image. */
uint64_t conversation_sum(const struct load *l);
bool conversation_can_be_kept(const struct load *l);
void conversation_restore(struct load *l);
/* desk.anchor */
bool conversation_anchor(void *load, const struct desk *d, const struct letter *said,
			 struct anchor *out, struct arena *names);
void conversation_release(struct conversation *c);

/* Inside this folder: */
/* The desk of a talk, NULL = none. */
struct desk *talk_desk(struct load *l, const struct talk *t);
/* The desk may be read anew from its journal: the talk remembers what is in the model. */
void talk_note_placed(struct talk *t, struct letter *x, uint32_t message);
/* Reads what was appended to its reply files. */
void talk_read_files(struct load *l, struct talk *t);
/* Registers what the lines that are new, up to `end`, wait for. */
void talk_wait(struct load *l, struct talk *t, uint32_t end);
bool line_waits(const struct reply_line *line);
/* Makes lines ready that belong before a message, or behind the one just applied. */
void talk_release_before(struct load *l, struct talk *t, const struct message *msg);
void talk_release_behind(struct load *l, struct talk *t, const struct message *msg);
/* A line that waits is ready: talk_next_ready will return it. */
void talk_make_ready(struct talk *t, uint32_t line);
/* Takes out the next line to be placed; above: only of those above that line of its file, NONE = of
 * all. NONE: there is none now. */
uint32_t talk_next_ready(struct talk *t, uint32_t above);
/* The effects of a line that is placed need no other cause. */
void talk_note_effects(struct talk *t, uint32_t line);
/* The place of a line is known: it is in the queue. */
void talk_anchor_line(struct talk *t, uint32_t line);
/* The first node of t->texts with lines that may equal the bytes, NONE. */
uint32_t talk_first_equal(const struct talk *t, struct str bytes);
/* Sorts the desk's letters out of the lines read, and queues them in the order of the journal. */
void talk_queue_journal(struct load *l, struct talk *t);
/* The file for letters without one, created if need be. */
uint32_t talk_spool(struct load *l, struct talk *t);
/* Such a letter was said in a file that is not read now. */
void talk_note_elsewhere(struct talk *t, struct letter *x);
/* The line of a letter, NONE. */
uint32_t talk_find_line(const struct load *l, const struct talk *t, const struct letter *x);
/* Whether the letter is to become a message of the session, and is none yet. */
bool letter_is_said(const struct letter *x);
/* Sent; or written, as its line shows (NONE = it has none). */
bool letter_was_sent(const struct letter *x, uint32_t line);
bool is_line_of(const struct reply_line *line, const struct letter *x);
/* Whether a folder's file is the one that a letter was written to. */
bool is_file_of_letter(const struct wire_file *f, const struct talk *t, const struct letter *x);
/* Finds the reply files of a group by their names and by its journal. */
void reply_files_find(struct load *l, struct talk *t);
/* The person has named another one while the source is open. */
void reply_files_give(struct load *l, struct str group, const char *path);
/* Looks for new ones, if files were made in the source's folder since. */
void reply_files_look(struct load *l, struct talk *t);
/* The session that the name of a reply file of that log tells, or none. */
struct str reply_session(struct load *l, struct str name, struct str log);
/* Why a file with that owner and mode is no person's word, or NULL. */
const char *reply_distrust(const struct load *l, const struct stat *st);
/* A reply file that is in the wire's list: it was given, or is in a folder. */
void reply_files_add(struct load *l, uint32_t file);
/* The path that a letter went to, if it is not known yet. */
void add_reply_path(struct load *l, struct talk *t, const struct letter *x);
/* Reads new whole lines of a reply file into t->lines. */
void reply_file_read(struct load *l, struct talk *t, struct reply_file *f);

#endif
