/* From SOURCE arguments to a model, and back to the bytes: what every command that reads uses.
 * Zero it, load_configure, say in `desk` what is wanted, load_open, then load_run, or load_step as
 * often as it takes; load_release ends all, at any time.
 *
 * A file of replies is read as part of the log it replies to, and after it: by its name,
 * LOG.replies.ndjson or LOG.SESSION.replies.ndjson, where LOG is read too, or because its first
 * message answers one of a source before it.
 *
 * With `follow` set before load_open, load_step then goes on with what comes, as often as load_fd is
 * readable or load_wait_ms has passed. The messages of streams come that way too. */
#ifndef GAVEL_SESSION_LOAD_H
#define GAVEL_SESSION_LOAD_H

#include "session/cache.h"
#include "config/config.h"
#include "config/options.h"
#include "session/search.h"
#include "dialect/dialect.h"
#include "model/model.h"
#include "decide/desk.h"
#include "view/view.h"
#include "wire/follow.h"

/* What a command wants of the decisions made for its sources; all zero = nothing. */
struct load_desks {
	bool open;           /* reads the journals */
	bool write;          /* and locks them, for deciding */
	const char *journal; /* --journal; NULL = the usual place */
	bool sole_writer;
	const struct idle *idle;
};

/* How views leave as JSON lines; all zero = they gather in one buffer. */
struct sheet {
	/* Takes what is in the buffer, now and then, and empties it; NULL: nobody does */
	void (*turn)(void *ctx, struct buf *lines);
	void *ctx;
	bool nameless; /* files are told by their numbers, so their names make no difference */
};

struct load;
/* Called for each message after the model has taken it; its diagnostics are complete. */
typedef void (*load_fn)(void *ctx, struct load *l, const struct message *msg, const struct record *r);
/* Called before the model takes it; may change it. */
typedef void (*load_before_fn)(void *ctx, struct load *l, struct message *msg, uint32_t file);

/* One file on its way into the model. */
struct load_reading {
	struct load *l;
	uint32_t file;
	bool may_join; /* its first message tells whether it belongs to another source */
	bool text;     /* lines are text, whatever they look like */
	bool lines, truncated;      /* it is read line by line; its last one is not complete */
	uint32_t messages, binary;
	load_fn each;
	void *ctx;
	load_before_fn before; /* NULL = nothing */
	void *before_ctx;
};

struct load {
	const struct config *config; /* thresholds and the longest line; NULL = the usual ones */
	struct load_desks desk;
	struct cache cache;
	bool tells;          /* diagnostics come with each message, they are not only counted */
	unsigned threads;    /* that read; 0 = as many as there are processors, up to 8 */
	size_t chunk_bytes;   /* of a log that threads share; 0 = CHUNK_BYTES */
	bool follow;         /* wanted */
	bool complete;       /* everything was read for the first time */
	struct follow *live; /* from then on, if wanted: health of sources, incomplete lines */
	struct desks desks; /* one for each source, in their order; none unless asked for */
	struct wire wire;
	struct model model;
	struct decoder decoder; /* of messages as they come */
	struct message message;
	bool trouble; /* some source could not be read; it was said */
	struct sheet sheet;
	struct buf *hold; /* for sentences while the screen is not ours; NULL = stderr */

	/* looking at a message again */
	struct decoder again;
	uint32_t looked_at; /* message that `again` has parsed, NONE */
	struct message again_message;
	struct buf bytes, text;
	struct reader reader;
	struct search search;

	/* reading for the first time: */
	uint32_t *order; /* of files; NULL = it has not begun */
	uint32_t order_n, order_next;
	struct wire_reading *file; /* that is being read, NULL; */
	struct load_reading reading;
	struct ahead *ahead; /* NULL = not with threads */
	struct wire_parallel lines;

	/* for following: */
	VEC(struct load_reading) readings; /* one a file */
	struct load_keeping {
		uint64_t *wanted; /* a bit for each message that was read first; NULL = all done */
		uint32_t items, tasks, messages;                /* how many were looked at, */
		uint32_t items_end, tasks_end, messages_end; /* of how many */
	} keeping;
};

