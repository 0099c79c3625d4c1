/* Running agents as sources of a load: their captures have both directions and are read a few
 * milliseconds at a time.
 *
 *   agent_set_open     after load_init or load_run
 *   agent_set_start    runs an agent; its stdout and stderr become files of the load's wire
 *   agent_set_add      the same, but nothing runs until child_turn
 *   agent_set_attach   an agent that was started before
 *   agent_set_take     when agent_set_fd is readable or agent_set_wait_ms has passed
 *   agent_set_close    before load_release; agents go on
 *
 * Each group of agents has a desk, whose journal belongs to the first one's capture: that can be
 * opened later like any log, with the decisions.
 *
 * Lines on stderr are text, never messages, whatever they look like. All incarnations of an agent
 * append to the same files; agent_set_incarnation maps an offset back. */
#ifndef GAVEL_SESSION_AGENT_SET_H
#define GAVEL_SESSION_AGENT_SET_H

#include "session/load.h"
#include "source/child.h"

enum agent_pipe { AGENT_OUT, AGENT_ERR, AGENT_PIPES };

/* Reading one capture. */
struct agent_stream {
	struct load_reading load; /* load.file is its number in the wire */
	struct framer framer;
	uint64_t at;       /* read up to here */
	bool ended;        /* the incarnation's last line was emitted */
	uint32_t current;  /* index of the incarnation being read */
	uint64_t line_start; /* of the incomplete last line */
	int64_t line_ms;     /* when its first bytes were read; AGENT_SET_NO_LINE */
};

#define AGENT_SET_NO_LINE INT64_MAX

/* Where the output of an incarnation begins. */
struct incarnation_start {
	uint64_t began[AGENT_PIPES];
	unsigned incarnation;
};

/* What the head of a capture tells of its agent, besides its command. */
struct agent_about {
	struct str role; /* may be empty */
	const struct str *capabilities;
	uint32_t capability_n;
	bool session; /* it writes the lines of several agents: trusted like a log */
	enum dialect_id dialect; /* that its program is known to speak; UNKNOWN = messages tell */
	struct str mode; /* --mode: that a real agent is to begin in; may be empty */
	struct str folder; /* where it works, an absolute path; empty = not known. Read only */
};

struct set_agent {
	struct child *child;
	struct agent_stream streams[AGENT_PIPES];
	VEC(struct incarnation_start) incarnations; /* oldest first */
	bool speaks_for_session; /* agent_about.session */
	enum dialect_id dialect; /* agent_about.dialect */
	uint64_t known;          /* bytes of its capture that were there when it was added */
};

struct agent_set {
	struct load *load;
	struct children *children;
	VEC(struct set_agent *) agents;
	load_before_fn before; /* for each message of an agent, or NULL */
	void *before_ctx;
	uint32_t next;  /* agent to be read next, round robin */
	struct buf room;
};

/* captures: a folder for NAME.ndjson and NAME.stderr. */
int agent_set_open(struct agent_set *c, struct load *l, const char *captures, struct err *err);
void agent_set_close(struct agent_set *c);
/* Kills at once all that run; says what could not be ended. */
void agent_set_kill(struct agent_set *c);
/* group is the session of messages that name none; empty = the agent's name. Agents of one group
 * share a session, as the turns of a review do. Returns the agent's number, or NONE and err. */
uint32_t agent_set_start(struct agent_set *c, const struct child_spec *spec, struct str group,
			 const struct agent_about *about, struct err *err);
/* The agent of NAME.ndjson in the folder of captures. Its capture is read from its beginning.
 * *about lasts as long as the load. */
uint32_t agent_set_attach(struct agent_set *c, const char *name, struct agent_about *about,
			  struct err *err);
/* An agent of which each incarnation is a turn (child_add). */
uint32_t agent_set_add(struct agent_set *c, const struct child_spec *spec, struct str group,
		       struct err *err);
/* Reaps processes and applies new output for a few milliseconds; settles the desks. Returns the
 * number of messages; agent_set_wait_ms is then 0 if there are more. now_ms is loop_now_ms; each
 * may be NULL. */
uint32_t agent_set_take(struct agent_set *c, int64_t now_ms, load_fn each, void *ctx);
/* Readable when there is output, or an agent has ended. */
int agent_set_fd(const struct agent_set *c);
/* Timeout for poll until agent_set_take is due; -1 = none. */
int agent_set_wait_ms(const struct agent_set *c, int64_t now_ms);
/* The oldest line incomplete for at least FOLLOW_SHOWN_MS, or empty. Borrowed until the next
 * agent_set_take; agent_set_wait_ms ends when a line gets that old. */
struct str agent_set_incomplete(const struct agent_set *c, int64_t now_ms);
/* Bytes captured and not read yet. */
uint64_t agent_set_behind(const struct agent_set *c);
/* Adds what to do about output that cannot be kept now. False: there is none. */
bool agent_set_waits_for_room(const struct agent_set *c, struct buf *out);
/* Whether what was in its capture when it was added is in the model. */
bool agent_set_has_caught_up(const struct agent_set *c, uint32_t agent);
/* Whether an agent has ended and all its output is in the model. */
bool agent_set_is_over(const struct agent_set *c, uint32_t agent);
/* How many agents are not over. */
uint32_t agent_set_running(const struct agent_set *c);

/* The agent whose capture a file of the wire is, or NONE; *stream (may be NULL): which of them. */
uint32_t agent_set_of_file(const struct agent_set *c, uint32_t file, enum agent_pipe *stream);
/* The newest agent with that group or name, or NONE. */
uint32_t agent_set_named(const struct agent_set *c, struct str name);
/* The incarnation that wrote the byte at that offset of a stream; 0 = one before those known. */
unsigned agent_set_incarnation(const struct set_agent *a, enum agent_pipe stream, uint64_t offset);

#endif
