/* Loading logs: SOURCE arguments → model, and from the model back to a message's bytes. Every
 * command that reads uses it. Zero it, load_configure, set `desk_options`, load_open, then load_run,
 * or load_step as often as it takes; load_release frees all, at any time.
 *
 * What was said to the agents is applied where it was said (session/conversation.h): reply files are
 * opened with their log, whether they were given or not.
 *
 * With `follow` set before load_open, load_step goes on after the first load whenever load_fd is
 * readable or load_wait_ms has passed. Streams are read that way, too. */
#ifndef GAVEL_SESSION_LOAD_H
#define GAVEL_SESSION_LOAD_H

#include "channel/file_locks.h"
#include "draw/say.h"
#include "session/cache.h"
#include "session/conversation.h"
#include "config/config.h"
#include "config/options.h"
#include "session/search.h"
#include "session/team_inbox.h"
#include "dialect/dialect.h"
#include "model/model.h"
#include "decide/desk.h"
#include "view/view.h"
#include "wire/follow.h"

/* Which journals a command opens; all zero = none. */
struct desk_options {
	bool open;           /* for reading */
	bool write;          /* and with the lock, for deciding */
	const char *journal; /* --journal; NULL = the default folder */
	bool sole_writer;
	const struct idle *idle;
};

/* JSON output of views (cmd/show_json.h); all zero = everything stays in one buffer. */
struct json_output {
	/* Consumes and clears the buffer, called now and then; NULL = never */
	void (*flush)(void *ctx, struct buf *lines);
	void *ctx;
	bool hide_names; /* files are given by number, so that their names make no difference */
	uint32_t *logs;  /* then: logs in the order of their first messages */
	uint32_t logs_n;
};

struct load;
/* Called after a message was applied to the model; its diagnostics are complete. */
typedef void (*load_fn)(void *ctx, struct load *l, const struct message *msg,
			const struct record *r);
/* Called before it is applied; may change it. */
typedef void (*load_before_fn)(void *ctx, struct load *l, struct message *msg, uint32_t file);

/* Summaries of long messages, which must be parsed whole for them: rows show them in every frame. */
enum {
	SUMMARIES_KEPT = 128,         /* slots, by the number of the message */
	SUMMARY_KEPT_FROM = 8 << 10,  /* bytes of a message */
	SUMMARY_KEPT_MAX = 2 << 10,   /* bytes of a summary */
};
struct summary_kept {
	uint32_t of; /* message + 1; 0 = empty */
	struct buf text;
};

/* One file being loaded. */
struct load_reading {
	struct load *l;
	uint32_t file;
	bool text;     /* lines are text, whatever they look like */
	bool lines, truncated; /* read line by line; the last line is incomplete */
	uint32_t messages, binary;
	int64_t clock_ms; /* of the holder's newest record in a real agent's capture; 0 = none */
	load_fn each;
	void *ctx;
	load_before_fn before; /* or NULL */
	void *before_ctx;
};

struct load {
	const struct config *config; /* thresholds and the longest line; NULL = defaults */
	struct desk_options desk_options;
	const char *reply;  /* --reply: another reply file of the source; NULL = none */
	struct cache cache;
	bool want_diags;     /* each message has its list of diagnostics, not only their counts */
	unsigned threads;    /* that decode; 0 = one per processor, up to 8 */
	size_t chunk_bytes;  /* unit of work of a thread; 0 = CHUNK_BYTES */
	bool follow;         /* keep reading after the first load */
	bool complete;       /* the first load is done */
	struct follow *live; /* from then on, if following: health of sources, incomplete lines */
	struct file_locks locks; /* reply files, while replies are sent */
	struct desks desks;  /* one per source, in their order; empty unless asked for */
	VEC(struct reachable *) reachable; /* agents that desks reply to (reachable.c) */
	struct team_inboxes teams; /* stores among the sources */
	struct wire wire;
	struct model model;
	struct conversation conversation;
	struct decoder decoder; /* of messages as they arrive */
	struct message message;
	bool trouble; /* some source could not be read; that was reported */
	struct json_output json;
	struct buf *hold; /* collects error messages while curses has the screen; NULL = stderr */

	/* reading a message again, for display */
	struct decoder again;
	uint32_t looked_at; /* message that `again` has parsed, or NONE */
	struct decoder checker;
	struct message again_message; /* decoded by `checker`, with all its diagnostics, */
	uint32_t checked, checked_of; /* of that message, while there were so many; or NONE */
	struct buf bytes, text;
	struct summary_kept summaries[SUMMARIES_KEPT];
	struct reader reader;
	struct search search;

	/* the first load */
	uint32_t *order; /* file numbers; NULL = not begun */
	uint32_t order_n, order_next;
	struct wire_reading *file; /* being read, or NULL */
	struct load_reading reading;
	struct load_workers *workers; /* NULL = none were needed yet */
	bool parallel; /* they decode `file` */
	struct wire_parallel handover;

	/* following */
	VEC(struct load_reading) readings; /* by file */
	struct load_spooling {
		uint64_t *wanted; /* bitmap of the first load's messages; NULL = all done */
		uint32_t items, tasks, messages;             /* next to be looked at, */
		uint32_t items_end, tasks_end, messages_end; /* of how many */
	} spooling;
};

