/* Agents that gavel runs, as sources of a model: what each writes is kept in a file of this run and
 * read from there, a few milliseconds at a time.
 *
 *   agent_set_open     after load_run of the load
 *   agent_set_start    runs an agent; its output and its standard error become files of the load's wire
 *   agent_set_add      the same, but nothing runs until child_turn
 *   agent_set_take     when agent_set_fd is readable or agent_set_wait_ms has passed
 *   agent_set_close    before load_release; kills what is left. Whoever wants order stops each before
 *
 * Each group of agents has a desk, whose journal belongs to the first one's capture: opened later
 * like any log, that shows what was said and what was decided.
 *
 * Lines on standard error are text whatever they look like: nothing an agent says there is a
 * message. All incarnations of an agent write to the same file; agent_set_incarnation tells whose a
 * message is. */
#ifndef GAVEL_SESSION_AGENT_SET_H
#define GAVEL_SESSION_AGENT_SET_H

#include "session/load.h"
#include "source/child.h"

enum agent_pipe { AGENT_OUT, AGENT_ERR, AGENT_PIPES };

/* One stream on its way into the model. */
struct agent_stream {
	struct load_reading load; /* load.file is its number in the wire */
	struct framer framer;
	uint64_t at;     /* the bytes before it were read */
	bool ended;      /* and no more will come from this incarnation: the last line was told */
	uint32_t lives;  /* incarnations whose beginning was passed */
	uint64_t line_start; /* of the line that has not ended yet */
	int64_t line_ms;     /* when its first bytes were read; AGENT_SET_NO_LINE */
};

#define AGENT_SET_NO_LINE INT64_MAX

/* Where the bytes of an incarnation begin. */
struct agent_beginning {
	uint64_t began[AGENT_PIPES];
	unsigned incarnation;
};

struct set_agent {
	struct child *child;
	struct agent_stream streams[AGENT_PIPES];
	VEC(struct agent_beginning) lives; /* oldest first */
};

struct agent_set {
	struct load *load;
	struct children *children;
	VEC(struct set_agent *) agents;
	/* Before the model takes a message of an agent: may change it. NULL = nothing. */
	load_before_fn before;
	void *before_ctx;
	char *captures; /* NULL = no folder */
	uint32_t next;  /* whose turn it is to be read */
	struct buf room;
};

/* captures: a folder for NAME.ndjson and NAME.stderr; NULL = files without a name. */
int agent_set_open(struct agent_set *c, struct load *l, const char *captures, struct err *err);
/* Kills at once. */
void agent_set_close(struct agent_set *c);
/* group names the session of messages that name none; empty = the agent's name. Several agents of
 * one group are one session: the turns of a review. Returns its number, NONE: err says why it does
 * not run. */
uint32_t agent_set_start(struct agent_set *c, const struct child_spec *spec, struct str group, int64_t now_ms,
		    struct err *err);
/* An agent of which each incarnation is a turn (child_add). */
uint32_t agent_set_add(struct agent_set *c, const struct child_spec *spec, struct str group, struct err *err);
/* Looks after the processes and takes what they have said, for a few milliseconds. Settles the
 * desks if there was something. Returns how many messages; agent_set_wait_ms then says 0 if there is
 * more. now_ms is loop_now_ms; each may be NULL. */
uint32_t agent_set_take(struct agent_set *c, int64_t now_ms, load_fn each, void *ctx);
/* Readable when something came or ended. */
int agent_set_fd(const struct agent_set *c);
/* How long agent_set_take may be put off; -1 = until agent_set_fd is readable. */
int agent_set_wait_ms(const struct agent_set *c, int64_t now_ms);
/* The beginning of the oldest line that has not ended and has waited for FOLLOW_SHOWN_MS, empty:
 * there is none. Lent until the next agent_set_take. agent_set_wait_ms does not go past that moment. */
struct str agent_set_incomplete(const struct agent_set *c, int64_t now_ms);
/* Bytes that were written by agents and not read yet. */
uint64_t agent_set_behind(const struct agent_set *c);
/* All that an agent has said is in the model, and it does not run any more. */
bool agent_set_is_over(const struct agent_set *c, uint32_t agent);
/* How many are not. */
uint32_t agent_set_running(const struct agent_set *c);

/* The agent that a file of the wire comes from, or NONE; *stream (not NULL) tells which one. */
uint32_t agent_set_of_file(const struct agent_set *c, uint32_t file, enum agent_pipe *stream);
/* The agent whose group or name that is, or NONE: the newest. */
uint32_t agent_set_named(const struct agent_set *c, struct str name);
/* The incarnation that has written a byte of a stream. */
unsigned agent_set_incarnation(const struct set_agent *a, enum agent_pipe stream, uint64_t offset);

#endif