/* What the command line and the configuration say about reading. First of all; lends c. */
void load_configure(struct load *l, const struct options *o, const struct config *c);
/* The same with the configuration read first, and what is wrong with it said. */
void load_read_config(struct load *l, const struct options *o, struct config *c);
/* For whoever has sources of another kind (agents.h); in place of load_open. max_line_bytes: 0 = as
 * configured. */
void load_init(struct load *l, size_t max_line_bytes);
/* The desk of a group, opened if there is none, on the journal that belongs to source (a path, or
 * "-"); NULL = no desks were asked for. group lives as long as the load; pointers to other desks do
 * not. */
struct desk *load_add_desk(struct load *l, struct str group, const char *source);
/* Reads a desk's journal again: somebody else has written it. */
void load_reopen_desk(struct load *l, uint32_t desk);
/* Adds the sources (none: standard input) and opens their desks. -1 when nothing can be read at
 * all. A journal that cannot be read is told in a sentence, unless it was to be written: then the
 * desk says it (access, why). */
int load_open(struct load *l, const char *const *sources, uint32_t n, size_t max_line_bytes);

enum load_state {
	LOAD_MORE,
	LOAD_WAITS, /* for load_fd and load_wait_ms */
	LOAD_ENDED, /* everything was read, nothing is followed */
};

/* Reads on until a moment of loop_now_ms has come, and a few milliseconds more at most; returns as
 * soon as there is nothing to read, or `complete` has become true. Desks are settled then, and
 * whenever more messages have come. each may be NULL. */
enum load_state load_step(struct load *l, int64_t until_ms, load_fn each, void *ctx);
/* Steps until everything was read once. */
void load_run(struct load *l, load_fn each, void *ctx);
/* desk_settle for every desk: after messages came, after a decision. */
void load_settle(struct load *l);
void load_release(struct load *l);

/* What to wait for: readable when something may have come, -1 = nothing to wait for. */
int load_fd(const struct load *l);
/* How long at most; -1 = for ever. */
int load_wait_ms(const struct load *l, int64_t now_ms);

/* A sentence for the person on stderr. Names of files are others' words: only cells come out. */
void load_say(struct load *l, struct str sentence);
/* Appends text as the cells that would be shown, without colours. */
void add_clean(struct buf *out, struct str s, enum text_mode mode);
/* The same, but of more than so many cells only the first, and "…". */
void add_clean_cut(struct buf *out, struct str s, enum text_mode mode, int most);
/* --filter, --since and --until as one filter; NULL when none is given. -1: said on stderr. */
int load_filter(const struct options *o, int64_t day, struct filter **out);

/* The name of a message's file as the person gave it. */
struct str load_source_name(const struct load *l, uint32_t source);

/* Within load: */
/* A decoded message into the model, and to whoever wants each; of the frame all but its bytes
 * counts. */
void load_apply(struct load_reading *r, struct message *m, const struct frame *frame);
/* Decodes the lines of a big log with several threads. NULL: that is not worth it. Both arguments
 * are lent until the end. */
struct ahead *load_ahead_begin(struct load_reading *r, struct wire_parallel *a);
/* Applies the next part. false: there is none, or it cannot be read here. */
bool load_ahead_step(struct ahead *x);
/* At any time; NULL is nothing. */
void load_ahead_end(struct ahead *x);
/* The frame_fn of a load_reading. */
void load_take(void *reading, const struct frame *frame);
/* Says once that a file seems to be no text. */
void load_judge_binary(struct load_reading *r);
void load_follow_begin(struct load *l);
/* The step of following, a few milliseconds' worth. Returns how many messages have come; load_wait_ms
 * then says 0 if there are more. now_ms is loop_now_ms. */
uint32_t load_follow(struct load *l, int64_t now_ms, load_fn each, void *ctx);
/* Puts one file of replies, by its name, into the group of its log. */
void load_join_file(struct load *l, uint32_t file);
/* Puts files of replies into the groups of their logs, by their names. */
void load_join(struct load *l);
/* The numbers of all files in the order in which they are read. Free the result. */
uint32_t *load_order(struct load *l);

#endif