/* Applies command line and configuration, which stays borrowed. Call it first. */
void load_configure(struct load *l, const struct options *o, const struct config *c);
/* The same, but reads the configuration first and reports its errors. */
void load_read_config(struct load *l, const struct options *o, struct config *c);
/* In place of load_open, for other sources (agent_set.h). max_line_bytes: 0 = as configured. */
void load_init(struct load *l, size_t max_line_bytes);
/* The desk of a group, opened if need be on the journal that belongs to source (a path, or "-");
 * NULL = no desks were asked for. group must outlive the load; invalidates pointers to other
 * desks. */
struct desk *load_add_desk(struct load *l, struct str group, const char *source);
/* Reads a desk's journal again, after another process wrote to it. */
void load_reopen_desk(struct load *l, uint32_t desk);
/* Adds the sources (none: standard input) and opens their desks. -1 when nothing can be read at
 * all. An unreadable journal and a copy of a log with decisions are reported, unless the journal was
 * to be written: then the desk has the error (access, why) and the notice. */
int load_open(struct load *l, const char *const *sources, uint32_t n, size_t max_line_bytes);

enum load_state {
	LOAD_MORE,
	LOAD_WAITS, /* for load_fd and load_wait_ms */
	LOAD_ENDED, /* everything was read, nothing is followed */
};

/* Loads until the deadline (loop_now_ms), overrun by a few milliseconds at most; returns as soon as
 * there is nothing to read, or `complete` has become true. Desks are settled then, and whenever
 * messages have arrived. each may be NULL. */
enum load_state load_step(struct load *l, int64_t until_ms, load_fn each, void *ctx);
/* The first load, blocking. */
void load_run(struct load *l, load_fn each, void *ctx);
/* desk_settle for every desk: after messages arrived, after a decision. */
void load_settle(struct load *l);
void load_release(struct load *l);

/* Readable when there may be something to load; -1 = none. */
int load_fd(const struct load *l);
/* Timeout for poll; -1 = none. */
int load_wait_ms(const struct load *l, int64_t now_ms);

/* Whether a message was written just now, by its time: one of those from `first` on, or the newest.
 * The log is live then. */
bool load_is_recent(const struct load *l, uint32_t first);

/* Prints "gavel: SENTENCE" to stderr, or to `hold`; sanitized, as file names are untrusted. */
void load_say(struct load *l, struct str sentence);
/* load_say of the desk's notice, if it has one: that its source is a copy. */
void load_say_copy(struct load *l, const struct desk *d);
/* --filter, --since and --until as one filter; NULL when none is given. -1: reported on stderr. */
int load_filter(const struct options *o, int64_t day, struct filter **out);

/* The name of a message's file as it was given. */
struct str load_source_name(const struct load *l, uint32_t source);

/* Inside this folder: */
/* Of a new file: what its messages may do (model/trust.h). A capture in a folder is a group of its
 * own, so that agents have nothing to do with each other's items. */
void load_note_origin(struct load *l, uint32_t file);
void load_note_origins(struct load *l, uint32_t first, uint32_t end);
/* Lines of a capture that begin with a tab are gavel's (source/child.h). */
enum capture_line {
	CAPTURE_BY_AGENT,
	CAPTURE_SAID, /* what the agent was told; the tab is removed from the frame */
	CAPTURE_RUN,  /* likewise the holder's record that a real agent was started or has ended:
			 what it asked before waits no more */
	CAPTURE_NOTE, /* no message */
};
/* What the decoder is told of such a line. */
void load_line_info(const struct wire_file *file, enum capture_line line, struct frame_info *info);
/* The flags of its message. */
static inline uint16_t capture_line_flags(enum capture_line line)
{
	return line == CAPTURE_SAID ? RECORD_TOLD : line == CAPTURE_RUN ? RECORD_HOLDER : 0;
}
enum capture_line load_capture_line(const struct wire_file *file, struct frame *frame);
/* Real agents' messages may have no time: in a capture it is that of the holder's record before them,
 * which a CAPTURE_NOTE may be. */
void load_note_clock(const struct wire_file *file, struct str record, int64_t *clock_ms);
/* Applies a decoded message to the model, then calls `each`; does not use the frame's bytes. */
void load_apply(struct load_reading *r, struct message *m, const struct frame *frame);
/* Decodes a frame and applies it: the frame_fn of a load_reading. */
void load_frame(void *reading, const struct frame *frame);
/* Has the worker threads decode a big log ahead (load_threads.c); they are started when first needed.
 * false: not worth it. Both arguments are borrowed until load_workers_end. */
bool load_workers_begin(struct load_reading *r, struct wire_parallel *a);
/* Applies the next decoded chunk. false: there is none, or it could not be read. */
bool load_workers_apply(struct load_workers *x);
/* Waits for the chunks being decoded. */
void load_workers_end(struct load_workers *x);
/* Ends the threads and frees their memory, if there are any; not between begin and end. */
void load_workers_stop(struct load *l);
/* Warns if a file seems to be binary. */
void load_warn_binary(struct load_reading *r);
void load_follow_begin(struct load *l);
/* One step of following, a few milliseconds' worth. Returns the number of new messages;
 * load_wait_ms is then 0 if there are more. now_ms is loop_now_ms. */
uint32_t load_follow(struct load *l, int64_t now_ms, load_fn each, void *ctx);
/* Replies to captures go to their agents, while these run. */
void load_reach_agents(struct load *l);
void load_forget_agents(struct load *l);
/* Detects reply files that were given with their logs, by name. */
void load_detect_replies(struct load *l);
void load_detect_reply_file(struct load *l, uint32_t file);
/* The numbers of all files but replies, in load order. Free the result. */
uint32_t *load_order(struct load *l, uint32_t *n);

#endif
