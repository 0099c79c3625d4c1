/* State of one turn of a review: a process that reads one message on its standard input, answers on
 * its standard output and exits (feedback protocol 2.2). Builds its command line, follows its
 * progress, classifies its result and describes it to the user. No processes, no clock: times are
 * the caller's.
 *
 *   turn_begin   a message goes out
 *   turn_look    after model_apply: updates the progress from new messages
 *   turn_end     the process has ended and all its output is in the model
 *
 * A failed turn is recorded in the log as an error message of its protocol (turn_note): so it is an
 * item of the inbox, counts in the ledger, and `accept` on it sends the message again. */
#ifndef GAVEL_AGENTS_TURN_H
#define GAVEL_AGENTS_TURN_H

#include "decide/reader.h"

enum {
	TURN_SILENT_MS = 30000, /* a turn without output for that long has stalled */
	TURN_SESSION_MAX = 128,
};

/* The argv of a command, NULL last, with {session} replaced by the session's id. Without one, words
 * with {session} are omitted, and a preceding option that takes it as its value: "--session
 * {session}", but neither "--format=json {session}" nor "-- {session}". The first word stays.
 * Allocated in the arena. */
const char **turn_command(struct arena *arena, const char *const *command, struct str session);
/* Whether a session's id, which comes from the agent, is safe on a command line: no option, no
 * special characters. */
bool turn_session_is_safe(struct str id);

enum turn_state_name {
	TURN_NONE,      /* no turn yet */
	TURN_RUNS,
	TURN_ANSWERED,
	TURN_REFUSED,   /* answered by an error of the protocol, which is an item already */
	TURN_OTHER,     /* answered for another iteration */
	/* failed, no answer: */
	TURN_UNREAD,    /* exited before it had read the message */
	TURN_ERROR,     /* reported an error */
	TURN_STOPPED,   /* by the user */
	TURN_EXIT,      /* an exit code other than 0, or a signal */
	TURN_SILENT,    /* exit code 0 */
	TURN_LOST,      /* gavel ended while it ran */
};

/* Zero it; release it. */
struct turn {
	enum dialect_id dialect; /* feedback or envelope */
	enum turn_state_name state;
	int64_t iteration;
	uint32_t first; /* its first message in the model */
	uint32_t seen;  /* messages processed */
	int64_t began_ms, heard_ms, ended_ms;
	/* from its messages: */
	char session[TURN_SESSION_MAX + 1]; /* the newest; empty = none */
	bool unsafe;                        /* the newest one cannot be used */
	uint32_t steps, tools, answers;
	int64_t echoed; /* iteration of the newest answer, 0 = none */
	bool refused, cut;
	uint64_t tokens;
	double cost;
	struct buf last;  /* summary of the last message */
	struct buf error; /* of the last message of type error */
	struct buf why;   /* reason of its result */
};

/* How a process ended, for turn_end. */
struct turn_exit {
	bool well;              /* exit code 0 */
	bool stopped;           /* by the user */
	bool unread;            /* before it had read the whole message */
	struct str words;       /* "exit code 3" */
	struct str complaint;   /* last line of its standard error; may be empty */
};

void turn_release(struct turn *t);
/* Resets everything but the session. */
void turn_begin(struct turn *t, enum dialect_id dialect, int64_t iteration, uint32_t messages,
		int64_t now_ms);
/* Processes new messages; those of other files than `file` only count as a sign of life. */
void turn_look(struct turn *t, const struct model *m, const struct reader *r, uint32_t file,
	       int64_t now_ms);
void turn_end(struct turn *t, const struct turn_exit *e, int64_t now_ms);

/* It ended without an answer and can be retried. */
bool turn_has_failed(const struct turn *t);
bool turn_is_silent(const struct turn *t, int64_t now_ms);
/* Status line: progress or result, for a failed turn with `remedies`. */
void turn_words(const struct turn *t, int64_t now_ms, const char *remedies, struct buf *out);
/* The failure as a message of the protocol, newline included: a Response with an error, or an
 * output envelope. time_ms is the wall clock's. */
void turn_note(const struct turn *t, int64_t time_ms, struct buf *out);

#endif
